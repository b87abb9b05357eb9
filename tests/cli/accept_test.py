"""scripts/accept.sh: what is measured in which order, verdicts, what goes on after an end, and the outputs."""

import json
import re
import shutil
import signal
import time
import unittest
import xml.etree.ElementTree

from accepting import LAUNCHER, PROGRAMS, SCRIPTS, AcceptTest

NODES = [f"node{number}" for number in range(1, 7)]
# Of a baseline: launches of a program on one host, in which no data was carried by a network.
LAUNCH = {"kind": "launch", "began_utc": "2026-01-01T00:00:00Z", "allocation": None, "label": None,
          "identity": {"program": "all_reduce_perf", "hosts": "node1"}, "circumstances": {"kernel": "6.1"}, "rows": 0}
# In the place of report.py: says that it draws, and draws until the test has seen that.
DRAWING = """#!/usr/bin/env python3
import pathlib, sys, time
folder = pathlib.Path(sys.argv[1]).parent
(folder / "drawing").touch()
while not (folder / "seen").exists():
    time.sleep(0.05)
"""
METRIC = re.compile(r'[a-z_]+(\{[a-z]+="(\\.|[^"\\])*"(,[a-z]+="(\\.|[^"\\])*")*\})? -?[0-9.]+')


class Stages(AcceptTest):  # 2 ranks, 40 s

    def test_records_may_have_blanks(self):
        (self.folder / "blanks").touch()
        self.plant("slow_alone", "node2")
        self.assertEqual(self.accept()[0], 6)
        self.assertEqual(list(self.drained()), ["node2"])
        self.assertEqual(json.loads((self.results / "context.jsonl").read_text())["kind"], "context")

    def test_healthy_hosts_are_admitted(self):
        status, out, err = self.accept()
        self.assertEqual(status, 0, out + err)
        self.assertEqual(out.splitlines()[0], "6 of 6 hosts accepted")
        self.assertIn("Admit: node[1-6]\n", out)
        self.assertIn("their speed was compared with nothing", out)
        first = self.lines()[0]
        self.assertEqual((first["kind"], first["hosts"], first["held_against"]), ("acceptance", NODES, "each other"))
        self.assertEqual(self.verdict()["admit"], NODES)
        self.assertEqual(self.outcomes(), dict.fromkeys(
            [f"hosts/{host}" for host in NODES] + ["pairs"] + [f"collectives/all_reduce_perf-{n}" for n in (2, 4, 6)],
            "accepted"))
        for step in self.lines("acceptance_step"):
            self.assertTrue((self.results / step["records"]).exists(), step)
        self.assertTrue((self.results / "context.jsonl").read_text().startswith('{"kind":"context"'))
        self.assertEqual((self.results / "summary.txt").read_text(), out)
        self.assertEqual((self.results / "admit.txt").read_text().split(), NODES)

    def test_cheap_stages_come_first_and_each_size_with_each_program(self):
        self.assertEqual(self.accept("--programs-to-run", "all_reduce_perf,alltoall_perf")[0], 0)
        stages = [len(hosts) if program != "pairwise_bw" else "pairs" for program, hosts in self.ran()]
        self.assertEqual(stages, [1] * 6 + ["pairs"] + [2, 2, 4, 4, 6, 6])
        self.assertEqual([program for program, _ in self.ran()[-2:]], ["all_reduce_perf", "alltoall_perf"])

    def test_what_links_allow_is_asked_of_collectives_and_pairs(self):
        self.assertEqual(self.accept("--expect", 80, "--line-rate", 100)[0], 0)
        commands = {step["name"]: step["command"] for step in self.lines("acceptance_step")}
        self.assertIn(" --expect 80 --line-rate 100 ", commands["collectives/all_reduce_perf-6"])
        self.assertNotIn("--line-rate", commands["hosts/node1"])
        self.results = self.folder / "faster"
        status, out, _ = self.accept("--expect", 80, "--line-rate", 200)  # 20 GB/s, and pairs have 12
        self.assertEqual(status, 6, out)

    def test_a_dead_host_is_drained_and_the_others_are_judged(self):
        self.plant("dead", "node3")
        status, out, err = self.accept()
        self.assertEqual(status, 6, out + err)
        self.assertEqual(list(self.drained()), ["node3"])
        self.assertIn("Connection refused", self.drained()["node3"])
        self.assertEqual(out.splitlines()[0].partition(":")[0], "5 of 6 hosts accepted; node3 dead")
        tried = [(program, hosts) for program, hosts in self.ran() if "node3" in hosts]
        self.assertEqual(tried, [("all_reduce_perf", ["node3"])] * 2)  # alone, twice, and with no other host
        self.assertEqual(self.outcomes()["collectives/all_reduce_perf-5"], "accepted")
        self.assertIn("Connection refused", (self.results / "logs" / "hosts-node3.log").read_text())

    def test_a_host_whose_figures_are_damaged_is_not_admitted(self):
        self.plant("no_time", "node4")
        self.plant("wrong_elements", "node5")
        self.plant("broken_off", "node6")
        status, out, err = self.accept()
        self.assertEqual((status, err.count("Traceback")), (6, 0), out + err)
        self.assertEqual(self.drained(), {
            "node4": "failed alone: all_reduce_perf has no time at 1048576 bytes",
            "node5": "failed alone: all_reduce_perf delivered 3 wrong elements at 1048576 bytes",
            "node6": "failed alone: all_reduce_perf ended with status 9"})

    def test_a_host_slow_alone_is_measured_again_and_drained(self):
        self.plant("slow_alone", "node4")
        status, out, err = self.accept()
        self.assertEqual(status, 6, out + err)
        self.assertEqual(list(self.drained()), ["node4"])
        self.assertRegex(self.drained()["node4"], r"^[45][.\d]* of (10|9\.\d+) GB/s alone at 1M, the median of 6 hosts$")
        self.assertEqual(sum(hosts == ["node4"] for _, hosts in self.ran()), 2)
        self.assertEqual(sum(len(hosts) == 1 for _, hosts in self.ran()), 7)

    def test_a_changed_mtu_is_drained_unless_it_is_allowed(self):
        self.plant("mtu", "1400")
        status, out, _ = self.accept()
        self.assertEqual((status, self.drained()), (6, {"node2": "e0 has an MTU of 1400, 5 others 9000"}))
        self.assertEqual(out.splitlines()[0], "5 of 6 hosts accepted; node2: e0 has an MTU of 1400, 5 others 9000")
        self.results = self.folder / "allowed"
        status, out, _ = self.accept("--allow", "mtu")
        self.assertEqual((status, self.drained()), (0, {}))
        self.assertIn("Note: node2: e0 has an MTU of 1400, 5 others 9000\n", out)

    def test_a_host_that_is_slow_in_pairs_is_drained_with_the_words_of_the_finding(self):
        self.plant("slow_pairs", "node5")
        status, out, err = self.accept()
        self.assertEqual(status, 6, out + err)
        self.assertEqual(list(self.drained()), ["node5"])
        self.assertRegex(self.drained()["node5"], r"^slow: 6\S* of 12\S* GB/s \(node5 is slow with all partners")
        self.assertEqual(out.splitlines()[0], "5 of 6 hosts accepted; node5 slow")
        self.assertFalse(any("node5" in hosts for program, hosts in self.ran() if program != "pairwise_bw" and len(hosts) > 1))

    def test_another_interface_is_found_without_a_baseline(self):
        (self.folder / "fallback").touch()
        status, out, err = self.accept()
        self.assertEqual(status, 6, out + err)
        self.assertEqual(self.drained(), {"node3": "its data went over e1, that of 5 others over e0"})

    def test_a_slow_collective_ends_the_run_unless_it_keeps_going(self):
        self.plant("slow_collectives", "4")
        status, out, err = self.accept()
        self.assertEqual(status, 6, out + err)
        self.assertEqual(self.drained(), {})
        self.assertEqual(list(self.undecided()), ["node3", "node4"])  # it was fast with the first two
        self.assertEqual(self.outcomes()["collectives/all_reduce_perf-6"], "not_measured")
        self.assertIn("all_reduce_perf over 4 hosts: ", out)
        self.results = self.folder / "going"
        status, out, err = self.accept("--keep-going")
        self.assertEqual((status, self.undecided()), (6, {}))
        self.assertEqual(self.outcomes()["collectives/all_reduce_perf-6"], "accepted")

    def test_wrong_data_fails(self):
        (self.folder / "wrong_data").touch()
        self.assertEqual(self.accept()[0], 6)
        self.assertEqual(self.outcomes()["collectives/all_reduce_perf-2"], "failed")

    def test_refused_options_end_the_run(self):
        (self.folder / "refuse_options").touch()
        status, out, err = self.accept()
        self.assertEqual((status, out), (2, ""), err)
        self.assertIn("'-b' is given twice", err)

    def test_a_baseline_without_these_launches_cannot_judge(self):
        baseline = self.write_baseline(dict(LAUNCH, identity={"program": "all_reduce_perf", "hosts": "login1"}))
        status, out, err = self.accept("--baseline", baseline)
        self.assertEqual(status, 7, out + err)
        self.assertEqual(self.lines()[0]["held_against"], f"baseline {baseline}")
        self.assertEqual(self.outcomes()["collectives/all_reduce_perf-2"], "not_judged")
        self.assertEqual(self.outcomes()["hosts/node1"], "accepted")  # beside the other hosts

    def test_keys_of_hosts_do_not_keep_a_baseline_from_being_compared(self):
        baseline = self.write_baseline(LAUNCH)
        status, out, err = self.accept("--baseline", baseline, "--allow", "mtu,carried_by,hosts")
        self.assertEqual(status, 7, out + err)
        step = [step for step in self.lines("acceptance_step") if step["name"] == "collectives/all_reduce_perf-2"][-1]
        self.assertEqual(step["outcome"], "not_judged")
        self.assertTrue(step["reason"].startswith("no launch of the baseline is comparable; these differ: "), step)


