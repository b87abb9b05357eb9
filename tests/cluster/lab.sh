# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables of hosts.sh and cases.sh
# Nodes with the launchers of a real cluster, made of network namespaces: `source` this behind
# cases.sh and sweeps.sh.
#
#   enter_lab PROGRAMS ARGUMENT...
#                           starts the test again, alone with its lab; to be called before anything is made
#   make_nodes N            up to 8 nodes node01, node02, node03, node07... with one network device each, and ctl, where users
#                           log in; all of them know each other's names
#   start_sshds             an sshd on each node, which lets in the test's own key
#   stop_sshd NODE          nobody listens at its port any more
#   hang_sshd NODE          it takes connections, and says nothing
#   start_slurm             munged and slurmctld on ctl, a slurmd on each node
#   on_node NODE COMMAND... becomes the command, so start it with & or in a subshell
#   on_ctl COMMAND...       the same there
#   run_on_ctl SECONDS COMMAND...
#                           runs it there in $suite; sets run_status. The limit is for what hangs
#   expect_blamed RECORDS FINDING...
#                           that is exactly what find_slow_links blames: BLAME:DIRECTION:NODES such as host:both:node03;
#                           without any: nothing is slow
#   expect_drained FOLDER NODE...
#                           that is exactly what the acceptance run of that folder drains; all others are admitted
#   expect_valid FILE...    every line of these records is as docs/output.schema.json says
#   run_recipe NAME...      runs these blocks of docs/recipes.md on ctl, over links that are fast enough for their sizes
#   wait_until SECONDS WHAT COMMAND...
#                           until the command succeeds; the limit is for what hangs
#
# ${nodes[@]} are their names, in the order of ${hosts[@]} of hosts.sh. Each sends and receives kRate of sweeps.sh. $suite is
# the project as users have it: scripts, examples, build and so on, all of them read-only, in a folder where they may write.
#
# The test has mounts, processes, shared memory and a host name of its own. The folders in which launchers and programs write
# (/run, /tmp, /dev/shm, the home of root) are in memory, and so are the files that name hosts and users. The first process
# is the test. When it ends, however it ends, the kernel ends all others and drops the mounts and namespaces with them.

readonly kLab=/run/lab # in the test's own /run
readonly kNodeNames=(node01 node02 node03 node07 node08 node09 node15 node16) # with a gap, as after a repair
# What starts has started by then, however busy the machine is.
readonly kStart_s=120
suite=$kLab/suite
nodes=()
run_status=

# enter_lab PROGRAMS ARGUMENT...
enter_lab() {
    local problem
    [[ ${FABRICBENCH_LAB-} != inside ]] || return 0
    [[ $(id -u) -eq 0 ]] || skip "namespaces take root"
    problem=$(unshare --mount --uts --ipc --pid --fork --kill-child --mount-proc mount -t tmpfs none /run 2>&1) ||
        skip "a test cannot have mounts and processes of its own here: $problem"
    # unshare leaves signals to the test; only if it is killed, the test is, too.
    # shellcheck disable=SC2016  # for the other bash
    exec unshare --mount --uts --ipc --pid --fork --kill-child=KILL --mount-proc \
        bash -c "$(declare -p kLab suite); $(declare -f lay_out_lab); lay_out_lab"' "$@"
            script=$3 && shift 4
            FABRICBENCH_LAB=inside exec "$suite/tests/cluster/$script" "$suite/build" "$@"' \
        bash "$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)" "$(realpath "$1")" "${0##*/}" "$@"
}

