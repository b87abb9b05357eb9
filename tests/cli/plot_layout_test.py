"""scripts/plot_sweep.py: the order of the hosts, frames around groups, marks beside names, and what is not drawn."""

from launch import PROGRAMS
from plotting import MIB, NO_FINDINGS, USAGE, Plotting, all_pairs, finding, reading, slow

SIX = [f"node{number}" for number in range(1, 7)]
ODD, EVEN = SIX[::2], SIX[1::2]


def grouping(groups, given=False):
    """As find_slow_links --json has it."""
    return {
        "given": given,
        "across_percent_of_within": 30.0,
        "false_alarm_probability": 1e-9,
        "groups": [{"name": name, "hosts": hosts, "folded": ",".join(hosts)} for name, hosts in groups.items()],
    }


def verdict_with(*findings, suspect=(), **more):
    return {
        **slow(*findings),
        "order": ODD + EVEN,
        "groupings": [grouping({"group 1": ODD, "group 2": EVEN})],
        "kinds": None,
        "questions": [],
        "lists": {"suspect": {"folded": "", "hosts": list(suspect)}},
        **more,
    }


def question(host, other):
    return {"host": host, "other_host": other, "rail": None, "readings": 2, "why": "slow once"}


class Order(Plotting):  # 1 rank, 1 s

    def order_of(self, *arguments, records=None, **how):
        return self.draw_one(records or all_pairs(SIX), *arguments, **how).labels()

    def test_is_that_of_the_verdict(self):
        self.assertEqual(self.order_of(verdict=verdict_with()), ODD + EVEN)
        self.assertEqual(self.order_of("--order", "similarity", verdict=verdict_with()), ODD + EVEN)
        self.assertEqual(self.order_of("--order", "name", verdict=verdict_with()), SIX)

    def test_hosts_that_the_verdict_does_not_know_come_last(self):
        records = all_pairs([*SIX, "another", "b9", "b10"])
        self.assertEqual(self.order_of(records=records, verdict=verdict_with())[6:], ["another", "b9", "b10"])

    def test_a_locality_that_the_verdict_does_not_know_comes_first(self):
        file = self.write("locality", ["node[1-3] z\n", "node[4-6] a\n"])
        by_leaf = SIX[3:] + SIX[:3]
        self.assertEqual(self.order_of("--locality", file, verdict=verdict_with()), by_leaf)
        self.assertEqual(self.order_of("--locality", file, "--order", "similarity", verdict=verdict_with()), ODD + EVEN)
        knows = verdict_with(groupings=[grouping({"z": ODD, "a": EVEN}, given=True)])
        self.assertEqual(self.order_of("--locality", file, verdict=knows), ODD + EVEN)

    def test_without_one(self):
        said = self.refuse(all_pairs(SIX), "--order", "similarity", "--verdict",
                           self.write("verdict.json", [NO_FINDINGS]))
        self.assertIn("--order similarity: the verdict has no order of hosts; leave --order out", said)

    def test_endpoints_follow_their_hosts(self):
        ranks = [{"rank": rank, "host": host} for rank, host in enumerate(("a", "a", "b", "b"))]
        records = [{"kind": "context", "program": "pairwise_bw", "rank_map": ranks}] + [
            {**reading(one["host"], other["host"]), "from": one["rank"], "to": other["rank"], "from_rank": one["rank"],
             "to_rank": other["rank"]}
            for one in ranks for other in ranks if one is not other
        ]  # fmt: skip
        verdict = verdict_with(order=["b", "a"], groupings=[])
        self.assertEqual(self.order_of(records=records, verdict=verdict), ["b:r2", "b:r3", "a:r0", "a:r1"])

    def test_of_two_halls_is_found(self):
        rates = {(one, other): 4.0 for one in ODD for other in EVEN} | {(b, a): 4.0 for a in ODD for b in EVEN}
        file, page = self.write("records.jsonl", all_pairs(SIX, rates) * 3), self.directory / "sweep.html"
        self.run_plot(file, "--html", page, "--programs", PROGRAMS)
        self.assertEqual(self.drawings(page)[0].labels(), ODD + EVEN)


