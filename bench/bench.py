#!/usr/bin/env python3
"""Measures fabricbench itself: what it adds to an operation, to a start, to memory, and how honest its intervals are.

usage: bench/bench.py [--build DIR] [--launches N] [BENCH]...

BENCH: overhead, collectives, isolated, start, memory, verification, nccl_overhead, sweep_memory, plan_round,
judge_scale or coverage; default: all.

Every figure is a ratio or a difference taken in one run: the two sides alternate, and the median of
several launches counts. bench/README.md says what each one is for and what was seen.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MPIRUN = ["mpirun", "--oversubscribe", "-np"]
TIME_LIMIT_S = 1800


def environment():
    """Root may start MPI jobs here."""
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def launch(ranks, command):
    """Runs a job to its end and returns its standard output."""
    done = subprocess.run(MPIRUN + [str(ranks)] + [str(word) for word in command], env=environment(), check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=TIME_LIMIT_S)
    return done.stdout


def json_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def run(build, name, ranks, *options):
    """Runs NAME_perf and returns the objects of its JSON Lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        launch(ranks, [build / f"{name}_perf", "--backend", "mpi", *options, "--quiet", "--json", path])
        return json_lines(path)


def rows(objects):
    return [entry for entry in objects if entry["kind"] == "row"]


def against_bare_loop(build, name, size, iterations, launches):
    """2 ranks, pipelined: our time and that of a bare C loop, launched in turn, as a line of text."""
    ours, bare = [], []
    for _ in range(launches):
        bare.append(float(launch(2, [build / "bench/bare_collective", name, size, iterations]).split()[0]))
        found = rows(run(build, name, 2, "-b", size, "-e", size, "-n", iterations, "--placement", "out"))
        ours.append(found[0]["out_of_place"]["time_us_median"])
    ratio = statistics.median(ours) / statistics.median(bare)
    pairs = [our / other for our, other in zip(ours, bare)]
    return (f"{name} {size} B: bare {statistics.median(bare):.4f} us, ours {statistics.median(ours):.4f} us, "
            f"ratio {ratio:.3f} (pairs {min(pairs):.3f} to {max(pairs):.3f})")


def overhead(build, launches):
    """An 8-byte all-reduce against a bare C loop."""
    print("overhead:", against_bare_loop(build, "all_reduce", 8, 200000, launches))


def collectives(build, launches):
    """Four collectives at the smallest size, 8 B or 16 B from each rank, and at 1 MiB, for about 0.3 s a launch."""
    for name, size, iterations in (("all_reduce", 8, 500000), ("all_gather", 32, 500000), ("alltoall", 32, 500000),
                                   ("broadcast", 8, 2000000), ("all_reduce", 1 << 20, 1000),
                                   ("all_gather", 1 << 20, 4000), ("alltoall", 1 << 20, 4000),
                                   ("broadcast", 1 << 20, 4000)):
        print("collectives:", against_bare_loop(build, name, size, iterations, launches), flush=True)


def isolated(build, launches):
    """What an isolated sample costs besides the operation and its clock reads."""
    for _ in range(min(launches, 3)):
        print("isolated:", launch(1, [build / "bench/sample_overhead"]).strip())


def seconds_to_first_row(build, ranks):
    """From starting mpirun to the first row on its standard output."""
    began = time.monotonic()
    command = MPIRUN + [str(ranks), str(build / "all_reduce_perf"), "-b", "8", "-e", "8", "-n", "1", "-w", "0"]
    with subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True) as job:
        for line in job.stdout:
            if line.split()[:1] == ["8"]:
                first = time.monotonic() - began
        job.wait(timeout=TIME_LIMIT_S)
    return first


def start(build, launches):
    """From mpirun to the first timed row, against a whole MPI hello-world."""
    ours, hello = [], []
    for _ in range(launches):
        began = time.monotonic()
        launch(2, [build / "bench/mpi_hello"])
        hello.append(time.monotonic() - began)
        ours.append(seconds_to_first_row(build, 2))
    print(f"start: hello {statistics.median(hello):.3f} s, our first row after {statistics.median(ours):.3f} s, "
          f"{(statistics.median(ours) - statistics.median(hello)) * 1e3:+.0f} ms")


def memory(build, _launches):
    """The largest rank's resident memory besides its two buffers, and a bare loop's over the same operations."""
    for size_mib, sweep in ((1, ["-b", 8, "-e", "1M", "-f", 2]), (64, ["-b", "64M", "-e", "64M"])):
        end = run(build, "all_reduce", 2, *sweep, "--time-budget", 0.2)[-1]
        bare_kib = int(launch(2, [build / "bench/bare_collective", "all_reduce", size_mib << 20, 20]).split()[1])
        ours, bare = end["peak_memory_bytes"] / 2**20 - 2 * size_mib, bare_kib / 2**10 - 2 * size_mib
        print(f"memory: up to {size_mib} MiB: {ours:.1f} MiB a rank besides the two buffers; a bare loop {bare:.1f} MiB")


def verification(build, _launches):
    """Filling and checking 64 MiB against copying it."""
    output = subprocess.run([build / "bench/verification_cost"], check=True, stdout=subprocess.PIPE, text=True).stdout
    print("\n".join("verification: " + line for line in output.splitlines()))


