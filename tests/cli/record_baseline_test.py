"""scripts/record_baseline.sh."""

import os
import signal
import subprocess
import time
from pathlib import Path

from launch import PROGRAM, Result, environment, text_of
from recording import SIZES, BaselineTest, lines_of

SCRIPT = Path(__file__).parents[2] / "scripts" / "record_baseline.sh"


def pauses(script, baseline):
    """Whether the first launch is recorded and has ended, so that it waits for the next one."""
    children = Path(f"/proc/{script}/task/{script}/children").read_text().split()
    return baseline.exists() and not children


class Script(BaselineTest):  # 1 rank, 8 s

    def script(self, *arguments):
        ended = subprocess.run([SCRIPT, *map(str, arguments)], capture_output=True, timeout=120, check=False,
                               env=environment(OMPI_MCA_orte_tmpdir_base=str(self.directory)))
        return Result(ended.returncode, text_of(ended.stdout), text_of(ended.stderr))

    def launches(self):
        return lines_of(self.baseline)[0]["launches"]

    def test_every_launch_is_recorded(self):
        result = self.script("--launches", 3, self.baseline, "--", PROGRAM, *SIZES)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertEqual(result.stdout, f"record_baseline.sh: 3 of 3 launches are recorded in {self.baseline}\n")
        self.assertIn("Avg bus bandwidth", result.stderr)
        self.assertEqual(self.launches(), 3)

    def test_launches_are_spread_over_time(self):
        began = time.monotonic()
        result = self.script("--launches", 3, "--spread", "2s", self.baseline, "--", PROGRAM, *SIZES)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertGreaterEqual(time.monotonic() - began, 2)

    def test_a_launch_that_fails_ends_it_unless_told_otherwise(self):
        wrong = ("--launches", 3, self.baseline, "--", PROGRAM, *SIZES, "--min-bw", 1e6)
        result = self.script(*wrong)
        self.assertEqual(result.status, 7)
        self.assertTrue(result.stdout.endswith(f": 0 of 3 launches are recorded in {self.baseline}\n"))
        self.assertEqual(result.stderr.count("failed with status 7"), 1)
        self.assertEqual(self.script("--keep-going", *wrong).stderr.count("failed with status 7"), 3)

    def test_a_launch_has_a_time_limit(self):
        result = self.script("--limit", "1s", self.baseline, "--", "sh", "-c", "sleep 60")
        self.assertEqual(result.status, 124, result.stderr)

    def test_a_limit_of_nothing_is_none(self):
        result = self.script("--limit", "0s", "--launches", 1, self.baseline, "--", PROGRAM, *SIZES)
        self.assertEqual(result.status, 0, result.stderr)

    def test_a_launch_that_writes_nothing_is_not_recorded(self):
        result = self.script("--launches", 2, "--keep-going", self.baseline, "--", "true")
        self.assertEqual(result.status, 1)
        self.assertEqual(result.stdout, f"record_baseline.sh: 0 of 2 launches are recorded in {self.baseline}\n")
        self.assertIn(f"launch 2 of 2 ended well, and {self.baseline} has nothing of it", result.stderr)

    def test_a_file_that_cannot_be_written_is_refused_before_a_launch(self):
        launched = self.directory / "launched"
        result = self.script(self.directory / "none" / "b.jsonl", "--", "touch", launched)
        self.assertEqual((result.status, result.stdout, result.stderr.count("\n")), (2, "", 1))
        self.assertIn("No such file or directory; give a file in a folder that you may write to", result.stderr)
        self.assertFalse(launched.exists())

    def test_an_interrupt_keeps_what_there_is(self):
        with subprocess.Popen([SCRIPT, "--spread", "8h", self.baseline, "--", PROGRAM, *map(str, SIZES)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as script:
            deadline = time.monotonic() + 100
            while not pauses(script.pid, self.baseline) and time.monotonic() < deadline:
                time.sleep(0.05)
            os.kill(script.pid, signal.SIGINT)
            _, stderr = script.communicate(timeout=60)
        self.assertEqual(script.returncode, 130, stderr)
        self.assertIn(b"interrupted: 1 of 9 launches are recorded", stderr)
        self.assertEqual(self.launches(), 1)

    def test_what_is_wrong_is_said_in_one_line(self):
        for message, arguments in (
                ("no file is given; name the baseline, such as results/site.jsonl", ()),
                ("no command is given; put it behind --", ("b.jsonl",)),
                ("there are two files, 'a' and 'b'; put -- before the command", ("a", "b")),
                ("--spread 'soon' is not a time; give one such as 90s, 20m or 8h", ("--spread", "soon")),
                ("--limit '90' has no unit; write 90s for seconds, or 90m for minutes", ("--limit", "90")),
                ("--launches '0' is not a number of launches; give one from 1 to 9999", ("--launches", 0)),
                ("'--launch' is not an option of record_baseline.sh; the nearest is --launches; run", ("--launch",))):
            result = self.script(*arguments)
            self.assertEqual((result.status, result.stdout, result.stderr.count("\n")), (2, "", 1))
            self.assertTrue(result.stderr.startswith(f"record_baseline.sh: {message}"), result.stderr)
