"""scripts/plot_sweep.py: what stands in its drawings, and what it refuses."""

import importlib
import re
import struct
import sys
from unittest import mock

from launch import PROGRAMS
from plotting import HEADLINE, MIB, NO_FINDINGS, SCRIPTS, USAGE, Plotting, all_pairs, finding, reading, slow

WRITE_ERROR, MISSING = 1, 3
FOUR = ["node1", "node2", "node3", "node4"]
NASTY = '<script>alert("1")</script>&amp;\''


def ticks_of(drawing):
    """GB/s in the legend of its colours."""
    return [float(word) for word in drawing.words("legend") if re.fullmatch(r"[\d.]+", word)]


class Map(Plotting):  # 1 rank, 1 s

    def test_a_cell_a_direction(self):
        drawing = self.draw_one(all_pairs(FOUR, {("node1", "node3"): 7.125}))
        self.assertEqual(len(drawing.cells()), 12)
        cell = drawing.cell("node1 to node3: ")
        self.assertEqual(cell.text, "node1 to node3: 7.125 GB/s")
        # The sender is the column, the receiver the row.
        self.assertEqual(cell.x, drawing.cell("node1 to node2: ").x)
        self.assertEqual(cell.y, drawing.cell("node2 to node3: ").y)
        self.assertLess(cell.x, drawing.cell("node2 to node3: ").x)
        self.assertLess(drawing.cell("node1 to node2: ").y, cell.y)
        self.assertEqual(sorted(drawing.words("above")), ["12.0"] * 11 + ["7.12"])
        self.assertIn("4 hosts, 12 readings, none failed, median 12.00 GB/s, from 7.125 to 12.00", drawing.words())

    def test_slower_is_darker(self):
        drawing = self.draw_one(all_pairs(FOUR, {("node1", "node2"): 11.0, ("node1", "node3"): 8.0}))
        fills = {
            cell.text.partition(": ")[2]: int(cell.fill[3:5], 16) for cell in drawing.cells()
        }  # green rises all along
        self.assertLess(fills["8.000 GB/s"], fills["11.00 GB/s"])
        self.assertLess(fills["11.00 GB/s"], fills["12.00 GB/s"])
        self.assertEqual(len({cell.fill for cell in drawing.cells()}), 3)

    def test_the_scale_is_told(self):
        drawing = self.draw_one(all_pairs(FOUR, {("node1", "node2"): 8.0, ("node1", "node3"): 0.5}))
        legend = drawing.words("legend")
        self.assertEqual(ticks_of(drawing), [6, 8, 10, 12])
        self.assertIn("The darkest colour is for everything below 6 GB/s.", legend)

    def test_pairs_that_were_not_measured_are_blank(self):
        drawing = self.draw_one([reading("node1", "node2"), {"kind": "sweep", "hosts": FOUR}])
        self.assertEqual([cell.text for cell in drawing.cells()], ["node1 to node2: 12.00 GB/s"])
        self.assertIn("not measured", drawing.words("legend"))
        self.assertNotIn("not measured", self.draw_one(all_pairs(FOUR)).words("legend"))
        self.assertEqual(drawing.labels(), FOUR)

    def test_failures_are_marked(self):
        records = all_pairs(FOUR, {("node2", "node4"): None}) + [reading("node3", "node1", None, reason="refused")]
        drawing = self.draw_one(records)
        failed = drawing.cell("node2 to node4")
        self.assertEqual((failed.css, failed.text), ("failed", "node2 to node4: failed: timeout"))
        both = drawing.cell("node3 to node1")
        self.assertEqual((both.css, both.text), (None, "node3 to node1: 12.00 GB/s; failed: refused"))
        self.assertEqual(len(drawing.within("above", "path", "cross")), 2)

    def test_not_tried_is_no_failure(self):
        records = all_pairs(FOUR[:3]) + [reading("node4", "node1", None, status="not_tried", reason="node4 timed out")]
        drawing = self.draw_one(records)
        self.assertEqual(drawing.cell("node4").text, "node4 to node1: not tried: node4 timed out")
        self.assertIn("4 hosts, 7 readings, none failed, median 12.00 GB/s, from 12.00 to 12.00", drawing.words())
        self.assertIn("not tried, after an earlier failure", drawing.words("legend"))
        self.assertFalse(any("failed" in word for word in drawing.words("legend")))

    def test_median_of_several(self):
        drawing = self.draw_one([reading("a", "b", rate, round=number) for number, rate in enumerate((11, 4, 12))])
        self.assertEqual(drawing.cells()[0].text, "a to b: 11.00 GB/s, the median of 3: 11.00, 4.000, 12.00")

    def test_a_slow_status_has_a_figure(self):
        drawing = self.draw_one([reading("a", "b", 3.5, status="slow")])
        self.assertEqual(drawing.cells()[0].text, "a to b: 3.500 GB/s")

    def test_both_directions_together(self):
        drawing = self.draw_one([reading("a", "b", 20.0, both_ways=True)])
        self.assertEqual([cell.text for cell in drawing.cells()], ["b to a: 20.00 GB/s", "a to b: 20.00 GB/s"])
        self.assertEqual([sorted(panel) for panel in drawing.sides()], [["a", "b"]])
        self.assertFalse({"sender", "receiver"} & set(drawing.words()))

    def test_a_map_of_each_kind(self):
        records = [
            line
            for size in (4096, 4 * MIB)
            for rail in ("mlx5_0", "mlx5_1")
            for line in all_pairs(FOUR, size_bytes=size, from_rail=rail, to_rail=rail)
        ]
        drawings, page = self.draw(records)
        kinds = [f"send_recv_bibw, {size}, rail {rail}" for size in ("4 KiB", "4 MiB") for rail in ("mlx5_0", "mlx5_1")]
        self.assertEqual([drawing.words()[0] for drawing in drawings], kinds)
        for number, kind in enumerate(kinds, 1):
            self.assertIn(f'<a href="#map{number}">{kind}</a>', page)
            self.assertIn(f'<section id="map{number}">', page)

    def test_rails_share_a_scale(self):
        records = [reading("a", "b", rate, from_rail=rail, to_rail=rail) for rail, rate in ((0, 20.0), (1, 15.0))]
        drawings, _ = self.draw(records)
        self.assertEqual(*(ticks_of(drawing) for drawing in drawings))
        self.assertNotEqual(*(drawing.cells()[0].fill for drawing in drawings))
        sizes, _ = self.draw(
            [
                {**line, "from_rail": None, "to_rail": None, "size_bytes": MIB * (1 + number)}
                for number, line in enumerate(records)
            ]
        )
        self.assertNotEqual(*(ticks_of(drawing) for drawing in sizes))

    def test_names_are_text(self):
        drawings, page = self.draw(
            all_pairs([NASTY, "b\x07\ud800"]) + [reading("b", NASTY, None, reason=NASTY)],
            "--title",
            NASTY,
            verdict=slow(finding("host", [NASTY], reason=NASTY)),
        )
        self.assertNotIn("<script>alert", page)
        drawing = drawings[0]
        self.assertEqual(drawing.cell(f"b to {NASTY}").text, f"b to {NASTY}: failed: {NASTY}")
        self.assertEqual(
            drawing.cell("b\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} to").text[-10:], "12.00 GB/s"
        )

    def test_the_page_needs_nothing_else(self):
        _, page = self.draw(all_pairs(FOUR))
        self.assertEqual(re.findall(r"(?:src|href|url|@import|fetch)\W+(?!#map)\S*", page), [])
        self.assertEqual(set(re.findall(r"https?://[^\"' ]*", page)), {"http://www.w3.org/2000/svg"})


