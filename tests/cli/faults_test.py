"""A library that delivers wrong data is found out; one that returns an error or does not return ends the job."""

import re

from launch import ProgramTest, fault, in_a_few_tries, rows, wrong_elements

WRONG_DATA = 5
FOUND = re.compile(r"^fabricbench: wrong data in all_reduce (?P<what>.+): (?P<count>\d+) elements? over (?P<ranks>\d+) "
                   r"ranks?; rank (?P<rank>\d+): first at element (?P<offset>\d+): expected (?P<expected>.+), "
                   r"got (?P<got>.+)$")

SIZE = 64 * 1024
COUNT = SIZE // 4


class WrongData(ProgramTest):  # 2 ranks, 4 s

    def find(self, faulty, *arguments, placement="out", ranks=2, size=SIZE):
        """Runs one size in one placement; checks everything that every fault has in common. Returns the find."""
        result = self.run_program("-b", size, "-e", size, "--placement", placement, *arguments, ranks=ranks,
                                  variables=faulty)
        self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
        found = [match for line in self.own_lines(result) if (match := FOUND.match(line))]
        self.assertEqual(len(found), 1, result.stderr)
        self.assertGreater(int(found[0]["count"]), 0)
        wrong = wrong_elements(result.stdout)[placement == "in"]
        self.assertEqual(wrong, f"{int(found[0]['count']):g}")
        self.assertRegex(result.stdout, r"# Out of bounds values : [1-9]\d* FAILED\n")
        self.assertIn("all_reduce_perf: 1 check found wrong data" if found[0]["ranks"] == "1" else "found wrong data",
                      result.stderr)
        return {key: int(text) if text.isdigit() else text for key, text in found[0].groupdict().items()}

    def in_each_placement(self, faulty, *arguments, **how):
        return [self.find(faulty, *arguments, placement=placement, **how) for placement in ("out", "in")]

    def test_no_fault_is_found_without_one(self):
        self.run_right("-b", SIZE, "-e", SIZE, "-n", 5, variables=fault("none"))

    def test_half_in_one_float(self):
        for found in self.in_each_placement(fault("half", rank=1), "-n", 5):
            self.assertEqual((found["count"], found["ranks"], found["rank"]), (1, 1, 1))
            self.assertGreaterEqual(found["offset"], COUNT // 2)
            self.assertEqual(float(found["got"]), float(found["expected"]) + 0.5)

    def test_half_in_one_float_on_every_rank(self):
        for found in self.in_each_placement(fault("half"), "-n", 5, ranks=3):
            self.assertEqual((found["count"], found["ranks"], found["rank"]), (3, 3, 0))

    def test_swapped_blocks(self):
        for found in self.in_each_placement(fault("swap", rank=0), "-n", 5):
            self.assertEqual((found["ranks"], found["rank"], found["offset"]), (1, 0, 0))
            self.assertGreater(found["count"], COUNT // 2 * 0.99)

    def test_tail_not_written(self):
        for found in self.in_each_placement(fault("tail", rank=1), "-n", 1):
            self.assertEqual((found["count"], found["rank"], found["offset"]), (1, 1, COUNT - 1))

    def test_nothing_done(self):
        for found in self.in_each_placement(fault("nothing"), "-n", 5):
            self.assertEqual((found["ranks"], found["offset"]), (2, 0))
            self.assertGreater(found["count"], 2 * COUNT * 0.99)

    def test_nothing_done_from_some_call_on(self):
        # An epoch clears what the one before it left, so an old result does not pass for a new one.
        for found in self.in_each_placement(fault("nothing", after=40), "--epochs", 9, "-w", 1, "--time-budget", 0.5):
            self.assertEqual(found["ranks"], 2)

    def test_written_behind_the_message(self):
        for found in self.in_each_placement(fault("overrun", rank=1), "-n", 5):
            self.assertEqual((found["count"], found["rank"], found["offset"]), (1, 1, COUNT))
            self.assertEqual((found["expected"], found["got"]), ("nothing written behind the message", "byte 0x00"))

    def test_written_behind_the_message_in_other_ways(self):
        for ways in (["--buffers", "rotate", "-e", 4 * SIZE, "-f", 4], ["-u", 3], ["--timing", "isolated"]):
            with self.subTest(ways):
                result = self.run_program("-b", SIZE, "-e", SIZE, "-n", 2, *ways, variables=fault("overrun"))
                self.assertEqual(result.status, WRONG_DATA, result.stdout)
                self.assertNotIn("0", wrong_elements(result.stdout))

    def test_every_way_to_time_finds_it(self):
        for ways in (["--timing", "isolated"], ["--buffers", "rotate"], ["-m", 4], ["-z", 1], ["-u", 3]):
            with self.subTest(ways):
                self.find(fault("half"), "-n", 4, *ways)

    def test_data_of_every_width(self):
        for datatype in ("int8", "half", "bfloat16", "double", "int64"):
            with self.subTest(datatype):
                self.find(fault("swap"), "-n", 2, "-d", datatype)
                self.find(fault("tail"), "-n", 2, "-d", datatype)

    def test_only_the_faulty_size_is_marked(self):
        result = self.run_program("-b", 64, "-e", "64K", "-f", 32, "-n", 2, variables=fault("half", least_count=16384))
        self.assertEqual(result.status, WRONG_DATA)
        self.assertEqual([row[8] != "0" for row in rows(result.stdout)], [False, False, True])

    def test_unchecked_data_is_not_called_right(self):
        result = self.run_well("-b", SIZE, "-e", SIZE, "-n", 5, "-c", 0, variables=fault("half"))
        self.assertEqual(set(wrong_elements(result.stdout)), {"N/A"})


class BrokenLibrary(ProgramTest):  # 2 ranks, 3 s

    def test_error_returned(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                result = self.run_program("-b", SIZE, "-e", SIZE, "-n", 5, variables=fault("error", rank=rank))
                self.assertEqual(result.status, 1)
                message = rf"^all_reduce_perf: rank {rank} on \S+: mpi: MPI_Allreduce: .+$"
                self.assertEqual(len([line for line in self.own_lines(result) if re.match(message, line)]), 1,
                                 result.stderr)
                self.assertNotIn("Out of bounds values", result.stdout)

    @in_a_few_tries
    def test_never_returns(self):
        result = self.run_program("-b", SIZE, "-e", SIZE, "-n", 5, "-T", 3, variables=fault("hang", rank=1))
        self.assertEqual(result.status, 4, result.stderr)
        self.assertRegex(result.stderr, r"fabricbench: no progress for [\d.]+ s, the limit is --timeout 3; the job is ended\n")
        # Rank 0 waits inside the same operation; which of the two never entered it must be said all the same.
        self.assertRegex(result.stderr, r"fabricbench:   rank 1 on \S+: .+ 64 KiB float sum")
