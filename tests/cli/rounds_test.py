"""Pairs that are measured in rounds, one after the other: --pairs all and --concurrent."""

import itertools
import json
import re

from launch import PROGRAMS, fault
from pair_program import PairTest, validate

USAGE, TIMEOUT, WRONG_DATA = 2, 4, 5
FEW = ("-b", 64, "-e", 4096, "-f", 64, "-n", 10)
SIZES = (64, 4096)


class InRounds(PairTest):  # 5 ranks, 4 s

    def check(self, context, found):
        """Each pair once at each size, and no rank in two pairs of a round."""
        pairs = [tuple(map(int, pair.split(", "))) for pair in self.pairs_of(context)]
        self.assertEqual(sorted((row["group"], row["size_bytes"]) for row in found),
                         list(itertools.product(range(len(pairs)), SIZES)))
        rounds = [group["round"] for group in context["groups"]]
        for number in range(max(rounds) + 1):
            busy = [rank for pair, round in zip(pairs, rounds) if round == number for rank in pair]
            self.assertGreater(len(busy), 0)
            self.assertEqual(len(busy), len(set(busy)), f"round {number}")
        return pairs, rounds

    def test_every_two_ranks(self):
        for ranks, expected in {2: 1, 3: 3, 4: 3, 5: 5}.items():
            with self.subTest(ranks):
                stdout, context, found = self.measure("send_recv_bw", *FEW, "--pairs", "all", ranks=ranks)
                pairs, rounds = self.check(context, found)
                self.assertEqual(pairs, list(itertools.combinations(range(ranks), 2)))
                self.assertEqual(max(rounds) + 1, expected)
                self.assertEqual([rank["rank"] for rank in context["rank_map"]], list(range(ranks)))
                self.assertEqual([rank["local_rank"] for rank in context["rank_map"]], list(range(ranks)))
                self.assertEqual(len(re.findall(rf"^# Summary: {len(pairs)} pairs; ", stdout, re.MULTILINE)),
                                 2 if ranks > 2 else 0)

    def test_every_program(self):
        for name in ("send_recv_lat", "send_recv_bibw", "multi_pair_bw", "tcp_lat", "tcp_bibw"):
            with self.subTest(name):
                _, context, found = self.measure(name, *FEW, "--pairs", "all", ranks=3)
                self.check(context, found)

    def test_one_at_a_time(self):
        stdout, context, found = self.measure("multi_pair_bw", *FEW, "--pairs", "0-3,2-1", "--concurrent", 1, ranks=5)
        pairs, rounds = self.check(context, found)
        self.assertEqual((pairs, rounds), ([(0, 3), (2, 1)], [0, 1]))
        self.assertIn("# rank 4 is in no pair and idle\n", stdout)
        self.assertIn("# Rounds: 2, one after the other, with at most 1 pair at the same time\n", stdout)
        self.assertIn("# Slowest pair         : ", stdout)
        self.assertNotIn("together", stdout, "what was carried at different times does not add up")

    def test_as_many_as_there_are_is_no_limit(self):
        stdout, context, _ = self.measure("multi_pair_bw", *FEW, "--concurrent", 2, ranks=4)
        self.assertEqual([group["round"] for group in context["groups"]], [0, 0])
        self.assertIn("; together: ", stdout)

    def test_epochs(self):
        """All lines of all rounds are in the one file, with the number of their pair."""
        _, lines = self.run_json("-b", 64, "-e", 64, "--time-budget", 0.05, "--pairs", "all", ranks=4,
                                 program=str(PROGRAMS / "send_recv_lat"))
        self.assertEqual([line["kind"] for line in lines].count("context"), 1)
        self.assertEqual(lines[-1]["kind"], "end")
        for row in (line for line in lines if line["kind"] == "row"):
            epochs = [line for line in lines if line["kind"] == "epoch" and line["group"] == row["group"]]
            self.assertEqual(len(epochs), row["out_of_place"]["epochs"])
            self.assertIsNotNone(row["out_of_place"]["time_us_interval"])

    def test_csv(self):
        table = self.directory / "table.csv"
        self.measure("send_recv_bw", *FEW, "--pairs", "all", "--csv", table, ranks=4)
        self.assertEqual(len(table.read_text().splitlines()), 1 + 6 * len(SIZES))

    def test_skipped_sizes(self):
        stdout, _ = self.run_json("-b", 0, "-e", 64, "-f", 64, "-n", 10, "--pairs", "all", ranks=3,
                                  program=str(PROGRAMS / "tcp_bw"))
        self.assertEqual(stdout.count("# skipped: 0 bytes"), 1, "not once a round")

    def test_wrong_data_of_any_round_is_found(self):
        """Rank 2 is the second of two pairs, of different rounds, and is told of once in each."""
        result = self.run_program("-b", 4096, "-e", 4096, "-n", 5, "--pairs", "all", ranks=3,
                                  program=str(PROGRAMS / "send_recv_bw"), variables=fault("message_tail", rank=2))
        self.assertEqual(result.status, WRONG_DATA, result.stderr)
        self.assertEqual(len(re.findall(r"^fabricbench: wrong data .* rank 2: ", result.stderr, re.MULTILINE)), 2)
        self.assertIn("# Out of bounds values : 2 FAILED\n", result.stdout)


