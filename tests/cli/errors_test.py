"""What cannot be carried out is refused before anything is measured: one line, from rank 0, and a status."""

import csv
import json
import re

from launch import PROGRAMS, ProgramTest, program_of, rows

USAGE = 2
MISSING = 3
TOO_SLOW = 6
NOT_JUDGED = 7

DATATYPES = "int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, f8e4m3, f8e5m2"
GPUS = ("is for NCCL on GPUs, and this would measure MPI, because --backend mpi asks for it; leave it out, and start "
        "more ranks with mpirun -np")

REFUSED = [
    (USAGE, "--no-such-option", "unknown option '--no-such-option'; --help lists them all"),
    (USAGE, "-Q 1", "unknown option '-Q'; --help lists them all"),
    (USAGE, "8M", "stray argument '8M'; --help says what may be given"),
    (USAGE, "-n 5 stray", "stray argument 'stray'; --help says what may be given"),
    (USAGE, "-b abc", "'abc' is not a size; write a number with K, M, G or T, such as 8M"),
    (USAGE, "-b 8x", "'8x' is not a size; write a number with K, M, G or T, such as 8M"),
    (USAGE, "-e 8MX", "'8MX' is not a size; write a number with K, M, G or T, such as 8M"),
    (USAGE, "-b nan", "'nan' is not a size; write a number with K, M, G or T, such as 8M"),
    (USAGE, "-b -1", "'-1' is not a size (it is negative); write a number with K, M, G or T, such as 8M"),
    (USAGE, "-b 1.3", "'1.3' is not a size of whole bytes; write a number with K, M, G or T, such as 8M"),
    (USAGE, "-e 9e30", "'9e30' is not a size that fits in 63 bits; write a number with K, M, G or T, such as 8M"),
    (USAGE, "-b 8 -e 4",
     "the first size, --min-bytes 8, is above the last, --max-bytes 4; raise --max-bytes or lower --min-bytes"),
    (USAGE, "-b 64M",
     "the first size, --min-bytes 64M, is above the last, --max-bytes 32M; raise --max-bytes or lower --min-bytes"),
    (USAGE, "-b 8 -e 64 -i 0",
     "--step-bytes 0 would repeat the first size for ever; give a step such as --step-bytes 1M, or a factor such as "
     "--step-factor 2"),
    (USAGE, "-f 0", "0 is too small; --step-factor is at least 1"),
    (USAGE, "-n 0", "0 is too small; -n (iterations) is at least 1"),
    (USAGE, "-n abc", "'abc' is not a whole number; -n (iterations) is a number such as 2"),
    (USAGE, "-n 99999999999", "99999999999 is too large; -n (iterations) is at most 2147483647"),
    (USAGE, "-a 4", "4 is too large; -a (average) is at most 3"),
    (USAGE, "-z 4", "4 is too large; -z (blocking) is at most 3"),
    (USAGE, "-d complex",
     f"'complex' is not a datatype; choose all or one of {DATATYPES}; -d of OSU is --memory VALUE here"),
    (USAGE, "-x 100", "100 is too large; -x (CTA policy) is at most 2; -x of OSU is --warmup_iters VALUE here"),
    (USAGE, "--minbyte 8", "unknown option '--minbyte'; the nearest is --minbytes; --help lists them all"),
    (USAGE, "-o xor", "'xor' is not a reduction; choose all, sum, prod, min, max, avg or mulsum"),
    (USAGE, "--timing sometimes", "'sometimes' is not a timing mode; choose one of pipelined, isolated"),
    (USAGE, "--timing isolated -z 1",
     "-z is for operations back to back, and --timing isolated times each one separately; leave out one"),
    (USAGE, "-n 5 --epochs 9",
     "-n asks for exactly 5 iterations, and --epochs for as many as needed; leave out one"),
    (USAGE, "-n 5 --target-precision 1",
     "-n asks for exactly 5 iterations, and --target-precision for as many as needed; leave out one"),
    (USAGE, "-n 5 --time-budget 1",
     "-n asks for exactly 5 iterations, and --time-budget for as many as needed; leave out one"),
    (USAGE, "-b 1 -e 2",
     "no size from --min-bytes 1 to --max-bytes 2 holds an element of float, which takes 4 bytes; raise --max-bytes"),
    (USAGE, "--json /no/such/folder/file", "cannot write '/no/such/folder/file': No such file or directory; "
     "give a file in a folder that you may write to"),
    (USAGE, "--csv /", "'/' exists; give another name, or --force to overwrite it"),
    (MISSING, "--backend mpi -g 2", f"-g 2 {GPUS}"),
    (MISSING, "--backend mpi -t 2", f"-t 2 {GPUS}"),
    (MISSING, "--backend mpi -G 1", f"-G 1 {GPUS}"),
    (MISSING, "--backend mpi -R 1", f"-R 1 {GPUS}"),
    (MISSING, "--backend mpi -x 1", f"-x 1 {GPUS}"),
    (MISSING, "--backend mpi -D 1", f"-D 1 {GPUS}"),
    (MISSING, "--backend mpi -p 1", f"-p 1 {GPUS}"),
    (MISSING, "--backend mpi -M 1", "-M 1 reports GPU memory, and the mpi backend uses the host's; leave it out"),
    (MISSING, "-d f8e4m3", "MPI has no f8e4m3; choose another with --datatype or --op"),
    (MISSING, "-o mulsum",
     "MPI has no mulsum, a sum of values that are multiplied first; choose another with --datatype or --op"),
    (USAGE, "--memory disk", "'disk' is not a memory; choose one of auto, host, cuda"),
    (USAGE, "-G 1 -z 1",
     "-G launches many iterations at once, and -I, -z and --timing isolated time them separately; leave out one"),
    (USAGE, "--backend nccl --memory host",
     "NCCL works on GPU memory only; leave out --memory host, or take --backend mpi"),
]


