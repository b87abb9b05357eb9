"""Programs that read nccl-tests' output read ours, whatever the mode and whatever notices stand in it."""

import re

import parsers
from launch import ProgramTest, fault, rows

SWEEP = ("-b", "1M", "-e", "64M", "-f", 8, "--time-budget", 0.05)
MODES = {
    "default": (),
    "statistics": ("--stats",),
    "rotating buffers": ("--buffers", "rotate"),
    "isolated": ("--timing", "isolated"),
    "isolated statistics": ("--timing", "isolated", "--stats"),
    "sequential": ("--order", "sequential"),
    "quiet": ("--quiet",),
}
ITERATIONS = ("-b", "1M", "-e", "64M", "-f", 8, "-n", 2)


class Parsers(ProgramTest):  # 2 ranks, 300 s

    def setUp(self):
        super().setUp()
        # So little memory that the last sizes are dropped, which is worth a notice.
        meminfo = self.directory / "meminfo"
        meminfo.write_text("MemTotal: 131072 kB\nMemFree: 65536 kB\nMemAvailable: 65536 kB\n")
        self.small = fault(meminfo=meminfo)

    def check(self, *arguments):
        result = self.run_well(*arguments, variables=self.small)
        stdout = result.stdout
        table = rows(stdout)
        self.assertEqual([row[0] for row in table], ["1048576", "8388608"])
        out = [(int(row[0]), *map(float, row[5:8])) for row in table]
        within = [tuple(map(float, row[9:12])) for row in table]
        average = float(re.search(r"bandwidth +: (\S+)", stdout)[1])
        self.assertEqual(parsers.cloudai(stdout), table)
        self.assertTrue(parsers.dcgm(stdout, result.status))
        self.assertEqual(parsers.azure(stdout), average)
        self.assertEqual(parsers.parallelcluster(stdout, 8388608, 2097152), [within[1][2]])
        self.assertEqual(parsers.cluster_health_scanner(stdout), (within, int(average)))
        self.assertEqual(parsers.reframe(stdout), average)
        self.assertEqual(parsers.sichek(stdout), average)
        # Counted from the end, `time` is found in the out-of-place columns: index() gives the first of two.
        self.assertEqual(parsers.superbench(stdout), out)
        return stdout

    def test_with_intervals(self):
        for name, mode in MODES.items():
            with self.subTest(name):
                self.check(*SWEEP, *mode)

    def test_with_iterations(self):
        for checks in (0, 1):
            with self.subTest(checks=checks):
                self.check(*ITERATIONS, "-c", checks)

    def test_a_notice_stands_in_what_they_read(self):
        self.assertIn("# Reducing maxBytes to ", self.check(*ITERATIONS))

    def test_every_other_line_is_marked(self):
        for mode in ((), ("--stats",)):
            stdout = self.check(*SWEEP, *mode)
            for line in stdout.splitlines():
                self.assertRegex(line, r"^(#|$| *\d)")

    def test_node_names_are_hosts(self):
        """The health scanner takes every word after ` on ` for a node."""
        stdout = self.check(*ITERATIONS)
        hosts = set(re.findall(r"^#  Rank .* on +(\S+) +device ", stdout, re.MULTILINE))
        self.assertLessEqual(set(parsers.cluster_health_scanner_nodes(stdout)), hosts)

    def test_superbench_finds_the_widest_interval_in_either_placement(self):
        """Whatever the closing lines say of a measurement, the table stays the last to say `out-of-place`."""
        for placement in ("out", "in"):
            stdout = self.run_well(*SWEEP, "--placement", placement, variables=self.small).stdout
            landmark = [line for line in stdout.splitlines() if "out-of-place" in line]
            self.assertEqual(len(landmark), 1, landmark)


class Verdicts(ProgramTest):  # 2 ranks, 120 s
    """What the parsers make of a run that did not go well."""

    def test_wrong_data(self):
        result = self.run_program("-b", "4K", "-e", "4K", "-n", 2, variables=fault("half"))
        self.assertEqual(result.status, 5)
        self.assertFalse(parsers.dcgm(result.stdout, 0))
        self.assertIsNone(parsers.azure(result.stdout))
        self.assertIsNone(parsers.reframe(result.stdout))
        self.assertEqual(len(parsers.superbench(result.stdout)), 1)

    def test_too_slow(self):
        result = self.run_program("-b", "4K", "-e", "4K", "-n", 2, "--min-bw", 1e6)
        self.assertEqual(result.status, 6)
        self.assertFalse(parsers.dcgm(result.stdout, 0))
        self.assertIsNone(parsers.azure(result.stdout))
