#!/usr/bin/env bash
# usage: ssh_test.sh PROGRAMS CASE
#
# The scripts and examples for machines that only ssh connects, with an sshd on each of six nodes made of network namespaces
# (lab.sh). The programs lie in the directory PROGRAMS. CASE is one of the functions below whose name begins with test_,
# without that. Exit status: 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
# shellcheck source=tests/cluster/sweeps.sh
source "$(dirname "${BASH_SOURCE[0]}")/sweeps.sh"
# shellcheck source=tests/cluster/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lab.sh"

readonly kLimit_s=400
readonly kDownOnes='ssh: connect to host node03 port 22: Connection refused'

# As a user writes it.
write_hostfile() { echo 'node[01-03,07-09]' >"$suite/hostfile"; }

make_ssh_nodes() {
    make_nodes 6
    start_sshds
    write_hostfile
}

# sweep_by_ssh OPTION...
sweep_by_ssh() {
    local rounds=(--rounds 5)
    [[ " $* " != *" --rounds "* ]] || rounds=()
    run_on_ctl "$kLimit_s" examples/slow_links_ssh.sh hostfile --records sweep.jsonl "${kSweep[@]}" "${rounds[@]}" "$@" -- \
        "${kPairOptions[@]}"
    is_verdict "$run_status" || fail "exit status $run_status of the sweep"
    expect_valid sweep.jsonl
}

# Before MPI starts: who is down, who does not answer, and who cannot log in to others.
test_preflight() {
    make_ssh_nodes
    run_on_ctl "$kLimit_s" build/fabricbench preflight --ssh --hostfile hostfile
    expect_status 6
    expect_line "$out" '^FAIL  all 6 hosts: ssh does not know the host.s key'
    echo 'StrictHostKeyChecking accept-new' >"$HOME/.ssh/config"
    run_on_ctl "$kLimit_s" build/fabricbench preflight --ssh --hostfile hostfile
    expect_status 0
    expect_line "$out" '^ok .*ssh, ssh_between_hosts'
    stop_sshd node03
    run_on_ctl "$kLimit_s" build/fabricbench preflight --ssh --hostfile hostfile --json preflight.jsonl
    expect_status 6
    expect_valid preflight.jsonl
    expect_line "$out" '^FAIL  node03: nobody listens at the port of ssh'
    expect_line "$out" 'from it to node03: nobody listens at the port of ssh'
    hang_sshd node08
    run_on_ctl "$kLimit_s" build/fabricbench preflight --ssh --hosts 'node[07-08]'
    expect_status 6
    expect_line "$out" '^FAIL  node08: there is no answer'
}

test_slow_host_resident() {
    make_ssh_nodes
    make_slow node03
    sweep_by_ssh --resident
    expect_blamed sweep.jsonl host:both:node03
    expect_status 6
    expect_line "$out" '^Fine: node\[01-02,07-09\]$'
}

test_slow_host_by_pairs() {
    make_ssh_nodes
    make_slow node07
    sweep_by_ssh
    expect_blamed sweep.jsonl host:both:node07
    expect_status 6
    expect_line "$out" '^Fine: node\[01-03,08-09\]$'
}

test_slow_link() {
    make_ssh_nodes
    shape_way 2 5 "$kSlow" "$kRate"
    shape_way 5 2 "$kSlow" "$kRate"
    sweep_by_ssh --resident --rounds 15
    expect_blamed sweep.jsonl pair:both:node02,node08
    expect_status 6
}

test_dead_sshd_resident() {
    make_ssh_nodes
    stop_sshd node03
    sweep_by_ssh --resident
    expect_blamed sweep.jsonl 'dead:*:node03'
    expect_status 6
    expect_line "$out" "$kDownOnes"
}

test_dead_sshd_by_pairs() {
    make_ssh_nodes
    stop_sshd node03
    sweep_by_ssh
    expect_blamed sweep.jsonl 'dead:*:node03'
    expect_status 6
    expect_line "$out" "$kDownOnes"
}

test_hung_sshd_by_pairs() {
    make_ssh_nodes
    hang_sshd node03
    sweep_by_ssh
    expect_blamed sweep.jsonl 'dead:*:node03'
    expect_status 6
    expect_line "$out" 'Connection timed out during banner exchange|Connection to .* timed out'
}

accept_by_ssh() {
    run_on_ctl "$kLimit_s" examples/accept_ssh.sh hostfile --output acceptance "${kAcceptance[@]}"
    is_verdict "$run_status" || fail "exit status $run_status of the acceptance run"
    expect_valid acceptance/acceptance.jsonl
}

test_accept_slow_host() {
    make_ssh_nodes
    make_slow node03
    accept_by_ssh
    expect_drained acceptance node03
    expect_status 6
    expect_line "$out" '^5 of 6 hosts accepted; node03 slow'
}

test_accept_dead_sshd() {
    make_ssh_nodes
    stop_sshd node03
    accept_by_ssh
    expect_drained acceptance node03
    expect_status 6
    expect_line "$out" '^5 of 6 hosts accepted; node03 '
    grep -q "$kDownOnes" acceptance/acceptance.jsonl || fail "the record does not say what ssh said"
}

# check_pair OPTION...
check_pair() {
    rm -f pair.jsonl
    run_on_ctl "$kLimit_s" env OMPI_MCA_plm_rsh_args="-o StrictHostKeyChecking=accept-new" scripts/check_node_pair.sh \
        --size 64K --records pair.jsonl "$@" -- "${kPairOptions[@]}"
    expect_valid pair.jsonl
}

test_front() {
    make_ssh_nodes
    echo 'StrictHostKeyChecking accept-new' >"$HOME/.ssh/config"
    run_on_ctl "$kLimit_s" build/fabricbench send_recv_lat --hosts node01,node07 -b 8 -e 8 -n 5
    expect_status 0
    expect_line "$out" '^# Ranks: 2, hosts: 2;'
    expect_line "$out" '^# *Rank *1 .* on +node07 '
    run_on_ctl "$kLimit_s" build/fabricbench all_reduce --hostfile hostfile -np 12 -b 8 -e 8 -n 5
    expect_status 0
    expect_line "$out" '^# Ranks: 12, hosts: 6;'
}

test_pair() {
    make_ssh_nodes
    check_pair node01 node07
    expect_status 0
    expect_line "$out" 'node01.*node07'
    check_pair node01 node07 --min-bandwidth 10 # GB/s, which no processor moves here
    expect_status 6
    stop_sshd node03
    check_pair node03 node07
    expect_status 1
    expect_line pair.jsonl "$kDownOnes"
}

# The blocks of docs/recipes.md. An exit status that no recipe has fails the case.
test_recipes() {
    make_nodes 4
    start_sshds
    run_recipe host_list each_alone sweep
    expect_valid all.jsonl alone-node01.jsonl alone-node02.jsonl alone-node03.jsonl alone-node07.jsonl sweep.jsonl
    expect_line "$out" '^# Ranks: 4, hosts: 4;'
    expect_line "$out" '^(Fine|Slow|Suspect|Not judged|Unsteady): node'
    ! grep -q '^node.*: status' "$out" || fail "a host that is there did not answer"
}

enter_lab "$@"
make_directory
run_case "$2"
