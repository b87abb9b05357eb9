"""Connections over rdma_cm, both ranks on the device of one guest."""

import json
import os
import re
import signal

from guests import MISSING, OK, TIMEOUT, USAGE, GuestTest, shell, validate

PROGRAM = "rdma_cm_connect"
STEPS = ["resolve_address", "resolve_route", "connect", "first_message", "disconnect"]


class Connections(GuestTest):

    def connected(self, *arguments, pairs=1, **how):
        """Runs well. Returns the steps by pair and name, as --json has them."""
        file = self.directory / "run.json"
        result = self.run_job(PROGRAM, *arguments, "--json", file, "--force", **how)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        validate(lines)
        self.assertEqual([line["kind"] for line in lines], ["context", *["connection_step"] * 5 * pairs, "end"])
        steps = {(line["pair"], line["step"]): line for line in lines[1:-1]}
        self.assertEqual(list(steps), [(pair, step) for pair in range(pairs) for step in STEPS])
        rows = [line for line in result.stdout.splitlines() if re.match(r"\s*\d", line)]
        self.assertEqual([row.split()[1] for row in rows], STEPS * pairs)
        ran_on, = lines[-1]["processors"]
        self.assertRegex(ran_on, r"^Processors: host \S+: " + ", ".join(f"rank {rank} on .*" for rank in range(2 * pairs)))
        self.assertIn(f"# {ran_on}\n", result.stdout)
        return steps

    def check_step(self, step, connections):
        self.assertEqual(step["samples"], connections)
        self.assertLessEqual(0, step["time_us_min"])
        self.assertLessEqual(step["time_us_min"], step["time_us_median"])
        self.assertLessEqual(step["time_us_median"], step["time_us_max"])

    def test_reliable_connections(self):
        for line in self.connected("-n", 10).values():
            self.check_step(line, 10)
            self.assertIsNone(line["time_us_p99"])
            self.assertEqual((line["connections"], line["failed_connections"], line["messages"]), (10, 0, 80))
            self.assertEqual((line["lost_messages"], line["wrong_messages"], line["problem"]), (0, 0, None))
            self.assertGreater(line["connections_per_s"], 0)

    def test_datagrams(self):
        lines = self.connected("-n", 10, "-c", "UD", "-C", 3, "-s", 1000)
        for (_, name), line in lines.items():
            self.assertEqual((line["connections"], line["messages"], line["wrong_messages"]), (10, 60, 0))
            if name == "disconnect":
                self.assertEqual((line["samples"], line["time_us_median"]), (0, None))
            elif line["lost_messages"] == 0:
                self.check_step(line, 10)

    def test_sizes(self):
        for arguments in (("-s", 0), ("-s", 1, "-C", 50), ("-s", 70001), ("-c", "UD", "-s", 0),
                          ("-c", "UD", "-s", "4K")):
            with self.subTest(arguments):
                self.connected("-n", 1, *arguments)

    def test_pairs(self):
        for line in self.connected("-n", 3, "--pairs", "adjacent", pairs=2, ranks=4).values():
            self.check_step(line, 3)

    def test_parallel(self):
        """The last batch is smaller; its connections are numbered on, and their data is checked by number."""
        for arguments, steps in ((("-c", "RC"), STEPS), (("-c", "UD"), STEPS[:-1])):
            with self.subTest(arguments):
                lines = self.connected("-n", 40, "--parallel", 16, "-C", 2, *arguments)
                for step in steps:
                    line = lines[0, step]
                    self.assertEqual((line["connections"], line["failed_connections"], line["messages"]), (40, 0, 160))
                    if line["lost_messages"] == 0:
                        self.check_step(line, 40)
                        self.assertGreater(line["step_rate_per_s"], 0)

    def test_parallel_in_pairs(self):
        for line in self.connected("-n", 20, "--parallel", 20, "--pairs", "adjacent", pairs=2, ranks=4).values():
            self.check_step(line, 20)

    def test_odd_rank(self):
        result = self.run_job(PROGRAM, "-n", 2, ranks=3)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)


class Refusals(GuestTest):

    def test_gid_index(self):
        for index in (0, 99):
            self.refused(MISSING, rf"-x {index}: .*no GID of this index for an IP address.*"
                                  r" 1: RoCE v2 10\.79\.0\.1$", PROGRAM, "-x", index)

    def test_device(self):
        self.refused(MISSING, "there is no RDMA device 'mlx5_9'.* rxe0$", PROGRAM, "-d", "mlx5_9")

    def test_more_at_the_same_time_than_the_device_has(self):
        self.refused(USAGE, r"need 16384 queue pairs and 33554432 completions, and rxe0 has \d+ and \d+; lower "
                            r"--parallel or -C$", PROGRAM, "--parallel", 16384, "-C", 1024, "-s", 0)

    def test_large_datagram(self):
        self.refused(USAGE, "-c UD sends datagrams of 4096 bytes at most", PROGRAM, "-c", "UD", "-s", "5000")


class Backlog(GuestTest):

    def test_smaller_than_the_batch(self):
        """The kernel may refuse requests, or not: they are answered quickly."""
        file = "/proc/sys/net/rdma_ucm/max_backlog"
        before = shell(f"cat {file}").strip()
        shell(f"echo 4 > {file}")
        self.addCleanup(shell, f"echo {before} > {file}")
        result = self.run_job(PROGRAM, "-n", 8, "--parallel", 8)
        self.assertIn("# Backlog: host1 keeps at most 4 requests that have not been answered yet, and refuses more; raise "
                      "net.rdma_ucm.max_backlog with sysctl if requests are rejected\n", result.stdout)
        self.assertIn(result.status, (OK, TIMEOUT), result.stderr)


class Faults(GuestTest):

    def test_nobody_listens(self):
        said = shell(os.environ["FABRICBENCH_WRONG_PORT"])
        self.assertRegex(said, r"connecting with nobody: RDMA_CM_EVENT_REJECTED \(status 8, nobody listens there\): "
                               "the other rank's host refused")

    def test_stopped(self):
        """The second rank hangs: a step of the first one is named, or that there is no answer."""
        said = rf"{PROGRAM}: rank 0 on host1: .*rank 1 on host1 \(1: RoCE v2 10\.79\.0\.1\)"
        for parallel in (1, 8):
            with self.subTest(parallel):
                result = self.strike(signal.SIGSTOP, said, PROGRAM, "-n", 1000000, "--parallel", parallel)
                self.assertEqual(result.status, TIMEOUT, result.stderr)
