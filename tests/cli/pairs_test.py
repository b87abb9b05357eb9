"""Programs that send messages between two ranks: who is paired, what is measured, and that all of it arrives."""

import re

from launch import PROGRAMS, fault, rows
from pair_program import PairTest

USAGE, WRONG_DATA = 2, 5
PAIR_TESTS = ("send_recv_lat", "send_recv_bw", "send_recv_bibw", "multi_pair_bw")
FEW = ("-b", 0, "-e", "64K", "-f", 16, "-n", 20)
FEW_SIZES = [0, 1, 16, 256, 4096, 65536]


class Measured(PairTest):  # 2 ranks, 3 s

    def test_sizes(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                stdout, _, found = self.measure(name, *FEW)
                self.assertEqual([row["size_bytes"] for row in found], FEW_SIZES)
                self.assertEqual([int(row[0]) for row in rows(stdout)], FEW_SIZES)

    def test_with_intervals(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                _, _, found = self.measure(name, "-b", 8, "-e", "32K", "-f", 4096, "--time-budget", 0.05)
                for row in found:
                    measured = row["out_of_place"]
                    self.assertIsNotNone(measured["time_us_interval"])
                    self.assertGreater(measured["message_rate_per_s"], 0)
                    self.assertGreaterEqual(measured["time_us_max"], measured["time_us_median"])

    def test_buffers(self):
        for name in PAIR_TESTS:
            for policy in ("rotate", "cold"):
                with self.subTest(f"{name} {policy}"):
                    self.measure(name, *FEW, "--buffers", policy)

    def test_windows(self):
        for window in (1, 3, 200):
            with self.subTest(window):
                _, context, found = self.measure("send_recv_bw", *FEW, "--window", window)
                self.assertEqual(context["options"]["window"], str(window))
                self.assertEqual({row["out_of_place"]["iterations"] for row in found}, {20})

    def test_bandwidth_is_that_of_the_time(self):
        for name, messages in (("send_recv_bw", 1), ("send_recv_bibw", 2), ("send_recv_lat", 1)):
            with self.subTest(name):
                _, _, (row,) = self.measure(name, "-b", 4096, "-e", 4096, "-n", 50)
                measured = row["out_of_place"]
                seconds = measured["time_us_median"] / 1e6
                self.assertAlmostEqual(measured["algbw_gb_per_s"], messages * 4096 / seconds / 1e9, 6)
                self.assertAlmostEqual(measured["message_rate_per_s"] * seconds, messages, 6)

    def test_both_ways_has_both_directions(self):
        _, context, found = self.measure("send_recv_bibw", *FEW)
        self.assertEqual(context["figure"], "both_ways")
        for row in found:
            there, back = row["out_of_place"]["directions_gb_per_s"]
            total = row["out_of_place"]["algbw_gb_per_s"]
            self.assertAlmostEqual(there + back, total, delta=1e-6 * total)

    def test_csv(self):
        table = self.directory / "table.csv"
        self.measure("send_recv_bw", *FEW, "--csv", table)
        self.assertEqual(len(table.read_text().splitlines()), 1 + len(FEW_SIZES))


class Large(PairTest):  # 2 ranks, 9 s, extended

    def test_more_than_an_int_counts(self):
        _, _, (row,) = self.measure("send_recv_bw", "-b", "2200M", "-e", "2200M", "-n", 1, "-w", 0,
                                    "--window", 1, "--buffers", "same")
        self.assertEqual(row["size_bytes"], 2200 << 20)


class Chosen(PairTest):  # 5 ranks, 3 s

    def test_two_of_many(self):
        for ranks in (3, 4, 5):
            with self.subTest(ranks):
                stdout, context, _ = self.measure("send_recv_lat", *FEW, ranks=ranks)
                self.assertEqual(self.pairs_of(context), ["0, 1"])
                self.assertRegex(stdout, r"# Pairs: .*ranks 0 and 1")

    def test_named(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                _, context, _ = self.measure(name, *FEW, "--pairs", "3-1,0-4", ranks=5)
                self.assertEqual(self.pairs_of(context), ["3, 1", "0, 4"])
                self.assertEqual([rank["rank"] for rank in context["rank_map"]], [3, 1, 0, 4])

    def test_all_at_once(self):
        expected = {2: ["0, 1"], 3: ["0, 1"], 4: ["0, 1", "2, 3"], 5: ["0, 1", "2, 3"]}
        for ranks, pairs in expected.items():
            with self.subTest(ranks):
                stdout, context, found = self.measure("multi_pair_bw", *FEW, ranks=ranks)
                self.assertEqual(self.pairs_of(context), pairs)
                self.assertEqual(len(found), len(pairs) * len(FEW_SIZES))
                self.assertEqual("left out" in stdout, ranks % 2 == 1)

    def test_halves(self):
        _, context, _ = self.measure("multi_pair_bw", *FEW, "--pairs", "halves", ranks=4)
        self.assertEqual(self.pairs_of(context), ["0, 2", "1, 3"])

    def test_from_a_file(self):
        file = self.directory / "pairs.txt"
        file.write_text("# the far ones\n0 3\n2, 1\n")
        _, context, _ = self.measure("multi_pair_bw", *FEW, "--pairs", file, ranks=4)
        self.assertEqual(self.pairs_of(context), ["0, 3", "2, 1"])

    def test_several_pairs_with_intervals(self):
        stdout, _, found = self.measure("multi_pair_bw", "-b", 64, "-e", 4096, "-f", 64, "--time-budget", 0.05, ranks=4)
        self.assertEqual(sorted((row["group"], row["size_bytes"]) for row in found),
                         [(0, 64), (0, 4096), (1, 64), (1, 4096)])
        self.assertEqual(len(re.findall(r"^# Summary: 2 pairs; ", stdout, re.MULTILINE)), 2)
        self.assertIn("# Slowest pair         : ", stdout)


class Refused(PairTest):  # 2 ranks, 1 s

    def said(self, name, *arguments, ranks=2):
        result = self.run_program(*arguments, program=str(PROGRAMS / name), ranks=ranks)
        self.assertEqual((result.status, result.stdout), (USAGE, ""), result.stderr)
        return [line for line in result.stderr.splitlines() if line.startswith(f"{name}: ")]

    def test_one_rank(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                (message,) = self.said(name, ranks=1)
                self.assertIn("mpirun -np 2", message)

    def test_pairs(self):
        for rule, reason in (("0-9", "rank 9"), ("0-0", "two different ones"), ("no_such_file", "no_such_file")):
            with self.subTest(rule):
                (message,) = self.said("send_recv_bw", "--pairs", rule)
                self.assertIn(reason, message)

    def test_a_rule_that_is_misspelt(self):
        (message,) = self.said("multi_pair_bw", "--pairs", "adjacnt")
        self.assertEqual(message, "multi_pair_bw: --pairs adjacnt: there is no such rule, and no file of that name to "
                                  "read; write adjacent, halves, hosts, loopback, many-to-one, one-to-many, all, "
                                  "shift:K, ranks such as 0-1,2-3, or a file that exists")

    def test_options_of_collectives(self):
        for option in ("--op", "--root", "--split", "--timing"):
            with self.subTest(option):
                (message,) = self.said("send_recv_bw", option, "1")
                self.assertIn(f"unknown option '{option}'", message)
        self.assertIn("unknown option '--window'", self.said("send_recv_lat", "--window", 4)[0])


class Faults(PairTest):  # 2 ranks, 1 s

    def test_what_does_not_arrive_is_found(self):
        for name, rank in (("send_recv_lat", 0), ("send_recv_lat", 1), ("send_recv_bw", 1), ("send_recv_bibw", 0)):
            for mode in ("tail", "nothing"):
                with self.subTest(f"{name} {mode}"):
                    result = self.run_program("-b", 4096, "-e", 4096, "-n", 5, program=str(PROGRAMS / name),
                                              variables=fault(f"message_{mode}", rank=rank))
                    self.assertEqual(result.status, WRONG_DATA, result.stderr)
                    self.assertRegex(result.stdout, rf"wrong data in {name} .* rank {rank}: first at element ")

    def test_a_rank_that_is_not_the_jobs_first_is_named_by_its_own_number(self):
        result = self.run_program("-b", 4096, "-e", 4096, "-n", 5, "--pairs", "1-2", ranks=3,
                                  program=str(PROGRAMS / "send_recv_bw"), variables=fault("message_tail", rank=2))
        self.assertEqual(result.status, WRONG_DATA, result.stderr)
        self.assertRegex(result.stdout, r"rank 2: first at element 4095")
