"""--repeatable: the same input twice, and what is said where the bits differ."""

from launch import ProgramTest, fault, program_of

SIZES = ("-b", "4K", "-e", "256K", "-f", 64, "-n", 2)


def standing(lines):
    """Whether each measurement is repeatable."""
    return [line[place]["repeatable"] for line in lines if line["kind"] == "row"
            for place in ("out_of_place", "in_place") if line[place]]


class Repeatable(ProgramTest):  # 3 ranks, 2 s

    def test_same_bits(self):
        for collective in ("all_reduce", "reduce", "reduce_scatter"):
            with self.subTest(collective):
                stdout, lines = self.run_json(*SIZES, "--repeatable", program=program_of(collective))
                self.assertIn("# Note: Repeatable: the same bits twice in all 4 cases\n", stdout)
                self.assertEqual(standing(lines), [True] * 4)

    def test_every_datatype_and_reduction(self):
        stdout, lines = self.run_json("-b", 1024, "-e", 1024, "-n", 1, "-d", "all", "-o", "all", "--repeatable")
        self.assertEqual(set(standing(lines)), {True})
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)

    def test_another_order_the_second_time(self):
        """A finding, and no error: the data that are checked are the same in any order."""
        stdout, lines = self.run_json(*SIZES, "--repeatable", ranks=3, variables=fault("reorder"))
        self.assertEqual(standing(lines), [False] * 4)
        self.assertIn("# Note: Not repeatable: the same input gave other bits in 4 of 4 cases\n", stdout)
        self.assertIn("# Note: all_reduce 4 KiB float sum, out of place: other bits on 3 ranks; rank 0: first among "
                      "elements 0 to 1023\n", stdout)
        self.assertIn("# Note: all_reduce 256 KiB float sum, in place: other bits on 3 ranks; rank 0: first among "
                      "elements 0 to 16383\n", stdout)
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        self.assertEqual(lines[-1]["exit_status"], 0)

    def test_one_rank_with_other_bits(self):
        """The fifth operation on rank 1 is the second of the two."""
        stdout, _ = self.run_json("-b", "4K", "-e", "4K", "-n", 1, "-w", 0, "-c", 0, "--placement", "out", "--repeatable",
                                  variables=fault("half", rank=1, after=4))
        self.assertIn("float sum, out of place: other bits on 1 rank; rank 1: first among elements 0 to 1023\n", stdout)

    def test_not_asked_for(self):
        stdout, lines = self.run_json(*SIZES, ranks=3, variables=fault("reorder"))
        self.assertEqual(standing(lines), [None] * 4)
        self.assertNotIn("epeatable", stdout)

    def test_what_only_moves_data_is_not_repeated(self):
        stdout, lines = self.run_json(*SIZES, "--repeatable", program=program_of("all_gather"))
        self.assertEqual(standing(lines), [None] * 4)
        self.assertNotIn("epeatable", stdout)
