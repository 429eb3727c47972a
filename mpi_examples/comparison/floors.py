# SPDX-License-Identifier: BSD-3-Clause
"""The least time a collective can take on this machine; the formulas are in the head of mpi_examples/compare."""

IN_CACHE_LIMIT = 1 << 20


class Floors:
    """Called with a collective and a size, gives microseconds; None where a floor would mean nothing."""

    def __init__(self, ranks, copies, pipelined):
        self._ranks = ranks
        self._pipelined = pipelined
        self._crowded = ranks > copies["machine"]["cpus_online"]
        self._rates = {row["bytes"]: row for row in copies["results"]}
        self._line_ns = []

    def add_lines(self, lines):
        """One more measurement of cache lines between ranks: its slowest pair counts."""
        self._line_ns.append(max((row["one_way_ns"] for row in lines.get("results", [])), default=0.0))

    def copy_rate(self, size):
        """GB/s, as it is for buffers of this size: numerically also thousands of bytes per microsecond."""
        row = self._rates.get(size)
        if self._crowded or row is None:
            return None
        return row["hot_GBs"] if size <= IN_CACHE_LIMIT else row["cold_GBs"]

    def __call__(self, collective, size):
        rate = self.copy_rate(size)
        if rate is None or self._ranks < 2:
            return None
        line_us = min(self._line_ns, default=0.0) / 1e3
        if collective == "allreduce":
            return max(line_us, 2 * size * (self._ranks - 1) / self._ranks / (rate * 1e3))
        copy_us = size / (rate * 1e3)
        if self._pipelined and copy_us < line_us:
            return None
        return max(line_us, copy_us)

    def measured(self):
        return {"line_one_way_ns": self._line_ns, "copy_GBs": list(self._rates.values()), "crowded": self._crowded}
