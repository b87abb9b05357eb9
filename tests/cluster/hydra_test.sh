#!/usr/bin/env bash
# usage: hydra_test.sh PROGRAMS CASE
#
# MPICH's launcher, hydra, before programs that are linked to Open MPI: each process is alone in its MPI then, and has to
# say so. By itself on this machine, and over ssh between nodes made of network namespaces (lab.sh), by the scripts. The
# programs lie in the directory PROGRAMS. CASE is one of the functions below whose name begins with test_, without that.
# Exit status: 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
# shellcheck source=tests/cluster/sweeps.sh
source "$(dirname "${BASH_SOURCE[0]}")/sweeps.sh"
# shellcheck source=tests/cluster/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lab.sh"

readonly kLimit_s=200
readonly kAlone='launched by mpiexec \(PMI_SIZE=2\), but this MPI \(.*\) sees one rank: the launcher belongs to another MPI'

make_hydra_nodes() {
    require_commands mpiexec.hydra hydra_pmi_proxy
    [[ $("$suite/build/all_reduce_perf" --version) && $(ldd "$suite/build/all_reduce_perf") == *libmpi.so.40* ]] ||
        skip "the programs are not linked to Open MPI"
    make_nodes 2
    start_sshds
}

# In the scripts, mpirun is hydra's. Its ssh gets no options.
check_pair_with_hydra() {
    mkdir -p "$suite/bin"
    ln -s "$(command -v mpiexec.hydra)" "$suite/bin/mpirun"
    ln -s "$(command -v hydra_pmi_proxy)" "$suite/bin/"
    echo 'StrictHostKeyChecking accept-new' >"$HOME/.ssh/config"
    run_on_ctl "$kLimit_s" env "PATH=$suite/bin:$PATH" scripts/check_node_pair.sh --records pair.jsonl "$@" node01 node02
    expect_valid pair.jsonl
}

test_alone() {
    make_hydra_nodes
    run_on_ctl "$kLimit_s" mpiexec.hydra -n 2 build/all_reduce_perf -b 8 -e 8 -n 2
    expect_status 3
    expect_line "$err" "$kAlone"
}

test_ssh() {
    make_hydra_nodes
    check_pair_with_hydra
    expect_status 1
    expect_line pair.jsonl "\"reason\":\"pairwise_bw: $kAlone"
}

# Hydra waits although ssh has ended, so the time limit ends the job.
test_dead_sshd() {
    make_hydra_nodes
    stop_sshd node01
    stop_sshd node02
    check_pair_with_hydra --timeout 15
    expect_status 4
    expect_line pair.jsonl 'the ranks had not even met; ssh: connect to host node0[12] port 22: Connection refused'
}

enter_lab "$@"
make_directory
run_case "$2"
