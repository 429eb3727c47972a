#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The ways to make Open MPI find the component, one by one.
#   loading.sh COMPONENT_FOLDER MPIRUN PROGRAM    (the program is served_or_not)
set -eu
folder=$1
mpirun=$2
program=$3
unset OMPI_MCA_mca_base_component_path OMPI_MCA_mca_component_path
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

expect() {
    echo "loading.sh: $1"
    shift
    timeout 100 "$@"
}

expect "not at all" "$mpirun" -n 2 "$program" absent
expect "environment variable" \
    env OMPI_MCA_mca_base_component_path="SYS_DEFAULT:$folder" "$mpirun" -n 2 "$program" served
expect "option of mpirun" \
    "$mpirun" --mca mca_base_component_path "SYS_DEFAULT:$folder" -n 2 "$program" served
mkdir -p "$home/.openmpi/components"
cp "$folder/mca_coll_peercoll.so" "$home/.openmpi/components/"
if "$mpirun" -n 1 env | grep -q '^OMPI_MCA_mca_base_component_path='; then
    # Debian 13's launcher gives its processes a search path of its own, without the home directory.
    expect "copy in the home directory, asked for" \
        env HOME="$home" OMPI_MCA_mca_base_component_path=SYS_DEFAULT:USER_DEFAULT "$mpirun" -n 2 "$program" served
else
    expect "copy in the home directory" env HOME="$home" "$mpirun" -n 2 "$program" served
fi
expect "loaded but excluded" \
    env OMPI_MCA_mca_base_component_path="SYS_DEFAULT:$folder" OMPI_MCA_coll=^peercoll "$mpirun" -n 2 "$program" absent
expect "loaded with a negative priority" \
    env OMPI_MCA_mca_base_component_path="SYS_DEFAULT:$folder" OMPI_MCA_coll_peercoll_priority=-1 \
    "$mpirun" -n 2 "$program" absent
