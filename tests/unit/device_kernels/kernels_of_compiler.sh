#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# kernels_of_compiler.sh SOURCE LIBRARY COMPILER...: the compiler, which writes a device's assembly to standard output,
# makes of SOURCE exactly the kernels that the simulated devices' LIBRARY has; for AMD, those that do not stay.
set -euo pipefail
source=$1 library=$2
shift 2
expected=$(nm -D --defined-only "$library" | sed -n 's/^[0-9a-f]* T \(peercoll_[a-z0-9_]*\)$/\1/p' | sort)
[ -n "$expected" ] || { echo "$library has no kernels"; exit 1; }
# In PTX a kernel begins with .entry; AMD's assembly has a descriptor for each.
compiled=$("$@" "$source" | sed -n 's/^.*\.entry \(peercoll_[a-z0-9_]*\).*$/cuda \1/p; s/^[[:space:]]*\.amdhsa_kernel \(peercoll_[a-z0-9_]*\)$/amd \1/p' |
    sort)
[[ $compiled != amd* ]] || expected=$(grep -v '_standby$' <<<"$expected")
compiled=${compiled//cuda /}
compiled=${compiled//amd /}
diff <(echo "$expected") <(echo "$compiled") || { echo "< in the library, > made by $1"; exit 1; }
echo "$(echo "$compiled" | wc -l) kernels"
