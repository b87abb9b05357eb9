"""What tests of scripts/report.py share: records of every kind, and reports read back."""

import datetime
import html.parser
import io
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
REPORT = SCRIPTS / "report.py"
sys.path.append(str(SCRIPTS))

import report  # noqa: E402  where the line above has it found

OK, FAILED, USAGE, MISSING = 0, 1, 2, 3
KIB, MIB = 1 << 10, 1 << 20
HEADLINE = "that is all"
NASTY = '<script>alert("1")</script>&amp;\'<img src=x onerror=alert(2)>'
BEGAN = datetime.datetime(2026, 1, 5, 12)


def utc(days=0):
    return f"{BEGAN + datetime.timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"


def host(name, nics=2):
    devices = [
        {"name": f"mlx5_{nic}:1", "kind": "infiniband", "state": "up", "speed_mbit_per_s": 400000, "numa_node": nic // 4,
         "guid": None, "mtu_bytes": None, "driver": "mlx5_core", "firmware": "28.39.1002"} for nic in range(nics)
    ]  # fmt: skip
    return {"name": name, "kernel": "6.1.0", "processor": "a processor", "sockets": 2, "cores": 96, "processing_units": 192,
            "last_level_cache_bytes": 0, "numa_nodes": [], "network_devices": devices, "switches": "spine1 leaf1"}  # fmt: skip


def context(hosts=("node1", "node2"), ranks_per_host=1, **changes):
    ranks = [
        {"rank": number, "host": name, "local_rank": number % ranks_per_host, "pid": 1, "binding": "0", "group": 0,
         "group_rank": number, "gpu": None, "reader_round_trip_us": None, "obstacles": [], "host_memory_gb_per_s": None}
        for number, name in enumerate(name for name in hosts for _ in range(ranks_per_host))
    ]  # fmt: skip
    return {
        "kind": "context", "schema_version": 1, "program": "all_reduce_perf", "figure": "collective",
        "fabricbench_version": "0.1.0", "compiler": "c++", "started_utc": utc(), "command_line": ["all_reduce_perf", "-b", "8"],
        "options": {}, "backend": "mpi", "backend_reason": "", "library": "an MPI", "launcher": "", "ranks": len(ranks),
        "hosts": [host(name) for name in hosts], "rank_map": ranks, "groups": [{"ranks": f"0-{len(ranks) - 1}",
        "hosts": ",".join(hosts), "ports": None, "round": 0}], "timing": "pipelined", "time_means": None,
        "wire_rate_gb_per_s": None, "seed": 1, "timer_cost_us": 0.02, "clock_error_us": 0.0, "environment": {}, "notices": [],
        **changes,
    }  # fmt: skip


def measurement(time_us=10.0, size=KIB, ranks=2, **changes):
    rate = size / time_us / 1000
    epochs = [time_us * (1 + 0.02 * math.sin(number)) for number in range(-4, 5)]
    return {
        "time_us_median": time_us, "time_us_interval": {"low_us": 0.95 * time_us, "high_us": 1.08 * time_us,
        "confidence": 0.96, "half_width_percent": 6.5}, "algbw_gb_per_s": rate, "busbw_gb_per_s": rate,
        "message_rate_per_s": None, "directions_gb_per_s": None, "retransmitted_segments": None, "lost_messages": None,
        "background_gb_per_s": None, "wrong_elements": 0, "epochs": 9, "epoch_times_us": epochs, "samples": 4000, "iterations": 4000,
        "operations_per_sample": 1, "time_us_mean": time_us, "time_us_stdev": 0.1 * time_us, "time_us_min": 0.8 * time_us,
        "time_us_p5": 0.9 * time_us, "time_us_p95": 1.2 * time_us, "time_us_p99": 1.5 * time_us,
        "time_us_p999": 3.0 * time_us, "time_us_max": 9.0 * time_us, "jitter_us": 0.1, "cpu_time_us_median": 1.0, "outliers": 3,
        "late_starts": 0, "drift_percent": 0.5, "sign_autocorrelation": 0.0, "preemptions": 0, "most_preempted_rank": 0,
        "slowest_rank": ranks - 1, "slowest_rank_share": 0.8,
        "rank_times_us": [time_us * (1.1 if rank == ranks - 1 else 1.0) for rank in range(ranks)],
        "host_time_us_median": None, "choice": None, "iteration_times": None, "wires": [], "clock_error_us": 0.0,
        "common_start": True, "samples_us": [], **changes,
    }  # fmt: skip


