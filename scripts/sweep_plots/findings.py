"""What find_slow_links found, as its --json has it."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from sweep_plots.cells import figure_text
from sweep_plots.records import MISSING, BadInput, cannot_read, printable

PROGRAM = "find_slow_links"
JUDGED = (0, 6, 7)  # its statuses where it prints a verdict: clean, slow, not known
TIME_LIMIT_S = 300
OF_HOSTS = ("host", "nic", "transient", "dead")
OF_PAIRS = ("pair", "dead_pair")


@dataclass
class Finding:
    number: int  # from 1: what it is called in the drawing
    blame: str  # as Blame of src/cluster/verdict.h has it
    direction: str  # both, sends or receives
    hosts: list  # names
    rail: str | None
    leaves: list  # names, one or two
    text: str
    places: list = field(default_factory=list)  # for each of `hosts` those of its endpoints on the axis

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
        """Whether it shows on the map of that kind of readings."""
        rails = {kind.from_rail, kind.to_rail} - {""}
        return self.rail is None or not rails or self.rail in rails


@dataclass
class Findings:
    listed: list = field(default_factory=list)
    note: str = ""  # for the reader: what all comes to, or why nothing is marked


def read_findings(path):
    """Those of a file. Raises BadInput."""
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
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise BadInput(
            f"{source}: not a verdict ({type(error).__name__}: {error}); give what find_slow_links --json printed"
        ) from error


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
    """What is to blame, how bad it is, and on what that rests."""
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
    """Asks find_slow_links about the record files. Raises BadInput."""
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
    """Of --programs, of the build beside the scripts, or on the PATH; None: nowhere."""
    if programs:
        path = Path(programs) / PROGRAM
        if not os.access(path, os.X_OK):
            raise BadInput(f"--programs {programs}: there is no {PROGRAM} in it; build it (make)", MISSING)
        return path
    built = Path(__file__).resolve().parents[2] / "build" / PROGRAM
    return built if os.access(built, os.X_OK) else shutil.which(PROGRAM)
