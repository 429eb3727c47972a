#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# killed_laboratory.sh LABORATORY: nothing of a laboratory is left after it was told to end, or was killed, in the middle.
set -euo pipefail
lab=$1
mark=peercoll-lab-test-$$
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

alive() { pgrep -f -- "$mark" || true; }

for signal in TERM KILL; do
    TMPDIR=$folder "$lab" 2 -- sh -c "touch \"\$LABORATORY_FOLDER/up\"; sleep 300; : $mark" >"$folder/output" 2>&1 &
    laboratory=$!
    for ((i = 0; i < 200; i++)); do
        compgen -G "$folder/peercoll-lab.*/up" >/dev/null && break
        if ! kill -0 "$laboratory" 2>/dev/null; then
            status=0
            wait "$laboratory" || status=$?
            cat "$folder/output"
            exit "$status"
        fi
        sleep 0.1
    done
    compgen -G "$folder/peercoll-lab.*/up" >/dev/null || { echo "the laboratory did not come up"; exit 1; }
    kill -"$signal" "$laboratory"
    wait "$laboratory" 2>/dev/null || true
    for ((i = 0; i < 100; i++)); do
        [ -n "$(alive)" ] || break
        sleep 0.1
    done
    [ -z "$(alive)" ] || { echo "left after SIG$signal: $(alive)"; exit 1; }
    if ip link show pcbr0 >/dev/null 2>&1 || ip netns list 2>/dev/null | grep -q '^pch'; then
        echo "interfaces or namespaces of the laboratory are left after SIG$signal"
        exit 1
    fi
    # Nobody can tidy up a folder after SIGKILL; it is this test's own.
    if [ "$signal" = TERM ] && compgen -G "$folder/peercoll-lab.*" >/dev/null; then
        echo "its folder is left after SIGTERM"
        exit 1
    fi
    rm -rf -- "$folder"/peercoll-lab.*
done
echo "nothing is left"
