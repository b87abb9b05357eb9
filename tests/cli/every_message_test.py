"""--check all: every message is checked at a place of its own, and every operation of a collective on fresh buffers; one
wrong byte among thousands of them is named."""

from launch import PROGRAMS, fault
from pair_program import PairTest

USAGE, WRONG_DATA = 2, 5
PAIR_TESTS = ("send_recv_lat", "send_recv_bw", "send_recv_bibw", "multi_pair_bw", "tcp_lat", "tcp_bw")
WINDOW = 64
# The fault below is in the last byte of this message, counted from 0.
WRONG = 3000
STREAM = ("-b", 256, "-e", 256, "-n", 100, "--window", WINDOW)
ONE_WRONG = fault("message_tail", rank=1, after=WRONG, calls=1)


class EveryMessage(PairTest):  # 2 ranks, 20 s

    def test_exact_number(self):
        """At least the messages of -n: a window has 64, and both ranks check where both receive."""
        for name in PAIR_TESTS:
            with self.subTest(name):
                stdout, context, found = self.measure(name, "-b", 8, "-e", "64K", "-f", 8192, "-n", 20, "--check", "all")
                self.assertEqual(context["options"]["check"], "all")
                least = 20 * (1 if name.endswith("_lat") else WINDOW) * (1 if name.endswith("_bw") else 2)
                for row in found:
                    self.assertGreaterEqual(row["out_of_place"]["checked_messages"], least)
                    self.assertEqual(row["out_of_place"]["wrong_messages"], 0)
                total = sum(row["out_of_place"]["checked_messages"] for row in found)
                self.assertIn(f"# Note: Every message was checked: {total:,} messages, 0 wrong\n", stdout)

    def test_none_is_left_out(self):
        """Neither those that the library is observed in, which --json asks for, nor those of estimates."""
        _, _, (row,) = self.measure("send_recv_bw", "-b", 256, "-e", 256, "-n", 10, "-w", 1, "--check", "all")
        self.assertEqual(row["out_of_place"]["checked_messages"], (10 + 1 + 1) * WINDOW)
        for arguments in (("-n", 10, "-w", 1, "--json", self.directory / "run.json", "--force"), ("-n", 10, "-w", 0),
                          ("--time-budget", 0.01)):
            with self.subTest(arguments):
                result = self.run_program("-b", 256, "-e", 256, *arguments, "-c", "all", program=str(PROGRAMS / "send_recv_bw"),
                                          variables=fault("message_tail", rank=1, after=2, calls=1))
                self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
                self.assertIn("first in message 2 of window 0, byte 255", result.stderr)

    def test_windows_that_do_not_fit(self):
        """Windows of 64 messages of 8 MiB would take 512 MiB."""
        stdout, _, (row,) = self.measure("send_recv_bw", "-b", "8M", "-e", "8M", "-n", 3, "-w", 1, "--check", "all")
        self.assertIn("each has a place of its own in 256 MiB, which limits the messages of a window\n", stdout)
        self.assertGreaterEqual(row["out_of_place"]["checked_messages"], 3 * 16)

    def test_with_intervals(self):
        """Those of the warm-up too, which long operations on a busy machine do without."""
        _, _, found = self.measure("send_recv_bw", "-b", 8, "-e", "64K", "-f", 8192, "--time-budget", 0.1, "--check", "all")
        for row in found:
            self.assertGreaterEqual(row["out_of_place"]["checked_messages"], row["out_of_place"]["iterations"] * WINDOW)

    def test_one_wrong_byte_is_named(self):
        result = self.run_program(*STREAM, "-c", "all", program=str(PROGRAMS / "send_recv_bw"), variables=ONE_WRONG)
        self.assertEqual(result.status, WRONG_DATA, result.stderr)
        self.assertRegex(result.stdout, r"# Note: Every message was checked: [\d,]+ messages, 1 wrong\n")
        self.assertRegex(result.stderr, r"messages of 256 B: 1 element of 1 message over 1 rank; rank 1: first in "
                                        rf"message {WRONG % WINDOW} of window {WRONG // WINDOW}, byte 255: "
                                        r"expected -?\d+, got -?\d+")

    def test_without_it_is_missed(self):
        result = self.run_program(*STREAM, program=str(PROGRAMS / "send_recv_bw"), variables=ONE_WRONG)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertNotIn("Every message was checked", result.stdout)

    def test_other_programs_refuse_it(self):
        result = self.run_program("-c", "all", program=str(PROGRAMS / "pairwise_bw"))
        self.assertEqual(result.status, USAGE)
        self.assertIn("--check all: this program does not have that (programs of collectives and of messages between "
                      "two ranks do); give a number of operations",
                      result.stderr)


COUNT = 1024
OPERATIONS = 200
ONE_SIZE = ("-b", 4 * COUNT, "-e", 4 * COUNT, "-n", OPERATIONS, "-w", 0)


class EveryOperation(PairTest):  # 2 ranks, 10 s

    def test_every_operation_is_checked(self):
        for name in ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "alltoall"):
            with self.subTest(name):
                stdout, context, (row,) = self.measure(f"{name}_perf", *ONE_SIZE, "--check", "all")
                self.assertEqual((context["options"]["check"], context["timing"]), ("all", "isolated"))
                for place in ("out_of_place", "in_place"):
                    if measured := row[place]:
                        self.assertGreaterEqual(measured["checked_operations"], OPERATIONS)
                        self.assertTrue(0 < measured["checking_share"] < 1, measured)
                        self.assertEqual(measured["wrong_elements"], 0)
                self.assertRegex(stdout, r"# Note: Every measured operation was checked: [\d,]+; filling and checking buffers "
                                         r"took \d+ % of the time\n")

    def wrong(self, mode, after, *arguments, calls=1):
        return self.run_program(*ONE_SIZE, "--placement", "out", *arguments, program=str(PROGRAMS / "all_reduce_perf"),
                                variables=fault(mode, rank=1, least_count=COUNT, after=after, calls=calls))

    def test_one_wrong_operation_is_found(self):
        """Wherever it is among the measured ones; also one that leaves the last element, for the buffer is fresh each time."""
        for after in (10, OPERATIONS // 2, OPERATIONS - 1):
            for mode in ("half", "tail"):
                with self.subTest(after=after, mode=mode):
                    result = self.wrong(mode, after, "-c", "all")
                    self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
                    self.assertIn(" of 1 operation over 1 rank; rank 1: first at element ", result.stderr)

    def test_wrong_operations_are_counted(self):
        result = self.wrong("half", 10, "-c", "all", calls=7)
        self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
        self.assertIn(" of 7 operations over 1 rank; ", result.stderr)

    def test_without_it_is_missed(self):
        result = self.wrong("half", OPERATIONS // 2)
        self.assertEqual(result.status, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"# Note: \d operations? w(as|ere) checked, which finds corruption of 1 in [\d.]+ with "
                                        r"95 %, and of 1 in 1000 with [\d.]+ %\n")

    def test_what_cannot_be_combined(self):
        for arguments in (("--timing", "pipelined"), ("--like", "nccl-tests"), ("-m", 2), ("--buffers", "rotate"), ("-G", 2)):
            with self.subTest(arguments):
                result = self.run_program(*arguments, "-c", "all", program=str(PROGRAMS / "all_reduce_perf"))
                self.assertEqual(result.status, USAGE, result.stderr)
