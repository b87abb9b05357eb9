"""scripts/rdma_check.sh on a device in software: what it says, how it ends, what it records."""

import os
import subprocess
from pathlib import Path

from guests import FAILURE, OK, PATIENCE_S, USAGE, GuestTest
from launch import PROGRAMS

ROOT = Path(__file__).parents[3]
WAITED = "ranks waited for a processor"
FAST = {"TIME_BUDGET": "0.01", "LARGE_BYTES": "8K", "PERCENT_OF_RATE": "0.0001"}


class Check(GuestTest):

    def check(self, *arguments, **changes):
        """Runs the script. Returns its exit status and its lines."""
        done = subprocess.run([ROOT / "scripts" / "rdma_check.sh", "--programs", PROGRAMS, *map(str, arguments)],
                              env={**os.environ, **FAST, **changes}, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=2 * PATIENCE_S, check=False)
        self.assertIn(done.returncode, (OK, FAILURE, USAGE), done.stderr)
        return done.returncode, done.stdout.splitlines()

    def test_parts_that_pass(self):
        record = self.directory / "record.txt"
        status, lines = self.check("--only", "endings", "--only", "rate", "--only", "gpu", "--record", record)
        self.assertEqual(status, OK, lines)
        self.assertEqual(record.read_text().splitlines(), lines)
        self.assertRegex("\n".join(lines), r"# rxe0 port 1: ACTIVE")
        # The processors of a guest also carry its network, and what ranks measure while they wait for one is not judged.
        waited = any(line.startswith("SKIP writes reach") and WAITED in line for line in lines)
        self.assertEqual(lines[-1], "3 passed, 0 failed, 2 skipped" if waited else "4 passed, 0 failed, 1 skipped")

    def test_device_that_is_too_slow(self):
        status, lines = self.check("--only", "rate", PERCENT_OF_RATE="100")
        if WAITED in lines[-2]:
            self.assertRegex(lines[-2], r"^SKIP writes reach 100 % of the port's rate: ")
            self.assertEqual((status, lines[-1]), (OK, "0 passed, 0 failed, 1 skipped"))
            return
        self.assertEqual((status, lines[-1]), (FAILURE, "0 passed, 1 failed, 0 skipped"))
        self.assertRegex(lines[-2], r"^FAIL writes reach 100 % of the port's rate: exit status 6: rdma_write_bw: Pair 0 .*requires 100 %")

    def test_programs(self):
        status, lines = self.check("--only", "programs")
        self.assertEqual((status, lines[-1]), (OK, "11 passed, 0 failed, 0 skipped"), lines)

    def test_misspelt_part(self):
        self.assertEqual(self.check("--only", "everything")[0], USAGE)
