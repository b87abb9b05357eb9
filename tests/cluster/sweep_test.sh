#!/usr/bin/env bash
# usage: sweep_test.sh PROGRAMS CASE [script|resident [HOSTS]]
#
# Sweeps over hosts made of network namespaces with a fault that was put there, by scripts/sweep_pairs.sh with a job for each
# pair, or resident: what was put there has to be blamed, and nothing else. The programs lie in the directory PROGRAMS. CASE
# is one of the functions below whose name begins with test_, without that, or ends in _script or _resident, which says the
# way. HOSTS is how many (6). Exit status: 0 passed, 1 failed, 77 skipped with a reason.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"
# shellcheck source=tests/cluster/sweeps.sh
source "$(dirname "${BASH_SOURCE[0]}")/sweeps.sh"

programs=$1
case=$2
way=${3:-script}
case $case in
    *_script | *_resident) way=${case##*_} case=${case%_*} ;;
esac
number=${4:-6}

test_clean() {
    make_equal_hosts "$number"
    sweep "$way" "${kFind[@]}"
    expect_findings
    expect_verdict 0 "though nothing is slow"
}

# slow_both_ways NUMBER...: both ways.
slow_both_ways() {
    local host
    for host in "$@"; do
        shape_host "${hosts[host - 1]}" "$kSlow"
        shape_sending "${hosts[host - 1]}" "$kSlow"
    done
}

test_slow_nic() {
    make_equal_hosts "$number"
    slow_both_ways 3
    sweep "$way" "${kFind[@]}"
    expect_findings host:both:3
    expect_verdict 6 "though a host is slow"
    expect_line "$out" "${hosts[2]}"
}

test_slow_receiving() {
    make_equal_hosts "$number"
    shape_host "${hosts[4]}" "$kSlow"
    sweep "$way" "${kFind[@]}"
    expect_findings host:receives:5
}

test_slow_sending() {
    make_equal_hosts "$number"
    shape_sending "${hosts[1]}" "$kSlow"
    sweep "$way" "${kFind[@]}"
    expect_findings host:sends:2
}

# Of all pairs, since a few rounds may not have this one in them.
test_slow_pair() {
    make_equal_hosts "$number"
    shape_way 2 5 "$kSlow" "$kRate"
    shape_way 5 2 "$kSlow" "$kRate"
    sweep "$way" "${kFindInAllPairs[@]}"
    expect_findings pair:both:2,5
}

test_two_slow() {
    make_equal_hosts "$number"
    slow_both_ways 2 6
    sweep "$way" "${kFind[@]}"
    expect_findings host:both:2 host:both:6
}

test_dead_host() {
    make_equal_hosts "$number"
    unplug 4
    sweep "$way" "${kFind[@]}"
    expect_findings 'dead:*:4'
}

# It dies while the sweep goes on.
test_dying_host() {
    make_equal_hosts "$number"
    start_sweep "$way" "${kFind[@]}"
    wait_for_readings 6
    unplug 4
    wait_for_sweep
    expect_findings 'dead:*:4'
}

test_hung_host() {
    make_equal_hosts "$number"
    start_sweep "$way" "${kFind[@]}"
    wait_for_readings 6
    freeze 4
    wait_for_sweep
    expect_findings 'dead:*:4'
}

test_refused_login() {
    make_equal_hosts "$number"
    sweep_agent=$directory/agent
    cat >"$sweep_agent" <<EOT
#!/bin/sh
if [ "\$1" = ${hosts[3]} ]; then
    echo "ssh: connect to host \$1 port 22: Connection refused" >&2
    exit 255
fi
exec $hosts_directory/agent "\$@"
EOT
    chmod +x "$sweep_agent"
    sweep "$way" "${kFind[@]}"
    expect_findings 'dead:*:4'
    expect_line "$out" 'Connection refused'
}

test_odd() {
    make_equal_hosts $((number - 1 + number % 2))
    slow_both_ways 3
    sweep "$way" "${kFind[@]}"
    expect_findings host:both:3
}

# It takes some rounds for all hosts to see a link come and go.
test_flapping() {
    make_equal_hosts "$number"
    flap 3
    sweep "$way" --rounds $((number - 2 < 12 ? number - 2 : 12))
    sweep "$way" --resume "${kFindInAllPairs[@]}"
    end_nuisances
    expect_findings 'transient:*:3'
}

test_slow_rail() {
    make_equal_hosts "$number" 2
    shape_host "${hosts[2]}" "$kSlow" e1
    shape_sending "${hosts[2]}" "$kSlow" e1
    sweep "$way" "${kFind[@]}" --rails e0,e1
    expect_findings nic:both:3:e1
}

# from_to FIRST LAST: the numbers of hosts, as 1,2,3.
from_to() { seq -s , "$1" "$2"; }

# put_behind_slow_uplink FIRST LAST: hosts with these numbers get a fifth of the rate to and from the others.
put_behind_slow_uplink() {
    local numbers=()
    mapfile -t numbers < <(seq "$1" "$2")
    put_behind_uplink "$kSlow" "${numbers[@]}"
}

# Where nobody names groups or kinds, all pairs of 16 hosts are measured. Many of them are slow, so each takes few windows.
readonly kFewWindows=3

test_two_groups() {
    local half=$((number / 2))
    make_equal_hosts "$number"
    put_behind_slow_uplink $((half + 1)) "$number"
    sweep_windows=$kFewWindows sweep "$way" "${kFindInAllPairs[@]}"
    expect_findings
    expect_groups "$(from_to 1 "$half")" "$(from_to $((half + 1)) "$number")"
    expect_verdict 0 "though no host is slow"
}

# Three leaves: of 16 hosts 9, 4 and 3.
test_unequal_leaves() {
    local second=$((number - number / 4 - number * 3 / 16 + 1)) third=$((number - number * 3 / 16 + 1))
    make_equal_hosts "$number"
    put_behind_slow_uplink "$second" $((third - 1))
    put_behind_slow_uplink "$third" "$number"
    sweep_windows=$kFewWindows sweep "$way" "${kFindInAllPairs[@]}"
    expect_findings
    expect_groups "$(from_to 1 $((second - 1)))" "$(from_to "$second" $((third - 1)))" "$(from_to "$third" "$number")"
    expect_verdict 0 "though no host is slow"
}

# Which half is as it should be, readings alone cannot tell; a rate that is given can.
test_half_slow() {
    local half=$((number / 2)) slow=()
    mapfile -t slow < <(seq $((half + 1)) "$number")
    make_equal_hosts "$number"
    slow_both_ways "${slow[@]}"
    sweep_windows=$kFewWindows sweep "$way" "${kFindInAllPairs[@]}"
    expect_kinds "$(from_to 1 "$half")" "$(from_to $((half + 1)) "$number")"
    expect_verdict 7 "though nobody can tell which half is slow"

    rate_wanted=$kRate_gb_per_s
    sweep_windows=$kFewWindows sweep "$way" --resume "${kFindInAllPairs[@]}"
    expect_findings "${slow[@]/#/host:both:}"
    expect_verdict 6 "though half of the hosts do not reach what was expected"
}

# Broken off in the middle, and gone on with: nothing that was measured is lost, or measured again.
test_broken_off() {
    local before
    make_equal_hosts "$number"
    slow_both_ways 3
    start_sweep "$way" --all-pairs
    wait_for_readings 6
    kill -TERM "$job" # as Ctrl-C, which what a script starts in the background never sees
    wait_for_job
    [[ $job_status -eq 130 ]] || fail "exit status $job_status of a sweep that was broken off"
    expect_line "$err" 'continue with: .*sweep_pairs.sh --resume'
    before=$(grep -c '"kind":"reading"' "$records")
    ((before >= 6)) || fail "only $before readings were kept"
    sweep "$way" --resume
    python3 - "$records" "$number" <<'EOT' || fail "not every pair was measured once"
import collections, json, sys
readings = [line for line in map(json.loads, open(sys.argv[1])) if line["kind"] == "reading"]
times = collections.Counter((reading["from_host"], reading["to_host"]) for reading in readings)
assert len(times) == int(sys.argv[2]) * (int(sys.argv[2]) - 1), len(times)
print(f"{len(readings)} readings of {len(times)} directions")
assert max(times.values()) == 1, times.most_common(3)
EOT
    expect_findings host:both:3
}

end_all() {
    end_nuisances
    clean_up
}

make_directory
trap end_all EXIT
run_case "$case"
