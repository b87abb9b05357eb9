#!/usr/bin/env bash
# Shared by the scripts in this directory: `source` it, do not run it.
# Every name here is used by at least two scripts, or hides a difference between systems.

# Exit statuses, the same as the programs use.
# shellcheck disable=SC2034  # read by the scripts that source this one
readonly kFailed=1 kUsage=2 kMissing=3

# Where Fedora and RHEL keep Open MPI: off the PATH until `module load mpi` is run.
readonly kFedoraMpi=/usr/lib64/openmpi

say() { printf '%s: %s\n' "${0##*/}" "$*"; }

warn() { say "$*" >&2; }

# die STATUS MESSAGE...
die() {
    local status=$1
    shift
    warn "$*"
    exit "$status"
}

# unknown_option OPTION
unknown_option() {
    die "$kUsage" "'$1' is not an option of ${0##*/}; run '$0 --help' for the list"
}

is_root() { [[ $(id -u) -eq 0 ]]; }

# Prints the words so that they can be pasted into a shell.
quoted() {
    local line
    printf -v line '%q ' "$@"
    printf '%s\n' "${line% }"
}

# Makes mpirun and mpicxx callable for this script and what it starts.
# mpi_environment is what a user has to type in front of mpirun to get the same.
mpi_environment=()
use_mpi() {
    if ! command -v mpirun >/dev/null && [[ -x $kFedoraMpi/bin/mpirun ]]; then
        export PATH=$kFedoraMpi/bin:$PATH
        export LD_LIBRARY_PATH=$kFedoraMpi/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
        mpi_environment+=("PATH=$kFedoraMpi/bin:\$PATH" "LD_LIBRARY_PATH=$kFedoraMpi/lib")
    fi
    # Open MPI refuses to run as root unless it is told twice.
    if is_root; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        mpi_environment+=(OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
    fi
}

# A build directory left behind by root is the usual reason for a long cmake error.
require_writable() {
    local path
    for path in . "$@"; do
        if [[ -e $path && ! -w $path ]]; then
            die "$kFailed" "'$(realpath "$path")' cannot be written by $(id -un);" \
                "change its owner, or remove it, and run this again"
        fi
    done
}

# configure_and_build PRESET
configure_and_build() {
    cmake --preset "$1"
    cmake --build --preset "$1"
}
