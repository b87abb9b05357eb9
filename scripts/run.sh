#!/usr/bin/env bash
# Starts one program as an MPI job: on this host, on hosts that are given, or in the surrounding job of a scheduler. It is
# for `fabricbench run`, which finds the program and knows how many ranks it takes.
set -euo pipefail

# What is opened next would take the place of a closed stream.
[[ -e /dev/fd/1 ]] || exec >/dev/full
[[ -e /dev/fd/2 ]] || exec 2>/dev/null

# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=scripts/launch.sh
source "$(dirname "${BASH_SOURCE[0]}")/launch.sh"

readonly kToConclude_s=10 # for ranks that have been told to end
readonly kStays_s=20      # an agent that is there for so long stays as long as its daemon
readonly kAlone_s=10      # for a launcher to end after its ranks
readonly kToStart_s=30    # for a launcher on this host to start a rank
readonly kLooks_s=5       # between looks for hosts that are out of reach
readonly kResent=7        # packets, the last one after some 25 s, before a host counts as that
readonly kToFlush_s=3     # for what a launcher printed before it was ended
readonly kAgain_s=3 # after which they are told again: longer than ranks without output leave to rank 0
readonly kEndings=(INT TERM HUP QUIT USR1 USR2 XCPU ALRM)

usage() {
    cat <<'EOT'
usage: fabricbench run [OPTION]... PROGRAM [ARGUMENT]...
       fabricbench PROGRAM [ARGUMENT | OPTION]... [-- ARGUMENT...]

Runs a program of the suite, through srun in an allocation of Slurm, else
through mpirun. 'fabricbench list' has the programs; _perf may be left out.
  fabricbench all_reduce -b 8 -e 1G
  fabricbench send_recv_lat --hosts node01,node02
  fabricbench run --hosts node[01-16] -np 128 alltoall -b 1M -e 64M

  --hosts LIST         run on these hosts (default: those of the surrounding
                       job of Slurm, PBS, LSF or Kubernetes, else this host)
  --hostfile FILE      read hosts from FILE, in the format of an MPI launcher
  -np N                number of ranks, spread evenly; the first hosts may
                       have one more than the others
  --launcher mpirun|srun
                       start it by this (default: srun in Slurm, else mpirun)
  --mpi-options WORDS  additional options for mpirun or srun
  --dry-run            print the command and run nothing
  --help               print this text

Without -np: two ranks for a program of two, on the first two hosts; else one
for each GPU; without GPUs, one on each host, and on a single host 2, 4 or 8, as
it has cores. What was chosen is printed on standard error.
Programs without an MPI job (list_hosts, find_slow_links...) and scripts
(accept, sweep_pairs...) are started directly and have options of their own.

Ctrl-C and SIGTERM end the job, after its ranks have printed what they have
measured; twice, at once.

Exit status: that of the program; 1 the output cannot be written, 2 usage, 3
something needed is missing; 128 and the signal's number after a signal.
EOT
}

# set_option NAME VALUE
set_option() {
    case $1 in
        --hosts | --hostfile) host_options+=("$1" "$2") ;;
        -np) whole_number "$1" "$2" 1 && total=$((10#$2)) ;;
        --launcher) launcher=$2 ;;
        --mpi-options) read -ra mpi_options <<<"$2" ;;
        --ranks) kind=$2 ;;
    esac
}

# The last one, --, precedes the program.
read_options() {
    while [[ $1 != -- ]]; do
        case $1 in
            --dry-run) dry_run=yes ;;
            --help) usage; exit 0 ;;
            *) set_option "$1" "$2" && shift ;;
        esac
        shift
    done
    shift
    program=("$@")
}

# In an allocation of Slurm srun, unless only mpirun can start programs of this MPI there.
choose_launcher() {
    local type=
    if [[ -z $launcher && -n ${SLURM_JOB_ID-} ]] && command -v srun >/dev/null; then
        launcher=srun
        if ! type=$(mpi_type_of_srun "${program[0]}") && command -v mpirun >/dev/null; then
            warn "srun has no PMIx here, by which it starts programs of Open MPI; mpirun takes its place"
            launcher=mpirun
        fi
    elif [[ $launcher == srun ]]; then
        type=$(mpi_type_of_srun "${program[0]}") || true
    fi
    launcher=${launcher:-mpirun}
    check_launcher
    if [[ -n $type ]]; then mpi_options=("$type" "${mpi_options[@]}"); fi
}

