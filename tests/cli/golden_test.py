"""The whole output, byte for byte, under a clock whose every reading is known beforehand.

FABRICBENCH_UPDATE_GOLDEN=1 writes the files in golden/ anew; read what git then says has changed.
"""

import difflib
import os
import re
from pathlib import Path

from launch import ProgramTest

GOLDEN = Path(__file__).parent / "golden"


def padded(field, width):
    """Stands in for a field that must fill `width` columns, aligned right. `field`: what the output has there."""
    value = field.strip()
    return f"%{width}s" if field == f"{value:>{width}}" else field


def device_line(match):
    before, pid, host, device = match.groups()
    return f"{before}{padded(pid, 6)} on {padded(host, 10)}{device}PROCESSOR"


def statistics_line(match):
    """The involuntary context switches are the system's, and so is the host."""
    line = re.sub(r"  ( *\d+@\d+)", lambda field: "  " + padded(field[1], 7), match[0])
    return re.sub(r"%\) \S+$", "%) HOST", line)


# What differs from host to host and from run to run, and what stands for it in the golden files.
DIFFERING = [
    (r"^# fabricbench version \S+", "# fabricbench version VERSION"),
    (r"^(# Backend: \w+, because ).*; [^;]*$", r"\1REASON; LIBRARY"),
    (r"^(#  Rank .* Pid )( *\d+) on ( *\S+)( device .*\[host\] ).*$", device_line),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", "DATE"),
    (r"^#\n# A host has \d+ more ranks? than processors: .*\n", ""),
    (r"^# Note: CPU steal on .*\n", ""),
    (r"^(# Note: Rank \d+ of host )\S+", r"\1HOST"),
    (r"^(# Group .*; hosts |# Note: Group .*; hosts )[^\s)]+", r"\1HOST"),
    (r"^# +\d+ .*$", statistics_line),
]
DIFFERING_JSON = [
    (r'"(fabricbench_version|compiler|started_utc|finished_utc|backend_reason|library|launcher|start_time|end_time)":( ?)"[^"]*"',
     r'"\1":\2"TEXT"'),
    (r'"hosts":\[.*\],"rank_map":\[.*\],"groups"', '"hosts":["LIST"],"rank_map":["LIST"],"groups"'),
    (r'"command_line":\[.*?\],"options"', '"command_line":["LIST"],"options"'),
    (r'"environment":\{.*\},"notices"', '"environment":{"LIST":""},"notices"'),
    (r'(?s:^( *)"(args|env|devices)": \[.*?^\1\])', r'\1"\2": ["LIST"]'),
    (r'"json":"[^"]*"', '"json":"FILE"'),
    (r'"hosts":"[^"]*"', '"hosts":"HOST"'),
    (r'"wires":\[\{.*?\}\]', '"wires":["LIST"]'),
    (r"(Rank \d+ of host )\S+", r"\1HOST"),
    (r'"(preemptions|most_preempted_rank|peak_memory_bytes|stolen_percent)":[^,}]+', r'"\1":"NUMBER"'),
    # In a list, with the comma before it or behind it.
    (r',"(A host has \d+ more ranks? than processors: |CPU steal on )[^"]*"', ""),
    (r'"(A host has \d+ more ranks? than processors: |CPU steal on )[^"]*",?', ""),
]
DIFFERING_CSV = [
    (r"^((?:[^,]*,){21})\d+,", r"\1PREEMPTED,"),
    (r",\d{4}-\d\d-\d\dT[\d:]+Z,(\d+),[^,]*,,$", r",DATE,\1,HOST,,"),
]

SWEEP = ("-b", 1024, "-e", "1M", "-f", 32, "--seed", 7)


def normalised(text, differing):
    for pattern, replacement in differing:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


class Golden(ProgramTest):  # 2 ranks, 2 s

    def assert_golden(self, name, text):
        file = GOLDEN / name
        if os.environ.get("FABRICBENCH_UPDATE_GOLDEN"):
            file.write_bytes(text.encode())
        expected = file.read_bytes().decode()
        difference = difflib.unified_diff(expected.splitlines(True), text.splitlines(True), str(file), "output")
        self.assertEqual(expected, text, "\n" + "".join(difference))

    def run_fake(self, *arguments, step_log2=-8):
        """One run; a step of 2^-8 s is 3906.25 us."""
        return self.run_well(*arguments, timeout=200,
                             variables={"FAKE_CLOCK_STEP_LOG2": step_log2})

    def check_stdout(self, name, *arguments, **how):
        self.assert_golden(name, normalised(self.run_fake(*arguments, **how).stdout, DIFFERING))

    def test_iterations(self):
        self.check_stdout("iterations.txt", *SWEEP, "-n", 20)

    def test_epochs(self):
        self.check_stdout("epochs.txt", *SWEEP)

    def test_isolated(self):
        self.check_stdout("isolated.txt", *SWEEP, "-n", 20, "--timing", "isolated", step_log2=-17)

    def test_timestamps(self):
        self.check_stdout("timestamps.txt", *SWEEP, "-n", 20, "-S", 1)

    def test_cpu_time(self):
        self.check_stdout("cpu_time.txt", *SWEEP, "-n", 20, "-C", 1)

    def test_out_of_place_only(self):
        self.check_stdout("out_of_place.txt", *SWEEP, "-n", 20, "--placement", "out")

    def test_in_place_only(self):
        self.check_stdout("in_place.txt", *SWEEP, "-n", 20, "--placement", "in")

    def test_statistics(self):
        self.check_stdout("statistics.txt", *SWEEP, "--stats")

    def test_quiet(self):
        self.check_stdout("quiet.txt", *SWEEP, "-n", 20, "--quiet")

    def test_unchecked(self):
        self.check_stdout("unchecked.txt", *SWEEP, "-n", 20, "-c", 0)

    def test_notices(self):
        self.check_stdout("notices.txt", "-b", 1, "-e", 16, "-f", 2, "--seed", 7, "-n", 20)

    def test_sequential(self):
        self.check_stdout("sequential.txt", *SWEEP, "--order", "sequential")

    def test_datatypes_and_reductions(self):
        self.check_stdout("datatypes.txt", "-b", 8, "-e", 8, "-n", 20, "-d", "all", "-o", "all", "--quiet")

    def test_groups(self):
        self.check_stdout("groups.txt", *SWEEP, "--split", "MOD 2", "--stats")

    def test_csv(self):
        file = self.directory / "out.csv"
        self.run_fake(*SWEEP, "--csv", file)
        self.assert_golden("out.csv", normalised(file.read_bytes().decode(), DIFFERING_CSV))

    def test_json(self):
        file = self.directory / "out.json"
        self.run_fake("-b", "1K", "-e", "4K", "-f", 4, "--seed", 7, "--epochs", 6, "--samples", "--json", file)
        self.assert_golden("out.jsonl", normalised(file.read_bytes().decode(), DIFFERING_JSON))

    def test_nccl_tests_json(self):
        file = self.directory / "out.json"
        self.run_fake(*SWEEP, "-n", 20, "-J", file)
        self.assert_golden("nccl_tests.json", normalised(file.read_bytes().decode(), DIFFERING_JSON))
