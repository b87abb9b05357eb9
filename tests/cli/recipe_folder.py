"""A folder in which blocks of docs/recipes.md are run as a user runs them, and what they need there."""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import recipes
from launch import MPIEXEC, PROGRAMS, TIMEOUT_S, environment

ROOT = recipes.PAGE.parents[1]
BLOCKS = recipes.blocks_of(recipes.PAGE.read_text())
COMMANDS = ("jq", "gnuplot")


@functools.cache
def python_of_recipes():
    """The python3 that has pandas; None: there is none. Packages are the system's, whatever comes first on the PATH."""
    for python in (sys.executable, shutil.which("python3"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import pandas"], check=False, capture_output=True).returncode == 0:
            return python
    return None


def what_is_missing():
    """None: nothing."""
    for command in COMMANDS:
        if not shutil.which(command):
            return f"there is no {command} on the PATH"
    return None if python_of_recipes() else "python3-pandas is not installed"


class RunRecipes(unittest.TestCase):
    """Runs the blocks of `sections`, in the order of the page and behind the section of runs that all of them read."""

    maxDiff = None
    sections = ()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fabricbench-recipes-", ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.lay_out()
        cls.ended = {}
        for block in BLOCKS:
            if block.section in cls.sections and block.way in ("file", "shell"):
                cls.before(block.name)
                cls.ended[block.name] = cls.run_block(block)

    @classmethod
    def lay_out(cls):
        """A folder like that of the project, in which files may be written."""
        for name, target in (("build", PROGRAMS), ("scripts", ROOT / "scripts"), ("examples", ROOT / "examples")):
            (cls.folder / name).symlink_to(target)
        for name in ("bin", "session", "collector"):
            (cls.folder / name).mkdir()
        for name, target in (("python3", python_of_recipes()), ("mpirun", shutil.which(MPIEXEC))):
            command = cls.folder / "bin" / name
            command.write_text(f'#!/bin/sh\nexec {target} "$@"\n')
            command.chmod(0o755)

    @classmethod
    def run_block(cls, block, folder=None, **variables):
        folder = folder or cls.folder
        return recipes.run(block, folder, TIMEOUT_S, environment(
            PATH=f"{cls.folder / 'bin'}:{os.environ['PATH']}", OMPI_MCA_orte_tmpdir_base=str(cls.folder / "session"),
            TEXTFILE_FOLDER=str(folder / "collector"), **variables))

    @classmethod
    def before(cls, name):
        """What a block needs that no block before it makes."""

    def said(self, name):
        """The lines that the block printed."""
        return self.ended[name].stdout.splitlines()

    def lines_of(self, record, kind):
        with open(self.folder / record, encoding="utf-8") as lines:
            return [line for line in map(json.loads, lines) if line["kind"] == kind]

    def measured(self, *records):
        """(record, size, placement, measurement) for each that was measured."""
        return [(record, row["size_bytes"], placement, row[placement]) for record in records
                for row in self.lines_of(record, "row") for placement in ("out_of_place", "in_place") if row[placement]]


def block_of(name):
    return next(block for block in BLOCKS if block.name == name)
