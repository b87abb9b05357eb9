"""Fabrics where pairs compete for links: the rate of each flow of a round is its max-min fair share (Bertsekas and
Gallager, Data Networks, 6.5.2) of adapters, PCIe switches, leaf uplinks and spine links, which all pairs of the round
use at once. Each rail is a plane of its own, with leaves and spines of its own."""

import hashlib

from world import World


def fair_shares(flows, capacity):
    """The max-min fair rate of each flow. flows: for each, {resource: share of the flow that uses it}."""
    rate = [0.0] * len(flows)
    left = dict(capacity)
    users = {}
    for k, flow in enumerate(flows):
        for resource in flow:
            users.setdefault(resource, set()).add(k)
    load = {r: sum(flows[k][r] for k in ks) for r, ks in users.items()}
    active, level = set(range(len(flows))), 0.0
    while active:
        # All active flows grow alike until a resource is full.
        bottleneck = min((r for r in load if load[r] > 1e-9), key=lambda r: left[r] / load[r])
        step = max(0.0, left[bottleneck] / load[bottleneck])
        level += step
        for r in load:
            if load[r] > 1e-9:
                left[r] -= step * load[r]
        for k in users[bottleneck] & active:
            rate[k] = level
            active.discard(k)
            for r, share in flows[k].items():
                load[r] -= share
                users[r].discard(k)
        load[bottleneck] = 0.0
    return rate


class Fabric(World):
    """Leaves of `size` hosts and `spines` spine switches in each plane; a leaf has a link to every spine and plane.
    spread: ecmp (each queue pair hashes to one spine) or striped (each flow uses all spines alike)."""

    def __init__(self, rng, n, size, spines, over=1.0, spread="striped", rails=1, queue_pairs=1, sticky=False):
        super().__init__(rng, n)
        self.noise, self.shared, self.tails = rng.choice([0.003, 0.01, 0.02]), 0, rng.choice([0, 0.01])
        self.rails = [None] if rails == 1 else [f"mlx5_{k}" for k in range(rails)]
        self.leaf = self.cut([size] * (n // size) + ([n % size] if n % size else []))
        self.spines, self.spread, self.queue_pairs, self.sticky = spines, spread, queue_pairs, sticky
        self.salt = rng.getrandbits(30)
        self.locality = {self.hosts[i]: f"leaf{self.leaf[i]:02d}" for i in range(n)}
        self.fabric = f"leaves of {size}, {spines} spines, {over:g}:1, {spread}, {queue_pairs} queue pairs, {rails} rails"
        self.link = size / spines / over                # of a leaf to one spine, in rates of an adapter
        self.uplinks_at = {}                            # (leaf, spine or None for all): factor, both directions
        self.pcie = {}                                  # host: rails that share a switch, and its capacity
        self.loss = {}                                  # host: factor of its flows within its leaf, and of those beyond it
        self.links_are_shared = over > 1 or (spread == "ecmp" and queue_pairs < 4 and spines > 1)
        self.finish()

    def links(self, i, j, rail, rnd):
        """{resource: share} for the links between leaves."""
        a, b = self.leaf[i], self.leaf[j]
        if a == b:
            return [{}]
        if self.spread == "striped":
            return [{x: 1 / self.spines for s in range(self.spines) for x in (("up", rail, a, s), ("down", rail, b, s))}]
        flows = []
        for q in range(self.queue_pairs):
            key = f"{self.salt} {i} {j} {rail} {q} {0 if self.sticky else rnd}"
            s = hashlib.blake2b(key.encode()).digest()[0] % self.spines   # a checksum would favour some leaves
            flows.append({("up", rail, a, s): 1.0, ("down", rail, b, s): 1.0})
        return flows

    def capacity(self, resource, rnd):
        kind, rail, *rest = resource
        if kind in ("up", "down"):
            leaf, spine = rest
            return self.link * self.uplinks_at.get((leaf, spine), 1) * self.uplinks_at.get((leaf, None), 1)
        host = rest[0]
        if kind == "pcie":
            return self.pcie[host][1]
        caps = self.send if kind == "send" else self.recv
        heat = self.later[host](rnd) if host in self.later else 1
        return caps[host][rail] * heat

    def rates_of(self, pairs, rnd):
        """(i, j, rail) -> share of an adapter's rate, for both directions of each pair."""
        flows, whose = [], []
        for i, j in pairs:
            for rail in range(len(self.rails)):
                for s, t in ((i, j), (j, i)):
                    parts = self.links(s, t, rail, rnd)
                    for part in parts:
                        # Queue pairs of a pair share the adapters; each is a flow of its own.
                        part[("send", rail, s)] = part[("recv", rail, t)] = 1.0
                        for h, way in ((s, "out"), (t, "in")):
                            if h in self.pcie and rail in self.pcie[h][0]:
                                part[("pcie", way, h)] = 1.0
                        flows.append(part)
                        whose.append((s, t, rail))
        capacity = {r: self.capacity(r, rnd) for flow in flows for r in flow}
        rates = {}
        for key, rate in zip(whose, fair_shares(flows, capacity)):
            rates[key] = rates.get(key, 0) + rate
        for s, t, rail in rates:
            beyond = self.leaf[s] != self.leaf[t]
            rates[s, t, rail] *= min(self.loss[h][beyond] if h in self.loss else 1 for h in (s, t))
        return rates

    def rate(self, i, j, r):
        return min(1.0, self.now[i, j, r])

    def measure(self, pairs, rnd, out, stats):
        """What runs at once shares links; what runs alone has them to itself."""
        together = [(i, j) for i, j, at_once in pairs if at_once > 1]
        self.now = self.rates_of(together, rnd)
        for i, j, at_once in pairs:
            if at_once == 1:
                self.now.update(self.rates_of([(i, j)], rnd))
            self.meet(i, j, rnd, at_once, 1.0, out, stats)