# Sets hosts: those that are given, or of the surrounding job; none for this host, and where srun knows them itself.
find_hosts() {
    local said status=0
    [[ ${#host_options[@]} -gt 0 || $launcher == mpirun ]] || return 0
    said=$("$(dirname "${program[0]}")/list_hosts" "${host_options[@]}" 2>&1) || status=$?
    if ((status == 0)); then
        mapfile -t hosts < <(grep -v '^list_hosts: ' <<<"$said")
    elif [[ ${#host_options[@]} -gt 0 || $said != "list_hosts: no hosts: "* ]]; then
        die "$status" "${said#list_hosts: }"
    fi
}

# counted NUMBER NOUN: prints `1 rank`, `2 ranks`.
counted() { echo "$1 $2$( (($1 == 1)) || echo s)"; }

# As mpirun and srun do it: the first hosts have one rank more, and none is without.
spread_ranks() {
    local count
    hosts=("${hosts[@]:0:total}")
    count=$((${#hosts[@]} == 0 ? 1 : ${#hosts[@]}))
    per_host=$(((total + count - 1) / count)) fewer=$((per_host * count - total)) why="as -np says"
    if ((fewer > 0)); then
        why+=": $per_host on the first$( ((count - fewer == 1)) || echo " $((count - fewer))"), $((per_host - 1)) on each other"
    fi
}

# Sets per_host, fewer and why. Here are as many GPUs as on the other hosts.
choose_ranks() {
    local count=${#hosts[@]} cores gpus
    if ((count == 0)); then count=1; fi
    if ((total > 0)); then
        spread_ranks
    elif [[ $kind == two ]]; then
        if ((count > 2)); then hosts=("${hosts[@]:0:2}"); fi
        per_host=$((count > 1 ? 1 : 2)) why="as many as the program takes; -np changes that"
    elif [[ $kind == each-host ]]; then
        per_host=1 why="one on each host; -np changes that"
    else
        gpus=$(count_gpus)
        cores=$(core_count)
        if ((gpus > 0)); then
            per_host=$gpus why="one for each GPU; -np changes that"
        elif ((count > 1)); then
            per_host=1 why="one on each, as there are no GPUs; -np changes that"
        else
            per_host=$(default_ranks "$cores")
            why="for $(counted "$cores" core) and no GPU; -np changes that"
        fi
    fi
}

# Slurm knows how many tasks and nodes the job has.
choose_allocation() {
    local nodes=${SLURM_JOB_NUM_NODES:-${SLURM_NNODES:-1}}
    launch=(srun "${kSrunOptions[@]}")
    if ((total > 0)); then
        launch+=(--ntasks="$total") said="$total ranks in this allocation of Slurm, as -np says"
    elif [[ $kind == two ]]; then
        launch+=(--nodes=$((nodes > 1 ? 2 : 1)) --ntasks=2)
        said="2 ranks on $((nodes > 1 ? 2 : 1)) node(s) of this allocation; -np changes that"
    elif [[ $kind == each-host ]]; then
        launch+=(--nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1)
        said="one rank on each of $nodes node(s) of this allocation; -np changes that"
    else
        said="as many ranks as this allocation of Slurm has tasks${SLURM_NTASKS:+, $SLURM_NTASKS}; -np changes that"
    fi
}

choose_this_host() {
    launch=(mpirun -np "$per_host")
    [[ $(kind_of_mpirun) == open_mpi ]] || return 0
    # More ranks than cores: Open MPI needs the option, and the figures are then of little use.
    if ((per_host > $(core_count))); then launch+=(--oversubscribe) && said+="; they share cores: expect low figures"; fi
}

# Sets launch, and said, what was chosen.
choose_job() {
    local given=${#hosts[@]} count per_host fewer=0 why names hosts_as=words
    # shellcheck disable=SC2034  # of choose_launch
    local grace_s
    if [[ ${#hosts[@]} -eq 0 && $launcher == srun ]]; then
        choose_allocation
        return
    fi
    choose_ranks
    count=${#hosts[@]}
    if ((count == 0)); then
        said="$(counted "$per_host" rank) on this host, $why"
        choose_this_host
    else
        said="$(counted $((per_host * count - fewer)) rank) on $(counted "$count" host)"
        said+="$( ((count == given)) || echo " of $given"), $why"
        choose_launch "$per_host" 0 "${hosts[@]}"
    fi
}

# children_of PROCESS...: sets children, and ranks_here and agents: how many of them are ranks, and launch agents that stay as
# long as the daemons that they have started. Hydra's ranks are children of its daemon. It starts nothing, since ranks are measuring.
children_of() {
    local file line child state words parents=("$@") i
    children=() ranks_here=0 agents=0
    for ((i = 0; i < ${#parents[@]}; ++i)); do for file in /proc/"${parents[i]}"/task/*/children; do
        line=
        read -r line <"$file" || true # it has no end of line
        for child in $line; do
            read -r state <"/proc/$child/stat" || continue
            [[ ${state##*) } != Z* ]] || continue
            mapfile -d '' -t words <"/proc/$child/cmdline" || continue
            children+=("$child")
            case " ${words[*]} " in
                " ${program[0]} "*) ranks_here=$((ranks_here + 1)) ;;
                *" --daemonize "*) ;;
                *[/\ ]orted\ * | *[/\ ]prted\ *) agents=$((agents + 1)) ;;
                *hydra_pmi_proxy\ *) agents=$((agents + 1)) parents+=("$child") ;;
                *) parents+=("$child") ;; # the launcher itself, where a site has a script of its name
            esac
        done
    done; done 2>/dev/null
}

# Sets ranks_here under srun, whose ranks are no children of it: of all processes those that know this run; then only these.
find_ranks_of_srun() {
    local folders=("${ranks[@]}") folder words
    ((${#folders[@]} > 0)) || folders=(/proc/[0-9]*)
    ranks=()
    for folder in "${folders[@]}"; do
        mapfile -d '' -t words <"$folder/cmdline" || continue
        [[ "${words[*]} " == "${program[0]} "* ]] || continue
        mapfile -d '' -t words <"$folder/environ" || continue
        if [[ " ${words[*]} " == *" FABRICBENCH_RUN=$$ "* ]]; then ranks+=("$folder"); fi
    done 2>/dev/null
    ranks_here=${#ranks[@]}
}

# Sets ranks_end_s: within which all ranks end after the first one has, by docs/reliability.md; 0: without limit.
limit_of_ranks() {
    local limit=$kRankLimit_s i
    for ((i = 1; i < ${#program[@]}; ++i)); do
        case ${program[i]} in
            -T | --timeout) limit=${program[i + 1]-} ;;
            --timeout=*) limit=${program[i]#*=} ;;
            -T?*) limit=${program[i]#-T} ;;
        esac
    done
    [[ $limit =~ ^[0-9]{1,7}(\.[0-9]*)?$ ]] || limit=$kRankLimit_s
    limit=$((10#${limit%.*}))
    ranks_end_s=$((limit == 0 ? 0 : limit * 5 / 4 + 4))
}

# Whether a host has acknowledged nothing of what the launcher sent it, for half a minute. TCP's keepalive does not notice: it
# leaves that to retransmissions, which go on for a quarter of an hour.
has_lost_host() {
    local state queues resent inode
    while read -r _ _ _ state queues _ resent _ _ inode _; do
        if [[ $state != 0[14] || $queues == 00000000:* ]] || ((16#$resent < kResent)); then continue; fi
        [[ -z $(find "/proc/$1/fd" -lname "socket:\\[$inode\\]" 2>/dev/null) ]] || return 0
    done < <(exec tail -qn +2 "/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null)
    return 1
}

# Ends a launcher that waits for itself, a daemon that hangs or a host that is out of reach, and fails then: when nothing is left
# of what it has started, when the ranks on this host, or the daemons of some hosts, have ended and the others have had the time
# for it, when no rank has begun although all are to run here, and when a host is lost.
end_where_stuck() {
    local children=() ranks=() ranks_here=0 agents=0 most=0 had_ranks=no stays=no ranks_end_s limit_s what
    local began=$SECONDS since=$SECONDS looked=$SECONDS pause=0.2 why='' all_here=no
    if [[ $launcher == mpirun && -z "${hosts[*]}${SLURM_JOB_ID-}${PBS_JOBID-}${LSB_JOBID-}${FLUX_JOB_ID-}" ]]; then all_here=yes; fi
    limit_of_ranks
    while sleep "$pause" >/dev/null 2>&1 && kill -0 "$1" 2>/dev/null; do
        if [[ $launcher == srun ]]; then find_ranks_of_srun && pause=2; else children_of "$1"; fi
        if ((ranks_here > 0)); then had_ranks=yes pause=2; fi
        if ((agents > most)); then most=$agents; fi
        # An agent may end before its daemon, and does so at once.
        if [[ $launcher == mpirun ]] &&
            ((${#hosts[@]} == 0 ? ranks_here > 0 : agents > 0 && SECONDS - began >= kStays_s)); then stays=yes pause=2; fi
        what='its ranks here ended'
        if [[ $launcher == mpirun && ${#hosts[@]} -eq 0 ]]; then what='its ranks ended'; fi
        if [[ $stays == yes && ${#children[@]} -eq 0 ]]; then
            limit_s=$kAlone_s
        elif [[ $had_ranks == yes ]] && ((ranks_here == 0 && ranks_end_s > 0)); then
            limit_s=$((ranks_end_s + kAlone_s))
        elif [[ $stays == yes ]] && ((agents < most && ranks_here == 0 && ranks_end_s > 0)); then
            limit_s=$((ranks_end_s + kAlone_s)) what='the daemon of a host ended'
        elif [[ $all_here == yes && $had_ranks == no ]] && ((ranks_end_s > 0)); then
            limit_s=$(((ranks_end_s > kToStart_s ? ranks_end_s : kToStart_s) + kAlone_s)) what='it began without any rank'
        else
            since=$SECONDS limit_s=
        fi
        if [[ -n $limit_s ]] && ((SECONDS - since >= limit_s)); then
            why="although $what $((SECONDS - since)) s ago"
        elif ((${#hosts[@]} > 0 && SECONDS - looked >= kLooks_s)); then
            looked=$SECONDS
            ! has_lost_host "$1" || why="with a host that is out of reach"
        fi
        if [[ -n $why ]]; then end_launcher "$1" "$why" && return "$kTimeout"; fi
    done
}

# end_launcher PROCESS WHY: reads children, too.
end_launcher() {
    trap '' TERM
    warn "$launcher goes on $2; it is ended"
    kill -KILL "$1" "${children[@]}" 2>/dev/null || true
}

# Ends job: first so that the ranks print what they have measured; then, and when this script is told again, by force.
end_job() {
    local signal began times again
    warn "SIG$told: the ranks get SIGUSR1, and print what they have measured; once more ends them at once"
    for signal in USR1 TERM KILL; do
        kill -"$signal" "$job" 2>/dev/null || return 0
        began=$SECONDS times=$times_told again=$((SECONDS + kAgain_s))
        while kill -0 "$job" 2>/dev/null && ((times_told == times && SECONDS - began < kToConclude_s)); do
            sleep 0.05 || true
            # Ranks that had not started yet did not get it.
            if [[ $signal == USR1 ]] && ((SECONDS >= again)); then
                again=$((SECONDS + kAgain_s))
                kill -USR1 "$job" 2>/dev/null || true
            fi
        done
    done
}

# Ctrl-Z stops the ranks too, and they go on with this script.
pause_job() {
    kill -TSTP "$job"
    kill -STOP $$
    kill -CONT "$job"
}

# Opens descriptor 3 for what the job prints. mpirun does not notice when its output cannot be written; cat does.
open_output() {
    if [[ -t 1 ]]; then
        exec 3>&1
    else
        exec 3> >(trap '' "${kEndings[@]}" && exec cat)
        writer=$!
    fi
}

# Sets status to a failure if a row may be lost.
close_output() {
    local wrote=0
    exec 3>&-
    [[ -n $writer ]] || return 0
    wait "$writer" || wrote=$?
    ((wrote != 0)) && [[ -z $told ]] || return 0
    warn "not all of the output could be written: rows of the table may be lost"
    # mpirun itself may fail too, with a status of its own.
    if ((status == 0 || status > 128)); then status=$kFailed; fi
}

# The record may have more than what was printed.
point_to_record() {
    local i file=
    for ((i = 1; i < ${#program[@]}; ++i)); do
        case ${program[i]} in
            --json) file=${program[i + 1]-} ;;
            --json=*) file=${program[i]#*=} ;;
        esac
    done
    [[ -f $file ]] && (($(stat -c %Y "$file") >= began_s)) || return 0 # or it is that of another run
    if ! tail -n 1 "$file" | grep -q '"kind":"end"'; then
        if [[ $file == -* ]]; then file=./$file; fi
        warn "the record is broken off; 'fabricbench table $(quoted "$file")' prints the rows that it has"
    fi
}

# Runs command until it ends. Open MPI's mpirun that gets SIGINT or SIGTERM waits before it tells the ranks, does not read
# what they print then, and kills them. SIGUSR1 it passes on at once, and goes on reading.
run_until_told() {
    local job told='' times_told=0 status=0 signal writer='' began_s watcher stuck=0
    began_s=$(date +%s)
    for signal in "${kEndings[@]}"; do
        # shellcheck disable=SC2064  # now
        trap "told=$signal; times_told=\$((times_told + 1))" "$signal"
    done
    trap pause_job TSTP
    open_output
    trap '' TTOU  # mpirun may print in spite of `stty tostop`
    set -m        # in a process group of its own, which Ctrl-C does not reach
    mortal "${command[@]}" </dev/null >&3 3>&- &
    job=$!
    set +m
    end_where_stuck "$job" </dev/null >&2 3>&- &
    watcher=$!
    while true; do
        status=0
        wait "$job" 2>/dev/null || status=$?
        if [[ -n $told ]] || ! kill -0 "$job" 2>/dev/null; then break; fi  # Ctrl-Z ends waiting, too
    done
    if [[ -n $told ]]; then end_job && status=$((128 + $(kill -l "$told"))); fi
    kill -TERM "$watcher" 2>/dev/null || true
    # Told to all of the group, it may have ended before, and bash 5.2 waits for ever then.
    if [[ -z $told ]]; then wait "$watcher" 2>/dev/null || stuck=$?; fi
    if [[ $stuck -eq $kTimeout ]]; then
        status=$kTimeout
        # What the launcher has started may hold its output open, and has nothing to say any more.
        if [[ -n $writer ]]; then { sleep "$kToFlush_s" && kill -KILL "$writer"; } >/dev/null 2>&1 3>&- & fi
    fi
    close_output
    if ((status != 0)); then point_to_record; fi
    exit "$status"
}

main() {
    local host_options=() mpi_options=() settings=() hosts=() program=() launch=() command=() total=0 launcher='' agent='' kind=all
    local dry_run=no said
    trap 'exit 131' QUIT  # which bash ignores
    read_options "$@"
    use_mpi
    choose_launcher
    find_hosts
    if [[ $launcher == srun ]]; then export FABRICBENCH_RUN=$$; fi # by which its ranks are found
    choose_job
    command=("${launch[@]}" "${mpi_options[@]}" "${program[@]}")
    if [[ $launcher == mpirun && $(kind_of_mpirun) == open_mpi ]]; then settings=("${mpi_environment[@]}"); fi
    if [[ $dry_run == yes ]]; then
        printf '%s\n' "${settings[*]:+${settings[*]} }$(quoted "${command[@]}")"
        return
    fi
    warn "$said"
    warn "running ${settings[*]:+${settings[*]} }$(quoted "${command[@]}")"
    run_until_told
}

main "$@"
