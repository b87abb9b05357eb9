#!/usr/bin/env bash
# Hosts made of network namespaces: `source` this, do not run it.
#
#   make_hosts N [DEVICES]    N hosts with one network device each, e0, or with as many as given (e0, e1...), each on
#                             a switch and a network of its own: 10.77.0.0/24 for e0, 10.77.1.0/24 for e1
#   run_on_hosts RANKS...     mpirun on all hosts, RANKS on each: run_on_hosts 1 all_reduce_perf -b 8
#   shape_host HOST RATE [DEVICE]
#                             limits what a host receives at e0, or at another device, such as to 50mbit
#   shape_sending HOST RATE [DEVICE]
#                             limits what it sends there
#   shape_way FROM TO RATE REST
#                             limits what host number FROM sends to host number TO at e0 to RATE, and to all others to REST
#   put_behind_uplink RATE NUMBER...
#                             these hosts get a switch of their own for e0, with one uplink to the first switch, over which
#                             goes what they send to all others and receive from them
#   sent_bytes HOST DEVICE    what left the queue that shapes there, with all headers; HOST may be the switch
#   dropped_packets HOST DEVICE
#                             and what found no room in it
#   separate_hosts A B        nothing gets from host number A to number B, or back
#   delay_host HOST MS [DEVICE]
#                             holds every frame to and from a host's e0, or another device, for so many milliseconds, each
#                             way, until end_delay
#   put_clock_ahead HOST SECONDS
#                             what is started there from now on has a monotonic clock of its own, so far ahead
#   remove_hosts              ends what still runs on the hosts, and removes them
#
# run_on_hosts reads: run_timeout_s (240); run_networks, over which data may go (10.77.0.0/24); run_pml (ob1), where
# empty leaves it to Open MPI. shape_host and shape_sending read shape_queue, of tbf: burst 16k, which passes at once and is
# less than one message, and room for 50 ms.
#
# ${hosts[@]} are the hosts' names. The switch is a namespace too and mpirun runs in it, so nothing of this machine's
# own network is touched, and any number of tests can have hosts at once. A launch agent takes the place of ssh. Names
# have the number of the process that made them: what a killed test has left behind is removed by the next one.

readonly kSkipped=77  # what ctest takes for a skipped test
readonly kSubnet=10.77
readonly kClass=(burst 16k cburst 16k quantum 15000) # of traffic: its burst, which passes at once, is less than a message

shape_queue=(burst 16k latency 50ms)

hosts=()
hosts_switch=
hosts_uplinks=0
hosts_directory=
hosts_forwarder=
export held_ms=

# skip MESSAGE...: this machine has no means to make hosts. Who sources this may say something else instead.
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

# make_device HOST NUMBER DEVICE: its address is $kSubnet.DEVICE.NUMBER.
make_device() {
    local problem
    problem=$(ip -n "$hosts_switch" link add "p$2-$3" type veth peer name "e$3" netns "$1" 2>&1) ||
        skip "no veth devices here: $problem"
    ip -n "$hosts_switch" link set "p$2-$3" master "br$3" up
    ip -n "$1" address add "$kSubnet.$3.$2/24" dev "e$3"
    ip -n "$1" link set "e$3" up
}

# make_host NUMBER DEVICES: from 1.
make_host() {
    local host=fb$$-h$1 device
    make_namespace "$host"
    hosts+=("$host")
    for ((device = 0; device < $2; ++device)); do
        make_device "$host" "$1" "$device"
    done
}

# make_bridge DEVICE
make_bridge() {
    local problem
    problem=$(ip -n "$hosts_switch" link add "br$1" type bridge 2>&1) || skip "no bridges here: $problem"
    ip -n "$hosts_switch" address add "$kSubnet.$1.254/24" dev "br$1"
    ip -n "$hosts_switch" link set "br$1" up
}

# The launch agent is called as AGENT HOST COMMAND...
write_agent() {
    cat >"$hosts_directory/agent" <<'EOT'
#!/bin/sh
host=$1
shift
options=$(cat "${0%/*}/$host.unshare" 2>/dev/null)
exec ip netns exec "$host" unshare --uts $options sh -c "hostname $host; $*"
EOT
    chmod +x "$hosts_directory/agent"
}

