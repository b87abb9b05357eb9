#!/usr/bin/env python3
"""How often verdicts of `fabricbench compare` are right, over simulated launches.

usage: bench/baselines/judge.py --bin DIR [--trials N] [--seed N] [--model MODEL]... [--plan LAUNCHES,DAYS,JUDGED]...

A trial makes a baseline of 30 rows and a run on a later day, and compares it as it is ("equal"), with all rows slower, and
with one row slower. For each model of the noise and each plan, in percent of trials:

  equal 0/6/7     exit statuses where nothing has changed (6 is a false alarm: at most 5)
  +2 .. +10 %     runs with all rows slower by that much that end with 6, and in brackets those that pass (a pass of a run
                  that is slower by 5 % or more is a miss: at most 5)
  half, row       the same with every row of the larger sizes 5 % slower, and with one row 15 % slower
  inside          judged launches of equal runs inside the baseline's interval (at least 90)

It shares no code with the verdict. Exit status: 0, or 6 where a figure misses its promise beyond what chance explains.
"""

import argparse
import datetime
import json
import math
import multiprocessing
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SIZES = [8 << i for i in range(30)]
CHANGED_ROW = 20
CHANGES = {"equal": lambda row: 1, "+2": lambda row: 1.02, "+3": lambda row: 1.03, "+5": lambda row: 1.05,
           "+10": lambda row: 1.1, "half": lambda row: 1.05 if SIZES[row] >= 1 << 16 else 1,
           "row": lambda row: 1.15 if row == CHANGED_ROW else 1}
PLANS = ("9,3,1", "9,3,3")
PROMISES = {"equal 6": 5, "+5 0": 5, "+10 0": 5, "outside": 10}  # at most, in percent


def iid(spread):
    return lambda launches, rows: [[random.gauss(0, spread) for _ in rows] for _ in launches]


def in_common(effect):
    """All rows of a launch share an effect; each has 0.3 % of its own."""
    def draw(launches, rows):
        return [[shared + random.gauss(0, 0.003) for _ in rows] for shared in effect(launches)]
    return draw


def ornstein_uhlenbeck(points, spread, memory):
    """At increasing points, with a correlation of exp(-distance / memory)."""
    values = []
    for i, point in enumerate(points):
        kept = math.exp(-(point - points[i - 1]) / memory) if i else 0
        values.append(kept * values[-1] + spread * math.sqrt(1 - kept ** 2) * random.gauss(0, 1) if i
                      else random.gauss(0, spread))
    return values


def hours_of(launches):
    return [launch.timestamp() / 3600 for launch in launches]


def of_days(launches):
    by_day = {launch.date(): random.gauss(0, 0.015) for launch in launches}
    return [by_day[launch.date()] for launch in launches]


def row_modes(launches, rows):
    return [[random.gauss(0, 0.003) + 0.15 * (random.random() < 0.05) for _ in rows] for _ in launches]


def heavy_tails(launches, rows):
    """Student's distribution with 2.5 degrees of freedom, whose variance is 5."""
    return [[0.003 * random.gauss(0, 1) / math.sqrt(random.gammavariate(1.25, 1 / 1.25)) for _ in rows] for _ in launches]


def row_days(launches, rows):
    """Each row has its own 1 % from day to day, and 0.5 % from launch to launch."""
    effects = {launch.date(): [random.gauss(0, 0.01) for _ in rows] for launch in launches}
    return [[effect + random.gauss(0, 0.005) for effect in effects[launch.date()]] for launch in launches]


def uneven(launches, rows):
    """Each row has a spread of its own, from 0.1 % to 5 %."""
    spreads = [math.exp(random.uniform(math.log(0.001), math.log(0.05))) for _ in rows]
    return [[random.gauss(0, spread) for spread in spreads] for _ in launches]


MODELS = {
    "0.3 %": iid(0.003),
    "1 %": iid(0.01),
    "sizes 0.8 %": lambda launches, rows: [ornstein_uhlenbeck(list(rows), 0.008, 20) for _ in launches],
    "hour 1 %": in_common(lambda launches: ornstein_uhlenbeck(hours_of(launches), 0.01, 1)),
    "hours 1 %": in_common(lambda launches: ornstein_uhlenbeck(hours_of(launches), 0.01, 3)),
    "days 1.5 %": in_common(of_days),
    "launch modes": in_common(lambda launches: [0.04 * (random.random() < 0.3) for _ in launches]),
    "row modes": row_modes,
    "row days": row_days,
    "heavy tails": heavy_tails,
    "uneven": uneven,
}


