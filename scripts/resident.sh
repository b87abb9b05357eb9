# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # from sweep_pairs.sh, which sources this, lib.sh and launch.sh
# A sweep in one MPI job of pairwise_bw, which is restarted without a dead host and continues.

readonly kProbe_s=15       # for a host to start a program
readonly kProbes=32        # probes at the same time
readonly kFailures=3       # with different peers, before a host is dead
readonly kStrikes=2        # jobs ended by a host before it is left out, even if it answers
readonly kEnding_s=5       # for a job to end after it has announced its end
readonly kUnexplained=2    # jobs that ended without a culprit, before the sweep gives up

# The plan as options of pairwise_bw.
resident_plan() {
    local word
    for word in "${plan[@]}"; do
        case $word in
            --max-concurrent) echo --concurrent ;;
            --all-pairs) printf '%s\n' --rounds 0 ;;
            *) echo "$word" ;;
        esac
    done
}

# resident_command HOST...: sets command. The whole job has no time limit and may take hours. pairwise_bw ends by itself
# if it makes no progress, and mpirun checks whether the hosts are alive.
resident_command() {
    local words launch=() options=() grace_s
    mapfile -t words < <(resident_plan)
    if [[ -n $rail ]]; then test=pairwise_bw choose_rail; fi
    choose_launch 1 0 "$@"
    command=(timeout -k "$kEnding_s" 0 "${launch[@]}" "${mpi_options[@]}" "$program" --level host --seed "$seed" "${words[@]}"
        ${size:+-b "$size"} --pair-timeout "$pair_s" -T $((2 * pair_s + 20)) --measured "$work/measured"
        --quiet --json /dev/stdout --force "${extra[@]}")
}

# run_resident HOST...: sets status. Standard output contains lines of JSON.
run_resident() {
    local command=() pair_s=$(((limit_s + 3) / 4))
    resident_command "$@"
    status=0
    mortal "${command[@]}" </dev/null >"$work/out" 2>"$work/err" &
    job=$!
    end_where_stuck $((2 * pair_s + 40)) 9<&- &
    # Not { wait ...; } 2>/dev/null, which takes the messages of a trap that runs meanwhile, too.
    wait "$job" 2>/dev/null || status=$?
    kill "$!" 2>/dev/null || true
    wait "$!" 2>/dev/null || true
    job=
}

# end_where_stuck SECONDS: a launcher waits without limit for its daemon on a hung host. So this ends it after SECONDS
# without output, a few seconds after the benchmark has announced its end, or when this script is gone.
end_where_stuck() {
    local quiet_s=0 said before=
    while kill -0 "$job" 2>/dev/null; do
        sleep 1
        said=$(cat "$work/out" "$work/err" | wc -c)
        quiet_s=$((quiet_s + 1))
        if [[ $said != "$before" ]]; then quiet_s=0; fi
        before=$said
        if ((quiet_s >= $1)) || ! kill -0 $$ 2>/dev/null || { ((quiet_s >= kEnding_s)) && is_ending; }; then
            kill -TERM "$job" 2>/dev/null || true # `timeout` kills it after a while
            return
        fi
    done
}

is_ending() { grep -q '{"kind":"end"' "$work/out" || grep -q -e '^pairwise_bw: ' -e 'MPI_ABORT' "$work/err"; }

# probe_host HOST: prints its name if no program can be started on it.
probe_host() {
    local launch=() grace_s=0 work=$work/probe.$1
    mkdir -p "$work"
    choose_launch 1 "$kProbe_s" "$1"
    timeout -k 5 $((kProbe_s + grace_s)) "${launch[@]}" "${mpi_options[@]}" hostname </dev/null >/dev/null 2>&1 || echo "$1"
}

# Prints the hosts on which no program can be started.
probe_hosts() {
    local host running=0
    for host in "$@"; do
        if ((++running > kProbes)); then wait -n || true; fi
        probe_host "$host" &
    done
    wait
}

# Prints the hosts that pairwise_bw or mpirun reports as dead, one per line.
blamed_hosts() {
    cat "$work/silent"
    sed -n -e 's/.*no report of round .* from rank [0-9]* on \([^ ]*\) .*/\1/p' \
        -e 's/^ *Remote daemon: .* on node \([^ ]*\).*/\1/p' \
        -e 's/.*process rank [0-9]* with PID [0-9]* on node \([^ ]*\) exited on signal .*/\1/p' "$work/err"
}

