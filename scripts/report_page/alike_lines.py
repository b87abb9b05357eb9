"""Lines of readings that look alike, as most of a sweep do. Their figures are cut out, which takes less time than
parsing them as JSON. Lines that differ in anything but names and figures are left to the parser."""

import array
import json
import operator
import re

from constants import MOST_GB_PER_SECOND
from report_page.sweep import FIGURE, OF_KIND, OUTCOMES

CHARACTER = rb"[ !#-\[\]-~]"  # printable ASCII without an escape
NUMBER = rb"(?:0|[1-9][0-9]*)(?:\.[0-9]+)?"
VALUE = rb'(?:"' + CHARACTER + rb'*"|' + NUMBER + rb"|null|true|false)"
FIGURES = ("from_host", "to_host", "bandwidth_gb_per_s")
WITH_FIGURE = "|".join(status for status, outcome in OUTCOMES.items() if outcome == FIGURE).encode()
MEMBERS = {
    "kind": rb'"reading"',
    "status": rb'"(?:' + WITH_FIGURE + rb')"',
    "from_host": rb'"(?P<from_host>' + CHARACTER + rb'+)"',
    "to_host": rb'"(?P<to_host>' + CHARACTER + rb'+)"',
    "bandwidth_gb_per_s": rb"(?P<bandwidth_gb_per_s>" + NUMBER + rb")",
    **{key: rb"(?P<" + key.encode() + rb">" + VALUE + rb")" for key in OF_KIND},
}


def cut(lines):
    """The readings in lines that look like the first one, and the places of all other lines.

    The readings are {values of OF_KIND: (senders, receivers, rates)}, with names as bytes.
    """
    pattern = pattern_like(lines[0])
    if pattern is None:
        return {}, range(len(lines))
    given = [key for key in OF_KIND if key in pattern.groupindex]
    values = operator.methodcaller("group", *FIGURES, *given)
    matches = list(map(pattern.fullmatch, lines))
    rows = {}
    for row in map(values, filter(None, matches)):
        rows.setdefault(row[len(FIGURES) :], []).append(row)
    readings = {kind_of(given, kind): columns_of(of_kind) for kind, of_kind in rows.items()}
    if not all(map(are_pairs, readings.values())):
        return {}, range(len(lines))
    return readings, [place for place, match in enumerate(matches) if match is None]


def columns_of(rows):
    senders, receivers, rates, *_ = zip(*rows)
    return senders, receivers, array.array("d", map(float, rates))


def are_pairs(columns):
    """Whether all have two hosts and a rate that can be."""
    senders, receivers, rates = columns
    return not any(map(operator.eq, senders, receivers)) and max(rates) <= MOST_GB_PER_SECOND


def pattern_like(line):
    """Of lines with the same keys in the same order. None: the line is no reading."""
    try:
        keys = list(json.loads(line))
    except (ValueError, RecursionError, TypeError):
        return None
    if not {"status", *FIGURES} <= set(keys):
        return None
    comma, colon = (b", ", b": ") if line.startswith(b'{"kind": ') else (b",", b":")
    members = [re.escape(json.dumps(key).encode()) + colon + MEMBERS.get(key, VALUE) for key in keys]
    return re.compile(rb"\{" + comma.join(members) + rb"\}\n")


def kind_of(given, values):
    known = dict(zip(given, map(json.loads, values)))
    return tuple(known.get(key) for key in OF_KIND)
