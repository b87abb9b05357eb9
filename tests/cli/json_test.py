"""--json, --csv and -J: what they hold, their schema, and the page that documents them."""

import json
import re
from pathlib import Path

import jsonschema

from launch import COLLECTIVES, ProgramTest, fault, program_of
from schema import SCHEMA, validate

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "output.md").read_text()

SWEEP = ("-b", 1024, "-e", 4096, "-f", 4)
MODES = {
    "epochs": (*SWEEP, "--time-budget", 0.05),
    "iterations": (*SWEEP, "-n", 5),
    "samples": (*SWEEP, "--time-budget", 0.05, "--samples"),
    "isolated": (*SWEEP, "--time-budget", 0.05, "--timing", "isolated", "--samples"),
    "many samples": ("-b", 8, "-e", 8, "-n", 3000, "--timing", "isolated", "--placement", "out"),
    "one placement": (*SWEEP, "-n", 5, "--placement", "in"),
    "unchecked": (*SWEEP, "-n", 5, "-c", 0),
    "nothing": ("-b", 0, "-e", 0, "-n", 5),
    "a notice": ("-b", 1, "-e", 8, "-f", 2, "-n", 1, "-d", "all", "-o", "all"),
    "fast enough": (*SWEEP, "-n", 5, "--min-bw", 0.000001),
    "groups": (*SWEEP, "-n", 5, "--split", "MOD 2"),
    "too slow": (*SWEEP, "-n", 5, "--min-bw", 1e6),
}


