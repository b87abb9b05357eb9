"""--help and --version of the programs that need no MPI."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from launch import PROGRAMS

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
COLUMNS = 80  # of a terminal
TOOLS = ("fabricbench compare", "find_slow_links", "list_hosts", "plan_sweep")


def said(tool, option):
    program, *command = tool.split()
    return subprocess.run([PROGRAMS / program, *command, option], check=True, capture_output=True, text=True, timeout=60).stdout


class Help(unittest.TestCase):  # 1 rank, 1 s

    def test_says_what_the_program_does_with_three_examples_in_80_columns(self):
        for tool in TOOLS:
            with self.subTest(tool):
                lines = said(tool, "--help").splitlines()
                self.assertTrue(any(line.endswith(".") for line in lines[:2]), lines[:2])
                self.assertEqual(sum(line.startswith(f"  {tool} ") for line in lines), 3)
                self.assertEqual(sum(line.startswith("Exit status: 0 ") for line in lines), 1)
                self.assertLessEqual(max(map(len, lines)), COLUMNS)

    def test_examples_have_only_options_of_the_program(self):
        for tool in TOOLS:
            lines = said(tool, "--help").splitlines()
            options = {word.rstrip(",") for line in lines if line.startswith("  -") for word in line.split()[:3]}
            for example in (line for line in lines if line.startswith(f"  {tool} ")):
                for word in (word for word in example.split() if word.startswith("-")):
                    with self.subTest(example):
                        self.assertIn(word, options)

    def test_a_value_is_ignored(self):
        for tool in ("all_reduce_perf", "fabricbench", *TOOLS, *(f"fabricbench {command}" for command in (
                "run", "list", "table", "doctor", "accept", "sweep", "check_node_pair", "record_baseline", "all_reduce"))):
            with self.subTest(tool):
                self.assertEqual(said(tool, "--help=x"), said(tool, "--help"))

    def test_version_is_a_line(self):
        for tool in TOOLS:
            self.assertRegex(said(tool, "--version"), rf"^{tool} \(fabricbench\) [\d.]+\n$")


class Columns(unittest.TestCase):  # 1 rank, 5 s
    """The help of everything that users start fits into a terminal."""

    def check(self, name, command):
        said = subprocess.run([*command, "--help"], check=True, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, env={**os.environ, "COLUMNS": str(COLUMNS)}).stdout  # fmt: skip
        self.assertGreater(said.count("\n"), 4, name)
        self.assertEqual([line for line in said.splitlines() if len(line) > COLUMNS], [], name)

    def test_programs(self):
        programs = [path for path in PROGRAMS.iterdir() if re.search("_(perf|lat|bw|bibw|connect)$", path.name)]
        self.assertGreater(len(programs), 15)
        for program in programs:
            self.check(program.name, [program])

    def test_scripts(self):
        scripts = [path for path in SCRIPTS.glob("*.sh") if os.access(path, os.X_OK) and "usage()" in path.read_text()]
        self.assertGreater(len(scripts), 6)
        for script in scripts:
            self.check(script.name, [script])
        for command in ("run", "sweep", "check_node_pair", "accept", "record_baseline", "doctor"):
            self.check(command, [PROGRAMS / "fabricbench", command])
        for script in ("report.py", "plot.py", "summarize_tests.py"):
            self.check(script, [sys.executable, SCRIPTS / script])
