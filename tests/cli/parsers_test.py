"""Programs that read nccl-tests' output read ours, whatever the mode and whatever notices stand in it."""

import re

import parsers
from launch import COLLECTIVES, OUT_OF_PLACE_ONLY, SHARED, ProgramTest, fault, program_of, rows

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


class Parsers(ProgramTest):  # 2 ranks, 7 s

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


class EveryProgram(ProgramTest):  # 2 ranks, 1 s

    def check(self, collective, *arguments, **how):
        result = self.run_well("-b", 8, "-e", "1M", "-f", 128, *arguments, program=program_of(collective), **how)
        stdout = result.stdout
        table = rows(stdout)
        average = float(re.search(r"bandwidth +: (\S+)", stdout)[1])
        self.assertEqual(parsers.cloudai(stdout), table)
        self.assertTrue(parsers.dcgm(stdout, result.status))
        self.assertEqual(parsers.azure(stdout), average)
        self.assertEqual(parsers.reframe(stdout), average)
        self.assertAlmostEqual(parsers.sichek(stdout), float(f"{average:f}"), 5)
        self.assertEqual(parsers.superbench(stdout), [(int(row[0]), *map(float, row[5:8])) for row in table])
        hosts = set(re.findall(r"^#  Rank .* on +(\S+) +device ", stdout, re.MULTILINE))
        self.assertLessEqual(set(parsers.cluster_health_scanner_nodes(stdout)), hosts)
        self.check_in_place(collective, stdout, table)
        return stdout

    def check_in_place(self, collective, stdout, table):
        """Two of them read the in-place columns, which must not hold a figure where there is none."""
        size, count = table[-1][:2]
        if collective in OUT_OF_PLACE_ONLY:
            for parser in (lambda: parsers.parallelcluster(stdout, size, count),
                           lambda: parsers.cluster_health_scanner(stdout)):
                self.assertRaisesRegex(ValueError, "N/A", parser)
            return
        within = [tuple(map(float, row[9:12])) for row in table]
        busbws = [figures[2] for row, figures in zip(table, within) if row[:2] == [size, count]]  # of each group
        self.assertEqual(parsers.parallelcluster(stdout, size, count), busbws)
        self.assertEqual(parsers.cluster_health_scanner(stdout)[0], within)

    def test_iterations(self):
        for collective in COLLECTIVES:
            with self.subTest(collective):
                stdout = self.check(collective, "-n", 2)
                self.assertEqual(len(rows(stdout)), 1 if collective == "barrier" else 3 - (collective in SHARED))
                self.assertEqual("# skipped: " in stdout, collective in SHARED)

    def test_intervals_and_statistics(self):
        for collective in ("all_gather", "alltoall", "broadcast", "barrier"):
            with self.subTest(collective):
                self.check(collective, "--time-budget", 0.02, "--stats")

    def test_groups(self):
        self.check("all_gather", "-n", 2, "--split", "DIV 2", ranks=4)


class Verdicts(ProgramTest):  # 2 ranks, 1 s
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