class Continuing(AcceptTest):  # 2 ranks, 40 s

    def interrupt(self, *arguments, during="slow_motion"):
        """Breaks a run off while something is measured."""
        (self.folder / during).touch()
        process = self.start(*self.options(), *arguments)
        while not (self.folder / "begun").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        (self.folder / during).unlink()
        return process.returncode, out, err

    def test_an_interrupted_run_says_what_there_is_and_goes_on(self):
        status, out, err = self.interrupt()
        self.assertEqual(status, 130, out + err)
        self.assertIn("continue with: ", err)
        self.assertEqual(self.verdict()["exit_status"], 130)
        self.assertEqual(self.verdict()["admit"], [])
        self.assertEqual(len(self.undecided()), 6)
        self.assertEqual([path.name for path in self.folder.glob("fabricbench-*")], [])
        status, out, err = self.resume()
        self.assertEqual(status, 0, out + err)
        self.assertEqual(self.verdict()["admit"], NODES)

    def test_pairs_that_were_measured_before_a_signal_are_judged(self):
        self.plant("slow_pairs", "node4")
        status, out, err = self.interrupt(during="endless_pairs")
        self.assertEqual(status, 130, out + err)
        self.assertIn("continue with: ", err)
        self.assertEqual(list(self.drained()), ["node4"])
        self.assertTrue(self.lines("acceptance_step")[-1]["reason"].startswith("interrupted; node4 slow"), out)
        status, out, err = self.resume()
        self.assertEqual(status, 6, out + err)
        self.assertEqual((list(self.drained()), len(self.verdict()["admit"])), (["node4"], 5))

    def test_a_reason_says_how_many_more_hosts_there_are(self):
        (self.folder / "mpirun").write_text(LAUNCHER.replace("if a < b] * 3", "if a < b][:1]"))
        self.interrupt(during="endless_pairs")
        self.assertRegex(self.lines("acceptance_step")[-1]["reason"], "^interrupted; node1: .*; node2: .*; and 4 more$")

    def test_a_signal_while_the_report_is_drawn_only_ends_the_drawing(self):
        (self.folder / "build").mkdir()  # beside the scripts, as in the sources
        shutil.copy(PROGRAMS / "fabricbench", self.folder / "build")
        shutil.copytree(SCRIPTS, self.folder / "scripts")
        (self.folder / "scripts" / "report.py").write_text(DRAWING)
        process = self.start(*self.options(), command=(self.folder / "build" / "fabricbench", "accept"))
        while not (self.folder / "drawing").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        (self.folder / "seen").touch()
        out, err = process.communicate(timeout=600)
        self.assertEqual((process.returncode, out.count("6 of 6 hosts accepted")), (0, 1), out + err)
        self.assertEqual((len(self.lines("acceptance_verdict")), self.verdict()["exit_status"]), (1, 0))

    def test_what_is_measured_is_not_measured_again(self):
        self.assertEqual(self.accept()[0], 0)
        text = (self.results / "acceptance.jsonl").read_text().splitlines()
        kept = [line for line in text if '"name":"hosts/' in line or '"kind":"acceptance",' in line]
        # As if the script had been killed while it wrote the first line behind the hosts.
        (self.results / "acceptance.jsonl").write_text("\n".join(kept) + '\n{"kind":"acceptance_st')
        (self.folder / "ran").unlink()
        status, out, err = self.resume()
        self.assertEqual(status, 0, out + err)
        self.assertEqual([len(hosts) for program, hosts in self.ran() if program != "pairwise_bw"], [2, 4, 6])
        self.assertEqual(self.verdict()["admit"], NODES)

    def test_a_repaired_host_is_cleared_by_what_it_takes(self):
        self.plant("dead", "node3")
        self.assertEqual(self.accept()[0], 6)
        self.remove("dead")
        (self.folder / "ran").unlink()
        status, out, err = self.recheck("node3")
        self.assertEqual(status, 0, out + err)
        self.assertEqual((self.verdict()["admit"], self.drained()), (NODES, {}))
        self.assertEqual([hosts for _, hosts in self.ran() if len(hosts) == 1], [["node3"]])
        self.assertEqual([hosts for program, hosts in self.ran() if program != "pairwise_bw"], [["node3"], NODES])
        self.assertIn("pairs/node3", self.outcomes())

    def test_a_host_that_is_not_repaired_stays_drained(self):
        self.plant("mtu", "1400")
        self.assertEqual(self.accept()[0], 6)
        (self.folder / "ran").unlink()
        self.assertEqual(self.recheck("node2")[0], 6)
        self.assertEqual(list(self.drained()), ["node2"])
        self.assertEqual(self.ran(), [("all_reduce_perf", ["node2"])])  # it cannot be cleared any more

    def test_hosts_without_an_address_leave_no_folder(self):
        self.plant("unknown", *NODES)
        status, out, err = self.accept()
        self.assertEqual((status, out), (3, ""), err)
        self.assertIn("none of the 6 hosts has an address here, and nothing is kept: ssh: Could not resolve hostname node", err)
        self.assertFalse(self.results.exists())
        self.assertEqual(len(self.ran()), 6)
        self.plant("unknown", *NODES[1:])
        self.assertEqual(self.accept()[0], 6)
        self.assertEqual(sorted(self.drained()), NODES[1:])

    def test_time_decides_what_is_measured(self):
        status, out, err = self.accept("--time", "1s")
        self.assertEqual(status, 7, out + err)
        self.assertEqual(self.verdict()["admit"], [])
        self.assertEqual(set(self.outcomes().values()) - {"accepted"}, {"not_measured"})
        self.assertIn("Not measured: ", out)
        status, out, err = self.resume("--time", "10m")
        self.assertEqual(status, 0, out + err)
        self.assertEqual(self.verdict()["admit"], NODES)

    def test_damaged_folders_are_refused(self):
        for text in (None, "", '{"kind":"sweep"}\n', '{"kind":"acceptance"}\n', "nonsense\n" * 2, "[" * 100000 + "\n\n"):
            with self.subTest(text and text[:40]):
                self.results.mkdir(exist_ok=True)
                if text is not None:
                    (self.results / "acceptance.jsonl").write_text(text)
                found, out, err = self.resume()
                self.assertEqual((found, out), (2, ""), err)
                self.assertIn("is not the folder of an acceptance run", err)
                self.assertNotIn("Traceback", err)


