"""Messages between two GPUs of two processes, by NCCL and by MPI: who is paired, what is measured, what is said."""

import itertools

from gpu_pair_program import FEW, FEW_SIZES, PAIR_TESTS, GpuPairTest
from launch import rows
from on_gpus import MISSING, NEWEST_LIBRARY, OLD_LIBRARY, SHARED_GPU, USAGE, buses

ONE_SIDED = ("--one-sided", 1)
WINDOWED = ("send_recv_bw", "send_recv_bibw", "multi_pair_bw")


class Measured(GpuPairTest):  # 2 ranks, 5 s

    def test_sizes(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                stdout, context, found = self.measure_gpus(name, *FEW, "--backend", "nccl")
                self.assertEqual([row["size_bytes"] for row in found], FEW_SIZES)
                self.assertEqual([int(row[0]) for row in rows(stdout)], FEW_SIZES)
                self.assertEqual(buses(stdout), [0, 1])
                self.assertEqual((context["ranks"], context["timing"]), (2, "pipelined"))
                self.assertIn("; NCCL 2.28.", stdout)

    def test_old_library(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                stdout, _, _ = self.measure_gpus(name, *FEW, **OLD_LIBRARY)
                self.assertIn("; NCCL 2.18.", stdout)

    def test_with_intervals(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                _, _, found = self.measure_gpus(name, "-b", 8, "-e", "32K", "-f", 4096, "--time-budget", 0.05)
                for row in found:
                    measured = row["out_of_place"]
                    self.assertIsNotNone(measured["time_us_interval"])
                    self.assertGreater(measured["host_time_us_median"], 0)
                    self.assertGreaterEqual(measured["time_us_max"], measured["time_us_median"])

    def test_buffers(self):
        for name, policy in (*itertools.product(PAIR_TESTS, ("same", "rotate")), ("send_recv_bw", "cold")):
            with self.subTest(f"{name} {policy}"):
                _, context, _ = self.measure_gpus(name, *FEW, "--buffers", policy)
                self.assertEqual(context["options"]["buffers"], policy)

    def test_shifted_buffers(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                self.measure_gpus(name, *FEW, "-u", 3)

    def test_windows(self):
        for name in WINDOWED:
            for window in (1, 3, 200):
                with self.subTest(f"{name} {window}"):
                    _, context, found = self.measure_gpus(name, *FEW, "--window", window)
                    self.assertEqual(context["options"]["window"], str(window))
                    self.assertEqual({row["out_of_place"]["iterations"] for row in found}, {10})
                    self.assertEqual({row["out_of_place"]["operations_per_sample"] for row in found}, {window})

    def test_figures_are_those_of_the_time(self):
        for name, messages in (("send_recv_bw", 1), ("send_recv_bibw", 2), ("send_recv_lat", 1)):
            with self.subTest(name):
                _, _, (row,) = self.measure_gpus(name, "-b", 4096, "-e", 4096, "-n", 50)
                measured = row["out_of_place"]
                seconds = measured["time_us_median"] / 1e6
                self.assertAlmostEqual(measured["algbw_gb_per_s"], messages * 4096 / seconds / 1e9, 6)
                self.assertAlmostEqual(measured["message_rate_per_s"] * seconds, messages, 6)
                self.assertEqual(len(measured["rank_times_us"]), 2)

    def test_one_sided(self):
        for name in PAIR_TESTS:
            for options in ((), ("--buffers", "rotate"), ("-u", 3)):
                with self.subTest(f"{name} {options}"):
                    stdout, context, found = self.measure_gpus(name, *FEW, *ONE_SIDED, *options, **NEWEST_LIBRARY)
                    self.assertEqual([row["size_bytes"] for row in found], FEW_SIZES)
                    self.assertRegex(stdout, r"; NCCL 2\.30\.7, headers \S+, one-sided \(ncclPutSignal\)\n")
                    self.assertEqual(context["options"]["one_sided"], "1")

    def test_one_sided_with_more_than_fits_on_the_way(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                self.measure_gpus(name, "-b", "1M", "-e", "1M", "-n", 4, *ONE_SIDED, **NEWEST_LIBRARY)
                self.measure_gpus(name, "-b", "1M", "-e", "1M", "-n", 4, *ONE_SIDED, "-g", 2, ranks=1, **NEWEST_LIBRARY)

    def test_one_sided_in_rounds(self):
        self.measure_gpus("send_recv_lat", *FEW, *ONE_SIDED, "--pairs", "all", ranks=3, **NEWEST_LIBRARY)

    def test_no_direction_by_itself(self):
        """NCCL tells when a window is over, not when one half of it is: neither direction gets a figure."""
        stdout, _, found = self.measure_gpus("send_recv_bibw", *FEW)
        self.assertEqual({row["out_of_place"]["directions_gb_per_s"] for row in found}, {None})
        titles = next(line for line in stdout.splitlines() if "->" in line and "Mmsg/s" in line).lstrip("# ").split()
        for row in rows(stdout):
            self.assertEqual((row[titles.index("->")], row[titles.index("<-")]), ("-", "-"))

    def test_isolated_timing_is_of_collectives(self):
        unknown = "unknown option '--timing'.*"
        self.at_once(lambda name: self.refused_pairs(USAGE, unknown, name, "--timing", "isolated"), PAIR_TESTS)


class Chosen(GpuPairTest):  # 5 ranks, 3 s

    def test_two_of_many(self):
        for ranks in (3, 4, 5):
            with self.subTest(ranks):
                stdout, context, _ = self.measure_gpus("send_recv_lat", *FEW, ranks=ranks)
                self.assertEqual(self.pairs_of(context), ["0, 1"])
                self.assertEqual(buses(stdout), [0, 1])

    def test_all_at_once(self):
        expected = {2: ["0, 1"], 3: ["0, 1"], 4: ["0, 1", "2, 3"], 5: ["0, 1", "2, 3"]}
        for ranks, pairs in expected.items():
            with self.subTest(ranks):
                stdout, context, found = self.measure_gpus("multi_pair_bw", *FEW, ranks=ranks)
                self.assertEqual(self.pairs_of(context), pairs)
                self.assertEqual(len(found), len(pairs) * len(FEW_SIZES))
                self.assertEqual("left out" in stdout, ranks % 2 == 1)

    def test_named(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                _, context, _ = self.measure_gpus(name, *FEW, "--pairs", "3-1,0-4", ranks=5)
                self.assertEqual(self.pairs_of(context), ["3, 1", "0, 4"])
                self.assertEqual([place["rank"] for place in context["rank_map"]], [3, 1, 0, 4])

    def test_halves(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                _, context, _ = self.measure_gpus(name, *FEW, "--pairs", "halves", ranks=4)
                self.assertEqual(self.pairs_of(context), ["0, 2", "1, 3"])

    def test_from_a_file(self):
        file = self.directory / "pairs.txt"
        file.write_text("0 3\n2, 1\n")
        _, context, _ = self.measure_gpus("multi_pair_bw", *FEW, "--pairs", file, ranks=4)
        self.assertEqual(self.pairs_of(context), ["0, 3", "2, 1"])

    def test_several_pairs_with_intervals(self):
        stdout, _, found = self.measure_gpus("multi_pair_bw", "-b", 64, "-e", 4096, "-f", 64, "--time-budget", 0.05,
                                             ranks=4)
        self.assertEqual(sorted((row["group"], row["size_bytes"]) for row in found),
                         [(0, 64), (0, 4096), (1, 64), (1, 4096)])
        self.assertIn("# Slowest pair         : ", stdout)

    def test_on_one_gpu(self):
        stdout, _, _ = self.measure_gpus("send_recv_bw", *FEW, "--device", 2, **SHARED_GPU)
        self.assertEqual(buses(stdout), [2, 2])

    def test_only_those_that_take_part_need_a_gpu(self):
        self.measure_gpus("send_recv_lat", *FEW, ranks=3, FAKE_CUDA_DEVICES="2")

    def test_too_few_gpus(self):
        self.refused_pairs(MISSING, r".*sees 1 CUDA device, but .* need 2; .*", "send_recv_bw", *FEW,
                           FAKE_CUDA_DEVICES="1")


class OneSidedRefused(GpuPairTest):  # 2 ranks, 2 s

    def test_by_the_library(self):
        self.refused_pairs(MISSING, r"--one-sided: NCCL 2\.28\.9 does not have ncclPutSignal and ncclWaitSignal; NCCL "
                                    r"2\.29\.0 and newer do", "send_recv_bw", *FEW, *ONE_SIDED)

    def test_by_the_machine(self):
        self.refused_pairs(MISSING, r"--one-sided: NCCL cannot write into the other ranks' memory here: .*",
                           "send_recv_bw", *FEW, *ONE_SIDED, **NEWEST_LIBRARY, FAKE_NCCL_NO_HOST_RMA="1")

    def test_by_the_machine_at_the_first_message(self):
        said = self.said(MISSING, "send_recv_bw", *FEW, *ONE_SIDED, **NEWEST_LIBRARY, FAKE_NCCL_NO_HOST_RMA="1",
                         FAKE_NCCL_SILENT="1")
        self.assertRegex(said, r"--one-sided: nccl: rank \d on GPU \d .*: nccl\w+: invalid argument: One sided RMA: host "
                               "RMA is not supported in this communicator; leave it out to measure ncclSend and ncclRecv")

    def test_by_mpi(self):
        self.refused_pairs(MISSING, "--one-sided 1 is for NCCL on GPUs, .*", "send_recv_bw", *FEW, *ONE_SIDED,
                           "--backend", "mpi")


class ByMpi(GpuPairTest):  # 3 ranks, 1 s
    """On GPU memory, by an MPI that says that it is CUDA-aware."""

    def test_sizes(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                stdout, context, found = self.measure(f"{name}_cuda_aware", *FEW, "--backend", "mpi", "--memory",
                                                      "cuda", ranks=3)
                self.assertEqual((context["backend"], self.pairs_of(context)), ("mpi", ["0, 1"]))
                self.assertEqual([row["size_bytes"] for row in found], FEW_SIZES)
                self.assertIn(", in GPU memory\n", stdout)
                self.assertEqual(buses(stdout), [0, 1])

    def test_both_directions(self):
        _, _, found = self.measure("send_recv_bibw_cuda_aware", *FEW, "--backend", "mpi", "--memory", "cuda")
        for row in found:
            self.assertEqual(len(row["out_of_place"]["directions_gb_per_s"]), 2)

    def test_in_host_memory(self):
        stdout, context, _ = self.measure("send_recv_bw", *FEW, "--memory", "host")
        self.assertEqual((context["backend"], buses(stdout)), ("mpi", []))

    def test_not_cuda_aware(self):
        self.refused_pairs(MISSING, "--memory cuda: .*", "send_recv_bw", *FEW, "--backend", "mpi", "--memory", "cuda")
