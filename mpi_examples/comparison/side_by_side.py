# SPDX-License-Identifier: BSD-3-Clause
"""The one table that quickstart.sh ends with.

    python3 -m comparison.side_by_side COMPARE.JSON TRAINING_WITHOUT.JSON TRAINING_WITH.JSON
"""

import json
import sys
from pathlib import Path

from .table import size_text, summary


def _best(row):
    return min(row[name] for name in ("tuned", "sm") if row.get(name) is not None)


def benchmark(report):
    sections = report["sections"]
    width = 30
    lines = [f"{'':>10}" + "".join(f" |{section['collective'] + ', ' + str(section['ranks']) + ' ranks':^{width}}"
                                   for section in sections),
             f"{'size':>10}" + f" |{'without':>11}{'with':>11}{'ratio':>8}" * len(sections)]
    lines.append("-" * len(lines[0]))
    for rows in zip(*(section["rows"] for section in sections)):
        lines.append(f"{size_text(rows[0]['bytes']):>10}" +
                     "".join(f" |{_best(row):>11.2f}{row['plugin']:>11.2f}{row['ratio']:>8.2f}" for row in rows))
    lines.append(f"{'geo. mean':>10}" + "".join(f" |{summary(section)[0]:>{width}.2f}" for section in sections))
    return lines


def training(without, with_plugin):
    """Rows of the same columns, seconds; and what must be the same with any MPI."""
    same = without["weights"] == with_plugin["weights"]
    lines = [f"{title:<34}{without[name]:>9.2f}{with_plugin[name]:>9.2f}{without[name] / with_plugin[name]:>8.2f}"
             for title, name in (("training, seconds in all", "seconds"),
                                 ("training, seconds in collectives", "collective_seconds"))]
    lines.append(f"training: accuracy {without['accuracy']:.4f} and {with_plugin['accuracy']:.4f}, weights "
                 f"{'the same to the bit' if same else 'DIFFERENT'}")
    return lines, same


def main():
    report, without, with_plugin = (json.loads(Path(path).read_text()) for path in sys.argv[1:4])
    rows, same = training(without, with_plugin)
    print("microseconds, medians; without: the better of Open MPI's two host components")
    print("\n".join([*benchmark(report), *rows]))
    for section in report["sections"]:
        print(f"{section['collective']}, {section['ranks']} ranks: {section['served']}")
    sys.exit(0 if same else "the training ended with different weights")


if __name__ == "__main__":
    main()