class Order(Plotting):  # 1 rank, 1 s

    def test_numbers_by_value(self):
        names = ["n10", "n9", "login", "n1"]
        self.assertEqual(self.draw_one(all_pairs(names)).labels(), ["login", "n1", "n9", "n10"])

    def test_by_locality(self):
        records = [{"kind": "locality", "host": host, "leaf": leaf} for host, leaf in zip(FOUR, ("b", "a", "b", "a"))]
        records += all_pairs([*FOUR, "alone"])
        drawing = self.draw_one(records)
        self.assertEqual(drawing.labels(), ["node2", "node4", "node1", "node3", "alone"])
        self.assertEqual(drawing.words("leaves"), ["a", "a", "b", "b", "no leaf", "no leaf"])
        lines = drawing.within("leaves", "path", "cross")
        by_name = self.draw_one(records, "--order", "name")
        self.assertEqual(len(lines), 2 * 2)  # two ways between three leaves
        self.assertEqual(by_name.labels(), ["alone", *FOUR])
        self.assertEqual(by_name.words("leaves"), [])

    def test_locality_file(self):
        file = self.write("locality", ["# comment\n", "node[1-2] z\n", "node4,node[03,3] a # both\n"])
        self.assertEqual(
            self.draw_one(all_pairs(FOUR), "--locality", file).labels(), ["node3", "node4", "node1", "node2"]
        )

    def test_shared_domain_is_left_out(self):
        names = [f"gpu-rack17-a-very-long-name-node{number}.pod.example.com" for number in (1, 2)]
        drawing = self.draw_one(all_pairs(names))
        self.assertEqual(
            drawing.labels(), [f"gpu-rack17-a\N{HORIZONTAL ELLIPSIS}g-name-node{number}" for number in (1, 2)]
        )
        self.assertEqual(drawing.cells()[0].text, f"{names[1]} to {names[0]}: 12.00 GB/s")
        self.assertEqual(self.draw_one(all_pairs(["a.x", "a.y"])).labels(), ["a.x", "a.y"])
        self.assertEqual(self.draw_one(all_pairs(["10.0.0.1", "10.0.0.2"])).labels(), ["10.0.0.1", "10.0.0.2"])

    def test_endpoints_of_one_host(self):
        ranks = [{"rank": rank, "host": host} for rank, host in enumerate(("a", "a", "b", "b"))]
        context = {"kind": "context", "program": "pairwise_bw", "rank_map": ranks}
        records = [
            {
                **reading(ranks[i]["host"], ranks[j]["host"]),
                "from": i,
                "to": j,
                "from_rank": i,
                "to_rank": j,
                "test": None,
            }
            for i in range(4)
            for j in range(4)
            if i != j
        ]
        verdict = slow(finding("nic", ["b"], rail="1"))
        drawing = self.draw_one([context, *records], verdict=verdict)
        self.assertEqual(drawing.labels(), ["a:r0", "a:r1", "b:r2", "b:r3"])
        self.assertEqual(drawing.words()[0], "pairwise_bw, 4 MiB")
        self.assertTrue(drawing.words()[1].startswith("4 endpoints on 2 hosts, 12 readings"))
        self.assertEqual(len(drawing.within("names", "text", "blamed")), 2)
        self.assertEqual({one[0].tail for one in drawing.within("names", "text", "blamed")}, {"b:r3"})


