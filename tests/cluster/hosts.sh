#!/usr/bin/env bash
# Hosts made of network namespaces: `source` this, do not run it.
#
#   make_hosts N              N hosts with one network device each, e0, on a switch of their own
#   run_on_hosts RANKS...     mpirun on all hosts, RANKS on each: run_on_hosts 1 all_reduce_perf -b 8
#   shape_host HOST RATE      limits what a host receives, such as to 50mbit
#   remove_hosts              ends what still runs on the hosts, and removes them
#
# ${hosts[@]} are the hosts' names. The switch is a namespace too and mpirun runs in it, so nothing of this machine's
# own network is touched, and any number of tests can have hosts at once. A launch agent takes the place of ssh.

readonly kSkipped=77  # what ctest takes for a skipped test
readonly kSubnet=10.77.0

hosts=()
hosts_switch=
hosts_directory=

# skip MESSAGE...: this machine has no means to make hosts.
skip() {
    echo "skipped: $*" >&2
    exit "$kSkipped"
}

require_tools() {
    local tool
    [[ $(id -u) -eq 0 ]] || skip "network namespaces take root"
    for tool in ip tc unshare hostname mpirun; do
        command -v "$tool" >/dev/null || skip "there is no program '$tool' here"
    done
}

# make_namespace NAME
make_namespace() {
    local problem
    problem=$(ip netns add "$1" 2>&1) || skip "no network namespaces here: $problem"
    problem=$(ip -n "$1" link set lo up 2>&1) || skip "no loopback in a network namespace: $problem"
}

# make_host NUMBER: from 1; its address is $kSubnet.NUMBER.
make_host() {
    local host=fb$$-h$1 problem
    make_namespace "$host"
    hosts+=("$host")
    problem=$(ip -n "$hosts_switch" link add "p$1" type veth peer name e0 netns "$host" 2>&1) ||
        skip "no veth devices here: $problem"
    ip -n "$hosts_switch" link set "p$1" master br0 up
    ip -n "$host" address add "$kSubnet.$1/24" dev e0
    ip -n "$host" link set e0 up
}

# The launch agent is called as AGENT HOST COMMAND...
write_agent() {
    cat >"$hosts_directory/agent" <<'EOT'
#!/bin/sh
host=$1
shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
EOT
    chmod +x "$hosts_directory/agent"
}

# make_hosts N: at most 250 of them.
make_hosts() {
    local number problem
    require_tools
    hosts_directory=$(mktemp -d /tmp/fb-hosts.XXXXXX)
    hosts_switch=fb$$-switch
    make_namespace "$hosts_switch"
    problem=$(ip -n "$hosts_switch" link add br0 type bridge 2>&1) || skip "no bridges here: $problem"
    ip -n "$hosts_switch" address add "$kSubnet.254/24" dev br0
    ip -n "$hosts_switch" link set br0 up
    for ((number = 1; number <= $1; ++number)); do
        make_host "$number"
    done
    write_agent
}

# run_on_hosts RANKS PROGRAM...: becomes mpirun, so start it with & to have its process number. mpirun takes each host
# for a machine with processors of its own, so it has to be told that ranks that wait should let others run.
run_on_hosts() {
    local ranks=$1 list
    shift
    list=$(printf "%s:$ranks," "${hosts[@]}")
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_tmpdir_base=$hosts_directory \
        exec ip netns exec "$hosts_switch" mpirun --timeout "${run_timeout_s:-40}" \
        --oversubscribe --bind-to none --host "${list%,}" -np $((ranks * ${#hosts[@]})) \
        --mca plm_rsh_agent "$hosts_directory/agent" --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl self,tcp \
        --mca btl_tcp_if_include "$kSubnet.0/24" --mca oob_tcp_if_include "$kSubnet.0/24" "$@" </dev/null
}

# shape_host HOST RATE: at the bridge. The way back stays free: where both ways are limited, Open MPI's exchanges take
# turns, and half of the rate is what one sees.
shape_host() {
    local problem
    problem=$(tc -n "$hosts_switch" qdisc replace dev "p${1##*-h}" root tbf rate "$2" burst 64k latency 50ms 2>&1) ||
        skip "links cannot be shaped here: $problem"
}

# Processes of the hosts are known by their namespace, and ended one by one.
end_processes_of() {
    local process
    for process in $(ip netns pids "$1" 2>/dev/null); do
        kill -KILL "$process" 2>/dev/null || true
    done
}

# Can be called at any time, and more than once.
remove_hosts() {
    local namespace
    for namespace in ${hosts_switch:+"$hosts_switch"} "${hosts[@]}"; do
        end_processes_of "$namespace"
        ip netns delete "$namespace" 2>/dev/null || true
    done
    [[ -z $hosts_directory ]] || rm -rf "$hosts_directory"
    hosts=()
    hosts_switch=
    hosts_directory=
}
