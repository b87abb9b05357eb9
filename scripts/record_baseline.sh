#!/usr/bin/env bash
# Records a baseline: launches a program several times, spread over time, and keeps every launch.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/launch.sh
source "$(dirname "${BASH_SOURCE[0]}")/launch.sh"

readonly kForAnEnd_s=25 # of a launch, also for fabricbench run to end ranks by force

usage() {
    as_typed <<'EOT'
usage: scripts/record_baseline.sh [OPTION]... FILE -- COMMAND...

Runs COMMAND several times with '--record FILE' behind it, so that the baseline
in FILE knows by how much launches differ.
  scripts/record_baseline.sh site.jsonl -- build/fabricbench all_reduce -np 16
      nine launches, one after the other
  scripts/record_baseline.sh --launches 3 --spread 8h site.jsonl -- \
      build/fabricbench all_reduce -b 8 -e 1G -f 2
      three launches, four hours apart
  scripts/record_baseline.sh --keep-going site.jsonl -- \
      build/fabricbench send_recv_lat
      goes on when a launch fails

  --launches N    number of launches (default: 9)
  --spread TIME   time from the first launch to the last, such as 20m or 8h
                  (default: no pauses)
  --limit TIME    time limit of each launch (default: 1h)
  --keep-going    go on when a launch fails
  --help          print this text

Exit status: 0 all launches are recorded; else that of the first one that
failed, 2 wrong command line, 124 a launch took longer than --limit, 130
interrupted. Launches that are recorded stay so.
EOT
}

launches=9
spread_s=0
limit_s=3600
keep_going=false
baseline=

parse() {
    while (($# > 0)); do
        case $1 in
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --help | -h) usage; exit 0 ;;
            --keep-going) keep_going=true ;;
            --launches | --spread | --limit)
                (($# > 1)) || die "$kUsage" "$1 needs a value"
                case $1 in
                    --launches)
                        [[ $2 =~ ^[1-9][0-9]{0,3}$ ]] ||
                            die "$kUsage" "--launches '$2' is not a number of launches; give one from 1 to 9999"
                        launches=$2
                        ;;
                    --spread) spread_s=$(seconds_of "$1" "$2") ;;
                    --limit) limit_s=$(seconds_of "$1" "$2") ;;
                esac
                shift
                ;;
            --) shift && command=("$@") && break ;;
            -*) unknown_option "$1" ;;
            *)
                [[ -z $baseline ]] || die "$kUsage" "there are two files, '$baseline' and '$1'; put -- before the command"
                baseline=$1
                ;;
        esac
        shift
    done
    [[ -n $baseline ]] || die "$kUsage" "no file is given; name the baseline, such as results/site.jsonl"
    ((${#command[@]} > 0)) || die "$kUsage" "no command is given; put it behind --"
}

# Runs the command once. Its output goes to standard error, since standard output is ours.
launch() {
    mortal timeout --kill-after="$kForAnEnd_s" "$limit_s" "${command[@]}" --record "$baseline" >&2 </dev/null &
    running=$!
    local status=0
    wait "$running" || status=$?
    running=
    return "$status"
}

# shellcheck disable=SC2317  # the trap calls it
stop() {
    [[ -z $running ]] || kill -TERM "$running" 2>/dev/null || true
    warn "interrupted: $recorded of $launches launches are recorded in $baseline"
    exit 130
}

command=()
running=
recorded=0
parse "$@"
trap stop INT TERM

failure=0
for ((number = 1; number <= launches; ++number)); do
    if ((number > 1 && spread_s > 0)); then
        # `wait` ends at a signal, which `sleep` alone would not.
        sleep $((spread_s / (launches - 1))) &
        running=$!
        wait "$running"
    fi
    status=0
    launch || status=$?
    if ((status == 0)); then
        recorded=$((recorded + 1))
        continue
    fi
    warn "launch $number of $launches failed with status $status: $(quoted "${command[@]}")"
    ((failure != 0)) || failure=$status
    [[ $keep_going == true ]] || break
done
say "$recorded of $launches launches are recorded in $baseline"
exit "$failure"
