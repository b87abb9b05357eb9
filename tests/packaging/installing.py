"""An installation in a temporary folder, and the programs in it as a user has them: without the sources."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILD = Path(os.environ["FABRICBENCH_BUILD"])
SOURCES = Path(os.environ["FABRICBENCH_SOURCES"])
CMAKE = os.environ["FABRICBENCH_CMAKE"]
LINK_PREFIX = os.environ["FABRICBENCH_LINK_PREFIX"]
LIBMPI = os.environ["FABRICBENCH_LIBMPI"].split()
MPIEXEC = os.environ["FABRICBENCH_MPIEXEC"]
FRONT = "fabricbench"
PREFIX = "/opt/fabricbench"
TIMEOUT_S = 600  # of what hangs; nothing takes so long by itself


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=False, capture_output=True, text=True, timeout=TIMEOUT_S,
                          stdin=subprocess.DEVNULL, **options)


def succeed(*words, **options):
    """What a command prints, which has to succeed."""
    done = run(*words, **options)
    if done.returncode != 0:
        raise AssertionError(f"{words} ended with status {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def options_in(text):
    """The names that an option's line of a --help begins with."""
    lines = (line.split("  ")[1] for line in text.splitlines() if line.startswith("  -"))
    return {word for line in lines for word in line.replace(",", " ").split() if word.startswith("-")}


class InstalledTest(unittest.TestCase):
    """Each class installs once: into a DESTDIR, so that the programs lie elsewhere than where they were installed to."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fabricbench-installed-")
        cls.addClassCleanup(folder.cleanup)
        cls.work = Path(folder.name)
        # Jobs that share the directory that Open MPI keeps for each user trip over each other's clearing up.
        os.environ["OMPI_MCA_orte_tmpdir_base"] = str(cls.work / "session")
        (cls.work / "session").mkdir()
        succeed(CMAKE, "--install", BUILD, "--prefix", PREFIX, env={**os.environ, "DESTDIR": str(cls.work / "root")})
        cls.root = cls.work / "root" / PREFIX[1:]
        cls.bin = cls.root / "bin"
        cls.programs = cls.root / "libexec/fabricbench"
        cls.share = cls.root / "share/fabricbench"

    def succeed(self, *words, **options):
        return succeed(*words, cwd=self.work, **options)

    def names(self):
        """The programs, without planted_faults.so."""
        names = sorted(path.name for path in self.programs.iterdir() if os.access(path, os.X_OK))
        self.assertGreater(len(names), 20)
        return names

    def command_of(self, name):
        return name if name == FRONT else LINK_PREFIX + name
