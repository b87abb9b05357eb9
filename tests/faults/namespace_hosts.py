"""Hosts made of network namespaces for tests in Python. scripts/hosts.sh makes them; here a shell keeps them until
the end, and each job is a process of its own."""

import os
import shlex
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

TESTS = Path(__file__).parents[1]
SCRIPTS = TESTS.parent / "scripts"
HOSTS_SH = SCRIPTS / "hosts.sh"
SKIPPED = 77
RATE = "200mbit"  # of each link: below what two processors move
# Makes the hosts, says who they are, and then runs a line of input after the other. Nobody is left when input ends.
KEEPER = r"""
set -eu
source "$1"
trap remove_hosts EXIT
trap 'exit 1' INT TERM HUP
make_hosts "$2"
for host in "${hosts[@]}"; do shape_host "$host" "$3"; done
echo "$hosts_switch $hosts_directory ${hosts[*]}"
while read -r line; do eval "$line"; echo; done
"""
# mpirun itself waits for its daemon on a host that is out of reach, unless it is told to look whether that is there.
LOOKS_OFTEN = {"oob_tcp_keepalive_time": "2", "oob_tcp_keepalive_intvl": "1", "oob_tcp_keepalive_probes": "2"}
WATCHED = tuple(word for name, value in LOOKS_OFTEN.items() for word in ("--mca", name, value))


class Hosts:
    """A context manager: the hosts are gone behind it, with all that ran on them."""

    def __init__(self, number, rate=RATE):
        self.keeper = subprocess.Popen(["bash", "-c", KEEPER, "hosts", HOSTS_SH, str(number), rate], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        words = self.keeper.stdout.readline().split()
        if not words:
            self.refuse()
        self.switch, self.directory, *self.names = words

    def refuse(self):
        said = self.keeper.communicate()[1].strip()
        if self.keeper.returncode == SKIPPED:
            raise unittest.SkipTest(said)
        raise RuntimeError(said)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.keeper.communicate()  # the end of its input is what it waits for

    def do(self, *words):
        """Runs a function of hosts.sh, or another command, where the hosts are known."""
        self.keeper.stdin.write(shlex.join(map(str, words)) + "\n")
        self.keeper.stdin.flush()
        if not self.keeper.stdout.readline():
            raise RuntimeError(f"{words}: {self.keeper.stderr.read()}")

    def start(self, command, out, err, limit_s, options=()):
        """mpirun of `command` with one rank on each host; its own process. mpirun ends it after `limit_s`."""
        script = (f"source {HOSTS_SH}; hosts=({' '.join(self.names)}); hosts_switch={self.switch}; "
                  f"hosts_directory={self.directory}; run_timeout_s={limit_s}; run_on_hosts 1 \"$@\"")
        return subprocess.Popen(["bash", "-c", script, "job", *options, *map(str, command)], stdin=subprocess.DEVNULL,
                                stdout=out, stderr=err)

    def start_script(self, command, out, err):
        """A script of the suite, as tests/cluster/sweeps.sh starts them, in a folder of its own for what is temporary."""
        network = "10.77.0.0/24"
        settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_tcp_if_include": network,
                    "OMPI_MCA_oob_tcp_if_include": network,
                    **{f"OMPI_MCA_{name}": value for name, value in LOOKS_OFTEN.items()}, "TMPDIR": self.directory}
        return subprocess.Popen(["ip", "netns", "exec", self.switch, *map(str, command)], stdin=subprocess.DEVNULL,
                                stdout=out, stderr=err, env={**os.environ, **settings})

    @property
    def agent(self):
        return f"{self.directory}/agent"

    def processes(self, number=None):
        """Ids of what runs on host `number` from 0, or on all and on the switch; without those that only wait to be
        reaped."""
        names = [*self.names, self.switch] if number is None else [self.names[number]]
        listed = [subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split()
                  for name in names]
        return [int(process) for each in listed for process in each if state_of(process) not in "ZX"]

    def signal(self, number, which):
        for process in self.processes(number):
            send(process, which)

    def unplug(self, number):
        self.do("ip", "-n", self.names[number], "link", "set", "e0", "down")

    def plug_in(self, number):
        self.do("ip", "-n", self.names[number], "link", "set", "e0", "up")

    def shape_all(self, rate):
        for name in self.names:
            self.do("shape_host", name, rate)

    def left_over(self, patience_s):
        """Command lines of what is still there after a while; it is ended."""
        deadline = time.monotonic() + patience_s
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.1)
        commands = [command_of(process) for process in left]
        for process in left:
            send(process, signal.SIGKILL)
        return [command for command in commands if command]


def where_hosts_can_be_made(main):
    """The status of `main`; 77, with the reason, where this machine has no such hosts. A time limit's SIGTERM ends it as an
    exception does, so that its hosts go."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        return main()
    except unittest.SkipTest as reason:
        print(reason, file=sys.stderr)
        return SKIPPED


def state_of(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def command_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def send(process, which):
    try:
        os.kill(process, which)
    except ProcessLookupError:
        pass
