#!/usr/bin/env bash
# What tests on hosts have in common: `source` this, do not run it. A test sets `program`, makes its hosts, and calls
# run_case. Exit status: 0 passed, 1 failed, 77 skipped with a reason.

# shellcheck source=tests/cluster/hosts.sh
source "$(dirname "${BASH_SOURCE[0]}")/hosts.sh"

# More than that, and the job did not end by itself: run_on_hosts ended it.
export run_timeout_s=40

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

# expect_line FILE PATTERN
expect_line() {
    grep -Eq -- "$2" "$1" || fail "no line of $(basename "$1") matches '$2'"
}

# start RANKS OPTION...: RANKS on each host, in the background.
start() {
    local ranks=$1
    shift
    run_on_hosts "$ranks" "${mpi_options[@]}" "$program" "$@" >"$out" 2>"$err" &
    job=$!
}

# Waits for the job, and prints its exit status.
wait_for_job() {
    local status=0
    wait "$job" || status=$?
    job=
    job_status=$status
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
}

# A directory for the outputs; everything is removed at the end, whatever that is.
make_directory() {
    trap clean_up EXIT
    trap 'exit 1' INT TERM HUP
    directory=$(mktemp -d /tmp/fb-test.XXXXXX)
    out=$directory/out err=$directory/err
    touch "$out" "$err"
}

# run_case CASE: the function of that name with test_ before it.
run_case() {
    declare -F "test_$1" >/dev/null || { echo "there is no case '$1'" >&2 && exit 2; }
    "test_$1"
}
