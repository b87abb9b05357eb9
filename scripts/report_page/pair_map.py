"""The map of pairs with its findings, and what each host does as sender and receiver."""

import math

from report_page import figure
from report_page.blocks import Cell, Plot, Section, Table, Number, number, whole
from report_page.judging import judgement_of
from report_page.packing import MANY_CELLS, packed_rates
from report_page.pair_grid import joined, make_axis, make_grid
from report_page.pair_hosts import HOST_COLUMNS, host_figure, host_rows, sides_of
from report_page.pair_marks import frames_of_groups, mark_findings, mark_suspects
from report_page.sweep import FAILED, WRONG
from report_page.words import UNKNOWN, counted, number_text, percent_text, printable

MOST_CELLS = 8_000_000  # of all maps of a page
MOST_PAIRS = 300  # slow ones in a table
MOST_FAILURES = 300
MOST_CROSSES = 2000  # marks of failed pairs; grey shows the rest
MOST_WITH_FIGURES = 12  # hosts of a map whose cells have their figures in them
MANY_LINES = 300  # of a map that may have more lines than pixels
MANY_LINES_NOTE = (
    "Where cells are smaller than a pixel, each has the colour of the slowest pair around it; zooming in shows every "
    "pair, and hovering always tells the pair's own figure."
)
HOW_TO_READ = (
    "A row is a receiver, a column a sender; dark is slow. A slow sender is a dark column, a slow receiver a dark "
    "row, a slow switch a dark block, and a slow path a single dark cell. Grey cells with a cross failed, grey ones "
    "with a dash were not tried, blank ones were not measured. Numbered outlines are the findings of the list, dashed "
    "if they are uncertain or suspect. Dragging zooms in, a double click zooms out; the fields below look up a pair."
)
SHORT_NAME = 8  # letters
PX_PER_LETTER = 6  # beside the map, and above it


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
        names = PX_PER_LETTER * max(0, max(map(len, axis.labels())) - SHORT_NAME)
        side = min(860, max(420, 240 + 26 * axis.lines)) + names
        blocks.append(
            Plot(map_label(axis, judgement), views, "test, size and rail", block_note(axis), side, is_map=True)
        )
        slow.sort(key=lambda row: row[3].sort)
        blocks.append(
            Table(
                "Slowest pairs",
                ["sender", "receiver", "measured", Number("GB/s"), Number("readings"), Number("failed")],
                slow[:MOST_PAIRS],
                left_out=max(0, pairs_with_figures(sweep, drawn) - MOST_PAIRS),
            )
        )
    if failed:
        blocks.append(
            Table(
                "Failed pairs",
                ["sender", "receiver", "measured", "outcome", "reason"],
                failed[:MOST_FAILURES],
                left_out=len(failed) - len(failed[:MOST_FAILURES]),
            )
        )
    if boxes:
        blocks.append(Plot("Bandwidth of each host as sender and as receiver", boxes, "test, size and rail"))
        blocks.append(Table("Hosts as senders and receivers, GB/s", HOST_COLUMNS, hosts))
    return Section("pairs", "Map of pairs, with findings", words, blocks, HOW_TO_READ)


