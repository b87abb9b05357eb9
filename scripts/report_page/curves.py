"""Bandwidth and latency against size, with intervals, baseline and bound."""

from report_page import figure
from report_page.blocks import Cell, Plot, Section, Table, Number, number, percent, size, text_or_unknown
from report_page.rows import key_of, name_of, run_name, series_of
from report_page.words import counted, number_text, printable, size_text

VERDICTS_OF_PRESETS = {
    "reached": Cell("reached", None, "good"),
    "below": Cell("below", None, "bad"),
    "not_measured": Cell("not measured", None, "unsure"),
}
FIGURES = {
    "collective": ("bus bandwidth (GB/s)", "time of one operation (us)"),
    "latency": ("bandwidth (GB/s)", "latency (us)"),
    "bandwidth": ("bandwidth (GB/s)", "time per message (us)"),
    "both_ways": ("bandwidth of both directions (GB/s)", "time per message (us)"),
    "copies": ("bandwidth (GB/s)", "time of a copy (us)"),
}
VERDICT_MARK = {"slower": "bad", "undecided": "unsure", "same": "good", "faster": "good"}
HOW_TO_READ_CURVES = (
    "Both axes are logarithmic. The band around a line is the 95 % interval of the median. Grey, dash-dotted: the bound "
    "of the port, the link or the memory. A click on a name in the legend hides or shows its line."
)
HOW_TO_READ = (
    HOW_TO_READ_CURVES + " Grey, dashed: the baseline's usual figure; its band is where the next launch is expected with "
    "95 %."
)


def section(results):
    runs = [run for run in results.runs() if run.rows or run.copies or run.epochs]
    blocks = []
    for program, figure_name in dict.fromkeys((run.context["program"], run.context["figure"]) for run in runs):
        of_program = [run for run in runs if run.context["program"] == program and run.context["figure"] == figure_name]
        blocks += blocks_of(program, figure_name, of_program, baselines_of(results, of_program))
    if not blocks:
        return None
    return Section("curves", "Bandwidth and latency against size", [], blocks, HOW_TO_READ)


def baselines_of(results, runs):
    """(run or None, key) -> {size: comparison of that row}. A file of fabricbench compare belongs to the only run."""
    usual = {}
    for comparison in results.comparisons():
        of_key = {}
        for row in comparison.rows:
            of_key.setdefault(key_of(row), {})[row["size_bytes"]] = row
        for run in comparison.runs or (runs[:1] if len(results.runs()) == 1 else []):
            usual |= {(id(run), key): rows for key, rows in of_key.items()}
    return usual


def blocks_of(program, figure_name, runs, usual):
    rate_title, time_title = FIGURES.get(figure_name, FIGURES["collective"])
    series = [one for run in runs for one in series_of(run)]
    series = worst_first(series, usual)
    names = [label_of(one, series, runs) for one in series]
    bound = port_rates(runs)
    views = []
    if any(point.rate and point.size > 0 for one in series for point in one.points):
        views.append(("bandwidth", rate_figure(series, names, usual, rate_title, bound)))
    if any(point.size > 0 for one in series for point in one.points):
        views.append(("time", time_figure(series, names, usual, time_title)))
    if figure_name == "latency":
        views.reverse()
    program = printable(program)
    label = f"{program}: {counted(len(series), 'series', 'series')} against message size"
    blocks = [Plot(label, views, "figure", note_on(series))] if views else []
    return (blocks + [table_of(program, series, names, usual, bound)] + expected_table(program, runs)
            + published_table(program, runs) + skipped_table(program, runs))  # fmt: skip


def expected_table(program, runs):
    rows = [
        [printable(run.file.name), printable(run.expectation["links"]), number(run.expectation["payload_gb_per_s"]),
         number(run.expectation["required_percent"] or None), printable(run.expectation["headline"] or "nothing is required")]
        for run in runs
        if run.expectation
    ]  # fmt: skip
    columns = ["run", "links", Number("payload (GB/s)"), Number("required (%)"), "outcome"]
    return [Table(f"{program}: what the links allow", columns, rows)] if rows else []


