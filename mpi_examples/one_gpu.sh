#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Several ranks on one GPU: what allreduce and broadcast of its memory take through mpirun and the plugin, beside the
# floors of the same run, the launch of an empty kernel and a copy inside the device.
#
#   mpi_examples/one_gpu.sh [OPTIONS]
#
# 2, 4 and 8 ranks, float sum, 8 B to 256 MiB, every result checked. Then, where nvidia-cuda-mps-control is, the same
# under MPS with a kernel of each rank (PEERCOLL_EXECUTORS=per_rank) instead of one rank's for all; it is started with
# folders of its own and stopped again. Less than 9 minutes. Needs a build, mpirun and python3; plots need matplotlib
# and can be made later: gpu_report.py show one_gpu.json --plots DIR.
#
set -euo pipefail

name=one_gpu.sh
largest=256M
# shellcheck source=mpi_examples/gpu_job.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/gpu_job.sh"
read_options "$@"
prepare_job
deadline=530

factor=2 seconds=0.15
[ "$quick" = no ] || factor=16 seconds=0.05
sizes=(-b 8 -e "$largest" -f "$factor" --seconds "$seconds" --device-copy "$copy")

start_mps() {
    # Short names: they hold sockets.
    mps_directory=$(mktemp -d /tmp/pcmps.XXXXXX)
    export CUDA_MPS_PIPE_DIRECTORY=$mps_directory/pipe CUDA_MPS_LOG_DIRECTORY=$mps_directory/log
    mkdir "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
    nvidia-cuda-mps-control -d
}

stop_mps() {
    echo quit | timeout 20 nvidia-cuda-mps-control || echo "$name: MPS did not stop when asked to" >&2
    rm -rf -- "$mps_directory"
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
    mps_directory=''
}

! command -v nvidia-smi >/dev/null || step gpu 20 nvidia-smi -L
step info 60 mpirun -n 2 "${flags[@]}" "$info" --devices --communicator --statistics
for ranks in 2 4 8; do
    bench allreduce_${ranks}_ranks $ranks 90 allreduce -d cuda --device 0 "${sizes[@]}"
    bench broadcast_${ranks}_ranks $ranks 90 broadcast -d cuda --device 0 "${sizes[@]}"
done
bench allreduce_pool_2_ranks 2 60 allreduce -d cuda --device 0 --device-memory pool -b 8 -e "$largest" -f 64 --seconds 0.05 \
    --device-copy "$copy"

if ! wanted mps; then
    :
elif command -v nvidia-cuda-mps-control >/dev/null && start_mps; then
    export PEERCOLL_EXECUTORS=per_rank
    [ "$quick" = yes ] || sizes=(-b 8 -e "$largest" -f 8 --seconds 0.1 --device-copy "$copy")
    for ranks in 2 4 8; do
        bench mps_allreduce_${ranks}_ranks $ranks 60 allreduce -d cuda --device 0 "${sizes[@]}"
        bench mps_broadcast_${ranks}_ranks $ranks 60 broadcast -d cuda --device 0 "${sizes[@]}"
    done
    unset PEERCOLL_EXECUTORS
    stop_mps
else
    echo "not run: one kernel of each rank under MPS, because nvidia-cuda-mps-control is missing or did not start"
fi
report
