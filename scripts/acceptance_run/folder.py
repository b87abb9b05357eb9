"""The folder of an acceptance run: acceptance.jsonl, which is only appended to, and files of records beside it."""

import contextlib
import json
import os
import re

import record_pair
from constants import NOT_JUDGED, OK, TOO_SLOW

STATE = "acceptance.jsonl"
ACCEPTED, SLOW, BROKEN, UNKNOWN, UNMEASURED = "accepted", "slow", "failed", "not_judged", "not_measured"
OUTCOMES = (ACCEPTED, SLOW, BROKEN, UNKNOWN, UNMEASURED)
CUT, BROKEN_OFF = "ended by --time", "interrupted"
RECORD = re.compile(r'\{\s*"kind"\s*:\s*"(\w+)"')
AGAIN = "-again.jsonl"  # ends the file of a second measurement


class State:
    """What acceptance.jsonl says; the last line of a step counts."""

    def __init__(self, path):
        self.path = path
        self.start = None
        self.steps = {}
        self.verdict = None
        for line in lines_of(os.path.join(path, STATE)):
            kind = line.get("kind")
            if kind == "acceptance":
                self.start = self.start or line
            elif kind == "acceptance_step":
                self.steps.pop(line["name"], None)  # in the order of their last lines
                self.steps[line["name"]] = line
            elif kind == "acceptance_verdict":
                self.verdict = line
        if self.start is None:
            raise ValueError("{}: no line of kind `acceptance`, so accept.sh did not write it".format(
                os.path.join(path, STATE)))

    @property
    def hosts(self):
        return self.start["hosts"]

    def step(self, name):
        """The finished step of that name; None if it was not measured."""
        found = self.steps.get(name)
        return found if found and found["outcome"] != UNMEASURED else None

    def of_stage(self, stage):
        return [step for step in self.steps.values() if step["stage"] == stage]

    def add(self, *steps):
        record_pair.append(os.path.join(self.path, STATE), [dump(step) for step in steps])
        for step in steps:
            self.steps.pop(step["name"], None)
            self.steps[step["name"]] = step

    def add_verdict(self, verdict):
        record_pair.append(os.path.join(self.path, STATE), [dump(verdict)])
        self.verdict = verdict


def is_sound(line):
    """Whether a line has the keys that are read here, so that a damaged file is refused instead of misread."""
    kind = line.get("kind")
    texts = {"acceptance": ("held_against", "command"), "acceptance_step": ("name", "stage", "outcome"),
             "acceptance_verdict": ("headline",)}.get(kind)
    if texts is None:
        return True
    hosts = line.get("hosts", line.get("admit"))
    return all(isinstance(line.get(key), str) for key in texts) and isinstance(hosts, list) and \
        all(isinstance(host, str) for host in hosts) and line.get("outcome", ACCEPTED) in OUTCOMES


def lines_of(path):
    """The objects in a file of lines of JSON. Raises ValueError for a damaged line; one that was cut off is left out."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().split("\n")
    found = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            if number == len(lines):  # without an end of line: the writer was killed
                break
            value = None
        if not isinstance(value, dict) or not is_sound(value):
            raise ValueError("{}, line {}: not a record of an acceptance run: {:.60}".format(path, number, text.strip()))
        found.append(value)
    return found


def kind_of(line):
    """The kind of a record in a line of text; None if it is no record."""
    found = RECORD.match(line)
    return found and found.group(1)


def repair(path):
    """Ends a line that was cut off, so that the next one begins a line of its own."""
    with open(path, "rb+") as file:
        data = file.read()
        if data and not data.endswith(b"\n"):
            file.truncate(data.rfind(b"\n") + 1)


def dump(value):
    return json.dumps(value, separators=(",", ":"))


def make_step(name, stage, hosts, outcome, reason=None, records=None, command=None, exit_status=None, seconds=0.0):
    return {"kind": "acceptance_step", "name": name, "stage": stage, "hosts": list(hosts), "command": command or "",
            "records": records, "outcome": outcome, "exit_status": exit_status, "reason": reason,
            "seconds": round(float(seconds), 1)}


def changed(step, outcome, reason):
    return dict(step, outcome=outcome, reason=reason)


def outcome_of_status(status):
    return {OK: ACCEPTED, TOO_SLOW: SLOW, NOT_JUDGED: UNKNOWN}.get(status, BROKEN)


def worst_status(outcomes):
    """What slow or failed outweighs what is unknown."""
    outcomes = set(outcomes)
    if outcomes & {SLOW, BROKEN}:
        return TOO_SLOW
    return NOT_JUDGED if outcomes & {UNKNOWN, UNMEASURED} else OK


def file_name(host, taken=()):
    """A name of a file for a host, whatever the host is called."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", host).lstrip(".-") or "host"
    number, unique = 1, name
    while unique in taken:
        number += 1
        unique = "{}_{}".format(name, number)
    return unique


def file_names(hosts):
    names = {}
    taken = set()
    for host in hosts:
        names[host] = file_name(host, taken)
        taken.add(names[host])
    return names


def read_records(path):
    """The records in a file by kind; none where it cannot be read."""
    with contextlib.suppress(OSError):
        return record_pair.json_lines(record_pair.read_text(path))
    return {}


def replace(path, text):
    """Writes a file as a whole: readers see the old one or the new one."""
    temporary = "{}.{}".format(path, os.getpid())
    with open(temporary, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    os.replace(temporary, path)


def enough(hosts):
    """How many hosts have to agree for another one to be the exception."""
    return (2 * hosts + 2) // 3
