#!/usr/bin/env bash
# Accepts or drains hosts: measures each host alone, pairs of hosts, and collectives over 2, 4, ... all hosts.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/launch.sh
source "$(dirname "${BASH_SOURCE[0]}")/launch.sh"
# shellcheck source=scripts/accept_jobs.sh
source "$(dirname "${BASH_SOURCE[0]}")/accept_jobs.sh"
# shellcheck source=scripts/accept_checks.sh
source "$(dirname "${BASH_SOURCE[0]}")/accept_checks.sh"

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly scripts

# What acts: programs, files, and words that others read. A folder cannot command these, so each call gives them.
readonly kActing=(--agent --programs --launcher --mpi-options --rails --record --prometheus --baseline --preset --locality
    --collective-options --alone-options --pair-options)
readonly kAtOnce=32 # hosts measured alone at the same time
readonly kHostLimit_s=60

# Prints the words with commas between them.
in_a_list() {
    local list
    printf -v list ', %s' "$@"
    echo "${list#, }"
}

usage() {
    as_typed <<EOT
usage: scripts/accept.sh [OPTION]...
       scripts/accept.sh --resume FOLDER [OPTION]...
       scripts/accept.sh --recheck HOSTS FOLDER [OPTION]...

Says which hosts may work: measures each host alone, then pairs of hosts, then
collectives over 2, 4, ... all hosts. Hosts with a finding are left out of what
follows. See docs/accept.md.
  scripts/accept.sh -H node[01-64] --baseline results/site.jsonl
      every host, every stage, compared with what a healthy system does
  scripts/accept.sh -H node[01-64] --time 20m
      what can be measured in 20 minutes; says what was not
  scripts/accept.sh --recheck node07 results/accept-20260101-120000
      after a repair: only what can clear node07

Hosts (default: those of the surrounding Slurm, PBS, LSF or Kubernetes MPI job):
  -H, --hosts LIST    use these hosts, such as node[01-16,20],login1
  --hostfile FILE     read hosts from FILE, in the format of an MPI launcher or
                      scheduler; - is standard input
  --exclude LIST      leave these hosts out
  --locality FILE     read each host's leaf switch or rack from lines HOST LEAF

What figures are compared with (default: hosts with each other):
  --baseline FILE     launches recorded with --record; slower is status 6
  --preset NAME       published figures of such a system; --strict makes them
                      binding
  --expect PERCENT    this share of what network adapters and NVLinks allow
  --line-rate GBIT/S  rate of a host's network for --expect, where the system
                      does not know it
  --record FILE       add the run to the baseline in FILE instead of judging its
                      collectives
  --allow KEYS        compare although these differ: keys of baselines (hosts,
                      library...), $(in_a_list "${kRunKeys[@]}"), and of hosts
                      $(in_columns 22 "$(in_a_list "${kHostKeys[@]}")")
  --tolerance X       smallest deficit that counts as slow where hosts are
                      compared (default: $kTolerance)

What to measure:
  --programs-to-run LIST
                      collectives (default: all_reduce_perf); the first also
                      runs on each host alone
  -b SIZE, -e SIZE, -f N
                      first and last size, and factor (default: 1K, 64M, 16;
                      with GPUs 1M, 1G, 32)
  --ranks N           ranks of each host (default: its GPUs as listed by
                      nvidia-smi here, else 1)
  --collective-options WORDS
                      more options of the collectives, such as '-n 20'
  --alone-options WORDS
                      the same for hosts alone (default: those of
                      --collective-options)
  --test NAME, --size SIZE, --rails LIST, --rounds K, --max-concurrent M,
  --resident
                      for the pairs, see scripts/sweep_pairs.sh (default:
                      --resident with more than $kManyHosts hosts)
  --pair-options WORDS
                      more options of the pairs' benchmark
  --at-once N         hosts measured alone at the same time (default: $kAtOnce)
  --time TIME         time for everything, such as 20m: a quarter for hosts
                      alone, 7/10 until pairs have to end
  --timeout SECONDS   time limit of a job on one or two hosts (default:
                      $kHostLimit_s); $kLonger times as long for collectives
  --keep-going        go on after a finding that no host explains, and measure
                      pairs with hosts that have findings, too

How: --launcher, --agent, --mpi-options, --programs, see
scripts/check_node_pair.sh

Results:
  --output FOLDER     new folder of all results (default: results/accept-DATE)
  --resume FOLDER     continue the run of FOLDER, with its options; those that
                      name programs, files and further options are to be given
                      again
  --recheck HOSTS FOLDER
                      measure these hosts again after a repair, as in the run of
                      FOLDER; its other results stay
  --prometheus FILE   write metrics for node_exporter's textfile collector
  --nagios            print one line, and exit with 0 OK, 1 warning, 2 critical,
                      3 unknown
  --dry-run           print the commands of the first steps instead of running
                      them
  --help              print this text

Exit status: 0 all hosts are accepted, 1 failed, 2 usage, 3 something needed is
missing, 6 something is slow or failed, 7 something could not be judged or was
not measured, 130 interrupted (everything measured so far is in FOLDER).
EOT
}