def nccl_overhead(build, _launches):
    """What the nccl backend adds to NCCL's own call, on a fake NCCL that does nothing."""
    program = build / "bench/nccl_overhead"
    if not program.exists():
        print(f"nccl_overhead: not measured: {build} was built without NCCL")
        return
    fake = dict(environment(), FAKE_NCCL_NULL="1", LD_LIBRARY_PATH=str(build / "tests/fakes/nccl-2.28"))
    output = subprocess.run([program], check=True, env=fake, stdout=subprocess.PIPE, text=True).stdout
    print("\n".join("nccl_overhead: " + line for line in output.splitlines()))


def sweep_memory(build, _launches):
    """The first endpoint's memory over a whole sweep of simulated endpoints."""
    for arguments in (["1024"], ["16384", "20"]):
        output = subprocess.run([build / "bench/sweep_memory", *arguments], check=True, stdout=subprocess.PIPE,
                                text=True).stdout
        print("sweep_memory:", output.splitlines()[-1], flush=True)


def plan_round(build, _launches):
    """Planning the next round of a sweep from all readings so far."""
    for arguments in (["1024", "1023"], ["16384"]):
        output = subprocess.run([build / "bench/plan_round", *arguments], check=True, stdout=subprocess.PIPE,
                                text=True).stdout
        print("\n".join("plan_round: " + line for line in output.splitlines()), flush=True)


def judge_scale(build, _launches):
    """Time and memory of a verdict over a simulated sweep: at most 2 s and 200 MiB."""
    for arguments in (["1024"], ["16384", "12"]):
        output = subprocess.run([build / "bench/judge_scale", *arguments], check=True, stdout=subprocess.PIPE,
                                text=True).stdout
        print("judge_scale:", output.splitlines()[-1], flush=True)


EPOCHS = 9  # of a run by default


def interval(medians):
    """What the program reports for nine epochs: the second smallest to the second largest (tests/unit pins it)."""
    ordered = sorted(medians)
    return ordered[1], ordered[-2]


def share_covered(repetitions, truth):
    """In percent, and the median half-width of the intervals, in percent of the truth."""
    intervals = [interval(medians) for medians in repetitions]
    inside = sum(low <= truth <= high for low, high in intervals)
    width = statistics.median((high - low) / 2 / truth for low, high in intervals)
    return 100 * inside / len(intervals), 100 * width


def coverage(build, _launches):
    """The share of nominal 95 % intervals that contain the median of everything measured.

    A job measures one size for minutes, in epochs. `spread`: each repetition is nine of them with equal gaps, from the
    beginning of the job to its end, as the epochs of a sweep are. `next`: each is nine consecutive ones, a run of three
    seconds; its interval cannot know how the machine will drift during the next minutes, and does not claim to.
    """
    repetitions = 100
    for least, most, factor in ((8, 64 << 10, 8192), (1 << 20, 1 << 20, 1)):
        # The precision asked for is always reached, so every cycle has nine epochs.
        objects = run(build, "all_reduce", 2, "-b", least, "-e", most, "-f", factor, "--placement", "out", "-N", repetitions,
                             "--target-precision", 100)
        medians = {}
        for entry in objects:
            if entry["kind"] == "epoch":
                medians.setdefault(entry["size_bytes"], []).append(entry["time_us_median"])
        for size, epochs in sorted(medians.items()):
            truth = statistics.median(epochs)
            count = len(epochs) // EPOCHS
            spread, width = share_covered([epochs[first::count][:EPOCHS] for first in range(count)], truth)
            following, _ = share_covered([epochs[i * EPOCHS:(i + 1) * EPOCHS] for i in range(count)], truth)
            print(f"coverage: {size} B: {count} repetitions, {truth:.2f} us; spread {spread:.1f} % "
                  f"(half-width {width:.1f} %), next {following:.1f} %", flush=True)


BENCHES = {bench.__name__: bench for bench in (overhead, collectives, isolated, start, memory, verification,
                                           nccl_overhead, sweep_memory, plan_round,
                                           judge_scale, coverage)}


def main():
    parser = argparse.ArgumentParser(description="Measures fabricbench itself; bench/README.md has the details.")
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parent.parent / "build",
                        help="folder of the built programs (default: build beside this folder)")
    parser.add_argument("--launches", type=int, default=9, help="launches of each side (default: 9)")
    parser.add_argument("which", nargs="*", metavar="BENCH", help="any of " + ", ".join(BENCHES) + "; default: all")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.which if name not in BENCHES]
    if unknown:
        parser.error(f"'{unknown[0]}' is no bench; choose of {', '.join(BENCHES)}")
    if not (arguments.build / "bench/mpi_hello").exists():
        print(f"bench.py: {arguments.build} has no bench programs; configure with -DFABRICBENCH_TESTS=ON and build",
              file=sys.stderr)
        return 3
    for name in arguments.which or BENCHES:
        BENCHES[name](arguments.build, arguments.launches)
    return 0


if __name__ == "__main__":
    sys.exit(main())
