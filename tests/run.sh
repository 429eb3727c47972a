#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs what is missing, builds, and runs all tests. On a fresh Debian 12, as root or with sudo:
#
#   tests/run.sh [--preset release|debug|asan|tsan] [--quick] [--no-install] [--jobs N] [-- CTEST ARGUMENTS...]
#
#   --preset      how it is built, in build/PRESET; release if not given
#   --quick       leaves out the tests labelled `slow` and `lint`
#   --no-install  takes the packages for there (as is right anywhere but on Debian)
#   --jobs N      as many compilers, and tests that may run beside others; all cores if not given
#
# Tests of several processes have the property RUN_SERIAL: they spin, so nothing else runs beside them.
set -euo pipefail

usage() { sed -n '3,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
fail() {
    echo "run.sh: $1" >&2
    exit 1
}

repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
preset=release quick=no install=yes jobs=$(nproc) ctest_arguments=()
while [ $# -gt 0 ]; do
    case "$1" in
        --preset) [ $# -ge 2 ] || fail "--preset needs a name"; preset=$2; shift ;;
        --jobs) [ $# -ge 2 ] || fail "--jobs needs a number"; jobs=$2; shift ;;
        --quick) quick=yes ;;
        --no-install) install=no ;;
        --help | -h) usage; exit 0 ;;
        --) shift; ctest_arguments+=("$@"); break ;;
        *) usage >&2; fail "unknown option \"$1\"" ;;
    esac
    shift
done
case "$preset" in release | debug | asan | tsan) ;; *) fail "--preset: \"$preset\" is not one of release|debug|asan|tsan" ;; esac
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs: \"$jobs\" is not a number of jobs"

# Options that the caller uses for own jobs would change what is tested.
for name in $(compgen -e | grep '^PEERCOLL_\|^OMPI_MCA_coll' || true); do unset "$name"; done
# Open MPI refuses root without these; containers and CI are root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

[ $install = no ] || "$repository/tests/install_dependencies.sh" test

cd "$repository"
# Said here, because quickstart.sh makes a build folder without tests.
cmake --preset "$preset" -DPEERCOLL_BUILD_TESTS=ON >/dev/null
cmake --build --preset "$preset" --parallel "$jobs"

build=$repository/build/$preset
[ $quick = no ] || ctest_arguments+=(--label-exclude '^(slow|lint)$')
shm_before=$(mktemp)
trap 'rm -f -- "$shm_before"' EXIT
"$build/tests/support/leftover_check" before "$shm_before"
result=0
# Each test has its own time limit; this one is for CTest itself.
timeout --foreground --kill-after=30 2400 ctest --preset "$preset" --parallel "$jobs" "${ctest_arguments[@]}" || result=$?
[ $result -ne 124 ] || echo "run.sh: the tests did not end within 40 minutes" >&2
# Silent if nothing was left behind, so that CTest's closing line is the last one.
"$build/tests/support/leftover_check" after "$shm_before" "$build" || result=1
exit $result
