#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# tidy.sh CLANG_TIDY BUILD [FILE...]: clang-tidy (.clang-tidy) has nothing to say about the tracked sources of plugin/ and
# collectives/ that the build compiles; or about the FILEs.
set -euo pipefail
tidy=$1 build=$2
shift 2
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
files=("$@")
[ ${#files[@]} -gt 0 ] || mapfile -t files < <(git ls-files -- 'plugin/*.cpp' 'collectives/*.cpp')
[ ${#files[@]} -gt 0 ] || { echo "git lists no source: is this a checkout?"; exit 1; }

# The build is GCC's; Clang does not know these flags.
database=$(mktemp -d)
trap 'rm -rf -- "$database"' EXIT
sed -e 's/ -fno-gnu-unique//g; s/ -Wno-restrict//g' "$build/compile_commands.json" >"$database/compile_commands.json"

compiled=()
for file in "${files[@]}"; do
    if grep -q -F "\"file\": \"$PWD/$file\"" "$database/compile_commands.json"; then compiled+=("$file"); fi
done
[ ${#compiled[@]} -gt 0 ] || { echo "the build in $build compiles none of the sources"; exit 1; }
# Each file's output is kept together, and is of no interest unless it fails; then without Clang's counts.
# shellcheck disable=SC2016  # the inner shell's variables
printf '%s\0' "${compiled[@]}" | xargs -0 -n 1 -P 2 sh -c \
    'out=$("$0" -p "$1" --quiet "$2" 2>&1) ||
     { printf "%s\n" "$out" | grep -v "^[0-9]* warnings.*generated\.$\|^Error while processing"; exit 1; }' "$tidy" "$database"
echo "${#compiled[@]} of ${#files[@]} files are clean"
