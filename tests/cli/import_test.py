"""find_slow_links and report.py on results of other tools."""

import json

from finding import CLEAN, MISSING, NOT_JUDGED, SLOW, USAGE
from launch import PROGRAMS
from other_tools import HOSTS, SETS, SLOW_HOST, ImportTest, csv_text, healthy, nccl_log, osu_log, with_slow_host
from reporting import Page, Reporting


class Kinds(ImportTest):  # 1 rank, 5 s

    def each_set(self, rate):
        for kind, sets in SETS.items():
            for number, files in enumerate(sets):
                yield kind, self.folder(files(rate), f"{kind}-{number}")

    def test_one_slow_host_is_found(self):
        for kind, folder in self.each_set(with_slow_host):
            for given in (kind, "auto"):
                with self.subTest(folder.name, given=given):
                    stdout, stderr = self.run_tool(SLOW, "--quiet", "--import", given, folder)
                    self.assertIn(f"Slow: {HOSTS[SLOW_HOST]}\n", stdout)
                    self.assertNotIn("not understood", stderr)

    def test_healthy_hosts_are_fine(self):
        for kind, folder in self.each_set(healthy):
            with self.subTest(folder.name):
                stdout, _ = self.run_tool(CLEAN, "--quiet", "--import", kind, folder)
                self.assertEqual(stdout, "Fine: gpu-node-[1-6]\n")

    def test_units_are_those_of_the_tool(self):
        for kind, folder in self.each_set(healthy):
            records = self.records(kind, folder)
            self.assertEqual(records[0], {"kind": "sweep", "hosts": sorted(HOSTS)})
            for reading in records[1:]:
                ends = HOSTS.index(reading["from_host"]), HOSTS.index(reading["to_host"])
                expected = healthy(*ends)
                if reading["both_ways"]:
                    expected = min(expected, healthy(*ends[::-1]))
                with self.subTest(folder.name, ends=ends):
                    self.assertAlmostEqual(reading["bandwidth_gb_per_s"], expected, delta=0.006)

    def test_gpus_are_kept(self):
        folder = self.folder(SETS["nccl-tests"][0](with_slow_host))
        for reading in self.records("nccl-tests", folder)[1:]:
            self.assertRegex(reading["from_gpu"], r"^[0-9a-f:.]+$")
        stdout, _ = self.run_tool(SLOW, "--import", "nccl-tests", folder)
        self.assertRegex(stdout, f"{HOSTS[SLOW_HOST]} \\(.*{reading['from_gpu']}.*\\) is slow")

    def test_line_ends_and_byte_order_marks_do_not_matter(self):
        for kind, folder in self.each_set(with_slow_host):
            before = self.records(kind, folder)
            for file in folder.iterdir():
                file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
            with self.subTest(folder.name):
                self.assertEqual(self.records(kind, folder), before)


class FailedPairs(ImportTest):  # 1 rank, 1 s

    def test_a_dead_host_is_found(self):
        for kind in ("nccl-tests", "osu", "perftest", "iperf3", "csv"):
            with self.subTest(kind):
                files = SETS[kind][0](lambda a, b: None if 1 in (a, b) else healthy(a, b))
                stdout, _ = self.run_tool(SLOW, "--quiet", "--import", kind, self.folder(files, kind))
                self.assertIn("Dead: gpu-node-2\n", stdout)

    def test_reasons_are_kept(self):
        files = SETS["osu"][0](lambda a, b: None if {a, b} == {0, 1} else healthy(a, b))
        failed = [record for record in self.records("osu", self.folder(files)) if record.get("status") == "failed"]
        self.assertEqual({record["reason"] for record in failed},
                         {f"ssh: connect to host gpu-node-{number} port 22: No route to host" for number in (1, 2)})
        # They are held against what the others measured.
        self.assertEqual({(record["test"], record["size_bytes"]) for record in failed}, {("osu_bw", 4194304)})

    def test_an_empty_log_is_one(self):
        files = SETS["perftest"][0](healthy)
        files["gpu-node-1_gpu-node-2.log"] = ""
        for kind in ("perftest", "auto"):
            (failed,) = [record for record in self.records(kind, self.folder(files, kind)) if record.get("status") == "failed"]
            self.assertEqual((failed["from_host"], failed["to_host"], failed["reason"]),
                             ("gpu-node-1", "gpu-node-2", "the log is empty"))


