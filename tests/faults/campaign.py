#!/usr/bin/env python3
"""Makes one call of a program go wrong, then another: thousands of short jobs, each of which must end, say what
happened, and leave whole records (docs/reliability.md).

A combination is a program, a function that it calls, one of these calls, what goes wrong there, and the rank. A first run
of each program counts the calls. Which combinations are run is drawn with a seed; without --sample, all are.
"""

import argparse
import functools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from combinations import (
    ALL,
    HUNG_AFTER_S,
    LAUNCHER_HANGS,
    LAUNCHER_HANGS_AFTER_S,
    LEAST_LIMIT_S,
    LIMIT_S,
    OK,
    OWN_STATUSES,
    PATIENT_LIMIT_S,
    PROGRAMS,
    RANKS,
    STUCK,
    TIMEOUT,
    TRIES,
    Combination,
    GoodRun,
    Outcome,
    faults_of,
    taken,
)
from judging import Judge, cause, rows, why_excepted
from page import read_table, write_summary


class Job:
    """One run of a program in a folder of its own."""

    def __init__(self, suite, program, limit_s, settings, more=()):
        """`more`: arguments behind those of all its runs."""
        self.limit_s = limit_s
        self.folder = tempfile.TemporaryDirectory(prefix="fabricbench-faults-", ignore_cleanup_errors=True)
        self.path = Path(self.folder.name)
        self.record = self.path / "run.json"
        self.mark = f"FABRICBENCH_FAULTS_JOB={self.path.name}"
        name, arguments, on_gpus, over_rdma = PROGRAMS[program]
        settings = {"LD_PRELOAD": suite.faulty_calls, **settings, **(suite.settings_of_gpus() if on_gpus else {})}
        if over_rdma:
            settings["LD_PRELOAD"] += f":{suite.verbs}"
            settings["FAKE_VERBS_FILE"] = self.path / "verbs"
        folder = suite.folder_on_fakes if on_gpus else suite.folder
        self.command = [suite.mpiexec, "--oversubscribe", "-np", str(RANKS), "env", self.mark,
                        *(f"{variable}={value}" for variable, value in settings.items()), str(folder / name), *arguments,
                        *more, "--json", str(self.record), "--timeout", str(limit_s)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self):
        """Runs to the end. Returns status, None if it did not end, LAUNCHER_HANGS if only its launcher did not, and the
        seconds."""
        environment = {**os.environ, "OMPI_MCA_orte_tmpdir_base": self.folder.name, "OMPI_MCA_mpi_yield_when_idle": "1",
                       "OMPI_MCA_pml": "ob1"}
        begin = time.monotonic()
        with (self.path / "out").open("wb") as out, (self.path / "err").open("wb") as err:
            process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)
            status = self.wait(process, begin)
            if status in (None, LAUNCHER_HANGS):
                process.kill()
                process.wait()
        return status, time.monotonic() - begin

    def wait(self, process, begin):
        alone_since = None
        while time.monotonic() < begin + HUNG_AFTER_S + 2 * self.limit_s:
            try:
                return process.wait(5)
            except subprocess.TimeoutExpired:
                alone_since = None if self.processes() else alone_since or time.monotonic()
            if alone_since and time.monotonic() > alone_since + LAUNCHER_HANGS_AFTER_S:
                return LAUNCHER_HANGS
        return None

    def text(self, name):
        return (self.path / name).read_text(errors="replace")

    def processes(self):
        """Ids of what still runs of it."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (path / "environ").read_bytes() and state(path) not in "ZX":
                    found.append(int(path.name))
            except OSError:
                pass
        return found

    def left_over(self, patience_s=10):
        """Processes that are still there after a while; they are killed."""
        deadline = time.monotonic() + patience_s
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return left


def state(process):
    return (process / "stat").read_text().rpartition(")")[2].split()[0]


class Suite:
    """The programs, how they are launched, and what a good run of each looks like."""

    def __init__(self, folder, mpiexec, faulty_calls, folder_on_fakes=None, verbs=None):
        """`verbs` is the stub of libibverbs. Of programs and what they need, what is not there is left out."""
        self.folder, self.mpiexec, self.faulty_calls = Path(folder), mpiexec, str(faulty_calls)
        self.folder_on_fakes = Path(folder_on_fakes) if folder_on_fakes else None
        self.verbs = verbs

    @classmethod
    def of_environment(cls):
        return cls(*(os.environ.get(f"FABRICBENCH_{name}") for name in (
            "PROGRAMS", "MPIEXEC", "FAULTY_CALLS", "PROGRAMS_ON_FAKES", "VERBS_BETWEEN_PROCESSES")))

    def programs(self):
        """The labels of those that are there."""
        return [label for label, program in PROGRAMS.items()
                if (self.folder_on_fakes or not program.on_gpus) and (self.verbs or not program.over_rdma)]

    def good_runs(self, programs, jobs):
        """By program."""
        with ThreadPoolExecutor(jobs) as pool:
            return dict(zip(programs, pool.map(self.good_run, programs)))

    def settings_of_gpus(self):
        library = self.folder_on_fakes.parents[1] / "fakes" / "nccl-2.28"
        before = os.environ.get("LD_LIBRARY_PATH")
        return {"LD_LIBRARY_PATH": f"{library}:{before}" if before else str(library), "FAKE_CUDA_DEVICES": "8",
                "CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"}

    @functools.cache  # noqa: B019  # one object a campaign
    def good_run(self, program, *more):
        for this in range(1, TRIES):
            try:
                return self.count_calls(program, more)
            except RuntimeError as problem:  # on a busy machine the launcher itself may fail
                print(f"try {this} of {TRIES}: {problem}", file=sys.stderr, flush=True)
        return self.count_calls(program, more)

    def count_calls(self, program, more):
        with Job(self, program, PATIENT_LIMIT_S * TRIES, {"FAULTY_CALL_COUNTS": "counts"}, more) as job:
            counts = job.path / "counts"
            job.command[job.command.index("FAULTY_CALL_COUNTS=counts")] = f"FAULTY_CALL_COUNTS={counts}"
            status, _ = job.run()
            if status != OK:
                raise RuntimeError(f"{program} fails without a fault: {job.text('err')}")
            calls = {}
            for line in counts.read_text().splitlines():
                rank, function, count = line.split()
                calls[rank, function] = int(count)
                calls[ALL, function] = max(calls.get((ALL, function), 0), int(count))
            kinds = Counter(json.loads(line)["kind"] for line in job.record.read_text().splitlines())
            return GoodRun(calls, kinds, len(rows(job.text("out"))))

    def combinations(self, programs):
        for program in programs:
            for (rank, function), count in sorted(self.good_run(program).calls.items()):
                for fault in faults_of(function, rank):
                    yield from (Combination(program, function, call, fault, rank) for call in taken(count))

    def attempt(self, combination, limit_s):
        program, function, call, fault, rank = combination
        settings = {"FAULTY_CALL": f"{function}:{call}:{fault}" + ("" if rank == ALL else f":{rank}")}
        with Job(self, program, limit_s, settings) as job:
            reached = job.path / "reached"
            job.command.insert(job.command.index("env") + 1, f"FAULTY_CALL_REACHED={reached}")
            status, seconds = job.run()
            left = job.left_over()
            problem = Judge(self, combination, job, status, left).problem()
            met = next((when for when in ("before MPI", "after MPI")
                        if reached.with_suffix(f".{when.lower().replace(' ', '_')}").exists()),
                       "yes" if reached.exists() else "no")
            return Outcome(combination, met, status, seconds, problem,
                           cause(job.text("err")) + (f"\n{job.text('err')}" if problem else ""))

    def run(self, combination):
        """The outcome. What other work on the machine may have caused is tried again, with more time."""
        limit_s = LIMIT_S if combination.fault in STUCK else PATIENT_LIMIT_S
        for this in range(TRIES):
            outcome = self.attempt(combination, max(limit_s * 2**this, LEAST_LIMIT_S.get(combination.program, 0)))
            if not outcome.problem or why_excepted(outcome):
                break
        return outcome


def drawn(suite, programs, count, seed, jobs):
    """So many different combinations. Functions and faults are drawn alike, however many calls there are; which calls of a
    function are drawn hardly depends on how many there are, because that changes from run to run."""
    callers = {}
    for program, good in suite.good_runs(programs, jobs).items():
        for (rank, function), calls in good.calls.items():
            for fault in faults_of(function, rank):
                callers.setdefault((function, fault), []).append((program, rank, calls))
    groups = sorted(callers)
    random.Random(seed).shuffle(groups)
    chosen = {}
    for number in range(100 * count):
        if len(chosen) == count:
            break
        function, fault = group = groups[number % len(groups)]
        generator = random.Random(f"{seed} {number} {function} {fault}")
        program, rank, calls = callers[group][int(generator.random() * len(callers[group]))]
        chosen[Combination(program, function, 1 + int(generator.random() * calls), fault, rank)] = None
    return list(chosen)


HEADER = "program\tfunction\tcall\tfault\trank\treached\tstatus\tseconds\tverdict\tmessage"


def line_of(outcome):
    verdict = outcome.problem or "kept"
    if why_excepted(outcome):
        verdict = f"excepted: {verdict}"
    status = "none" if outcome.status is None else outcome.status
    first = outcome.said.splitlines()[0] if outcome.said else ""
    return "\t".join(map(str, (*outcome.combination, outcome.reached, status, f"{outcome.seconds:.1f}",
                               verdict, first)))


def in_table(path):
    """The combinations of a table that was broken off."""
    lines = path.read_text().splitlines()[1:] if path.exists() else []
    fields = [line.split("\t") for line in lines]
    return {Combination(program, function, int(call), fault, rank) for program, function, call, fault, rank, *_ in fields}


def run_all(suite, combinations, jobs, table=None, resume=False):
    """The outcomes as they come, each a line in the table. With `resume`, what is in the table is not run again."""
    done = in_table(table) if resume else set()
    rest = [each for each in combinations if each not in done]
    lines = table.open("a" if done else "w") if table else None
    if lines and not done:
        print(HEADER, file=lines, flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        for outcome in pool.map(suite.run, rest):
            if lines:
                print(line_of(outcome), file=lines, flush=True)
            yield outcome


def summary(rows_of_table):
    """The table of docs/reliability.md: a row for each fault."""
    by_fault = {}
    for row in rows_of_table:
        by_fault.setdefault(row["fault"], []).append(row)
    yield "| fault | combinations | met | exit status 0 | 4 | 1, 2, 3, 5, 6, 7 | the launcher's | promises broken | excepted |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for fault, of_fault in sorted(by_fault.items()):
        def count(test):
            return sum(1 for row in of_fault if test(row))
        own = {str(status) for status in OWN_STATUSES} - {str(TIMEOUT)}
        yield "| " + " | ".join(map(str, (
            f"`{fault}`", len(of_fault), count(lambda row: row["reached"] != "no"), count(lambda row: row["status"] == "0"),
            count(lambda row: row["status"] == str(TIMEOUT)), count(lambda row: row["status"] in own),
            count(lambda row: row["status"] not in {"0", str(TIMEOUT), *own}),
            count(lambda row: not row["verdict"].startswith(("kept", "excepted"))),
            count(lambda row: row["verdict"].startswith("excepted"))))) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("FABRICBENCH_PROGRAMS"), help="folder of the programs")
    parser.add_argument("--on-fakes", default=os.environ.get("FABRICBENCH_PROGRAMS_ON_FAKES"),
                        help="folder of the programs on fakes of CUDA and NCCL")
    parser.add_argument("--faulty-calls", default=os.environ.get("FABRICBENCH_FAULTY_CALLS"), help="the preload library")
    parser.add_argument("--verbs", default=os.environ.get("FABRICBENCH_VERBS_BETWEEN_PROCESSES"),
                        help="the stub of libibverbs")
    parser.add_argument("--mpiexec", default=os.environ.get("FABRICBENCH_MPIEXEC", "mpirun"))
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="only this one; may be repeated")
    parser.add_argument("--function", action="append", help="only calls of this one; may be repeated")
    parser.add_argument("--fault", action="append", help="only this one; may be repeated")
    parser.add_argument("--sample", type=int, help="draw so many combinations; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="jobs at the same time")
    parser.add_argument("--table", type=Path, help="write a line for each combination to this file")
    parser.add_argument("--resume", action="store_true", help="go on where the table ends, which was broken off")
    parser.add_argument("--page", type=Path, help="then put the summary of the table into this page")
    options = parser.parse_args()
    suite = Suite(options.programs, options.mpiexec, options.faulty_calls, options.on_fakes, options.verbs)
    programs = options.program or suite.programs()
    all_of_them = (drawn(suite, programs, options.sample, options.seed, options.jobs) if options.sample
                   else suite.combinations(programs))
    chosen = [each for each in all_of_them
              if each.function in (options.function or [each.function]) and each.fault in (options.fault or [each.fault])]
    print(f"{len(chosen)} combinations", flush=True)
    run = broken = 0
    for outcome in run_all(suite, chosen, options.jobs, options.table, options.resume and options.table is not None):
        run += 1
        if outcome.problem and not why_excepted(outcome):
            broken += 1
            print(f"{line_of(outcome)}\n{outcome.said}\n", flush=True)
    print(f"{run} were run, {broken} broke a promise")
    if options.page and options.table:
        write_summary(options.page, "campaign", summary(read_table(options.table, HEADER)))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
