"""fabricbench plot: pictures and pages of runs, and what cannot be drawn."""

import os
import re
import subprocess
import sys
from unittest import mock

from plotting import Plotting
from reporting import (FAILED, KIB, MIB, MISSING, NASTY, SCRIPTS, USAGE, Page, all_pairs, context, copy, end, measurement, row, rows,
                       run)  # fmt: skip

SIGNATURES = {".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-", ".svg": b"<?xml"}
POINTS_A_LETTER = 6  # of the 10 points high labels
LATENCY = {"program": "send_recv_lat", "figure": "latency"}


def both_places(sizes=(KIB, MIB)):
    return [row(size, measurement(2.0, size), measurement(3.0, size)) for size in sizes]


class Pictures(Plotting):  # 1 rank, 15 s

    def test_of_every_kind(self):
        for ending, signature in SIGNATURES.items():
            with self.subTest(ending):
                light = self.draw(run(), ending=ending)
                self.assertTrue(light.startswith(signature), light[:20])
                self.assertEqual(self.draw(run(), ending=ending), light, "the same again")
                self.assertNotEqual(self.draw(run(), ending=ending, words=["--dark"]), light)

    def test_have_both_figures_against_sizes_in_binary_units(self):
        texts = self.texts_of(run(*rows(sizes=(8, KIB, MIB, 64 * MIB))))
        self.assertLessEqual({"bus bandwidth (GB/s)", "time of one operation (us)", "message size", "8 B"}, set(texts))
        self.assertTrue({"1 MiB", "2 MiB", "4 MiB", "8 MiB"} & set(texts), texts)
        self.assertIn("all_reduce_perf: 2 ranks on 2 hosts, mpi", texts)

    def test_ticks_stand_at_powers_of_two(self):
        sizes = {text for text in self.texts_of(run(*rows(sizes=(24, KIB, 3 * KIB, 64 * KIB - 16))), run(*rows(sizes=(KIB - 16,))))
                 if text.endswith((" B", "iB"))}  # fmt: skip
        self.assertEqual(sizes, {"32 B", "64 B", "128 B", "256 B", "512 B", "1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB"})
        self.assertIn("1008 B", self.texts_of(run(*rows(sizes=(KIB - 16, KIB)))), "there is one power only")

    def test_sizes_that_are_nearly_equal_have_labels_of_their_own(self):
        for middle, labels in ((MIB, ["1048572 B", "1 MiB", "1048580 B"]), (1024 * MIB, ["1073741820 B", "1 GiB", "1073741828 B"])):
            lines = run(*rows(sizes=(middle - 4, middle, middle + 4)))
            self.assertEqual([text for text, _ in self.sizes_with_places(lines)], labels)
            page = Page(self.draw(lines, ending=".html").decode())
            self.assertEqual(page.figure("time")["layout"]["xaxis"]["ticktext"], labels)

    def test_labels_of_sizes_do_not_touch(self):
        for sizes in (range(1000, 2000, 12), range(1000000, 1500000, 10000), (8, 16, 1 << 40), [1 << power for power in range(40)],
                      (1000, 1001, 1002, 1900), [512 << power for power in range(12)]):  # fmt: skip
            drawn = self.sizes_with_places(run(*rows(sizes=sizes)))
            self.assertGreater(len(drawn), 1)
            for (left, at), (right, further) in zip(drawn, drawn[1:]):
                self.assertGreater(further - at, POINTS_A_LETTER * (len(left) + len(right)) / 2, f"{left} and {right}")

    def test_titles_of_axes_have_room_beside_long_labels(self):
        for time_us in (0.001, 30.0, 3e4, 3e6, 3e7, 3e10):
            lines = run(*[row(size, measurement(time_us * factor, size)) for size, factor in ((KIB, 1), (MIB, 9))])
            texts = self.texts_with_places(lines)
            places = dict(texts)
            for title in ("bus bandwidth (GB/s)", "time of one operation (us)"):
                self.assertGreater(places[title], 10, f"the top of its letters, at {time_us} us")
            longest = max((text for text, _ in texts if re.fullmatch(r"[\d,.]+(e[+-]\d+)?", text)), key=len)
            self.assertGreater(places[longest] - POINTS_A_LETTER * len(longest), places[title], longest)

    def test_a_latency_is_the_upper_figure(self):
        texts = self.texts_of(run(**LATENCY))
        self.assertLess(texts.index("latency (us)"), texts.index("bandwidth (GB/s)"))

    def test_curves_are_named(self):
        texts = self.texts_of(run(*both_places()))
        self.assertLessEqual({"out of place", "in place"}, set(texts))
        texts = self.texts_of(run(*both_places()), run(*rows(), program="all_gather_perf"))
        for end_of_name in ("out of place", "in place"):
            self.assertEqual(sum(text.startswith("all_reduce_perf, ") and text.endswith(end_of_name) for text in texts), 1)
        self.assertIn("all_reduce_perf, all_gather_perf: 2 ranks on 2 hosts, mpi", texts)

    def test_one_curve_needs_no_legend(self):
        texts = self.texts_of(run())
        self.assertEqual([text for text in texts if "place" in text or "whole job" in text], [])

    def test_the_rate_of_the_port(self):
        self.assertIn("rate of the port", self.texts_of(run(program="rdma_write_bw", figure="bandwidth", wire_rate_gb_per_s=50.0)))
        self.assertIn("bound", self.texts_of([context(program="gpu_copy_bw", figure="copies"), copy(size=KIB), copy(), end()]))

    def test_intervals_are_bands(self):
        with_bands, without = run(), run()
        for line in without:
            if line["kind"] == "row":
                line["out_of_place"] = {**line["out_of_place"], "time_us_interval": None}
        self.assertEqual(self.draw(with_bands).count(b"opacity: 0.18"), 2, "one in each figure")
        self.assertEqual(self.draw(without).count(b"opacity: 0.18"), 0)

    def test_rows_that_were_cut_short_are_marked(self):
        note = "Open marks: cut short; the median of the epochs until then."
        self.assertNotIn(note, self.texts_of(run()))
        self.assertIn(note, self.texts_of(run(*rows(), *[{**one, "size_bytes": 4 * MIB, "cut_short": True} for one in rows((MIB,))])))

    def test_titles_are_plain_text(self):
        title = f"$x_1$ and $HOME {NASTY}"
        self.assertIn(title, self.texts_of(run(), words=["--title", title]))
        texts = self.texts_of(run(program="_x$y$"), run(program="_x$y$", ranks=7))
        self.assertIn("_x$y$", texts)

    def test_more_curves_than_can_be_told_apart(self):
        many = [row(size, measurement(2.0, size), datatype=datatype)
                for datatype in ("int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double")
                for size in (KIB, MIB)]  # fmt: skip
        said = "plot.py: drawn are the 8 slowest of 9 curves; a page (.html) has all of them\n"
        note = "The first 8 of 9 series are drawn, the slowest ones; "
        texts = self.texts_of(run(*many), says=said)
        self.assertIn(f"{note}a page (.html) has all of them.", texts)
        self.assertEqual(len([text for text in texts if "place" in text]), 8)
        page = Page(self.draw(run(*many), ending=".html").decode())
        self.assertIn(f"{note}the legend has all.", page.markup)
        self.assertEqual(len([one for one in page.figure("time")["data"] if one.get("showlegend", True)]), 9)

    def test_long_notes_are_wrapped(self):
        many = [{**row(MIB, measurement(2.0, MIB), datatype=f"type{number}"), "cut_short": True} for number in range(9)]
        said = "plot.py: drawn are the 8 slowest of 9 curves; a page (.html) has all of them\n"
        texts = self.texts_of(run(*many), says=said)
        first = next(place for place, text in enumerate(texts) if text.startswith("The first 8 of 9 series"))
        self.assertEqual(" ".join(texts[first : first + 2]), "The first 8 of 9 series are drawn, the slowest ones; a page (.html) has "
                         "all of them. Open marks: cut short; the median of the epochs until then.")  # fmt: skip

    def test_nothing_is_said_where_matplotlib_cannot_keep_its_fonts(self):
        file, path = self.write("run.jsonl", run()), self.directory / "plot.svg"
        env = {name: value for name, value in os.environ.items() if name not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        done = subprocess.run([sys.executable, SCRIPTS / "plot.py", file, "-o", path], env={**env, "HOME": "/dev/null"}, check=False,
                              capture_output=True, text=True, timeout=300)  # fmt: skip
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertTrue(path.exists())

    def test_damaged_lines_are_reported(self):
        said = f"plot.py: {self.directory / 'run0.jsonl'}:6: no JSON from character 14 on; the line is cut off\n"
        self.draw([*run(), '{"kind":"row"'], says=said)


class Pages(Plotting):  # 1 rank, 5 s

    def test_have_both_figures_and_the_table(self):
        page = Page(self.draw(run(*both_places()), ending=".html").decode())
        self.assertEqual(len(page.plots), 2)
        for label, axis in (("bandwidth", "bus bandwidth (GB/s)"), ("time", "time of one operation (us)")):
            self.assertEqual(page.figure(label)["layout"]["yaxis"]["title"]["text"], axis)
            names = [trace["name"] for trace in page.figure(label)["data"] if trace.get("showlegend", True)]
            self.assertEqual(names, ["out of place", "in place"])

    def test_open_marks(self):
        cut = {**row(MIB, measurement(2.0, MIB)), "cut_short": True}
        page = Page(self.draw(run(row(KIB, measurement(1.0, KIB)), cut), ending=".html").decode())
        marked = [trace["marker"]["symbol"] for trace in page.figure("time")["data"] if "marker" in trace]
        self.assertEqual(marked, [["circle", "circle-open"]])

    def test_follow_the_browser(self):
        text = self.draw(run(), ending=".html").decode()
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertIn("<title>all_reduce_perf: 2 ranks on 2 hosts, mpi</title>", text)


class Refused(Plotting):  # 1 rank, 3 s

    def test_records_that_are_no_runs(self):
        self.refuse("no run here has figures for message sizes (records of kind: reading); give what a program wrote with --json",
                    all_pairs(("node1", "node2")))
        self.refuse("no run here has figures for message sizes (records of kind: context, end)", [context(), end()])
        self.refuse("no record in ", ["nothing\n"])

    def test_figures_that_do_not_compare(self):
        self.refuse("run1.jsonl has latencies (send_recv_lat), which do not compare; draw them apart, or take fabricbench report",
                    run(), run(**LATENCY))

    def test_no_file(self):
        self.refuse("nothing to read in ", status=MISSING, words=[self.directory / "none.jsonl"])

    def test_outputs(self):
        file = self.write("run.jsonl", run())
        for name, message in (("x.jpg", "ends in none of .png .svg .pdf .html"), ("x", "ends in none of .png .svg .pdf .html")):
            self.assertIn(message, self.plot(file, "-o", self.directory / name, status=USAGE))
        self.assertIn("--dark is for pictures", self.plot(file, "-o", self.directory / "x.html", "--dark", status=USAGE))
        self.assertIn("there is no folder", self.plot(file, "-o", self.directory / "none" / "x.png", status=MISSING))
        (self.directory / "x.png").write_text("mine")
        self.assertIn("exists; give another name, or --force", self.plot(file, "-o", self.directory / "x.png", status=USAGE))
        self.assertEqual((self.directory / "x.png").read_text(), "mine")

    def test_misspelt_options_come_before_missing_ones(self):
        for words, message in ((("--titel", "x"), "unknown option '--titel'; the nearest is --title; --help lists them all"),
                               (("--outpt=x.png",), "unknown option '--outpt'; the nearest is --output; --help lists them all"),
                               (("--tile", "--drak"), "unknown option '--tile'; the nearest is --title; --help lists them all"),
                               (("--zzz",), "unknown option '--zzz'; --help lists them all"),
                               (("-q",), "unknown option '-q'; --help lists them all"),
                               ((), "the following arguments are required: -o/--output")):  # fmt: skip
            self.assertEqual(self.plot("run.jsonl", *words, status=USAGE), f"plot.py: {message}\n")

    def test_values_that_look_like_options(self):
        for title in ("-5", "-- two words"):
            self.draw(run(), words=["--title", title])
        self.draw(run(), words=["--title=--titel"])

    def test_a_file_that_cannot_be_written(self):
        file = self.write("run.jsonl", run())
        with mock.patch("report_page.command.Path.write_bytes", side_effect=OSError(28, "No space left on device")):
            said = self.plot(file, "-o", self.directory / "x.png", status=FAILED)
        self.assertRegex(said, r"^plot.py: .*: No space left on device\n$")

    def test_without_matplotlib(self):
        with mock.patch("importlib.util.find_spec", return_value=None), \
                mock.patch("report_page.command.SYSTEM_PYTHON", sys.executable):
            self.refuse("no module matplotlib; install python3-matplotlib", run(), status=MISSING)
