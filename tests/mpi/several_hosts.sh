#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# several_hosts.sh MPIEXEC RANKS COMMAND...: ranks that share no memory, as each on a host of its own.
# Exit status 77: this machine does not let a process have a /dev/shm of its own.
here=$(dirname "$0")
if ! "$here/own_dev_shm.sh" true 2>/dev/null; then
  echo "skipped: no private mount namespace to be had"
  exit 77
fi
mpiexec=$1 ranks=$2
shift 2
exec timeout 100 "$mpiexec" -n "$ranks" --mca btl tcp,self "$here/own_dev_shm.sh" "$@"
