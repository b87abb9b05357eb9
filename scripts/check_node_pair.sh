#!/usr/bin/env bash
# Measures one pair of hosts in one job with a time limit, and reports the result in one line and in a record.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/launch.sh
source "$(dirname "${BASH_SOURCE[0]}")/launch.sh"

usage() {
    as_typed <<EOT
usage: scripts/check_node_pair.sh [OPTION]... HOST HOST
           [-- OPTION OF THE BENCHMARK...]

Measures the bandwidth between two hosts in both directions, in one job that
always ends within its time limit.

  --test NAME         ${kMpiTests[*]} (MPI),
                      ${kTcpTests[*]} (TCP), ${kGpuTests[*]} (NCCL),
                      ${kVerbsTests[*]} (RDMA verbs);
                      default: sendrecv_perf if this host has GPUs, else
                      pairwise_bw
  --rdma              the same as --test rdma_write_bw
  --gpus N            GPUs per host, each paired with its counterpart (default:
                      those listed by nvidia-smi here)
  --size SIZE         message size, such as 1M (default: 1M, with NCCL 64M)
  --rail NAME         network interface or RDMA device on both hosts, such as
                      eth1 or mlx5_0; with RDMA also several, mlx5_0,mlx5_1:
                      one after the other in one job, and only those that it
                      could measure get a record
  --min-bandwidth X   required GB/s in each direction; below it the pair is slow
  --timeout SECONDS   time limit of the whole job (default: 60)
  --programs DIR      folder of the programs, the same on all hosts (default:
                      build beside the scripts, else the PATH)
  --launcher NAME     mpirun or srun (default: mpirun)
  --agent PROGRAM     use PROGRAM HOST COMMAND... instead of ssh to start
                      commands on hosts (Open MPI, hydra)
  --mpi-options WORDS additional options for mpirun or srun
  --records FILE      append a line of JSON for each direction
  --logs DIR          keep the output of failed jobs in DIR (default:
                      \$TMPDIR/fabricbench-logs-USER, a folder to which nobody
                      else has access)
  --round N, --concurrent N
                      for the record: round of a sweep, and number of pairs
                      measured at the same time
  --quiet             print nothing on success
  --dry-run           print the command instead of running it
  --help              print this text

Options of the benchmark follow --, such as -- --time-budget 1 --window 16, and
override those set here. Every rank gets the variables PATH, LD_LIBRARY_PATH,
NCCL_*, UCX_*, FI_*, OMPI_MCA_* and those of other MPIs.
Exit status: 0 ok, 1 failed, 2 usage, 3 something needed is missing, 4 timeout,
5 wrong data, 6 slow, 7 ranks waited for a processor: nothing can be required.
EOT
}

refuse_test() {
    [[ $1 != all_reduce_perf ]] ||
        die "$kUsage" "--test all_reduce_perf: its busbw on two hosts can exceed the NICs' rate and hide a slow link," \
            "because a tree of two ranks sends less than the formula counts; use sendrecv_perf"
    die "$kUsage" "--test '$1' does not measure a pair of hosts; use one of" \
        "${kMpiTests[*]} ${kTcpTests[*]} ${kVerbsTests[*]} ${kGpuTests[*]}"
}

# set_option NAME VALUE
set_option() {
    case $1 in
        --test) test=$2 ;;
        --gpus) whole_number "$1" "$2" 0 && gpus=$2 ;;
        --size) size=$2 ;;
        --rail) rail=$2 ;;
        --min-bandwidth) min_bandwidth=$2 ;;
        --timeout) whole_number "$1" "$2" 1 && limit_s=$2 ;;
        --programs) programs_folder=$2 ;;
        --launcher) launcher=$2 ;;
        --agent) agent=$2 ;;
        --mpi-options) read -ra mpi_options <<<"$2" ;;
        --records) records=$2 ;;
        --logs) logs=$2 ;;
        --round) whole_number "$1" "$2" 0 && round=$2 ;;
        --concurrent) whole_number "$1" "$2" 1 && concurrent=$2 ;;
    esac
}

