#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Several GPUs of one host: proves their paths, checks the collectives exactly, and measures them beside NCCL.
#
#   mpi_examples/several_gpus.sh [OPTIONS]
#
# Topology and pair matrix with proofs; the conformance suite (its two-device part); allreduce and broadcast checked
# around every power of two, with 1 and 2 ranks on each GPU; 8 B to 1 GiB, float sum, against NCCL in the same processes,
# alternating. Less than 8 minutes. Needs a build, mpirun and python3; NCCL where it is measured (libnccl.so.2, also of
# Python's packages); plots need matplotlib and can be made later: gpu_report.py show several_gpus.json --plots DIR.
#
#   --gpus N         so many of them (all)
#   --nccl FILE      the library to compare with; "none": no comparison
set -euo pipefail

name=several_gpus.sh
largest=1G gpus=''
# shellcheck source=mpi_examples/gpu_job.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/gpu_job.sh"
read_options "$@"
prepare_job
deadline=465

[ -n "$gpus" ] || gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true)
[ "$gpus" -ge 1 ] 2>/dev/null || fail "nvidia-smi shows no GPU; --gpus says how many to use"

# Multicast through the switch is left as the environment has it; off if it says nothing, because the plugin's paths are
# compared with NCCL's over the same links.
export NCCL_NVLS_ENABLE=${NCCL_NVLS_ENABLE:-0} NCCL_DEBUG=${NCCL_DEBUG:-WARN}

find_nccl() {
    [ "$nccl" = auto ] || { echo "$nccl"; return; }
    "$python" - <<'END'
import ctypes, importlib.util, pathlib
found = "none"
try:
    spec = importlib.util.find_spec("nvidia.nccl")
except ModuleNotFoundError:
    spec = None
folders = list(spec.submodule_search_locations) if spec else []
for path in [pathlib.Path(folder) / "lib/libnccl.so.2" for folder in folders]:
    if path.exists():
        found = str(path)
if found == "none":
    try:
        ctypes.CDLL("libnccl.so.2")
        found = "libnccl.so.2"
    except OSError:
        pass
print(found)
END
}
nccl=$(find_nccl)

factor=2 seconds=0.12
[ "$quick" = no ] || factor=16 seconds=0.03

# Around each power of two, in bytes: whole elements of $1 bytes, up to $2.
around_powers() {
    local power=$((4 * $1)) sizes=$1
    while [ $power -le "$2" ]; do
        sizes+=,$((power - $1)),$power,$((power + $1))
        power=$((power * 2))
    done
    echo "$sizes"
}
checked=$((64 << 20))
[ "$quick" = no ] || checked=$((1 << 20))
[[ $largest =~ ^[0-9]+$ ]] && [ "$largest" -lt $checked ] && checked=$largest

! command -v nvidia-smi >/dev/null || step topology 20 nvidia-smi topo -m
step info 90 mpirun -n "$gpus" "${flags[@]}" "$info"
conformance=$(find "$build" -type f -name peercoll-conformance-cuda -perm -u+x -print -quit)
if [ -n "$conformance" ]; then
    step conformance 100 "$conformance" --table "$out/conformance.csv"
fi
for per_gpu in 1 2; do
    ranks=$((gpus * per_gpu)) place=(-d cuda --ranks-per-device "$per_gpu" --buffers 2 --device-copy 1M)
    quickly=(--iters 2 --warmup 2 --seconds 0.01)
    bench check_allreduce_float_${per_gpu}_per_gpu $ranks 60 allreduce "${place[@]}" "${quickly[@]}" \
        --sizes "$(around_powers 4 $checked)"
    bench check_allreduce_int8_${per_gpu}_per_gpu $ranks 60 allreduce -t int8 -o max "${place[@]}" "${quickly[@]}" \
        --sizes "$(around_powers 1 $((checked / 16)))"
    bench check_allreduce_in_place_${per_gpu}_per_gpu $ranks 60 allreduce -t double --in-place "${place[@]}" \
        "${quickly[@]}" --sizes "$(around_powers 8 $((checked / 4)))"
    bench check_broadcast_${per_gpu}_per_gpu $ranks 60 broadcast -t int8 --root rotating "${place[@]}" "${quickly[@]}" \
        --sizes "$(around_powers 1 $checked)"
done

measured=(-d cuda --ranks-per-device 1 -b 8 -e "$largest" -f "$factor" --seconds "$seconds" --device-copy "$copy")
rival=()
if [ "$nccl" = none ]; then
    echo "not measured: NCCL, because libnccl.so.2 was not found; --nccl says where it is"
else
    rival=(--rival nccl --nccl-library "$nccl")
fi
# measure COLLECTIVE LIMIT: beside NCCL, and alone if that fails.
measure() {
    local before=${#failed[@]}
    bench "$1_1_per_gpu" "$gpus" "$2" "$1" "${measured[@]}" "${rival[@]}"
    [ ${#rival[@]} -eq 0 ] || [ ${#failed[@]} -eq "$before" ] ||
        bench "$1_1_per_gpu_alone" "$gpus" "$2" "$1" "${measured[@]}"
}
measure allreduce 150
measure broadcast 120
# What the table of choices is tuned by: one rank for all devices, or one for each.
for executors in one per_device; do
    PEERCOLL_EXECUTORS=$executors bench forced_${executors}_allreduce "$gpus" 40 allreduce -d cuda \
        --ranks-per-device 1 -b 8 -e "$largest" -f 8 --seconds 0.05 --device-copy "$copy"
    PEERCOLL_EXECUTORS=$executors bench forced_${executors}_broadcast "$gpus" 40 broadcast -d cuda \
        --ranks-per-device 1 -b 8 -e "$largest" -f 8 --seconds 0.05 --device-copy "$copy"
done
bench allreduce_2_per_gpu $((2 * gpus)) 60 allreduce -d cuda --ranks-per-device 2 -b 8 -e "$largest" -f 16 \
    --seconds 0.05 --device-copy "$copy"
report
