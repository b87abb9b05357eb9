#!/usr/bin/env bash
# Checks that need a GPU, on one machine: the programs on NCCL, several ranks on one GPU, the kernels under
# compute-sanitizer, and their speed. One PASS, FAIL or SKIP line for each check.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/checks.sh"

readonly kCollectives=(all_reduce all_gather reduce_scatter broadcast reduce alltoall alltoallv gather scatter sendrecv
    hypercube barrier)
readonly kSizes=(-b 256 -e 1M -f 16)
readonly kBudget=(--time-budget "${TIME_BUDGET:-0.05}")
readonly kSmall=("${kSizes[@]}" "${kBudget[@]}")
readonly kParts=(programs options ranks_on_one_gpu endings copies kernels)

usage() {
    as_typed <<EOT
usage: scripts/gpu_check.sh [--programs DIR] [--record FILE] [--part NAME]...

Runs the built programs on this machine's GPUs and checks their output and exit
status.

  --programs DIR   folder of the programs (default: the build beside the
                   scripts, or the installed one); in a build tests/gpu and
                   bench are checked too
  --record FILE    also write the results to FILE, after a description of the
                   machine
  --part NAME      $(in_columns 19 "run only this part (may be repeated): ${kParts[*]}")
  --help           print this text

Environment: GPUS, the number of GPUs to use (default: as many as nvidia-smi
lists); TIME_BUDGET, approximate seconds per size and placement (default: 0.05).
Exit status: 0 no check failed, 1 a check failed, 2 usage, 3 no GPU or no
programs.
EOT
}

programs=${FABRICBENCH_PROGRAMS_FOLDER:-$(own_programs)}
record=
parts=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
        --programs) programs=${2:?--programs wants a folder}; shift 2 ;;
        --record) record=${2:?--record wants a file}; shift 2 ;;
        --part)
            [[ " ${kParts[*]} " == *" ${2:?--part wants a name} "* ]] ||
                die "$kUsage" "there is no part '$2'; use one of ${kParts[*]}"
            parts+=("$2")
            shift 2
            ;;
        -h | --help) usage; exit 0 ;;
        *) unknown_option "$1" ;;
    esac
done

use_mpi
command -v mpirun >/dev/null || die "$kMissing" "mpirun is not on the PATH; install Open MPI"
[[ -x $programs/all_reduce_perf ]] || die "$kMissing" "$programs has no all_reduce_perf; build it, or name its folder"
gpus=${GPUS:-$({ nvidia-smi --list-gpus 2>/dev/null || true; } | wc -l)}
[[ $gpus -ge 1 ]] || die "$kMissing" "nvidia-smi lists no GPU here; run this on a machine that has one"

# The figure that a PASS shows.
closing_figure() { sed -n 's/^# Avg bus bandwidth *: /average busbw GB\/s /p' "$work/out" | head -n 1; }

# passes NAME PROCESSES COMMAND...: the job ends well, on the nccl backend, with every element right.
passes() {
    local name=$1 status
    shift
    status=$(job "$@")
    if [[ $status == 0 ]] && grep -q '^# Backend: nccl' "$work/out" && grep -q 'Out of bounds values : 0 OK' "$work/out"; then
        verdict PASS "$name" "$(closing_figure)"
    elif [[ $status == "$kMissing" ]]; then
        verdict SKIP "$name" "$(first_complaint)"
    else
        fail "$name" "exit status $status: $(first_complaint)"
    fi
}

describe_machine() {
    tell "# $(date -u +%Y-%m-%dT%H:%M:%SZ) $("$programs/all_reduce_perf" --version 2>/dev/null | head -n 1)"
    local query=index,name,driver_version,pci.bus_id,memory.total
    { nvidia-smi --query-gpu="$query" --format=csv,noheader 2>/dev/null || echo "unknown: nvidia-smi does not tell"; } |
        while read -r line; do tell "# GPU $line"; done
    tell "# $(mpirun --version | head -n 1); $gpus GPUs used"
}

check_programs() {
    local name
    for name in "${kCollectives[@]}"; do
        if [[ $name == hypercube && $((gpus & (gpus - 1))) -ne 0 ]]; then
            verdict SKIP "$name" "$gpus is no power of two"
        else
            passes "$name" "$gpus" "$programs/${name}_perf" "${kSmall[@]}" -r all
        fi
    done
    passes "all datatypes and reductions" "$gpus" "$programs/all_reduce_perf" -b 256 -e 64K -f 16 -n 5 -d all -o all
    passes "one process, all GPUs by group calls" 1 "$programs/all_reduce_perf" "${kSmall[@]}" -g "$gpus"
    passes "hypercube in one process" 1 "$programs/hypercube_perf" "${kSmall[@]}"
    passes "large messages" "$gpus" "$programs/all_reduce_perf" -b 1G -e 4G -f 4 --time-budget 0.2
}

