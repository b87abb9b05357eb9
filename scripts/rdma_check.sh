#!/usr/bin/env bash
# Checks that need an RDMA device: the programs over verbs between two ranks, in host memory and in GPU memory if there
# is a GPU, and their behaviour on errors. One PASS, FAIL or SKIP line for each check.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

readonly kVerbs=(write read send atomic)
readonly kParts=(programs options rate endings gpu)
readonly kBudget=(--time-budget "${TIME_BUDGET:-0.2}")
readonly kRequiredPercent=${PERCENT_OF_RATE:-80}
readonly kLargeBytes=${LARGE_BYTES:-8M}

usage() {
    as_typed <<EOT
usage: scripts/rdma_check.sh [--programs DIR] [--record FILE] [--hosts A,B]
           [--device NAME] [--only PART]...

Runs the built programs over RDMA verbs between two ranks, on this host or on
two hosts, and checks their output and exit status.

  --programs DIR   folder of the programs (default: the build beside the
                   scripts, or the installed one)
  --record FILE    also write the results to FILE, after a description of the
                   machine
  --hosts A,B      one rank on each of these hosts (default: both on this one)
  --device NAME    RDMA device, such as mlx5_0 (default: the first with an
                   active port)
  --only PART      run only this part (may be repeated): programs, options,
                   rate, endings or gpu
  --help           print this text

Environment: TIME_BUDGET, approximate seconds per size (default: 0.2);
LARGE_BYTES, the largest message (default: 8M); PERCENT_OF_RATE, required share
of the port's rate for writes of that size (default: 80).
Exit status: 0 no check failed, 1 a check failed, 2 usage, 3 no RDMA device or
no programs.
EOT
}

programs=${FABRICBENCH_PROGRAMS_FOLDER:-$(own_programs)}
record=
device=()
parts=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
        --programs) programs=${2:?--programs wants a folder}; shift 2 ;;
        --record) record=${2:?--record wants a file}; shift 2 ;;
        --hosts) launch+=(-H "${2:?--hosts wants two hosts}" --map-by node); shift 2 ;;
        --device) device=(-d "${2:?--device wants a name}"); shift 2 ;;
        --only)
            [[ " ${kParts[*]} " == *" ${2-} "* ]] ||
                die "$kUsage" "--only '${2-}': there is no such part; use one of ${kParts[*]}"
            parts+=("$2"); shift 2 ;;
        -h | --help) usage; exit 0 ;;
        *) unknown_option "$1" ;;
    esac
done
if [[ ${#parts[@]} -eq 0 ]]; then parts=("${kParts[@]}"); fi

use_mpi
command -v mpirun >/dev/null || die "$kMissing" "mpirun is not on the PATH; install Open MPI"
[[ -x $programs/rdma_write_bw ]] || die "$kMissing" "$programs has no rdma_write_bw; build it, or name its folder"
compgen -G '/sys/class/infiniband/*' >/dev/null || die "$kMissing" "/sys/class/infiniband lists no RDMA device here"

# The last line of the table's rows.
closing_row() { grep -E '^ *[0-9]' "$work/out" | tail -n 1 | tr -s ' '; }

# passes NAME PROGRAM ARGUMENTS...: checks that a job of two ranks succeeds; the program checks its data.
passes() {
    local name=$1 program=$2 status
    shift 2
    status=$(job 2 "$programs/$program" "${device[@]}" "$@")
    case $status in
        0) verdict PASS "$name" "$(closing_row)" ;;
        "$kMissing") verdict SKIP "$name" "$(first_complaint)" ;;
        *) verdict FAIL "$name" "exit status $status: $(first_complaint)" ;;
    esac
}

describe_machine() {
    local path
    tell "# $(date -u +%Y-%m-%dT%H:%M:%SZ) $("$programs/rdma_write_bw" --version 2>/dev/null | head -n 1)"
    for path in /sys/class/infiniband/*/ports/*; do
        tell "# $(cut -d / -f 5 <<<"$path") port ${path##*/}: $(cut -d ' ' -f 2 "$path/state"), $(<"$path/rate")"
    done
    tell "# $(mpirun --version | head -n 1)"
}

