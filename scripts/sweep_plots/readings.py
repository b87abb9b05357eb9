"""Reads the records of sweeps: JSON Lines of scripts/check_node_pair.sh and pairwise_bw."""

import array
import json
import math
import re
import sys
from collections import Counter
from dataclasses import dataclass, field

from constants import MISSING, MOST_GB_PER_SECOND, READING_STATUSES, USAGE

FIGURE, FAILED, NOT_TRIED = "figure", "failed", "not tried"
OUTCOMES = {**dict.fromkeys(READING_STATUSES, FAILED), "ok": FIGURE, "slow": FIGURE, "not_tried": NOT_TRIED}
UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
# Characters that are invalid in XML, lone surrogates, which are valid in JSON and invalid in UTF-8, and the characters
# that src/common/core/plain_text.h replaces.
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufffe\uffff]")


class BadInput(Exception):
    """A file cannot be read or used; the text names the file and the line."""

    def __init__(self, message, status=USAGE):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Kind:
    """Readings of one kind are comparable and share a map."""

    test: str
    size: int | None  # bytes
    from_rail: str
    to_rail: str
    both_ways: bool  # a figure is the sum of both directions

    def __str__(self):
        parts = [self.test]
        if self.size is not None:
            parts.append(size_text(self.size))
        if self.from_rail or self.to_rail:
            rails = [self.from_rail or "any", self.to_rail or "any"]
            parts.append(f"rail {rails[0]}" if rails[0] == rails[1] else f"rail {rails[0]} to {rails[1]}")
        if self.both_ways:
            parts.append("both directions together")
        return ", ".join(parts)


@dataclass
class Readings:
    """Readings of one kind, in columns, because a sweep may have a million. Places refer to Records.hosts."""

    senders: array.array = field(default_factory=lambda: array.array("i"))
    receivers: array.array = field(default_factory=lambda: array.array("i"))
    rounds: array.array = field(default_factory=lambda: array.array("i"))  # -1: unknown
    rates: array.array = field(default_factory=lambda: array.array("d"))  # GB/s; NaN: no figure
    why: dict = field(default_factory=dict)  # for readings without a figure: place -> (outcome, reason)

    def __len__(self):
        return len(self.rates)

    def has_figures(self):
        return any(not math.isnan(rate) for rate in self.rates)


@dataclass
class Records:
    hosts: list = field(
        default_factory=list
    )  # names in order of appearance; `host:r3` if a host has several endpoints
    ends: list = field(default_factory=list)  # by place in hosts: (host, its rail, or None if it has one)
    leaf_of: dict = field(default_factory=dict)  # name of a host -> name of its leaf
    kinds: dict = field(default_factory=dict)  # Kind -> Readings
    notices: list = field(default_factory=list)
    places: dict = field(default_factory=dict)  # name -> place in hosts

    def place(self, host, rank=None, rail=None):
        name = host if rank is None else f"{host}:r{rank}"
        if name not in self.places:
            self.places[name] = len(self.hosts)
            self.hosts.append(name)
            self.ends.append((host, rail))
        return self.places[name]

    def leaf(self, place):
        return self.leaf_of.get(self.ends[place][0])


def size_text(size):
    unit, name = next(((unit, name) for unit, name in UNITS if size >= unit and size % unit == 0), UNITS[-1])
    return f"{size // unit} {name}"


def printable(text):
    return UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def read_records(paths):
    """The contents of all files. A truncated last line is skipped with a notice. Raises BadInput."""
    records = Records()
    for path in paths:
        reader = Reader(records)
        try:
            with sys.stdin.buffer if path == "-" else open(path, "rb") as lines:
                for number, line in enumerate(lines, 1):
                    reader.take(line, f"{path}:{number}")
        except OSError as error:
            raise cannot_read(path, error) from error
        if reader.without_figure:
            records.notices.append(
                f"{path}: readings left out because they succeeded but have no bandwidth: {reader.without_figure}"
            )
    return records