def row(size=KIB, out=None, in_place=None, **changes):
    return {"kind": "row", "size_bytes": size, "count": size // 4, "datatype": "float", "reduction": "sum", "root": -1,
            "group": 0, "traffic": [], "skipped": None, "finished_utc": utc(), "out_of_place": out, "in_place": in_place,
            **changes}  # fmt: skip


def rows(sizes=(8, KIB, MIB), latency_us=2.0, gb_per_s=20.0, **changes):
    """As a fabric with that latency and that bandwidth has them."""
    return [row(size, measurement(latency_us + size / gb_per_s / 1000, size, **changes)) for size in sizes]


def end(status=OK, **changes):
    reasons = {OK: "every size was measured and every check passed"}
    return {"kind": "end", "exit_status": status, "reason": reasons.get(status, f"the reason of status {status}"),
            "wrong_checks": 0, "average_busbw_gb_per_s": 1.0, "fast_enough": None, "peak_memory_bytes": 0,
            "stolen_percent": 0.0, "memory_usage": "", "precision": "", "wires": [], "notes": [], **changes}  # fmt: skip


def run(*lines, status=OK, **changes):
    return [context(**changes), *(lines or rows()), end(status)]


def wires(shares):
    """{host: {device: bytes}}"""
    return [{"host": name, "wire": wire, "sent_bytes": carried, "received_bytes": carried}
            for name, of_host in shares.items() for wire, carried in of_host.items()]  # fmt: skip


def row_comparison(size=KIB, verdict="same", ratio=1.0, **changes):
    usual = changes.pop("usual_us", 2.0 + size / 20000)
    return {"kind": "row_comparison", "subject": None, "test": None, "datatype": "float", "reduction": "sum", "root": -1,
            "placement": "out_of_place", "size_bytes": size, "gate": "latency", "verdict": verdict, "launches": 9,
            "usual_us": usual, "usual_us_low": 0.97 * usual, "usual_us_high": 1.03 * usual, "time_us_median": ratio * usual,
            "ratio": ratio, "ratio_low": 0.98 * ratio, "ratio_high": 1.02 * ratio, "least_slowdown_percent": 3.0,
            "algorithm_before": None, "algorithm": None, **changes}  # fmt: skip


def baseline_comparison(status=OK, headline=HEADLINE, **changes):
    return {"kind": "baseline_comparison", "exit_status": status, "headline": headline, "launches": 9, "judged_launches": 1,
            "days_known": True, "differences": [], "allowed": [], "circumstances": [], "missing": [], "added": [],
            **changes}  # fmt: skip


def row_key(size=KIB):
    return {key: row_comparison(size)[key] for key in
            ("subject", "test", "datatype", "reduction", "root", "placement", "size_bytes")}  # fmt: skip


def history_change(size=None, ratio=1.08, days=20):
    return {"kind": "history_change", "row": size and row_key(size), "since_utc": utc(days), "ratio": ratio,
            "false_alarm_probability": 0.001}  # fmt: skip


def baseline(launches=12, sizes=(8, KIB, MIB), slower_from=None, noise=0.004, **identity):
    """A launch every second day; from some day on 8 % slower."""
    lines = [{"kind": "baseline", "baseline_version": 1, "launches": launches}]
    for number in range(launches):
        lines.append({"kind": "launch", "began_utc": utc(2 * number), "allocation": None, "label": None,
                      "identity": {"program": "all_reduce_perf", **identity},
                      "circumstances": {"kernel": "6.1.0" if number < 8 else "6.1.1"}, "rows": len(sizes)})  # fmt: skip
        for size in sizes:
            factor = (1 + noise * math.sin(7 * number)) * (1.08 if slower_from is not None and number >= slower_from else 1)
            time_us = factor * (2.0 + size / 20000)
            lines.append({"kind": "row_times", **row_key(size), "time_us_median": time_us,
                          "epoch_times_us": [0.99 * time_us, time_us, 1.02 * time_us], "busbw_gb_per_s": size / time_us / 1000,
                          "algorithm": None})  # fmt: skip
    return lines


