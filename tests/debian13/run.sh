#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds peercoll on Debian 13 and runs its MPI tests against the Open MPI 5.0 packaged there, whatever Debian this is.
# Debian 13 is put into a folder by debootstrap and entered by chroot; a second run uses the folder again.
#
#   sudo tests/debian13/run.sh [FOLDER [CTEST ARGUMENTS...]]
#
# For example `run.sh /tmp/peercoll-debian13 -R mpi.threads`.
#
# FOLDER: default /tmp/peercoll-debian13; about 1.5 GB; delete it when you like, nothing stays mounted in it.
# Packages come from the mirror that this machine's apt uses for Debian; PEERCOLL_DEBIAN_MIRROR names another one.
# CTEST ARGUMENTS replace the default, `-L mpi`: all MPI tests. `-R ucx_` and `-L hosts` are those of Debian 13's UCX.
#
# Needs root and debootstrap. Some minutes the first time. Not part of the quick tests.
set -eu

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
repository=$(CDPATH= cd -- "$here/../.." && pwd)
root=${1:-/tmp/peercoll-debian13}
[ $# -eq 0 ] || shift
packages="build-essential cmake ninja-build pkg-config libhwloc-dev libfmt-dev libgtest-dev libgmock-dev
          libopenmpi-dev openmpi-bin gfortran libucx-dev iproute2 procps"

fail() {
    echo "run.sh: $1" >&2
    exit 1
}

# The first Debian archive named in apt's sources, in either of their two formats; not the security one.
mirror_of_this_machine() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
        sed -n -E -e 's/^deb +(\[[^]]*\] +)?([a-z]+:[^ ]*\/debian\/?) .*/\2/p' \
                  -e 's/^URIs: *([a-z]+:[^ ]*\/debian\/?)( .*)?$/\1/p' |
        head -n 1
}

# Runs a command in the chroot. Mounts live in a namespace of their own, so that they go with the command.
inside() {
    ROOT="$root" REPOSITORY="$repository" unshare --mount --propagation private sh -eu -c '
        mkdir -p "$ROOT/source"
        # A mount point, so that tests can have mount namespaces inside.
        mount --rbind "$ROOT" "$ROOT"
        mount --rbind /dev "$ROOT/dev"
        mount -t proc proc "$ROOT/proc"
        mount --rbind /sys "$ROOT/sys"
        mount --bind "$REPOSITORY" "$ROOT/source"
        mount -o remount,bind,ro "$ROOT/source"
        exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
            chroot "$ROOT" "$@"' inside "$@"
}

[ "$(id -u)" -eq 0 ] || fail "chroot and debootstrap need root; run it with sudo."
command -v debootstrap >/dev/null || fail "debootstrap is missing; install it (apt-get install debootstrap)."

# Another list of packages than at the last run: installed again.
if [ "$(cat "$root/peercoll-ready" 2>/dev/null)" != "$packages" ]; then
    mirror=${PEERCOLL_DEBIAN_MIRROR:-$(mirror_of_this_machine)}
    [ -n "$mirror" ] || fail "found no Debian mirror in apt's sources; name one in PEERCOLL_DEBIAN_MIRROR."
    if [ ! -e "$root/etc/debian_version" ] || [ -e "$root/debootstrap" ]; then
        debootstrap --variant=minbase trixie "$root" "$mirror"
    fi
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    cp /etc/hosts "$root/etc/hosts"
    inside apt-get -q -y update
    # shellcheck disable=SC2086  # the list is meant to be split
    inside apt-get -q -y install --no-install-recommends $packages
    printf '%s\n' "$packages" >"$root/peercoll-ready"
fi

[ $# -gt 0 ] || set -- -L mpi
inside sh -eu -c '
    ompi_info --version | head -n 1
    cmake -S /source -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DPEERCOLL_BUILD_EXAMPLES=OFF
    cmake --build /build --target mpi_tests ucx_parts_test ucx_transport_test hosts_ring hosts_transport \
        hosts_collectives hosts_devices
    cd /build
    exec ctest --output-on-failure "$@"' tests "$@"
