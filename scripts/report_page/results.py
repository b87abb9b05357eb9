"""All results of a report: files and folders, in one place."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from constants import MISSING, USAGE
from report_page.reading import read_file
from report_page.sweep import Sweep
from report_page.words import counted, printable


class BadInput(Exception):
    """Nothing can be shown; the text says why."""

    def __init__(self, message, status=USAGE):
        super().__init__(message)
        self.status = status


@dataclass
class Results:
    files: list
    unreadable: list = field(default_factory=list)  # (name, reason)
    sweep: Sweep = field(default_factory=Sweep)  # the readings of all files
    why_not_compared: str = ""  # runs with the baselines that are here

    def runs(self):
        return [run for file in self.files for run in file.runs]

    def comparisons(self):
        return [comparison for file in self.files for comparison in file.comparisons]

    def baselines(self):
        return [baseline for file in self.files for baseline in file.baselines]

    def verdicts(self):
        return [(file, verdict) for file in self.files for verdict in file.verdicts]

    def acceptance(self, kind):
        return [record for file in self.files for record in file.acceptance if record["kind"] == kind]

    def problems(self):
        """(name of the file, number of the line or 0, words)."""
        listed = [(name, 0, reason) for name, reason in self.unreadable]
        return listed + [(file.name, *problem) for file in self.files for problem in file.problems]


def read_results(paths):
    """Raises BadInput if there is nothing to show."""
    results = Results([])
    for path, name in files_of(paths, results):
        try:
            results.files.append(read_file(path, name))
        except OSError as error:
            results.unreadable.append((name, error.strerror or str(error)))
    drop_runs_told_twice(results)
    with_readings = [file.sweep for file in results.files if len(file.sweep)]
    if len(with_readings) == 1:
        results.sweep = with_readings[0]
    else:
        for sweep in with_readings:
            results.sweep.add(sweep)
    refuse_nothing(paths, results)
    return results


def drop_runs_told_twice(results):
    """A run that is in two files, as where one has them all and others have parts: its ranks have the same process IDs."""
    known = {}
    for file in results.files:
        for run in list(file.runs):
            told = (run.context, run.rows, run.copies, run.steps, run.end)
            same_time = known.setdefault((run.context["program"], run.context["started_utc"]), [])
            if told in same_time:
                file.runs = [one for one in file.runs if one is not run]
                file.comparisons = [one for one in file.comparisons if one.run is not run]
            same_time.append(told)


def paths_of(given):
    return [path for path, _ in files_of(given, Results([])) if path.is_file()]


def files_of(paths, results):
    """(path, name) of all files, each once, without copies: a folder stands for all *.jsonl in it."""
    listed = {}
    for given in map(Path, paths):
        if given.is_dir():
            found = sorted(path for path in given.rglob("*.jsonl") if path.is_file() and not is_context_alone(path))
            if not found:
                results.unreadable.append((printable(given), "a folder without any *.jsonl"))
            listed.update({path.resolve(): (path, printable(path.relative_to(given))) for path in found})
        else:
            listed.setdefault(given.resolve(), (given, printable(given)))
    sizes = Counter(path.stat().st_size for path, _ in listed.values() if path.is_file())
    known, different = set(), []
    for path, name in listed.values():
        if path.is_file() and sizes[path.stat().st_size] > 1:
            digest = digest_of(path)
            if digest in known:
                continue
            known.add(digest)
        different.append((path, name))
    return different


def digest_of(path):
    """Of the contents; of the path where they cannot be read, which is told later."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return str(path)
    return digest.digest()


def is_context_alone(path):
    """The context of an acceptance run, which every run in its folder has as well."""
    return path.name == "context.jsonl" and (path.parent / "acceptance.jsonl").exists()


def refuse_nothing(paths, results):
    if any(sum(file.kinds.values()) for file in results.files):
        return
    where = ", ".join(printable(path) for path in paths)
    if not results.files:
        raise BadInput(
            f"nothing to read in {where}: {results.unreadable[0][1]}; give files of records or folders " "with *.jsonl",
            MISSING,
        )
    name, number, words = results.problems()[0]
    place = f"{name}:{number}" if number else name
    raise BadInput(
        f"no record in {where} ({counted(len(results.files), 'file')} read); {place}: {words}; "
        "give what programs wrote with --json or --record"
    )
