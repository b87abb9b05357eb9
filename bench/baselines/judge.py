#!/usr/bin/env python3
"""How often verdicts of `fabricbench compare` are right, over simulated launches.

usage: bench/baselines/judge.py --bin DIR [--trials N] [--seed N] [--model MODEL]... [--plan LAUNCHES,DAYS,JUDGED]...

A trial makes a baseline and two runs on a later day, one of an unchanged system and one with half of the rows 5 % slower,
and compares both. Noise of single launches differs by row from 0.1 % to 5 %. For each model of the noise and each plan:

  rows     rows of unchanged systems that are called slower, in percent (promised: at most 2)
  runs     runs of unchanged systems with any such row, in percent (at most 5)
  found    rows 5 % slower that are found, of those whose smallest slowdown is 5 % or less, in percent (at least 95)
  decided  rows whose smallest slowdown is 5 % or less, in percent
  inside   judged launches inside the baseline's interval, in percent (at least 90)

It shares no code with the verdict. Exit status: 0, or 6 where a figure misses its promise beyond what chance explains.
"""

import argparse
import datetime
import json
import math
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SIZES = [8 << i for i in range(15)]
SLOWER_BY = 0.05
PLANS = ("5,1,1", "9,1,3", "9,3,1", "9,3,3", "20,4,1", "20,4,5")
SHARES = {"rows": (2, "most"), "runs": (5, "most"), "found": (95, "least"), "inside": (90, "least")}


def normal(_, spread):
    return random.gauss(0, spread)


def student(_, spread):
    """Student's distribution with 2.5 degrees of freedom, whose variance is 5."""
    return spread * random.gauss(0, 1) / math.sqrt(random.gammavariate(1.25, 1 / 1.25))


def skewed(_, spread):
    return spread * (math.exp(0.9 * random.gauss(0, 1)) - 1)


def launch_modes(launch, spread):
    return random.gauss(0, spread) + launch.mode


def row_modes(_, spread):
    return random.gauss(0, spread) + (random.uniform(0.03, 0.2) if random.random() < 0.03 else 0)


def days(launch, spread):
    return random.gauss(0, spread) + launch.day_effect * spread


def drift(launch, spread):
    return random.gauss(0, spread) + launch.drift * spread


MODELS = {"normal": normal, "student": student, "skewed": skewed, "launch modes": launch_modes, "row modes": row_modes,
          "days": days, "drift": drift}


class Launch:
    """What the rows of a launch have in common."""

    def __init__(self, day, number, before=None):
        self.began = datetime.datetime(2026, 1, 1) + datetime.timedelta(days=day, minutes=10 * number)
        self.mode = random.uniform(0.03, 0.2) if random.random() < 0.07 else 0
        same_day = before is not None and before.began.date() == self.began.date()
        self.day_effect = before.day_effect if same_day else random.gauss(0, 1)
        self.drift = 0.7 * before.drift + random.gauss(0, 0.7) if before else random.gauss(0, 1)


def launches_of(numbers_by_day):
    made = []
    for day, count in numbers_by_day:
        for number in range(count):
            made.append(Launch(day, number, made[-1] if made else None))
    return made


def usual_us(size):
    return 2 + size / 8000


def write(path, launches, model, spreads, slower=()):
    """Writes launches as a baseline. Returns the times by launch and row."""
    lines = [{"kind": "baseline", "baseline_version": 1, "launches": len(launches)}]
    times = []
    for launch in launches:
        lines.append({"kind": "launch", "began_utc": f"{launch.began:%Y-%m-%dT%H:%M:%SZ}", "allocation": None, "label": None,
                      "identity": {"program": "all_reduce_perf"}, "circumstances": {}, "rows": len(SIZES)})
        times.append([])
        for row, size in enumerate(SIZES):
            time = usual_us(size) * math.exp(MODELS[model](launch, spreads[row])) * (1 + SLOWER_BY * (row in slower))
            times[-1].append(time)
            lines.append({"kind": "row_times", "subject": None, "test": None, "datatype": "float", "reduction": "sum",
                          "root": -1, "placement": "out_of_place", "size_bytes": size, "time_us_median": time,
                          "epoch_times_us": [time], "busbw_gb_per_s": None, "algorithm": None})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return times


