#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# repeat.sh TIMES COMMAND ARGUMENT...: runs a command again and again, until it fails. For what goes wrong once in many jobs.
set -euo pipefail
times=$1
shift
for ((i = 1; i <= times; i++)); do
    status=0
    "$@" || status=$?
    [ "$status" -eq 0 ] || { echo "run $i of $times failed with status $status"; exit "$status"; }
done
echo "$times runs ended well"
