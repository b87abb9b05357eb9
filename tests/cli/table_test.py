"""`fabricbench table`: the table of a run from its record."""

import re
import subprocess

from launch import PROGRAMS, ProgramTest, fault

MISSING, TIMEOUT, NOT_JUDGED, USAGE = 3, 4, 7, 2
FABRICBENCH = PROGRAMS / "fabricbench"
SIZES = ("-b", 1024, "-e", 4096, "-f", 2, "--time-budget", 0.02)
PROGRAMS_AND_ARGUMENTS = [
    ("all_reduce_perf", *SIZES, "-o", "all"),
    ("all_gather_perf", *SIZES, "-S", 1),
    ("broadcast_perf", *SIZES[:6], "-n", 5),
    ("send_recv_lat", *SIZES),
    ("send_recv_bibw", *SIZES),
    ("tcp_bw", *SIZES),
    ("tcp_bibw", *SIZES),
    ("multi_pair_bw", *SIZES),
    ("pairwise_bw", "--time-budget", 0.01, "-b", 4096),
]


class Table(ProgramTest):  # 4 ranks, 9 s

    def table(self, *arguments, input_text=None):
        return subprocess.run([FABRICBENCH, "table", *map(str, arguments)], input=input_text, capture_output=True, text=True,
                              timeout=60, check=False)

    def record(self, program, *arguments, ranks=2):
        """A record, and what the program printed."""
        self.file = self.directory / f"{program}.jsonl"
        return self.run_well(*arguments, "--json", self.file, "--force", "--quiet", program=str(PROGRAMS / program),
                             ranks=ranks).stdout

    def test_is_the_programs_own(self):
        for program, *arguments in PROGRAMS_AND_ARGUMENTS:
            with self.subTest(program):
                printed = self.record(program, *arguments)
                result = self.table(self.file, "--quiet")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(result.stdout, printed)

    def test_heading_has_the_command(self):
        self.record("all_reduce_perf", *SIZES)
        first = self.table(self.file).stdout.splitlines()[0]
        self.assertRegex(first, r"^# \S*all_reduce_perf -b 1024 .*; ranks: 2, hosts: 1; \S")

    def test_of_groups(self):
        printed = self.record("all_reduce_perf", *SIZES, "--split", "MOD 2", ranks=4)
        self.assertEqual(self.table(self.file, "--quiet").stdout, printed)

    def test_csv(self):
        csv = self.directory / "run.csv"
        for program in ("all_reduce_perf", "tcp_bibw"):
            self.record(program, *SIZES, "--csv", csv)
            self.assertEqual(self.table(self.file, "--form", "csv").stdout, csv.read_text())

    def test_perftest(self):
        self.record("send_recv_bw", *SIZES)
        lines = self.table(self.file, "--form", "perftest", "--quiet").stdout.splitlines()
        self.assertRegex(lines[0], r"^ #bytes +#iterations +BW peak\[MiB/sec\]")
        self.assertEqual([line.split()[0] for line in lines[1:4]], ["1024", "2048", "4096"])

    def test_statistics(self):
        self.record("all_reduce_perf", *SIZES)
        self.assertIn("\n# Statistics: times in us of one operation\n", self.table(self.file, "--stats").stdout)

    def test_of_a_run_that_was_killed(self):
        """Its epochs make rows, and half a line is left out."""
        self.record("all_reduce_perf", *SIZES)
        lines = [line for line in self.file.read_text().splitlines(True) if not line.startswith(('{"kind":"row"', '{"kind":"end"'))]
        self.file.write_text("".join(lines) + '{"kind":"row","size_b')
        result = self.table(self.file, "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        _, mark, rows = result.stdout.partition("\n# Cut short: ")
        self.assertTrue(mark, result.stdout)
        self.assertEqual([line.split()[0] for line in rows.splitlines()[1:4]], ["1024", "2048", "4096"])
        self.assertTrue(rows.endswith("\n# Ended early: the record has no end: the run was killed, or is still running\n"))

    def test_of_a_sweep_that_was_killed(self):
        printed = self.record("pairwise_bw", "--time-budget", 0.01, "-b", 4096, ranks=3)
        text = self.file.read_text()
        kinds = ('{"kind":"context"', '{"kind":"reading"')
        self.file.write_text("".join(line for line in text.splitlines(True) if line.startswith(kinds)))
        result = self.table(self.file, "--quiet")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        _, mark, rows = result.stdout.partition("#\n# Cut short: the rows below are of the readings made until then\n")
        self.assertTrue(mark, result.stdout)
        before, _, ending = rows.partition("# Ended early: ")
        self.assertTrue(ending)
        self.assertEqual(before, printed.partition("# Out of bounds")[0] + printed.partition("0 OK\n")[2])

    def test_of_a_sweep_with_pairs_that_timed_out(self):
        file = self.directory / "sweep.jsonl"
        result = self.run_program("--time-budget", 0.01, "-b", 4096, "--pair-timeout", 2, "--json", file, "--quiet", ranks=3,
                                  program=str(PROGRAMS / "pairwise_bw"), variables=fault("message_lost", rank=2, peer=1))
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        self.assertEqual(self.table(file, "--quiet").stdout, result.stdout)

    def test_several_runs_from_standard_input(self):
        printed = self.record("all_reduce_perf", *SIZES)
        result = self.table("-", "--quiet", input_text=2 * self.file.read_text())
        self.assertEqual(result.stdout, f"{printed}\n{printed}")

    def test_run_after_half_a_line(self):
        """The record of a second run was appended to that of one which was killed."""
        printed = self.record("all_reduce_perf", *SIZES)
        whole = self.file.read_text()
        half = "".join(whole.splitlines(True)[:-2]) + '{"kind":"row","size_b'
        result = self.table("-", "--quiet", input_text=half + whole)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        first, mark, second = result.stdout.partition("# Ended early: the record has no end\n")
        self.assertIn("# Cut short: ", first)
        self.assertTrue(mark)
        self.assertEqual(second, f"\n{printed}")

    def test_numbers_of_what_is_not_there(self):
        for program, *arguments in PROGRAMS_AND_ARGUMENTS:
            self.record(program, *arguments)
            whole = self.file.read_text()
            for key in ("from", "endpoint") if program == "pairwise_bw" else ("group",):
                for number in (-1, 99, 2**31 - 1):
                    damaged = re.sub(rf'"{key}":\d+', f'"{key}":{number}', whole)
                    self.assertNotEqual(damaged, whole)
                    with self.subTest(program, key=key, number=number):
                        result = self.table("-", input_text=damaged)
                        self.assertEqual(result.returncode, NOT_JUDGED, result.stderr)
                        self.assertRegex(result.stderr, rf"standard input:\d+: this record is broken \(\w+ {number} does not exist; "
                                                        r"the context has \d+\)")

    def test_figures_beyond_all_figures(self):
        self.record("all_reduce_perf", *SIZES)
        whole = self.file.read_text()
        for key in ("busbw_gb_per_s", "time_us_median", "slowest_rank_share"):
            damaged = re.sub(rf'"{key}":[\d.e+-]+', f'"{key}":1e308', whole)
            self.assertNotEqual(damaged, whole)
            with self.subTest(key):
                result = self.table("-", "--stats", input_text=damaged)
                self.assertEqual(result.returncode, NOT_JUDGED, result.stdout)
                self.assertRegex(result.stderr, rf"standard input:\d+: this record is broken \({key} 1e\+308 is too large for a figure\)")
                self.assertNotIn("inf", result.stdout)

    def test_perftest_of_a_run_that_was_killed(self):
        self.record("send_recv_bw", *SIZES)
        lines = [line for line in self.file.read_text().splitlines(True) if not line.startswith(('{"kind":"row"', '{"kind":"end"'))]
        self.file.write_text("".join(lines))
        result = self.table(self.file, "--quiet", "--form", "perftest")
        _, mark, rows = result.stdout.partition("\n# Cut short: ")
        self.assertTrue(mark, result.stdout)
        self.assertEqual([float(line.split()[-1]) > 0 for line in rows.splitlines()[1:4]], [True] * 3, rows)

    def test_of_a_run_that_did_not_begin(self):
        result = self.table("-", input_text='{"kind":"end","exit_status":143,"reason":"rank 0 on a was ended by SIGTERM"}\n')
        self.assertEqual((result.returncode, result.stderr),
                         (NOT_JUDGED, "fabricbench: standard input: the run ended before it had measured anything: rank 0 on a "
                                      "was ended by SIGTERM\n"))

    def test_refusals(self):
        self.record("all_reduce_perf", *SIZES)
        other = self.directory / "other"
        other.write_text("size,time\n")
        whole = self.directory / "whole"
        whole.write_text(self.file.read_text().replace('"kind":"epoch"', '"kind":"epoch', 1))
        newer = self.directory / "newer"
        newer.write_text(re.sub('"schema_version":[0-9]+', '"schema_version":99', self.file.read_text()))
        empty = self.directory / "empty"
        empty.write_text("")
        for arguments, status, said in (((self.directory / "none",), MISSING, "No such file"),
                                        ((other,), NOT_JUDGED, f"{other}:1: this is no record"),
                                        ((whole,), NOT_JUDGED, ": this is no record"),
                                        ((newer,), NOT_JUDGED, "schema_version is 99, and this program reads up to"),
                                        ((empty,), NOT_JUDGED, "the file is empty"),
                                        ((self.file, "--form", "xml"), USAGE, "'xml' is not a form; choose table, csv or perftest"),
                                        ((self.file, "--form", "perftest"), USAGE,
                                         "all_reduce_perf has no table in perftest's form"),
                                        ((), USAGE, "FILE")):
            with self.subTest(said):
                result = self.table(*arguments)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertIn(said, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
