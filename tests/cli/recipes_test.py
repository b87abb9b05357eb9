"""Every block of docs/recipes.md is run, and says what is in the records."""

import csv
import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

import mpijob
import recipes
from recipe_folder import BLOCKS, ROOT, RunRecipes, block_of, what_is_missing

RECORDS = ("run.jsonl", "second.jsonl")
SHORT = ("Two runs", "jq", "pandas", "gnuplot", "Prometheus")
LONG = ("Two runs", "jq", "A check before a job, or in CI", "Compare with a baseline", "Kubernetes MPIJob")
IN_LABS = {"slurm": "Slurm", "ssh": "ssh"}
CHECKED_FILES = {"fabricbench.rules.yaml", "all_reduce_mpijob.yaml"}
NASTY = 'a "quoted" \\n and\na line'

try:
    import yaml
    from prometheus_client.parser import text_string_to_metric_families
    missing_parser = None
except ImportError as problem:
    missing_parser = str(problem)


class Page(unittest.TestCase):  # 1 rank, 2 s

    def test_every_block_is_run(self):
        names = [block.name for block in BLOCKS]
        self.assertEqual(len(set(names)), len(names))
        for block in BLOCKS:
            if block.way in IN_LABS:
                self.assertEqual(block.section, IN_LABS[block.way])
                script = (ROOT / "tests" / "cluster" / f"{block.way}_test.sh").read_text()
                self.assertTrue(re.search(rf"(?m)^    run_recipe (.* )?{block.name}\b", script), block.name)
            elif block.way == "shell":
                self.assertIn(block.section, SHORT + LONG)
            elif block.name not in CHECKED_FILES:
                self.assertTrue(any(re.search(rf"\b{block.name.removesuffix('.py')}\b", other.text)
                                    for other in BLOCKS if other is not block and other.section == block.section), block.name)

    def test_shell(self):
        checker = shutil.which("shellcheck")
        for block in BLOCKS:
            if block.way != "file" or block.text.startswith("#!/bin/bash\n"):
                with self.subTest(block.name):
                    self.assertEqual(subprocess.run(["bash", "-n"], input=block.text, text=True, check=False).returncode, 0)
                    if checker:
                        said = subprocess.run([checker, "--shell=bash", "-"], input=block.text, text=True, check=False,
                                              capture_output=True).stdout
                        self.assertEqual(said, "")

    def test_slurm_options_come_first(self):
        for block in BLOCKS:
            if block.name.endswith(".sbatch"):
                heads = block.text.rpartition("#SBATCH")[0].splitlines()
                self.assertTrue(all(line.startswith("#") for line in heads), block.name)
                self.assertRegex(block.text, r"(?m)^#SBATCH --time=")
                self.assertRegex(block.text, r"(?m)^#SBATCH --signal=")

    def test_links(self):
        for target in re.findall(r"\]\(([^)#]*)[^)]*\)", recipes.PAGE.read_text()):
            self.assertTrue((recipes.PAGE.parent / target).exists(), target)


class Runner(unittest.TestCase):  # 1 rank, 1 s
    """A block that breaks is noticed."""

    def run_page(self, text):
        with tempfile.TemporaryDirectory() as folder:
            return [recipes.run(block, folder, timeout_s=60) for block in recipes.blocks_of(text)]

    def test_good_ones(self):
        page = "## a\n<!-- run: file x.sh -->\n```\nexit 6\n```\n\n<!-- run: shell one status=6,7 -->\n```bash\nbash x.sh\n```\n"
        self.assertEqual(self.run_page(page), [None, (6, "", "")])

    def test_broken_ones(self):
        for text in ("false", "false\ntrue", "false | cat", "no_such_program_here", "cat missing", "if"):
            with self.subTest(text), self.assertRaisesRegex(AssertionError, "recipe 'one' ended with"):
                self.run_page(f"<!-- run: shell one -->\n```\n{text}\n```\n")
        with self.assertRaises(AssertionError):
            self.run_page("<!-- run: shell one status=6 -->\n```\ntrue\n```\n")

    def test_untold_ways(self):
        for page in ("```\ntrue\n```\n", "<!-- run: shel one -->\n```\ntrue\n```\n", "<!-- run: shell -->\n```\ntrue\n```\n",
                     "<!-- run: shell one -->\n```\ntrue\n", "<!-- run: shell one -->\n\n```\ntrue\n```\n"):  # fmt: skip
            with self.subTest(page), self.assertRaises(ValueError):
                recipes.blocks_of(page)

    def test_unknown_name(self):
        said = subprocess.run(["python3", recipes.__file__, "no_such_recipe"], text=True, check=False, capture_output=True)
        self.assertEqual((said.returncode, said.stderr), (1, "docs/recipes.md has no recipe no_such_recipe\n"))


