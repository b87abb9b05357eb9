"""Reads files of records: what each holds, and what is wrong with it."""

import concurrent.futures
import io
import json
import mmap
import os
from collections import Counter
from dataclasses import dataclass, field

import records
from constants import SCHEMA_VERSION
from records import KINDS
from report_page import alike_lines
from report_page.sweep import Sweep
from report_page.words import counted, printable

PLACES = ("out_of_place", "in_place")
READINGS = (b'{"kind":"reading"', b'{"kind": "reading"')
CONTEXT = b'"context"'
AT_ONCE = 4096  # readings that are parsed together
PART_BYTES = 32 << 20  # larger files are read in parts, on all processors
OF_ACCEPTANCE = ("acceptance", "acceptance_step", "acceptance_verdict")
IGNORED = ("plan", "locality", "preset", "preset_figure")


@dataclass
class Run:
    """What one program wrote."""

    file: "File"
    context: object
    rows: list = field(default_factory=list)
    epochs: list = field(default_factory=list)
    copies: list = field(default_factory=list)
    steps: list = field(default_factory=list)  # of connections
    endpoints: list = field(default_factory=list)
    silent: list = field(default_factory=list)
    expected: list = field(default_factory=list)  # rows beside what their links allow
    expectation: object = None  # the outcome of these
    published: list = field(default_factory=list)  # figures of a preset beside the run
    verdict: object = None  # of pairwise_bw --find
    readings: int = 0
    end: object = None


@dataclass
class Comparison:
    """Rows beside a baseline, from a run or from fabricbench compare."""

    file: "File"
    run: Run | None  # the first of those that were compared; None: unknown
    runs: list = field(default_factory=list)
    rows: list = field(default_factory=list)
    changes: list = field(default_factory=list)
    outcome: object = None
    called: str = ""  # for readers, if it is not the name of the file

    @property
    def name(self):
        return self.called or self.file.name


@dataclass
class Baseline:
    file: "File"
    said: int  # launches, by its first line
    launches: list = field(default_factory=list)  # (launch, its rows)


@dataclass
class File:
    path: str
    name: str  # for readers
    problems: list = field(default_factory=list)
    kinds: Counter = field(default_factory=Counter)
    runs: list = field(default_factory=list)
    comparisons: list = field(default_factory=list)
    baselines: list = field(default_factory=list)
    verdicts: list = field(default_factory=list)  # of find_slow_links
    sweeps: list = field(default_factory=list)  # the lines that begin a sweep
    acceptance: list = field(default_factory=list)
    sweep: Sweep = field(default_factory=Sweep)
    truncated: bool = False

    @property
    def damaged(self):
        return bool(self.problems)


def read_file(path, name):
    """The contents of a file, and all that is wrong with it. Raises OSError."""
    file = File(str(path), name)
    lines = []
    for part in parts_of(path):
        file.problems += part.problems
        file.kinds["reading"] += part.readings
        file.sweep.add(part.sweep)
        lines += part.others
    for number, line in lines:
        take_line(file, number, line)
    finish(file, os.path.getsize(path))
    return file


@dataclass
class Part:
    """Consecutive lines of a file: its readings, and the other lines with their numbers."""

    sweep: Sweep = field(default_factory=Sweep)
    others: list = field(default_factory=list)
    problems: list = field(default_factory=list)
    readings: int = 0
    lines: int = 0


def parts_of(path):
    bounds, context = bounds_of(path, os.path.getsize(path))
    if len(bounds) == 2:
        return [read_part(path, *bounds)]
    count = len(bounds) - 1
    with concurrent.futures.ProcessPoolExecutor(min(count, os.cpu_count() or 1)) as workers:
        return number_lines(list(workers.map(read_part, [path] * count, bounds, bounds[1:], [context] * count)))


