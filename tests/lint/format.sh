#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# format.sh CLANG_FORMAT: every tracked C and C++ source is as .clang-format says. `clang-format -i FILE` makes it so.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
mapfile -d '' files < <(git ls-files -z -- '*.c' '*.h' '*.cpp' '*.hpp')
[ ${#files[@]} -gt 0 ] || { echo "git lists no source: is this a checkout?"; exit 1; }
"$1" --dry-run --Werror "${files[@]}"
echo "${#files[@]} files are formatted"
