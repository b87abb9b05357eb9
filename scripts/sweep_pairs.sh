#!/usr/bin/env bash
# Measures pairs of hosts in rounds, until the slow host, NIC, rail or link is known: a sweep to read and to adapt. GNU
# parallel measures the pairs of a round at the same time, each with check_node_pair.sh.
#
# `fabricbench sweep` does the same in one process. It gets what this is too simple for: --resident, --resume, --find quick, several
# RDMA devices in one job a pair, --dry-run, and all where there is no GNU parallel. It also explains and refuses options.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
arguments=("$@")
host_options=() first_options=() plan=() pair_options=() verdict_options=() tolerance=() rails=('') extra=()
records='' logs='' work='' seed=$((RANDOM * 30000 + RANDOM % 30000)) job='' mortal=()

hand_over() { become_command sweep "${arguments[@]}"; }

read_options() {
    while (($# > 0)); do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --) extra=("${@:2}") && break ;;
            --all-pairs) plan+=("$1") ;;
            --find) [[ ${2-} != quick ]] || hand_over && plan+=("$1") ;;
            --rdma) pair_options+=("$1") ;;
            --long) verdict_options+=("$1") ;;
            *) (($# > 1)) || hand_over; set_option "$1" "$2" && shift ;;
        esac
        shift
    done
    [[ " ${plan[*]} " == *" --"@(find|rounds|all-pairs)" "* ]] || plan+=(--find)
    records=${records:-sweep-$(date +%Y%m%d-%H%M%S).jsonl}
}

# set_option NAME VALUE
set_option() {
    case $1 in
        -H | --hosts | --hostfile | --exclude) host_options+=("$1" "$2") ;;
        --locality) first_options+=("$1" "$2") ;;
        --rounds | --max-concurrent) plan+=("$1" "$2") ;;
        --seed) seed=$2 ;;
        --rails) IFS=, read -ra rails <<<"$2" && first_options+=("$1" "$2") ;;
        --records) records=$2 ;;
        --logs) logs=$2 ;;
        --expect) verdict_options+=("$1" "$2") ;;
        --tolerance) verdict_options+=("$1" "$2") tolerance=("$1" "$2") ;;
        --test | --gpus | --size | --min-bandwidth | --timeout | --programs | --launcher | --agent | --mpi-options)
            pair_options+=("$1" "$2") ;;
        *) hand_over ;;
    esac
}

# Sets why and round: lines with the number of the round, the number of pairs at the same time, and both hosts; and left,
# the approximate number of rounds.
next_round() {
    "$programs/plan_sweep" --hosts "$work/hosts" --records "$records" --seed "$seed" "${plan[@]}" "${tolerance[@]}" >"$work/plan"
    why=$(sed -n '1s/^# //p' "$work/plan")
    left=$(sed -n 's/^# rounds left: //p' "$work/plan")
    round=$(grep -v '^#' "$work/plan" || true)
}

# measure_round [RAIL]: all of its pairs at the same time; the end of this is the barrier before the next one.
measure_round() {
    local status=0
    "${mortal[@]}" parallel --will-cite --no-notice -q -j 0 --halt never --term-seq TERM,10000,KILL,25 --colsep '\t' \
        --joblog "$work/joblog" "$scripts/check_node_pair.sh" --quiet "${pair_options[@]}" --records "$records" --logs "${logs:-$records.logs}" \
        ${1:+--rail "$1"} --round '{1}' --concurrent '{2}' '{3}' '{4}' -- "${extra[@]}" <<<"$round" &
    job=$!
    wait "$job" || status=$? # the number of failed pairs; the records name them
    job=
    ((status < 255)) || die "$kFailed" "GNU parallel could not run the pairs; see its message above"
    # Options that the benchmark refuses would fail for every pair. Exitval is the seventh column.
    if awk -v usage="$kUsage" 'NR > 1 && $7 == usage { found = 1 } END { exit !found }' "$work/joblog"; then
        grep -q '"kind":"reading"' "$records" || rm "$records" # allows another attempt
        die "$kUsage" "the benchmark refused its options; see its message above"
    fi
}

