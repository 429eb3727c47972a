#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# installed_consumer.sh CMAKE BUILD CONFIG CC CXX SANITIZERS: installs the build into a folder, moves that folder, and from
# there builds and runs a C program that finds the library by find_package() and by pkg-config.
set -euo pipefail
cmake=$1 build=$2 config=$3 cc=$4 cxx=$5 sanitizers=$6
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
flags=${sanitizers:+-fsanitize=$sanitizers}

"$cmake" --install "$build" --config "$config" --prefix "$folder/first" >"$folder/install.log" ||
    { cat "$folder/install.log"; exit 1; }
mv "$folder/first" "$folder/moved"
prefix=$folder/moved

echo "-- find_package"
build_consumer() {
    CC=$cc CFLAGS=$flags "$cmake" -S "$here/consumer" -B "$folder/consumer" -DCMAKE_PREFIX_PATH="$prefix" &&
        "$cmake" --build "$folder/consumer"
}
build_consumer >"$folder/consumer.log" 2>&1 || { cat "$folder/consumer.log"; exit 1; }
"$folder/consumer/consumer"

echo "-- pkg-config"
pc=$(find "$prefix" -name peercoll.pc)
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname -- "$pc")
version=$(pkg-config --modversion peercoll)
# shellcheck disable=SC2046,SC2086  # flags are words
"$cc" -std=c99 -pedantic -Wall -Wextra -Werror $flags "$here/consumer/consumer.c" -o "$folder/by_pkg_config" \
    $(pkg-config --cflags --libs peercoll)
shown=$(LD_LIBRARY_PATH=$(pkg-config --variable=libdir peercoll) "$folder/by_pkg_config")
echo "$shown"
grep -q "^peercoll $version," <<<"$shown" || { echo "the library and peercoll.pc ($version) differ in version"; exit 1; }

echo "-- the headers alone, as C99, C++11 and C++20"
for header in "$prefix"/include/peercoll/*.h; do
    "$cc" -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" -x c "$header"
    for standard in c++11 c++20; do
        "$cxx" -std=$standard -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" -x c++ "$header"
    done
done
