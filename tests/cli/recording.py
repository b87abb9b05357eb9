"""Baselines for tests."""

import json
import subprocess

from launch import PROGRAMS, ProgramTest, Result, text_of

SIZES = ("-b", 1024, "-e", 4096, "-f", 4, "--time-budget", 0.01)


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


class BaselineTest(ProgramTest):

    def setUp(self):
        super().setUp()
        self.baseline = self.directory / "site.jsonl"

    def record(self, *arguments):
        return self.run_well(*SIZES, "--record", self.baseline, *arguments)

    def against_baseline(self, *arguments):
        return self.run_program(*SIZES, "--baseline", self.baseline, *arguments)

    def make_baseline(self, factor, launches=9):
        """A baseline of equal launches, whose times are `factor` of what this host takes: no noise can matter."""
        self.record()
        start, launch, *rows = lines_of(self.baseline)
        for row in rows:
            row["time_us_median"] *= factor
            row["epoch_times_us"] = [factor * time for time in row["epoch_times_us"]]
        text = [json.dumps({**start, "launches": launches})]
        for number in range(launches):
            began = launch["began_utc"][:-3] + f"{number:02}Z"
            text += [json.dumps(line) for line in [{**launch, "began_utc": began, "label": f"copy {number}"}, *rows]]
        self.baseline.write_text("\n".join(text) + "\n")

    def fabricbench(self, *arguments):
        ended = subprocess.run([PROGRAMS / "fabricbench", *map(str, arguments)], capture_output=True, timeout=60,
                               check=False)
        return Result(ended.returncode, text_of(ended.stdout), text_of(ended.stderr))
