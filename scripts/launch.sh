# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # read by the scripts that source this one; set by lib.sh
# How the scripts that measure pairs of hosts find programs and what they start jobs with: `source` it behind lib.sh.

# The benchmarks that tell something of a pair of hosts, by what measures them.
readonly kMpiTests=(pairwise_bw send_recv_bibw send_recv_bw)
readonly kTcpTests=(tcp_bibw tcp_bw)
readonly kVerbsTests=(rdma_write_bw rdma_read_bw rdma_send_bw)
readonly kGpuTests=(sendrecv_perf)

# What ranks elsewhere need of this environment: what steers MPI, NCCL and their transports, and where libraries are.
# What a launcher sets for the ranks of its own job is none of it.
readonly kForwarded='^(PATH|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|(NCCL|UCX|FI|MPIR_CVAR|MPICH|I_MPI|MV2|PSM2|PSM3)_.*|OMPI_(MCA|ALLOW)_.*)$'
readonly kNotForwarded='^(OMPI_MCA_(orte|ess|prte|plm|ras|rmaps|initial|shmem_RUNTIME)_.*|I_MPI_HYDRA_.*)$'

readonly kTimeout=4      # exit status of a pair that took too long, as of the programs
readonly kGrace_s=10     # for mpirun to end a job by itself before `timeout` ends mpirun
readonly kKillAfter_s=15 # for the launcher to end at all before it is killed

programs_folder= # of --programs

# Prints the path of a program of the suite: of --programs, of the build beside the scripts, or on the PATH.
find_program() {
    local root path
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    if [[ -n $programs_folder ]]; then
        path=$programs_folder/$1
    elif [[ -x $root/build/$1 ]]; then
        path=$root/build/$1
    else
        path=$(command -v "$1" || true)
    fi
    [[ -n $path && -x $path ]] || die "$kMissing" \
        "there is no program $1${programs_folder:+ in $programs_folder}; build it (make), or give --programs its folder"
    realpath "$path"
}

forwarded_variables() {
    compgen -e | grep -E "$kForwarded" | grep -Ev "$kNotForwarded" || true
}

# Prints open_mpi, hydra (MPICH, Intel MPI, MVAPICH) or other.
kind_of_mpirun() {
    local version
    version=$(mpirun --version 2>/dev/null </dev/null || true)
    case $version in
        *"Open MPI"* | *OpenRTE*) echo open_mpi ;;
        *HYDRA* | *Hydra* | *"Intel(R) MPI"* | *MVAPICH*) echo hydra ;;
        *) echo other ;;
    esac
}

# is_one_of WORD WORDS...
is_one_of() {
    local word=$1 other
    shift
    for other in "$@"; do
        [[ $word != "$other" ]] || return 0
    done
    return 1
}

