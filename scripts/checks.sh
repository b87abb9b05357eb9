# shellcheck shell=bash
# What the scripts that check real hardware share: jobs with a time limit, and a PASS, FAIL or SKIP line for each check.
# To be sourced behind lib.sh; `record` names the file that takes every line too, or is empty.

# A job that hangs counts as failed after so long.
readonly kTimeLimit_s=120

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
launch=(--oversubscribe)  # of mpirun, for every job

# tell LINE...
tell() {
    printf '%s\n' "$*"
    if [[ -n ${record-} ]]; then printf '%s\n' "$*" >>"$record"; fi
}

# verdict PASS|FAIL|SKIP NAME DETAIL...
verdict() {
    case $1 in
        PASS) passed=$((passed + 1)) ;;
        FAIL) failed=$((failed + 1)) ;;
        SKIP) skipped=$((skipped + 1)) ;;
    esac
    tell "$1 $2${3:+: ${*:3}}"
}

# fail NAME DETAIL...: a FAIL verdict, below which the end of what the job printed is shown.
fail() {
    verdict FAIL "$@"
    local line
    while IFS= read -r line; do tell "#   $line"; done < <(tail -n 20 "$work/out")
}

# Runs a job of the given number of processes; its output goes to $work/out, standard error behind the rest: the launcher
# would put it into the middle of a line. Prints its exit status.
job() {
    local processes=$1 status=0
    shift
    timeout -k 10 "$kTimeLimit_s" mpirun "${launch[@]}" -np "$processes" "$@" </dev/null >"$work/out" 2>"$work/err" ||
        status=$?
    cat "$work/err" >>"$work/out"
    echo "$status"
}

# Why a FAIL is one.
first_complaint() {
    grep -m 1 -E '^[a-z0-9_]*(_perf|_bw|_lat|_connect): |fabricbench: ' "$work/out" || grep -m 1 '^# Backend: ' "$work/out" ||
        tail -n 1 "$work/out"
}

# ends_with STATUS WORDS NAME PROCESSES COMMAND...: the job ends with this status and says these words.
ends_with() {
    local expected=$1 words=$2 name=$3 status
    shift 3
    status=$(job "$@")
    if [[ $status == "$expected" ]] && grep -q -- "$words" "$work/out"; then
        verdict PASS "$name" "exit status $status"
    else
        fail "$name" "exit status $status instead of $expected, or no '$words': $(first_complaint)"
    fi
}

# Prints how many checks passed, and exits.
conclude() {
    tell "$passed passed, $failed failed, $skipped skipped"
    # shellcheck disable=SC2154  # of lib.sh
    [[ $failed -eq 0 ]] || exit "$kFailed"
    exit 0
}
