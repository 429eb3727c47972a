#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# configured_without.sh CMAKE GENERATOR CC CXX SOURCE WITHOUT WITH...: with -DPEERCOLL_WITH_<WITHOUT>=OFF the build has no
# source of that runtime's folder and names it nowhere, and it has the others' as before.
set -euo pipefail
cmake=$1 generator=$2 cc=$3 cxx=$4 source=$5 without=$6
shift 6
build=$(mktemp -d)
trap 'rm -rf -- "$build"' EXIT
CC=$cc CXX=$cxx "$cmake" -S "$source" -B "$build" -G "$generator" -DPEERCOLL_WITH_"${without^^}"=OFF -DPEERCOLL_BUILD_TESTS=OFF \
    -DPEERCOLL_BUILD_EXAMPLES=OFF -DPEERCOLL_BUILD_OPENMPI=OFF -DPEERCOLL_BUILD_CUDA_KERNELS=OFF \
    -DPEERCOLL_BUILD_HIP_KERNELS=OFF >"$build/log" 2>&1 || { cat "$build/log"; exit 1; }
sources=$(sed -n 's|^ *"file": "\(.*\)",*$|\1|p' "$build/compile_commands.json")
! grep "/plugin/device/$without/" <<<"$sources" || { echo "still compiled, without $without"; exit 1; }
for vendor in "$@"; do
    expected=$(find "$source/plugin/device/$vendor" -name '*.cpp' | wc -l)
    found=$(grep -c "/plugin/device/$vendor/" <<<"$sources" || true)
    [ "$found" -eq "$expected" ] || { echo "$found of $expected sources of $vendor are compiled, without $without"; exit 1; }
done
grep -q -- "-DPEERCOLL_WITHOUT_${without^^} .*built_in_runtimes.cpp" "$build/compile_commands.json" ||
    { echo "the list of runtimes does not know that $without is left out"; exit 1; }
# Who names another room's functions would not link.
others=$(grep -rl "plugin/device/$without/" "$source/plugin" "$source/collectives" "$source/mpi_examples" --include='*.?pp' \
    --include='*.c' --include='*.h' | grep -v "/plugin/device/$without/\|/plugin/device/built_in_runtimes.cpp$" || true)
[ -z "$others" ] || { echo "besides the list of runtimes, these name $without:"; echo "$others"; exit 1; }
