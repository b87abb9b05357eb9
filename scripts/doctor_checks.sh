# shellcheck shell=bash
# The checks of doctor.sh: `source` this after launch.sh and dependencies.sh. Each calls `tell` for each thing that it looked
# for. Programs that are started say in their own words what they lack.
# shellcheck disable=SC2154  # variables of doctor.sh

readonly kProbe_s=60 # for a program that measures one message
readonly kLeastShared_kB=$((256 << 10))

# install NAME: sets mend, a command that installs what the table of dependencies calls so.
install() {
    local package
    package=$(package_of "$@")
    mend=
    [[ -z $package ]] || mend=$(as_root "$(package_manager) install -y $package")
}

# as_root COMMAND: prints it as a user calls it.
as_root() { is_root && echo "$1" || echo "sudo $1"; }

# look_for KIND NAME LEVEL WORDS: tells whether what the table calls so is there. WORDS say what it is for.
look_for() {
    local mend=
    if is_there "$1" "$2"; then
        tell ok "${2//,/ and }" "$4"
    else
        install "$1" "$2"
        tell "$3" "${2//,/ and }" "$4" "$mend"
    fi
}

# has_launcher: else that has been told.
has_launcher() { command -v mpirun >/dev/null || command -v srun >/dev/null; }

# probe NAME LEVEL MEND RANKS COMMAND...: runs the program $probed by that command, which starts so many ranks.
probe() {
    local name=$1 level=$2 mend=$3 ranks=$4 status=0 words library
    shift 4
    if [[ ! -x $programs_folder/$probed ]]; then
        tell "$level" "$name" "this build has no $probed, because it lacked libraries; CMake names them"
        return
    fi
    timeout -k 10 "$kProbe_s" "$@" </dev/null >"$work/out" 2>"$work/err" || status=$?
    words=$(sed -n "s/^$probed: //p" "$work/err" | head -n 1)
    words=${words:-$(sed -e '/^run.sh: running /d; /^run.sh: .* ranks\{0,1\} /d; /^-*$/d; s/^run.sh: //' "$work/err" | head -n 1)}
    library=$(sed -n 's/^# Backend: .*; //p' "$work/out" | head -n 1)
    if [[ $status -eq 0 && $(grep -c "^# Ranks: $ranks, " "$work/out") -ne 1 ]]; then
        tell "$level" "$name" "the launcher did not start $ranks ranks of one job" "$mend"
        return
    fi
    if [[ $ranks -eq 1 && $status -eq $kMissing && $words =~ 'started this process'|'launched by' ]]; then
        tell unknown "$name" "could not be checked: $words"
        return
    fi
    case $status in
        0) tell ok "$name" "$probed works${library:+, on $library}" ;;
        "$kMissing") tell "$level" "$name" "${words:-$probed ended with status $status}" "$mend" ;;
        124 | 137) tell unknown "$name" "$probed did not end within $kProbe_s s${words:+: $words}" ;;
        *)
            mend=
            [[ $words != *plm_rsh_agent* ]] || install command ssh # Open MPI wants it even where all ranks are here
            tell unknown "$name" "$probed ended with status $status${words:+: $words}" "$mend" ;;
    esac
}

check_programs() {
    local lacking
    if [[ ! -x $programs_folder/all_reduce_perf ]]; then
        tell missing programs "there is no all_reduce_perf in $programs_folder" "make"
        return
    fi
    lacking=$(ldd "$programs_folder/all_reduce_perf" 2>&1 | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | paste -sd' ')
    if [[ -n $lacking ]]; then
        tell missing libraries "all_reduce_perf does not find $lacking; build it here, or install them"
    else
        tell ok programs "$programs_folder"
    fi
}

check_launcher_of_mpi() {
    local version mend
    if command -v mpirun >/dev/null; then
        version=$(timeout 30 mpirun --version 2>/dev/null </dev/null | head -n 1) || version=
        [[ $(kind_of_mpirun) != hydra ]] || version="hydra (MPICH, Intel MPI or MVAPICH)"
        if [[ -n $version ]]; then
            tell ok mpirun "$version"
        else
            tell unknown mpirun "'mpirun --version' says nothing"
        fi
    else
        install command mpirun
        if command -v srun >/dev/null; then
            tell absent mpirun "srun starts programs in allocations of Slurm, and nothing outside of them" "$mend"
        else
            tell missing mpirun "neither mpirun nor srun is on the PATH" "$mend"
        fi
    fi
}

check_two_ranks() {
    local probed=all_reduce_perf
    if ! has_launcher || [[ ! -x $programs_folder/$probed ]]; then return 0; fi # as has been told
    probe "two ranks" missing "put the mpirun of the programs' own MPI first on the PATH" 2 \
        "$scripts/run.sh" --ranks two -- "$programs_folder/$probed" -b 8 -e 8 -n 1 --backend mpi
}

