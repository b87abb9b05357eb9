"""What each host does as sender and as receiver."""

from report_page import figure
from report_page.blocks import Cell, Number, number, whole
from report_page.pair_grid import quantile
from report_page.words import short_names

MOST_BOXES = 96  # hosts
HOST_COLUMNS = [
    "host",
    "group",
    "measured",
    Number("sends, median"),
    Number("sends, lowest"),
    "lowest to",
    Number("receives, median"),
    Number("receives, lowest"),
    "lowest from",
    Number("failed"),
    "findings",
]


def sides_of(grid, both_ways):
    """(as sender, as receiver): for each host its rates, ascending."""
    sends = [sorted(grid.column(at)) for at in range(grid.size)]
    return sends, (sends if both_ways else [sorted(grid.row(at)) for at in range(grid.size)])


def host_figure(axis, sides):
    labels = [figure.plain(name) for name in short_names(axis.hosts)]
    data = []
    for place, (words, rates) in enumerate(zip(("sends", "receives"), sides)):
        known = [(label, of_host) for label, of_host in zip(labels, rates) if of_host]
        data += box_of(words, known, place) if len(labels) <= MOST_BOXES else marks_of(words, known, place)
    return {
        "data": data,
        "layout": {
            "boxmode": "group",
            "xaxis": {"type": "category", "categoryorder": "array", "categoryarray": labels, "tickangle": -60},
            "yaxis": {"title": {"text": "GB/s"}, "rangemode": "tozero"},
        },
    }


def box_of(words, known, place):
    quartiles = {
        key: [quantile(rates, share) for _, rates in known]
        for key, share in (("lowerfence", 0), ("q1", 0.25), ("median", 0.5), ("q3", 0.75), ("upperfence", 1))
    }
    return [
        {
            "type": "box",
            "name": words,
            "x": [label for label, _ in known],
            "tone": 4 if place else 0,
            **quartiles,
            "line": {"width": 1.5},
            "pattern": place,
        }
    ]


def marks_of(words, known, place):
    traces = []
    for what, share, symbol in (
        ("median", 0.5, ("circle", "square")[place]),
        ("lowest", 0, ("triangle-up", "triangle-down")[place]),
    ):
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"{words}, {what}",
                "x": [label for label, _ in known],
                "y": [quantile(rates, share) for _, rates in known],
                "tone": 4 if place else 0,
                "marker": {"symbol": symbol if share else f"{symbol}-open", "size": 5},
                "hovertemplate": f"%{{x}} {words}, {what}: %{{y:.4g}} GB/s<extra></extra>",
            }
        )
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
        rows.append(
            [
                name,
                group_of.get(at, ""),
                str(kind),
                *side_cells(sides[0][at], axis, lowest_to[at]),
                *side_cells(sides[1][at], axis, lowest_from[at]),
                whole(failures.get(at, 0)),
                Cell(", ".join(numbers), None, "bad" if numbers else ""),
            ]
        )
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
            known = [rate for rate in rates if rate == rate]
            lowest[at] = rates.index(min(known)) if known else None
    return to, source


def failures_of(grid):
    found = {}
    for cell, reasons in grid.failed.items():
        for at in grid.pair(cell):
            found[at] = found.get(at, 0) + len(reasons)
    return found
