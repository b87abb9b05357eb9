#!/usr/bin/env bash
# usage: pairs_test.sh PROGRAMS CASE
#
# Runs programs that send messages between two ranks, which lie in the directory PROGRAMS, on hosts made of network
# namespaces. CASE is one of the functions below whose name begins with test_, without that. Exit status: 0 passed,
# 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$1

# rate_mbit_per_s SIZE [PAIR]: of the table, where a pair's number is the second column of several.
rate_mbit_per_s() {
    awk -v size="$1" -v pair="${2:-}" \
        '/^ *[0-9]/ && $1 == size && (pair == "" || $2 == pair) { printf "%d\n", $(pair == "" ? 7 : 8) * 1000 }' "$out"
}

# expect_rate SIZE LEAST MOST [PAIR]: in Mbit/s. More than the links let through is an error, less may be the machine's load.
expect_rate() {
    local rate
    rate=$(rate_mbit_per_s "$1" "${4:-}")
    [[ -n $rate && $rate -le $3 ]] || fail "'$rate' Mbit/s, and not between $2 and $3"
    [[ $rate -ge $2 ]] || try_again "$rate Mbit/s, and not between $2 and $3"
    echo "$rate Mbit/s"
}

# expect_passed BYTES HOST: that host received so much at least since it was last asked.
passed_before=0
expect_passed() {
    local passed
    passed=$(sent_bytes "$hosts_switch" "$(device_at_switch "$2")")
    ((passed - passed_before >= $1)) || fail "$((passed - passed_before)) bytes went to $2, and not $1"
    passed_before=$passed
}

# One rank on each of two hosts, though four ranks were started.
test_one_rank_of_each_host() {
    make_hosts 2
    program=$programs/send_recv_lat
    run 2 -b 8 -e 64 -f 8 -n 20
    expect_line "$out" '^# Pairs: .*ranks 0 and 2'
    expect_line "$out" '^# Ranks: 2, hosts: 2;'
    expect_line "$out" '^# Out of bounds values : 0 OK'
}

test_shaped_link() {
    local bytes=$((6 * 8 * 64 * 1024)) # 6 windows of 8 messages
    make_hosts 2
    shape_host "${hosts[1]}" 10mbit
    program=$programs/send_recv_bw
    run 1 -b 64K -e 64K -n 5 -w 1 --window 8
    expect_passed "$bytes" "${hosts[1]}"
    expect_rate 65536 4 11
    program=$programs/tcp_bw
    run 1 -b 64K -e 64K -n 5 -w 1 --window 8
    expect_passed "$bytes" "${hosts[1]}"
    expect_rate 65536 4 11
    run 1 -b 64K -e 64K -n 5 -w 1 --window 8 --streams 4 --interface e0
    expect_passed "$bytes" "${hosts[1]}"
    expect_rate 65536 4 11
    expect_line "$out" 'TCP, 4 streams, by e0,'
}

# expect_directions TIMES PROGRAM OPTION...: 5 Mbit/s there, and more than so many times as much back.
expect_directions() {
    program=$programs/$2
    run 1 -n 9 -w 1 "${@:3}" --json "$directory/run.json" --force
    judge "the directions are not those of the links" "$directory/run.json" "$1" <<'EOT'
import json, sys
row = [line for line in map(json.loads, open(sys.argv[1])) if line["kind"] == "row"][0]
there, back = row["out_of_place"]["directions_gb_per_s"]
print(f"{there * 8000:.1f} Mbit/s there, {back * 8000:.1f} back")
assert 0 < there * 8000 < 6.5
if back < float(sys.argv[2]) * there: sys.exit(AGAIN)
EOT
}

# What only one direction suffers from shows in that direction: with messages that MPI sends without asking first, though
# its answers go the slow way too, and over TCP.
test_directions() {
    make_hosts 2
    shape_host "${hosts[0]}" 80mbit
    shape_host "${hosts[1]}" 5mbit
    expect_directions 2 send_recv_bibw -b 16K -e 16K --window 8
    expect_directions 2 tcp_bibw -b 64K -e 64K --window 2
}

