# SPDX-License-Identifier: BSD-3-Clause
"""One figure for each collective and number of ranks: times above, ratios below. PNG and SVG."""

from .runs import tell
from .table import size_text, summary

STYLE = {"tuned": ("Open MPI (tuned)", "#8c8c8c", "o"), "sm": ("Open MPI (sm)", "#c29b5f", "s"),
         "plugin": ("peercoll", "#1f5fa8", "D")}


def _figure(pyplot, report, section):
    figure, (times, ratios) = pyplot.subplots(2, 1, sharex=True, figsize=(8, 7), height_ratios=[3, 2])
    rows = section["rows"]
    for name, (label, colour, marker) in STYLE.items():
        points = [(row["bytes"], row[name]) for row in rows if row.get(name)]
        if points:
            times.plot(*zip(*points), label=label, color=colour, marker=marker, markersize=4)
    floor = [(row["bytes"], row["floor"]) for row in rows if row["floor"]]
    if floor:
        times.plot(*zip(*floor), label="floor", color="black", linestyle=":")
    times.set_yscale("log")
    times.set_ylabel("median time (us)")
    times.legend()
    times.set_title(f"{section['collective']}, {section['ranks']} ranks, {report['machine']['cpu_model']}")

    rated = [(row["bytes"], row["ratio"]) for row in rows if row["ratio"]]
    if rated:
        ratios.plot(*zip(*rated), color=STYLE["plugin"][1], marker="D", markersize=4)
        mean, _, _ = summary(section)
        ratios.axhline(mean, color=STYLE["plugin"][1], linestyle="--", linewidth=1, label=f"geometric mean {mean:.2f}")
    ratios.axhline(1, color="black", linewidth=1)
    ratios.set_ylim(bottom=0)
    ratios.set_ylabel("best of Open MPI / peercoll")
    ratios.legend()
    ratios.set_xscale("log", base=2)
    ticks = [row["bytes"] for row in rows][:: max(1, len(rows) // 8)]
    ratios.set_xticks(ticks, [size_text(size) for size in ticks])
    ratios.set_xlabel("message size")
    for axes in (times, ratios):
        axes.grid(True, which="major", color="#dddddd")
        axes.set_axisbelow(True)
    figure.tight_layout()
    return figure


def write(report, folder):
    """Paths of what was written; nothing, with a word, where matplotlib is missing."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        tell("no plot: matplotlib is missing (package python3-matplotlib)")
        return []
    paths = []
    for section in report["sections"]:
        figure = _figure(pyplot, report, section)
        for ending in ("png", "svg"):
            path = folder / f"{section['collective']}_{section['ranks']}_ranks.{ending}"
            figure.savefig(path, dpi=120)
            paths.append(path)
        pyplot.close(figure)
    return paths