class LaterRoundBreaksOff(PairTest):  # 5 ranks, 7 s

    def test_end_in_json(self):
        """The first rank, which has the file, is in no pair of the second round, or in another than breaks off."""
        for pairs, ranks in (("0-1,2-3", 4), ("1-0,2-3", 5), ("all", 4)):
            with self.subTest(pairs):
                file = self.directory / f"{pairs}.json"
                result = self.run_program("-b", 4096, "-e", 4096, "-n", 5, "-T", 2, "--pairs", pairs, "--concurrent", 1,
                                          "--json", file, program=str(PROGRAMS / "send_recv_bw"), ranks=ranks,
                                          variables=fault("message_lost", rank=2, peer=1))
                self.assertEqual(result.status, TIMEOUT, result.stderr)
                lines = [json.loads(line) for line in file.read_text().splitlines()]
                validate(lines)
                self.assertEqual([line["kind"] for line in lines].count("end"), 1)
                self.assertEqual((lines[-1]["kind"], lines[-1]["exit_status"]), ("end", TIMEOUT))
                self.assertRegex(lines[-1]["reason"], r"^rank 2 on \S+: no progress for .*, the limit is --timeout 2; ")


class RoundsRefused(PairTest):  # 2 ranks, 1 s

    def said(self, name, *arguments, ranks=2):
        result = self.run_program(*arguments, program=str(PROGRAMS / name), ranks=ranks)
        self.assertEqual((result.status, result.stdout), (USAGE, ""), result.stderr)
        (message,) = [line for line in result.stderr.splitlines() if line.startswith(f"{name}: ")]
        return message

    def test_for_ever(self):
        self.assertIn("--run-cycles 0 would repeat the first of 3 rounds for ever",
                      self.said("send_recv_lat", "--pairs", "all", "-N", 0, ranks=3))

    def test_many_to_one_on_one_host(self):
        for rule in ("many-to-one", "one-to-many"):
            with self.subTest(rule):
                self.assertIn(f"--pairs {rule} needs two hosts or more, and all 3 ranks are on host ",
                              self.said("send_recv_bw", "--pairs", rule, ranks=3))

    def test_file_that_is_there(self):
        file = self.directory / "there.json"
        file.write_text("kept")
        self.assertIn("there.json", self.said("send_recv_lat", "--pairs", "all", "--json", file, ranks=3))
        self.assertEqual(file.read_text(), "kept")

    def test_size_that_does_not_fit(self):
        self.assertIn("raise --max-bytes", self.said("send_recv_lat", "-b", 8, "-e", 4, "--pairs", "all", ranks=3))
