"""What find_slow_links says of the readings: from the results, or by running it."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from constants import MISSING, NOT_JUDGED, OK, TOO_SLOW
from findings import hosts_of
from report_page.reading import PART_BYTES, read_file
from report_page.results import BadInput
from report_page.words import number_text, printable

PROGRAM = "find_slow_links"
JUDGED = (OK, TOO_SLOW, NOT_JUDGED)  # exit statuses with a verdict
TIME_LIMIT_S = 300
OF_SWEEPS = (b'"sweep"', b'"reading"', b'"pairwise_bw"')
OF_VERDICTS = b'"slow_links"'


@dataclass
class Finding:
    number: int  # on the map, from 1
    blame: str  # as in Blame of src/cluster/pairs/finding_kinds.h
    direction: str  # both, sends or receives
    hosts: list  # names
    rail: str | None
    leaves: list  # names, one or two
    text: str
    record: object

    def concerns(self, kind):
        """Whether it appears on the map of that kind of readings."""
        rails = {kind.from_rail, kind.to_rail} - {""}
        return self.rail is None or not rails or self.rail in rails


@dataclass
class Judgement:
    """What is marked on the maps, and why nothing is."""

    note: str = ""
    findings: list = field(default_factory=list)
    order: list = field(default_factory=list)  # names of hosts, groups together; empty: unknown
    groups: list = field(default_factory=list)  # (name, names of hosts): the finest groups
    suspects: list = field(default_factory=list)  # (name, name): paths
    commands: list = field(default_factory=list)  # (command, purpose)


class Judge:
    """Runs find_slow_links on files, while others read them. A context manager that leaves nothing behind."""

    def __init__(self, program, files, locality):
        self.files = files
        self.folder_ = tempfile.TemporaryDirectory(prefix="fabricbench-report-")
        self.out_ = Path(self.folder_.name) / "verdict.jsonl"
        options = ["--locality", locality] if locality else []
        self.process_ = subprocess.Popen(
            [program, "--json", self.out_, "--quiet", *options, *files],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process_.kill()
        self.process_.communicate()
        self.folder_.cleanup()

    def verdict(self):
        """The file with the verdict, or why there is none."""
        try:
            _, said = self.process_.communicate(timeout=TIME_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            return None, printable(error)
        if self.process_.returncode not in JUDGED or not self.out_.exists():
            last = said.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            return None, f"{PROGRAM} ended with status {self.process_.returncode}: {printable(last[0])}"
        file = read_file(self.out_, f"{PROGRAM} on these readings")
        return (file, "") if file.verdicts else (None, f"{PROGRAM} wrote no verdict")


def begin(paths, given):
    """A judge of the files that begin like those of a sweep, if they are large and none begins like a verdict."""
    firsts = {path: first_bytes(path) for path in paths}
    files = [path for path, first in firsts.items() if any(word in first for word in OF_SWEEPS)]
    program = path_of_program(given.programs)
    if program is None or any(OF_VERDICTS in first for first in firsts.values()):
        return contextlib.nullcontext()
    if sum(os.path.getsize(path) for path in files) < PART_BYTES:
        return contextlib.nullcontext()
    return Judge(program, files, given.locality)


def first_bytes(path):
    try:
        with open(path, "rb") as file:
            return file.read(200)
    except OSError:
        return b""


def judge(results, given, begun):
    """Adds the verdict to the results where they have none. Returns why that was not possible, or an empty text."""
    if results.verdicts() or not any(readings.has_figures() for readings in results.sweep.kinds.values()):
        return ""
    files = [file.path for file in results.files if file.kinds["reading"]]
    if begun is not None and list(map(str, begun.files)) == files:
        file, why_not = begun.verdict()
    else:
        program = path_of_program(given.programs)
        if program is None:
            return f"there is no {PROGRAM} in build/ or on the PATH"
        with Judge(program, files, given.locality) as late:
            file, why_not = late.verdict()
    results.files += [file] if file else []
    return why_not


def path_of_program(programs, name=PROGRAM):
    """The program in --programs, beside the command fabricbench that has called, in the build beside the scripts, or on the
    PATH."""
    called_from = Path(os.environ.get("FABRICBENCH_PROGRAMS_FOLDER", "")) / name
    if not programs and called_from.is_absolute() and os.access(called_from, os.X_OK):
        return called_from
    if programs:
        path = Path(programs) / name
        if not os.access(path, os.X_OK):
            raise BadInput(f"--programs {programs}: there is no {name} in it; build it (make)", MISSING)
        return path
    suite = Path(__file__).resolve().parents[2]
    beside = (suite / "build" / name, suite.parents[1] / "libexec/fabricbench" / name)
    return next((path for path in beside if os.access(path, os.X_OK)), None) or shutil.which(name)


def judgement_of(results, hosts, why_not):
    """The verdict that knows most of these hosts; else that of a run with --find."""
    verdicts = [verdict for _, verdict in results.verdicts()]
    if verdicts:
        best = max(verdicts, key=lambda verdict: len(hosts & set(names_of(verdict["order"] or []))))
        return of_slow_links(best)
    for run in results.runs():
        if run.verdict:
            return Judgement(
                printable(run.verdict["why_over"]),
                [finding_of(number, one) for number, one in enumerate(run.verdict["findings"] or [], 1)],
            )
    return Judgement(f"Nothing is marked: {why_not or 'there is no verdict'}.")


def names_of(hosts):
    return [printable(host) for host in hosts]


def of_slow_links(verdict):
    groupings = verdict["groupings"] or []
    return Judgement(
        printable(verdict["headline"]),
        [finding_of(number, one) for number, one in enumerate(verdict["findings"] or [], 1)],
        names_of(verdict["order"] or []),
        [
            (printable(group["name"]), names_of(group["hosts"]))
            for group in (groupings[0]["groups"] if groupings else [])
        ],
        suspects_of(verdict["questions"] or []),
    )


def suspects_of(questions):
    pairs = {
        tuple(sorted(names_of((one["host"], one["other_host"]))))
        for one in questions
        if one["host"] is not None and one["other_host"] is not None
    }
    return sorted(pairs)


def finding_of(number, one):
    """Those of a run with --find have no leaves and rails."""
    leaves = [printable(leaf) for leaf in (one.get("leaf"), one.get("other_leaf")) if leaf is not None]
    rail = None if one.get("rail") is None else printable(one["rail"])
    return Finding(
        number, one["blame"], one["direction"] or "both", names_of(hosts_of(one)), rail, leaves, text_of(one), one
    )


def text_of(one):
    """The culprit and its deficit."""
    words = printable(one["text"])
    if one["bandwidth_gb_per_s"] and one["expected_gb_per_s"]:
        rate, expected = number_text(one["bandwidth_gb_per_s"], 3), number_text(one["expected_gb_per_s"], 3)
        words += f": {rate} GB/s where {expected} are expected"
    reason = one.get("reason")
    return f"{words}: {printable(reason)}" if reason else words
