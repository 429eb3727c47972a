# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a run on GPUs: for each collective the times, and below them the share of what the hardware allows."""

from .gpu_series import series_of
from .runs import tell
from .table import size_text

COLOURS = ("#1f5fa8", "#2a9d8f", "#e07a1f", "#8e44ad", "#b03a48", "#6b8e23")


def _ticks(axes, sizes):
    axes.set_xscale("log", base=2)
    ticks = sizes[:: max(1, len(sizes) // 9)]
    axes.set_xticks(ticks, [size_text(size) for size in ticks])


def _manner(name):
    if name.startswith("mps_"):
        return " (MPS, a kernel each)"
    if name.startswith("forced_"):
        return " (executors: " + name[len("forced_"):name.rindex("_")] + ")"
    return ""


def _figure(pyplot, collective, members, report):
    figure, (times, shares) = pyplot.subplots(2, 1, sharex=True, figsize=(8.5, 7.5), height_ratios=[3, 2])
    for colour, series in zip(COLOURS, members):
        sizes = [row["bytes"] for row in series.rows]
        label = f"peercoll, {series.ranks} ranks" + _manner(series.name)
        times.plot(sizes, [row["median_us"] for row in series.rows], label=label, color=colour, marker="D", markersize=3)
        floor = [(size, series.floor_us(size)) for size in sizes if series.floor_us(size)]
        if floor:
            times.plot(*zip(*floor), color=colour, linestyle=":", linewidth=1)
        points = [(row["bytes"], series.share(row) * 100) for row in series.rows if series.share(row) is not None]
        if points:
            shares.plot(*zip(*points), color=colour, marker="D", markersize=3, label=label)
        if series.rival:
            rivals = [row["rival"] for row in series.rows]
            for key, style, words in (("median_us", "--", "each call waited for"),
                                      ("in_a_row_median_us", "-.", "in a row")):
                times.plot(sizes, [rival[key] for rival in rivals], color="#8c8c8c", linestyle=style, marker="o",
                           markersize=3, label=f"{series.rival}, {words}")
            ring = series.floors["ring_GBs"]
            if ring:
                shares.plot(sizes, [rival["busbw_GBs"] / ring * 100 for rival in rivals], color="#8c8c8c",
                            linestyle="--", marker="o", markersize=3, label=series.rival)
    device = members[0].device
    times.set_title(f"{collective}, {device['devices'][0]['name']}"
                    f"{'' if members[0].devices == 1 else f' x {members[0].devices}'}, {device['driver']}, "
                    f"{report['date'][:10]}")
    times.set_yscale("log")
    times.set_ylabel("median time (us); dotted: floor")
    shares.set_ylim(bottom=0)
    shares.set_ylabel("% of a copy's bandwidth" if members[0].devices == 1 else "% of the link")
    shares.set_xlabel("message size")
    _ticks(shares, [row["bytes"] for row in members[0].rows])
    for axes in (times, shares):
        axes.grid(True, which="major", color="#dddddd")
        axes.set_axisbelow(True)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8)
    figure.tight_layout()
    return figure


def write(report, folder):
    """Paths of what was written; nothing, with a word, where matplotlib is missing."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        tell("no plot: matplotlib is missing; gpu_report.py show makes it elsewhere")
        return []
    groups = {}
    for series in series_of(report):
        if not series.checked and series.rows and "_pool_" not in series.name:
            groups.setdefault((series.collective, series.name.startswith("mps_")), []).append(series)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for (collective, mps), members in groups.items():
        figure = _figure(pyplot, collective, members, report)
        path = folder / f"{report['tool']}_{'mps_' if mps else ''}{collective}.svg"
        figure.savefig(path)
        paths.append(path)
        pyplot.close(figure)
    return paths
