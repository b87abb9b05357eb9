"""Runs scripts/accept.sh with a launcher that makes figures up: hosts node1, node2... with the faults that a test plants.

tests/cluster has the script on hosts.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
PROGRAMS = pathlib.Path(os.environ["FABRICBENCH_PROGRAMS"])
# Notes what it ran in the file `ran`. Files of faults: `dead`, `unknown`, `slow_alone`, `slow_pairs` (hosts, one per line), `mtu` (of
# node2), `fallback` (of node3), `slow_collectives` (numbers of hosts), `refuse_options`, `slow_motion`, `endless_pairs`, `blanks` (in JSON),
# `wrong_data`; of hosts alone
# `no_time`, `wrong_elements`, `broken_off`.
LAUNCHER = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
folder = pathlib.Path(__file__).parent
def begin():
    with open(folder / "begun", "a") as file:
        file.write(str(os.getpid()) + "\\n")
if sys.argv[1:] == ["--version"]:
    print("mpirun (Open MPI) 4.1.4")
    sys.exit()
hosts = [line.split()[0] for line in open(sys.argv[sys.argv.index("--hostfile") + 1])]
program = next(pathlib.Path(word).name for word in sys.argv if word.startswith(os.environ["PROGRAMS"]))
with open(folder / "ran", "a") as file:
    file.write(program + " " + " ".join(hosts) + "\\n")
def fault(name):
    return (folder / name).read_text().split() if (folder / name).exists() else []
def alone(name):
    return len(hosts) == 1 and hosts[0] in fault(name)
if (folder / "slow_motion").exists():
    begin()
    time.sleep(200)
if set(fault("dead")) & set(hosts):
    sys.exit("ssh: connect to host {} port 22: Connection refused".format(fault("dead")[0]))
if set(fault("unknown")) & set(hosts):
    sys.exit("ssh: Could not resolve hostname {}: Name or service not known".format(hosts[0]))
if (folder / "refuse_options").exists():
    print(program + ": '-b' is given twice", file=sys.stderr)
    sys.exit(2)
def tell(**values):
    print(json.dumps(values, separators=(", ", ": ") if (folder / "blanks").exists() else (",", ":")), flush=True)
def device(name, mtu):
    return dict(name=name, kind="ethernet", state="up", speed_mbit_per_s=100000, numa_node=0, guid=None, mtu_bytes=mtu,
                driver="mlx5_core", firmware="28.39")
ranks = int(sys.argv[sys.argv.index("-np") + 1]) // len(hosts)
tell(kind="context", schema_version=1, program=program, figure="collective", ranks=ranks * len(hosts),
     hosts=[dict(name=host, kernel="6.1", processor="fast", sockets=1, cores=8, processing_units=16, last_level_cache_bytes=1,
                 numa_nodes=[dict(index=0, memory_bytes=64 << 30, processing_units="0-15")], switches=None,
                 network_devices=[device("e0", int(fault("mtu")[0]) if host == "node2" and fault("mtu") else 9000),
                                  device("e1", 9000), device("docker0", 1500 + len(host))]) for host in hosts],
     rank_map=[dict(rank=rank, host=hosts[rank // ranks], local_rank=rank % ranks, pid=1, binding="0", group=0,
                    group_rank=rank, gpu=None) for rank in range(ranks * len(hosts))])
if program == "pairwise_bw":  # all pairs in one job, three times
    pairs = [(a, b) for a in range(len(hosts)) for b in range(len(hosts)) if a < b] * 3
    for number, pair in enumerate(pairs):
        for sender, receiver in (pair, pair[::-1]):
            rate = (6.0 if set(fault("slow_pairs")) & {hosts[sender], hosts[receiver]} else 12.0) * (1 + 0.002 * (number % 5))
            tell(**{"kind": "reading", "round": number, "concurrent": 1, "from": sender, "to": receiver, "from_rank": sender,
                    "to_rank": receiver, "from_host": hosts[sender], "to_host": hosts[receiver], "status": "ok",
                    "bandwidth_gb_per_s": rate, "latency_us": 2.0, "reason": None, "size_bytes": 1 << 20})
    if (folder / "endless_pairs").exists():
        begin()
        time.sleep(200)
    tell(kind="end", exit_status=7, reason="")
    sys.exit(7)  # it leaves the verdict to find_slow_links
slow = hosts[0] in fault("slow_alone") if len(hosts) == 1 else str(len(hosts)) in fault("slow_collectives")
time_us = 100.0 * (2 if slow else 1) * (1 + 0.001 * (sum(map(ord, hosts[0])) % 7))
wires = [] if len(hosts) == 1 else [
    dict(host=host, wire="e1" if host == "node3" and (folder / "fallback").exists() else "e0", sent_bytes=1 << 26,
         received_bytes=1 << 26) for host in hosts]
tell(kind="row", size_bytes=1 << 20, count=1 << 18, datatype="float", reduction="sum", root=-1, group=0, traffic=[],
     skipped=None, finished_utc="2026-01-01T00:00:00Z", in_place=None, out_of_place=dict(
         time_us_median=None if alone("no_time") else time_us, time_us_p5=time_us,
         time_us_interval=dict(low_us=99.0, high_us=101.0, confidence=0.95, half_width_percent=0.5),
         algbw_gb_per_s=1e3 / time_us, busbw_gb_per_s=1e3 / time_us, wrong_elements=3 if alone("wrong_elements") else 0, wires=wires))
if alone("broken_off"):
    sys.exit(9)
status = 6 if slow and len(hosts) > 1 else 5 if len(hosts) > 1 and (folder / "wrong_data").exists() else 0
reason = {0: "", 5: "wrong data in rank 1", 6: "the average busbw is below --min-bw"}[status]
tell(kind="end", exit_status=status, reason=reason)
if reason:
    print(program + ": " + reason, file=sys.stderr)
sys.exit(status)
"""


