"""--record, --baseline, and `fabricbench compare`."""

import json
import subprocess
import threading

from launch import PROGRAMS
from recording import SIZES, BaselineTest, lines_of
from schema import validate


class Record(BaselineTest):  # 2 ranks, 6 s

    def test_each_run_adds_a_launch_with_its_rows(self):
        self.assertIn(f"# Recorded in {self.baseline}: launch 1\n", self.record().stdout)
        self.assertIn(f"# Recorded in {self.baseline}: launch 2\n", self.record("--label", "again", "--quiet").stdout)
        lines = lines_of(self.baseline)
        validate(lines)
        self.assertEqual([line["kind"] for line in lines], ["baseline"] + 2 * (["launch"] + 4 * ["row_times"]))
        self.assertEqual(lines[0]["launches"], 2)
        self.assertEqual([line["label"] for line in lines if line["kind"] == "launch"], [None, "again"])
        self.assertEqual({line["size_bytes"] for line in lines if line["kind"] == "row_times"}, {1024, 4096})

    def test_a_run_that_fails_is_not_recorded(self):
        result = self.run_program(*SIZES, "--record", self.baseline, "--min-bw", 1e6)
        self.assertEqual(result.status, 6)
        self.assertIn(f"# Not recorded in {self.baseline}: the run failed\n", result.stdout)
        self.assertFalse(self.baseline.exists())

    def test_files_that_are_no_baseline_are_refused_before_anything_is_measured(self):
        self.baseline.write_text("size,time\n")
        result = self.run_program(*SIZES, "--record", self.baseline)
        self.assertEqual((result.status, result.stdout), (7, ""))
        self.assertIn(f"{self.baseline}:1: this is no baseline line", result.stderr)
        self.assertEqual(self.baseline.read_text(), "size,time\n")

    def test_two_jobs_at_once_lose_nothing(self):
        jobs = [threading.Thread(target=self.launch_program, args=(*SIZES, "--record", self.baseline),
                                 kwargs={"ranks": 1}) for _ in range(2)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        self.assertEqual(lines_of(self.baseline)[0]["launches"], 2)
        self.assertEqual([file.name for file in self.directory.iterdir()], [self.baseline.name])


    def test_a_run_on_a_busy_host_is_recorded_and_compared_with_nothing(self):
        result = self.run_program(*SIZES, "--record", self.baseline, FAKE_PROCESSOR_WAIT="0.63")
        self.assertEqual(result.status, 0, result.stderr)
        self.assertIn(f"# Recorded in {self.baseline}: launch 1, with which nothing is compared: ranks waited for a processor",
                      result.stdout)
        validate(lines_of(self.baseline))
        self.baseline.unlink()
        self.make_baseline(0.01)
        out = self.directory / "run.jsonl"
        result = self.run_program(*SIZES, "--baseline", self.baseline, "--json", out, FAKE_PROCESSOR_WAIT="0.63")
        self.assertEqual(result.status, 7, result.stdout)
        self.assertIn("all_reduce_perf: ranks waited for a processor 63 % of the time: ", result.stderr)
        result = self.fabricbench("compare", self.baseline, out)
        self.assertEqual(result.status, 7, result.stdout)
        self.assertIn("ranks waited for a processor 63 % of the time: ", result.stdout)


class Baseline(BaselineTest):  # 2 ranks, 8 s

    def test_a_slow_run_exits_with_6_and_is_not_recorded(self):
        self.make_baseline(0.01)
        before = self.baseline.read_text()
        result = self.against_baseline("--json", self.directory / "run.jsonl", "--record", self.baseline)
        self.assertEqual(result.status, 6, result.stderr)
        self.assertRegex(result.stderr, r"all_reduce_perf: 4 of 4 rows slower than the baseline, the worst takes \S+ times")
        self.assertRegex(result.stdout, r"\n# +4096 +float sum out .* slower\n")
        self.assertIn("Not recorded", result.stdout)
        self.assertEqual(self.baseline.read_text(), before)
        lines = lines_of(self.directory / "run.jsonl")
        validate(line for line in lines if line["kind"] != "context")
        compared = [line for line in lines if line["kind"] == "row_comparison"]
        self.assertEqual([line["verdict"] for line in compared], ["slower"] * 4)
        self.assertEqual([line["exit_status"] for line in lines if line["kind"] == "baseline_comparison"], [6])
        self.assertEqual(lines[-1]["exit_status"], 6)

    def test_a_fast_run_passes(self):
        self.make_baseline(100)
        result = self.against_baseline()
        self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertIn("no row is slower than the baseline, and 4 of 4 rows faster; ", result.stdout)

    def test_few_launches_are_not_judged(self):
        self.make_baseline(0.01, launches=4)
        result = self.against_baseline()
        self.assertEqual(result.status, 7)
        self.assertIn("the baseline has 4 comparable launches, too few to know its noise", result.stderr)

    def test_another_set_up_is_refused_unless_it_is_allowed(self):
        self.make_baseline(100)
        result = self.against_baseline("--unalign", 1)
        self.assertEqual(result.status, 7)
        self.assertIn("these differ: option unalign", result.stderr)
        self.assertIn("# Differs: option unalign was '0', is '1'\n", result.stdout)
        allowed = self.against_baseline("--unalign", 1, "--allow", "option unalign")
        self.assertEqual(allowed.status, 0, allowed.stderr)
        self.assertIn("# Allowed: option unalign was '0', is '1'\n", allowed.stdout)

    def test_options_of_the_comparison_need_a_baseline(self):
        self.refused(2, "--allow and --detect are for the comparison with a baseline; give its file with --baseline",
                     *SIZES, "--detect", 3)

    def test_rows_that_are_missing_do_not_pass(self):
        self.make_baseline(100)
        result = self.run_program("-b", 1024, "-e", 1024, "--time-budget", 0.01, "--baseline", self.baseline)
        self.assertEqual(result.status, 7)
        self.assertIn("2 of 4 rows of the baseline have no figure in this run", result.stderr)
        self.assertIn("# Missing: 4 KiB float sum in; 4 KiB float sum out\n", result.stdout)

    def test_baselines_that_cannot_be_read(self):
        result = self.against_baseline()
        self.assertEqual((result.status, result.stdout), (3, ""))
        self.assertIn(f"cannot read the baseline '{self.baseline}'", result.stderr)
        self.make_baseline(1)
        self.baseline.write_bytes(self.baseline.read_bytes()[:-30])
        result = self.against_baseline()
        self.assertEqual((result.status, result.stdout), (7, ""))
        self.assertIn("the file is cut off", result.stderr)


def with_other_medians(line):
    """The line of a row with half its medians, and the same epochs."""
    record = json.loads(line)
    if record["kind"] != "row":
        return line
    for place in ("out_of_place", "in_place"):
        record[place]["time_us_median"] /= 2
    return json.dumps(record) + "\n"


class Compare(BaselineTest):  # 2 ranks, 6 s

    def run_into(self, name):
        file = self.directory / name
        self.run_well(*SIZES, "--json", file)
        return file

    def test_runs_beside_a_baseline(self):
        self.make_baseline(0.01)
        runs = [self.run_into(f"run{i}.jsonl") for i in range(3)]
        out = self.directory / "comparison.jsonl"
        result = self.fabricbench("compare", self.baseline, *runs, "--json", out)
        self.assertEqual((result.status, result.stderr), (6, ""))
        self.assertTrue(result.stdout.startswith(f"Baseline {self.baseline}: 9 comparable launches, 3 judged\n"))
        lines = lines_of(out)
        validate(lines)
        self.assertEqual([line["kind"] for line in lines], ["row_comparison"] * 4 + ["baseline_comparison"])
        self.assertEqual(lines[-1]["judged_launches"], 3)

    def test_runs_beside_runs(self):
        old, run = self.run_into("old.jsonl"), self.run_into("run.jsonl")
        result = self.fabricbench("compare", "--old", old, "--old", old, run)
        self.assertEqual((result.status, result.stderr), (7, ""))
        self.assertIn("the baseline has 1 comparable launch, too few to know its noise", result.stdout)
        self.assertIn("the baseline has no launch besides the run's own", self.fabricbench("compare", run, run).stdout)

    def test_inputs_are_not_overwritten(self):
        self.make_baseline(100)
        before = self.baseline.read_text()
        run = self.run_into("run.jsonl")
        result = self.fabricbench("compare", self.baseline, run, "--json", self.baseline, "--force")
        self.assertEqual((result.status, result.stdout), (2, ""))
        result = self.run_program(*SIZES, "--record", self.baseline, "--json", self.baseline, "--force")
        self.assertEqual((result.status, result.stdout), (2, ""))
        self.assertIn("is a baseline, which an output would overwrite", result.stderr)
        self.assertEqual(self.baseline.read_text(), before)

    def test_a_lost_table_is_a_failure(self):
        self.make_baseline(100)
        run = self.run_into("run.jsonl")
        with open("/dev/full", "w", encoding="utf-8") as full:
            status = subprocess.run([PROGRAMS / "fabricbench", "compare", self.baseline, run], stdout=full,
                                    stderr=subprocess.DEVNULL, check=False, timeout=60).returncode
        self.assertEqual(status, 1)

    def test_runs_that_failed_or_never_ended_are_refused(self):
        self.make_baseline(100)
        run = self.run_into("run.jsonl")
        lines = run.read_text().splitlines(keepends=True)
        run.write_text("".join(lines[:-1]))
        result = self.fabricbench("compare", self.baseline, run)
        self.assertEqual((result.status, result.stdout), (7, ""))
        self.assertIn("the run has no `end` line", result.stderr)
        run.write_text("".join(lines).replace('"exit_status":0', '"exit_status":5'))
        self.assertIn("the run failed with exit status 5", self.fabricbench("compare", self.baseline, run).stderr)
        run.write_text("".join(lines).replace('"wrong_elements":0', '"wrong_elements":3'))
        result = self.fabricbench("compare", self.baseline, run)
        self.assertEqual((result.status, result.stdout), (7, ""))
        self.assertIn("has wrong elements, whatever exit status the run says", result.stderr)
        end = lines[-1]
        for old, new, message in (('"wrong_checks":0', '"wrong_checks":4', "4 checks found wrong elements"),
                                  ('"exit_status":0,', "", "(key 'exit_status' is missing)"),
                                  ('"exit_status":0', '"exit_status":null', "(key 'exit_status' has no value)")):
            run.write_text("".join(lines[:-1]) + end.replace(old, new))
            result = self.fabricbench("compare", self.baseline, run)
            self.assertEqual((result.status, result.stdout), (7, ""))
            self.assertIn(message, result.stderr)
        run.write_text("".join(with_other_medians(line) for line in lines))
        self.assertIn(", and the median of its epochs is ", self.fabricbench("compare", self.baseline, run).stderr)
        run.write_text("".join(lines).replace('"schema_version":1', '"schema_version":99'))
        self.assertIn("schema_version is 99", self.fabricbench("compare", self.baseline, run).stderr)

    def test_what_is_wrong_is_said_in_one_line(self):
        self.make_baseline(100)
        for status, message, arguments in (
                (2, "there is no program or command 'comapre'; the nearest is compare; 'fabricbench list' has them all",
                 ("comapre",)),
                (2, f"'{self.baseline}' is the baseline, and there is no run; give its file as well",
                 ("compare", self.baseline)),
                (2, "--allow 'host': no launch has such a key; choose from",
                 ("compare", self.baseline, self.baseline, "--allow", "host")),
                (3, "cannot open '/nowhere': No such file or directory", ("compare", self.baseline, "/nowhere")),
                (2, "'nan' is not a number; --detect is", ("compare", self.baseline, "x", "--detect", "nan")),
                (3, f"'{self.directory}' is no regular file", ("compare", self.baseline, self.directory)),
                (7, f"{self.directory}/empty: the file is empty", ("compare", self.baseline, self.directory / "empty"))):
            (self.directory / "empty").touch()
            result = self.fabricbench(*arguments)
            self.assertEqual(result.status, status, result.stderr)
            self.assertTrue(result.stderr.startswith(f"fabricbench: {message}"), result.stderr)
            self.assertEqual((result.stdout, result.stderr.count("\n")), ("", 1))

    def test_help_lists_the_commands(self):
        result = self.fabricbench("--help")
        self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertIn("\n  compare    compare runs with baselines or with other runs\n", result.stdout)
        self.assertRegex(self.fabricbench("--version").stdout, r"^fabricbench [\d.]+\n$")
