#!/bin/sh
# Sets a guest up, in this machine's files, and runs the command there, or serves commands in the second guest.
# usage: start.sh GUEST DIRECTORY MODULES; DIRECTORY holds `environment` and `command`, as run wrote them.
guest=$1 directory=$2 modules=$3 guests=

mount_file_systems() {
    mount -t proc proc /proc
    mount -t sysfs sys /sys
    mkdir -p /dev/pts /dev/shm
    mount -t devpts devpts /dev/pts
    mount -t tmpfs shm /dev/shm
    mount -t tmpfs run /run
    # What is seen of this machine's is not the guest's.
    ln -sf /proc/self/fd /dev/fd
    ln -sf /proc/self/fd/1 /dev/stdout
    ln -sf /proc/mounts /etc/mtab
}

# port NAME: the device of a port, which nobody gives its name here.
port() {
    for name in /sys/class/virtio-ports/*/name; do
        [ "$(cat "$name")" != "$1" ] || basename "$(dirname "$name")"
    done
}

# The kernel calls modprobe for itself too, and finds it and its files where they are not on this machine.
provide_modules() {
    version=$(uname -r)
    mkdir -p "/lib/modules/$version"
    mount --bind "$modules" "/lib/modules/$version"
    printf '#!/bin/sh\nexec busybox modprobe "$@"\n' >/run/modprobe
    chmod +x /run/modprobe
    echo /run/modprobe >/proc/sys/kernel/modprobe
}

name_hosts() {
    hostname "host$guest"
    echo "host$guest" >/etc/hostname
    printf '127.0.0.1 localhost\n10.78.0.1 host1\n10.78.0.2 host2\n' >/etc/hosts
}

# name_device OLD NEW NETWORK MTU
name_device() {
    ip link set "$1" down
    ip link set "$1" name "$2"
    ip link set "$2" mtu "$4" up
    ip address add "10.$3.0.$guest/24" dev "$2"
}

# e0 (10.79.0.0/24) is the wire under test, whose MTU of 4500 makes RDMA's 4096. Two guests have c0 (10.78.0.0/24)
# besides, for MPI and for on_host.sh, so that a test may cut the wire. With one guest a pair of devices stands for it.
make_network() {
    ip link set lo up
    if [ "$guests" = 2 ]; then
        busybox modprobe virtio_net
        name_device "$(device_of_network 78)" c0 78 1500
        name_device "$(device_of_network 79)" e0 79 4500
    else
        ip link add wire type veth peer name peer
        ip link set peer mtu 4500 up
        name_device wire e0 79 4500
        ip address add 10.78.0.1/32 dev lo
    fi
}

# device_of_network NETWORK: run gave it an address with that number in it.
device_of_network() {
    basename "$(dirname "$(grep -l "^52:54:00:$1:" /sys/class/net/*/address)")"
}

# crc32_generic is what rxe asks for without saying so: without it the device cannot be made.
make_rdma_device() {
    for module in crc32_generic rdma_rxe rdma_ucm ib_umad; do
        busybox modprobe "$module"
    done
    rdma link add rxe0 type rxe netdev e0
}

# MPI's own messages stay off the device under test. Ranks that wait let others run: there are two processors.
set_environment() {
    # shellcheck disable=SC1091  # run writes it
    . "$directory/environment"
    export TMPDIR=/run OMPI_MCA_orte_tmpdir_base=/run OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_mpi_yield_when_idle=1
    export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1
    export LD_PRELOAD="${FABRICBENCH_PATIENT_VERBS-}" # which says why
    # Parts of hwloc for displays and OpenCL, which no guest has: their libraries take as long to load as all the rest.
    export HWLOC_PLUGINS_BLACKLIST=hwloc_gl.so,hwloc_opencl.so
    if [ "$guests" = 2 ]; then
        export OMPI_MCA_plm_rsh_agent=on_host.sh
        export OMPI_MCA_btl_tcp_if_include=10.78.0.0/24 OMPI_MCA_oob_tcp_if_include=10.78.0.0/24
    fi
    # shellcheck disable=SC3045  # Debian's sh has it
    ulimit -l unlimited
}

# Two guests see each other at once or, where this machine is busy, a little later.
wait_for_other_guest() {
    for _ in $(seq 600); do
        on_host.sh host2 true 2>/dev/null && return
        sleep 0.2
    done
    echo "start.sh: no answer from host2 in 2 minutes" >&2
    return 1
}

set_up() (
    set -e
    provide_modules
    name_hosts
    make_network
    make_rdma_device
)

run_command() {
    if [ "$guest" = 2 ]; then
        exec busybox nc -ll -p 7900 -e serve.sh
    fi
    [ "$guests" = 1 ] || wait_for_other_guest || return 125
    sh "$directory/command"
}

finish() {
    printf '\0GUEST_RC=%d\n' "$1"
    printf '\0GUEST_RC=%d\n' "$1" >&2
    # The runner ends the guest; this is for when it is gone.
    sleep 60
    echo o >/proc/sysrq-trigger
    sleep 60
}

PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount_file_systems
exec </dev/null >"/dev/$(port output)" 2>"/dev/$(port errors)"
eval "$(head -n 1 "$directory/command")"
set_environment
if set_up; then
    (run_command)
    finish $?
else
    echo "start.sh: guest $guest could not be set up; see above" >&2
    finish 125
fi
