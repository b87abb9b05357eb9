"""Programs over hosts made of network namespaces, and what happens to hosts, links and files while they run."""

import re
import signal
import subprocess
import tempfile
import time
from collections import namedtuple
from pathlib import Path

from namespace_hosts import SCRIPTS, WATCHED, command_of

HOSTS = 4
COLLECTIVES = ("all_gather", "all_reduce", "alltoall", "alltoallv", "barrier", "broadcast", "gather", "hypercube", "reduce",
               "reduce_scatter", "scatter", "sendrecv")
MESSAGES = ("send_recv_bw", "send_recv_bibw", "send_recv_lat", "tcp_bw", "tcp_bibw", "tcp_lat")
FULL_DISK_BYTES = 32 << 10
FULL_DISK_OF_SHORT_RECORDS_BYTES = 8 << 10  # of programs that end by themselves
# The options of a program, without sizes. `sized`: whether it takes sizes and cycles. `disk_bytes`: what its records fill.
Program = namedtuple("Program", "arguments sized disk_bytes", defaults=(True, FULL_DISK_BYTES))
PROGRAMS = {
    **{f"{name}_perf": Program((), name != "barrier") for name in COLLECTIVES},
    **{name: Program(("--pairs", "0-3")) for name in MESSAGES},  # the ranks between them have nothing to do
    "multi_pair_bw": Program(("--pairs", "adjacent")),
    "pairwise_bw": Program((), False, FULL_DISK_OF_SHORT_RECORDS_BYTES),
}
SWEEP = ("--rounds", "3", "--max-concurrent", "4", "--size", "16K", "--timeout", "12", "--tolerance", "50%")
SCRIPT_RUNS = {
    "sweep_pairs.sh": ("sweep_pairs.sh", *SWEEP),
    "sweep_pairs.sh --resident": ("sweep_pairs.sh", *SWEEP, "--resident"),
    "check_node_pair.sh": ("check_node_pair.sh", "--timeout", "20", "--size", "16K", "--test", "tcp_bw"),
}
SCRIPT_FAULTS = ("interface down", "host gone", "host frozen")
PAIRWISE_LIMIT_S = 16  # -T; its own option for pairs wants it
LIMIT_S = 6  # -T where a rank gets stuck, more than starting MPI takes even on a busy machine
PATIENT_LIMIT_S = 60  # and where none does
START_S = 15  # what a start may take on a busy machine
GRACE_S = 15  # and an end, beyond the time limit

TIMEOUT, FAILED, OK = 4, 1, 0


def patience_s(limit_s):
    """Within which the last rank ends the job: docs/reliability.md."""
    return 1.25 * limit_s + 2


class Job:
    """One run of a program on the hosts, in a folder of its own."""

    def __init__(self, hosts, programs, name, fault, limit_s):
        self.hosts, self.programs, self.name, self.fault = hosts, Path(programs), name, fault
        self.limit_s = max(limit_s, PAIRWISE_LIMIT_S) if name == "pairwise_bw" else limit_s
        self.folder = tempfile.TemporaryDirectory(prefix="fabricbench-network-", ignore_cleanup_errors=True)
        self.path = Path(self.folder.name)
        (self.path / "records").mkdir()
        self.record = self.path / "records" / "run.json"
        self.process = self.begin = self.planted = None
        self.has_met = False  # whether the fault came before the end
        self.said_after_s = None  # from the fault to the program's message

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        subprocess.run(["umount", self.path / "records"], stderr=subprocess.DEVNULL, check=False)
        self.folder.cleanup()

    def command(self):
        program, fault = PROGRAMS[self.name], self.fault
        words = [*fault.wrapper, self.programs / self.name, *program.arguments, "-T", self.limit_s, "--json", self.record]
        if self.name == "pairwise_bw":
            brief = ("-b", fault.size, "-n", "2", "--window", "2")
            return [*words, "--pair-timeout", "3", *(brief if fault.cycles == 1 else ("-b", "64K", "--time-budget", "1"))]
        sizes = ("-b", fault.size, "-e", fault.size) if program.sized else ()
        window = ("--window", "2") if self.name.endswith(("bw", "bibw")) else ()
        return [*words, "-n", "3", "-w", "1", "-N", fault.cycles, *sizes, *window]

    def start(self):
        self.fault.before(self)
        with (self.path / "out").open("wb") as out, (self.path / "err").open("wb") as err:
            self.begin = time.monotonic()
            self.process = self.hosts.start(self.command(), out, err, self.most_s(), self.fault.launcher)

    def most_s(self):
        """Within which it has to be over."""
        return int(START_S + patience_s(self.limit_s) + GRACE_S)

    def plant(self, victim):
        """As soon as it measures."""
        while self.fault.cycles != 1 and self.process.poll() is None and not self.measures(victim):
            time.sleep(0.05)
        self.has_met = self.fault.plant is nothing or self.process.poll() is None
        if self.has_met:
            self.fault.plant(self, victim)
        self.planted = time.monotonic()

    def measures(self, _):
        return self.record.exists() and re.search(r'"kind":"(row|reading)"', self.record.read_text(errors="replace"))

    def wait(self):
        """Status, or None where the job did not end."""
        deadline = self.begin + self.most_s() + GRACE_S
        while self.process.poll() is None and time.monotonic() < deadline:
            if self.said_after_s is None and self.own_lines():
                self.said_after_s = time.monotonic() - self.planted
            time.sleep(0.1)
        return self.process.poll()

    def text(self, name):
        path = self.path / name
        return path.read_text(errors="replace") if path.exists() else ""

    def own_lines(self):
        """What the program itself said."""
        return [line for line in self.text("err").splitlines() if re.match(r"(fabricbench|\w+_(perf|bw|bibw|lat)): ", line)]


