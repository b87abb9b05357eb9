"""Runs gpu_copy_bw on fake GPUs."""

import json
import re
import threading

import jsonschema

from launch import PROGRAMS, with_whole_notes
from on_gpus import OK, ROOT, GpuTest

PROGRAM = str(PROGRAMS / "gpu_copy_bw")
SCHEMA = json.loads((ROOT / "docs" / "output.schema.json").read_text())
# Short copies that take long enough for a processor that others use too.
QUICK = ("-b", "256K", "-e", "256K", "--time-budget", 0.001)
SPEED = "200"
HOST_KINDS = ("host_to_device", "device_to_host", "both_ways")
LIMIT_S = 2


def copies(lines):
    return [line for line in lines if line["kind"] == "copy"]


def odd(stdout):
    """The closing line that names odd GPUs: their numbers, or the text where it names none."""
    text = re.search(r"^# Odd GPUs +: (.*)$", stdout, re.MULTILINE)[1]
    return [int(number) for number in re.findall(r"GPU (\d+) \(", text)] or text


class CopyTest(GpuTest):
    """Base of the tests here: launches gpu_copy_bw."""

    def launch(self, *arguments, ranks=1, **changes):
        settings = {"FAKE_CUDA_COPY_MB_PER_S": SPEED, **changes}
        return self.run_program(*QUICK, *arguments, ranks=ranks, program=PROGRAM, **settings)

    def copy_well(self, *arguments, **how):
        """Runs well. Returns stdout and the lines of --json."""
        file = self.directory / f"{threading.get_ident()}.json"
        result = self.launch("--json", file, "--force", *arguments, **how)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            jsonschema.Draft7Validator(SCHEMA).validate(line)
        self.assertEqual({copy["wrong_elements"] for copy in copies(lines)}, {None if "-c" in arguments else 0})
        return with_whole_notes(result.stdout), lines

    def said(self, result):
        return [line for line in result.stderr.splitlines() if re.match("gpu_copy_bw: |fabricbench: ", line)]
