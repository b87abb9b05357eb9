#!/usr/bin/env python3
"""Whether memory and descriptors of a program's ranks grow from cycle 1,000 to cycle 10,000 of -N, each of which makes and
releases what a run over all sizes takes; one program of each family, over hosts made of network namespaces."""

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections import namedtuple
from pathlib import Path

from namespace_hosts import Hosts, command_of, where_hosts_can_be_made

FAMILIES = {
    "all_reduce_perf": ("-b", "64", "-e", "64", "-n", "1", "-w", "0"),
    "alltoall_perf": ("-b", "64", "-e", "64", "-n", "1", "-w", "0"),
    "send_recv_bw": ("-b", "64", "-e", "64", "-n", "1", "-w", "0", "--window", "2"),
    "multi_pair_bw": ("-b", "64", "-e", "64", "-n", "1", "-w", "0", "--window", "2"),
    "tcp_bw": ("-b", "64", "-e", "64", "-n", "1", "-w", "0", "--window", "2", "--streams", "4"),
}
# Pages that a library touches now and then, such as other buffers for messages that come early.
ALLOWED_KIB = 512
EVERY_S = 2
Sample = namedtuple("Sample", "cycles resident_kib descriptors")


class LongRun:
    """A program that goes on until it is ended, looked at every few seconds."""

    def __init__(self, hosts, programs, name):
        self.hosts, self.name, self.cycles, self.samples = hosts, name, 0, []
        self.stopping = threading.Event()
        self.process = hosts.start([Path(programs) / name, *FAMILIES[name], "-N", "0", "-T", "120"], subprocess.PIPE,
                                   subprocess.PIPE, 24 * 3600)
        self.said = b""
        self.threads = [threading.Thread(target=each, daemon=True) for each in (self.count, self.listen, self.look)]
        for thread in self.threads:
            thread.start()

    def count(self):
        for line in self.process.stdout:
            self.cycles += line.lstrip()[:1].isdigit()

    def listen(self):
        self.said = self.process.stderr.read()

    def look(self):
        while not self.stopping.wait(EVERY_S):
            self.samples += self.sample()

    def sample(self):
        """The largest of all ranks; nothing where one is just ending."""
        try:
            ranks = [process for process in self.hosts.processes()
                     if command_of(process).startswith(f"{Path(command_of(process).split(' ')[0]).parent}/{self.name} ")]
            resident = max(resident_kib(rank) for rank in ranks)
            return [Sample(self.cycles, resident, max(len(os.listdir(f"/proc/{rank}/fd")) for rank in ranks))]
        except (OSError, ValueError):
            return []

    def wait_for(self, cycles, most_s):
        deadline = time.monotonic() + most_s
        while self.cycles < cycles and self.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.1)
        return self.sample()

    def end(self):
        """Why it is not as it was; empty: it is."""
        ended = self.process.poll()
        self.stopping.set()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        for thread in self.threads:
            thread.join()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        if ended is not None:
            return f"ended by itself with {ended}: {self.said.decode(errors='replace')}"
        return grown([each for each in self.samples if each.cycles]) + "".join(self.hosts.left_over(15))


def resident_kib(process):
    return int(Path(f"/proc/{process}/status").read_text().partition("VmRSS:")[2].split()[0])


def grown(samples):
    """What the last sample has more than the first one after a tenth of the cycles."""
    if len(samples) < 2:
        return "nothing was seen of it"
    last = samples[-1]
    first = next(each for each in samples if each.cycles >= last.cycles / 10)
    if last.descriptors > first.descriptors:
        return f"{first.descriptors} descriptors after {first.cycles} cycles, {last.descriptors} after {last.cycles}"
    if last.resident_kib > first.resident_kib + ALLOWED_KIB:
        return f"{first.resident_kib} KiB after {first.cycles} cycles, {last.resident_kib} KiB after {last.cycles}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default=os.environ.get("FABRICBENCH_PROGRAMS"), help="folder of the programs")
    parser.add_argument("--program", action="append", choices=FAMILIES, help="only this one; may be repeated")
    parser.add_argument("--cycles", type=int, default=10_000)
    parser.add_argument("--most", type=float, default=600, help="seconds for each program")
    options = parser.parse_args()
    problems = 0
    with Hosts(2, "1gbit") as hosts:
        for name in options.program or FAMILIES:
            run = LongRun(hosts, options.programs, name)
            early = run.wait_for(options.cycles // 10, options.most)
            late = run.wait_for(options.cycles, options.most)
            run.samples = early + late
            is_done = late and late[0].cycles >= options.cycles
            why = run.end() or ("" if is_done else f"did not come to {options.cycles} cycles")
            print(f"{name}: {early} {late} {why}", flush=True)
            problems += bool(why)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(where_hosts_can_be_made(main))
