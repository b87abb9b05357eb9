"""alltoallv_perf: who sends how much to whom, by distance or by a matrix."""

import re

from launch import COLLECTIVES, ProgramTest, program_of, rows

USAGE = 2
PROGRAM = program_of("alltoallv")


class AllToAllV(ProgramTest):  # 4 ranks, 2 s

    def size_of(self, *arguments, ranks=4, **how):
        """The one row's size; all its data are right."""
        stdout = self.run_well("-n", 2, *arguments, program=PROGRAM, ranks=ranks, **how).stdout
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        found = rows(stdout)
        self.assertEqual(len(found), 1)
        return int(found[0][0])

    def matrix(self, text):
        file = self.directory / "matrix"
        file.write_text(text)
        return file

    def refused_matrix(self, message, text, *arguments, ranks=3):
        self.refused(USAGE, message, "--matrix", self.matrix(text), *arguments, program=PROGRAM, ranks=ranks)

    def test_spread(self):
        """6144 bytes over 4 ranks: to distances 0 to 3 go 0, 1, 2 and 3 sixths of 4 parts of 1536, or a part each."""
        for spread in (0, 0.5, 1):
            with self.subTest(spread):
                self.assertEqual(self.size_of("-b", 6144, "-e", 6144, "--spread", spread), 6144)

    def test_spread_rounds_parts_to_16_bytes(self):
        """Of 4 parts of 16 bytes, sixths are 0, 10, 21 and 32, which leaves 16 and 32; equal parts stay whole."""
        self.assertEqual(self.size_of("-b", 64, "-e", 64, "--spread", 1), 48)
        self.assertEqual(self.size_of("-b", 64, "-e", 64, "--spread", 0), 64)

    def test_spread_by_variable(self):
        self.assertEqual(self.size_of("-b", 64, "-e", 64, NCCL_TESTS_ALLTOALLV_SPREAD="0"), 64)
        self.assertEqual(self.size_of("-b", 64, "-e", 64, "--spread", 1, NCCL_TESTS_ALLTOALLV_SPREAD="0"), 48)

    def test_spread_out_of_range(self):
        for value in ("2", "-1", "much"):
            with self.subTest(value):
                result = self.run_program("--spread", value, program=PROGRAM)
                self.assertEqual((result.status, result.stdout), (USAGE, ""))
                self.assertIn("--spread", self.own_lines(result)[0])

    def test_matrix(self):
        """The busiest rank is 2, which receives 64 + 96 + 32 bytes."""
        file = self.matrix("0 16 64\n32 0 96\n16 0 32\n")
        result = self.run_well("-n", 2, "--matrix", file, program=PROGRAM, ranks=3)
        self.assertEqual([row[:2] for row in rows(result.stdout)], [["192", "0"]])
        self.assertIn("# The traffic matrix sets the size: 192 B at the busiest rank\n", result.stdout)
        self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)

    def test_matrix_scale(self):
        file = self.matrix("0 16\n32 0\n\n")
        self.assertEqual(self.size_of("--matrix", file, "--matrix-scale", 100, ranks=2), 3200)

    def test_matrix_by_variables(self):
        file = self.matrix("0 16\n32 0\n")
        self.assertEqual(self.size_of(ranks=2, NCCL_TESTS_ALLTOALLV_MATRIX_FILE=str(file),
                                      NCCL_TESTS_ALLTOALLV_MATRIX_SCALE="3"), 96)

    def test_a_larger_matrix_than_ranks(self):
        self.assertEqual(self.size_of("--matrix", self.matrix("0 16 999999\n32 0 9\n1 1 1\n"), ranks=2), 32)

    def test_bad_cells(self):
        for cell in ("x", "-1", "nan", "1K"):
            with self.subTest(cell):
                self.refused_matrix(f"line 2 of the traffic matrix has '{cell}'; write bytes, numbers from 0 on",
                                    f"0 1 2\n1 {cell} 0\n1 1 1\n")

    def test_a_short_row(self):
        self.refused_matrix("line 3 of the traffic matrix has 2 columns, and the first has 3; give every rank's row as "
                            "many columns as there are ranks", "0 1 2\n1 2 0\n1 1\n")

    def test_not_square(self):
        for text, shape in (("1 2 3\n1 2 3\n", "2 rows of 3 columns"), ("", "0 rows of 0 columns")):
            with self.subTest(shape):
                self.refused_matrix(f"the traffic matrix has {shape}; it must be square, with one row for each rank "
                                    "that sends and one column for each that receives", text)

    def test_too_small(self):
        self.refused_matrix("alltoallv cannot run on 3 ranks: the traffic matrix has fewer rows than there are ranks",
                            "16 16\n16 16\n")

    def test_too_much(self):
        self.refused_matrix("line 1 of the traffic matrix: 1e9 times 1000000000000 bytes are too many", "1e9 0\n0 0\n",
                            "--matrix-scale", "1e12", ranks=2)

    def test_summary_of_the_traffic(self):
        file = self.matrix("0 16 64\n32 0 96\n16 0 32\n")
        expected = [(80, 48), (128, 16), (48, 192)]
        for how, variables in ((("--traffic-summary", 1), {}), ((), {"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY": "1"})):
            with self.subTest(how):
                stdout, lines = self.run_json("-n", 2, "--matrix", file, *how, program=PROGRAM, ranks=3, **variables)
                printed = re.findall(r"^#   rank=(\d) send_bytes=(\d+) recv_bytes=(\d+) alg_bw=[\d.]+$", stdout, re.M)
                self.assertEqual([tuple(map(int, line)) for line in printed],
                                 [(rank, *traffic) for rank, traffic in enumerate(expected)])
                row = next(line for line in lines if line["kind"] == "row")
                self.assertEqual([(rank["sent_bytes"], rank["received_bytes"]) for rank in row["traffic"]], expected)

    def test_nothing_left(self):
        """Not a row of 0 bytes."""
        self.refused_matrix("the traffic matrix has nothing to send, because values below 16 bytes count as 0; raise "
                            "--matrix-scale", "0 15\n8 0\n", ranks=2)

    def test_no_matrix(self):
        self.refused(USAGE, "cannot read the traffic matrix '/no/such/file'; give a file that exists", "--matrix",
                     "/no/such/file", program=PROGRAM)

    def test_only_here(self):
        for collective in COLLECTIVES:
            if collective == "alltoallv":
                continue
            option = {"all_reduce": "--matrix", "alltoall": "--matrix-scale"}.get(collective, "--spread")
            with self.subTest(collective):
                self.refused(USAGE, f"unknown option '{option}'; --help lists them all", option, 1,
                             program=program_of(collective), ranks=1)
        self.run_well("-b", 8, "-e", 8, "-n", 1, NCCL_TESTS_ALLTOALLV_SPREAD="nonsense")

    def test_help_names_them_here_only(self):
        self.assertIn("--matrix-scale", self.run_well("--help", program=PROGRAM).stdout)
        self.assertNotIn("--matrix-scale", self.run_well("--help").stdout)
