"""Runs scripts/sweep_pairs.sh with a launcher that makes figures up, which a test class gives, in a temporary folder."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "sweep_pairs.sh"
PROGRAMS = os.environ["FABRICBENCH_PROGRAMS"]


class SweepScriptTest(unittest.TestCase):

    LAUNCHER = ""
    COMMAND = [str(SCRIPT)]

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.records = self.folder / "records.jsonl"
        launcher = self.folder / "mpirun"
        launcher.write_text(self.LAUNCHER)
        launcher.chmod(0o755)

    def start(self, *arguments, runner=()):
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "TMPDIR": str(self.folder),
                       "FABRICBENCH_COMMAND": "" if self.COMMAND == [str(SCRIPT)] else str(SCRIPT)}
        environment.pop("SLURM_JOB_NODELIST", None)
        return subprocess.Popen([*runner, *self.COMMAND, "--programs", PROGRAMS, "--records", str(self.records), *arguments],
                                env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                text=True)

    def sweep(self, *arguments, runner=()):
        """Its status, output and messages. `runner`: what runs it."""
        process = self.start(*arguments, runner=runner)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def lines(self, kind):
        return [line for line in map(json.loads, self.records.read_text().splitlines()) if line["kind"] == kind]
