#!/usr/bin/env python3
"""Compares two builds of fabricbench: an operation, a message, a start, and memory.

usage: bench/before_after.py BEFORE AFTER [--launches N]

BEFORE and AFTER are build folders. Their programs are launched in turn, each first in half of the rounds. A figure is the
median of the launches; a ratio is the median of the rounds' ratios, with its range.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from bench import json_lines, launch, seconds_to_first_row


def median_time(build, program, ranks, *options):
    """The table's time in us of the only row."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        launch(ranks, [build / program, *options, "--quiet", "--json", path])
        return next(line for line in json_lines(path) if line["kind"] == "row")["out_of_place"]["time_us_median"]


def collective(size, iterations):
    return lambda build: median_time(build, "all_reduce_perf", 2, "--backend", "mpi", "--placement", "out", "-b", size, "-e",
                                     size, "-n", iterations)


def message(program, size, iterations):
    return lambda build: median_time(build, program, 2, "-b", size, "-e", size, "-n", iterations)


def seconds_of_help(build):
    began = time.monotonic()
    launch(1, [build / "all_reduce_perf", "--help"])
    return time.monotonic() - began


def peak_memory(build):
    """MiB of the largest rank."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        launch(2, [build / "all_reduce_perf", "-b", "8", "-e", "1M", "-f", "2", "--time-budget", "0.1", "--quiet", "--json", path])
        return json_lines(path)[-1]["peak_memory_bytes"] / 2**20


FIGURES = {
    "all_reduce 8 B, us": collective(8, 200000),
    "all_reduce 1 MiB, us": collective("1M", 500),
    "send_recv_lat 8 B, us": message("send_recv_lat", 8, 200000),
    "send_recv_bw 64 KiB, us": message("send_recv_bw", "64K", 300),
    "tcp_lat 8 B, us": message("tcp_lat", 8, 20000),
    "isolated sample besides the clock read, ns": lambda build: float(
        launch(1, [build / "bench/sample_overhead"]).split("besides")[1].split()[0]),
    "mpirun to the first row, s": lambda build: seconds_to_first_row(build, 2),
    "mpirun with --help, s": seconds_of_help,
    "peak memory up to 1 MiB, MiB": peak_memory,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--launches", type=int, default=9, help="of each build for each figure (9)")
    given = parser.parse_args()
    builds = given.before.resolve(), given.after.resolve()
    print("| figure | before | after | ratio | range |\n|---|---|---|---|---|")
    for name, measure in FIGURES.items():
        rounds = []
        for number in range(given.launches):
            order = builds if number % 2 == 0 else builds[::-1]
            found = {build: measure(build) for build in order}
            rounds.append([found[build] for build in builds])
        ratios = [after / before for before, after in rounds]
        before, after = (statistics.median(side) for side in zip(*rounds))
        print(f"| {name} | {before:.4g} | {after:.4g} | {statistics.median(ratios):.3f} | {min(ratios):.3f} to "
              f"{max(ratios):.3f} |", flush=True)


if __name__ == "__main__":
    main()