# What finds no room in the switch's short queue to one host is sent again by the other, and nothing on the way back, but
# for what a busy machine answers too late.
test_retransmitted() {
    local port dropped
    make_hosts 2
    port=$(device_at_switch "${hosts[1]}")
    tc -n "$hosts_switch" qdisc replace dev "$port" root tbf rate 200mbit burst 16k limit 32k ||
        skip "links cannot be shaped here"
    program=$programs/tcp_bw
    run 1 -b 64K -e 64K -n 8 -w 1 --json "$directory/run.json"
    dropped=$(dropped_packets "$hosts_switch" "$port")
    ((dropped > 10)) || fail "the queue dropped $dropped packets only"
    judge "what was sent again is not what was lost" "$directory/run.json" "$dropped" <<'EOT'
import json, sys
row = [line for line in map(json.loads, open(sys.argv[1])) if line["kind"] == "row"][0]
there, back = row["out_of_place"]["retransmitted_segments"]
print(f"{there} segments sent again there, {back} back; the queue dropped {sys.argv[2]}")
assert there > 10, there
if back >= there / 10: sys.exit(AGAIN)
EOT
    expect_note "$out" 'Rank 0 of host .* retransmitted [0-9]+ TCP segments'
}

# Of the pairs of eight hosts, only that with the slow link is slow, and it is named.
test_slow_pair() {
    local number
    make_hosts 8
    for ((number = 0; number < 8; ++number)); do
        shape_host "${hosts[number]}" 20mbit
    done
    shape_host "${hosts[5]}" 2500kbit
    program=$programs/multi_pair_bw
    run 1 -b 64K -e 64K -n 2 -w 1 --window 8
    expect_rate 65536 1 4 2
    for number in 0 1 3; do
        expect_rate 65536 5 25 "$number"
    done
    expect_line "$out" "^# Slowest pair +: 2, "
}

# Several hosts send to one at once, and share what gets to it.
test_many_to_one() {
    local number
    make_hosts 4
    shape_host "${hosts[0]}" 20mbit
    program=$programs/multi_pair_bw
    run 3 -b 64K -e 64K -n 5 -w 1 --window 8 --pairs many-to-one
    expect_passed $((3 * 6 * 8 * 64 * 1024)) "${hosts[0]}"
    expect_line "$out" "^# Pair  0: rank 3 of host ${hosts[1]} -> rank 0 of host ${hosts[0]}\$"
    expect_line "$out" "^# Pair  2: rank 9 of host ${hosts[3]} -> rank 2 of host ${hosts[0]}\$"
    # The pairs' medians are of different moments: together they may seem to have more than the link's 0.0025 GB/s, and
    # each for itself not.
    for number in 0 1 2; do
        expect_rate 65536 1 25 "$number"
    done
    expect_line "$out" '^# Summary: 3 pairs; .*; together: 0\.00[0-9]+ GB/s'
    expect_line "$out" '^# ranks 4, 5, 7, 8, 10 and 11 are left out'
}

# The same with too few ranks on the one says how to start it.
test_many_to_one_refused() {
    make_hosts 3
    program=$programs/send_recv_bw
    start 1 --pairs one-to-many
    wait_for_job
    [[ $job_status -eq 2 ]] || fail "exit status $job_status"
    expect_line "$err" "needs a rank for each of the 2 other hosts; start 2 there, such as with mpirun -H ${hosts[0]}:2,"
}

# Every two ranks in rounds, over the wires of three hosts, which are counted over all rounds.
test_rounds() {
    make_hosts 3
    program=$programs/send_recv_bw
    run 1 -b 64K -e 64K -n 5 -w 1 --pairs all --concurrent 1 --json "$directory/run.json"
    python3 - "$directory/run.json" <<'EOT' || fail "the rounds are not those of three hosts"
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [group["ranks"] for group in lines[0]["groups"]] == ["0, 1", "0, 2", "1, 2"], lines[0]["groups"]
assert sorted(group["round"] for group in lines[0]["groups"]) == [0, 1, 2], lines[0]["groups"]
assert sorted(line["group"] for line in lines if line["kind"] == "row") == [0, 1, 2]
assert len({rank["host"] for rank in lines[0]["rank_map"]}) == 3
assert len(lines[-1]["wires"]) >= 1, lines[-1]
EOT
}

# A rank that dies ends the job, and is named.
test_dead_rank() {
    make_hosts 2
    program=$programs/send_recv_bw
    start 1 -b 64K -e 64K -N 0 --time-budget 0.05
    wait_while_job_runs grep -Eq '^ +65536' "$out"
    signal_rank KILL 1
    wait_for_job
    [[ $job_status -ne 0 ]] || fail "the job ended well without rank 1"
    expect_line "$err" "${hosts[1]}"
}

make_directory
run_case "$2"