class Frames(Plotting):  # 1 rank, 1 s

    def frames(self, drawing):
        """(title, first and last cell that it holds) of each."""
        frames = []
        for rect in drawing.within("blocks", "rect", "block"):
            x, y, side = (float(rect.get(name)) for name in ("x", "y", "width"))
            self.assertEqual(rect.get("width"), rect.get("height"))
            within = [
                cell.text.partition(": ")[0]
                for cell in drawing.cells()
                if x < cell.x + 1 < x + side and y < cell.y + 1 < y + side
            ]
            frames.append((rect[0].text, within[0], within[-1]))
        return frames

    def test_around_groups(self):
        drawing = self.draw_one(all_pairs(SIX), verdict=verdict_with())
        self.assertEqual(
            self.frames(drawing),
            [
                ("among group 1: 3 hosts", "node3 to node1", "node3 to node5"),
                ("among group 2: 3 hosts", "node4 to node2", "node4 to node6"),
            ],
        )
        self.assertEqual(drawing.words("leaves"), ["group 1", "group 1", "group 2", "group 2"])
        self.assertIn("readings within a group of hosts", drawing.words("legend"))

    def test_around_wider_groups_and_kinds(self):
        for more in (
            {"groupings": [grouping({"a": SIX[:2], "b": SIX[2:4], "c": SIX[4:]}), grouping({"hall": SIX[:4]})]},
            {
                "groupings": [grouping({"a": SIX[:2], "b": SIX[2:4], "c": SIX[4:]})],
                "kinds": [{"name": "hall", "hosts": SIX[:4]}, {"name": "slower", "hosts": []}],
            },
        ):
            drawing = self.draw_one(all_pairs(SIX), verdict=verdict_with(order=SIX, **more))
            titles = [title for title, _, _ in self.frames(drawing)]
            self.assertEqual(titles, [f"among {name}: 2 hosts" for name in "abc"] + ["among hall: 4 hosts"])
            widths = [float(rect.get("stroke-width")) for rect in drawing.within("blocks", "rect", "block")]
            self.assertLess(widths[0], widths[-1])

    def test_hosts_of_no_group_have_none(self):
        drawing = self.draw_one(all_pairs([*SIX, "alone"]), verdict=verdict_with())
        self.assertEqual(len(self.frames(drawing)), 2)
        self.assertEqual(drawing.words("leaves")[-1], "no group")

    def test_a_group_to_blame_has_marks(self):
        drawing = self.draw_one(all_pairs(SIX), verdict=verdict_with(finding("leaf", [], leaf="group 2")))
        self.assertEqual(len(drawing.within("findings", "rect", "mark")), 2)

    def test_none_in_the_order_of_names(self):
        drawing = self.draw_one(all_pairs(SIX), "--order", "name", verdict=verdict_with())
        self.assertEqual(self.frames(drawing), [])
        self.assertFalse([word for word in drawing.words("legend") if "group" in word])


