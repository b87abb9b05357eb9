#!/usr/bin/env bash
# How long a sweep over all pairs of hosts takes: the usual way, one mpirun for each pair, one after the other; resident, in
# one job; and by scripts/sweep_pairs.sh, one mpirun for each pair, all pairs of a round at the same time. Each pair is measured
# by the same program with the same options. One job has half as many pairs under way as there are hosts, so measuring gets
# that many times faster at most, and starting as many times as there are pairs: the ratio depends on how long a pair is
# measured. Hosts are made of network namespaces, so this takes root.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"
# shellcheck source=scripts/hosts.sh
source "$root/scripts/hosts.sh"

readonly kRate=500mbit
readonly kLeastRatio=20
readonly kLaunches=5  # of what takes seconds; the median counts

usage() {
    cat <<EOT
usage: bench/sweep_ways.sh [--programs DIR] [--hosts N] [--budget SECONDS] [--check]

  --programs DIR   folder of the programs (default: build)
  --hosts N        so many hosts (default: 16)
  --budget SECONDS for each direction of a pair (default: 0.005)
  --check          end with status 1 where the resident sweep is less than $kLeastRatio times as fast as the usual way
EOT
}

# now_ms: of a clock for differences.
now_ms() { date +%s%3N; }

# Starts its arguments where the hosts can be reached, as mpirun needs it there.
there() {
    TMPDIR=$hosts_directory OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp \
        OMPI_MCA_btl_tcp_if_include=$kSubnet.0.0/24 OMPI_MCA_oob_tcp_if_include=$kSubnet.0.0/24 \
        ip netns exec "$hosts_switch" "$@" </dev/null
}

# job HOST...: pairwise_bw, one rank on each; prints how many readings are well.
job() {
    local list
    list=$(IFS=, && echo "$*")
    there timeout 300 mpirun --oversubscribe --bind-to none --host "$list" -np $# \
        --mca plm_rsh_agent "$hosts_directory/agent" "$programs/pairwise_bw" --level host --quiet --json /dev/stdout --force \
        "${options[@]}" 2>/dev/null | grep -c '"status":"ok"'
}

usual_way() {
    local first second readings=0
    for ((first = 0; first < number; ++first)); do
        for ((second = first + 1; second < number; ++second)); do
            readings=$((readings + $(job "${hosts[first]}" "${hosts[second]}")))
        done
    done
    echo "$readings"
}

# Without what the script adds around it: hosts, records, the verdict.
resident() { job "${hosts[@]}"; }

# sweep OPTION...
sweep() {
    rm -f "$hosts_directory/records.jsonl"
    there "$root/scripts/sweep_pairs.sh" -H "$(IFS=, && echo "${hosts[*]}")" --programs "$programs" --all-pairs \
        --agent "$hosts_directory/agent" --records "$hosts_directory/records.jsonl" --size 64K \
        --mpi-options "--oversubscribe --bind-to none" "$@" -- "${options[@]}" >/dev/null 2>&1 || true
    grep -c '"status":"ok"' "$hosts_directory/records.jsonl"
}

# timed NAME COMMAND...: prints how many milliseconds it took.
timed() {
    local name=$1 began readings
    shift
    began=$(now_ms)
    readings=$("$@")
    [[ $readings -eq $((number * (number - 1))) ]] || die "$kFailed" "$name: $readings readings, and not $((number * (number - 1)))"
    echo $(($(now_ms) - began))
}

# measure LAUNCHES NAME COMMAND...: sets took_ms, the median, and prints a line.
measure() {
    local launches=$1 launch all=()
    shift
    for ((launch = 0; launch < launches; ++launch)); do all+=("$(timed "$@")"); done
    took_ms=$(printf '%s\n' "${all[@]}" | sort -n | sed -n "$(((launches + 1) / 2))p")
    usual_ms=${usual_ms:-$took_ms}
    awk -v name="$1" -v took="$took_ms" -v usual="$usual_ms" \
        'BEGIN { printf "%-42s %8.1f s  %6.1f times as fast\n", name, took / 1000, usual / took }'
}

main() {
    local programs=$root/build number=16 budget=0.005 check=no options took_ms usual_ms='' host resident_ms
    while (($# > 0)); do
        case $1 in
            --programs) programs=$(realpath "${2:?--programs wants a folder}"); shift ;;
            --hosts) number=${2:?--hosts wants a number}; shift ;;
            --budget) budget=${2:?--budget wants seconds}; shift ;;
            --check) check=yes ;;
            -h | --help) usage && exit 0 ;;
            *) unknown_option "$1" ;;
        esac
        shift
    done
    [[ -x $programs/pairwise_bw ]] || die "$kMissing" "$programs has no pairwise_bw; build it, or name its folder by --programs"
    use_mpi
    trap remove_hosts EXIT
    make_hosts "$number"
    for host in "${hosts[@]}"; do
        shape_host "$host" "$kRate"
        shape_sending "$host" "$kRate"
    done
    options=(-b 64K --window 4 --time-budget "$budget" --seed 1)
    echo "# all $((number * (number - 1) / 2)) pairs of $number hosts, $budget s for each direction"
    measure 1 "one mpirun a pair, one after the other" usual_way
    measure "$kLaunches" "pairwise_bw, one job" resident
    resident_ms=$took_ms
    measure "$kLaunches" "sweep_pairs.sh --resident, with verdict" sweep --resident
    measure 1 "sweep_pairs.sh, 8 at once, with verdict" sweep --max-concurrent 8
    [[ $check == no || $((resident_ms * kLeastRatio)) -le $usual_ms ]] ||
        die "$kFailed" "one job is less than $kLeastRatio times as fast as one mpirun a pair"
}

main "$@"
