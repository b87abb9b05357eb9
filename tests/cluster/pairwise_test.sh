#!/usr/bin/env bash
# usage: pairwise_test.sh PROGRAMS CASE
#
# Runs pairwise_bw, which lies in the directory PROGRAMS, on hosts made of network namespaces. CASE is one of the
# functions below whose name begins with test_, without that. Exit status: 0 passed, 1 failed, 77 skipped with a reason.
# One case runs a job without one of its hosts, in a subshell, which says nothing of the others.
# shellcheck disable=SC2030,SC2031
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

program=$1/pairwise_bw
options=()

# So much slower is a slow link here that a busy machine neither hides one nor makes one up. Messages are as large as
# Open MPI asks before it sends: what it sends without asking is soon in the sockets' buffers.
readonly kRate=40mbit kSlow=5mbit

# make_equal_hosts N: each receives $kRate at most.
make_equal_hosts() {
    local host
    make_hosts "$1"
    for host in "${hosts[@]}"; do
        shape_host "$host" "$kRate"
    done
    options=(-b 64K --window 4 --time-budget 0.2 --seed 3 --json "$directory/run.json")
}

# judge_slow HOSTS SLOW: of all directions between HOSTS hosts, exactly those that SLOW is true of, a Python expression on
# the numbers `sender` and `receiver`, are slow, and no other is half as slow.
judge_slow() {
    judge "not those that should be are slow" "$directory/run.json" "$1" "$2" <<'EOT'
import json, sys
readings = [line for line in map(json.loads, open(sys.argv[1])) if line["kind"] == "reading"]
hosts = int(sys.argv[2])
assert len({(r["from"], r["to"]) for r in readings}) == len(readings) == hosts * (hosts - 1), len(readings)
slow, fast = [], []
for r in readings:
    sender, receiver = (int(r[end].rpartition("-h")[2]) for end in ("from_host", "to_host"))
    assert r["status"] == "ok" and r["wrong_elements"] == 0, r
    mbit = r["bandwidth_gb_per_s"] * 8000
    (slow if eval(sys.argv[3]) else fast).append(mbit)
    print(f"{sender} to {receiver}: {mbit:.1f} Mbit/s")
# Nothing gets through a link faster than it is.
assert max(slow) < 1.5 * 5 and max(fast) < 1.5 * 40, (max(slow), max(fast))
if min(fast) < 2 * max(slow): print(min(fast), max(slow)); sys.exit(AGAIN)
EOT
}

# expect_slowest ENDPOINT
expect_slowest() {
    expect_line "$out" '^# Slowest endpoint +: '
    grep -Eq "^# Slowest endpoint +: $1" "$out" || try_again "not '$1' is slowest: $(grep '^# Slowest endpoint' "$out")"
}

# What one of eight hosts receives is slow, and nothing else.
test_slow_link() {
    make_equal_hosts 8
    shape_host "${hosts[5]}" "$kSlow"
    run 1 "${options[@]}"
    judge_slow 8 'receiver == 6'
    expect_line "$out" '^# Sweep: 8 hosts'
    expect_slowest "${hosts[5]} receives"
}

# What a link lets through at once, 64 KiB here, makes the first small messages look as if they took no time at all. A
# reading still takes about its time: at 20 Mbit/s, 0.1 s carry 0.25 MB.
test_small_messages() {
    make_hosts 2
    shape_host "${hosts[0]}" 20mbit
    shape_host "${hosts[1]}" 20mbit
    run 1 -b 4K --window 64 --time-budget 0.1 --seed 3 --json "$directory/run.json"
    judge "a reading is longer than its time budget" "$directory/run.json" <<'EOT'
import json, sys
readings = [line for line in map(json.loads, open(sys.argv[1])) if line["kind"] == "reading"]
assert len(readings) == 2
for r in readings:
    print(r["windows"], "windows of", r["messages_per_window"], "messages:", r["bandwidth_gb_per_s"] * 8000, "Mbit/s")
    assert 3 <= r["windows"] and r["windows"] * r["messages_per_window"] * 4096 < 4 * 0.25e6, r
    assert r["bandwidth_gb_per_s"] < 0.004, r
    if r["bandwidth_gb_per_s"] < 0.001: sys.exit(AGAIN)
EOT
}

