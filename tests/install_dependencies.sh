#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs, on Debian 12, the packages that are missing. The one list of what peercoll needs.
#
#   tests/install_dependencies.sh run     to build, install and try it (mpi_examples/quickstart.sh)
#   tests/install_dependencies.sh test    to test it as well (tests/run.sh)
set -euo pipefail

run_packages=(
    build-essential cmake ninja-build pkg-config
    libhwloc-dev libfmt-dev                     # the library
    openmpi-bin libopenmpi-dev                  # the Open MPI component
    libcli11-dev nlohmann-json3-dev             # peercoll-bench, peercoll-info
    gfortran python3 python3-mpi4py             # examples
    python3-numpy python3-sklearn               # the training example and its data
    python3-matplotlib                          # plots
)
test_packages=(
    libgtest-dev
    clang-format clang-tidy git                 # lint of the tracked sources
    iproute2                                    # tests of several hosts: network namespaces
    procps util-linux
    libucx0 libucx-dev                          # the UCX transport; its headers only to compare ours with
)
# 64 MB to fetch, 20 s to unpack: the HIP kernels are compiled for four architectures (46 s on two processors), and what
# we declare of HIP is compared with ROCm's headers and its library, which hipcc brings along. Without it kernels are
# compiled at run time, and those tests are left out.
optional_test_packages=(hipcc)

fail() {
    echo "install_dependencies.sh: $1" >&2
    exit 1
}

optional=()
case "${1:-}" in
    run) wanted=("${run_packages[@]}") ;;
    test) wanted=("${run_packages[@]}" "${test_packages[@]}") optional=("${optional_test_packages[@]}") ;;
    *) fail "expected \`run\` or \`test\`, not \"${1:-}\"" ;;
esac

{ command -v dpkg-query && command -v apt-get; } >/dev/null ||
    fail "this is not Debian. Install what these packages hold, then use --no-install: ${wanted[*]}"

is_installed() { [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }
missing=() missing_optional=()
for package in "${wanted[@]}"; do is_installed "$package" || missing+=("$package"); done
for package in "${optional[@]}"; do is_installed "$package" || missing_optional+=("$package"); done
[ $((${#missing[@]} + ${#missing_optional[@]})) -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    # Without a terminal nobody can type a password.
    if command -v sudo >/dev/null && { [ -t 0 ] || sudo --non-interactive true 2>/dev/null; }; then
        as_root=(sudo)
    elif [ ${#missing[@]} -eq 0 ]; then
        echo "install_dependencies.sh: not root, so without ${missing_optional[*]}, which some tests would use"
        exit 0
    else
        fail "not root, and sudo cannot be used here. Let an administrator run: apt-get install ${missing[*]}"
    fi
fi

"${as_root[@]}" apt-get update -q=2 || fail "\`apt-get update\` failed: look at the network and /etc/apt"
for package in "${missing_optional[@]}"; do
    if [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then
        missing+=("$package")
    else
        echo "install_dependencies.sh: no package $package here, which some tests would use; they are left out"
    fi
done
[ ${#missing[@]} -gt 0 ] || exit 0
echo "installing: ${missing[*]}"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q=2 --yes --no-install-recommends "${missing[@]}" \
    >/dev/null || fail "\`apt-get install\` failed for: ${missing[*]}"
