"""scripts/accept.sh --resume and --recheck: a folder that somebody else has made or changed commands nothing."""

import fcntl
import json
import os
import unittest

from accepting import AcceptTest, alive, pids_in, wait_until

START = {"kind": "acceptance", "schema_version": 1, "fabricbench_version": "0.1.0", "began_utc": "2026-01-01T00:00:00Z",
         "hosts": ["node1", "node2"], "held_against": "each other", "command": "scripts/accept.sh -H node[1-2]"}
STEP = {"kind": "acceptance_step", "name": "hosts/node1", "stage": "hosts", "hosts": ["node1"], "command": "",
        "records": "hosts/node1.jsonl", "outcome": "accepted", "exit_status": 0, "reason": None, "seconds": 1.0}
VERDICT = {"kind": "acceptance_verdict", "exit_status": 0, "headline": "2 of 2 hosts accepted", "admit": ["node1", "node2"],
           "drain": [], "undecided": [], "seconds": 3.0}


class Killed(AcceptTest):  # 2 ranks, 20 s

    def test_a_script_that_is_killed_leaves_no_job(self):
        """Alone and in pairs. Nobody else would end them for a minute and more."""
        for fault, number in (("slow_motion", 2), ("endless_pairs", 1)):
            with self.subTest(fault):
                self.results = self.folder / fault.replace("_", "")
                self.plant(fault)
                process = self.start(*self.options(hosts="node[1-2]"))
                launchers = pids_in(self.folder / "begun", number)
                process.kill()
                process.communicate()
                wait_until(lambda: not any(map(alive, launchers)), "launchers live on", 100)
                self.remove(fault)
                self.remove("begun")


