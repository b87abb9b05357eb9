#!/usr/bin/env bash
# usage: wires_test.sh DIRECTORY CASE
#
# Which wires carried the data, and which host or group is slow, on hosts made of network namespaces. DIRECTORY has the
# programs; CASE is one of the functions below whose name begins with test_, without that.
set -euo pipefail

# shellcheck source=tests/cluster/cases.sh
source "$(dirname "${BASH_SOURCE[0]}")/cases.sh"

programs=$1
readonly kBothNetworks=$kSubnet.0.0/24,$kSubnet.1.0/24

# run_json COLLECTIVE RANKS OPTION...
run_json() {
    program=$programs/$1_perf
    run "$2" --json "$directory/run.json" --force "${@:3}"
}

# check_json PYTHON: with rows, context and end of the last run, host names, and wire(row, host, name) in out of place.
# AGAIN is how it ends where a rate is not what it should be.
check_json() {
    judge "run.json is not as it should be" "$directory/run.json" "${hosts[@]}" <<EOT
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
hosts = sys.argv[2:]
context, end = lines[0], lines[-1]
rows = [line for line in lines if line["kind"] == "row"]
def wire(row, host, name):
    found = [w for w in row["out_of_place"]["wires"] if (w["host"], w["wire"]) == (host, name)]
    assert len(found) == 1, (host, name, row["out_of_place"]["wires"])
    return found[0]
$1
EOT
}

expect_no_line() {
    ! grep -Eq -- "$2" "$1" || fail "a line of $(basename "$1") matches '$2'"
}

# Two ranks each send and receive the whole message in an all_reduce: five times on the clock, and three before that,
# the first of which may begin before the other host reads its counters.
test_carried() {
    make_hosts 2
    run_json all_reduce 1 -b 1M -e 4M -f 4 -n 5 -w 3 --placement out
    expect_line "$out" "^# Wires: ${hosts[0]}: e0 100.0 % of [0-9.]+ MiB sent, [0-9.]+ MiB received$"
    expect_line "$out" "^# Wires: ${hosts[1]}: e0 100.0 % of [0-9.]+ MiB sent, [0-9.]+ MiB received$"
    expect_no_line "$out" 'rails|carried .* %'
    check_json '
assert [row["size_bytes"] for row in rows] == [1 << 20, 4 << 20], rows
for row in rows:
    for host in hosts:
        for way in ("sent_bytes", "received_bytes"):
            carried = wire(row, host, "e0")[way] / row["size_bytes"]
            assert 5 <= carried <= 12, (host, way, carried)
assert len(end["wires"]) == 2, end["wires"]
assert [line.split()[1] for line in end["wires"]] == [host + ":" for host in hosts], end["wires"]
'
}

test_idle_interface() {
    make_hosts 2 2
    run_networks=$kSubnet.1.0/24 run_json all_reduce 1 -b 1M -e 1M -n 5 -w 3 --placement out
    expect_line "$out" "^# Wires: ${hosts[0]}: e1 (100.0|99.[0-9]) % of "
    expect_no_line "$out" 'Wires: .* e0|rails|carried .* %'
    check_json '
for host in hosts:
    assert wire(rows[0], host, "e1")["sent_bytes"] >= 5 << 20
    assert wire(rows[0], host, "e0")["sent_bytes"] < 64 << 10
'
}

# UCX is asked to use e1, and Open MPI does not take UCX here: it goes by TCP over e0.
test_asked_for_another() {
    make_hosts 2 2
    mpi_options=(-x UCX_NET_DEVICES=e1)
    run_pml='' run_json all_reduce 1 -b 4M -e 4M -n 3 --placement out
    expect_note "$out" 'UCX_NET_DEVICES=e1 asks for e1, which carried 0.0 % of the [0-9.]+ MiB sent and received by .*, where e0 carried 100.0 %'
    check_json '
assert any(note.startswith("UCX_NET_DEVICES=e1 asks for e1") for note in end["notes"]), end["notes"]
'
}