# lay_out_lab PROJECT PROGRAMS
lay_out_lab() {
    set -euo pipefail
    local folder
    mount -t tmpfs -o mode=755 none /run
    mkdir -p /run/netns /run/sshd "$kLab/home" "$suite/build"
    for folder in scripts examples tests docs; do
        mkdir "$suite/$folder"
        mount --bind -o ro "$1/$folder" "$suite/$folder"
    done
    mount --bind -o ro "$2" "$suite/build"
    mount -t tmpfs -o mode=1777 none /tmp
    mount -t tmpfs -o mode=1777 none /dev/shm
    # ssh takes the home of root from here, not from $HOME. UsePAM no refuses accounts that are locked, as that of root is on
    # some systems.
    sed "s|^root:.*|root:x:0:0:root:$kLab/home:/bin/bash|" /etc/passwd >"$kLab/passwd"
    echo 'root:*:19000:0:99999:7:::' >"$kLab/shadow"
    echo '127.0.0.1 localhost' >"$kLab/hosts"
    for folder in passwd shadow hosts; do
        mount --bind "$kLab/$folder" "/etc/$folder"
    done
    hostname ctl
    cd "$suite"
}

# wait_until SECONDS WHAT COMMAND...
wait_until() {
    local until=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        ((SECONDS < until)) || fail "not within the time limit: $what"
        sleep 0.1
    done
}

make_nodes() {
    local place
    remove_last_try
    make_equal_hosts "$1"
    nodes=("${kNodeNames[@]:0:$1}")
    echo "$kSubnet.0.254 ctl" >>"$kLab/hosts"
    for ((place = 0; place < $1; ++place)); do
        echo "$kSubnet.0.$((place + 1)) ${nodes[place]}" >>"$kLab/hosts"
    done
    export HOME=$kLab/home
    # Ranks that wait let others run: all nodes share the processors of this machine.
    export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=ob1 OMPI_MCA_hwloc_base_binding_policy=none
    export OMPI_MCA_oob_tcp_keepalive_time=2 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2
}

