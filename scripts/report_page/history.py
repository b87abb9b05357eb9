"""The history of each row of a baseline, with lasting changes and the runs held against it."""

import statistics
from dataclasses import dataclass, field

from report_page import figure
from report_page.blocks import Cell, Plot, Section, Table, Number, number, percent, size, text_or_unknown, whole
from report_page.pair_grid import quantile
from report_page.rows import key_of, name_of, series_of
from report_page.words import counted, number_text, percent_text, printable, size_text

MOST_VIEWS = 120
HOW_TO_READ = (
    "Each dot is a launch of the baseline; its bar is from the first to the third quartile of its epochs. A vertical "
    "line marks the launch or the day from which on a row has been slower or faster for good, with the size of the "
    "change. A diamond is a run that was held against the baseline; the grey band is where it was expected with 95 %. "
    "The first view has all rows together: the median over rows of a launch's time relative to the row's usual time."
)


@dataclass
class History:
    """Comparable launches of one file."""

    name: str
    launches: list = field(default_factory=list)  # (launch, {key with size: row})
    comparisons: list = field(default_factory=list)

    def keys(self):
        return list(dict.fromkeys(key for _, rows in self.launches for key in rows))


def section(results):
    histories = histories_of(results)
    assign_comparisons(histories, results)
    blocks = []
    for history in histories:
        blocks += blocks_of(history)
    blocks += changes_of(results)
    if not blocks:
        return None
    return Section("history", "History", words_on(results), blocks, HOW_TO_READ)


def words_on(results):
    if any(comparison.outcome for comparison in results.comparisons()):
        return []
    return [
        "No run was held against the baseline, so nothing here is judged and lasting changes are not known; "
        "fabricbench compare BASELINE RUN --json FILE finds them."
    ]


def histories_of(results):
    found = {}
    for baseline in results.baselines():
        for launch, rows in baseline.launches:
            identity = launch["identity"] or {}
            of_identity = found.setdefault(
                (id(baseline), tuple(sorted(identity.items()))),
                History(f"{baseline.file.name}: {printable(identity.get('program', 'unknown'))}"),
            )
            of_identity.launches.append((launch, {sized(row): row for row in rows}))
    histories = list(found.values())
    names = [history.name for history in histories]
    for number_of_it, history in enumerate(histories, 1):
        history.launches.sort(key=lambda one: one[0]["began_utc"] or "")
        if names.count(history.name) > 1:
            history.name += f", configuration {number_of_it}"
    return histories


def sized(row):
    return key_of(row), row["size_bytes"]


def assign_comparisons(histories, results):
    """A comparison belongs to the history with most of its rows."""
    for comparison in results.comparisons():
        keys = {sized(row) for row in comparison.rows}
        shared = [
            (len(keys & set(history.keys())), history)
            for history in histories
            if comparison.run is None
            or history.name.endswith(printable(comparison.run.context["program"]))
            or ", configuration" in history.name
        ]
        best = max(shared, key=lambda one: one[0], default=(0, None))
        if best[0]:
            best[1].comparisons.append(comparison)


def blocks_of(history):
    keys = history.keys()
    changes = [change for comparison in history.comparisons for change in comparison.changes]
    changed = {sized(change["row"]) for change in changes if change["row"]}
    order = sorted(keys, key=lambda key: (key not in changed, -spread_of(history, key)))[:MOST_VIEWS]
    chosen = [key for key in keys if key in set(order)]
    views = [("all rows together", figure_of_all(history, changes))]
    views += [
        (row_name(key, keys) + (" (changed)" if key in changed else ""), figure_of_row(history, key, changes))
        for key in chosen
    ]
    note = f"{MOST_VIEWS} of {len(keys):,} rows can be chosen; the table has all." if len(keys) > MOST_VIEWS else ""
    label = f"History of {history.name}: {counted(len(history.launches), 'launch', 'launches')}"
    return [Plot(label, views, "row", note), table_of(history, keys), *configuration_of(history)]


