#!/usr/bin/env python3
"""Judges plan_sweep and find_slow_links from outside, on fabrics of its own.

  bench/verdicts/judge.py --bin DIR --case NAME --hosts N --sweeps K --seed S [--jobs J] [--keep DIR]
  bench/verdicts/judge.py --bin DIR --all --hosts 8,16,32 --sweeps 20 --seed 1 --out table.md
  bench/verdicts/judge.py --bin DIR --case NAME --hosts N --seed S --sweeps 1 --show     one sweep, told in full

Sweep i of a row has seed S+i, and depends on nothing but case, hosts, seed and --locality/--loop: a failing
seed is reproduced by --sweeps 1 --seed SEED.

The model: a reading is min(cap of sender, cap of receiver, path) x noise, each direction by itself. Noise is
lognormal a reading, in some sweeps with a part shared by a round, and 1 to 2 % of readings up to 40 % lower.
Innocents are hosts, paths, groups and rails that nothing was planted on, nor on an end of them; misplaced is what
is blamed of the right host, but as another kind, or a path of it.
Cases flow_*: the pairs of a round compete for links, and each gets its max-min fair share (flows.py).
Loop find: plan_sweep --find says each round (with --all-pairs where a path is planted) until it has no more. Of more
than 256 hosts all pairs come first, as pairwise_bw measures them, since plan_sweep reads all records for each round.
Loop open: all pairs, --passes times, without any planner. Loop rounds: plan_sweep --rounds K without --find.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

sys.dont_write_bytecode = True

from cases import CASES as CAP_CASES
from flow_cases import FLOW_CASES
from judging import Judging
from world import UTC

CASES = {**CAP_CASES, **FLOW_CASES}

MAX_ROUNDS_EXTRA = 600
MOST_PLANNED_PAIRS = 256        # hosts


def schedule_open(n, rng):
    """All pairs in rounds, by the circle method."""
    ids = list(range(n)) + ([None] if n % 2 else [])
    rng.shuffle(ids)
    m = len(ids)
    for _ in range(m - 1):
        yield [(ids[k], ids[m - 1 - k]) for k in range(m // 2) if ids[k] is not None and ids[m - 1 - k] is not None]
        ids = [ids[0]] + [ids[-1]] + ids[1:-1]


def measure_all(w, f, first, rng, stats):
    """All pairs once; the numbers of rounds and pairs."""
    rounds = pairs_measured = 0
    for pairs in schedule_open(w.n, rng):
        one_round(w, f, first + rounds, [(i, j, len(pairs)) for i, j in pairs], stats)
        rounds += 1
        pairs_measured += len(pairs)
    return rounds, pairs_measured


def one_round(w, f, rnd, pairs, stats):
    out = []
    w.measure(pairs, rnd, out, stats)
    f.write("".join(out))
    f.flush()


def sweep(a, case, n, seed, folder):
    """Runs one sweep; its result as a dict."""
    rng = random.Random(zlib.crc32(f"{case} {n} {seed}".encode()))
    w = CASES[case][0](rng, n)
    w.finish()
    if a.locality == "yes":
        w.give_locality = w.locality is not None
    elif a.locality == "no" and "uplink_known" not in case:
        w.give_locality = False
    index = {h: i for i, h in enumerate(w.hosts)}
    base = os.path.join(folder, f"{case}-{n}-{seed}")
    records, hosts, locality, verdict = base + ".jsonl", base + ".hosts", base + ".locality", base + ".verdict.json"
    with open(hosts, "w") as f:
        f.write("\n".join(w.hosts) + "\n")
    extra = []
    if w.give_locality:
        with open(locality, "w") as f:
            f.writelines(f"{h} {leaf}\n" for h, leaf in w.locality.items())
        extra = ["--locality", locality]
    result = {"seed": seed, "case": case, "n": n, "files": [records, hosts, locality, verdict]}
    began = time.time()
    stats, rounds, pairs_measured, last = {}, 0, 0, ""
    with open(records, "w") as f:
        f.write(json.dumps({"kind": "sweep", "hosts": w.hosts, "began_utc": UTC}) + "\n")
        f.flush()
        if a.loop == "open":
            for _ in range(a.passes):
                done = measure_all(w, f, rounds, rng, stats)
                rounds, pairs_measured = rounds + done[0], pairs_measured + done[1]
        else:
            how = ["--find"] + w.planner if a.loop == "find" else ["--rounds", str(a.rounds)]
            if n > MOST_PLANNED_PAIRS and "--all-pairs" in how:
                rounds, pairs_measured = measure_all(w, f, 0, rng, stats)
            command = [a.bin + "/plan_sweep", "--hosts", hosts, "--records", records, "--seed", str(1 + seed % 97)] + how + extra
            while True:
                p = subprocess.run(command, capture_output=True, text=True, timeout=600)
                if p.returncode:
                    result["broken"] = f"plan_sweep ends with {p.returncode}: {p.stderr.strip()[:200]}"
                    break
                pairs, numbers = [], set()
                for line in p.stdout.splitlines():
                    if line.startswith("#"):
                        if not line.startswith("# rounds left"):
                            last = line
                        continue
                    r, concurrent, x, y = line.split("\t")
                    numbers.add(int(r))
                    pairs.append((index[x], index[y], int(concurrent)))
                if not pairs:
                    break
                if len(numbers) != 1:
                    result["broken"] = f"plan_sweep printed rounds {sorted(numbers)} at once"
                    break
                # pairs that are measured one after another have a round's noise each
                one_round(w, f, numbers.pop(), pairs, stats)
                rounds += 1
                pairs_measured += len(pairs)
                if rounds > n + MAX_ROUNDS_EXTRA:
                    result["broken"] = f"no end after {rounds} rounds: {last}"
                    break
    p = subprocess.run([a.bin + "/find_slow_links", records, "--json", verdict] + extra + w.judge_options, capture_output=True, text=True, timeout=600)
    result.update(exit=p.returncode, rounds=rounds, pairs=pairs_measured, why_over=last, text=p.stdout)
    try:
        with open(verdict) as f:
            v = json.load(f)
    except (OSError, ValueError) as e:
        result["broken"] = f"find_slow_links: {e} {p.stderr[:200]}"
        v = None
    result["seconds"] = time.time() - began
    Judging(w, v, result).run()
    return result


HEADER = ("| case | N | sweeps | found | wholly right | innocents a sweep | sweeps with any | misplaced a sweep | exits | rounds (median, most) | s a sweep | meets? | failing seeds |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|---|---|")


def row(case, n, results):
    k = len(results)
    planted, found = sum(r["planted"] for r in results), sum(r["found"] for r in results)
    inn = sum(len(r["innocents"]) for r in results)
    exits = collections.Counter(r["exit"] for r in results)
    rounds = sorted(r["rounds"] for r in results)
    bad = [r["seed"] for r in results if r["failed"]]
    _, _, want, allowed = CASES[case]
    share = found / planted if planted else 1
    wrong_exit = sum(any(f.startswith(("exit", "plan_sweep", "no end")) for f in r["failed"]) for r in results)
    meets = share >= want and inn / k <= allowed and wrong_exit <= 0.01 * k
    return (f"| {case} | {n} | {k} | {f'{share*100:.1f} %' if planted else '-'} | {(k-len(bad))/k*100:.0f} % | {inn/k:.3g} | "
            f"{sum(bool(r['innocents']) for r in results)} | {sum(len(r['wrong']) for r in results)/k:.3g} | {' '.join(f'{e}:{c}' for e, c in sorted(exits.items()))} | "
            f"{rounds[k//2]}, {rounds[-1]} | {sum(r['seconds'] for r in results)/k:.2f} | {'yes' if meets else '**NO**'} | "
            f"{' '.join(map(str, bad[:8]))}{' ...' if len(bad) > 8 else ''} |")


def kind_of_failure(r):
    """A key under which failures are alike: one file is kept of each."""
    return "+".join(sorted(x.split(":")[0].split(" (")[0].split(" with")[0][:20] for x in r["failed"]))


def work(args):
    a, case, n, seed, folder = args
    try:
        return sweep(a, case, n, seed, folder)
    except subprocess.TimeoutExpired as e:
        return {"seed": seed, "case": case, "n": n, "files": [], "exit": -1, "rounds": 0, "pairs": 0, "why_over": "", "text": "", "seconds": 600,
                "found": 0, "planted": 1, "innocents": [], "wrong": [], "missed": [], "failed": [f"timeout of {e.cmd[0]}"], "planted_text": "", "said": ""}


def keep(a, results, kept):
    """Copies records of the first failure of each kind, and adds a line to README.md."""
    os.makedirs(a.keep, exist_ok=True)
    for r in results:
        key = (r["case"], kind_of_failure(r))
        if not r["failed"] or kept.get(key, 0) >= a.keep_each:
            continue
        kept[key] = kept.get(key, 0) + 1
        name = f"{r['case']}-{r['n']}-{r['seed']}"
        for f in r["files"]:
            if os.path.exists(f) and not f.endswith(".hosts"):
                shutil.copy(f, os.path.join(a.keep, name + f[len(os.path.splitext(f)[0]) if not f.endswith(".verdict.json") else -len(".verdict.json"):]))
        with open(os.path.join(a.keep, "README.md"), "a") as f:
            f.write(f"- `{name}.jsonl` (`--case {r['case']} --hosts {r['n']} --sweeps 1 --seed {r['seed']}`): {r['planted_text']}. "
                    f"**{' / '.join(r['failed'])}**. {r['rounds']} rounds; over: {r['why_over'][:160]}. Exit {r['exit']}. Said: {r['said'][:600]}\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True, help="folder with plan_sweep and find_slow_links")
    p.add_argument("--case", help="one or more, with commas: " + ", ".join(CASES))
    p.add_argument("--all", action="store_true", help="every case but those of --flows")
    p.add_argument("--flows", action="store_true", help="every case in which pairs compete for links")
    p.add_argument("--hosts", default="8,16,32", help="numbers of hosts, with commas")
    p.add_argument("--sweeps", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--loop", choices=["find", "open", "rounds"], default="find")
    p.add_argument("--passes", type=int, default=2, help="--loop open: how often all pairs")
    p.add_argument("--rounds", type=int, default=24, help="--loop rounds: how many")
    p.add_argument("--locality", choices=["auto", "yes", "no"], default="auto", help="auto: as the case draws it")
    p.add_argument("--keep", help="folder for records of failures, one of each kind")
    p.add_argument("--keep-each", type=int, default=1)
    p.add_argument("--out", help="append rows to this file too")
    p.add_argument("--show", action="store_true", help="tell each sweep in full")
    p.add_argument("--list", action="store_true", help="tell each failing sweep in a line")
    a = p.parse_args()
    if not a.all and not a.flows and not a.case:
        p.error("--case, --all or --flows")
    a.bin = os.path.abspath(a.bin)
    cases = (list(CAP_CASES) if a.all else []) + (list(FLOW_CASES) if a.flows else []) + (a.case.split(",") if a.case else [])
    for c in cases:
        if c not in CASES:
            p.error(f"no case {c}")

    def say(line):
        print(line, flush=True)
        if a.out:
            with open(a.out, "a") as f:
                f.write(line + "\n")
    say(HEADER)
    kept, unmet = {}, 0
    pool = concurrent.futures.ProcessPoolExecutor(a.jobs) if a.jobs > 1 else None
    for n in map(int, a.hosts.split(",")):
        for case in cases:
            if n < CASES[case][1]:
                continue
            with tempfile.TemporaryDirectory(prefix="judge-") as folder:
                args = [(a, case, n, a.seed + k, folder) for k in range(a.sweeps)]
                results = list(pool.map(work, args)) if pool else [work(x) for x in args]
                line = row(case, n, results)
                unmet += "**NO**" in line
                say(line)
                if a.keep:
                    keep(a, results, kept)
                for r in results:
                    if a.show:
                        print(r["planted_text"], r["text"], f"rounds {r['rounds']}, {r['why_over']}", r["failed"], sep="\n")
                    elif a.list and r["failed"]:
                        print(f"   {r['seed']}: {' / '.join(r['failed'])} [{r['planted_text']}] rounds {r['rounds']} exit {r['exit']}")
    return 1 if unmet else 0


if __name__ == "__main__":
    sys.exit(main())
