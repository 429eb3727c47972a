#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails unless README.md's option table is the library's, as peercoll-info prints it.

    check_readme.py PEERCOLL_INFO README.md

Prints the rows that README.md should hold, if it does not.
"""

import re
import subprocess
import sys
from pathlib import Path

HEAD = "| option | meaning | values | default |"
OPTION = re.compile(r"^  (\w+) += .*\n      (.*)\n      values: (.*); default: (.*)$", re.MULTILINE)


def main():
    info, readme = sys.argv[1:3]
    printed = subprocess.run([info, "--options"], check=True, capture_output=True, text=True, timeout=60).stdout
    rows = []
    for name, meaning, values, default in OPTION.findall(printed):
        values = values.replace("|", "\\|")
        rows.append(f"| `{name}` | {meaning} | {values} | {'empty' if default == '(empty)' else default} |")
    lines = Path(readme).read_text(encoding="utf-8").splitlines()
    start = lines.index(HEAD) + 2
    documented = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        documented.append(line)
    if not rows:
        sys.exit(f"{info} --options shows no options")
    if documented != rows:
        sys.exit("README.md's option table should be:\n" + "\n".join(rows))


if __name__ == "__main__":
    main()
