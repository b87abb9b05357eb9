# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables of hosts.sh and cases.sh
# Sweeps over hosts made of network namespaces, and what they have to find: `source` this behind cases.sh.
#
#   make_equal_hosts N [DEVICES]   N hosts that send and receive 40 Mbit/s each
#   sweep WAY OPTION...            scripts/sweep_pairs.sh over all of them, WAY being script (a job a pair) or resident
#   expect_findings FINDING...     that is exactly what the verdict blames: BLAME:DIRECTION:HOSTS[:RAIL] with the hosts'
#                                  numbers from 1, such as host:receives:6 or pair:both:2,5; without any: nothing is slow
#   expect_groups NUMBERS...       these groups of hosts are told, each such as 1,2,3, across them a fifth of the rate within
#   expect_kinds FAST SLOW         two kinds of hosts are told, which hosts are of which, and nobody is blamed
#   unplug, freeze, flap           what happens to hosts, see below
#
# sweep reads: programs, the folder of the programs; sweep_limit_s, the time limit of a pair (24); sweep_windows, how many
# each direction of a pair takes (7). sweep, and what is expected of its verdict, read: rate_wanted, GB/s that --expect
# gives (empty: it is not given).

readonly kRate=40mbit # far below what two processors move, also where they have other things to do
readonly kRate_gb_per_s=0.005
readonly kSlow=8mbit
# Of what is expected: what is slow here is far slower, and what a busy machine holds up is not.
readonly kTolerance=50%
# Few rounds for all hosts: by default there are so many that hosts that are slow now and then are seen.
readonly kFind=(--find --rounds 5)
# Of up to 16 hosts, each pair once: without a number, --find measures all pairs again, for twice as long.
readonly kFindInAllPairs=(--find --rounds 15)
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts" && pwd)
records=
sweep_status=

make_equal_hosts() {
    local host device
    make_hosts "$1" "${2:-1}"
    records=$directory/records.jsonl
    for host in "${hosts[@]}"; do
        for ((device = 0; device < ${2:-1}; ++device)); do
            shape_host "$host" "$kRate" "e$device"
            shape_sending "$host" "$kRate" "e$device"
        done
    done
}

list_of_hosts() { (IFS=, && echo "${hosts[*]}"); }

# start_sweep WAY OPTION...: in the background. Messages are small, so that the links are what takes the time, and pairs few,
# so that two processors can start their jobs.
start_sweep() {
    local way=$1 networks=$kSubnet.0.0/24 options=(--max-concurrent 4 --tolerance "$kTolerance")
    shift
    [[ $way != resident ]] || options+=(--resident)
    [[ -z ${rate_wanted-} ]] || options+=(--expect "$rate_wanted")
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_tcp_if_include=$networks OMPI_MCA_oob_tcp_if_include=$networks \
        OMPI_MCA_oob_tcp_keepalive_time=2 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2 \
        TMPDIR=$directory ip netns exec "$hosts_switch" "$scripts/sweep_pairs.sh" -H "$(list_of_hosts)" --programs "$programs" \
        --agent "${sweep_agent:-$hosts_directory/agent}" --records "$records" --logs "$directory/logs" --seed 7 \
        --timeout "${sweep_limit_s:-24}" --size 64K --mpi-options "--oversubscribe --bind-to none --mca pml ob1 --mca btl self,tcp" \
        "${options[@]}" "$@" -- --window 4 -n "${sweep_windows:-7}" >"$out" 2>"$err" </dev/null &
    job=$!
}

sweep() {
    start_sweep "$@"
    wait_for_sweep
}

# 0, 6 and 7 are verdicts; everything else is none.
wait_for_sweep() {
    wait_for_job
    sweep_status=$job_status
    cat "$err" "$out"
    is_verdict "$sweep_status" || fail "exit status $sweep_status of the sweep"
}

is_verdict() { [[ $1 -eq 0 || $1 -eq 6 || $1 -eq 7 ]]; }

# expect_verdict STATUS MESSAGE...
expect_verdict() {
    [[ $sweep_status -eq $1 ]] || try_again "exit status $sweep_status, ${*:2}"
}

# judge_records MESSAGE ARGUMENT...: as judge, with verdict, which find_slow_links reaches, and arguments.
judge_records() {
    "$programs/find_slow_links" --tolerance "$kTolerance" ${rate_wanted:+--expect "$rate_wanted"} \
        --json "$directory/verdict.json" "$records" >"$directory/verdict.txt" || true
    judge "$1" "$directory/verdict.json" "${@:2}" <<EOT
import json, sys
verdict = json.load(open(sys.argv[1]))
arguments = sys.argv[2:]
def numbers(hosts):
    return ",".join(host.rpartition("-h")[2] for host in hosts)
$(cat)
EOT
}