def summaries(sweep, drawn):
    lines = []
    for kind in drawn:
        readings = sweep.kinds[kind]
        rates = sorted(rate for rate in readings.rates if rate == rate)
        failed = sum(outcome == FAILED for outcome, _ in readings.why.values())
        wrong = sum(outcome == WRONG for outcome, _ in readings.why.values())
        least, median, most = (number_text(rate) for rate in (rates[0], rates[len(rates) // 2], rates[-1]))
        lines.append(
            f"{kind}: {counted(len(readings), 'reading')}, {f'{failed:,}' if failed else 'none'} failed"
            f"{f', {wrong:,} with wrong data' if wrong else ''}; "
            f"median {median} GB/s, from {least} to {most}."
        )
    return lines


def left_out(sweep, drawn, most_maps):
    lines = [f"Not drawn, because the page would be too large: {kind}." for kind in drawn[most_maps:]]
    for kind, readings in sweep.kinds.items():
        if kind not in drawn:
            outcome, reason = readings.why[min(readings.why)] if readings.why else (FAILED, "unknown")
            lines.append(
                f"Not drawn: {kind}: {counted(len(readings), 'reading')}, none with a figure; the first one: "
                f"{outcome}: {reason}"
            )
    return lines


def pairs_with_figures(sweep, drawn):
    return sum(sum(rate == rate for rate in sweep.kinds[kind].rates) for kind in drawn)


def map_label(axis, judgement):
    return (
        f"Map of the bandwidth between {counted(len(axis.hosts), 'endpoint')}: a row for each receiver, a column for "
        "each sender" + (f", {counted(len(judgement.findings), 'finding')} outlined" if judgement.findings else "")
    )


def block_note(axis):
    if axis.per_line == 1:
        return MANY_LINES_NOTE if axis.lines > MANY_LINES else ""
    return f"A cell stands for {axis.per_line} x {axis.per_line} hosts, and shows their slowest pair."


def map_figure(grid, axis, kind, judgement, many):
    small = joined(grid, axis.per_line)
    labels = [figure.plain(label) for label in axis.labels()]
    low, high = scale_of([rate for rate in grid.rates if rate == rate])
    ends = ("one host", "the other") if kind.both_ways else ("sender", "receiver")
    data = [
        {
            "type": "heatmap",
            "x": labels,
            "y": labels,
            "cells": packed_rates(small.rates, many),
            "zmin": low,
            "zmax": high,
            "colorscale": "Viridis",
            "colorbar": {"title": {"text": "GB/s", "side": "right"}, "thickness": 14},
            "hovertemplate": "%{x} to %{y}: %{customdata:.4g} GB/s<extra></extra>",
            "hoverongaps": False,
        }
    ]
    data += failure_traces(small, labels)
    layout = {
        "xaxis": {
            "type": "category",
            "title": {"text": ends[0]},
            "side": "top",
            "tickangle": -60,
            "constrain": "domain",
        },
        "yaxis": {
            "type": "category",
            "title": {"text": ends[1]},
            "range": [axis.lines - 0.5, -0.5],
            "scaleanchor": "x",
            "constrain": "domain",
        },
        "annotations": figures_in_cells(small, low, high),
        "shapes": frames_of_groups(axis),
    }
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
        traces.append(
            {
                "type": "heatmap",
                "x": labels,
                "y": labels,
                "sparse": [list(grid.pair(cell)) for cell in missing],
                "tone": "failed",
                "showscale": False,
                "hoverongaps": False,
                "hovertemplate": "%{x} to %{y}: no figure<extra></extra>",
            }
        )
    for words, of_cell, symbol in (("failed", grid.failed, "x"), ("not tried", grid.not_tried, "line-ew")):
        marked = sorted(of_cell)[:MOST_CROSSES]
        if marked:
            pairs = [grid.pair(cell) for cell in marked]
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": words,
                    "x": [labels[sender] for sender, _ in pairs],
                    "y": [labels[receiver] for _, receiver in pairs],
                    "tone": "ink",
                    "marker": {
                        "symbol": f"{symbol}-open" if symbol == "line-ew" else symbol,
                        "size": 7,
                        "line": {"width": 1},
                    },
                    "text": [figure.plain(f"{words}: {of_cell[cell][0]}") for cell in marked],
                    "hovertemplate": "%{x} to %{y}: %{text}<extra></extra>",
                }
            )
    return traces


def figures_in_cells(grid, low, high):
    if grid.size > MOST_WITH_FIGURES:
        return []
    return [
        {
            "x": sender,
            "y": receiver,
            "text": number_text(rate, 3),
            "showarrow": False,
            "ink": "on dark" if (rate - low) / (high - low) < 0.55 else "on light",
        }
        for cell, rate in enumerate(grid.rates)
        if rate == rate
        for sender, receiver in [grid.pair(cell)]
    ]


def pair_row(kind, axis, grid, cell, rate):
    sender, receiver = grid.pair(cell)
    return [
        axis.hosts[sender],
        axis.hosts[receiver],
        str(kind),
        number(rate),
        whole(len(grid.several.get(cell, [0]))),
        whole(len(grid.failed.get(cell, []))),
    ]


def failed_rows(kind, axis, grid):
    rows = []
    for words, of_cell in (("failed", grid.failed), ("not tried", grid.not_tried)):
        for cell in sorted(of_cell):
            sender, receiver = grid.pair(cell)
            reasons = "; ".join(dict.fromkeys(of_cell[cell]))
            outcome = WRONG if any(reason.startswith(WRONG) for reason in of_cell[cell]) else words
            rows.append(
                [
                    axis.hosts[sender],
                    axis.hosts[receiver],
                    str(kind),
                    Cell(outcome, None, "unsure" if words == "not tried" else "bad"),
                    reasons,
                ]
            )
    return rows


def finding_table(judgement):
    rows = [
        [
            whole(one.number),
            one.blame.replace("_", " "),
            ", ".join(one.hosts + one.leaves) or one.rail or "",
            {"both": "both", "sends": "sends", "receives": "receives"}.get(one.direction, ""),
            one.text,
            Cell(percent_text(one.record["percent_of_expected"]), one.record["percent_of_expected"]),
            whole(one.record["readings"]),
            how_sure(one),
            next_command(one),
        ]
        for one in judgement.findings
    ]
    return Table(
        "Findings, by their numbers on the map",
        [
            Number("number"),
            "what",
            "where",
            "direction",
            "in words",
            Number("of the expected"),
            Number("readings"),
            "how sure",
            "next",
        ],
        rows,
        is_open=True,
    )


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