# Of this test, in the same lab.
remove_last_try() {
    local entry
    for entry in "$suite"/*; do
        mountpoint -q "$entry" || rm -rf "$entry"
    done
    rm -rf "$kLab"/{ssh,slurm,munge,home/.ssh}
    echo '127.0.0.1 localhost' >"$kLab/hosts"
}

# make_slow NODE: both ways.
make_slow() {
    shape_host "$(host_of "$1")" "$kSlow"
    shape_sending "$(host_of "$1")" "$kSlow"
}

# host_of NODE: prints the name of its network namespace.
host_of() {
    local place
    for ((place = 0; place < ${#nodes[@]}; ++place)); do
        [[ ${nodes[place]} != "$1" ]] || echo "${hosts[place]}"
    done
}

# The node has a /sys with its own network devices. /sys/fs/cgroup is empty: slurmd looks there, and needs nothing of it.
on_node() {
    local node=$1
    shift
    # shellcheck disable=SC2016  # for sh
    exec nsenter --net="/run/netns/$(host_of "$node")" unshare --mount --uts sh -c '
        hostname "$0" && mount -t sysfs none /sys && mount -t tmpfs none /sys/fs/cgroup && exec "$@"' "$node" "$@"
}

on_ctl() { exec ip netns exec "$hosts_switch" "$@"; }

run_on_ctl() {
    run_status=0
    on_ctl timeout -k 10 "$@" >"$out" 2>"$err" </dev/null &
    job=$! # in the background, so that a signal ends the test at once
    wait "$job" || run_status=$?
    job=
    cat "$err" "$out"
    ((run_status != 124 && run_status != 137)) || fail "this did not end by itself within $1 s: ${*:2}"
}

run_recipe() {
    local host
    command -v jq >/dev/null || skip "there is no program 'jq' here; run scripts/install_deps.sh --with-tests"
    for host in "${hosts[@]}"; do
        shape_host "$host" 1gbit
        shape_sending "$host" 1gbit
    done
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PYTHONDONTWRITEBYTECODE=1
    run_on_ctl "$kLimit_s" python3 tests/cli/recipes.py "$@"
    expect_status 0
}

# expect_status STATUS
expect_status() {
    [[ $run_status -eq $1 ]] || no_crash_of_open_mpi
    [[ $run_status -eq $1 ]] || fail "exit status $run_status, not $1"
}

# Open MPI 4.1.4 under srun sometimes crashes in MPI_Init, in its TCP part, when another process sends before this one is
# ready; on a busy machine in up to one of ten starts.
no_crash_of_open_mpi() {
    ! grep -q 'Segmentation fault' "$out" "$err" || try_again "Open MPI crashed while it started"
}

# What the programs find

# Messages are small, so that the links are what takes the time.
readonly kSweep=(--size 64K --timeout 40 --tolerance "$kTolerance")
readonly kPairOptions=(--window 4 -n 7)
readonly kAcceptance=(--timeout 60 --at-once 1 --tolerance "$kTolerance" -b 64K -e 64K --collective-options '-n 20 -w 1'
    --alone-options '-n 300 -w 1' --size 64K --rounds 5 --resident --pair-options '--window 4 -n 7')

# expect_blamed RECORDS FINDING...: a direction of * is any.
expect_blamed() {
    "$suite/build/find_slow_links" --tolerance "$kTolerance" --json "$directory/verdict.json" "$1" >/dev/null || true
    judge "that is not what is wrong: ${*:2}" "$directory/verdict.json" "${@:2}" <<'EOT'
import json, sys
verdict = json.load(open(sys.argv[1]))
found = sorted((one["blame"], one["direction"], ",".join(one["hosts"])) for one in verdict["findings"])
wanted = sorted(tuple(one.split(":")) for one in sys.argv[2:])
print("blamed:", *map(":".join, found), "after", verdict["readings"], "readings")
if len(found) != len(wanted) or any(w not in ("*", f) for ones in zip(found, wanted) for f, w in zip(*ones)):
    sys.exit(AGAIN)
EOT
}

expect_drained() {
    judge "that is not what is drained: ${*:2}" "$1" "${#nodes[@]}" "${@:2}" <<'EOT'
import json, sys
folder, nodes, *drained = sys.argv[1:]
verdict = [json.loads(line) for line in open(f"{folder}/acceptance.jsonl")][-1]
found = [one["host"] for one in verdict["drain"]]
print("drained:", found, "admitted:", verdict["admit"], "status", verdict["exit_status"], verdict["headline"])
if found != drained or len(verdict["admit"]) != int(nodes) - len(drained):
    sys.exit(AGAIN)
assert open(f"{folder}/drain.txt").read().split() == drained
assert open(f"{folder}/admit.txt").read().split() == verdict["admit"]
assert open(f"{folder}/summary.txt").readline() == verdict["headline"] + "\n"
EOT
}

expect_valid() {
    PYTHONPATH=$suite/tests/cli PYTHONDONTWRITEBYTECODE=1 judge "not a valid record: $*" "$@" <<'EOT'
import json, sys
import schema
for file in sys.argv[1:]:
    schema.validate(map(json.loads, open(file)))
EOT
}

require_commands() {
    local command
    PATH+=:/usr/sbin # where the daemons are
    for command in "$@"; do
        command -v "$command" >/dev/null ||
            skip "there is no program '$command' here; run scripts/install_deps.sh --with-launchers"
    done
}

# sshd

declare -A sshds=() # the process number of each node's

start_sshds() {
    local node folder=$kLab/ssh
    require_commands sshd ssh ssh-keygen
    mkdir -p "$folder" "$HOME/.ssh"
    chmod 700 "$HOME/.ssh"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/host_key"
    ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
    cat >"$folder/sshd_config" <<EOT
HostKey $folder/host_key
AuthorizedKeysFile $HOME/.ssh/id_ed25519.pub
PasswordAuthentication no
UsePAM no
PidFile none
MaxStartups 100
EOT
    for node in "${nodes[@]}"; do
        on_node "$node" "$(command -v sshd)" -D -e -f "$folder/sshd_config" 2>"$folder/$node.log" &
        sshds[$node]=$!
        disown
    done
    for node in "${nodes[@]}"; do
        wait_until "$kStart_s" "an answer of the sshd on $node" answers_at_ssh_port "$node"
    done
}

# In a subshell, since it connects from ctl.
answers_at_ssh_port() {
    kill -0 "${sshds[$1]}" 2>/dev/null || fail "the sshd on $1 has ended: $(<"$kLab/ssh/$1.log")"
    (on_ctl timeout 5 bash -c "exec 3<>/dev/tcp/$1/22 && read -r -u 3 line && [[ \$line == SSH-* ]]") 2>/dev/null
}

stop_sshd() {
    kill -TERM "${sshds[$1]}"
    wait_until "$kStart_s" "the end of the sshd on $1" has_ended "${sshds[$1]}"
}

# hang_sshd NODE: connections are taken, and nothing is said.
hang_sshd() { kill -STOP "${sshds[$1]}"; }

# A zombie has ended, too; the process number is not reaped by `wait` after `disown`.
has_ended() { [[ ! -e /proc/$1 || $(ps -o stat= -p "$1") == Z* ]]; }

# Slurm

readonly kSlurm=$kLab/slurm

start_slurm() {
    local node
    require_commands munged slurmctld slurmd srun sbatch salloc scontrol sinfo
    mkdir -p "$kSlurm/state" "$kLab/munge"
    write_slurm_configuration
    export SLURM_CONF=$kSlurm/slurm.conf
    start_munge
    nsenter --net="/run/netns/$hosts_switch" "$(command -v slurmctld)" -D 2>"$kSlurm/slurmctld.err" &
    disown
    for node in "${nodes[@]}"; do
        mkdir -p "$kSlurm/$node/tmp" "$kSlurm/$node/spool"
        on_node "$node" "$(command -v slurmd)" -D -N "$node" 2>"$kSlurm/$node.err" &
        disown
    done
    wait_until "$kStart_s" "all nodes idle" are_nodes_in_state idle
}

write_slurm_configuration() {
    local list
    list=$(IFS=, && echo "${nodes[*]}")
    echo 'CgroupPlugin=cgroup/v1' >"$kSlurm/cgroup.conf" # or slurmd looks for what this machine has
    # SlurmdSpoolDir and TmpFS have %n: nodes that share them take each other's PMIx folders.
    cat >"$kSlurm/slurm.conf" <<EOT
ClusterName=lab
SlurmctldHost=ctl($kSubnet.0.254)
AuthType=auth/munge
AuthInfo=socket=$kLab/munge/socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$kSlurm/state
SlurmctldPidFile=$kSlurm/slurmctld.pid
SlurmctldLogFile=$kSlurm/slurmctld.log
SlurmdPidFile=$kSlurm/%n/slurmd.pid
SlurmdLogFile=$kSlurm/%n/slurmd.log
SlurmdSpoolDir=$kSlurm/%n/spool
TmpFS=$kSlurm/%n/tmp
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
KillWait=5
SlurmdTimeout=20
InactiveLimit=0
NodeName=$list CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$list Default=YES MaxTime=UNLIMITED State=UP
EOT
}

start_munge() {
    local folder=$kLab/munge
    (umask 077 && head -c 1024 /dev/urandom >"$folder/key")
    nsenter --net="/run/netns/$hosts_switch" "$(command -v munged)" --foreground --force --key-file="$folder/key" \
        --socket="$folder/socket" --pid-file="$folder/pid" --log-file="$folder/log" --seed-file="$folder/seed" 2>"$folder/err" &
    disown
    wait_until "$kStart_s" "an answer of munged" answers_munge
}

answers_munge() { munge --socket="$kLab/munge/socket" --no-input --output=/dev/null 2>/dev/null; }

# are_nodes_in_state STATE [NODE...]: without nodes, all.
are_nodes_in_state() {
    local state=$1
    shift
    [[ $# -gt 0 ]] || set -- "${nodes[@]}"
    [[ $(state_of "$@" | sort -u) == "$state" ]]
}

# state_of NODE...: a line each, such as idle, allocated or drained.
state_of() {
    (on_ctl sinfo --noheader --Node --format=%T --nodes="$(IFS=, && echo "$*")") 2>/dev/null
}