class Notices(ImportTest):  # 1 rank, 1 s

    def test_what_is_not_understood_is_said(self):
        files = {**SETS["osu"][0](healthy), "about_this.txt": "hello\n", "core.log": b"\0\1\2", "log": "hello\n",
                 ".hidden_file.log": "hello\n", "a_b.csv": csv_text(healthy)}
        folder = self.folder(files)
        _, stderr = self.run_tool(CLEAN, "--import", "osu", folder)
        self.assertEqual(stderr.splitlines(), [
            f"find_slow_links: {folder}/a_b.csv: not understood: its format is csv",
            f"find_slow_links: {folder}/core.log: not understood: it is not a text file",
            f"find_slow_links: {folder}/log: not understood: its name does not contain the pair; name it HOSTA_HOSTB.log "
            "or HOSTA-to-HOSTB.log (osu)",
            f"find_slow_links: {folder}/about_this.txt: not understood: it has no result of osu, and its file name has "
            "no hosts like those of the other files",
            "find_slow_links: 30 figures of smaller messages left out: the largest size of each run counts"])

    def test_lines_are_named(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy) + "gpu-node-1,gpu-node-2\n")
        stdout, stderr = self.run_tool(CLEAN, "--import", "csv", file, "--json", "-")
        notice = f"{file}:32: the line has 2 fields instead of 4, and is left out"
        self.assertEqual(stderr, f"find_slow_links: {notice}\n")
        self.assertEqual(json.loads(stdout)["notices"], [notice])

    def test_logs_that_end_early_are_said(self):
        files = SETS["osu"][0](healthy)
        name = "osu_bw_gpu-node-1-to-gpu-node-2.txt"
        files[name] = files[name][:files[name].index("4194304")]
        folder = self.folder(files)
        _, stderr = self.run_tool(NOT_JUDGED, "--import", "osu", folder)
        self.assertIn(f"{folder}/{name}: its largest message has 1 B, most others have 4 MiB: "
                      "it is not compared with them\n", stderr)

    def test_notices_do_not_go_on_and_on(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy) + "x\n" * 1000)
        _, stderr = self.run_tool(CLEAN, "--import", "csv", file)
        self.assertEqual(len(stderr.splitlines()), 41)
        self.assertIn("find_slow_links: 960 more notices like these are left out\n", stderr)

    def test_records_without_import_are_recognised(self):
        file = self.directory / "gpu-node-1_gpu-node-2.log"
        file.write_text(nccl_log(0, 1, healthy))
        _, stderr = self.run_tool(NOT_JUDGED, file)
        self.assertTrue(stderr.endswith("; its format is nccl-tests, which --import nccl-tests reads\n"), stderr)