# set_option NAME VALUE: of this call, or of the folder that it continues.
set_option() {
    if [[ $source == folder ]]; then
        if is_one_of "$1" "${kActing[@]}"; then made_with[$1]=$2 && return; fi
        if is_one_of "$1" -H --hostfile --exclude --output; then return; fi
        [[ $2 != -* && $2 != *[[:cntrl:]]* ]] || die "$kUsage" "$folder has $(quoted "$1" "$2"), which is no value of $1"
    elif is_one_of "$1" "${kActing[@]}"; then
        acting[$1]=$2
    fi
    case $1 in
        -H | --hostfile | --exclude) host_options+=("$1" "$2") ;;
        --locality) locality=$2 ;;
        --baseline) baseline=$2 ;;
        --preset) preset=$2 ;;
        --expect) expect=$2 ;;
        --line-rate) line_rate=$2 ;;
        --record) record=$2 ;;
        --allow) allow=$2 ;;
        --tolerance) tolerance=$2 ;;
        --programs-to-run) collectives=$2 ;;
        -b | -e | -f) sizes[$1]=$2 ;;
        --ranks) whole_number "$1" "$2" 1 && ranks=$2 ;;
        --collective-options) read -ra collective_options <<<"$2" ;;
        --alone-options) read -ra alone_options <<<"$2" ;;
        --pair-options) read -ra pair_options <<<"$2" ;;
        --test | --size | --rails) sweep_options+=("$1" "$2") ;;
        --rounds | --max-concurrent) whole_number "$1" "$2" 1 && sweep_options+=("$1" "$2") ;;
        --at-once) whole_number "$1" "$2" 1 && at_once=$2 ;;
        --time)
            time_s=$(seconds_of "$1" "$2") || exit $?
            ((time_s > 0)) || die "$kUsage" "--time '$2' is not a time; give one such as 90s, 20m or 8h"
            ;;
        --timeout) whole_number "$1" "$2" 1 && limit_s=$2 ;;
        --launcher) launcher=$2 ;;
        --agent) agent=$2 ;;
        --mpi-options) read -ra mpi_options <<<"$2" ;;
        --programs) programs_folder=$2 ;;
        --output) output=$2 ;;
        --prometheus) prometheus=$2 ;;
    esac
}

# Sets words to the options that belong to the run, and variables by those of this call.
read_call_options() {
    while (($# > 0)); do
        case $1 in
            --resume=*) set -- --resume "${1#*=}" "${@:2}" && continue ;;
            --resume)
                (($# > 1)) || die "$kUsage" "--resume needs the folder of a run"
                folder=$2 resume=yes && shift ;;
            --recheck)
                (($# > 2)) || die "$kUsage" "--recheck needs hosts and the folder of a run, such as node07 results/accept-DATE"
                recheck_list=$2 folder=$3 resume=yes && shift 2 ;;
            --dry-run) dry_run=yes ;;
            --nagios) nagios=yes ;;
            *) words+=("$1") ;;
        esac
        shift
    done
}

