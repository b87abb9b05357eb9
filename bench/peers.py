#!/usr/bin/env python3
"""Compares fabricbench's programs with other benchmarks of the same thing; bench/peers.sh makes hosts and calls this.

Programs of a comparison run in turn, one at a time, in an order that changes from launch to launch, over the same
sizes and windows and for about the same time. What counts is the ratio of neighbouring launches: machines drift.
"""

import argparse
import contextlib
import itertools
import multiprocessing
import os
import random
import shutil
import signal
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, List, Optional

from peers_launch import (PEERS, QPERF_DEPTH, QPERF_RDMA_SECONDS, SECONDS_PER_BUDGET, STREAM_MESSAGE, WINDOW,
                          LaunchError, Settings, imb, iperf3_gb_per_s, mpi_graph_gb_per_s, osu, ours, ours_on_hosts,
                          perftest, placements, qperf_rdma, qperf_us, rdma_ours, why_no_qperf_rdma)

SPREAD_LAUNCHES = 20
QUIET_WAIT_S = 60  # in a comparison
BUSY_PROCESSORS = 0.5  # that others may use while we measure
BUSY_MOMENT_S = 0.3
NAME_WIDTH = 28  # of the longest of a program


@dataclass(frozen=True)
class Limit:
    """What a ratio has to keep."""

    ratio: float
    at_most: bool

    def met(self, ratio):
        return ratio <= self.ratio if self.at_most else ratio >= self.ratio

    def __str__(self):
        return f"{'at most' if self.at_most else 'at least'} {self.ratio:.2f}"


@dataclass(frozen=True)
class Subject:
    """What is compared. A time in us is better where it is shorter, anything else where it is more."""

    title: str
    unit: str
    limit: Optional[Limit]  # of ours to the better peer


@dataclass
class Program:
    """One side of a comparison: `run` launches it once and returns its figure."""

    name: str
    run: Callable[[], float]
    figures: List[float] = field(default_factory=list)


@dataclass
class Tally:
    """What became of the comparisons."""

    missed: int = 0
    errors: int = 0


LATENCY = Limit(1.03, at_most=True)
BANDWIDTH = Limit(0.97, at_most=False)
SPREAD = Limit(0.5, at_most=True)


def busy_processors():
    """How many processors are busy, for a moment in which no program of ours runs."""
    def used():
        times = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(times) - times[3] - times[4]  # without idle, and waiting for a disk

    before, began = used(), time.monotonic()
    time.sleep(BUSY_MOMENT_S)
    return (used() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)


class Patience:
    """Waits for moments in which nobody else uses the machine, for a minute in all."""

    def __init__(self):
        self.left = QUIET_WAIT_S

    def wait(self):
        """False where somebody still uses it after that minute."""
        while busy_processors() > BUSY_PROCESSORS:
            self.left -= BUSY_MOMENT_S
            if self.left <= 0:
                return False
        return True


def take_turns(programs, launches, patience):
    """Every program once a round, each round in another order."""
    busy_rounds = 0
    for order in itertools.islice(itertools.cycle(itertools.permutations(programs)), launches):
        busy_rounds += not patience.wait()
        for program in order:
            program.figures.append(program.run())
    if busy_rounds > 0:
        print(f"  others used the machine at the beginning of {busy_rounds} of {launches} rounds")


def ratios(first, second):
    return [one / other for one, other in zip(first.figures, second.figures)]


def print_program(program, unit, first):
    figures = program.figures
    line = (f"  {program.name:{NAME_WIDTH}} {statistics.median(figures):9.4g} {unit:6} "
            f"({min(figures):.4g} to {max(figures):.4g})")
    if program is not first:
        quotients = ratios(first, program)
        line += f"; ours / this {statistics.median(quotients):.3f} ({min(quotients):.3f} to {max(quotients):.3f})"
    print(line)


def judge(tally, what, ratio, limit):
    """Prints a ratio, its limit, and whether that is met."""
    met = limit is None or limit.met(ratio)
    tally.missed += not met
    verdict = f"limit {limit}: {'met' if met else 'MISSED'}" if limit else "no limit"
    print(f"  {what}: {ratio:.3f}; {verdict}", flush=True)


