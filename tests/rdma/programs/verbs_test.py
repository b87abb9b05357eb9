"""The programs over RDMA verbs, both ranks on the device of one guest."""

import os
import signal
from pathlib import Path

from guests import FAILURE, MISSING, OK, PATIENCE_S, STALL_S, TIMEOUT, USAGE, GuestTest, wait_for_traffic
from launch import kill, wait_until

NOT_JUDGED = 7
SIZED = [f"rdma_{verb}_{figure}" for verb in ("read", "send", "write") for figure in ("bw", "lat")]
SMALL_AND_64K = ("--min-bytes", 8, "--max-bytes", "64K", "--step-factor", 8192, "-n", 20)


def pid_of_rank(program, rank):
    """The process of a rank that has begun, however far it is; 0 where there is none."""
    wanted = f"OMPI_COMM_WORLD_RANK={rank}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() == program[:15] and wanted in (process / "environ").read_bytes():
                return int(process.name)
        except OSError:  # it has ended meanwhile
            pass
    return 0


def is_connecting(pid):
    """Whether a process has opened rdma_cm's device."""
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if os.readlink(file) == "/dev/infiniband/rdma_cm":
                return True
        except OSError:  # it was closed meanwhile
            pass
    return False


class Programs(GuestTest):

    def check(self, program, *arguments, sizes):
        rows = self.measured(program, *arguments)
        self.assertEqual(list(rows), sizes)
        for row in rows.values():
            self.assertGreater(row["time_us_median"], 0)

    def test_every_program(self):
        for program in SIZED:
            with self.subTest(program):
                self.check(program, *SMALL_AND_64K, sizes=[8, 65536])

    def test_atomics(self):
        for program in ("rdma_atomic_bw", "rdma_atomic_lat"):
            with self.subTest(program):
                self.check(program, "-n", 20, sizes=[8])

    def test_datagrams(self):
        for program in ("rdma_send_bw", "rdma_send_lat"):
            with self.subTest(program):
                self.check(program, "-c", "UD", "--min-bytes", 8, "--max-bytes", "4K", "--step-factor", 512, "-n", 20,
                           sizes=[8, 4096])

    def test_unreliable_connection(self):
        self.check("rdma_write_bw", "-c", "UC", "-s", "4K", "-n", 20, sizes=[4096])

    def test_both_ways(self):
        rows = self.measured("rdma_send_bw", "-b", *SMALL_AND_64K)
        for row in rows.values():
            there, back = row["directions_gb_per_s"]
            self.assertGreater(min(there, back), 0)
            self.assertAlmostEqual(there + back, row["algbw_gb_per_s"], delta=1e-6 * row["algbw_gb_per_s"])

    def test_queue_pairs(self):
        self.check("rdma_write_bw", "-q", 4, *SMALL_AND_64K, sizes=[8, 65536])

    def test_bandwidth_of_each_queue_pair(self):
        for program, *arguments in (("rdma_write_bw", ), ("rdma_send_bw", "-b"), ("rdma_send_bw", "-c", "UD")):
            row = self.measured(program, "-q", 4, "-s", "4K", *arguments)[4096]
            carried = row["queue_pairs_gb_per_s"]
            self.assertEqual(len(carried), 4)
            self.assertGreater(min(carried), 0)
            self.assertAlmostEqual(sum(carried), row["busbw_gb_per_s"], delta=1e-3 * row["busbw_gb_per_s"])
        self.assertIsNone(self.measured("rdma_write_bw", "-s", "4K")[4096]["queue_pairs_gb_per_s"])

    def test_posting(self):
        """A list of requests, few of them signaled, and inline."""
        self.check("rdma_write_bw", "-l", 4, "-Q", 8, "-t", 32, "-I", 64, *SMALL_AND_64K, sizes=[8, 65536])

    def measured_under_load(self, program, *arguments):
        """A short run may be over before a few processors have let the stream's thread run; that is said, with a status."""
        for number in (2000, 20000):
            result = self.run_resident(program, *arguments, "-n", number, "--background", "bw")
            if result.status == OK:
                break
            self.assertEqual(result.status, NOT_JUDGED, result.stderr)
            self.assertIn("the stream of --background carried nothing during 1 of 1 measurements", result.stderr)
        row, = self.measured(program, *arguments, "-n", 20 * number, "--background", "bw").values()
        return row

    def test_latency_under_load(self):
        """The stream carries bytes while messages are timed, whatever their verb."""
        for program, *arguments in (("rdma_write_lat", "-s", 64), ("rdma_read_lat", "-s", 64), ("rdma_atomic_lat",),
                                    ("rdma_send_lat", "-s", 64, "-c", "UD"), ("rdma_send_lat", "-s", 64, "-R")):
            with self.subTest((program, *arguments)):
                row = self.measured_under_load(program, *arguments)
                self.assertGreater(row["background_gb_per_s"], 0)
        row, = self.measured("rdma_write_lat", "-s", 64, "-n", 20).values()
        self.assertIsNone(row["background_gb_per_s"])

    def test_banner_of_a_load(self):
        result = self.run_job("rdma_write_lat", "-s", 64, "-n", 20, "--background", "bw", "--background-tclass", 8)
        self.assertIn(result.status, (OK, NOT_JUDGED), result.stderr)  # so few messages may pass before a write of 64 KiB has
        self.assertRegex(result.stdout, r"# Background: writes of 64 KiB from the first rank to the second at the same time, "
                                        r"rxe0 port 1 to rxe0 port 1, .*, traffic class 8\n")

    def test_odd_rank(self):
        result = self.run_job("rdma_write_bw", "-s", 64, "-n", 20, ranks=3)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertIn("# rank 2 is idle\n", result.stdout)


