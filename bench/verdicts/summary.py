#!/usr/bin/env python3
"""Puts rows of judge.py together as the table in docs/slow-links-method.md.

  bench/verdicts/judge.py --bin DIR --all --hosts 8,64 --sweeps 20 --seed 1 --out rows.md
  bench/verdicts/summary.py rows.md                          prints the table
  bench/verdicts/summary.py rows.md --edit docs/slow-links-method.md  puts it between the marks there

A cell has what share of what was planted was found (of healthy fabrics, how many sweeps ended with 0; of failures at
random, how many did not), the mean over its kinds, each by its sweeps, and the innocents blamed a sweep. What has not
met its row's demand is listed below it.
"""

import argparse
import collections
import re
import sys

sys.dont_write_bytecode = True

from cases import CASES

HEALTHY = "healthy: flat, two and three levels, several rails, two halls"
DISTURBED = "healthy, with tails, drift, time of day, rounds or readings that drop"
ROWS = collections.OrderedDict([
    (HEALTHY, ["healthy_flat", "healthy_two_level", "healthy_three_level", "healthy_rail_only", "healthy_halls", "healthy_spread"]),
    (DISTURBED, ["healthy_tails", "healthy_drift", "healthy_time_of_day", "healthy_round_drops", "healthy_reading_drops"]),
    ("a host at -10, -20, -50 %, with all that too", ["host10", "host20", "host50", "host_tails", "host_drift", "host_time_of_day",
                                                      "host_round_drops", "host_reading_drops"]),
    ("one NIC; sends or receives only", ["nic", "sends", "receives"]),
    ('a host at -5 %, noise 1 %: found, or "cannot tell"', ["host5"]),
    ("slow and dead paths", ["two_paths", "path_one_way", "dead_path"]),
    ("dead host; dies later", ["dead_host", "dies"]),
    ("a host of which nothing works in one direction", ["silent_way"]),
    ("slow uplinks, locality given", ["leaf_uplink_known", "leaf_pair_uplink_known"]),
    ("fewer than half of the hosts slow", ["k_slow"]),
    ("half or more: two kinds; with `--expect`", ["k_half", "k_half_expect", "healthy_two_generations"]),
    ("half or more as whole leaves, locality given: two kinds", ["leaf_half"]),
    ("three grades of hosts: no slow one among the fine", ["grades"]),
    ("half or more that only send or receive slowly: two kinds", ["k_half_one_way"]),
    ("healthy, two hosts swapped in the locality: told, and nobody blamed", ["swapped_locality"]),
    ("healthy, up to a quarter of the hosts without a leaf in the locality: told, and 0", ["incomplete_locality"]),
    ("a twentieth to a fifth of attempts fail: never 0", ["fails_at_random"]),
    ("healthy groups of any sizes; groups of groups; a host alone", ["groups", "two_groups_uneven", "groups_of_groups", "lone_host"]),
    ("slow or dead hosts within groups", ["slow_in_groups", "mixed", "slow_in_generations"]),
    ("slow hosts, a right locality with leaves of two or four", ["slow_in_leaves"]),
    ("slow uplinks, no locality", ["uplink_unknown"]),
    ("flapping", ["flap_meeting", "flap_reading", "flap_burst", "flap_time", "flap_failing"]),
    ("paths that are slow or fail now and then: named, or open", ["flap_path", "fail_path"]),
    ("hosts that are cut off from the others", ["cut_off_leaf"]),
    ("most hosts of one of two leaves, locality given", ["most_of_a_leaf"]),
    ("a device that moves or is shared", ["device_moved", "device_shared"]),
    ("a slow, a flapping and a one-way host", ["two_faults"]),
])
WITHOUT_ROW = {"healthy_contention"}  # pairs that share uplinks end with 7 on purpose
BEGIN, END = "<!-- judged -->", "<!-- end of judged -->"


class Row:
    """One line of judge.py: a kind at a number of hosts."""

    def __init__(self, fields):
        self.case, self.hosts, self.sweeps = fields[0], int(fields[1]), int(fields[2])
        exits = dict(map(int, each.split(":")) for each in fields[8].split())
        fine = 100 * exits.get(0, 0) / self.sweeps
        planted_nothing = fine if self.case.startswith("healthy") else 100 - fine
        self.share = planted_nothing if fields[3] == "-" else float(fields[3].split()[0])
        self.innocents, self.meets = float(fields[5]), fields[11] == "yes"


def read(paths):
    rows = []
    for path in paths:
        with open(path) as file:
            for line in file:
                fields = [each.strip() for each in line.split("|")[1:]]
                if fields and fields[0] in CASES:
                    rows.append(Row(fields))
    return rows


def cell(rows, wanted):
    sweeps = sum(row.sweeps for row in rows)
    if not sweeps:
        return "-"
    share = sum(row.share * row.sweeps for row in rows) / sweeps
    innocents = sum(row.innocents * row.sweeps for row in rows) / sweeps
    return f"{share:.1f} %{wanted}, {innocents:.2g}".replace(".0 %", " %")


def table(rows):
    hosts = sorted({row.hosts for row in rows})
    lines = ["| case | " + " | ".join(f"{n:,} hosts" for n in hosts) + " |", "|---" * (len(hosts) + 1) + "|"]
    for name, cases in ROWS.items():
        wanted = " end with 0" if name in (HEALTHY, DISTURBED) else ""
        cells = [cell([row for row in rows if row.case in cases and row.hosts == n], wanted) for n in hosts]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    missed = [f"{row.case} at {row.hosts:,}" for row in rows if not row.meets]
    total = sum(row.sweeps for row in rows)
    lines += ["", f"{total:,} sweeps; {len(rows) - len(missed)} of {len(rows)} rows as demanded" +
              (f", not {', '.join(missed)}." if missed else ".")]
    return "\n".join(lines)


def unlisted_cases():
    """The cases of the judge that are in no row of the table, and should be."""
    listed = {case for cases in ROWS.values() for case in cases}
    return sorted(set(CASES) - listed - WITHOUT_ROW)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", help="files with rows of judge.py")
    parser.add_argument("--edit", metavar="FILE", help=f"put the table between {BEGIN} and {END} of this file")
    options = parser.parse_args()
    if unlisted_cases():
        sys.exit(f"summary.py: no row of the table has the cases {', '.join(unlisted_cases())}; add them to ROWS")
    rows = read(options.rows)
    if not rows:
        sys.exit(f"summary.py: no row of judge.py in {' '.join(options.rows)}")
    text = table(rows)
    if not options.edit:
        print(text)
        return
    with open(options.edit) as file:
        page = file.read()
    pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
    if not re.search(pattern, page, re.S):
        sys.exit(f"summary.py: {options.edit} lacks the marks {BEGIN} and {END}")
    with open(options.edit, "w") as file:
        file.write(re.sub(pattern, lambda _: f"{BEGIN}\n\n{text}\n\n{END}", page, flags=re.S))


if __name__ == "__main__":
    main()
