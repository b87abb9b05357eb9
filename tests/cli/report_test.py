"""scripts/report.py: what stands in a report, what is never shown as a pass, and what is refused."""

import base64
import itertools
import json
import re
import sys
import zlib
from array import array
from unittest import mock

from launch import PROGRAMS
from reporting import (FAILED, HEADLINE, KIB, MIB, MISSING, NASTY, OK, USAGE, Page, Reporting, acceptance_run, all_pairs,
                       baseline, baseline_comparison, connection_step, context, copy, end, finding, history_change,
                       measurement, question, reading, row, row_comparison, row_key, rows, run, slow_links, utc,
                       wires)  # fmt: skip

from report_page import alike_lines
from report_page.reading import read_file

FOUR = ["node1", "node2", "node3", "node4"]
NOT_JUDGED = "Not judged"


def cells_of(figure):
    """{(sender, receiver): GB/s} of a map."""
    trace = figure["data"][0]
    packed = trace["cells"]
    codes = array("H" if packed["bytes"] == 2 else "B", zlib.decompress(base64.b64decode(packed["data"])))
    if packed["bytes"] == 2 and sys.byteorder == "big":
        codes.byteswap()
    names = trace["x"]
    return {(names[place % len(names)], names[place // len(names)]): (code - 1) * packed["step"]
            for place, code in enumerate(codes) if code}  # fmt: skip


def state_of(page):
    return re.search(r'<p class="verdict \w+">.*?<strong>(.*?)</strong>', page.markup)[1]


class Verdict(Reporting):  # 1 rank, 1 s

    def test_a_run_beside_nothing_is_only_measured(self):
        page = self.report_on(run())
        self.assertEqual(state_of(page), "Measured, held against nothing")
        self.assertIn("exit status 0: every size was measured", page.texts["verdict"])

    def test_statuses(self):
        for status, state in ((6, "Slow"), (7, NOT_JUDGED), (5, "Wrong data"), (1, "Failed"), (4, "Failed"), (99, "Failed")):
            with self.subTest(status):
                page = self.report_on(run(status=status))
                self.assertEqual(state_of(page), state)
                self.assertIn(f"exit status {status}: the reason of status {status}", page.texts["verdict"])

    def test_wrong_data_never_pass(self):
        self.assertEqual(state_of(self.report_on([context(), *rows(), end(wrong_checks=1)])), "Wrong data")
        self.assertEqual(state_of(self.report_on([context(), *rows(), end(fast_enough=False)])), "Slow")
        self.assertEqual(state_of(self.report_on([context(), *rows(), end(fast_enough=True)])), "Accepted")

    def test_a_run_beside_a_baseline(self):
        for status, state in ((0, "Accepted"), (6, "Slow"), (7, NOT_JUDGED)):
            page = self.report_on([context(), *rows(), row_comparison(), baseline_comparison(status), end(status)])
            self.assertEqual(state_of(page), state)
            self.assertIn(HEADLINE, page.texts["verdict"])

    def test_the_worst_decides(self):
        page = self.report_on(run(status=6), run(), [slow_links(judged="clean")])
        self.assertEqual(state_of(page), "Slow")
        self.assertEqual([cells[1].split(" ", 1)[1] for cells in page.rows("What was judged")],
                         ["Slow", "Measured, held against nothing", "Accepted"])  # fmt: skip

    def test_pairs(self):
        for judged, state in (("clean", "Accepted"), ("slow", "Slow"), ("unknown", NOT_JUDGED)):
            page = self.report_on(all_pairs(FOUR) + [slow_links(judged=judged)])
            self.assertEqual(state_of(page), state)

    def test_baselines_alone_are_no_verdict(self):
        page = self.report_on(baseline(3))
        self.assertEqual(state_of(page), NOT_JUDGED)
        self.assertIn("these are baselines only, with 3 launches", page.texts["verdict"])

    def test_an_acceptance_run(self):
        self.assertEqual(self.run_report(acceptance_run(self.directory / "results")), "")
        page = Page(self.page.read_text())
        self.assertEqual(state_of(page), "Slow")
        self.assertIn("5 of 8 hosts accepted; node03 slow to send", page.texts["verdict"])
        hosts = page.rows("Hosts to drain, to look at and to admit")
        self.assertEqual([cells[:2] for cells in hosts[:3]], [["node03", "✗ drain"], ["node08", "? undecided"], ["node01", "✓ admit"]])
        self.assertIn("baseline results/site.jsonl", page.texts["verdict"])
        self.assertEqual([section for section in page.texts if section],
                         ["verdict", "curves", "distributions", "pairs", "nics", "ranks", "history", "changes", "configuration"])  # fmt: skip

    def test_an_acceptance_run_that_was_broken_off(self):
        folder = acceptance_run(self.directory / "results", exit_status=OK)
        file = folder / "acceptance.jsonl"
        file.write_text("".join(line for line in file.read_text().splitlines(True) if "acceptance_verdict" not in line))
        self.run_report(folder)
        self.assertIn("it was broken off before its verdict", self.page.read_text())


    def test_a_good_end_alone_is_no_pass(self):
        later = {**context(), "schema_version": 99}
        for lines, state in (([context(), end()], NOT_JUDGED),
                             ([context(), row(8, {**measurement(3.0, 8), "wrong_elements": 7}), end()], "Wrong data"),
                             ([context(), *rows(), row(8, {**measurement(3.0, 8), "time_us_median": None}), end()], NOT_JUDGED),
                             ([context(), *rows(), end(), later], NOT_JUDGED)):
            self.run_report(self.write("run.jsonl", lines), "--force")
            self.assertEqual(state_of(Page(self.page.read_text())), state)


class Damage(Reporting):  # 1 rank, 1 s
    """Nothing that is missing passes, and all else is shown."""

    def report_on_damaged(self, *contents):
        files = [self.write(f"results{number}.jsonl", lines) for number, lines in enumerate(contents)]
        said = self.run_report(*files, "--force")
        page = Page(self.page.read_text())
        self.assertEqual(state_of(page), NOT_JUDGED)
        return said, page

    def test_a_run_without_an_end(self):
        said, page = self.report_on_damaged([context(), *rows()])
        self.assertIn("results0.jsonl: the run of all_reduce_perf has no end", said)
        self.assertIn("the run was killed or is still running", page.texts["verdict"])
        self.assertEqual(len(page.rows("all_reduce_perf: all rows")), 3)

    def test_epochs_of_a_killed_run_are_shown(self):
        epochs = [{"kind": "epoch", "size_bytes": KIB, "datatype": "float", "reduction": "sum", "root": -1, "group": 0,
                   "in_place": False, "epoch": number, "time_us_median": 10.0 + number, "samples": 9, "late_starts": 0}
                  for number in range(3)]  # fmt: skip
        _, page = self.report_on_damaged([context(), *epochs])
        self.assertEqual(page.rows("all_reduce_perf: all rows")[0][1:3], ["1 KiB", "11.00"])

    def test_damaged_lines(self):
        lines = run(status=OK)
        for damage, words in (
            ("not json\n", "results0.jsonl:3: no JSON from character 1 on"),
            ('{"kind":"row"', "results0.jsonl:3: "),
            ('{"kind":"row","size_bytes":"many"}\n', "row: 'size_bytes' cannot be"),
            ('{"kind":"row","size_bytes":null}\n', "the row has no size"),
            ('{"kind":"epoch","time_us_median":NaN}\n', "is not a number"),
            ('{"kind":"of tomorrow"}\n', "not a record"),
            ("[1]\n", "not a record"),
        ):
            with self.subTest(damage):
                said, page = self.report_on_damaged([*lines[:2], damage, *lines[2:]])
                self.assertIn(words, said)
                self.assertIn("all_reduce_perf: all rows", page.tables)
                self.assertIn("Damaged or missing parts, which count as not judged", page.tables)

    def test_figures_that_cannot_be(self):
        for old, new, words in (('"time_us_median": 2.0004', '"time_us_median": -5', "bytes has no time, and is left out"),
                                ('"exit_status": 0', '"exit_status": null', "the end of the run has no exit status")):
            with self.subTest(new):
                lines = [json.dumps(line).replace(old, new) + "\n" for line in run(status=OK)]
                self.assertTrue(any(new in line for line in lines), lines[1])
                said, page = self.report_on_damaged(lines)
                self.assertIn(words, said)
                self.assertIn("Damaged or missing parts, which count as not judged", page.tables)

    def test_damaged_readings(self):
        for damage, words in (
            ('{"kind":"reading","from_host":"a"}\n', "there is no 'status'"),
            ('{"kind":"reading","status":"ok"', "the line is cut off"),
            (reading("node1", "node1"), "'node1' is both from_host and to_host"),
            (reading("node1", "node2", status="odd"), "status 'odd' is none of"),
            (reading("node1", "node2", -3.0), "bandwidth_gb_per_s -3.0 is not a rate"),
            (reading("node1", 7), "to_host is not a name"),
            (reading("node1", "node2", None, status="ok"), "1 reading left out: succeeded without a bandwidth"),
        ):
            with self.subTest(damage):
                said, page = self.report_on_damaged([*all_pairs(FOUR), damage], [slow_links()])
                self.assertIn(words, said)
                self.assertEqual(len(cells_of(page.figure("Map"))), 12)

    def test_an_empty_file_beside_others(self):
        said, page = self.report_on_damaged(run(), [])
        self.assertEqual(said, "report.py: results1.jsonl: the file is empty\n".replace("results1", str(self.directory / "results1")))
        self.assertIn(["results1.jsonl", "nothing", "✗ 1 problem"],
                      [[cells[0].rpartition("/")[2], *cells[1:]] for cells in page.rows("Files")])  # fmt: skip

    def test_a_missing_file_beside_others(self):
        file = self.write("run.jsonl", [context(), *rows(), end(fast_enough=True)])
        said = self.run_report(file, self.directory / "none.jsonl")
        self.assertIn("none.jsonl: No such file or directory", said)
        self.assertEqual(state_of(Page(self.page.read_text())), NOT_JUDGED)

    def test_baselines_that_lack_something(self):
        said, _ = self.report_on_damaged(baseline(3)[:-4])
        self.assertIn("the baseline should have 3 launches and has 2", said)
        said, _ = self.report_on_damaged(baseline(3)[:-1])
        self.assertIn(f"the launch of {utc(4)} should have 3 rows and has 2", said)
        said, _ = self.report_on_damaged([context(), *rows(), row_comparison(), end()])
        self.assertIn("the comparison did not end", said)

    def test_only_some_problems_are_said(self):
        said, page = self.report_on_damaged([*run(), *["x\n"] * 300])
        self.assertEqual(said.count("\n"), 21)
        self.assertIn("and 280 more problems; the report lists them", said)
        self.assertEqual(len(page.rows("Damaged or missing parts, which count as not judged")), 200)


IDENTITY = {"backend": "mpi", "binding": "2 x processors 0", "hosts": "node[1-2]", "library": "an MPI",
            "order_of_ranks": "host by host", "processors": "a processor", "ranks": "2", "ranks_per_host": "2 x 1 ranks",
            "rdma_ports": "4 x infiniband up 400000 Mbit/s, mlx5_core, firmware 28.39.1002",
            "switches": "spine1 leaf1: node[1-2]", "timing": "pipelined"}  # fmt: skip


class Compared(Reporting):  # 1 rank, 1 s
    """Runs that are given with a baseline."""

    def compare(self, *runs, launches=9, said=""):
        files = [self.write("site.jsonl", baseline(launches, noise=0.0001, **IDENTITY))]
        files += [self.write(f"today{number}.jsonl", lines) for number, lines in enumerate(runs, 1)]
        words = self.run_report(*files, "--force", "--programs", PROGRAMS)
        (self.assertIn if said else self.assertEqual)(said, words)
        return Page(self.page.read_text())

    def today(self, factor=1.0, day=40, **changes):
        return run(*rows(latency_us=2 * factor, gb_per_s=20 / factor), started_utc=utc(day), **changes)

    def judged(self, page):
        return [(cells[0].rpartition("/")[2], cells[1].split(" ", 1)[1]) for cells in page.rows("What was judged")]

    def test_slower(self):
        page = self.compare(self.today(1.25))
        self.assertEqual(state_of(page), "Slow")
        self.assertRegex(page.texts["verdict"], r"all_reduce_perf beside \S+site.jsonl: 3 of 3 rows slower than the baseline")
        self.assertEqual({cells[-2] for cells in page.rows("all_reduce_perf: all rows")}, {"✗ slower"})
        self.assertIn("baseline of out of place", {trace.get("name") for trace in page.figure("all_reduce_perf")["data"]})

    def test_same(self):
        page = self.compare(self.today())
        self.assertEqual(state_of(page), "Accepted")
        self.assertEqual(self.judged(page), [("site.jsonl", "Accepted"), ("today1.jsonl", "Accepted")])
        self.assertRegex(page.texts["verdict"], r"Accepted\s+all_reduce_perf beside \S+: no row is slower than the baseline")

    def test_several_launches(self):
        page = self.compare(self.today(1.25), self.today(1.25, 41), self.today(1.25, 42))
        self.assertEqual(state_of(page), "Slow")
        self.assertIn("baseline_comparison", "".join(cells[1] for cells in page.rows("Files")))
        self.assertEqual({cells[-2] for cells in page.rows("all_reduce_perf: all rows")}, {"✗ slower"})
        names = [trace["name"] for trace in page.figure("all_reduce_perf: 3 series")["data"] if "name" in trace]
        self.assertEqual(sum(name.startswith("baseline of") for name in names), 1)
        page = self.compare(self.today(), self.today(1.0, 41), self.today(1.0, 42))
        self.assertEqual(state_of(page), "Accepted")
        self.assertEqual([state for _, state in self.judged(page)], ["Accepted"] * 4)

    def test_programs_are_compared_apart(self):
        page = self.compare(self.today(1.25), self.today(program="broadcast_perf"))
        self.assertEqual(state_of(page), "Slow")
        self.assertEqual([state for name, state in self.judged(page) if name == "site.jsonl"], ["Slow", NOT_JUDGED])
        self.assertEqual({cells[-2] for cells in page.rows("all_reduce_perf: all rows")}, {"✗ slower"})
        self.assertNotIn("✗ slower", {cells[-2] for cells in page.rows("broadcast_perf: all rows")})

    def test_another_configuration_is_not_judged(self):
        page = self.compare(self.today(backend="nccl"))
        self.assertEqual(state_of(page), NOT_JUDGED)
        self.assertIn("no launch of the baseline is comparable; these differ: backend", page.texts["verdict"])
        self.assertEqual(page.rows("all_reduce_perf beside " + str(self.directory / "site.jsonl") +
                                   ": configuration beside the baseline's")[0][1:], ["backend", "mpi", "nccl"])  # fmt: skip

    def test_refused(self):
        lines = self.today()
        lines[0] = {**lines[0], "schema_version": 0}
        page = self.compare(lines, said="runs are not compared: fabricbench compare refuses: ")
        self.assertEqual(state_of(page), NOT_JUDGED)
        self.assertRegex(page.texts["verdict"], r"not compared: fabricbench compare refuses: \S+today1.jsonl:1: the context has no schema_version")

    def test_a_baseline_of_few_launches_is_not_judged(self):
        page = self.compare(self.today(), launches=4)
        self.assertEqual(state_of(page), NOT_JUDGED)
        self.assertIn("the baseline has 4 comparable launches, too few to know its noise", page.texts["verdict"])

    def test_without_the_program(self):
        with mock.patch("report_page.comparing.path_of_program", return_value=None):
            page = self.compare(self.today(), said="runs are not compared: there is no fabricbench in build/ or on the PATH")
        self.assertEqual(state_of(page), NOT_JUDGED)

    def test_a_failed_run_is_judged_by_its_end(self):
        page = self.compare(self.today(), self.today(status=5))
        self.assertEqual(state_of(page), "Wrong data")
        self.assertIn(("site.jsonl", "Accepted"), self.judged(page))

    def test_runs_that_were_compared_are_not_compared_again(self):
        own = [context(started_utc=utc(40)), *rows(), row_comparison(), baseline_comparison(6), end(6)]
        with mock.patch("report_page.comparing.run_compare", side_effect=AssertionError("it was called")):
            self.assertEqual(state_of(self.compare(own)), "Slow")
            self.assertEqual(state_of(self.compare(self.today(), [row_comparison(), baseline_comparison(6)])), "Slow")
            sweep = [context(FOUR, program="pairwise_bw", figure="sweep"), *all_pairs(FOUR), slow_links(), end()]
            self.assertEqual(state_of(self.compare(sweep)), "Accepted")


class Curves(Reporting):  # 1 rank, 1 s

    def traces(self, figure):
        return {trace["name"]: trace for trace in figure["data"] if "name" in trace}

    def test_bandwidth_and_time_with_intervals(self):
        page = self.report_on(run())
        rates, times = page.plots["all_reduce_perf: 1 series against message size"]
        self.assertEqual(rates["layout"]["xaxis"]["ticktext"], ["8 B", "1 KiB", "1 MiB"])
        self.assertEqual({axis["type"] for figure in (rates, times) for axis in (figure["layout"]["xaxis"], figure["layout"]["yaxis"])},
                         {"log"})  # fmt: skip
        band, line = times["data"]
        self.assertAlmostEqual(line["y"][1], 2 + KIB / 20000)
        self.assertEqual(band["x"], [8, KIB, MIB, MIB, KIB, 8])
        self.assertAlmostEqual(band["y"][0] / line["y"][0], 1.08)
        self.assertAlmostEqual(band["y"][-1] / line["y"][0], 0.95)
        band, line = rates["data"]
        self.assertAlmostEqual(band["y"][0] / line["y"][0], 1 / 0.95)  # the shortest time has the highest rate
        self.assertIn("95 % interval", line["text"][0])

    def test_the_baseline_is_drawn_in(self):
        lines = [context(), *rows(), *(row_comparison(size, "slower", 1.25) for size in (8, KIB, MIB)), baseline_comparison(6), end(6)]
        page = self.report_on(lines)
        rates, times = page.plots["all_reduce_perf: 1 series against message size"]
        usual = self.traces(times)["baseline of out of place"]
        self.assertEqual(usual["y"], [2.0 + size / 20000 for size in (8, KIB, MIB)])
        self.assertEqual(self.traces(rates)["baseline of out of place"]["line"]["dash"], "dash")
        self.assertIn(["out of place", "1 KiB"], [cells[:2] for cells in page.rows("all_reduce_perf: all rows")])
        self.assertEqual({cells[-2] for cells in page.rows("all_reduce_perf: all rows")}, {"✗ slower"})

    def test_bounds_are_drawn_in(self):
        page = self.report_on([context(program="rdma_write_bw", figure="bandwidth", wire_rate_gb_per_s=50.0), *rows(), end()],
                              [context(program="gpu_copy_bw", figure="copies"), copy(), copy(size=KIB), end()])  # fmt: skip
        self.assertEqual(self.traces(page.figure("rdma_write_bw"))["rate of the port"]["y"], [50.0, 50.0])
        self.assertEqual(self.traces(page.figure("gpu_copy_bw"))["bound"]["y"], [63.0, 63.0])
        self.assertEqual(page.rows("gpu_copy_bw: all rows")[0][-2], "79.4 %")

    def test_limits_of_links_are_drawn_in(self):
        """Rows of expectations may have the path latency, which is not a figure of the curves."""
        for path in ({}, {"path_latency_us": None}, {"path_latency_us": 1.5}):
            expected = [{"kind": "row_expectation", **{key: value for key, value in row_key(size).items()}, "verdict": "reached",
                         "busbw_gb_per_s": 11.0, "expected_gb_per_s": 11.8, "limit_gb_per_s": 12.5, "share_percent": 93.0, **path}
                        for size in (8, KIB, MIB)]  # fmt: skip
            outcome = {"kind": "expectation", "exit_status": 0, "headline": "reached", "required_percent": 80.0, "links": "1 x 100 Gbit/s",
                       "payload_gb_per_s": 11.8}  # fmt: skip
            page = self.report_on([context(), *rows(), *expected, outcome, end()])
            self.assertEqual(self.traces(page.figure("all_reduce_perf"))["bound"]["y"], [12.5] * 3)
            self.assertEqual(page.rows("all_reduce_perf: what the links allow")[0][-1], "reached")

    def test_latency_comes_first_where_it_is_the_subject(self):
        page = self.report_on(run(program="send_recv_lat", figure="latency"))
        self.assertEqual(page.figure("send_recv_lat")["layout"]["yaxis"]["title"]["text"], "latency (us)")

    def test_sizes_without_bytes_have_rows_and_no_curve(self):
        page = self.report_on([context(program="barrier_perf"), row(0, measurement(3.0, 0)), end()])
        self.assertEqual([label for label in page.plots if label.startswith("barrier_perf")], [])
        self.assertEqual(page.rows("barrier_perf: all rows")[0][1:3], ["0 B", "3.000"])

    def test_skipped_sizes_have_their_reason(self):
        page = self.report_on([context(), *rows(), row(2, skipped="less than an element"), end()])
        self.assertEqual(page.rows("all_reduce_perf: sizes that were not measured")[0][-1], "less than an element")

    def test_several_runs_of_a_program_share_a_plot(self):
        page = self.report_on(run(options={"label": "monday"}), run(options={"label": "tuesday"}))
        names = set(self.traces(page.figure("all_reduce_perf: 2 series")))
        self.assertEqual(names, {"monday: out of place", "tuesday: out of place"})

    def test_many_series_do_not_hide_each_other(self):
        groups = [{"ranks": f"{number}, {number + 1}", "hosts": "a, b", "ports": None, "round": 0} for number in range(20)]
        lines = [one for number in range(20) for one in rows(gb_per_s=20 - number / 2)]
        for place, line in enumerate(lines):
            line["group"] = place // 3
        page = self.report_on([context(groups=groups, program="multi_pair_bw", figure="bandwidth"), *lines, end()])
        drawn = [trace["name"] for trace in page.figure("multi_pair_bw")["data"] if trace.get("visible") is True and "name" in trace]
        self.assertEqual(len(drawn), 8)
        self.assertEqual(drawn[0], "ranks 19, 20 (a, b)")  # the slowest


class Sections(Reporting):  # 1 rank, 1 s

    def test_distributions(self):
        samples = [float(number) for number in range(1, 1001)]
        page = self.report_on([context(), row(KIB, measurement(samples_us=samples)), end()])
        box = page.figure("Distributions of the times")["data"][0]
        self.assertEqual((box["type"], len(box["y"])), ("box", 9))
        curve = page.figure("Share of samples")["data"][0]
        self.assertEqual((curve["x"][-1], curve["y"][-1]), (1000.0, 100.0))
        self.assertLessEqual(len(curve["x"]), 400)
        self.assertEqual(page.rows("Epochs and percentiles of all rows, times in us")[0][8], "15.00")  # 99 %

    def test_steps_of_connections(self):
        page = self.report_on([context(program="rdma_cm_connect", figure="connections"), connection_step(),
                               connection_step("disconnect", None, problem="refused"), end()])  # fmt: skip
        self.assertEqual(page.figure("Times of the steps")["data"][1]["y"], [120.0])
        self.assertEqual(page.rows("Steps of connections, times in us")[1][-1], "refused")

    def test_shares_of_nics(self):
        carried = wires({"node1": {"mlx5_0:1": 300, "mlx5_1:1": 100, "lo": 10**6, "eth0": 0}})
        page = self.report_on([context(), row(KIB, measurement(wires=carried)), end()])
        self.assertEqual([(trace["name"], trace["x"]) for trace in page.figure("Share of each network device")["data"]],
                         [("mlx5_0:1", [75.0]), ("mlx5_1:1", [25.0])])  # fmt: skip
        self.assertEqual([cells[-1] for cells in page.rows("Bytes of each device")], ["? 1.50 times", "? 0.50 times"])

    def test_slow_ranks(self):
        page = self.report_on(run(*rows(ranks=4), hosts=FOUR))
        first = page.rows("Ranks, the slowest first")[0]
        self.assertEqual(first[1:6], ["3", "node4", "10.0 %", "3", "3"])
        (trace,) = page.figure("Time of each rank")["data"]
        self.assertEqual([round(over, 6) for over in trace["y"]], [0, 0, 0, 10])

    def test_history_with_change_points(self):
        lines = [context(started_utc=utc(40)), *rows(), row_comparison(KIB, "slower", 1.2), history_change(KIB), history_change(None, 1.03),
                 baseline_comparison(6), end(6)]  # fmt: skip
        page = self.report_on(baseline(12, slower_from=9), lines)
        together, *of_rows = next(figures for label, figures in page.plots.items() if label.startswith("History"))
        self.assertEqual(len(together["data"][0]["x"]), 12)
        self.assertEqual([note["text"] for note in together["layout"]["annotations"]], ["+3.0 % from here on"])
        marked = [figure for figure in of_rows if figure["layout"]["annotations"]]
        self.assertEqual([figure["layout"]["annotations"][0]["text"] for figure in marked], ["+8.0 % from here on"])
        self.assertEqual(marked[0]["data"][1]["x"], [utc(40)])
        self.assertEqual(page.rows("Lasting changes")[0][1:4], ["float, sum, out of place, 1 KiB", utc(20), "✗ +8.0 %"])
        changed = next(rows_of for caption, rows_of in page.tables.items() if caption.endswith("changes between launches"))
        self.assertEqual(changed[1:], [[utc(16), "kernel", "6.1.0", "6.1.1"]])

    def test_launches_of_other_configurations_are_apart(self):
        page = self.report_on(baseline(2, library="one") , baseline(2, library="other"))
        self.assertEqual(len([label for label in page.plots if label.startswith("History")]), 2)

    def test_what_changed(self):
        outcome = baseline_comparison(7, differences=[{"key": "option unalign", "before": "0", "now": "1"}],
                                      circumstances=[{"key": "kernel", "before": "6.1.0", "now": None}], missing=[row_key(64)])  # fmt: skip
        page = self.report_on([context(), *rows(), row_comparison(KIB, "slower", 1.2), row_comparison(MIB, algorithm_before="RING",
                               algorithm="TREE"), outcome, end(7)])  # fmt: skip
        table = next(rows_of for caption, rows_of in page.tables.items() if "configuration beside" in caption)
        self.assertEqual([cells[1:] for cells in table[1:]], [["option unalign", "0", "1"], ["kernel", "6.1.0", "–"]])
        table = next(rows_of for caption, rows_of in page.tables.items() if "on one side only" in caption)
        self.assertEqual(table[1][-1], "64 B")
        table = next(rows_of for caption, rows_of in page.tables.items() if caption.endswith("rows beside the baseline"))
        self.assertEqual((table[1][-2], table[2][-1]), ("✗ slower", "was RING, is TREE"))
        self.assertTrue(any("1 slower, 1 same" in label for label in page.plots))

    def test_every_plot_has_a_label_and_a_table(self):
        self.run_report(acceptance_run(self.directory / "results"))
        page = Page(self.page.read_text())
        canvases = [attributes for _, attributes in page.tags if attributes.get("class", "").startswith("canvas")]
        self.assertEqual(len(canvases), len(page.plots))
        self.assertTrue(all(canvas["role"] == "img" and len(canvas["aria-label"]) > 30 for canvas in canvases))
        order = [tag for tag, attributes in page.tags if tag == "figure" or tag == "table"]
        self.assertNotEqual(order[-1], "figure")
        for section in re.findall(r"<section.*?</section>", page.markup, re.DOTALL):
            self.assertTrue("<figure" not in section or "<table" in section.rpartition("</figure>")[2])
        self.assertTrue({"curves", "pairs", "history"} <= {attributes.get("id") for _, attributes in page.tags})

    def test_all_headings_can_be_sorted_and_are_labelled(self):
        page = self.report_on(run())
        headings = [attributes for tag, attributes in page.tags if tag == "th"]
        self.assertEqual({attributes["aria-sort"] for attributes in headings}, {"none"})
        self.assertEqual({attributes["scope"] for attributes in headings}, {"col"})


class Pairs(Reporting):  # 1 rank, 1 s

    def test_map(self):
        page = self.report_on(all_pairs(FOUR, {("node1", "node3"): 7.125}) + [slow_links()])
        cells = cells_of(page.figure("Map"))
        self.assertEqual(len(cells), 12)
        self.assertAlmostEqual(cells["node1", "node3"], 7.125, places=3)
        self.assertAlmostEqual(cells["node3", "node1"], 12.0, places=3)
        self.assertEqual(page.rows("Slowest pairs")[0], ["node1", "node3", "send_recv_bibw, 4 MiB", "7.125", "1", "0"])
        self.assertIn("12 readings, none failed; median 12.00 GB/s, from 7.125 to 12.00", page.texts["pairs"])

    def test_the_order_is_that_of_the_verdict(self):
        page = self.report_on(all_pairs([*FOUR, "node10"]) + [slow_links(order=FOUR[::-1])])
        self.assertEqual(page.figure("Map")["data"][0]["x"], FOUR[::-1] + ["node10"])
        page = self.report_on(all_pairs(["node10", *FOUR]) + [slow_links()])
        self.assertEqual(page.figure("Map")["data"][0]["x"], FOUR + ["node10"])

    def test_findings_are_outlined_and_listed(self):
        verdict = slow_links(finding("host", ["node2"], direction="sends"), finding("host", ["node3"], direction="receives"),
                             finding("pair", ["node1", "node4"]), finding("transient", ["node4"], direction="sends"),
                             order=FOUR, questions=[question("node1", "node2")])  # fmt: skip
        page = self.report_on(all_pairs(FOUR) + [verdict])
        layout = page.figure("Map")["layout"]
        outlines = [(shape["x0"] + 0.5, shape["x1"] + 0.5, shape["y0"] + 0.5, shape["y1"] + 0.5, shape["line"]["dash"])
                    for shape in layout["shapes"]]  # fmt: skip
        self.assertEqual(outlines, [(1, 2, 0, 4, "solid"), (0, 4, 2, 3, "solid"), (0, 1, 3, 4, "solid"), (3, 4, 0, 1, "solid"),
                                    (3, 4, 0, 4, "dash"), (0, 1, 1, 2, "dot"), (1, 2, 0, 1, "dot")])  # fmt: skip
        tags = [note["text"] for note in layout["annotations"] if note.get("look") == "tag"]
        self.assertEqual(tags, ["1", "2", "3", "3", "4"])
        listed = page.rows("Findings, by their numbers on the map")
        self.assertEqual(listed[0][:4], ["1", "host", "node2", "sends"])
        self.assertIn("9.60 GB/s where 12.0 are expected", listed[0][4])
        hosts = {cells[0]: cells[-1] for cells in page.rows("Hosts as senders and receivers, GB/s")}
        self.assertEqual(hosts, {"node1": "✗ 3", "node2": "✗ 1", "node3": "✗ 2", "node4": "✗ 3, 4"})

    def test_groups_are_framed(self):
        groups = [{"name": "leaf1", "hosts": FOUR[:2]}, {"name": "leaf2", "hosts": FOUR[2:]}]
        verdict = slow_links(finding("leaf", [], leaf="leaf2"), order=FOUR, groupings=[{"given": True, "groups": groups}])
        shapes = self.report_on(all_pairs(FOUR) + [verdict]).figure("Map")["layout"]["shapes"]
        self.assertEqual([(shape["look"], shape["x0"], shape["x1"]) for shape in shapes],
                         [("group", -0.5, 1.5), ("group", 1.5, 3.5), ("finding", 1.5, 3.5), ("finding", -0.5, 3.5)])  # fmt: skip

    def test_failures_and_pairs_that_were_not_tried(self):
        lines = all_pairs(FOUR[:3], {("node1", "node2"): None}, reason="refused") + [
            reading("node4", "node1", None, status="not_tried", reason="node4 timed out")]  # fmt: skip
        page = self.report_on(lines + [slow_links()])
        self.assertNotIn(("node1", "node2"), cells_of(page.figure("Map")))
        self.assertEqual([(trace["x"], trace["y"], trace["text"]) for trace in page.figure("Map")["data"][2:]],
                         [(["node1"], ["node2"], ["failed: refused"]), (["node4"], ["node1"], ["not tried: node4 timed out"])])
        self.assertEqual(page.rows("Failed pairs")[0], ["node1", "node2", "send_recv_bibw, 4 MiB", "✗ failed", "refused"])

    def test_median_of_several_and_both_ways(self):
        lines = [reading("a", "b", rate, round=number) for number, rate in enumerate((11.0, 4.0, 12.0))]
        cells = cells_of(self.report_on(lines + [slow_links()]).figure("Map"))
        self.assertAlmostEqual(cells["a", "b"], 11.0, places=3)
        cells = cells_of(self.report_on([reading("a", "b", 20.0, both_ways=True), slow_links()]).figure("Map"))
        self.assertEqual({pair: round(rate, 3) for pair, rate in cells.items()}, {("a", "b"): 20.0, ("b", "a"): 20.0})

    def test_a_view_of_each_kind(self):
        lines = [line for size in (4096, 4 * MIB) for rail in ("mlx5_0", "mlx5_1")
                 for line in all_pairs(FOUR, size_bytes=size, from_rail=rail, to_rail=rail)]  # fmt: skip
        failed = all_pairs(FOUR, {(one, other): None for one in FOUR for other in FOUR}, from_rail="mlx5_2", reason="refused")
        page = self.report_on(lines + failed + [slow_links(finding("nic", ["node2"], rail="mlx5_1"))])
        figures = next(figures for label, figures in page.plots.items() if label.startswith("Map"))
        self.assertEqual([len(figure["layout"]["shapes"]) for figure in figures], [0, 2, 0, 2])
        self.assertIn("rail mlx5_2 to any: 12 readings, none with a figure; the first one: failed: refused", page.texts["pairs"])

    def test_endpoints_of_a_host(self):
        lines = [context(["a", "b"], 2, program="pairwise_bw", figure="sweep")] + [
            {**reading("ab"[one // 2], "ab"[other // 2]), "from": one, "to": other, "from_rank": one, "to_rank": other}
            for one in range(4) for other in range(4) if one != other
        ] + [end()]  # fmt: skip
        self.assertEqual(self.report_on(lines + [slow_links()]).figure("Map")["data"][0]["x"], ["a:r0", "a:r1", "b:r2", "b:r3"])

    def test_the_verdict_of_the_run_itself(self):
        found = {"blame": "host", "direction": "sends", "endpoints": ["node2"], "percent_of_expected": 80.0,
                 "bandwidth_gb_per_s": 9.6, "expected_gb_per_s": 12.0, "readings": 6, "failed_readings": 0, "partners": 3,
                 "text": "node2 sends slowly"}  # fmt: skip
        verdict = {"kind": "verdict", "judged": "slow", "why_over": "all is known", "findings": [found], "open": [], "not_judged": []}
        lines = [context(FOUR, program="pairwise_bw", figure="sweep"), *all_pairs(FOUR), verdict, end(6)]
        with mock.patch("report_page.judging.path_of_program", return_value=None):
            file = self.write("sweep.jsonl", lines)
            self.assertIn("pairs are not judged: there is no find_slow_links", self.run_report(file))
        page = Page(self.page.read_text())
        self.assertEqual(state_of(page), "Slow")
        self.assertIn("node2 sends slowly", page.rows("Findings, by their numbers on the map")[0][4])

    def test_without_a_verdict_find_slow_links_judges(self):
        hosts = [f"node{number}" for number in range(1, 9)]
        lines = all_pairs(hosts, {("node3", other): 6.0 for other in hosts}) * 2
        for part_bytes in (1 << 30, 1):  # after reading, and beside it
            with mock.patch("report_page.judging.PART_BYTES", part_bytes):
                page = self.report_on(lines, arguments=("--programs", PROGRAMS))
            self.assertEqual(state_of(page), "Slow")
            self.assertEqual(page.rows("Findings, by their numbers on the map")[0][1:4], ["host", "node3", "sends"])

    def test_readings_that_nobody_judged_do_not_pass(self):
        file = self.write("sweep.jsonl", all_pairs(FOUR))
        with mock.patch("report_page.judging.path_of_program", return_value=None):
            self.run_report(file)
        self.assertEqual(state_of(Page(self.page.read_text())), NOT_JUDGED)


class Hostile(Reporting):  # 1 rank, 1 s
    """What others wrote is text, and never markup or script."""

    def test_names_are_text(self):
        hosts = [NASTY, "b\x07\ud800", "{{ 7 * 7 }}"]
        lines = [context(hosts, options={"label": NASTY}, program=NASTY, command_line=[NASTY], library=NASTY),
                 *rows(wires=wires({NASTY: {NASTY: 10, "eth0": 5}})), row_comparison(subject=NASTY, algorithm=NASTY),
                 baseline_comparison(6, NASTY, differences=[{"key": NASTY, "before": NASTY, "now": NASTY}]),
                 end(6, reason=NASTY, notes=[NASTY], wires=[NASTY])]  # fmt: skip
        pairs = all_pairs(hosts) + [reading("c", NASTY, None, reason=NASTY)]
        verdict = slow_links(finding("host", [NASTY], text=NASTY, next_commands=[{"command": NASTY, "purpose": NASTY}]),
                             headline=NASTY)  # fmt: skip
        page = self.report_on(lines, pairs + [verdict], baseline(6, program=NASTY), arguments=("--title", NASTY))
        self.assertNotIn("<script>alert", page.markup)
        self.assertNotIn("<img", page.markup)
        self.assertEqual(len([tag for tag, _ in page.tags if tag == "script"]), page.markup.count("</script>"))
        self.assertIn(NASTY, page.texts["verdict"])
        self.assertIn("{{ 7 * 7 }}", page.markup)
        names = page.figure("Map")["data"][0]["x"]
        self.assertIn("&lt;script&gt;", "".join(names))  # plotly.js takes markup in names
        self.assertIn("b\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}", names)

    def test_a_page_needs_no_network(self):
        self.run_report(acceptance_run(self.directory / "results"))
        page = Page(self.page.read_text())
        for tag, attributes in page.tags:
            self.assertNotIn("src", attributes, tag)
            self.assertTrue(attributes.get("href", "#").startswith(("#", "data:")), attributes)
        self.assertNotIn("@import", page.markup)
        self.assertNotRegex(page.markup, r"url\(")


class Huge(Reporting):  # 1 rank, 4 s

    def test_hosts_by_the_hundred(self):
        hosts = [f"node{number:03}" for number in range(200)]
        page = self.report_on(all_pairs(hosts, {("node007", "node008"): 5.0}) + [slow_links()])
        self.assertEqual(len(cells_of(page.figure("Map"))), 200 * 199)
        self.assertEqual(len(page.rows("Slowest pairs")), 300)
        self.assertEqual(len(page.rows("Hosts as senders and receivers, GB/s")), 200)
        self.assertLess(len(page.markup), 6_000_000)

    def test_more_hosts_than_lines_are_joined(self):
        hosts = [f"node{number:03}" for number in range(40)]
        with mock.patch("report_page.pair_grid.MOST_LINES", 20):
            page = self.report_on(all_pairs(hosts, {("node007", "node010"): 5.0}) + [slow_links()])
        figure = page.figure("Map")
        self.assertEqual(figure["data"][0]["x"][:2], ["node000 .. node001", "node002 .. node003"])
        slow = [pair for pair, rate in cells_of(figure).items() if rate < 6]
        self.assertEqual(slow, [("node006 .. node007", "node010 .. node011")])

    def test_a_file_in_parts_is_read_as_a_whole(self):
        lines = [context(FOUR, 2, program="pairwise_bw", figure="sweep")]
        for number in range(400):
            one, other = number % 8, (number // 8 + number % 8 + 1) % 8
            if one != other:
                lines.append({**reading(FOUR[one // 2], FOUR[other // 2], 10 + number / 100), "from": one, "to": other,
                              "from_rank": one, "to_rank": other})  # fmt: skip
        lines += ["damaged\n", slow_links(), end()]
        file = self.write("sweep.jsonl", lines)
        said, cells = [], []
        for part_bytes in (1 << 30, 20_000):
            with mock.patch("report_page.reading.PART_BYTES", part_bytes):
                said.append(self.run_report(file, "--force"))
            cells.append(cells_of(Page(self.page.read_text()).figure("Map")))
        self.assertEqual(said[0], said[1])
        self.assertIn(f":{lines.index('damaged' + chr(10)) + 1}: ", said[0])
        self.assertEqual(cells[0], cells[1])
        self.assertIn(("node1:r0", "node1:r1"), cells[0])

    def test_lines_that_look_alike_are_read_as_all_others(self):
        """Figures that are cut out of lines are those of the parser, and what does not look like the first line is parsed."""
        alike = [reading(one, other, 10 + place / 8, size_bytes=size, from_rail=rail, to_rail=rail)
                 for place, (one, other) in enumerate(itertools.permutations(FOUR, 2)) for size in (KIB, MIB) for rail in (None, "mlx5_0")]
        unlike = [reading("node1", "node2", None, reason="refused"), reading("node2", "caf\u00e9", 3.5), reading("node3", 'a"b', 4.5),
                  reading("node4", "node1", 5, finished_utc=utc()), reading("node4", "node2", 6.25e-7),
                  {**reading("node4", "node3"), "from_rail": 3, "to_rail": 3, "status": "slow"}]  # fmt: skip
        damaged = [reading("node1", "node1"), reading("node1", "node2", 2e6), reading("node1", "node2", -1.0),
                   reading("node1", "node2", status="odd"), '{"kind": "reading", "round": 00}\n', '{"kind": "reading", "round": 0\n']
        for lines in (alike, alike + unlike, unlike + alike, alike[:20] + damaged + alike[20:] + unlike, damaged + alike):
            for spaced in (True, False):
                texts = [line if isinstance(line, str) else json.dumps(line, separators=None if spaced else (",", ":")) + "\n"
                         for line in lines]  # fmt: skip
                path = self.write("sweep.jsonl", texts)
                cut = read_file(path, "sweep")
                with mock.patch("report_page.alike_lines.cut", lambda lines: ({}, range(len(lines)))):
                    parsed = read_file(path, "sweep")
                self.assertEqual(self.readings_of(cut), self.readings_of(parsed))
                self.assertEqual((cut.problems, cut.kinds), (parsed.problems, parsed.kinds))
        texts = [(json.dumps(line) + "\n").encode() for line in alike + unlike]
        found, others = alike_lines.cut(texts)
        self.assertEqual((len(found), sum(len(rates) for _, _, rates in found.values())), (5, len(alike) + 1))
        self.assertEqual(list(others), list(range(len(alike), len(alike) + 5)))

    def readings_of(self, file):
        names = file.sweep.names
        return {kind: sorted((names[sender], names[receiver], str(rate)) for sender, receiver, rate in
                             zip(of_kind.senders, of_kind.receivers, of_kind.rates)) for kind, of_kind in file.sweep.kinds.items()}

    def test_runs_in_a_file_keep_their_readings_apart(self):
        plain = [{key: value for key, value in line.items() if key != "test"} for line in all_pairs(FOUR)]
        lines = [context(FOUR, program="one_bw", figure="sweep"), *plain, end(), context(FOUR, program="other_bw", figure="sweep"),
                 *plain[:6], end(), slow_links()]  # fmt: skip
        page = self.report_on(lines)
        self.assertIn("one_bw, 4 MiB: 12 readings", page.texts["pairs"])
        self.assertIn("other_bw, 4 MiB: 6 readings", page.texts["pairs"])

    def test_many_rows(self):
        lines = [row(8 * (number + 1), measurement(2.0 + number, 8 * (number + 1))) for number in range(3000)]
        page = self.report_on([context(), *lines, end()])
        self.assertEqual(len(page.rows("all_reduce_perf: all rows")), 2000)
        self.assertIn("1,000 more are in the files", page.texts["curves"])


class Refusals(Reporting):  # 1 rank, 1 s

    def test_existing_output(self):
        file = self.write("run.jsonl", run())
        self.page.write_text("mine")
        said = self.run_report(file, status=USAGE)
        self.assertIn(f"report.py: '{self.page}' exists; give another name, or --force to overwrite it\n", said)
        self.assertEqual(self.page.read_text(), "mine")
        self.run_report(file, "--force")
        self.assertIn("</html>", self.page.read_text())
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["report.html", "run.jsonl"])

    def test_results_are_not_overwritten(self):
        file = self.write("report.html", run())
        before = file.read_text()
        self.assertIn("is one of the results, which the report would overwrite", self.run_report(file, "--force", status=USAGE))
        self.assertEqual(file.read_text(), before)

    def test_nothing_to_read(self):
        self.assertIn("nothing to read in /nowhere: No such file or directory", self.refuse("/nowhere", status=MISSING))
        (self.directory / "folder").mkdir()
        self.assertIn("a folder without any *.jsonl", self.refuse(self.directory / "folder", status=MISSING))
        self.assertIn("the file is empty", self.refuse(self.write("empty.jsonl", [])))
        said = self.refuse(self.write("text.jsonl", ["size,time\n"]))
        self.assertIn("text.jsonl:1: no JSON from character 1 on", said)
        self.assertIn("give what programs wrote with --json or --record", said)

    def test_outputs_that_cannot_be_written(self):
        file = self.write("run.jsonl", run())
        self.page = self.directory
        self.assertIn("is a folder; give the name of a file", self.run_report(file, status=USAGE))
        self.page = self.directory / "none" / "report.html"
        self.assertIn("there is no folder '", self.run_report(file, status=MISSING))

    def test_missing_modules(self):
        with mock.patch("importlib.util.find_spec", return_value=None), mock.patch(
            "report_page.command.SYSTEM_PYTHON", sys.executable
        ):
            said = self.refuse(self.write("run.jsonl", run()), status=MISSING)
        self.assertIn("no module jinja2 and no module plotly; install python3-jinja2 python3-plotly", said)

    def test_a_folder_without_find_slow_links(self):
        said = self.refuse(self.write("sweep.jsonl", all_pairs(FOUR)), "--programs", self.directory, status=MISSING)
        self.assertIn("there is no find_slow_links in it", said)


class Launched(Reporting):  # 1 rank, 1 s
    """All other tests call its functions."""

    def test_writes(self):
        result = self.launch_report(self.write("run.jsonl", run()), "-o", self.page)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        self.assertEqual(state_of(Page(self.page.read_text())), "Measured, held against nothing")

    def test_writes_to_stdout(self):
        sweep = self.write("sweep.jsonl", all_pairs(FOUR))
        result = self.launch_report(sweep, "-o", "-", "--programs", PROGRAMS)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("<!DOCTYPE html>") and result.stdout.endswith("</html>"))
        self.assertEqual(len(cells_of(Page(result.stdout).figure("Map"))), 12)
        self.assertEqual([path.name for path in self.directory.iterdir()], ["sweep.jsonl"])
        table = self.write("rates.csv", ["from,to,GB/s\n", *(f"{one},{other},12\n" for one in FOUR for other in FOUR if one != other)])
        result = self.launch_report("--import", "csv", table, "-o", "-", "--programs", PROGRAMS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("<!DOCTYPE html>") and result.stdout.endswith("</html>"))

    def test_a_full_stdout_is_a_failure(self):
        file = self.write("run.jsonl", run())
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.launch_report(file, "-o", "-", stdout=full)
        self.assertEqual((result.returncode, result.stderr), (FAILED, "report.py: standard output: No space left on device\n"))

    def test_a_file_named_as_stdout(self):
        self.launch_report(self.write("run.jsonl", run()), "-o", f"{self.directory}/-")
        self.assertIn("</html>", (self.directory / "-").read_text())

    def test_refuses(self):
        result = self.launch_report(self.directory / "none.jsonl", "-o", self.page)
        self.assertEqual(result.returncode, MISSING)
        self.assertEqual(self.launch_report("--unit", "GB/s", "x", "-o", self.page).returncode, USAGE)
        self.assertEqual(self.launch_report().returncode, USAGE)

    def test_misspelt_options(self):
        self.assertEqual(self.run_report("x", "--impotr", "osu", status=USAGE),
                         "report.py: unknown option '--impotr'; the nearest is --import; --help lists them all\n")  # fmt: skip
