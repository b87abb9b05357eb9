"""Datatypes and reductions of every collective, and options that mean nothing to one."""

from launch import COLLECTIVES, REDUCING, ROOTED, ProgramTest, program_of, rows

MISSING = 3
DATATYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16"]
REDUCTIONS = ["sum", "prod", "min", "max", "avg"]


class Everything(ProgramTest):  # 3 ranks, 2 s

    def test_every_datatype_and_reduction(self):
        for collective in sorted(REDUCING):
            with self.subTest(collective):
                stdout = self.run_well("-b", 4096, "-e", 4096, "-d", "all", "-o", "all", "-n", 2, ranks=3,
                                       program=program_of(collective)).stdout
                self.assertIn("# Out of bounds values : 0 OK\n", stdout)
                self.assertEqual([(row[2], row[3]) for row in rows(stdout)],
                                 [(kind, reduction) for kind in DATATYPES for reduction in REDUCTIONS])
                for left_out in ("MPI has no f8e4m3", "MPI has no f8e5m2", "MPI has no mulsum, "):
                    self.assertEqual(stdout.count(f"\n# Left out: {left_out}"), 1)

    def test_every_datatype(self):
        for collective in sorted(set(COLLECTIVES) - REDUCING - {"barrier", "hypercube"}):
            with self.subTest(collective):
                stdout = self.run_well("-b", 4096, "-e", 4096, "-d", "all", "-n", 2, ranks=3,
                                       program=program_of(collective)).stdout
                self.assertIn("# Out of bounds values : 0 OK\n", stdout)
                self.assertEqual([(row[2], row[3]) for row in rows(stdout)], [(kind, "none") for kind in DATATYPES])
                self.assertNotIn("mulsum", stdout)


class Missing(ProgramTest):  # 2 ranks, 1 s

    def test_datatypes(self):
        for collective in ("all_gather", "reduce", "sendrecv"):
            for kind in ("f8e4m3", "f8e5m2"):
                with self.subTest(collective, kind=kind):
                    self.refused(MISSING, f"MPI has no {kind}; choose another with --datatype or --op", "-d", kind,
                                 program=program_of(collective))

    def test_reductions(self):
        for collective in sorted(REDUCING):
            with self.subTest(collective):
                self.refused(MISSING, "MPI has no mulsum, a sum of values that are multiplied first; choose another "
                                      "with --datatype or --op", "-o", "mulsum", program=program_of(collective))

    def test_both_reasons(self):
        result = self.run_program("-d", "f8e5m2", "-o", "mulsum")
        self.assertEqual(result.status, MISSING)
        self.assertIn("MPI has no f8e5m2", self.own_lines(result)[0])


class InVain(ProgramTest):  # 2 ranks, 1 s
    """Options that cannot matter are said to be unused, and refused by nobody."""

    def notices(self, collective, *arguments):
        size = () if collective == "barrier" else ("-b", 1024, "-e", 1024)
        stdout, lines = self.run_json("-n", 1, *size, *arguments, program=program_of(collective))
        for notice in lines[0]["notices"]:
            self.assertIn(f"\n# {notice}\n", stdout)
        return [notice for notice in lines[0]["notices"] if notice.startswith("Not used: ")]

    def test_reduction(self):
        for collective in sorted(set(COLLECTIVES) - REDUCING):
            with self.subTest(collective):
                self.assertEqual(self.notices(collective, "-o", "max"),
                                 [f"Not used: -o, since {collective} reduces nothing"])

    def test_root(self):
        for collective in sorted(set(COLLECTIVES) - ROOTED):
            with self.subTest(collective):
                self.assertEqual(self.notices(collective, "-r", 9),
                                 [f"Not used: -r, since {collective} has no root"])

    def test_sizes_of_a_barrier(self):
        self.assertEqual(self.notices("barrier", "-b", 8, "-e", 64, "-f", 2, "-d", "double"),
                         ["Not used: -b, -e, -f, -d, since a barrier carries no data"])

    def test_steps_of_one_size(self):
        self.assertEqual(self.notices("all_reduce", "-i", 16), ["Not used: -i, since there is one size"])

    def test_options_without_a_use_are_not_in_the_help(self):
        for collective in COLLECTIVES:
            text = self.run_well("--help", program=program_of(collective)).stdout
            with self.subTest(collective):
                self.assertEqual("--op " in text, collective in REDUCING)
                self.assertEqual("--root " in text, collective in ROOTED)
                self.assertEqual("--minbytes " in text and "--datatype " in text, collective != "barrier")

    def test_nothing_is_said_without_cause(self):
        for collective in ("all_reduce", "reduce", "barrier", "alltoall"):
            with self.subTest(collective):
                self.assertEqual(self.notices(collective), [])
        self.assertEqual(self.notices("reduce", "-o", "max", "-r", 1), [])