read_options() {
    while (($# > 0)); do
        case $1 in
            --hosts) set -- -H "${@:2}" && continue ;;
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --strict) strict=yes ;;
            --keep-going) keep_going=yes ;;
            --resident) sweep_options+=("$1") ;;
            -h | --help)
                [[ $source == call ]] || unknown_option "$1"
                usage && told=yes && exit 0 ;;
            -H | --hostfile | --exclude | --locality | --baseline | --preset | --expect | --line-rate | \
                --record | --allow | --tolerance | --programs-to-run | -b | -e | -f | --ranks | --collective-options | --alone-options | \
                --pair-options | --test | --size | --rails | --rounds | --max-concurrent | --at-once | --time | \
                --timeout | --launcher | --agent | --mpi-options | --programs | --output | --prometheus)
                [[ -n ${2-} || ( $# -gt 1 && $1 == *-options ) ]] || die "$kUsage" "$1 needs a value; run '$own_call --help'"
                set_option "$1" "$2" && shift ;;
            *) unknown_option "$1" ;;
        esac
        shift
    done
}

# The options that act, as words.
acting_words() {
    local name words=()
    for name in "${kActing[@]}"; do
        if [[ -n ${acting[$name]-} ]]; then words+=("$name" "${acting[$name]}"); fi
    done
    quoted "${words[@]}"
}

# Refuses a folder that was made with other programs, files or options of others than this call names.
check_acting() {
    local name missing=() extra=()
    for name in "${kActing[@]}"; do
        if [[ ${made_with[$name]-} == "${acting[$name]-}" ]]; then
            continue
        elif [[ -n ${made_with[$name]-} ]]; then
            missing+=("$name" "${made_with[$name]}")
        else
            extra+=("$name")
        fi
    done
    ((${#missing[@]} == 0)) ||
        die "$kUsage" "$folder was made with $(quoted "${missing[@]}"); give $(quoted "${missing[@]}") too"
    ((${#extra[@]} == 0)) || die "$kUsage" "$folder was made without ${extra[*]}; leave ${extra[*]} out, or begin a new run"
}

# Sets held_against, and refuses options that exclude each other.
choose_reference() {
    local given=()
    held_against="each other"
    if [[ -n $baseline ]]; then given+=(--baseline) && held_against="baseline $baseline"; fi
    if [[ -n $preset ]]; then given+=(--preset) && held_against="preset $preset"; fi
    if [[ -n $expect ]]; then given+=(--expect) && held_against="expectation"; fi
    if [[ -n $record ]]; then given+=(--record) && record=$(realpath -m "$record"); fi
    ((${#given[@]} < 2)) || die "$kUsage" "${given[0]} and ${given[1]} exclude each other; give one of them"
    [[ -z $expect || ( $expect =~ ^[0-9]{1,2}(\.[0-9]+)?$ && $expect =~ [1-9] ) ]] ||
        die "$kUsage" "--expect '$expect' is not a share in percent; give one such as 80"
    [[ -z $line_rate || ( $line_rate =~ ^[0-9]+(\.[0-9]+)?$ && $line_rate =~ [1-9] ) ]] ||
        die "$kUsage" "--line-rate '$line_rate' is not a rate in Gbit/s; give one such as 100"
    [[ -z $line_rate || -n $expect ]] ||
        die "$kUsage" "--line-rate is for --expect; give the share that is required, such as --expect 80"
    [[ $strict == no || -n $preset ]] || die "$kUsage" "--strict belongs to --preset, which is not given"
}

check_options() {
    choose_reference
    [[ -z $baseline || -r $baseline ]] || die "$kMissing" "--baseline '$baseline' cannot be read; record one with --record"
    [[ -z $locality || -r $locality ]] || die "$kMissing" "--locality '$locality' cannot be read"
    [[ -z $prometheus || -d $(dirname "$prometheus") ]] ||
        die "$kMissing" "--prometheus '$prometheus': there is no such folder"
    [[ -z $record || -d $(dirname "$record") ]] ||
        die "$kMissing" "--record '$record': there is no such folder; make it on the host of each job's first rank"
    [[ $tolerance =~ ^(0?\.[0-9]+|[0-9]{1,2}(\.[0-9]+)?%)$ ]] ||
        die "$kUsage" "--tolerance '$tolerance' is not a share, such as 5% or 0.05"
    [[ $collectives =~ ^[a-z_]+_perf(,[a-z_]+_perf)*$ ]] || die "$kUsage" \
        "--programs-to-run '$collectives' is not a list of collectives, such as all_reduce_perf,alltoall_perf"
    IFS=, read -ra programs <<<"$collectives"
}

require_tools() {
    local tool
    for tool in python3 timeout; do
        command -v "$tool" >/dev/null || die "$kMissing" "there is no '$tool' on the PATH; install it"
    done
    check_launcher
    if [[ $launcher == mpirun ]]; then mpirun_kind=$(kind_of_mpirun); fi
    list_hosts=$(find_program list_hosts)
    find_slow_links=$(find_program find_slow_links)
    fabricbench=$(find_program fabricbench)
    for tool in "${programs[@]}"; do
        find_program "$tool" >/dev/null
    done
}

# Sets sizes_given, and gpus, ranks and sizes where they are not given. The other hosts are assumed to have as many GPUs as
# this one.
choose_sizes() {
    sizes_given=${#sizes[@]}
    gpus=0
    if command -v nvidia-smi >/dev/null; then gpus=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU ' || true); fi
    ranks=${ranks:-$((gpus > 0 ? gpus : 1))}
    if ((gpus > 0)); then
        sizes=([-b]="${sizes[-b]-1M}" [-e]="${sizes[-e]-1G}" [-f]="${sizes[-f]-32}")
    else
        sizes=([-b]="${sizes[-b]-1K}" [-e]="${sizes[-e]-64M}" [-f]="${sizes[-f]-16}")
    fi
}

# What find_slow_links expects of a pair: a share of the ports' rate, or GB/s where that is given.
expected_of_pairs() {
    if [[ -z $line_rate ]]; then
        echo "adapters:$expect%"
    else
        awk -v rate="$line_rate" -v percent="$expect" 'BEGIN { printf "%.6g\n", rate / 8 * percent / 100 }'
    fi
}

# ask QUESTION OPTION...: calls acceptance.py with the settings of the run.
ask() {
    local question=$1 settings=(--programs "$collectives" --tolerance "$tolerance" --work "$work"
        --list-hosts "$list_hosts" --fabricbench "$fabricbench" --find-slow-links "$find_slow_links")
    shift
    [[ -z $allow ]] || settings+=(--allow "$allow")
    [[ $keep_going == no ]] || settings+=(--keep-going)
    [[ -z $baseline ]] || settings+=(--baseline "$baseline")
    [[ -z $expect ]] || settings+=(--expect-of-pairs "$(expected_of_pairs)")
    [[ -z $prometheus ]] || settings+=(--prometheus "$prometheus")
    [[ -z $recheck_list ]] || settings+=(--recheck "$(paste -sd, "$work/recheck")")
    ((time_s == 0)) || settings+=(--time "$time_s" --left "$((time_s - (SECONDS - began)))")
    "$scripts/acceptance.py" "$question" "$folder" "${settings[@]}" "$@"
}

# Makes the folder of a new run, or reads the hosts of the one to continue.
begin_run() {
    if [[ $resume == yes ]]; then
        exec 9<"$folder" # what is locked as long as this runs
        "$scripts/acceptance.py" hosts "$folder" >"$work/hosts" || exit $?
        [[ -z $recheck_list ]] || read_recheck
        return
    fi
    "$list_hosts" "${host_options[@]}" >"$work/hosts"
    [[ $(wc -l <"$work/hosts") -ge 2 ]] ||
        die "$kUsage" "an acceptance run needs at least two hosts, each named once; given: $(paste -sd' ' "$work/hosts")"
    [[ $dry_run == no ]] || output=$work/results
    folder=${output:-results/accept-$(date +%Y%m%d-%H%M%S)}
    [[ ! -e $folder ]] || die "$kUsage" "'$folder' exists; continue it with --resume, or name another one with --output"
    mkdir -p "$folder"
    exec 9<"$folder"
    printf '%s\0' scripts/accept.sh "${words[@]}" >"$work/words"
    "$scripts/acceptance.py" begin "$folder" --hosts "$work/hosts" --held-against "$held_against" --words "$work/words" \
        --version "$("$fabricbench" --version | sed 's/.* //')"
}

read_recheck() {
    local unknown
    "$list_hosts" -H "$recheck_list" >"$work/recheck"
    unknown=$(grep -vxF -f "$work/hosts" "$work/recheck" | paste -sd' ' || true)
    [[ -z $unknown ]] || die "$kUsage" "--recheck: $unknown is not among the hosts of $folder"
}

# Asks for the next steps and runs them, until there are none. The question also judges what has ended.
measure() {
    local stage mode seconds deadline steps
    while true; do
        ask next >"$work/next" || exit $?
        [[ -s $work/next ]] || return 0
        { IFS=$'\t' read -r stage mode seconds && mapfile -t steps; } <"$work/next"
        deadline=$((SECONDS + ${seconds:-0}))
        case $stage in
            hosts) measure_hosts ;;
            pairs) measure_pairs ;;
            collectives) measure_collective ;;
        esac
    done
}

# finish [--interrupted]: writes the verdict and all outputs, and ends. A signal from now on changes no verdict; it only
# ends the drawing.
finish() {
    local status=0
    trap '' INT TERM HUP
    [[ $nagios == no ]] || set -- "$@" --nagios
    ask verdict --seconds $((SECONDS - began)) "$@" || status=$?
    told=yes
    [[ ! -x $scripts/report.py ]] || draw_report
    warn "results are in $folder"
    exit "$status"
}

draw_report() {
    local drawing='' stopped=no ended=0
    trap 'stopped=yes; [[ -z $drawing ]] || kill -TERM "$drawing" 2>/dev/null || true' INT TERM HUP
    mortal "$scripts/report.py" "$folder" -o "$folder/report.html" --force </dev/null >/dev/null &
    drawing=$!
    [[ $stopped == no ]] || kill -TERM "$drawing" 2>/dev/null || true
    wait "$drawing" 2>/dev/null || ended=$?
    trap '' INT TERM HUP
    if [[ $stopped == yes ]]; then
        wait "$drawing" 2>/dev/null || true # the signal ended the first wait
        rm -f "$folder"/.report.html.part*
    fi
    ((ended == 0)) || warn "report.html could not be drawn; everything else is in $folder"
}

# On a signal: ends running jobs, and keeps and judges what is measured.
break_off() {
    local process
    trap '' INT TERM HUP
    for process in "${running[@]}"; do
        kill -TERM "$process" 2>/dev/null || true
    done
    for process in "${running[@]}"; do
        wait "$process" || true
    done
    ask collect || true
    judge_broken_off_pairs
    warn "interrupted; continue with: $own_call $(quoted --resume "$folder") $(acting_words)"
    finish --interrupted
}

# With --nagios, every end has its line.
end_call() {
    local status=$?
    rm -rf "$work"
    if [[ $nagios == yes && $told == no ]]; then
        echo "ACCEPTANCE UNKNOWN - accept.sh ended with status $status; its message is on standard error"
        exit 3
    fi
}

main() {
    local host_options=() sweep_options=() pair_options=() collective_options=() alone_options=() mpi_options=()
    local words=() stored=() source=call
    local locality='' baseline='' preset='' record='' allow='' tolerance=$kTolerance collectives=all_reduce_perf programs=()
    local ranks='' gpus=0 at_once=$kAtOnce time_s=0 limit_s=$kHostLimit_s launcher=mpirun agent='' output='' prometheus=''
    local expect='' line_rate='' strict=no keep_going=no resume=no dry_run=no recheck_list='' held_against=''
    local list_hosts find_slow_links fabricbench running=() sweep=() job_number=0 began=$SECONDS sizes_given=0
    local -A sizes=() made_with=() acting=()
    read_call_options "$@"
    work=$(mktemp -d "${TMPDIR:-/tmp}/fabricbench-accept.XXXXXX")
    trap end_call EXIT
    mkdir "$work/jobs"
    if [[ $resume == yes ]]; then
        [[ -e $folder/acceptance.jsonl ]] ||
            die "$kUsage" "'$folder' is not the folder of an acceptance run; give one such as results/accept-DATE"
        "$scripts/acceptance.py" words "$folder" >"$work/stored" 2>"$work/said" || die "$kUsage" \
            "'$folder' is not the folder of an acceptance run: $(tail -n 1 "$work/said" | sed 's/^accept\.sh: //')"
        mapfile -d '' -t stored <"$work/stored"
        source=folder
        read_options "${stored[@]}"
        source=call
    fi
    read_options "${words[@]}"
    [[ $resume == no ]] || check_acting
    check_options
    use_mpi
    require_tools
    choose_sizes
    ((${#alone_options[@]} > 0)) || alone_options=("${collective_options[@]}")
    check_values
    begin_run
    if [[ $dry_run == yes ]]; then
        print_commands
        told=yes
        return
    fi
    trap break_off INT TERM HUP
    warn "$(wc -l <"$work/hosts") hosts, results in $folder"
    measure
    finish
}

# Read when this ends, whoever ends it.
nagios=no
told=no
folder=

main "$@"
