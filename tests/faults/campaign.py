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
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

COLLECTIVES = ("all_gather", "all_reduce", "alltoall", "alltoallv", "barrier", "broadcast", "gather", "hypercube", "reduce",
               "reduce_scatter", "scatter", "sendrecv")
RANKS = 2
ONE_SIZE = ("-b", "1024", "-e", "1024")
BRIEFLY = ("-n", "3", "-w", "1")
# `on_gpus`: which fakes of CUDA and NCCL play.
Program = namedtuple("Program", "name arguments on_gpus", defaults=(False,))
# By label. All get --json and -T too.
PROGRAMS = {
    **{f"{name}_perf": Program(f"{name}_perf", (*ONE_SIZE, *BRIEFLY)) for name in COLLECTIVES if name != "barrier"},
    "barrier_perf": Program("barrier_perf", BRIEFLY),
    **{name: Program(name, (*ONE_SIZE, *BRIEFLY)) for name in ("send_recv_bw", "send_recv_bibw", "send_recv_lat",
                                                               "multi_pair_bw", "tcp_bw", "tcp_bibw", "tcp_lat")},
    "pairwise_bw": Program("pairwise_bw", ("--level", "rank", "-n", "3", "--pair-timeout", "3")),
    "all_reduce_perf -g 2": Program("all_reduce_perf", (*ONE_SIZE, *BRIEFLY, "-g", "2"), True),
    "all_reduce_perf -G 3": Program("all_reduce_perf", (*ONE_SIZE, *BRIEFLY, "-G", "3"), True),
    "alltoall_perf on GPUs": Program("alltoall_perf", (*ONE_SIZE, *BRIEFLY), True),
    "send_recv_bw on GPUs": Program("send_recv_bw", (*ONE_SIZE, *BRIEFLY), True),
}

# What can go wrong in every function. `stop` and the signals are of the process, not of the call.
EVERYWHERE = ("hang", "stop", "kill", "late", "interrupt", "insist", "terminate")
PARTLY = ("fwrite", "write", "read", "send", "recv")  # functions that may do less than they are asked to
CLOCK = "clock_gettime"
ENDS_OF_FILES = ("fflush", "fsync", "fclose", "close")
EXIT = "exit"  # the end of the process: nothing that could fail
STUCK = ("hang", "stop")
SIGNALS = ("interrupt", "insist", "terminate")

OK, TIMEOUT = 0, 4
OWN_STATUSES = range(1, 8)  # docs/output.md
# -T where a rank gets stuck, more than starting MPI takes even on a busy machine, and where none does.
LIMIT_S = 4
PATIENT_LIMIT_S = 20
LEAST_LIMIT_S = {"pairwise_bw": 16}  # its own option for pairs wants it
LAUNCHER_HANGS = "launcher"
LAUNCHER_HANGS_AFTER_S = 30  # with no rank left
HUNG_AFTER_S = 60  # beyond twice the limit: such a job will not end
TRIES = 3  # other work on the machine can use up a limit of seconds
# Calls up to this number are taken one by one, and later ones in steps of a tenth: some functions are called thousands
# of times.
ONE_BY_ONE = 64

Combination = namedtuple("Combination", "program function call fault rank")
# Calls by rank and function, the number of each kind of line in the record, and the number of rows in the table.
GoodRun = namedtuple("GoodRun", "calls kinds rows")
Outcome = namedtuple("Outcome", "combination reached status seconds problem said")


class Job:
    """One run of a program in a folder of its own."""

    def __init__(self, suite, program, limit_s, settings):
        self.limit_s = limit_s
        self.folder = tempfile.TemporaryDirectory(prefix="fabricbench-faults-", ignore_cleanup_errors=True)
        self.path = Path(self.folder.name)
        self.record = self.path / "run.json"
        self.mark = f"FABRICBENCH_FAULTS_JOB={self.path.name}"
        name, arguments, on_gpus = PROGRAMS[program]
        settings = {**settings, **(suite.settings_of_gpus() if on_gpus else {})}
        folder = suite.folder_on_fakes if on_gpus else suite.folder
        self.command = [suite.mpiexec, "--oversubscribe", "-np", str(RANKS), "env", self.mark,
                        *(f"{variable}={value}" for variable, value in settings.items()), str(folder / name), *arguments,
                        "--json", str(self.record), "-T", str(limit_s)]

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


def rows(text):
    return [line.split() for line in text.splitlines() if re.match(r"\s*\d", line)]


