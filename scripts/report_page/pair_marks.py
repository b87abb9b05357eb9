"""Outlines on the map of pairs: findings, suspect paths and groups of hosts."""

from findings import is_path, state_of
from report_page.pair_grid import NO_GROUP

MOST_TAGS = 40  # findings on a map
MOST_SUSPECTS = 100
NOT_SURE = ("unknown", "unsteady")


def frames_of_groups(axis):
    """Around the readings within a group."""
    if not axis.runs or len(axis.runs) > axis.lines / 2:
        return []
    return [
        rectangle(first / axis.per_line, last / axis.per_line, first / axis.per_line, last / axis.per_line, "group")
        for name, first, last in axis.runs
        if name != NO_GROUP
    ]


def rectangle(x0, x1, y0, y1, look, dash="solid", away=0.0):
    """In lines from 0, from edge to edge, and that far away."""
    return {
        "type": "rect",
        "x0": x0 - 0.5 - away,
        "x1": x1 - 0.5 + away,
        "y0": y0 - 0.5 - away,
        "y1": y1 - 0.5 + away,
        "look": look,
        "line": {"dash": dash, "width": 2},
    }


def mark_findings(layout, axis, findings):
    for finding in findings[:MOST_TAGS]:
        for outline in outlines_of(finding, axis):
            dash = "dash" if state_of(finding.record) in NOT_SURE else "solid"
            layout["shapes"].append(rectangle(*outline, "finding", dash, away(axis)))
            layout["annotations"].append(
                {"text": str(finding.number), "look": "tag", "showarrow": False, **place_of_tag(*outline)}
            )


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
    """(x0, x1, y0, y1) in lines: the columns of slow senders, the rows of slow receivers, blocks of two, or everything."""
    if finding.leaves:
        places = [spans_of_leaf(leaf, axis) for leaf in finding.leaves]
    else:
        lines = [[at // axis.per_line for at in axis.places_of(host, finding.rail)] for host in finding.hosts]
        places = [[(at, at + 1) for at in of_host] for of_host in lines]
    if len(places) == 2 and (finding.leaves or is_path(finding.record)):
        blocks = [(x, y) for xs, ys in directions_of(finding, *places) for x in xs for y in ys]
        return [(*x, *y) for x, y in blocks]
    spans = [span for of_one in places for span in of_one]
    if not places or len(spans) > max(2, axis.lines / 2):
        return [(0, axis.lines, 0, axis.lines)]
    columns = [(*span, 0, axis.lines) for span in spans if finding.direction != "receives"]
    return columns + [(0, axis.lines, *span) for span in spans if finding.direction != "sends"]


def spans_of_leaf(leaf, axis):
    return [(first // axis.per_line, -(-last // axis.per_line)) for name, first, last in axis.runs if name == leaf]


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