@unittest.skipIf(what_is_missing() or missing_parser, what_is_missing() or missing_parser)
class Recipes(RunRecipes):  # 2 ranks, 14 s

    sections = SHORT

    @classmethod
    def before(cls, name):
        if name == "size_by_node":  # records of two nodes; here is only one
            for node, record in zip(("node01", "node02"), RECORDS):
                lines = [json.loads(line) for line in (cls.folder / record).read_text().splitlines()]
                lines[0]["hosts"][0]["name"] = node
                (cls.folder / f"alone-{node}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def test_slowest_rows(self):
        figures = [(figures["busbw_gb_per_s"], size) for _, size, placement, figures in self.measured("run.jsonl")
                   if placement == "out_of_place" and size >= 65536]
        self.assertGreater(len(figures), 5)
        self.assertEqual([int(line.split()[0]) for line in self.said("slowest_rows")],
                         [size for _, size in sorted(figures)[:5]])

    def test_one_size(self):
        found = [(line.split()[0], float(line.split()[1])) for line in self.said("one_size")]
        wanted = [(record, figures["busbw_gb_per_s"]) for record, size, placement, figures in self.measured(*RECORDS)
                  if size == 1 << 20 and placement == "out_of_place"]
        self.assertEqual([name for name, _ in found], list(RECORDS))
        for (_, one), (_, other) in zip(found, wanted, strict=True):
            self.assertAlmostEqual(one, other, places=9)

    def test_wide_intervals(self):
        wanted = []
        for _, size, _, figures in self.measured("run.jsonl"):
            interval = figures["time_us_interval"]
            if interval is None or interval["half_width_percent"] > 5:
                wanted.append((size, interval is not None))
        self.assertEqual([(int(line.split()[0]), line.endswith(" %")) for line in self.said("wide_intervals")], wanted)

    def test_ends(self):
        good = "0, every size was measured and every check passed"
        self.assertEqual(self.said("ends"), [f"{record}: {good}" for record in RECORDS])
        with tempfile.TemporaryDirectory() as folder:
            for record in RECORDS:
                shutil.copy(self.folder / record, folder)
            path = f"{folder}/second.jsonl"
            with open(path, encoding="utf-8") as file:
                lines = file.readlines()
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(lines[:-1])
            said = recipes.run(block_of("ends"), folder, timeout_s=60).stdout
        self.assertEqual(said.splitlines(), [f"run.jsonl: {good}", "second.jsonl: no end, killed"])

    def test_csv(self):
        with open(self.folder / "rows.csv", encoding="utf-8") as file:
            found = [(row["file"], int(row["size_bytes"]), row["placement"], float(row["time_us"])) for row in csv.DictReader(file)]
        self.assertEqual(found, [(*key, figures["time_us_median"]) for *key, figures in self.measured(*RECORDS)])

    def test_slowest_ranks(self):
        host = self.lines_of("run.jsonl", "context")[0]["hosts"][0]["name"]
        wanted = [[str(size), str(figures["slowest_rank"]), host] for _, size, placement, figures in self.measured("run.jsonl")
                  if placement == "out_of_place"]
        self.assertEqual([line.split("\t")[:3] for line in self.said("slowest_ranks")], wanted)

    def test_size_by_node(self):
        head, _, *rows = map(str.split, self.said("size_by_node"))
        self.assertEqual(head, ["nodes", "node01", "node02"])
        sizes = sorted({size for _, size, _, _ in self.measured(*RECORDS)})
        self.assertEqual([(int(row[0]), len(row)) for row in rows], [(size, 3) for size in sizes])

    def test_two_runs_compared(self):
        rows = [line.split() for line in self.said("compare_two_runs")[2:]]
        ratios = [float(row[-1]) for row in rows]
        self.assertEqual(len(rows), len(self.measured("run.jsonl")))
        self.assertEqual(ratios, sorted(ratios, reverse=True))

    def test_picture(self):
        picture = (self.folder / "busbw.png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", picture[16:24]), (900, 600))
        self.assertEqual(self.ended["plot"].stderr, "")

    def metrics(self, folder):
        """{name: {labels: value}}"""
        found = {}
        for family in text_string_to_metric_families((folder / "collector" / "fabricbench.prom").read_text()):
            self.assertEqual(family.type, "gauge")
            self.assertTrue(family.documentation)
            found[family.name] = {frozenset(sample.labels.items()): sample.value for sample in family.samples}
        return found

    def test_metrics(self):
        found = self.metrics(self.folder)
        run = {"program": "all_reduce_perf", "ranks": "2", "label": ""}
        self.assertEqual(found["fabricbench_exit_status"], {frozenset(run.items()): 0})
        self.assertGreater(found["fabricbench_started_timestamp_seconds"][frozenset(run.items())], 1.7e9)
        for key, name, factor in (("busbw_gb_per_s", "busbw_bytes_per_second", 1e9), ("time_us_median", "time_seconds", 1e-6)):
            samples = found[f"fabricbench_{name}"]
            self.assertEqual(len(samples), len(self.measured("run.jsonl")))
            for _, size, placement, figures in self.measured("run.jsonl"):
                labels = {**run, "size_bytes": str(size), "placement": placement}
                self.assertAlmostEqual(samples[frozenset(labels.items())] / factor / figures[key], 1, places=9)
        self.assertEqual([path.name for path in (self.folder / "collector").iterdir()], ["fabricbench.prom"])

    def test_metrics_of_a_killed_run_with_a_nasty_label(self):
        lines = (self.folder / "run.jsonl").read_text().splitlines()
        context = json.loads(lines[0])
        context["options"]["label"] = NASTY
        with tempfile.TemporaryDirectory() as name:
            folder = type(self.folder)(name)
            (folder / "collector").mkdir()
            for block in BLOCKS:
                if block.section == "Prometheus" and block.way == "file":
                    recipes.run(block, folder, timeout_s=60)
            (folder / "run.jsonl").write_text("\n".join([json.dumps(context), *lines[1:-1], ""]))
            self.run_block(block_of("metrics"), folder)
            run = {"program": "all_reduce_perf", "ranks": "2", "label": NASTY}
            self.assertEqual(self.metrics(folder)["fabricbench_exit_status"], {frozenset(run.items()): -1})
            written = (folder / "collector" / "fabricbench.prom").read_text()
            (folder / "run.jsonl").write_text("not a record\n")
            with self.assertRaises(AssertionError):
                self.run_block(block_of("metrics"), folder)
            self.assertEqual((folder / "collector" / "fabricbench.prom").read_text(), written)
            self.assertEqual(len(list((folder / "collector").iterdir())), 1)

    def test_alerts(self):
        text = (self.folder / "fabricbench.rules.yaml").read_text()
        names = set(self.metrics(self.folder))
        (group,) = yaml.safe_load(text)["groups"]
        self.assertEqual(set(group), {"name", "rules"})
        self.assertEqual(len({rule["alert"] for rule in group["rules"]}), 3)
        for rule in group["rules"]:
            self.assertEqual(set(rule), {"alert", "expr", "labels", "annotations"})
            self.assertEqual(set(re.findall(r"fabricbench_\w+", rule["expr"])) - names, set())
            self.assertIn("fabricbench_", rule["expr"])
            for label in re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]):
                self.assertIn(label, {"program", "ranks", "label", "size_bytes", "placement", "instance"})


