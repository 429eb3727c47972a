# SPDX-License-Identifier: BSD-3-Clause
"""What the figures of a measurement on devices mean: floors, shares of them, and the goals."""

KIB, MIB = 1 << 10, 1 << 20
LINK_GBS = 450  # per direction, of a GPU on NVLink 4


class Series:
    """One measurement of peercoll-bench -d: a collective with so many ranks, a row a size."""

    def __init__(self, step):
        self.name = step["name"]
        bench = step["bench"]
        self.collective = bench["subject"]
        self.ranks = bench["machine"]["ranks"]
        self.device = bench["device"]
        self.floors = self.device["floors"]
        self.devices = len(self.device["devices"])
        self.rival = bench.get("rival")
        self.plugin = bench["plugin"]["text"]
        self.served = bench["plugin"]["loaded"] and bench["plugin"]["served"] == bench["plugin"]["calls"]
        self.rows = bench["results"]
        self.checked = "check_" in self.name

    def traffic(self, size):
        """Bytes read and written at least, together, for ranks of one device."""
        return (2 * self.ranks if self.collective == "allreduce" else self.ranks) * size

    def busbw(self, row, time="median_us"):
        """GB/s that each device must at least send, between so many devices."""
        factor = 2 * (self.devices - 1) / self.devices if self.collective == "allreduce" else 1
        return factor * row["bytes"] / row[time] / 1e3

    def launches(self, row):
        launch = self.floors["launch_us"]
        return row["median_us"] / launch if launch else None

    def share(self, row):
        """0 to 1 of what the memory of one device, or the link between several, allows."""
        if self.devices == 1:
            copy = self.floors["copy_GBs"]
            return self.traffic(row["bytes"]) / row["median_us"] / 1e3 / copy if copy else None
        ring = self.floors["ring_GBs"]
        return self.busbw(row) / ring if ring else None

    def floor_us(self, size):
        """The later of a launch and the least traffic."""
        launch = self.floors["launch_us"]
        if self.devices == 1:
            rate, amount = self.floors["copy_GBs"], self.traffic(size)
        else:
            rate = self.floors["ring_GBs"]
            amount = size * (2 * (self.devices - 1) / self.devices if self.collective == "allreduce" else 1)
        if not launch or not rate:
            return None
        return max(launch, amount / rate / 1e3)

    def at(self, size):
        return next((row for row in self.rows if row["bytes"] == size), None)


def series_of(report):
    return [Series(step) for step in report["steps"] if "device" in step.get("bench", {})]


def _goal(text, value, wanted, at_most):
    reached = value <= wanted if at_most else value >= wanted
    bound = "at most" if at_most else "at least"
    return f"{'reached' if reached else 'MISSED '}  {text}: {value:.2f}, wanted {bound} {wanted:g}"


def goals(series):
    """Lines: how a measurement stands to what is wished for on one GPU, or on several with one rank each."""
    small = [row for row in series.rows if row["bytes"] <= 64 * KIB]
    lines = [] if series.served else ["MISSED   every call served by the plugin"]
    if series.devices == 1:
        launches = [series.launches(row) for row in small if series.launches(row) is not None]
        if launches:
            lines.append(_goal("up to 64 KiB, times launch and wait", max(launches), 1.5, True))
        wanted = {64 * MIB: 0.80, 256 * MIB: 0.92} if series.collective == "allreduce" else {256 * MIB: 0.85}
        for size, share in wanted.items():
            row = series.at(size)
            if row and series.share(row) is not None:
                lines.append(_goal(f"{size // MIB} MiB, share of the copy's bandwidth", series.share(row), share, False))
        return lines
    rated = [row for row in series.rows if "rival" in row]
    if series.collective == "allreduce" and rated:
        ratios = [row["median_us"] / row["rival"]["median_us"] for row in rated if row["bytes"] <= 256 * KIB]
        if ratios:
            lines.append(_goal("up to 256 KiB, times the rival's latency", max(ratios), 0.6, True))
        ratios = [row["rival"]["median_us"] / row["median_us"] for row in rated if row["bytes"] >= 64 * MIB]
        if ratios:
            lines.append(_goal("from 64 MiB, times the rival's bandwidth", min(ratios), 1.0, False))
    if series.ranks == series.devices and series.collective == "allreduce":
        shares = [series.busbw(row) / LINK_GBS for row in series.rows if row["bytes"] >= 64 * MIB]
        if shares:
            lines.append(_goal(f"from 64 MiB, busbw of {LINK_GBS} GB/s", min(shares), 0.8, False))
    row = series.at(256 * MIB)
    if series.collective == "broadcast" and row and series.share(row) is not None:
        lines.append(_goal("256 MiB, share of the link", series.share(row), 0.8, False))
    return lines