# Four ranks on two hosts: one of each is taken, and the way to the second is slow.
test_one_rank_of_each_host() {
    make_equal_hosts 2
    shape_host "${hosts[1]}" "$kSlow"
    run 2 "${options[@]}"
    judge_slow 2 'receiver == 2'
    expect_line "$out" '^# Of 4 ranks, the first of each host is measured'
}

# As mpiGraph does it, every host sends to one and receives from another. What waits for the slow one is as slow, so that
# any host may be the slowest endpoint; test_slow_link says who is blamed where pairs are apart.
test_shift() {
    make_equal_hosts 5
    shape_host "${hosts[2]}" "$kSlow"
    run 1 "${options[@]}" --schedule shift
    judge "what the third host receives is not slow" "$directory/run.json" <<'EOT'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
readings = [line for line in lines if line["kind"] == "reading"]
assert len({(r["from"], r["to"]) for r in readings}) == 20
slow = [r["bandwidth_gb_per_s"] * 8000 for r in readings if r["to_host"].endswith("-h3")]
print(slow)
assert len(slow) == 4 and max(slow) < 1.5 * 5
EOT
    expect_line "$out" '^# Slowest endpoint +: '
}

# Two hosts that cannot reach each other cost their own readings, and no others.
test_lost_pair() {
    make_equal_hosts 4
    separate_hosts 2 3
    start 1 "${options[@]}" --pair-timeout 4 --time-budget 0.1
    wait_for_job
    [[ $job_status -eq 4 ]] || fail "exit status $job_status and not 4"
    judge "not just the two that cannot reach each other failed" "$directory/run.json" <<'EOT'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
readings = [line for line in lines if line["kind"] == "reading"]
assert len(readings) == 12 and lines[-1]["kind"] == "end" and lines[-1]["exit_status"] == 4
failed = [r for r in readings if r["status"] != "ok"]
for r in failed: print(r["from_host"], r["to_host"], r["status"], r["reason"])
apart = [r for r in failed if {r["from_host"][-1], r["to_host"][-1]} == {"2", "3"}]
assert len(apart) == 2, apart
if len(failed) > 2: sys.exit(AGAIN)  # 4 s can be short on a busy machine
EOT
    expect_line "$err" '^pairwise_bw: 2 of 12 readings could not be taken'
}

# 0, 6 and 7 are verdicts; everything else is none.
is_verdict() { [[ $1 -eq 0 || $1 -eq 6 || $1 -eq 7 ]]; }

# find_slow STATUS: the sweep plans its rounds itself, and ends like that.
find_slow() {
    start 1 "${options[@]}" --find --time-budget 0.1 --tolerance 50%
    wait_for_job
    is_verdict "$job_status" || fail "exit status $job_status is no verdict"
    [[ $job_status -eq $1 ]] || try_again "exit status $job_status and not $1"
}

# verdict EXPRESSION: of the verdict that JSON has, a Python expression on `judged`, on `findings`, which are (blame,
# direction, hosts by their numbers), and on `rounds`.
verdict() {
    judge "the verdict is not that $1" "$directory/run.json" "$1" <<'EOT'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
(said,) = [line for line in lines if line["kind"] == "verdict"]
rounds = [line for line in lines if line["kind"] == "plan"]
readings = [line for line in lines if line["kind"] == "reading"]
judged = said["judged"]
findings = [(each["blame"], each["direction"], [int(name.rpartition("-h")[2]) for name in each["endpoints"]])
            for each in said["findings"]]
print(judged, findings, said["why_over"])
for plan in rounds:
    pairs = {frozenset((r["from"], r["to"])) for r in readings if r["round"] == plan["round"]}
    print(plan["round"], plan["pairs"], plan["why"])
    assert len(pairs) == plan["pairs"], pairs
assert [plan["round"] for plan in rounds] == list(range(len(rounds)))
if not eval(sys.argv[2]): sys.exit(AGAIN)
EOT
}