def published_table(program, runs):
    rows = [
        [printable(one["preset"]), size(one["from_bytes"]), number(one["usual_gb_per_s"]), number(one["least_gb_per_s"]),
         number(one["busbw_gb_per_s"]), VERDICTS_OF_PRESETS[one["verdict"]], printable(one["source"])]
        for run in runs
        for one in run.published
    ]  # fmt: skip
    columns = ["preset", Number("from size"), Number("usual (GB/s)"), Number("least (GB/s)"), Number("run (GB/s)"), "verdict",
               "source"]  # fmt: skip
    return [Table(f"{program}: published figures", columns, rows, is_open=True)] if rows else []


def worst_first(series, usual):
    """Slower than the baseline first, then by bandwidth at the largest size."""

    def key(one):
        compared = usual.get((id(one.run), one.key), {}).values()
        last = one.points[-1]
        return (
            -max((row["ratio"] for row in compared if row["verdict"] == "slower"), default=0),
            -last.size,
            last.rate or 0.0,
            -last.time_us,
        )

    return sorted(series, key=key) if len(series) > figure.MOST_SHOWN else series


def label_of(one, series, runs):
    name = name_of(one.key, [other.key for other in series])
    return f"{run_name(one.run, runs)}: {name}" if len(runs) > 1 else name


def port_rates(runs):
    """GB/s of the slowest port that a run used; None: unknown, or runs differ."""
    rates = {run.context["wire_rate_gb_per_s"] for run in runs}
    return rates.pop() if len(rates) == 1 else None


def rate_figure(series, names, usual, title, bound):
    data, sizes = [], []
    with_baseline = draw_baseline_of(series, usual)
    for place, (one, name) in enumerate(zip(series, names)):
        points = [point for point in one.points if point.rate and point.size > 0]
        if not points:
            continue
        x = [point.size for point in points]
        sizes += x
        ends = [
            (point.time_us and end and point.rate * point.time_us / end)
            for point in points
            for end in (point.high_us, point.low_us)
        ]
        texts = [rate_text(name, point, low, high) for point, low, high in zip(points, ends[::2], ends[1::2])]
        drawn = figure.shown(place)
        data += figure.line(
            name,
            x,
            [point.rate for point in points],
            place % figure.TONES,
            place,
            dash_of(one),
            texts,
            drawn,
            (ends[::2], ends[1::2]),
            [not point.finished for point in points],
        )
        if id(one) in with_baseline:
            data += baseline_lines(one, name, usual, points, True, drawn)
        data += [one for one in bound_lines(points) if one not in data]  # rows may share it
    if bound:
        data.append(figure.reference("rate of the port", [min(sizes), max(sizes)], [bound, bound], "dashdot"))
    return figure.over_sizes(data, sizes, title)


def time_figure(series, names, usual, title):
    data, sizes = [], []
    with_baseline = draw_baseline_of(series, usual)
    for place, (one, name) in enumerate(zip(series, names)):
        points = [point for point in one.points if point.size > 0]
        if not points:
            continue
        x = [point.size for point in points]
        sizes += x
        drawn = figure.shown(place)
        band = [point.low_us for point in points], [point.high_us for point in points]
        data += figure.line(
            name,
            x,
            [point.time_us for point in points],
            place % figure.TONES,
            place,
            dash_of(one),
            [time_text(name, point) for point in points],
            drawn,
            band,
            [not point.finished for point in points],
        )
        if id(one) in with_baseline:
            data += baseline_lines(one, name, usual, points, False, drawn)
    return figure.over_sizes(data, sizes, title)


def draw_baseline_of(series, usual):
    """The ids of the series with which a baseline is drawn: the first ones, because launches of one run share it."""
    first = {}
    for one in series:
        first.setdefault(id(usual.get((id(one.run), one.key))), id(one))
    return set(first.values())


def dash_of(one):
    return "dot" if one.key.placement == "in_place" else "solid"


