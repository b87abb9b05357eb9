#!/usr/bin/env bash
# Shared by the scripts in this directory: `source` it, do not run it.
# Every name here is used by at least two scripts, or hides a difference between systems.

# Exit statuses, as the programs have them.
# shellcheck disable=SC2034  # of scripts that source this
readonly kOk=0 kFailed=1 kUsage=2 kMissing=3 kWrongData=5 kTooSlow=6 kNotJudged=7

# Where Fedora and RHEL keep Open MPI: off the PATH until `module load mpi` is run.
readonly kFedoraMpi=/usr/lib64/openmpi

# What a user has called: a command of fabricbench, or the script itself. Other scripts that this one calls are not it.
own_name=${FABRICBENCH_COMMAND:-${0##*/}} own_call=${FABRICBENCH_COMMAND:-$(printf '%q' "$0")}
readonly own_name own_call
unset FABRICBENCH_COMMAND

say() { printf '%s: %s\n' "$own_name" "$*"; }

# Also where standard error is closed or full.
warn() { say "$*" >&2 || true; }

# die STATUS MESSAGE...
die() {
    local status=$1
    shift
    warn "$*"
    exit "$status"
}

# unknown_option OPTION
unknown_option() { die "$kUsage" "'$1' is not an option of $own_name; run '$own_call --help' for the list"; }

# Whether these scripts are in PREFIX/share/fabricbench, and the programs in PREFIX/libexec/fabricbench.
is_installed() {
    local suite
    suite=$(dirname "${BASH_SOURCE[0]}")/..
    [[ ! -e $suite/CMakeLists.txt && -d $suite/../../libexec/fabricbench ]]
}

# Prints a usage from standard input with the commands that users have: where the suite is installed, and behind fabricbench,
# its commands instead of scripts and the build.
as_typed() {
    if is_installed || [[ $own_call == "fabricbench "* ]]; then
        sed -E 's#scripts/([a-z_]+)\.sh#fabricbench \1#g; s#build/fabricbench#fabricbench#g'
    else
        cat
    fi
}

# seconds_of OPTION TIME: prints the seconds of a time such as 90s, 20m or 8h. A number alone is minutes to users of Slurm,
# and seconds to others.
seconds_of() {
    local number=${2%[smh]}
    [[ $number =~ ^[0-9]{1,6}$ ]] || die "$kUsage" "$1 '$2' is not a time; give one such as 90s, 20m or 8h"
    case $2 in
        *h) echo $((10#$number * 3600)) ;;
        *m) echo $((10#$number * 60)) ;;
        *s) echo $((10#$number)) ;;
        *) die "$kUsage" "$1 '$2' has no unit; write $2s for seconds, or $2m for minutes" ;;
    esac
}

# has_fuzzer COMPILER: whether it links libFuzzer.
has_fuzzer() {
    echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
        "$1" -x c++ -fsanitize=fuzzer -o /dev/null - 2>/dev/null
}

# Prints the folder of the programs: the build beside these scripts, where both are installed, or that of the command
# fabricbench. If there is none, the build that is missing.
own_programs() {
    local suite command
    suite=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    command=$(command -v fabricbench || true)
    if [[ -d $suite/build ]]; then
        echo "$suite/build"
    elif is_installed; then
        realpath "$suite/../../libexec/fabricbench"
    elif [[ -n $command ]]; then
        dirname "$(realpath "$command")"
    else
        echo "$suite/build"
    fi
}

# programs_of WORD...: prints the folder of fabricbench: what --programs gives among the words, if it is there, or own_programs.
programs_of() {
    local folder=${FABRICBENCH_PROGRAMS_FOLDER-} word before=
    for word in "$@"; do
        [[ $before != --programs ]] || folder=$word
        [[ $word != --programs=* ]] || folder=${word#*=}
        [[ $word != -- ]] || break
        before=$word
    done
    [[ -x $folder/fabricbench ]] || folder=$(own_programs) # the command itself says what is wrong with that folder
    [[ -x $folder/fabricbench ]] || die "$kMissing" \
        "there is no program fabricbench in $folder; build it (make), or give its folder with --programs"
    echo "$folder"
}

# become_command NAME WORD...: becomes a command of fabricbench.
become_command() {
    local folder
    folder=$(programs_of "$@") || exit
    [[ $own_call == "fabricbench "* ]] || export FABRICBENCH_COMMAND=$0
    exec "$folder/fabricbench" "$@"
}

is_root() { [[ $(id -u) -eq 0 ]]; }

# in_columns COLUMN TEXT: the text of an option that begins at COLUMN, in lines of up to 80 columns.
in_columns() { fold -s -w "$((80 - $1))" <<<"$2" | sed -e "2,\$s/^/$(printf "%$1s" '')/" -e 's/ *$//'; }

# Prints the words quoted for a shell.
quoted() {
    local line
    printf -v line '%q ' "$@"
    line=${line//\\,/,}
    printf '%s\n' "${line% }"
}

# Makes mpirun and mpicxx available to this script and its commands.
use_mpi() {
    if ! command -v mpirun >/dev/null && [[ -x $kFedoraMpi/bin/mpirun ]]; then
        export PATH=$kFedoraMpi/bin:$PATH
        export LD_LIBRARY_PATH=$kFedoraMpi/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    fi
    # Open MPI runs as root only with both of these.
    if is_root; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
}

# A build directory owned by root usually leads to a long cmake error.
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
