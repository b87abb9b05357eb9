"""Messages between the two GPUs of one process, which one thread drives: -g 2."""

from gpu_pair_program import FEW, FEW_SIZES, ONE, PAIR_TESTS, GpuPairTest
from launch import PROGRAMS, Job, environment, in_a_few_tries, rows
from on_gpus import FAILURE, MISSING, TIMEOUT, USAGE, WRONG_DATA, buses

LIMIT_S = 2
TWO = ("-g", 2)
NOT_THESE = ("-g 2 pairs a process's first GPU with its second, and ranks {} are not these; write --pairs adjacent, or "
             "leave out -g and start a process for each GPU")


class OnePair(GpuPairTest):  # 2 ranks, 20 s

    def test_sizes(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                stdout, context, found = self.measure_gpus(name, *FEW, *TWO, ranks=1)
                self.assertEqual([row["size_bytes"] for row in found], FEW_SIZES)
                self.assertEqual([int(row[0]) for row in rows(stdout)], FEW_SIZES)
                self.assertEqual((self.pairs_of(context), context["ranks"], buses(stdout)), (["0, 1"], 2, [0, 1]))
                self.assertEqual(context["options"]["ngpus"], "2")
                self.assertRegex(stdout, r"# Pair  0: rank 0 of host \S+ -> rank 1 of host ")
                self.assertEqual({len(row["out_of_place"]["rank_times_us"]) for row in found}, {2})

    def test_without_a_launcher(self):
        with Job([str(PROGRAMS / "send_recv_bw"), *map(str, (*FEW, *TWO))], env=environment()) as job:
            result = job.finish()
        self.assertEqual((result.status, result.stderr), (0, ""), result.stdout)
        self.assertEqual(len(rows(result.stdout)), len(FEW_SIZES))

    def test_with_intervals(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                _, _, found = self.measure_gpus(name, "-b", 8, "-e", "32K", "-f", 4096, "--time-budget", 0.05, *TWO,
                                                ranks=1)
                for row in found:
                    self.assertIsNotNone(row["out_of_place"]["time_us_interval"])

    def test_windows_and_buffers(self):
        for name in ("send_recv_bw", "send_recv_bibw"):
            for options in (("--window", 1), ("--window", 200), ("--window", 3, "--buffers", "rotate")):
                with self.subTest(f"{name} {options}"):
                    self.measure_gpus(name, *FEW, *TWO, *options, ranks=1)
        self.measure_gpus("send_recv_lat", *FEW, *TWO, "--buffers", "rotate", ranks=1)

    def test_figures_are_those_of_the_time(self):
        for name, messages in (("send_recv_bw", 1), ("send_recv_bibw", 2), ("send_recv_lat", 1)):
            with self.subTest(name):
                _, _, (row,) = self.measure_gpus(name, *ONE, *TWO, ranks=1)
                measured = row["out_of_place"]
                seconds = measured["time_us_median"] / 1e6
                self.assertAlmostEqual(measured["algbw_gb_per_s"], messages * 4096 / seconds / 1e9, 6)
                self.assertIsNone(measured["directions_gb_per_s"])

    def test_other_gpus(self):
        self.assertEqual(buses(self.measure_gpus("send_recv_lat", *ONE, *TWO, "--device", 5, ranks=1)[0]), [5, 6])
        self.assertEqual(buses(self.measure_gpus("send_recv_lat", *ONE, *TWO, ranks=1, CUDA_VISIBLE_DEVICES="6,2")[0]),
                         [6, 2])


class SeveralPairs(GpuPairTest):  # 3 ranks, 16 s

    def test_one_for_each_process(self):
        for ranks in (2, 3):
            for name in PAIR_TESTS:
                with self.subTest(f"{name} {ranks}"):
                    stdout, context, found = self.measure_gpus(name, *FEW, *TWO, "--pairs", "adjacent", ranks=ranks)
                    self.assertEqual(self.pairs_of(context), [f"{2 * n}, {2 * n + 1}" for n in range(ranks)])
                    self.assertEqual(buses(stdout), list(range(2 * ranks)))
                    self.assertEqual(len(found), ranks * len(FEW_SIZES))

    def test_chosen(self):
        _, context, _ = self.measure_gpus("multi_pair_bw", *FEW, *TWO, "--pairs", "4-5,0-1", ranks=3)
        self.assertEqual(self.pairs_of(context), ["4, 5", "0, 1"])
        self.assertEqual([place["rank"] for place in context["rank_map"]], [4, 5, 0, 1])
        stdout, context, _ = self.measure_gpus("send_recv_bw", *FEW, *TWO, ranks=2)
        self.assertEqual(self.pairs_of(context), ["0, 1"])
        self.assertIn("ranks 2 and 3 are idle; --pairs adjacent has more ranks work", stdout)


class Refused(GpuPairTest):  # 2 ranks, 2 s

    def test_pairs_across_processes(self):
        self.at_once(lambda case: self.refused_pairs(USAGE, NOT_THESE.format(case[1]), "send_recv_bw", *FEW, *TWO,
                                                     "--pairs", case[0]),
                     [("halves", "0 and 2"), ("0-3", "0 and 3"), ("1-2", "1 and 2"), ("1-0", "1 and 0")])

    def test_more_than_two(self):
        self.at_once(lambda name: self.refused_pairs(
            USAGE, "-g 4: a process drives the two GPUs of a pair, not more; write -g 2, or leave out -g and start a "
            "process for each GPU", name, *FEW, "-g", 4, ranks=1), PAIR_TESTS)

    def test_ranks_that_are_not_there(self):
        self.refused_pairs(USAGE, "--pairs 2-3: there is no rank 2, the last one is 1", "send_recv_bw", *FEW, *TWO,
                           "--pairs", "2-3", ranks=1)

    def test_gpus_that_are_not_there(self):
        self.refused_pairs(MISSING, r".*sees 1 CUDA device, but .* need 2; .*", "send_recv_bw", *FEW, *TWO, ranks=1,
                           FAKE_CUDA_DEVICES="1")

    def test_by_mpi(self):
        self.refused_pairs(MISSING, "-g 2 is for NCCL on GPUs, and this would measure MPI, .*", "send_recv_bw", *FEW,
                           *TWO, "--backend", "mpi", ranks=1)


class Faults(GpuPairTest):  # 2 ranks, 6 s

    def test_wrong_data(self):
        receivers = {"send_recv_lat": (0, 1), "send_recv_bw": (1,), "send_recv_bibw": (0, 1), "multi_pair_bw": (1,)}

        def check(case):
            name, rank = case
            said = self.said(WRONG_DATA, name, *ONE, *TWO, ranks=1, FAKE_NCCL_FAULT=f"wrong_from:{rank}:0")
            self.assertRegex(said, rf"wrong data in {name} .*: 1 element over 1 rank; rank {rank}: first at element "
                                   "2048: ")
        self.at_once(check, [(name, rank) for name in PAIR_TESTS for rank in receivers[name]])

    def test_wrong_data_of_another_process(self):
        said = self.said(WRONG_DATA, "multi_pair_bw", *ONE, *TWO, "--pairs", "2-3", ranks=2,
                         FAKE_NCCL_FAULT="wrong_from:1:0")
        self.assertRegex(said, "; rank 3: first at element 2048: ")

    def test_hang(self):
        @in_a_few_tries
        def check(name):
            said = self.said(TIMEOUT, name, *ONE, *TWO, "-T", LIMIT_S, ranks=1,
                             FAKE_NCCL_FAULT="hang:1:5")
            self.assertRegex(said, r"rank 0 on \S+: .* \(rank 0 on GPU 0 .*, rank 1 on GPU 1 .*, NCCL: ")
        self.at_once(check, PAIR_TESTS)

    def test_error(self):
        def check(case):
            name, fault = case
            self.assertRegex(self.said(FAILURE, name, *ONE, *TWO, ranks=1, FAKE_NCCL_FAULT=fault),
                             rf"{name}: rank 0 on \S+: nccl: .*rank 1 on GPU 1 .*: .*, as the test asked for")
        self.at_once(check, [(name, fault) for name in PAIR_TESTS for fault in ("async_error:1:5", "call_error:1:5")])
