"""Sizes, data and ways to measure: everything is measured, and every result is right."""

import re
from pathlib import Path

from launch import ProgramTest, rows, wrong_elements

DATATYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16"]
REDUCTIONS = ["sum", "prod", "min", "max", "avg"]


class Sizes(ProgramTest):  # 3 ranks, 1 s

    def test_nothing(self):
        self.assertEqual(self.sizes("-b", 0, "-e", 0, "-n", 5), [0])
        self.assertEqual(self.sizes("-b", 0, "-e", 0, "--time-budget", 0.02), [0])

    def test_one_byte(self):
        self.assertEqual(self.sizes("-b", 1, "-e", 1, "-d", "int8", "-n", 5), [1])

    def test_from_nothing_upwards(self):
        self.assertEqual(self.sizes("-b", 0, "-e", 64, "-f", 2, "-n", 5), [0, 4, 8, 16, 32, 64])
        self.assertEqual(self.sizes("-b", 0, "-e", 4, "-f", 2, "-n", 5, "-d", "int8"), [0, 1, 2, 4])
        self.assertEqual(self.sizes("-b", 0, "-e", 24, "-i", 8, "-n", 5), [0, 8, 16, 24])

    def test_odd_sizes_are_cut_to_whole_elements(self):
        self.assertEqual(self.sizes("-b", 7, "-e", 7, "-d", "int8", "-n", 5), [7])
        self.assertEqual(self.sizes("-b", 1001, "-e", 1001, "-d", "double", "-n", 5), [1000])
        self.assertEqual(self.sizes("-b", 100003, "-e", 100003, "-d", "half", "-n", 5), [100002])

    def test_sizes_below_one_element_are_left_out(self):
        result = self.run_well("-b", 1, "-e", 16, "-f", 2, "-n", 5)
        self.assertIn("# Left out: 2 sizes below one element of float\n", result.stdout)
        self.assertEqual([row[0] for row in rows(result.stdout)], ["4", "8", "16"])

    def test_numbers_of_ranks(self):
        for ranks in (1, 2, 3, 4):
            with self.subTest(ranks=ranks):
                self.assertEqual(self.sizes("-b", 4, "-e", "256K", "-f", 16, "-n", 3, ranks=ranks),
                                 [4, 64, 1024, 16384, 262144])


class Data(ProgramTest):  # 3 ranks, 2 s

    def test_every_datatype_and_reduction(self):
        found = self.run_right("-b", 1000, "-e", 80000, "-f", 80, "-d", "all", "-o", "all", "-n", 2, ranks=3)
        expected = [(kind, reduction) for kind in DATATYPES for reduction in REDUCTIONS for _ in range(2)]
        self.assertEqual([(row[2], row[3]) for row in found], expected)

    def test_avg_of_every_datatype_isolated(self):
        self.run_right("-b", 4096, "-e", 4096, "-d", "all", "-o", "avg", "--timing", "isolated", "-n", 5, ranks=3)


class Ways(ProgramTest):  # 4 ranks, 4 s
    """Every option that changes how operations are started or timed."""

    def test_with_iterations(self):
        for ways in (["-u", 3], ["-m", 4], ["-z", 1], ["-z", 2], ["-z", 3], ["-a", 0], ["-a", 1], ["-a", 2], ["-a", 3],
                     ["-C", 1], ["-w", 0], ["-c", 3], ["--buffers", "rotate"],
                     ["--buffers", "rotate", "-u", 1, "-m", 3], ["--timing", "isolated"],
                     ["--timing", "isolated", "-m", 4], ["--order", "sequential"]):
            with self.subTest(ways):
                self.assertEqual(self.sizes("-b", 4096, "-e", "64K", "-f", 4, "-n", 4, *ways), [4096, 16384, 65536])

    def test_with_epochs(self):
        for ways in ([], ["-u", 3], ["-m", 4], ["-z", 3], ["-a", 0], ["-a", 1], ["--buffers", "rotate"],
                     ["--timing", "isolated"], ["--timing", "isolated", "-a", 1], ["--order", "sequential"],
                     ["--epochs", 1], ["--target-precision", 50], ["-w", 0]):
            with self.subTest(ways):
                found = self.sizes("-b", 4096, "-e", "64K", "-f", 4, "--time-budget", 0.02, *ways)
                self.assertEqual(found, [4096, 16384, 65536])

    def test_cold_buffers(self):
        self.sizes("-b", "1M", "-e", "1M", "-n", 3, "--buffers", "cold")

    def test_the_sweep_twice(self):
        self.assertEqual(self.sizes("-b", 8, "-e", 16, "-f", 2, "-n", 3, "-N", 2), [8, 16, 8, 16])

    def test_four_ranks(self):
        for ways in ((), ("--timing", "isolated"), ("--buffers", "rotate"), ("-u", 3)):
            with self.subTest(ways):
                self.sizes("-b", 4096, "-e", "64K", "-f", 4, "-n", 4, *ways, ranks=4)

    def test_seed(self):
        def printed(*ways):
            return re.search(r"; seed: (\d+)$", self.run_well("-b", 8, "-e", 8, "-n", 1, *ways).stdout, re.MULTILINE)[1]
        self.assertEqual(printed("--seed", 5), "5")
        self.assertNotEqual(printed(), printed())


class Large(ProgramTest):  # 2 ranks, 60 s, extended

    def test_more_than_two_gibibytes(self):
        needed = 9.5
        available = int(re.search(r"MemAvailable: +(\d+)", Path("/proc/meminfo").read_text())[1]) / 2**20
        if available < needed:
            self.skipTest(f"takes {needed} GiB of free memory, and there are {available:.1f}")
        stdout = self.run_well("-b", "2200M", "-e", "2200M", "-d", "int8", "-n", 1, "-w", 0, "--placement", "out",
                               timeout=500).stdout
        self.assertEqual(wrong_elements(stdout), ["0", "N/A"])
        self.assertEqual(rows(stdout)[0][:2], ["2306867200", "2306867200"])
