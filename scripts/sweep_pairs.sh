#!/usr/bin/env bash
# Measures pairs of hosts, round by round, until the slow host, NIC, rail or link is known, and reports it.
set -euo pipefail

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/launch.sh
source "$(dirname "${BASH_SOURCE[0]}")/launch.sh"
# shellcheck source=scripts/resident.sh
source "$(dirname "${BASH_SOURCE[0]}")/resident.sh"

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly scripts

usage() {
    as_typed <<EOT
usage: scripts/sweep_pairs.sh [OPTION]... [-- OPTION OF THE BENCHMARK...]

Measures disjoint pairs of hosts in rounds, each pair in a separate job with a
time limit, and reports the slow parts at the end (find_slow_links). A host that
does not answer costs one time limit per job of a round.

Hosts (default: those of the surrounding Slurm, PBS, LSF or Kubernetes MPI job):
  -H, --hosts LIST    use these hosts, such as node[01-16,20],login1
  --hostfile FILE     read hosts from FILE, in the format of an MPI launcher or
                      scheduler; - is standard input
  --exclude LIST      leave these hosts out
  --locality FILE     read each host's leaf switch or rack from lines HOST LEAF

What to measure (default: --find):
  --find              measure until every host is judged, then suspicious pairs
                      again, alone; --find quick: in at most 8 rounds for all
                      hosts, which find few unsteady ones
  --rounds K          number of rounds; every host has a new peer in each
  --all-pairs         measure every pair once; with --find, suspicious pairs
                      again
  --max-concurrent M  maximum number of pairs at the same time (default: no
                      limit)
  --seed N            seed of the order of hosts (default: chosen and recorded)
  --rails LIST        measure each pair on each of these interfaces or devices,
                      such as mlx5_0,mlx5_1; RDMA tests do so in one job a pair;
                      MPI, TCP and NCCL choose an adapter for a whole job, and
                      take a job for each
  --resident          run all rounds of a rail in one MPI job (pairwise_bw),
                      which is much faster and continues without a host that
                      dies

How (see scripts/check_node_pair.sh --help): --test, --rdma, --gpus, --size,
--min-bandwidth, --timeout, --programs, --launcher, --agent, --mpi-options

Results:
  --records FILE      append every reading to FILE as a line of JSON (default:
                      sweep-DATE.jsonl)
  --resume            continue the sweep in FILE, with its hosts and seed, and
                      with its plan unless a new one is given
  --logs DIR          keep the output of failed jobs in DIR (default: FILE.logs)
  --expect GB/S       required one-way bandwidth, or adapters: $kPercentOfPort%
                      of the ports' rate, if the records have it (default: hosts
                      are compared with each other)
  --tolerance X       smallest deficit that counts as slow (default:
                      $kTolerance)
  --long              report every finding by itself, and every line
  --dry-run           print the commands of the next round or of the job instead
                      of running them
  --help              print this text

Exit status: 0 nothing is slow, 1 failed, 2 usage, 3 something needed is
missing, 6 something is slow, 7 could not be judged, 130 interrupted (all
readings are in FILE).
EOT
}

# set_option NAME VALUE
set_option() {
    case $1 in
        -H | --hostfile | --exclude) host_options+=("$1" "$2") ;;
        --locality) locality=$2 ;;
        --rounds) whole_number "$1" "$2" 1 && plan+=("$1" "$2") ;;
        --max-concurrent) whole_number "$1" "$2" 1 && plan+=("$1" "$2") ;;
        --seed) whole_number "$1" "$2" 0 && seed=$2 ;;
        --rails) IFS=, read -ra rails <<<"$2" ;;
        --programs) programs_folder=$2 given_programs=$2 && pair_options+=("$1" "$2") ;;
        --records) records=$2 ;;
        --logs) logs=$2 ;;
        --tolerance) tolerance=("$1" "$2") ;;
        --expect) expected=("$1" "$2") ;;
        --timeout) whole_number "$1" "$2" 1 && limit_s=$2 && pair_options+=("$1" "$2") ;;
        --size) size=$2 && pair_options+=("$1" "$2") ;;
        --test) test=$2 && pair_options+=("$1" "$2") ;;
        --launcher) launcher=$2 && pair_options+=("$1" "$2") ;;
        --agent) agent=$2 && pair_options+=("$1" "$2") ;;
        --mpi-options) read -ra mpi_options <<<"$2" && pair_options+=("$1" "$2") ;;
        --gpus | --min-bandwidth) pair_options+=("$1" "$2") ;;
    esac
}

