#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# several_hosts.sh MPIEXEC PROGRAM: ranks that share no memory, as on several hosts, are passed on to Open MPI alike, counted.
# Exit status 77: this machine does not let a process have a /dev/shm of its own.
here=$(dirname "$0")
if ! "$here/own_dev_shm.sh" true 2>/dev/null; then
  echo "skipped: no private mount namespace to be had"
  exit 77
fi
exec timeout 100 "$1" -n 3 --mca btl tcp,self "$here/own_dev_shm.sh" "$2" passed_on
