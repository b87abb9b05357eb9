"""Pairs of GPUs that are measured in rounds: a rank has the same GPU in all of them."""

import itertools
import json
import re

from gpu_pair_program import PAIR_TESTS, GpuPairTest
from launch import PROGRAMS, in_a_few_tries
from on_gpus import FAILURE, MISSING, SHARED_GPU, TIMEOUT, WRONG_DATA, buses

FEW = ("-b", 64, "-e", 4096, "-f", 64, "-n", 10)
SIZES = (64, 4096)
ONE = ("-b", 4096, "-e", 4096, "-n", 20)
# Sets FAKE_NCCL_FAULT for one rank of the job.
FOR_ONE_RANK = """#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = "$FAULTY_RANK" ] && export FAKE_NCCL_FAULT="$FAULT"
exec "$@"
"""


class InRounds(GpuPairTest):  # 5 ranks, 6 s

    def check(self, context, found, gpus):
        """Each pair once at each size; each rank has one GPU."""
        pairs = self.pairs_of(context)
        self.assertEqual(sorted((row["group"], row["size_bytes"]) for row in found),
                         list(itertools.product(range(len(pairs)), SIZES)))
        self.assertEqual([rank["gpu"]["device"] for rank in context["rank_map"]], gpus)
        return pairs

    def test_every_two_ranks(self):
        for ranks, rounds in {3: 3, 4: 3, 5: 5}.items():
            with self.subTest(ranks):
                stdout, context, found = self.measure_gpus("send_recv_bw", *FEW, "--pairs", "all", ranks=ranks)
                pairs = self.check(context, found, list(range(ranks)))
                self.assertEqual(pairs, [f"{a}, {b}" for a, b in itertools.combinations(range(ranks), 2)])
                self.assertEqual(max(group["round"] for group in context["groups"]) + 1, rounds)
                self.assertEqual(buses(stdout), list(range(ranks)))
                self.assertNotIn("share", stdout)

    def test_every_program(self):
        for name in PAIR_TESTS:
            with self.subTest(name):
                _, context, found = self.measure_gpus(name, *FEW, "--pairs", "all", ranks=3)
                self.check(context, found, [0, 1, 2])

    def test_one_at_a_time(self):
        stdout, context, found = self.measure_gpus("multi_pair_bw", *FEW, "--pairs", "0-3,2-1", "--concurrent", 1,
                                                   ranks=5)
        self.assertEqual(self.check(context, found, [0, 1, 2, 3]), ["0, 3", "2, 1"])
        self.assertIn("# rank 4 is in no pair and idle\n", stdout)

    def test_on_one_gpu(self):
        _, context, found = self.measure_gpus("send_recv_lat", *FEW, "--pairs", "all", "--device", 2, ranks=3,
                                              **SHARED_GPU)
        self.check(context, found, [2, 2, 2])

    def test_two_of_a_process(self):
        stdout, context, found = self.measure_gpus("send_recv_bw", *FEW, "-g", 2, "--pairs", "adjacent", "--concurrent",
                                                   1, ranks=3)
        self.assertEqual(self.check(context, found, list(range(6))), ["0, 1", "2, 3", "4, 5"])
        self.assertEqual(buses(stdout), list(range(6)))

    def test_by_mpi(self):
        stdout, context, found = self.measure("send_recv_bw_cuda_aware", *FEW, "--pairs", "all", "--backend", "mpi",
                                              "--memory", "cuda", ranks=3)
        self.assertEqual(context["backend"], "mpi")
        self.check(context, found, [0, 1, 2])
        self.assertIn(", in GPU memory\n", stdout)

    def test_in_host_memory(self):
        _, context, _ = self.measure("send_recv_bw", *FEW, "--pairs", "all", "--memory", "host", ranks=3)
        self.assertEqual([rank["gpu"] for rank in context["rank_map"]], [None] * 3)

    def test_too_few_gpus(self):
        self.refused_pairs(MISSING, r".*sees 2 CUDA devices, but .* need 3; .*", "send_recv_bw", *FEW, "--pairs", "all",
                           ranks=3, FAKE_CUDA_DEVICES="2")


class Faults(GpuPairTest):  # 4 ranks, 4 s

    def test_wrong_data(self):
        """The second rank of each pair receives."""
        said = self.said(WRONG_DATA, "send_recv_bw", *ONE, "--pairs", "all", ranks=3, FAKE_NCCL_FAULT="wrong_from:1:0")
        self.assertEqual(sorted(re.findall(r"; (rank \d): first at", said)), ["rank 1", "rank 2", "rank 2"])

    def test_of_a_later_round(self):
        wrapper = self.directory / "for_one_rank"
        wrapper.write_text(FOR_ONE_RANK)
        wrapper.chmod(0o755)

        @in_a_few_tries
        def check(case):
            fault, status, ranks, pairs, reason = case
            file = self.directory / f"{ranks}-{status}.json"
            result = self.run_program(PROGRAMS / "send_recv_bw", *ONE, *pairs.split(), "-T", 2, "--json", file,
                                      "--force", ranks=ranks, program=str(wrapper), FAULTY_RANK=str(ranks - 1), FAULT=fault)
            self.assertEqual(result.status, status, result.stdout + result.stderr)
            self.assertRegex(result.stderr, reason)
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            self.assertEqual([line["kind"] for line in lines].count("end"), 1)
            self.assertEqual((lines[-1]["kind"], lines[-1]["exit_status"]), ("end", status))
            self.assertRegex(lines[-1]["reason"], reason)

        error = r"rank {0} on \S+: nccl: rank {0} on GPU {0} .*: a link of rank 1 broke"
        late = r"no progress for .*(?s:.)*, the first is rank 2 on \S+: .* \(rank 2 on GPU 2 "
        alone = "--pairs 0-1,2-3 --concurrent 1"
        self.at_once(check, [("async_error:1:20", FAILURE, 4, alone, error.format(3)),
                             ("hang:1:20", TIMEOUT, 4, alone, late),
                             ("async_error:1:20", FAILURE, 3, "--pairs all", error.format(2))])
