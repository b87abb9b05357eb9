"""Launches programs inside the guests that tests/rdma/guest/run makes."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

from launch import MPIEXEC, POOL, PROGRAMS, TRIES, Job, ProgramTest, kill, wait_until
from resident import Pool, ResidentJob

HOSTS = ("host1", "host2")
OK, FAILURE, USAGE, MISSING, TIMEOUT, WRONG_DATA = 0, 1, 2, 3, 4, 5
DEVICE = "rxe0"
# The address of a guest's RDMA device.
ADDRESSES = {"host1": "10.79.0.1", "host2": "10.79.0.2"}
# Of host1, on the wire between guests that is never cut.
CONTROL_ADDRESS = "10.78.0.1"
# The GID that stands for the IPv4 address.
GID_INDEX = 1
# After which time a peer that does not answer is given up, where a test waits for that.
STALL_S = 2
# After which time a rank that waits for MPI ends the job.
WATCHDOG_S = 30
# For what comes in seconds, however busy this machine is: only what hangs takes so long.
PATIENCE_S = 300
SCHEMA = Path(__file__).parents[3] / "docs/output.schema.json"
# Programs on a CUDA that is none; empty where there are none.
PROGRAMS_ON_FAKES = os.environ["FABRICBENCH_PROGRAMS_ON_FAKES"]


def shell(command, host=HOSTS[0], timeout=PATIENCE_S):
    """Runs a shell command on a guest. Returns its output; an error is one of the test."""
    done = subprocess.run(["on_host.sh", host, command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        raise AssertionError(f"'{command}' on {host} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def sent_packets():
    """By the RDMA device of the guest that the tests run in."""
    return int(Path(f"/sys/class/infiniband/{DEVICE}/ports/1/hw_counters/sent_pkts").read_text())


def wait_for_traffic(packets=3000):
    """Until messages are under way: for connecting alone, and for the first round of messages, that is too many."""
    before = sent_packets()
    wait_until(lambda: sent_packets() - before >= packets, f"{DEVICE} has not sent {packets} packets", PATIENCE_S)


def validate(lines):
    """Each line is as the schema says."""
    import jsonschema  # which takes an emulated processor seconds, and not every test
    validator = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text()))
    for line in lines:
        validator.validate(line)


def judged(measure, holds):
    """The first measurement of which that holds, of three. What load cannot change belongs into `measure`."""
    for this in range(1, TRIES + 1):
        figures = measure()
        if holds(figures):
            return figures
        print(f"try {this} of {TRIES}: {figures} is not what it should be", file=sys.stderr, flush=True)
    raise AssertionError(f"{TRIES} tries, and the last gave {figures}")


def on_hosts(hosts, ranks):
    """The launcher's options for so many ranks there."""
    return ["-H", ",".join(f"{host}:{-(-ranks // len(hosts))}" for host in hosts)]


class JobOnBoth(ResidentJob):
    """Its ranks on host2 write to files there, in a directory of the same name."""

    def listen(self):
        shell(f"mkdir -m 700 {self.path}", HOSTS[1])
        listener = socket.create_server((CONTROL_ADDRESS, 0))
        return listener, f"{CONTROL_ADDRESS}:{listener.getsockname()[1]}"

    def where(self, ranks):
        return on_hosts(HOSTS, ranks)

    def run(self, arguments, changes, timeout):
        status, stdout, stderr = super().run(arguments, changes, timeout)
        return status, stdout, stderr + shell(f"cd {self.path} && cat stderr && rm stderr", HOSTS[1]).encode()


POOLS = {HOSTS[:1]: POOL, HOSTS: Pool(JobOnBoth)}


class GuestTest(ProgramTest):
    """Tests in one guest, or on both: that is what `hosts` says."""

    hosts = HOSTS[:1]

    @property
    def pool(self):
        return POOLS[self.hosts]

    def start(self, program, *arguments, ranks=2, env=None):
        """Starts a program of ours, or one by its path; the job is a context manager."""
        return Job([MPIEXEC, *on_hosts(self.hosts, ranks), "-np", str(ranks), str(PROGRAMS / program), *map(str, arguments)],
                   {**os.environ, **(env or {})})

    def run_job(self, program, *arguments, **how):
        with self.start(program, *arguments, **how) as job:
            return job.finish(PATIENCE_S)

    def run_resident(self, program, *arguments, **how):
        """The same in a job that stays."""
        return self.run_program(*arguments, program=PROGRAMS / program, timeout=PATIENCE_S, **how)

    def strike(self, number, said, program, *arguments):
        """Starts a long run, sends its second rank a signal amid messages, and returns how it ended. Ranks meet over MPI now
        and then, and where the signal comes just then, nothing of verbs is `said`: the run is tried again."""
        def run():
            with self.start(program, *arguments, "--stall-timeout", STALL_S, "--timeout", WATCHDOG_S) as job:
                job.read_pids(2)
                wait_for_traffic()
                kill(job.pids[1], number)
                return job.finish(PATIENCE_S)

        return judged(run, lambda result: re.search(said, result.stderr))

    def measured(self, program, *arguments, **how):
        """Runs well, with every element right. Returns the measurements by size, as --json has them."""
        file = self.directory / "run.json"
        result = self.run_resident(program, *arguments, "--json", file, "--force", **how)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        self.assertIn("# Out of bounds values : 0 OK\n", result.stdout)
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        rows = {line["size_bytes"]: line["out_of_place"] for line in lines if line["kind"] == "row"}
        self.assertEqual({row["wrong_elements"] for row in rows.values()}, {0})
        return rows

    def refused(self, status, said, program, *arguments, **how):
        """Runs, and is refused with one line that matches."""
        result = self.run_job(program, *arguments, **how)
        lines = [line for line in result.stderr.splitlines() if line.startswith(f"{program}: ")]
        self.assertEqual((result.status, result.stdout, len(lines)), (status, "", 1), result.stderr)
        self.assertRegex(lines[0], said)

    def median_us(self, stdout):
        """The median of the only row of a table of latencies."""
        row, = (line.split() for line in stdout.splitlines() if re.match(r"\s*\d", line))
        return float(row[2])


class OnFakeGpus:
    """Of a GuestTest: its programs run on two GPUs that are none. Their memory is the host's, and their kernels are
    threads."""

    def start(self, program, *arguments, **how):
        env = {"FAKE_CUDA_DEVICES": "2", **how.pop("env", {})}
        return super().start(Path(PROGRAMS_ON_FAKES) / program, *arguments, env=env, **how)

    def run_resident(self, program, *arguments, **how):
        return self.run_job(program, *arguments, **how)

    def load_peer_memory(self):
        """The module that lends GPU memory out, as far as one sees it: the file that tells of it."""
        shell("mount -t tmpfs none /sys/kernel/mm && mkdir -p /sys/kernel/mm/memory_peers/nv_mem && "
              "echo 1 > /sys/kernel/mm/memory_peers/nv_mem/version")
        self.addCleanup(shell, "umount /sys/kernel/mm")
