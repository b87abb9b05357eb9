"""scripts/report.py: every badge of a page is what its record says."""

from launch import PROGRAMS
from report_test import FOUR, IDENTITY, state_of
from reporting import (KIB, OK, Page, Reporting, acceptance_run, all_pairs, baseline, baseline_comparison, context, end,
                       finding, measurement, reading, row, row_comparison, rows, run, slow_links, utc)  # fmt: skip

DEAD, CUT_OFF, SLOW, UNSTEADY, WRONG = "Dead", "Cut off", "Slow", "Unsteady", "Wrong data"
UNKNOWN, MEASURED, ACCEPTED = "Not judged", "Measured, held against nothing", "Accepted"
MARKS = {ACCEPTED: "✓", UNKNOWN: "?", MEASURED: "?"}  # of others: ✗


class Badges(Reporting):  # 1 rank, 1 s

    def judged(self, page):
        """{part: badge}, each with the mark of its word."""
        badges = {}
        for name, badge, _ in page.rows("What was judged"):
            mark, word = badge.split(" ", 1)
            self.assertEqual(mark, MARKS.get(word, "✗"))
            self.assertNotIn(name, badges, "two badges of one thing")
            badges[name] = word
        return badges

    def report_on_folder(self, *steps, hosts=FOUR, held_against="each other", exit_status=OK, drain=(), files=None):
        """The page on an acceptance run. `steps`: (name, outcome, what differs)."""
        start = {"kind": "acceptance", "schema_version": 1, "fabricbench_version": "0.1.0", "began_utc": utc(),
                 "hosts": list(hosts), "held_against": held_against, "command": "accept.sh"}  # fmt: skip
        lines = [{"kind": "acceptance_step", "name": name, "stage": name.partition("/")[0], "hosts": [name.partition("/")[2]],
                  "command": "a command", "records": None, "outcome": outcome, "exit_status": 0, "reason": None, "seconds": 1.0,
                  **changes} for name, outcome, changes in steps]  # fmt: skip
        verdict = {"kind": "acceptance_verdict", "exit_status": exit_status, "headline": "so many accepted", "admit": [],
                   "drain": [{"host": host, "reason": reason} for host, reason in drain], "undecided": [], "seconds": 9.0}  # fmt: skip
        self.write("results/acceptance.jsonl", [start, *lines, verdict])
        for name, records in (files or {}).items():
            self.write(f"results/{name}", records)
        self.run_report(self.directory / "results", "--force")
        page = Page(self.page.read_text())
        steps_alone = {cells[0]: cells[1].split(" ", 1)[1] for cells in page.rows("Steps of the acceptance run")}
        for name, badge in self.judged(page).items():
            if name.startswith("step "):
                self.assertEqual(steps_alone[name.removeprefix("step ")].replace("Not measured", UNKNOWN), badge)
        return page

    def test_of_a_verdict_on_pairs(self):
        for blames, badge in (((), ACCEPTED), (("host",), SLOW), (("dead",), DEAD), (("host", "dead"), DEAD), (("dead_pair",), DEAD),
                              (("dead", "wrong_data"), WRONG),
                              (("cut_off", "nic"), CUT_OFF), (("transient",), UNSTEADY), (("transient", "leaf"), SLOW),
                              (("undecided", "pair"), SLOW)):  # fmt: skip
            with self.subTest(blames):
                page = self.report_on(all_pairs(FOUR) + [slow_links(*(finding(blame, ["node2"]) for blame in blames))])
                self.assertEqual(state_of(page), badge)
        self.assertEqual(state_of(self.report_on(all_pairs(FOUR) + [slow_links(judged="slow")])), SLOW)
        self.assertEqual(state_of(self.report_on(all_pairs(FOUR) + [slow_links(judged="unknown")])), UNKNOWN)

    def test_of_wrong_data_whatever_the_verdict_says(self):
        lines = [*all_pairs(FOUR[:3]), reading("node1", "node4", None, status="wrong", reason="8 wrong elements")]
        for verdict in (slow_links(), slow_links(finding("dead", ["node4"])), slow_links(judged="unknown")):
            page = self.report_on(lines + [verdict])
            self.assertEqual(state_of(page), WRONG)
            self.assertIn("1 reading with wrong data; the first: 8 wrong elements", page.texts["verdict"])
        self.assertEqual([cells[3:] for cells in page.rows("Failed pairs")], [["✗ wrong data", "wrong data: 8 wrong elements"]])
        self.assertIn("none failed, 1 with wrong data", page.texts["pairs"])

    def test_of_the_last_line_of_a_step(self):
        """A host that was slow and is measured again has one badge."""
        page = self.report_on_folder(
            ("hosts/node4", "slow", {"records": "hosts/node4.jsonl", "reason": "slower than 3 others"}),
            ("hosts/node4", "accepted", {"records": "hosts/node4-again.jsonl"}),
            files={"hosts/node4.jsonl": run(), "hosts/node4-again.jsonl": run(started_utc=utc(1))})  # fmt: skip
        self.assertEqual(self.judged(page), {"acceptance run": ACCEPTED, "step hosts/node4": ACCEPTED})

    def test_of_a_run_is_that_of_its_step(self):
        """Its own exit status is 0, and others are faster."""
        page = self.report_on_folder(("hosts/node4", "slow", {"records": "hosts/node4.jsonl"}), exit_status=6,
                                     drain=[("node4", "slow: copies 20 % below 3 others")],
                                     files={"hosts/node4.jsonl": run()})  # fmt: skip
        self.assertEqual(self.judged(page), {"acceptance run": SLOW, "step hosts/node4": SLOW})

    def test_of_a_dead_host(self):
        failed = {"exit_status": 4, "reason": "no answer within 60 s"}
        page = self.report_on_folder(("hosts/node4", "failed", failed), exit_status=6, drain=[("node4", "dead: no answer")])
        self.assertEqual(self.judged(page), {"acceptance run": DEAD, "step hosts/node4": DEAD})
        self.assertEqual(state_of(page), DEAD)
        page = self.report_on_folder(("hosts/node4", "failed", failed), exit_status=6, drain=[("node4", "failed alone: a reason")])
        self.assertEqual(self.judged(page), {"acceptance run": "Failed", "step hosts/node4": "Failed"})
        pairs = {"hosts": FOUR, "records": "pairs.jsonl", "exit_status": 6, "reason": "1 host is dead"}
        page = self.report_on_folder(("pairs", "slow", pairs), exit_status=6, drain=[("node4", "dead (node4 fails with all)")],
                                     files={"pairs.jsonl": all_pairs(FOUR), "pairs-verdict.jsonl": [slow_links(finding("dead", ["node4"]))]})
        self.assertEqual(self.judged(page), {"acceptance run": DEAD, "step pairs": DEAD})

    def test_of_a_step_with_wrong_data(self):
        page = self.report_on_folder(("hosts/node4", "failed", {"exit_status": 5, "reason": "8 wrong elements"}), exit_status=6,
                                     drain=[("node4", "failed alone: 8 wrong elements")])  # fmt: skip
        self.assertEqual(self.judged(page), {"acceptance run": WRONG, "step hosts/node4": WRONG})

    def test_of_collectives_that_were_compared_with_nothing(self):
        step = ("collectives/all_reduce_perf-4", "accepted", {"hosts": FOUR, "records": "collectives/all_reduce_perf-4.jsonl"})
        files = {"collectives/all_reduce_perf-4.jsonl": run()}
        page = self.report_on_folder(step, files=files)
        self.assertEqual(self.judged(page), {"acceptance run": ACCEPTED, "step collectives/all_reduce_perf-4": MEASURED})
        self.assertIn("it ran correctly, and its speed was compared with nothing", page.texts["verdict"])
        self.assertEqual(state_of(page), ACCEPTED, "as the run's own verdict says")
        page = self.report_on_folder(step, files=files, held_against="baseline site.jsonl")
        self.assertEqual(self.judged(page)["step collectives/all_reduce_perf-4"], ACCEPTED)

    def test_of_hosts_of_which_there_are_too_few_to_compare(self):
        page = self.report_on_folder(("hosts/node1", "accepted", {}), hosts=FOUR[:2], exit_status=7)
        self.assertEqual(self.judged(page), {"acceptance run": UNKNOWN, "step hosts/node1": MEASURED})

    def test_of_the_whole_is_that_of_the_acceptance_run(self):
        """After a repair: the first sweep found a dead host, the second one none."""
        files = {"pairs.jsonl": all_pairs(FOUR), "pairs-verdict.jsonl": [slow_links(finding("dead", ["node4"]))],
                 "pairs-2.jsonl": all_pairs(FOUR), "pairs-2-verdict.jsonl": [slow_links()],
                 "mine.jsonl": run(status=6)}  # fmt: skip
        page = self.report_on_folder(("pairs", "slow", {"hosts": FOUR, "records": "pairs.jsonl"}),
                                     ("pairs/node4", "accepted", {"hosts": FOUR, "records": "pairs-2.jsonl"}), files=files)  # fmt: skip
        self.assertEqual(state_of(page), ACCEPTED)
        self.assertEqual({name.partition(", ")[0]: badge for name, badge in self.judged(page).items()},
                         {"acceptance run": ACCEPTED, "step pairs": DEAD, "step pairs/node4": ACCEPTED, "all_reduce_perf": SLOW})
        file = self.write("other.jsonl", run(status=1))
        self.run_report(self.directory / "results", file, "--force")
        self.assertEqual(state_of(Page(self.page.read_text())), "Failed", "what is no part of it counts")

    def test_of_an_acceptance_run_with_everything(self):
        self.run_report(acceptance_run(self.directory / "results"))
        self.judged(Page(self.page.read_text()))

    def test_of_runs_beside_a_baseline(self):
        """Runs that end well and are slower than the baseline have no tick."""
        site = self.write("site.jsonl", baseline(9, noise=0.0001, **IDENTITY))
        for factor, badge in ((1.25, SLOW), (1.0, ACCEPTED)):
            files = [self.write(f"today{day}.jsonl", run(*rows(latency_us=2 * factor, gb_per_s=20 / factor), started_utc=utc(day)))
                     for day in (40, 41, 42)]  # fmt: skip
            self.run_report(site, *files, "--force", "--programs", PROGRAMS)
            page = Page(self.page.read_text())
            self.assertEqual(set(self.judged(page).values()), {badge})
            self.assertEqual(len(self.judged(page)), 4)

    def test_of_a_run_that_a_comparison_of_unknown_runs_may_mean(self):
        for status, badge in ((6, SLOW), (7, UNKNOWN), (0, ACCEPTED)):
            page = self.report_on(run(), [row_comparison(), baseline_comparison(status)])
            self.assertEqual(set(self.judged(page).values()), {badge})

    def test_of_a_sweep_that_ends_well(self):
        lines = [context(FOUR, program="pairwise_bw", figure="sweep"), *all_pairs(FOUR), end()]
        page = self.report_on(lines, [slow_links(finding("dead", ["node4"]))])
        self.assertEqual(set(self.judged(page).values()), {DEAD})


