#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi_job.sh MPIEXEC HOST:RANKS,... ARGUMENT...: inside laboratory.sh, starts a job over its hosts, all of whose traffic goes
# over their common network.
set -euo pipefail
mpiexec=$1 places=$2
shift 2
ranks=0
for place in ${places//,/ }; do ranks=$((ranks + ${place#*:})); done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
status=0
timeout --kill-after=5 "${LABORATORY_LIMIT:-100}" "$mpiexec" -n "$ranks" --host "$places" --mca plm_rsh_agent "$LABORATORY_AGENT" \
    --mca oob_tcp_if_include eth0 --mca btl tcp,vader,self --mca btl_tcp_if_include eth0 \
    --bind-to none -x LABORATORY_FOLDER -x PEERCOLL_UCX_NET_DEVICES=eth0 -x PEERCOLL_UCX_TLS=tcp,self "$@" || status=$?
exit "$status"
