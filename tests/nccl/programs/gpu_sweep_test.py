"""pairwise_bw on GPUs: every pair of them in one job, and how it ends where NCCL fails."""

import itertools

from launch import PROGRAMS
from on_gpus import FAILURE, TIMEOUT, USAGE, GpuTest
from sweeping import PAIRWISE, Sweeping, directions

QUICK = ("-b", "64K", "-n", 3, "--window", 4)


class Sweeps(GpuTest, Sweeping):  # 4 ranks, 2 s

    def test_every_direction_once(self):
        for schedule, ranks in itertools.product(("circle", "shift"), (2, 3, 4)):
            with self.subTest(schedule=schedule, ranks=ranks):
                stdout, context, readings = self.sweep(*QUICK, "--level", "gpu", "--schedule", schedule, ranks=ranks)
                self.assertEqual(context["backend"], "nccl")
                self.assertEqual(sorted(directions(readings)), sorted(itertools.permutations(range(ranks), 2)))
                self.assertRegex(stdout, rf"# Sweep: {ranks} GPUs")

    def test_gpu_memory_by_mpi(self):
        _, lines = self.run_json(*QUICK, "--backend", "mpi", "--memory", "cuda", "--level", "gpu",
                                 program=str(PROGRAMS / "pairwise_bw_cuda_aware"), ranks=3)
        self.assertEqual(lines[0]["backend"], "mpi")
        self.assertEqual(len([line for line in lines if line["kind"] == "reading" and line["status"] == "ok"]), 6)

    def test_several_gpus_a_process(self):
        result = self.run_program(*QUICK, "-g", 2, program=PAIRWISE)
        self.assertEqual((result.status, result.stdout), (USAGE, ""), result.stderr)


class Failures(GpuTest, Sweeping):  # 3 ranks, 2 s

    def end(self, status, *arguments, **how):
        result, lines = self.sweep_to_end(status, *QUICK, "--level", "gpu", *arguments, ranks=3, **how)
        return result.stderr, lines

    def test_hang(self):
        said, _ = self.end(TIMEOUT, "--pair-timeout", 2, FAKE_NCCL_FAULT="hang:1:3")
        self.assertRegex(said, r"pairwise_bw: rank \d on \S+: round \d, with rank \d on \S+: nccl: rank \d on GPU \d")

    def test_asynchronous_error(self):
        said, _ = self.end(FAILURE, FAKE_NCCL_FAULT="async_error:1:10")
        self.assertRegex(said, r"round \d, with rank \d on \S+: nccl: rank 1 on GPU 1 .*: a link of rank 1 broke")
