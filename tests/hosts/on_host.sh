#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# on_host.sh HOST COMMAND...: runs a shell command on a host of laboratory.sh, as ssh would: mpirun's launch agent.
# Each call has a /dev/shm of its own, and a job makes one call per host.
set -euo pipefail
host=$1
shift
# shellcheck disable=SC2016  # for the inner shell
exec ip netns exec "$host" unshare --uts --mount --ipc sh -c '
    hostname "$1" && mount -t tmpfs -o size=256m none /dev/shm && shift && exec sh -c "$*"' sh "$host" "$@"
