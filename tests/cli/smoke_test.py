"""Every installed program, each started once by the launcher: it measures, or says what this host lacks."""

import subprocess

from launch import PROGRAMS, TEST_PROGRAMS, ProgramTest, rows

OK, MISSING, TOO_SLOW, NOT_JUDGED = 0, 3, 6, 7
NAMES = sorted(path.name for path in TEST_PROGRAMS.iterdir()
               if path.is_symlink() and path.readlink().name == "programs" and not path.name.endswith("_cuda_aware"))
TOOLS = ("find_slow_links", "list_hosts", "plan_sweep")
SHORT = {"pairwise_bw": ("-b", 64, "-n", 2), "barrier_perf": ("-n", 2)}
JUDGES = "preflight"  # which measures nothing, and may find this host wanting


class Smoke(ProgramTest):  # 2 ranks, 26 s

    def test_there_are_programs(self):
        self.assertGreaterEqual(len(NAMES), 21)

    def test_every_program(self):
        for name in (each for each in NAMES if each != JUDGES):
            with self.subTest(name):
                needs_a_device = name.startswith(("rdma_", "gpu"))
                short = () if needs_a_device else SHORT.get(name, ("-b", 64, "-e", 64, "-n", 2))
                result = self.launch_program(*short, program=str(PROGRAMS / name))
                if result.status == OK:
                    self.assertEqual(result.stderr, "")
                    self.assertGreaterEqual(len(rows(result.stdout)), 1 if name != "pairwise_bw" else 0, result.stdout)
                else:
                    self.assertEqual((result.status, result.stdout), (MISSING, ""), result.stderr)
                    self.assertTrue(needs_a_device, result.stderr)
                    self.assertRegex(result.stderr, rf"(?m)^{name}: ")

    def test_preflight(self):
        result = self.launch_program("--json", "-", program=str(PROGRAMS / JUDGES))
        self.assertIn(result.status, (OK, TOO_SLOW, NOT_JUDGED), result.stderr)
        self.assertRegex(result.stdout, r'(?m)^{"kind":"preflight_check","check":"kernel","ok_hosts":1,')

    def test_every_option_is_explained(self):
        for name in [*NAMES, *TOOLS]:
            with self.subTest(name):
                text = subprocess.run([PROGRAMS / name, "--help"], stdin=subprocess.DEVNULL, capture_output=True,
                                      encoding="utf-8", timeout=120, check=True).stdout
                lines = text.splitlines()
                options = [(line, after) for line, after in zip(lines, [*lines[1:], ""])
                           if line.startswith(("  -", "      --"))]
                self.assertGreaterEqual(len(options), 3, text)
                for line, after in options:  # the words are behind the option, or below a long one
                    self.assertTrue(after.startswith(10 * " ") or "  " in line.strip(), line)