class ManyHosts(Plotting):  # 1 rank, 7 s, extended

    def sweep(self, hosts, partners):
        names = [f"node{number:04}" for number in range(hosts)]
        rates = {(names[3], names[10]): 4.0}
        return [
            reading(names[i], names[(i + distance) % hosts], rates.get((names[i], names[(i + distance) % hosts]), 12.0))
            for i in range(hosts)
            for distance in range(1, partners + 1)
        ]

    def test_cells_share_and_show_the_worst(self):
        drawings, page = self.draw(self.sweep(300, 299))
        drawing = drawings[0]
        self.assertEqual(len(drawing.cells()), 100 * 100)
        self.assertIn("GB/s, the lowest pair of 3 x 3 hosts", drawing.words("legend"))
        worst = [cell for cell in drawing.cells() if "lowest 4.000" in cell.text]
        self.assertEqual(
            [cell.text for cell in worst],
            [
                "node0003 .. node0005 to node0009 .. node0011: lowest 4.000 GB/s, node0003 "
                "to node0010; median 12.00 GB/s of 9 pairs"
            ],
        )
        self.assertEqual(len({cell.fill for cell in drawing.cells()}), 2)
        self.assertEqual([len(panel) for panel in drawing.sides()], [300, 300])
        self.assertLess(len(page), 5_000_000)

    def test_all_are_drawn_up_to_128(self):
        self.assertEqual(len(self.draw_one(self.sweep(128, 5)).cells()), 128 * 5)

    def test_a_page_stays_small(self):
        names = [f"a-host-with-quite-a-long-name-{number:04}.and.a.domain.example.com" for number in range(1024)]
        records = [
            reading(names[i], names[(i + distance) % 1024])
            for distance in range(1, 1024, 9)
            for i in range(1024)
        ]
        _, page = self.draw(records)
        self.assertLess(len(page), 5_000_000)


