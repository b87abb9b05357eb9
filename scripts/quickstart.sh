#!/usr/bin/env bash
# From a fresh checkout to a first measurement: install, configure, build, run.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage() {
    cat <<'EOT'
usage: scripts/quickstart.sh [-np N] [--no-run] [-- ARGUMENTS]

Installs missing packages (scripts/install_deps.sh), builds into build/, runs
all_reduce_perf on this host, and names three commands to try next.

  -np N          number of ranks (default: 2, 4 or 8, as this process may use
                 cores)
  --no-run       stop after the build
  -- ARGUMENTS   arguments of all_reduce_perf (default: -b 8 -e 64M -f 2)
  --help         print this text

Exit status: that of all_reduce_perf, or of the step that failed before it.
EOT
}

# run_benchmark RANKS ARGUMENTS...: ends with the program's exit status.
run_benchmark() {
    local ranks=$1 status=0
    build/fabricbench run ${ranks:+-np "$ranks"} all_reduce "${@:2}" || status=$?
    say_next
    exit "$status"
}

say_next() {
    echo
    say "to try next:"
    cat <<'EOT'

    build/fabricbench list             # all programs, by the question that they answer
    build/fabricbench doctor           # what this host lacks for which of them
    build/fabricbench send_recv_lat    # the latency between two ranks
EOT
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
            -h | --help) usage; exit 0 ;;
            *) unknown_option "$1" ;;
        esac
        shift
    done

    scripts/install_deps.sh
    require_writable build
    configure_and_build release
    [[ $run == no ]] || run_benchmark "$ranks" "${arguments[@]}"
}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
main "$@"
