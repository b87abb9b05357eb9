"""Runs the programs under test, in jobs of their own as a user does, or in jobs that stay (resident.py). Every run is
bounded in time."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import namedtuple
from pathlib import Path

from launcher_faults import launcher_blames_wrongly
from resident import MPIEXEC, POOL

# The programs as they are installed, where there are such, and those of tests/programs.
PROGRAMS = Path(os.environ["FABRICBENCH_PROGRAMS"])
TEST_PROGRAMS = Path(os.environ["FABRICBENCH_TEST_PROGRAMS"])
PROGRAM = str(PROGRAMS / "all_reduce_perf")

TRIES = 3
TIMEOUT_S = 240  # of what hangs; nothing takes so long by itself, even where the machine is busy

Result = namedtuple("Result", "status stdout stderr")

COLLECTIVES = ("all_gather", "all_reduce", "alltoall", "alltoallv", "barrier", "broadcast", "gather", "hypercube",
               "reduce", "reduce_scatter", "scatter", "sendrecv")
# n ranks share a message in parts of whole 16 bytes.
SHARED = {"all_gather", "alltoall", "alltoallv", "gather", "hypercube", "reduce_scatter", "scatter"}
REDUCING = {"all_reduce", "reduce", "reduce_scatter"}
ROOTED = {"broadcast", "gather", "reduce", "scatter"}
OUT_OF_PLACE_ONLY = {"alltoall", "alltoallv", "barrier", "sendrecv"}


def program_of(collective):
    return str(PROGRAMS / f"{collective}_perf")


def command(ranks, arguments, program=PROGRAM, variables=None):
    """The whole command line. `variables` are set for the ranks only, not for the launcher."""
    settings = [f"{name}={value}" for name, value in (variables or {}).items()]
    return [MPIEXEC, "-np", str(ranks), "env", *settings, program, *map(str, arguments)]


def environment(**changes):
    """This process's environment with `changes`; None takes a variable out."""
    merged = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


