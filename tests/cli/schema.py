"""The schema of records, docs/output.schema.json."""

import functools
import json
from pathlib import Path

import jsonschema

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "output.schema.json").read_text())


def definitions_of(kind):
    return [name for name, definition in SCHEMA["definitions"].items()
            if definition["properties"].get("kind", {}).get("const") == kind]


@functools.cache
def validator_of(kind):
    """Each kind of line by itself, since all of them, one after the other, take long and would not say what is wrong."""
    references = [{"$ref": f"#/definitions/{name}"} for name in definitions_of(kind)]
    one = references[0] if len(references) == 1 else {"oneOf": references}
    return jsonschema.Draft7Validator(one | {"definitions": SCHEMA["definitions"]})


def validate(lines):
    for line in lines:
        validator_of(line["kind"]).validate(line)
