"""How times scatter: epochs and percentiles of each row, samples where they were kept, and steps of connections."""

import math

from report_page import figure
from report_page.blocks import Plot, Section, Table, Number, number, percent, size, whole
from report_page.rows import name_of, run_name, series_of
from report_page.words import number_text, printable, size_text

MARKS = (  # percentiles of the samples: key, words, symbol
    ("time_us_min", "minimum", "triangle-up-open"),
    ("time_us_p5", "5 %", "line-ew-open"),
    ("time_us_p95", "95 %", "line-ew-open"),
    ("time_us_p99", "99 %", "diamond-open"),
    ("time_us_p999", "99.9 %", "square-open"),
    ("time_us_max", "maximum", "triangle-down-open"),
)
MOST_VIEWS = 60
MOST_STEPS_OF_CURVE = 400
MOST_TICKS = 10
HOW_TO_READ = (
    "Boxes: the medians of the epochs, from the first to the third quartile with the median; dots: each epoch. Open "
    "marks: minimum, percentiles and maximum over all samples. A box high above the others' pattern is an unsteady "
    "size; marks far above the box are rare, long operations. With samples (--samples), a second drawing has the "
    "share of samples that took at most a given time: a step is a mode, a long tail at the upper right is jitter."
)


def section(results):
    runs = results.runs()
    series = [one for run in runs for one in series_of(run) if any(point.measured for point in one.points)]
    blocks = []
    if series:
        names = [full_name(one, series, runs) for one in series]
        order = sorted(range(len(series)), key=lambda place: -spread_of(series[place]))
        chosen = sorted(order[:MOST_VIEWS])
        blocks.append(
            Plot(
                "Distributions of the times of each size",
                [(names[place], box_figure(series[place])) for place in chosen],
                "rows",
                note_on(series),
            )
        )
        sampled = [place for place in chosen if has_samples(series[place])]
        if sampled:
            blocks.append(
                Plot(
                    "Share of samples that took at most a given time",
                    [(names[place], sample_figure(series[place])) for place in sampled],
                    "rows",
                )
            )
        blocks.append(table_of(series, names))
    blocks += blocks_of_steps(runs)
    return Section("distributions", "Distributions", [], blocks, HOW_TO_READ) if blocks else None


def full_name(one, series, runs):
    same = [other for other in series if other.run.context["program"] == one.run.context["program"]]
    of_program = [run for run in runs if run.context["program"] == one.run.context["program"]]
    parts = [printable(one.run.context["program"]), name_of(one.key, [other.key for other in same])]
    return ", ".join(parts) + (f" ({run_name(one.run, of_program)})" if len(of_program) > 1 else "")


def note_on(series):
    if len(series) <= MOST_VIEWS:
        return ""
    return f"The {MOST_VIEWS} of {len(series):,} series with the widest scatter are drawn; the table has all."


def spread_of(one):
    """The widest scatter of its samples, relative to the median."""
    ratios = [
        (point.measured["time_us_p95"] or 0) / point.time_us for point in one.points if point.measured and point.time_us
    ]
    return max(ratios, default=0)


def has_samples(one):
    return any(point.measured and point.measured["samples_us"] for point in one.points)