def reading(sender, receiver, rate=12.0, **changes):
    status = "timeout" if rate is None else "ok"
    return {"kind": "reading", "round": 0, "concurrent": 2, "from_host": sender, "to_host": receiver, "from_rail": None,
            "to_rail": None, "test": "send_recv_bibw", "size_bytes": 4 * MIB, "status": status, "both_ways": False,
            "bandwidth_gb_per_s": rate, "latency_us": None, "reason": None, "log": None, **changes}  # fmt: skip


def all_pairs(hosts, rates=None, **changes):
    """`rates`: of (sender, receiver), where not 12 GB/s."""
    return [reading(*pair, rate=(rates or {}).get(pair, 12.0), **changes) for pair in itertools.permutations(hosts, 2)]


def finding(blame, hosts, **changes):
    """As find_slow_links --json has it."""
    return {"blame": blame, "direction": "both", "hosts": hosts, "rail": None, "devices": [], "leaf": None, "other_leaf": None,
            "text": f"{blame} {' '.join(hosts)}", "percent_of_expected": 80.0, "bandwidth_gb_per_s": 9.6,
            "expected_gb_per_s": 12.0, "readings": 6, "failed_readings": 0, "slow_meetings": None, "slow_rounds": None,
            "partners": 3, "slow_partners": None, "false_alarm_probability": 1e-6, "confirmed": False, "reason": None,
            "to_settle": None, "next_commands": [{"command": "again", "purpose": "to see"}], **changes}  # fmt: skip


def slow_links(*findings, judged=None, **changes):
    return {"kind": "slow_links", "schema_version": 1, "fabricbench_version": "0.1.0",
            "judged": judged or ("slow" if findings else "clean"), "headline": HEADLINE, "findings": list(findings),
            "questions": [], "groupings": [], "order": [], **changes}  # fmt: skip


def question(one, other):
    return {"host": one, "other_host": other, "rail": None, "readings": 2, "why": "slow once"}


def copy(pci="0000:01:00.0", size=MIB, rate=50.0, **changes):
    gpu = {"device": 0, "pci": pci, "model": "a GPU", "numa_node": 0}
    time_us = size / rate / 1000
    return {"kind": "copy", "host": "node1", "gpu": gpu, "copy": "host_to_device", "memory_node": 0, "peer": None,
            "over_host": False, "size_bytes": size, "time_us_median": time_us, "time_us_interval": None,
            "time_us_min": time_us, "time_us_max": time_us, "epochs": 9, "samples": 90, "bandwidth_gb_per_s": rate,
            "directions_gb_per_s": None, "bound_gb_per_s": 63.0, "bound_by": "PCIe 32 GT/s x16", "others_gb_per_s": 55.0,
            "across_hosts": False, "standing": "usual", "peer_standing": None, "wrong_elements": 0, **changes}  # fmt: skip


def connection_step(step="connect", median=120.0, **changes):
    if median is None:
        return {**connection_step(step), **dict.fromkeys(("time_us_min", "time_us_median", "time_us_p99", "time_us_max",
                                                                  "step_rate_per_s")), **changes}
    return {"kind": "connection_step", "pair": 0, "step": step, "samples": 400, "time_us_min": 0.8 * median,
            "time_us_median": median, "time_us_p99": 2 * median, "time_us_max": 4 * median, "connections": 400,
            "step_rate_per_s": 2500.0, "failed_connections": 0, "connections_per_s": 1000.0, "messages": 800,
            "lost_messages": 0, "wrong_messages": 0, "problem": None, **changes}  # fmt: skip


