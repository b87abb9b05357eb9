"""Every collective at 1 to 5 ranks: sizes, counts and bandwidths are nccl-tests', and every result is right."""

import re
from pathlib import Path

from launch import COLLECTIVES, OUT_OF_PLACE_ONLY, REDUCING, ROOTED, SHARED, ProgramTest, program_of, rows

USAGE = 2
ELEMENT = 4  # bytes of a float

SOURCES = Path(__file__).parents[2] / "src"


def part_of(size, ranks):
    """Elements of one rank's part of a message, in whole 16 bytes."""
    elements = size // ELEMENT // ranks
    return elements - elements % (16 // ELEMENT)


def spread_bytes(part, ranks):
    """What every rank of alltoallv sends, with the default --spread 1."""
    if ranks == 1:
        return part * ELEMENT
    total = part * ELEMENT * ranks
    parts = [int(total * distance / (ranks * (ranks - 1) / 2)) for distance in range(ranks)]
    return sum(each - each % 16 for each in parts)


def expected_row(collective, size, ranks):
    """Size, count, redop and root of the row for a requested size."""
    part = part_of(size, ranks)
    shown, count = (part * ranks * ELEMENT, part) if collective in SHARED else (size, size // ELEMENT)
    if collective == "alltoallv":
        shown = spread_bytes(part, ranks)
    if collective == "barrier":
        shown, count = 0, 0
    return shown, count, "sum" if collective in REDUCING else "none", 0 if collective in ROOTED else -1


def bus_factor(collective, ranks):
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    return (ranks - 1) / ranks if collective in SHARED - {"hypercube"} else 1


def counted_bytes(collective, size, ranks):
    """What algbw counts: hypercube leaves out what a rank had from the beginning."""
    return size * (ranks - 1) / ranks if collective == "hypercube" else size


class Programs(ProgramTest):  # 5 ranks, 7 s

    def check(self, collective, ranks):
        requested = [0] if collective == "barrier" else [1000, 10000]
        sweep = () if collective == "barrier" else ("-b", 1000, "-e", 10000, "-f", 10)
        stdout, lines = self.run_json(*sweep, "-n", 3, program=program_of(collective), ranks=ranks)
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        found = [line for line in lines if line["kind"] == "row"]
        expected = [expected_row(collective, size, ranks) for size in requested]
        self.assertEqual([(row["size_bytes"], row["count"], row["reduction"], row["root"]) for row in found], expected)
        self.assertEqual([row[:5] for row in rows(stdout)],
                         [[str(size), str(count), "float", redop, str(root)] for size, count, redop, root in expected])
        self.check_figures(collective, ranks, stdout, lines)

    def check_figures(self, collective, ranks, stdout, lines):
        busbws = []
        for row in (line for line in lines if line["kind"] == "row"):
            placements = [row["out_of_place"]] + [row["in_place"]] * (collective not in OUT_OF_PLACE_ONLY)
            for measured in placements:
                algbw = counted_bytes(collective, row["size_bytes"], ranks) / measured["time_us_median"] / 1e3
                busbw = algbw * bus_factor(collective, ranks)
                self.assertAlmostEqual(measured["algbw_gb_per_s"], algbw, 9)
                self.assertAlmostEqual(measured["busbw_gb_per_s"], busbw, 9)
                self.assertEqual(measured["wrong_elements"], None if collective == "barrier" else 0)
                busbws.append(busbw)
            if collective in OUT_OF_PLACE_ONLY:
                self.assertIsNone(row["in_place"])
        for fields in rows(stdout):
            self.assertEqual(len(fields), 13)
            self.assertEqual(fields[9:] == ["N/A"] * 4, collective in OUT_OF_PLACE_ONLY)
        self.assertAlmostEqual(lines[-1]["average_busbw_gb_per_s"], sum(busbws) / len(busbws), 9)
        average = float(re.search(r"Avg bus bandwidth +: (\S+)", stdout)[1])
        self.assertAlmostEqual(average, sum(busbws) / len(busbws), delta=1e-5 * max(busbws))

    def check_all(self, ranks):
        for collective in COLLECTIVES:
            if collective == "hypercube" and ranks in (3, 5):
                continue
            with self.subTest(collective, ranks=ranks):
                self.check(collective, ranks)

    def test_1_rank(self):
        self.check_all(1)

    def test_2_ranks(self):
        self.check_all(2)

    def test_3_ranks(self):
        self.check_all(3)

    def test_4_ranks(self):
        self.check_all(4)

    def test_5_ranks(self):
        self.check_all(5)

    def test_hypercube_of_no_power_of_two(self):
        for ranks in (3, 5):
            with self.subTest(ranks=ranks):
                self.refused(USAGE, f"hypercube cannot run on {ranks} ranks: the number of ranks must be a power of "
                                    "two, such as 2, 4 or 8", program=program_of("hypercube"), ranks=ranks)

    def test_in_place_where_there_is_none(self):
        for collective in sorted(OUT_OF_PLACE_ONLY):
            with self.subTest(collective):
                self.refused(USAGE, f"{collective} has no in-place form; leave out --placement in", "--placement", "in",
                             program=program_of(collective))

    def test_other_ways_to_measure(self):
        ways = (["--timing", "isolated"], ["--buffers", "rotate"], ["-u", 3], ["-m", 4], ["-z", 1], ["-c", 2])
        for collective in COLLECTIVES:
            for way in ways:
                with self.subTest(collective, way=way):
                    stdout = self.run_well("-b", 4096, "-e", 65536, "-f", 16, "-n", 4, *way, ranks=2,
                                           program=program_of(collective)).stdout
                    self.assertIn("# Out of bounds values : 0 OK\n", stdout)

    def test_with_epochs(self):
        for collective in COLLECTIVES:
            with self.subTest(collective):
                stdout = self.run_well("-b", 4096, "-e", 4096, "--time-budget", 0.02, program=program_of(collective),
                                       ranks=4).stdout
                self.assertIn("# Out of bounds values : 0 OK\n", stdout)
                self.assertIn("# Precision: 95 % interval", stdout)


class Sources(ProgramTest):  # 1 rank, 1 s

    def test_a_collective_is_one_short_file(self):
        for collective in COLLECTIVES:
            lines = (SOURCES / "collectives" / f"{collective}.cpp").read_text().splitlines()
            self.assertLessEqual(len(lines), 60, collective)
        self.assertEqual({file.stem for file in (SOURCES / "collectives").iterdir()}, set(COLLECTIVES))

    def test_and_one_word_in_cmake(self):
        text = (SOURCES / "CMakeLists.txt").read_text()
        for collective in COLLECTIVES:
            self.assertEqual(len(re.findall(rf"\b{collective}\b", text)), 1, collective)


class Roots(ProgramTest):  # 3 ranks, 1 s

    def roots_of(self, collective, *arguments, **how):
        stdout = self.run_well("-b", 4096, "-e", 8192, "-f", 2, "-n", 2, *arguments, program=program_of(collective),
                               **how).stdout
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        return [int(row[4]) for row in rows(stdout)]

    def test_one_root(self):
        for collective in sorted(ROOTED):
            with self.subTest(collective):
                self.assertEqual(self.roots_of(collective, "-r", 2, ranks=3), [2, 2])

    def test_every_root(self):
        for collective in sorted(ROOTED):
            for spelling in ("all", "-1"):
                with self.subTest(collective, spelling=spelling):
                    self.assertEqual(self.roots_of(collective, "-r", spelling, ranks=3), [0, 0, 1, 1, 2, 2])

    def test_every_root_of_the_smallest_group(self):
        """Ranks 0 and 2 are one group, rank 1 the other: both have a rank 0 only."""
        self.assertEqual(self.roots_of("broadcast", "-r", "all", "--split", "MOD 2", ranks=3), [0] * 4)
        self.refused(USAGE, "-r 1 is not a rank: there is 1 rank in the smallest group, and the first is 0",
                     "-r", 1, "--split", "MOD 2", program=program_of("broadcast"), ranks=3)

    def test_no_such_root(self):
        for collective in sorted(ROOTED):
            with self.subTest(collective):
                self.refused(USAGE, "-r 2 is not a rank: there are 2 ranks, and the first is 0", "-r", 2,
                             program=program_of(collective))


class Shares(ProgramTest):  # 5 ranks, 1 s
    """Sizes of which nothing is left for some rank are no rows of 0 bytes."""

    def test_a_skipped_row(self):
        reason = "3 ranks share it in parts of 16 bytes, which takes 48 bytes at least"
        for collective in sorted(SHARED - {"hypercube"}):
            with self.subTest(collective):
                stdout, lines = self.run_json("-b", 8, "-e", 512, "-f", 8, "-n", 2, ranks=3,
                                              program=program_of(collective))
                reduction = " sum" if collective in REDUCING else ""
                self.assertIn(f"\n# skipped: 8 bytes, float{reduction}: {reason}\n", stdout)
                first, *others = [line for line in lines if line["kind"] == "row"]
                self.assertEqual((first["size_bytes"], first["skipped"]), (8, reason))
                self.assertEqual((first["out_of_place"], first["in_place"]), (None, None))
                self.assertEqual([row["skipped"] for row in others], [None, None])
                self.assertEqual(len(rows(stdout)), 2)

    def test_skipped_for_every_datatype_and_root(self):
        stdout = self.run_well("-b", 8, "-e", 64, "-f", 8, "-n", 1, "-r", "all", ranks=3,
                               program=program_of("gather")).stdout
        self.assertEqual(stdout.count("# skipped: 8 bytes, "), 3)
        self.assertEqual(len(rows(stdout)), 3)

    def test_nothing_but_skipped_rows(self):
        for collective in sorted(SHARED - {"hypercube"}):
            with self.subTest(collective):
                self.refused(USAGE, f"no size from --min-bytes 8 to --max-bytes 64 is enough for {collective}: 5 ranks "
                                    "share it in parts of 16 bytes, which takes 80 bytes at least; raise --max-bytes",
                             "-b", 8, "-e", 64, "-f", 2, program=program_of(collective), ranks=5)

    def test_the_least_size_is_enough(self):
        stdout = self.run_well("-b", 80, "-e", 80, "-n", 2, program=program_of("all_gather"), ranks=5).stdout
        self.assertEqual([row[:2] for row in rows(stdout)], [["80", "4"]])

    def test_sizes_that_round_to_the_same_are_one(self):
        stdout = self.run_well("-b", 48, "-e", 96, "-i", 16, "-n", 2, program=program_of("all_gather"), ranks=3).stdout
        self.assertEqual([row[0] for row in rows(stdout)], ["48", "96"])

    def test_nothing_is_asked_for(self):
        """-b 0 is a row: the operation without data."""
        for collective in COLLECTIVES:
            with self.subTest(collective):
                stdout = self.run_well("-b", 0, "-e", 0, "-n", 2, program=program_of(collective)).stdout
                self.assertEqual([row[:2] for row in rows(stdout)], [["0", "0"]])
