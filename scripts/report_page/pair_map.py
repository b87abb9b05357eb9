"""The map of pairs with its findings, and what each host does as sender and receiver."""

import math

from report_page import figure
from report_page.blocks import Cell, Plot, Section, Table, Number, Words, number, whole
from report_page.judging import NOT_SURE, OF_HOSTS, OF_PAIRS, judgement_of
from report_page.packing import MANY_CELLS, packed_rates
from report_page.pair_grid import NO_GROUP, joined, make_axis, make_grid, quantile
from report_page.words import UNKNOWN, counted, number_text, percent_text, printable

MOST_CELLS = 8_000_000  # of all maps of a page
MOST_PAIRS = 300  # slow ones in a table
MOST_FAILURES = 300
MOST_CROSSES = 2000  # marks of failed pairs; grey shows the rest
MOST_WITH_FIGURES = 12  # hosts of a map whose cells have their figures in them
MOST_BOXES = 96  # hosts
MOST_TAGS = 40  # findings on a map
MOST_SUSPECTS = 100
MANY_LINES = 300  # of a map that may have more lines than pixels
MANY_LINES_NOTE = (
    "Where cells are smaller than a pixel, each has the colour of the slowest pair around it; zooming in shows every pair, and "
    "hovering always tells the pair's own figure."
)
HOW_TO_READ = (
    "A row is a receiver, a column a sender; dark is slow. A slow sender is a dark column, a slow receiver a dark row, a slow "
    "switch a dark block, and a slow path a single dark cell. Grey cells with a cross failed, grey ones with a dash were "
    "not tried, blank ones were not measured. "
    "Numbered outlines are the findings of the list, dashed if they are uncertain or suspect. Dragging zooms in, a double "
    "click zooms out; the fields below look up a pair."
)


