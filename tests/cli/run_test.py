"""The runner of these tests takes nothing for success but tests that passed."""

import subprocess
import sys
import unittest
from pathlib import Path

import launch


class Runner(unittest.TestCase):  # 1 rank, 1 s

    def run_names(self, *names):
        runner = Path(launch.__file__).with_name("run.py")
        return subprocess.run([sys.executable, runner, *names], capture_output=True, text=True, check=False)

    def test_no_test_fails(self):
        for names in ((), ("launch.ProgramTest",)):
            with self.subTest(names):
                result = self.run_names(*names)
                self.assertEqual(result.returncode, 1)
                self.assertIn("no tests in", result.stderr)

    def test_unknown_name_fails(self):
        self.assertEqual(self.run_names("run_test.Missing").returncode, 1)

    def test_failing_test_fails(self):
        self.assertEqual(self.run_names("samples.Failing").returncode, 1)

    def test_passing_test_passes(self):
        self.assertEqual(self.run_names("samples.Passing").returncode, 0)

    def test_all_skipped_is_told(self):
        result = self.run_names("samples.Skipped")
        self.assertEqual(result.returncode, 77)
        self.assertIn("for a reason", result.stderr)
