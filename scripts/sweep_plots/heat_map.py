"""The map of one kind of readings: a row for every receiver, a column for every sender."""

from dataclasses import dataclass

from sweep_plots.axis import NO_GROUP, NO_LEAF
from sweep_plots.cells import figure_text
from sweep_plots.drawing import cross, element, line, rectangle, text, width_of
from sweep_plots.findings import OF_HOSTS, OF_PAIRS

SIDE = 760  # px, of a map of many hosts
LARGEST_CELL, SMALLEST_CELL, LEAST_WITH_FIGURE = 84, 6, 34  # px
TAG_LANE, LEAF_LANE = 20, 18  # px, beside the map
BETWEEN_LABELS = 13  # px
ROOM_FOR_MARK = 14  # px, between a name and the map


@dataclass(frozen=True)
class Frame:
    """The position of a map in its drawing, in px."""

    left: float
    top: float
    step: int  # of a cell
    host_step: float  # of a host
    side: float

    def x(self, position):
        return self.left + position * self.host_step

    def y(self, position):
        return self.top + position * self.host_step


def frame_of(axis, left, top):
    step = max(SMALLEST_CELL, min(LARGEST_CELL, SIDE // axis.lines))
    host_step = step / axis.per_line
    return Frame(left, top, step, host_step, host_step * len(axis.hosts))


def draw_map(parent, frame, axis, cells, scale, findings, marks):
    rectangle(parent, frame.left, frame.top, frame.side, frame.side, css="blank")
    line(parent, frame.left, frame.top, frame.left + frame.side, frame.top + frame.side, css="grid")
    draw_cells(parent, frame, cells, scale)
    draw_separators(parent, frame, axis)
    draw_blocks(parent, frame, axis)
    draw_names(parent, frame, axis, findings, marks)
    draw_paths(parent, frame, axis, marks.paths)
    draw_findings(parent, frame, axis, findings)


def draw_cells(parent, frame, cells, scale):
    group = element(parent, "g", css="cells")
    above = element(parent, "g", css="above")
    gap = 1 if frame.step >= 10 else 0
    for cell in cells:
        x, y = frame.left + cell.column * frame.step, frame.top + cell.row * frame.step
        width, height = (
            min(frame.step, frame.side + start - at) - gap for start, at in ((frame.left, x), (frame.top, y))
        )
        look = {"css": "failed"} if cell.rate is None else {"fill": scale.colour(cell.rate)}
        rectangle(group, x, y, width, height, title=cell.text, **look)
        middle_x, middle_y = x + width / 2, y + height / 2
        if cell.rate is not None and frame.step >= LEAST_WITH_FIGURE:
            text(
                above,
                middle_x,
                middle_y + 4,
                figure_text(cell.rate, 3),
                css="figure",
                text_anchor="middle",
                fill=scale.ink(cell.rate),
            )
        if cell.failed:
            cross(above, middle_x, middle_y, min(8.0, 0.32 * frame.step), stroke_width=1.6 if frame.step >= 10 else 1)
        elif cell.rate is None:
            half = min(6.0, 0.3 * frame.step)
            line(above, middle_x - half, middle_y, middle_x + half, middle_y, css="cross", stroke_width=1.2)


def draw_separators(parent, frame, axis):
    """Draws lines between leaves, and the leaves' names right of the map and below it."""
    group = element(parent, "g", css="leaves")
    right, below = frame.left + frame.side, frame.top + frame.side
    free = 0.0  # a name has room from here on
    lined = has_room_for_leaves(frame, axis)
    for where, (leaf, first, last) in enumerate(axis.leaves):
        if where > 0 and lined:
            for css, width in (("halo", 3), ("cross", 1)) if frame.step >= 10 else (("line", 0.8),):
                line(group, frame.x(first) - 0.5, frame.top, frame.x(first) - 0.5, below, css=css, stroke_width=width)
                line(group, frame.left, frame.y(first) - 0.5, right, frame.y(first) - 0.5, css=css, stroke_width=width)
        lane = TAG_LANE + 2
        if lined:
            line(group, frame.x(first) + 2, below + lane, frame.x(last) - 2, below + lane, css="line")
            line(group, right + lane, frame.y(first) + 2, right + lane, frame.y(last) - 2, css="line")
        middle = (first + last) / 2
        if middle * frame.host_step - width_of(leaf) / 2 < free:
            continue
        free = middle * frame.host_step + width_of(leaf) / 2 + 8
        text(group, frame.x(middle), below + lane + 13, leaf, css="faint", text_anchor="middle", title=leaf)
        text(group, right + lane + 13, frame.y(middle), leaf, css="faint", text_anchor="middle", turned=-90, title=leaf)


def draw_blocks(parent, frame, axis):
    """Frames the readings within a group; the group's name is a hover text."""
    group = element(parent, "g", css="blocks")
    own = [run for run in axis.leaves if run[0] not in (NO_LEAF, NO_GROUP)] if has_room_for_leaves(frame, axis) else []
    for runs, width in ((own, 2), (axis.wider, 3)):
        for name, first, last in runs:
            side = (last - first) * frame.host_step
            for css, stroke in (("halo", width + 2), ("block", width)):
                title = f"among {name}: {last - first} hosts" if css == "block" else None
                rectangle(
                    group,
                    frame.x(first) - 1,
                    frame.y(first) - 1,
                    side + 1,
                    side + 1,
                    css=css,
                    stroke_width=stroke,
                    title=title,
                )


def has_room_for_leaves(frame, axis):
    """Whether the groups are large enough for lines between them."""
    return len(axis.leaves) * BETWEEN_LABELS <= frame.side


def draw_names(parent, frame, axis, findings, marks):
    group = element(parent, "g", css="names")
    beside = element(parent, "g", css="marks")
    away = 6 + (ROOM_FOR_MARK if marks.hosts else 0)
    for direction in ("receives", "sends"):
        blamed = blamed_positions(findings, direction)
        for position in labelled_positions(len(axis.hosts), frame.host_step, blamed | set(marks.hosts)):
            style = {"css": "blamed", "font_weight": "bold"} if position in blamed else {"css": "ink"}
            style |= {"title": axis.hosts[position]}
            mark = marks.hosts.get(position, "")
            x, y = frame.x(position + 0.5) + 4, frame.y(position + 0.5) + 4
            if direction == "receives":
                text(group, frame.left - away, y, axis.labels[position], text_anchor="end", **style)
                draw_mark(beside, frame.left - 11, y, mark)
            else:
                text(group, x, frame.top - away, axis.labels[position], turned=-90, **style)
                draw_mark(beside, x - 4, frame.top - 8, mark)


def draw_mark(group, x, y, mark):
    if mark:
        text(group, x, y, mark, size=13, css="blamed", font_weight="bold", text_anchor="middle")


def blamed_positions(findings, direction):
    """The positions of hosts blamed in that direction, or in both."""
    of_hosts = (one for one in findings if one.blame in OF_HOSTS and one.direction in (direction, "both"))
    return {position for finding in of_hosts for position in finding.all_places()}


def labelled_positions(hosts, host_step, blamed):
    """The hosts with labels: all if there is room, else some; blamed hosts have priority."""
    every = max(1, -(-BETWEEN_LABELS // host_step))
    apart = BETWEEN_LABELS / host_step
    chosen = []
    for position in sorted(blamed):
        if not chosen or position - chosen[-1] >= 0.8 * apart:
            chosen.append(position)
    for position in range(0, hosts, int(every)):
        if position not in blamed and (every == 1 or all(abs(position - one) >= apart for one in chosen)):
            chosen.append(position)
    return sorted(chosen)


def draw_findings(parent, frame, axis, findings):
    group = element(parent, "g", css="findings")
    tags = {"row": [], "column": []}
    for finding in findings:
        if finding.blame in OF_PAIRS or finding.blame == "undecided" and len(finding.places) == 2:
            draw_rings(group, frame, finding)
            continue
        places = finding.all_places()
        if len(places) > max(2, len(axis.hosts) / 2):  # frames around each would hide their contents
            outline_all(group, frame, finding)
            continue
        for position in places:
            first = position - position % axis.per_line  # around the host's whole line of cells
            draw_frames(group, frame, finding, first, min(first + axis.per_line, len(axis.hosts)), tags)
        spans = [span for leaf in finding.leaves for span in spans_of(axis, leaf)]
        if finding.blame == "leaf":
            for first, last in spans:
                draw_frames(group, frame, finding, first, last, tags)
        elif finding.blame == "leaf_pair" and len(spans) == 2:
            draw_leaf_pair(group, frame, finding, *spans)
        elif finding.blame == "rail":
            outline_all(group, frame, finding)
    draw_tags(group, frame, tags)


def draw_paths(parent, frame, axis, paths):
    """Draws dashed outlines around the cells of both directions."""
    group = element(parent, "g", css="paths")
    for one, other in paths:
        for sender, receiver in ((one, other), (other, one)):
            x = frame.left + sender // axis.per_line * frame.step
            y = frame.top + receiver // axis.per_line * frame.step
            for css, width, dashes in (("halo", 3, {}), ("mark", 1.5, {"stroke_dasharray": "3 2"})):
                rectangle(group, x - 1, y - 1, frame.step + 1, frame.step + 1, css=css, stroke_width=width, **dashes)


def outline(group, finding, x, y, width, height):
    for css, stroke_width in (("halo", 4), ("mark", 2)):
        dashes = {"stroke_dasharray": "6 4"} if css == "mark" and not_sure(finding) else {}
        title = finding.text if css == "mark" else None
        rectangle(group, x - 1, y - 1, width + 1, height + 1, css=css, stroke_width=stroke_width, title=title, **dashes)


def outline_all(group, frame, finding):
    outline(group, finding, frame.left, frame.top, frame.side, frame.side)
    draw_tag(group, frame.left + frame.side, frame.top, finding)


def not_sure(finding):
    return finding.blame in ("undecided", "transient")


def draw_frames(group, frame, finding, first, last, tags):
    """Outlines the rows of slow receivers and the columns of slow senders."""
    start, thickness = first * frame.host_step, (last - first) * frame.host_step
    if finding.direction != "receives":
        outline(group, finding, frame.left + start, frame.top - 2, thickness, frame.side + 4)
        tags["column"].append((start + thickness / 2, finding))
    if finding.direction != "sends":
        outline(group, finding, frame.left - 2, frame.top + start, frame.side + 4, thickness)
        tags["row"].append((start + thickness / 2, finding))


def spans_of(axis, leaf):
    return [(first, last) for name, first, last in axis.leaves if name == leaf]


def draw_leaf_pair(group, frame, finding, one, other):
    for senders, receivers, unless in ((one, other, "receives"), (other, one, "sends")):
        if finding.direction != unless:
            width, height = ((last - first) * frame.host_step for first, last in (senders, receivers))
            outline(group, finding, frame.x(senders[0]), frame.y(receivers[0]), width, height)
            draw_tag(group, frame.x(senders[1]), frame.y(receivers[0]), finding)


def draw_rings(group, frame, finding):
    radius = max(7.0, 0.8 * frame.host_step) if frame.host_step < LEAST_WITH_FIGURE else 0.56 * frame.host_step
    ways = ((*finding.places, "receives"), (*finding.places[::-1], "sends"))
    meetings = (
        (sender, receiver)
        for senders, receivers, unless in ways
        if finding.direction != unless
        for sender in senders
        for receiver in receivers
    )
    for sender, receiver in meetings:
        x, y = frame.x(sender + 0.5) - 0.5, frame.y(receiver + 0.5) - 0.5
        for css, width in (("halo", 4.5), ("mark", 2.2)):
            dashes = {"stroke_dasharray": "4 3"} if css == "mark" and not_sure(finding) else {}
            title = finding.text if css == "mark" else None
            element(group, "circle", title=title, cx=x, cy=y, r=radius, css=css, stroke_width=width, **dashes)
        draw_tag(group, x + 0.75 * radius + 5, y - 0.75 * radius - 4, finding)


def draw_tags(group, frame, tags):
    """Places tags in the lanes beside the map, next to their findings and without overlap."""
    for side, of_side in tags.items():
        least = 0.0
        for middle, finding in sorted(of_side, key=lambda tag: (tag[0], tag[1].number)):
            middle = max(middle, least)
            least = middle + 16
            if side == "row":
                draw_tag(group, frame.left + frame.side + 12, frame.top + middle, finding)
            else:
                draw_tag(group, frame.left + middle, frame.top + frame.side + 12, finding)


def draw_tag(group, x, y, finding):
    element(group, "circle", title=finding.text, cx=float(x), cy=float(y), r=7.5, css="tag")
    text(group, x, y + 3.4, str(finding.number), size=9.5, css="tag-ink", text_anchor="middle", font_weight="bold")
