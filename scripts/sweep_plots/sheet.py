"""One drawing for one kind of readings: map, legend, findings, and the hosts' distributions."""

import math
from dataclasses import dataclass

from sweep_plots import heat_map, host_plot
from sweep_plots.cells import figure_text, make_cells, make_sides
from sweep_plots.drawing import cross, element, line, new_drawing, rectangle, text, width_of, wrapped
from sweep_plots.findings import MEANING_OF_MARK, OF_HOSTS, OF_PAIRS, marks_of
from sweep_plots.heat_map import LEAF_LANE, TAG_LANE, draw_tag, frame_of
from sweep_plots.scale import STEPS, colour_of, make_scale

COLUMN = 340  # px, of legend and findings
MARGIN = 24
LINE = 15
MOST_FINDINGS = 20


@dataclass
class Sheet:
    kind: str
    drawing: object  # an <svg>
    width: int
    height: int
    cells: int


def make_sheets(records, axis, findings):
    """A sheet for each kind of readings with figures. The rails of a test share a scale."""
    cells = {kind: make_cells(readings, axis, kind.both_ways) for kind, readings in records.kinds.items()}
    rates = {}
    for kind, of_kind in cells.items():
        rates.setdefault(scale_key(kind), []).extend(cell.rate for cell in of_kind if cell.rate is not None)
    scales = {key: make_scale(of_key) for key, of_key in rates.items()}
    return [
        make_sheet(kind, readings, cells[kind], scales[scale_key(kind)], axis, findings)
        for kind, readings in records.kinds.items()
        if readings.has_figures()
    ]


def left_out(records):
    """A line for each kind of readings without figures, whose map would be empty."""
    return [
        f"Not drawn: {kind}: {len(readings):,} readings, none with a figure; the first one: {first_reason(readings)}"
        for kind, readings in records.kinds.items()
        if not readings.has_figures()
    ]


def first_reason(readings):
    outcome, reason = readings.why[min(readings.why)]
    return f"{outcome}: {reason}"


def scale_key(kind):
    return kind.test, kind.size, kind.both_ways


def make_sheet(kind, readings, cells, scale, axis, findings):
    sends, receives = make_sides(readings, axis, kind.both_ways)
    panels = [("Each host as a sender", ["sends"], sends), ("Each host as a receiver", ["receives"], receives)]
    if kind.both_ways:
        panels = [("Each host", ["sends", "receives"], sends)]
    marked = [finding for finding in findings.listed if finding.concerns(kind)]
    marks = marks_of(findings, marked, axis)

    names = max((width_of(label) for label in axis.labels), default=0)
    room = heat_map.ROOM_FOR_MARK if marks.hosts else 0
    frame = frame_of(axis, max(70.0, names + room + 34), 86 + names + room)
    column = frame.left + frame.side + TAG_LANE + (LEAF_LANE if axis.leaves else 0) + 30
    plots = frame.top + frame.side + TAG_LANE + LEAF_LANE + 40
    width = column + COLUMN + MARGIN

    root = new_drawing(width, 1, f"heat map of {kind}")
    paper = rectangle(root, 0, 0, round(width), 1, css="paper")
    draw_header(root, kind, readings, axis)
    ends = ("one host", "the other") if kind.both_ways else ("sender", "receiver")
    text(root, frame.left + frame.side / 2, 68, ends[0], size=12, css="faint", text_anchor="middle")
    text(root, 14, frame.top + frame.side / 2, ends[1], size=12, css="faint", text_anchor="middle", turned=-90)
    heat_map.draw_map(root, frame, axis, cells, scale, marked, marks)
    bottom = draw_legend(root, column, frame.top, scale, cells, axis, marked, marks)
    bottom = draw_list(root, column, bottom + 26, marked, findings.note)
    bottom = host_plot.draw_legend(root, column, max(bottom + 26, plots), panels, axis, marked)
    host_plot.draw_panels(root, frame, axis, panels, plots, readings, marked)
    height = round(max(bottom, plots + host_plot.height_of(len(panels)) - host_plot.BETWEEN + names + 14) + MARGIN)
    root.set("viewBox", f"0 0 {width:.0f} {height}")
    root.set("height", str(height))
    paper.set("height", str(height))
    return Sheet(str(kind), root, round(width), height, len(cells))


def draw_header(root, kind, readings, axis):
    text(root, MARGIN, 26, str(kind), size=16, font_weight="bold")
    text(root, MARGIN, 45, summary(readings, axis), size=12, css="faint")


