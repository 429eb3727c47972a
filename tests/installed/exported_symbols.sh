#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# exported_symbols.sh LIBRARY: the library shows the plugin's struct and nothing else, and resolves everything at load.
set -euo pipefail
library=$1

symbols=$(nm --dynamic --defined-only --format=posix "$library" | cut -d' ' -f1,2)
if [ "$symbols" != "peercoll_plugin_v1 D" ] && [ "$symbols" != "peercoll_plugin_v1 R" ]; then
    echo "expected $library to export the data symbol peercoll_plugin_v1 alone; it exports:"
    echo "$symbols"
    exit 1
fi

dynamic=$(readelf --dynamic --wide "$library")
grep -q 'SONAME.*\[libpeercoll\.so\.1\]' <<<"$dynamic" || { echo "the soname is not libpeercoll.so.1"; exit 1; }
grep -q 'FLAGS_1.*NOW' <<<"$dynamic" || { echo "the library is not linked with -z now"; exit 1; }
echo "only peercoll_plugin_v1 is exported"
