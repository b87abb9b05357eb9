"""Where buffers lie, and what is said of memory that cannot be had, locked or reached."""

import os
import re
import unittest

from guests import FAILURE, MISSING, OK, PATIENCE_S, PROGRAMS_ON_FAKES, USAGE, GuestTest, OnFakeGpus, shell
from launch import PROGRAMS

FAULTY_VERBS = os.environ["FABRICBENCH_FAULTY_VERBS"]
LOCKED_KIB = 64


def set_huge_pages(pages):
    shell(f"echo {pages} > /proc/sys/vm/nr_hugepages")


class HugePages(GuestTest):

    def tearDown(self):
        set_huge_pages(0)

    def test_every_verb(self):
        set_huge_pages(32)
        for program in ("rdma_write_lat", "rdma_send_bw", "rdma_atomic_bw"):
            with self.subTest(program):
                rows = self.measured(program, "--memory", "hugepages", "-n", 20)
                self.assertEqual(len(rows), 1)

    def test_what_the_banner_says(self):
        set_huge_pages(32)
        for memory, words in (("hugepages", "host memory in huge pages of 2 MiB, relaxed PCIe ordering"),
                              ("host", "host memory, relaxed PCIe ordering")):
            with self.subTest(memory):
                result = self.run_job("rdma_write_bw", "--memory", memory, "-n", 20)
                self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
                self.assertIn(f"\n# Registered: {words}\n", result.stdout)

    def test_message_that_does_not_fit(self):
        """8 pages are two of each rank's buffers."""
        set_huge_pages(8)
        result = self.run_job("rdma_write_bw", "--memory", "hugepages", "-s", "8M", "-n", 5)
        self.assertEqual(result.status, MISSING, result.stdout)
        self.assertRegex(result.stderr, "the smallest message, 8 MiB, needs .* but only 8 MiB per rank is available")

    def test_none(self):
        self.refused(MISSING, r"--memory hugepages: 0 of 0 huge pages of 2 MiB are free on this host, and 2 ranks there "
                              r"take 4 at least; reserve more as root: echo 4 > /proc/sys/vm/nr_hugepages",
                     "rdma_send_bw", "--memory", "hugepages", "-n", 20)


class Gpus(GuestTest):

    def test_no_driver(self):
        self.refused(MISSING, "--memory cuda: (host host1: no NVIDIA driver is installed|this program was built without "
                              "CUDA)", "rdma_write_bw", "--memory", "cuda", "-n", 20)

    def test_what_a_processor_cannot_see(self):
        self.refused(USAGE, "--memory cuda: .* add --write-with-imm", "rdma_write_lat", "--memory", "cuda", "-n", 20)


@unittest.skipUnless(PROGRAMS_ON_FAKES, "the programs were built without CUDA and NCCL")
class FakeGpus(OnFakeGpus, GuestTest):
    """The programs on a CUDA that is none: its memory is the host's, which the device is given as a GPU's."""

    def test_every_verb(self):
        self.load_peer_memory()
        for program, *more in (("rdma_atomic_bw", "-q", 2), ("rdma_send_lat", "-s", 8),
                               ("rdma_write_lat", "--write-with-imm", "-s", 8)):
            with self.subTest(program):
                self.assertEqual(len(self.measured(program, "--memory", "cuda", "-n", 20, *more)), 1)

    def test_what_the_banner_says(self):
        self.load_peer_memory()
        of_each = [f"memory of GPU {gpu} (Fake GPU) by nvidia-peermem, relaxed PCIe ordering" for gpu in range(2)]
        for memory, words in (("cuda", "; ".join(of_each)), ("cuda:1", of_each[1])):
            with self.subTest(memory):
                result = self.run_job("rdma_read_bw", "--memory", memory, "-n", 20)
                self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
                self.assertIn(f"\n# Registered: {words}\n", result.stdout)
                self.assertIn("[0000:11:00] Fake GPU", result.stdout)
                self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)

    def test_small_messages_stay_out_of_completions(self):
        """From where mlx5's library would copy them to the GPU by the processor, whatever the user has set."""
        for memory, kept_out in (("cuda", True), ("host", False)):
            with self.subTest(memory):
                result = self.run_job("rdma_read_bw", "--memory", memory, "-n", 20,
                                      env={"LD_PRELOAD": FAULTY_VERBS, "FAULTY_VERBS": "tell",
                                           "MLX5_SCATTER_TO_CQE": "1"})
                # An earlier opening may only look at the ports.
                told = re.findall("MLX5_SCATTER_TO_CQE=(.)", result.stderr)
                self.assertEqual((bool(told), "0" in told), (True, kept_out), result.stderr)

    def test_no_way_to_register(self):
        self.refused(MISSING, r"rxe0 cannot register 4 KiB of memory of GPU 0 \(Fake GPU\); by dma-buf: the device's driver "
                              r"does not support it \(EOPNOTSUPP\).*; by nvidia-peermem: its module is not loaded",
                     "rdma_read_bw", "--memory", "cuda", "-n", 20)

    def test_data_direct(self):
        self.refused(MISSING, "--data-direct: libmlx5.so.1 (cannot be loaded|has no mlx5dv_get_data_direct)|"
                              "--data-direct: rxe0 has no Data Direct",
                     "rdma_read_bw", "--memory", "cuda", "--data-direct", "-n", 20)


class Faults(GuestTest):

    def start_as_user(self, program, *arguments):
        """Without root's right to lock as much memory as there is (CAP_IPC_LOCK), as every other user."""
        limited = f'ulimit -l {LOCKED_KIB}; exec "$0" "$@"'
        return self.start("/usr/bin/setpriv", "--bounding-set=-ipc_lock", "bash", "-c", limited, PROGRAMS / program,
                          *arguments)

    def test_locked_memory(self):
        with self.start_as_user("rdma_write_bw", "-s", "1M", "-n", 20) as job:
            result = job.finish(PATIENCE_S)
        self.assertEqual(result.status, MISSING, result.stderr)
        self.assertRegex(result.stderr, r"rdma_write_bw: rank \d on host1: verbs: ibv_reg_mr of 1.0 MiB: .* \(ENOMEM\); "
                                        rf"the limit on locked memory is {LOCKED_KIB} KiB; set it to unlimited "
                                        r"\(ulimit -l unlimited;")

    def test_wrong_remote_key(self):
        for program in ("rdma_write_bw", "rdma_read_lat"):
            with self.subTest(program):
                result = self.run_job(program, "-s", 64, "-n", 20,
                                      env={"LD_PRELOAD": FAULTY_VERBS, "FAULTY_VERBS": "keys"})
                self.assertEqual(result.status, FAILURE, result.stderr)
                self.assertRegex(result.stderr, rf"{program}: rank 0 on host1: verbs: a request with rxe0 port 1 of host "
                                                r"host1, queue pair 0x[0-9a-f]+ of rank [01] ended with remote access error: .* the "
                                                r"key or address is wrong")
                self.assertFalse(re.search(r"^ +64 ", result.stdout, re.MULTILINE), "a row of what failed")
