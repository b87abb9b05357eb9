"""--quick: all measurements together get about 2 seconds."""

from launch import PROGRAMS, ProgramTest

USAGE = 2
SIZES = ("-b", 1024, "-e", 4096, "-f", 2)


class Quick(ProgramTest):  # 2 ranks, 12 s

    def run_quickly(self, program, *arguments, ranks=2):
        return self.run_program("--quick", *arguments, program=str(PROGRAMS / program), ranks=ranks)

    def test_shares_its_time(self):
        for program, arguments, share in (("all_reduce_perf", SIZES, "333 ms for each of 6 measurements"),
                                          ("tcp_bw", SIZES, "667 ms for each of 3 measurements"),
                                          ("pairwise_bw", (), "1 s for each of 2 measurements")):
            with self.subTest(program):
                result = self.run_quickly(program, *arguments)
                self.assertEqual(result.status, 0, result.stderr)
                self.assertIn(f"\n# --quick: {share}; intervals are wider than by default\n", result.stdout)

    def test_shares_its_time_among_rounds(self):
        result = self.run_quickly("multi_pair_bw", *SIZES, "--pairs", "all", ranks=4)
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn("\n# --quick: 222 ms for each of 9 measurements; ", result.stdout)

    def test_is_the_only_time(self):
        for arguments, other in ((("-n", 5), "-n"), (("--epochs", 7), "--epochs"), (("--time-budget", 1), "--time-budget"),
                                 (("--target-precision", 1), "--target-precision")):
            result = self.run_quickly("all_reduce_perf", *SIZES, *arguments)
            self.assertEqual(result.status, USAGE)
            self.assertIn(f"--quick says how long everything is measured, and so does {other}; leave out one\n", result.stderr)
        result = self.run_quickly("all_reduce_perf", *SIZES, "--like", "nccl-tests")
        self.assertIn("--like nccl-tests takes 20 iterations, and --quick as many as fit in its time", result.stderr)
