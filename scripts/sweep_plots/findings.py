"""The findings of find_slow_links --json."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from constants import MISSING, NOT_JUDGED, OK, TOO_SLOW
from sweep_plots.cells import figure_text
from sweep_plots.readings import BadInput, cannot_read, printable

PROGRAM = "find_slow_links"
JUDGED = (OK, TOO_SLOW, NOT_JUDGED)  # exit statuses with a verdict
TIME_LIMIT_S = 300
OF_HOSTS = ("host", "nic", "transient", "dead", "cut_off")
OF_PAIRS = ("pair", "dead_pair")
# The marks beside a host's name, as in the map of find_slow_links: worst first.
MARK_OF_BLAME = {"dead": "x", "cut_off": "x", "host": "!", "nic": "!", "transient": "~", "undecided": "?"}
MEANING_OF_MARK = {"x": "dead or cut off", "!": "slow", "~": "slow now and then", "?": "suspect"}
MOST_PATHS = 100  # suspect ones; more would hide the map


@dataclass
class Finding:
    number: int  # its number in the drawing, from 1
    blame: str  # as in Blame of src/cluster/verdict.h
    direction: str  # both, sends or receives
    hosts: list  # names
    rail: str | None
    leaves: list  # names, one or two
    text: str
    places: list = field(default_factory=list)  # for each of `hosts` the positions of its endpoints on the axis

    def place_on(self, axis):
        self.places = [
            [
                position
                for position, (host, rail) in enumerate(axis.ends)
                if host == name and (self.rail is None or rail in (None, self.rail))
            ]
            for name in self.hosts
        ]

    def all_places(self):
        return [position for of_host in self.places for position in of_host]

    def concerns(self, kind):
        """Whether it appears on the map of that kind of readings."""
        rails = {kind.from_rail, kind.to_rail} - {""}
        return self.rail is None or not rails or self.rail in rails


@dataclass
class Level:
    """Groups of hosts in the verdict."""

    groups: list  # (name, names of hosts)
    is_given: bool = False  # by a locality


@dataclass
class Findings:
    listed: list = field(default_factory=list)
    note: str = ""  # for the reader: a summary, or why nothing is marked
    order: list = field(default_factory=list)  # names of hosts, similar ones together; empty: unknown
    levels: list = field(default_factory=list)  # the finest groups first, then coarser ones, then kinds of hosts
    suspects: list = field(default_factory=list)  # names of hosts
    paths: list = field(default_factory=list)  # (name, name): suspect

    @property
    def knows_locality(self):
        return any(level.is_given for level in self.levels)


@dataclass
class Marks:
    """The marks on a map besides its findings."""

    hosts: dict  # position on the axis -> one of MEANING_OF_MARK
    paths: list  # (position, position)


def marks_of(findings, listed, axis):
    """`listed`: the findings that concern the map."""
    marks = {}
    for blame, mark in MARK_OF_BLAME.items():
        for finding in listed:
            if finding.blame == blame:
                marks |= {position: mark for position in finding.all_places() if position not in marks}
    named = {host for finding in findings.listed if finding.blame != "device" for host in finding.hosts}
    places = {}
    for position, (host, _) in enumerate(axis.ends):
        places.setdefault(host, []).append(position)
    for host in findings.suspects:
        if host not in named:
            marks |= {position: "?" for position in places.get(host, [])}
    paths = [
        (one, other)
        for first, second in findings.paths
        for one in places.get(first, [])
        for other in places.get(second, [])
    ]
    return Marks(marks, paths if len(paths) <= MOST_PATHS else [])


def read_findings(path):
    """The findings in a file. Raises BadInput."""
    try:
        with open(path, "rb") as file:
            return findings_in(file.read(), path)
    except OSError as error:
        raise cannot_read(path, error) from error


def findings_in(text, source):
    try:
        verdict = json.loads(text)
        return Findings(
            [finding_of(number, one) for number, one in enumerate(verdict["findings"], 1)],
            printable(verdict["headline"]),
            names_of(verdict.get("order", [])),
            levels_of(verdict),
            names_of(verdict["lists"]["suspect"]["hosts"]) if "lists" in verdict else [],
            paths_of(verdict.get("questions", [])),
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{source}: not a verdict ({type(error).__name__}: {error}); give what find_slow_links --json printed"
        ) from error


def names_of(hosts):
    return [printable(host) for host in hosts]


def levels_of(verdict):
    levels = [
        Level([(printable(group["name"]), names_of(group["hosts"])) for group in grouping["groups"]], grouping["given"])
        for grouping in verdict.get("groupings", [])
    ]
    if verdict.get("kinds"):
        levels.append(Level([(printable(kind["name"]), names_of(kind["hosts"])) for kind in verdict["kinds"]]))
    return levels


def paths_of(questions):
    """Each pair once, for any number of questions about it."""
    pairs = {}
    for one in questions:
        if one["other_host"] is not None:
            pair = names_of((one["host"], one["other_host"]))
            pairs.setdefault(tuple(sorted(pair)), pair)
    return list(pairs.values())


def finding_of(number, one):
    hosts = [printable(host) for host in one["hosts"]]
    if one["blame"] in OF_PAIRS and len(hosts) != 2:
        raise ValueError(f"a {one['blame']} of {len(hosts)} hosts")
    rail = one["rail"]
    leaves = [printable(leaf) for leaf in (one["leaf"], one["other_leaf"]) if leaf is not None]
    return Finding(
        number, one["blame"], one["direction"], hosts, None if rail is None else printable(rail), leaves, text_of(one)
    )


def text_of(one):
    """The culprit, its deficit, and the number of readings."""
    words = one["text"]
    if one["bandwidth_gb_per_s"] and one["expected_gb_per_s"]:
        rate, expected = figure_text(one["bandwidth_gb_per_s"], 3), figure_text(one["expected_gb_per_s"], 3)
        words += f": {rate} GB/s where {expected} are expected"
    words += (
        f" ({one['readings']} readings, {one['failed_readings']} failed)"
        if one["failed_readings"]
        else f" ({one['readings']} readings)"
    )
    return printable(f"{words}: {one['reason']}" if one["reason"] else words)


def find_findings(records, locality, programs):
    """Runs find_slow_links on the record files. Raises BadInput."""
    program = path_of_program(programs)
    if program is None:
        return Findings(
            note=f"Nothing is marked: there is no {PROGRAM} in build/ or on the PATH, and no --verdict was given."
        )
    if "-" in records:
        return Findings(
            note=f"Nothing is marked: standard input cannot be read twice; give {PROGRAM} a file, or --verdict."
        )
    command = [program, "--json", "-", *(["--locality", locality] if locality else []), *records]
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIME_LIMIT_S, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Findings(note=f"Nothing is marked: {printable(error)}.")
    if done.returncode not in JUDGED or not done.stdout:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        return Findings(note=f"Nothing is marked: {PROGRAM} ended with status {done.returncode}: {printable(last[0])}")
    return findings_in(done.stdout, program)


def path_of_program(programs):
    """The program in --programs, in the build beside the scripts, or on the PATH; None: not found."""
    if programs:
        path = Path(programs) / PROGRAM
        if not os.access(path, os.X_OK):
            raise BadInput(f"--programs {programs}: there is no {PROGRAM} in it; build it (make)", MISSING)
        return path
    built = Path(__file__).resolve().parents[2] / "build" / PROGRAM
    return built if os.access(built, os.X_OK) else shutil.which(PROGRAM)
