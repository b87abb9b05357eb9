#!/usr/bin/env python3
"""Draws the readings of a sweep over pairs of hosts: a heat map and a plot of each host, as HTML and PNG."""

import argparse
import importlib.util
import os
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # do not write caches beside the script

from constants import FAILED, MISSING
from sweep_plots import sheet
from sweep_plots.axis import knows_leaves, make_axis
from sweep_plots.findings import find_findings, read_findings
from sweep_plots.importing import files_of_records
from sweep_plots.localities import read_leaves
from sweep_plots.readings import BadInput, printable, read_records

SYSTEM_PYTHON = "/usr/bin/python3"  # packages install Python modules for this one
EPILOG = """\
RECORDS are files of scripts/sweep_pairs.sh, scripts/check_node_pair.sh or pairwise_bw --json; - is standard input. With
--import they are logs, matrices or folders of other tools, as for find_slow_links --import (docs/slow-links.md). Rows
of a map are receivers, columns senders. Each test, message size and rail with figures has a separate map. With more than
128 hosts, a cell stands for several hosts and shows their slowest pair. Findings of find_slow_links are marked, and its
groups of hosts are framed.

Exit status: 0 drawn, 1 a file cannot be written, 2 the command line or a record is wrong, 3 a file or a Python module
is missing.
"""


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="plot_sweep.py", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("records", metavar="RECORDS", nargs="+")
    parser.add_argument(
        "--html", metavar="FILE", type=Path, help="write a self-contained page; hovering shows a pair's numbers"
    )
    parser.add_argument("--png", metavar="FILE", type=Path, help="write the same drawings as a picture")
    parser.add_argument(
        "--verdict",
        metavar="FILE",
        help="output of find_slow_links --json for these records (default: run find_slow_links)",
    )
    parser.add_argument(
        "--programs",
        metavar="DIR",
        help="folder of find_slow_links (default: the build beside the scripts, else the PATH)",
    )
    parser.add_argument(
        "--import", dest="kind", metavar="KIND", help="read results of another tool: nccl-tests, osu, csv, auto..."
    )
    parser.add_argument("--unit", metavar="UNIT", help="unit of files that name none, such as GB/s or Gb/s")
    parser.add_argument(
        "--locality", metavar="FILE", help="read each host's leaf switch or rack from lines 'HOST LEAF'"
    )
    parser.add_argument(
        "--order",
        choices=("name", "locality", "similarity"),
        help="order of hosts (default: similarity as in find_slow_links: groups, then similar hosts together)",
    )
    parser.add_argument("--title", metavar="TEXT", default="Sweep over pairs of hosts")
    given = parser.parse_args(arguments)
    if given.html is None and given.png is None:
        parser.error("nothing to write; give --html FILE, --png FILE or both")
    if given.unit is not None and given.kind is None:
        parser.error("--unit is for --import; give --import KIND too")
    return given


def require_modules(given):
    """Restarts under the system's Python if only that one has the modules."""
    wanted = [name for name, path in (("jinja2", given.html), ("cairosvg", given.png)) if path is not None]
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if not missing:
        return
    if sys.executable != SYSTEM_PYTHON and os.access(SYSTEM_PYTHON, os.X_OK):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, __file__, *sys.argv[1:]])
    packages = " ".join(f"python3-{name}" for name in missing)
    quit_with(
        MISSING,
        f"{sys.executable} has no module {' and no module '.join(missing)}; install {packages}, "
        "or run scripts/install_deps.sh --with-tests",
    )


def quit_with(status, message):
    print(f"plot_sweep.py: {message}", file=sys.stderr)
    sys.exit(status)


def make_sheets(given, files, notices):
    records = read_records(files)
    for notice in notices + records.notices:
        print(f"plot_sweep.py: {notice}", file=sys.stderr)
    if not records.kinds:
        raise BadInput(f"{', '.join(given.records)}: no line of kind 'reading', so there is nothing to draw")
    if given.locality:
        records.leaf_of.update(read_leaves(given.locality))
    if given.order == "locality" and not knows_leaves(records):
        raise BadInput("--order locality: no leaf of any host is known; give --locality FILE, or leave --order out")
    if not any(readings.has_figures() for readings in records.kinds.values()):
        words = "no reading has a figure, so there is nothing to draw"
        raise BadInput("; ".join([words, *sheet.left_out(records)]))
    findings = (
        read_findings(given.verdict) if given.verdict else find_findings(files, given.locality, given.programs)
    )
    if given.order == "similarity" and not findings.order:
        raise BadInput(f"--order similarity: the verdict has no order of hosts; leave --order out. {findings.note}")
    axis = make_axis(records, given.order, findings)
    for finding in findings.listed:
        finding.place_on(axis)
    return sheet.make_sheets(records, axis, findings), sheet.left_out(records)


def write(given, sheets, notes):
    from sweep_plots import page

    title, subtitles = printable(given.title), [printable(page.subtitle_of(given.records)), *notes]
    for path, write_one in ((given.html, page.write_html), (given.png, page.write_png)):
        if path is not None:
            write_one(path, title, subtitles, sheets)


def main():
    given = parse_arguments(sys.argv[1:])
    require_modules(given)
    try:
        with files_of_records(given.records, given.kind, given.unit, given.programs) as (files, notices):
            write(given, *make_sheets(given, files, notices))
    except BadInput as error:
        quit_with(error.status, str(error))
    except OSError as error:
        quit_with(FAILED, f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