class EveryMessage(GuestTest):
    """--check all: each message that was sent has arrived and is right."""

    def check(self, program, *arguments, messages=None):
        rows = self.measured(program, "--check", "all", *arguments)
        for row in rows.values():
            self.assertEqual(row["wrong_messages"], 0)
            self.assertGreaterEqual(row["checked_messages"] + (row["lost_messages"] or 0), messages or 1)

    def test_every_program(self):
        """At least the messages of -n; a round trip has two."""
        for program in SIZED:
            with self.subTest(program):
                to_check = 2 if program in ("rdma_send_lat", "rdma_write_lat") else 1
                self.check(program, *SMALL_AND_64K, messages=20 * to_check)

    def test_epochs(self):
        """As many messages as fit into the time, of two sizes in turn."""
        for program in ("rdma_write_bw", "rdma_send_bw", "rdma_send_lat"):
            with self.subTest(program):
                self.check(program, "--min-bytes", 8, "--max-bytes", "64K", "--step-factor", 8192, "--epochs", 6,
                           "--time-budget", 0.5)

    def test_queue_pairs(self):
        for program in ("rdma_write_bw", "rdma_read_bw", "rdma_send_bw"):
            self.check(program, "-q", 3, *SMALL_AND_64K, messages=20)

    def test_both_ways(self):
        self.check("rdma_send_bw", "-b", *SMALL_AND_64K, messages=40)
        self.check("rdma_write_bw", "-b", "--write-with-imm", *SMALL_AND_64K, messages=40)

    def test_datagrams(self):
        for program, *queue_pairs in (("rdma_send_bw", "-q", 2), ("rdma_send_lat",)):
            self.check(program, *queue_pairs, "-c", "UD", "--min-bytes", 8, "--max-bytes", "1K", "--step-factor", 128,
                       "-n", 200, messages=200)

    def test_one_shared_receive_queue(self):
        self.check("rdma_send_bw", "--use-srq", "-s", "4K", "-n", 2000, messages=2000)

    def test_note(self):
        result = self.run_resident("rdma_write_bw", "--check", "all", "-s", "4K", "-n", 100)
        self.assertRegex(result.stdout, r"Every message is checked: each has a place of its own in \d+ MiB, which limits")
        self.assertRegex(result.stdout, r"Every message was checked: \d+ messages, 0 wrong")


class SharedReceives(GuestTest):
    """One receive queue for four queue pairs."""

    def check(self, program, *arguments):
        self.assertTrue(self.measured(program, "-q", 4, "--use-srq", "-n", 20, *arguments))

    def test_sends(self):
        self.check("rdma_send_bw", "-s", "4K", "-r", 256, "-t", 32)
        self.check("rdma_send_bw", "-s", "4K", "-b", "-e")

    def test_datagrams(self):
        self.check("rdma_send_bw", "-c", "UD", "-s", "1K", "-t", 32)

    def test_unreliable_connection(self):
        self.check("rdma_send_bw", "-c", "UC", "-s", "4K", "-t", 32)

    def test_writes_with_immediate(self):
        self.check("rdma_write_bw", "--write-with-imm", "-s", "4K", "-r", 64)

    def test_latency(self):
        self.assertTrue(self.measured("rdma_send_lat", "--use-srq", "-n", 20))

    def test_depth_that_the_device_does_not_have(self):
        self.refused(USAGE, r"1000128 completions may be outstanding .* receives \(-r\), and rxe0 has room for \d+",
                     "rdma_send_bw", "--use-srq", "-r", 1000000, "-n", 20)