def row_name(key, keys):
    return f"{name_of(key[0], [other for other, _ in keys])}, {size_text(key[1])}"


def times_of(history, key):
    return [(launch, rows[key]) for launch, rows in history.launches if key in rows]


def spread_of(history, key):
    """The last launch beside the first ones."""
    times = [row["time_us_median"] for _, row in times_of(history, key)]
    usual = statistics.median(times)
    return abs(times[-1] / usual - 1) if usual else 0


def figure_of_all(history, changes):
    usual = {
        key: statistics.median(row["time_us_median"] for _, row in times_of(history, key)) for key in history.keys()
    }
    x, y = [], []
    for launch, rows in history.launches:
        ratios = [row["time_us_median"] / usual[key] for key, row in rows.items() if usual[key]]
        if ratios:
            x.append(launch["began_utc"])
            y.append(100 * (statistics.median(ratios) - 1))
    texts = [f"{figure.plain(at)}: {number_text(over, 3)} % over the usual times" for at, over in zip(x, y)]
    data = [dots("launches", x, y, texts, 0)]
    for comparison in history.comparisons:
        for run, times in times_of_runs(comparison):
            ratios = [times[sized(row)] / row["usual_us"] for row in comparison.rows if times.get(sized(row)) and row["usual_us"]]
            if ratios:
                over = 100 * (statistics.median(ratios) - 1)
                data.append(run_mark(run, over, f"{number_text(over, 3)} % over the usual times"))
    layout = {"xaxis": {"type": "date"}, "yaxis": {"title": {"text": "time over the usual (%)"}, "zeroline": True}}
    mark_changes(layout, [change for change in changes if not change["row"]])
    return {"data": data, "layout": layout}


def figure_of_row(history, key, changes):
    times = times_of(history, key)
    x, y = [launch["began_utc"] for launch, _ in times], [row["time_us_median"] for _, row in times]
    quartiles = [
        (
            quantile(sorted(row["epoch_times_us"] or [time]), 0.25),
            quantile(sorted(row["epoch_times_us"] or [time]), 0.75),
        )
        for time, (_, row) in zip(y, times)
    ]
    texts = [
        f"{figure.plain(launch['began_utc'])}: {number_text(row['time_us_median'])} us" + label_of(launch)
        for launch, row in times
    ]
    trace = dots("launches", x, y, texts, 0)
    trace["error_y"] = {
        "type": "data",
        "symmetric": False,
        "thickness": 1,
        "width": 3,
        "array": [max(0, high - time) for time, (_, high) in zip(y, quartiles)],
        "arrayminus": [max(0, time - low) for time, (low, _) in zip(y, quartiles)],
    }
    data = [trace]
    shapes = []
    for comparison in history.comparisons:
        for row in comparison.rows:
            if sized(row) == key:
                shapes += usual_band(row)
                together = "" if len(comparison.runs) < 2 else f"all {len(comparison.runs)} runs together: "
                data += [
                    run_mark(run, times[key], f"{number_text(times[key])} us, {together}{printable(row['verdict'])}")
                    for run, times in times_of_runs(comparison)
                    if times.get(key)
                ]
    layout = {
        "xaxis": {"type": "date"},
        "yaxis": {"title": {"text": "time (us)"}, "rangemode": "tozero"},
        "shapes": shapes,
    }
    mark_changes(layout, [change for change in changes if change["row"] and sized(change["row"]) == key])
    return {"data": data, "layout": layout}


def times_of_runs(comparison):
    """[(run, {key with size: time})] of each run that was compared."""
    found = []
    for run in comparison.runs:
        times = {(series.key, point.size): point.time_us for series in series_of(run) for point in series.points}
        if not times and len(comparison.runs) == 1:  # a sweep, whose readings are its rows
            times = {sized(row): row["time_us_median"] for row in comparison.rows}
        found.append((run, times))
    return found


