"""--split: groups run at the same time, and each is reported by itself."""

import csv
import re

from launch import ProgramTest, fault, program_of, rows

USAGE = 2
TOO_SLOW = 6
WRONG_DATA = 5
SWEEP = ("-b", 4096, "-e", 8192, "-f", 2, "-n", 3)


def groups_of(lines):
    return [group["ranks"] for group in lines[0]["groups"]]


class Rules(ProgramTest):  # 5 ranks, 1 s

    def groups(self, *arguments, ranks=4, **how):
        return groups_of(self.run_json("-b", 8, "-e", 8, "-n", 1, *arguments, ranks=ranks, **how)[1])

    def test_rules(self):
        for rule, expected in {"MOD 2": ["0, 2", "1, 3"], "DIV 2": ["0-1", "2-3"], "AND 0x1": ["0, 2", "1, 3"],
                               "OR 1": ["0-1", "2-3"], "OR 0b11": ["0-3"], "mod2": ["0, 2", "1, 3"],
                               "%3": ["0, 3", "1", "2"], "/ 0x2": ["0-1", "2-3"], "&2": ["0-1", "2-3"],
                               "|2": ["0, 2", "1, 3"]}.items():
            with self.subTest(rule):
                self.assertEqual(self.groups("--split", rule), expected)

    def test_variables(self):
        for variables, expected in (({"NCCL_TESTS_SPLIT": "MOD 2"}, ["0, 2", "1, 3"]),
                                    ({"NCCL_TESTS_SPLIT": "DIV2"}, ["0-1", "2-3"]),
                                    ({"NCCL_TESTS_SPLIT_MASK": "0x2"}, ["0-1", "2-3"]),
                                    ({"NCCL_TESTS_SPLIT_MASK": "1"}, ["0, 2", "1, 3"]),
                                    ({"NCCL_TESTS_SPLIT_MASK": "10"}, ["0-3"]),  # 16: hexadecimal
                                    ({"NCCL_TESTS_SPLIT_MASK": "1", "NCCL_TESTS_SPLIT": "DIV 2"}, ["0, 2", "1, 3"])):
            with self.subTest(variables):
                self.assertEqual(self.groups(**variables), expected)

    def test_the_option_goes_before_the_variables(self):
        self.assertEqual(self.groups("--split", "DIV 2", NCCL_TESTS_SPLIT="MOD 2"), ["0-1", "2-3"])
        self.assertEqual(self.groups("--split", "DIV 2", NCCL_TESTS_SPLIT_MASK="1"), ["0-1", "2-3"])

    def test_no_rule(self):
        for rule in ("garbage", "MOD", "MOD x", "MOD -1", "MOD 2 3", "XOR 2",
                     "2", "AND 0x", "DIV 99999999999999999999"):
            with self.subTest(rule):
                self.refused(USAGE, f"'{rule}' is not a rule for --split; write AND, OR, MOD or DIV and a number, such "
                                    "as 'MOD 2' or 'AND 0x7'", "--split", rule)

    def test_no_rule_in_variables(self):
        self.refused(USAGE, "'garbage' is not a rule for --split; write AND, OR, MOD or DIV and a number, such as "
                            "'MOD 2' or 'AND 0x7'", NCCL_TESTS_SPLIT="garbage")
        self.refused(USAGE, "'AND 0xyz' is not a rule for --split; write AND, OR, MOD or DIV and a number, such as "
                            "'MOD 2' or 'AND 0x7'", NCCL_TESTS_SPLIT_MASK="yz")

    def test_division_by_0(self):
        for rule in ("MOD 0", "DIV 0", "%0x0"):
            with self.subTest(rule):
                self.refused(USAGE, f"--split '{rule}' divides by 0; give a number from 1 on", "--split", rule)