def cannot_read(path, error):
    return BadInput(f"{printable(path)}: {error.strerror}; give a file that can be read", MISSING)


class Reader:
    """Takes the lines of one file, one after the other."""

    def __init__(self, records):
        self.records_ = records
        self.program_ = "sweep"  # for readings without a test; set by the context line
        self.rails_ = []  # by endpoint, if hosts have several: its number on its host, as in find_slow_links
        self.without_figure = 0  # readings

    def take(self, line, place):
        if not line.strip():
            return
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if line.endswith(b"\n"):
                raise BadInput(f"{place}: not a line of JSON ({error}); correct it, or take the line out") from error
            self.records_.notices.append(f"{place}: the last line is cut off and left out")
            return
        if not isinstance(record, dict):
            raise BadInput(f"{place}: not a JSON object; is this a file of records?")
        try:
            self.take_record_(record)
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise BadInput(f"{place}: {describe(error, record)}; correct it, or take the line out") from error

    def take_record_(self, record):
        kind = record.get("kind")
        if kind == "reading":
            self.take_reading_(record)
        elif kind == "context":
            self.program_ = printable(record.get("program") or self.program_)
            self.rails_ = rails_of(record.get("rank_map") or [])
        elif kind == "locality":
            self.records_.leaf_of[name_in(record, "host")] = name_in(record, "leaf")
        elif kind == "sweep":
            for host in record.get("hosts") or []:
                self.records_.place(name_in({"a host": host}, "a host"))

    def take_reading_(self, record):
        status = record["status"]
        outcome = OUTCOMES.get(status)
        if outcome is None:
            raise ValueError(f"status '{status}' is none of {', '.join(OUTCOMES)}")
        rate = record.get("bandwidth_gb_per_s") if outcome == FIGURE else None
        if outcome == FIGURE and rate is None:
            self.without_figure += 1
            return
        readings = self.readings_of_(record)
        sender, receiver = self.endpoint_(record, "from"), self.endpoint_(record, "to")
        if sender == receiver:
            raise ValueError(f"'{record['from_host']}' is both from_host and to_host")
        if rate is None:
            readings.why[len(readings)] = (outcome, printable(record.get("reason") or status))
            rate = math.nan
        elif not 0 <= rate <= MOST_GB_PER_SECOND:
            raise ValueError(f"bandwidth_gb_per_s {rate} is not a rate")
        number = record.get("round")
        readings.senders.append(sender)
        readings.receivers.append(receiver)
        readings.rounds.append(-1 if number is None else number)
        readings.rates.append(rate)

    def readings_of_(self, record):
        size = record.get("size_bytes")
        kind = Kind(
            printable(record.get("test") or self.program_),
            None if size is None else int(size),
            rail_name(record.get("from_rail")),
            rail_name(record.get("to_rail")),
            bool(record.get("both_ways")),
        )
        return self.records_.kinds.setdefault(kind, Readings())

    def endpoint_(self, record, side):
        host = name_in(record, f"{side}_host")
        if not self.rails_ or record.get(side) is None:
            return self.records_.place(host)
        return self.records_.place(host, record[f"{side}_rank"], self.rails_[record[side]])


def name_in(record, key):
    if not isinstance(record[key], str) or not record[key]:
        raise TypeError(f"{key} is not a name")
    return printable(record[key])


def rails_of(ranks):
    """The number of each endpoint of pairwise_bw on its host; empty if every host has one."""
    seen = Counter()
    rails = []
    for rank in ranks:
        rails.append(str(seen[rank["host"]]))
        seen[rank["host"]] += 1
    return rails if len(seen) < len(rails) else []


def rail_name(rail):
    return "" if rail is None else printable(rail)


def describe(error, record):
    if isinstance(error, KeyError):
        return f"a line of kind '{printable(record.get('kind'))}' without {error}"
    if isinstance(error, IndexError):
        return "an endpoint that the context line does not have"
    if isinstance(error, TypeError):
        return f"a value of the wrong type ({error})"
    return str(error)