def section(results, why_not):
    sweep = results.sweep
    if not len(sweep):
        return None
    judgement = judgement_of(results, {host for host, _ in sweep.ends}, why_not)
    axis = make_axis(sweep, judgement)
    drawn = [kind for kind, readings in sweep.kinds.items() if readings.has_figures()]
    most_maps = max(1, MOST_CELLS // max(1, axis.lines**2))
    many = axis.lines**2 * min(len(drawn), most_maps) > MANY_CELLS
    views, boxes, hosts, slow, failed = [], [], [], [], []
    for kind in drawn[:most_maps]:
        grid = make_grid(sweep.kinds[kind], axis, kind.both_ways)
        views.append((str(kind), map_figure(grid, axis, kind, judgement, many)))
        sides = sides_of(grid, kind.both_ways)
        boxes.append((str(kind), host_figure(axis, sides)))
        hosts += host_rows(kind, axis, sides, judgement, grid)
        slow += [pair_row(kind, axis, grid, cell, rate) for rate, cell in grid.slowest(MOST_PAIRS)]
        failed += failed_rows(kind, axis, grid)
    words = [judgement.note] + summaries(sweep, drawn) + left_out(sweep, drawn, most_maps)
    blocks = [finding_table(judgement)] if judgement.findings else []
    if views:
        side = min(860, max(420, 240 + 26 * axis.lines))
        blocks.append(Plot(map_label(axis, judgement), views, "test, size and rail", block_note(axis), side, is_map=True))
        slow.sort(key=lambda row: row[3].sort)
        blocks.append(Table("Slowest pairs", ["sender", "receiver", "measured", Number("GB/s"), Number("readings"),
                                              Number("failed")], slow[:MOST_PAIRS],
                            left_out=max(0, pairs_with_figures(sweep, drawn) - MOST_PAIRS)))  # fmt: skip
    if failed:
        blocks.append(Table("Failed pairs", ["sender", "receiver", "measured", "outcome", "reason"], failed[:MOST_FAILURES],
                            left_out=len(failed) - len(failed[:MOST_FAILURES])))  # fmt: skip
    if boxes:
        blocks.append(Plot("Bandwidth of each host as sender and as receiver", boxes, "test, size and rail"))
        blocks.append(Table("Hosts as senders and receivers, GB/s", HOST_COLUMNS, hosts))
    return Section("pairs", "Map of pairs, with findings", words, blocks, HOW_TO_READ)


def summaries(sweep, drawn):
    lines = []
    for kind in drawn:
        readings = sweep.kinds[kind]
        rates = sorted(rate for rate in readings.rates if rate == rate)
        failed = sum(outcome == "failed" for outcome, _ in readings.why.values())
        least, median, most = (number_text(rate) for rate in (rates[0], rates[len(rates) // 2], rates[-1]))
        lines.append(f"{kind}: {counted(len(readings), 'reading')}, {f'{failed:,}' if failed else 'none'} failed; "
                     f"median {median} GB/s, from {least} to {most}.")  # fmt: skip
    return lines


def left_out(sweep, drawn, most_maps):
    lines = [f"Not drawn, because the page would be too large: {kind}." for kind in drawn[most_maps:]]
    for kind, readings in sweep.kinds.items():
        if kind not in drawn:
            outcome, reason = readings.why[min(readings.why)] if readings.why else ("failed", "unknown")
            lines.append(f"Not drawn: {kind}: {counted(len(readings), 'reading')}, none with a figure; the first one: "
                         f"{outcome}: {reason}")  # fmt: skip
    return lines


def pairs_with_figures(sweep, drawn):
    return sum(sum(rate == rate for rate in sweep.kinds[kind].rates) for kind in drawn)


def map_label(axis, judgement):
    return (f"Map of the bandwidth between {counted(len(axis.hosts), 'endpoint')}: a row for each receiver, a column for "
            f"each sender, {counted(len(judgement.findings), 'finding')} outlined")  # fmt: skip


def block_note(axis):
    if axis.per_line == 1:
        return MANY_LINES_NOTE if axis.lines > MANY_LINES else ""
    return f"A cell stands for {axis.per_line} x {axis.per_line} hosts, and shows their slowest pair."


def map_figure(grid, axis, kind, judgement, many):
    small = joined(grid, axis.per_line)
    labels = [figure.plain(label) for label in axis.labels()]
    low, high = scale_of([rate for rate in grid.rates if rate == rate])
    ends = ("one host", "the other") if kind.both_ways else ("sender", "receiver")
    data = [{
        "type": "heatmap", "x": labels, "y": labels, "cells": packed_rates(small.rates, many), "zmin": low, "zmax": high,
        "colorscale": "Viridis", "colorbar": {"title": {"text": "GB/s", "side": "right"}, "thickness": 14},
        "hovertemplate": "%{x} to %{y}: %{customdata:.4g} GB/s<extra></extra>", "hoverongaps": False,
    }]  # fmt: skip
    data += failure_traces(small, labels)
    layout = {
        "xaxis": {"type": "category", "title": {"text": ends[0]}, "side": "top", "tickangle": -60, "constrain": "domain"},
        "yaxis": {"type": "category", "title": {"text": ends[1]}, "range": [axis.lines - 0.5, -0.5], "scaleanchor": "x",
                  "constrain": "domain"},
        "annotations": figures_in_cells(small, low, high),
        "shapes": frames_of_groups(axis),
    }  # fmt: skip
    mark_findings(layout, axis, [one for one in judgement.findings if one.concerns(kind)])
    mark_suspects(layout, axis, judgement.suspects)
    return {"data": data, "layout": layout}


def scale_of(rates):
    """From half the median, or a fifth below it if nothing is slower, to the fastest: a host that is 10 % slow is seen,
    however slow the worst pair is."""
    ordered = sorted(rates)
    median = ordered[len(ordered) // 2]
    least = max(0.5 * median, min(ordered[0], 0.8 * median))
    most = max(ordered[min(len(ordered) - 1, math.ceil(0.995 * len(ordered)))], 1.02 * median)
    return (least, most) if most > least else (least, least + 1)


def failure_traces(grid, labels):
    """Grey for pairs without any figure, and a cross or a dash on failures and on pairs that were not tried."""
    missing = [cell for cell in {**grid.failed, **grid.not_tried} if grid.rates[cell] != grid.rates[cell]]
    traces = []
    if missing:
        traces.append({"type": "heatmap", "x": labels, "y": labels, "sparse": [list(grid.pair(cell)) for cell in missing],
                       "tone": "failed", "showscale": False, "hoverongaps": False, "hovertemplate": "%{x} to %{y}: no figure<extra></extra>"})  # fmt: skip
    for words, of_cell, symbol in (("failed", grid.failed, "x"), ("not tried", grid.not_tried, "line-ew")):
        marked = sorted(of_cell)[:MOST_CROSSES]
        if marked:
            pairs = [grid.pair(cell) for cell in marked]
            traces.append({
                "type": "scatter", "mode": "markers", "name": words, "x": [labels[sender] for sender, _ in pairs],
                "y": [labels[receiver] for _, receiver in pairs], "tone": "ink",
                "marker": {"symbol": f"{symbol}-open" if symbol == "line-ew" else symbol, "size": 7, "line": {"width": 1}},
                "text": [figure.plain(f"{words}: {of_cell[cell][0]}") for cell in marked],
                "hovertemplate": "%{x} to %{y}: %{text}<extra></extra>",
            })  # fmt: skip
    return traces


def figures_in_cells(grid, low, high):
    if grid.size > MOST_WITH_FIGURES:
        return []
    return [
        {"x": sender, "y": receiver, "text": number_text(rate, 3), "showarrow": False,
         "ink": "on dark" if (rate - low) / (high - low) < 0.55 else "on light"}
        for cell, rate in enumerate(grid.rates) if rate == rate for sender, receiver in [grid.pair(cell)]
    ]  # fmt: skip


def frames_of_groups(axis):
    """Around the readings within a group."""
    if not axis.runs or len(axis.runs) > axis.lines / 2:
        return []
    return [rectangle(first / axis.per_line, last / axis.per_line, first / axis.per_line, last / axis.per_line, "group")
            for name, first, last in axis.runs if name != NO_GROUP]  # fmt: skip


def rectangle(x0, x1, y0, y1, look, dash="solid", away=0.0):
    """In lines from 0, from edge to edge, and that far away."""
    return {"type": "rect", "x0": x0 - 0.5 - away, "x1": x1 - 0.5 + away, "y0": y0 - 0.5 - away, "y1": y1 - 0.5 + away,
            "look": look, "line": {"dash": dash, "width": 2}}  # fmt: skip


def mark_findings(layout, axis, findings):
    for finding in findings[:MOST_TAGS]:
        for outline in outlines_of(finding, axis):
            dash = "dash" if finding.blame in NOT_SURE else "solid"
            layout["shapes"].append(rectangle(*outline, "finding", dash, away(axis)))
            layout["annotations"].append({"text": str(finding.number), "look": "tag", "showarrow": False,
                                          **place_of_tag(*outline)})  # fmt: skip


def away(axis):
    """In lines: thin lines stay visible between their outline."""
    return axis.lines / 200 if axis.lines > 64 else 0.0


def place_of_tag(x0, x1, y0, y1):
    """Right of a row, below a column, and in the corner of anything else."""
    if x1 - x0 == y1 - y0:
        return {"x": x0 - 0.5, "y": y0 - 0.5, "xanchor": "left", "yanchor": "top"}
    if x1 - x0 < y1 - y0:
        return {"x": (x0 + x1 - 1) / 2, "y": y1 - 0.5, "xanchor": "center", "yanchor": "top"}
    return {"x": x1 - 0.5, "y": (y0 + y1 - 1) / 2, "xanchor": "left", "yanchor": "middle"}


def outlines_of(finding, axis):
    """(x0, x1, y0, y1) in lines: the columns of slow senders, the rows of slow receivers, cells of pairs, blocks."""
    lines = axis.lines
    places = [[at // axis.per_line for at in axis.places_of(host, finding.rail)] for host in finding.hosts]
    flat = [at for of_host in places for at in of_host]
    if finding.blame in OF_PAIRS or finding.blame == "undecided" and len(places) == 2:
        return [(one, one + 1, other, other + 1) for senders, receivers in directions_of(finding, *places)
                for one in senders for other in receivers] if len(places) == 2 else []  # fmt: skip
    if finding.blame == "leaf":
        spans = [(first // axis.per_line, -(-last // axis.per_line)) for name, first, last in axis.runs
                 if name in finding.leaves]  # fmt: skip
    else:
        spans = [(at, at + 1) for at in flat]
    if finding.blame == "rail" or len(spans) > max(2, lines / 2):
        return [(0, lines, 0, lines)]
    if finding.blame in OF_HOSTS + ("leaf", "undecided", "device", "group"):
        columns = [(first, last, 0, lines) for first, last in spans if finding.direction != "receives"]
        return columns + [(0, lines, first, last) for first, last in spans if finding.direction != "sends"]
    return []


def directions_of(finding, one, other):
    """(senders, receivers): `sends` is from the first to the second."""
    both = [(one, other), (other, one)]
    return {"sends": both[:1], "receives": both[1:]}.get(finding.direction, both)


def mark_suspects(layout, axis, suspects):
    if len(suspects) > MOST_SUSPECTS:
        return
    for one, other in suspects:
        for first in axis.places_of(one):
            for second in axis.places_of(other):
                for x, y in ((first, second), (second, first)):
                    x, y = x // axis.per_line, y // axis.per_line
                    layout["shapes"].append(rectangle(x, x + 1, y, y + 1, "finding", "dot", away(axis)))


HOST_COLUMNS = ["host", "group", "measured", Number("sends, median"), Number("sends, lowest"), "lowest to",
                Number("receives, median"), Number("receives, lowest"), "lowest from", Number("failed"), "findings"]  # fmt: skip


def sides_of(grid, both_ways):
    """(as sender, as receiver): for each host its rates, ascending."""
    sends = [sorted(grid.column(at)) for at in range(grid.size)]
    return sends, (sends if both_ways else [sorted(grid.row(at)) for at in range(grid.size)])


def host_figure(axis, sides):
    labels = [figure.plain(name) for name in axis.hosts]
    data = []
    for place, (words, rates) in enumerate(zip(("sends", "receives"), sides)):
        known = [(label, of_host) for label, of_host in zip(labels, rates) if of_host]
        data += box_of(words, known, place) if len(labels) <= MOST_BOXES else marks_of(words, known, place)
    return {"data": data, "layout": {
        "boxmode": "group",
        "xaxis": {"type": "category", "categoryorder": "array", "categoryarray": labels, "tickangle": -60},
        "yaxis": {"title": {"text": "GB/s"}, "rangemode": "tozero"},
    }}  # fmt: skip


def box_of(words, known, place):
    quartiles = {key: [quantile(rates, share) for _, rates in known]
                 for key, share in (("lowerfence", 0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("upperfence", 1))}  # fmt: skip
    return [{"type": "box", "name": words, "x": [label for label, _ in known], "tone": 4 if place else 0, **quartiles,
             "line": {"width": 1.5}, "pattern": place}]  # fmt: skip


def marks_of(words, known, place):
    traces = []
    for what, share, symbol in (("median", 0.5, ("circle", "square")[place]), ("lowest", 0, ("triangle-up", "triangle-down")[place])):
        traces.append({
            "type": "scatter", "mode": "markers", "name": f"{words}, {what}", "x": [label for label, _ in known],
            "y": [quantile(rates, share) for _, rates in known], "tone": 4 if place else 0,
            "marker": {"symbol": symbol if share else f"{symbol}-open", "size": 5},
            "hovertemplate": f"%{{x}} {words}, {what}: %{{y:.4g}} GB/s<extra></extra>",
        })  # fmt: skip
    return traces


def host_rows(kind, axis, sides, judgement, grid):
    group_of = {at: name for name, first, last in axis.runs for at in range(first, last)}
    blamed = {}
    for finding in judgement.findings:
        for host in finding.hosts:
            blamed.setdefault(host, []).append(str(finding.number))
    lowest_to, lowest_from = lowest_peers(grid)
    failures = failures_of(grid)
    rows = []
    for at, (name, (host, _)) in enumerate(zip(axis.hosts, axis.ends)):
        numbers = blamed.get(host, blamed.get(name, []))
        rows.append([
            name, group_of.get(at, ""), str(kind), *side_cells(sides[0][at], axis, lowest_to[at]),
            *side_cells(sides[1][at], axis, lowest_from[at]), whole(failures.get(at, 0)),
            Cell(", ".join(numbers), None, "bad" if numbers else ""),
        ])  # fmt: skip
    return rows


def side_cells(rates, axis, peer):
    if not rates:
        return [number(None), number(None), ""]
    return [number(quantile(rates, 0.5)), number(rates[0]), "" if peer is None else axis.hosts[peer]]


def lowest_peers(grid):
    """For each host: the receiver of its lowest reading as sender, the sender of its lowest as receiver."""
    to, source = [None] * grid.size, [None] * grid.size
    for at in range(grid.size):
        column, row = grid.rates[at :: grid.size], grid.rates[at * grid.size : (at + 1) * grid.size]
        for lowest, rates in ((to, column), (source, row)):
            known = [(rate, peer) for peer, rate in enumerate(rates) if rate == rate]
            lowest[at] = min(known)[1] if known else None
    return to, source


def failures_of(grid):
    found = {}
    for cell, reasons in grid.failed.items():
        for at in grid.pair(cell):
            found[at] = found.get(at, 0) + len(reasons)
    return found


def pair_row(kind, axis, grid, cell, rate):
    sender, receiver = grid.pair(cell)
    return [axis.hosts[sender], axis.hosts[receiver], str(kind), number(rate), whole(len(grid.several.get(cell, [0]))),
            whole(len(grid.failed.get(cell, [])))]  # fmt: skip


def failed_rows(kind, axis, grid):
    rows = []
    for words, of_cell in (("failed", grid.failed), ("not tried", grid.not_tried)):
        for cell in sorted(of_cell):
            sender, receiver = grid.pair(cell)
            reasons = "; ".join(dict.fromkeys(of_cell[cell]))
            rows.append([axis.hosts[sender], axis.hosts[receiver], str(kind),
                         Cell(words, None, "bad" if words == "failed" else "unsure"), reasons])  # fmt: skip
    return rows


def finding_table(judgement):
    rows = [
        [whole(one.number), one.blame.replace("_", " "), ", ".join(one.hosts + one.leaves) or one.rail or "",
         {"both": "both", "sends": "sends", "receives": "receives"}.get(one.direction, ""), one.text,
         Cell(percent_text(one.record["percent_of_expected"]), one.record["percent_of_expected"]),
         whole(one.record["readings"]), how_sure(one), next_command(one)]
        for one in judgement.findings
    ]  # fmt: skip
    return Table("Findings, by their numbers on the map",
                 [Number("number"), "what", "where", "direction", "in words", Number("of the expected"), Number("readings"),
                  "how sure", "next"], rows, is_open=True)  # fmt: skip


def how_sure(finding):
    """Only find_slow_links says."""
    chance = finding.record.get("false_alarm_probability")
    if chance is None:
        return UNKNOWN
    confirmed = ", confirmed alone" if finding.record.get("confirmed") else ""
    return f"chance alone: {percent_text(100 * chance) if chance >= 0.001 else 'below 0.1 %'}{confirmed}"


def next_command(finding):
    commands = finding.record.get("next_commands") or []
    return printable(commands[0]["command"]) if commands else ""