check_options() {
    local options budget
    for options in "--timing isolated" "-G 10" "-R 1" "-R 2" "-x 1" "-m 8" "-z 1" "-z 2" "-z 3" "-u 1" "-u 7" "-y 1" \
        "-p 1" "-I 1 -K 3" "-M 1" "-D 1 -R 2" "-D 2 -R 2" "-D 3 -R 2" "-D 4 -R 2" "-D 2 -R 2 -V 128 -u 1" \
        "--buffers rotate" "-w 0 -n 50" "--like nccl-tests"; do
        read -ra words <<<"$options"
        budget=("${kBudget[@]}")
        if [[ $options == *"-n "* || $options == --like* ]]; then budget=(); fi
        passes "all_reduce $options" "$gpus" "$programs/all_reduce_perf" "${kSizes[@]}" "${budget[@]}" "${words[@]}"
    done
    for options in "-D 1 -R 2" "-D 2 -R 2" "-D 3 -R 2" "-D 4 -R 2"; do
        read -ra words <<<"$options"
        passes "alltoall $options" "$gpus" "$programs/alltoall_perf" "${kSmall[@]}" "${words[@]}"
    done
    local name
    for name in send_recv_lat send_recv_bw send_recv_bibw; do
        if [[ $gpus -gt 1 && -x $programs/$name ]]; then
            passes "$name --one-sided 1" 2 "$programs/$name" --backend nccl "${kSmall[@]}" --one-sided 1
        fi
    done
    local status
    status=$(job "$gpus" "$programs/all_reduce_perf" "${kSmall[@]}" --stats)
    if [[ $status == 0 ]] && grep -q -E '^# .*(RING|TREE|NVLS|COLLNET|PAT)[A-Z_]*/' "$work/out"; then
        verdict PASS "algorithm and protocol named" "$(grep -o -E '(RING|TREE|NVLS|COLLNET|PAT)[A-Z_]*/[A-Z0-9]+(/[0-9]+)?' \
            "$work/out" | sort | uniq -c | tr -s ' \n' ' ')"
    elif [[ $status == 0 && $gpus == 1 ]]; then
        verdict SKIP "algorithm and protocol named" "one rank alone takes none"
    else
        fail "algorithm and protocol named" "exit status $status: no name in --stats"
    fi
}

# Functional only: ranks that share a GPU take turns, so their figures say nothing.
check_ranks_on_one_gpu() {
    local name launcher
    # shellcheck disable=SC2016  # the shell that mpirun starts expands it, one for each rank
    launcher='NCCL_HOSTID=h$OMPI_COMM_WORLD_RANK exec "$@"'
    export NCCL_SOCKET_IFNAME=lo NCCL_IB_DISABLE=1 NCCL_NVLS_ENABLE=0 NCCL_PROTO=Simple NCCL_MULTI_RANK_GPU_ENABLE=1
    local shared=(--device 0 -n 2)
    for name in "${kCollectives[@]}"; do
        passes "$name, 2 ranks on one GPU" 2 bash -c "$launcher" - "$programs/${name}_perf" -b 256 -e 64K -f 16 \
            "${shared[@]}"
    done
    local ranks options words
    for ranks in 3 4; do
        passes "all_reduce, $ranks ranks on one GPU" "$ranks" bash -c "$launcher" - "$programs/all_reduce_perf" -b 64K \
            -e 64K "${shared[@]}" -d all -o all
    done
    for options in "-G 3" "-R 1" "-R 2" "-I 1 -K 3" "--timing isolated" "--stats"; do
        read -ra words <<<"$options"
        passes "all_reduce $options, 2 ranks on one GPU" 2 bash -c "$launcher" - "$programs/all_reduce_perf" -b 64K -e 1M \
            -f 4 "${shared[@]}" "${words[@]}"
    done
    for name in pairwise_bw send_recv_bw send_recv_lat multi_pair_bw; do
        if [[ -x $programs/$name ]]; then
            passes "$name, 2 ranks on one GPU" 2 bash -c "$launcher" - "$programs/$name" --backend nccl -b 64K \
                "${shared[@]}"
        fi
    done
    unset NCCL_SOCKET_IFNAME NCCL_IB_DISABLE NCCL_NVLS_ENABLE NCCL_PROTO NCCL_MULTI_RANK_GPU_ENABLE
}

