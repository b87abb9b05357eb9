"""A package that CPack makes of the build, in a temporary folder."""

import shutil
import tempfile
import unittest
from pathlib import Path

from installing import BUILD, LINK_PREFIX, run

# Linked statically or in the package itself.
BROUGHT = ("libfmt", "libsimdjson", "CLI11", "nlohmann")


class PackageTest(unittest.TestCase):

    def make(self, kind, tool):
        if shutil.which(tool) is None:
            self.skipTest(f"there is no {tool} here, which makes a .{kind.lower()}")
        folder = tempfile.TemporaryDirectory(prefix="fabricbench-package-")
        self.addCleanup(folder.cleanup)
        # A run of another kind writes its own.
        done = run("cpack", "-G", kind, "-B", folder.name, "--config", BUILD / "CPackConfig.cmake", cwd=folder.name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        packages = list(Path(folder.name).glob(f"*.{kind.lower()}"))
        self.assertEqual(len(packages), 1)
        return packages[0]

    def check_files(self, files):
        for path in (f"/usr/bin/{LINK_PREFIX}all_reduce_perf", "/usr/bin/fabricbench", "/usr/libexec/fabricbench/all_reduce_perf",
                     "/usr/share/fabricbench/scripts/accept.sh", "/usr/share/fabricbench/presets/h100-8x400g.jsonl",
                     "/usr/share/bash-completion/completions/fabricbench"):
            self.assertIn(path, files)
        if shutil.which("help2man") is not None:
            self.assertTrue(any(path.startswith(f"/usr/share/man/man1/{LINK_PREFIX}all_reduce_perf.1") for path in files))

    def check_needs(self, needs, mpi):
        self.assertIn(mpi, needs)
        for name in BROUGHT:
            self.assertNotIn(name, needs)