def bounds_of(path, size):
    """Where the parts of a file begin, and its end; and its first line if that is a context. What endpoints are called
    depends on the context before them, so a file with several is one part."""
    if size <= PART_BYTES:
        return [0, size], None
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
        first = file.readline()
        if contents.find(b'"kind":"context"', len(first)) >= 0:
            return [0, size], None
        bounds = [0]
        for at in range(PART_BYTES, size, PART_BYTES):
            end = contents.find(b"\n", at) + 1
            bounds.append(end or size)
    return sorted({*bounds, size}), first if CONTEXT in first[:24] else None


def number_lines(parts):
    """Lines were counted from the beginning of their part."""
    before = 0
    for part in parts:
        part.others = [(number + before, line) for number, line in part.others]
        part.problems = [(number + before, words) for number, words in part.problems]
        before += part.lines
    return parts


def read_part(path, begin, end, context=None):
    part, waiting, number = Part(), [], 0
    if context is not None:
        begin_run(part.sweep, context)
    with open(path, "rb") as file:
        file.seek(begin)
        lines = io.BytesIO(file.read(end - begin))
    for number, line in enumerate(lines, 1):
        if line.startswith(READINGS):
            waiting.append(line)
            if len(waiting) == AT_ONCE:
                take_readings(part, waiting, number + 1)
            continue
        take_readings(part, waiting, number)
        if line.strip():
            take_other(part, number, line)
    take_readings(part, waiting, number + 1)
    part.lines = number
    return part


def take_other(part, number, line):
    if CONTEXT in line[:24]:
        begin_run(part.sweep, line)
    part.others.append((number, line))


def begin_run(sweep, line):
    try:
        sweep.begin(json.loads(line))
    except (ValueError, LookupError, TypeError, AttributeError):
        pass  # take_line() says what is wrong with it


def take_readings(part, waiting, after):
    """Takes lines that follow each other, up to the one with that number."""
    if not waiting:
        return
    alike, others = ({}, range(len(waiting))) if part.sweep.rails else alike_lines.cut(waiting)
    for kind, columns in alike.items():
        part.sweep.take_columns(kind, *columns)
        part.readings += len(columns[0])
    for place in others:
        take_reading(part, after - len(waiting) + place, waiting[place])
    waiting.clear()


def take_reading(part, number, line):
    try:
        value = json.loads(line, parse_constant=records.finite)
    except (ValueError, RecursionError) as error:
        part.problems.append((number, what_is_wrong_with(line, error)))
        return
    try:
        part.sweep.take(value)
        part.readings += 1
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        words = f"there is no {error}" if isinstance(error, KeyError) else printable(error)
        part.problems.append((number, f"a reading that cannot be used: {words}"))


def take_line(file, number, line):
    """Any line but a reading that begins with its kind."""
    try:
        record = record_in(line)
        kind = record["kind"]
        file.kinds[kind] += 1
        take = TAKE.get(kind)
        if take is not None:
            take(file, record)
        elif kind not in IGNORED:
            file.problems.append((number, f"a line of the unknown kind '{printable(kind)}'"))
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as problem:
        file.problems.append((number, what_is_wrong_with(line, problem)))


def what_is_wrong_with(line, problem):
    words = printable(problem)
    if isinstance(problem, json.JSONDecodeError):
        words = f"no JSON from character {problem.colno} on"
    elif isinstance(problem, RecursionError):
        words = "no JSON: too many brackets within each other"
    return words if line.endswith(b"\n") else f"{words}; the line is cut off"


def record_in(line):
    text = line.decode("utf-8", "replace").removeprefix("\ufeff")
    if any(f'"{kind}"' in text[:40] for kind in OF_ACCEPTANCE) and not set(OF_ACCEPTANCE) <= set(KINDS):
        return json.loads(text, parse_constant=records.finite)
    return records.read(text)


def run_of(file, kind):
    if not file.runs:
        raise ValueError(f"a line of kind '{kind}' without a line of kind 'context' before it")
    return file.runs[-1]


def comparison_of(file):
    """That of the last run, or the one of a file of fabricbench compare."""
    run = file.runs[-1] if file.runs else None
    if not file.comparisons or file.comparisons[-1].run is not run or file.comparisons[-1].outcome is not None:
        file.comparisons.append(Comparison(file, run, [run] if run else []))
    return file.comparisons[-1]