class Marks(Plotting):  # 1 rank, 1 s

    def test_on_both_axes_with_a_legend(self):
        drawing = self.draw_one(
            all_pairs(SIX),
            verdict=verdict_with(
                finding("host", ["node1"], direction="sends"),
                finding("transient", ["node2"]),
                finding("dead", ["node3"]),
                suspect=["node4"],
            ),
        )
        # The rows from above, then the columns from the left: node1, 3, 5, 2, 4, 6.
        self.assertEqual(drawing.words("marks"), ["!", "x", "~", "?"] * 2)
        rows = [float(one.get("y")) for one in drawing.groups("marks")[0]][:4]
        cells = [drawing.cell(f"{sender} to {host}: ").y for sender, host in
                 (("node2", "node1"), ("node2", "node3"), ("node1", "node2"), ("node1", "node4"))]  # fmt: skip
        for mark, cell in zip(rows, cells):
            self.assertTrue(cell < mark < cell + 84, (mark, cell))
        columns = [float(one.get("x")) for one in drawing.groups("marks")[0]][4:]
        for mark, sender in zip(columns, ("node1", "node3", "node2", "node4")):
            cell = drawing.cell(f"{sender} to ").x
            self.assertTrue(cell < mark < cell + 84, (mark, cell))
        for words in ("dead or cut off", "slow", "slow now and then", "suspect"):
            self.assertIn(f"beside a name: {words}", drawing.words("legend"))

    def test_none(self):
        drawing = self.draw_one(all_pairs(SIX), verdict=verdict_with())
        self.assertEqual(drawing.words("marks"), [])
        self.assertFalse([word for word in drawing.words("legend") if word.startswith("beside")])

    def test_the_worst_of_several(self):
        findings = [finding(blame, ["node1"]) for blame in ("undecided", "transient", "nic")]
        drawing = self.draw_one(all_pairs(SIX), verdict=verdict_with(*findings))
        self.assertEqual(drawing.words("marks"), ["!", "!"])

    def test_a_nic_only_on_the_map_of_its_rail(self):
        records = [line for rail in ("0", "1") for line in all_pairs(SIX, from_rail=rail, to_rail=rail)]
        verdict = verdict_with(finding("nic", ["node2"], rail="1"), suspect=["node2"])
        drawings, _ = self.draw(records, verdict=verdict)
        self.assertEqual([drawing.words("marks") for drawing in drawings], [[], ["!", "!"]])

    def test_suspect_paths_are_outlined(self):
        questions = [question("node1", "node4"), question("node4", "node1"), question("node2", None)]
        drawing = self.draw_one(all_pairs(SIX), verdict=verdict_with(questions=questions))
        outlines = drawing.within("paths", "rect", "mark")
        self.assertEqual(len(outlines), 2)  # both ways, once
        for outline, name in zip(outlines, ("node1 to node4", "node4 to node1")):
            cell = drawing.cell(name)
            self.assertAlmostEqual(float(outline.get("x")), cell.x - 1)
            self.assertAlmostEqual(float(outline.get("y")), cell.y - 1)
            self.assertIsNotNone(outline.get("stroke-dasharray"))
        self.assertIn("a suspect path", drawing.words("legend"))

    def test_more_suspect_paths_than_can_be_seen_are_not(self):
        names = [f"n{number}" for number in range(16)]
        questions = [question(one, other) for one in names for other in names if one < other]
        drawing = self.draw_one(all_pairs(names), verdict=verdict_with(questions=questions))
        self.assertEqual(drawing.within("paths", "rect", "mark"), [])

    def test_most_hosts_at_once_are_one_frame(self):
        drawing = self.draw_one(all_pairs(SIX), verdict=verdict_with(finding("undecided", SIX)))
        (frame,) = drawing.within("findings", "rect", "mark")
        self.assertEqual(frame.get("width"), frame.get("height"))
        self.assertEqual(drawing.words("findings"), ["1"])
        self.assertEqual(drawing.words("marks"), ["?"] * 12)


class LeftOut(Plotting):  # 1 rank, 1 s

    def records(self):
        failed = {pair: None for pair in ((one, other) for one in SIX for other in SIX)}
        return all_pairs(SIX, from_rail="mlx5_0", to_rail="mlx5_0") + all_pairs(
            SIX, failed, from_rail="mlx5_1", to_rail="mlx5_1", reason="refused"
        )

    def test_what_only_failed_has_a_line_and_no_map(self):
        drawings, page = self.draw(self.records())
        self.assertEqual([drawing.words()[0] for drawing in drawings], ["send_recv_bibw, 4 MiB, rail mlx5_0"])
        self.assertIn(
            "<p>Not drawn: send_recv_bibw, 4 MiB, rail mlx5_1: 30 readings, none with a figure; "
            "the first one: failed: refused</p>",
            page,
        )

    def test_in_a_picture_too(self):
        sizes = []
        for records in (self.records(), self.records()[:30]):
            picture = self.directory / "sweep.png"
            files = [self.write("records.jsonl", records), "--verdict", self.write("verdict.json", [NO_FINDINGS])]
            self.run_plot(*files, "--png", picture)
            sizes.append(int.from_bytes(picture.read_bytes()[20:24], "big"))
        self.assertEqual(sizes[0] - sizes[1], round(1.5 * 16))  # a line more

    def test_one_figure_is_enough(self):
        records = self.records() + [reading("node1", "node2", 5.0, from_rail="mlx5_1", to_rail="mlx5_1")]
        drawings, page = self.draw(records)
        self.assertEqual(len(drawings), 2)
        self.assertNotIn("Not drawn", page)

    def test_nothing_but_failures_is_refused(self):
        said = self.refuse([reading("a", "b", None, reason="refused", size_bytes=MIB)], status=USAGE)
        self.assertIn("no reading has a figure, so there is nothing to draw; Not drawn: send_recv_bibw, 1 MiB: "
                      "1 readings, none with a figure; the first one: failed: refused", said)
