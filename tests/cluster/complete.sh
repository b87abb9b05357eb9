#!/usr/bin/env bash
# usage: complete.sh PROGRAMS [OPTION]...
#        complete.sh --list
#
# Every case of sweep_test.sh, both ways, over 16 hosts made of network namespaces: a line a case, with what was blamed and
# how long it took. Takes about half an hour. The programs lie in the directory PROGRAMS.
#
#   --hosts N     so many hosts (16)
#   --only CASE   this case only, such as slow_nic; may be given again
#   --way WAY     script or resident only
#   --list        only print what would run: CASE WAY NUMBER
#   --logs DIR    where the output of each case goes (default: PROGRAMS/Testing/cluster-DATE)
#
# Exit status: 0 all passed, 1 one failed, 2 usage, 77 this machine cannot make hosts.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly folder
readonly kSkipped=77
readonly kCaseLimit_s=900
readonly kCases=(slow_nic slow_receiving slow_sending slow_pair two_slow dead_host dying_host hung_host refused_login odd flapping
    slow_rail two_groups unequal_leaves half_slow)
readonly kScriptCases=(broken_off)
readonly kCleanRuns=5

# run_case CASE WAY NUMBER: NUMBER tells the runs of a case apart.
run_case() {
    local began=$SECONDS status=0 log=$logs/$1.$2.$3.log words=PASS
    timeout -k 20 "$kCaseLimit_s" "$folder/sweep_test.sh" "$programs" "$1" "$2" "$hosts" >"$log" 2>&1 </dev/null || status=$?
    if [[ $status -eq $kSkipped ]]; then
        tail -n 1 "$log"
        exit "$kSkipped"
    fi
    if [[ $status -ne 0 ]]; then
        words=FAIL
        failures=$((failures + 1))
    fi
    printf '%-4s  %-15s %-9s %5d s  %s\n' "$words" "$1" "$2" $((SECONDS - began)) \
        "$(grep -E '^(blamed|told): ' "$log" | tail -n 1 || grep -m 1 '^failed: ' "$log" || echo "exit status $status")"
}

# CASE WAY NUMBER of every run.
list_all() {
    local case way run runs
    for way in "${ways[@]}"; do
        for case in "${cases[@]}"; do
            [[ $case != broken_off || $way == script ]] || continue
            runs=1
            [[ $case != clean ]] || runs=$kCleanRuns
            for ((run = 1; run <= runs; ++run)); do echo "$case $way $run"; done
        done
    done
}

run_all() {
    local case way run
    while read -r case way run; do
        run_case "$case" "$way" "$run"
    done < <(list_all)
}

usage_error() {
    echo "complete.sh: $*; see the first lines of $0" >&2
    exit 2
}

main() {
    local programs='' hosts=16 cases=() ways=(script resident) logs='' failures=0 mode=run
    while (($# > 0)); do
        case $1 in
            --hosts | --only | --way | --logs)
                (($# > 1)) || usage_error "$1 needs a value"
                case $1 in
                    --hosts) hosts=$2 ;;
                    --only) cases+=("$2") ;;
                    --way) ways=("$2") ;;
                    --logs) logs=$2 ;;
                esac
                shift ;;
            --list) mode=list ;;
            -*) usage_error "there is no option $1" ;;
            *) programs=$1 ;;
        esac
        shift
    done
    if [[ ${#cases[@]} -eq 0 ]]; then cases=("${kCases[@]}" "${kScriptCases[@]}" clean); fi
    if [[ $mode == list ]]; then
        list_all
        return
    fi
    [[ -x $programs/pairwise_bw && -x $programs/find_slow_links ]] || usage_error "'$programs' is no directory with the programs"
    programs=$(realpath "$programs")
    logs=${logs:-$programs/Testing/cluster-$(date +%Y%m%d-%H%M%S)}
    mkdir -p "$logs"
    logs=$(realpath "$logs")
    echo "# $hosts hosts, $(date -u +%Y-%m-%dT%H:%M:%SZ), $(nproc) processors; logs in $logs"
    run_all
    echo "# $failures failed"
    [[ $failures -eq 0 ]] || exit 1
}

main "$@"