@unittest.skipIf(what_is_missing() or missing_parser, what_is_missing() or missing_parser)
class LongRecipes(RunRecipes):  # 2 ranks, 45 s, extended

    sections = LONG

    @classmethod
    def before(cls, name):
        if name == "check":  # the job itself, which must not start
            (cls.folder / "my_application").write_text("#!/bin/sh\ntouch started\n")

    def check(self, *words):
        command = recipes.Block("", "shell", "", (0, 2, 3, 6, 7), f"bash check_network.sh {' '.join(words)}")
        return self.run_block(command)

    def test_check(self):
        # On a machine with other work nothing is judged.
        unknown = "ranks waited for a processor" in self.ended["check"].stderr
        self.assertEqual(self.said("check"), ["network: could not be judged" if unknown else "network: slower than 80 GB/s"])
        self.assertTrue(unknown or "below 80 GB/s, which --min-bw requires" in self.ended["check"].stderr)
        self.assertFalse((self.folder / "started").exists())
        passed = self.check("0.0001")
        unknown = "ranks waited for a processor" in passed.stderr
        self.assertEqual(passed[:2], (7, "network: could not be judged\n") if unknown else (0, "network: at least 0.0001 GB/s\n"))
        refused = self.check("0.0001", "--no-such-option")
        self.assertEqual((refused.status, refused.stdout), (2, "network: failed with status 2\n"))
        self.assertIn("--no-such-option", refused.stderr)

    def test_baseline(self):
        self.assertEqual(self.lines_of("site.jsonl", "baseline")[0]["launches"], 5)
        (comparison,) = self.lines_of("today.jsonl", "baseline_comparison")
        said = {0: "as fast as before", 6: "slower:", 7: f"could not be judged: {comparison['headline']}"}
        self.assertEqual(self.said("compare_with_baseline")[0], said[comparison["exit_status"]])

    def test_command_of_the_mpijob(self):
        job = yaml.safe_load((self.folder / "all_reduce_mpijob.yaml").read_text())
        (launcher,) = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
        words = " ".join(launcher["command"] + launcher["args"])
        ended = self.run_block(recipes.Block("", "shell", "launcher", (0,), words))
        self.assertIn("# Out of bounds values : 0 OK", ended.stdout)


