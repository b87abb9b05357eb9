"""Runs the command fabricbench, with launchers that start nothing.

A launcher in a temporary folder takes the place of mpirun or srun: it notes its words and environment, and ends as the test
says. The words of --dry-run are those of a shell.
"""

import os
import pathlib
import shlex
import subprocess
import tempfile
import unittest

PROGRAMS = pathlib.Path(os.environ["FABRICBENCH_PROGRAMS"])
FRONT = str(PROGRAMS / "fabricbench")
OPEN_MPI, HYDRA, OTHER = "mpirun (Open MPI) 4.1.4", "HYDRA build details:", "mpirun of nobody"
LAUNCHER = """#!/bin/sh
case $1 in --version) echo '{version}'; exit 0 ;; --mpi=list) printf 'MPI plugin types are...\n\t%s\n' {types}; exit 0 ;; esac
printf '%s\\n' "$@" >{folder}/{name}.words
echo "$OMPI_ALLOW_RUN_AS_ROOT" >{folder}/environment
echo 'what it says'
{command}
exit {status}
"""
GPUS = "#!/bin/sh\nfor gpu in {numbers}; do echo \"GPU $gpu: a GPU\"; done\n"
TIMEOUT_S = 240
# Of jobs around the test, and of hosts that they would use.
SURROUNDINGS = ("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_NTASKS", "SLURM_JOB_NUM_NODES", "SLURM_NNODES", "PBS_NODEFILE",
                "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "SLURM_MPI_TYPE", "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
JOB_OF_FOUR = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[1-4]", "SLURM_JOB_NUM_NODES": "4", "SLURM_NTASKS": "32"}


class FrontTest(unittest.TestCase):

    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="fabricbench-front-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.path = self.folder / "bin"
        self.path.mkdir()

    def make_tool(self, name, text):
        tool = self.path / name
        tool.write_text(text)
        tool.chmod(0o755)

    def make_launcher(self, name="mpirun", version=OPEN_MPI, status=0, command="", types="none pmi2 pmix"):
        self.make_tool(name, LAUNCHER.format(name=name, version=version, folder=self.folder, status=status, command=command,
                                             types=types))

    def make_gpus(self, count):
        self.make_tool("nvidia-smi", GPUS.format(numbers=" ".join(map(str, range(count)))))

    def make_path_without(self, *missing):
        """All programs of this machine but these."""
        for folder in reversed(os.environ["PATH"].split(":")):
            for tool in pathlib.Path(folder or ".").glob("*"):
                link = self.path / tool.name
                if tool.name not in missing and not os.path.lexists(link):
                    link.symlink_to(tool)

    def front(self, *words, alone=False, program=FRONT, **variables):
        """Runs it, with the tools of this test first on the PATH, or `alone` there."""
        path = str(self.path) if alone else f"{self.path}:{os.environ['PATH']}"
        env = {name: value for name, value in os.environ.items() if name not in SURROUNDINGS}
        return subprocess.run([program, *map(str, words)], env={**env, "PATH": path, **variables}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT_S, check=False, cwd=self.folder)

    def words_of(self, name="mpirun"):
        """What the launcher was given."""
        return (self.folder / f"{name}.words").read_text().splitlines()

    def dry_run(self, *words, **variables):
        """The words that it prints, without those that set variables."""
        result = self.front(*words, "--dry-run", **variables)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("\n"), 1)
        printed = shlex.split(result.stdout)
        while "=" in printed[0]:
            printed.pop(0)
        return printed

    def refused(self, status, message, *words, **variables):
        result = self.front(*words, **variables)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (status, "", f"{message}\n"))


# In the place of a launcher: starts a rank that sleeps, with the program's name, and a launch agent, and goes on without them.
WAITING = """#!/usr/bin/env python3
import subprocess, sys, time
if sys.argv[1:] in (["--version"], ["--mpi=list"]):
    print("{version}")
    sys.exit()
program = next(word for word in sys.argv if word.endswith("_perf"))
print("what it says", flush=True)
ranks = [subprocess.Popen([program, str(seconds)], executable="/bin/sleep", start_new_session={apart}) for seconds in {ranks}]
agents = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep({{}})".format(seconds), "{daemon}", option])
          for option, seconds in {agents}]
for rank in ranks:
    rank.wait()
time.sleep({seconds})
for agent in agents:
    agent.kill()
"""


class WaitingTest(FrontTest):

    def make_waiting(self, ranks=(6,), agents=(), seconds=1000, launcher="mpirun", version=OPEN_MPI, daemon="orted"):
        self.make_tool(launcher, WAITING.format(ranks=ranks, agents=agents, seconds=seconds, version=version, daemon=daemon,
                                                apart=launcher == "srun"))

    def ended(self, words, *arguments, launcher="mpirun", **variables):
        result = self.front("all_reduce", *arguments, **variables)
        self.assertEqual((result.returncode, result.stdout), (4, "what it says\n"), result.stderr)
        self.assertRegex(result.stderr, rf"fabricbench: {launcher} goes on although {words} \d+ s ago; it is ended\n")

    def goes_well(self, *arguments, **variables):
        result = self.front("all_reduce", *arguments, **variables)
        self.assertEqual((result.returncode, result.stdout), (0, "what it says\n"), result.stderr)