def compare(settings, tally, subject, make_programs):
    """Prints one comparison; the first program is ours."""
    print(f"{subject.title}: {settings.launches} launches each", flush=True)
    patience = Patience()
    patience.wait()
    try:
        first, *others = programs = make_programs()
        if not others:
            print("  not compared: none of its peers was found")
            return
        take_turns(programs, settings.launches, patience)
    except LaunchError as error:
        tally.errors += 1
        print(f"  not compared: {error}", flush=True)
        return
    for program in programs:
        print_program(program, subject.unit, first)
    best = (min if subject.unit == "us" else max)(others, key=lambda program: statistics.median(program.figures))
    better = ", the better peer" if len(others) > 1 else ""
    judge(tally, f"ours / {best.name}{better}", statistics.median(ratios(first, best)), subject.limit)


def those_found(settings, candidates):
    """Of programs by the name of their executable, those that there are."""
    return [program for executable, program in candidates if executable in settings.found]


def iterations_for(settings, time_us):
    """So many iterations take as long as a launch of ours."""
    return max(round(settings.seconds * 1e6 / time_us), 20)


def window_iterations(settings, name, size):
    return iterations_for(settings, WINDOW * ours(settings, name, size)["time_us_median"])


def latency_programs(settings, size):
    def mine():
        return ours(settings, "send_recv_lat", size)["time_us_median"]

    count = iterations_for(settings, 2 * mine())
    return [Program("send_recv_lat", mine)] + those_found(settings, [
        ("osu_latency", Program("osu_latency", lambda: osu(settings, "osu_latency", size, count)[0])),
        ("IMB-MPI1", Program("IMB PingPong", lambda: imb(settings, "PingPong", size, count)[0]))])


def window_programs(settings, name, size, osu_name, imb_name):
    count = window_iterations(settings, name, size)
    return [Program(name, lambda: ours(settings, name, size)["algbw_gb_per_s"])] + those_found(settings, [
        (osu_name, Program(osu_name, lambda: osu(settings, osu_name, size, count)[0] / 1e3)),
        ("IMB-MPI1", Program(f"IMB {imb_name}", lambda: imb(settings, imb_name, size, count)[0] / 1e3))])


def graph_programs(settings, size):
    """mpiGraph has a buffer for each message of a window, so ours goes through as many."""
    def mine():
        return ours(settings, "send_recv_bibw", size, last=WINDOW * size, buffers="rotate")["algbw_gb_per_s"]

    count = window_iterations(settings, "send_recv_bibw", size)
    return [Program("send_recv_bibw", mine)] + those_found(settings, [
        ("mpiGraph", Program("mpiGraph", lambda: mpi_graph_gb_per_s(settings, size, count)))])


def rate_programs(settings, size):
    count = window_iterations(settings, "multi_pair_bw", size)
    return [Program("multi_pair_bw", lambda: ours(settings, "multi_pair_bw", size)["message_rate_per_s"] / 1e6),
            *those_found(settings, [
                ("osu_mbw_mr", Program("osu_mbw_mr", lambda: osu(settings, "osu_mbw_mr", size, count)[1] / 1e6)),
                ("IMB-MPI1", Program("IMB Uniband", lambda: imb(settings, "Uniband", size, count)[1] / 1e6))])]


def tcp_bandwidth_programs(settings, processors, streams):
    def mine():
        return ours_on_hosts(settings, processors, "tcp_bw", STREAM_MESSAGE, "--streams", streams)["algbw_gb_per_s"]

    return [Program("tcp_bw", mine)] + those_found(settings, [
        ("iperf3", Program("iperf3", lambda: iperf3_gb_per_s(settings, processors, streams)))])


def tcp_latency_programs(settings, processors, size):
    def mine():
        return ours_on_hosts(settings, processors, "tcp_lat", size)["time_us_median"]

    return [Program("tcp_lat", mine)] + those_found(settings, [
        ("qperf", Program("qperf", lambda: qperf_us(settings, processors, size)))])


def rdma_bandwidth_programs(settings, verb, size, messages):
    def theirs():
        return perftest(settings, f"ib_{verb}_bw", size, messages)[2] * 2**20 / 1e9

    def mine():
        return rdma_ours(settings, f"rdma_{verb}_bw", size, "-n", messages)["algbw_gb_per_s"]

    return [Program(f"rdma_{verb}_bw", mine)] + those_found(settings, [
        (f"ib_{verb}_bw", Program(f"ib_{verb}_bw", theirs))])