# counts_of ROUND: prints the number of its readings by status: `6 ok, 2 failed`.
counts_of() {
    sed -n "/\"kind\":\"reading\",\"round\":$1,/s/.*\"status\":\"\([a-z_]*\).*/\1/p" "$records" | sort | uniq -c | sort -rn |
        awk '{ printf "%s%s %s", between, $1, $2; between = ", " }'
}

# require_any_figure ROUNDS: if nothing works at all, links are not the cause, and more rounds would not help.
require_any_figure() {
    local all
    if grep -q '"bandwidth_gb_per_s":[0-9]' "$records"; then return; fi
    all=$(grep -c '"kind":"reading"' "$records")
    die "$kFailed" "no pair could be measured in $1 rounds; $(sed -n 's/.*"reason":"\([^"]*\).*/\1/p' "$records" | sort | uniq -c |
        sort -rn | sed -n "1s/^ *\([0-9]*\) /\1 of $all readings say: /p")"
}

measure_rounds() {
    local began=$SECONDS began_round before='' number took done=0 rail hosts in_vain=2
    ((hosts = $(wc -l <"$work/hosts"), hosts < 3 || hosts > 5)) || in_vain=$((hosts - 1 + hosts % 2)) # each has met all others
    next_round
    while [[ -n $round ]]; do
        [[ $round != "$before" ]] || die "$kFailed" "no pair of the last round left a record in $records; see above"
        before=$round
        number=${round%%$'\t'*}
        warn "round $number${why:+: $why}"
        began_round=$SECONDS
        for rail in "${rails[@]}"; do
            measure_round "$rail"
        done
        took=$((SECONDS - began_round))
        next_round
        done=$((done + 1))
        warn "round $number: $(counts_of "$number") in $took s${left:+; about $left more, $(((SECONDS - began) * ${left:-0} / done)) s}"
        ((done != in_vain)) || require_any_figure "$done"
    done
    warn "${why:-the sweep is over}"
}

break_off() {
    trap '' INT TERM HUP
    # GNU parallel ends its jobs at the second signal; at the first it waits for them.
    if [[ -n $job ]] && kill -TERM "$job" && kill -TERM "$job"; then wait "$job" || true; fi
    warn "interrupted; all readings are in $records. Judge them with: $(quoted "$programs/find_slow_links" "$records")"
    warn "continue with: $own_call $(quoted --resume --records "$records" "${arguments[@]}")"
    exit 130
}

main() {
    local status=0
    read_options "$@"
    command -v parallel >/dev/null || hand_over
    [[ ${#rails[@]} -eq 1 || " ${pair_options[*]} " != *" "@(--rdma|rdma_)* ]] || hand_over # one job a pair measures them all
    programs=$(programs_of "$@")
    trap 'rm -rf "$work"' EXIT
    trap 'warn "interrupted; nothing has been measured"; exit 130' INT TERM HUP # bash has set work before it runs this
    work=$(mktemp -d "${TMPDIR:-/tmp}/fabricbench-sweep.XXXXXX")
    [[ " ${plan[*]} " == *" --find "* ]] || tolerance=() # it decides only what is suspicious
    "$programs/list_hosts" "${host_options[@]}" >"$work/hosts"
    FABRICBENCH_COMMAND=$0 "$programs/fabricbench" sweep --begin --hostfile "$work/hosts" --records "$records" --seed "$seed" \
        "${first_options[@]}" "${plan[@]}" "${pair_options[@]}" "${verdict_options[@]}"
    trap break_off INT TERM HUP
    exec 9<"$records"
    flock -n 9 || die "$kUsage" "$records: another run is at work on it; wait for its end, or end it"
    if setpriv --pdeathsig TERM true 2>/dev/null; then mortal=(setpriv --pdeathsig TERM); fi # ends parallel with this script
    warn "$(wc -l <"$work/hosts") hosts, seed $seed, records in $records"
    measure_rounds
    "$programs/find_slow_links" "${verdict_options[@]}" "$records" || status=$?
    warn "draw it with: fabricbench report $(quoted "$records" -o "${records%.jsonl}.html")"
    return "$status"
}

main "$@"