def rate_text(name, point, low, high):
    interval = f", 95 % interval {number_text(low)} to {number_text(high)}" if low and high else ""
    return f"{name}, {size_text(point.size)}: {number_text(point.rate)} GB/s{interval}{cut_short(point)}"


def time_text(name, point):
    interval = f", 95 % interval {number_text(point.low_us)} to {number_text(point.high_us)}" if point.low_us else ""
    return f"{name}, {size_text(point.size)}: {number_text(point.time_us)} us{interval}{cut_short(point)}"


def cut_short(point):
    return "" if point.finished else ", cut short"


def baseline_lines(one, name, usual, points, as_rate, drawn):
    compared = usual.get((id(one.run), one.key), {})
    known = [(point, compared[point.size]) for point in points if point.size in compared]
    if not known:
        return []
    x = [point.size for point, _ in known]

    def figures(key):
        times = [row[key] for _, row in known]
        if not as_rate:
            return times
        return [time and point.rate * point.time_us / time for time, (point, _) in zip(times, known)]

    group = f"baseline of {name}"
    low, high = figures("usual_us_low"), figures("usual_us_high")
    band = figure.band_of(group, x, *((high, low) if as_rate else (low, high)), "reference", drawn)
    return band + [figure.reference(group, x, figures("usual_us"), "dash", group, drawn)]


def bound_lines(points):
    bounded = [point for point in points if point.bound]
    if not bounded:
        return []
    x, y = [point.size for point in bounded], [point.bound for point in bounded]
    if len(x) == 1:
        x, y = [x[0] / 1.5, x[0] * 1.5], y * 2
    return [figure.reference("bound", x, y, "dashdot")]


def note_on(series, where_all_are="the legend has all"):
    notes = []
    if len(series) > figure.MOST_SHOWN:
        notes.append(
            f"The first {figure.MOST_SHOWN} of {len(series)} series are drawn, the slowest ones; {where_all_are}."
        )
    if any(not point.finished for one in series for point in one.points):
        notes.append("Open marks: cut short; the median of the epochs until then.")
    return " ".join(notes)


def table_of(program, series, names, usual, bound):
    has_baseline = any((id(one.run), one.key) in usual for one in series)
    columns = ["series", Number("size"), Number("time (us)"), Number("low"), Number("high"), Number("GB/s")]
    if bound or any(point.bound for one in series for point in one.points):
        columns.append(Number("% of bound"))
    if has_baseline:
        columns += [Number("usual (us)"), Number("ratio"), "verdict"]
    columns += [Number("#wrong")]
    rows = [row_of(one, name, point, columns, usual, bound) for one, name in zip(series, names) for point in one.points]
    return Table(f"{program}: all rows", columns, rows)


def row_of(one, name, point, columns, usual, bound):
    row = [
        name,
        size(point.size),
        number(point.time_us),
        number(point.low_us),
        number(point.high_us),
        number(point.rate),
    ]
    limit = point.bound or bound
    if "% of bound" in columns:
        row.append(percent(100 * point.rate / limit if limit and point.rate else None))
    if "verdict" in columns:
        compared = usual.get((id(one.run), one.key), {}).get(point.size)
        row += verdict_cells(compared)
    wrong = point.measured and point.measured["wrong_elements"]
    row.append(Cell("N/A" if wrong is None else f"{wrong:,}", wrong, "bad" if wrong else ""))
    return row


def verdict_cells(compared):
    if compared is None:
        return [number(None), number(None), Cell("not in the baseline", None, "unsure")]
    verdict = compared["verdict"]
    return [
        number(compared["usual_us"]),
        number(compared["ratio"]),
        Cell(printable(verdict), None, VERDICT_MARK.get(verdict, "unsure")),
    ]


def skipped_table(program, runs):
    rows = [
        [run_name(run, runs), size(row["size_bytes"]), text_or_unknown(row["datatype"]), printable(row["skipped"])]
        for run in runs
        for row in run.rows
        if row["skipped"]
    ]
    return (
        [Table(f"{program}: sizes that were not measured", ["run", Number("size"), "type", "reason"], rows)]
        if rows
        else []
    )
