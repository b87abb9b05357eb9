"""gpu_copy_bw where there is no GPU, as tests/cli has none: it says so, and what is missing."""

import re

from launch import PROGRAMS, ProgramTest

USAGE, MISSING = 2, 3
PROGRAM = str(PROGRAMS / "gpu_copy_bw")


class WithoutGpu(ProgramTest):  # 3 ranks, 1 s

    def test_says_what_is_missing(self):
        for ranks in (1, 3):
            result = self.run_program(ranks=ranks, program=PROGRAM)
            self.assertEqual((result.status, result.stdout), (MISSING, ""), result.stderr)
            said = re.findall(r"^gpu_copy_bw: (.*)$", result.stderr, re.MULTILINE)
            self.assertEqual(len(said), 1, result.stderr)
            self.assertRegex(said[0], r"^host \S+: (no NVIDIA driver is installed|the NVIDIA driver .*|"
                                      r"this program was built without CUDA and NCCL, .*)$")

    def test_writes_no_file(self):
        file = self.directory / "run.json"
        self.assertEqual(self.run_program("--json", file, ranks=1, program=PROGRAM).status, MISSING)
        self.assertFalse(file.exists())

    def test_help_and_options(self):
        result = self.run_well("--help", ranks=1, program=PROGRAM)
        self.assertRegex(result.stdout, r"--device N .*")
        for option in ("--datatype", "--op", "--root", "--pairs", "--placement", "--backend", "--window", "--samples"):
            self.assertNotIn(option + " ", result.stdout.replace(",", " "))
        result = self.run_program("--datatype", "half", ranks=1, program=PROGRAM)
        self.assertEqual(result.status, USAGE)
        self.assertIn("gpu_copy_bw: unknown option '--datatype'", result.stderr)