class Outputs(AcceptTest):  # 2 ranks, 25 s

    def test_files_of_a_run_with_a_finding(self):
        self.plant("mtu", "1400")
        metrics = self.folder / "acceptance.prom"
        self.assertEqual(self.accept("--prometheus", metrics)[0], 6)
        suites = xml.etree.ElementTree.parse(self.results / "junit.xml").getroot()
        by_name = {suite.get("name"): suite for suite in suites}
        self.assertEqual(list(by_name), [f"acceptance.{name}" for name in
                                         ("hosts", "pairs", "collectives", "verdict", "run")])
        for suite in suites:
            self.assertEqual(int(suite.get("tests")), len(suite.findall("testcase")))
            self.assertEqual(int(suite.get("failures")), len(suite.findall("testcase/failure")))
            self.assertEqual(int(suite.get("errors")), len(suite.findall("testcase/error")))
        failed = {case.get("name"): case.find("failure").get("message") for case in by_name["acceptance.verdict"]
                  if case.find("failure") is not None}
        self.assertEqual(failed, {"node2": "e0 has an MTU of 1400, 5 others 9000"})
        lines = metrics.read_text().splitlines()
        for line in lines:
            self.assertTrue(line.startswith(("# HELP fabricbench_acceptance_", "# TYPE fabricbench_acceptance_")) or
                            METRIC.fullmatch(line), line)
        self.assertIn('fabricbench_acceptance_host_status{host="node2"} 6', lines)
        self.assertIn('fabricbench_acceptance_hosts{verdict="admitted"} 5', lines)
        self.assertIn("fabricbench_acceptance_exit_status 6", lines)
        self.assertEqual([path.name for path in self.folder.glob("acceptance.prom*")], ["acceptance.prom"])

    def test_junit_has_the_hosts_in_their_order(self):
        self.plant("slow_alone", "node2")  # which is measured again, after all others
        self.assertEqual(self.accept()[0], 6)
        hosts = xml.etree.ElementTree.parse(self.results / "junit.xml").getroot()[0]
        self.assertEqual([case.get("name") for case in hosts], NODES)

    def test_where_standard_output_cannot_be_written(self):
        for closed, why in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            for nagios, status in ((), 1), (("--nagios",), 3):
                with self.subTest(closed + "".join(nagios)):
                    self.results = self.folder / f"results{status}{why[:2]}"
                    process = self.start(*self.options(), *nagios,
                                         command=("sh", "-c", f'exec "$@" {closed}', "sh", SCRIPTS / "accept.sh"))
                    err = process.communicate(timeout=600)[1]
                    self.assertEqual((process.returncode, err.count("standard output"), err.count(why)), (status, 1, 1), err)
                    self.assertTrue((self.results / "summary.txt").exists())

    def test_nagios(self):
        status, out, err = self.accept("--nagios")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"^ACCEPTANCE OK - 6 of 6 hosts accepted "
                              r"\| admitted=6;;;0;6 drained=0;;;0;6 undecided=0;;;0;6 time=\d+s\n$")
        self.plant("mtu", "1400")
        self.results = self.folder / "critical"
        status, out, err = self.accept("--nagios")
        self.assertEqual((status, out.count("\n")), (2, 1), err)
        self.assertTrue(out.startswith("ACCEPTANCE CRITICAL - 5 of 6 hosts accepted; node2: "), out)
        self.results = self.folder / "warning"
        self.assertEqual(self.accept("--nagios", "--allow", "mtu")[0], 1)
        status, out, err = self.accept("--nagios", "--allow", "mtu")  # its folder exists
        self.assertEqual((status, out), (3, "ACCEPTANCE UNKNOWN - accept.sh ended with status 2; "
                                            "its message is on standard error\n"))
        self.results = self.folder / "unknown"
        self.assertEqual(self.accept("--nagios", "--time", "1s")[0], 3)

    def test_dry_run(self):
        status, out, err = self.accept("--dry-run")
        self.assertEqual(status, 0, err)
        self.assertEqual(len(out.splitlines()), 8)  # six hosts, the sweep, the first collective
        self.assertEqual(self.ran(), [])
        self.assertFalse(self.results.exists())

    def test_a_host_of_another_run_cannot_be_rechecked(self):
        self.assertEqual(self.accept()[0], 0)
        status, out, err = self.recheck("node9")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("node9 is not among the hosts", err)