class Refusals(ImportTest):  # 1 rank, 1 s

    def refused(self, status, words, *arguments):
        stdout, stderr = self.run_tool(status, *arguments)
        self.assertEqual(stdout, "")
        self.assertIn(words, stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)

    def test_command_lines(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy))
        self.refused(USAGE, "--import 'excel' is not a kind of results; use one of auto, nccl-tests, osu, perftest, iperf3, "
                            "mpigraph, hp2p, clusterkit, csv", "--import", "excel", file)
        self.refused(USAGE, f"{file}: its format is csv, not osu; give --import csv", "--import", "osu", file)
        self.refused(USAGE, "--unit 'gb/s' is not a unit of bandwidth", "--import", "csv", "--unit", "gb/s", file)
        self.refused(USAGE, "--unit requires --import", "--unit", "GB/s", file)
        self.refused(USAGE, "--convert requires --import", "--convert", "x", file)
        self.refused(USAGE, "no file of records is given", "--import", "csv")

    def test_files(self):
        self.refused(MISSING, "cannot open '/nowhere'", "--import", "osu", "/nowhere")
        self.refused(NOT_JUDGED, "no file was understood; there is no file", "--import", "osu", self.folder({}))
        records = self.write([{"kind": "sweep", "hosts": ["a", "b"]}])
        self.refused(NOT_JUDGED, "it is a file of records, which is read without --import", "--import", "osu", records)
        for name, text in (("empty.log", ""), ("junk_file.log", "hello\n"), ("binary_file.log", "\0\1\2")):
            file = self.directory / name
            file.write_text(text)
            self.refused(NOT_JUDGED, "not understood: ", "--import", "nccl-tests", file)
            self.refused(NOT_JUDGED, "not understood: ", "--import", "auto", file)

    def test_units_that_are_not_clear(self):
        file = self.directory / "pairs.csv"
        text = csv_text(healthy)
        file.write_text(text.replace("bandwidth (Gb/s)", "bandwidth"))
        self.refused(USAGE, "the column 'bandwidth' does not name the unit; call it GB/s, Gb/s or MiB/s, or give --unit",
                     "--import", "csv", file)
        (first,) = self.records("csv", file, "--unit", "Gb/s")[1:2]
        self.assertAlmostEqual(first["bandwidth_gb_per_s"], healthy(0, 1), delta=0.001)


class Mixtures(ImportTest):  # 1 rank, 1 s

    def test_records_and_others_together(self):
        records = self.directory / "records.jsonl"
        self.run_tool(CLEAN, "--import", "csv", self.folder({"pairs.csv": csv_text(with_slow_host)}), "--convert", records)
        folder = self.folder(SETS["osu"][0](with_slow_host), "osu")
        stdout, _ = self.run_tool(SLOW, "--import", "auto", records, folder)
        self.assertIn("Measured: 60 readings", stdout)
        stdout, _ = self.run_tool(SLOW, "--quiet", records)
        self.assertEqual(stdout, "Slow: gpu-node-4\nFine: gpu-node-[1-3,5-6]\n")

    def test_later_readings_of_a_pair_are_of_later_rounds(self):
        first, second = (self.folder(SETS["osu"][0](healthy), name) for name in ("first", "second"))
        rounds = [record["round"] for record in self.records("osu", first, second)[1:]]
        self.assertEqual((rounds[:30], rounds[30:]), ([0] * 30, [1] * 30))

    def test_standard_input(self):
        stdout, _ = self.run_tool(SLOW, "--quiet", "--import", "csv", "-", stdin=csv_text(with_slow_host))
        self.assertEqual(stdout, "Slow: gpu-node-4\nFine: gpu-node-[1-3,5-6]\n")

    def test_a_log_is_named_by_the_option(self):
        file = self.directory / "n1_n2.log"
        file.write_text(osu_log(0, 1, healthy))
        self.assertEqual([record.get("from_host") for record in self.records("osu_bw", file)], [None, "n1"])


class Report(Reporting, ImportTest):  # 1 rank, 2 s

    def test_shows_what_is_imported(self):
        folder = self.folder(SETS["nccl-tests"][0](with_slow_host))
        said = self.run_report("--import", "nccl-tests", folder, "--programs", PROGRAMS)
        self.assertIn("15 figures of smaller messages left out", said)
        page = Page(self.page.read_text())
        self.assertIn("15 readings, none failed", page.texts["pairs"])
        self.assertEqual(page.rows("Findings, by their numbers on the map")[0][2], HOSTS[SLOW_HOST])

    def test_refuses_as_find_slow_links_does(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy))
        for status, words, arguments in ((USAGE, "its format is csv, not osu; give --import csv",
                                          ("--import", "osu", file)),
                                         (MISSING, "cannot open '/nowhere'", ("--import", "osu", "/nowhere"))):
            self.assertIn(words, self.refuse(*arguments, "--programs", PROGRAMS, status=status))
        self.assertIn("--unit is for --import", self.run_report("--unit", "GB/s", file, status=USAGE))