check_shared_memory() {
    local kilobytes
    kilobytes=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }') || kilobytes=
    if [[ ! $kilobytes =~ ^[0-9]+$ ]]; then
        tell unknown /dev/shm "cannot be read; ranks of one host exchange messages there"
    elif ((kilobytes < kLeastShared_kB)); then
        tell absent /dev/shm "$((kilobytes >> 10)) MiB are free, which is little for ranks of one host" \
            "docker run --shm-size=1g, or mount -o remount,size=50% /dev/shm"
    else
        tell ok /dev/shm "$((kilobytes >> 10)) MiB are free"
    fi
}

# Of this network namespace: a container may see its host's /sys.
check_interfaces() {
    local name state speed found=()
    while IFS=: read -r name _; do
        name=${name// /}
        state=$(cat "/sys/class/net/$name/operstate" 2>/dev/null || echo unknown)
        [[ $name != lo && $state != down ]] || continue
        speed=$(cat "/sys/class/net/$name/speed" 2>/dev/null || true)
        if [[ $speed =~ ^[1-9][0-9]*$ ]]; then found+=("$name ($((speed / 1000)) Gbit/s)"); else found+=("$name"); fi
    done < <(tail -n +3 /proc/net/dev)
    if ((${#found[@]} > 0)); then
        tell ok interfaces "$(join_by ', ' "${found[@]}")"
    else
        tell absent interfaces "none but loopback is up; programs measure this host alone"
    fi
}

check_gpus() {
    local probed=all_reduce_perf count launch=()
    count=$(count_gpus)
    ((count == 0)) || tell ok GPUs "$count, by nvidia-smi"
    # In an allocation programs refuse to be started without a launcher.
    if [[ -n ${SLURM_JOB_ID-} ]] && has_launcher; then launch=("$scripts/run.sh" --ranks each-host -np 1 --); fi
    probe NCCL absent "NVIDIA's driver and libnccl2, where the host has GPUs" 1 \
        "${launch[@]}" "$programs_folder/$probed" -b 8 -e 8 -n 1 --backend nccl
}

check_rdma() {
    local probed=rdma_write_bw port active=()
    for port in /sys/class/infiniband/*/ports/*; do
        if grep -qs ACTIVE "$port/state"; then
            port=${port#/sys/class/infiniband/}
            active+=("${port/\/ports\//:}")
        fi
    done
    if ! compgen -G '/sys/class/infiniband/*' >/dev/null; then
        tell absent "RDMA devices" "/sys/class/infiniband lists none" \
            "the adapter's driver, or: rdma link add rxe0 type rxe netdev NAME"
    elif ! compgen -G '/dev/infiniband/uverbs*' >/dev/null; then
        tell absent "RDMA devices" "/dev/infiniband has no uverbs device" "$(as_root 'modprobe ib_uverbs'), and in a container --device /dev/infiniband"
    elif ((${#active[@]} == 0)); then
        tell absent "RDMA devices" "no port is ACTIVE" "cable, switch and opensm; ibstat shows the ports"
    else
        tell ok "RDMA devices" "active: $(join_by ', ' "${active[@]}")"
        ! has_launcher || probe "RDMA writes" absent "" 2 "$scripts/run.sh" --ranks two -- "$programs_folder/$probed" -s 8 -n 5
    fi
}

check_locked_memory() {
    local limit
    limit=$(ulimit -l)
    if [[ $limit == unlimited ]]; then
        tell ok "locked memory" "no limit"
    else
        tell absent "locked memory" "the limit is $limit KiB, which bounds the buffers of RDMA" \
            "ulimit -l unlimited, by memlock in /etc/security/limits.conf"
    fi
}

check_huge_pages() {
    local free
    free=$(sed -n 's/^HugePages_Free: *//p' /proc/meminfo)
    if [[ ${free:-0} -gt 0 ]]; then
        tell ok "huge pages" "$free are free"
    else
        tell absent "huge pages" "none are free, for --memory hugepages" "$(as_root 'sysctl -w vm.nr_hugepages=1024')"
    fi
}

check_sweeps() {
    look_for command python3 absent "accept"
    look_for command parallel absent "sweep_pairs.sh, which does without it where it is missing"
    if [[ -n ${SLURM_JOB_ID-} ]]; then
        tell ok "other hosts" "by srun, in this allocation of Slurm"
    else
        look_for command ssh absent "starts ranks on other hosts without a scheduler"
    fi
}

check_reports() {
    look_for command python3 absent "report, plot"
    look_for module matplotlib absent "plot: PNG, SVG, PDF"
    look_for module jinja2,plotly absent "report, and plot: HTML"
}

check_selftest() {
    look_for command ip absent "hosts made of network namespaces"
    if is_root; then
        tell ok root "this is root"
    else
        tell absent root "network namespaces take root" "sudo fabricbench selftest"
    fi
}

# join_by SEPARATOR WORD...
join_by() {
    local separator=$1 text
    shift
    printf -v text "%s$separator" "$@"
    echo "${text%"$separator"}"
}
