"""Turns the readings of one kind into the cells of a map and into the distributions of its hosts."""

import math
import statistics
from dataclasses import dataclass, field
from itertools import groupby

from sweep_plots.readings import FAILED

MOST_TOLD = 6  # readings of a pair listed in its cell's text


@dataclass
class Cell:
    row: int  # of receivers
    column: int  # of senders
    rate: float | None  # GB/s: the lowest median of a pair in the cell; None: no figure
    failed: int
    text: str


@dataclass
class Side:
    """The readings of a host as a sender, or as a receiver."""

    figures: list = field(default_factory=list)  # (GB/s, place among the readings), ascending
    failed: int = 0

    def quantile(self, share):
        """Linear between neighbours, as statistics.quantiles(method='inclusive') has it."""
        at = share * (len(self.figures) - 1)
        below, above = self.figures[math.floor(at)][0], self.figures[math.ceil(at)][0]
        return below + (above - below) * (at - math.floor(at))


def figure_text(rate, digits=4):
    """GB/s with its significant digits, and never with an exponent."""
    if rate <= 0:
        return "0"
    return f"{rate:.{max(0, digits - 1 - math.floor(math.log10(rate)))}f}"


def make_cells(readings, axis, both_ways):
    """The cells with readings or attempts."""
    cells = []
    pairs = (Pair(readings, axis, places) for places in places_by_pair(readings, axis, both_ways))
    for (row, column), of_cell in groupby(pairs, key=lambda pair: pair.cell):
        of_cell = list(of_cell)
        rates = [pair.rate for pair in of_cell if pair.rate is not None]
        text = of_cell[0].text() if axis.per_line == 1 else block_text(of_cell, axis)
        cells.append(Cell(row, column, min(rates, default=None), sum(pair.failed for pair in of_cell), text))
    return cells


def places_by_pair(readings, axis, both_ways):
    """(receiver, sender, places of their readings), pair by pair, grouped by cell. A figure for the sum of both
    directions counts for each."""
    hosts, lines, share = len(axis.hosts), axis.lines, axis.per_line
    senders = [axis.position[place] for place in readings.senders]
    receivers = [axis.position[place] for place in readings.receivers]

    def key(sender, receiver):
        cell = receiver // share * lines + sender // share
        return (cell * hosts + receiver) * hosts + sender

    # One integer per reading: sorting tuples would take three times the memory.
    keys = [key(*pair) * len(readings) + place for place, pair in enumerate(zip(senders, receivers))]
    if both_ways:
        keys += [key(*pair) * len(readings) + place for place, pair in enumerate(zip(receivers, senders))]
    keys.sort()
    for _, of_pair in groupby(keys, key=lambda sorted_key: sorted_key // len(readings)):
        of_pair = list(of_pair)
        pair = of_pair[0] // len(readings)
        yield pair // hosts % hosts, pair % hosts, [sorted_key % len(readings) for sorted_key in of_pair]


class Pair:
    """The readings of one direction of a pair."""

    def __init__(self, readings, axis, of_pair):
        self.receiver, self.sender, self.places = of_pair
        self.readings, self.axis = readings, axis
        self.cell = (self.receiver // axis.per_line, self.sender // axis.per_line)
        self.rates = [readings.rates[place] for place in self.places if not math.isnan(readings.rates[place])]
        self.rate = statistics.median(self.rates) if self.rates else None
        self.failed = 0
        if len(self.rates) < len(self.places):
            self.failed = sum(readings.why.get(place, ("",))[0] == FAILED for place in self.places)

    @property
    def name(self):
        return f"{self.axis.hosts[self.sender]} to {self.axis.hosts[self.receiver]}"

    def text(self):
        parts = []
        if len(self.rates) == 1:
            parts.append(f"{figure_text(self.rate)} GB/s")
        elif self.rates:
            told = ", ".join(figure_text(rate) for rate in self.rates[:MOST_TOLD])
            more = ", ..." if len(self.rates) > MOST_TOLD else ""
            parts.append(f"{figure_text(self.rate)} GB/s, the median of {len(self.rates)}: {told}{more}")
        for outcome, reason in list(dict.fromkeys(self.complaints()))[:MOST_TOLD]:
            parts.append(f"{outcome}: {reason}")
        return f"{self.name}: {'; '.join(parts)}"

    def complaints(self):
        return [self.readings.why[place] for place in self.places if place in self.readings.why]


def block_text(pairs, axis):
    row, column = pairs[0].cell
    figures = [pair for pair in pairs if pair.rate is not None]
    parts = []
    if figures:
        least = min(figures, key=lambda pair: pair.rate)
        median = statistics.median(pair.rate for pair in figures)
        parts.append(f"lowest {figure_text(least.rate)} GB/s, {least.name}")
        parts.append(f"median {figure_text(median)} GB/s of {len(figures)} pairs")
    failed = [pair for pair in pairs if pair.failed]
    if failed:
        parts.append(f"failed: {len(failed)} pairs, first {failed[0].name}: {failed[0].complaints()[0][1]}")
    elif not figures:
        parts.append(f"not tried: {len(pairs)} pairs")
    return f"{axis.line_name(column)} to {axis.line_name(row)}: {'; '.join(parts)}"


def make_sides(readings, axis, both_ways):
    """(as senders, as receivers): a Side for every host, in the order of the axis."""
    sends, receives = [Side() for _ in axis.hosts], [Side() for _ in axis.hosts]
    for place, (sender, receiver, rate) in enumerate(zip(readings.senders, readings.receivers, readings.rates)):
        ends = [sends[axis.position[sender]], receives[axis.position[receiver]]]
        if both_ways:
            ends = [sends[axis.position[sender]], sends[axis.position[receiver]]]
        for side in ends:
            if not math.isnan(rate):
                side.figures.append((rate, place))
            elif readings.why[place][0] == FAILED:
                side.failed += 1
    for side in sends + receives:
        side.figures.sort()
    return sends, receives
