# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # from accept.sh, which sources this, lib.sh and launch.sh
# The jobs of an acceptance run: on one host, on pairs of hosts, and on many.

readonly kManyHosts=16    # with more, pairs are measured in one job
readonly kLonger=10       # a collective may take that many times as long as a job on one or two hosts
readonly kCollectEvery=64 # hosts, before their results are written
readonly kNoAddress='Could not resolve hostname|Name or service not known|Unknown host|No address associated with hostname'

# write_job NAME RECORDS PROGRAM LIMIT CUT HOST...: describes a job in a folder of its own, and sets job_folder to it.
write_job() {
    local key
    job_number=$((job_number + 1))
    printf -v job_folder '%s/jobs/%06d' "$work" "$job_number"
    mkdir -p "$job_folder"
    for key in name records program limit cut; do
        printf '%s\n' "$1" >"$job_folder/$key"
        shift
    done
    printf '%s\n' "$@" >"$job_folder/hosts"
}

# choose_command PROGRAM RANKS SECONDS HOST...: sets command, with RANKS on each host.
choose_command() {
    local program=$1 count=$2 seconds=$3 launch=() grace_s=0 options=()
    shift 3
    choose_launch "$count" "$seconds" "$@"
    # Rank 0's host may share no files with this one, so its JSON comes over standard output.
    options=(-b "${sizes[-b]}" -e "${sizes[-e]}" -f "${sizes[-f]}" -T $((seconds * 2 / 3 + 1)))
    if (($# == 1)); then
        if ((gpus > 0 && count > gpus)); then options+=(--backend mpi); fi
        options+=("${alone_options[@]}")
    else
        options+=("${collective_options[@]}")
        [[ -z $preset ]] || options+=(--preset "$preset")
        [[ $strict == no ]] || options+=(--strict)
        [[ -z $expect ]] || options+=(--expect "$expect" ${line_rate:+--line-rate "$line_rate"})
    fi
    [[ -z $record ]] || options+=(--record "$record")
    command=(timeout -k "$kKillAfter_s" $((seconds + grace_s)) "${launch[@]}" "${mpi_options[@]}"
        "$(find_program "$program")" "${options[@]}" --quiet --json /dev/stdout --force)
}

# run_job RANKS FOLDER: runs the job described there. To be called with &, so that all of it is in a subshell.
run_job() {
    local count=$1 work=$2 hosts command=() launched='' from status=0
    mapfile -t hosts <"$work/hosts"
    # On a signal, the launcher ends the ranks before this ends.
    trap '[[ -z $launched ]] || { kill -TERM "$launched" 2>/dev/null; wait "$launched"; }; exit 143' TERM
    trap '' INT HUP
    choose_command "$(<"$work/program")" "$count" "$(<"$work/limit")" "${hosts[@]}"
    quoted "${command[@]}" >"$work/command"
    from=$EPOCHREALTIME
    mortal "${command[@]}" </dev/null >"$work/out" 2>"$work/err" &
    launched=$!
    end_with_script "$launched" &
    wait "$launched" 2>/dev/null || status=$?
    launched=''
    echo "$status" >"$work/status"
    awk -v from="$from" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", to - from }' >"$work/seconds"
    touch "$work/ended"
}

# Waits for any of the running jobs, and keeps the others in the list.
wait_for_one() {
    local process left=()
    wait -n "${running[@]}" || true
    for process in "${running[@]}"; do
        if kill -0 "$process" 2>/dev/null; then left+=("$process"); fi
    done
    running=("${left[@]}")
}

wait_for_all() {
    while ((${#running[@]} > 0)); do wait_for_one; done
}

# limit_of SECONDS: sets limit and cut: whether --time leaves less than that.
limit_of() {
    limit=$1 cut=no
    if ((time_s > 0 && deadline - SECONDS < limit)); then
        limit=$((deadline > SECONDS ? deadline - SECONDS : 1)) cut=yes
    fi
}

# Reads steps, mode and deadline, like the functions below.
measure_hosts() {
    local step name records host at_most=$at_once job_folder='' limit cut again=''
    [[ $mode == together ]] || at_most=1
    [[ ${steps[0]} != *-again.jsonl$'\t'* ]] || again=', again'
    warn "measuring hosts alone$again: ${#steps[@]}"
    for step in "${steps[@]}"; do
        IFS=$'\t' read -r name records _ host <<<"$step"
        if ((time_s > 0 && SECONDS >= deadline)); then break; fi
        while ((${#running[@]} >= at_most)); do wait_for_one; done
        limit_of "$limit_s"
        write_job "$name" "$records" "${programs[0]}" "$limit" "$cut" "$host"
        run_job $((ranks > 1 ? ranks : 2)) "$job_folder" &
        running+=("$!")
        if ((job_number % kCollectEvery == 0)); then ask collect || exit $?; fi
    done
    wait_for_all
    refuse_unknown_hosts
}

# Ends a new run whose jobs have all failed for want of an address, and removes the folder that it has made.
refuse_unknown_hosts() {
    local hosts unknown
    hosts=$(wc -l <"$work/hosts")
    [[ $resume == no ]] && ((job_number == hosts)) && grep -qE "$kNoAddress" "$job_folder/err" || return 0
    ask collect || exit $?
    mapfile -t unknown < <(grep -hE "$kNoAddress" "$folder"/logs/hosts-*.log)
    [[ $(grep -lE "$kNoAddress" "$folder"/logs/hosts-*.log | wc -l) -eq $hosts ]] || return 0
    rm -rf "$folder"
    die "$kMissing" "none of the $hosts hosts has an address here, and nothing is kept: ${unknown[0]}"
}

measure_collective() {
    local name records program rest hosts job_folder='' limit cut
    IFS=$'\t' read -r name records program rest <<<"${steps[0]}"
    IFS=$'\t' read -ra hosts <<<"$rest"
    limit_of $((limit_s * kLonger))
    warn "measuring $program over ${#hosts[@]} hosts"
    write_job "$name" "$records" "$program" "$limit" "$cut" "${hosts[@]}"
    run_job "$ranks" "$job_folder" &
    running=("$!")
    wait_for_all
}

# sweep_command FILE: sets command.
sweep_command() {
    command=("$scripts/sweep_pairs.sh" --records "$1" --logs "$folder/logs" --timeout "$limit_s" --tolerance "$tolerance"
        --launcher "$launcher" --find "${sweep_options[@]}")
    if [[ -s $1 ]]; then
        command+=(--resume)
    else
        command+=(--hostfile "$work/pair_hosts" ${locality:+--locality "$locality"})
    fi
    [[ -z $agent ]] || command+=(--agent "$agent")
    [[ -z $programs_folder ]] || command+=(--programs "$programs_folder")
    ((${#mpi_options[@]} == 0)) || command+=(--mpi-options "${mpi_options[*]}")
    if ! is_one_of --resident "${sweep_options[@]}" && ! is_one_of --test "${sweep_options[@]}" && ((gpus == 0)); then
        if (($(wc -l <"$work/pair_hosts") > kManyHosts)) || ! command -v parallel >/dev/null; then command+=(--resident); fi
    fi
    ((${#pair_options[@]} == 0)) || command+=(-- "${pair_options[@]}")
}

measure_pairs() {
    local name records hosts command=() status=0 cut=() follower
    IFS=$'\t' read -r name records _ hosts <<<"${steps[0]}"
    tr '\t' '\n' <<<"$hosts" >"$work/pair_hosts"
    warn "measuring pairs of $(wc -l <"$work/pair_hosts") hosts"
    sweep_command "$folder/$records"
    quoted "${command[@]}" >"$work/sweep_command"
    : >"$work/sweep_err"
    sweep=("$name" "$records" "$SECONDS")
    mortal "${command[@]}" </dev/null >"$work/sweep_out" 2>"$work/sweep_err" &
    running=("$!")
    tail -n +1 -f --pid="${running[0]}" "$work/sweep_err" >&2 &
    follower=$!
    if ((time_s > 0)); then end_at_deadline "${running[0]}" 9<&- & fi
    wait "${running[0]}" 2>/dev/null || status=$?
    running=()
    wait "$follower" || true
    if ((status == 130)); then cut=(--cut); fi # on a signal to this script, break_off ends it
    if ((status == kUsage || status == kMissing)); then die "$status" "pairs cannot be measured; see the message above"; fi
    judge_pairs "$status" "${cut[@]}" || exit $?
    sweep=()
}

# judge_pairs STATUS [OPTION]...: judges the readings of the sweep that is under way, or has just ended.
judge_pairs() {
    local status=$1
    shift
    ask sweep --name "${sweep[0]}" --records "${sweep[1]}" --status "$status" --seconds $((SECONDS - sweep[2])) "$@" \
        --complaint "$(tail -n 1 "$work/sweep_err" | cut -c 1-300)" --command "$(<"$work/sweep_command")"
}

# Pairs that were measured before a signal are judged, too.
judge_broken_off_pairs() {
    if ((${#sweep[@]} > 0)); then judge_pairs 130 --interrupted || true; fi
}

# end_at_deadline PROCESS: ends the sweep when its share of --time is over.
end_at_deadline() {
    while ((SECONDS < deadline)); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 1
    done
    kill -TERM "$1" 2>/dev/null || true
}

# The commands of the first step of each stage.
print_commands() {
    local host command=() program hosts
    mapfile -t hosts <"$work/hosts"
    for host in "${hosts[@]}"; do
        choose_command "${programs[0]}" $((ranks > 1 ? ranks : 2)) "$limit_s" "$host"
        quoted "${command[@]}"
    done
    cp "$work/hosts" "$work/pair_hosts"
    sweep_command "$folder/pairs.jsonl"
    quoted "${command[@]}"
    for program in "${programs[@]}"; do
        choose_command "$program" "$ranks" $((limit_s * kLonger)) "${hosts[@]:0:2}"
        quoted "${command[@]}"
    done
}