class OverRdmaCm(GuestTest):
    """Queue pairs that rdma_cm connects."""

    def check(self, program, *arguments):
        self.assertTrue(self.measured(program, "-R", "-n", 20, *arguments))

    def test_every_program(self):
        for program in (*SIZED, "rdma_atomic_bw", "rdma_atomic_lat"):
            with self.subTest(program):
                self.check(program)

    def test_datagrams(self):
        self.check("rdma_send_bw", "-c", "UD", "-s", "1K", "-t", 32)
        self.check("rdma_send_lat", "-c", "UD", "-s", "64")

    def test_queue_pairs(self):
        self.check("rdma_write_bw", "-q", 4, "-s", "4K")
        self.check("rdma_send_bw", "-q", 4, "-c", "UD", "-s", "1K", "-t", 32)
        self.check("rdma_send_bw", "-q", 4, "--use-srq", "-s", "4K", "-b")

    def test_banner(self):
        result = self.run_job("rdma_read_bw", "-R", "-s", 64, "-n", 20, "-m", 1024, "-x", 1, "--tclass", 104)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertRegex(result.stdout, r"# .*RDMA: rxe0 port 1 to rxe0 port 1, RoCE v2, IPv4, one subnet, "
                                        r"GID indices 1 and 1, MTU 1024, traffic class 104, connected by rdma_cm\n")

    def test_refusals(self):
        self.refused(USAGE, "-R connects RC and UD queue pairs, and librdmacm supports no others",
                     "rdma_send_bw", "-R", "-c", "UC")
        self.refused(USAGE, "-S sets a service level, and with -R the path", "rdma_send_bw", "-R", "-S", 1)
        self.refused(MISSING, r"-x 0: .* no GID of this index for an IP address.* 1: RoCE v2 10\.79\.0\.1$",
                     "rdma_send_bw", "-R", "-x", 0)

    def test_peer_that_stops(self):
        """While thousands of queue pairs are connected, the second rank hangs."""
        with self.start("rdma_write_bw", "-R", "-q", 3000, "-t", 4, "-s", 64, "--stall-timeout", STALL_S) as job:
            pid = job.pids[1] = wait_until(lambda: pid_of_rank("rdma_write_bw", 1), "there is no rank 1", PATIENCE_S)
            wait_until(lambda: is_connecting(pid), "rank 1 has not begun to connect", PATIENCE_S)
            wait_for_traffic(100)  # of which each of the queue pairs takes several
            kill(pid, signal.SIGSTOP)
            result = job.finish(PATIENCE_S)
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        self.assertRegex(result.stderr, r"rdma_write_bw: rank 0 on host1: rdma_cm: connecting with rxe0 port 1 of host "
                                        rf"host1, queue pair 0x\w+ \(1: RoCE v2 10\.79\.0\.1\): nothing came within "
                                        rf"{STALL_S} s, .*; rxe0 port 1 of this host is ACTIVE")


class Refusals(GuestTest):

    def test_gid_index(self):
        self.refused(MISSING, r"-x 99: .* no GID of this index.* 1: RoCE v2 10\.79\.0\.1$",
                     "rdma_write_bw", "-s", 64, "-n", 20, "-x", 99)

    def test_device(self):
        self.refused(MISSING, "there is no RDMA device 'mlx5_9'.* rxe0$", "rdma_read_lat", "-n", 20, "-d", "mlx5_9")

    def test_one_rank(self):
        self.refused(USAGE, "a pair needs two ranks, and the job has 1", "rdma_send_lat", "-n", 20, ranks=1)


class Faults(GuestTest):
    """A rank that stops or dies while messages are under way."""

    def test_stopped(self):
        for program, size in (("rdma_send_bw", "4K"), ("rdma_write_lat", 8)):
            with self.subTest(program):
                said = (rf"{program}: rank 0 on host1: verbs: waited {STALL_S} s in vain .* "
                        r"the other end is rxe0 port 1 of host host1, queue pair 0x")
                result = self.strike(signal.SIGSTOP, said, program, "-s", size, "--time-budget", 120)
                self.assertEqual(result.status, TIMEOUT, result.stderr)

    def test_killed(self):
        # Whichever comes first: the launcher's word, or that of the rank whose requests fail.
        said = "signal 9|rank 0 on host1: verbs: a request with rxe0 port 1 of host host1"
        result = self.strike(signal.SIGKILL, said, "rdma_write_bw", "-s", "4K", "--time-budget", 120)
        self.assertIn(result.status, (FAILURE, 128 + signal.SIGKILL))
