"""Runs the programs on fake GPUs and a fake NCCL."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from launch import ProgramTest, program_of, rows

ROOT = Path(__file__).parents[3]
FAKES = Path(os.environ["FABRICBENCH_FAKES"])


def library_path(folder):
    """LD_LIBRARY_PATH with a folder before what is in it already, which may be MPI's."""
    return f"{folder}:{ORIGINAL_PATH}" if ORIGINAL_PATH else str(folder)


ORIGINAL_PATH = os.environ.get("LD_LIBRARY_PATH")
NEW_LIBRARY = {"LD_LIBRARY_PATH": library_path(FAKES / "nccl-2.28")}
NEWEST_LIBRARY = {"LD_LIBRARY_PATH": library_path(FAKES / "nccl-2.30")}
SHARED_GPU = {**NEWEST_LIBRARY, "NCCL_MULTI_RANK_GPU_ENABLE": "1"}
LIBRARY_WITHOUT_WINDOWS = {"LD_LIBRARY_PATH": library_path(FAKES / "nccl-2.19")}
OLD_LIBRARY = {"LD_LIBRARY_PATH": library_path(FAKES / "nccl-2.18")}
CUDA_AWARE_PROGRAM = program_of("all_reduce").replace("_perf", "_perf_cuda_aware")

OK, FAILURE, USAGE, MISSING, TIMEOUT, WRONG_DATA = 0, 1, 2, 3, 4, 5

# What a user may have set for GPUs of his own.
for name in [name for name in os.environ if name.startswith(("CUDA_", "NCCL_", "FAKE_"))]:
    del os.environ[name]
os.environ.update(NEW_LIBRARY, FAKE_CUDA_DEVICES="8")

ONE = ("-b", 1024, "-e", 1024, "-n", 2)


def measurements(lines):
    """What was measured of each row and placement."""
    found = [line[place] for line in lines if line["kind"] == "row" for place in ("out_of_place", "in_place")]
    return [measured for measured in found if measured]


def device_lines(stdout):
    """Rank, group, device, bus and model of each line of the list of devices."""
    found = re.findall(r"^#  Rank +(\d+) Group +(\d+) Pid +\d+ on +\S+ device +(\d+) \[0000:(\w\w):00\] (.+)$", stdout,
                       re.MULTILINE)
    return [(int(rank), int(group), int(device), int(bus, 16) - 0x10, model)
            for rank, group, device, bus, model in found]


def buses(stdout):
    """The host's number of each rank's GPU, which is in its PCI address."""
    return [line[3] for line in device_lines(stdout)]


class GpuTest(ProgramTest):
    """A test of the programs on fake GPUs, of which the host has 8."""

    def at_once(self, check, cases):
        """check(case) for each case, some at the same time: the launcher takes seconds to end a job that failed."""
        with ThreadPoolExecutor(4) as pool:
            checks = [pool.submit(check, case) for case in cases]
        for case, done in zip(cases, checks):
            with self.subTest(case):
                done.result()

    def run_gpus(self, *arguments, **how):
        """Runs well on the nccl backend, with nothing wrong. Returns stdout and the lines of --json."""
        stdout, lines = self.run_json(*arguments, **how)
        self.assertIn("# Out of bounds values : 0 OK\n", stdout)
        self.assertEqual(lines[0]["backend"], "nccl")
        self.assertGreater(len(measurements(lines)), 0)
        wrong = {measured["wrong_elements"] for measured in measurements(lines)}
        self.assertEqual(wrong, {None} if lines[0]["program"] == "barrier_perf" else {0})
        return stdout, lines

    def refused_gpus(self, status, pattern, *arguments, **how):
        """Is refused before anything is measured, with one line that `pattern` matches as a whole."""
        result = self.run_program(*arguments, **how)
        self.assertEqual((result.status, result.stdout), (status, ""), result.stderr)
        said = [line.partition(": ")[2] for line in self.own_lines(result)]
        self.assertEqual(len(said), 1, result.stderr)
        self.assertRegex(said[0], f"^{pattern}$")

    def ends(self, status, fault, *arguments, **how):
        """Ends with the status after NCCL's fault. Returns what it said on stderr."""
        result = self.run_program(*arguments, FAKE_NCCL_FAULT=fault, **how)
        self.assertEqual(result.status, status, result.stdout + result.stderr)
        self.assertNotIn("has not ended within", result.stderr)  # ncclCommAbort
        return "\n".join(self.own_lines(result))

    def fields(self, stdout, count):
        """The table's rows, which must have so many fields each."""
        found = rows(stdout)
        self.assertEqual({len(row) for row in found}, {count}, stdout)
        return found
