#!/usr/bin/env bash
# What tests on hosts have in common: `source` this, do not run it. A test sets `program`, makes its hosts, and calls
# run_case. Exit status: 0 passed, 1 failed, 77 skipped with a reason.

# shellcheck source=scripts/hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/hosts.sh"

# More than that, and the job did not end by itself: run_on_hosts ended it, with this status of mpirun's. It is long, so
# that only what hangs meets it, however busy the machine is.
export run_timeout_s=240
readonly kEndedByLimit=110

# What is judged by a measurement is tried so often, since this machine may have had other things to do.
readonly kTries=3
words_of_test=("$@")

program=
mpi_options=() # for mpirun, before the program
job=        # the process number of mpirun
job_status= # how it ended
directory=
out=
err=

fail() {
    printf 'failed: %s\n' "$*" >&2
    echo '--- standard output:' >&2
    cat "$out" >&2
    echo '--- standard error:' >&2
    cat "$err" >&2
    exit 1
}

# try_again MESSAGE...: what was measured does not show what it should. The whole case begins anew, with new hosts, and
# fails the last time. For judgements of a rate only: not in a subshell.
try_again() {
    local this=${FABRICBENCH_TRY:-1}
    ((this < kTries)) || fail "$* ($kTries tries)"
    echo "try $this of $kTries: $*; again"
    clean_up
    FABRICBENCH_TRY=$((this + 1)) exec "$0" "${words_of_test[@]}"
}

# judge MESSAGE ARGUMENT...: runs the Python on standard input. What load cannot change it asserts; where a measurement is
# not what it should be, it ends by sys.exit(AGAIN).
judge() {
    local status=0
    { echo 'AGAIN = 3' && cat; } | python3 - "${@:2}" || status=$?
    case $status in
        0) ;;
        3) try_again "$1" ;;
        *) fail "$1" ;;
    esac
}

# expect_line FILE PATTERN
expect_line() {
    grep -Eq -- "$2" "$1" || fail "no line of $(basename "$1") matches '$2'"
}

# expect_note FILE REGULAR_EXPRESSION: of the beginning of a note below a table; the lines of a long one are joined.
expect_note() {
    sed ':note; /^# Note: /{N; s/\n#       / /; tnote; P; D}' "$1" | grep -E -- "^# Note: $2" >/dev/null ||
        fail "no note of $(basename "$1") matches '$2'"
}

# start RANKS OPTION...: RANKS on each host, in the background.
start() {
    local ranks=$1
    shift
    run_on_hosts "$ranks" "${mpi_options[@]}" "$program" "$@" >"$out" 2>"$err" &
    job=$!
}

# Waits for the job, which has to end by itself.
wait_for_job() {
    local status=0
    wait "$job" || status=$?
    job=
    job_status=$status
    [[ $job_status -ne $kEndedByLimit ]] || fail "the job did not end by itself within $run_timeout_s s"
    # No program has run then.
    ! grep -q 'unable to reliably start one or more daemons' "$err" || try_again "mpirun could not start its daemons"
}

# wait_while_job_runs COMMAND...: until the command succeeds.
wait_while_job_runs() {
    until "$@"; do
        kill -0 "$job" 2>/dev/null || fail "the job ended before this was true: $*"
        sleep 0.05
    done
}

# signal_rank SIGNAL RANK: to the process that the list of devices names. mpirun may hand that list on after the ranks have
# begun to measure.
signal_rank() {
    local line="^# *Rank *$2 .* Pid *\([0-9]*\) on .*"
    wait_while_job_runs grep -q "$line" "$out"
    kill "-$1" "$(sed -n "s/$line/\1/p" "$out")"
}

# run RANKS OPTION...: a job that has to end well.
run() {
    start "$@"
    wait_for_job
    [[ $job_status -eq 0 ]] || fail "exit status $job_status of $(basename "$program") ${*:2}"
}

clean_up() {
    [[ -z $job ]] || kill -KILL "$job" 2>/dev/null || true
    remove_hosts
    [[ -z $directory ]] || rm -rf "$directory"
    directory=
}

# A directory for the outputs; everything is removed at the end, whatever that is.
make_directory() {
    trap clean_up EXIT
    trap 'exit 1' INT TERM HUP
    directory=$(mktemp -d "/tmp/fb-test.$$.XXXXXX")
    out=$directory/out err=$directory/err
    touch "$out" "$err"
}

# run_case CASE: the function of that name with test_ before it.
run_case() {
    declare -F "test_$1" >/dev/null || { echo "there is no case '$1'" >&2 && exit 2; }
    "test_$1"
}