def compare(programs, folder, run):
    """The rows of the comparison, in the order of sizes."""
    out = folder / "out.jsonl"
    command = [programs / "fabricbench", "compare", folder / "baseline.jsonl", run, "--json", out, "--force"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if ended.returncode not in (0, 6, 7):
        sys.exit(f"judge.py: {ended.stderr}")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return sorted((row for row in rows if row["kind"] == "row_comparison"), key=lambda row: row["size_bytes"])


def can_see(row):
    return row["least_slowdown_percent"] is not None and row["least_slowdown_percent"] <= 100 * SLOWER_BY


def try_once(programs, folder, model, plan):
    recorded, on_days, judged = plan
    spreads = [math.exp(random.uniform(math.log(0.001), math.log(0.05))) for _ in SIZES]
    share = [(day, recorded // on_days + (day < recorded % on_days)) for day in range(on_days)]
    everything = launches_of([*share, (on_days + 1, 2 * judged)])
    write(folder / "baseline.jsonl", everything[:recorded], model, spreads)
    unchanged, changed = folder / "unchanged.jsonl", folder / "changed.jsonl"
    times = write(unchanged, everything[recorded:recorded + judged], model, spreads)
    slower = set(random.sample(range(len(SIZES)), len(SIZES) // 2))
    write(changed, everything[recorded + judged:], model, spreads, slower)
    counts = Counter(trials=1)
    rows = compare(programs, folder, unchanged)
    alarms = sum(row["verdict"] == "slower" for row in rows)
    counts.update(of_rows=len(rows), rows=alarms, of_runs=1, runs=alarms > 0, decided=sum(map(can_see, rows)))
    for number, row in enumerate(rows):
        for launch in times:
            counts.update(of_inside=1, inside=row["usual_us_low"] <= launch[number] <= row["usual_us_high"])
    for number, row in enumerate(compare(programs, folder, changed)):
        if number in slower and can_see(row):
            counts.update(of_found=1, found=row["verdict"] == "slower")
    return counts


def misses(counts, what, share, side):
    """Whether a figure misses its promise by more than three standard errors. Rows of a trial count as one."""
    of = counts["of_" + what]
    if of == 0:
        return False
    promised = share / 100
    error = math.sqrt(promised * (1 - promised) / min(of, counts["trials"]))
    found = counts[what] / of
    return found > promised + 3 * error if side == "most" else found < promised - 3 * error


def percent(counts, what, of):
    return f"{100 * counts[what] / counts[of]:.1f}" if counts[of] else "-"


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True, type=Path, help="folder of fabricbench")
    parser.add_argument("--trials", type=int, default=100, help="of each model and plan (100)")
    parser.add_argument("--seed", type=int, default=1, help="of everything random (1)")
    parser.add_argument("--model", action="append", choices=MODELS, help="this model only; may be given several times")
    parser.add_argument("--plan", action="append", help="launches, days, judged launches; may be given several times")
    return parser.parse_args()


def main():
    given = options()
    random.seed(given.seed)
    missed = False
    print(f"{'model':<14} {'plan':<8} {'trials':>6} {'rows':>6} {'runs':>6} {'found':>6} {'decided':>8} {'inside':>7}")
    with tempfile.TemporaryDirectory(prefix="fabricbench-judge-") as name:
        for model in given.model or MODELS:
            for plan in given.plan or PLANS:
                counts = Counter()
                for _ in range(given.trials):
                    counts.update(try_once(given.bin.resolve(), Path(name), model, tuple(map(int, plan.split(",")))))
                wrong = [what for what, promise in SHARES.items() if misses(counts, what, *promise)]
                missed = missed or bool(wrong)
                print(f"{model:<14} {plan:<8} {given.trials:>6} {percent(counts, 'rows', 'of_rows'):>6} "
                      f"{percent(counts, 'runs', 'of_runs'):>6} {percent(counts, 'found', 'of_found'):>6} "
                      f"{percent(counts, 'decided', 'of_rows'):>8} {percent(counts, 'inside', 'of_inside'):>7}"
                      f"{'  misses: ' + ', '.join(wrong) if wrong else ''}", flush=True)
    sys.exit(6 if missed else 0)


if __name__ == "__main__":
    main()
