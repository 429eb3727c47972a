#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# no_trace.sh NM PROGRAM WITHOUT WITH...: PROGRAM has no function of peercoll::WITHOUT, and some of each peercoll::WITH.
set -euo pipefail
nm=$1 program=$2 without=$3
shift 3
symbols=$("$nm" --demangle --defined-only "$program")
count() { grep -c " peercoll::$1::" <<<"$symbols" || true; }
for vendor in "$@"; do
    [ "$(count "$vendor")" -gt 0 ] || { echo "nothing of peercoll::$vendor is there: has it another name now?"; exit 1; }
done
[ "$(count "$without")" -eq 0 ] || { echo "of peercoll::$without there is:"; grep " peercoll::$without::" <<<"$symbols" | head; exit 1; }
