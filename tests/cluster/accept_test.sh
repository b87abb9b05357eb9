#!/usr/bin/env bash
# usage: accept_test.sh PROGRAMS CASE [HOSTS]
#
# Acceptance runs (scripts/accept.sh) over hosts made of network namespaces with a fault that was put there: what was put
# there has to be drained, and nothing else. The programs lie in the directory PROGRAMS. CASE is one of the functions below
# whose name begins with test_, without that, or ends in a number of hosts, such as slow_nic_16. HOSTS is how many (8). Exit
# status: 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
# shellcheck source=tests/cluster/sweeps.sh
source "$(dirname "${BASH_SOURCE[0]}")/sweeps.sh"

programs=$1
case=$2
number=${3:-8}
if [[ $case =~ ^(.*)_([0-9]+)$ ]]; then
    case=${BASH_REMATCH[1]} number=${BASH_REMATCH[2]}
fi

# Where data may go; a case may give another network.
networks=$kSubnet.0.0/24
acceptance=
acting_options=() # which a folder cannot command
run_options=()

# Messages are small, so that the links are what takes the time. Hosts share the processors of this machine, so one after
# the other is measured alone.
start_acceptance() {
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_tcp_if_include=$networks OMPI_MCA_oob_tcp_if_include=$kSubnet.0.0/24 \
        OMPI_MCA_oob_tcp_keepalive_time=2 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2 \
        TMPDIR=$directory ip netns exec "$hosts_switch" "$scripts/accept.sh" "$@" >"$out" 2>"$err" </dev/null &
    job=$!
}

# accept_hosts OPTION...: a new run over all hosts.
accept_hosts() {
    start_acceptance "${run_options[@]}" -H "$(list_of_hosts)" --output "$acceptance" "$@"
    wait_for_acceptance
}

# accept_again OPTION...: --resume or --recheck.
accept_again() {
    start_acceptance "${acting_options[@]}" "$@"
    wait_for_acceptance
}

wait_for_acceptance() {
    wait_for_job
    cat "$err" "$out"
    is_verdict "$job_status" || fail "exit status $job_status of the run"
}

make_accepted_hosts() {
    make_equal_hosts "$@"
    acceptance=$directory/acceptance
    acting_options=(--programs "$programs" --agent "$hosts_directory/agent"
        --collective-options '-n 20 -w 1' --alone-options '-n 300 -w 1' --pair-options '--window 4 -n 7'
        --mpi-options '--oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader,tcp')
    run_options=("${acting_options[@]}" --at-once 2 --timeout 60 --tolerance "$kTolerance" -b 64K -e 64K
        --size 64K --rounds 5 --resident)
}

# expect_drained STATUS [NUMBER...]: these hosts are drained, and all others admitted.
expect_drained() {
    local status=$1
    shift
    [[ $job_status -eq $status ]] || try_again "exit status $job_status and not $status"
    judge "not what is drained: ${*:-nothing}" "$acceptance" "$status" "${#hosts[@]}" "$@" <<'EOT'
import json, sys, xml.etree.ElementTree
folder, status, hosts, *drained = sys.argv[1:]
lines = [json.loads(line) for line in open(f"{folder}/acceptance.jsonl")]
verdict = lines[-1]
assert verdict["kind"] == "acceptance_verdict", verdict
def numbers(names):
    return sorted(int(name.rpartition("-h")[2]) for name in names)
found = numbers(one["host"] for one in verdict["drain"])
print("drained:", found, "admitted:", numbers(verdict["admit"]), "status", verdict["exit_status"], verdict["headline"])
if found != sorted(map(int, drained)) or len(verdict["admit"]) != int(hosts) - len(drained):
    sys.exit(AGAIN)
assert verdict["exit_status"] == int(status), verdict
assert numbers(open(f"{folder}/drain.txt").read().split()) == found
assert len(open(f"{folder}/admit.txt").readlines()) == len(verdict["admit"])
cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(f"{folder}/junit.xml").iter("testcase")
         if case.get("classname") == "acceptance.verdict"}
assert sorted(numbers(name for name, case in cases.items() if case.find("failure") is not None)) == found
assert open(f"{folder}/summary.txt").readline() == verdict["headline"] + "\n"
EOT
}

test_healthy() {
    make_accepted_hosts "$number"
    accept_hosts
    expect_drained 0
    expect_line "$out" "^$number of $number hosts accepted"
    [[ $(grep -c '"stage":"collectives"' "$acceptance/acceptance.jsonl") -eq $((number == 16 ? 4 : 3)) ]] ||
        fail "not every collective was measured"
}

