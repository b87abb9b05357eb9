"""The readings of one kind as a grid of cells, a row for each receiver and a column for each sender."""

import array
import heapq
import math
import operator
import statistics
from dataclasses import dataclass, field

from report_page.sweep import NOT_TRIED, WRONG
from report_page.words import natural, short_names

MOST_LINES = 1024  # of a map; with more hosts, a line stands for several
NO_GROUP = "no group"


@dataclass
class Axis:
    hosts: list  # names of endpoints, in order
    position: list  # by place in Sweep.names
    ends: list  # (host, rail), in order
    runs: list  # (name of the group, first position, one past the last)
    per_line: int  # endpoints that share a line

    @property
    def lines(self):
        return -(-len(self.hosts) // self.per_line)

    def labels(self):
        """The names of the lines."""
        short = short_names(self.hosts)
        if self.per_line == 1:
            return short
        firsts = range(0, len(short), self.per_line)
        return [f"{short[first]} .. {short[min(first + self.per_line, len(short)) - 1]}" for first in firsts]

    def places_of(self, host, rail=None):
        """The positions of a host's endpoints; it may also be the name of one endpoint."""
        return [
            at
            for at, (name, of_rail) in enumerate(self.ends)
            if (name == host or self.hosts[at] == host) and (rail is None or of_rail in (None, rail))
        ]


def make_axis(sweep, judgement):
    """In the order of the verdict, else by name; hosts unknown to the verdict come last."""
    ranks = {host: rank for rank, host in enumerate(judgement.order)}
    places = sorted(
        range(len(sweep.names)),
        key=lambda place: (ranks.get(sweep.ends[place][0], len(ranks)), natural(sweep.names[place])),
    )
    position = [0] * len(places)
    for where, place in enumerate(places):
        position[place] = where
    ends = [sweep.ends[place] for place in places]
    group_of = {host: name for name, hosts in judgement.groups for host in hosts}
    runs = runs_of([group_of.get(host, NO_GROUP) for host, _ in ends]) if group_of else []
    return Axis([sweep.names[place] for place in places], position, ends, runs, -(-len(places) // MOST_LINES))


def runs_of(names):
    """(name, first position, one past the last) of equal neighbouring names."""
    runs = []
    for where, name in enumerate(names):
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1], where + 1)
        else:
            runs.append((name, where, where + 1))
    return runs


@dataclass
class Grid:
    """Of each direction of each pair the median, by receiver * size + sender; NaN: no figure."""

    size: int
    rates: array.array
    failed: dict = field(default_factory=dict)  # cell -> reasons of readings that failed
    not_tried: dict = field(default_factory=dict)  # cell -> reasons
    several: dict = field(default_factory=dict)  # cell -> its figures, if there are several

    def pair(self, cell):
        """(sender, receiver)"""
        return cell % self.size, cell // self.size

    def slowest(self, most):
        """(rate, cell) of the slowest pairs."""
        known = ((rate, cell) for cell, rate in enumerate(self.rates) if rate == rate)
        return heapq.nsmallest(most, known)

    def row(self, receiver):
        return [rate for rate in self.rates[receiver * self.size : (receiver + 1) * self.size] if rate == rate]

    def column(self, sender):
        return [rate for rate in self.rates[sender :: self.size] if rate == rate]


def make_grid(readings, axis, both_ways):
    size = len(axis.hosts)
    grid = Grid(size, array.array("d", [math.nan]) * (size * size))
    fill(grid, readings, cells_of(readings.senders, readings.receivers, axis))
    if both_ways:
        fill(grid, readings, cells_of(readings.receivers, readings.senders, axis))
    for cell, figures in grid.several.items():
        grid.rates[cell] = statistics.median(figures)
    return grid


def cells_of(senders, receivers, axis):
    rows = [place * len(axis.hosts) for place in axis.position]
    return map(operator.add, map(axis.position.__getitem__, senders), map(rows.__getitem__, receivers))


def fill(grid, readings, cells):
    rates, several = grid.rates, grid.several
    for at, (cell, rate) in enumerate(zip(cells, readings.rates)):
        if rate != rate:
            outcome, reason = readings.why[at]
            reason = f"{WRONG}: {reason}" if outcome == WRONG else reason
            (grid.not_tried if outcome == NOT_TRIED else grid.failed).setdefault(cell, []).append(reason)
        elif rates[cell] != rates[cell]:
            rates[cell] = rate
        else:
            several.setdefault(cell, [rates[cell]]).append(rate)


def joined(grid, per_line):
    """A smaller grid in which a cell has the lowest rate of several hosts."""
    if per_line == 1:
        return grid
    lines = -(-grid.size // per_line)
    small = Grid(lines, array.array("d", [math.nan]) * (lines * lines))
    for cell, rate in enumerate(grid.rates):
        if rate == rate:
            sender, receiver = grid.pair(cell)
            at = receiver // per_line * lines + sender // per_line
            if not small.rates[at] <= rate:
                small.rates[at] = rate
    for name in ("failed", "not_tried"):
        for cell, reasons in getattr(grid, name).items():
            sender, receiver = grid.pair(cell)
            getattr(small, name).setdefault(receiver // per_line * lines + sender // per_line, []).extend(reasons)
    return small


def quantile(ordered, share):
    """Linear between neighbours, as statistics.quantiles(method='inclusive') has it."""
    at = share * (len(ordered) - 1)
    below, above = ordered[math.floor(at)], ordered[math.ceil(at)]
    return below + (above - below) * (at - math.floor(at))
