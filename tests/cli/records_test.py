"""scripts/records.py reads what the programs write, by the types that it takes from their descriptions."""

import json
import sys
import unittest
from pathlib import Path

from launch import PROGRAMS, ProgramTest

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

import records  # noqa: E402  where the line above has it found

READING = {"kind": "reading", "status": "ok", "bandwidth_gb_per_s": 12, "latency_us": None, "reason": None}


class Programs(ProgramTest):  # 2 ranks, 2 s

    def kinds_of(self, name, *arguments):
        file = self.directory / "out.json"
        self.run_well(*arguments, "--json", file, "--force", program=str(PROGRAMS / name))
        found = [records.read(line) for line in file.read_text().splitlines()]
        return {record["kind"]: record for record in found}

    def test_rows_are_read_with_what_they_contain(self):
        found = self.kinds_of("all_reduce_perf", "-b", 8, "-e", 64, "-f", 8, "--time-budget", 0.01, "--label", "a b")
        self.assertEqual(set(found), {"context", "epoch", "row", "end"})
        self.assertEqual(found["context"]["options"]["label"], "a b")
        measured = found["row"]["out_of_place"]
        self.assertIsNone(measured["samples_us"])  # a key of a part that this line has not
        self.assertEqual(len(measured["epoch_times_us"]), measured["epochs"])

    def test_sweeps_are_read(self):
        found = self.kinds_of("pairwise_bw", "--level", "rank", "-b", 4096, "-n", 1)
        self.assertEqual(found["reading"]["status"], "ok")
        self.assertIsNone(found["reading"]["from_gpu"])  # left out on hosts without GPUs


class Lines(unittest.TestCase):  # 0 ranks, 1 s

    def refused(self, what, **changes):
        with self.assertRaisesRegex(ValueError, what):
            records.read(json.dumps({**READING, **changes}))

    def test_keys_that_are_not_there_are_none(self):
        record = records.read(json.dumps({**READING, "of_a_later_version": 7}))
        self.assertIsNone(record["round"])
        self.assertEqual(record["of_a_later_version"], 7)
        self.assertEqual(json.loads(json.dumps(record)), {**READING, "of_a_later_version": 7})
        with self.assertRaises(KeyError):
            record["rounds"]

    def test_values_of_another_type_are_refused(self):
        self.refused("reading: 'bandwidth_gb_per_s' cannot be \"fast\"", bandwidth_gb_per_s="fast")
        self.refused("reading: 'bandwidth_gb_per_s' cannot be true", bandwidth_gb_per_s=True)
        self.refused("reading: 'round' cannot be 1.5", round=1.5)
        self.refused("reading: 'status' cannot be 3", status=3)
        self.refused("context: 'notices' cannot be", kind="context", notices=["one", 2])
        self.refused("context: 'rank_map' cannot be", kind="context", rank_map=[{"rank": "first"}])

    def test_what_is_no_record_is_refused(self):
        self.refused("not a record: ", kind="nobody")
        deep = '{"kind":"row","later":' + "[" * 100000 + "]" * 100000 + "}"
        for line in ("", "[1]", "7", '{"kind":"row"', "{}", '{"kind":[1]}', '{"kind":"row","count":NaN}', deep):
            with self.subTest(line[:30]), self.assertRaises(ValueError):
                records.read(line)
        for number in (2**64, -(2**63) - 1, 10**4000):
            with self.assertRaisesRegex(ValueError, " is too large"):
                records.read(f'{{"kind":"row","count":{number}}}')
