"""Whether a job in which something went wrong kept what docs/reliability.md promises."""

import json
import re
import signal
from collections import Counter, namedtuple

from combinations import ALL, ENDS_OF_FILES, LAUNCHER_HANGS, OK, OWN_STATUSES, SIGNALS, STUCK, TIMEOUT

BY_SIGNAL = 128  # and the signal's number: the exit status of a process that it ended


def rows(text):
    return [line.split() for line in text.splitlines() if re.match(r"\s*\d", line)]


def is_of_jump(field):
    """Whether it is more microseconds than a short job takes, with its longest time limit."""
    try:
        return float(field) > 100e6
    except ValueError:
        return False


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
        who = r"rank \d" if rank == ALL else rf"rank {rank}"
        if fault in STUCK and not re.search(rf"{who}\b|does not know what the others|until every rank", self.said):
            return f"does not name rank {rank}"
        return ""

    def of_rows(self):
        for row in rows(self.printed):
            wrong = [field for field in row if re.fullmatch(r"nan|inf|-\d.*", field) and field != "-1"]
            if wrong:
                return f"printed {wrong[0]}"
            if self.status == OK and self.combination.fault == "jump" and any(is_of_jump(field) for field in row):
                return f"exit status 0 with {' '.join(row)}"
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
        if said > BY_SIGNAL and self.status != OK:  # the launcher ended this rank because of another one, which has the status
            return ""
        if said != self.status and not (said == OK and "all results are written" in self.said):
            return f"the record ends with {said}, the job with {self.status}"
        return ""

    def says_cut(self):
        return "cut" in self.said or self.combination.fault in ("kill", *SIGNALS)


# What cannot be kept, and why: of which combinations, the problem, and the reason.
Excepted = namedtuple("Excepted", "applies problem why")
EXCEPTIONS = (
    Excepted(lambda outcome: outcome.combination.fault == "stop" and outcome.reached == "after MPI", "did not end",
             "a process that is stopped by a signal after MPI has ended: the others have ended too, and a launcher takes it "
             "for running; SIGCONT lets it end, and SIGKILL ends it"),
    Excepted(lambda outcome: (outcome.combination.rank == ALL and outcome.reached == "before MPI"
                              and not outcome.said.strip()), "did not end",
             "no rank has read the command line, which has the time limit"),
    Excepted(lambda outcome: outcome.combination.rank == ALL and outcome.combination.function == "pthread_create", "did not end",
             "the watchdog itself is a thread: where no rank gets it, nothing is left to end the job"),
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
