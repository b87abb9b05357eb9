"""Reads records of the programs: lines of JSON, each with its kind."""

import json

from record_types import KINDS, TYPES


class Record(dict):
    """The values of a record by key; None for a key of its type that the line has not."""

    def __init__(self, name, values):
        super().__init__(values)
        self.name = name  # of its type

    def __missing__(self, key):
        if key in TYPES[self.name]:
            return None
        raise KeyError(key)


def is_a(value, expected):
    """Whether a value is of a type of record_types.py, at any depth."""
    if isinstance(expected, tuple):
        return any(is_a(value, one) for one in expected)
    if isinstance(expected, list):
        return isinstance(value, list) and all(is_a(one, expected[0]) for one in value)
    if isinstance(expected, str):
        return isinstance(value, dict) and problem_with(value, expected) is None
    if expected is None or isinstance(value, bool):
        return value is expected or expected is bool
    return isinstance(value, (int, float) if expected is float else expected)


def problem_with(record, name):
    """Why a record is none of that name; None where it is one."""
    for key, expected in TYPES[name].items():
        if key in record and not is_a(record[key], expected):
            return "'{}' cannot be {}".format(key, json.dumps(record[key])[:80])
    return None


def read(line):
    """The Record in a line; it keeps keys of later versions. Raises ValueError: not JSON, no kind, a value of another type."""
    values = json.loads(line)
    names = KINDS.get(values.get("kind")) if isinstance(values, dict) else None
    if names is None:
        raise ValueError("not a record: {:.80}".format(line.strip()))
    problems = [problem_with(values, name) for name in names]
    if None not in problems:
        raise ValueError("{}: {}".format(values["kind"], problems[0]))
    return Record(names[problems.index(None)], values)
