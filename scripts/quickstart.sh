#!/usr/bin/env bash
# From a fresh checkout to a first measurement: install, configure, build, run.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
    cat <<'EOT'
usage: scripts/quickstart.sh [-np N] [--no-run] [-- ARGUMENTS]

Installs missing packages (scripts/install_deps.sh), builds into build/, and runs all_reduce_perf on this host.

  -np N          number of ranks (default: the cores this process may use, at least 2 and at most 8)
  --no-run       stop after the build
  -- ARGUMENTS   arguments of all_reduce_perf (default: -b 8 -e 64M -f 2)
  --help         print this text

Exit status: that of all_reduce_perf, or of the step that failed before it.
EOT
}

# Expands a list of CPUs such as 0-3,8 to one number per line.
expand_cpu_list() {
    local range
    for range in ${1//,/ }; do
        seq "${range%-*}" "${range#*-}"
    done
}

# Cores, not hardware threads: Open MPI counts a slot per core, and two ranks that share a core slow each other down.
core_count() {
    local allowed cpu
    allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    for cpu in $(expand_cpu_list "$allowed"); do
        # If the kernel hides the topology, every CPU counts as a core.
        cat "/sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list" 2>/dev/null || echo "$cpu"
    done | sort -u | wc -l
}

default_ranks() {
    local cores=$1
    echo $((cores < 2 ? 2 : cores > 8 ? 8 : cores))
}

# run_benchmark RANKS ARGUMENTS...: replaces this process, so that the exit status is the program's.
run_benchmark() {
    local ranks=$1 cores command
    shift
    cores=$(core_count)
    command=(mpirun -np "${ranks:-$(default_ranks "$cores")}")
    # More ranks than cores: Open MPI needs the option, and the figures are then of little use.
    if ((command[2] > cores)) && mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
        command+=(--oversubscribe)
        warn "${command[2]} ranks share $cores core(s): expect low figures"
    fi
    command+=(build/all_reduce_perf "$@")
    say "from $PWD, running:"
    printf '\n    %s%s\n\n' "${mpi_environment[*]:+${mpi_environment[*]} }" "$(quoted "${command[@]}")"
    # Otherwise mpirun would forward our standard input to rank 0.
    exec "${command[@]}" </dev/null
}

main() {
    local ranks="" run=yes arguments=(-b 8 -e 64M -f 2)
    while (($# > 0)); do
        case $1 in
            -np)
                [[ ${2-} =~ ^[1-9][0-9]{0,5}$ ]] ||
                    die "$kUsage" "'-np ${2-}' is not a number of ranks; write a positive number, such as -np 4"
                ranks=$2
                shift
                ;;
            --no-run) run=no ;;
            --)
                shift
                arguments=("$@")
                break
                ;;
            -h | --help) usage && exit 0 ;;
            *) unknown_option "$1" ;;
        esac
        shift
    done

    scripts/install_deps.sh
    use_mpi
    require_writable build
    configure_and_build release
    [[ $run == no ]] || run_benchmark "$ranks" "${arguments[@]}"
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
main "$@"
