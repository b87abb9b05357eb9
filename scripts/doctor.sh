#!/usr/bin/env bash
# Says what this host lacks for which programs, and what mends it.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/launch.sh
source "$(dirname "${BASH_SOURCE[0]}")/launch.sh"
# shellcheck source=scripts/dependencies.sh
source "$(dirname "${BASH_SOURCE[0]}")/dependencies.sh"
# shellcheck source=scripts/doctor_checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/doctor_checks.sh"

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly scripts

readonly kColumns=80 kNameColumn=9 kTextColumn=29

# What each part is for, and its checks.
readonly kParts=(
    "All programs|check_programs check_launcher_of_mpi check_two_ranks check_shared_memory check_interfaces"
    "GPUs: collectives on NCCL, gpu_copy_bw, gpudirect_rdma_lat|check_gpus"
    "RDMA: rdma_*, gpudirect_rdma_lat|check_rdma check_locked_memory check_huge_pages"
    "Many hosts: sweep_pairs, accept, check_node_pair|check_sweeps"
    "Pictures and pages: plot, report|check_reports"
    "selftest|check_selftest")

usage() {
    cat <<'EOT'
usage: fabricbench doctor [--programs DIR]

Says what this host has and lacks for which programs, and what mends it.

  ok       is there, and works as far as that was tried
  missing  every program needs it
  absent   only the programs of that heading need it
  unknown  could not be found out, which is never ok

It starts two programs on this host, or in the allocation of Slurm, with a time
limit of a minute each. Nothing is installed or changed.

  --programs DIR   folder of the programs (default: that of fabricbench)
  --help           print this text

Exit status: 0 nothing is missing that every program needs, 2 usage, 3 something
is, 7 it could not be found out.
EOT
}

# tell STATE NAME TEXT [MEND]: one thing, in lines of 80 columns.
tell() {
    local line first=yes
    counts[$1]=$((counts[$1] + 1))
    [[ $1 != unknown || $needed == no ]] || unknown_needed=yes
    while IFS= read -r line; do
        if [[ $first == yes ]]; then printf '%-8s %-19s %s\n' "$1" "$2" "$line"; else printf '%*s%s\n' "$kTextColumn" '' "$line"; fi
        first=no
    done < <(fold -s -w $((kColumns - kTextColumn)) <<<"$3" | sed 's/ *$//')
    [[ -n ${4-} ]] || return 0
    printf '%*smend: %s\n' "$kNameColumn" '' "$4"
}

conclude() {
    echo
    if ((counts[missing] > 0)); then
        echo "Missing for every program: ${counts[missing]}; what mends it is above."
        exit "$kMissing"
    elif [[ $unknown_needed == yes ]]; then
        echo "Whether programs work here is unknown; see above."
        exit "$kNotJudged"
    fi
    echo "Programs work on this host. Absent for some of them: ${counts[absent]}; unknown: ${counts[unknown]}."
}

main() {
    local part check needed=yes unknown_needed=no work
    local -A counts=([ok]=0 [missing]=0 [absent]=0 [unknown]=0)
    while (($# > 0)); do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --programs)
                (($# > 1)) || die "$kUsage" "$1 needs a value; run '$own_call --help'"
                programs_folder=$2 && shift ;;
            -h | --help) usage; exit 0 ;;
            *) unknown_option "$1" ;;
        esac
        shift
    done
    programs_folder=$(realpath -m "${programs_folder:-$scripts/../build}")
    use_mpi
    work=$(mktemp -d "${TMPDIR:-/tmp}/fabricbench-doctor.XXXXXX" 2>/dev/null) ||
        die "$kFailed" "cannot write in ${TMPDIR:-/tmp}; set TMPDIR to a folder that you can write in"
    # shellcheck disable=SC2064  # now
    trap "rm -rf '$work'" EXIT
    for part in "${kParts[@]}"; do
        [[ $needed == yes ]] || echo
        echo "${part%%|*}"
        for check in ${part#*|}; do
            "$check"
        done
        needed=no
    done
    conclude
}

main "$@"
