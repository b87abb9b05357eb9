"""How many bits of an element the checked data exercise."""

from launch import ProgramTest, program_of


class CheckedBits(ProgramTest):  # 2 ranks, 1 s

    def shares(self, *arguments, **how):
        stdout, lines = self.run_json("-n", 1, "--placement", "out", *arguments, **how)
        return stdout, [line["out_of_place"]["checked_bits_share"] for line in lines if line["kind"] == "row"]

    def test_of_one_kind(self):
        stdout, shares = self.shares("-b", "64K", "-e", "64K")
        self.assertEqual(shares, [1])
        self.assertIn("# Note: The checked data have both values, 0 and 1, in 32 of 32 bits of an element (float sum)\n",
                      stdout)

    def test_of_a_buffer_with_few_elements(self):
        _, shares = self.shares("-b", 4, "-e", 4)
        self.assertEqual(shares, [0])

    def test_of_many_kinds(self):
        stdout, shares = self.shares("-b", "64K", "-e", "64K", "-d", "all", "-o", "prod")
        self.assertEqual(len(shares), 10)  # MPI has no 8-bit floats
        self.assertIn("in 7 of 8 bits of an element (uint8 prod, the least of 10 kinds)\n", stdout)

    def test_of_data_that_is_only_received_by_the_root(self):
        _, shares = self.shares("-b", "64K", "-e", "64K", "-r", 1, program=program_of("gather"))
        self.assertEqual(shares, [1])

    def test_unchecked(self):
        stdout, shares = self.shares("-b", "64K", "-e", "64K", "-c", 0)
        self.assertEqual(shares, [None])
        self.assertNotIn("checked data", stdout)