# remove_namespace NAME: with what still runs there.
remove_namespace() {
    end_processes_of "$1"
    ip netns delete "$1" 2>/dev/null || true
}

# is_left_behind PROCESS: a process that ended long ago cannot clean up any more.
is_left_behind() { [[ $1 =~ ^[0-9]+$ && ! -e /proc/$1 ]]; }

# Nobody can catch SIGKILL.
remove_what_was_left_behind() {
    local namespace path process
    for namespace in $(ip netns list 2>/dev/null | grep -oE '^fb[0-9]+-(h[0-9]+|switch)' || true); do
        process=${namespace#fb}
        ! is_left_behind "${process%%-*}" || remove_namespace "$namespace"
    done
    for path in /tmp/fb-hosts.[0-9]*.* /tmp/fb-test.[0-9]*.*; do
        process=${path#/tmp/fb-*.}
        ! is_left_behind "${process%%.*}" || rm -rf "$path"
    done
}

# make_hosts N [DEVICES]: at most 250 of them.
make_hosts() {
    local number device devices=${2:-1}
    require_tools
    remove_what_was_left_behind
    hosts_directory=$(mktemp -d "/tmp/fb-hosts.$$.XXXXXX")
    hosts_switch=fb$$-switch
    make_namespace "$hosts_switch"
    for ((device = 0; device < devices; ++device)); do
        make_bridge "$device"
    done
    for ((number = 1; number <= $1; ++number)); do
        make_host "$number" "$devices"
    done
    write_agent
}

# run_on_hosts RANKS PROGRAM...: becomes mpirun, so start it with & to have its process number. mpirun takes each host
# for a machine with processors of its own, so it has to be told that ranks that wait should let others run.
run_on_hosts() {
    local ranks=$1 list pml=()
    shift
    [[ -z ${run_pml-ob1} ]] || pml=(--mca pml "${run_pml-ob1}")
    list=$(printf "%s:$ranks," "${hosts[@]}")
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_orte_tmpdir_base=$hosts_directory \
        exec ip netns exec "$hosts_switch" mpirun --timeout "${run_timeout_s:-240}" \
        --oversubscribe --bind-to none --host "${list%,}" -np $((ranks * ${#hosts[@]})) \
        --mca plm_rsh_agent "$hosts_directory/agent" --mca mpi_yield_when_idle 1 "${pml[@]}" --mca btl self,tcp \
        --mca btl_tcp_if_include "${run_networks:-$kSubnet.0.0/24}" --mca oob_tcp_if_include "$kSubnet.0.0/24" \
        "$@" </dev/null
}

# shape HOST_OR_SWITCH DEVICE RATE: what goes out there.
shape() {
    local problem
    problem=$(tc -n "$1" qdisc replace dev "$2" root tbf rate "$3" "${shape_queue[@]}" 2>&1) ||
        skip "links cannot be shaped here: $problem"
}

# device_at_switch HOST [DEVICE]: where what the host receives goes out.
device_at_switch() {
    local device=${2:-e0}
    echo "p${1##*-h}-${device#e}"
}

sent_bytes() { tc -n "$1" -s qdisc show dev "$2" | sed -n 's/^ *Sent \([0-9]*\) bytes .*/\1/p' | head -n 1; }
dropped_packets() { tc -n "$1" -s qdisc show dev "$2" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | head -n 1; }

# shape_host HOST RATE [DEVICE]: at the bridge. Where both ways are limited, Open MPI's exchanges both ways at once take
# turns, and half of the rate is what one sees.
shape_host() {
    shape "$hosts_switch" "$(device_at_switch "$1" "${3:-e0}")" "$2"
}

# shape_sending HOST RATE [DEVICE]
shape_sending() {
    shape "$1" "${3:-e0}" "$2"
}

# shape_way FROM TO RATE REST: numbers from 1.
shape_way() {
    local host=${hosts[$1 - 1]} class problem
    problem=$(tc -n "$host" qdisc replace dev e0 root handle 1: htb default 1 2>&1) ||
        skip "there are no classes of traffic here: $problem"
    for class in "1 $4" "2 $3"; do
        tc -n "$host" class replace dev e0 parent 1: classid "1:${class% *}" htb rate "${class#* }" "${kClass[@]}"
    done
    problem=$(tc -n "$host" filter add dev e0 parent 1: protocol ip u32 match ip dst "$kSubnet.0.$2/32" flowid 1:2 2>&1) ||
        skip "traffic cannot be told apart by its destination here: $problem"
}

# put_behind_uplink RATE NUMBER...: of all hosts that there are, numbers from 1. Each way, what goes to one host has RATE,
# as a full uplink shares out what it has: so a pair sees the same, whichever others are measured beside it.
put_behind_uplink() {
    local rate=$1 number uplink=$((++hosts_uplinks))
    ip -n "$hosts_switch" link add "leaf$uplink" type bridge
    ip -n "$hosts_switch" link set "leaf$uplink" up
    ip -n "$hosts_switch" link add "up$uplink" type veth peer name "down$uplink"
    ip -n "$hosts_switch" link set "up$uplink" master "leaf$uplink" up
    ip -n "$hosts_switch" link set "down$uplink" master br0 up
    for number in "${@:2}"; do
        ip -n "$hosts_switch" link set "p$number-0" master "leaf$uplink"
    done
    share_out "up$uplink" "$rate"
    share_out "down$uplink" "$rate"
}

# share_out DEVICE RATE: of the switch. What goes to no host is not limited.
share_out() {
    local place class problem
    problem=$({
        echo "qdisc add dev $1 root handle 1: htb"
        for ((place = 1; place <= ${#hosts[@]}; ++place)); do
            printf -v class '1:%x' "$place"
            echo "class add dev $1 parent 1: classid $class htb rate $2 ${kClass[*]}"
            echo "filter add dev $1 parent 1: protocol ip u32 match ip dst $kSubnet.0.$place/32 flowid $class"
        done
    } | tc -n "$hosts_switch" -batch - 2>&1) || skip "traffic cannot be told apart by its destination here: $problem"
}

# separate_hosts A B: numbers from 1. Each takes the other to be where nobody is, so they learn of it by silence only.
separate_hosts() {
    local here there
    for here in "$1" "$2"; do
        there=$(($1 + $2 - here))
        ip -n "${hosts[here - 1]}" neighbour replace "$kSubnet.0.$there" lladdr 02:00:00:00:00:fe dev e0 nud permanent
    done
}

# delay_host HOST MS [DEVICE]: what the host's port takes in and gives out goes through a forwarder instead of the bridge.
delay_host() {
    local port far device=${3:-e0}
    port=$(device_at_switch "$1" "$device")
    far=d${port#p}
    ip -n "$hosts_switch" link set "$port" nomaster
    ip -n "$hosts_switch" link set "$port" arp off # or the switch itself would answer there, at once
    ip -n "$hosts_switch" link add "$far" type veth peer name "$far-br"
    ip -n "$hosts_switch" link set "$far-br" master "br${device#e}" up
    ip -n "$hosts_switch" link set "$far" arp off up
    ip netns exec "$hosts_switch" python3 "$(dirname "${BASH_SOURCE[0]}")/delay_link.py" "$port" "$far" "$2" \
        >"$hosts_directory/held" &
    hosts_forwarder=$!
}

# end_delay: what delay_host began; held_ms is then the median of how long frames were held.
end_delay() {
    kill -TERM "$hosts_forwarder"
    wait "$hosts_forwarder" || true
    held_ms=$(<"$hosts_directory/held")
    hosts_forwarder=
}

# put_clock_ahead HOST SECONDS
put_clock_ahead() {
    local options="--time --monotonic $2 --fork --kill-child" problem
    # shellcheck disable=SC2086  # words
    problem=$(unshare $options true 2>&1) || skip "no clocks of a host's own here: $problem"
    echo "$options" >"$hosts_directory/$1.unshare"
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
    [[ -z $hosts_forwarder ]] || end_delay
    for namespace in ${hosts_switch:+"$hosts_switch"} "${hosts[@]}"; do
        remove_namespace "$namespace"
    done
    [[ -z $hosts_directory ]] || rm -rf "$hosts_directory"
    hosts=()
    hosts_switch=
    hosts_uplinks=0
    hosts_directory=
}