# expect_findings FINDING...: a direction of * is any.
expect_findings() {
    judge_records "that is not what is wrong: ${*:-nothing}" "$@" <<'EOT'
found = [":".join([finding["blame"], finding["direction"], numbers(finding["hosts"])] +
                  ([finding["rail"]] if finding["rail"] else [])) for finding in verdict["findings"]]
left = list(found)
def is_meant(finding, wanted):
    return all(want in ("*", have) for have, want in zip(finding.split(":"), wanted.split(":"))) and \
        finding.count(":") == wanted.count(":")
missing = []
for wanted in arguments:
    match = next((finding for finding in left if is_meant(finding, wanted)), None)
    left.remove(match) if match else missing.append(wanted)
print("blamed:", " ".join(found) or "nothing", "after", verdict["readings"], "readings")
if missing or left:
    print(f"not blamed: {missing}; blamed wrongly: {left}")
    sys.exit(AGAIN)
if not arguments and verdict["judged"] != "clean":
    print(f"judged {verdict['judged']}: {verdict['headline']}")
    sys.exit(AGAIN)
EOT
}

# expect_groups NUMBERS...: in the verdict, and in what the sweep has printed.
expect_groups() {
    judge_records "these are not the groups: $*" "$out" "$@" <<'EOT'
groupings = verdict["groupings"]
told = [[numbers(group["hosts"]) for group in grouping["groups"]] for grouping in groupings]
across = [round(grouping["across_percent_of_within"]) for grouping in groupings]
print("told: groups", told, "across", across, "% of within, after", verdict["readings"], "readings")
if len(told) != 1 or sorted(told[0]) != sorted(arguments[1:]) or not 10 < across[0] < 40:
    sys.exit(AGAIN)
text = open(arguments[0]).read()
assert f"{len(told[0])} groups, and between them {across[0]} % of the bandwidth within" in text, across
for group in groupings[0]["groups"]:
    assert f" {group['name']}: {group['folded']}\n" in text, group
EOT
}

# expect_kinds FAST SLOW: each such as 1,2,3; in the verdict, and in what the sweep has printed.
expect_kinds() {
    judge_records "these are not the kinds of hosts: $*" "$out" "$@" <<'EOT'
kinds = verdict["kinds"]
print("told: kinds", kinds and [numbers(kind["hosts"]) for kind in kinds], "after", verdict["readings"], "readings")
if not kinds or [numbers(kind["hosts"]) for kind in kinds] != arguments[1:] or verdict["findings"]:
    sys.exit(AGAIN)
line = next(line for line in open(arguments[0]) if line.startswith("Two kinds of hosts"))
for kind in kinds:
    assert kind["folded"] in line, (kind, line)
EOT
}

# wait_for_readings N: while a sweep is under way.
wait_for_readings() { wait_while_job_runs have_readings "$1"; }

have_readings() { (($(readings_so_far) >= $1)); }

# A resident job's readings are in the file of records when it is over, and on its way there before.
readings_so_far() {
    cat "$records" "$directory"/fabricbench-sweep.*/out 2>/dev/null | grep -c '"kind":"reading"' || true
}

# unplug NUMBER: a host is out of reach from now on.
unplug() { ip -n "${hosts[$1 - 1]}" link set e0 down; }

# Functions that go on in the background until the test ends add their process to nuisances.
nuisances=()

end_nuisances() {
    local process
    for process in "${nuisances[@]}"; do
        kill "$process" 2>/dev/null || true
    done
    nuisances=()
}

# freeze NUMBER: every process of the host, of now and later, stands still.
freeze() {
    local host=${hosts[$1 - 1]}
    while sleep 0.05; do
        # shellcheck disable=SC2046  # one word a process
        kill -STOP $(ip netns pids "$host") 2>/dev/null || true
    done &
    nuisances+=("$!")
}

# flap NUMBER: what the host sends and receives is slow in one round of all hosts, then fast in two, and so on. Rounds are
# told by the readings there are, so that it does not matter how long they take.
flap() {
    local host=${hosts[$1 - 1]} rate='' wanted
    while sleep 0.05; do
        wanted=$kRate
        (($(readings_so_far) / ${#hosts[@]} % 3)) || wanted=$kSlow
        [[ $wanted != "$rate" ]] || continue
        rate=$wanted
        shape_host "$host" "$rate"
        shape_sending "$host" "$rate"
    done &
    nuisances+=("$!")
}
