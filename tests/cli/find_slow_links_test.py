"""find_slow_links: from records of a sweep to who is to blame."""

import json
import os
import pty
import subprocess

from finding import CLEAN, MISSING, NOT_JUDGED, SLOW, TIMEOUT_S, USAGE, FindingTest, healthy, sweep, with_slow_host
from launch import PROGRAMS, environment, text_of
from pair_program import validate


class Verdicts(FindingTest):  # 1 rank, 1 s

    def test_clean(self):
        stdout, stderr = self.run_tool(CLEAN, self.write(sweep()))
        self.assertTrue(stdout.startswith("Nothing is slow; all 16 hosts are fine.\n\nFine: node[01-16]\n"), stdout)
        self.assertIn("Measured: 240 readings in 15 rounds;", stdout)
        self.assertEqual(stderr, "")

    def test_slow_host(self):
        stdout, stderr = self.run_tool(SLOW, self.write(sweep(with_slow_host)))
        self.assertTrue(stdout.startswith("1 host is slow; 15 of 16 hosts are fine.\n"), stdout)
        self.assertIn("SLOW HOST    node07 is slow with all partners, sending and receiving\n", stdout)
        self.assertIn("\nSlow: node07\nFine: node[01-06,08-16]\n", stdout)
        self.assertIn("scripts/sweep_pairs.sh -H 'node[01-03,07]' --all-pairs --max-concurrent 1 --test tcp_bibw", stdout)
        self.assertIn("ssh node07 ip -s -s link  #", stdout)
        self.assertEqual(stderr, "")

    def test_host_whose_ranks_waited_for_a_processor(self):
        """It is neither slow nor fine, and the others are not unsteady with it; nothing says that it is dead."""
        lines = sweep(with_slow_host)
        for line in lines[1:]:
            if "node07" in (line["from_host"], line["to_host"]):
                line["processor_wait_share"] = 0.63
        stdout, _ = self.run_tool(NOT_JUDGED, self.write(lines))
        self.assertIn("\nNot judged: node07\nFine: node[01-06,08-16]\n", stdout)
        self.assertIn("Note: In 30 of 240 readings ranks waited for a processor 63 % of the time: these are not figures of the "
                      "network; run fewer ranks than processors, on a host without other work; they are not judged\n", stdout)
        for line in lines[1:]:
            line["processor_wait_share"] = 0.2
        verdict = self.verdict(NOT_JUDGED, lines)
        self.assertEqual((len(verdict["lists"]["not_judged"]["hosts"]), verdict["findings"]), (16, []))

    def test_dead_host(self):
        stdout, _ = self.run_tool(SLOW, "--quiet",
                                  self.write(sweep(lambda a, b: None if 2 in (a, b) else healthy(a, b))))
        self.assertEqual(stdout, "Dead: node03\nFine: node[01-02,04-16]\n")

    def test_hosts_that_failed_with_each_other_only(self):
        stdout, _ = self.run_tool(SLOW, self.write(sweep(lambda a, b: None, hosts=2)))
        self.assertIn("    node01 with any healthy host: 2 more readings; failed with 1 partner\n", stdout)

    def test_host_that_was_never_measured(self):
        lines = [line for line in sweep() if "node16" not in (line.get("from_host"), line.get("to_host"))]
        stdout, _ = self.run_tool(NOT_JUDGED, "--quiet", self.write(lines))
        self.assertEqual(stdout, "Not judged: node16\nFine: node[01-15]\n")

    def test_report_is_short_and_long_has_all(self):
        """Ten hosts of 32 that are slow alike, and the paths of another one, which are slow by more."""
        lines = sweep(lambda a, b: healthy(a, b) * (0.6 if a < 10 or b < 10 else 0.3 if 20 in (a, b) and a + b < 40 else 1),
                      hosts=32)
        stdout, _ = self.run_tool(SLOW, self.write(lines))
        self.assertLessEqual(len(stdout.splitlines()), 60)
        self.assertIn("\nSLOW HOST    10 hosts are slow: node[01-10]\n", stdout)
        long, _ = self.run_tool(SLOW, "--long", self.write(lines))
        self.assertEqual(long.count("SLOW HOST    "), len(self.verdict(SLOW, lines)["lists"]["slow"]["hosts"]))

    def test_what_is_below_half_is_named(self):
        """Though a pair was measured once, which decides nothing."""
        lines = sweep(lambda a, b: healthy(a, b) * (0.4 if {a, b} == {3, 8} else 1))
        stdout, _ = self.run_tool(NOT_JUDGED, self.write(lines))
        self.assertIn("\nBelow half of the usual bandwidth, and in no finding: 1 path, the worst at 40 %: node04 - node09\n",
                      stdout)

    def test_each_direction_has_its_share(self):
        lines = sweep(lambda a, b: healthy(a, b) * (0.9 if a == 6 else 0.26 if b == 6 else 1))
        stdout, _ = self.run_tool(SLOW, self.write(lines))
        self.assertRegex(stdout, r"how bad +\S+ GB/s where \S+ are expected: 26 % of it; (90|89) % sending, 26 % receiving\n")

    def test_since_when_a_host_is_slow(self):
        lines = sweep(began="2026-01-01T00:00:00Z") + sweep(began="2026-01-01T01:00:00Z")
        for line in lines[1 + 240 + 1:]:
            if "node07" in (line["from_host"], line["to_host"]) and line["round"] > 3:
                line["bandwidth_gb_per_s"] *= 0.5
        self.assertRegex(self.verdict(SLOW, lines)["findings"][0]["text"],
                         "^node07 was fine until round 18, and slow in every meeting since$")

    def test_a_distance_is_no_fault(self):
        """Groups that were found have the names of their hosts for scripts, and none that we made."""
        lines = sweep(lambda a, b: healthy(a, b) * (1 if a // 6 == b // 6 else 0.5 if {a // 6, b // 6} == {0, 1} else 0.8),
                      hosts=24)
        stdout, _ = self.run_tool(SLOW, self.write(lines))
        self.assertNotIn("\ufffd", stdout)
        self.assertIn("Slow path of leaves: node[01-06] node[07-12]\n", stdout)
        self.assertIn("is slow, or longer than others", stdout)

    def test_two_hosts_cannot_be_told_apart(self):
        lines = [{"kind": "sweep", "hosts": ["a", "b"]}] + [
            {"kind": "reading", "round": 0, "from_host": "a", "to_host": "b", "test": "tcp_bw", "status": "failed",
             "bandwidth_gb_per_s": None, "reason": "no route"}] * 2
        verdict = self.verdict(SLOW, lines)
        self.assertEqual([finding["blame"] for finding in verdict["findings"]], ["undecided"])
        self.assertEqual(verdict["findings"][0]["hosts"], ["a", "b"])
        self.assertEqual(verdict["findings"][0]["reason"], "no route")
        self.assertEqual(verdict["lists"]["suspect"], {"folded": "a,b", "hosts": ["a", "b"]})

    def test_several_files_are_several_runs(self):
        files = [self.write(sweep(with_slow_host, began=f"2026-01-01T0{hour}:00:00Z")) for hour in range(3)]
        stdout, _ = self.run_tool(SLOW, *files)
        self.assertIn("Measured: 720 readings in 45 rounds;", stdout)

    def test_a_file_given_twice_counts_once(self):
        """One failure of a pair that met once: given twice, it looked like a pair that fails again and again."""
        for began in (None, "2026-01-01T00:00:00Z"):
            lines = sweep(lambda a, b: None if (a, b) == (2, 9) else healthy(a, b), began=began)
            once, copy = self.write(lines), self.write(lines)
            expected, _ = self.run_tool(NOT_JUDGED, once)
            for files in ((once, once), (once, copy, once)):
                stdout, stderr = self.run_tool(NOT_JUDGED, *files)
                self.assertEqual(stdout, expected)
                self.assertIn("they are there twice: a file was given again, or with a copy of it: ", stderr)

    def test_standard_input(self):
        text = self.write(sweep(with_slow_host)).read_text()
        stdout, _ = self.run_tool(SLOW, "--quiet", "-", stdin=text)
        self.assertEqual(stdout, "Slow: node07\nFine: node[01-06,08-16]\n")

    def test_tolerance(self):
        lines = sweep(lambda a, b: healthy(a, b) * (0.8 if 6 in (a, b) else 1))
        self.run_tool(SLOW, self.write(lines))
        self.run_tool(CLEAN, "--tolerance", "25%", self.write(lines))
        self.run_tool(CLEAN, "--tolerance", "0.25", self.write(lines))

    def test_map(self):
        stdout, _ = self.run_tool(SLOW, "--map", self.write(sweep(with_slow_host)))
        rows = [line for line in stdout.splitlines() if line.endswith("|")]
        self.assertEqual(len(rows), 16)
        self.assertEqual(rows[0], "#  0 node01  |\\..............5|")
        self.assertEqual(rows[15], "# 15 node07 !|555555555555555\\|")
        self.assertIn("#   5  ", stdout)
        self.assertIn("#   !  beside a name and above a column: slow", stdout)


class Json(FindingTest):  # 1 rank, 1 s

    def test_says_all(self):
        verdict = self.verdict(SLOW, sweep(with_slow_host))
        self.assertEqual((verdict["judged"], verdict["hosts"], verdict["readings"], verdict["failed_readings"]),
                         ("slow", 16, 240, 0))
        others = [f"node{number:02}" for number in range(1, 17) if number != 7]
        self.assertEqual(verdict["order"], [*others, "node07"])
        self.assertEqual((verdict["tolerance_percent"], verdict["false_alarm_percent"]), (5, 1))
        self.assertEqual(verdict["lists"]["slow"], {"folded": "node07", "hosts": ["node07"]})
        self.assertEqual(sum(len(one["hosts"]) for one in verdict["lists"].values()), 16)
        (finding,) = verdict["findings"]
        self.assertEqual((finding["blame"], finding["direction"], finding["hosts"]), ("host", "both", ["node07"]))
        self.assertAlmostEqual(finding["percent_of_expected"], 50, delta=2)
        self.assertAlmostEqual(finding["bandwidth_gb_per_s"], 6, delta=0.3)
        self.assertAlmostEqual(finding["expected_gb_per_s"], 12, delta=0.3)
        self.assertEqual(finding["readings"], 30)
        self.assertEqual(finding["partners"], 15)
        self.assertLess(finding["false_alarm_probability"], 1e-6)
        self.assertEqual(verdict["strata"][0]["measured"], "tcp_bibw 1 MiB")
        self.assertAlmostEqual(verdict["strata"][0]["centre_gb_per_s"], 12, delta=0.2)

    def test_clean(self):
        verdict = self.verdict(CLEAN, sweep())
        self.assertEqual((verdict["judged"], verdict["findings"], verdict["questions"]), ("clean", [], []))

    def test_follows_the_schema_whatever_is_wrong(self):
        once, often = 1, 4  # a path is blamed on several readings only
        cases = (
            ("dead host", SLOW, once, lambda a, b: None if 2 in (a, b) else healthy(a, b)),
            ("path, once", NOT_JUDGED, once, lambda a, b: healthy(a, b) * (0.5 if {a, b} == {1, 4} else 1)),
            ("path, often", SLOW, often, lambda a, b: healthy(a, b) * (0.5 if {a, b} == {1, 4} else 1)),
            ("dead path", SLOW, often, lambda a, b: None if {a, b} == {1, 4} else healthy(a, b)),
            ("one way", SLOW, once, lambda a, b: healthy(a, b) * (0.5 if a == 3 else 1)),
            ("all failed", SLOW, once, lambda a, b: None),
        )
        for name, status, runs, rate in cases:
            with self.subTest(name):
                files = [self.write(sweep(rate, began=f"2026-01-01T0{hour}:00:00Z")) for hour in range(runs)]
                stdout, _ = self.run_tool(status, "--json", "-", *files)
                validate([json.loads(stdout)])

    def test_file_beside_the_text(self):
        path = self.directory / "verdict.json"
        path.write_text("from an earlier run")
        stdout, _ = self.run_tool(SLOW, "--json", path, "--quiet", self.write(sweep(with_slow_host)))
        self.assertEqual(stdout, "Slow: node07\nFine: node[01-06,08-16]\n")
        validate([json.loads(path.read_text())])

    def test_names_rails_and_leaves(self):
        lines = sweep(from_rail="mlx5_0", to_rail="mlx5_0") + sweep(
            lambda a, b: healthy(a, b) * (0.5 if 6 in (a, b) else 1), from_rail="mlx5_1", to_rail="mlx5_1")[1:]
        leaves = self.directory / "leaves"
        leaves.write_text("node[01-08] east\nnode[09-16] west\n")
        verdict = self.verdict(SLOW, lines, "--locality", leaves)
        self.assertEqual([(finding["blame"], finding["rail"]) for finding in verdict["findings"]], [("nic", "mlx5_1")])
        self.assertEqual({(one["from_rail"], one["same_leaf"]) for one in verdict["strata"]},
                         {(rail, same) for rail in ("mlx5_0", "mlx5_1") for same in (True, False)})


class Devices(FindingTest):  # 1 rank, 1 s

    def jobs(self, slow_gpu=None, slow_host=None):
        """Files of four jobs on the same hosts, of which each gets another host's GPU in each."""
        files = []
        for job in range(4):
            gpus = [(host + 3 * job) % 16 for host in range(16)]
            bad = {slow_host, gpus.index(slow_gpu) if slow_gpu is not None else None}
            lines = sweep(lambda a, b, bad=bad: healthy(a, b) * (0.6 if bad & {a, b} else 1))
            for line in lines[1:]:
                for end in ("from", "to"):
                    host = int(line[f"{end}_host"][4:]) - 1
                    line |= {f"{end}_gpu": "0000:17:00.0", f"{end}_gpu_uuid": f"GPU-{gpus[host]:02}",
                             f"{end}_nic": "mlx5_0", f"{end}_nic_guid": f"0x{host:04}", f"{end}_port_gb_per_s": 12.5}
            files.append(self.write(lines))
        return files

    def test_gpu_of_several_jobs(self):
        files = self.jobs(slow_gpu=5)
        stdout, _ = self.run_tool(SLOW, "--json", "-", *files)
        verdict = json.loads(stdout)
        validate([verdict])
        self.assertEqual([(one["blame"], one["devices"], one["direction"]) for one in verdict["findings"]],
                         [("device", [{"kind": "gpu", "id": "GPU-05", "name": "0000:17:00.0"}], "both")])
        self.assertEqual(verdict["lists"]["fine"]["folded"], "node[01-16]")
        self.assertEqual(self.run_tool(SLOW, "--quiet", *files)[0], "Fine: node[01-16]\nSlow GPU: GPU-05\n")
        self.assertIn("GPU 0000:17:00.0, GPU-05 is slow, sending and receiving, on 4 of 4 hosts that used it "
                      "(node[03,06,13,16]); 4 of them fast without it", self.run_tool(SLOW, *files)[0])

    def test_host_with_its_nic_beside(self):
        stdout, _ = self.run_tool(SLOW, *self.jobs(slow_host=6))
        self.assertIn("node07 (NIC mlx5_0, 0x0006) is slow with all partners, sending and receiving", stdout)

    def test_nothing_slow(self):
        self.run_tool(CLEAN, *self.jobs())

    def test_expected_of_adapters(self):
        healthy_jobs = self.jobs()
        self.run_tool(CLEAN, "--expect", "adapters", *healthy_jobs)
        stdout, _ = self.run_tool(SLOW, "--expect", "adapters:99%", "--tolerance", "1%", *healthy_jobs)
        self.assertIn("the usual bandwidth is below the expected one (--expect), even where pairs are fastest", stdout)
        _, stderr = self.run_tool(NOT_JUDGED, "--expect", "adapters", self.write(sweep()))
        self.assertIn("no record has the rate of a port", stderr)
        for wrong in ("adapters:0", "adapters:", "fast", "-1"):
            self.run_tool(USAGE, "--expect", wrong, *healthy_jobs)
        _, stderr = self.run_tool(USAGE, "--expect", "fast", *healthy_jobs)
        self.assertIn("--expect 'fast' is neither a rate in GB/s nor adapters, or adapters:SHARE", stderr)

    def test_port_rate_of_nonsense(self):
        lines = sweep()
        lines[4]["to_port_gb_per_s"] = -1
        _, stderr = self.run_tool(NOT_JUDGED, self.write(lines))
        self.assertIn("a port's rate of -1 GB/s is invalid", stderr)


class Colours(FindingTest):  # 1 rank, 1 s

    def in_terminal(self, **variables):
        """What the program writes to a terminal."""
        file = self.write(sweep(with_slow_host))
        ours, theirs = pty.openpty()
        with open(ours, "rb", buffering=0) as reader:
            process = subprocess.Popen([PROGRAMS / "find_slow_links", file], stdin=subprocess.DEVNULL, stdout=theirs,
                                       stderr=theirs, env=environment(**{"NO_COLOR": None, **variables}))
            os.close(theirs)
            text = b""
            try:
                while block := reader.read(65536):
                    text += block
            except OSError:  # the terminal has no other end any more
                pass
            self.assertEqual(process.wait(TIMEOUT_S), SLOW)
        return text_of(text)

    def test_on_a_terminal_only(self):
        self.assertIn("\x1b[1;31m1 host is slow", self.in_terminal())
        stdout, _ = self.run_tool(SLOW, self.write(sweep(with_slow_host)))
        self.assertNotIn("\x1b", stdout)

    def test_not_where_refused(self):
        self.assertNotIn("\x1b", self.in_terminal(NO_COLOR="1"))


class Refusals(FindingTest):  # 1 rank, 1 s

    def refused(self, status, message, *arguments):
        stdout, stderr = self.run_tool(status, *arguments)
        self.assertEqual((stdout, stderr), ("", f"find_slow_links: {message}\n"))

    def test_usage(self):
        file = self.write(sweep())
        self.refused(USAGE, "no file of records is given; --help says which files it reads")
        self.refused(USAGE, "unknown option '--fast'; --help lists them all", file, "--fast")
        self.refused(USAGE, "--tolerance '5' is not a share of more than nothing and less than all; write one such as 5% "
                            "or 0.05", file, "--tolerance", "5")
        for share in ("0", "0%", "100%", "-1%", "x", "%", "nan", "1e400"):
            stdout, stderr = self.run_tool(USAGE, file, f"--false-alarm={share}")
            self.assertIn("is not a share of more than nothing", stderr + stdout)
        self.refused(USAGE, "--json needs a value, and was given the option '--quiet'; --help says which", file, "--json",
                     "--quiet")
        for option in ("--quiet", "--map"):
            self.refused(USAGE, "--json - writes only the JSON to standard output; leave out --quiet and "
                                "--map", file, "--json", "-", option)
        self.refused(USAGE, "--map excludes --quiet; --help says what each option takes", file, "--map", "--quiet")

    def test_files(self):
        self.refused(MISSING, "cannot open '/nowhere': No such file or directory; check the path and its permissions",
                     "/nowhere")
        self.refused(MISSING, f"cannot read '{self.directory}': Is a directory; check the path and its permissions",
                     self.directory)
        self.refused(MISSING, "cannot write --json '/nowhere/x': No such file or directory; check the path, its permissions "
                              "and the free space", self.write(sweep()), "--json", "/nowhere/x")
        self.refused(MISSING, "cannot open '/nowhere': No such file or directory; check the path and its permissions",
                     self.write(sweep()), "--locality", "/nowhere")

    def test_nothing_to_judge_by(self):
        self.refused(NOT_JUDGED, "there are no readings; measure some with scripts/sweep_pairs.sh",
                     self.write(sweep(rounds=0)))
        empty = self.write([])
        self.refused(NOT_JUDGED, f"'{empty}' is empty; measure some with scripts/sweep_pairs.sh", empty)

    def test_broken_record(self):
        file = self.write(sweep())
        lines = file.read_text().splitlines(keepends=True)
        file.write_text("".join(lines[:7]) + lines[7][:50] + "\n" + "".join(lines[8:]))
        stdout, stderr = self.run_tool(NOT_JUDGED, file)
        self.assertEqual(stdout, "")
        self.assertTrue(stderr.startswith(f"find_slow_links: {file}:8: this record is broken ("), stderr)

    def test_record_that_is_cut_off(self):
        file = self.write(sweep(with_slow_host))
        text = file.read_text()
        file.write_text(text[:-20])
        stdout, stderr = self.run_tool(SLOW, "--quiet", file)
        self.assertEqual(stdout, "Slow: node07\nFine: node[01-06,08-16]\n")
        line = text.count(chr(10))
        self.assertEqual(stderr, f"find_slow_links: {file}:{line}: the last line is cut off and left out\n")

    def test_help_and_version(self):
        for option, text in (("--help", "Exit status: 0 nothing is slow"), ("--version", "find_slow_links (fabricbench) ")):
            stdout, stderr = self.run_tool(0, option)
            self.assertIn(text, stdout)
            self.assertEqual(stderr, "")