@unittest.skipIf(missing_parser, missing_parser)
class MpiJobs(unittest.TestCase):  # 1 rank, 1 s

    def jobs(self):
        texts = {path.name: path.read_text() for path in (ROOT / "examples").glob("*_mpijob.yaml")}
        texts["all_reduce_mpijob.yaml"] = block_of("all_reduce_mpijob.yaml").text
        return {name: yaml.safe_load(text) for name, text in texts.items()}

    def test_jobs(self):
        jobs = self.jobs()
        self.assertEqual(len(jobs), 3)
        for name, job in jobs.items():
            self.assertEqual(mpijob.problems(job), [], name)

    def test_broken_ones_are_noticed(self):
        for name, old, new in (("apiVersion", "v2beta1", "v3"), ("cleanPodPolicy", "Running", "running"),
                               ("Worker.replicas", "replicas: 2", "replicas: two"), ("not a text", '"2"', "2"),
                               ("anti-affinity", "{app: all-reduce-worker}}", "{app: other}}"), ("8GB", "8Gi", "8GB"),
                               ("no image", "image: registry.example.com/fabricbench:latest", "image:"),
                               ("runPolicy", "backoffLimit", "backofLimit")):  # fmt: skip
            text = block_of("all_reduce_mpijob.yaml").text
            self.assertIn(old, text)
            self.assertIn(name, " ".join(mpijob.problems(yaml.safe_load(text.replace(old, new)))))


if __name__ == "__main__":
    unittest.main()
