"""gpudirect_rdma_lat in one guest, with threads in the place of GPUs, and on GPUs that are none."""

import json
import signal
import unittest

from guests import MISSING, OK, PROGRAMS_ON_FAKES, STALL_S, TIMEOUT, USAGE, GuestTest, OnFakeGpus, validate

PROGRAM = "gpudirect_rdma_lat"
MODES = ("gpu", "cq", "cq+flush")


class Modes(GuestTest):
    def check_mode(self, mode, reader, *arguments):
        """Runs with data right. `reader`: what reads, for a rank's number. Returns the row of each size."""
        file = self.directory / f"{mode}.json"
        result = self.run_job(PROGRAM, "--seen-by", mode, "--min-bytes", 8, "--max-bytes", "64K", "--step-factor", 8192,
                              "-n", 20, "--warmup-iters", 4, "--json", file, *arguments)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)
        self.assertIn(f"# Seen by {mode}: a message counts when ", result.stdout)
        part = "part of every time below, not subtracted" if mode == "gpu" else "no part of the times below"
        for rank in range(2):
            self.assertRegex(result.stdout, rf"(?m)^# Rank {rank}: local ping-pong of the processor and the reader, "
                                            rf"{reader(rank)}: \S+ us, {part}$")
        context, *lines = [json.loads(line) for line in file.read_text().splitlines()]
        validate([context, *lines])
        self.assertEqual(context["options"]["seen_by"], mode)
        self.assertIn(f"({mode})", context["time_means"])
        for rank in context["rank_map"]:
            self.assertGreater(rank["reader_round_trip_us"], 0)
        rows = [line for line in lines if line["kind"] == "row"]
        self.assertEqual([row["size_bytes"] for row in rows], [8, 65536])
        for row in rows:
            self.assertEqual(row["out_of_place"]["wrong_elements"], 0)
            self.assertGreater(row["out_of_place"]["time_us_median"], 0)


class Threads(Modes):

    def test_every_way_to_see_a_message(self):
        for mode in MODES:
            with self.subTest(mode):
                self.check_mode(mode, lambda rank: "a thread of the host")

    def test_no_bytes(self):
        """Of a message of no bytes, its number is seen, or its completion."""
        for mode in MODES:
            with self.subTest(mode):
                rows = self.measured(PROGRAM, "--seen-by", mode, "-s", 0, "-n", 10, "--warmup-iters", 2)
                self.assertEqual(list(rows), [0])


@unittest.skipUnless(PROGRAMS_ON_FAKES, "the programs were built without CUDA and NCCL")
class FakeGpus(OnFakeGpus, Modes):
    """On a CUDA that is none: its memory is the host's, and its kernels are threads."""

    def test_every_way_to_see_a_message(self):
        self.load_peer_memory()
        for mode in MODES:
            with self.subTest(mode):
                self.check_mode(mode, lambda rank: f"a kernel of GPU {rank}", "--memory", "cuda")


class Refusals(GuestTest):

    def test_gpu_memory(self):
        """There is no GPU here, and maybe no CUDA either."""
        self.refused(MISSING, "^gpudirect_rdma_lat: ", PROGRAM, "-s", 64, "-n", 10, "--memory", "cuda")

    def test_way_to_see(self):
        self.refused(USAGE, "'gpus' is not a way to see a message; choose one of cq, cq\\+flush, gpu$",
                     PROGRAM, "-s", 64, "-n", 10, "--seen-by", "gpus")


class Faults(GuestTest):

    def test_rank_that_stops(self):
        for mode in ("gpu", "cq+flush"):
            with self.subTest(mode):
                said = (rf"{PROGRAM}: rank 0 on host1: verbs: waited {STALL_S} s in vain .* the other end is rxe0 port 1 of "
                        r"host host1, queue pair 0x.*rxe0 port 1 of this host is ACTIVE")
                result = self.strike(signal.SIGSTOP, said, PROGRAM, "-s", 64, "--seen-by", mode, "--time-budget", 120)
                self.assertEqual(result.status, TIMEOUT, result.stderr)
