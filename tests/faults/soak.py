#!/usr/bin/env python3
"""All programs and scripts in rotation over hosts made of network namespaces, a share of the runs with a fault, all drawn
with a seed. Every job must keep what docs/reliability.md promises, memory and descriptors must not grow, and nothing may
be left behind."""

import argparse
import os
import random
import sys
import time
from collections import namedtuple
from pathlib import Path

from cycles import LongRun, resident_kib
from namespace_hosts import RATE, Hosts, where_hosts_can_be_made
from network_faults import HEADER, TRIES, Combination, attempt, can_meet, line_of
from network_jobs import FAULTS, GOOD, PROGRAMS, SCRIPT_RUNS

HOSTS = 8
SHARE = 1 / 3  # of runs with a fault
# Peak memory of the same good run may differ from run to run, by when messages arrive.
MEMORY_TOLERANCE = 0.10
LONG_RUNS = ("all_reduce_perf", "send_recv_bw", "tcp_bw")
State = namedtuple("State", "namespaces folders shared_memory zombies descriptors keeper_kib")


def state_of_machine(hosts):
    """What belongs to this soak: other tests may run beside it."""
    mark = hosts.switch.partition("-")[0]
    namespaces = [path.name for path in Path("/run/netns").glob(f"{mark}-*")]
    folders = [path.name for path in Path("/tmp").glob("fabricbench-network-*") if owner_of(path) == os.getpid()]
    # A daemon of Open MPI that is killed leaves its session.
    folders += [path.name for path in Path(hosts.directory).iterdir() if not path.name.startswith("ompi.")]
    shared = [path.name for path in Path("/dev/shm").glob(f"*{mark}-h*")]
    return State(len(namespaces), len(folders), len(shared), len(zombies_of(hosts)), len(os.listdir("/proc/self/fd")),
                 resident_kib(hosts.keeper.pid))


def owner_of(path):
    """The process that a folder names, or this one."""
    number = path.name.rpartition(".")[2]
    return int(number) if number.isdigit() else os.getpid()


def zombies_of(hosts):
    """Children that nobody has waited for."""
    parents = {os.getpid(), hosts.keeper.pid}
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] == "Z" and int(fields[1]) in parents:
            found.append(path.name)
    return found


class Soak:
    def __init__(self, hosts, programs, seed, table):
        self.hosts, self.programs, self.table = hosts, programs, table
        self.random = random.Random(seed)
        self.outcomes, self.memory = [], {}
        self.again = 0  # runs that were tried again
        self.combinations = self.drawn()

    def drawn(self):
        """Combinations without end: all programs and scripts in an order of its own, and again."""
        while True:
            names = [*PROGRAMS, *SCRIPT_RUNS]
            self.random.shuffle(names)
            for name in names:
                faults = [label for label in FAULTS if can_meet(name, label)]
                label = self.random.choice(faults) if self.random.random() < SHARE else GOOD.label
                yield Combination(name, label, self.random.choice((0, 3)) if name in PROGRAMS else 3)

    def run(self, until):
        for combination in self.combinations:
            if time.monotonic() > until:
                break
            outcome = self.run_one(combination)
            self.outcomes.append(outcome)
            print(line_of(outcome), file=self.table, flush=True)
            if combination.fault == GOOD.label and outcome.memory:
                self.memory.setdefault(combination.program, []).append(outcome.memory)

    def run_one(self, combination):
        for this in range(TRIES):
            outcome = attempt(self.hosts, self.programs, combination, 2**this)
            self.hosts.shape_all(RATE)
            if not outcome.problem:
                break
            self.again += this < TRIES - 1
            print(f"try {this + 1} of {TRIES}: {line_of(outcome)}\n{outcome.said}", file=sys.stderr, flush=True)
        return outcome

    def problems(self):
        yield from (f"{line_of(outcome)}\n{outcome.said}" for outcome in self.outcomes if outcome.problem)
        for program, peaks in self.memory.items():
            if len(peaks) > 1 and peaks[-1] > peaks[0] * (1 + MEMORY_TOLERANCE):
                yield f"{program}: peak memory grew from {peaks[0]} to {peaks[-1]} B between good runs"


def problems_of_machine(before, after):
    for name, first, last in zip(State._fields, before, after):
        if name == "keeper_kib":
            if last > first + 2048:
                yield f"the shell that keeps the hosts grew from {first} to {last} KiB"
        elif last > first:
            yield f"{name}: {first} before, {last} after"


def report(soak, long_runs, before, after, minutes):
    faults = sum(outcome.combination.fault != GOOD.label for outcome in soak.outcomes)
    print(f"{len(soak.outcomes)} jobs in {minutes:g} minutes, {faults} of them with a fault; {soak.again} were tried again")
    for run in long_runs:
        if not run.samples:
            continue
        first, last = run.samples[0], run.samples[-1]
        print(f"{run.name}: {first.cycles} to {last.cycles} cycles, "
              f"largest rank {first.resident_kib} to {last.resident_kib} KiB resident, {first.descriptors} to {last.descriptors} descriptors")
    for program, peaks in sorted(soak.memory.items()):
        print(f"{program}: {len(peaks)} good runs, peak memory {peaks[0] >> 10} KiB at first, {peaks[-1] >> 10} KiB at last")
    print(f"before: {before}\nafter:  {after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("FABRICBENCH_PROGRAMS"), help="folder of the programs")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path, default="/dev/null", help="write a line for each job to this file")
    options = parser.parse_args()
    with Hosts(HOSTS) as hosts, Hosts(2) as other_hosts, options.table.open("w") as table:
        print(HEADER, file=table)
        soak = Soak(hosts, options.programs, options.seed, table)
        soak.run_one(Combination("all_reduce_perf", GOOD.label, 3))  # what the first job leaves is not growth
        before = state_of_machine(hosts)
        long_runs, problems = [], []
        for name in LONG_RUNS:
            long_runs.append(LongRun(other_hosts, options.programs, name))
            soak.run(time.monotonic() + 60 * options.minutes / len(LONG_RUNS))
            if why := long_runs[-1].end():
                problems.append(f"{name}: {why}")
        after = state_of_machine(hosts)
        report(soak, long_runs, before, after, options.minutes)
        problems += [*soak.problems(), *problems_of_machine(before, after)]
    print("\n".join((f"{len(problems)} promises broken", *problems)))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(where_hosts_can_be_made(main))
