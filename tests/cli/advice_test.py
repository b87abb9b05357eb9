"""Commands that find_slow_links suggests, as a shell runs them, and names in records that somebody chose with ill intent.

ssh is a stand-in here that gives its words to another shell, as the real one does. Programs that would ask a network tell
what they were given.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys

from finding import NOT_JUDGED, SLOW, TIMEOUT_S, FindingTest, healthy, sweep
from launch import PROGRAMS, environment, text_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
STAND_IN = """#!%s
import json, pathlib, subprocess, sys
name = pathlib.Path(sys.argv[0]).name
with open(pathlib.Path(sys.argv[0]).parent / "told", "a") as told:
    told.write(json.dumps([name, *sys.argv[1:]]) + "\\n")
if sys.argv[1:] == ["--version"]:
    print("mpirun (Open MPI) 4.1.4")
elif name == "ssh":
    sys.exit(subprocess.run(["sh", "-c", " ".join(sys.argv[2:])]).returncode)
elif name == "ibqueryerrors":
    print('Errors for "node07 mlx5_0"')
""" % sys.executable
TOLD = ("ssh", "ibstat", "ip", "ibqueryerrors", "iblinkinfo", "ping", "uptime", "mpirun", "parallel")
BENCHMARKS = ("pairwise_bw", "send_recv_bibw", "tcp_bibw", "rdma_write_bw", "sendrecv_perf")
SLOWER = 0.5
NASTY_RAIL = "mlx5_0';>pwned;'$(>pwned)"


def leaf(host):
    return host // 4


def slow_if(condition):
    return lambda a, b: healthy(a, b) * (SLOWER if condition(a, b) else 1)


def leaves():
    return [{"kind": "locality", "host": f"node{host + 1:02}", "leaf": f"leaf{leaf(host)}"} for host in range(16)]


def on_two_rails(rate, second="1"):
    """What `rate` says of the second rail, and health of the first."""
    return sweep(from_rail="0", to_rail="0") + sweep(rate, from_rail=second, to_rail=second)[1:]


def now_and_then():
    lines = []
    for run in range(3):
        for line in sweep():
            if "node07" in (line.get("from_host"), line.get("to_host")) and (line["round"] + run) % 3 == 0:
                line["bandwidth_gb_per_s"] *= SLOWER
            lines.append(line)
    return lines


def repeated(rate):
    """Four sweeps, which began one after the other: the same readings at the same time would count once."""
    return [{**line, "began_utc": f"2026-01-01T0{hour}:00:00Z"} if line["kind"] == "sweep" else line
            for hour in range(4) for line in sweep(rate)]


def cases():
    """For each kind of finding, records and options that lead to it."""
    return {
        "host": (sweep(slow_if(lambda a, b: 6 in (a, b))), ()),
        "nic": (on_two_rails(slow_if(lambda a, b: 6 in (a, b)), "mlx5_1"), ()),
        "pair": (repeated(slow_if(lambda a, b: {a, b} == {1, 6})), ()),
        "leaf": (leaves() + sweep(slow_if(lambda a, b: (leaf(a) == 0) != (leaf(b) == 0))), ()),
        "leaf_pair": (leaves() + sweep(slow_if(lambda a, b: {leaf(a), leaf(b)} == {0, 1})), ()),
        "rail": (on_two_rails(lambda a, b: healthy(a, b) * SLOWER), ()),
        "all": (sweep(), ("--expect", "100")),
        "transient": (now_and_then(), ()),
        "dead": (sweep(lambda a, b: None if 6 in (a, b) else healthy(a, b)), ()),
        "dead_pair": (repeated(lambda a, b: None if {a, b} == {1, 6} else healthy(a, b)), ()),
        "undecided": (sweep(slow_if(lambda a, b: True), hosts=2, status="failed"), ()),
    }


def renamed(lines, names):
    """The same lines, with other names for some of the hosts, rails and so on."""
    def other(value):
        if isinstance(value, list):
            return [other(each) for each in value]
        return names.get(value, value) if isinstance(value, str) else value

    return [{key: other(value) for key, value in line.items()} for line in lines]


class Commands(FindingTest):  # 1 rank, 20 s

    def setUp(self):
        super().setUp()
        self.stands_in = self.directory / "bin"
        self.stands_in.mkdir()
        for name in TOLD:
            (self.stands_in / name).write_text(STAND_IN)
            (self.stands_in / name).chmod(0o755)
        self.programs = self.directory / "programs"
        self.programs.mkdir()
        for name in ("fabricbench", "list_hosts", "plan_sweep", "find_slow_links"):
            (self.programs / name).symlink_to(PROGRAMS / name)
        for name in BENCHMARKS:
            (self.programs / name).write_text("#!/bin/sh\n")
            (self.programs / name).chmod(0o755)
        (self.directory / "scripts").symlink_to(ROOT / "scripts")

    def suggested(self, lines, *arguments):
        """The commands by the blame of their finding."""
        stdout, _ = self.run_tool(SLOW, "--json", "-", *arguments, self.write(lines))
        commands = {}
        for finding in json.loads(stdout)["findings"]:
            commands.setdefault(finding["blame"], []).extend(each["command"] for each in finding["next_commands"])
        return commands

    def shell(self, command):
        """Runs a command as a person would who pastes it; scripts only say what they would do. Returns what was told."""
        told = self.stands_in / "told"
        told.unlink(missing_ok=True)
        if command.startswith("scripts/"):
            command += f" --dry-run --programs {shlex.quote(str(self.programs))}"
        path = f"{self.stands_in}:{os.environ['PATH']}"
        result = subprocess.run(["sh", "-c", command], cwd=self.directory, env=environment(PATH=path),
                                capture_output=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(result.returncode, 0, f"{command}\n{text_of(result.stderr)}")
        self.assertFalse((self.directory / "pwned").exists(), command)
        lines = told.read_text().splitlines() if told.exists() else []
        return text_of(result.stdout), [json.loads(line) for line in lines]

    def test_of_every_kind_of_finding_run(self):
        for blame, (lines, options) in cases().items():
            with self.subTest(blame):
                commands = self.suggested(lines, *options)
                self.assertIn(blame, commands)
                for command in commands[blame]:
                    self.shell(command)

    def test_are_the_same_in_the_text(self):
        lines, _ = cases()["host"]
        stdout, _ = self.run_tool(SLOW, self.write(lines))
        (commands,) = self.suggested(lines).values()
        for command in commands:
            self.assertIn(f" {command}  # ", stdout)

    def test_sweep_names_all_hosts_and_the_rail(self):
        commands = self.suggested(cases()["nic"][0])["nic"]
        self.assertTrue(commands[0].startswith("scripts/sweep_pairs.sh -H 'node[01-03,07]' "), commands[0])
        printed, _ = self.shell(commands[0])
        for word in ("mlx5_1", "tcp_bibw"):
            self.assertIn(word, printed)

    def test_jobs_are_started_as_the_sweep_did(self):
        """Also with words that somebody chose with ill intent, which are words of one option."""
        agent, options = self.directory / "my agent", "--mca btl self,tcp;>pwned $(>pwned)"
        agent.write_text(STAND_IN.replace('name == "ssh"', "True"))
        agent.chmod(0o755)
        for blame in ("host", "pair", "dead", "dead_pair"):
            with self.subTest(blame):
                lines, _ = cases()[blame]
                lines = [{**lines[0], "agent": str(agent), "mpi_options": options}, *lines[1:]]
                for command in self.suggested(lines)[blame]:
                    self.assertFalse(command.startswith("ssh "), command)
                    printed, _ = self.shell(command)
                    if command.startswith("scripts/"):
                        words = shlex.split(printed.splitlines()[-1])
                        self.assertIn(str(agent), words)
                        self.assertIn("self,tcp;>pwned", words)

    def test_hosts_with_users_and_addresses(self):
        lines = renamed(cases()["dead_pair"][0], {"node02": "alice@node02", "node07": "fe80::7"})
        commands = self.suggested(lines)["dead_pair"]
        told = [self.shell(command)[1] for command in commands]
        self.assertIn(["ssh", "alice@node02", "ping", "-c", "3", "fe80::7"], told[-1])
        self.assertIn(["ping", "-c", "3", "fe80::7"], told[-1])

    def test_a_rail_reaches_the_program_as_one_word(self):
        for test, program in (("tcp_bibw", "ip"), ("rdma_write_bw", "ibstat")):
            lines = renamed(cases()["nic"][0], {"mlx5_1": NASTY_RAIL, "tcp_bibw": test})
            again, *others = self.suggested(lines)["nic"]
            (on_host,) = [command for command in others if command.startswith("ssh")]
            self.assertEqual([(words[0], words[-1]) for words in self.shell(on_host)[1][1:]], [(program, NASTY_RAIL)])
            printed, _ = self.shell(again)
            self.assertIn(NASTY_RAIL, shlex.split(printed.splitlines()[-1]))

    def test_no_command_for_what_a_launcher_takes_for_something_else(self):
        """A host with slots."""
        for blame in ("host", "pair", "dead", "dead_pair", "transient"):
            with self.subTest(blame):
                lines, options = cases()[blame]
                self.assertEqual(self.suggested(renamed(lines, {"node07": "node01:8"}), *options)[blame], [])

    def test_nor_with_one_as_a_healthy_partner(self):
        lines = renamed(cases()["host"][0], {"node01": "node01:8", "node02": "node02:8"})
        commands = self.suggested(lines)["host"]
        self.assertTrue(commands[0].startswith("scripts/sweep_pairs.sh -H 'node[03-05,07]' "), commands[0])


class Names(FindingTest):  # 1 rank, 5 s

    EVIL = "x\nSlow: node02\n\x1b[2J\x9b1m\u202e"

    def outputs(self, *options):
        names = {"connection refused": self.EVIL, "tcp_bibw": self.EVIL, "leaf0": self.EVIL,
                 "mlx5_1": self.EVIL}
        for blame, (lines, more) in cases().items():
            if blame in ("leaf", "leaf_pair") and "--locality" in options:
                continue
            with self.subTest(blame):
                stdout, stderr = self.run_tool(SLOW, *options, *more, self.write(renamed(lines, names)))
                yield blame, stdout, stderr

    def test_nothing_reaches_a_terminal_that_is_not_text(self):
        for blame, stdout, stderr in self.outputs("--map"):
            with self.subTest(blame):
                for character in (stdout + stderr).replace("\n", ""):
                    self.assertTrue(character.isprintable() or character == "\ufffd", repr(character))

    def test_a_name_makes_no_line_of_its_own(self):
        for blame, stdout, _ in self.outputs("--quiet"):
            with self.subTest(blame):
                lines = stdout.splitlines()
                self.assertFalse([line for line in lines if line.startswith("Slow: node02")], stdout)
                titles = [line.split(":")[0] for line in lines if "path" not in line]
                self.assertEqual(len(titles), len(set(titles)), stdout)

    def test_what_is_no_host_is_refused_in_one_line(self):
        lines, _ = cases()["host"]
        for name in (self.EVIL, "-oProxyCommand=touch pwned", "n; touch pwned", "$(touch pwned)", "a,b", "n[1-2]",
                     "bob@-oProxyCommand=x"):
            with self.subTest(name=name):
                stdout, stderr = self.run_tool(NOT_JUDGED, self.write(renamed(lines, {"node07": name})))
                self.assertEqual(stdout, "")
                self.assertRegex(stderr, r"\Afind_slow_links: [^\n]* \('[^\n]*' is no host: it has [^\n]*\n\Z")
                self.assertTrue(all(character.isprintable() or character == "\ufffd" for character in stderr[:-1]), stderr)
