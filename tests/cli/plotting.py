"""What tests of scripts/plot_sweep.py share: records to draw, and drawings read back."""

import io
import itertools
import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from collections import namedtuple
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
PLOT = SCRIPTS / "plot_sweep.py"
sys.path.append(str(SCRIPTS))

import plot_sweep  # noqa: E402  where the line above has it found
USAGE = 2
MIB = 1 << 20
SVG = "{http://www.w3.org/2000/svg}"
HEADLINE = "that is all"
NO_FINDINGS = {"kind": "verdict", "judged": "clean", "headline": HEADLINE, "findings": []}
Cell = namedtuple("Cell", "x y text css fill")


def reading(sender, receiver, rate=12.0, **changes):
    status = "timeout" if rate is None else "ok"
    return {
        "kind": "reading",
        "round": 0,
        "concurrent": 2,
        "from_host": sender,
        "to_host": receiver,
        "from_rail": None,
        "to_rail": None,
        "test": "send_recv_bibw",
        "size_bytes": 4 * MIB,
        "status": status,
        "both_ways": False,
        "bandwidth_gb_per_s": rate,
        "latency_us": None,
        "reason": None,
        "log": None,
        **changes,
    }


def all_pairs(hosts, rates=None, **changes):
    """`rates`: of (sender, receiver), where not 12 GB/s."""
    return [reading(*pair, rate=(rates or {}).get(pair, 12.0), **changes) for pair in itertools.permutations(hosts, 2)]


def finding(blame, hosts, **changes):
    """As find_slow_links --json has it."""
    return {
        "blame": blame,
        "direction": "both",
        "hosts": hosts,
        "rail": None,
        "leaf": None,
        "other_leaf": None,
        "text": f"{blame} {' '.join(hosts)}",
        "percent_of_expected": 80.0,
        "bandwidth_gb_per_s": 9.6,
        "expected_gb_per_s": 12.0,
        "readings": 6,
        "failed_readings": 0,
        "partners": 3,
        "false_alarm_probability": 1e-6,
        "confirmed": False,
        "reason": None,
        "to_settle": None,
        "next_commands": [],
        **changes,
    }


def slow(*findings):
    return {**NO_FINDINGS, "judged": "slow", "findings": list(findings)}


class Svg:
    """A drawing, read back."""

    def __init__(self, markup):
        self.root = ElementTree.fromstring(markup)

    def groups(self, css):
        return [group for group in self.root.iter(f"{SVG}g") if group.get("class") == css]

    def cells(self):
        return [
            Cell(
                float(one.get("x")), float(one.get("y")), one.findtext(f"{SVG}title"), one.get("class"), one.get("fill")
            )
            for one in self.groups("cells")[0]
        ]

    def cell(self, beginning):
        return next(cell for cell in self.cells() if cell.text.startswith(beginning))

    def within(self, group, tag, css):
        return [one for one in self.groups(group)[0].iter(f"{SVG}{tag}") if one.get("class") == css]

    def words(self, group=None):
        roots = [self.root] if group is None else self.groups(group)
        return [
            "".join(one.itertext()) if one.find(f"{SVG}title") is None else one.find(f"{SVG}title").tail
            for root in roots
            for one in root.iter(f"{SVG}text")
        ]

    def labels(self):
        """Of the rows, from above."""
        return [one.find(f"{SVG}title").tail for one in self.groups("names")[0] if one.get("text-anchor") == "end"]

    def sides(self):
        """For both panels the groups of the hosts, by the host's name."""
        return [
            {one.findtext(f"{SVG}title").partition(": ")[0]: one for one in panel if one.get("class") == "side"}
            for panel in self.groups("panel")
        ]


class Plotting(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fabricbench-plot-")
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)

    def write(self, name, lines):
        path = self.directory / name
        path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
        return path

    def run_plot(self, *arguments, status=0):
        """Runs the script in this process: to load its libraries takes most of the time of a run."""
        out, err, ended_with = io.StringIO(), io.StringIO(), 0
        words = [str(PLOT), *map(str, arguments)]
        with mock.patch.object(sys, "argv", words), redirect_stdout(out), redirect_stderr(err):
            try:
                plot_sweep.main()
            except SystemExit as end:
                ended_with = end.code
        self.assertEqual(ended_with, status, err.getvalue())
        return subprocess.CompletedProcess(words, ended_with, out.getvalue(), err.getvalue())

    def launch_plot(self, *arguments):
        """Runs it as a user does."""
        return subprocess.run([sys.executable, PLOT, *map(str, arguments)], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)

    def draw(self, records, *arguments, verdict=NO_FINDINGS):
        """Returns the drawings, and the page."""
        files = [self.write("records.jsonl", records), "--verdict", self.write("verdict.json", [verdict])]
        page = self.directory / "sweep.html"
        self.run_plot(*files, "--html", page, *arguments)
        return self.drawings(page), page.read_text()

    def drawings(self, page):
        return [Svg(markup) for markup in re.findall("<svg.*?</svg>", page.read_text(), re.DOTALL)]

    def draw_one(self, records, *arguments, **how):
        (drawing,), _ = self.draw(records, *arguments, **how)
        return drawing

    def refuse(self, records, *arguments, status=USAGE):
        """Returns what it says."""
        file = self.write("records.jsonl", records)
        result = self.run_plot(file, "--html", self.directory / "sweep.html", *arguments, status=status)
        self.assertFalse((self.directory / "sweep.html").exists())
        return result.stderr
