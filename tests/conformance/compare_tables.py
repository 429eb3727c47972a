#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare_tables.py REAL SIMULATED: a simulated device answers what the real one did.

Ends with 1 and a line for each answer that differs, that only the real device gave, or that is wrong in the real table.
What a table skipped on the real device, and what it merely noted, is not compared.
"""
import csv
import sys

ANSWERS = ("ok", "differs", "observed")


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    if not rows:
        sys.exit(f"{path}: a table without rows")
    missing = {"room", "behaviour", "observation", "verdict", "value"} - rows[0].keys()
    if missing:
        sys.exit(f"{path}: no column {', '.join(sorted(missing))}")
    return rows


def name(row):
    return (row["room"], row["behaviour"], row["observation"])


def differences(real, simulated):
    answers = {name(row): row["value"] for row in simulated if row["verdict"] in ANSWERS}
    for row in real:
        where = ": ".join(part for part in name(row) if part)
        if row["verdict"] in ("differs", "broken"):
            yield f"{where}: the real device's answer is no longer what we expect; the suite has to say so"
        elif row["verdict"] in ANSWERS and name(row) not in answers:
            yield f"{where}: {row['value']} on the real device, not answered by the simulated one"
        elif row["verdict"] in ANSWERS and answers[name(row)] != row["value"]:
            yield f"{where}: {row['value']} on the real device, {answers[name(row)]} on the simulated one"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: compare_tables.py REAL SIMULATED")
    real, simulated = read(sys.argv[1]), read(sys.argv[2])
    compared = sum(row["verdict"] in ANSWERS for row in real)
    if compared == 0:
        sys.exit(f"{sys.argv[1]}: holds no answer to compare")
    found = list(differences(real, simulated))
    for line in found:
        print(line)
    print(f"{compared} answers compared, {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
