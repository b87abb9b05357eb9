"""Fabrics of the judge: what hosts, NICs and paths let through, and what is planted."""

import math

UTC = "2026-01-01T00:00:00Z"


class World:
    """What a sweep is over: caps, paths, noise, and what was planted."""

    def __init__(self, rng, n, noise=None):
        self.rng, self.n = rng, n
        width = len(str(n))
        self.hosts = [f"node{i+1:0{width}d}" for i in range(n)]
        self.order = list(range(n))                     # place in the topology of host i
        if rng.random() < 0.5:
            rng.shuffle(self.order)
        self.c = rng.choice([5.0, 11.2, 12.4, 24.5, 48.0])
        self.rails = [None]
        self.send = None
        self.levels = []                                # (group of each host, across/within), finest first
        self.uplinks = []                               # (level, group, send factor, receive factor) of absolute c
        self.paths = {}                                 # (i, j) -> factor, one direction
        self.dead, self.dead_pairs, self.dies = set(), set(), {}
        self.silent = {}                                # host -> the direction in which nothing of it works
        self.flap = {}                                  # host -> (mode, fraction, factor, state)
        self.flap_paths = {}                            # (i, j), i < j -> (fraction, factor, counts); factor 0: it fails
        self.cut_off = set()                            # hosts that work with each other alone
        self.device_of = None                           # (host, round) -> identity of its device in that round
        self.device_key = "nic_guid"
        self.device_caps = {}                           # identity -> (send, receive)
        self.env = None                                 # round -> factor
        self.drop_reading = None                        # (probability, low, high)
        self.fails = 0                                  # probability of an attempt
        total, part = noise if noise is not None else rng.choice([0.01, 0.01, 0.02, 0.03, 0.05]), rng.choice([0, 0, 0.5, 0.8])
        self.noise, self.shared = total * math.sqrt(1 - part * part), total * part
        self.tails = rng.choice([0, 0, 0.01, 0.02])
        self.locality = None
        self.give_locality = False
        self.truth, self.exits = [], {6}
        self.planner, self.judge_options = [], []
        self.groups_wanted = []                         # partitions to be told
        self.kinds_wanted = None
        self.never_fine = set()                         # hosts that are slow, whichever of them are blamed
        self.note_wanted = ()                           # words, one of which a note has to have
        self.soft = None
        self.contention = 0                             # share that a pair loses beside as many others as there can be
        self.later = {}                                 # host: round -> factor of its adapters (heat, a fault since a day)
        self.links_are_shared = False                   # pairs slow each other
        self.unknown_will_do = False                    # a fault that few of the pairs meet may be left open
        self.fabric = "flat"
        self.finished = False

    def finish(self):
        """Caps of hosts and rails, once rails are known."""
        k = len(self.rails)
        if self.send is None:
            self.send = [[1.0] * k for _ in range(self.n)]
            self.recv = [[1.0] * k for _ in range(self.n)]

    # -- topology

    def cut(self, sizes):
        """The group of each host, groups being runs of the order of the topology."""
        group, at = [0] * self.n, 0
        for g, size in enumerate(sizes):
            for place in range(at, at + size):
                group[self.order[place]] = g
            at += size
        return group

    def add_level(self, group, across):
        self.levels.append((group, across))

    def path(self, i, j):
        f = 1.0
        for group, across in self.levels:
            if group[i] != group[j]:
                f = min(f, across)
        for level, g, s, r in self.uplinks:
            group = self.levels[level][0]
            if group[i] != group[j]:
                if group[i] == g:
                    f = min(f, s)
                if group[j] == g:
                    f = min(f, r)
        return f

    # -- readings

    def rate(self, i, j, r):
        return min(self.send[i][r], self.recv[j][r], self.path(i, j), self.paths.get((i, j), 1.0))

    def flapping_now(self, h, rnd, meeting):
        mode, fraction, factor, state = self.flap[h]
        rng = self.rng
        if mode == "meeting" or mode == "reading":
            return rng.random() < fraction
        if mode == "burst":                             # a chain of two states, bursts of about 3 meetings
            stay = 1 - 1 / 3.0
            into = fraction * (1 - stay) / (1 - fraction)
            if "on" not in state:
                state["on"] = rng.random() < fraction
            else:
                state["on"] = rng.random() < (stay if state["on"] else into)
            return state["on"]
        period, phase = state["period"], state["phase"]  # by time
        return ((rnd + phase) % period) < fraction * period

    def count_flap(self, h, on):
        state = self.flap[h][3]
        state["n"] = state.get("n", 0) + 1
        state["slow"] = state.get("slow", 0) + (1 if on else 0)
        state["run"] = state.get("run", 0) + 1 if on else 0

    def meet(self, i, j, rnd, concurrent, shared, out, stats):
        rng = self.rng
        down = (i in self.dead or j in self.dead or (min(i, j), max(i, j)) in self.dead_pairs
                or (i in self.dies and rnd >= self.dies[i]) or (j in self.dies and rnd >= self.dies[j]))
        down = down or (self.fails > 0 and rng.random() < self.fails) or (i in self.cut_off) != (j in self.cut_off)
        path = self.flap_paths.get((min(i, j), max(i, j)))
        path_is_slow = path is not None and rng.random() < path[0]
        if path is not None:
            path[2]["meetings"] = path[2].get("meetings", 0) + 1
            path[2]["slow"] = path[2].get("slow", 0) + path_is_slow
            down = down or (path_is_slow and path[1] == 0)
        slow_now = {}
        device = {h: self.device_of(h, rnd) for h in (i, j)} if self.device_of else {}
        for h in (i, j):
            if h in self.flap:
                slow_now[h] = self.flapping_now(h, rnd, stats)
                if slow_now[h] and self.flap[h][2] == 0:
                    down = True
        for r, rail in enumerate(self.rails):
            rails = f'"{rail}"' if rail is not None else "null"
            for s, t in ((i, j), (j, i)):
                head = (f'{{"kind":"reading","round":{rnd},"concurrent":{concurrent},"from_host":"{self.hosts[s]}",'
                        f'"to_host":"{self.hosts[t]}","from_rail":{rails},"to_rail":{rails},"test":"pairwise_bw",'
                        f'"size_bytes":4194304,')
                if device:
                    head += f'"from_{self.device_key}":"{device[s]}","to_{self.device_key}":"{device[t]}",'
                if down or self.silent.get(s) == "sends" or self.silent.get(t) == "receives":
                    out.append(head + '"status":"failed","both_ways":false,"bandwidth_gb_per_s":null,"latency_us":null,'
                               f'"reason":"no connection","log":null,"finished_utc":"{UTC}","seconds":5}}\n')
                    for h in slow_now:
                        self.count_flap(h, True)
                    continue
                f = self.rate(s, t, r)
                if path_is_slow:
                    f = min(f, path[1])
                if device:
                    f = min(f, self.device_caps.get(device[s], (1, 1))[0], self.device_caps.get(device[t], (1, 1))[1])
                for h in (i, j):
                    if h in slow_now:
                        on = slow_now[h]
                        if self.flap[h][0] == "reading":
                            on = rng.random() < self.flap[h][1]
                        self.count_flap(h, on)
                        if on:
                            f = min(f, self.flap[h][2])
                x = self.c * f * shared * math.exp(rng.gauss(0, self.noise))
                if self.env:
                    x *= self.env(rnd)
                if self.tails and rng.random() < self.tails:
                    x *= 1 - rng.uniform(0, 0.4)
                if self.drop_reading and rng.random() < self.drop_reading[0]:
                    x *= 1 - rng.uniform(*self.drop_reading[1:])
                out.append(head + f'"status":"ok","both_ways":false,"bandwidth_gb_per_s":{x:.6g},"latency_us":2.5,'
                           f'"reason":null,"log":null,"finished_utc":"{UTC}","seconds":1}}\n')

    def measure(self, pairs, rnd, out, stats):
        """A round of pairs: (i, j, at once). Its readings go to out."""
        shared = self.shared_of()
        for i, j, at_once in pairs:
            part = self.contention * min(1, (at_once - 1) / max(1, self.n // 2 - 1))
            self.meet(i, j, rnd, at_once, shared * (1 - part), out, stats)

    def shared_of(self):
        return math.exp(self.rng.gauss(0, self.shared)) if self.shared else 1.0


def sizes_equal(n, size):
    sizes = [size] * (n // size)
    if n % size:
        if n % size == 1 and sizes:
            sizes[-1] += 1
        else:
            sizes.append(n % size)
    return sizes


def partition(rng, n, least=2, groups=None):
    """Sizes of groups, at random, each of least or more."""
    most = n // least
    g = groups or rng.randint(2, min(most, 12))
    sizes = [least] * g
    left = n - least * g
    weights = [rng.random() ** rng.choice([0.5, 1, 3]) for _ in range(g)]
    total = sum(weights)
    cut = [int(left * w / total) for w in weights]
    for k in range(left - sum(cut)):
        cut[k % g] += 1
    return [a + b for a, b in zip(sizes, cut)]


def make_fabric(w, kind):
    rng, n = w.rng, w.n
    w.fabric = kind
    if kind == "two_level":
        size = rng.choice([s for s in (4, 8, 16, 32) if s <= n // 2] or [2])
        w.add_level(w.cut(sizes_equal(n, size)), rng.choice([1.0, 0.9, 0.75, 0.5]))
    elif kind == "three_level":
        size = rng.choice([s for s in (4, 8, 16) if s <= n // 4] or [max(2, n // 4)])
        leaf = sizes_equal(n, size)
        w.add_level(w.cut(leaf), rng.choice([0.9, 0.8]))
        per = 2 if len(leaf) < 8 else rng.choice([2, 4])
        pods = [sum(leaf[k:k + per]) for k in range(0, len(leaf), per)]
        if len(pods) > 1:
            w.add_level(w.cut(pods), rng.choice([0.7, 0.5]))
    elif kind == "rail_only":
        w.rails = ["mlx5_0", "mlx5_1"] if n > 200 or rng.random() < 0.7 else [f"mlx5_{k}" for k in range(4)]
    elif kind == "halls":
        a = rng.randint(max(2, math.ceil(n * 0.3)), n // 2)
        w.add_level(w.cut([n - a, a]), rng.choice([0.9, 0.75, 0.5]))
    if w.levels:
        w.locality = {w.hosts[i]: f"leaf{w.levels[0][0][i]:02d}" for i in range(n)}
        w.give_locality = rng.random() < 0.5
    w.finish()


FLAT = ["flat", "rail_only"]
FABRICS = ["flat", "flat", "two_level", "three_level", "rail_only", "halls"]


def any_fabric(w, choices=FABRICS):
    """Of fewer than eight hosts a flat one: of two leaves of two hosts, one of them slow, all are as good as alone."""
    make_fabric(w, w.rng.choice([x for x in choices if w.n >= 8 or x in FLAT]))


def shown_partners(w, h, factor, direction="both"):
    """With how many partners a cap of factor of this host shows for the most part."""
    need = (1 - factor) * 0.6
    count = 0
    for j in range(w.n):
        if j != h and j not in w.dead:
            p = min(w.path(h, j), max(w.send[j]), max(w.recv[j]))
            if p - factor >= need * p and p > factor:
                count += 1
    return count


def plant_host(w, factor, direction="both", rail=None, host=None, kind=None):
    """A slow host, NIC or direction, where at least four (of four hosts, three) partners can show it."""
    for _ in range(200):
        h = w.rng.randrange(w.n) if host is None else host
        if any(h in t.get("ids", ()) for t in w.truth):
            continue
        if shown_partners(w, h, factor) >= min(4, w.n - 1):
            break
        if host is not None:
            return None
    else:
        return None
    for r in range(len(w.rails)):
        if rail is None or r == rail:
            if direction in ("both", "sends"):
                w.send[h][r] *= factor
            if direction in ("both", "receives"):
                w.recv[h][r] *= factor
    # As slow as hosts of two groups are with each other, but for the tolerance of 5 %: documented as ambiguous, it may
    # be alone in its leaf.
    far = {w.path(i, j) for i in range(w.n) for j in range(i)} - {1}
    ambiguous = rail is None and direction == "both" and not w.give_locality and any(
        abs(math.log(factor / p)) < max(0.05, 0.01 + w.noise + w.shared) for p in far)
    w.truth.append({"kind": kind or ("host" if rail is None else "nic"), "hosts": [w.hosts[h]], "ids": [h],
                    "direction": direction, "rail": None if rail is None else w.rails[rail], "factor": round(factor, 3),
                    "ambiguous": ambiguous})
    return h
