"""The folder of an acceptance run: acceptance.jsonl, which is only appended to, and files of records beside it."""

import contextlib
import json
import os
import re
import stat

import record_pair
import records
from constants import NOT_JUDGED, OK, SCHEMA_VERSION, TOO_SLOW

STATE = "acceptance.jsonl"
ACCEPTED, SLOW, BROKEN, UNKNOWN, UNMEASURED = "accepted", "slow", "failed", "not_judged", "not_measured"
OUTCOMES = (ACCEPTED, SLOW, BROKEN, UNKNOWN, UNMEASURED)
NEEDED = {"acceptance": ("hosts", "held_against", "command"), "acceptance_verdict": ("headline",),
          "acceptance_step": ("name", "stage", "hosts", "outcome", "seconds")}
STEPS = {"hosts": r"hosts/(.+)", "pairs": r"pairs(?:/(.+))?", "collectives": r"collectives/[a-z_]+_perf-[0-9]+()"}
FILES = re.compile(r"(hosts/[A-Za-z0-9_][A-Za-z0-9._@-]*|collectives/[a-z0-9_-]+|pairs(-[0-9]+)?)\.jsonl")
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
        for line in self.lines_of(os.path.join(path, STATE)):
            kind = line["kind"]
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

    def lines_of(self, path):
        """The records in the file. Raises ValueError for a damaged line; one that was cut off is left out."""
        lines = record_pair.read_text(path).split("\n")
        for number, text in enumerate(lines, 1):
            try:
                if text.strip():
                    yield self.sound(records.read(text))
            except ValueError as problem:
                if number < len(lines):  # else without an end of line: the writer was killed
                    raise ValueError("{}, line {}: not a record of an acceptance run: {}".format(
                        path, number, problem)) from None

    def sound(self, line):
        """The line, if all that is read here is there, and it names no other host or file than a run does."""
        kind = line["kind"]
        if kind not in NEEDED or any(line[key] is None for key in NEEDED[kind]):
            raise ValueError("it lacks {}".format(" or ".join(NEEDED.get(kind, ("a kind of such",)))))
        if kind == "acceptance":
            if line["schema_version"] != SCHEMA_VERSION:
                raise ValueError("its schema_version is {}, not {} of this program; go on with that which began".format(
                    line["schema_version"], SCHEMA_VERSION))
            records.host_names(line["hosts"], 2)
        elif kind == "acceptance_step":
            self.check_step(line)
        return line

    def check_step(self, step):
        known = set(self.hosts if self.start else ())
        records.host_names(step["hosts"])
        named = re.fullmatch(STEPS.get(step["stage"], "$."), step["name"])
        about = named.group(1).split(",") if named and named.group(1) else []
        if not named or not known >= set(step["hosts"]) | set(about):
            raise ValueError("{:.80} is no step of the hosts of this run".format(step["name"]))
        if step["stage"] == "hosts" and step["hosts"] != about:
            raise ValueError("{:.80} is about other hosts".format(step["name"]))
        if step["outcome"] not in OUTCOMES or step["seconds"] < 0:
            raise ValueError("its outcome is {:.80} after {} s".format(step["outcome"], step["seconds"]))
        if step["records"] is not None and not FILES.fullmatch(step["records"]):
            raise ValueError("'{:.80}' is no file of records of this folder".format(step["records"]))

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


def check(path):
    """Raises ValueError if the folder has a link, by which files outside of it would be written, or a pipe, which has no end."""
    def refuse(problem):
        raise problem

    for place, folders, files in os.walk(path, onerror=refuse):
        for name in folders + files:
            mode = os.lstat(os.path.join(place, name)).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise ValueError("{} is neither a file nor a folder, and accept.sh made nothing else; remove it".format(
                    os.path.join(place, name)))


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
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)  # of a process that was killed, or a link of somebody's
    with open(temporary, "x", encoding="utf-8", errors="replace") as file:
        file.write(text)
    os.replace(temporary, path)


def enough(hosts):
    """How many hosts have to agree for another one to be the exception."""
    return (2 * hosts + 2) // 3