def keys_of(schema):
    """Every key that the schema knows of."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == "properties":
                yield from value
            yield from keys_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys_of(value)


class Json(ProgramTest):  # 3 ranks, 8 s

    def lines(self, *arguments, **how):
        file = self.directory / "out.json"
        result = self.run_program(*arguments, "--json", file, "--force", **how)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        validate(lines)
        for line in {line["kind"]: line for line in lines}.values():  # one of each kind is of that alone
            jsonschema.Draft7Validator(SCHEMA).validate(line)
        self.assertEqual([line["kind"] for line in lines[:1] + lines[-1:]], ["context", "end"])
        self.assertEqual(lines[-1]["exit_status"], result.status)
        return lines

    def measurements(self, lines):
        rows = [line for line in lines if line["kind"] == "row"]
        found = [(row, row[placement]) for row in rows for placement in ("out_of_place", "in_place") if row[placement]]
        self.assertGreater(len(found), 0)
        return found

    def test_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_schema_refuses_unknown_and_missing_keys(self):
        end = self.lines(*MODES["iterations"])[-1]
        validator = jsonschema.Draft7Validator(SCHEMA)
        self.assertFalse(validator.is_valid({**end, "another": 1}))
        self.assertFalse(validator.is_valid({key: value for key, value in end.items() if key != "reason"}))

    def test_every_mode_follows_the_schema(self):
        for name, arguments in MODES.items():
            with self.subTest(name):
                kinds = {line["kind"] for line in self.lines(*arguments)}
                self.assertEqual(kinds, {"context", "epoch", "row", "end"})

    def test_every_program_follows_the_schema(self):
        for collective in COLLECTIVES:
            with self.subTest(collective):
                lines = self.lines("-b", 8, "-e", 512, "-f", 8, "-n", 2, "--samples", program=program_of(collective))
                self.assertEqual(lines[0]["program"], f"{collective}_perf")

    def test_ranks_and_groups(self):
        lines = self.lines(*MODES["groups"], ranks=3)
        self.assertEqual([group["ranks"] for group in lines[0]["groups"]], ["0, 2", "1"])
        self.assertEqual([(place["group"], place["group_rank"]) for place in lines[0]["rank_map"]],
                         [(0, 0), (1, 0), (0, 1)])
        for row, measured in self.measurements(lines):
            self.assertEqual(len(measured["rank_times_us"]), [2, 1][row["group"]])
            self.assertLessEqual(measured["slowest_rank"], [1, 0][row["group"]])
        self.assertEqual({line["group"] for line in lines if line["kind"] == "epoch"}, {0, 1})

    def test_time_of_each_rank(self):
        """One sample each, so the slowest rank's own time is the row's."""
        for _, measured in self.measurements(self.lines(*MODES["iterations"], ranks=3)):
            times = measured["rank_times_us"]
            self.assertEqual(len(times), 3)
            self.assertEqual(max(times), times[measured["slowest_rank"]])
            self.assertAlmostEqual(max(times), measured["time_us_median"], 6)

    def test_figures_fit_together(self):
        for name in ("epochs", "samples", "isolated", "iterations"):
            with self.subTest(name):
                lines = self.lines(*MODES[name])
                for row, measured in self.measurements(lines):
                    time_us = measured["time_us_median"]
                    self.assertAlmostEqual(measured["algbw_gb_per_s"] * time_us * 1e3 / row["size_bytes"], 1, 9)
                    self.assertAlmostEqual(measured["busbw_gb_per_s"], measured["algbw_gb_per_s"], 9)
                    self.assertLessEqual(measured["time_us_min"], time_us)
                    self.assertLessEqual(time_us, measured["time_us_max"])
                    self.assertEqual(measured["samples"], len(measured.get("samples_us", [0] * measured["samples"])))
                    if interval := measured["time_us_interval"]:
                        self.assertLessEqual(interval["low_us"], time_us)
                        self.assertLessEqual(time_us, interval["high_us"])
                self.assertEqual(sum(measured["epochs"] for _, measured in self.measurements(lines)),
                                 len([line for line in lines if line["kind"] == "epoch"]))

    def test_percentiles_need_their_samples(self):
        for iterations, known in ((250, (False, False)), (2900, (True, False)), (3000, (True, True))):
            with self.subTest(iterations=iterations):
                lines = self.lines("-b", 8, "-e", 8, "-n", iterations, "--timing", "isolated", "--placement", "out", "-c", 0)
                for _, measured in self.measurements(lines):
                    enough = (measured["samples"] >= 299, measured["samples"] >= 2995)
                    given = (measured["time_us_p99"] is not None, measured["time_us_p999"] is not None)
                    self.assertEqual(given, enough)
                    if measured["late_starts"] == 0:
                        self.assertEqual(enough, known)

    def test_context(self):
        context = self.lines(*MODES["iterations"], ranks=3)[0]
        self.assertEqual((context["ranks"], len(context["rank_map"]), len(context["hosts"])), (3, 3, 1))
        self.assertEqual([place["local_rank"] for place in context["rank_map"]], [0, 1, 2])
        self.assertEqual((context["options"]["minbytes"], context["options"]["iters"]), ("1K", "5"))
        self.assertIn("-n", context["command_line"])

    def test_wrong_data(self):
        lines = self.lines("-b", 4096, "-e", 4096, "-n", 5, "--placement", "out", variables=fault("half", rank=1))
        self.assertEqual([measured["wrong_elements"] for _, measured in self.measurements(lines)], [1])
        self.assertEqual((lines[-1]["exit_status"], lines[-1]["wrong_checks"]), (5, 1))
        self.assertRegex(" ".join(lines[-1]["notes"]), r"rank 1: first at element \d+: expected \S+, got \S+")

    def test_nothing_of_the_environment_gets_out(self):
        files = [self.directory / name for name in ("a.json", "b.csv", "c.json")]
        result = self.run_program(*MODES["iterations"], "--json", files[0], "--csv", files[1], "-J", files[2],
                                  MY_SECRET_TOKEN="hunter2", AWS_SECRET_ACCESS_KEY="hunter3", OMP_NUM_THREADS="1")
        written = result.stdout + "".join(file.read_text() for file in files)
        self.assertIn("OMP_NUM_THREADS", written)
        for secret in ("MY_SECRET_TOKEN", "hunter"):
            self.assertNotIn(secret, written)
        # What Open MPI's launcher tells its own processes: addresses, and the key of the job's transports.
        for private in ("tcp://", "precondition_transports", "_uri"):
            self.assertNotIn(private, written)


class NcclTestsJson(ProgramTest):  # 2 ranks, 1 s

    def test_layout(self):
        file = self.directory / "out.json"
        self.run_well(*MODES["iterations"], "-J", file)
        document = json.loads(file.read_text())
        self.assertEqual(list(document), ["version", "start_time", "args", "env", "nccl_version", "config", "results",
                                          "out_of_bounds", "average_bus_bandwidth", "errors", "end_time"])
        self.assertEqual((document["version"], len(document["config"]["devices"])), (3, 2))
        self.assertEqual(document["average_bus_bandwidth"]["okay"], "unchecked")
        for result in document["results"]:
            self.assertEqual(set(result), {"size", "count", "type", "redop", "root", "out_of_place", "in_place",
                                           "actual_iterations", "experiment_name"})
            self.assertEqual(set(result["in_place"]), {"time", "alg_bw", "bus_bw", "nwrong"})

    def test_cpu_time(self):
        file = self.directory / "out.json"
        self.run_well(*MODES["iterations"], "-C", 1, "-J", file)
        self.assertIn("cpu_time", json.loads(file.read_text())["results"][0]["in_place"])


class Page(ProgramTest):  # 2 ranks, 2 s
    """docs/output.md leaves nothing out."""

    def test_every_key_of_the_schema(self):
        missing = {key for key in keys_of(SCHEMA) if f"`{key}`" not in PAGE}
        self.assertEqual(missing, set())

    def test_every_key_of_nccl_tests_json(self):
        file = self.directory / "out.json"
        self.run_well(*MODES["iterations"], "-J", file)
        keys = set(re.findall(r'"(\w+)":', file.read_text()))
        self.assertEqual({key for key in keys if f"`{key}`" not in PAGE}, set())

    def test_every_column_of_csv(self):
        file = self.directory / "out.csv"
        self.run_well(*MODES["epochs"], "--csv", file)
        lines = file.read_text().splitlines()
        columns = lines[0].split(",")
        self.assertEqual([column for column in columns if f"`{column}`" not in PAGE], [])
        self.assertEqual({len(line.split(",")) for line in lines}, {len(columns)})
        self.assertEqual(len(lines), 1 + 2 * 2)

    def test_every_marked_line(self):
        stdout = self.run_well("-b", 1, "-e", 8, "-f", 2, "--time-budget", 0.02, "--stats", "-r", 0).stdout
        stdout += self.run_well("-b", 8, "-e", 64, "-f", 8, "-n", 1, "--split", "DIV 2", ranks=4,
                                program=program_of("all_gather")).stdout
        begins = set(re.findall(r"^# ((?:Using |Out |Avg |Collective test )?[A-Z]\w+|skipped)", stdout, re.MULTILINE))
        self.assertGreater(len(begins), 12)
        self.assertEqual({begin for begin in begins if f"`# {begin}" not in PAGE}, set())

    def test_every_statistics_column(self):
        stdout = self.run_well(*MODES["epochs"], "--stats").stdout
        titles = [title for line in re.findall(r"^# +size +place .*$", stdout, re.MULTILINE) for title in line[1:].split()]
        self.assertEqual(len(titles), 2 * 2 + 8 + 9)
        self.assertEqual([title for title in titles if f"`{title}`" not in PAGE], [])

    def test_every_exit_status(self):
        header = (DOCS.parent / "src/common/core/error.h").read_text()
        for status in re.findall(r"^  k\w+ = (\d+),", header, re.MULTILINE):
            self.assertRegex(PAGE, rf"(?m)^\| {status} \|")

    def test_every_rule_in_numbers(self):
        for number in ("299", "2995"):
            self.assertIn(number, PAGE)
