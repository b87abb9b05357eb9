#!/usr/bin/env bash
# usage: slurm_test.sh PROGRAMS CASE
#
# The programs, scripts and examples in a real Slurm, whose four nodes are made of network namespaces (lab.sh). The programs
# lie in the directory PROGRAMS. CASE is one of the functions below whose name begins with test_, without that. Exit status:
# 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
# shellcheck source=tests/cluster/sweeps.sh
source "$(dirname "${BASH_SOURCE[0]}")/sweeps.sh"
# shellcheck source=tests/cluster/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lab.sh"

readonly kLimit_s=400
readonly kSrun=(--mpi=pmix --nodes=4 --ntasks-per-node=1 --kill-on-bad-exit=1)
readonly kEndless=(-b 64K -e 64K -n 20 -N 0 --json endless.jsonl --force)

job_id=
job_state=  # such as COMPLETED, TIMEOUT
job_ended=  # exit status:signal

make_slurm_nodes() {
    make_nodes 4
    start_slurm
}

# submit WORD...: of sbatch. Sets job_id.
submit() {
    job_id=$(on_ctl timeout "$kStart_s" sbatch --parsable "$@" 2>"$err" </dev/null) || fail "sbatch $*: $(<"$err")"
    echo "job $job_id: sbatch $*"
}

# about_job FIELD: prints what Slurm says of it, such as JobState.
about_job() { (on_ctl scontrol --oneliner show job "$job_id") | tr ' ' '\n' | sed -n "s/^$1=//p"; }

is_job_in_state() {
    job_state=$(about_job JobState)
    [[ $job_state =~ ^($1)$ ]]
}

# wait_for_end FILE: FILE is the output of the job, as its example names it.
wait_for_end() {
    wait_until "$kLimit_s" "the end of job $job_id" is_job_in_state \
        'COMPLETED|FAILED|TIMEOUT|CANCELLED|NODE_FAIL|OUT_OF_MEMORY|DEADLINE|PREEMPTED|BOOT_FAIL'
    job_ended=$(about_job ExitCode)
    cp "$1" "$out"
    echo "job $job_id: $job_state $job_ended"
    cat "$out"
}

# run_batch FILE WORD...
run_batch() {
    submit "${@:2}"
    wait_for_end "${1/\%j/$job_id}"
}

# expect_end STATE EXIT_STATUS:SIGNAL
expect_end() {
    [[ $job_state == "$1" && $job_ended == "$2" ]] || no_crash_of_open_mpi
    [[ $job_state == "$1" && $job_ended == "$2" ]] || fail "job $job_id ended as $job_state $job_ended, not as $1 $2"
}

