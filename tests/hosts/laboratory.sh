#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# laboratory.sh HOSTS [--rate RATE] [--delay TIME] [--loss PERCENT] [--cut HOST AFTER_FILE] -- COMMAND ARGUMENT...
#
# Runs a command, as a rule mpirun, beside HOSTS (2 to 8) hosts that exist only meanwhile: network namespaces, each with an
# interface eth0 on a common bridge, a host name (pch1, pch2, ...), a /dev/shm and an IPC namespace of its own. The command
# itself is on pch1. It finds
#   LABORATORY_AGENT   a launch agent for mpirun: --mca plm_rsh_agent "$LABORATORY_AGENT"
#   LABORATORY_HOSTS   pch1,pch2,...
#   LABORATORY_FOLDER  a folder of the laboratory's own, for files that the command's processes share
# --rate limits each host's sending (tbf), --delay and --loss need the kernel's netem. --cut takes HOST's link down as soon
# as AFTER_FILE exists in LABORATORY_FOLDER.
# The laboratory lives in namespaces of this script: when it ends, however it ends, the kernel takes all of it down.
# Exit status: the command's; 77: this machine forbids namespaces or lacks what was asked for, and which.
set -euo pipefail

skip() {
    echo "skipped: $1"
    exit 77
}
usage() {
    echo "laboratory.sh: $1" >&2
    exit 2
}

# ---- First life: enter namespaces of our own, in which we may do everything ----
if [ -z "${LABORATORY_INSIDE:-}" ]; then
    command -v ip >/dev/null || skip "the command ip is missing (package iproute2)"
    command -v unshare >/dev/null || skip "the command unshare is missing (package util-linux)"
    namespaces=(--mount --net --uts --ipc --pid --fork --mount-proc --kill-child)
    [ "$(id -u)" -eq 0 ] || namespaces=(--user --map-root-user "${namespaces[@]}")
    refusal=$(unshare "${namespaces[@]}" true 2>&1) || skip "no namespaces to be had here: $refusal"
    LABORATORY_FOLDER=$(mktemp -d "${TMPDIR:-/tmp}/peercoll-lab.XXXXXX")
    export LABORATORY_INSIDE=1 LABORATORY_FOLDER
    status=0
    # In the background, so that a signal finds the trap and not a shell that waits. SIGKILL is passed on by the kernel.
    setpriv --pdeathsig KILL unshare "${namespaces[@]}" "$0" "$@" &
    child=$!
    # shellcheck disable=SC2317  # called by the trap
    stop() { kill -KILL "$child" 2>/dev/null || true; }
    trap 'rm -rf -- "$LABORATORY_FOLDER"' EXIT
    trap 'stop; exit 143' TERM INT HUP
    wait "$child" || status=$?
    exit "$status"
fi

# ---- Second life: process 1 of the namespaces; with it everything ends ----
[ $# -ge 1 ] || usage "expected the number of hosts"
hosts=$1
shift
[[ $hosts =~ ^[2-8]$ ]] || usage "expected 2 to 8 hosts, not \"$hosts\""
rate='' netem=() cut_host='' cut_file=''
while [ $# -gt 0 ]; do
    case "$1" in
        --rate) rate=$2; shift 2 ;;
        --delay) netem+=(delay "$2"); shift 2 ;;
        --loss) netem+=(loss "$2"); shift 2 ;;
        --cut) cut_host=$2 cut_file=$LABORATORY_FOLDER/$3; shift 3 ;;
        --) shift; break ;;
        *) usage "unknown option \"$1\"" ;;
    esac
done
[ $# -gt 0 ] || usage "expected a command behind --"

mount --make-rprivate /
mount -t tmpfs -o mode=755 none /run 2>/dev/null || skip "nothing can be mounted here"
mkdir -p /run/netns
ip link set lo up
ip link add name pcbr0 type bridge 2>/dev/null || skip "the kernel has no bridge"
ip link set pcbr0 up
cat /etc/hosts >"$LABORATORY_FOLDER/hosts" 2>/dev/null || true
names=''
for ((i = 1; i <= hosts; i++)); do
    host=pch$i
    names+=${names:+,}$host
    printf '10.77.0.%d %s\n' "$i" "$host" >>"$LABORATORY_FOLDER/hosts"
    ip netns add "$host"
    ip link add name "pcv$i" type veth peer name eth0 netns "$host" 2>/dev/null || skip "the kernel has no veth"
    ip link set "pcv$i" master pcbr0 up
    ip -n "$host" addr add "10.77.0.$i/24" dev eth0
    ip -n "$host" link set eth0 up
    ip -n "$host" link set lo up
    if [ -n "$rate" ]; then
        ip netns exec "$host" tc qdisc add dev eth0 root tbf rate "$rate" burst 256kb latency 200ms 2>/dev/null ||
            skip "the kernel has no tbf: the rate cannot be limited"
    fi
    if [ ${#netem[@]} -gt 0 ]; then
        ip netns exec "$host" tc qdisc add dev eth0 root netem "${netem[@]}" 2>/dev/null ||
            skip "the kernel has no netem: no delay and no loss"
    fi
done
mount --bind "$LABORATORY_FOLDER/hosts" /etc/hosts

export LABORATORY_HOSTS=$names
LABORATORY_AGENT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/on_host.sh
export LABORATORY_AGENT

if [ -n "$cut_host" ]; then
    (
        while [ ! -e "$cut_file" ]; do sleep 0.05; done
        ip link set "pcv${cut_host#pch}" down
        touch "$cut_file.done"
    ) &
fi
# Not exec: process 1 also buries what its children leave.
status=0
"$LABORATORY_AGENT" pch1 "$(printf '%q ' "$@")" || status=$?
exit "$status"