class Hosts(Plotting):  # 1 rank, 1 s

    def test_distributions(self):
        rates = {("node1", "node2"): 1.0, ("node1", "node3"): 2.0, ("node1", "node4"): 4.0}
        sends, receives = self.draw_one(all_pairs(FOUR, rates)).sides()
        self.assertEqual(
            sends["node1"][0].text,
            "node1: median 2.000 GB/s of 3 readings, half from 1.500 to 3.000, " "all from 1.000 to 4.000",
        )
        self.assertEqual(
            receives["node2"][0].text,
            "node2: median 12.00 GB/s of 3 readings, half from 6.500 to 12.00, " "all from 1.000 to 12.00",
        )

    def test_every_reading_a_dot_if_few(self):
        sends, receives = self.draw_one(all_pairs(FOUR, round=7)).sides()
        dots = [one for one in sends["node2"].iter() if one.get("class") == "host-dot"]
        self.assertEqual(
            [dot[0].text for dot in dots],
            [f"node2 to {other}, round 7: 12.00 GB/s" for other in ("node1", "node3", "node4")],
        )
        many = [reading("a", "b", 10 + number / 10) for number in range(21)]
        sends, _ = self.draw_one(many).sides()
        self.assertEqual(len([one for one in sends["a"].iter() if one.get("class") == "host-dot"]), 1)  # the lowest

    def test_failures(self):
        sends, receives = self.draw_one(all_pairs(FOUR, {("node1", other): None for other in FOUR[1:]})).sides()
        self.assertEqual(sends["node1"][0].text, "node1: 3 failed")
        self.assertEqual([one.get("class") for one in sends["node1"] if one.tag.endswith("path")], ["slow-line"])
        self.assertTrue(receives["node2"][0].text.endswith("; 1 failed"))
        self.assertIn("line", [one.get("class") for one in receives["node2"]])
        self.assertNotIn("failed", sends["node2"][0].text)

    def test_slow_hosts_stand_out(self):
        for direction, expected in (("both", [True, True]), ("sends", [True, False]), ("receives", [False, True])):
            with self.subTest(direction):
                drawing = self.draw_one(all_pairs(FOUR), verdict=slow(finding("host", ["node2"], direction=direction)))
                red = [
                    {host: "slow" in [one.get("class") for one in side] for host, side in panel.items()}
                    for panel in drawing.sides()
                ]
                self.assertEqual([panel.pop("node2") for panel in red], expected)
                self.assertFalse(any(any(panel.values()) for panel in red))


