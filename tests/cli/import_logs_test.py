"""find_slow_links on folders of logs as they are found: each a layout, or a version of a tool, that was once misread."""

import itertools
import json

from finding import CLEAN, NOT_JUDGED, SLOW, USAGE
from other_tools import ImportTest, iperf2_log, iperf3_log, perftest_log

NODES = [f"node0{number}" for number in range(1, 5)]
SLOW_NODE = NODES[2]


def rate_of(sender, receiver, slow=lambda sender, receiver: sender == SLOW_NODE):
    """GB/s, a little different for every pair."""
    figure = 2 * (1 + 0.01 * (hash_of(sender, receiver) % 5 - 2) / 2)
    return figure * (0.6 if slow(sender, receiver) else 1)


def hash_of(sender, receiver):
    return NODES.index(sender) * 7 + NODES.index(receiver) * 5


def healthy(sender, receiver):
    return rate_of(sender, receiver, lambda *_: False)


def slow_both_ways(sender, receiver):
    return rate_of(sender, receiver, lambda *pair: SLOW_NODE in pair)


def logs(log, rate=rate_of, name="{}_{}.log"):
    return {name.format(a, b): log(a, b, rate) for a, b in itertools.permutations(NODES, 2)}


def total(figure, sender):
    return {"bits_per_second": figure * 8e9, "sender": sender}


