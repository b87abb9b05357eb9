"""What tests of scripts/gpu_check.sh share."""

import subprocess

from launch import COLLECTIVES, TIMEOUT_S, environment
from on_gpus import ROOT, GpuTest

# Says what the script looks for, without measuring anything.
STUB = """#!/bin/sh
echo '# Backend: nccl, because a test says so'
echo '# RING/SIMPLE/2'
echo '# Out of bounds values : 0 OK'
"""
FAULTY = """#!/bin/sh
FAKE_NCCL_FAULT={} exec {} "$@"
"""


class CheckTest(GpuTest):

    def check(self, *arguments, **changes):
        """Runs the script with 2 GPUs. Returns its exit status, its lines and what it said on stderr."""
        settings = {"GPUS": "2", "TIME_BUDGET": "0.002", "FAKE_CUDA_DEVICES": "2", "FAKE_CUDA_MEMORY": str(2**26),
                    **changes}
        run = subprocess.run([ROOT / "scripts" / "gpu_check.sh", *map(str, arguments)], env=environment(**settings),
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=6 * TIMEOUT_S)
        return run.returncode, run.stdout.splitlines(), run.stderr

    def folder_of(self, programs):
        """A folder of programs, each given by its text; the others are stubs."""
        for collective in COLLECTIVES:
            file = self.directory / f"{collective}_perf"
            file.write_text(programs.get(collective, STUB))
            file.chmod(0o755)
        return self.directory

    def counted(self, lines):
        """The verdicts by their names, which the last line must count rightly."""
        verdicts = {name: (word, detail) for word, name, detail in map(self.parts_of, lines) if word}
        words = [word for word, _ in verdicts.values()]
        self.assertEqual(lines[-1], f"{words.count('PASS')} passed, {words.count('FAIL')} failed, "
                                    f"{words.count('SKIP')} skipped")
        return verdicts

    def parts_of(self, line):
        word, _, rest = line.partition(" ")
        name, _, detail = rest.partition(": ")
        return (word, name, detail) if word in {"PASS", "FAIL", "SKIP"} else (None, name, detail)