class Marks(Plotting):  # 1 rank, 1 s

    def marked(self, *findings, records=None):
        return self.draw_one(records or all_pairs(FOUR), verdict=slow(*findings))

    def test_none(self):
        drawing = self.marked()
        self.assertEqual(drawing.words("list"), ["Findings", HEADLINE])
        self.assertEqual(len(drawing.groups("findings")[0]), 0)

    def test_host(self):
        for direction, frames in (("both", 2), ("sends", 1), ("receives", 1)):
            with self.subTest(direction):
                drawing = self.marked(finding("host", ["node2"], direction=direction))
                marks = drawing.within("findings", "rect", "mark")
                self.assertEqual(len(marks), frames)
                self.assertEqual(drawing.words("findings"), ["1"] * frames)
                tall = [float(mark.get("height")) > float(mark.get("width")) for mark in marks]
                self.assertEqual(tall, {"both": [True, False], "sends": [True], "receives": [False]}[direction])
                cell = drawing.cell("node2 to node1" if direction == "sends" else "node1 to node2")
                frame = marks[-1]  # around the column of what node2 sends, the row of what it receives
                left, top = float(frame.get("x")), float(frame.get("y"))
                self.assertTrue(left < cell.x < left + float(frame.get("width")))
                self.assertTrue(top < cell.y < top + float(frame.get("height")))

    def test_pair(self):
        for direction, rings in (
            ("both", ["node1 to node3", "node3 to node1"]),
            ("sends", ["node1 to node3"]),
            ("receives", ["node3 to node1"]),
        ):
            with self.subTest(direction):
                drawing = self.marked(finding("pair", ["node1", "node3"], direction=direction))
                circles = drawing.within("findings", "circle", "mark")
                self.assertEqual(len(circles), len(rings))
                for circle, name in zip(circles, rings):
                    cell = drawing.cell(name)
                    x, y = float(circle.get("cx")), float(circle.get("cy"))
                    self.assertTrue(cell.x < x < cell.x + 84 and cell.y < y < cell.y + 84)

    def test_leaves(self):
        records = [{"kind": "locality", "host": host, "leaf": leaf} for host, leaf in zip(FOUR, ("a", "a", "b", "b"))]
        records += all_pairs(FOUR)
        self.assertEqual(
            len(self.marked(finding("leaf", [], leaf="a"), records=records).within("findings", "rect", "mark")), 2
        )
        drawing = self.marked(finding("leaf_pair", [], leaf="a", other_leaf="b", direction="sends"), records=records)
        (mark,) = drawing.within("findings", "rect", "mark")
        cell = drawing.cell("node1 to node3")  # the first one that a sends to b
        self.assertAlmostEqual(float(mark.get("x")), cell.x - 1)
        self.assertAlmostEqual(float(mark.get("y")), cell.y - 1)

    def test_doubt_is_dashed(self):
        sure = self.marked(finding("pair", ["node1", "node2"])).within("findings", "circle", "mark")
        unsure = self.marked(finding("undecided", ["node1", "node2"])).within("findings", "circle", "mark")
        self.assertEqual([mark.get("stroke-dasharray") is None for mark in sure + unsure], [True, True, False, False])

    def test_only_on_the_map_of_its_rail(self):
        records = [line for rail in ("0", "1") for line in all_pairs(FOUR, from_rail=rail, to_rail=rail)]
        verdict = slow(finding("nic", ["node2"], rail="1"))
        drawings, _ = self.draw(records, verdict=verdict)
        self.assertEqual([len(drawing.within("findings", "rect", "mark")) for drawing in drawings], [0, 2])

    def test_list(self):
        drawing = self.marked(
            finding("host", ["node2"]),
            finding("dead_pair", ["node1", "node3"], bandwidth_gb_per_s=None, failed_readings=6, reason="refused"),
        )
        self.assertEqual(
            " ".join(drawing.words("list")),
            f"Findings {HEADLINE} 1 host node2: 9.60 GB/s where 12.0 are expected (6 readings) "
            "2 dead_pair node1 node3 (6 readings, 6 failed): refused",
        )

    def test_hosts_that_are_not_on_the_map(self):
        self.assertEqual(self.marked(finding("dead", ["elsewhere"])).within("findings", "rect", "mark"), [])

    def test_asks_find_slow_links(self):
        records = all_pairs(
            [f"node{number}" for number in range(8)], {("node3", f"node{other}"): 6.0 for other in range(8)}
        )
        file, page = self.write("records.jsonl", records), self.directory / "sweep.html"
        self.run_plot(file, "--html", page, "--programs", PROGRAMS)
        text = page.read_text()
        self.assertIn('class="mark"', text)

    def test_without_find_slow_links(self):
        file, page = self.write("records.jsonl", all_pairs(FOUR)), self.directory / "sweep.html"
        said = self.run_plot(file, "--html", page, "--programs", self.directory, status=MISSING).stderr
        self.assertIn("there is no find_slow_links in it", said)
        find_slow_links = self.write(
            "find_slow_links", ["#!/bin/sh\n", "echo 'find_slow_links: it is broken' >&2; exit 1\n"]
        )
        find_slow_links.chmod(0o700)
        self.run_plot(file, "--html", page, "--programs", self.directory)
        self.assertIn("find_slow_links: it is broken", " ".join(self.drawings(page)[0].words("list")))


