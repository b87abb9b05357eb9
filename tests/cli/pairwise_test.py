"""pairwise_bw: every pair in one job, in rounds."""

import csv
import itertools

from launch import ProgramTest, fault, in_a_few_tries, with_whole_notes
from sweeping import PAIRWISE, Sweeping, directions

USAGE, MISSING, TIMEOUT, WRONG_DATA, TOO_SLOW, NOT_JUDGED = 2, 3, 4, 5, 6, 7
QUICK = ("-b", "64K", "-n", 3, "--window", 4)


class Schedules(Sweeping):  # 5 ranks, 2 s

    def test_every_direction_once(self):
        for schedule, ranks in itertools.product(("circle", "shift"), (2, 3, 4, 5)):
            with self.subTest(schedule=schedule, ranks=ranks):
                _, context, readings = self.sweep(*QUICK, "--schedule", schedule, ranks=ranks)
                self.assertEqual(sorted(directions(readings)), sorted(itertools.permutations(range(ranks), 2)))
                rounds = ranks - 1 if ranks % 2 == 0 or schedule == "shift" else ranks
                self.assertEqual({reading["round"] for reading in readings}, set(range(rounds)))

    def test_nobody_is_in_two_pairs_at_once(self):
        for schedule in ("circle", "random"):
            _, _, readings = self.sweep(*QUICK, "--schedule", schedule, ranks=5)
            for _, of_round in itertools.groupby(readings, key=lambda reading: reading["round"]):
                pairs = {frozenset(pair) for pair in directions(of_round)}
                self.assertEqual(len(set().union(*pairs)), 2 * len(pairs))

    def test_first_rounds_only(self):
        _, _, readings = self.sweep(*QUICK, "--rounds", 2)
        self.assertEqual(len(readings), 2 * 2 * 2)

    def test_one_pair_at_a_time(self):
        _, _, readings = self.sweep(*QUICK, "--concurrent", 1)
        self.assertEqual({reading["concurrent"] for reading in readings}, {1})
        self.assertEqual(len(readings), 12)

    def test_seed_decides_the_order(self):
        orders = [directions(self.sweep(*QUICK, "--seed", seed, "--concurrent", 1, ranks=5)[2]) for seed in (1, 1, 2)]
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])


class Readings(Sweeping):  # 3 ranks, 2 s

    def test_sizes(self):
        for size in (1, 7, 4096, 3 << 20):
            with self.subTest(size):
                _, _, readings = self.sweep("-b", size, "-n", 3, ranks=2)
                self.assertEqual({reading["size_bytes"] for reading in readings}, {size})
                self.assertEqual({reading["windows"] for reading in readings}, {3})
                self.assertEqual({reading["messages_per_window"] for reading in readings}, {64})

    def test_by_time(self):
        _, _, readings = self.sweep("--time-budget", 0.05, ranks=3)
        self.assertEqual(len(readings), 6)
        for reading in readings:
            self.assertGreaterEqual(reading["windows"], 3)
            self.assertLessEqual(reading["bandwidth_gb_per_s_min"], reading["bandwidth_gb_per_s"])
            self.assertGreaterEqual(reading["bandwidth_gb_per_s_max"], reading["bandwidth_gb_per_s"])
            self.assertGreater(reading["latency_us"], 0)

    def test_latency_is_that_of_the_pair(self):
        _, _, readings = self.sweep(*QUICK, ranks=3)
        by_pair = {}
        for reading in readings:
            by_pair.setdefault(frozenset((reading["from"], reading["to"])), set()).add(reading["latency_us"])
        self.assertEqual([len(latencies) for latencies in by_pair.values()], [1, 1, 1])

    def test_buffers(self):
        for policy in ("same", "rotate", "cold"):
            with self.subTest(policy):
                self.sweep(*QUICK, "--buffers", policy, ranks=3)

    def test_unaligned_and_unchecked(self):
        self.sweep(*QUICK, "-u", 3, ranks=2)
        _, lines = self.run_json(*QUICK, "-c", 0, program=PAIRWISE, ranks=2)
        self.assertEqual({line["wrong_elements"] for line in lines if line["kind"] == "reading"}, {None})