def acceptance_run(folder, exit_status=6):
    """A folder of results with records of every kind. Returns it."""
    hosts = [f"node{number:02}" for number in range(1, 9)]
    shares = {name: {f"mlx5_{nic}:1": 10**9 * (1 + (name == "node03" and nic == 0)) for nic in range(4)} for name in hosts}
    measured = [
        row(size, measurement(3 + size / 20000, size, 16, wires=wires(shares),
                              samples_us=[3 + size / 20000 + 0.1 * (number % 17) for number in range(300)]),
            measurement(3.4 + size / 18000, size, 16, wires=wires(shares)))
        for size in (8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, 2 * MIB, 16 * MIB)
    ]  # fmt: skip
    compared = [row_comparison(one["size_bytes"], verdict, ratio, usual_us=one["out_of_place"]["time_us_median"] / ratio)
                for one, verdict, ratio in zip(measured, ["same"] * 3 + ["undecided", "faster", "same", "slower", "slower"],
                                               [1.01, 0.99, 1.0, 1.02, 0.9, 1.0, 1.09, 1.12])]  # fmt: skip
    difference = {"key": "library", "before": "an MPI 1.0", "now": "an MPI 1.1"}
    outcome = baseline_comparison(6, "2 of 8 rows slower than the baseline, the worst takes 1.12 times as long",
                                  allowed=[difference],
                                  circumstances=[{"key": "kernel", "before": "6.1.0", "now": "6.1.1"}])  # fmt: skip
    rates = {(one, other): 12 + 0.1 * math.sin(3 * i + 7 * j) for i, one in enumerate(hosts) for j, other in enumerate(hosts)}
    rates |= {("node03", other): 7.1 for other in hosts} | {(one, "node06"): 9.0 for one in hosts}
    rates |= {("node02", "node05"): 3.3, ("node07", "node08"): None}
    halves = [{"name": "leaf1", "hosts": hosts[:4], "folded": ""}, {"name": "leaf2", "hosts": hosts[4:], "folded": ""}]
    files = {
        "acceptance.jsonl": [
            {"kind": "acceptance", "schema_version": 1, "fabricbench_version": "0.1.0", "began_utc": utc(), "hosts": hosts,
             "held_against": "baseline results/site.jsonl", "command": "scripts/accept.sh -H node[01-08]"},
            {"kind": "acceptance_step", "name": "pairs", "stage": "pairs", "hosts": hosts, "command": "scripts/sweep_pairs.sh",
             "records": "pairs.jsonl", "outcome": "slow", "exit_status": 6, "reason": "2 hosts are slow", "seconds": 40.0},
            {"kind": "acceptance_step", "name": "hosts/node08", "stage": "hosts", "hosts": ["node08"], "command": "gpu_copy_bw",
             "records": None, "outcome": "not_measured", "exit_status": None, "reason": "no time was left", "seconds": 0.0},
            {"kind": "acceptance_verdict", "exit_status": exit_status, "headline": "5 of 8 hosts accepted; node03 slow to send",
             "admit": hosts[:2] + hosts[3:5] + hosts[6:7],
             "drain": [{"host": "node03", "reason": "slow to send: 7.1 of 12.0 GB/s"}],
             "undecided": [{"host": "node08", "reason": "not measured"}], "seconds": 812.0},
        ],
        "context.jsonl": [context(hosts)],  # no run, and so without an end
        "pairs.jsonl": [{"kind": "sweep", "hosts": hosts, "began_utc": utc()}, *all_pairs(hosts, rates, reason="a reason")],
        "pairs-verdict.jsonl": [slow_links(
            finding("host", ["node03"], direction="sends", text="node03 sends slowly", percent_of_expected=59.0),
            finding("host", ["node06"], direction="receives", text="node06 receives slowly"),
            finding("pair", ["node02", "node05"], direction="sends", text="slow from node02 to node05"),
            order=hosts, questions=[question("node07", "node08")], groupings=[{"given": True,
            "across_percent_of_within": 90.0, "false_alarm_probability": 0.0, "groups": halves}])],
        "hosts/node01.jsonl": [context(["node01"], program="gpu_copy_bw", figure="copies"),
                               *(copy(f"0000:0{gpu}:00.0", size, 55 - 8 * (gpu == 3)) for gpu in range(4)
                                 for size in (MIB, 64 * MIB)), end()],
        "collectives/all_reduce_perf-8.jsonl": [context(hosts, 2, started_utc=utc(25)), *measured, *compared,
                                                history_change(16 * MIB), history_change(None, 1.02, 16), outcome, end(6)],
        "collectives/rdma_write_bw.jsonl": [context(hosts[:2], program="rdma_write_bw", figure="bandwidth",
                                                    wire_rate_gb_per_s=50.0), *rows(gb_per_s=48.0), end()],
        "collectives/rdma_cm_connect.jsonl": [context(hosts[:2], program="rdma_cm_connect", figure="connections"),
                                              *(connection_step(step, median) for step, median in
                                                (("resolve_address", 80.0), ("connect", 400.0), ("first_message", 9.0))), end()],
        "site.jsonl": baseline(14, (8, 256 * KIB, 16 * MIB), slower_from=10),
    }  # fmt: skip
    for name, lines in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Path(folder)


