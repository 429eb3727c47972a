# SPDX-License-Identifier: BSD-3-Clause
"""The report as text."""

import math


def size_text(size):
    for unit, shift in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def summary(section):
    """Geometric mean of the ratios, the worst ratio and its size; None where nothing can be compared."""
    rated = [(row["ratio"], row["bytes"]) for row in section["rows"] if row["ratio"]]
    if not rated:
        return None
    mean = math.exp(sum(math.log(ratio) for ratio, _ in rated) / len(rated))
    worst, size = min(rated)
    return mean, worst, size


def _number(value, form):
    return "-" if value is None else format(value, form)


def _section(section):
    stock = [name for name in ("tuned", "sm") if any(name in row for row in section["rows"])]
    measured = section["measured"]
    lines = [f"{section['collective']}, {section['ranks']} ranks: median microseconds"]
    if measured["crowded"]:
        lines.append("(ranks outnumber cores: no floor)")
    else:
        lowest, highest = min(measured["line_one_way_ns"]), max(measured["line_one_way_ns"])
        lines.append(f"(cache line between ranks, one way: {lowest:.0f} to {highest:.0f} ns over the rounds)")
    lines.append(f"{'size':>9} " + "".join(f"{name:>11}" for name in stock) +
                 f"{'plugin':>11}{'ratio':>8}{'copy GB/s':>11}{'floor':>10}{'x floor':>9}")
    for row in section["rows"]:
        distance = row["plugin"] / row["floor"] if row["floor"] else None
        lines.append(f"{size_text(row['bytes']):>9} " +
                     "".join(f"{_number(row.get(name), '.2f'):>11}" for name in stock) +
                     f"{row['plugin']:>11.2f}{_number(row['ratio'], '.2f'):>8}{_number(row['copy_GBs'], '.1f'):>11}"
                     f"{_number(row['floor'], '.2f'):>10}{_number(distance, '.1f'):>9}")
    numbers = summary(section)
    if numbers:
        mean, worst, size = numbers
        lines.append(f"geometric mean of the ratios {mean:.2f}, worst {worst:.2f} at {size_text(size)}; "
                     f"{section['served']}")
    return "\n".join(lines)


def render(report):
    machine = report["machine"]
    settings = report["settings"]
    head = (f"{machine['cpu_model']}, {machine['cpus_online']} cores, {machine['kernel']}\n"
            f"{machine['mpi_library']}\n"
            f"{machine['date']}; {settings['rounds']} alternating rounds, {settings['seconds']} s a size and run; "
            "ratio = better of tuned and sm / plugin")
    return "\n\n".join([head, *map(_section, report["sections"])])