class Picture(Plotting):  # 1 rank, 1 s

    def test_png(self):
        records = [line for rail in ("0", "1") for line in all_pairs([*FOUR, NASTY], from_rail=rail, to_rail=rail)]
        file, verdict = self.write("records.jsonl", records), self.write("verdict.json", [NO_FINDINGS])
        picture, page = self.directory / "sweep.png", self.directory / "sweep.html"
        self.run_plot(file, "--verdict", verdict, "--png", picture, "--html", page)
        data = picture.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        sizes = [(int(a), int(b)) for a, b in re.findall(r'<svg[^>]* width="(\d+)" height="(\d+)"', page.read_text())]
        self.assertEqual(len(sizes), 2)
        self.assertEqual(width, round(1.5 * sizes[0][0]))
        self.assertEqual(height, round(1.5 * (64 + sum(height for _, height in sizes))))


class Refusals(Plotting):  # 1 rank, 1 s

    def test_broken_line(self):
        said = self.refuse([*all_pairs(FOUR), '{"kind":"read\n', reading("a", "b")])
        self.assertRegex(
            said, r"^plot_sweep.py: \S*records.jsonl:13: not a line of JSON .*; correct it, or take the line out\n$"
        )

    def test_a_last_line_that_was_cut_off(self):
        records = self.write("records.jsonl", [*all_pairs(FOUR), '{"kind":"reading","from_ho'])
        page, verdict = self.directory / "sweep.html", self.write("verdict.json", [NO_FINDINGS])
        said = self.run_plot(records, "--html", page, "--verdict", verdict).stderr
        self.assertRegex(said, r"^plot_sweep.py: \S*records.jsonl:13: the last line is cut off and left out\n$")
        self.assertIn("12 readings", page.read_text())

    def test_values(self):
        well = reading("a", "b")
        for changes, words in (
            ({"status": "fine"}, "status 'fine' is none of ok, slow, failed, timeout, wrong, not_tried"),
            ({"from_host": None}, "from_host is not a name"),
            ({"to_host": "a"}, "'a' is both from_host and to_host"),
            ({"bandwidth_gb_per_s": -1}, "bandwidth_gb_per_s -1 is not a rate"),
            ({"bandwidth_gb_per_s": "12"}, "a value of the wrong type"),
            ({"round": 1.5}, "a value of the wrong type"),
        ):
            with self.subTest(words):
                said = self.refuse([well, {**well, **changes}])
                self.assertIn("records.jsonl:2: ", said)
                self.assertIn(words, said)
        without = dict(well)
        del without["to_host"]
        self.assertIn("records.jsonl:1: a line of kind 'reading' without 'to_host'", self.refuse([without]))
        self.assertIn("records.jsonl:1: not a JSON object", self.refuse(["[1]\n"]))

    def test_nothing_to_draw(self):
        self.assertIn("no line of kind 'reading'", self.refuse([{"kind": "sweep", "hosts": FOUR}]))
        self.assertIn("no line of kind 'reading'", self.refuse([]))

    def test_a_reading_without_a_figure_is_left_out(self):
        file, page = (
            self.write("records.jsonl", [reading("a", "b"), {**reading("b", "a"), "bandwidth_gb_per_s": None}]),
            self.directory / "sweep.html",
        )
        said = self.run_plot(file, "--html", page, "--verdict", self.write("verdict.json", [NO_FINDINGS])).stderr
        self.assertIn("readings left out because they succeeded but have no bandwidth: 1", said)
        self.assertIn("1 readings, none failed", page.read_text())

    def test_files(self):
        self.assertIn("No such file", self.run_plot("/nowhere", "--html", "x", status=MISSING).stderr)
        file, verdict = self.write("records.jsonl", all_pairs(FOUR)), self.write("verdict.json", [NO_FINDINGS])
        said = self.run_plot(file, "--verdict", verdict, "--html", "/nowhere/x.html", status=WRITE_ERROR).stderr
        self.assertIn("/nowhere/x.html: No such file", said)
        self.assertIn("nothing to write; give --html FILE", self.run_plot(file, status=USAGE).stderr)

    def test_verdict(self):
        for text in ("{", "[]", "{}", '{"findings":[{"blame":"pair"}]}', '{"findings":[1]}'):
            with self.subTest(text):
                said = self.refuse(all_pairs(FOUR), "--verdict", self.write("verdict.json", [text]))
                self.assertIn("verdict.json: not a verdict", said)
                self.assertIn("give what find_slow_links --json printed", said)

    def test_locality(self):
        for line, words in (
            ("node1", "write a host and its leaf"),
            ("node1 a b", "write a host and its leaf"),
            ("node[1- a", "a bracket is not closed"),
            ("node[x] a", "'x' is not a range"),
            ("node[3-1] a", "'3-1' is not a range"),
            ("n[1-9999999] a", "more than 1,000,000 hosts"),
        ):
            with self.subTest(line):
                said = self.refuse(all_pairs(FOUR), "--locality", self.write("locality", ["# leaves\n", line]))
                self.assertIn("locality:2: ", said)
                self.assertIn(words, said)
        self.assertIn("no leaf of any host is known", self.refuse(all_pairs(FOUR), "--order", "locality"))

    def test_missing_modules(self):
        with mock.patch.object(sys, "path", [str(SCRIPTS), *sys.path]), mock.patch.object(
            sys, "dont_write_bytecode", True
        ):
            plot_sweep = importlib.import_module("plot_sweep")
        given = plot_sweep.parse_arguments(["records", "--html", "a", "--png", "b"])
        with mock.patch.object(plot_sweep.importlib.util, "find_spec", return_value=None), mock.patch.object(
            plot_sweep, "SYSTEM_PYTHON", sys.executable
        ), mock.patch.object(plot_sweep.sys, "stderr") as stderr, self.assertRaises(SystemExit) as end:
            plot_sweep.require_modules(given)
        self.assertEqual(end.exception.code, MISSING)
        said = "".join(call.args[0] for call in stderr.write.call_args_list)
        self.assertIn("no module jinja2 and no module cairosvg; install python3-jinja2 python3-cairosvg", said)


class Launched(Plotting):  # 1 rank, 1 s
    """All other tests call its functions."""

    def test_draws(self):
        records, page = self.write("records.jsonl", all_pairs(FOUR)), self.directory / "sweep.html"
        verdict = self.write("verdict.json", [NO_FINDINGS])
        result = self.launch_plot(records, "--verdict", verdict, "--html", page)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(self.drawings(page)), 1)

    def test_refuses(self):
        result = self.launch_plot(self.directory / "none.jsonl", "--html", self.directory / "sweep.html")
        self.assertEqual(result.returncode, MISSING, result.stderr)
        self.assertRegex(result.stderr, r"^plot_sweep\.py: .*none\.jsonl")
