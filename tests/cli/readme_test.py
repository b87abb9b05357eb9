"""README.md: what it shows works as it stands, or says beside it what it takes. quickstart.sh ends with commands that work."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from finding import sweep
from launch import MPIEXEC, PROGRAMS, TIMEOUT_S, environment
from other_tools import SETS, healthy

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
SOONER = " --time-budget 0.01"  # behind what measures
MEASURES = re.compile(r"build/(fabricbench )?(all_reduce|send_recv_lat)")
COMMAND = re.compile(r"(mpirun|make|build/|scripts/)")
# How a command begins: what the page has to say that it takes, beside it or above it. All others are run here.
TAKES = {
    "scripts/quickstart.sh": "On a Debian 12 or Ubuntu 22.04/24.04 machine",
    "scripts/test.sh": "On a Debian 12 or Ubuntu 22.04/24.04 machine",
    "make install": "make install PREFIX=",  # a build
    "build/fabricbench send_recv_bw --hosts": "two hosts that ssh reaches",
    "mpirun -np 8 build/all_reduce_perf": "GPU",
    "mpirun -np 1 build/all_reduce_perf": "one process for all",
    "mpirun -np 2 -H node1,node2": "RDMA",
    "mpirun -np 8 --map-by ppr:4:node": "two nodes",
    "mpirun -np 16 --map-by ppr:8:node": "node",
    "scripts/sweep_pairs.sh -H": "pairs of hosts",
    "scripts/check_node_pair.sh node01": "one pair",
    "scripts/accept.sh": "hosts",
}


def commands_of(page):
    """(command, its comment) of each line of a block that is one."""
    for block in re.findall(r"(?ms)^```\n(.*?)^```$", page):
        for line in block.splitlines():
            if COMMAND.match(line):
                command, _, comment = line.partition(" #")
                yield command.strip(), comment.strip()


class Readme(unittest.TestCase):  # 2 ranks, 30 s

    @classmethod
    def setUpClass(cls):
        """A checkout after its build, in which nothing else has been run."""
        folder = tempfile.TemporaryDirectory(prefix="fabricbench-readme-", ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        shutil.copytree(ROOT / "scripts", cls.folder / "scripts")
        (cls.folder / "build").symlink_to(PROGRAMS)
        tools = cls.folder / "bin"
        tools.mkdir()
        for path, text in ((cls.folder / "scripts/install_deps.sh", "exit 0"), (tools / "cmake", "exit 0"),
                           (tools / "mpirun", f'exec {shutil.which(MPIEXEC)} "$@"')):
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        cls.environment = environment(PATH=f"{tools}:{os.environ['PATH']}")

    def run_line(self, command):
        """Runs it as a user pastes it, but for a shorter time. Returns what it says."""
        command += SOONER if MEASURES.search(command) else ""
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def test_commands(self):
        (self.folder / "sweep-1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in sweep()))
        (self.folder / "logs").mkdir()
        for name, text in SETS["osu"][0](healthy).items():
            (self.folder / "logs" / name).write_text(text)
        run = []
        for command, comment in commands_of(README):
            with self.subTest(command):
                takes = next((words for beginning, words in TAKES.items() if command.startswith(beginning)), None)
                if takes is None:
                    run.append(command)
                    self.run_line(command)
                else:
                    self.assertIn(takes, README[: README.index(command) + len(command)] + comment)
                if "plot" in command.split():
                    self.assertIn("takes matplotlib: scripts/install_deps.sh --with-reports", comment)
        self.assertEqual(len(run), 5, run)

    def test_quickstart_ends_with_three_commands_that_work(self):
        said = self.run_line("scripts/quickstart.sh -np 2 -- -b 8 -e 64 --time-budget 0.01")
        self.assertIn("# Out of bounds values : 0 OK", said)
        _, _, rest = said.partition("to try next:\n")
        commands = [line.partition("#")[0].strip() for line in rest.splitlines() if line.startswith("    ")]
        self.assertEqual(len(commands), 3, said)
        self.assertTrue(said.endswith("\n") and rest.rstrip().splitlines()[-1].strip().startswith(commands[-1]))
        for command in commands:
            with self.subTest(command):
                self.run_line(command)

    def test_quickstart_ends_with_the_status_of_the_run(self):
        done = subprocess.run(["scripts/quickstart.sh", "-np", "2", "--", "-b", "8", "-e", "4"], cwd=self.folder, text=True,
                              env=self.environment, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("to try next:", done.stdout)
