# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # read by the scripts that source this one; set by lib.sh
# Finds programs and starts jobs: `source` it after lib.sh.

# Environment variables that remote ranks need: settings of MPI, NCCL and their transports, and library paths. Without
# those that a launcher sets for the ranks of its own job.
readonly kForwarded='^(PATH|LD_LIBRARY_PATH|CUDA_VISIBLE_DEVICES|FABRICBENCH_RUN|(NCCL|UCX|FI|MPIR_CVAR|MPICH|I_MPI|MV2|PSM2|PSM3)_.*|OMPI_(MCA|ALLOW)_.*)$'
readonly kNotForwarded='^(OMPI_MCA_(orte|ess|prte|plm|ras|rmaps|initial|shmem_RUNTIME|oob_tcp_keepalive)_.*|I_MPI_HYDRA_.*)$'

readonly kSrunOptions=(--overlap --kill-on-bad-exit=1) # a step beside others, which ends with its first lost rank

readonly kGrace_s=10     # for mpirun to end a job before `timeout` ends mpirun
readonly kKillAfter_s=15 # for the launcher to end before it is killed

programs_folder=${FABRICBENCH_PROGRAMS_FOLDER-} # of the command fabricbench that has called; or from --programs

# Prints the path of a program of the suite: in $programs_folder, in the suite's own folder, or on the PATH.
find_program() {
    local path
    path=${programs_folder:-$(own_programs)}/$1
    if [[ -z $programs_folder && ! -x $path ]]; then path=$(command -v "$1" || true); fi
    [[ -n $path && -x $path ]] || die "$kMissing" \
        "there is no program $1${programs_folder:+ in $programs_folder};" \
        "build it (make), or give its folder with --programs"
    realpath -s "$path"
}

forwarded_variables() {
    compgen -e | grep -E "$kForwarded" | grep -Ev "$kNotForwarded" || true
}

mpirun_kind= # what kind_of_mpirun prints, for scripts that start many jobs

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

# mpi_type_of_srun PROGRAM: prints the option by which srun starts programs of Open MPI, if that need not be Slurm's default.
# Fails where Slurm has no PMIx for them.
mpi_type_of_srun() {
    local types
    [[ -z ${SLURM_MPI_TYPE-} && $(ldd "$1" 2>/dev/null) == *libmpi.so.40* ]] || return 0
    types=$(timeout 30 srun --mpi=list 2>&1 </dev/null) || true
    [[ " ${types//[$'\n\t']/ } " == *" pmix "* ]] || return 1
    echo --mpi=pmix
}

# Prints the number of this host's GPUs. Where a driver hangs, so does nvidia-smi.
count_gpus() { { timeout 30 nvidia-smi --list-gpus 2>/dev/null || true; } | grep -c '^GPU ' || true; }

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

# Reads launcher and agent, like the functions below.
check_launcher() {
    is_one_of "$launcher" mpirun srun || die "$kUsage" "--launcher '$launcher': use mpirun or srun"
    command -v "$launcher" >/dev/null || die "$kMissing" "there is no '$launcher' on the PATH; install or load it"
    [[ -n $agent ]] || return 0
    [[ $launcher == mpirun ]] || die "$kUsage" "--agent is for mpirun, and srun needs none"
    [[ -n $(type -P "$agent") ]] || die "$kMissing" "--agent '$agent' is not a program on this host"
}

# repeated_hosts TIMES HOST...: prints TIMES lines for each host.
repeated_hosts() {
    local times=$1 host number
    shift
    for host in "$@"; do
        for ((number = 0; number < times; ++number)); do
            printf '%s\n' "$host"
        done
    done
}

# end_with_script PROCESS: ends a process of a subshell with this script, which subshells survive. To be called with &.
end_with_script() {
    exec </dev/null >/dev/null 2>&1 9<&-
    while sleep 1 && kill -0 "$1"; do
        kill -0 $$ || kill -TERM "$1" || true
    done
}

# Ends a command with this script, also where that is killed, as for lack of memory. Where the system can.
mortal() {
    if setpriv --pdeathsig TERM true 2>/dev/null; then exec setpriv --pdeathsig TERM "$@"; else exec "$@"; fi
}