class Reports(ProgramTest):  # 5 ranks, 1 s

    def test_table(self):
        """Groups of 3 and of 2 ranks: unlike counts and busbw, told apart by a line."""
        stdout = self.run_well(*SWEEP, "--split", "MOD 2", program=program_of("all_gather"), ranks=5).stdout
        body = [line for line in stdout.splitlines() if re.match(r"# Group \d|\s*\d", line)]
        self.assertEqual(len(body), 8)
        for i, line in enumerate(body[::2]):
            self.assertRegex(line, rf"^# Group {i % 2}: ranks {['0, 2, 4', '1, 3'][i % 2]}; hosts \S+$")
        self.assertEqual([row[:2] for row in rows(stdout)],
                         [["4080", "340"], ["4096", "512"], ["8160", "680"], ["8192", "1024"]])
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)

    def test_rows_of_a_group_stay_together_where_all_come_at_the_end(self):
        stdout = self.run_well("-b", 4096, "-e", 8192, "-f", 2, "--time-budget", 0.05, "--stats", "--split", "DIV 2",
                               ranks=4).stdout
        self.assertEqual(re.findall(r"^# Group (\d): ", stdout, re.MULTILINE), ["0", "1"] * 3)  # table, both of the statistics

    def test_json(self):
        lines = self.run_json(*SWEEP, "--split", "MOD 2", program=program_of("all_gather"), ranks=5)[1]
        self.assertEqual(groups_of(lines), ["0, 2, 4", "1, 3"])
        self.assertEqual([(place["rank"], place["group"], place["group_rank"]) for place in lines[0]["rank_map"]],
                         [(0, 0, 0), (1, 1, 0), (2, 0, 1), (3, 1, 1), (4, 0, 2)])
        found = [line for line in lines if line["kind"] == "row"]
        self.assertEqual([row["group"] for row in found], [0, 1, 0, 1])
        for row in found:
            ranks = [3, 2][row["group"]]
            for placement in ("out_of_place", "in_place"):
                measured = row[placement]
                self.assertEqual(len(measured["rank_times_us"]), ranks)
                self.assertAlmostEqual(max(measured["rank_times_us"]), measured["time_us_median"], 6)
                self.assertAlmostEqual(measured["busbw_gb_per_s"], measured["algbw_gb_per_s"] * (ranks - 1) / ranks, 9)

    def test_csv(self):
        file = self.directory / "out.csv"
        self.run_well(*SWEEP, "--split", "MOD 2", "--csv", file, program=program_of("all_gather"), ranks=5)
        with file.open() as lines:
            self.assertEqual([(row["size_bytes"], row["group"], row["placement"]) for row in csv.DictReader(lines)],
                             [(size, group, placement) for size, group in
                              (("4080", "0"), ("4096", "1"), ("8160", "0"), ("8192", "1"))
                              for placement in ("out", "in")])

    def test_sizes_that_round_to_the_same_in_one_group_only(self):
        """Every group has a row for each, or they would not be told apart."""
        stdout, lines = self.run_json("-b", 96, "-e", 144, "-i", 16, "-n", 2, "--split", "MOD 2",
                                      program=program_of("all_gather"), ranks=5)
        self.assertEqual([row[0] for row in rows(stdout)], ["96", "96", "96", "128", "144", "128"])
        self.assertEqual([line["group"] for line in lines if line["kind"] == "row"], [0, 1] * 3)

    def test_a_size_too_small_for_one_group(self):
        stdout = self.run_well("-b", 32, "-e", 64, "-f", 2, "-n", 2, "--split", "MOD 2",
                               program=program_of("all_gather"), ranks=5).stdout
        self.assertIn("# skipped: 32 bytes, float: 3 ranks share it in parts of 16 bytes, which takes 48 bytes at least\n",
                      stdout)
        self.assertEqual([row[0] for row in rows(stdout)], ["48", "64"])

    def averages_of(self, lines):
        """By group, the mean over both sizes and placements."""
        return {group: sum(row[place]["busbw_gb_per_s"] for row in lines if row.get("group") == group
                           and row["kind"] == "row" for place in ("out_of_place", "in_place")) / 4 for group in (0, 1)}

    def test_the_slowest_group_is_named(self):
        stdout, lines = self.run_json(*SWEEP, "--split", "MOD 2", ranks=4, program=program_of("all_reduce"))
        averages = self.averages_of(lines)
        slowest = min(averages, key=averages.get)
        below = 100 * (1 - averages[slowest] / max(averages.values()))
        self.assertRegex(stdout, rf"# Note: Group {slowest} \(ranks \d, \d; hosts \S+\) is the slowest, {below:.1f} % below "
                                 r"the fastest; the average above is that of this group\n")
        self.assertAlmostEqual(lines[-1]["average_busbw_gb_per_s"], averages[slowest], 9)
        for group, average in averages.items():
            self.assertIn(f"average busbw {average:.4g} GB/s", "\n".join(
                note for note in lines[-1]["notes"] if note.startswith(f"Group {group} ")))

    def test_a_group_of_one_rank_is_not_judged(self):
        """Its busbw is 0 by definition."""
        stdout, lines = self.run_json(*SWEEP, "--split", "OR 2", ranks=3, program=program_of("all_reduce"))
        averages = self.averages_of(lines)
        self.assertEqual(averages[1], 0)
        self.assertIn("# Note: Group 0 (ranks 0, 2; ", stdout)
        self.assertAlmostEqual(lines[-1]["average_busbw_gb_per_s"], averages[0], 9)

    def test_required_of_the_slowest_group(self):
        for required, ranks, split, status in ((1e-6, 3, "OR 2", 0), (1e-6, 4, "DIV 2", 0), (1e6, 4, "DIV 2", TOO_SLOW)):
            with self.subTest((required, split)):
                result = self.run_program(*SWEEP, "--split", split, "--min-bw", required, ranks=ranks)
                self.assertEqual(result.status, status)

    def test_wrong_data_names_the_rank_of_the_job(self):
        result = self.run_program(*SWEEP, "--split", "MOD 2", "--placement", "out", ranks=4,
                                  variables=fault("half", rank=3))
        self.assertEqual(result.status, WRONG_DATA, result.stderr)
        self.assertEqual(len(re.findall(r"; rank 3: first at element \d+", result.stderr)), 2)
        self.assertEqual([row[8] for row in rows(result.stdout)], ["0", "1", "0", "1"])

    def test_a_group_that_cannot(self):
        self.refused(USAGE, "hypercube cannot run on 3 ranks: the number of ranks must be a power of two, such as 2, 4 "
                            "or 8", "--split", "MOD 2", program=program_of("hypercube"), ranks=5)
