# SPDX-License-Identifier: BSD-3-Clause
"""Where the benchmark and the component are: told, or in this tree's release build, or installed."""

import os
import shutil
from pathlib import Path

from .runs import Failure

COMPONENT = "mca_coll_peercoll.so"
TREE = Path(__file__).resolve().parents[2]


def bench(told):
    told = told or os.environ.get("COMPARE_BENCH")
    candidates = [told] if told else [TREE / "build/release/mpi_examples/bench/peercoll-bench",
                                      TREE / "bin/peercoll-bench", shutil.which("peercoll-bench")]
    for candidate in filter(None, candidates):
        if os.access(candidate, os.X_OK) and Path(candidate).is_file():
            return Path(candidate).resolve()
    raise Failure(f"peercoll-bench is not at {told}" if told else
                  "peercoll-bench was not found: build the release preset, or give --bench")


def component_dir(told):
    told = told or os.environ.get("COMPARE_COMPONENT_DIR")
    candidates = [Path(told)] if told else [folder for root in (TREE / "build/release", TREE)
                                            for folder in root.glob("lib*/**/peercoll/openmpi*")]
    for candidate in candidates:
        if (candidate / COMPONENT).is_file():
            return candidate.resolve()
    raise Failure(f"there is no {COMPONENT} in {told}" if told else
                  f"{COMPONENT} was not found: build the release preset, or give --component-dir")
