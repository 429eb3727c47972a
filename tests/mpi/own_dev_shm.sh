#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# own_dev_shm.sh COMMAND ARGUMENT...: runs the command with a /dev/shm of its own, as on a host or in a container of its own.
exec unshare --mount sh -c 'mount -t tmpfs -o size=64m none /dev/shm && exec "$@"' sh "$@"