def take_context(file, record):
    if (record["schema_version"] or 0) > SCHEMA_VERSION:
        raise ValueError(f"schema_version is {record['schema_version']}, and this report reads up to {SCHEMA_VERSION}; use a "
                         "later fabricbench")
    file.runs.append(Run(file, record))


def take_row(file, record):
    if record["size_bytes"] is None:
        raise ValueError("the row has no size")
    run_of(file, "row").rows.append(record)


def take_reading_line(file, record):
    file.sweep.take(record)


def take_end(file, record):
    if record["exit_status"] is None:
        raise ValueError("the end of the run has no exit status")
    run_of(file, "end").end = record


def take_verdict(file, record):
    run_of(file, "verdict").verdict = record


def take_baseline(file, record):
    file.baselines.append(Baseline(file, record["launches"]))


def take_launch(file, record):
    if not file.baselines:
        raise ValueError("a launch without a line of kind 'baseline' before it")
    file.baselines[-1].launches.append((record, []))


def take_row_times(file, record):
    if not file.baselines or not file.baselines[-1].launches:
        raise ValueError("a row of a baseline without its launch")
    file.baselines[-1].launches[-1][1].append(record)


def take_outcome(file, record):
    comparison_of(file).outcome = record


def take_expectation(file, record):
    run_of(file, "expectation").expectation = record


def adder(list_name, kind):
    return lambda file, record: getattr(run_of(file, kind), list_name).append(record)


TAKE = {
    "context": take_context,
    "row": take_row,
    "epoch": adder("epochs", "epoch"),
    "copy": adder("copies", "copy"),
    "connection_step": adder("steps", "connection_step"),
    "endpoint": adder("endpoints", "endpoint"),
    "silent": adder("silent", "silent"),
    "reading": take_reading_line,
    "verdict": take_verdict,
    "end": take_end,
    "row_expectation": adder("expected", "row_expectation"),
    "expectation": take_expectation,
    "preset_comparison": adder("published", "preset_comparison"),
    "row_comparison": lambda file, record: comparison_of(file).rows.append(record),
    "history_change": lambda file, record: comparison_of(file).changes.append(record),
    "baseline_comparison": take_outcome,
    "baseline": take_baseline,
    "launch": take_launch,
    "row_times": take_row_times,
    "slow_links": lambda file, record: file.verdicts.append(record),
    "sweep": lambda file, record: file.sweeps.append(record),
    **{kind: lambda file, record: file.acceptance.append(record) for kind in OF_ACCEPTANCE},
}


def finish(file, size):
    """What only the end of a file shows."""
    if size == 0:
        file.problems.append((0, "the file is empty"))
    for run in file.runs:
        run.readings = len(file.sweep) if len(file.runs) == 1 else 0
        for row in run.rows:
            untimed = [row[place] for place in PLACES if row[place] and not (row[place]["time_us_median"] or 0) > 0]
            for measured in untimed:
                measured["time_us_median"] = None  # also a time below 0
            if untimed:
                file.problems.append((0, f"a row of {row['size_bytes']} bytes has no time, and is left out"))
        if run.end is None:
            file.problems.append(
                (0, f"the run of {printable(run.context['program'])} has no end: it was killed or is " "still running")
            )
    for baseline in file.baselines:
        if baseline.said != len(baseline.launches):
            said, there = counted(baseline.said or 0, "launch", "launches"), len(baseline.launches)
            file.problems.append((0, f"the baseline should have {said} and has {there}"))
        for launch, rows in baseline.launches:
            if launch["rows"] != len(rows):
                file.problems.append(
                    (
                        0,
                        f"the launch of {printable(launch['began_utc'])} should have {launch['rows']} rows "
                        f"and has {len(rows)}",
                    )
                )
    for comparison in file.comparisons:
        if comparison.outcome is None:
            file.problems.append((0, "rows beside a baseline without the outcome: the comparison did not end"))
    if file.sweep.without_figure:
        file.problems.append(
            (0, f"{counted(file.sweep.without_figure, 'reading')} left out: succeeded without a bandwidth")
        )
