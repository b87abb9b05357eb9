"""Cases of fabrics where pairs compete for links: healthy ones, which share links evenly, and faults of links and hosts."""

import collections

from flows import Fabric


def drawn(rng, value):
    return value(rng) if callable(value) else value


def fabric(rng, n, over=1, spread=None, rails=1, queue_pairs=None, known=None):
    """At least three leaves: of two, nobody can tell whose uplinks are slow. A link between switches is no slower than an
    adapter, unless flows are striped over several."""
    spread, over = spread or rng.choice(["striped", "ecmp"]), drawn(rng, over)
    size = rng.choice([s for s in (2, 4, 8, 16, 32) if 3 * s <= n and s >= over])
    spines = rng.choice([s for s in (1, 2, 4, 8) if s <= (size if spread == "striped" else size / over)])
    w = Fabric(rng, n, size, spines, over, spread, rails, queue_pairs or rng.choice([1, 4]), rng.random() < 0.5)
    w.give_locality = rng.random() < 0.5 if known is None else known
    return w


def healthy(**how):
    def make(rng, n):
        w = fabric(rng, n, **how)
        w.exits = {0}
        return w
    return make


def plant(w, h, factor, kind="host", direction="both"):
    w.truth.append({"kind": kind, "hosts": [w.hosts[h]], "ids": [h], "direction": direction, "factor": round(factor, 3)})
    return w


def slow_host(direction="both", **how):
    def make(rng, n):
        w = fabric(rng, n, **how)
        h, f = rng.randrange(n), 1 - rng.uniform(0.2, 0.6)
        for caps, way in ((w.send, "sends"), (w.recv, "receives")):
            if direction in ("both", way):
                caps[h] = [cap * f for cap in caps[h]]
        return plant(w, h, f, direction=direction)
    return make


def slow_links(factor, one_spine=False, **how):
    """All links of a leaf to the spines, or one of them."""
    def make(rng, n):
        w = fabric(rng, n, **how)
        leaf, f = rng.randrange(max(w.leaf) + 1), drawn(rng, factor)
        w.uplinks_at[leaf, rng.randrange(w.spines) if one_spine else None] = f
        w.links_are_shared = True
        w.unknown_will_do = one_spine and w.spread == "ecmp"
        if w.unknown_will_do:
            w.exits = {6, 7}
        hosts = sorted(w.hosts[i] for i in range(n) if w.leaf[i] == leaf)
        w.truth.append({"kind": "leaf", "hosts": hosts, "ids": [], "direction": "both", "factor": round(f, 3)})
        return w
    return make


def heat(rng, n):
    """A host that becomes slower with time, and stays so."""
    w = fabric(rng, n)
    h, since, floor = rng.randrange(n), rng.randint(2, 6), rng.uniform(0.5, 0.7)
    w.later[h] = lambda r: 1 if r < since else max(floor, 1 - 0.1 * (r - since + 1))
    return plant(w, h, floor)


def since_a_day(rng, n):
    """A host that is slow from one round on."""
    w = fabric(rng, n)
    h, since, f = rng.randrange(n), rng.randint(6, 12), rng.uniform(0.4, 0.7)
    w.later[h] = lambda r: f if r >= since else 1
    return plant(w, h, f)


def loss(rng, n):
    """A host whose link loses packets: its flows are slower, the more so the farther they go."""
    w = fabric(rng, n)
    h, f = rng.randrange(n), rng.uniform(0.4, 0.6)
    w.loss[h] = (f + 0.2, f)
    return plant(w, h, f)


def shared_pcie(rng, n):
    """NICs behind one PCIe switch in every host: healthy, though one NIC alone is faster than all at once."""
    w = fabric(rng, n, rails=8)
    w.pcie = {h: (set(range(8)), 6.0) for h in range(n)}
    w.exits = {0}
    return w


def mixed_fleet(rng, n):
    """Two kinds of adapters; which one is right, readings cannot tell."""
    w = fabric(rng, n)
    slow = rng.sample(range(n), n // 2)
    for h in slow:
        w.send[h] = w.recv[h] = [0.5] * len(w.rails)
    w.kinds_wanted = {w.hosts[h] for h in slow}
    w.exits = {7}
    return w


def over(rng):
    return rng.choice([2, 4])


FLOW_CASES = collections.OrderedDict([
    # name: (maker, least hosts, wanted share found, innocents a sweep allowed)
    ("flow_healthy", (healthy(), 8, 1, 0.02)),
    ("flow_healthy_rails", (healthy(rails=8), 8, 1, 0.02)),
    ("flow_oversubscribed", (healthy(over=over, spread="striped"), 12, 0.95, 0.02)),
    ("flow_oversubscribed_ecmp", (healthy(over=over, spread="ecmp"), 12, 0.95, 0.02)),
    ("flow_collisions", (healthy(spread="ecmp", queue_pairs=1), 8, 0.95, 0.02)),
    ("flow_pcie", (shared_pcie, 8, 0.95, 0.02)),
    ("flow_mixed_fleet", (mixed_fleet, 8, 0.95, 0.02)),
    ("flow_leaf_known", (slow_links(0.4, spread="striped", known=True), 8, 0.95, 0.02)),
    ("flow_leaf_unknown", (slow_links(0.4, spread="striped", known=False), 8, 0.90, 0.02)),
    ("flow_spine_striped", (slow_links(0.25, True, spread="striped", known=True), 8, 0.95, 0.05)),
    ("flow_spine_ecmp", (slow_links(lambda rng: rng.uniform(0.1, 0.25), True, spread="ecmp"), 8, 0.90, 0)),
    ("flow_host", (slow_host(), 8, 1, 0)),
    ("flow_host_oversubscribed", (slow_host(over=over), 12, 0.98, 0.02)),
    ("flow_host_sends", (slow_host("sends"), 8, 1, 0)),
    ("flow_heat", (heat, 8, 0.95, 0.02)),
    ("flow_since_a_day", (since_a_day, 8, 0.95, 0.02)),
    ("flow_loss", (loss, 8, 0.95, 0.02)),
])