check_endings() {
    local more=$((gpus + 1)) visible
    visible=$(seq -s , 0 $((gpus - 1)))  # GPUS may be fewer than there are
    ends_with "$kMissing" "sees $gpus CUDA device.* need $more" "too few GPUs" "$more" \
        env CUDA_VISIBLE_DEVICES="$visible" \
        "$programs/all_reduce_perf" -b 8 -e 8
    ends_with "$kMissing" "CUDA_LAUNCH_BLOCKING" "isolated timing where launches block" 1 \
        env CUDA_LAUNCH_BLOCKING=1 "$programs/all_reduce_perf" -b 8 -e 8 --timing isolated
    ends_with 0 "Backend: nccl" "launches that block" "$gpus" \
        env CUDA_LAUNCH_BLOCKING=1 "$programs/all_reduce_perf" -b 1M -e 1M -n 20
    ends_with 0 "Backend: mpi" "no GPU visible" 2 env CUDA_VISIBLE_DEVICES= "$programs/all_reduce_perf" -b 8 -e 8 -n 5
    ends_with "$kMissing" "backend nccl" "nccl without a GPU" 1 \
        env CUDA_VISIBLE_DEVICES= "$programs/all_reduce_perf" --backend nccl
}

# Copies between the host and every GPU, and from GPU to GPU, each compared with what was to be copied.
check_copies() {
    local status copies=$programs/gpu_copy_bw
    if [[ ! -x $copies ]]; then
        verdict SKIP copies "$programs has no gpu_copy_bw"
        return
    fi
    status=$(job 1 "$copies" "${kBudget[@]}")
    while read -r line; do tell "# $line"; done < <(grep -E '^ *[0-9]' "$work/out")
    if [[ $status == 0 ]] && grep -q 'Out of bounds values : 0 OK' "$work/out"; then
        verdict PASS copies "$(sed -n 's/^# Odd GPUs *: /odd GPUs: /p' "$work/out")"
    else
        fail copies "exit status $status: $(first_complaint)"
    fi
    status=$(job "$gpus" "$copies" "${kBudget[@]}" -b 1M -e 1M)
    if [[ $status == 0 ]] && grep -q 'Out of bounds values : 0 OK' "$work/out"; then
        verdict PASS "copies, GPUs divided among $gpus processes" "$(grep -c -E '^ *[0-9]' "$work/out") rows"
    else
        fail "copies, GPUs divided among $gpus processes" "exit status $status: $(tail -n 1 "$work/out")"
    fi
    ends_with "$kMissing" "gpu_copy_bw: host .*no device" "copies without a GPU" 1 env CUDA_VISIBLE_DEVICES= "$copies"
}

check_kernels() {
    local test=$programs/tests/gpu/kernels_test bandwidth=$programs/bench/kernel_bandwidth tool
    if [[ ! -x $test || ! -x $bandwidth ]]; then
        verdict SKIP kernels "not built; configure with -DFABRICBENCH_TESTS=ON"
        return
    fi
    if timeout -k 10 300 "$test" >"$work/out" 2>&1; then
        verdict PASS "fill and check kernels" "$(grep -o '[0-9]* tests\?\.$' "$work/out" | tail -n 1)"
    else
        fail "fill and check kernels" "$(grep -m 1 FAILED "$work/out" || tail -n 1 "$work/out")"
    fi
    for tool in memcheck racecheck initcheck synccheck; do
        if ! command -v compute-sanitizer >/dev/null; then
            verdict SKIP "compute-sanitizer $tool" "compute-sanitizer is not on the PATH"
        elif timeout -k 10 500 compute-sanitizer --tool "$tool" --error-exitcode 9 "$test" --gtest_filter=-*Large \
            >"$work/out" 2>&1; then
            verdict PASS "compute-sanitizer $tool" "$(tail -n 1 "$work/out")"
        else
            fail "compute-sanitizer $tool" "$(tail -n 1 "$work/out")"
        fi
    done
    # Prints a line for each kernel and element size; exit status 6 where one is below 80 % of a copy.
    local status=0
    timeout -k 10 120 "$bandwidth" >"$work/out" 2>&1 || status=$?
    while read -r line; do tell "# $line"; done <"$work/out"
    case $status in
        0) verdict PASS "kernels move 80 % of the copy bandwidth" ;;
        "$kTooSlow") fail "kernels move 80 % of the copy bandwidth" "see above" ;;
        *) fail "kernels move 80 % of the copy bandwidth" "exit status $status" ;;
    esac
}

wants() { [[ ${#parts[@]} -eq 0 || " ${parts[*]} " == *" $1 "* ]]; }

# A function, so that bash has read the whole script before this long run starts.
main() {
    if [[ -n $record ]]; then : >"$record"; fi
    describe_machine
    if wants programs; then check_programs; fi
    if wants options; then check_options; fi
    if wants ranks_on_one_gpu; then check_ranks_on_one_gpu; fi
    if wants endings; then check_endings; fi
    if wants copies; then check_copies; fi
    if wants kernels; then check_kernels; fi
    conclude
}

main
