#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command that must end well and must print a text a given number of times.
#   with_output.sh TIMES TEXT COMMAND...
set -u
times=$1
text=$2
shift 2
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
if [ "$status" -ne 0 ]; then
    echo "with_output.sh: the command ended with status $status" >&2
    exit "$status"
fi
found=$(printf '%s\n' "$output" | grep -c -F -- "$text")
if [ "$found" -ne "$times" ]; then
    echo "with_output.sh: found \"$text\" in $found lines, expected $times" >&2
    exit 1
fi