class Page(html.parser.HTMLParser):
    """A report, read back without a browser."""

    VOID = {"meta", "link", "input", "br", "img", "hr"}

    def __init__(self, text):
        super().__init__()
        self.markup = text
        self.tags = []  # (name, attributes)
        self.open_ = []
        self.texts = {}  # by section: words outside scripts and styles
        self.tables = {}  # by caption: rows of cells, as texts
        self.plots = {}  # by label: figures of its views
        self.section_ = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag == "section":
            self.section_ = attributes["id"]
        if tag == "table":
            self.rows_ = []
        if tag == "tr":
            self.rows_.append([])
        if tag in ("td", "th"):
            self.rows_[-1].append("")
        if tag == "figcaption":
            self.label_ = ""
        if tag not in self.VOID:
            self.open_.append((tag, attributes))

    def handle_endtag(self, tag):
        assert self.open_ and self.open_[-1][0] == tag, f"</{tag}> within {self.open_[-3:]}"
        self.open_.pop()
        if tag == "caption":
            self.caption_ = self.caption_text_
        if tag == "table":
            self.tables[self.caption_] = self.rows_
        if tag == "figcaption":
            self.plots[self.label_] = []

    def handle_data(self, text):
        tag, attributes = self.open_[-1] if self.open_ else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.plots[self.label_].append(json.loads(text))
        if tag in ("script", "style"):
            return
        within = [name for name, _ in self.open_]
        if "td" in within or "th" in within:
            self.rows_[-1][-1] += text
        if tag == "caption":
            self.caption_text_ = text
        if "figcaption" in within:
            self.label_ += text
        self.texts[self.section_] = self.texts.get(self.section_, "") + text

    def rows(self, caption):
        """Those of a table, without its head."""
        return self.tables[caption][1:]

    def figure(self, label, view=0):
        """That of the plot whose label begins like this."""
        return next(figures[view] for name, figures in self.plots.items() if name.startswith(label))


class Reporting(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fabricbench-report-")
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)
        self.page = self.directory / "report.html"

    def write(self, name, lines):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
        return path

    def run_report(self, *arguments, status=OK):
        """Runs the script in this process, without plotly.js, which takes most of the time. Returns what it says."""
        out, err, ended_with = io.StringIO(), io.StringIO(), 0
        words = [str(REPORT), *map(str, arguments), "-o", str(self.page)]
        with mock.patch.object(sys, "argv", words), mock.patch("report_page.page.library", return_value="the library"), \
                redirect_stdout(out), redirect_stderr(err):
            try:
                report.main()
            except SystemExit as end_of_it:
                ended_with = end_of_it.code
        self.assertEqual(ended_with, status, err.getvalue())
        self.assertEqual(out.getvalue(), "")
        return err.getvalue()

    def launch_report(self, *arguments, stdout=subprocess.PIPE):
        """Runs it as a user does."""
        return subprocess.run([sys.executable, REPORT, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, text=True,
                              check=False, stdin=subprocess.DEVNULL, env=os.environ)  # fmt: skip

    def report_on(self, *contents, arguments=()):
        """The report on files with these lines, and nothing said on stderr."""
        files = [self.write(f"results{number}.jsonl", lines) for number, lines in enumerate(contents)]
        self.assertEqual(self.run_report(*files, "--force", *arguments), "")
        return Page(self.page.read_text())

    def refuse(self, *arguments, status=USAGE):
        """Returns the one line that it says."""
        said = self.run_report(*arguments, status=status)
        self.assertFalse(self.page.exists())
        self.assertEqual(said.count("\n"), 1, said)
        return said