expect_ranks() {
    local rank node
    for ((rank = 0; rank < ${#nodes[@]}; ++rank)); do
        expect_line "$out" "^# *Rank *$rank .* on +${nodes[rank]} "
    done
}

test_srun() {
    make_slurm_nodes
    run_on_ctl "$kLimit_s" srun "${kSrun[@]}" build/all_reduce_perf -b 8 -e 64K -f 16 -n 5 --json run.jsonl
    expect_status 0
    expect_line "$out" '^# Ranks: 4, hosts: 4;'
    expect_ranks
    expect_line "$out" '^# Out of bounds values : 0 OK'
    expect_valid run.jsonl
    run_on_ctl "$kLimit_s" srun "${kSrun[@]}" build/all_reduce_perf -b 8x
    expect_status 2
    expect_line "$err" "'8x' is not a size"
}

# In an allocation without srun's words for MPI, ranks and nodes.
test_front() {
    local chosen
    make_slurm_nodes
    run_on_ctl "$kLimit_s" salloc --nodes=4 --ntasks-per-node=1 build/fabricbench all_reduce -b 8 -e 64K -f 16 -n 5 \
        --json run.jsonl
    expect_status 0
    expect_line "$err" '^fabricbench: as many ranks as this allocation of Slurm has tasks, 4; -np changes that$'
    expect_line "$out" '^# Ranks: 4, hosts: 4;'
    expect_valid run.jsonl
    run_on_ctl "$kLimit_s" salloc --nodes=4 --ntasks-per-node=1 build/fabricbench send-recv-lat -b 8 -e 8 -n 5
    expect_status 0
    expect_line "$out" '^# Ranks: 2, hosts: 2;'
    run_on_ctl "$kLimit_s" salloc --nodes=4 --ntasks-per-node=1 build/fabricbench run --hosts node02,node07 -np 2 \
        all_reduce -b 8 -e 8 -n 5
    expect_status 0
    expect_line "$out" '^# Ranks: 2, hosts: 2;'
    expect_line "$out" '^# *Rank *0 .* on +node02 '
    for chosen in '' '--hosts node02,node07'; do
        # shellcheck disable=SC2086  # words
        run_on_ctl "$kLimit_s" salloc --nodelist=node02,node07 --ntasks-per-node=2 build/fabricbench all_reduce $chosen \
            -np 3 -b 8 -e 8 -n 5
        expect_status 0
        expect_line "$out" '^# Ranks: 3, hosts: 2;'
        expect_line "$out" '^# *Rank *1 .* on +node02 '
        expect_line "$out" '^# *Rank *2 .* on +node07 '
    done
    run_on_ctl "$kLimit_s" salloc --nodes=4 --ntasks-per-node=1 build/fabricbench all_reduce -b 8x
    expect_status 2
    run_on_ctl "$kLimit_s" salloc --nodes=2 build/fabricbench doctor
    expect_status 0
    expect_line "$out" '^ok +two ranks +all_reduce_perf works'
    expect_line "$out" '^ok +other hosts +by srun, in this allocation of Slurm$'
}

# sweep_in_batch OPTION...
sweep_in_batch() {
    make_slurm_nodes
    make_slow node03
    run_batch slow_links-%j.out --nodes=4 examples/slow_links.sbatch "${kSweep[@]}" --rounds 5 "$@" -- "${kPairOptions[@]}"
    expect_valid "slow_links-$job_id.jsonl"
    expect_blamed "slow_links-$job_id.jsonl" host:both:node03
    expect_end FAILED 6:0
    expect_line "$out" '^list_hosts: hosts of .SLURM_JOB_NODELIST$'
    expect_line "$out" '^Slow: node03$'
    expect_line "$out" '^Fine: node\[01-02,07\]$'
}

test_slow_links_resident() { sweep_in_batch --resident; }
test_slow_links_by_pairs() { sweep_in_batch; }
test_slow_links_resident_srun() { LAUNCHER=srun sweep_in_batch --resident; }
test_slow_links_by_pairs_srun() { LAUNCHER=srun sweep_in_batch; }

# A node that dies during an acceptance run, before anything else can be said about it.
test_accept_dead_node() {
    local folder
    make_slurm_nodes
    submit --nodes=4 examples/accept.sbatch "${kAcceptance[@]}"
    wait_until "$kStart_s" "a job on all nodes" are_nodes_in_state allocated
    unplug 3
    wait_for_end "accept-$job_id.out"
    folder=results/accept-$job_id
    expect_valid "$folder/acceptance.jsonl"
    expect_drained "$folder" node03
    expect_end FAILED 6:0
}

# accept_in_batch: the node is drained as the output says, and Slurm gives it to nobody then.
accept_in_batch() {
    local folder
    make_slurm_nodes
    make_slow node03
    run_batch accept-%j.out --nodes=4 examples/accept.sbatch "${kAcceptance[@]}"
    folder=results/accept-$job_id
    expect_valid "$folder/acceptance.jsonl"
    expect_drained "$folder" node03
    expect_end FAILED 6:0
    expect_line "$out" '^3 of 4 hosts accepted; node03 slow'
    [[ -s $folder/report.html ]] || expect_line "$out" 'report.html could not be drawn'
    run_on_ctl "$kStart_s" bash -c "$(sed -n '/^scontrol update /p' "$out")"
    expect_status 0
    are_nodes_in_state drained node03 || fail "node03 is $(state_of node03)"
}

# A benchmark that Slurm's time limit ends, which is a minute at least. Its output and its record say what ended it.
expect_cut_off() {
    no_crash_of_open_mpi
    tail -n 1 endless.jsonl | cut -c 1-80
    expect_valid endless.jsonl
    grep -q '"kind":"row"' endless.jsonl || fail "there is no row in the record"
    tail -n 1 endless.jsonl | grep -q '"kind":"end","exit_status":143,"reason":"rank 0 on node01 was ended by SIGTERM"' ||
        fail "the record does not end with the signal"
    expect_line "$out" '^# Ended early: rank 0 on node01 was ended by SIGTERM$'
}

# endless_job OPTION... COMMAND: of sbatch.
endless_job() {
    make_slurm_nodes
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    run_batch endless.out --nodes=4 --ntasks-per-node=1 --output=endless.out "${@:1:$#-1}" --wrap "${!#}"
    expect_cut_off
}

# Without a signal before the end, the ranks and the batch script get SIGTERM, and SIGKILL after KillWait.
test_time_limit() {
    endless_job --time=1 "srun ${kSrun[*]} build/all_reduce_perf ${kEndless[*]}; echo \"status \$?\""
    expect_end TIMEOUT 0:15
    expect_line "$out" 'DUE TO TIME LIMIT'
}

# The ranks get SIGTERM before the end, and the batch script goes on.
test_time_limit_signal() {
    endless_job --time=2 --signal=TERM@60 \
        "srun ${kSrun[*]} build/all_reduce_perf ${kEndless[*]}; echo \"status \$?\"; exit 9"
    expect_line "$out" '^status 143$'
    expect_end FAILED 9:0
}

# mpirun gets it, ends the ranks and says so by its status.
test_time_limit_mpirun() {
    endless_job --time=2 --signal=B:TERM@60 "exec mpirun build/all_reduce_perf ${kEndless[*]}"
    [[ $job_state == FAILED && $job_ended != 0:0 ]] || fail "job $job_id ended as $job_state $job_ended"
}

# The examples take the signal before the end, end what they measure, and say how to go on. Messages are large enough to
# take longer than the time limit.
test_time_limit_slow_links() {
    local records command
    make_slurm_nodes
    run_batch slow_links-%j.out --nodes=4 --time=2 examples/slow_links.sbatch "${kSweep[@]}" --size 512K --rounds 200 \
        --resident -- "${kPairOptions[@]}"
    records=slow_links-$job_id.jsonl
    expect_end FAILED 130:0
    expect_line "$out" "^sweep_pairs.sh: interrupted; all readings are in $records\\. "
    expect_line "$out" '^sweep_pairs.sh: continue with: '
    expect_valid "$records"
    grep -q '"kind":"reading"' "$records" || fail "there is no reading in the record"
    # As a user goes on: with the command, in a new allocation; here with fewer rounds.
    command=$(sed -n 's/^sweep_pairs.sh: continue with: //p' "$out")
    run_on_ctl "$kLimit_s" salloc --nodes=4 bash -c "${command/--rounds 200/--rounds 5}"
    is_verdict "$run_status" || fail "exit status $run_status of the sweep that was continued"
    expect_valid "$records"
    expect_blamed "$records"
}

test_time_limit_accept() {
    local folder
    make_slurm_nodes
    run_batch accept-%j.out --nodes=4 --time=3 examples/accept.sbatch "${kAcceptance[@]}" --size 2M
    folder=results/accept-$job_id
    expect_end FAILED 130:0
    expect_line "$out" '^accept.sh: interrupted; continue with: '
    expect_valid "$folder/acceptance.jsonl"
    expect_line "$folder/acceptance.jsonl" '"kind":"acceptance_verdict".*"exit_status":130'
}

# A job of all nodes waits for a drained one, and one of the others runs without it.
test_drained_node() {
    make_slurm_nodes
    run_on_ctl "$kStart_s" scontrol update nodename=node03 state=drain reason=test
    expect_status 0
    submit --nodes=4 --output=all.out --wrap "srun ${kSrun[*]} build/all_reduce_perf -b 8 -e 8 -n 2"
    wait_until "$kStart_s" "a reason why job $job_id waits" is_waiting_for_a_node
    run_batch slow_links-%j.out --nodes=3 examples/slow_links.sbatch "${kSweep[@]}" --rounds 5 --resident -- \
        "${kPairOptions[@]}"
    expect_valid "slow_links-$job_id.jsonl"
    expect_blamed "slow_links-$job_id.jsonl"
    expect_line "$out" '^Fine: node\[01-02,07\]$'
    run_on_ctl "$kStart_s" scontrol update nodename=node03 state=resume
    job_id=1
    wait_for_end all.out
    expect_end COMPLETED 0:0
    expect_ranks
}

is_waiting_for_a_node() { is_job_in_state PENDING && [[ $(about_job Reason) =~ DRAIN|ReqNodeNotAvail|Resources ]]; }

# A node that gets drained while a job measures it is measured to the end.
test_draining_node() {
    make_slurm_nodes
    submit --nodes=4 examples/slow_links.sbatch "${kSweep[@]}" --rounds 5 --resident -- "${kPairOptions[@]}"
    wait_until "$kStart_s" "a job on all nodes" are_nodes_in_state allocated
    run_on_ctl "$kStart_s" scontrol update nodename=node03 state=drain reason=test
    wait_for_end "slow_links-$job_id.out"
    expect_blamed "slow_links-$job_id.jsonl"
    expect_line "$out" '^Fine: node\[01-03,07\]$'
    wait_until "$kStart_s" "node03 drained" are_nodes_in_state drained node03
}

# A node dies: Slurm takes it out of service while the job, which has to blame it, goes on.
test_dead_node() {
    make_slurm_nodes
    submit --nodes=4 examples/slow_links.sbatch "${kSweep[@]}" --rounds 15 --resident -- "${kPairOptions[@]}"
    wait_until "$kStart_s" "the first readings" has_job_measured
    unplug 3
    wait_for_end "slow_links-$job_id.out"
    expect_valid "slow_links-$job_id.jsonl"
    expect_blamed "slow_links-$job_id.jsonl" 'dead:*:node03'
    expect_end FAILED 6:0
    expect_line "$out" '^Dead: node03$'
    are_nodes_in_state 'down*' node03 || fail "node03 is $(state_of node03), and Slurm should have missed it by now"
}

has_job_measured() { grep -qs '"kind":"reading"' /tmp/fabricbench-sweep.*/out; }

test_accept() { accept_in_batch; }
test_accept_srun() { LAUNCHER=srun accept_in_batch; }

# The blocks of docs/recipes.md. An exit status that no recipe has fails the case.
test_recipe_benchmark() {
    make_slurm_nodes
    run_recipe benchmark
    expect_valid all_reduce-1.jsonl
    cp all_reduce-1.out "$out"
    expect_ranks
    expect_line "$out" '^status 0: every size was measured and every check passed$'
}

test_recipe_nightly_sweep() {
    make_slurm_nodes
    run_recipe nightly_sweep several_nights
    expect_valid slow_links-1.jsonl
    expect_line nightly_sweep-1.out '^(Fine|Slow|Suspect|Not judged|Unsteady): node'
    expect_line "$out" '^(Fine|Slow|Suspect|Not judged|Unsteady): node'
    job_id=2 # of the next night
    is_job_in_state PENDING || fail "the job of the next night is $job_state"
    [[ $(about_job StartTime) == *T03:00:00 ]] || fail "the job of the next night begins at $(about_job StartTime)"
}

test_recipe_acceptance_run() {
    make_slurm_nodes
    run_recipe acceptance_run
    expect_valid results/accept-1/acceptance.jsonl
    expect_line "$out" '^(Admit|Drain|Undecided): node'
}

enter_lab "$@"
make_directory
run_case "$2"
