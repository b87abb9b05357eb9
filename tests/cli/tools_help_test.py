"""--help and --version of the programs that need no MPI."""

import subprocess
import unittest

from launch import PROGRAMS

TOOLS = ("fabricbench compare", "find_slow_links", "list_hosts", "plan_sweep", "simulate_fabric")


def said(tool, option):
    program, *command = tool.split()
    return subprocess.run([PROGRAMS / program, *command, option], check=True, capture_output=True, text=True, timeout=60).stdout


class Help(unittest.TestCase):  # 1 rank, 1 s

    def test_says_what_the_program_does_with_three_examples_in_100_columns(self):
        for tool in TOOLS:
            with self.subTest(tool):
                lines = said(tool, "--help").splitlines()
                self.assertTrue(lines[0].endswith("."), lines[0])
                self.assertEqual(sum(line.startswith(f"  {tool} ") for line in lines), 3)
                self.assertEqual(sum(line.startswith("Exit status: 0 ") for line in lines), 1)
                self.assertLessEqual(max(map(len, lines)), 100)

    def test_examples_have_only_options_of_the_program(self):
        for tool in TOOLS:
            lines = said(tool, "--help").splitlines()
            options = {word.rstrip(",") for line in lines if line.startswith("  -") for word in line.split()[:3]}
            for example in (line for line in lines if line.startswith(f"  {tool} ")):
                for word in (word for word in example.split() if word.startswith("-")):
                    with self.subTest(example):
                        self.assertIn(word, options)

    def test_version_is_a_line(self):
        for tool in TOOLS:
            self.assertRegex(said(tool, "--version"), rf"^{tool} \(fabricbench\) [\d.]+\n$")