# Of eight hosts, the one that receives less is named; rounds for all hosts are few.
test_find_slow() {
    make_equal_hosts 8
    shape_host "${hosts[5]}" "$kSlow"
    find_slow 6
    verdict 'judged == "slow" and findings == [("host", "receives", [6])]'
    expect_line "$out" '^# Find: round 0: round 1 of 7 for all pairs'
    expect_line "$out" "^# Found +: .*${hosts[5]}"
    expect_line "$err" "^pairwise_bw: .*${hosts[5]}"
}

test_find_clean() {
    make_equal_hosts 8
    find_slow 0
    verdict 'judged == "clean" and not findings'
    expect_line "$out" '^# Find: over: .*nothing is slow'
}

# A job that has lost a host after its first readings goes on without it, and measures nothing again.
test_go_on_without() {
    local plan_sweep=${program%/*}/plan_sweep
    start_and_interrupt signal_rank STOP 4
    expect_line "$directory/run.json" '"kind":"silent".*"hosts":\["'"${hosts[4]}"'"\]'
    mv "$directory/run.json" "$directory/first.json"
    "$plan_sweep" --records "$directory/first.json" --list-readings >"$directory/measured" || fail "plan_sweep failed"
    expect_line "$directory/measured" "^host.${hosts[4]}\$"
    end_processes_of "${hosts[4]}"
    ( # what is removed in the end is all of them
        hosts=("${hosts[@]:0:4}" "${hosts[@]:5}")
        run 1 "${options[@]}" --measured "$directory/measured"
    ) || exit 1
    python3 - "$directory" <<'EOT' || fail "not every pair of those that are left was measured once"
import json, sys
readings = {name: [(r["from_host"][-1], r["to_host"][-1]) for r in map(json.loads, open(f"{sys.argv[1]}/{name}.json"))
                   if r["kind"] == "reading" and r["status"] == "ok"] for name in ("first", "run")}
left = "1234678"
pairs = {(a, b) for a in left for b in left if a != b}
assert set(readings["first"] + readings["run"]) >= pairs, pairs - set(readings["first"] + readings["run"])
again = set(readings["first"]) & set(readings["run"])
print(len(readings["first"]), len(readings["run"]), "again:", sorted(again))
# Only the one direction of a pair that the first job had not finished.
assert all((b, a) not in readings["first"] for a, b in again)
EOT
    expect_note "$out" '[0-9]* readings of .* were taken over'
}

# finished_pairs: readings in the file.
finished_pairs() {
    if [[ -e $directory/run.json ]]; then
        grep -c '"kind":"reading"' "$directory/run.json" || true
    else
        echo 0
    fi
}

have_readings() { (($(finished_pairs) >= $1)); }

# start_and_interrupt COMMAND...: runs it as soon as eight readings are in the file, and waits for the job's end. None of the
# readings may be lost.
start_and_interrupt() {
    local before
    make_equal_hosts 8
    start 1 "${options[@]}" --pair-timeout 6 --time-budget 0.5
    wait_while_job_runs have_readings 8
    before=$(finished_pairs)
    "$@"
    wait_for_job
    python3 - "$directory/run.json" "$before" <<'EOT' || fail "the file has lost readings"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
done = [line for line in lines if line["kind"] == "reading" and line["status"] == "ok"]
print(len(done), "readings, of which", sys.argv[2], "before")
assert len(done) >= int(sys.argv[2]) >= 8
EOT
}

unplug() {
    ip -n "${hosts[$1]}" link set e0 down
}

# A host that is out of reach from one moment to the next. mpirun itself would wait minutes for its part on that host,
# unless it is told to look often whether that is still there.
test_dead_host() {
    mpi_options=(--mca oob_tcp_keepalive_time 2 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 2)
    start_and_interrupt unplug 4
    [[ $job_status -ne 0 ]] || fail "the job ended well without a host"
    expect_line "$err" "${hosts[4]}"
}

# A rank that does not answer is named, with whom it was to meet.
test_hung_rank() {
    start_and_interrupt signal_rank STOP 4
    [[ $job_status -eq 4 ]] || fail "exit status $job_status and not 4"
    expect_line "$err" "no report of round .* from rank 4 on ${hosts[4]} \(to meet rank"
}

make_directory
run_case "$2"
