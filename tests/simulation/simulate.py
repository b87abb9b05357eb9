#!/usr/bin/env python3
"""Runs sweeps over simulated fabrics and writes the results into a table of docs/slow-links-method.md.

usage: simulate.py [--build DIR] [--runs N] [--jobs N] [--page FILE]

Each row is one call of simulate_fabric with --runs sweeps, or fewer for some rows. The table replaces the text between
the lines `<!-- simulation -->` and `<!-- end of simulation -->` of the page. Takes about half an hour on one processor;
--runs 5 is a quick trial. Exit status: 0 success, 1 a sweep or the page failed.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEGIN = "<!-- simulation -->"
END = "<!-- end of simulation -->"
NOISE = ("0.01", "0.03")

# Hosts, options, and share of --runs.
FEW_ROUNDS = [(hosts, ["--rounds", "12", "--find"], 1) for hosts in (17, 64, 232, 1024)]
FEW_ROUNDS.append((16384, ["--rounds", "12"], 1))
ALL_PAIRS = [(17, ["--all-pairs", "--find", "--max-extra-rounds", "200"], 1),
             (64, ["--all-pairs", "--find", "--max-extra-rounds", "200"], 1),
             (232, ["--all-pairs", "--find", "--batches", "--max-extra-rounds", "200"], 1),
             (1024, ["--all-pairs", "--find", "--batches", "--max-extra-rounds", "300"], 1)]


def commands():
    """[(table, hosts, sigma, healthy, options, share of runs)] in the order of the rows."""
    rows = []
    for table, cases in (("few", FEW_ROUNDS), ("all", ALL_PAIRS)):
        for hosts, options, share in cases:
            for sigma in NOISE:
                for healthy in (False, True):
                    # A sweep over all pairs of many hosts takes seconds: run fewer healthy ones.
                    fewer = healthy and table == "all"
                    rows.append((table, hosts, sigma, healthy, options, share / 4 if fewer else share))
    return rows


def simulate(build, runs, row):
    """The counts of simulate_fabric over one row's sweeps."""
    _, hosts, sigma, healthy, options, share = row
    command = [build / "simulate_fabric", "--hosts", str(hosts), "--leaf-size", "32", "--sigma", sigma, "--json",
               "--runs", str(max(1, int(runs * share))), *options]
    if not healthy:
        command.append("--usual-faults")
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print("simulate:", *command[1:], file=sys.stderr, flush=True)
    return json.loads(output)


def share_named(counted, what):
    planted = counted["slow_" + what]
    return "-" if planted == 0 else "{:.4g}".format(counted["slow_" + what + "_named"] / planted)


def wronged(counted, what):
    return "{:.4g}".format(counted[what + "_wronged"] / counted["sweeps"])


def wronged_of_healthy(counted, what):
    return "{} in {}".format(wronged(counted, what), counted["sweeps"])


def table(title, rows, results, what):
    """One row for faulty and healthy fabrics of one size and noise."""
    lines = [title, "",
             "| hosts | noise | sweeps | named | healthy {0} blamed per sweep | the same without faults | "
             "rounds | pairs measured |".format(what), "|---|---|---|---|---|---|---|---|"]
    for (_, hosts, sigma, healthy, _, _), counted in zip(rows, results):
        if healthy:
            lines[-1] = lines[-1].format(wronged_of_healthy(counted, what))
            continue
        sweeps = counted["sweeps"]
        lines.append("| {:,} | {:.0%} | {} | {} | {} | {{}} | {:.0f} | {:,.0f} |".format(
            hosts, float(sigma), sweeps, share_named(counted, what), wronged(counted, what),
            counted["rounds"] / sweeps, counted["meetings"] / sweeps))
    return lines


def text_of(rows, results):
    parts = []
    few = [i for i, row in enumerate(rows) if row[0] == "few"]
    every = [i for i, row in enumerate(rows) if row[0] == "all"]
    for title, chosen, what in (
            ("Hosts and NICs, in at most 12 rounds for all hosts and the repetitions after them (16,384 hosts: only 12 "
             "rounds):", few, "hosts"),
            ("Pairs, with all pairs measured and suspicious ones repeated:", every, "pairs"),
            ("Hosts and NICs in the same sweeps:", every, "hosts")):
        parts += table(title, [rows[i] for i in chosen], [results[i] for i in chosen], what) + [""]
    return "\n".join(parts)


def write_into(page, text):
    old = page.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        sys.exit("simulate.py: {} has no lines '{}' and '{}'".format(page, BEGIN, END))
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text("{}{}\n\n{}\n{}{}".format(before, BEGIN, text, END, after), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Writes the table of simulated sweeps into docs/slow-links-method.md.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="folder of simulate_fabric [build]")
    parser.add_argument("--runs", type=int, default=200, help="sweeps in each row [200]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="rows at the same time [processors]")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/slow-links-method.md", help="page to write into")
    arguments = parser.parse_args()
    program = arguments.build / "simulate_fabric"
    if not program.exists():
        sys.exit("simulate.py: {} does not exist; build it, or give --build".format(program))
    rows = commands()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda row: simulate(arguments.build, arguments.runs, row), rows))
    write_into(arguments.page, text_of(rows, results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
