"""What tests of find_slow_links share: records of sweeps with something planted, and runs."""

import json
import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from launch import PROGRAMS, text_of
from pair_program import validate

CLEAN, USAGE, MISSING, SLOW, NOT_JUDGED = 0, 2, 3, 6, 7
TIMEOUT_S = 60


def circle(hosts):
    """All pairs of an even number of hosts, round by round: nobody is in two pairs of a round."""
    circle_size = hosts - 1
    for number in range(circle_size):
        pairs = [(circle_size, number)]
        for i in range(1, hosts // 2):
            pairs.append(((number + i) % circle_size, (number - i) % circle_size))
        yield number, pairs


def healthy(sender, receiver):
    """A figure in GB/s, a little different for every pair."""
    return 12 * (1 + 0.01 * ((sender * 7 + receiver * 5) % 9 - 4) / 4)


def sweep(rate=healthy, hosts=16, rounds=None, began=None, **more):
    """The lines of a sweep, whose time is known with `began`. `rate` gives GB/s by sender and receiver, or None where it fails."""
    names = [f"node{host:02}" for host in range(1, hosts + 1)]
    lines = [{"kind": "sweep", "hosts": names, **({"began_utc": began} if began else {})}]
    for number, pairs in circle(hosts):
        if rounds is not None and number >= rounds:
            break
        for first, second in pairs:
            for sender, receiver in ((first, second), (second, first)):
                figure = rate(sender, receiver)
                lines.append({
                    "kind": "reading", "round": number, "concurrent": len(pairs), "from_host": names[sender],
                    "to_host": names[receiver], "test": "tcp_bibw", "size_bytes": 1048576,
                    "status": "ok" if figure else "failed", "bandwidth_gb_per_s": figure,
                    "reason": None if figure else "connection refused", **more})
    return lines


def with_slow_host(sender, receiver):
    return healthy(sender, receiver) * (0.5 if 6 in (sender, receiver) else 1)


class FindingTest(unittest.TestCase):

    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)
        self.files = 0

    def write(self, lines):
        self.files += 1
        path = self.directory / f"{self.files}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def run_tool(self, status, *arguments, stdin=""):
        """Returns stdout and stderr of a run that ends with that status."""
        result = subprocess.run([PROGRAMS / "find_slow_links", *map(str, arguments)], input=stdin.encode(),
                                capture_output=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(result.returncode, status, text_of(result.stderr))
        return text_of(result.stdout), text_of(result.stderr)

    def verdict(self, status, lines, *arguments):
        """The verdict on these records as JSON, which follows the schema."""
        stdout, _ = self.run_tool(status, "--json", "-", *arguments, self.write(lines))
        verdict = json.loads(stdout)
        validate([verdict])
        return verdict