# whole_number OPTION VALUE LEAST
whole_number() {
    [[ $2 =~ ^[0-9]{1,9}$ && $((10#$2)) -ge $3 ]] || die "$kUsage" "$1 '$2' is not a whole number of $3 or more"
}

# Whether a rail's name is that of an RDMA device, and not of a network interface. The hosts may have what this one has not.
is_rdma_device() {
    local name=${1%%:*}
    if [[ -e /sys/class/infiniband/$name ]]; then return 0; fi
    if [[ -e /sys/class/net/$name ]]; then return 1; fi
    [[ $name =~ ^(mlx[45]_|bnxt_re|irdma|hfi1_|qedr|rdmap|roce|rxe|siw|erdma|hns_|ionic_) ]]
}

# Reads launcher and agent, as do the functions below.
check_launcher() {
    is_one_of "$launcher" mpirun srun || die "$kUsage" "--launcher '$launcher': take mpirun or srun"
    command -v "$launcher" >/dev/null || die "$kMissing" "there is no '$launcher' on the PATH; install or load it"
    [[ -n $agent ]] || return 0
    [[ $launcher == mpirun ]] || die "$kUsage" "--agent is for mpirun, which starts ranks by it; srun needs none"
    [[ -n $(type -P "$agent") ]] || die "$kMissing" "--agent '$agent' is no program here"
}

# host_lines FORMAT TIMES HOST...: as many lines for each host.
host_lines() {
    local format=$1 times=$2 host number
    shift 2
    for host in "$@"; do
        for ((number = 0; number < times; ++number)); do
            # shellcheck disable=SC2059  # the format is ours
            printf "$format\n" "$host"
        done
    done
}

# choose_launch RANKS SECONDS HOST...: sets launch, the words before a program that is to have RANKS on each host, and
# grace_s, how much longer than SECONDS the launcher may take; 0 seconds: no limit. The file $work/hostfile lists the hosts,
# so that any name can be one.
choose_launch() {
    local ranks=$1 seconds=$2 names
    shift 2
    mapfile -t names < <(forwarded_variables)
    "choose_$launcher" "$@"
}

choose_mpirun() {
    local name
    grace_s=0
    case $(kind_of_mpirun) in
        open_mpi)
            host_lines "%s slots=$ranks" 1 "$@" >"$work/hostfile"
            # Launchers that share the directory that Open MPI keeps for each user trip over each other's clearing up.
            launch=(env "TMPDIR=$work" mpirun --hostfile "$work/hostfile" -np $((ranks * $#)))
            if ((seconds > 0)); then launch+=(--timeout "$seconds") && grace_s=$kGrace_s; fi
            if ((ranks > 1)); then launch+=(--map-by "ppr:$ranks:node"); fi
            for name in "${names[@]}"; do launch+=(-x "$name"); done
            if [[ -n $agent ]]; then launch+=(--mca plm_rsh_agent "$agent"); fi ;;
        hydra)
            host_lines "%s:$ranks" 1 "$@" >"$work/hostfile"
            launch=(mpirun -f "$work/hostfile" -n $((ranks * $#)) -ppn "$ranks"
                -genvlist "$(IFS=, && echo "${names[*]}")")
            if [[ -n $agent ]]; then launch+=(-launcher ssh -launcher-exec "$agent"); fi ;;
        *)
            die "$kMissing" "'mpirun --version' names neither Open MPI nor hydra (MPICH, Intel MPI); put one of them" \
                "first on the PATH, or take --launcher srun" ;;
    esac
}

choose_srun() {
    host_lines %s "$ranks" "$@" >"$work/hostfile"
    export SLURM_HOSTFILE=$work/hostfile # of --distribution=arbitrary: otherwise Slurm sorts the hosts
    grace_s=0
    launch=(srun --overlap --nodes=$# --ntasks=$((ranks * $#)) --distribution=arbitrary --kill-on-bad-exit=1
        --export="$(IFS=, && echo "${names[*]}")")
    if ((seconds > 0)); then launch+=(--time=$((seconds / 60)):$((seconds % 60))); fi
}

# The rail, under the name that what is measured has for it: in options, or in variables, which go to the ranks with all
# others. Reads test and rail.
choose_rail() {
    local port=
    if is_one_of "$test" "${kVerbsTests[@]}"; then
        [[ $rail != *:* ]] || port=${rail##*:}
        options+=(-d "${rail%%:*}" ${port:+-i "$port"})
    elif is_one_of "$test" "${kTcpTests[@]}"; then
        options+=(--interface "$rail")
    elif is_rdma_device "$rail"; then
        export NCCL_IB_HCA="=$rail" UCX_NET_DEVICES=$rail
        [[ $rail == *:* ]] || UCX_NET_DEVICES+=:1
    elif [[ $rail == */* ]]; then # a network, which only Open MPI's TCP takes
        export OMPI_MCA_btl_tcp_if_include=$rail
    else
        export OMPI_MCA_btl_tcp_if_include=$rail UCX_NET_DEVICES=$rail FI_TCP_IFACE=$rail NCCL_SOCKET_IFNAME="=$rail"
    fi
}

# seconds_in_words SECONDS: sets in_words.
seconds_in_words() {
    if (($1 < 120)); then
        in_words="$1 s"
    elif (($1 < 7200)); then
        in_words="$((($1 + 30) / 60)) min"
    else
        in_words="$(($1 / 3600)) h $(($1 % 3600 / 60)) min"
    fi
}