class Suite:
    """The programs, how they are launched, and what a good run of each looks like."""

    def __init__(self, folder, folder_on_fakes, mpiexec, faulty_calls):
        self.folder, self.mpiexec, self.faulty_calls = Path(folder), mpiexec, str(faulty_calls)
        self.folder_on_fakes = Path(folder_on_fakes) if folder_on_fakes else None

    def programs(self):
        """The labels of those that are there."""
        return [label for label, program in PROGRAMS.items() if self.folder_on_fakes or not program.on_gpus]

    def settings_of_gpus(self):
        library = self.folder_on_fakes.parents[1] / "fakes" / "nccl-2.28"
        before = os.environ.get("LD_LIBRARY_PATH")
        return {"LD_LIBRARY_PATH": f"{library}:{before}" if before else str(library), "FAKE_CUDA_DEVICES": "8",
                "CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"}

    @functools.cache
    def good_run(self, program):
        for this in range(1, TRIES):
            try:
                return self.count_calls(program)
            except RuntimeError as problem:  # on a busy machine the launcher itself may fail
                print(f"try {this} of {TRIES}: {problem}", file=sys.stderr, flush=True)
        return self.count_calls(program)

    def count_calls(self, program):
        with Job(self, program, PATIENT_LIMIT_S * TRIES, {"LD_PRELOAD": self.faulty_calls,
                                                          "FAULTY_CALL_COUNTS": "counts"}) as job:
            counts = job.path / "counts"
            job.command[job.command.index("FAULTY_CALL_COUNTS=counts")] = f"FAULTY_CALL_COUNTS={counts}"
            status, _ = job.run()
            if status != OK:
                raise RuntimeError(f"{program} fails without a fault: {job.text('err')}")
            calls = {}
            for line in counts.read_text().splitlines():
                rank, function, count = line.split()
                calls[int(rank), function] = int(count)
            kinds = Counter(json.loads(line)["kind"] for line in job.record.read_text().splitlines())
            return GoodRun(calls, kinds, len(rows(job.text("out"))))

    def combinations(self, programs):
        for program in programs:
            for (rank, function), count in sorted(self.good_run(program).calls.items()):
                for fault in faults_of(function):
                    yield from (Combination(program, function, call, fault, rank) for call in taken(count))

    def attempt(self, combination, limit_s):
        program, function, call, fault, rank = combination
        settings = {"LD_PRELOAD": self.faulty_calls, "FAULTY_CALL": f"{function}:{call}:{fault}:{rank}"}
        with Job(self, program, limit_s, settings) as job:
            reached = job.path / "reached"
            job.command.insert(job.command.index("env") + 1, f"FAULTY_CALL_REACHED={reached}")
            status, seconds = job.run()
            left = job.left_over()
            problem = Judge(self, combination, job, status, left).problem()
            met = "after MPI" if reached.with_suffix(".after_mpi").exists() else "yes" if reached.exists() else "no"
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


def faults_of(function):
    if function == EXIT:
        return tuple(fault for fault in EVERYWHERE if fault != "stop")  # an exception: see there
    if function.startswith(("cuda", "nccl")):
        return EVERYWHERE
    special = ("short",) if function in PARTLY else ("freeze", "jump") if function == CLOCK else ()
    return (*EVERYWHERE, "fail", *special)


