#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Started by mpirun on each rank: runs a command, on one rank with a variable of its own in the environment.
#   on_one_rank.sh RANK NAME=VALUE COMMAND...
set -eu
rank=$1
setting=$2
shift 2
if [ "$OMPI_COMM_WORLD_RANK" -eq "$rank" ]; then
    exec env "$setting" "$@"
fi
exec "$@"
