# SPDX-License-Identifier: BSD-3-Clause
"""Starts peercoll-bench under mpirun, bounded in time, and hands back its JSON."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

VARIANTS = ("tuned", "sm", "plugin")


class Failure(Exception):
    """Something the person running the comparison must mend; the text says what."""


def tell(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def require_served(report):
    """The plugin's figures are worth nothing if MPI ran the calls itself."""
    plugin = report["plugin"]
    if not plugin["loaded"]:
        raise Failure("the plugin was not loaded; `ompi_info --param coll peercoll` with the same environment says why")
    if plugin["served"] != plugin["calls"]:
        tell(f"WARNING: {plugin['text']}: the rest ran without the plugin")


class Launcher:
    def __init__(self, arguments, bench, component_dir):
        self._arguments = arguments
        self._bench = bench
        self._component_dir = component_dir
        self.machine = None  # as the last floor's report tells it

    def bench(self, variant, ranks, collective, reverse=False):
        """The report of one run, of the largest size first if `reverse`; None if it hung."""
        flags = self._sizes() + ["--seconds", str(self._arguments.seconds), "--label", variant]
        if collective == "broadcast":
            flags += ["--root", self._arguments.root]
        if reverse:
            flags += ["--reverse"]
        return self._run(variant, ranks, [collective, *flags])

    def lines(self, ranks):
        """The report of cache-line latencies."""
        return self._floor(ranks, ["pingpong-lines"])

    def copies(self, ranks):
        """The report of copy bandwidth at all sizes."""
        return self._floor(ranks, ["copy-bandwidth", *self._sizes(), "--seconds", "0.05"])

    def _floor(self, ranks, flags):
        report = self._run("tuned", ranks, flags)
        if report is None:
            raise Failure(f"peercoll-bench {flags[0]} did not end")
        self.machine = report["machine"]
        return report

    def _sizes(self):
        if self._arguments.sizes:
            return ["--sizes", self._arguments.sizes]
        return ["-b", self._arguments.minbytes, "-e", self._arguments.maxbytes, "-f", self._arguments.stepfactor]

    def _environment(self, variant):
        # What the caller's shell sets for collectives would run under every variant, or under none.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("OMPI_MCA_coll", "OMPI_MCA_mca_base_component_path", "PEERCOLL_"))}
        settings = dict(setting.split("=", 1) for setting in self._arguments.mca)
        if variant == "plugin":
            settings["mca_base_component_path"] = f"SYS_DEFAULT:{self._component_dir}"
            settings.update(setting.split("=", 1) for setting in self._arguments.plugin_mca)
        else:
            settings["coll"] = "^peercoll"
        if variant == "sm":
            settings["coll_sm_priority"] = "100"
        environment.update({f"OMPI_MCA_{name}": value for name, value in settings.items()})
        if os.geteuid() == 0:
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        return environment

    def _run(self, variant, ranks, flags):
        with tempfile.TemporaryDirectory(prefix="peercoll-compare-") as folder:
            path = Path(folder) / "report.json"
            command = [self._arguments.mpirun, "--oversubscribe", "-n", str(ranks)]
            if self._arguments.bind_to:
                command += ["--bind-to", self._arguments.bind_to]
            command += [str(self._bench), *flags, "--json", str(path)]
            ended, output = self._wait(command, self._environment(variant), 120 + 60 * self._arguments.seconds * ranks)
            if not ended:
                return None
            if not path.exists() or "WRONG RESULTS" in output:
                raise Failure(f"{' '.join(command)} ({variant}) failed:\n{output}")
            return json.loads(path.read_text())

    @staticmethod
    def _wait(command, environment, limit):
        try:
            process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       stdin=subprocess.DEVNULL, text=True, start_new_session=True)
        except OSError as error:
            raise Failure(f"{command[0]} cannot be started: {error.strerror}") from error
        try:
            output, _ = process.communicate(timeout=limit)
            return True, output
        except BaseException as error:
            # mpirun ends its ranks when it is asked to; it gets some seconds for that.
            process.send_signal(signal.SIGTERM)
            try:
                process.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return False, ""