def alive(process):
    """Whether it runs; what has ended and waits for its parent does not."""
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def wait_until(holds, words, most_s=240):
    deadline = time.monotonic() + most_s
    while not holds():
        assert time.monotonic() < deadline, words
        time.sleep(0.05)


def pids_in(file, number):
    """Of so many launchers, when each has noted its own."""
    wait_until(lambda: file.exists() and file.read_text().count("\n") >= number, "no launcher")
    return [int(line) for line in file.read_text().split()]


class AcceptTest(unittest.TestCase):

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.results = self.folder / "results"
        launcher = self.folder / "mpirun"
        launcher.write_text(LAUNCHER)
        launcher.chmod(0o755)

    def plant(self, name, *words):
        (self.folder / name).write_text("\n".join(words) + "\n")

    def remove(self, name):
        (self.folder / name).unlink()

    def write_baseline(self, *launches, **changes):
        path = self.folder / "site.jsonl"
        first = {"kind": "baseline", "baseline_version": 1, "launches": len(launches), **changes}
        path.write_text("".join(json.dumps(line) + "\n" for line in (first, *launches)))
        return path

    def start(self, *arguments, command=(SCRIPTS / "accept.sh",)):
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "TMPDIR": str(self.folder),
                       "PROGRAMS": str(PROGRAMS)}
        environment.pop("SLURM_JOB_NODELIST", None)
        return subprocess.Popen([*map(str, command), *map(str, arguments)], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)

    def call(self, *arguments):
        process = self.start(*arguments)
        out, err = process.communicate(timeout=600)
        return process.returncode, out, err

    def options(self, hosts="node[1-6]"):
        """Of a new run. Few rounds in one job, since made up figures are steady."""
        return ["-H", hosts, "--programs", PROGRAMS, "--output", self.results, "--rounds", 5, "--resident"]

    def accept(self, *arguments, hosts="node[1-6]"):
        return self.call(*self.options(hosts), *arguments)

    def resume(self, *arguments):
        return self.call("--resume", self.results, "--programs", PROGRAMS, *arguments)

    def recheck(self, host, *arguments):
        return self.call("--recheck", host, self.results, "--programs", PROGRAMS, *arguments)

    def lines(self, kind=None):
        found = [json.loads(line) for line in (self.results / "acceptance.jsonl").read_text().splitlines()]
        return [line for line in found if kind in (None, line["kind"])]

    def verdict(self):
        return self.lines("acceptance_verdict")[-1]

    def outcomes(self):
        """The last outcome of each step."""
        return {step["name"]: step["outcome"] for step in self.lines("acceptance_step")}

    def ran(self):
        """What the launcher ran: (program, hosts)."""
        path = self.folder / "ran"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(words[0], words[1:]) for words in map(str.split, lines)]

    def drained(self):
        return {one["host"]: one["reason"] for one in self.verdict()["drain"]}

    def undecided(self):
        return {one["host"]: one["reason"] for one in self.verdict()["undecided"]}
