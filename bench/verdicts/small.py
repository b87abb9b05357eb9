#!/usr/bin/env python3
"""A verdict in a hundred lines, on the fabrics of flow_cases.py: what a larger one has to beat.

  bench/verdicts/small.py --hosts 16,32 --sweeps 20 [CASE ...]

It knows the leaf of each host. Hosts are judged by what they reach near (within their leaf) or alone: there they share no
link between leaves. Leaves are compared within each round, whose pairs met the same load. Whether links are shared is
measured: the six slowest pairs that nothing explains, alone and among all others again; only these fresh readings count.
"""

import argparse
import collections
import math
import random
import statistics
import zlib

from flow_cases import FLOW_CASES
from judge import schedule_open

TOLERANCE = 0.05
ROUNDS, NEAR_ROUNDS, PROBED, REPEATED, ALONE = 8, 4, 6, 2, 3

Reading = collections.namedtuple("Reading", "round at_once sender receiver rail rate")


class Sweep:
    def __init__(self, world, rng):
        self.world, self.rng, self.readings, self.rounds = world, rng, [], 0

    def measure(self, pairs):
        """One round; its readings."""
        w, taken = self.world, []
        for (s, t, rail), rate in w.rates_of(pairs, self.rounds).items():
            rate = min(1, rate) * math.exp(w.rng.gauss(0, w.noise))
            if w.tails and w.rng.random() < w.tails:
                rate *= 1 - w.rng.uniform(0, 0.4)
            taken.append(Reading(self.rounds, len(pairs), s, t, rail, rate))
        self.readings += taken
        self.rounds += 1
        return taken

    def crosses(self, reading):
        return self.world.leaf[reading.sender] != self.world.leaf[reading.receiver]

    def measure_near(self):
        leaves = collections.defaultdict(list)
        for host in range(self.world.n):
            leaves[self.world.leaf[host]].append(host)
        schedules = [(hosts, list(schedule_open(len(hosts), self.rng))) for hosts in leaves.values() if len(hosts) > 1]
        for k in range(NEAR_ROUNDS):
            self.measure([(hosts[a], hosts[b]) for hosts, rounds in schedules for a, b in rounds[k % len(rounds)]])


def slow_hosts(sweep):
    """host -> (way, rail) in which it is slow: with most partners near or alone, and fast with nobody."""
    own, fast = collections.defaultdict(lambda: collections.defaultdict(list)), collections.defaultdict(list)
    for r in sweep.readings:
        for way, host, other in (("sends", r.sender, r.receiver), ("receives", r.receiver, r.sender)):
            fast[way, host, r.rail].append(r.rate)
            if r.at_once == 1 or not sweep.crosses(r):
                own[way, host, r.rail][other].append(r.rate)
    levels = {key: sorted(statistics.median(rates) for rates in partners.values()) for key, partners in own.items()}
    upper = {key: medians[min(len(medians) - 1, int(0.7 * len(medians)))] for key, medians in levels.items()}
    usual = {way: statistics.median(upper[key] for key in upper if (key[0], key[2]) == way)
             for way in {(key[0], key[2]) for key in upper}}
    slow = collections.defaultdict(set)
    for key, medians in levels.items():
        limit = usual[key[0], key[2]] * (1 - TOLERANCE)
        once_fast = len(fast[key]) > 1 and sorted(fast[key])[-2] >= limit
        if upper[key] < limit and 2 * sum(rate < limit for rate in medians) > len(medians) and not once_fast:
            slow[key[1]].add((key[0], key[2]))
    return slow, statistics.median(usual.values())