class Folders(AcceptTest):  # 2 ranks, 60 s

    way = ("--resume",)

    def forge(self, *lines, text=None):
        """A folder with these lines, or this text, as acceptance.jsonl."""
        (self.results / "hosts").mkdir(parents=True, exist_ok=True)
        file = self.results / "acceptance.jsonl"
        file.write_text(text if text is not None else "".join(json.dumps(line) + "\n" for line in lines))

    def refused(self, words, *arguments, status=2):
        """In one line, and nothing was run."""
        found, out, err = self.call(*self.way, self.results, *arguments)
        self.assertEqual((found, out), (status, ""), err)
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn(words, err)
        self.assertTrue(err[:-1].isprintable(), repr(err))
        self.assertEqual(self.ran(), [])

    def test_what_acts_is_given_again(self):
        evil = self.folder / "evil"
        evil.write_text(f"#!/bin/sh\ntouch {self.folder}/pwned\n")
        evil.chmod(0o755)
        for option, value in (("--agent", evil), ("--programs", self.folder), ("--mpi-options", f"--mca plm_rsh_agent {evil}"),
                              ("--record", self.folder / "pwned"), ("--prometheus", self.folder / "pwned"),
                              ("--baseline", "/dev/zero"), ("--preset", "/dev/zero"), ("--locality", "/dev/zero"),
                              ("--launcher", "srun"), ("--rails", "-x,eth0"), ("--collective-options", "--json pwned --force"),
                              ("--pair-options", "--json pwned"), ("--alone-options", "--json pwned")):
            with self.subTest(option):
                value = str(value)
                quoted = value.replace(" ", "\\ ")
                self.way = ("--recheck", "node1") if option == "--agent" else ("--resume",)
                self.forge(dict(START, command=f"scripts/accept.sh {option} '{value}'"))
                self.refused(f"results was made with {option} {quoted}; give {option} {quoted} too")
                self.refused(f"results was made with {option} {quoted}; give", option, "other")
                self.assertFalse((self.folder / "pwned").exists())
        self.forge(START)
        self.refused("results was made without --agent; leave --agent out, or begin a new run", "--agent", evil)

    def test_a_folder_has_no_words_of_its_own(self):
        for command, words in (("--help", "'--help' is not an option"), ("--nonsense", "'--nonsense' is not an option"),
                               ("--size --json=pwned", "which is no value of --size"), ("-b --json=pwned", "which is no value of -b"),
                               ("--allow 'a\nb'", "which is no value of --allow"), ("'", "No closing quotation")):
            with self.subTest(command):
                self.forge(dict(START, command=f"scripts/accept.sh {command}"))
                self.refused(words)

    def test_lines_of_another_shape(self):
        """What is wrong is said, with the line."""
        for line, words in (
                (dict(START, hosts=[]), "line 1: not a record of an acceptance run: it does not name 2 hosts, each once"),
                (dict(START, hosts=["node1", "node1"]), "it does not name 2 hosts, each once"),
                (dict(START, hosts=["node1", "x\nnode2"]), '"x\\\\nnode2" is no host'.replace("\\\\", "\\")),
                (dict(START, hosts=["node1", "node2\n"]), "is no host"),
                (dict(START, hosts=["node1", "-oProxyCommand=x"]), "is no host"),
                (dict(START, hosts=["node1", "$(touch pwned)"]), "is no host"),
                (dict(START, hosts="node1"), "'hosts' cannot be"),
                (dict(START, schema_version=99), "its schema_version is 99, not 1 of this program; go on with that which began"),
                (dict(START, schema_version=None), "its schema_version is None, not 1 of this program"),
                (dict(START, command=None), "it lacks hosts or held_against or command"),
                (dict(STEP, hosts=["node3"], name="hosts/node3"), "line 2: not a record of an acceptance run: hosts/node3 is no step"),
                (dict(STEP, hosts=[]), "it does not name 1 host, each once"),
                (dict(STEP, hosts=["node2"]), "hosts/node1 is about other hosts"),
                (dict(STEP, name="../node1"), "../node1 is no step of the hosts of this run"),
                (dict(STEP, records="../outside.jsonl"), "'../outside.jsonl' is no file of records of this folder"),
                (dict(STEP, records="/etc/passwd"), "'/etc/passwd' is no file of records of this folder"),
                (dict(STEP, records="hosts/../../x.jsonl"), "is no file of records of this folder"),
                (dict(STEP, seconds=None), "it lacks name or stage"),
                (dict(STEP, seconds=-1.0), "after -1.0 s"),
                (dict(STEP, outcome="fine"), "its outcome is fine"),
                (dict(STEP, stage="alone"), "is no step of the hosts"),
                (dict(VERDICT, drain=[5]), "acceptance_verdict: 'drain' cannot be"),
                ({"kind": "reading"}, "it lacks a kind of such"), ([], "not a record")):
            with self.subTest(line):
                self.forge(*([line] if "held_against" in line else [START, line, VERDICT]))
                self.refused(words)

    def test_links_and_pipes(self):
        """Files outside would be written, and a pipe has no end."""
        outside = self.folder / "outside"
        outside.mkdir()
        for make in (lambda path: path.symlink_to(outside), lambda path: path.symlink_to(outside / "new"), os.mkfifo):
            for name in ("report.html", "summary.txt", "hosts/node1.jsonl", "logs"):
                with self.subTest(name):
                    self.forge(START, STEP)
                    path = self.results / name
                    make(path)
                    self.refused(f"{path} is neither a file nor a folder, and accept.sh made nothing else; remove it")
                    path.unlink()
        self.assertEqual(list(outside.iterdir()), [])

    def test_records_of_steps_of_another_shape(self):
        self.forge(START, STEP, dict(STEP, name="hosts/node2", hosts=["node2"], records="hosts/node2.jsonl"))
        for name in ("node1", "node2"):
            (self.results / "hosts" / f"{name}.jsonl").write_text(json.dumps({
                "kind": "context", "hosts": [{"name": name, "network_devices": [{"name": None}]}],
                "rank_map": [{"rank": 0, "host": name}]}) + "\n")
        found, out, err = self.call("--resume", self.results)
        self.assertEqual((found, out, self.ran()), (1, "", []), err)
        self.assertNotIn("Traceback", err)
        self.assertIn("results has a record of another shape than its kind has", err)

    def test_only_one_run_at_a_time(self):
        self.forge(START)
        holder = os.open(self.results, os.O_RDONLY)
        fcntl.flock(holder, fcntl.LOCK_EX)
        self.refused("results: another run is at work on it; wait for its end, or end it", status=1)
        os.close(holder)
        self.assertEqual(self.call("--resume", self.results, "--dry-run")[0], 0)

    def test_a_temporary_file_of_somebody_else_is_not_written(self):
        """It is a link to another file, under the name that a writer would choose."""
        target, metrics = self.folder / "target", self.folder / "acceptance.prom"
        target.write_text("theirs")
        (self.folder / "acceptance.prom.new").symlink_to(target)
        self.accept("--prometheus", metrics, "--time", "1s")
        self.assertEqual((target.read_text(), metrics.read_text()[:6]), ("theirs", "# HELP"))
        self.assertFalse(metrics.is_symlink())

    def test_a_run_that_is_broken_off_says_what_continues_it(self):
        self.assertEqual(self.accept("--collective-options", "-n 5")[0], 0)
        status, out, err = self.resume("--collective-options", "-n 5")
        self.assertEqual(status, 0, out + err)
        self.assertIn("made with --programs", self.call("--resume", self.results)[2])


if __name__ == "__main__":
    unittest.main()
