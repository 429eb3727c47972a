#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes one JSON file of the steps of one_gpu.sh or several_gpus.sh, and text and plots of that file.

    gpu_report.py collect FOLDER RESULTS.json      what the scripts do at their end
    gpu_report.py show RESULTS.json [--plots DIR]  any time later, on any machine; plots need matplotlib

Text: a table for each measurement, times in us, and how it stands to what one would wish for (GOALS). "of copy": the
bytes that the devices must at least move, read and written, against a copy inside the device; "of link": busbw against
what a device writes to the next one while all do.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from comparison import gpu_plot, gpu_table  # noqa: E402


def collect(folder, target):
    steps = []
    lines = (folder / "steps.tsv").read_text(encoding="utf-8").splitlines() if (folder / "steps.tsv").exists() else []
    for line in lines:
        name, status, seconds, command = line.split("\t", 3)
        step = {"name": name, "status": int(status), "seconds": int(seconds), "command": command}
        measured = folder / f"{name}.json"
        if measured.exists():
            step["bench"] = json.loads(measured.read_text(encoding="utf-8"))
        text = folder / f"{name}.txt"
        if text.exists() and (step["status"] != 0 or not measured.exists()):
            step["output"] = text.read_text(encoding="utf-8", errors="replace").splitlines()
        steps.append(step)
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    target.write_text(json.dumps({"tool": target.stem, "date": date, "steps": steps}, indent=1) + "\n",
                      encoding="utf-8")


def show(results, plots):
    report = json.loads(results.read_text(encoding="utf-8"))
    print(gpu_table.render(report))
    if plots:
        for path in gpu_plot.write(report, plots):
            print(f"wrote {path.name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    collecting = commands.add_parser("collect")
    collecting.add_argument("folder", type=Path)
    collecting.add_argument("target", type=Path)
    showing = commands.add_parser("show")
    showing.add_argument("results", type=Path)
    showing.add_argument("--plots", type=Path, metavar="DIR")
    arguments = parser.parse_args()
    if arguments.command == "collect":
        collect(arguments.folder, arguments.target)
    else:
        show(arguments.results, arguments.plots)


if __name__ == "__main__":
    main()