def rdma_latency_programs(settings, verb, size, messages):
    """Both medians; perftest's t_typical is the fourth number behind the size. Once more with as many threads as ours."""
    peer = f"ib_{verb}_lat"
    thread = settings.build / "bench/libsecond_thread.so"

    def mine():
        return rdma_ours(settings, f"rdma_{verb}_lat", size, "-n", messages)["time_us_median"]

    return [Program(f"rdma_{verb}_lat", mine)] + those_found(settings, [
        (peer, Program(peer, lambda: perftest(settings, peer, size, messages)[3])),
        (peer, Program(f"{peer}, 2 threads", lambda: perftest(settings, peer, size, messages, thread)[3]))])


def qperf_bandwidth_programs(settings, test, program, size, options):
    """Ours has as many requests under way, and rdma_cm connects it too, which sets other timeouts than ours."""
    def mine():
        return rdma_ours(settings, program, size, "-R", "-t", QPERF_DEPTH, "-r", QPERF_DEPTH, "-n", QPERF_MESSAGES,
                         *options)["algbw_gb_per_s"]

    return [Program(program, mine), Program(test, lambda: qperf_rdma(settings, test, size) / 1e9)]


def qperf_latency_programs(settings, test, program, size, options):
    """Both means: qperf has no other."""
    budget = f"{QPERF_RDMA_SECONDS / SECONDS_PER_BUDGET:.3f}"

    def mine():
        return rdma_ours(settings, program, size, "-R", "--time-budget", budget,
                         "--target-precision", 100, *options)["time_us_mean"]

    return [Program(program, mine), Program(test, lambda: qperf_rdma(settings, test, size) / 1e3)]


LATENCY_SIZES = ((8, "8 B"), (64 << 10, "64 KiB"))
WINDOWED_SIZES = ((64 << 10, "64 KiB"), (1 << 20, "1 MiB"))
WINDOWS = f"over shared memory, windows of {WINDOW}"


def latency(settings, tally):
    for size, text in LATENCY_SIZES:
        subject = Subject(f"latency of {text} over shared memory, half a round trip", "us", LATENCY)
        compare(settings, tally, subject, lambda size=size: latency_programs(settings, size))


def bandwidth(settings, tally):
    for size, text in WINDOWED_SIZES:
        compare(settings, tally, Subject(f"bandwidth of {text} {WINDOWS}", "GB/s", BANDWIDTH),
                lambda size=size: window_programs(settings, "send_recv_bw", size, "osu_bw", "Uniband"))


def both_ways(settings, tally):
    for size, text in WINDOWED_SIZES:
        compare(settings, tally, Subject(f"both ways of {text} {WINDOWS}", "GB/s", None),
                lambda size=size: window_programs(settings, "send_recv_bibw", size, "osu_bibw", "Biband"))
        compare(settings, tally, Subject(f"both ways of {text} {WINDOWS}, {WINDOW} buffers in turn", "GB/s", None),
                lambda size=size: graph_programs(settings, size))


def message_rate(settings, tally):
    compare(settings, tally, Subject(f"message rate of 8 B {WINDOWS}", "Mmsg/s", None),
            lambda: rate_programs(settings, 8))


def have_hosts(settings, name):
    if settings.launcher is None:
        print(f"{name}: skipped: no two hosts to run on")
    return settings.launcher is not None


def tcp_bandwidth(settings, tally):
    if not have_hosts(settings, "tcp_bandwidth"):
        return
    for placement, processors in placements().items():
        for streams in (1, 4):
            subject = Subject(f"TCP between two hosts, 128 KiB, streams: {streams}, {placement}", "GB/s", BANDWIDTH)
            compare(settings, tally, subject, lambda processors=processors, streams=streams: tcp_bandwidth_programs(
                settings, processors, streams))


RDMA_MESSAGES = 1000
QPERF_MESSAGES = 2 * QPERF_DEPTH
# Tests of qperf that have an equal of ours; its own write stream is of writes with an immediate value.
QPERF_BANDWIDTHS = (("send", "rc_bw", "rdma_send_bw", ()),
                    ("write with immediate", "rc_rdma_write_bw", "rdma_write_bw", ("--write-with-imm",)))