class Job:
    """A running program; a context manager that leaves no process behind."""

    def __init__(self, arguments, env, stderr=subprocess.PIPE):
        # Launchers that share the directory that Open MPI keeps for each user trip over each other's clearing up.
        self.session = tempfile.TemporaryDirectory(prefix="fabricbench-session-", ignore_cleanup_errors=True)
        env = {**env, "OMPI_MCA_orte_tmpdir_base": self.session.name}
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
                                        env=env)
        self.pids = {}  # by rank, as far as known

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.communicate(timeout=10)  # a launcher whose output nobody reads does not end
            except subprocess.TimeoutExpired:
                self.process.kill()
        for pid in self.pids.values():
            kill(pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        self.session.cleanup()

    def read_line(self):
        return text_of(self.process.stdout.readline())

    def read_pids(self, ranks):
        """Reads stdout up to the list of devices, and learns every rank's process id from it."""
        while len(self.pids) < ranks:
            line = self.read_line()
            if not line:
                raise AssertionError(f"the program ended before it listed its ranks: {self.process.stderr.read()}")
            if match := re.match(r"#  Rank +(\d+) Group +\d+ Pid +(\d+) ", line):
                self.pids[int(match[1])] = int(match[2])

    def threads(self, rank):
        """How many there are."""
        return len(list(Path(f"/proc/{self.pids[rank]}/task").iterdir()))

    def finish(self, timeout=TIMEOUT_S):
        try:
            stdout, stderr = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            stdout, stderr = self.process.communicate(timeout=120)
            raise AssertionError(f"still running after {timeout} s: {self.process.args}\n{text_of(stdout)}\n"
                                 f"{text_of(stderr)}") from None
        return Result(self.process.returncode, text_of(stdout), without_progress(text_of(stderr)))


def text_of(output):
    """Every byte counts: Python's own text mode would turn carriage returns into line ends."""
    return (output or b"").decode(errors="replace")


def without_progress(text):
    """A run of more than ten seconds tells of its progress, and one of more than thirty how long it will take, which only
    a busy machine makes of a test."""
    return re.sub(r"(?m)^fabricbench: (progress: .*|.* measurements take about .*)\n", "", text)


def with_whole_notes(table):
    """The lines of a long note joined."""
    return re.sub(r"(?m)^# Note: .*(\n#       .*)+", lambda note: note[0].replace("\n#       ", " "), table)


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def alive(pid):
    """Whether a process runs or is stopped; one that only waits to be reaped is not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def fault(mode="none", **settings):
    """Variables that make MPI's collectives faulty in the programs of the tests: see tests/programs/faulty_mpi.cpp."""
    return {"FAULTY_MPI_MODE": mode, **{f"FAULTY_MPI_{name.upper()}": str(value) for name, value in settings.items()}}


def wait_until(condition, what, patience_s=TIMEOUT_S):
    """Returns what the condition returns as soon as that is true. `what` says what is wrong until then."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {patience_s} s in vain: {what}")


def needs_a_launch(name):
    """Whether a variable is for the launcher, MPI or the dynamic linker, which read it before a program begins."""
    return name.startswith(("OMPI_", "PMIX_", "LD_")) or name == "PATH"


def in_a_few_tries(check):
    """Of a check of what other work on the machine can change: where a time limit of seconds finds the program, or how
    rates compare. Three times at most, which is said."""
    @functools.wraps(check)
    def tried(*arguments):
        for this in range(1, TRIES):
            try:
                return check(*arguments)
            except AssertionError as problem:
                print(f"try {this} of {TRIES}: {problem}", file=sys.stderr, flush=True)
        return check(*arguments)
    return tried


def launcher_crashed(result):
    """True where mpirun itself did: that of Open MPI 4.1 may, while it ends a job and a rank's message on MPI_Abort comes
    in: once in thousands of jobs, and more often on a busy machine."""
    crashed = result.status == -signal.SIGSEGV and "orte_rml_oob_send_buffer_nb" in result.stderr
    crashed = crashed or (result.status == 1 and launcher_blames_wrongly(result.stdout, result.stderr))
    if crashed:
        print(f"mpirun crashed, and the test runs it again: {result.stderr}", file=sys.stderr, flush=True)
    return crashed


class ProgramTest(unittest.TestCase):
    """A test with a directory of its own."""

    maxDiff = None
    pool = POOL

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="fabricbench-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def run_program(self, *arguments, **how):
        """Runs to the end, in a job that stays, or in one of its own where it is no program of the suite. Keyword
        arguments but ranks, program, variables and timeout change the environment."""
        result = self.run_once(*arguments, **how)
        return self.run_once(*arguments, **how) if launcher_crashed(result) else result

    def run_once(self, *arguments, ranks=2, program=PROGRAM, variables=None, timeout=TIMEOUT_S, **changes):
        if Path(program).parent not in (PROGRAMS, TEST_PROGRAMS):
            return self.launch_program(*arguments, ranks=ranks, program=program, variables=variables, timeout=timeout,
                                       **changes)
        changes = {**changes, **(variables or {})}
        launch = {name: value for name, value in changes.items() if needs_a_launch(name)}
        rest = {name: value for name, value in changes.items() if name not in launch}
        path = TEST_PROGRAMS / Path(program).name
        try:
            status, stdout, stderr = self.pool.run(TEST_PROGRAMS, ranks, launch, [path, *arguments], rest, timeout)
        except TimeoutError:
            raise AssertionError(f"still running after {timeout} s: {path} {arguments}") from None
        return Result(status, text_of(stdout), without_progress(text_of(stderr)))

    def launch_program(self, *arguments, ranks=2, program=PROGRAM, variables=None, timeout=TIMEOUT_S, **changes):
        """The same in a job of its own."""
        with Job(command(ranks, arguments, program, variables), env=environment(**changes)) as job:
            return job.finish(timeout)

    def run_well(self, *arguments, **how):
        """Runs to the end, which must be a good one with nothing on stderr."""
        result = self.run_program(*arguments, **how)
        self.assertEqual((result.status, result.stderr), (0, ""), result.stdout)
        return result

    def run_json(self, *arguments, **how):
        """Runs well. Returns stdout, with each note in one line, and the lines of --json."""
        file = self.directory / "run.json"
        stdout = self.run_well(*arguments, "--json", file, "--force", **how).stdout
        return with_whole_notes(stdout), [json.loads(line) for line in file.read_text().splitlines()]

    def refused(self, status, message, *arguments, **how):
        """Runs, and is refused with one line: `message`, behind the program's name."""
        result = self.run_program(*arguments, **how)
        self.assertEqual((result.status, result.stdout), (status, ""), result.stderr)
        said = [line.partition(": ")[2] for line in self.own_lines(result)]
        self.assertEqual(said, [message])

    def run_right(self, *arguments, **how):
        """Runs well, with 0 wrong elements in both placements. Returns the table's rows."""
        stdout = self.run_well(*arguments, **how).stdout
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        self.assertEqual(set(wrong_elements(stdout)), {"0"})
        return rows(stdout)

    def sizes(self, *arguments, **how):
        """Runs well, and returns the sizes that were measured, all of them right."""
        return [int(row[0]) for row in self.run_right(*arguments, **how)]

    def end_of(self, job):
        """The result of a job that has a reason to end; it leaves no rank behind."""
        result = job.finish()
        wait_until(lambda: not any(map(alive, job.pids.values())), f"a rank is left of {job.pids}")
        return result

    def own_lines(self, result):
        """What the program itself said on stderr, without the launcher's comments."""
        return [line for line in result.stderr.splitlines() if re.match(r"(\w+_perf|fabricbench): ", line)]


def rows(stdout):
    """The table's rows, each a list of its fields."""
    return [line.split() for line in stdout.splitlines() if re.match(r"\s*\d", line)]


def wrong_elements(stdout):
    """The two #wrong columns of every row, as one list."""
    return [field for row in rows(stdout) for field in (row[8], row[12])]
