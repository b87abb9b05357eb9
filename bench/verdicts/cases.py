"""What the judge plants: one function a case, which draws the fabric and its faults."""

import collections
import math
import random

from world import FABRICS, World, any_fabric, make_fabric, partition, plant_host, shown_partners, sizes_equal


def redraw(make):
    """A case whose fault would not show in the fabric drawn is drawn again."""
    def case(rng, n):
        for _ in range(60):
            w = make(rng, n)
            if w:
                return w
        raise RuntimeError("no such fabric")
    return case


def host_case(depth, direction="both", noise=None, after=None):
    def make(rng, n):
        w = World(rng, n, noise)
        any_fabric(w)
        d = depth(rng) if callable(depth) else depth
        if plant_host(w, 1 - d, direction) is None:
            return None
        if after:
            after(w)
        return w
    return redraw(make)


def nic_case(rng, n):
    w = World(rng, n)
    make_fabric(w, "rail_only")
    if len(w.rails) > 2:
        w.rails = w.rails[:2]
    w.send = w.recv = None
    w.finish()
    if n >= 8 and rng.random() < 0.4:
        make_levels = rng.choice(["two_level", "halls"])
        make_fabric(w, make_levels)
    return w if plant_host(w, 1 - rng.choice([0.1, 0.2, 0.3, 0.5, 0.8]), rng.choice(["both", "both", "sends", "receives"]),
                           rail=rng.randrange(2)) is not None else None


def draw_pair(w, taken):
    while True:
        i, j = w.rng.sample(range(w.n), 2)
        if i not in taken and j not in taken:
            taken |= {i, j}
            return i, j


def paths_case(rng, n):
    w = World(rng, n)
    any_fabric(w)
    w.planner = ["--all-pairs"]
    taken = set()
    for _ in range(2):
        i, j = draw_pair(w, taken)
        f = (1 - rng.uniform(0.2, 0.7)) * w.path(i, j)
        w.paths[i, j] = w.paths[j, i] = f
        w.truth.append({"kind": "pair", "hosts": [w.hosts[i], w.hosts[j]], "ids": [], "direction": "both", "factor": round(f, 3)})
    return w


def path_one_way_case(rng, n):
    w = World(rng, n)
    any_fabric(w)
    w.planner = ["--all-pairs"]
    i, j = draw_pair(w, set())
    f = (1 - rng.uniform(0.2, 0.7)) * w.path(i, j)
    w.paths[i, j] = f
    w.truth.append({"kind": "pair", "hosts": [w.hosts[i], w.hosts[j]], "ids": [], "direction": "sends", "factor": round(f, 3)})
    return w


def dead_path_case(rng, n):
    w = World(rng, n)
    any_fabric(w)
    w.planner = ["--all-pairs"]
    i, j = draw_pair(w, set())
    w.dead_pairs.add((min(i, j), max(i, j)))
    w.truth.append({"kind": "dead_pair", "hosts": [w.hosts[i], w.hosts[j]], "ids": [], "direction": "both"})
    return w


def dead_host_case(rng, n, k=1):
    w = World(rng, n)
    any_fabric(w)
    for h in rng.sample(range(n), k):
        w.dead.add(h)
        w.truth.append({"kind": "dead", "hosts": [w.hosts[h]], "ids": [h], "direction": "both"})
    return w


def dies_case(rng, n):
    w = World(rng, n)
    any_fabric(w)
    h = rng.randrange(n)
    w.dies[h] = rng.randint(1, 6)
    w.truth.append({"kind": "dead", "hosts": [w.hosts[h]], "ids": [h], "direction": "both", "from_round": w.dies[h]})
    return w


def with_tails(w):
    w.tails = w.rng.uniform(0.01, 0.03)


def with_drift(w):
    per, floor = w.rng.uniform(0.002, 0.01), w.rng.uniform(0.6, 0.8)
    sign = w.rng.choice([-1, -1, 1])
    w.env = (lambda r: max(floor, 1 - per * r)) if sign < 0 else (lambda r: min(1.0, floor + per * r))
    w.envname = f"drift {sign*per*100:.2f} % a round, floor {floor:.2f}"


