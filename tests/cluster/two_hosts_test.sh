#!/usr/bin/env bash
# usage: two_hosts_test.sh PROGRAM CASE
#
# Runs all_reduce_perf, which is PROGRAM, on two hosts made of network namespaces. CASE is one of the functions
# below whose name begins with test_, without that. Exit status: 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

readonly kTimeout=4   # ExitStatus::kTimeout
readonly kTooSlow=6   # ExitStatus::kTooSlow
readonly kNotJudged=7 # ExitStatus::kNotJudged
readonly kKilled=137 # mpirun's, of a rank that SIGKILL ended

program=$1

# Waits until rows appear, so that the ranks are in the middle of measuring.
wait_for_rows() { wait_while_job_runs grep -Eq '^ +[0-9]+ +[0-9]+ +float' "$out"; }

# Any number of busbw columns; prints the average of the run in KB/s, as a whole number.
average_busbw_kb_per_s() {
    awk '/^# Avg bus bandwidth/ { printf "%d\n", $6 * 1000000 }' "$out"
}

expect_two_hosts() {
    local ranks=$1 rank
    expect_line "$out" "^# Ranks: $((2 * ranks)), hosts: 2;"
    for ((rank = 0; rank < 2 * ranks; ++rank)); do
        expect_line "$out" "^# *Rank *$rank .* on +${hosts[rank / ranks]} "
    done
    expect_line "$out" '^# Out of bounds values : 0 OK'
}

test_two_ranks() {
    run 1 -b 8 -e 64K -f 16 --time-budget 0.05
    expect_two_hosts 1
}

test_four_ranks() {
    run 2 -b 8 -e 64K -f 16 --time-budget 0.05
    expect_two_hosts 2
}

test_json() {
    run 1 -b 8 -e 8 -n 5 --json "$directory/run.json"
    python3 - "$directory/run.json" "${hosts[@]}" <<'EOT'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
context, end = lines[0], lines[-1]
assert [host["name"] for host in context["hosts"]] == sys.argv[2:], context["hosts"]
for host in context["hosts"]:
    devices = {device["name"]: device for device in host["network_devices"]}
    assert list(devices) == ["e0"], devices  # its own, not those of this machine
    assert devices["e0"]["state"] == "up", devices
assert [rank["host"] for rank in context["rank_map"]] == sys.argv[2:], context["rank_map"]
assert [rank["local_rank"] for rank in context["rank_map"]] == [0, 0], context["rank_map"]
assert end["kind"] == "end" and end["exit_status"] == 0, end
EOT
}

test_isolated() {
    run 1 -b 1K -e 64K -f 8 --timing isolated --time-budget 0.1
    expect_two_hosts 1
    expect_line "$out" 'timing: isolated'
    expect_line "$out" 'clock error: 0 \(one clock\)' # of one machine, in truth
}

test_dead_rank() {
    start 1 -b 64K -e 64K -n 50 -N 0
    wait_for_rows
    signal_rank KILL 1
    wait_for_job
    [[ $job_status -eq $kKilled ]] || fail "exit status $job_status, not $kKilled, although a rank died"
    expect_line "$err" "rank 1 .*on node ${hosts[1]} .*signal 9"
}

# expect_silent RANK HOST: and no other rank, as one would be that the machine has held up.
expect_silent() {
    local silent
    silent=$(grep -oE 'rank [0-9]+ on [^ ]+: silent' "$err" || true)
    [[ $silent == "rank $1 on $2: silent" ]] || try_again "rank $1 on $2 is silent, and '$silent' was told"
}

test_stopped_rank() {
    start 1 -b 64K -e 64K -n 50 -N 0 -T 5
    wait_for_rows
    signal_rank STOP 1
    wait_for_job
    [[ $job_status -eq $kTimeout ]] || fail "exit status $job_status, not $kTimeout"
    expect_line "$err" 'no progress for .* --timeout 5'
    expect_silent 1 "${hosts[1]}"
    expect_line "$err" "rank 1 on ${hosts[1]}: silent for [0-9.]+ s: stopped, dead or out of reach"
    expect_line "$err" "1 rank waits for it, the first is rank 0 on ${hosts[0]}"
}

# The two hosts of the other tests are stopped as one; here rank 2 still answers, by UDP from host 2.
test_stopped_rank_of_two() {
    start 2 -b 64K -e 64K -n 50 -N 0 -T 5
    wait_for_rows
    signal_rank STOP 3
    wait_for_job
    [[ $job_status -eq $kTimeout ]] || fail "exit status $job_status, not $kTimeout"
    expect_silent 3 "${hosts[1]}"
}

