#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# out_of_tree.sh CMAKE BUILD CONFIG CC SANITIZERS SOURCE TEST: installs the build into a folder, copies SOURCE (the example of
# a device runtime) out of the tree, builds it there against what is installed, and runs TEST with the result.
set -euo pipefail
cmake=$1 build=$2 config=$3 cc=$4 sanitizers=$5 source=$6 test=$7
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
flags=${sanitizers:+-fsanitize=$sanitizers}

"$cmake" --install "$build" --config "$config" --prefix "$folder/installed" >"$folder/install.log" ||
    { cat "$folder/install.log"; exit 1; }
cp -r -- "$source" "$folder/source"
build_alone() {
    CC=$cc CFLAGS=$flags "$cmake" -S "$folder/source" -B "$folder/build" -DCMAKE_PREFIX_PATH="$folder/installed" &&
        "$cmake" --build "$folder/build"
}
build_alone >"$folder/build.log" 2>&1 || { cat "$folder/build.log"; exit 1; }

symbols=$(nm --dynamic --defined-only --format=posix "$folder/build/pretend_device_runtime.so" | cut -d' ' -f1)
[ "$symbols" = peercoll_device_runtime_v1 ] ||
    { echo "expected the runtime to export peercoll_device_runtime_v1 alone; it exports: $symbols"; exit 1; }
needed=$(readelf --dynamic --wide "$folder/build/pretend_device_runtime.so" | grep NEEDED || true)
! grep -E 'peercoll|stdc\+\+|pretend' <<<"$needed" ||
    { echo "expected the runtime to need no library of peercoll, of C++ or of the vendor"; exit 1; }

OWN_RUNTIME_FOLDER=$folder/build "$test" --gtest_brief=1
