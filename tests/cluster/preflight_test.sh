#!/usr/bin/env bash
# usage: preflight_test.sh PROGRAM CASE
#
# Runs preflight, which is PROGRAM, on hosts made of network namespaces with two networks: MPI uses the first one, and
# the fault is in the second one. CASE is one of the functions below whose name begins with test_, without that. Exit
# status: 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

readonly kFailures=6 # ExitStatus::kTooSlow
readonly kHosts=4

program=$1

# expect_finding HOST MEASURED: of that host at e1, and no other failure.
expect_finding() {
    start 1 --quiet --json "$directory/preflight.jsonl"
    wait_for_job
    [[ $job_status -eq $kFailures ]] || fail "exit status $job_status, not $kFailures"
    judge "that is not the finding" "$directory/preflight.jsonl" "$@" <<'EOT'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
failures = [line for line in lines if line["kind"] == "preflight_finding" and line["level"] == "fail"]
print(*failures, sep="\n")
assert [(each["hosts"], each["device"]) for each in failures] == [(sys.argv[2], "e1")], failures
assert sys.argv[3] in failures[0]["measured"], failures
assert lines[-1]["exit_status"] == 6, lines[-1]
EOT
}

# What is no finding may be a note: these hosts have no name service.
test_healthy() {
    make_hosts "$kHosts" 2
    start 1 --json "$directory/preflight.jsonl"
    wait_for_job
    expect_line "$out" "^# Hosts: $kHosts\$"
    expect_line "$directory/preflight.jsonl" '"check":"reachability","ok_hosts":4,'
}

test_no_answer() {
    local number
    make_hosts "$kHosts" 2
    # What it sends goes to an address of nobody.
    for number in 1 2 4; do
        ip -n "${hosts[2]}" neighbour replace "$kSubnet.1.$number" lladdr 02:00:00:00:00:ee dev e1 nud permanent
    done
    expect_finding "${hosts[2]}" 'cannot reach it: there is no answer from it'
}

test_small_mtu() {
    make_hosts "$kHosts" 2
    ip -n "$hosts_switch" link set p3-1 mtu 600
    expect_finding "${hosts[2]}" 'one byte comes through, and messages of 64 KiB do not'
}

test_interface_down() {
    make_hosts "$kHosts" 2
    ip -n "${hosts[2]}" link set e1 down
    expect_finding "${hosts[2]}" 'it is not up with an address'
}

test_duplicate_address() {
    make_hosts "$kHosts" 2
    ip -n "${hosts[2]}" address add "$kSubnet.1.2/24" dev e1
    start 1 --quiet
    wait_for_job
    [[ $job_status -eq $kFailures ]] || fail "exit status $job_status, not $kFailures"
    expect_line "$out" "2 hosts have the address $kSubnet.1.2"
}

make_directory
run_case "$2"