# mpirun waits for its daemon there, and fabricbench run ends it.
test_cut_off_host() {
    local network=$kSubnet.0.0/24
    OMPI_MCA_orte_tmpdir_base=$hosts_directory OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp \
        OMPI_MCA_btl_tcp_if_include=$network OMPI_MCA_oob_tcp_if_include=$network ip netns exec "$hosts_switch" \
        "$(dirname "$program")/fabricbench" run --hosts "${hosts[0]},${hosts[1]}" --mpi-options \
        "--oversubscribe --bind-to none --mca plm_rsh_agent $hosts_directory/agent" \
        all_reduce -b 64K -e 64K -n 50 -N 0 -T 5 >"$out" 2>"$err" </dev/null &
    job=$!
    wait_for_rows
    ip -n "$hosts_switch" link set "$(device_at_switch "${hosts[1]}")" down
    wait_for_job
    [[ $job_status -eq $kTimeout ]] || fail "exit status $job_status, not $kTimeout"
    expect_line "$err" 'no progress for .* --timeout 5'
    expect_line "$err" 'fabricbench: mpirun goes on with a host that is out of reach; it is ended'
}

# The rate that is told is that of the link. It cannot be more, and is hardly less.
test_slow_link() {
    local port before bytes busbw
    shape_host "${hosts[1]}" 10mbit # 1250 KB/s
    port=$(device_at_switch "${hosts[1]}")
    before=$(sent_bytes "$hosts_switch" "$port")
    run 1 -b 1M -e 1M -n 2 -w 1 --placement out
    bytes=$(($(sent_bytes "$hosts_switch" "$port") - before))
    busbw=$(average_busbw_kb_per_s)
    echo "busbw: $busbw KB/s; $bytes bytes through the link"
    ((bytes >= 3 << 20)) || fail "$bytes bytes went through the slow link, and 3 messages of 1 MiB have to"
    ((busbw <= 1300)) || fail "$busbw KB/s over a link of 1250"
    ((busbw >= 400)) || try_again "$busbw KB/s over a link of 1250"
}

# Virtual devices have no rate of their own, so it is given: of a link of 20 Mbit/s, TCP reaches 95 %, and no more.
test_expected() {
    shape_host "${hosts[1]}" 20mbit
    start 1 -b 4M -e 4M -n 6 -w 1 --placement out --expect 80
    wait_for_job
    [[ $job_status -eq $kNotJudged ]] || fail "exit status $job_status, not $kNotJudged, although no rate is known"
    expect_line "$err" 'the rate of e0 on [^ ]* is unknown; give it with --line-rate'
    start 1 -b 4M -e 4M -n 6 -w 1 --placement out --expect 80 --line-rate 0.04
    wait_for_job
    # Open MPI 4.1's mpirun on a busy machine may take a rank that has ended for one that broke off.
    ! grep -q 'exiting improperly' "$err" || try_again "mpirun blames a rank that has ended"
    [[ $job_status -eq $kTooSlow ]] || fail "exit status $job_status, not $kTooSlow, at half of the rate"
    expect_line "$err" 'of the 0\.004[0-9]* GB/s that its links allow; --expect requires 80 %'
    start 1 -b 4M -e 4M -n 6 -w 1 --placement out --expect 60 --line-rate 0.02
    wait_for_job
    [[ $job_status -eq 0 ]] || try_again "exit status $job_status at the rate of the link"
    expect_line "$out" '^# Links: 1 x 0\.02 Gbit/s \(e0\), 94\.1 % of it payload'
}

# `fabricbench run` on a third host. The ranks cannot end MPI without the daemon, which then keeps mpirun.
test_stopped_daemon() {
    local process daemon=
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=$hosts_directory/agent \
        OMPI_MCA_btl=self,tcp OMPI_MCA_pml=ob1 OMPI_MCA_btl_tcp_if_include=$kSubnet.0.0/24 \
        OMPI_MCA_oob_tcp_if_include=$kSubnet.0.0/24 OMPI_MCA_mpi_yield_when_idle=1 ip netns exec "$hosts_switch" \
        "$(dirname "$program")/fabricbench" run --hosts "${hosts[0]},${hosts[1]}" all_reduce -b 8 -e 8 -T 6 \
        --json /dev/stdout --force --time-budget 10 --placement out >"$out" 2>"$err" &
    job=$!
    wait_while_job_runs grep -q '"kind":"epoch"' "$out"
    for process in $(ip netns pids "${hosts[1]}"); do
        [[ $(cat "/proc/$process/comm") != orted ]] || daemon=$process
    done
    kill -STOP "$daemon"
    wait_for_job
    kill -KILL "$daemon"
    [[ $job_status -eq $kTimeout ]] || fail "exit status $job_status, not $kTimeout, with a daemon that hangs"
    expect_line "$err" '^fabricbench: mpirun goes on although the daemon of a host ended [0-9]+ s ago; it is ended$'
}

make_directory
make_hosts 2
run_case "$2"
