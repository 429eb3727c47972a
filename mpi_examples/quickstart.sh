#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 to the same programs without and with peercoll, side by side:
#
#   mpi_examples/quickstart.sh [--no-install] [--ranks LIST]
#
#   --no-install  takes the packages for there
#   --ranks LIST  ranks of the benchmark, 2,4 if not given
#
# Installs what is missing (root or sudo), builds in build/release, runs hello-worlds, a training and the benchmark, and
# ends with one table. Minutes for packages and the build, then less than three.
set -euo pipefail

usage() { sed -n '3,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
fail() {
    echo "quickstart.sh: $1" >&2
    exit 1
}
step() { printf '\n== %s\n' "$1"; }

repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
install=yes ranks=2,4
while [ $# -gt 0 ]; do
    case "$1" in
        --no-install) install=no ;;
        --ranks) [ $# -ge 2 ] || fail "--ranks needs a list such as 2,4"; ranks=$2; shift ;;
        --help | -h) usage; exit 0 ;;
        *) usage >&2; fail "unknown option \"$1\"" ;;
    esac
    shift
done
[[ $ranks =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || fail "--ranks: \"$ranks\" is not a list such as 2,4"

# Settings of other jobs would change both sides of the comparison.
for name in $(compgen -e | grep '^PEERCOLL_\|^OMPI_MCA_' || true); do unset "$name"; done
# Open MPI refuses root without these; a container's user is often root.
[ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 # a machine may have fewer cores than the ranks asked for
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 # a rank is a core's work already

if [ $install = yes ]; then
    step "packages"
    "$repository/tests/install_dependencies.sh" run
fi
# The Python that has the distribution's mpi4py; a user's own may come first in PATH.
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import mpi4py, numpy, sklearn' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || fail "no python3 with mpi4py, numpy and sklearn; without --no-install they would be installed"
command -v mpirun >/dev/null || fail "there is no mpirun; without --no-install Open MPI would be installed"

step "build"
cd "$repository"
build=build/release
# A build folder that is there keeps its settings; a new one is spared the tests, which need more packages.
settings=(-DPEERCOLL_BUILD_TESTS=OFF)
[ ! -e $build/CMakeCache.txt ] || settings=()
log=$(mktemp)
results=$(mktemp -d)
trap 'rm -rf -- "$log" "$results"' EXIT
quietly() { "$@" >"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "\`$*\` failed"; }; }
quietly cmake --preset release "${settings[@]}"
targets=(peercoll mca_coll_peercoll peercoll-bench peercoll-info hello hello_fortran)
quietly cmake --build --preset release --target "${targets[@]}"
component=$(find "$build" -name mca_coll_peercoll.so -path '*/openmpi*' -printf '%h\n' | head -n 1)
[ -n "$component" ] || fail "the build made no Open MPI component; is libopenmpi-dev installed?"
echo "built $component/mca_coll_peercoll.so"

# The one line that README.md tells people to write; in a subshell here, to have both sides in one script.
load="export OMPI_MCA_mca_base_component_path=SYS_DEFAULT:$repository/$component"
bounded() { timeout --kill-after=10 90 "$@" || fail "\`$*\` failed or took longer than 90 s"; }
with_plugin() { (eval "$load"; export OMPI_MCA_coll_peercoll_statistics=summary; bounded "$@"); }

step "hello, without and with"
bounded mpirun -n 2 $build/mpi_examples/hello
with_plugin mpirun -n 2 $build/mpi_examples/hello
with_plugin mpirun -n 2 $build/mpi_examples/hello_fortran
with_plugin mpirun -n 2 "$python" mpi_examples/hello_mpi4py.py

step "training of a logistic regression on two ranks, without and with"
training=(mpirun -n 2 "$python" mpi_examples/logistic_regression.py --json)
bounded "${training[@]}" "$results/without.json"
with_plugin "${training[@]}" "$results/with.json" 2>&1 | tee "$results/statistics.txt"

step "benchmark, without and with in turn"
bounded_compare() { timeout --kill-after=10 150 "$python" mpi_examples/compare "$@" >"$results/compare.txt"; }
bounded_compare --quick -e 4M -n "$ranks" --out $build/quickstart ||
    fail "the benchmark failed or took longer than 150 s; \`mpi_examples/compare --quick\` shows how far it comes"
echo "details and plots: $build/quickstart/"

step "result"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=mpi_examples "$python" -m comparison.side_by_side $build/quickstart/compare.json \
    "$results/without.json" "$results/with.json"
grep '^peercoll' "$results/statistics.txt" || fail "the statistics do not say that the plugin served the training"
cat <<END

To use it in your own jobs:
    $load
and to see that it works:
    export OMPI_MCA_coll_peercoll_statistics=summary
END
