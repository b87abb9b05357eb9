"""Reads records of the programs: lines of JSON, each with its kind."""

import contextlib
import fcntl
import json
import math
import re
import traceback

from constants import HOST_NAME
from record_types import KINDS, TYPES, Name

LOCK = 9  # the descriptor by which a script holds what only one may write to, as long as it lives
ODD = (ArithmeticError, AttributeError, LookupError, TypeError)  # what values that nobody expects lead to


class Record(dict):
    """The values of a record, or of a part of one, by key; None for a key of its type that the line has not."""

    def __init__(self, name, values):
        super().__init__(values)
        self.name = name  # of its type

    def __missing__(self, key):
        if key in TYPES[self.name]:
            return None
        raise KeyError(key)


def record_of(name, values):
    """The Record of that name. Raises ValueError with the first key whose value is of another type."""
    if not isinstance(values, dict):
        raise ValueError("not an object")
    record = Record(name, values)
    for key, expected in TYPES[name].items():
        if values.get(key) is not None:  # null for any key: unknown
            try:
                record[key] = typed(values[key], expected)
            except ValueError:
                raise ValueError("'{}' cannot be {}".format(key, json.dumps(values[key])[:80])) from None
    return record


def typed(value, expected):
    """The value as a type of record_types.py, at any depth. Raises ValueError."""
    if isinstance(expected, tuple):  # one of these
        for one in expected:
            try:
                return typed(value, one)
            except ValueError:
                continue
    elif isinstance(expected, list) and isinstance(value, list):
        return [typed(one, expected[0]) for one in value]
    elif isinstance(expected, str):
        return record_of(expected, value)
    elif expected is Name:
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            return str(value)
    elif expected is None or isinstance(value, bool):
        if value is expected or expected is bool:
            return value
    elif not isinstance(expected, list) and isinstance(value, (int, float) if expected is float else expected):
        return value
    raise ValueError("of another type")


def host_names(values, fewest=1):
    """The hosts of a record. Raises ValueError where they are not such as a list of hosts may have."""
    for value in values or []:
        if not re.fullmatch(HOST_NAME, value) or "\n" in value:
            raise ValueError("{:.80} is no host".format(json.dumps(value)))
    if len(set(values or [])) < max(fewest, len(values or [])):
        raise ValueError("it does not name {} host{}, each once".format(fewest, "" if fewest == 1 else "s"))
    return values


def lock(path):
    """Raises ValueError if another script holds what LOCK is open to. Where a file system has no locks, nobody does."""
    try:
        fcntl.flock(LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError("{}: another run is at work on it; wait for its end, or end it".format(path)) from None
    except OSError:
        pass


@contextlib.contextmanager
def expected(what):
    """Makes what odd records lead to one ValueError, which says where that was noticed."""
    try:
        yield
    except ODD as problem:
        place = traceback.extract_tb(problem.__traceback__)[-1].name
        raise ValueError("{} has a record of another shape than its kind has ({} in {}: {:.80})".format(
            what, type(problem).__name__, place, str(problem))) from None


def finite(number):
    """The value of a number's text. Raises ValueError for NaN and Infinity, which are not JSON, and for 1e999."""
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("{} is not a number".format(number))
    return value


def whole(number):
    """The value of a whole number's text. Raises ValueError for one of more than 64 bits, which no program writes."""
    value = int(number) if len(number) <= 20 else 2**64
    if not -(2**63) <= value < 2**64:
        raise ValueError("{:.40} is too large".format(number))
    return value


def read(line):
    """The Record in a line; it keeps keys of later versions. Raises ValueError: not JSON, no kind, a value of another type."""
    try:
        values = json.loads(line, parse_float=finite, parse_int=whole, parse_constant=finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    kind = values.get("kind") if isinstance(values, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError("not a record: {:.80}".format(line.strip()))
    problems = []
    for name in KINDS[kind]:
        try:
            return record_of(name, values)
        except ValueError as problem:
            problems.append(problem)
    raise ValueError("{}: {}".format(kind, problems[0]))
