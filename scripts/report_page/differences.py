"""What changed since the baseline: rows, and the configuration."""

from collections import Counter

from report_page import figure
from report_page.blocks import Cell, Plot, Section, Table, Number, number, percent, size, text_or_unknown
from report_page.rows import key_of, name_of
from report_page.words import number_text, printable, size_text

LOOKS = {  # verdict: (mark in tables, tone, symbol)
    "slower": ("bad", 5, "triangle-up"),
    "undecided": ("unsure", "reference", "circle-open"),
    "same": ("", 0, "circle"),
    "faster": ("good", 2, "triangle-down"),
}
HOW_TO_READ = (
    "Each mark is a row: its time in this run relative to the baseline's usual time, with the 95 % interval. Above 1 "
    "is slower. Triangles are rows that are slower or faster for certain; open circles could hide a slowdown in their "
    "noise. Below are the differences of the configuration: those for which nothing was compared, those that were "
    "allowed, and circumstances that may explain a change."
)


def section(results):
    blocks, words = [], []
    for comparison in results.comparisons():
        if comparison.outcome:
            words.append(f"{comparison.name}: {printable(comparison.outcome['headline'])}")
        if comparison.rows:
            blocks += [
                Plot(
                    f"Rows of {comparison.name} beside the baseline: {counts_of(comparison)}",
                    [("ratios", ratio_figure(comparison))],
                ),
                row_table(comparison),
            ]
        blocks += configuration_tables(comparison)
    return (
        Section("changes", "What changed since the baseline", words, blocks, HOW_TO_READ) if words or blocks else None
    )


def counts_of(comparison):
    counts = Counter(row["verdict"] for row in comparison.rows)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in LOOKS if counts[verdict])


def ratio_figure(comparison):
    data, keys = [], [key_of(row) for row in comparison.rows]
    for verdict, (_, tone, symbol) in LOOKS.items():
        rows = [row for row in comparison.rows if row["verdict"] == verdict and row["size_bytes"] > 0]
        if not rows:
            continue
        ends = [(row["ratio_high"] or row["ratio"], row["ratio_low"] or row["ratio"]) for row in rows]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": figure.plain(verdict),
                "x": [row["size_bytes"] for row in rows],
                "y": [row["ratio"] for row in rows],
                "tone": tone,
                "marker": {"symbol": symbol, "size": 10},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "thickness": 1,
                    "width": 4,
                    "array": [high - row["ratio"] for row, (high, _) in zip(rows, ends)],
                    "arrayminus": [row["ratio"] - low for row, (_, low) in zip(rows, ends)],
                },
                "text": [figure.plain(text_of(row, keys)) for row in rows],
                "hovertemplate": "%{text}<extra></extra>",
            }
        )
    made = figure.over_sizes(data, [row["size_bytes"] for row in comparison.rows], "time relative to the baseline")
    made["layout"]["shapes"] = [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": 1,
            "y1": 1,
            "look": "usual line",
            "line": {"width": 1},
        }
    ]
    return made


def text_of(row, keys):
    return (
        f"{name_of(key_of(row), keys)}, {size_text(row['size_bytes'])}: {number_text(row['time_us_median'])} us, "
        f"{number_text(row['ratio'], 3)} times the usual {number_text(row['usual_us'])} us: {row['verdict']}"
    )


def row_table(comparison):
    columns = [
        "row",
        Number("size"),
        "gate",
        Number("usual (us)"),
        Number("now (us)"),
        Number("ratio"),
        Number("low"),
        Number("high"),
        Number("smallest slowdown"),
        "verdict",
        "algorithm",
    ]
    keys = [key_of(row) for row in comparison.rows]
    order = list(LOOKS)
    rows = sorted(comparison.rows, key=lambda row: (order.index(row["verdict"]), -row["ratio"]))
    return Table(
        f"{comparison.name}: rows beside the baseline",
        columns,
        [
            [
                name_of(key_of(row), keys),
                size(row["size_bytes"]),
                row["gate"],
                number(row["usual_us"]),
                number(row["time_us_median"]),
                number(row["ratio"]),
                number(row["ratio_low"]),
                number(row["ratio_high"]),
                percent(row["least_slowdown_percent"]),
                Cell(row["verdict"], None, LOOKS[row["verdict"]][0]),
                algorithm_of(row),
            ]
            for row in rows
        ],
    )


def algorithm_of(row):
    if row["algorithm_before"] is None and row["algorithm"] is None:
        return ""
    return f"was {text_or_unknown(row['algorithm_before'])}, is {text_or_unknown(row['algorithm'])}"


def configuration_tables(comparison):
    outcome = comparison.outcome
    if outcome is None:
        return []
    rows = []
    for key, words, mark in (
        ("differences", "differs: not compared, or carried by others", "bad"),
        ("allowed", "differs, and was allowed", "unsure"),
        ("circumstances", "also changed", ""),
    ):
        rows += [
            [
                Cell(words, None, mark),
                printable(one["key"]),
                text_or_unknown(one["before"]),
                text_or_unknown(one["now"]),
            ]
            for one in outcome[key] or []
        ]
    tables = (
        [
            Table(
                f"{comparison.name}: configuration beside the baseline's",
                ["what it means", "key", "baseline", "now"],
                rows,
                is_open=True,
            )
        ]
        if rows
        else []
    )
    rows = [
        [Cell(words, None, "unsure"), name_of(key_of(one)), size(one["size_bytes"])]
        for key, words in (("missing", "missing in the run"), ("added", "new in the run"))
        for one in outcome[key] or []
    ]
    if rows:
        tables.append(Table(f"{comparison.name}: rows on one side only", ["what", "row", Number("size")], rows))
    return tables