def slow_leaf(sweep, slow):
    """The leaf whose pairs with other leaves are slower than those between other leaves of the same round; or None."""
    rounds, found = collections.defaultdict(list), []
    for r in sweep.readings:
        if r.at_once > 1 and sweep.crosses(r) and r.sender not in slow and r.receiver not in slow:
            rounds[r.round].append(({sweep.world.leaf[r.sender], sweep.world.leaf[r.receiver]}, math.log(r.rate)))
    for leaf in set(sweep.world.leaf):
        below = []
        for flows in rounds.values():
            own, others = [x for leaves, x in flows if leaf in leaves], [x for leaves, x in flows if leaf not in leaves]
            if own and others:
                below.append(statistics.mean(own) - statistics.mean(others))
        if len(below) >= 4:
            mean = statistics.mean(below)
            error = statistics.stdev(below) / math.sqrt(len(below)) + 1e-3
            if mean < -0.15 and mean < -4 * error:
                found.append((mean, leaf))
    return min(found)[1] if found else None


def are_links_shared(sweep, slow, usual):
    crossing = sorted((r.rate, r.sender, r.receiver) for r in sweep.readings
                      if r.at_once > 1 and sweep.crosses(r) and r.sender not in slow and r.receiver not in slow)
    if not crossing or crossing[0][0] >= usual * (1 - TOLERANCE):
        return False
    pairs, used = [], set()
    for _, s, t in crossing:
        if len(pairs) < PROBED and s not in used and t not in used:
            pairs.append((s, t))
            used |= {s, t}
    gains = []
    for _ in range(REPEATED):
        alone = {r[2:5]: r.rate for pair in pairs for r in sweep.measure([pair])}
        rest = [host for host in range(sweep.world.n) if host not in used]
        sweep.rng.shuffle(rest)
        among = sweep.measure(pairs + list(zip(rest[::2], rest[1::2])))
        gains += [math.log(alone[r[2:5]] / r.rate) for r in among if r[2:5] in alone]
    return statistics.median(gains) > 0.1 or sum(gain > 0.15 for gain in gains) >= max(3, len(gains) / 4)


def judge(world, rng):
    """(slow hosts, slow leaf, whether links are shared, rounds)"""
    sweep = Sweep(world, rng)
    for k, pairs in enumerate(schedule_open(world.n, rng)):
        if k < ROUNDS:
            sweep.measure(pairs)
    sweep.measure_near()
    slow, usual = slow_hosts(sweep)
    for host in sorted(slow):
        others = [x for x in range(world.n) if x not in slow and world.leaf[x] != world.leaf[host]]
        for other in rng.sample(others, min(ALONE, len(others))):
            sweep.measure([(host, other)])
    slow, usual = slow_hosts(sweep)
    shared = are_links_shared(sweep, slow, usual)
    slow, _ = slow_hosts(sweep)
    return set(slow), slow_leaf(sweep, slow), shared, sweep.rounds


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*", default=list(FLOW_CASES), metavar="CASE")
    p.add_argument("--hosts", default="16,32")
    p.add_argument("--sweeps", type=int, default=20)
    a = p.parse_args()
    print("| case | N | sweeps | found | innocents a sweep | says that links are shared | rounds (median) |\n|---|---|---|---|---|---|---|")
    for n in map(int, a.hosts.split(",")):
        for case in a.cases:
            found = innocents = shared = 0
            rounds = []
            for seed in range(a.sweeps):
                rng = random.Random(zlib.crc32(f"{case} {n} {seed}".encode()))
                world = FLOW_CASES[case][0](rng, n)
                slow, leaf, is_shared, taken = judge(world, rng)
                hosts = {t["ids"][0] for t in world.truth if t["ids"]}
                leaves = {world.leaf[world.hosts.index(t["hosts"][0])] for t in world.truth if t["kind"] == "leaf"}
                found += hosts <= slow and leaves <= {leaf}
                innocents += len(slow - hosts) + (leaf is not None and leaf not in leaves)
                shared += is_shared
                rounds.append(taken)
            print(f"| {case} | {n} | {a.sweeps} | {found / a.sweeps:.0%} | {innocents / a.sweeps:.3g} | {shared / a.sweeps:.0%} | "
                  f"{statistics.median(rounds):g} |", flush=True)


if __name__ == "__main__":
    main()
