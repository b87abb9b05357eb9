"""What tests of programs that send messages between two ranks share."""

import json
from pathlib import Path

import jsonschema

from launch import PROGRAMS, ProgramTest

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/output.schema.json").read_text())


def validate(lines):
    """Lines of JSON follow the schema."""
    validator = jsonschema.Draft7Validator(SCHEMA)
    for line in lines:
        validator.validate(line)


class PairTest(ProgramTest):

    def measure(self, name, *arguments, ranks=2, **how):
        """Runs well with nothing wrong. Returns stdout, the context and the rows of JSON, which follow the schema."""
        stdout, lines = self.run_json(*arguments, program=str(PROGRAMS / name), ranks=ranks, **how)
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        validate(lines)
        found = [line for line in lines if line["kind"] == "row"]
        self.assertEqual([row["out_of_place"]["wrong_elements"] for row in found], [0] * len(found))
        return stdout, lines[0], found

    def pairs_of(self, context):
        return [group["ranks"] for group in context["groups"]]
