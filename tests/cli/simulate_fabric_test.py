"""simulate_fabric: sweeps over fabrics that are not there."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from launch import PROGRAMS

OK, USAGE, TOO_SLOW = 0, 2, 6


class SimulateFabric(unittest.TestCase):  # 1 rank, 1 s

    def run_tool(self, status, *arguments, program="simulate_fabric"):
        result = subprocess.run([PROGRAMS / program, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                capture_output=True, encoding="utf-8", timeout=60, check=False)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def test_records_are_judged_as_the_sweep_was(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "records.jsonl"
            ours = self.run_tool(OK, "--hosts", 24, "--leaf-size", 8, "--rails", 2, "--find", "--all-pairs",
                                 "--max-extra-rounds", 200, "--fault", "nic:3:1:0.8:sends", "--fault", "pair:1:20:0.6",
                                 "--fault", "dead:9", "--records", file).stdout
            theirs = self.run_tool(TOO_SLOW, file, program="find_slow_links").stdout
            for text in (ours, theirs):
                for name in ("node03", "node01", "node20", "node09"):
                    self.assertIn(name, text)
            lines = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual([lines[0]["kind"], len(lines[0]["hosts"])], ["sweep", 24])
        self.assertEqual(len([line for line in lines if line["kind"] == "locality"]), 24)
        readings = [line for line in lines if line["kind"] == "reading"]
        self.assertEqual({line["status"] for line in readings}, {"ok", "failed"})
        self.assertEqual({line["from_rail"] for line in readings}, {"rail0", "rail1"})
        for line in readings:
            self.assertEqual(line["status"] == "ok", line["bandwidth_gb_per_s"] is not None)
            self.assertEqual(line["status"] == "ok", line["reason"] is None)

    def test_records_to_standard_output_are_nothing_else(self):
        lines = self.run_tool(OK, "--hosts", 4, "--rounds", 3, "--records", "-").stdout.splitlines()
        self.assertEqual(len(lines), 1 + 3 * 2 * 2)
        for line in lines:
            json.loads(line)

    def test_counts_over_many_sweeps(self):
        arguments = ("--hosts", 17, "--rounds", 12, "--find", "--usual-faults", "--runs", 5)
        table = self.run_tool(OK, *arguments).stdout.splitlines()
        self.assertEqual(table[1].split()[3:5], ["10", "10"])
        counted = json.loads(self.run_tool(OK, *arguments, "--json").stdout)
        self.assertEqual([counted[key] for key in ("sweeps", "slow_hosts", "slow_hosts_named", "hosts_wronged")],
                         [5, 10, 10, 0])

    def test_the_same_seed_gives_the_same_sweep(self):
        first, again, other = (self.run_tool(OK, "--hosts", 8, "--seed", seed, "--records", "-").stdout
                               for seed in (3, 3, 4))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_batches_find_what_the_planner_finds(self):
        arguments = ("--hosts", 24, "--all-pairs", "--find", "--max-extra-rounds", 100, "--usual-faults", "--runs", 3,
                     "--json")
        for more in ((), ("--batches",)):
            counted = json.loads(self.run_tool(OK, *arguments, *more).stdout)
            self.assertEqual((counted["slow_hosts_named"], counted["slow_pairs_named"]), (6, 3), more)
            self.assertEqual((counted["hosts_wronged"], counted["pairs_wronged"]), (0, 0), more)

    def test_wrong_options(self):
        for message, arguments in (("'hosts' is not one of dead", ("--fault", "hosts:1:0.9")),
                                   ("it does not have", ("--fault", "host:16:0.9")),
                                   ("--hosts", ("--hosts", 0)),
                                   ("--find", ("--batches",)),
                                   ("--runs", ("--runs", 2, "--records", "x"))):
            result = self.run_tool(USAGE, *arguments)
            self.assertEqual(result.stdout, "")
            self.assertTrue(result.stderr.startswith("simulate_fabric: "), result.stderr)
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    unittest.main()