class Files(Sweeping):  # 3 ranks, 1 s

    def test_matrix(self):
        file = self.directory / "matrix.csv"
        _, _, readings = self.sweep(*QUICK, "--matrix-csv", file, ranks=3)
        header, *lines = list(csv.reader(file.read_text().splitlines()))
        self.assertEqual((len(header), len(lines)), (4, 3))
        for reading in readings:
            cell = float(lines[reading["to"]][reading["from"] + 1])
            self.assertAlmostEqual(cell / reading["bandwidth_gb_per_s"], 1, 3)
        self.assertEqual([lines[i][i + 1] for i in range(3)], ["", "", ""])

    def test_csv(self):
        file = self.directory / "readings.csv"
        self.sweep(*QUICK, "--csv", file, ranks=3)
        lines = list(csv.DictReader(file.read_text().splitlines()))
        self.assertEqual(len(lines), 6)

    def test_required_bandwidth(self):
        """Status 6 and the slowest reading, or status 0."""
        result, lines = self.sweep_to_end(TOO_SLOW, *QUICK, "--min-bw", 100000, ranks=3)
        slowest = min((line for line in lines if line["kind"] == "reading"), key=lambda line: line["bandwidth_gb_per_s"])
        self.assertRegex(result.stderr, r"pairwise_bw: 6 of 6 readings are below 100000 GB/s, which --min-bw requires; the slowest is "
                                        rf"rank {slowest['from']} on \S+ -> rank {slowest['to']} on \S+, \S+ GB/s\n")
        self.assertIs(lines[-1]["fast_enough"], False)
        _, lines = self.sweep_to_end(0, *QUICK, "--min-bw", 0.000001, ranks=3)
        self.assertIs(lines[-1]["fast_enough"], True)

    def test_of_a_busy_rank(self):
        """Its readings, as sender and as receiver, are not judged, and those of the others are not judged alone."""
        file = self.directory / "readings.csv"
        for required in (0.000001, 100000):
            result, lines = self.sweep_to_end(NOT_JUDGED, *QUICK, "--min-bw", required, "--csv", file, ranks=3, variables={
                "FAKE_PROCESSOR_WAIT": "0.63", "FAKE_PROCESSOR_WAIT_RANK": "1"})
            reason = lines[-1]["reason"]
            self.assertRegex(reason, r"^ranks waited for a processor \d+ % of the time: these are not figures of the network$")
            self.assertEqual(result.stderr, f"pairwise_bw: {reason}\n")
            self.assertIn(f"# Note: In 4 of 6 readings {reason}; run fewer ranks than", with_whole_notes(result.stdout))
            self.assertIsNone(lines[-1]["fast_enough"])
            of_rank = {(reading["from"], reading["to"]): reading.get("processor_wait_share")
                       for reading in lines if reading["kind"] == "reading"}
            self.assertEqual({pair for pair, share in of_rank.items() if share}, {(0, 1), (1, 0), (1, 2), (2, 1)})
            shares = {(int(line["from"]), int(line["to"])): line["processor_wait_share"]
                      for line in csv.DictReader(file.read_text().splitlines())}
            self.assertEqual(shares, {pair: f"{share:.6g}" if share else "" for pair, share in of_rank.items()})
            file.unlink()

    def test_endpoints(self):
        _, lines = self.run_json(*QUICK, program=PAIRWISE, ranks=3)
        endpoints = [line for line in lines if line["kind"] == "endpoint"]
        self.assertEqual([endpoint["rank"] for endpoint in endpoints], [0, 1, 2])
        for endpoint in endpoints:
            self.assertEqual((endpoint["sent"]["readings"], endpoint["received"]["readings"]), (2, 2))
        self.assertEqual(lines[-1]["exit_status"], 0)