def with_time_of_day(w):
    depth, period, phase = w.rng.uniform(0.05, 0.2), w.rng.uniform(8, 60), w.rng.uniform(0, 6.28)
    w.env = lambda r: 1 - depth * (0.5 + 0.5 * math.sin(phase + 6.2832 * r / period))
    w.envname = f"time of day -{depth*100:.0f} % at most, period {period:.0f} rounds"


def with_round_drops(w):
    p, lo, hi, key = w.rng.uniform(0.05, 0.15), 0.1, 0.5, w.rng.getrandbits(30)

    def env(r):
        g = random.Random(key * 1000003 + r)
        return 1 - g.uniform(lo, hi) if g.random() < p else 1.0
    w.env = env
    w.envname = f"{p*100:.0f} % of rounds drop by 10 to 50 % for all"


def with_reading_drops(w):
    w.drop_reading = (w.rng.uniform(0.03, 0.07), 0.1, 0.5)
    w.envname = f"{w.drop_reading[0]*100:.0f} % of readings drop by 10 to 50 %"


def leaf_uplink_known(rng, n, pairs=False):
    """Leaves of three hosts or more; with pairs, of two."""
    w = World(rng, n)
    if pairs:
        sizes = sizes_equal(n, 2)
    else:
        size = rng.choice([s for s in (3, 4, 8, 16) if s <= n // 3] or [n // 3])
        sizes = partition(rng, n, min(3, n // 3), max(3, n // size))
        if rng.random() < 0.6:
            sizes = sizes_equal(n, size)
            while min(sizes) < 3 and n >= 9:
                sizes = partition(rng, n, 3, n // size)
        if n < 9:
            sizes = [3, 3, n - 6]
    across = rng.choice([1.0, 0.9, 0.75])
    group = w.cut(sizes)
    w.add_level(group, across)
    w.fabric = f"leaves {sizes} across {across}"
    if len(w.rails) == 1 and rng.random() < 0.2:
        w.rails = ["mlx5_0", "mlx5_1"]
    w.finish()
    w.locality = {w.hosts[i]: f"leaf{group[i]:02d}" for i in range(n)}
    w.give_locality = True
    g = rng.choice([k for k in range(len(sizes)) if sizes[k] > 2 or pairs])
    d = rng.choice(["both", "both", "sends", "receives"])
    f = 0.5 * across
    w.uplinks.append((0, g, f if d != "receives" else 1.0, f if d != "sends" else 1.0))
    w.truth.append({"kind": "leaf", "hosts": [w.hosts[i] for i in range(n) if group[i] == g], "ids": [], "direction": d, "factor": f})
    return w


def k_slow(rng, n, lo=None, hi=None, even=False):
    w = World(rng, n)
    make_fabric(w, rng.choice(["flat", "flat", "rail_only"]))
    most = (n - 1) // 2
    k = rng.randint(min(2, most), most) if lo is None else rng.randint(lo, hi)
    same = 1 - rng.uniform(0.2, 0.7)
    unequal = rng.random() < 0.5
    for h in rng.sample(range(n), k):
        f = 1 - rng.uniform(0.2, 0.7) if unequal else same
        plant_host(w, f, host=h)
    w.fabric += f", k={k} {'unequal' if unequal else 'equal'}"
    return w


def k_half(rng, n, expect=False):
    w = World(rng, n)
    make_fabric(w, rng.choice(["flat", "flat", "rail_only"]))
    k = rng.randint((n + 1) // 2, n - 2)
    fast_pairs = (n - k) * (n - k - 1) // 2
    if 28 * fast_pairs < 5 * (n - 1):   # in 28 rounds for all hosts hardly any pair would be fast
        if n > 128:
            return None
        w.planner = ["--all-pairs"]
    f = 1 - rng.uniform(0.2, 0.6)
    slow = rng.sample(range(n), k)
    for h in slow:
        for r in range(len(w.rails)):
            w.send[h][r] = w.recv[h][r] = f
        if expect:
            w.truth.append({"kind": "host", "hosts": [w.hosts[h]], "ids": [h], "direction": "both", "factor": round(f, 3)})
    w.fabric += f", k={k} at {f:.2f}"
    if expect:
        w.judge_options = ["--expect", f"{w.c * 0.96:.4g}"]
    else:
        w.kinds_wanted = {w.hosts[h] for h in slow}
        w.exits = {7}
    return w


def leaf_half(rng, n):
    """Whole leaves of slow hosts, half of all hosts or more, and a locality that says so."""
    w = World(rng, n)
    sizes = sizes_equal(n, n // rng.choice([2, 4] if n >= 16 else [2]))
    group = w.cut(sizes)
    f, across = 1 - rng.uniform(0.2, 0.6), rng.choice([1.0, 0.9, 0.75])
    w.add_level(group, across)
    w.finish()
    leaves = set(rng.sample(range(len(sizes)), rng.randint(len(sizes) // 2, len(sizes) - 1)))
    slow = [h for h in range(n) if group[h] in leaves]
    if 2 * len(slow) < n:
        return None
    f *= across                                         # or two slow leaves would be groups of their own
    for h in slow:
        w.send[h][0] = w.recv[h][0] = f
    w.locality, w.give_locality = {w.hosts[i]: f"leaf{group[i]:02d}" for i in range(n)}, True
    w.fabric = f"leaves {sizes} across {across:.2f}, {len(leaves)} of them at {f:.2f}"
    w.kinds_wanted, w.exits = {w.hosts[h] for h in slow}, {7}
    return w


def slow_in_leaves(rng, n):
    """A right locality with leaves of two or four hosts, and one or two slow hosts."""
    w = World(rng, n)
    sizes = sizes_equal(n, rng.choice([2, 4]))
    group, across = w.cut(sizes), 1 - rng.choice([0.1, 0.25, 0.5])
    w.add_level(group, across)
    w.finish()
    w.locality, w.give_locality = {w.hosts[i]: f"leaf{group[i]:02d}" for i in range(n)}, True
    w.fabric = f"leaves of {sizes[0]} across {across:.2f}"
    for h in rng.sample(range(n), rng.choice([1, 1, 2])):
        f = across * (1 - rng.uniform(0.2, 0.6))
        w.send[h][0] = w.recv[h][0] = f
        w.truth.append({"kind": "host", "hosts": [w.hosts[h]], "ids": [h], "direction": "both", "factor": round(f, 3)})
    return w


def grades(rng, n):
    """Fast hosts, slower ones and still slower ones: the latter two together half of all or more."""
    w = World(rng, n)
    make_fabric(w, rng.choice(["flat", "flat", "rail_only"]))
    fast = rng.randint(max(3, n // 4), n // 2)          # of one fast pair, the rest would look alike
    middle = rng.randint((n - fast) // 3, (n - fast) - (n - fast) // 3)
    order = rng.sample(range(n), n)
    f = 1 - rng.uniform(0.2, 0.4)
    lower = f * (1 - rng.uniform(0.25, 0.5))
    for place, h in enumerate(order[fast:]):
        for r in range(len(w.rails)):
            w.send[h][r] = w.recv[h][r] = f if place < middle else lower
    w.never_fine = {w.hosts[h] for h in order[fast:]}
    w.fabric += f", {fast} fast hosts, {middle} at {f:.2f}, {n - fast - middle} at {lower:.2f}"
    w.exits = {6, 7}
    return w


def silent_way(rng, n):
    """A host of which nothing works in one direction."""
    w = World(rng, n)
    any_fabric(w)
    h, direction = rng.randrange(n), rng.choice(["sends", "receives"])
    w.silent[h] = direction
    w.truth.append({"kind": "dead", "hosts": [w.hosts[h]], "ids": [h], "direction": direction})
    return w


def k_half_one_way(rng, n):
    """Half of the hosts or more are slower, sending or receiving alone."""
    w = World(rng, n)
    make_fabric(w, rng.choice(["flat", "flat", "rail_only"]))
    k, f, sends = rng.randint((n + 1) // 2, n - 2), 1 - rng.uniform(0.2, 0.6), rng.random() < 0.5
    slow = rng.sample(range(n), k)
    for h in slow:
        for r in range(len(w.rails)):
            (w.send if sends else w.recv)[h][r] = f
    w.fabric += f", k={k} at {f:.2f}, {'sending' if sends else 'receiving'}"
    w.kinds_wanted = {w.hosts[h] for h in slow}
    w.exits = {7}
    return w


def swapped_locality(rng, n):
    """Healthy leaves of a locality that has two hosts in each other's place."""
    w = World(rng, n)
    sizes = partition(rng, n, 3, max(3, n // 8)) if n >= 16 else sizes_equal(n, 4)
    across = 1 - rng.choice([0.1, 0.2, 0.3, 0.5, 0.7])
    group = w.cut(sizes)
    w.add_level(group, across)
    w.finish()
    w.locality = {w.hosts[i]: f"leaf{group[i]:02d}" for i in range(n)}
    a, b = next((a, b) for a, b in iter(lambda: rng.sample(range(n), 2), None) if group[a] != group[b])
    w.locality[w.hosts[a]], w.locality[w.hosts[b]] = w.locality[w.hosts[b]], w.locality[w.hosts[a]]
    w.fabric = f"leaves {sizes} across {across:.2f}, {w.hosts[a]} and {w.hosts[b]} swapped"
    w.give_locality, w.note_wanted = True, ("contradict --locality", "in the wrong leaf of --locality")
    w.exits = {0, 7}                                    # 7: slow by as much, or in the wrong leaf
    return w


def incomplete_locality(rng, n):
    """Healthy leaves of a locality that leaves up to a quarter of the hosts out."""
    w = World(rng, n)
    sizes = partition(rng, n, 4, max(2, n // 8))
    across = 1 - rng.choice([0.2, 0.3, 0.5, 0.7])
    group = w.cut(sizes)
    w.add_level(group, across)
    w.finish()
    left_out = set()
    for h in rng.sample(range(n), n // 4):              # two of each leaf are on the list
        if sum(group[x] == group[h] and x not in left_out for x in range(n)) > 2:
            left_out.add(h)
    w.locality = {w.hosts[h]: f"leaf{group[h]:02d}" for h in range(n) if h not in left_out}
    w.fabric = f"leaves {sizes} across {across:.2f}, {len(left_out)} hosts without a leaf"
    w.give_locality, w.exits, w.note_wanted = True, {0}, ("--locality lacks these hosts",)
    return w


def fails_at_random(rng, n):
    """A twentieth to a fifth of all attempts fail, whoever it is."""
    w = World(rng, n)
    any_fabric(w, ["flat", "two_level", "rail_only"])
    w.fails = rng.uniform(0.05, 0.2)
    w.fabric += f", {w.fails:.0%} fail"
    w.exits = {6, 7}                                    # with 6, hosts or paths of which it cannot tell
    return w


def groups_world(rng, n, depth=None, least=2):
    w = World(rng, n)
    for _ in range(100):
        sizes = partition(rng, n, least)
        if rng.random() < 0.3:
            g = rng.choice([2, 3, 4, 6, 8])
            if n // g >= least:
                sizes = sizes_equal(n, n // g)
        if len(sizes) > 2 or max(sizes) < 3 * min(sizes):
            break
    across = 1 - (depth or rng.choice([0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 0.9]))
    w.add_level(w.cut(sizes), across)
    w.fabric = f"groups {sizes} across {across:.2f}"
    w.finish()
    return w, sizes, across


def groups_case(rng, n):
    w, sizes, across = groups_world(rng, n)
    w.exits = {0}
    if across <= 0.9 + 1e-9:
        w.groups_wanted = [w.levels[0][0]]
    return w


def two_groups_uneven(rng, n):
    """Two healthy groups of which one is three times the other or more; below 70 % it is documented as ambiguous."""
    w = World(rng, n)
    a = rng.randint(2, max(2, n // 4))
    across = 1 - rng.choice([0.1, 0.2, 0.35, 0.5, 0.8])
    w.add_level(w.cut([n - a, a]), across)
    w.fabric = f"two groups {[n-a, a]} across {across:.2f}"
    w.finish()
    w.exits = {0}
    if across < 0.7 and 3 * a <= n - a:
        w.exits, w.note_wanted = {7}, ("its uplinks are slow",)
    w.groups_wanted = [w.levels[0][0]]
    return w


def groups_of_groups(rng, n):
    w = World(rng, n)
    leaf = partition(rng, n, 2, rng.randint(4, max(4, min(16, n // 2)))) if rng.random() < 0.5 else sizes_equal(n, max(2, n // rng.choice([4, 6, 8])))
    cutat = rng.randint(2, len(leaf) - 1) if len(leaf) < 6 else len(leaf) // 2
    if len(leaf) < 4:
        return None
    pods = [leaf[:cutat], leaf[cutat:]] if len(leaf) < 9 else [leaf[k::3] for k in range(3)]
    if min(map(len, pods)) < 2:     # one leaf in a pod of its own looks like one whose uplinks are slow
        return None
    leaf = [s for p in pods for s in p]
    pods = [sum(p) for p in pods]
    if len(pods) == 2 and max(pods) >= 3 * min(pods):
        return None
    a1 = 1 - rng.choice([0.1, 0.2, 0.3])
    a2 = a1 * (1 - rng.choice([0.15, 0.3, 0.5]))
    w.add_level(w.cut(leaf), a1)
    w.add_level(w.cut(pods), a2)
    w.fabric = f"groups {leaf} across {a1:.2f} in {pods} across {a2:.2f}"
    w.finish()
    w.exits = {0}
    w.groups_wanted = [w.levels[1][0], w.levels[0][0]]
    return w


def lone_host(rng, n):
    """Healthy groups, and a host that is alone behind its switch, or slow by as much: nobody can tell."""
    w = World(rng, n)
    across = 1 - rng.choice([0.1, 0.2, 0.3, 0.5, 0.7])
    sizes = partition(rng, n - 1, 2)
    if len(sizes) < 2:
        return None
    w.add_level(w.cut(sizes + [1]), across)
    w.fabric = f"groups {sizes} and a host alone across {across:.2f}"
    w.finish()
    w.exits, w.note_wanted = {7}, ("alone in its leaf",)
    return w


def slow_in_groups(rng, n):
    w, sizes, across = groups_world(rng, n, least=min(4, n // 2))
    if max(sizes) < 4:
        return None
    nic = rng.random() < 0.4
    if nic:
        w.rails = ["mlx5_0", "mlx5_1"]
        w.send = None
        w.finish()
    f = 1 - rng.uniform(0.2, 0.7)
    h = plant_host(w, f, rng.choice(["both", "both", "sends", "receives"]), rail=rng.randrange(2) if nic else None)
    return w if h is not None else None


def uplink_unknown(rng, n, full=None):
    w = World(rng, n)
    across = 1.0 if rng.random() < 0.4 else 1 - rng.uniform(0.1, 0.5)
    for _ in range(100):
        g = rng.randint(4, max(4, min(10, n // 2)))
        sizes = partition(rng, n, 2 if n < 12 else 3, g if n // g >= (2 if n < 12 else 3) else 4)
        bad = rng.randrange(len(sizes))
        if across < 1 or sizes[bad] * 4 <= n:
            break
    w.add_level(w.cut(sizes), across)
    w.fabric = f"groups {sizes} across {across:.2f}, uplink of group {bad} ({sizes[bad]} hosts)"
    w.finish()
    d = rng.choice(["both", "both", "sends", "receives"])
    f = 0.5 * across
    w.uplinks.append((0, bad, f if d != "receives" else 1.0, f if d != "sends" else 1.0))
    group = w.levels[0][0]
    if across == 1 and d == "both":
        # Nobody but this group shows: a second hall would look the same, so both are to be named, with 7.
        w.groups_wanted, w.note_wanted, w.exits = [[int(g == bad) for g in group]], ("its uplinks are slow",), {7}
        return w
    w.truth.append({"kind": "leaf", "hosts": [w.hosts[i] for i in range(n) if group[i] == bad], "ids": [], "direction": d, "factor": round(f, 3)})
    return w


def flapping(rng, n, mode=None, levels=("flat", "two_level", "rail_only"), fails=False):
    """A host that is slow, or fails, in a fifth to half of all its readings: such as show with those of its leaf alone
    are fewer."""
    w = World(rng, n)
    any_fabric(w, levels)
    mode = mode or rng.choice(["meeting", "reading", "burst", "time"])
    fraction, factor = rng.uniform(0.2, 0.5), 0 if fails else 1 - rng.uniform(0.3, 0.8)
    h = rng.randrange(n)
    shown = shown_partners(w, h, factor)
    if shown < min(4, n - 1) or fraction * shown < 0.2 * (n - 1):
        return None
    w.flap[h] = (mode, fraction, factor, {"period": rng.randint(5, 12), "phase": rng.randrange(12)})
    w.truth.append({"kind": "transient", "hosts": [w.hosts[h]], "ids": [h], "direction": "both", "mode": mode,
                    "fraction": round(fraction, 2), "factor": round(factor, 2)})
    w.exits = {6, 7}
    return w


def flapping_path(rng, n, fails=False):
    """A path that is slow, or fails, in a fifth to half of its meetings, or more: two hosts that are fine with others."""
    w = World(rng, n)
    any_fabric(w, ("flat", "two_level"))
    w.planner = ["--all-pairs"]
    i, j = sorted(draw_pair(w, set()))
    factor = 0 if fails else (1 - rng.uniform(0.3, 0.8)) * w.path(i, j)
    w.flap_paths[i, j] = (rng.uniform(0.2, 0.6), factor, {})
    w.truth.append({"kind": "unsteady_path", "hosts": [w.hosts[i], w.hosts[j]], "ids": [], "direction": "both", "factor": round(factor, 2)})
    w.exits = {6, 7}
    return w


def cut_off_leaf(rng, n):
    """A leaf, or a part of it, between which and all others nothing works."""
    w = World(rng, n)
    any_fabric(w, ("flat", "two_level", "halls"))
    size = rng.randint(3, max(3, (n - 2) // 2))
    w.cut_off = set(w.order[:size])
    hosts = sorted(w.hosts[h] for h in w.cut_off)
    w.truth.append({"kind": "cut_off", "hosts": hosts, "ids": [], "direction": "both"})
    return w


def most_of_a_leaf(rng, n):
    """Most hosts of one of two leaves are slow, and the locality is given."""
    w = World(rng, n)
    size = n // 2
    w.fabric = "two leaves"
    w.add_level(w.cut([size, n - size]), 1.0)
    w.locality = {w.hosts[i]: f"leaf{w.levels[0][0][i]:02d}" for i in range(n)}
    w.give_locality = True
    w.finish()
    slow = rng.randint(size // 2 + 1, size - 1)
    factor = 1 - rng.uniform(0.2, 0.7)
    for place in rng.sample(range(size), slow):
        plant_host(w, factor, host=w.order[place])
    return w


def shared_device(rng, n, mode=None):
    """A bad GPU or NIC that went from host to host (moved), or that several hosts share for good (shared)."""
    w = World(rng, n)
    make_fabric(w, rng.choice(["flat", "flat", "two_level", "halls"]))
    w.device_key = rng.choice(["nic_guid", "gpu_uuid"])
    mode = mode or rng.choice(["moved", "shared"])
    name = "GPU-%08x" if w.device_key == "gpu_uuid" else "0x%016x"
    pool = n + rng.randint(0, n) if mode == "moved" else (n + 1) // 2
    names = [name % rng.getrandbits(31) for _ in range(pool)]
    if len(set(names)) < pool:
        return None
    # Of half of the hosts, nobody could say which half is right.
    key, size = rng.getrandbits(30), rng.choice([s for s in (2, 3, 4) if 2 * s < n])
    seat = list(range(n))
    rng.shuffle(seat)

    def moved(h, rnd):
        return names[random.Random(key * 1000003 + rnd // 2).sample(range(pool), n)[h]]
    w.device_of = moved if mode == "moved" else lambda h, rnd: names[seat[h] // size]
    d = rng.choice(["both", "both", "sends", "receives"])
    lowest = min([1.0] + [across for _, across in w.levels])
    f = lowest * (1 - rng.uniform(0.2, 0.7))            # shows with every partner
    # the last of those shared may have one host only
    bad = names[rng.randrange(pool if mode == "moved" else n // size)]
    w.device_caps[bad] = (f if d != "receives" else 1.0, f if d != "sends" else 1.0)
    w.truth.append({"kind": "device", "hosts": [bad], "ids": [], "direction": d, "factor": round(f, 3)})
    w.fabric += f", {pool} devices {mode}" + (f" by {size}" if mode == "shared" else "")
    return w


def host5(rng, n):
    w = World(rng, n, 0.01)
    w.noise, w.shared, w.tails = 0.01, 0, 0
    make_fabric(w, "flat")
    plant_host(w, 0.95)
    w.exits = {6, 7}
    w.soft = "cannot tell is well"
    return w


def healthy(kind, after=None):
    def make(rng, n):
        w = World(rng, n)
        make_fabric(w, kind if kind != "any" else rng.choice(FABRICS))
        w.exits = {0}
        if after:
            after(w)
        return w
    return make


def two_generations(rng, n):
    """Half of the hosts or more of an older kind: told as kinds, nobody blamed."""
    return k_half(rng, n)


def spread(rng, n):
    """Healthy hosts that differ by themselves, by 1 % (standard deviation), never beyond 2.5."""
    w = World(rng, n)
    any_fabric(w)
    for i in range(n):
        for r in range(len(w.rails)):
            w.send[i][r] = w.recv[i][r] = 1 + max(-0.02, min(0.02, rng.gauss(0, 0.008)))
    w.exits = {0}
    return w


def contention(rng, n):
    """Healthy, but a full round is slower than a pair alone."""
    w = healthy("any")(rng, n)
    loss = rng.uniform(0.05, 0.4)
    w.contention = loss
    w.fabric += f", {loss*100:.0f} % slower together"
    w.exits = {0, 7}
    return w


def mixed(rng, n):
    """Groups, in them a slow host, and a dead one."""
    w, sizes, across = groups_world(rng, n, least=min(4, n // 2))
    h = rng.randrange(n)
    w.dead.add(h)
    w.truth.append({"kind": "dead", "hosts": [w.hosts[h]], "ids": [h], "direction": "both"})
    if plant_host(w, 1 - rng.uniform(0.2, 0.6)) is None:
        return None
    return w


def two_faults(rng, n):
    """A slow host, another that flaps, and one that only receives slowly."""
    w = World(rng, n)
    make_fabric(w, "flat")
    a, b, c = rng.sample(range(n), 3)
    plant_host(w, 1 - rng.uniform(0.2, 0.6), host=a)
    plant_host(w, 1 - rng.uniform(0.2, 0.6), "receives", host=b)
    w.flap[c] = ("meeting", rng.uniform(0.3, 0.5), 1 - rng.uniform(0.3, 0.7), {})
    w.truth.append({"kind": "transient", "hosts": [w.hosts[c]], "ids": [c], "direction": "both", "mode": "meeting"})
    return w


def slow_in_generations(rng, n):
    """Two kinds of hosts, told apart by a locality of nobody; one host slower than its kind."""
    w = k_half(rng, n)
    if w is None:
        return None
    slow = [i for i in range(n) if w.hosts[i] in w.kinds_wanted]
    h = rng.choice(slow)
    f = w.send[h][0] * (1 - rng.uniform(0.3, 0.6))
    for r in range(len(w.rails)):
        w.send[h][r] = w.recv[h][r] = f
    w.truth.append({"kind": "host", "hosts": [w.hosts[h]], "ids": [h], "direction": "both", "factor": round(f, 3)})
    w.kinds_wanted = None
    w.exits = {6}
    return w


def DEEP(rng):
    return rng.uniform(0.2, 0.5)


CASES = collections.OrderedDict([
    # name: (maker, least hosts, wanted share found, innocents a sweep allowed)
    ("healthy_flat", (healthy("flat"), 3, 1, 0.01)),
    ("healthy_two_level", (healthy("two_level"), 4, 1, 0.01)),
    ("healthy_three_level", (healthy("three_level"), 8, 1, 0.01)),
    ("healthy_rail_only", (healthy("rail_only"), 4, 1, 0.01)),
    ("healthy_halls", (healthy("halls"), 8, 1, 0.01)),
    ("healthy_two_generations", (redraw(two_generations), 4, 1, 0)),
    ("healthy_tails", (healthy("any", with_tails), 4, 1, 0.01)),
    ("healthy_drift", (healthy("any", with_drift), 4, 1, 0.01)),
    ("healthy_time_of_day", (healthy("any", with_time_of_day), 4, 1, 0.01)),
    ("healthy_round_drops", (healthy("any", with_round_drops), 4, 1, 0.01)),
    ("healthy_reading_drops", (healthy("any", with_reading_drops), 4, 1, 0.01)),
    ("healthy_spread", (spread, 4, 1, 0.01)),
    ("healthy_contention", (contention, 4, 1, 0.01)),
    ("host10", (host_case(0.10), 4, 1, 0)),
    ("host20", (host_case(0.20), 4, 1, 0)),
    ("host50", (host_case(0.50), 4, 1, 0)),
    ("host5", (host5, 4, 0.9, 0.01)),
    ("nic", (redraw(nic_case), 4, 1, 0)),
    ("sends", (host_case(lambda r: r.choice([0.1, 0.2, 0.5]), "sends"), 4, 1, 0)),
    ("receives", (host_case(lambda r: r.choice([0.1, 0.2, 0.5]), "receives"), 4, 1, 0)),
    ("two_paths", (paths_case, 5, 1, 0)),
    ("path_one_way", (path_one_way_case, 5, 1, 0)),
    ("dead_path", (dead_path_case, 5, 1, 0)),
    ("dead_host", (dead_host_case, 4, 1, 0)),
    ("dies", (dies_case, 6, 1, 0)),
    ("host_tails", (host_case(DEEP, after=with_tails), 4, 1, 0)),
    ("host_drift", (host_case(DEEP, after=with_drift), 4, 1, 0)),
    ("host_time_of_day", (host_case(DEEP, after=with_time_of_day), 4, 1, 0)),
    ("host_round_drops", (host_case(DEEP, after=with_round_drops), 4, 1, 0)),
    ("host_reading_drops", (host_case(DEEP, after=with_reading_drops), 4, 1, 0)),
    ("leaf_uplink_known", (leaf_uplink_known, 8, 1, 0)),
    ("leaf_pair_uplink_known", (lambda r, n: leaf_uplink_known(r, n, True), 8, 1, 0)),
    ("k_slow", (k_slow, 8, 0.99, 0.01)),
    ("k_half", (redraw(k_half), 4, 0.99, 0)),
    ("k_half_expect", (redraw(lambda r, n: k_half(r, n, True)), 4, 0.99, 0)),
    ("k_half_one_way", (redraw(k_half_one_way), 8, 0.99, 0)),
    ("leaf_half", (redraw(leaf_half), 8, 0.99, 0)),
    ("grades", (grades, 8, 0.99, 0)),
    ("slow_in_leaves", (slow_in_leaves, 8, 0.98, 0.02)),
    ("silent_way", (silent_way, 5, 0.99, 0)),
    ("swapped_locality", (swapped_locality, 8, 0.95, 0.01)),
    ("incomplete_locality", (incomplete_locality, 8, 0.95, 0.01)),
    ("fails_at_random", (fails_at_random, 4, 0.95, 0.01)),
    ("groups", (groups_case, 8, 0.95, 0.01)),
    ("two_groups_uneven", (two_groups_uneven, 8, 0.95, 0.01)),
    ("groups_of_groups", (redraw(groups_of_groups), 12, 0.95, 0.01)),
    ("lone_host", (redraw(lone_host), 8, 0.95, 0.01)),
    ("slow_in_groups", (redraw(slow_in_groups), 8, 0.98, 0.02)),
    ("uplink_unknown", (uplink_unknown, 8, 0.95, 0.02)),
    ("flap_meeting", (redraw(lambda r, n: flapping(r, n, "meeting")), 4, 0.95, 0.01)),
    ("flap_reading", (redraw(lambda r, n: flapping(r, n, "reading")), 4, 0.95, 0.01)),
    ("flap_burst", (redraw(lambda r, n: flapping(r, n, "burst")), 4, 0.95, 0.01)),
    ("flap_time", (redraw(lambda r, n: flapping(r, n, "time")), 4, 0.95, 0.01)),
    ("flap_failing", (redraw(lambda r, n: flapping(r, n, r.choice(["meeting", "burst", "time"]), fails=True)), 8, 0.95, 0.01)),
    ("flap_path", (flapping_path, 8, 0.95, 0.01)),
    ("fail_path", (lambda r, n: flapping_path(r, n, True), 8, 0.95, 0.01)),
    ("cut_off_leaf", (cut_off_leaf, 12, 0.95, 0.01)),
    ("most_of_a_leaf", (most_of_a_leaf, 8, 0.99, 0.01)),
    ("device_moved", (redraw(lambda r, n: shared_device(r, n, "moved")), 8, 0.95, 0.02)),
    ("device_shared", (redraw(lambda r, n: shared_device(r, n, "shared")), 8, 0.95, 0.02)),
    ("mixed", (redraw(mixed), 12, 0.98, 0.02)),
    ("two_faults", (two_faults, 8, 0.95, 0.02)),
    ("slow_in_generations", (redraw(slow_in_generations), 8, 0.95, 0.02)),
])
