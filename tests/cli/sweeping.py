"""What tests of sweeps over pairs share."""

import json

from launch import PROGRAMS
from pair_program import PairTest, validate

PAIRWISE = str(PROGRAMS / "pairwise_bw")


class Sweeping(PairTest):

    def sweep(self, *arguments, ranks=4, **how):
        """Runs well. Returns stdout, the context, and the readings, which follow the schema."""
        stdout, lines = self.run_json(*arguments, program=PAIRWISE, ranks=ranks, **how)
        validate(lines)
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        readings = [line for line in lines if line["kind"] == "reading"]
        for reading in readings:
            self.assertEqual((reading["status"], reading["wrong_elements"], reading["reason"]), ("ok", 0, None))
            self.assertGreater(reading["bandwidth_gb_per_s"], 0)
        return stdout, lines[0], readings

    def sweep_to_end(self, status, *arguments, **how):
        """Runs to an end of that status, or of any where it is None. Returns the result and all lines of JSON."""
        file = self.directory / "run.json"
        result = self.run_program(*arguments, "--json", file, "--force", program=PAIRWISE, **how)
        if status is not None:
            self.assertEqual(result.status, status, result.stderr)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        validate(lines)
        return result, lines


def directions(readings):
    return [(reading["from"], reading["to"]) for reading in readings]