def label_of(launch):
    return f", {figure.plain(launch['label'])}" if launch["label"] else ""


def dots(name, x, y, texts, tone):
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": name,
        "x": x,
        "y": y,
        "text": texts,
        "tone": tone,
        "line": {"width": 1, "dash": "dot"},
        "marker": {"size": 8},
        "hovertemplate": "%{text}<extra></extra>",
    }


def run_mark(run, y, words):
    name = figure.plain(run.file.name)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"run {name}",
        "x": [run.context["started_utc"]],
        "y": [y],
        "tone": 5,
        "marker": {"symbol": "diamond", "size": 13},
        "text": [f"{name}: {figure.plain(words)}"],
        "hovertemplate": "%{text}<extra></extra>",
    }


def usual_band(row):
    if row["usual_us_low"] is None or row["usual_us_high"] is None:
        return []
    return [
        {
            "type": "rect",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": row["usual_us_low"],
            "y1": row["usual_us_high"],
            "look": "usual",
            "layer": "below",
            "line": {"width": 0},
        }
    ]


def mark_changes(layout, changes):
    layout.setdefault("shapes", [])
    layout["annotations"] = []
    for change in changes:
        over = 100 * (change["ratio"] - 1)
        layout["shapes"].append(
            {
                "type": "line",
                "yref": "paper",
                "x0": change["since_utc"],
                "x1": change["since_utc"],
                "y0": 0,
                "y1": 1,
                "look": "change",
                "line": {"dash": "dash", "width": 2},
            }
        )
        layout["annotations"].append(
            {
                "x": change["since_utc"],
                "yref": "paper",
                "y": 1,
                "yanchor": "top",  # names are above the plot
                "text": f"{over:+.1f} % from here on",
                "showarrow": False,
                "look": "change",
            }
        )


def table_of(history, keys):
    columns = [
        "row",
        Number("size"),
        Number("launches"),
        Number("first (us)"),
        Number("median (us)"),
        Number("last (us)"),
        Number("last beside the median"),
    ]
    rows = []
    for key in keys:
        times = [row["time_us_median"] for _, row in times_of(history, key)]
        median = statistics.median(times)
        over = 100 * (times[-1] / median - 1) if median else None
        rows.append(
            [
                name_of(key[0], [other for other, _ in keys]),
                size(key[1]),
                whole(len(times)),
                number(times[0]),
                number(median),
                number(times[-1]),
                percent(over),
            ]
        )
    return Table(f"{history.name}: rows and their launches", columns, rows)


def configuration_of(history):
    """What changed from launch to launch without making them incomparable."""
    rows, before = [], None
    for launch, _ in history.launches:
        now = launch["circumstances"] or {}
        if before is not None:
            rows += [
                [
                    printable(launch["began_utc"]),
                    printable(key),
                    text_or_unknown(before.get(key)),
                    text_or_unknown(now.get(key)),
                ]
                for key in sorted({*before, *now})
                if before.get(key) != now.get(key)
            ]
        before = now
    return (
        [Table(f"{history.name}: changes between launches", ["from", "what", "before", "then"], rows)] if rows else []
    )


def changes_of(results):
    rows = []
    for comparison in results.comparisons():
        for change in comparison.changes:
            row = change["row"]
            name = row_name(sized(row), []) if row else "all rows together"
            over = 100 * (change["ratio"] - 1)
            rows.append(
                [
                    comparison.name,
                    name,
                    printable(change["since_utc"]),
                    Cell(f"{over:+.1f} %", over, "bad" if over > 1 else ""),
                    Cell(percent_text(100 * change["false_alarm_probability"]), change["false_alarm_probability"]),
                ]
            )
    columns = ["comparison", "row", "since", Number("change of the time"), Number("chance alone")]
    return [Table("Lasting changes", columns, rows, is_open=True)] if rows else []