QPERF_LATENCIES = (("write", "rc_rdma_write_poll_lat", "rdma_write_lat", ()),
                   ("write with immediate", "rc_rdma_write_lat", "rdma_write_lat", ("--write-with-imm",)),
                   ("send", "rc_lat", "rdma_send_lat", ()), ("read", "rc_rdma_read_lat", "rdma_read_lat", ()))


def have_rdma(settings, name):
    if settings.rdma is None:
        print(f"{name}: skipped: bench/peers_rdma.sh runs it")
    return settings.rdma is not None


def have_qperf_rdma(settings, name):
    reason = why_no_qperf_rdma(settings)
    if reason is not None:
        print(f"{name}, qperf: skipped: {reason}", flush=True)
    return reason is None


def rdma_bandwidth(settings, tally):
    if not have_rdma(settings, "rdma_bandwidth"):
        return
    for verb in ("write", "read", "send"):
        compare(settings, tally, Subject(f"RDMA {verb}, 64 KiB, {RDMA_MESSAGES} messages", "GB/s", BANDWIDTH),
                lambda verb=verb: rdma_bandwidth_programs(settings, verb, 64 << 10, RDMA_MESSAGES))
    if not have_qperf_rdma(settings, "rdma_bandwidth"):
        return
    for what, test, program, options in QPERF_BANDWIDTHS:
        subject = Subject(f"RDMA {what}, 64 KiB, {QPERF_DEPTH} under way, as qperf has", "GB/s", BANDWIDTH)
        compare(settings, tally, subject,
                lambda test=test, program=program, options=options: qperf_bandwidth_programs(
                    settings, test, program, 64 << 10, options))


def rdma_latency(settings, tally):
    if not have_rdma(settings, "rdma_latency"):
        return
    for verb, size in (("write", 2), ("send", 2), ("read", 2), ("atomic", 8)):
        compare(settings, tally, Subject(f"median latency of RDMA {verb}, {size} B", "us", LATENCY),
                lambda verb=verb, size=size: rdma_latency_programs(settings, verb, size, 2 * RDMA_MESSAGES))
    if not have_qperf_rdma(settings, "rdma_latency"):
        return
    for what, test, program, options in QPERF_LATENCIES:
        compare(settings, tally, Subject(f"mean latency of RDMA {what}, 2 B, as qperf tells", "us", LATENCY),
                lambda test=test, program=program, options=options: qperf_latency_programs(
                    settings, test, program, 2, options))


def tcp_latency(settings, tally):
    if not have_hosts(settings, "tcp_latency"):
        return
    for placement, processors in placements().items():
        subject = Subject(f"TCP latency of 8 B between two hosts, half a round trip, {placement}", "us", LATENCY)
        compare(settings, tally, subject, lambda processors=processors: tcp_latency_programs(settings, processors, 8))


def be_noisy(parent):
    """Computes and rests in turn, each for a tenth of a second to two, as a compiler does; as long as the parent lives.

    One that computed evenly would slow every mean by as much, which is wrong, and not spread.
    """
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    lengths = random.Random(1)
    while os.getppid() == parent:
        until = time.monotonic() + lengths.uniform(0.1, 2)
        while time.monotonic() < until:
            pass
        time.sleep(lengths.uniform(0.1, 2))


@contextlib.contextmanager
def noisy_neighbour():
    neighbour = multiprocessing.Process(target=be_noisy, args=(os.getpid(),), daemon=True)
    neighbour.start()
    try:
        yield
    finally:
        neighbour.terminate()
        neighbour.join()


def relative_spread(figures):
    """From the second smallest to the second largest, which are 5 % and 95 % of twenty, in parts of the median."""
    ordered = sorted(figures)
    return (ordered[-2] - ordered[1]) / statistics.median(ordered)


