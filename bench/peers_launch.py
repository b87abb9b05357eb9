"""Launches one of our programs, or another benchmark, and reads its figure; bench/peers.py compares them."""

import contextlib
import json
import math
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional

PERFTEST = tuple(f"ib_{verb}_{figure}" for verb in ("write", "read", "send", "atomic") for figure in ("bw", "lat"))
PEERS = ("osu_latency", "osu_bw", "osu_bibw", "osu_mbw_mr", "IMB-MPI1", "mpiGraph", "iperf3", "qperf") + PERFTEST
TWO_RANKS = ["mpirun", "--oversubscribe", "-np", "2"]
WINDOW = 64  # messages under way at once: what osu_bw and ours have by default
STREAM_MESSAGE = 128 << 10  # bytes: what iperf3 writes to TCP at once by default
TCP_SECONDS = 2  # iperf3 takes whole ones
SERVER_ADDRESS = "10.77.0.2"  # of the second host that scripts/hosts.sh makes
QPERF_DEPTH = 1024  # requests under way in its streams over RDMA, which no option changes
QPERF_RDMA_SECONDS = 2  # it counts whole seconds, and reads a clock that ticks every 10 ms
QPERF_RDMA_PORT = 19766  # not its own, where a server of somebody else's may listen, and would be told to quit
SECONDS_PER_BUDGET = 2.7  # nine epochs of 0.3 of the time budget
LAUNCH_LIMIT_S = 90


class LaunchError(Exception):
    """A program that did not end well, or whose output has no figure."""


@dataclass(frozen=True)
class Settings:
    build: Path
    found: Dict[str, str]  # the peers' paths
    launches: int
    seconds: float  # of a launch over shared memory, about
    launcher: Optional[str]  # starts a program of ours on the hosts; None: there are none
    hosts: List[str]  # network namespaces
    rdma: Optional[str]  # DEVICE:GID_INDEX:ADDRESS of an RDMA device here and of its interface; None: there is none


def execute(command):
    """Runs a command to its end, bounded in time, and returns its standard output."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        try:
            output, problems = process.communicate(timeout=LAUNCH_LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise LaunchError(f"not done after {LAUNCH_LIMIT_S} s: {' '.join(words)}") from error
        finally:
            end(process)
    if process.returncode != 0:
        last = (problems.strip() or output.strip() or "no output").splitlines()[-1]
        raise LaunchError(f"exit status {process.returncode} of {' '.join(words)}: {last}")
    return output


def end(process):
    """mpirun ends its ranks when it is asked to end, and could not if it were killed."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()


def placements():
    """Processors of the two ends, by what the placement is called: a figure depends on it more than on the program."""
    first, *others = sorted(os.sched_getaffinity(0))
    found = {"both ends on one processor": (first, first)}
    if others:
        found["each end on a processor of its own"] = (first, others[0])
    return found


def pinned(processor, command):
    return ["taskset", "--cpu-list", str(processor), *command]


def pinned_ranks(processors, command):
    """For mpirun: a rank runs on the processor of its number."""
    script = 'processors=({}); exec taskset --cpu-list "${{processors[OMPI_COMM_WORLD_RANK]}}" "$@"'
    return ["bash", "-c", script.format(" ".join(map(str, processors))), "pinned", *command]


def in_host(settings, number):
    return ["ip", "netns", "exec", settings.hosts[number]]


@contextlib.contextmanager
def server(command):
    """A server for one launch of a client, after which it ends by itself."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        try:
            yield process
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired as error:
            raise LaunchError(f"still running after its client: {' '.join(command)}") from error
        finally:
            end(process)


def our_row(command, size, seconds, last=None, buffers="same"):
    """Launches one of our programs and returns its measurement of a size.

    The precision asked for is always reached, so that a launch takes as long as it is told.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        execute([*command, "-b", size, "-e", last or size, "-f", WINDOW, "--buffers", buffers, "--time-budget",
                 f"{seconds / SECONDS_PER_BUDGET:.3f}", "--target-precision", 100, "--quiet", "--json", path])
        entries = [json.loads(line) for line in path.read_text().splitlines()]
    for entry in entries:
        if entry["kind"] == "row" and entry["size_bytes"] == size and not entry["skipped"]:
            return entry["out_of_place"]
    raise LaunchError(f"no row of {size} bytes from {' '.join(map(str, command))}")


def ours(settings, name, size, **options):
    """Over shared memory."""
    return our_row([*TWO_RANKS, settings.build / name, "--pairs", "adjacent"], size, settings.seconds, **options)


def ours_on_hosts(settings, processors, name, size, *options):
    """Over TCP between two hosts, whose processors are all the same ones."""
    return our_row([settings.launcher, 1, *pinned_ranks(processors, [settings.build / name, *options])], size, TCP_SECONDS)


def row_beginning_with(text, size):
    """The fields of the row that begins with the size; OSU's and IMB's other lines do not begin with a number."""
    for line in text.splitlines():
        fields = line.split()
        if fields[:1] == [str(size)]:
            return [float(word) for word in fields]
    raise LaunchError(f"no row of {size} bytes in: {text.strip()[-200:]}")


