#!/usr/bin/env python3
"""Draws bandwidth and latency against message size, of one or several runs."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True  # do not write caches beside the script

from report_page import curves, figure
from report_page.blocks import Plot, Section
from report_page.command import CommandLine, ending_by_status, refuse_output, require_modules, say, say_problems, write_whole
from report_page.results import BadInput, read_results
from report_page.rows import series_of
from report_page.words import counted, printable

PICTURES = (".png", ".svg", ".pdf")
PAGE = ".html"
PAGE_HAS_ALL = f"a page ({PAGE}) has all of them"
KINDS_OF_FIGURES = {
    "collective": "collectives",
    "latency": "latencies",
    "bandwidth": "bandwidths one way",
    "both_ways": "bandwidths both ways",
    "copies": "copies of GPUs",
}
EPILOG = """\
  fabricbench plot run.jsonl -o run.png
  fabricbench plot before.jsonl after.jsonl -o change.html --title 'new switch'
  fabricbench plot run.jsonl -o run.svg --dark

RUN.jsonl are records that programs wrote with --json; a folder stands for all
*.jsonl in it. Each record, datatype, reduction and placement is a curve; in
place is dotted. Both axes are logarithmic. The band is the 95 % interval of the
median, open marks are rows that were cut short, and dash-dotted grey is the
rate of the port or the bound of the link, where it is known. A page (.html)
also has all figures in a table, and is light or dark as the browser is.

Exit status: 0 written, 1 the file cannot be written, 2 the command line is
wrong or no record can be drawn, 3 a file or a Python module is missing.
"""


def parse_arguments(arguments):
    parser = CommandLine(__doc__, EPILOG)
    parser.add_argument("results", metavar="RUN.jsonl", nargs="+", help="record of a run, or a folder of records")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="write FILE: .png, .svg, .pdf or .html")
    parser.add_argument("--title", metavar="TEXT", help="title (default: the program and its ranks)")
    parser.add_argument("--dark", action="store_true", help="light curves on dark ground, for a picture")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    given = parser.parse_args(arguments)
    given.ending = Path(given.output).suffix.lower()
    if given.ending not in (*PICTURES, PAGE):
        parser.error(f"'{given.output}' ends in none of {' '.join((*PICTURES, PAGE))}")
    if given.dark and given.ending == PAGE:
        parser.error("--dark is for pictures; a page is light or dark as the browser is")
    return given


def runs_to_draw(results):
    """The runs with rows. Raises BadInput where there are none, or where their figures mean different things."""
    runs = [run for run in results.runs() if any(point.size > 0 for one in series_of(run) for point in one.points)]
    if not runs:
        kinds = ", ".join(sorted({kind for file in results.files for kind, count in file.kinds.items() if count})) or "none"
        raise BadInput(
            f"no run here has figures for message sizes (records of kind: {printable(kinds)}); give what a program "
            "wrote with --json, or draw other records by fabricbench report"
        )
    meanings = {run.context["figure"]: run for run in runs}
    if len(meanings) > 1:
        each = [f"{run.file.name} has {KINDS_OF_FIGURES.get(key, key)} ({printable(run.context['program'])})"
                for key, run in meanings.items()]  # fmt: skip
        raise BadInput(f"{' and '.join(each)}, which do not compare; draw them apart, or take fabricbench report")
    return runs


def programs_of(runs):
    return list(dict.fromkeys(printable(run.context["program"]) for run in runs))


def title_of(runs):
    title = ", ".join(programs_of(runs))
    jobs = {(run.context["ranks"], len(run.context["hosts"] or []), run.context["backend"]) for run in runs}
    if len(jobs) == 1:
        ranks, hosts, backend = jobs.pop()
        if ranks and hosts:
            title += f": {counted(ranks, 'rank')} on {counted(hosts, 'host')}, {printable(backend)}"
    return title


def labels_of(series, runs):
    names = [curves.label_of(one, series, runs) for one in series]
    if len(series) == 1:
        return programs_of(runs)
    if len(programs_of(runs)) == 1:
        return names
    return [f"{printable(one.run.context['program'])}, {label}" for one, label in zip(series, names)]


def views_of(series, runs):
    """(name, figure) of bandwidth, where there is one, and time; a latency comes first where that was measured."""
    kind = runs[0].context["figure"]
    rate_title, time_title = curves.FIGURES.get(kind, curves.FIGURES["collective"])
    labels = labels_of(series, runs)
    views = [("time", curves.time_figure(series, labels, {}, time_title))]
    if any(point.rate and point.size > 0 for one in series for point in one.points):
        bandwidth = curves.rate_figure(series, labels, {}, rate_title, curves.port_rates(runs))
        views.insert(1 if kind == "latency" else 0, ("bandwidth", bandwidth))
    return views


def page_with(views, series, runs, title, note):
    from report_page.page import page_of  # after require_modules()

    labels = labels_of(series, runs)
    plots = [Plot(f"{name_of_view} against message size", [(name_of_view, drawn)], note=note if place == 0 else "")
             for place, (name_of_view, drawn) in enumerate(views)]  # fmt: skip
    table = curves.table_of(", ".join(programs_of(runs)), series, labels, {}, curves.port_rates(runs))
    section = Section("curves", "Bandwidth and latency against size", [], [*plots, table], curves.HOW_TO_READ_CURVES)
    subtitle = ", ".join(dict.fromkeys(run.file.name for run in runs))
    return page_of([section], title, subtitle).encode()


def picture_with(views, title, note, given):
    from report_page.picture import draw  # after require_modules()

    shown = []
    for _, drawn in views:
        drawn["data"] = [trace for trace in drawn["data"] if trace["visible"] is True]
        shown.append(drawn)
    return draw(shown, title, note, given.ending[1:], given.dark)


def plot(given):
    results = read_results(given.results)
    say_problems(results, "")
    runs = runs_to_draw(results)
    series = curves.worst_first([one for run in runs for one in series_of(run)], {})
    if len(series) > figure.MOST_SHOWN and given.ending != PAGE:
        say(f"drawn are the {figure.MOST_SHOWN} slowest of {len(series)} curves; {PAGE_HAS_ALL}")
    title = printable(given.title or title_of(runs))
    views = views_of(series, runs)
    if given.ending == PAGE:
        contents = page_with(views, series, runs, title, curves.note_on(series))
    else:
        contents = picture_with(views, title, curves.note_on(series, PAGE_HAS_ALL), given)
    write_whole(Path(given.output), contents)


def main():
    given = parse_arguments(sys.argv[1:])
    with ending_by_status(given.output):
        refuse_output(given.output, given.results, given.force, "plot")
        require_modules(("jinja2", "plotly") if given.ending == PAGE else ("matplotlib",))
        plot(given)


if __name__ == "__main__":
    main()