class Drawn(Reporting):  # 1 rank, 1 s
    """What plots point at."""

    def test_each_run_is_a_point_of_the_history(self):
        site = self.write("site.jsonl", baseline(9, noise=0.0001, **IDENTITY))
        factors = {40: 1.2, 41: 1.25, 42: 1.4}
        files = [self.write(f"today{day}.jsonl", run(*rows(latency_us=2 * factor, gb_per_s=20 / factor), started_utc=utc(day)))
                 for day, factor in factors.items()]  # fmt: skip
        self.run_report(site, *files, "--programs", PROGRAMS)
        page = Page(self.page.read_text())
        together, *of_rows = next(figures for label, figures in page.plots.items() if label.startswith("History"))
        points = {mark["x"][0]: mark["y"][0] for mark in together["data"] if mark["name"].startswith("run ")}
        self.assertEqual(list(points), [utc(day) for day in factors])
        for over, factor in zip(points.values(), factors.values()):
            self.assertAlmostEqual(over, 100 * (factor - 1), delta=0.1)
        marks = [mark for mark in of_rows[0]["data"] if mark["name"].startswith("run ")]
        self.assertEqual(len(marks), 3)
        self.assertIn("all 3 runs together: slower", marks[0]["text"][0])

    def ranks(self, *times_us):
        measured = measurement(10.0, rank_times_us=list(times_us), ranks=len(times_us))
        page = self.report_on([context(FOUR), row(KIB, measured), end()])
        figure = page.figure("Time of each rank")
        notes = [note["text"] for note in figure["layout"].get("annotations", [])]
        self.assertEqual("diamond" in figure["data"][0]["marker"]["symbol"], bool(notes))
        return notes, page.texts["ranks"]

    def test_a_slow_rank_has_to_stand_out(self):
        self.assertEqual(self.ranks(10, 10, 10, 11)[0], ["rank 3, node4"])
        notes, words = self.ranks(10, 10, 10, 10.0023)
        self.assertEqual(notes, [])
        self.assertIn("No rank stands out: the slowest takes 0.023 % longer than the median rank.", words)
        self.assertEqual(self.ranks(9.8, 9.9, 10.1, 10.2)[0], [], "all differ by as much")

    def test_a_copy_of_a_file_and_a_merged_one_are_shown_once(self):
        one, other = run(started_utc=utc(1)), run(started_utc=utc(2))
        files = [self.write(f"{name}.jsonl", lines) for name, lines in
                 (("one", one), ("copy", one), ("other", other), ("merged", one + other))]  # fmt: skip
        self.run_report(*files)
        page = Page(self.page.read_text())
        self.assertEqual(len(page.rows("What was judged")), 2)
        self.assertEqual(len(page.rows("Runs")), 2)
        self.assertEqual(len(page.rows("all_reduce_perf: all rows")), 6)

    def test_a_record_of_odd_shape_is_one_clear_error(self):
        odd = slow_links(finding(None, ["node1"]))
        said = self.run_report(self.write("odd.jsonl", all_pairs(FOUR) + [odd]), status=7)
        self.assertRegex(said, r"^report.py: one of the files has a record of another shape than its kind has \(.*\)\n$")
