#!/usr/bin/env bash
# Does fabricbench measure truly on this machine? Known rates, delays and faults are planted, and what the programs report is
# held against them.
set -euo pipefail

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/lib.sh
source "$scripts/lib.sh"
# shellcheck source=scripts/hosts.sh
source "$scripts/hosts.sh"
# shellcheck source=scripts/selftest_checks.sh
source "$scripts/selftest_checks.sh"

readonly kRatePercent=3 kTimePercent=5 # how far reported and planted figures may be apart
readonly kMaybeLoad=6 # of selftest_judge.py: wrong as other work could make it
readonly kTries=3
readonly kOwnLoad=4 # ranks at most
# NAME|function and arguments|what is planted
readonly kChecks=(
    'tcp_bw.50|check_bandwidth tcp_bw 50000|a link of 50 Mbit/s'
    'tcp_bw.200|check_bandwidth tcp_bw 200000|a link of 200 Mbit/s'
    'send_recv_bw.50|check_bandwidth send_recv_bw 50000|a link of 50 Mbit/s'
    'send_recv_bw.200|check_bandwidth send_recv_bw 200000|a link of 200 Mbit/s'
    'all_gather.50|check_all_gather 50000|four hosts, of which one receives at 50 Mbit/s'
    'all_gather.200|check_all_gather 200000|four hosts, of which one receives at 200 Mbit/s'
    'pairwise_bw|check_pairs|every two of four hosts, 50 Mbit/s, one direction of one pair 25'
    'tcp_lat.wire|check_wire tcp_lat|1 MiB over a link of 50 Mbit/s'
    'send_recv_lat.wire|check_wire send_recv_lat|1 MiB over a link of 50 Mbit/s'
    'tcp_lat.delay|check_delay tcp_lat --interface e1|8 bytes over a link that delays by 100 ms'
    'send_recv_lat.delay|check_delay send_recv_lat|8 bytes over a link that delays by 100 ms'
    'slow_link|check_slow_link|one of four hosts receives 5 % less'
    'slow_rank|check_slow_rank|one of four ranks takes 525 ms instead of 500'
    'clock|check_clock|a clock that is 10 hours ahead and drifts by 2 %'
)
readonly kQuick=(tcp_bw.50 all_gather.50 send_recv_lat.delay slow_rank)

usage() {
    as_typed <<EOT
usage: scripts/selftest.sh [--programs DIR] [--quick] [--list] [CHECK...]

Makes hosts of network namespaces with links of known rates and delays, a slow
link, a slow rank and a drifting clock, and compares them with what the programs
report: rates within $kRatePercent %, times within $kTimePercent %. Takes root,
and two minutes on two idle processors.

  --programs DIR  folder of the programs (default: the build beside the scripts,
                  or the installed one)
  --quick         only ${kQuick[*]}
  --list          list the checks
  --help          print this text

One line for each check: ok, WRONG or unknown; its name; planted; reported; the
difference. What other work on this machine could have caused is measured up to
$kTries times, and is unknown if there is much of it.
Exit status: 0 all true, 1 something was reported wrongly, 2 usage, 3 no such
hosts or no programs here, 7 nothing wrong but something unknown.
EOT
}

list_checks() {
    local check name rest
    for check in "${kChecks[@]}"; do
        IFS='|' read -r name rest <<<"$check"
        printf '%-20s %s\n' "$name" "${rest#*|}"
    done
}

# command_of NAME: fails if there is no such check.
command_of() {
    local check name command
    for check in "${kChecks[@]}"; do
        IFS='|' read -r name command _ <<<"$check"
        [[ $name != "$1" ]] || { echo "$command" && return; }
    done
    return 1
}

# cannot REASON [again]: the check's outcome is unknown; with `again`, a further try may have more luck.
cannot() {
    line=$1 outcome=unknown
    [[ ${2-} != again ]] || outcome=again
}

# skip MESSAGE...: instead of that of hosts.sh, of which this is the reason.
skip() {
    cannot "$*"
    tell_outcome
    exit 0
}

require_faults() {
    [[ -n $faults ]] || { cannot "there is no planted_faults.so beside the programs" && return 1; }
}

