#!/usr/bin/env python3
"""Makes a report of results: one page that opens without a network, with the
verdict, plots, tables and findings."""

import datetime
import gc
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # do not write caches beside the script

from report_page.command import CommandLine, ending_by_status, refuse_output, require_modules, say, say_problems, write_whole
from report_page.comparing import compare
from report_page.importing import files_of_records
from report_page.judging import begin, judge
from report_page.results import paths_of, read_results
from report_page.words import printable

MODULES = ("jinja2", "plotly")
STDOUT = "-"
EPILOG = """\
RESULTS are files that programs wrote with --json or --record, files of
scripts/sweep_pairs.sh and find_slow_links --json, or folders, of which all
*.jsonl are read, such as the folder of an acceptance run. With --import they
are logs, matrices or folders of other tools, as for find_slow_links --import
(docs/slow-links.md). Damaged lines and runs without an end are reported, and
never pass. Readings of pairs without a verdict are judged by find_slow_links,
and runs that are given with a baseline by fabricbench compare.

Exit status: 0 written, whatever the verdict, 1 the report cannot be written, 2
the command line is wrong or no file has a record, 3 a file or a Python module
is missing.
"""


def parse_arguments(arguments):
    parser = CommandLine(__doc__, EPILOG)
    parser.add_argument("results", metavar="RESULTS", nargs="+")
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="write the report to FILE; - is standard output"
    )
    parser.add_argument("--title", metavar="TEXT", help="title of the report (default: fabricbench report)")
    parser.add_argument(
        "--import", dest="kind", metavar="KIND", help="read results of another tool: nccl-tests, osu, csv, auto..."
    )
    parser.add_argument("--unit", metavar="UNIT", help="unit of files that name none, such as GB/s or Gb/s")
    parser.add_argument("--force", action="store_true", help="overwrite an existing report")
    parser.add_argument(
        "--locality", metavar="FILE", help="read each host's leaf switch or rack from lines 'HOST LEAF'"
    )
    parser.add_argument(
        "--programs",
        metavar="DIR",
        help="folder of fabricbench and find_slow_links (default: the build beside the scripts, else the PATH)",
    )
    given = parser.parse_args(arguments)
    if given.unit is not None and given.kind is None:
        parser.error("--unit is for --import; give --import KIND too")
    return given


def write(output, text):
    if output != STDOUT:
        write_whole(Path(output), text.encode())
        return
    try:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
    except OSError:
        leave_stdout()
        raise


def leave_stdout():
    """Keeps Python from writing the rest of a page that nobody takes when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def subtitle_of(given):
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"{', '.join(printable(path) for path in given.results)}; made {now:%Y-%m-%d %H:%M} UTC"


def make_report(given):
    from report_page.page import make_page  # after require_modules()

    with files_of_records(given.results, given.kind, given.unit, given.programs) as (files, notices):
        with begin(paths_of(files), given) as begun:
            results = read_results(files)
            if given.kind is not None:  # instead of a temporary name
                results.files[0].name = f"imported from {', '.join(map(printable, given.results))}"
            results.why_not_compared = compare(results, given)
            why_not = judge(results, given, begun)
    for notice in notices:
        say(notice)
    say_problems(results, "; the report lists them")
    if results.why_not_compared:
        say(f"runs are not compared: {results.why_not_compared}")
    if why_not:
        say(f"pairs are not judged: {why_not}")
    title = printable(given.title or "fabricbench report")
    write(given.output, make_page(results, title, subtitle_of(given), why_not))


def main():
    given = parse_arguments(sys.argv[1:])
    with ending_by_status("standard output" if given.output == STDOUT else given.output):
        if given.output != STDOUT:
            refuse_output(given.output, given.results, given.force, "report")
        require_modules(MODULES)
        make_report(given)


if __name__ == "__main__":
    gc.disable()  # it would go through millions of readings, none of which is garbage before the end
    main()