def osu(settings, name, size, iterations):
    """osu_latency: us; osu_bw and osu_bibw: 10^6 B/s; osu_mbw_mr: 10^6 B/s and messages a second. One buffer."""
    text = execute([*TWO_RANKS, settings.found[name], "-m", f"{size}:{size}", "-i", iterations, "-x",
                    max(iterations // 10, 10)])
    return row_beginning_with(text, size)[1:]


def imb(settings, benchmark, size, iterations):
    """PingPong: us and 10^6 B/s; Uniband and Biband: 10^6 B/s and messages a second. One buffer.

    IMB has limits of its own on volume and time: the number of repetitions has to be the one asked for.
    """
    volume = math.ceil(iterations * size / 1e6) + 1  # in 10^6 B
    text = execute([*TWO_RANKS, settings.found["IMB-MPI1"], benchmark, "-msgsize", size, "-zero_size", "off", "-iter",
                    f"{iterations},{volume}", "-iter_policy", "off", "-time", 30, "-window_size", WINDOW])
    fields = row_beginning_with(text, size)
    if fields[1] != iterations:
        raise LaunchError(f"IMB-MPI1 {benchmark} repeated {fields[1]:.0f} times, and was asked for {iterations}")
    return fields[2:]


def mpi_graph_gb_per_s(settings, size, iterations):
    """Both directions together: the cells are what each rank received from the other, in 2^20 B/s."""
    text = execute([*TWO_RANKS, settings.found["mpiGraph"], size, iterations, WINDOW])
    rows = re.findall(r"^\S+:\d+ from\t(.*)$", text, re.MULTILINE)
    if len(rows) != 2:
        raise LaunchError(f"no table of 2 ranks from mpiGraph: {text.strip()[-200:]}")
    return sum(max(map(float, row.split())) for row in rows) * 2**20 / 1e9


def iperf3_gb_per_s(settings, processors, streams):
    """What the server received, after a second that does not count."""
    client, of_server = [pinned(processor, [settings.found["iperf3"]]) for processor in processors]
    with server([*in_host(settings, 1), *of_server, "--server", "--one-off", "--forceflush", "--bind",
                 SERVER_ADDRESS]) as process:
        for line in process.stdout:
            if "listening" in line:
                break
        text = execute([*in_host(settings, 0), *client, "--client", SERVER_ADDRESS, "--parallel", streams, "--length",
                        STREAM_MESSAGE, "--omit", 1, "--time", TCP_SECONDS, "--json"])
    return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 8e9


def figure_of_qperf(text):
    """Of its last test, in the units that --unify_units makes of all: ns or B/s."""
    matches = re.findall(r"(?:latency|bw)\s*=\s*([\d.]+) (?:ns|bytes/sec)", text)
    if not matches:
        raise LaunchError(f"no figure in: {text.strip()[-200:]}")
    return float(matches[-1])


def qperf_us(settings, processors, size):
    """The client waits for its server, and ends it."""
    client, of_server = [pinned(processor, [settings.found["qperf"]]) for processor in processors]
    with server([*in_host(settings, 1), *of_server]):
        return figure_of_qperf(execute([*in_host(settings, 0), *client, SERVER_ADDRESS, "--time", TCP_SECONDS,
                                        "--msg_size", size, "--precision", 5, "--unify_units", "tcp_lat",
                                        "quit"])) / 1e3


def qperf_rdma(settings, test, size):
    """ns or B/s of a test over the device of an address of this host.

    It knows no GIDs, which RoCE takes, so rdma_cm connects. It sleeps until completions come if not told to poll.
    """
    program, address = settings.found["qperf"], settings.rdma.split(":")[2]
    port = ["--listen_port", str(QPERF_RDMA_PORT)]
    with server([program, *port]):
        return figure_of_qperf(execute([program, address, *port, "--use_cm", 1, "--cq_poll", 1, "--time",
                                        QPERF_RDMA_SECONDS, "--msg_size", size, "--precision", 6, "--unify_units", test,
                                        "quit"]))


def why_no_qperf_rdma(settings):
    """None where qperf can be compared over the device."""
    if "qperf" not in settings.found:
        return "it was not found"
    try:
        qperf_rdma(settings, "rc_lat", 1)
    except LaunchError as error:
        return f"it does not work with the device: {error}"
    return None


def rdma_ours(settings, name, size, *options):
    """The row of a size over an RDMA device of this host."""
    device, gid, _ = settings.rdma.split(":")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        sized = [] if "atomic" in name else ["-s", size]
        execute([*TWO_RANKS, "--bind-to", "none", settings.build / name, "-d", device, "-x", gid, *sized, *options,
                 "--quiet", "--json", path])
        entries = [json.loads(line) for line in path.read_text().splitlines()]
    return next(entry["out_of_place"] for entry in entries if entry["kind"] == "row")


def perftest(settings, name, size, iterations, preloaded=None):
    """The numbers of perftest's row behind the size: a server and a client of this host over one of its devices."""
    preload = [] if preloaded is None else ["env", f"LD_PRELOAD={preloaded}"]
    device, gid, address = settings.rdma.split(":")
    sized = [] if "atomic" in name else ["-s", str(size)]
    command = [settings.found[name], "-d", device, "-x", gid, "-F", *sized, "-n", str(iterations)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(20):  # it does not say when it listens, and a client tries once
                time.sleep(0.5)
                with contextlib.suppress(LaunchError):
                    return row_beginning_with(execute([*preload, *command, address]), size)[1:]
            raise LaunchError(f"{name} never found its server")
        finally:
            end(process)
