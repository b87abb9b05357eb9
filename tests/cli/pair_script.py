"""Runs scripts/check_node_pair.sh with a launcher that starts nothing.

A launcher in a temporary folder takes the place of mpirun or srun: it notes its arguments and environment, prints what a
test wants it to, and ends as the test says. tests/cluster has the script on hosts.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "check_node_pair.sh"
PROGRAMS = os.environ["FABRICBENCH_PROGRAMS"]
LAUNCHER = """#!/bin/sh
case $1 in --version) echo "{version}"; exit 0 ;; esac
printf '%s\\n' "$@" >{folder}/arguments
env >{folder}/environment
cp "{folder}"/temporary/fabricbench-pair.*/hostfile {folder}/hostfile
cat {folder}/out
cat {folder}/err >&2
exit {status}
"""
OPEN_MPI, HYDRA = "mpirun (Open MPI) 4.1.4", "HYDRA build details:"


def context(*hosts):
    return {"kind": "context", "rank_map": [{"rank": rank, "host": host} for rank, host in enumerate(hosts)]}


def sweep_reading(sender, receiver, rate, status="ok", reason=None):
    return {"kind": "reading", "from": sender, "to": receiver, "status": status, "bandwidth_gb_per_s": rate, "latency_us": 1.5,
            "reason": reason, "size_bytes": 1 << 20}


def row(directions=None, busbw=3.0, group=0, wrong=0):
    return {"kind": "row", "size_bytes": 4096, "group": group, "skipped": None,
            "out_of_place": {"directions_gb_per_s": directions, "busbw_gb_per_s": busbw, "wrong_elements": wrong}}


def text_of(*values):
    return b"# a line of the table\n" + b"".join(json.dumps(value).encode() + b"\n" for value in values)


BOTH_WELL = text_of(context("node1", "node2"), sweep_reading(0, 1, 12.0), sweep_reading(1, 0, 11.0), {"kind": "end"})


class PairScriptTest(unittest.TestCase):

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "temporary").mkdir()
        self.records = self.folder / "records.jsonl"

    def make_launcher(self, out=BOTH_WELL, err=b"", status=0, version=OPEN_MPI, name="mpirun"):
        (self.folder / "out").write_bytes(out)
        (self.folder / "err").write_bytes(err)
        path = self.folder / name
        path.write_text(LAUNCHER.format(folder=self.folder, version=version, status=status))
        path.chmod(0o755)

    def command(self, *arguments):
        return [str(SCRIPT), "--programs", PROGRAMS, "--records", str(self.records), "--logs", str(self.folder / "logs"),
                *arguments]

    def check(self, *arguments, command=(), **variables):
        """Runs the script on two hosts, with the launcher first on the PATH. `command`: what runs it."""
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "TMPDIR": str(self.folder / "temporary"),
                       **variables}
        arguments = arguments if "node1" in arguments else ("node1", "node2", *arguments)
        return subprocess.run([*command, *self.command(*arguments)], env=environment, capture_output=True, text=True, timeout=60)

    def readings(self):
        if not self.records.exists():
            return []
        return [json.loads(line) for line in self.records.read_text(encoding="utf-8").splitlines()]

    def launched(self):
        return (self.folder / "arguments").read_text().splitlines()

    def names_in_environment(self):
        return {line.partition("=")[0]: line.partition("=")[2] for line in (self.folder / "environment").read_text().splitlines()}
