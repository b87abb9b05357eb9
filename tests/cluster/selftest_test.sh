#!/usr/bin/env bash
# usage: selftest_test.sh PROGRAMS CASE
#
# Runs scripts/selftest.sh with the programs in the directory PROGRAMS, and with some that lie. CASE is one of the functions
# below whose name begins with test_, without that. Exit status: 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
readonly kOk=0 kFailed=1 kUsage=2 kMissing=3 kNotJudged=7

programs=$1
selftest=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)/selftest.sh

# selftest STATUS OPTION...: has to end like that; without hosts here, the test is skipped.
selftest() {
    local status=0
    "$selftest" "${@:2}" >"$out" 2>"$err" </dev/null || status=$?
    cat "$out"
    [[ $status -ne $kMissing || $1 -eq $kMissing ]] || skip "$(<"$err")"
    [[ $status -eq $1 ]] || fail "exit status $status of selftest.sh ${*:2}, not $1"
}

test_command_line() {
    selftest "$kOk" --help
    expect_line "$out" '^usage: scripts/selftest.sh '
    selftest "$kOk" --list
    expect_line "$out" '^tcp_bw.50 +a link of 50 Mbit/s$'
    selftest "$kUsage" --fast
    expect_line "$err" "'--fast' is not an option"
    selftest "$kUsage" tcp_bw.51
    expect_line "$err" "'tcp_bw.51' is not a check"
    selftest "$kMissing" --programs "$directory/none"
    expect_line "$err" 'is no folder'
}

# write_liar: a tcp_bw whose record has twice the bandwidth that was measured. A busy machine cannot double one.
write_liar() {
    mkdir "$directory/programs"
    cat >"$directory/programs/tcp_bw" <<EOT
#!/bin/sh
$programs/tcp_bw "\$@" || exit
[ "\$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
while [ "\$1" != --json ]; do shift; done
exec python3 - "\$2" <<'EOP'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
for line in lines:
    if line["kind"] == "row": line["out_of_place"]["busbw_gb_per_s"] *= 2
open(sys.argv[1], "w").writelines(json.dumps(line) + "\n" for line in lines)
EOP
EOT
    chmod +x "$directory/programs/tcp_bw"
}

test_lying_program() {
    write_liar
    selftest "$kFailed" --programs "$directory/programs" tcp_bw.50
    expect_line "$out" '^WRONG +tcp_bw.50 +47\.82 Mbit/s +[0-9.]+ Mbit/s +\+[0-9.]+ %, at most 3$'
    expect_line "$out" '^0 ok, 1 wrong, 0 unknown$'
}

# A tc that makes links twice as fast as it was told: the same, seen from the other side.
test_other_link() {
    mkdir "$directory/path"
    # shellcheck disable=SC2016  # the shim expands it
    printf '#!/bin/bash\nexec %q "${@/50000kbit/100000kbit}"\n' "$(command -v tc)" >"$directory/path/tc"
    chmod +x "$directory/path/tc"
    PATH=$directory/path:$PATH selftest "$kFailed" --programs "$programs" tcp_bw.50
    expect_line "$out" '^WRONG +tcp_bw.50 '
}

# What cannot be checked is unknown, and not ok.
test_missing_program() {
    mkdir "$directory/programs"
    selftest "$kNotJudged" --programs "$directory/programs" tcp_bw.50 slow_rank
    expect_line "$out" "^unknown +tcp_bw.50 +there is no program '.*/tcp_bw'\$"
    expect_line "$out" '^unknown +slow_rank +there is no planted_faults.so beside the programs$'
    expect_line "$out" '^0 ok, 0 wrong, 2 unknown$'
}

# Where the machine is too busy for some of it, the others have to be true.
test_complete() {
    local status=0
    "$selftest" --programs "$programs" >"$out" 2>"$err" </dev/null || status=$?
    cat "$out"
    [[ $status -ne $kMissing ]] || skip "$(<"$err")"
    [[ $status -ne $kNotJudged ]] || skip "unknown: $(grep '^unknown' "$out" | head -n 1)"
    [[ $status -eq $kOk ]] || fail "exit status $status"
}

make_directory
run_case "$2"