read_options() {
    while (($# > 0)); do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --) shift && extra=("$@") && break ;;
            --rdma) test=rdma_write_bw ;;
            --quiet) quiet=yes ;;
            --dry-run) dry_run=yes ;;
            -h | --help) usage; exit 0 ;;
            --test | --gpus | --size | --rail | --min-bandwidth | --timeout | --programs | --launcher | --agent | \
                --mpi-options | --records | --logs | --round | --concurrent)
                (($# > 1)) || die "$kUsage" "$1 needs a value; run '$own_call --help'"
                set_option "$1" "$2" && shift ;;
            -*) unknown_option "$1" ;;
            *) hosts+=("$1") ;;
        esac
        shift
    done
    [[ ${#hosts[@]} -eq 2 ]] || die "$kUsage" "a pair is two hosts; given: ${#hosts[@]}${hosts[*]:+ (${hosts[*]})}"
    local host
    for host in "${hosts[@]}"; do
        [[ $host =~ $kHostName ]] || die "$kUsage" "'$host' is no host; hosts are written as node01, alice@node01," \
            "10.0.0.1 or fe80::1"
    done
    [[ ${hosts[0]} != "${hosts[1]}" ]] || die "$kUsage" "'${hosts[0]}' is given twice; a pair is two hosts"
}

check_options() {
    local tool
    check_launcher
    [[ -z $min_bandwidth || $min_bandwidth =~ ^[0-9]+(\.[0-9]+)?$ ]] ||
        die "$kUsage" "--min-bandwidth '$min_bandwidth' is not a number of GB/s, such as 12.5"
    for tool in timeout python3; do
        command -v "$tool" >/dev/null || die "$kMissing" "there is no '$tool' on the PATH; install or load it"
    done
}

# Sets defaults of --test and --gpus. The other host is assumed to have as many GPUs as this one.
choose_test() {
    local found=0
    if [[ -z $gpus && ($test == '' || $test == sendrecv_perf) ]]; then found=$(count_gpus); fi
    gpus=${gpus:-$found}
    if [[ -z $test ]]; then
        test=pairwise_bw
        if ((gpus > 0)); then test=sendrecv_perf; fi
    fi
    is_one_of "$test" "${kMpiTests[@]}" "${kTcpTests[@]}" "${kVerbsTests[@]}" "${kGpuTests[@]}" || refuse_test "$test"
    if [[ $test != sendrecv_perf || $gpus -eq 0 ]]; then gpus=1; fi
    if [[ $test == sendrecv_perf ]]; then size=${size:-64M}; fi
    size=${size:-1M}
    take_own_size "${extra[@]}"
}

# take_own_size WORD...: sets size where the benchmark's own options do.
take_own_size() {
    local short=-b long=--min-bytes
    if [[ $test == rdma_* ]]; then short=-s long=--size; fi
    while (($# > 0)); do
        case $1 in
            "$short" | "$long" | --minbytes) size=${2-} ;;
            "$long"=* | --minbytes=*) size=${1#*=} ;;
            "$short"?*) size=${1#"$short"} ;;
        esac
        shift
    done
}

# Sets ranks, the number on each host: one for each GPU, or for each rail.
choose_ranks() {
    local rails
    ranks=$gpus
    [[ $test == rdma_* && $rail == *,* ]] || return 0
    IFS=, read -ra rails <<<"$rail"
    share_a_job "${rails[@]}" ||
        die "$kUsage" "--rail '$rail': one job measures several devices at the same port, such as mlx5_0:1,mlx5_1:1"
    ranks=${#rails[@]}
}

# The benchmark's own time limits are below the job's, so that it can name the silent rank.
choose_options() {
    local inner_s=$((limit_s * 2 / 3)) pair_s=$(((limit_s + 3) / 4)) # in each direction
    if [[ -n $rail ]]; then choose_rail; fi
    case $test in
        pairwise_bw) options+=(-b "$size" --pair-timeout "$pair_s" -T $((2 * pair_s + 10))) ;; # the least that it takes
        sendrecv_perf)
            options+=(-b "$size" -e "$size" --placement out --backend nccl -T $((inner_s + 1)))
            if ((gpus > 1)); then options+=(--split "MOD $gpus"); fi ;;
        rdma_*) options+=(-s "$size" -b --timeout $((inner_s + 1))) ;; # both ways at once: verbs measure each direction
        *) options+=(-b "$size" -e "$size" --window 16 -T $((inner_s + 1))) ;;
    esac
    # Rank 0's host may share no files with this one, so its JSON comes over standard output.
    options+=(--quiet --json /dev/stdout --force "${extra[@]}")
}

# On a signal, the launcher ends the ranks before this script exits, without a record of the interrupted job.
end_job() {
    if [[ -n $job ]]; then
        kill -TERM "$job" 2>/dev/null || true
        wait "$job" || true
    fi
    exit $((128 + $1))
}

# Sets status. In the background, because bash handles signals only while it waits.
run_job() {
    trap 'end_job 2' INT
    trap 'end_job 15' TERM HUP
    mortal "${command[@]}" </dev/null >"$work/out" 2>"$work/err" &
    job=$!
    wait "$job" 2>/dev/null || status=$?
    job=
}

record() {
    local log_options=(--logs "${logs:-${TMPDIR:-/tmp}/fabricbench-logs-$(id -un)}")
    [[ -n $logs ]] || log_options+=(--private-logs)
    python3 "$(dirname "${BASH_SOURCE[0]}")/record_pair.py" "${hosts[@]}" --test "$test" --size "$size" \
        --status "$status" --limit "$limit_s" --seconds "$1" --round "$round" --concurrent "$concurrent" \
        --rails "$gpus" ${rail:+--rail "$rail"} ${min_bandwidth:+--min-bandwidth "$min_bandwidth"} \
        ${records:+--records "$records"} ${quiet:+--quiet} --out "$work/out" --err "$work/err" "${log_options[@]}"
}

main() {
    local hosts=() extra=() mpi_options=() options=() launch=() command=() began status=0 job='' grace_s=0
    local test='' gpus='' size='' rail='' min_bandwidth='' limit_s=60 launcher=mpirun agent=''
    local records='' logs='' round=0 concurrent=1 quiet='' dry_run=no program ranks
    read_options "$@"
    use_mpi
    check_options
    choose_test
    program=$(find_program "$test")
    work=$(mktemp -d "${TMPDIR:-/tmp}/fabricbench-pair.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    choose_ranks
    choose_options
    choose_launch "$ranks" "$limit_s" "${hosts[@]}"
    command=(timeout -k "$kKillAfter_s" $((limit_s + grace_s)) "${launch[@]}" "${mpi_options[@]}" "$program" "${options[@]}")
    if [[ $dry_run == yes ]]; then
        quoted "${command[@]}"
        return
    fi
    began=$SECONDS
    run_job
    record $((SECONDS - began)) || exit $?
}

main "$@"