# choose_launch RANKS SECONDS HOST...: sets launch, the words that start a program with RANKS on each host, and grace_s,
# the time that the launcher may take beyond SECONDS; 0 seconds: no limit. The file $work/hostfile lists the hosts,
# which allows any name.
choose_launch() {
    local ranks=$1 seconds=$2 names
    shift 2
    mapfile -t names < <(forwarded_variables)
    "choose_$launcher" "$@"
}

# The hosts are written into a file, which allows any name, or with hosts_as=words into the command, for readers.
hosts_as='file'
fewer=0 # how many of the last hosts have a rank less; only with hosts_as=words

# ranked_hosts FORMAT HOST...: prints a line for each host, of its name and its number of ranks.
ranked_hosts() {
    local format=$1 host place=0
    shift
    for host in "$@"; do
        # shellcheck disable=SC2059  # the format is ours
        printf "$format\n" "$host" "$((++place > $# - fewer ? ranks - 1 : ranks))"
    done
}

# mpirun of Open MPI waits without limit for its daemon on a host that is out of reach, unless it looks whether it is there.
look_for_hosts() {
    local setting name
    for setting in time=10 intvl=2 probes=3; do
        name=OMPI_MCA_oob_tcp_keepalive_${setting%=*}
        [[ -n ${!name-} ]] || mpi_environment+=("$name=${setting#*=}")
        export "$name=${!name:-${setting#*=}}"
    done
}

choose_mpirun() {
    local name
    grace_s=0
    # In a Slurm job, mpirun starts its daemons by srun. A step with a node that has died does not end, and without this, all
    # later ones wait for its processors.
    [[ -z ${SLURM_JOB_ID-} ]] || export SLURM_OVERLAP=1
    case ${mpirun_kind:-$(kind_of_mpirun)} in
        open_mpi)
            look_for_hosts
            if [[ $hosts_as == words ]]; then
                launch=(mpirun --host "$(ranked_hosts %s:%s "$@" | paste -sd,)")
            else
                ranked_hosts "%s slots=%s" "$@" >"$work/hostfile"
                # Launchers that share Open MPI's directory of each user interfere with each other's clean-up.
                launch=(env "TMPDIR=$work" mpirun --hostfile "$work/hostfile")
            fi
            launch+=(-np $((ranks * $# - fewer)))
            if ((seconds > 0)); then launch+=(--timeout "$seconds") && grace_s=$kGrace_s; fi
            if ((fewer > 0)); then launch+=(--map-by slot); elif ((ranks > 1)); then launch+=(--map-by "ppr:$ranks:node"); fi
            for name in "${names[@]}"; do launch+=(-x "$name"); done
            if [[ -n $agent ]]; then launch+=(--mca plm_rsh_agent "$agent"); fi ;;
        hydra)
            if [[ $hosts_as == words ]]; then
                launch=(mpirun -hosts "$(ranked_hosts %s:%s "$@" | paste -sd,)")
            else
                ranked_hosts %s:%s "$@" >"$work/hostfile"
                launch=(mpirun -f "$work/hostfile")
            fi
            launch+=(-n $((ranks * $# - fewer)))
            if ((fewer == 0)); then launch+=(-ppn "$ranks"); fi
            launch+=(-genvlist "$(IFS=, && echo "${names[*]}")")
            if [[ -n $agent ]]; then launch+=(-launcher ssh -launcher-exec "$agent"); fi ;;
        *)
            die "$kMissing" "'mpirun --version' names neither Open MPI nor hydra (MPICH, Intel MPI); put one of them" \
                "first on the PATH, or use --launcher srun" ;;
    esac
}

choose_srun() {
    grace_s=0
    launch=(srun "${kSrunOptions[@]}" --nodes=$# --ntasks=$((ranks * $# - fewer)) --export="$(IFS=, && echo "${names[*]}")")
    if [[ $hosts_as == words ]]; then
        launch+=(--nodelist="$(IFS=, && echo "$*")" --ntasks-per-node="$ranks")
    else
        repeated_hosts "$ranks" "$@" >"$work/hostfile"
        export SLURM_HOSTFILE=$work/hostfile # for --distribution=arbitrary: otherwise Slurm sorts the hosts
        launch+=(--distribution=arbitrary)
    fi
    if ((seconds > 0)); then launch+=(--time=$((seconds / 60)):$((seconds % 60))); fi
}