# job PROGRAM OPTION...: one rank on each host, with a record in $record. Fails after `cannot` if it did not end well.
job() {
    local status=0 program
    for program in "$@"; do
        [[ $program != "$programs"/* || -x $program ]] || { cannot "there is no program '$program'" && return 1; }
    done
    run_timeout_s=120 run_on_hosts 1 "$@" --json "$record" --force >"$work/out" 2>"$work/err" &
    wait $! || status=$?
    # What is slow is a result too.
    [[ $status -ne 0 && $status -ne $kTooSlow && $status -ne $kNotJudged ]] || return 0
    cannot "exit status $status: $(grep -m 1 '[[:alnum:]]' "$work/err" || true)"
    return 1
}

# judge KIND PLANTED PERCENT
judge() {
    local status=0
    line=$(python3 "$scripts/selftest_judge.py" "$1" "$record" "$2" "$3") || status=$?
    case $status in
        "$kOk") outcome=ok ;;
        "$kNotJudged") outcome=unknown ;;
        "$kMaybeLoad") outcome=again ;;
        "$kWrongData") outcome=WRONG ;;
        *) cannot "selftest_judge.py ended with status $status" ;;
    esac
}

tell_outcome() { printf '%s\n%s\n' "$outcome" "$line" >"$work/outcome"; }

# in_own_shell COMMAND...: try_check, whose status is in shell_status. Behind a || bash would go on after a command that failed.
in_own_shell() {
    set +e
    (
        set -e
        try_check "$@"
    )
    shell_status=$?
    set -e
}

# try_check COMMAND...: in a shell of its own, whose hosts are removed at its end.
try_check() {
    local line='' outcome=unknown
    trap remove_hosts EXIT
    trap 'exit 1' INT TERM HUP
    "$@"
    tell_outcome
}

# judge_last_try: of what load could explain. Where nothing was measured, or others kept the processors busy, it is unknown.
judge_last_try() {
    local load
    read -r load _ </proc/loadavg
    outcome=WRONG
    if [[ $line != *$'\t'* ]]; then
        outcome=unknown
    elif ((${load%.*} > $(nproc) + kOwnLoad)); then
        outcome=unknown line="this machine is too busy, with a load of $load: ${line//$'\t'/; }"
    fi
}

# run_check NAME: prints its line, and counts its outcome.
run_check() {
    local try outcome line command columns
    read -ra command <<<"$(command_of "$1")"
    for ((try = 1; try <= kTries; ++try)); do
        rm -f "$work/outcome"
        in_own_shell "${command[@]}"
        [[ $shell_status -eq 0 ]] || die "$kFailed" "the check $1 broke off"
        { read -r outcome && read -r line; } <"$work/outcome" || true
        [[ $outcome == again || ($outcome == unknown && $1 == clock) ]] || break
    done
    if [[ $outcome == again ]]; then judge_last_try; fi
    counts[$outcome]=$((counts[$outcome] + 1))
    IFS=$'\t' read -ra columns <<<"$line"
    ((try <= kTries)) || try=$kTries
    ((try == 1)) || columns[${#columns[@]}]="(try $try)"
    if [[ $outcome == unknown ]]; then
        printf '%-8s %-20s %s\n' "$outcome" "$1" "${columns[*]}"
    else
        printf '%-8s %-20s %-28s %-28s %s\n' "$outcome" "$1" "${columns[0]}" "${columns[1]}" "${columns[*]:2}"
    fi
}

# find_programs [DIR]: sets programs and faults, the library that plants faults in ranks.
find_programs() {
    programs=${1:-$(own_programs)}
    [[ -d $programs ]] || die "$kMissing" "'$programs' is no folder; build the programs, or name their folder by --programs"
    programs=$(cd "$programs" && pwd)
    faults=$programs/planted_faults.so
    [[ -e $faults ]] || faults=
}

# The means for all checks, once: without these there is nothing to do.
require_hosts() {
    in_own_shell make_shaped_hosts 2 50000
    [[ $shell_status -eq 0 ]] || die "$kFailed" "making two hosts broke off"
    [[ $(head -n 1 "$work/outcome") == unknown && -z $(sed -n 2p "$work/outcome") ]] ||
        die "$kMissing" "$(sed -n 2p "$work/outcome")"
}

main() {
    local given=${FABRICBENCH_PROGRAMS_FOLDER-} names=() name work record programs faults shell_status
    local -A counts=([ok]=0 [WRONG]=0 [unknown]=0)
    while (($# > 0)); do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --programs) given=${2:?--programs wants a folder} && shift ;;
            --quick) names+=("${kQuick[@]}") ;;
            --list) list_checks && exit 0 ;;
            -h | --help) usage; exit 0 ;;
            -*) unknown_option "$1" ;;
            *)
                command_of "$1" >/dev/null || die "$kUsage" "'$1' is not a check; '$own_call --list' lists them"
                names+=("$1")
                ;;
        esac
        shift
    done
    if [[ ${#names[@]} -eq 0 ]]; then mapfile -t names < <(printf '%s\n' "${kChecks[@]%%|*}"); fi
    use_mpi
    find_programs "$given"
    work=$(mktemp -d "/tmp/fb-test.$$.XXXXXX")
    record=$work/record.jsonl
    # shellcheck disable=SC2064  # now
    trap "rm -rf '$work'" EXIT
    require_hosts
    for name in "${names[@]}"; do
        run_check "$name"
    done
    conclude
}

conclude() {
    echo "${counts[ok]} ok, ${counts[WRONG]} wrong, ${counts[unknown]} unknown"
    [[ ${counts[WRONG]} -eq 0 ]] || exit "$kFailed"
    [[ ${counts[unknown]} -eq 0 ]] || exit "$kNotJudged"
}

main "$@"