def compare_spreads(settings, tally, size):
    if not Patience().wait():
        print("  others used the machine at the beginning")
    mine, theirs = latency_programs(settings, size)[:2]
    with noisy_neighbour():
        for order in itertools.islice(itertools.cycle(((mine, theirs), (theirs, mine))), SPREAD_LAUNCHES):
            for program in order:
                program.figures.append(program.run())
    for program in (mine, theirs):
        print_program(program, "us", program)
        print(f"  {'':{NAME_WIDTH}} {100 * relative_spread(program.figures):9.1f} %      spread")
    judge(tally, "ours / theirs", relative_spread(mine.figures) / relative_spread(theirs.figures), SPREAD)


def spread(settings, tally):
    if "osu_latency" not in settings.found:
        print("spread: not compared: osu_latency was not found")
        return
    for size, text in LATENCY_SIZES:
        print(f"spread of {SPREAD_LAUNCHES} launches beside a noisy neighbour, latency of {text} over shared memory"
              " from 5 % to 95 %", flush=True)
        try:
            compare_spreads(settings, tally, size)
        except LaunchError as error:
            tally.errors += 1
            print(f"  not compared: {error}", flush=True)


COMPARISONS = {comparison.__name__: comparison for comparison in (latency, bandwidth, both_ways, message_rate,
                                                                  tcp_bandwidth, tcp_latency, rdma_bandwidth,
                                                                  rdma_latency, spread)}


def find_peers(folders):
    """Each peer's path: of the first folder given that has it, at any depth, or of PATH."""
    found = {}
    for name in PEERS:
        candidates = (path for folder in folders for path in sorted(folder.rglob(name)))
        own = next((str(path) for path in candidates if path.is_file() and os.access(path, os.X_OK)), None)
        path = own or shutil.which(name)
        if path is not None:
            found[name] = path
    return found


def parse_command_line():
    parser = argparse.ArgumentParser(prog="bench/peers.sh", description="Compares our programs with other benchmarks; "
                                     "bench/README.md has the details.")
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parent.parent / "build",
                        help="folder of the built programs (default: build beside this folder)")
    parser.add_argument("--peers", type=Path, action="append", default=[], metavar="DIR",
                        help="folder to look for the peers in, at any depth, before PATH; can be given again")
    parser.add_argument("--launches", type=int, default=9, help="launches of each side (default: 9)")
    parser.add_argument("--seconds", type=float, default=1, help="of a launch over shared memory, about (default: 1)")
    parser.add_argument("--check", action="store_true", help="exit 1 where a figure misses its limit")
    parser.add_argument("--hosts", default="", help=argparse.SUPPRESS)
    parser.add_argument("--launcher", help=argparse.SUPPRESS)
    parser.add_argument("--rdma", help=argparse.SUPPRESS)
    parser.add_argument("which", nargs="*", metavar="COMPARISON",
                        help="any of " + ", ".join(COMPARISONS) + "; default: all")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.which if name not in COMPARISONS]
    if unknown:
        parser.error(f"'{unknown[0]}' is no comparison; choose of {', '.join(COMPARISONS)}")
    if arguments.launches < 1 or not 0.1 <= arguments.seconds <= 20:
        parser.error("--launches takes 1 or more, and --seconds 0.1 to 20")
    missing = [folder for folder in arguments.peers if not folder.is_dir()]
    if missing:
        parser.error(f"'{missing[0]}' is no folder; --peers takes one that has other benchmarks")
    return arguments


def main():
    arguments = parse_command_line()
    if not (arguments.build / "send_recv_lat").exists():
        print(f"peers.sh: {arguments.build} has no send_recv_lat; build it, or give another folder with --build",
              file=sys.stderr)
        return 3
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    settings = Settings(arguments.build, find_peers(arguments.peers), arguments.launches, arguments.seconds,
                        arguments.launcher, arguments.hosts.split(), arguments.rdma)
    for name, path in settings.found.items():
        print(f"found: {name}, {path}")
    print("not found:", ", ".join(name for name in PEERS if name not in settings.found) or "none is missing")
    print("ours: median of a launch; theirs: mean, as they tell by default; below: medians of launches", flush=True)
    tally = Tally()
    for name in arguments.which or COMPARISONS:
        COMPARISONS[name](settings, tally)
    print(f"limits missed: {tally.missed}; comparisons with errors: {tally.errors}")
    return 1 if tally.errors > 0 or (arguments.check and tally.missed > 0) else 0


if __name__ == "__main__":
    sys.exit(main())