def write(path, launches, noise, change):
    """Writes launches as a baseline. Returns the times by launch and row."""
    lines = [{"kind": "baseline", "baseline_version": 1, "launches": len(launches)}]
    times = []
    for launch, deviations in zip(launches, noise):
        lines.append({"kind": "launch", "began_utc": f"{launch:%Y-%m-%dT%H:%M:%SZ}", "allocation": None, "label": None,
                      "identity": {"program": "all_reduce_perf"}, "circumstances": {}, "rows": len(SIZES)})
        times.append([(2 + size / 8000) * math.exp(deviations[row]) * change(row) for row, size in enumerate(SIZES)])
        lines += [{"kind": "row_times", "subject": None, "test": None, "datatype": "float", "reduction": "sum", "root": -1,
                   "placement": "out_of_place", "size_bytes": size, "time_us_median": time, "epoch_times_us": [time],
                   "busbw_gb_per_s": None, "algorithm": None} for size, time in zip(SIZES, times[-1])]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return times


def compare(programs, folder, run):
    """The exit status, and the rows of the comparison in the order of sizes."""
    out = folder / "out.jsonl"
    command = [programs / "fabricbench", "compare", folder / "baseline.jsonl", run, "--json", out, "--force"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if ended.returncode not in (0, 6, 7):
        sys.exit(f"judge.py: {ended.stderr}")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return ended.returncode, sorted((row for row in rows if row["kind"] == "row_comparison"), key=lambda row: row["size_bytes"])


def launches_of(plan):
    """Times of launches: recorded ones an hour apart, or all within an hour of one day; those of the run two days later."""
    recorded, days, judged = plan
    minutes = 60 if days > 1 else 60 / recorded
    share = [(day, recorded // days + (day < recorded % days), minutes) for day in range(days)] + [(days + 1, judged, 10)]
    return [datetime.datetime(2026, 1, 1, 8, tzinfo=datetime.timezone.utc) + datetime.timedelta(days=day, minutes=number * apart)
            for day, count, apart in share for number in range(count)]


def try_once(given):
    programs, model, plan, seed = given
    random.seed(seed)
    recorded = plan[0]
    launches = launches_of(plan)
    noise = MODELS[model](launches, range(len(SIZES)))
    counts = Counter(trials=1)
    with tempfile.TemporaryDirectory(prefix="fabricbench-judge-") as name:
        folder = Path(name)
        write(folder / "baseline.jsonl", launches[:recorded], noise, CHANGES["equal"])
        for change, factor in CHANGES.items():
            times = write(folder / "run.jsonl", launches[recorded:], noise[recorded:], factor)
            status, rows = compare(programs, folder, folder / "run.jsonl")
            counts[f"{change} {status}"] += 1
            for number, row in enumerate(rows if change == "equal" else []):
                inside = [row["usual_us_low"] <= launch[number] <= row["usual_us_high"] for launch in times]
                counts["outside"] += inside.count(False) / len(times) / len(rows)
    return counts


def misses(counts, what, most):
    """Whether a figure misses its promise by more than three standard errors."""
    promised = most / 100
    error = math.sqrt(promised * (1 - promised) / counts["trials"])
    return counts[what] / counts["trials"] > promised + 3 * error


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="folder of fabricbench")
    parser.add_argument("--trials", type=int, default=100, help="of each model and plan (100)")
    parser.add_argument("--seed", type=int, default=1, help="of everything random (1)")
    parser.add_argument("--model", action="append", choices=MODELS, help="this model only; may be given several times")
    parser.add_argument("--plan", action="append", help="launches, days, judged launches; may be given several times")
    return parser.parse_args()


def line_of(model, plan, counts):
    def percent(what):
        return f"{100 * counts[what] / counts['trials']:.0f}"
    cells = ["/".join(percent(f"equal {status}") for status in (0, 6, 7))]
    cells += [f"{percent(change + ' 6')} ({percent(change + ' 0')})" for change in CHANGES if change != "equal"]
    inside = 100 * (1 - counts["outside"] / counts["trials"])
    wrong = [what for what, most in PROMISES.items() if misses(counts, what, most)]
    return (f"{model:<13} {plan:<8} {cells[0]:>11} " + " ".join(f"{cell:>9}" for cell in cells[1:]) + f" {inside:>7.1f}" +
            ("  misses: " + ", ".join(wrong) if wrong else "")), bool(wrong)


def main():
    given = options()
    missed = False
    print(f"{'model':<13} {'plan':<8} {'equal 0/6/7':>11} " + " ".join(
        f"{change + ' %' * change.startswith('+'):>9}" for change in CHANGES if change != "equal") + f" {'inside':>7}")
    with multiprocessing.Pool() as pool:
        for model in given.model or MODELS:
            for plan in given.plan or PLANS:
                trials = [(given.bin.resolve(), model, tuple(map(int, plan.split(","))), f"{given.seed} {number}")
                          for number in range(given.trials)]
                line, wrong = line_of(model, plan, sum(pool.imap_unordered(try_once, trials), Counter()))
                missed = missed or wrong
                print(line, flush=True)
    sys.exit(6 if missed else 0)


if __name__ == "__main__":
    main()