def taken(count):
    call = 1
    while call <= count:
        yield call
        call += max(1, call // 10) if call >= ONE_BY_ONE else 1


def cause(said):
    """The first line of the program's own."""
    for line in said.splitlines():
        # The last is Open MPI's own, before a program can have a say.
        if re.match(r"(fabricbench|\w+_(perf|bw|bibw|lat)): |\*\*\* An error occurred in MPI_Init", line):
            return line
    return ""


class Judge:
    """Whether a job that a fault met kept what the project promises."""

    def __init__(self, suite, combination, job, status, left):
        self.suite, self.combination, self.job, self.status, self.left = suite, combination, job, status, left
        self.said, self.printed = job.text("err"), job.text("out")
        self.lines = []

    def problem(self):
        """What was not kept; empty: nothing."""
        if self.status is None:
            return "did not end"
        if self.status == LAUNCHER_HANGS:
            return "the launcher did not end"
        if self.status in (-signal.SIGSEGV, -signal.SIGABRT):
            return "the launcher crashed"
        if self.left:
            return f"left {len(self.left)} processes"
        checks = (self.of_status, self.of_message, self.of_rows, self.of_record)
        return next((problem for check in checks if (problem := check())), "")

    def of_status(self):
        fault = self.combination.fault
        if fault == "late" and self.status != OK:
            return f"status {self.status} though nothing failed"
        if fault in ("kill", *SIGNALS):
            return ""  # the launcher's own status
        if self.status != OK and self.status not in OWN_STATUSES:
            return f"status {self.status} is not documented"
        if fault in STUCK and self.status not in (OK, TIMEOUT):
            return f"status {self.status} instead of {TIMEOUT}"
        return ""

    def of_message(self):
        fault, rank = self.combination.fault, self.combination.rank
        if self.status == OK or fault in ("kill", *SIGNALS):
            return ""
        if not cause(self.said):
            return "ended without a message"
        # Before ranks have met, each knows only what it does itself.
        if fault in STUCK and not re.search(rf"rank {rank}\b|does not know what the others|until every rank", self.said):
            return f"does not name rank {rank}"
        return ""

    def of_rows(self):
        for row in rows(self.printed):
            wrong = [field for field in row if re.fullmatch(r"nan|inf|-\d.*", field) and field != "-1"]
            if wrong:
                return f"printed {wrong[0]}"
        expected = self.suite.good_run(self.combination.program).rows
        if self.status == OK and len(rows(self.printed)) != expected:
            return f"exit status 0 with {len(rows(self.printed))} of {expected} rows"
        return ""

    def of_record(self):
        if not self.job.record.exists():
            return "exit status 0 without a record" if self.status == OK else ""
        text = self.job.record.read_text(errors="replace")
        if text and not text.endswith("\n") and not self.says_cut():
            return "the record ends in half a line, and no message says so"
        for number, line in enumerate(text.splitlines(), 1):
            try:
                self.lines.append(json.loads(line))
            except json.JSONDecodeError:
                if not (self.says_cut() and not text.endswith("\n")):
                    return f"line {number} of the record is no JSON"
        return self.of_end()

    def of_end(self):
        kinds = Counter(line["kind"] for line in self.lines)
        if kinds["end"] > 1:
            return "two ends in the record"
        if self.status == OK and kinds != self.suite.good_run(self.combination.program).kinds:
            return f"exit status 0 with a record of {dict(kinds)}"
        if not kinds["end"] or self.combination.fault in ("kill", *SIGNALS):
            return ""
        said = self.lines[-1].get("exit_status")
        if said != self.status and not (said == OK and "all results are written" in self.said):
            return f"the record ends with {said}, the job with {self.status}"
        return ""

    def says_cut(self):
        return "cut" in self.said or self.combination.fault in ("kill", *SIGNALS)


# What cannot be kept, and why: of which combinations, the problem, and the reason.
Excepted = namedtuple("Excepted", "applies problem why")
EXCEPTIONS = (
    Excepted(lambda outcome: outcome.combination.fault == "stop" and outcome.reached == "after MPI", "did not end",
             "a process that is stopped by a signal after MPI has ended: the others have ended too, and a launcher takes it for "
             "running; SIGCONT lets it end, and SIGKILL ends it"),
    Excepted(lambda outcome: "the communicator of" in outcome.said, "does not name rank",
             "NCCL does not say which rank of a communicator did not come"),
    Excepted(lambda outcome: True, "the launcher",
             "mpirun of Open MPI 4.1 may crash or wait for itself in PMIx_server_finalize, after all ranks have ended, if one "
             "ended while it was being connected"),
    Excepted(lambda outcome: outcome.combination.function in ENDS_OF_FILES, "the record ends with 0",
             "the last line of a record says how the run ended; what goes wrong with a file behind it, only the exit status "
             "and the message can say"),
)


def why_excepted(outcome):
    """Why a broken promise cannot be kept; empty: it can."""
    return next((each.why for each in EXCEPTIONS
                 if outcome.problem.startswith(each.problem) and each.applies(outcome)), "")


def drawn(suite, programs, count, seed):
    """So many different combinations. Functions and faults are drawn alike, however many calls there are; which calls of a
    function are drawn hardly depends on how many there are, because that changes from run to run."""
    callers = {}
    for program in programs:
        for (rank, function), calls in suite.good_run(program).calls.items():
            for fault in faults_of(function):
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
    return {Combination(program, function, int(call), fault, int(rank)) for program, function, call, fault, rank, *_ in fields}


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


def write_page(page, table):
    """Puts the summary of a table between the marks of a page."""
    names = HEADER.split("\t")
    lines = table.read_text().splitlines()[1:]
    found = [dict(zip(names, line.split("\t"))) for line in lines]
    begin, end = "<!-- campaign -->\n", "<!-- end of campaign -->"
    before, _, rest = page.read_text().partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(before + begin + "\n" + "\n".join(summary(found)) + "\n\n" + end + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("FABRICBENCH_PROGRAMS"), help="folder of the programs")
    parser.add_argument("--on-fakes", default=os.environ.get("FABRICBENCH_PROGRAMS_ON_FAKES"),
                        help="folder of the programs on fakes of CUDA and NCCL")
    parser.add_argument("--faulty-calls", default=os.environ.get("FABRICBENCH_FAULTY_CALLS"), help="the preload library")
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
    suite = Suite(options.programs, options.on_fakes, options.mpiexec, options.faulty_calls)
    programs = options.program or suite.programs()
    all_of_them = drawn(suite, programs, options.sample, options.seed) if options.sample else suite.combinations(programs)
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
        write_page(options.page, options.table)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
