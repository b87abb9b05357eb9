"""The readings of sweeps over pairs of hosts, in columns, because a sweep may have a million."""

import array
import math
from collections import Counter
from dataclasses import dataclass, field

from constants import MOST_GB_PER_SECOND
from records import DEFINITIONS
from report_page.words import printable, size_text

FIGURE, FAILED, WRONG, NOT_TRIED = "figure", "failed", "wrong data", "not tried"
OF_KIND = ("test", "size_bytes", "from_rail", "to_rail", "both_ways")
READING_STATUSES = [word for word in DEFINITIONS["pair_reading"]["properties"]["status"]["enum"] if word]
OUTCOMES = {**dict.fromkeys(READING_STATUSES, FAILED), "ok": FIGURE, "slow": FIGURE, "wrong": WRONG, "not_tried": NOT_TRIED}


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
    """Readings of one kind. Places refer to Sweep.names."""

    senders: array.array = field(default_factory=lambda: array.array("i"))
    receivers: array.array = field(default_factory=lambda: array.array("i"))
    rates: array.array = field(default_factory=lambda: array.array("d"))  # GB/s; NaN: no figure
    why: dict = field(default_factory=dict)  # for readings without a figure: place -> (outcome, reason)

    def __len__(self):
        return len(self.rates)

    def has_figures(self):
        return any(not math.isnan(rate) for rate in self.rates)

    def add(self, others, places):
        """Adds the readings of another sweep, whose place p is places[p] here."""
        self.why |= {len(self) + place: reason for place, reason in others.why.items()}
        self.senders.extend(map(places.__getitem__, others.senders))
        self.receivers.extend(map(places.__getitem__, others.receivers))
        self.rates.extend(others.rates)


@dataclass
class Sweep:
    names: list = field(default_factory=list)  # of endpoints, as they appear; `host:r3` if a host has several
    ends: list = field(default_factory=list)  # by place in names: (host, its rail, or None if it has one)
    kinds: dict = field(default_factory=dict)  # Kind -> Readings
    without_figure: int = 0  # readings left out because they succeeded and have no bandwidth
    places: dict = field(default_factory=dict)  # name -> place
    program: str = "sweep"  # of readings without a test
    rails: list = field(default_factory=list)  # by endpoint, if hosts have several: its number on its host
    known_: dict = field(default_factory=dict)  # what decides the kind of a reading -> the readings of that kind

    def __len__(self):
        return sum(map(len, self.kinds.values()))

    def place(self, host, rank=None, rail=None):
        name = host if rank is None else f"{host}:r{rank}"
        place = self.places.get(name)
        if place is None:
            place = self.places[name] = len(self.names)
            self.names.append(name)
            self.ends.append((host, rail))
        return place

    def begin(self, context):
        """What follows belongs to that run."""
        self.program = printable(context.get("program") or self.program)
        self.rails = rails_of(context.get("rank_map") or [])

    def take_columns(self, kind, senders, receivers, rates):
        """Readings of a kind that alike_lines.cut() has found."""
        places = {name: self.place(name.decode()) for name in {*senders, *receivers}}
        readings = self.readings_of_(*kind)
        readings.senders.extend(map(places.__getitem__, senders))
        readings.receivers.extend(map(places.__getitem__, receivers))
        readings.rates.extend(rates)

    def take(self, record):
        """A reading. Raises LookupError, TypeError or ValueError if a value is missing or no such value."""
        outcome = OUTCOMES.get(record["status"])
        if outcome is None:
            raise ValueError(f"status '{printable(record['status'])}' is none of {', '.join(OUTCOMES)}")
        rate = record.get("bandwidth_gb_per_s") if outcome == FIGURE else None
        if outcome == FIGURE and rate is None:
            self.without_figure += 1
            return
        sender, receiver = self.endpoint_(record, "from"), self.endpoint_(record, "to")
        if sender == receiver:
            raise ValueError(f"'{printable(record['from_host'])}' is both from_host and to_host")
        readings = self.readings_of_(*(record.get(key) for key in OF_KIND))
        if rate is None:
            reason = printable(record.get("reason") or record["status"]).removeprefix(f"{WRONG}: ")
            readings.why[len(readings)] = (outcome, reason)
            rate = math.nan
        elif not 0 <= rate <= MOST_GB_PER_SECOND:
            raise ValueError(f"bandwidth_gb_per_s {rate} is not a rate")
        readings.rates.append(rate)
        readings.senders.append(sender)
        readings.receivers.append(receiver)

    def readings_of_(self, *key):
        key = (*key, self.program)
        readings = self.known_.get(key)
        if readings is None:
            readings = self.known_[key] = self.kinds.setdefault(kind_of(*key), Readings())
        return readings

    def endpoint_(self, record, side):
        host = record[f"{side}_host"]
        if not isinstance(host, str) or not host:
            raise TypeError(f"{side}_host is not a name")
        host = printable(host)
        if not self.rails or record.get(side) is None:
            return self.place(host)
        return self.place(host, record[f"{side}_rank"], self.rails[record[side]])

    def add(self, other):
        places = [self.place_of_name_(name, end) for name, end in zip(other.names, other.ends)]
        for kind, readings in other.kinds.items():
            self.kinds.setdefault(kind, Readings()).add(readings, places)
        self.without_figure += other.without_figure

    def place_of_name_(self, name, end):
        if name not in self.places:
            self.places[name] = len(self.names)
            self.names.append(name)
            self.ends.append(end)
        return self.places[name]


def kind_of(test, size, from_rail, to_rail, both_ways, program):
    return Kind(
        printable(test) if test else program,
        None if size is None else int(size),
        "" if from_rail is None else printable(from_rail),
        "" if to_rail is None else printable(to_rail),
        bool(both_ways),
    )


def rails_of(ranks):
    """The number of each endpoint of pairwise_bw on its host; empty if every host has one."""
    seen = Counter()
    rails = []
    for rank in ranks:
        rails.append(str(seen[rank["host"]]))
        seen[rank["host"]] += 1
    return rails if len(seen) < len(rails) else []