class ScriptJob(Job):
    """The same of a script, which starts many jobs itself."""

    most = 300  # seconds: what a dead host costs is a time limit per round

    def command(self):
        hosts = self.hosts
        script, *arguments = SCRIPT_RUNS[self.name]
        return [SCRIPTS / script, *arguments, "--programs", self.programs, "--agent", hosts.agent, "--records", self.record,
                "--logs", self.path / "logs",
                "--mpi-options", "--oversubscribe --bind-to none --mca pml ob1 --mca btl self,tcp",
                *(("-H", ",".join(hosts.names)) if "sweep" in script else (hosts.names[0], hosts.names[3])),
                "--", "--window", "2", "-n", "3"]

    def start(self):
        with (self.path / "out").open("wb") as out, (self.path / "err").open("wb") as err:
            self.begin = time.monotonic()
            self.process = self.hosts.start_script(self.command(), out, err)

    def most_s(self):
        return self.most

    def measures(self, victim):
        """Records may come at the end only."""
        return any(command_of(process).startswith(str(self.programs)) for process in self.hosts.processes(victim))


def make_job(hosts, programs, name, fault, limit_s):
    return (ScriptJob if name in SCRIPT_RUNS else Job)(hosts, programs, name, fault, limit_s)


def nothing(*_):
    pass


def mount_small_disk(job):
    size = PROGRAMS[job.name].disk_bytes
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", job.path / "records"], check=True)


def remove_folder(job, _):
    job.record.unlink(missing_ok=True)
    job.record.parent.rmdir()


# `before`, `plant`: what is done before the start, and while it measures. `statuses`: those that are true. `says`: what a
# message has to say. `size`: of a message. `launcher`: options of mpirun. `wrapper`: what the program is started through.
# `cycles`: of -N; 0: it goes on until something happens. `victims`: hosts by their number. `limit_s`: -T. `named`: whether
# the message names the victim's host.
Fault = namedtuple("Fault", "label plant statuses says before size launcher wrapper cycles victims limit_s named",
                   defaults=(nothing, "16K", (), (), 0, (3,), PATIENT_LIMIT_S, True))
LOST = r"silent for [\d.]+ s|did not answer for [\d.]+ s|did not answer within|no report of round|nothing moved between|" \
       r"lost the connection"
LAUNCHERS = None  # any status but 0: the launcher's own
FULL = r"No space left on device"


def unplug(job, victim):
    job.hosts.unplug(victim)


def end(job, victim):
    job.hosts.signal(victim, signal.SIGKILL)


def freeze(job, victim):
    job.hosts.signal(victim, signal.SIGSTOP)


def slow_down(job):
    job.hosts.shape_all("1mbit")


def into(output):
    return ("sh", "-c", f'exec "$0" "$@" >{output}')


FAULTS = {fault.label: fault for fault in (
    Fault("interface down", unplug, {TIMEOUT}, LOST, victims=(3, 0), limit_s=LIMIT_S),
    Fault("interface down, launcher looks", unplug, LAUNCHERS, r"communication|" + LOST, launcher=WATCHED),
    Fault("host gone", end, LAUNCHERS, r"", victims=(3, 0), named=False),
    Fault("host frozen", freeze, {TIMEOUT}, LOST, victims=(3, 0), limit_s=LIMIT_S),
    Fault("1 Mbit/s", nothing, {OK}, r"", before=slow_down, cycles=1, named=False),
    Fault("1 Mbit/s, short limit", nothing, {TIMEOUT}, r"limit is --timeout|no answer within|for [\d.]+ s, with|no report",
          before=slow_down, cycles=1, size="32M", named=False, limit_s=LIMIT_S),
    Fault("disk full", nothing, {FAILED}, FULL, before=mount_small_disk, named=False),
    Fault("output closed", nothing, {FAILED}, r"standard output", wrapper=into("&-"), cycles=1, named=False),
    Fault("output full", nothing, {FAILED}, FULL, wrapper=into("/dev/full"), cycles=1, named=False),
    Fault("folder of records gone", remove_folder, {FAILED}, r"was removed while", cycles=100, named=False),
)}
GOOD = Fault("none", nothing, {OK}, r"", cycles=3, named=False)
