# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run on GPUs as text."""

from .gpu_series import goals, series_of
from .table import size_text


def _number(value, form, width):
    return format("-" if value is None else format(value, form), f">{width}")


def _percent(value):
    return None if value is None else value * 100


def _floors(series):
    floors = series.floors
    words = []
    for key, words_before, unit in (("launch_us", "launch and wait", "us"),
                                    ("launch_after_others_us", "after other ranks' use", "us"),
                                    ("copy_GBs", "copy", "GB/s"), ("link_GBs", "link", "GB/s"),
                                    ("ring_GBs", "link in a ring", "GB/s")):
        if floors[key] is not None:
            words.append(f"{words_before} {floors[key]:.1f} {unit}")
    return "; ".join([", ".join(words), *floors["missing"]])


def _series(series):
    lines = [f"{series.name}: {series.collective}, {series.ranks} ranks on {series.device['text']}",
             f"  {_floors(series)}; {series.plugin}"]
    share_title = "% of copy" if series.devices == 1 else "% of link"
    head = f"{'size':>9}{'median us':>12}{'x launch':>10}{share_title:>11}{'busbw':>9}"
    if series.rival:
        head += f"{'rival us':>12}{'in a row':>11}{'busbw':>9}{'rival/ours':>12}"
        lines.append(f"  rival: {series.rival}")
    lines.append(head)
    for row in series.rows:
        line = (f"{size_text(row['bytes']):>9}{row['median_us']:>12.2f}"
                f"{_number(series.launches(row), '.2f', 10)}"
                f"{_number(_percent(series.share(row)), '.1f', 11)}{row['busbw_GBs']:>9.2f}")
        if "rival" in row:
            rival = row["rival"]
            line += (f"{rival['median_us']:>12.2f}{rival['in_a_row_median_us']:>11.2f}{rival['busbw_GBs']:>9.2f}"
                     f"{rival['median_us'] / row['median_us']:>12.2f}")
        lines.append(line)
    return "\n".join(lines + [f"  {line}" for line in goals(series)])


def _wrong(series):
    return sum((row["wrong"] or 0) + (row.get("rival", {}).get("wrong") or 0) for row in series.rows)


def _check(series):
    return (f"  {series.name}: {series.collective}, {series.ranks} ranks, {len(series.rows)} sizes, "
            f"{_wrong(series)} wrong elements; {series.plugin}")


def render(report):
    parts = [f"{report['tool']}, {report['date']}"]
    everything = series_of(report)
    if everything:
        bench = next(step["bench"] for step in report["steps"] if "device" in step.get("bench", {}))
        machine = bench["machine"]
        parts[0] += (f"\n{machine['cpu_model']}, {machine['cpus_online']} cores, {machine['kernel']}"
                     f"\n{machine['mpi_library']}; {everything[0].device['driver']} driver")
    for step in report["steps"]:
        if step["status"] != 0:
            tail = "\n".join(f"    {line}" for line in step.get("output", [])[-8:])
            parts.append(f"FAILED: {step['name']}, status {step['status']}\n{tail}")
    checks = [_check(series) for series in everything if series.checked]
    if checks:
        parts.append("\n".join(["checked exactly:", *checks]))
    parts += [_series(series) for series in everything if not series.checked]
    return "\n\n".join(parts)