# is_dead HOST HOST...: whether the first host fails with three of the others in a row, as required for a host that has
# worked before. Each test is a normal pair in a separate round, and so appears in the records.
is_dead() {
    local suspect=$1 other round failures=0
    shift
    for other in "$@"; do
        [[ $other != "$suspect" ]] || continue
        round=$(($("$scripts/sweep_record.py" last "$records") + 1))
        write_check
        status=0
        (mortal bash "$work/check" "$round" 1 "$other" "$suspect") || status=$?
        [[ $status -eq $kFailed || $status -eq $kTimeout ]] || return 1
        failures=$((failures + 1))
        if ((failures == kFailures)); then return 0; fi
    done
    ((failures > 0)) # all that exist
}

# drop_suspects HOST...: removes dead hosts, and hosts that have ended two jobs, from living.
drop_suspects() {
    local suspect rest
    for suspect in "$@"; do
        strikes[$suspect]=$((${strikes[$suspect]:-0} + 1))
        mapfile -t rest < <(printf '%s\n' "${living[@]}" | grep -vxF -f <(printf '%s\n' "$@"))
        if is_dead "$suspect" "${rest[@]}" || ((strikes[$suspect] >= kStrikes)); then
            warn "going on without $suspect"
            mapfile -t living < <(printf '%s\n' "${living[@]}" | grep -vxF "$suspect")
        else
            warn "$suspect answers again, and stays"
        fi
    done
}

complaint() {
    grep -m 1 '^pairwise_bw: ' "$work/err" || grep -m 1 -v -i -e '^-*$' -e warning "$work/err" || echo "it said nothing"
}

# Handles the end of a job; returns 0 if the sweep is over.
judge_end() {
    local suspects
    mapfile -t suspects < <(blamed_hosts | sort -u | grep -xF -f <(printf '%s\n' "${living[@]}"))
    if [[ ${#suspects[@]} -eq 0 ]]; then
        case $status in
            "$kOk" | "$kWrongData" | "$kTooSlow" | "$kNotJudged") return 0 ;;
            "$kUsage" | "$kMissing") die "$status" "$(complaint)" ;;
            "$kTimeout") if grep -q '{"kind":"end"' "$work/out"; then return 0; fi ;; # single pairs timed out
        esac
        warn "the job ended with status $status: $(complaint); a program is started on each host to find those that do not answer"
        mapfile -t suspects < <(probe_hosts "${living[@]}")
    fi
    if [[ ${#suspects[@]} -eq 0 ]]; then
        unexplained=$((unexplained + 1))
        ((unexplained < kUnexplained)) || die "$kFailed" "the job ended $unexplained times, and every host answers: $(complaint)"
        return 1
    fi
    warn "no answer from ${suspects[*]}"
    drop_suspects "${suspects[@]}"
    return 1
}

# Adds the readings of the last job to the records, and prints silent hosts.
keep_readings() {
    printf '%s\n' "${living[@]}" >"$work/living"
    "$scripts/sweep_record.py" part "$records" --hosts "$work/living" --from "$work/out" --rail "$rail"
}

sweep_rail() {
    local living unexplained=0 status
    local -A strikes=()
    mapfile -t living <"$work/hosts"
    while ((${#living[@]} >= 2)); do
        "$scripts/sweep_record.py" of_rail "$records" "$rail" >"$work/of_rail"
        ask_plan_after "$work/of_rail" --list-readings >"$work/measured" # readings that pairwise_bw skips
        warn "${rail:+$rail: }one job over ${#living[@]} hosts"
        run_resident "${living[@]}"
        keep_readings >"$work/silent"
        if judge_end; then return; fi
    done
    warn "fewer than two hosts are left"
}

print_resident() {
    local program living command=() pair_s=$(((limit_s + 3) / 4))
    program=$(find_program pairwise_bw)
    mapfile -t living <"$work/hosts"
    for rail in "${rails[@]}"; do
        resident_command "${living[@]}"
        quoted "${command[@]}"
    done
}

sweep_resident() {
    local program
    program=$(find_program pairwise_bw)
    for rail in "${rails[@]}"; do
        sweep_rail
    done
}
