# SPDX-License-Identifier: BSD-3-Clause
"""The least time a collective can take on this machine; the formulas are in the head of mpi_examples/compare."""

IN_CACHE_LIMIT = 1 << 20


class Floors:
    """Called with a collective and a size, gives microseconds; None where a floor would mean nothing."""

    def __init__(self, ranks, copies, lines):
        self._ranks = ranks
        self._crowded = ranks > copies["machine"]["cpus_online"]
        self._line_ns = max((row["one_way_ns"] for row in lines.get("results", [])), default=0.0)
        self._rates = {row["bytes"]: row for row in copies["results"]}

    def __call__(self, collective, size):
        row = self._rates.get(size)
        if self._crowded or self._ranks < 2 or row is None:
            return None
        bytes_per_us = (row["hot_GBs"] if size <= IN_CACHE_LIMIT else row["cold_GBs"]) * 1e3
        moved = size
        if collective == "allreduce":
            moved = 2 * size * (self._ranks - 1) / self._ranks
        return max(self._line_ns / 1e3, moved / bytes_per_us)

    def measured(self):
        return {"line_one_way_ns": self._line_ns, "copy_GBs": list(self._rates.values()), "crowded": self._crowded}