def summary(readings, axis):
    rates = sorted(rate for rate in readings.rates if not math.isnan(rate))
    failed = sum(outcome == "failed" for outcome, _ in readings.why.values())
    hosts = len({host for host, _ in axis.ends})
    parts = [
        f"{hosts:,} hosts" if hosts == len(axis.hosts) else f"{len(axis.hosts):,} endpoints on {hosts:,} hosts",
        f"{len(readings):,} readings",
        f"{failed:,} failed" if failed else "none failed",
    ]
    if rates:
        least, median, most = (figure_text(rate) for rate in (rates[0], rates[len(rates) // 2], rates[-1]))
        parts.append(f"median {median} GB/s, from {least} to {most}")
    return ", ".join(parts)


def draw_legend(root, x, y, scale, cells, axis, findings, marks):
    """Returns the lower end."""
    group = element(root, "g", css="legend")
    what = (
        "GB/s, the median of a pair"
        if axis.per_line == 1
        else f"GB/s, the lowest pair of {axis.per_line} x {axis.per_line} hosts"
    )
    text(group, x, y + 10, what, size=12, font_weight="bold")
    y += 20
    width = 300
    for step in range(STEPS):
        rectangle(group, x + step * width / STEPS, y, width / STEPS + 0.5, 14, fill=colour_of(step / (STEPS - 1)))
    for tick in scale.ticks():
        at = x + scale.share(tick) * width
        line(group, at, y + 14, at, y + 18, css="line")
        text(group, at, y + 30, f"{tick:g}", text_anchor="middle")
    y += 36
    if any(cell.rate is not None and cell.rate < scale.low for cell in cells):
        text(group, x, y + 12, f"The darkest colour is for everything below {scale.low:g} GB/s.", css="faint")
        y += LINE + 3
    for words, draw in legend_marks(cells, axis, findings, marks):
        draw(group, x, y + 3)
        text(group, x + 24, y + 14, words)
        y += LINE + 6
    return y


def legend_marks(cells, axis, findings, marks):
    """The legend of the symbols on the map."""
    block = axis.per_line > 1
    for mark, meaning in MEANING_OF_MARK.items():
        if mark in marks.hosts.values():
            yield f"beside a name: {meaning}", lambda group, x, y, mark=mark: (
                heat_map.draw_mark(group, x + 8, y + 11, mark)
            )
    if axis.leaves:
        yield "readings within a group of hosts", lambda group, x, y: (
            rectangle(group, x, y, 14, 14, css="halo", stroke_width=4),
            rectangle(group, x, y, 14, 14, css="block", stroke_width=2),
        )
    if marks.paths:
        yield "a suspect path", lambda group, x, y: (
            rectangle(group, x, y, 14, 14, css="mark", stroke_width=1.5, stroke_dasharray="3 2")
        )
    if any(finding.blame in OF_HOSTS for finding in findings):
        yield "a blamed host: its row receives, its column sends", lambda group, x, y: (
            rectangle(group, x, y + 3, 16, 8, css="mark", stroke_width=2)
        )
    if any(finding.blame in OF_PAIRS for finding in findings):
        yield "a blamed pair", lambda group, x, y: element(
            group, "circle", cx=x + 8, cy=y + 7, r=6.5, css="mark", stroke_width=2
        )
    if any(finding.blame not in OF_HOSTS + OF_PAIRS for finding in findings):
        yield "another blamed part; dashed if uncertain", lambda group, x, y: (
            rectangle(group, x, y, 16, 14, css="mark", stroke_width=2, stroke_dasharray="6 4")
        )
    if any(cell.failed for cell in cells):
        words = "a reading in the block failed" if block else "a reading failed; grey: there is no figure at all"
        yield words, lambda group, x, y: (
            rectangle(group, x, y, 14, 14, css="failed"),
            cross(group, x + 7, y + 7, 4, stroke_width=1.6),
        )
    if any(cell.rate is None and not cell.failed for cell in cells):
        yield "not tried, after an earlier failure", lambda group, x, y: (
            rectangle(group, x, y, 14, 14, css="failed"),
            line(group, x + 3, y + 7, x + 11, y + 7, css="cross"),
        )
    if len(cells) < (axis.lines * axis.lines if block else len(axis.hosts) * (len(axis.hosts) - 1)):
        yield "not measured", lambda group, x, y: rectangle(group, x, y, 14, 14, css="blank")


def draw_list(root, x, y, findings, note):
    """Returns the lower end."""
    group = element(root, "g", css="list")
    text(group, x, y, "Findings", size=12, font_weight="bold")
    y = draw_words(group, x, y + LINE + 4, note, COLUMN, "faint") + 6
    for finding in findings[:MOST_FINDINGS]:
        draw_tag(group, x + 8, y - 4, finding)
        y = draw_words(group, x + 24, y, finding.text, COLUMN - 30, "ink") + 6
    if len(findings) > MOST_FINDINGS:
        more = f"And {len(findings) - MOST_FINDINGS} more, marked on the map; find_slow_links --json - lists all."
        y = draw_words(group, x, y, more, COLUMN, "faint")
    return y


def draw_words(group, x, y, words, width, css):
    for part in wrapped(words, width, 12):
        text(group, x, y, part, size=12, css=css)
        y += LINE
    return y