# TCP is asked to use e1, and each host's routes send to the other's address there by e0.
test_other_route() {
    make_hosts 2 2
    ip -n "${hosts[0]}" route add "$kSubnet.1.2/32" dev e0
    ip -n "${hosts[1]}" route add "$kSubnet.1.1/32" dev e0
    program=$programs/tcp_bw
    run 1 -b 256K -e 256K -n 5 --interface "$kSubnet.1.0"
    expect_note "$out" "--interface=$kSubnet.1.0 asks for e1, which carried 0.0 % of the [0-9.]+ MiB sent and received by .*, where e0 carried 100.0 %[.;]"
    run 1 -b 256K -e 256K -n 5 --interface e0
    expect_line "$out" "^# Wires: ${hosts[0]}: e0 100.0 % of "
    expect_no_line "$out" 'carried .* %'
}

test_asked_for_none() {
    make_hosts 2
    mpi_options=(-x UCX_NET_DEVICES=mlx5_0:1)
    run_pml='' run_json all_reduce 1 -b 4M -e 4M -n 3 --placement out
    expect_note "$out" "UCX_NET_DEVICES=mlx5_0:1 allows no device of ${hosts[0]}, where e0 carried 100.0 % of the "
}

# Open MPI deals a message out to its interfaces by the rates that it believes they have.
test_rails_alike() {
    make_hosts 2 2
    run_networks=$kBothNetworks run_json all_reduce 1 -b 4M -e 4M -n 5 --placement out
    expect_line "$out" "^# Wires: ${hosts[0]}: e0 [45][0-9.]+ %, e1 [45][0-9.]+ % of .*; 2 rails, [0-9.]+ % apart$"
}

test_rails_unlike() {
    make_hosts 2 2
    mpi_options=(--mca btl_tcp_bandwidth_e0 3000 --mca btl_tcp_bandwidth_e1 1000)
    run_networks=$kBothNetworks run_json all_reduce 1 -b 4M -e 4M -n 5 --placement out
    expect_note "$out" "the 2 rails of .* carried unequal loads: e0 [0-9.]+ MiB and e1 [0-9.]+ MiB, [0-9.]+ % of their mean apart; 5 % is allowed; the same holds for 1 more host"
    check_json '
most, least = (wire(rows[0], hosts[0], name)["sent_bytes"] for name in ("e0", "e1"))
assert most > 1.5 * least > 0, (most, least)
'
}

# The last host receives slowly, and so its group is slow; the other has links of its own.
test_slow_group() {
    local host
    make_hosts 4
    for host in "${hosts[@]:0:3}"; do
        shape_host "$host" 80mbit
    done
    shape_host "${hosts[3]}" 10mbit
    run_json broadcast 1 -b 1M -e 1M -n 3 -w 1 --placement out --split "MOD 2"
    check_json '
busbw = [row["out_of_place"]["busbw_gb_per_s"] for row in rows]
assert [row["group"] for row in rows] == [0, 1], rows
assert busbw[1] < 1.3 * 10 / 8000, busbw
if busbw[0] < 3 * busbw[1]: print(busbw); sys.exit(AGAIN)
assert end["average_busbw_gb_per_s"] == busbw[1], (end, busbw)
times = rows[1]["out_of_place"]["rank_times_us"]
assert max(times) == times[1], times
assert {w["host"] for w in rows[0]["out_of_place"]["wires"]} == {hosts[0], hosts[2]}
assert wire(rows[0], hosts[2], "e0")["received_bytes"] >= 3 << 20
assert wire(rows[1], hosts[3], "e0")["received_bytes"] >= 3 << 20
assert len(end["wires"]) == 4, end["wires"]
'
    expect_note "$out" "Group 1 \(ranks 1, 3; hosts ${hosts[1]}, ${hosts[3]}\) is the slowest, [0-9.]+ % below the fastest"
    if grep -q "took longest" "$out"; then fail "one epoch names the slowest rank"; fi
}

make_directory
run_case "$2"