class Refusals(ProgramTest):  # 2 ranks, 1 s

    def check(self, result, status, message):
        self.assertEqual(result.status, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(self.own_lines(result), [f"all_reduce_perf: {message}"])

    def test_command_lines(self):
        for status, line, message in REFUSED:
            with self.subTest(line):
                self.check(self.run_program(*line.split()), status, message)

    def test_more_memory_than_there_is(self):
        result = self.run_program("-b", "1T", "-e", "1T")
        self.assertEqual((result.status, result.stdout), (MISSING, ""))
        self.assertEqual(len(self.own_lines(result)), 1)
        self.assertRegex(
            self.own_lines(result)[0],
            r"the smallest message, 1 TiB, needs 2\.0 TiB per rank for 2 buffers, but only [\d.]+ [MG]iB per rank is "
            r"available; lower --min-bytes, run fewer ranks on a host, or free memory$")

    def test_gpus_where_there_are_none(self):
        for arguments, asked in ((("--backend", "nccl"), "--backend nccl: "),
                                 (("--backend", "mpi", "--memory", "cuda"), "")):
            with self.subTest(arguments):
                result = self.run_program(*arguments)
                self.assertEqual((result.status, result.stdout), (MISSING, ""))
                self.assertEqual(len(self.own_lines(result)), 1, result.stderr)
                self.assertRegex(self.own_lines(result)[0], f"^all_reduce_perf: {asked}.*(CUDA|GPU|NVIDIA)")

    def test_existing_output_file(self):
        for option in ("--json", "--csv", "-J"):
            with self.subTest(option):
                file = self.directory / "results"
                file.write_text("of last week\n")
                result = self.run_program("-b", 8, "-e", 8, "-n", 1, option, file)
                self.check(result, USAGE, f"'{file}' exists; give another name, or --force to overwrite it")
                self.assertEqual(file.read_text(), "of last week\n")
                self.run_well("-b", 8, "-e", 8, "-n", 1, option, file, "--force")
                self.assertNotIn("of last week", file.read_text())

    def test_a_refused_command_line_makes_no_file(self):
        file = self.directory / "results"
        for others in (("-n", 0), ("-g", 2), ("--csv", "/no/such/folder/file")):
            with self.subTest(others):
                self.run_program("--json", file, *others)
                self.assertFalse(file.exists())

    def test_standard_output_as_a_file(self):
        """The table makes room."""
        for option, begins in (("--json", '{"kind":"context"'), ("--csv", "size_bytes,"), ("-J", "{")):
            with self.subTest(option):
                result = self.run_program("-b", 8, "-e", 8, "-n", 1, option, "-")
                self.assertEqual(result.status, 0, result.stderr)
                self.assertTrue(result.stdout.startswith(begins), result.stdout)
                self.assertNotIn("#", result.stdout.splitlines()[0])
                self.assertIn("# Avg bus bandwidth", result.stderr)
        result = self.run_program("-b", 8, "-e", 8, "-n", 1, "--json", "-", "--csv", "-")
        self.check(result, USAGE, "'-' is given for two outputs; give each its own file")

    def test_two_outputs_in_one_file(self):
        file = self.directory / "results"
        result = self.run_program("-b", 8, "-e", 8, "-n", 1, "--json", file, "--csv", file, "--force")
        self.assertEqual(result.status, USAGE)


OVER_RDMA = [
    ("rdma_cm_connect", "-n 7 --parallel 8",
     "--parallel 8 makes more connections at the same time than -n 7 asks for; lower it, or raise -n"),
    ("rdma_cm_connect", "--parallel 0", "0 is too small; --parallel is at least 1"),
    ("rdma_cm_connect", "--parallel 1000 -s 1M -C 2",
     "-C 2 messages of -s 1M, on 1000 connections at the same time, are more than the 1 GiB that there is room for; "
     "lower one of them"),
    ("rdma_cm_connect", "--background bw", "unknown option '--background'; "),
    ("rdma_write_bw", "--background bw", "unknown option '--background'; "),
    ("rdma_write_lat", "--background lat", "'lat' is not a load; choose one of none, bw"),
    ("rdma_write_lat", "--background-sl 1",
     "--background-sl and --background-tclass are for the stream of --background bw; add it, or leave them out"),
]


class OverRdma(ProgramTest):  # 2 ranks, 1 s

    def test_command_lines(self):
        if not (PROGRAMS / "rdma_cm_connect").exists():
            self.skipTest("built without RDMA verbs")
        for program, line, message in OVER_RDMA:
            with self.subTest(f"{program} {line}"):
                result = self.run_program(*line.split(), program=PROGRAMS / program)
                self.assertEqual((result.status, result.stdout), (USAGE, ""), result.stderr)
                said, = (text for text in result.stderr.splitlines() if text.startswith(f"{program}: "))
                self.assertTrue(said.startswith(f"{program}: {message}"), said)


class Accepted(ProgramTest):  # 3 ranks, 1 s

    def test_neutral_values_of_gpu_options(self):
        self.run_well("-b", 8, "-e", 8, "-n", 1, "-g", 1, "-t", 1, "-G", 0, "-R", 0, "-x", -1, "-p", 0, "-V", 16)

    def test_factor_of_one_adds(self):
        stdout = self.run_well("-b", 8, "-e", 32, "-f", 1, "-i", 8, "-n", 1).stdout
        self.assertEqual([row[0] for row in rows(stdout)], ["8", "16", "24", "32"])
        self.assertIn("step: 8(bytes)", stdout)

    def test_root_all(self):
        self.run_well("-b", 8, "-e", 8, "-n", 1, "-r", "all")

    def test_the_last_of_two_counts(self):
        stdout = self.run_well("-b", 8, "-e", 8, "-n", 1, "-b", 4).stdout
        self.assertIn("minBytes 4 ", stdout)

    def test_help_is_printed_once(self):
        for option in ("--help", "-h"):
            stdout = self.run_well(option, ranks=3).stdout
            self.assertEqual(stdout.count("print this help and exit"), 1)
            for line in ("Message sizes:", "-b, --minbytes SIZE", "[32M]", "NCCL_TESTS_MIN_BW"):
                self.assertIn(line, stdout)

    def test_version_is_printed_once(self):
        stdout = self.run_well("--version", ranks=3).stdout
        self.assertRegex(stdout, re.compile(r"\Aall_reduce_perf \(fabricbench\) \d+\.\d+\.\d+\n\Z"))


class RequiredBandwidth(ProgramTest):  # 2 ranks, 1 s

    def average_line(self, result):
        return next(line for line in result.stdout.splitlines() if line.startswith("# Avg bus bandwidth"))

    def run_with(self, value, *arguments):
        return self.run_program("-b", "4K", "-e", "4K", "-n", 10, *arguments, NCCL_TESTS_MIN_BW=value)

    def test_no_number(self):
        result = self.run_with("abc")
        self.assertEqual((result.status, result.stdout), (USAGE, ""))
        self.assertEqual(self.own_lines(result),
                         ["all_reduce_perf: 'abc' is not a number; --min-bw is a number such as 10"])

    def test_reached(self):
        result = self.run_with("0.000001")
        self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertRegex(self.average_line(result), r" : [\d.e-]+ OK$")

    def test_missed(self):
        result = self.run_with("1e6")
        self.assertEqual(result.status, TOO_SLOW)
        self.assertRegex(self.average_line(result), r" : [\d.e-]+ FAILED$")
        self.assertRegex(self.own_lines(result)[0],
                         r"^all_reduce_perf: The average busbw, [\d.e-]+ GB/s, is below 1000000 GB/s, which --min-bw requires$")
        self.assertEqual(len(self.own_lines(result)), 1)

    def test_of_a_busy_host(self):
        out = self.directory / "run.jsonl"
        for required in ("0.000001", "1e6"):
            result = self.run_program("-b", "4K", "-e", "4K", "-n", 10, "--min-bw", required, "--json", out, "--csv", out.with_suffix(".csv"),
                                      "--force", variables={"FAKE_PROCESSOR_WAIT": "0.63"})
            reason = "ranks waited for a processor 63 % of the time: these are not figures of the network"
            self.assertEqual(result.status, NOT_JUDGED, result.stderr)
            self.assertEqual(self.own_lines(result), [f"all_reduce_perf: {reason}"])
            self.assertIn(f"# Note: In all measurements {reason}; ", result.stdout)
            row = next(line for line in map(json.loads, out.read_text().splitlines()) if line["kind"] == "row")
            for place in ("out_of_place", "in_place"):
                self.assertAlmostEqual(row[place]["processor_wait_share"], 0.63, places=2)
            for line in csv.DictReader(out.with_suffix(".csv").read_text().splitlines()):
                self.assertAlmostEqual(float(line["processor_wait_share"]), 0.63, places=2)

    def test_of_pairs(self):
        for program in ("send_recv_bw", "send_recv_bibw", "tcp_bw", "tcp_bibw"):
            for required, status in ((1e-6, 0), (1e6, TOO_SLOW)):
                with self.subTest((program, required)):
                    result = self.run_program("-b", "4K", "-e", "4K", "-n", 10, "--min-bw", required,
                                              program=str(PROGRAMS / program))
                    self.assertEqual(result.status, status, result.stderr)
                    if status:
                        self.assertIn("is below 1000000 GB/s, which --min-bw requires\n", result.stderr)

    def test_of_one_rank_and_of_barriers(self):
        for arguments in ({"ranks": 1}, {"program": program_of("barrier")}):
            with self.subTest(arguments):
                result = self.run_program("-n", 5, "-b", 1024, "-e", 1024, "--min-bw", 1, **arguments)
                self.assertEqual(result.status, NOT_JUDGED, result.stderr)
                self.assertIn("The busbw is 0 by definition, as of one rank and of barriers, so --min-bw could not be judged\n",
                              result.stderr)

    def test_the_option_goes_before_the_variable(self):
        self.assertEqual(self.run_with("1e6", "--min-bw", "0.000001").status, 0)
