"""What tests of plan_sweep share."""

import json
import subprocess
from collections import namedtuple

from launch import PROGRAMS, ProgramTest, environment

Round = namedtuple("Round", "why left number pairs")


class Planning(ProgramTest):
    """Hosts h1 to hN, whose pairs are measured as `rate` says."""

    def setUp(self):
        super().setUp()
        self.hosts = self.directory / "hosts"
        self.records = self.directory / "records.jsonl"

    def write_hosts(self, count):
        self.hosts.write_text("# made up\n" + "".join(f"h{number} slots=8\n" for number in range(1, count + 1)))

    def plan(self, *arguments, status=0, stdin=""):
        command = [str(PROGRAMS / "plan_sweep"), *map(str, arguments)]
        result = subprocess.run(command, input=stdin, capture_output=True, text=True, env=environment(), check=False,
                                timeout=50)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def next_round(self, *arguments):
        why, *lines = self.plan("--hosts", self.hosts, "--records", self.records, *arguments).stdout.splitlines()
        self.assertTrue(why.startswith("# "), why)
        left = int(lines.pop(0).removeprefix("# rounds left: ")) if lines else 0
        fields = [line.split("\t") for line in lines]
        for number, concurrent, _, _ in fields:
            self.assertEqual((number, concurrent), (fields[0][0], str(len(fields))))
        return Round(why[2:], left, int(fields[0][0]) if fields else None, [tuple(each[2:]) for each in fields])

    def record(self, planned, pairs=None, rate=lambda sender, receiver: 10, program="send_recv_bibw"):
        """Appends both directions of pairs of a round; where the rate is 0, they failed."""
        with self.records.open("a") as file:
            for pair in planned.pairs if pairs is None else pairs:
                for sender, receiver in (pair, pair[::-1]):
                    figure = rate(sender, receiver)
                    file.write(json.dumps({
                        "kind": "reading", "round": planned.number, "concurrent": len(planned.pairs),
                        "from_host": sender, "to_host": receiver, "test": program, "size_bytes": 1048576,
                        "status": "ok" if figure else "failed", "bandwidth_gb_per_s": figure or None,
                        "reason": None if figure else "no route to host"}) + "\n")

    def sweep(self, *arguments, rate=lambda sender, receiver: 10):
        """Plans and measures to the end."""
        rounds = []
        while True:
            rounds.append(self.next_round(*arguments))
            if not rounds[-1].pairs:
                return rounds
            self.record(rounds[-1], rate=rate)
            self.assertLess(len(rounds), 100)
