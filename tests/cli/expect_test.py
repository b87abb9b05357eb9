"""--expect and --preset, and logs of other tools in `fabricbench compare`."""

import json
import os

from other_tools import HOSTS, nccl_log
from recording import SIZES, BaselineTest, lines_of
from schema import validate

UNKNOWN = "all ranks are on one host, and the rate of what connects them there is unknown"


class Expect(BaselineTest):  # 2 ranks, 3 s

    def test_what_is_unknown_is_no_pass(self):
        out = self.directory / "run.jsonl"
        result = self.run_program(*SIZES, "--expect", 80, "--json", out)
        self.assertEqual(result.status, 7, result.stderr)
        self.assertIn(f"all_reduce_perf: what the links allow is unknown: {UNKNOWN}\n", result.stderr)
        self.assertIn(f"# Expected: what the links allow is unknown: {UNKNOWN}\n", result.stdout)
        lines = lines_of(out)
        validate(line for line in lines if line["kind"] != "context")
        self.assertEqual({line["verdict"] for line in lines if line["kind"] == "row_expectation"}, {"unknown"})
        summary = [line for line in lines if line["kind"] == "expectation"]
        self.assertEqual([(line["exit_status"], line["payload_gb_per_s"], line["links"]) for line in summary],
                         [(7, None, UNKNOWN)])

    def test_without_it_nothing_is_said_of_what_is_unknown(self):
        out = self.directory / "run.jsonl"
        result = self.run_well(*SIZES, "--json", out)
        self.assertNotIn("Expected", result.stdout)
        self.assertNotIn("expectation", {line["kind"] for line in lines_of(out)})

    def test_options_that_need_another_are_refused(self):
        for arguments, message in ((("--line-rate", 100), "--line-rate is for --expect; give the share"),
                                   (("--strict",), "--strict is for published figures; name them with --preset")):
            result = self.run_program(*SIZES, *arguments)
            self.assertEqual((result.status, result.stdout), (2, ""))
            self.assertIn(message, result.stderr)


class Preset(BaselineTest):  # 2 ranks, 4 s

    def preset(self, least, **changes):
        figure = {"kind": "preset_figure", "program": "all_reduce_perf", "gpu": None, "hosts": 1, "ranks": 2,
                  "from_bytes": 1024, "to_bytes": 0, "usual_gb_per_s": None, "least_gb_per_s": least, "most_us": None,
                  "source": "a page", **changes}
        file = self.directory / "laptop.jsonl"
        start = {"kind": "preset", "preset_version": 1, "name": "laptop", "description": "a laptop"}
        file.write_text("".join(json.dumps(line) + "\n" for line in (start, figure)))
        return file

    def test_figures_that_are_reached(self):
        out = self.directory / "run.jsonl"
        result = self.run_well(*SIZES, "--preset", self.preset(1e-6), "--strict", "--json", out)
        self.assertRegex(result.stdout, r"# Preset laptop: \S+ GB/s at \S+ KiB, as published; published: at least 1e-06 GB/s "
                                        r"\(a page\)\n")
        lines = [line for line in lines_of(out) if line["kind"] == "preset_comparison"]
        validate(lines)
        self.assertEqual([line["verdict"] for line in lines], ["reached"])

    def test_figures_that_are_not_are_a_warning_unless_strict(self):
        preset = self.preset(1e6)
        result = self.run_well(*SIZES, "--preset", preset)
        self.assertIn("BELOW what is published", result.stdout)
        result = self.run_program(*SIZES, "--preset", preset, "--strict")
        self.assertEqual(result.status, 6)
        self.assertIn("1 of 1 published figures of preset laptop are not reached", result.stderr)

    def test_figures_of_other_systems_are_not_compared(self):
        preset = self.preset(1e-6, hosts=2)
        words = "preset laptop has no figure for all_reduce_perf with 2 ranks on 1 host without GPUs"
        self.assertIn(f"# P{words[1:]}\n", self.run_well(*SIZES, "--preset", preset).stdout)
        result = self.run_program(*SIZES, "--preset", preset, "--strict")
        self.assertEqual(result.status, 7)
        self.assertIn(words, result.stderr)

    def test_presets_have_names(self):
        result = self.run_program(*SIZES, "--preset", "laptop")
        self.assertEqual((result.status, result.stdout), (3, ""))
        self.assertIn("there is no preset 'laptop', and no such file; give a file, or one of a100-8x200g, ", result.stderr)
        self.assertIn("has no figure for", self.run_well(*SIZES, "--preset", "h100-8x400g").stdout)


class OtherTools(BaselineTest):  # 1 rank, 1 s

    def test_logs_beside_logs(self):
        files = []
        for number in range(4):
            files.append(self.directory / f"nccl{number}.log")
            files[-1].write_text(nccl_log(0, 1, lambda a, b, number=number: 12 + number / 8))
            os.utime(files[-1], (1_700_000_000 + number,) * 2)
        result = self.fabricbench("compare", *(word for file in files[:3] for word in ("--old", file)), files[3])
        self.assertEqual((result.status, result.stderr), (7, ""))
        self.assertRegex(result.stdout, r"\n +1048576 +float sum out ")
        files[3].write_text(nccl_log(0, 2, lambda a, b: 12))
        result = self.fabricbench("compare", files[0], files[3])
        self.assertEqual(result.status, 7)
        self.assertIn(f"hosts was '{HOSTS[0][:-1]}[1-2]', is '{HOSTS[0][:-1]}[1,3]'", result.stdout)

    def test_logs_of_containers(self):
        """Of docker's json-file, whose lines are JSON as records are."""
        file = self.directory / "container.log"
        file.write_text("".join(json.dumps({"log": line, "stream": "stdout"}) + "\n"
                                for line in nccl_log(0, 1, lambda a, b: 12).splitlines(True)))
        result = self.fabricbench("compare", file, file)
        self.assertEqual((result.status, result.stderr), (7, ""))
        self.assertIn("no launch besides the run's own", result.stdout)

    def test_logs_of_runs_that_failed_are_refused(self):
        file = self.directory / "nccl.log"
        file.write_text(nccl_log(0, 1, lambda a, b: None))
        result = self.fabricbench("compare", file, file)
        self.assertEqual((result.status, result.stdout), (7, ""))
        self.assertIn("the run has no end: gpu-node-2: Test NCCL failure", result.stderr)

    def test_what_is_no_log_is_refused(self):
        file = self.directory / "notes.txt"
        file.write_text("hello\n")
        result = self.fabricbench("compare", file, file)
        self.assertEqual((result.status, result.stdout), (7, ""))
        self.assertIn("nor a log of nccl-tests, OSU or perftest; give one of these", result.stderr)