class Large(Sweeping):  # 2 ranks, 18 s, extended

    def test_more_than_an_int_counts(self):
        _, _, readings = self.sweep("-b", "2200M", "-n", 1, "--window", 1, "--pair-timeout", 50, ranks=2, timeout=200)
        self.assertEqual([reading["size_bytes"] for reading in readings], [2200 << 20] * 2)


class Faults(Sweeping):  # 3 ranks, 2 s

    def test_wrong_data(self):
        for mode in ("message_tail", "message_nothing"):
            with self.subTest(mode):
                result, lines = self.sweep_to_end(WRONG_DATA, *QUICK, ranks=3, variables=fault(mode, rank=1))
                wrong = [line for line in lines if line.get("status") == "wrong"]
                self.assertEqual(sorted(directions(wrong)), [(0, 1), (2, 1)])
                self.assertRegex(wrong[0]["reason"], r"first at element \d+: expected \S+, got \S+")
                self.assertRegex(result.stdout, r"# wrong: .*:r0 -> .*:r1")

    @in_a_few_tries
    def test_messages_that_never_arrive(self):
        """They cost the pair its readings; all others are measured."""
        result, lines = self.sweep_to_end(TIMEOUT, *QUICK, "--pair-timeout", 2, ranks=3,
                                          variables=fault("message_lost", rank=2, peer=1))
        readings = [line for line in lines if line["kind"] == "reading"]
        self.assertEqual(sorted(directions(readings)), sorted(itertools.permutations(range(3), 2)))
        statuses = dict(zip(directions(readings), (reading["status"] for reading in readings)))
        self.assertEqual(statuses.pop((2, 1)), "timeout")
        self.assertIn(statuses.pop((1, 2)), ("ok", "not_tried"))  # as it came first or second
        self.assertEqual(set(statuses.values()), {"ok"})
        self.assertEqual((lines[-1]["kind"], lines[-1]["exit_status"]), ("end", TIMEOUT))
        self.assertRegex(result.stderr, r"pairwise_bw: \d of 6 readings could not be taken within the time limit")


class Refusals(ProgramTest):  # 2 ranks, 1 s

    def refuse(self, status, message, *arguments, **how):
        result = self.run_program(*arguments, program=PAIRWISE, **how)
        self.assertEqual((result.status, result.stdout), (status, ""), result.stderr)
        said = [line for line in result.stderr.splitlines() if line.startswith("pairwise_bw: ")]
        self.assertEqual(said, [f"pairwise_bw: {message}"])

    def test_one_rank(self):
        self.refuse(USAGE, "a sweep pairs ranks, and there is one; start more, such as mpirun -np 2", ranks=1)

    def test_one_host(self):
        self.refuse(USAGE, "--level host pairs hosts, and all 2 ranks run on one; write --level rank",
                    "--level", "host")

    def test_nothing_to_carry(self):
        self.refuse(USAGE, "-b 0 carries nothing that could be measured; give 1 or more", "-b", 0)

    def test_time_limits_that_contradict(self):
        self.refuse(USAGE, "--pair-timeout 10: -T 15 would end the job first; lower --pair-timeout, or raise -T to 30 or more", "-T", 15)

    def test_options_of_other_programs(self):
        for option in ("-e", "-f", "-o"):
            self.refuse(USAGE, f"unknown option '{option}'; --help lists them all", option, 2)
        self.refuse(USAGE, "unknown option '--pairs'; send_recv_bw, tcp_bw, rdma_write_bw and rdma_cm_connect have it, and "
                           "pairwise_bw does not; --help lists those of pairwise_bw", "--pairs", 2)

    def test_gpus_that_are_not_there(self):
        result = self.run_program("--level", "gpu", program=PAIRWISE)
        self.assertEqual((result.status, result.stdout), (MISSING, ""))
        self.refuse(USAGE, "--level gpu pairs GPUs, and --backend mpi measures host memory; add --memory cuda",
                    "--level", "gpu", "--backend", "mpi")
