# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# What one_gpu.sh and several_gpus.sh share; sourced by them. A run is a row of steps, each bounded in time, whose output
# is kept; at the end gpu_report.py makes one JSON file, one text and plots of them.
#
# Options of both scripts:
#   --build DIR      where peercoll was built (build/release)
#   --out DIR        where results go (build/NAME)
#   --largest SIZE   the largest message (one_gpu.sh: 256M, several_gpus.sh: 1G)
#   --copy SIZE      copies that measure a device's bandwidth (256M)
#   --skip REGEX     leaves out the steps whose name matches
#   --quick          fewer sizes and less time for each
#   --flags "..."    more flags for mpirun, for example "--bind-to numa"

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

fail() {
    echo "$name: $1" >&2
    exit 1
}

# Sets what the options above say. `largest` must be set before.
read_options() {
    build=$here/../build/release out='' quick=no nccl=auto copy=256M skip="" flags=()
    while [ $# -gt 0 ]; do
        case "$1" in
            --quick) quick=yes ;;
            --help | -h) sed -n '3,/^set/{/^set/d;s/^# \{0,1\}//p}' "$here/$name"; sed -n '7,14s/^# \{0,1\}//p' "$here/gpu_job.sh"; exit 0 ;;
            --build | --out | --largest | --copy | --skip | --flags | --nccl | --gpus)
                [ $# -ge 2 ] || fail "$1 needs a value"
                case "$1" in
                    --build) build=$2 ;;
                    --out) out=$2 ;;
                    --largest) largest=$2 ;;
                    --copy) copy=$2 ;;
                    --skip) skip=$2 ;;
                    --flags) read -r -a flags <<<"$2" ;;
                    --nccl) nccl=$2 ;;
                    --gpus) gpus=$2 ;;
                esac
                shift ;;
            *) fail "unknown option \"$1\"; --help tells which there are" ;;
        esac
        shift
    done
    build=$(cd -- "$build" 2>/dev/null && pwd) || fail "there is no build folder $build; --build says where peercoll was built"
    [ -n "$out" ] || out=$here/../build/${name%.sh}
    mkdir -p "$out"
    out=$(cd -- "$out" && pwd)
}

# Finds what was built, and sets the environment that a job with the plugin has.
prepare_job() {
    bench=$(find "$build" -type f -name peercoll-bench -perm -u+x -print -quit)
    info=$(find "$build" -type f -name peercoll-info -perm -u+x -print -quit)
    [ -n "$bench" ] && [ -n "$info" ] || fail "there is no peercoll-bench or peercoll-info below $build"
    component=$(find "$build" -name mca_coll_peercoll.so -path '*/openmpi*' -printf '%h\n' -quit)
    [ -n "$component" ] || fail "there is no mca_coll_peercoll.so below $build"
    # Where it is built comes first; a folder that was built before may hold an older one elsewhere.
    library=$(find "$build/lib" "$build" -name 'libpeercoll.so.1' -printf '%h\n' -quit 2>/dev/null || true)
    [ -n "$library" ] || fail "there is no libpeercoll.so.1 below $build"
    export OMPI_MCA_mca_base_component_path=SYS_DEFAULT:$component
    export OMPI_MCA_coll_peercoll_statistics=${OMPI_MCA_coll_peercoll_statistics:-summary}
    export OMPI_MCA_rmaps_base_oversubscribe=1
    # The build may have been carried here from another place.
    export LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    # Open MPI refuses root without these; a container's user is often root.
    [ "$(id -u)" -ne 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    command -v mpirun >/dev/null || fail "there is no mpirun in PATH"

    # A Python with matplotlib, if there is one.
    python=python3
    for candidate in python3 /usr/bin/python3; do
        "$candidate" -c 'import matplotlib' 2>/dev/null && python=$candidate && break
    done

    work=$(mktemp -d "${TMPDIR:-/tmp}/peercoll.XXXXXX")
    trap end_job EXIT
    failed=()
}

end_job() {
    [ -z "${mps_directory:-}" ] || stop_mps
    rm -rf -- "$work"
}

# wanted NAME: whether --skip leaves this step in.
wanted() { [ -z "$skip" ] || [[ ! $1 =~ $skip ]]; }

# step NAME LIMIT COMMAND...: runs it for at most LIMIT seconds, and no longer than the whole run may take.
step() {
    local step_name=$1 limit=$2 start=$SECONDS status=0
    shift 2
    wanted "$step_name" || return 0
    local left=$((deadline - SECONDS))
    [ "$limit" -le $left ] || limit=$left
    printf '\n== %s (%d s so far)\n' "$step_name" $SECONDS
    if [ "$limit" -lt 5 ]; then
        echo "not run: the time of the whole run, $deadline s, is used up"
        status=125
    else
        timeout --kill-after=10 "$limit" "$@" 2>&1 | tee "$work/$step_name.txt" || status=${PIPESTATUS[0]}
    fi
    [ $status -eq 0 ] || { failed+=("$step_name"); echo "== $step_name failed: status $status"; }
    local command=${*//"$build"/BUILD}
    printf '%s\t%d\t%d\t%s\n' "$step_name" $status $((SECONDS - start)) "${command//"$work"/WORK}" >>"$work/steps.tsv"
}

# bench NAME RANKS LIMIT ARGUMENTS...: a step that runs peercoll-bench and keeps its JSON.
bench() {
    local step_name=$1 ranks=$2 limit=$3
    shift 3
    step "$step_name" "$limit" mpirun -n "$ranks" "${flags[@]}" "$bench" "$@" --json "$work/$step_name.json"
}

# The report, and the status of the run: 0 if every step succeeded.
report() {
    "$python" "$here/gpu_report.py" collect "$work" "$out/${name%.sh}.json"
    "$python" "$here/gpu_report.py" show "$out/${name%.sh}.json" --plots "$out" | tee "$out/${name%.sh}.txt"
    echo "results are in $out; $SECONDS s"
    [ ${#failed[@]} -eq 0 ] || fail "failed: ${failed[*]}"
}