def iperf3_document(a, b, rate, **flags):
    sums = {"sum_sent": total(rate(a, b), True), "sum_received": total(rate(a, b), True)}
    return {"start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "reverse": 0, **flags}}, "end": sums}


def bidir_json(version):
    """`iperf3 --bidir --json`: 3.7 to 3.10 write keys twice, 3.10.2 to 3.12 no flag, later ones a flag."""

    def log(a, b, rate):
        root = iperf3_document(a, b, rate, **({"bidir": 1} if version == "3.16" else {}))
        for key in ("sum_sent", "sum_received"):
            root["end"][f"{key}_bidir_reverse"] = total(rate(b, a), False)
        text = json.dumps(root, indent=1)
        return text.replace("_bidir_reverse", "") if version == "3.7" else text

    return log


class IperfLogs(ImportTest):  # 1 rank, 2 s

    def verdict(self, status, files, *arguments, kind="auto"):
        stdout, stderr = self.run_tool(status, "--import", kind, self.folder(files, f"logs-{len(list(self.directory.iterdir()))}"),
                                       *arguments)
        return stdout, stderr

    def test_both_directions_of_bidir_json(self):
        for version in ("3.7", "3.12", "3.16"):
            with self.subTest(version):
                stdout, _ = self.verdict(SLOW, logs(bidir_json(version)))
                self.assertIn(f"{SLOW_NODE} is slow with all partners, sending; receiving is fine", stdout)
                self.assertIn("Fine: node[01-02,04]\n", stdout)
                self.assertIn("Measured: 24 readings", stdout)

    def test_a_busy_server_that_was_tried_again(self):
        def log(a, b, rate):
            busy = "iperf3: error - the server is busy running a test. try again later\n" if NODES[1] in (a, b) else ""
            return busy + iperf3_log(NODES.index(a), NODES.index(b), lambda *_: rate(a, b))

        stdout, stderr = self.verdict(CLEAN, logs(log, healthy), "--quiet")
        self.assertEqual(stdout, "Fine: node[01-04]\n")
        self.assertNotIn("not understood", stderr)

    def test_reverse_and_forward_in_one_log(self):
        def log(a, b, rate):
            forward = iperf3_log(NODES.index(a), NODES.index(b), lambda *_: rate(a, b))
            back = iperf3_log(NODES.index(a), NODES.index(b), lambda *_: rate(b, a))
            title = "port 5201\n"
            return back.replace(title, title + "Reverse mode, remote host is sending\n") + forward

        stdout, _ = self.verdict(SLOW, logs(log))
        self.assertIn(f"{SLOW_NODE} is slow with all partners, sending", stdout)
        self.assertIn("Fine: node[01-02,04]\n", stdout)

    def test_two_documents_in_a_file(self):
        def log(a, b, rate):
            return 2 * (json.dumps(iperf3_document(a, b, rate), indent="\t") + "\n")

        stdout, _ = self.verdict(CLEAN, logs(log, healthy, "{}_{}.json"))
        self.assertIn("Fine: node[01-04]\n", stdout)
        self.assertIn("Measured: 24 readings in 2 rounds", stdout)

    def test_a_stream_of_json(self):
        def log(a, b, rate):
            root = iperf3_document(a, b, rate)
            return "".join(json.dumps({"event": event, "data": root[event]}) + "\n" for event in ("start", "end"))

        stdout, _ = self.verdict(SLOW, logs(log, slow_both_ways, "{}_{}.json"), "--quiet")
        self.assertEqual(stdout, f"Slow: {SLOW_NODE}\nFine: node[01-02,04]\n")

    def test_a_log_that_ends_before_the_sum(self):
        rows = "".join(f"[{stream:3}]   0.00-10.00  sec  2.74 GBytes  2.35 Gbits/sec    0             {end}\n"
                       for stream in (5, 7, 9, 11) for end in ("sender", "receiver"))
        text = ("Connecting to host n02, port 5201\n"
                "[ ID] Interval           Transfer     Bitrate           Retr\n" + rows)
        _, stderr = self.verdict(NOT_JUDGED, {"node01_node02.log": text})
        self.assertIn("node01_node02.log: not understood: the log ends without a result", stderr)

    def test_iperf_2(self):
        def one(a, b, rate):
            return iperf2_log(NODES.index(a), NODES.index(b), lambda *_: rate(a, b))

        def four(a, b, rate):
            row = f"[  3]  0.0-10.0 sec  9.99 GBytes  {rate(a, b) * 8:.2f} Gbits/sec\n"
            quarter = row.replace(f"{rate(a, b) * 8:.2f}", f"{rate(a, b) * 2:.2f}")
            rows = "".join(quarter.replace("  3]", f"  {stream}]") for stream in (3, 4, 5, 6))
            return one(a, b, rate).replace(row, rows + row.replace("  3]", "SUM]"))

        for log in (one, four):
            for kind in ("auto", "iperf2"):
                with self.subTest(log=log.__name__, kind=kind):
                    stdout, _ = self.verdict(SLOW, logs(log, slow_both_ways), "--quiet", kind=kind)
                    self.assertEqual(stdout, f"Slow: {SLOW_NODE}\nFine: node[01-02,04]\n")


class FewReadings(ImportTest):  # 1 rank, 1 s
    """Four hosts, each pair measured once: a host has three readings each way."""

    def perftest(self, a, b, rate):
        return perftest_log(NODES.index(a), NODES.index(b), lambda *_: rate(a, b))

    def test_name_a_host_that_sends_slowly(self):
        def write_then_read(a, b, rate):
            return self.perftest(a, b, rate) + self.perftest(b, a, rate).replace("RDMA_Write", "RDMA_Read")

        stdout, _ = self.run_tool(SLOW, "--import", "auto", self.folder(logs(write_then_read)))
        self.assertIn(f"{SLOW_NODE} is slow with all partners, sending; receiving is fine", stdout)
        self.assertIn(f"Slow: {SLOW_NODE}\nFine: node[01-02,04]\n", stdout)

    def test_name_a_slow_nic(self):
        files = {}
        for rail in range(4):
            device = f"mlx5_{rail}"
            for name, text in logs(self.perftest, slow_both_ways if rail == 2 else healthy, "{}_{}").items():
                files[f"{device}/{name}.log"] = text.replace("mlx5_0", device)
        stdout, _ = self.run_tool(SLOW, "--import", "auto", self.folder(files))
        self.assertIn(f"{SLOW_NODE} is slow with all partners over rail mlx5_2, ", stdout)
        self.assertIn(f"Slow: {SLOW_NODE}\nFine: node[01-02,04]\n", stdout)


class Matrices(ImportTest):  # 1 rank, 1 s

    def test_a_matrix_with_hosts_as_titles(self):
        file = self.directory / "matrix.csv"
        file.write_text(",n1,n2,n3,n4\nn1,-,24.1,24.0,14.2\nn2,24.1,-,24.2,14.1\nn3,24.0,24.0,-,14.0\nn4,24.2,24.1,24.0,-\n")
        _, stderr = self.run_tool(USAGE, "--import", "auto", file)
        self.assertIn(f"{file}:1: the matrix names no unit; give --unit", stderr)
        stdout, stderr = self.run_tool(SLOW, "--import", "auto", "--unit", "GB/s", file)
        self.assertIn("n4 is slow with all partners, receiving; sending is fine", stdout)
        self.assertIn(f"{file}:1: its rows are taken for senders", stderr)


class Folders(ImportTest):  # 1 rank, 1 s

    def test_results_of_gnu_parallel(self):
        files = {}
        for number, (a, b) in enumerate(itertools.permutations(NODES, 2)):
            job = f"1/{a}/2/{b}"
            files[f"{job}/stdout"] = iperf3_log(NODES.index(a), NODES.index(b), lambda *_, pair=(a, b): slow_both_ways(*pair))
            files[f"{job}/stderr"] = "ssh: notice\n" if number % 2 else ""
            files[f"{job}/seq"] = f"{number}\n"
        stdout, stderr = self.run_tool(SLOW, "--quiet", "--import", "auto", self.folder(files))
        self.assertEqual(stdout, f"Slow: {SLOW_NODE}\nFine: node[01-02,04]\n")
        self.assertEqual(stderr, "")

    def test_tools_that_are_not_read_are_named(self):
        text = "|              |              |      overhead (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |\n"
        files = {f"{a}_{b}.log": text for a, b in itertools.permutations(NODES, 2)}
        for kind in ("auto", "osu"):
            _, stderr = self.run_tool(NOT_JUDGED, "--import", kind, self.folder(files, kind))
            self.assertIn("not understood: ucx_perftest is not read; make a CSV of it with columns from,to,GB/s", stderr)
