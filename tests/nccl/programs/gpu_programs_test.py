"""Every program on 1 to 4 GPUs, with one and with several GPUs a process."""

import re

from launch import COLLECTIVES, OUT_OF_PLACE_ONLY, REDUCING, ROOTED, SHARED, program_of
from on_gpus import ONE, USAGE, GpuTest, device_lines, rows

FIRST, LAST = 960, 3840  # shared by 1 to 4 ranks in parts of whole 16 bytes
SWEEP = ("-b", FIRST, "-e", LAST, "-f", 4, "-n", 2)
EVEN = {"alltoallv": ("--spread", 0)}
FACTORS = {"all_reduce": lambda n: 2 * (n - 1) / n, "broadcast": lambda n: 1, "reduce": lambda n: 1,
           "sendrecv": lambda n: 1, "hypercube": lambda n: 1, "barrier": lambda n: 0}


def other_factor(ranks):
    return (ranks - 1) / ranks


def runs_on(collective, ranks):
    return collective != "hypercube" or ranks & (ranks - 1) == 0


class Programs(GpuTest):  # 4 ranks, 4 s

    def run_all(self, processes, gpus, *options):
        ranks = processes * gpus
        for collective in [collective for collective in COLLECTIVES if runs_on(collective, ranks)]:
            with self.subTest(collective, ranks=ranks):
                stdout, lines = self.run_json(*SWEEP, *EVEN.get(collective, ()), *options, ranks=processes,
                                              program=program_of(collective))
                self.check(collective, ranks, stdout, lines)

    def check(self, collective, ranks, stdout, lines):
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        self.assertEqual((lines[0]["backend"], lines[0]["ranks"]), ("nccl", ranks))
        self.assertEqual([(line[0], line[3]) for line in device_lines(stdout)], [(n, n) for n in range(ranks)])
        self.assertEqual([place["rank"] for place in lines[0]["rank_map"]], list(range(ranks)))
        self.check_columns(collective, ranks, self.fields(stdout, 13))
        self.check_figures(collective, ranks, [line for line in lines if line["kind"] == "row"])

    def check_columns(self, collective, ranks, found):
        sizes = [0] if collective == "barrier" else [FIRST, LAST]
        share = ranks if collective in SHARED else 1
        reduction = "sum" if collective in REDUCING else "none"
        root = "0" if collective in ROOTED else "-1"
        self.assertEqual([row[:5] for row in found],
                         [[str(size), str(size // 4 // share), "float", reduction, root] for size in sizes])
        wrong = "N/A" if collective == "barrier" else "0"  # which has nothing to compare
        wrong_in_place = "N/A" if collective in OUT_OF_PLACE_ONLY else "0"
        self.assertEqual({(row[8], row[12]) for row in found}, {(wrong, wrong_in_place)})

    def check_figures(self, collective, ranks, lines):
        factor = FACTORS.get(collective, other_factor)(ranks)
        for line in lines:
            self.assertEqual(line["in_place"] is None, collective in OUT_OF_PLACE_ONLY)
            for measured in filter(None, (line["out_of_place"], line["in_place"])):
                counted = line["size_bytes"] * (other_factor(ranks) if collective == "hypercube" else 1)
                self.assertGreater(measured["time_us_median"], 0)
                self.assertAlmostEqual(measured["algbw_gb_per_s"], counted / measured["time_us_median"] / 1e3, 9)
                self.assertAlmostEqual(measured["busbw_gb_per_s"], measured["algbw_gb_per_s"] * factor, 9)
                self.assertEqual(len(measured["rank_times_us"]), ranks)
                self.assertGreater(measured["host_time_us_median"], 0)  # beside the GPU's own time

    def test_one_process(self):
        self.run_all(1, 1)

    def test_two_processes(self):
        self.run_all(2, 1)

    def test_three_processes(self):
        self.run_all(3, 1)

    def test_four_processes(self):
        self.run_all(4, 1)

    def test_two_gpus_of_one_process(self):
        self.run_all(1, 2, "-g", 2)

    def test_two_gpus_of_each_of_two_processes(self):
        self.run_all(2, 2, "-g", 2)

    def test_hypercube_refuses_three_ranks(self):
        for processes, gpus in ((3, 1), (1, 3)):
            self.refused_gpus(USAGE, "hypercube cannot run on 3 ranks: .*power of two.*", *ONE, "-g", gpus,
                              ranks=processes, program=program_of("hypercube"))


class Layouts(GpuTest):  # 4 ranks, 3 s

    def test_threads(self):
        for options in (("-t", 2), ("-t", 2, "-g", 2)):
            with self.subTest(options):
                stdout, lines = self.run_gpus(*ONE, *options, ranks=1, program=program_of("alltoall"))
                self.assertRegex(stdout, rf"# nThread 2 nGpus {len(options) // 2} ")
                self.assertEqual([line[3] for line in device_lines(stdout)], list(range(lines[0]["ranks"])))
                self.assertEqual(lines[0]["ranks"], len(options))

    def test_roots(self):
        """Ranks are roots, not processes."""
        for collective in sorted(ROOTED):
            with self.subTest(collective):
                stdout, _ = self.run_gpus(*ONE, "-r", "all", "-g", 2, program=program_of(collective))
                self.assertEqual([row[4] for row in self.fields(stdout, 13)], ["0", "1", "2", "3"])

    def test_root_that_is_no_rank(self):
        self.refused_gpus(USAGE, r"-r 4 is not a rank: there are 4 ranks, and the first is 0", *ONE, "-r", 4, "-g", 2,
                          program=program_of("broadcast"))

    def test_groups(self):
        """Groups are of processes, and a group's ranks are all their GPUs."""
        for gpus, numbers in ((1, ["0, 2", "1, 3"]), (2, ["0-1, 4-5", "2-3, 6-7"])):
            with self.subTest(gpus=gpus):
                stdout, lines = self.run_gpus(*ONE, "--split", "MOD 2", "-g", gpus, ranks=4)
                self.assertEqual([group["ranks"] for group in lines[0]["groups"]], numbers)
                self.assertEqual(re.findall(r"^# Group \d: ranks (.*); hosts \S+$", stdout, re.MULTILINE), numbers)
                self.assertEqual([row["group"] for row in lines if row["kind"] == "row"], [0, 1])
                self.assertEqual([(line[1], line[3]) for line in device_lines(stdout)],
                                 [(number // gpus % 2, number) for number in range(4 * gpus)])
                self.assertEqual([place["group_rank"] for place in lines[0]["rank_map"]],
                                 [number // (2 * gpus) * gpus + number % gpus for number in range(4 * gpus)])

    def test_groups_of_single_gpus(self):
        stdout, _ = self.run_gpus(*ONE, "--split", "MOD 2", program=program_of("all_gather"))
        self.assertEqual([row[:2] for row in rows(stdout)], [["1024", "256"]] * 2)
        self.assertIn("# A group has one rank: nothing crosses a network", stdout)