# check_programs WHERE ARGUMENTS...: checks every verb in one kind of memory.
check_programs() {
    local where=$1 verb sizes
    shift
    for verb in "${kVerbs[@]}"; do
        sizes=(--min-bytes 8 --max-bytes "$kLargeBytes" --step-factor 1024)
        if [[ $verb == atomic ]]; then sizes=(); fi
        passes "$verb, stream, $where" "rdma_${verb}_bw" "${sizes[@]}" "${kBudget[@]}" "$@"
        if [[ $verb == write && $where == *GPU* ]]; then continue; fi  # the processor cannot access GPU memory
        passes "$verb, latency, $where" "rdma_${verb}_lat" "${sizes[@]}" "${kBudget[@]}" "$@"
    done
    for mode in cq cq+flush gpu; do
        passes "latency seen by $mode, $where" gpudirect_rdma_lat -s 64 "${kBudget[@]}" --seen-by "$mode" "$@"
    done
}

check_options() {
    local words
    while IFS= read -r line; do
        read -ra words <<<"$line"
        passes "$line" "${words[@]}" -s 1K "${kBudget[@]}"  # a datagram fits any network
    done <<'EOT'
rdma_write_bw -b
rdma_read_bw -b
rdma_write_bw -q 4 -t 32
rdma_write_bw -l 8 -Q 16
rdma_write_bw -c UC
rdma_write_bw -e
rdma_write_bw --write-with-imm
rdma_send_bw -c UD
rdma_send_lat -c UD
rdma_send_bw --use-srq -q 4
rdma_write_bw -R
rdma_send_bw -R -c UD
rdma_send_lat -R
rdma_write_bw --memory hugepages
rdma_write_lat --background bw
EOT
    passes "rdma_cm_connect" rdma_cm_connect -n 20
    passes "rdma_cm_connect -c UD" rdma_cm_connect -n 20 -c UD
    passes "rdma_cm_connect --parallel 16" rdma_cm_connect --parallel 16
}

# Checks that the device reaches its port's rate.
check_rate() {
    local status
    status=$(job 2 "$programs/rdma_write_bw" "${device[@]}" -s "$kLargeBytes" "${kBudget[@]}" \
        --percent-of-rate "$kRequiredPercent")
    case $status in
        0) verdict PASS "writes reach $kRequiredPercent % of the port's rate" "$(closing_row)" ;;
        "$kNotJudged") verdict SKIP "writes reach $kRequiredPercent % of the port's rate" "$(first_complaint)" ;;
        *) verdict FAIL "writes reach $kRequiredPercent % of the port's rate" "exit status $status: $(first_complaint)" ;;
    esac
}

check_endings() {
    ends_with "$kMissing" "there is no RDMA device 'none_9'" "unknown device" 2 "$programs/rdma_write_bw" -d none_9
    ends_with "$kMissing" "no GID of this index" "unknown GID index" 2 "$programs/rdma_write_bw" "${device[@]}" -x 254
    ends_with "$kUsage" "a pair needs two ranks" "one rank" 1 "$programs/rdma_write_bw" "${device[@]}"
}

check_gpu() {
    if nvidia-smi --list-gpus >/dev/null 2>&1; then
        check_programs "GPU memory" --memory cuda
    else
        verdict SKIP "GPU memory" "nvidia-smi lists no GPU here"
    fi
}

# A function, so that bash has read the whole script before this long run starts.
main() {
    local part
    if [[ -n $record ]]; then : >"$record"; fi
    describe_machine
    for part in "${parts[@]}"; do
        case $part in
            programs) check_programs "host memory" ;;
            options) check_options ;;
            rate) check_rate ;;
            endings) check_endings ;;
            gpu) check_gpu ;;
        esac
    done
    conclude
}

main
