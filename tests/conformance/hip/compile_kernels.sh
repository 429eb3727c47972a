#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# compile_kernels.sh HEADER HIPCC OPTION...: HIPCC compiles the source that is a text in HEADER.
set -euo pipefail
header=$1 hipcc=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
sed -n '/R"hip($/,/^)hip"/p' "$header" | sed '1d;$d' >"$folder/kernels.hip"
grep -q __global__ "$folder/kernels.hip" || { echo "$header has no kernels between R\"hip( and )hip\""; exit 1; }
# hiprtc knows the device functions by itself.
"$hipcc" --genco -std=c++17 -O2 "$@" -include hip/hip_runtime.h -o "$folder/kernels.hsaco" "$folder/kernels.hip" 2>"$folder/log" ||
    { cat "$folder/log"; exit 1; }
[ -s "$folder/kernels.hsaco" ]