test_slow_nic() {
    make_accepted_hosts "$number"
    shape_host "${hosts[2]}" "$kSlow"
    accept_hosts
    expect_drained 6 3
    expect_line "$out" "^$((number - 1)) of $number hosts accepted; ${hosts[2]} slow to receive"
}

test_dead_host() {
    make_accepted_hosts "$number"
    unplug 4
    accept_hosts
    expect_drained 6 4
    expect_line "$out" "; ${hosts[3]} dead"
}

# The hosts behind the uplink are fine, so none is drained, and the run does not pass. Paths over the uplink have a fifth of
# the rate. What a busy machine holds up for once is faster than that; at 50 %, it would leave hosts undecided, since many
# slow pairs take all of the rounds for measuring again.
test_slow_uplink() {
    local each=$((number / 4)) place behind=()
    make_accepted_hosts "$number"
    for ((place = 0; place < number; ++place)); do
        echo "${hosts[place]} leaf$((place / each + 1))"
    done >"$directory/locality"
    mapfile -t behind < <(seq $((number - each + 1)) "$number")
    put_behind_uplink "$kSlow" "${behind[@]}"
    # Many pairs are slow, so each takes few windows.
    accept_hosts --locality "$directory/locality" --pair-options '--window 4 -n 5' --tolerance 70%
    expect_drained 6
    expect_line "$out" "leaf4"
    expect_line "$out" "^Not measured: collectives/all_reduce_perf-2"
}

test_changed_mtu() {
    make_accepted_hosts "$number"
    ip -n "${hosts[4]}" link set e0 mtu 1400
    accept_hosts
    expect_drained 6 5
    expect_line "$out" "${hosts[4]}: e0 has an MTU of 1400, $((number - 1)) others 1500"
}

# What one host sends goes out of its second interface.
test_fallback() {
    local other
    make_accepted_hosts "$number" 2
    for ((other = 1; other <= number; ++other)); do
        [[ $other -eq 6 ]] || ip -n "${hosts[5]}" route add "$kSubnet.0.$other/32" dev e1
    done
    # More than the 16 MiB from which on devices are compared, of every host.
    accept_hosts -b 1M -e 1M --collective-options '-n 12 -w 1'
    expect_drained 6 6
    expect_line "$out" "${hosts[5]}: its data went over e1, that of $((number - 1)) others over e0"
}

# A host is repaired, and only what can clear it is measured again.
test_recheck() {
    local before
    make_accepted_hosts "$number"
    shape_host "${hosts[2]}" "$kSlow"
    accept_hosts
    expect_drained 6 3
    before=$(wc -l <"$acceptance/acceptance.jsonl")
    shape_host "${hosts[2]}" "$kRate"
    accept_again --recheck "${hosts[2]}" "$acceptance"
    expect_drained 0
    judge "more was measured than clears the host" "$acceptance" "$before" "${hosts[2]}" "$number" <<'EOT'
import json, sys
folder, before, host, number = sys.argv[1:]
steps = [line["name"] for line in map(json.loads, open(f"{folder}/acceptance.jsonl").readlines()[int(before):])
         if line["kind"] == "acceptance_step"]
print("measured again:", steps)
assert set(steps) == {f"hosts/{host}", f"pairs/{host}", f"collectives/all_reduce_perf-{number}"}, steps
EOT
}

# A baseline, and then the same hosts over their other network: the figures are as good, and what carried them is not. One
# launch is enough to know that.
test_other_devices() {
    make_accepted_hosts "$number" 2
    accept_hosts -b 1M -e 1M --collective-options '-n 12 -w 1' --record "$directory/baseline.jsonl" --keep-going
    rm -rf "$acceptance"
    networks=$kSubnet.1.0/24
    accept_hosts -b 1M -e 1M --collective-options '-n 12 -w 1' --baseline "$directory/baseline.jsonl" \
        --allow 'variable OMPI_MCA_btl_tcp_if_include'
    [[ $job_status -eq 6 ]] || fail "exit status $job_status, though other devices carried the data"
    expect_line "$out" 'the data went another way than in the baseline: over e1 instead of e0'
}

test_broken_off() {
    make_accepted_hosts "$number"
    start_acceptance "${run_options[@]}" -H "$(list_of_hosts)" --output "$acceptance"
    wait_while_job_runs grep -q '"kind":"reading"' "$acceptance/pairs.jsonl"
    kill -TERM "$job" # as Ctrl-C, which what a script starts in the background never sees
    wait_for_job
    [[ $job_status -eq 130 ]] || fail "exit status $job_status of a run that was broken off"
    expect_line "$out" 'not measured'
    accept_again --resume "$acceptance"
    expect_drained 0
}

make_directory
trap clean_up EXIT
run_case "$case"