class WrongOptions(AcceptTest):  # 2 ranks, 40 s

    def refused(self, words, status, *arguments):
        """Nothing was begun, and that was said."""
        with self.subTest(words):
            found, out, err = self.accept(*arguments)
            self.assertEqual((found, out), (status, ""), err)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertTrue(err.startswith("accept.sh: "), err)
            self.assertIn(words, err)
            self.assertFalse(self.results.exists())
            self.assertEqual(self.ran(), [])

    def test_wrong_sizes_are_refused_before_anything_is_measured(self):
        self.refused("'1X' is not a size", 2, "-b", "1X")
        self.refused("'big' is not a size", 2, "-e", "big")
        self.refused("--step-factor is at least 1", 2, "-f", 0)
        self.refused("the first size, --min-bytes 1M, is above the last, --max-bytes 1K", 2, "-b", "1M", "-e", "1K")

    def test_what_is_missing_is_refused_before_anything_is_measured(self):
        self.refused("--preset needs a value", 2, "--preset", "")
        self.refused("--record '/nowhere/site.jsonl': there is no such folder", 3, "--record", "/nowhere/site.jsonl")
        self.refused("'send_recv_lat' is not a list of collectives", 2, "--programs-to-run", "send_recv_lat")

    def test_wrong_options_of_pairs_are_refused_before_anything_is_measured(self):
        self.refused("'1X' is not a size", 2, "--size", "1X")
        self.refused("--resident runs pairwise_bw; leave --test tcp_bw out", 2, "--test", "tcp_bw")

    def test_a_preset_that_cannot_be_read_is_refused_before_anything_is_measured(self):
        preset = self.folder / "system.jsonl"
        self.refused("there is no preset 'nosuch', and no such file", 3, "--preset", "nosuch")
        lines = [{"kind": "preset", "preset_version": 1, "name": "system", "description": "made up"},
                 {"kind": "preset_figure"}]
        preset.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.refused(f"{preset}:2: ", 7, "--preset", preset)
        preset.write_text(json.dumps(dict(lines[0], preset_version=1000)) + "\n")
        self.refused("preset_version is 1000", 7, "--preset", preset)

    def test_a_baseline_that_cannot_be_read_is_refused_before_anything_is_measured(self):
        baseline = self.write_baseline(LAUNCH)
        whole = baseline.read_text()
        for option in ("--baseline", "--record"):
            baseline.write_text(whole[:-20])
            self.refused(f"{baseline}:2: the file is cut off", 7, option, baseline)
            self.write_baseline(LAUNCH, launches=2)
            self.refused("the first line says 2 launches, and there are 1", 7, option, baseline)
            self.write_baseline()
            self.refused(f"{baseline}: it has no launch", 7, option, baseline)
            self.write_baseline(LAUNCH, baseline_version=1000)
            self.refused("it is a baseline of version 1000", 7, option, baseline)
        self.refused("", 3, "--baseline", self.folder)

    def test_keys_that_nothing_has_are_refused_before_anything_is_measured(self):
        baseline = self.write_baseline(LAUNCH)
        self.refused("--allow 'foo' is not a key of hosts; use some of mtu nics ", 2, "--allow", "mtu,foo")
        self.refused("--allow 'foo': no launch has such a key; choose from hosts, program", 2,
                     "--allow", "hosts,foo", "--baseline", baseline)
        self.refused("--allow program: ", 2, "--allow", "program", "--baseline", baseline)

    def test_the_help_lists_every_key_of_hosts(self):
        listed = re.split(r"[\s,]+", self.call("--help")[1])
        keys = {"mtu", "nics", "state", "speed", "driver", "firmware", "processor", "cores", "memory", "gpus", "gpu_driver",
                "carried_by", "groups"}
        self.assertGreaterEqual(set(listed), keys)
        self.assertEqual(self.accept("--dry-run", "--allow", ", ".join(keys) + ",PATH,variable PATH")[0], 0)

    def test_wrong_command_lines_have_one_clear_message(self):
        for words, arguments, status in (
                ("an acceptance run needs at least two hosts, each named once; given: node1", (), 2),
                ("'--nonsense' is not an option of accept.sh", ("--nonsense",), 2),
                ("--time 'soon' is not a time; give one such as 90s, 20m or 8h", ("--time", "soon"), 2),
                ("--time '5' has no unit; write 5s for seconds, or 5m for minutes", ("--time", "5"), 2),
                ("--time '00:05:00' is not a time; give one such as", ("--time", "00:05:00"), 2),
                ("'/nowhere' is not the folder of an acceptance run; give one such as", ("--resume", "/nowhere"), 2),
                ("'/nowhere' is not the folder of an acceptance run; give one such as", ("--resume=/nowhere",), 2),
                ("--tolerance '2' is not a share, such as 5% or 0.05", ("--tolerance", "2"), 2),
                ("--baseline and --expect exclude each other", ("--baseline", "x", "--expect", 80), 2),
                ("--baseline 'x' cannot be read", ("--baseline", "x"), 3),
                ("--strict belongs to --preset", ("--strict",), 2),
                ("--line-rate is for --expect", ("--line-rate", "100"), 2),
                ("--line-rate '0' is not a rate in Gbit/s", ("--expect", "80", "--line-rate", "0"), 2),
                ("--expect '0.0' is not a share in percent", ("--expect", "0.0"), 2),
                ("--programs-to-run 'a b' is not a list of collectives", ("--programs-to-run", "a b"), 2),
                ("there is no program nothing_perf", ("--programs-to-run", "nothing_perf"), 3),
                ("the folder '/proc/x' cannot be made (No such file or directory); name another one with --output",
                 ("--output", "/proc/x"), 2),
                (f"the folder '{'x' * 300}' cannot be made (File name too long); name another one with --output",
                 ("--output", "x" * 300), 2),
                (f"'{'x' * 300}' is not the folder of an acceptance run", ("--resume", "x" * 300), 2),
                ("--ranks '0' is not a whole number of 1 or more", ("--ranks", "0"), 2),
                ("--recheck needs hosts and the folder of a run", ("--recheck", "node1"), 2)):
            with self.subTest(words):
                found, out, err = self.accept(*arguments, hosts="node[1-6]" if arguments else "node1")
                self.assertEqual((found, out), (status, ""), err)
                self.assertIn(words, err)
                self.assertFalse(self.results.exists())


if __name__ == "__main__":
    unittest.main()
