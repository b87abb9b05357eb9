"""Parts of figures for plotly.js (https://plotly.com/javascript/). A `tone` stands for a colour, which the page chooses
for light, dark and print (scripts/templates/report.js)."""

import html
import itertools
import math

from report_page.words import printable, size_text

TONES = 7
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "triangle-down")
DASHES = ("solid", "dot", "longdash", "dashdot")
MOST_TICKS = 12
LETTERS_OF_SIZES = 88  # from the smallest to the largest size of a picture
MOST_SHOWN = 8  # series that are drawn at once; the reader adds others by the legend


def plain(text):
    """plotly.js takes some markup in names; this shows it as text."""
    return html.escape(printable(text), quote=False)


def line(name, x, y, tone, place=0, dash="solid", texts=None, shown=True, band=None, unfinished=()):
    """A line with marks, which are open at unfinished points, and its interval as (low, high) behind it."""
    group = f"{name}/{place}"
    traces = []
    if band is not None:
        traces += band_of(group, x, *band, tone, shown)
    symbol = SYMBOLS[place % len(SYMBOLS)]
    symbols = [f"{symbol}-open" if is_open else symbol for is_open in unfinished]
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(name),
        "legendgroup": group,
        "x": x,
        "y": y,
        "tone": tone,
        "line": {"dash": dash, "width": 2},
        "marker": {"symbol": symbols if any(unfinished) else symbol, "size": 8},
        "visible": True if shown else "legendonly",
        "hovertemplate": "%{text}<extra></extra>",
        "text": [plain(text) for text in texts or [""] * len(x)],
    }
    return traces + [trace]


def band_of(group, x, low, high, tone, shown=True):
    """A trace for each stretch of points of which the interval is known."""
    bands = []
    points = zip(x, low, high)
    for is_known, stretch in itertools.groupby(points, lambda point: bool(point[1] and point[2])):
        if not is_known:
            continue
        known = list(stretch)
        bands.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": [at for at, _, _ in known] + [at for at, _, _ in reversed(known)],
                "y": [top for _, _, top in known] + [bottom for _, bottom, _ in reversed(known)],
                "fill": "toself",
                "tone": tone,
                "band": True,
                "line": {"width": 0},
                "hoverinfo": "skip",
                "showlegend": False,
                "legendgroup": group,
                "visible": True if shown else "legendonly",
            }
        )
    return bands


def reference(name, x, y, dash="dash", group=None, shown=True):
    """What figures are held against: a bound or a baseline, in grey."""
    return {
        "type": "scatter",
        "mode": "lines",
        "name": plain(name),
        "legendgroup": group or name,
        "x": x,
        "y": y,
        "tone": "reference",
        "line": {"dash": dash, "width": 2},
        "visible": True if shown else "legendonly",
        "hovertemplate": f"{plain(name)}: %{{y:.4g}}<extra></extra>",
    }


def over_sizes(data, sizes, y_title):
    return {"data": data, "layout": {"xaxis": size_axis(sizes), "yaxis": log_axis(y_title, values_of(data, "y"))}}


def values_of(data, axis):
    return [value for trace in data for value in trace[axis] if value]


def log_axis(title, values):
    """A log axis with ticks at round numbers: at 1, 2 and 5 of each power of ten, with less if it spans many, and with
    more if it spans less than one."""
    values = [value for value in values if value > 0] or [1]
    ticks = ticks_within(min(values), max(values)) if max(values) < 10 * min(values) else ticks_of_powers(values)
    return {"title": {"text": title}, "type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def ticks_of_powers(values):
    first, last = math.floor(math.log10(min(values))) - 1, math.ceil(math.log10(max(values))) + 1
    powers = last - first - 2
    steps = (1, 2, 5) if powers <= 3 else (1,)
    return [step * 10.0**power for power in range(first, last + 1, 1 + powers // 9) for step in steps]


def ticks_within(low, high):
    """Multiples of a round step, from a bit below to a bit above."""
    rough = max(high - low, 0.02 * high) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [place * step for place in range(max(1, math.floor(low / step) - 2), math.ceil(high / step) + 3)]


def size_axis(sizes):
    """A log axis with ticks at powers of two: those that were measured, or evenly spaced ones where that are many or other
    sizes were measured too. Where fewer than two are in reach, at sizes that were measured."""
    sizes = sorted(size for size in set(sizes) if size > 0)
    powers = [size for size in sizes if size & (size - 1) == 0]
    if sizes and (len(powers) < len(sizes) or len(powers) > MOST_TICKS):
        powers = [1 << power for power in range((sizes[0] - 1).bit_length(), sizes[-1].bit_length())]
    ticks = ticks_apart(powers if len(powers) > 1 else sizes, math.log(sizes[-1] / sizes[0]) if sizes else 0)
    return {
        "title": {"text": "message size"},
        "type": "log",
        "tickvals": [size for size, _ in ticks],
        "ticktext": [text for _, text in ticks],
    }


def ticks_apart(sizes, span):
    """Each first, second, third... size with its label, so that labels do not touch on an axis of that many powers of e."""
    ticks = list(zip(sizes, map(size_text, sizes)))
    for step in range(max(1, -(-len(ticks) // MOST_TICKS)), len(ticks)):
        some = ticks[::step]
        if all(len(a) + len(b) + 2 <= 2 * LETTERS_OF_SIZES * math.log(y / x) / span
               for (x, a), (y, b) in zip(some, some[1:])):  # fmt: skip
            return some
    return ticks[:1]


def shown(place):
    return place < MOST_SHOWN
