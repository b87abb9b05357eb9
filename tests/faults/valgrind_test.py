"""One program of each family under valgrind: nothing uninitialised is used, no memory is touched that is not there, and what
our code allocates is freed or still reachable."""

import os
import shutil
import subprocess
from pathlib import Path

from launch import MPIEXEC, PROGRAMS, ProgramTest, environment

ON_FAKES = os.environ["FABRICBENCH_PROGRAMS_ON_FAKES"]
VERBS = os.environ["FABRICBENCH_VERBS_BETWEEN_PROCESSES"]
VALGRIND = shutil.which("valgrind")
FOUND = 99
LIMIT_S = 600
BRIEFLY = ("-n", 2, "-w", 1, "-T", LIMIT_S)
ONE_SIZE = ("-b", 1024, "-e", 1024)
SUPPRESSIONS = [path for path in (Path(__file__).parent / "valgrind.supp",
                                  Path("/usr/share/openmpi/openmpi-valgrind.supp")) if path.exists()]


class Valgrind(ProgramTest):  # 2 ranks, 120 s, extended

    def setUp(self):
        super().setUp()
        if not VALGRIND:
            self.skipTest("there is no valgrind here")

    def is_clean(self, program, *arguments, ranks=2, status=0, settings=()):
        checked = [VALGRIND, "--quiet", "--num-callers=50", "--leak-check=full", "--show-leak-kinds=definite",
                   "--errors-for-leak-kinds=definite", f"--error-exitcode={FOUND}", *(f"--suppressions={path}" for path in SUPPRESSIONS), program,
                   *map(str, arguments)]
        command = [MPIEXEC, "-np", str(ranks), "env", *settings, *checked] if ranks else checked
        result = subprocess.run(command, env=environment(), cwd=self.directory, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=LIMIT_S)
        self.assertEqual(result.returncode, status, result.stderr[-20000:])
        return result.stdout

    def test_collective(self):
        self.is_clean(PROGRAMS / "all_reduce_perf", *ONE_SIZE, *BRIEFLY, "--json", "run.json")

    def test_messages(self):
        self.is_clean(PROGRAMS / "send_recv_bw", *ONE_SIZE, *BRIEFLY, "--check", "all")

    def test_tcp(self):
        self.is_clean(PROGRAMS / "tcp_lat", *ONE_SIZE, *BRIEFLY)

    def test_pairs(self):
        record = self.directory / "pairs.json"
        self.is_clean(PROGRAMS / "pairwise_bw", "--level", "rank", "-n", 2, "--pair-timeout", 100, "-T", LIMIT_S, "--json",
                      record, ranks=3)

    def test_rdma(self):
        if not VERBS:
            self.skipTest("this build has no programs over RDMA verbs")
        self.is_clean(PROGRAMS / "rdma_write_bw", "-s", 1024, "-n", 2, "--warmup_iters", 1, "--pairs", "0-1", "--timeout",
                      LIMIT_S, settings=(f"LD_PRELOAD={VERBS}", f"FAKE_VERBS_FILE={self.directory / 'verbs'}"))

    def test_gpus(self):
        if not ON_FAKES:
            self.skipTest("this build has no programs on fakes of CUDA and NCCL")
        self.is_clean(Path(ON_FAKES) / "all_reduce_perf", *ONE_SIZE, *BRIEFLY,
                      settings=("FAKE_CUDA_DEVICES=2", "CUDA_VISIBLE_DEVICES=0,1",
                                f"LD_LIBRARY_PATH={Path(ON_FAKES).parents[1] / 'fakes' / 'nccl-2.28'}"))

    def test_tools(self):
        readings = self.directory / "sweep.jsonl"
        self.is_clean(PROGRAMS / "simulate_fabric", "--hosts", 4, "--records", readings, ranks=0)
        self.is_clean(PROGRAMS / "find_slow_links", readings, ranks=0)
        self.is_clean(PROGRAMS / "list_hosts", "-H", "node[01-04]", ranks=0)
