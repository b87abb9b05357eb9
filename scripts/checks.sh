# shellcheck shell=bash
# Shared by the scripts that check real hardware: jobs with a time limit, and a PASS, FAIL or SKIP line for each check.
# Source it after lib.sh. `record` names a file for a copy of every line, or is empty.

# A job that takes longer counts as failed.
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

# fail NAME DETAIL...: a FAIL verdict, followed by the end of the job's output.
fail() {
    verdict FAIL "$@"
    local line
    while IFS= read -r line; do tell "#   $line"; done < <(tail -n 20 "$work/out")
}

# job PROCESSES COMMAND...: runs a job and prints its exit status. Its output goes to $work/out. Standard error is
# appended, because the launcher could insert it in the middle of a line.
job() {
    local processes=$1 status=0
    shift
    timeout -k 10 "$kTimeLimit_s" mpirun "${launch[@]}" -np "$processes" "$@" </dev/null >"$work/out" 2>"$work/err" ||
        status=$?
    cat "$work/err" >>"$work/out"
    echo "$status"
}

# Prints the reason of a failure.
first_complaint() {
    grep -m 1 -E '^[a-z0-9_]*(_perf|_bw|_lat|_connect): |fabricbench: ' "$work/out" || grep -m 1 '^# Backend: ' "$work/out" ||
        tail -n 1 "$work/out"
}

# ends_with STATUS WORDS NAME PROCESSES COMMAND...: checks that the job ends with this status and prints these words.
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
