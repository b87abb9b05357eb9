"""Runs scripts/plot.py in this process, and reads what it draws."""

import contextlib
import io
import re
import sys
import xml.etree.ElementTree
from unittest import mock

from reporting import SCRIPTS, USAGE, Reporting

import plot  # reporting has made it known where this is


class Plotting(Reporting):

    def plot(self, *words, status=0):
        """Runs the script in this process. Returns what it says."""
        out, err, ended_with = io.StringIO(), io.StringIO(), 0
        argv = [str(SCRIPTS / "plot.py"), *map(str, words)]
        with mock.patch.object(sys, "argv", argv), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), \
                mock.patch("report_page.page.library", return_value="the library"):
            try:
                plot.main()
            except SystemExit as end_of_it:
                ended_with = end_of_it.code
        self.assertEqual((ended_with, out.getvalue()), (status, ""), err.getvalue())
        return err.getvalue()

    def draw(self, *contents, ending=".svg", words=(), says=""):
        """Returns the file's path and contents."""
        files = [self.write(f"run{number}.jsonl", lines) for number, lines in enumerate(contents)]
        path = self.directory / f"plot{ending}"
        self.assertEqual(self.plot(*files, "-o", path, "--force", *words), says)
        return path.read_bytes()

    def texts_of(self, *contents, **how):
        """Those of an SVG."""
        return ["".join(text.itertext()).strip() for text in self.drawn_texts(*contents, **how)]

    def texts_with_places(self, *contents):
        """(text, x in points) of an SVG, without what has several lines."""
        places = [(text.text, re.match(r"rotate\(\S+ (\S+) ", text.get("transform", ""))) for text in self.drawn_texts(*contents)]
        return [(text, float(place[1])) for text, place in places if place]

    def drawn_texts(self, *contents, **how):
        root = xml.etree.ElementTree.fromstring(self.draw(*contents, **how))
        return root.iter("{http://www.w3.org/2000/svg}text")

    def sizes_with_places(self, *contents):
        return [(text, x) for text, x in self.texts_with_places(*contents) if re.fullmatch(r"\d+ ([KMGT]i)?B", text)]

    def refuse(self, message, *contents, status=USAGE, words=()):
        files = [self.write(f"run{number}.jsonl", lines) for number, lines in enumerate(contents)]
        path = self.directory / "refused.png"
        said = self.plot(*files, "-o", path, *words, status=status)
        self.assertFalse(path.exists())
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(message, said)
