"""Reads records of the programs: lines of JSON, each with its kind, of the types that output.schema.json gives them."""

import contextlib
import json
import math
import traceback
from pathlib import Path

ODD = (ArithmeticError, AttributeError, LookupError, TypeError)  # what values that nobody expects lead to


def definitions():
    """Of the schema: in docs/ of the sources, beside the scripts' folder where these are installed."""
    suite = Path(__file__).resolve().parents[1]
    place = next(place for place in (suite / "docs", suite) if (place / "output.schema.json").exists())
    return json.loads((place / "output.schema.json").read_text(encoding="utf-8"))["definitions"]


DEFINITIONS = definitions()
KINDS = {}  # names of records by the kind of their lines
for _name, _type in DEFINITIONS.items():
    if "const" in _type["properties"].get("kind", {}):
        KINDS.setdefault(_type["properties"]["kind"]["const"], []).append(_name)
TYPES = {"integer": int, "number": (int, float), "string": str, "boolean": bool, "object": dict, "null": type(None)}
MAY_BE_NUMBERS = ("from_rail", "to_rail")  # names, which scripts of users write as numbers


class Record(dict):
    """The values of a record, or of a part of one, by key; None for a key of its type that the line has not."""

    def __init__(self, name, values):
        super().__init__(values)
        self.name = name  # of its type

    def __missing__(self, key):
        if key in DEFINITIONS[self.name]["properties"]:
            return None
        raise KeyError(key)


def record_of(name, values):
    """The Record of that name. Raises ValueError with the first key whose value is of another type."""
    if not isinstance(values, dict):
        raise ValueError("not an object")
    record = Record(name, values)
    for key, schema in DEFINITIONS[name]["properties"].items():
        value = values.get(key)
        if key in MAY_BE_NUMBERS and isinstance(value, int) and not isinstance(value, bool):
            record[key] = str(value)
        elif value is not None:  # null for any key: unknown
            try:
                record[key] = typed(value, schema)
            except ValueError:
                raise ValueError("'{}' cannot be {}".format(key, json.dumps(value)[:80])) from None
    return record


def typed(value, schema):
    """The value as its schema has it, at any depth, whatever its range. Raises ValueError."""
    if "$ref" in schema:
        return record_of(schema["$ref"].rpartition("/")[2], value)
    for one in schema.get("anyOf", ()):
        with contextlib.suppress(ValueError):
            return typed(value, one)
    types = schema.get("type", ["string", "null"])  # words: enum, const
    for one in [] if "anyOf" in schema else [types] if isinstance(types, str) else types:
        if one == "array":
            if isinstance(value, list):
                return [typed(each, schema["items"]) for each in value]
        elif isinstance(value, TYPES[one]) and (one == "boolean" or not isinstance(value, bool)):
            return value
    raise ValueError("of another type")


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