# Whether the options contain a plan.
says_what() { [[ " ${plan[*]} " == *" --"@(find|rounds|all-pairs)" "* ]]; }

read_options() {
    while (($# > 0)); do
        case $1 in
            --hosts) set -- -H "${@:2}" && continue ;;
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
            --) shift && extra=("$@") && break ;;
            --find | --all-pairs)
                plan+=("$1")
                if [[ $1 == --find && ${2-} == quick ]]; then plan+=(--rounds 8) && shift; fi
                ;;
            --resident) resident=yes ;;
            --resume) resume=yes ;;
            --rdma) test=rdma_write_bw && pair_options+=("$1") ;;
            --dry-run) dry_run=yes ;;
            --long) report_options+=("$1") ;;
            -h | --help) usage; exit 0 ;;
            -H | --hostfile | --exclude | --locality | --rounds | --max-concurrent | --seed | --rails | --programs | \
                --records | --logs | --tolerance | --expect | --timeout | --size | --test | --launcher | --agent | --mpi-options | \
                --gpus | --min-bandwidth)
                (($# > 1)) || die "$kUsage" "$1 needs a value; run '$own_call --help'"
                set_option "$1" "$2" && shift ;;
            *) unknown_option "$1" ;;
        esac
        shift
    done
    [[ $resume == no || -n $records ]] || die "$kUsage" "--resume continues a file; name it with --records"
    [[ $resident == no || -z $test || $test == pairwise_bw ]] ||
        die "$kUsage" "--resident runs pairwise_bw; leave --test $test out"
    if [[ $resident == yes && -z $test ]]; then pair_options+=(--test pairwise_bw); fi
    [[ $resume == yes ]] || says_what || plan+=(--find)
    if share_a_job "${rails[@]}"; then joint=$(IFS=, && echo "${rails[*]}"); fi
}

require_tools() {
    local tool
    for tool in python3 timeout; do
        command -v "$tool" >/dev/null || die "$kMissing" "there is no '$tool' on the PATH; install it"
    done
    [[ $resident == yes ]] || command -v parallel >/dev/null ||
        die "$kMissing" "there is no 'parallel' on the PATH; install GNU parallel, or use --resident"
    check_launcher
    list_hosts=$(find_program list_hosts)
    plan_sweep=$(find_program plan_sweep)
    find_slow_links=$(find_program find_slow_links)
}

# read_plan WORD...: adds to plan what the first line of records may have.
read_plan() {
    while (($# > 0)); do
        case $1 in
            --find | --all-pairs) plan+=("$1") ;;
            --rounds | --max-concurrent) whole_number "$records: $1" "${2-}" 1 && plan+=("$1" "$2") && shift ;;
            *) die "$kUsage" "$records: $(quoted "$1") is no plan of a sweep" ;;
        esac
        shift
    done
}