def box_figure(one):
    points = [point for point in one.points if point.measured]
    labels = [size_text(point.size) for point in points]
    data = []
    for point, label in zip(points, labels):
        epochs = point.measured["epoch_times_us"] or [point.time_us]
        data.append(
            {
                "type": "box",
                "x": [label] * len(epochs),
                "y": epochs,
                "name": label,
                "tone": 0,
                "boxpoints": "all",
                "jitter": 0.5,
                "pointpos": 0,
                "marker": {"size": 3},
                "showlegend": False,
                "hoverinfo": "y",
                "line": {"width": 1.5},
            }
        )
    for place, (key, words, symbol) in enumerate(MARKS):
        known = [(label, point.measured[key]) for label, point in zip(labels, points) if point.measured[key]]
        if known:
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": words,
                    "x": [x for x, _ in known],
                    "y": [y for _, y in known],
                    "tone": 1 + place // 3 * 3 % figure.TONES,
                    "marker": {"symbol": symbol, "size": 9, "line": {"width": 2}},
                    "hovertemplate": f"%{{x}}, {words}: %{{y:.4g}} us<extra></extra>",
                }
            )
    return {
        "data": data,
        "layout": {
            "xaxis": {
                "type": "category",
                "title": {"text": "message size"},
                "categoryorder": "array",
                "categoryarray": labels,
                "tickvals": labels[:: max(1, -(-len(labels) // MOST_TICKS))],
            },
            "yaxis": figure.log_axis("time (us)", figure.values_of(data, "y")),
        },
    }


def sample_figure(one):
    data = []
    sampled = [point for point in one.points if point.measured and point.measured["samples_us"]]
    for place, point in enumerate(sampled):
        samples = sorted(point.measured["samples_us"])
        steps = min(len(samples), MOST_STEPS_OF_CURVE)
        places = sorted({round(step * (len(samples) - 1) / max(1, steps - 1)) for step in range(steps)})
        trace = figure.line(
            size_text(point.size),
            [samples[at] for at in places],
            [100 * (at + 1) / len(samples) for at in places],
            place % figure.TONES,
            place,
            figure.DASHES[place // figure.TONES % len(figure.DASHES)],
            [
                f"{size_text(point.size)}: {100 * (at + 1) / len(samples):.4g} % of {len(samples):,} samples "
                f"took at most {number_text(samples[at])} us"
                for at in places
            ],
            True,
        )[0]
        trace["mode"] = "lines"
        data.append({**trace, "line": {**trace["line"], "shape": "hv"}})
    times = figure.values_of(data, "x") or [1]
    around = [math.log10(0.8 * min(times)), math.log10(1.25 * max(times))]
    return {
        "data": data,
        "layout": {
            "xaxis": {**figure.log_axis("time (us)", times), "range": around},
            "yaxis": {"title": {"text": "share of samples (%)"}, "range": [0, 101]},
        },
    }


def table_of(series, names):
    columns = [
        "rows",
        Number("size"),
        Number("epochs"),
        Number("samples"),
        Number("median (us)"),
        Number("min"),
        Number("5 %"),
        Number("95 %"),
        Number("99 %"),
        Number("99.9 %"),
        Number("max"),
        Number("outliers"),
        Number("drift"),
    ]
    rows = []
    for one, name in zip(series, names):
        for point in one.points:
            if (record := point.measured) is None:
                continue
            rows.append(
                [
                    name,
                    size(point.size),
                    whole(record["epochs"]),
                    whole(record["samples"]),
                    number(point.time_us),
                    *(number(record[key]) for key, _, _ in MARKS),
                    whole(record["outliers"]),
                    percent(record["drift_percent"]),
                ]
            )
    return Table("Epochs and percentiles of all rows, times in us", columns, rows)


STEPS = ("resolve_address", "resolve_route", "connect", "first_message", "disconnect")
TIMES = (("time_us_min", "minimum"), ("time_us_median", "median"), ("time_us_p99", "99 %"), ("time_us_max", "maximum"))


def blocks_of_steps(runs):
    runs = [run for run in runs if run.steps]
    if not runs:
        return []
    rows, data = [], []
    for place, (key, words) in enumerate(TIMES):
        known = [step for run in runs for step in run.steps if step[key]]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": words,
                "x": [step["step"].replace("_", " ") for step in known],
                "y": [step[key] for step in known],
                "tone": place,
                "marker": {"symbol": figure.SYMBOLS[place], "size": 9},
                "text": [f"pair {step['pair']}, {figure.plain(step['step'])}" for step in known],
                "hovertemplate": f"%{{text}}, {words}: %{{y:.4g}} us<extra></extra>",
            }
        )
    for run in runs:
        for step in run.steps:
            rows.append(
                [
                    run_name(run, runs),
                    whole(step["pair"]),
                    printable(step["step"]).replace("_", " "),
                    whole(step["samples"]),
                    *(number(step[key]) for key, _ in TIMES),
                    number(step["step_rate_per_s"]),
                    whole(step["connections"]),
                    whole(step["failed_connections"]),
                    whole(step["lost_messages"]),
                    whole(step["wrong_messages"]),
                    printable(step["problem"] or ""),
                ]
            )
    columns = [
        "run",
        Number("pair"),
        "step",
        Number("samples"),
        *(Number(words) for _, words in TIMES),
        Number("steps/s"),
        Number("connections"),
        Number("failed"),
        Number("lost"),
        Number("#wrong"),
        "problem",
    ]
    layout = {
        "xaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [step.replace("_", " ") for step in STEPS],
        },
        "yaxis": figure.log_axis("time (us)", figure.values_of(data, "y")),
    }
    return [
        Plot("Times of the steps of connections", [("steps", {"data": data, "layout": layout})]),
        Table("Steps of connections, times in us", columns, rows),
    ]
