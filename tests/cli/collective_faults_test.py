"""Wrong data are found in every collective that moves data, and the rank and the element are named."""

import re

from launch import ProgramTest, fault, program_of, rows

WRONG_DATA = 5
FOUND = re.compile(r"^fabricbench: wrong data in (?P<collective>\w+) 64 KiB float.*, out of place: (?P<count>\d+) "
                   r"elements? over 1 rank; rank (?P<rank>\d+): first at element (?P<offset>\d+): "
                   r"expected (?P<expected>.+), got (?P<got>.+)$")

SIZE = 64 * 1024
COUNT = SIZE // 4
PART = COUNT // 4  # of 4 ranks

# Where the fault is: a rank that receives, where in its buffer what it receives begins, and how many elements that are.
RECEIVING = {
    "all_gather": (1, 0, COUNT),
    "all_reduce": (1, 0, COUNT),
    "alltoall": (3, 0, COUNT),
    "alltoallv": (2, 0, COUNT),
    "broadcast": (1, 0, COUNT),
    "gather": (0, 0, COUNT),
    "hypercube": (1, COUNT // 2, COUNT // 2),  # by the last exchange
    "reduce": (0, 0, COUNT),
    "reduce_scatter": (2, 0, PART),
    "scatter": (3, 0, PART),
    "sendrecv": (3, 0, COUNT),
}


class CollectiveFaults(ProgramTest):  # 4 ranks, 2 s

    def find(self, collective, mode, *arguments):
        """The one find of a run with the fault."""
        rank, _, count = RECEIVING[collective]
        options = ("--spread", 0) if collective == "alltoallv" else ()
        result = self.run_program("-b", SIZE, "-e", SIZE, "-n", 2, "--placement", "out", *options, *arguments, ranks=4,
                                  program=program_of(collective), variables=fault(mode, rank=rank, least_count=count))
        self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
        found = [match for line in self.own_lines(result) if (match := FOUND.match(line))]
        self.assertEqual(len(found), 1, result.stderr)
        find = {key: int(text) if text.isdigit() else text for key, text in found[0].groupdict().items()}
        self.assertEqual((find["collective"], find["rank"]), (collective, rank))
        self.assertEqual(rows(result.stdout)[0][8], f"{find['count']:g}")
        self.assertRegex(result.stdout, r"# Out of bounds values : 1 FAILED\n")
        return find

    def in_every_collective(self, mode, check):
        for collective, (_, begin, count) in RECEIVING.items():
            with self.subTest(collective):
                check(self.find(collective, mode), begin, count)

    def test_no_fault_is_found_without_one(self):
        for collective in RECEIVING:
            with self.subTest(collective):
                self.assertIn(" : 0 OK", self.run_well("-b", SIZE, "-e", SIZE, "-n", 2, ranks=4,
                                                       program=program_of(collective), variables=fault()).stdout)

    def test_half_in_one_element(self):
        def check(find, begin, count):
            self.assertEqual(find["count"], 1)
            self.assertIn(find["offset"], range(begin + count // 2, begin + count))
            self.assertEqual(float(find["got"]), float(find["expected"]) + 0.5)
        self.in_every_collective("half", check)

    def test_swapped_blocks(self):
        """The first and the third of four, which are the parts of ranks 0 and 2 where there are parts."""
        def check(find, begin, count):
            self.assertIn(find["offset"], range(begin, begin + 8))
            self.assertIn(find["count"], range(count * 49 // 100, count // 2 + 1))
        self.in_every_collective("swap", check)

    def test_a_block_not_written(self):
        def check(find, begin, count):
            self.assertIn(find["offset"], range(begin + count // 2, begin + count // 2 + 8))
            self.assertIn(find["count"], range(count * 24 // 100, count // 4 + 1))
        self.in_every_collective("hole", check)

    def test_last_element_not_written(self):
        def check(find, begin, count):
            self.assertEqual((find["count"], find["offset"]), (1, begin + count - 1))
        self.in_every_collective("tail", check)

    def test_written_behind_the_message(self):
        def check(find, begin, count):
            self.assertEqual((find["count"], find["offset"]), (1, begin + count))
            self.assertEqual((find["expected"], find["got"]), ("nothing written behind the message", "byte 0x00"))
        self.in_every_collective("overrun", check)

    def test_in_place(self):
        for collective in sorted(set(RECEIVING) - {"alltoall", "alltoallv", "sendrecv"}):
            with self.subTest(collective):
                rank, _, count = RECEIVING[collective]
                result = self.run_program("-b", SIZE, "-e", SIZE, "-n", 2, "--placement", "in", ranks=4,
                                          program=program_of(collective),
                                          variables=fault("half", rank=rank, least_count=count))
                self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
                self.assertRegex(result.stderr, rf"wrong data in {collective} .*, in place: 1 element over 1 rank; "
                                                rf"rank {rank}: first at element \d+: expected \S+, got \S+\n")
                self.assertEqual(rows(result.stdout)[0][12], "1")

    def test_another_root(self):
        for collective in ("gather", "reduce"):
            with self.subTest(collective):
                result = self.run_program("-b", SIZE, "-e", SIZE, "-n", 2, "-r", "all", "--placement", "out", ranks=4,
                                          program=program_of(collective), variables=fault("tail", rank=2))
                self.assertEqual(result.status, WRONG_DATA)
                self.assertEqual([row[8] for row in rows(result.stdout)], ["0", "0", "1", "0"])
                self.assertRegex(result.stderr, rf"wrong data in {collective} .* root 2")