# Sets hosts, seed and plan for a new file of records, or reads them from the file to continue.
begin_records() {
    local settings words=()
    records=${records:-sweep-$(date +%Y%m%d-%H%M%S).jsonl}
    if [[ $resume == yes ]]; then
        [[ -s $records ]] ||
            die "$kUsage" "--resume: '$records' does not exist or is empty; leave --resume out to begin"
        lock_records
        "$scripts/sweep_record.py" get "$records" seed >"$work/seed"
        read -r seed <"$work/seed" || true
        [[ $seed =~ ^[0-9]{1,18}$ ]] || die "$kUsage" "$records: $(quoted "$seed") is no seed"
        if ! says_what; then
            "$scripts/sweep_record.py" get "$records" plan >"$work/plan"
            read -ra words <"$work/plan" || true
            read_plan "${words[@]}"
        fi
        return
    fi
    [[ ! -s $records ]] || die "$kUsage" "'$records' exists; continue it with --resume, or name another file"
    "$list_hosts" "${host_options[@]}" >"$work/hosts"
    [[ $(wc -l <"$work/hosts") -ge 2 ]] ||
        die "$kUsage" "a sweep needs at least two hosts; given: $(tr '\n' ' ' <"$work/hosts")"
    seed=${seed:-$((RANDOM * 32768 + RANDOM))}
    [[ $dry_run == no ]] || records=$work/records
    settings=(--set "plan=${plan[*]}" --set "seed=$seed" --set "rails=$(IFS=, && echo "${rails[*]}")")
    # What commands that are advised later take to run here.
    [[ $launcher == mpirun ]] || settings+=(--set "launcher=$launcher")
    [[ -z $agent ]] || settings+=(--set "agent=$agent")
    ((${#mpi_options[@]} == 0)) || settings+=(--set "mpi_options=${mpi_options[*]}")
    [[ -z $given_programs ]] || settings+=(--set "programs=$given_programs")
    "$scripts/sweep_record.py" begin "$records" --hosts "$work/hosts" ${locality:+--locality "$locality"} "${settings[@]}"
    lock_records
}

# Nobody else may add to them as long as this runs, and what holds descriptor 9.
lock_records() {
    exec 9<"$records"
    "$scripts/sweep_record.py" hosts "$records" >"$work/hosts" || exit "$kUsage"
}

# The output of plan_sweep for all readings so far.
ask_plan() { ask_plan_after "$records"; }

# ask_plan_after FILE [OPTION]
ask_plan_after() {
    local file=$1 settings=()
    shift
    if is_one_of --find "${plan[@]}"; then settings=("${tolerance[@]}"); fi
    "$plan_sweep" --hosts "$work/hosts" --records "$file" --seed "$seed" "${plan[@]}" "${settings[@]}" "$@"
}

# From here to the end of sweep_rounds, output of programs goes through files: bash 5.2 fails if a trap runs while it
# waits for a command in $(), and Ctrl-C has to work at any time.

# Sets why, rounds_left, and round: lines with the number of the round, the number of concurrent pairs, and both hosts.
next_round() {
    local line
    why='' round=() rounds_left=0
    ask_plan >"$work/plan"
    while IFS= read -r line; do
        case $line in
            '# rounds left: '*) rounds_left=${line##*: } ;;
            '#'*) why=${line#'# '} ;;
            ?*) round+=("$line") ;;
        esac
    done <"$work/plan"
}

# Writes a script that checks one pair, so that no word passes through another shell unquoted.
write_check() {
    {
        printf '#!/usr/bin/env bash\nexec'
        printf ' %q' "$scripts/check_node_pair.sh" --quiet "${pair_options[@]}" --records "$records" \
            --logs "${logs:-$records.logs}" ${rail:+--rail "$rail"} "$@"
        # shellcheck disable=SC2016  # $1 is an argument of the script that is written here
        printf ' --round "$1" --concurrent "$2" "$3" "$4" --'
        [[ ${#extra[@]} -eq 0 ]] || printf ' %q' "${extra[@]}"
        echo
    } >"$work/check"
}

# Measures all pairs of a round at the same time; the end of this call is the barrier before the next round.
run_round() {
    local status=0
    rm -f "$work/joblog"
    printf '%s\n' "${round[@]}" >"$work/round"
    mortal parallel --will-cite --no-notice -j "${#round[@]}" --halt never --term-seq TERM,10000,KILL,25 --colsep '\t' \
        --joblog "$work/joblog" bash "$work/check" '{1}' '{2}' '{3}' '{4}' <"$work/round" &
    job=$!
    wait "$job" || status=$? # the number of failed pairs; the records name them
    job=
    ((status < 255)) || die "$kFailed" "GNU parallel could not run the pairs; see its message above"
    # Exitval is the seventh column. Wrong options would fail for every pair.
    if awk -v usage="$kUsage" 'NR > 1 && $7 == usage { found = 1 } END { exit !found }' "$work/joblog"; then
        [[ $("$scripts/sweep_record.py" last "$records") -ge 0 ]] || rm "$records" # allows another attempt
        die "$kUsage" "the benchmark refused its options; see its message above"
    fi
}

# Measures a round over every rail. What one job for all rails leaves out, perhaps because of a dead one, is measured by a
# job for each.
run_rails() {
    local left=() line
    if [[ -n $joint ]]; then
        rail=$joint
        write_check
        run_round
        "$scripts/sweep_record.py" unmeasured "$records" "$joint" <"$work/round" >"$work/left"
        mapfile -t left <"$work/left"
        if ((${#round[@]} > 1 && ${#left[@]} == ${#rails[@]} * ${#round[@]})); then
            warn "no pair could be measured over all rails in one job; from here on, each rail has a job of its own"
            joint=
        fi
    fi
    for rail in "${rails[@]}"; do
        if [[ -n $joint ]]; then
            round=()
            for line in "${left[@]}"; do
                [[ $line != "$rail"$'\t'* ]] || round+=("${line#*$'\t'}")
            done
            ((${#round[@]} > 0)) || continue
        fi
        write_check
        run_round
    done
}

# tell_progress ROUND SECONDS: prints the results of the round and the approximate time left.
tell_progress() {
    local ends='' text
    rounds_done=$((rounds_done + 1))
    "$scripts/sweep_record.py" count "$records" "$1" >"$work/ends"
    read -r ends <"$work/ends" || true
    seconds_in_words "$2"
    text="round $1: $ends in $in_words"
    if ((rounds_left > 0)); then
        seconds_in_words $(((SECONDS - began) * rounds_left / rounds_done))
        text+="; about $rounds_left more, $in_words"
    fi
    warn "$text"
}

# If nothing works at all, links are not the cause, and more rounds would not help.
require_any_figure() {
    local reason=''
    "$scripts/sweep_record.py" only_failures "$records" >"$work/reason"
    read -r reason <"$work/reason" || true
    [[ -z $reason ]] || die "$kFailed" "no pair could be measured in two rounds; $reason"
}

sweep_rounds() {
    local before='' why='' round=() rounds_left=0 number began_round took in_words=''
    next_round
    while [[ ${#round[@]} -gt 0 ]]; do
        [[ ${round[*]} != "$before" ]] || die "$kFailed" "no pair of the last round left a record in $records; see above"
        before=${round[*]}
        number=${round[0]%%$'\t'*}
        warn "round $number${why:+: $why}"
        began_round=$SECONDS
        run_rails
        took=$((SECONDS - began_round))
        next_round
        tell_progress "$number" "$took"
        ((rounds_done != 2)) || require_any_figure
    done
    warn "${why:-the sweep is over}"
}

print_round() {
    local why='' round=() rounds_left=0 line words
    next_round
    warn "${why:-the sweep is over}"
    [[ -z $joint ]] || rails=("$joint")
    for rail in "${rails[@]}"; do
        write_check --dry-run
        for line in "${round[@]}"; do
            IFS=$'\t' read -ra words <<<"$line"
            bash "$work/check" "${words[@]}"
        done
    done
}

# On a signal: ends running jobs and keeps all readings.
break_off() {
    trap '' INT TERM HUP
    if [[ -n $job ]]; then
        # GNU parallel ends its jobs at the second signal; at the first it waits for them.
        kill -TERM "$job" 2>/dev/null || true
        kill -TERM "$job" 2>/dev/null || true
        wait "$job" || true
        if [[ $resident == yes && -s $work/out ]]; then keep_readings >/dev/null || true; fi
    fi
    if [[ $dry_run == yes || -z $records || ! -s $records ]]; then
        warn "interrupted; nothing has been measured"
        exit 130
    fi
    local resume_words=()
    [[ $resume == yes ]] || resume_words=(--resume)
    is_one_of --records "${arguments[@]}" || resume_words+=(--records "$records")
    warn "interrupted; all readings are in $records. Judge them with: $(quoted "$find_slow_links" "$records")"
    warn "continue with: $own_call $(quoted "${resume_words[@]}" "${arguments[@]}")"
    exit 130
}

main() {
    local host_options=() plan=() rails=('') pair_options=() extra=() mpi_options=() tolerance=() expected=() report_options=() arguments=("$@")
    local locality='' seed='' records='' logs='' limit_s=60 size='' test='' launcher=mpirun agent=''
    local given_programs='' resident=no resume=no dry_run=no rail='' joint='' job='' rounds_done=0 began=$SECONDS status=0
    local list_hosts='' plan_sweep='' find_slow_links=find_slow_links report=$scripts/report.py
    trap break_off INT TERM HUP
    read_options "$@"
    use_mpi
    require_tools
    work=$(mktemp -d "${TMPDIR:-/tmp}/fabricbench-sweep.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    begin_records
    if [[ $dry_run == yes ]]; then
        if [[ $resident == yes ]]; then print_resident; else print_round; fi
        return
    fi
    warn "$(wc -l <"$work/hosts") hosts, seed $seed, records in $records"
    if [[ $resident == yes ]]; then
        sweep_resident
        rm -f "$work/out" # its readings are in the records
        # The job knew only one rail; questions left open by all readings together are measured pair by pair.
        if is_one_of --find "${plan[@]}" && command -v parallel >/dev/null; then sweep_rounds; fi
    else
        sweep_rounds
    fi
    "$find_slow_links" "${tolerance[@]}" "${expected[@]}" "${report_options[@]}" "$records" || status=$?
    if [[ $own_call == "fabricbench "* ]]; then report="fabricbench report"; fi
    warn "draw it with: $report $(quoted "$records" -o "${records%.jsonl}.html")"
    exit "$status"
}

main "$@"
