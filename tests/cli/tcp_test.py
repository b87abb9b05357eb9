"""tcp_bw, tcp_bibw and tcp_lat on one host: the connections are by the loopback."""

from launch import PROGRAMS
from pair_program import PairTest

USAGE, MISSING = 2, 3
FEW = ("-b", 1, "-e", "256K", "-f", 64, "-n", 20)
FEW_SIZES = [1, 64, 4096, 262144]


class Tcp(PairTest):  # 2 ranks, 4 s

    def test_sizes(self):
        for name in ("tcp_bw", "tcp_bibw", "tcp_lat"):
            with self.subTest(name):
                _, context, found = self.measure(name, *FEW)
                self.assertEqual([row["size_bytes"] for row in found], FEW_SIZES)
                self.assertEqual(context["backend"], "tcp")
                self.assertRegex(context["library"], r"^TCP, 1 stream, by \S+, congestion control \w+$")

    def test_streams(self):
        for name in ("tcp_bw", "tcp_bibw"):
            for streams, window in ((2, 1), (2, 64), (5, 1), (5, 64)):
                with self.subTest(f"{name}, {streams} streams, window {window}"):
                    _, context, _ = self.measure(name, *FEW, "--streams", streams, "--window", window)
                    self.assertIn(f"TCP, {streams} streams, ", context["library"])

    def test_each_direction_has_a_figure(self):
        stdout, context, found = self.measure("tcp_bibw", *FEW)
        self.assertEqual(context["figure"], "both_ways")
        self.assertRegex(stdout, r"(?m)^#.* -> +<- .*Retr +Retr +#wrong$")
        for row in found:
            there, back = row["out_of_place"]["directions_gb_per_s"]
            total = row["out_of_place"]["algbw_gb_per_s"]
            self.assertAlmostEqual(there + back, total, delta=1e-6 * total)
            self.assertEqual(len(self.fields_of(stdout, row["size_bytes"])), 13)

    def test_retransmitted_segments(self):
        for name in ("tcp_bw", "tcp_lat"):
            stdout, _, found = self.measure(name, *FEW)
            self.assertRegex(stdout, r"(?m)^#.* Retr +#wrong$")
            for row in found:
                segments = row["out_of_place"]["retransmitted_segments"]
                self.assertEqual(len(segments), 2)
                self.assertEqual(int(self.fields_of(stdout, row["size_bytes"])[-2]), sum(segments))

    def fields_of(self, stdout, size):
        rows = [line.split() for line in stdout.splitlines() if not line.startswith("#")]
        return next(fields for fields in rows if fields[0] == str(size))

    def test_with_intervals(self):
        _, _, found = self.measure("tcp_lat", "-b", 8, "-e", 8, "--time-budget", 0.1)
        self.assertIsNotNone(found[0]["out_of_place"]["time_us_interval"])

    def test_several_pairs(self):
        _, context, found = self.measure("tcp_bw", *FEW, "--pairs", "adjacent", ranks=5)
        self.assertEqual(self.pairs_of(context), ["0, 1", "2, 3"])
        self.assertEqual(len(found), 2 * len(FEW_SIZES))

    def test_no_message_of_no_bytes(self):
        stdout = self.run_well("-b", 0, "-e", 2, "-f", 2, "-n", 3, program=str(PROGRAMS / "tcp_lat")).stdout
        self.assertIn("# skipped: 0 bytes", stdout)
        self.assertIn("TCP has no messages of 0 bytes", stdout)

    def test_interface_that_is_not_there(self):
        result = self.run_program(*FEW, "--interface", "nosuch0", program=str(PROGRAMS / "tcp_bw"))
        self.assertIn(result.status, (USAGE, MISSING))
        said = [line for line in result.stderr.splitlines() if line.startswith("tcp_bw: ")]
        self.assertEqual(len(said), 1, result.stderr)
        self.assertRegex(said[0], r"nosuch0.*\blo\b")

    def test_options_of_libraries(self):
        for option in ("--backend", "--memory"):
            result = self.run_program(option, "mpi", program=str(PROGRAMS / "tcp_bw"))
            self.assertEqual(result.status, USAGE)
            self.assertIn(f"unknown option '{option}'", result.stderr)
