"""The order of hosts on both axes of a map, and the number of hosts that share a line of cells."""

import re
from dataclasses import dataclass

MOST_LINES, LEAST_LINES = 128, 16  # of one map
# The large parts of a page. The rest is small, so a page stays below 5 MB.
MOST_BYTES = 4_400_000
CELL_BYTES = 150  # per cell, without the names of hosts in its text
MARK_BYTES, TEXT_BYTES = 100, 210  # per host as sender or receiver: its distribution, and its hover text
MOST_BYTES_OF_TEXTS = 1_000_000
LONGEST_NAME = 26
NO_LEAF, NO_GROUP = "no leaf", "no group"


@dataclass
class Axis:
    hosts: list  # names, in the order of the axis
    position: list  # by place in Records.hosts
    ends: list  # (host, rail), in the order of the axis
    leaves: list  # (name, first position, one past the last), the finest groups; empty in the order of names
    wider: list  # the same for groups of these, or for kinds of hosts within them
    per_line: int  # hosts that share a line of cells
    labels: list  # short names, in the order of the axis
    tells_hosts: bool  # whether a host's distribution has a hover text: not with very many hosts

    @property
    def lines(self):
        return -(-len(self.hosts) // self.per_line)

    def line_name(self, line):
        first, last = line * self.per_line, min((line + 1) * self.per_line, len(self.hosts)) - 1
        return self.hosts[first] if first == last else f"{self.hosts[first]} .. {self.hosts[last]}"


def make_axis(records, order, findings):
    """`order`: name, locality, similarity, or None for the best known: the verdict's similarity, else locality. A
    locality unknown to the verdict takes precedence."""
    if order is None and findings.order and (findings.knows_locality or not knows_leaves(records)):
        order = "similarity"
    if order is None:
        order = "locality" if knows_leaves(records) else "name"
    places = sorted(range(len(records.hosts)), key=sort_key(records, order, findings))
    hosts = [records.hosts[place] for place in places]
    position = [0] * len(hosts)
    for where, place in enumerate(places):
        position[place] = where
    ends = [records.ends[place] for place in places]
    leaves, wider = [], []
    if order == "locality":
        leaves = runs_of([records.leaf(place) or NO_LEAF for place in places])
    elif order == "similarity":
        leaves, *others = [runs_of_level(level, ends) for level in findings.levels] or [[]]
        wider = [run for runs in others for run in runs if run[0] != NO_GROUP]
    sides = 2 * len(hosts) * len(records.kinds)
    tells_hosts = sides * TEXT_BYTES <= MOST_BYTES_OF_TEXTS
    left = MOST_BYTES - sides * (MARK_BYTES + (TEXT_BYTES if tells_hosts else 0))
    per_line = hosts_per_line(hosts, left / len(records.kinds))
    return Axis(hosts, position, ends, leaves, wider, per_line, short_names(hosts), tells_hosts)


def knows_leaves(records):
    return any(records.leaf(place) is not None for place in range(len(records.hosts)))


def sort_key(records, order, findings):
    """Sorts places in Records.hosts."""
    ranks = {host: rank for rank, host in enumerate(findings.order)}

    def key(place):
        by_name = natural(records.hosts[place])
        if order == "similarity":  # hosts unknown to the verdict come last
            return ranks.get(records.ends[place][0], len(ranks)), by_name
        leaf = records.leaf(place) if order == "locality" else None
        return leaf is None, natural(leaf or ""), by_name

    return key


def natural(name):
    """Sorts node9 before node10."""
    return [(0, int(part), part) if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", name)]


def runs_of(names):
    """(name, first position, one past the last) of equal neighbouring names."""
    runs = []
    for where, name in enumerate(names):
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1], where + 1)
        else:
            runs.append((name, where, where + 1))
    return runs


def runs_of_level(level, ends):
    group_of = {host: name for name, hosts in level.groups for host in hosts}
    return runs_of([group_of.get(host, NO_GROUP) for host, _ in ends])


def hosts_per_line(hosts, most_bytes):
    """The number of hosts per line that limits the map's bytes; with fewer than 16 lines it would show nothing."""
    length = sum(len(host.encode()) for host in hosts) / max(1, len(hosts))
    for per_line in range(-(-len(hosts) // MOST_LINES), len(hosts)):
        names = 2 if per_line == 1 else 6  # of hosts, in the text of a cell
        lines = -(-len(hosts) // per_line)
        if lines <= LEAST_LINES or lines * lines * (CELL_BYTES + names * length) <= most_bytes:
            return per_line
    return 1


def short_names(hosts):
    """Without the common domain, and shortened in the middle, because both ends distinguish hosts."""
    first, dot, domain = hosts[0].partition(".")
    if dot and not first.isdecimal() and all(host.partition(":r")[0].partition(".")[2] == domain for host in hosts):
        hosts = [host.replace(f".{domain}", "", 1) for host in hosts]
    half = (LONGEST_NAME - 1) // 2
    return [
        host if len(host) <= LONGEST_NAME else f"{host[:half]}\N{HORIZONTAL ELLIPSIS}{host[-half:]}" for host in hosts
    ]
