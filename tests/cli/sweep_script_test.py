"""scripts/sweep_pairs.sh with a launcher that makes figures up: rounds, records, what goes on after an end, and the verdict.

tests/cluster has the script on hosts.
"""

import collections
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time

from accepting import alive, pids_in, wait_until
from sweep_script import PROGRAMS, SweepScriptTest

# What node3 sends and receives is half as fast; node5 refuses to start anything where the file `refuse` is there.
LAUNCHER = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
folder = pathlib.Path(__file__).parent
def begin():
    with open(folder / "begun", "a") as file:
        file.write(str(os.getpid()) + "\\n")
if sys.argv[1:] == ["--version"]:
    print("mpirun (Open MPI) 4.1.4")
    sys.exit()
hosts = [line.split()[0] for line in open(sys.argv[sys.argv.index("--hostfile") + 1])]
if "node5" in hosts and (folder / "refuse").exists():
    sys.exit("ssh: connect to host node5 port 22: Connection refused")
if (folder / "slow_motion").exists():
    begin()
    time.sleep(100)
def tell(**values):
    print(json.dumps(values), flush=True)
tell(kind="context", rank_map=[dict(rank=rank, host=host) for rank, host in enumerate(hosts)])
if "--level" in sys.argv:  # all pairs in one job, which does not dare to judge them
    pairs = [(a, b) for a in range(len(hosts)) for b in range(len(hosts)) if a < b]
    for number, pair in enumerate(pairs):
        for sender, receiver in (pair, pair[::-1]):
            tell(**{"kind": "reading", "round": number, "concurrent": 1, "from": sender, "to": receiver,
                    "from_rank": sender, "to_rank": receiver,
                    "from_host": hosts[sender], "to_host": hosts[receiver], "status": "ok", "bandwidth_gb_per_s": 12.0,
                    "size_bytes": 1 << 20})
        if (folder / "stuck").exists():
            begin()
            time.sleep(100)
    tell(kind="end")
    sys.exit(7)
for sender, receiver in ((0, 1), (1, 0)):
    rate = (6.0 if "node3" in hosts else 12.0) * (1 + 0.002 * (hash(tuple(hosts)) % 5))
    tell(**{"kind": "reading", "from": sender, "to": receiver, "status": "ok", "bandwidth_gb_per_s": rate, "latency_us": 2.0,
            "reason": None, "size_bytes": 1 << 20})
tell(kind="end")
"""


class SweepScript(SweepScriptTest):  # 2 ranks, 9 s

    LAUNCHER = LAUNCHER

    def pairs_by_round(self):
        rounds = collections.defaultdict(set)
        for reading in self.lines("reading"):
            rounds[reading["round"]].add(frozenset((reading["from_host"], reading["to_host"])))
        return rounds

    def test_resident_ends_as_the_verdict_on_all_records_says(self):
        status, out, err = self.sweep("-H", "node[1-2,4,6]", "--resident", "--all-pairs")
        self.assertEqual(status, 0, out + err)
        self.assertIn("Nothing is slow", out)

    def test_finds_the_slow_host(self):
        locality = self.folder / "locality"
        locality.write_text("# rack of each\nnode1 a\nnode2 a\nnode3 b\nnode4 b\nnode5 c\nnode6 c\nnode99 z\n")
        status, out, err = self.sweep("-H", "node[1-6]", "--find", "--rounds", "6", "--seed", "5",
                                      "--locality", str(locality))
        self.assertEqual(status, 6, out + err)
        self.assertIn("Slow: node3\n", out)
        first = self.lines("sweep")[0]
        self.assertEqual((first["hosts"], first["seed"], first["plan"]), ([f"node{n}" for n in range(1, 7)], "5", "--find --rounds 6"))
        self.assertEqual({line["host"]: line["leaf"] for line in self.lines("locality")},
                         {"node1": "a", "node2": "a", "node3": "b", "node4": "b", "node5": "c", "node6": "c"})
        for round_number, pairs in self.pairs_by_round().items():
            hosts = [host for pair in pairs for host in pair]
            self.assertEqual(len(hosts), len(set(hosts)), f"round {round_number} has a host in two pairs")
        self.assertRegex(err, r"round 0: 6 ok in \d+ s; about \d+ more, ")

    def test_all_pairs_of_an_odd_number_a_few_at_once(self):
        status, out, err = self.sweep("-H", "node[11-13]", "--all-pairs", "--max-concurrent", "1")
        self.assertIn(status, (0, 7), out + err)
        rounds = self.pairs_by_round()
        self.assertEqual({len(pairs) for pairs in rounds.values()}, {1})
        self.assertEqual(len(set().union(*rounds.values())), 3)
        self.assertEqual({reading["concurrent"] for reading in self.lines("reading")}, {1})

    def test_rails(self):
        how = {"agent": "/bin/sh", "mpi_options": "--mca btl self,tcp", "programs": PROGRAMS}
        status, out, err = self.sweep("-H", "node[11-14]", "--rounds", "1", "--rails", "eth8,eth9",
                                      "--agent", how["agent"], "--mpi-options", how["mpi_options"])
        self.assertIn(status, (0, 7), out + err)
        first = self.lines("sweep")[0]
        self.assertEqual({key: first.get(key) for key in ("launcher", *how)}, {"launcher": None, **how})
        self.assertEqual(collections.Counter(reading["from_rail"] for reading in self.lines("reading")), {"eth8": 4, "eth9": 4})

    def test_dead_host_is_left_out(self):
        (self.folder / "refuse").touch()
        status, out, err = self.sweep("-H", "node[4-9]", "--find", "quick")
        self.assertEqual(status, 6, out + err)
        self.assertEqual(self.lines("sweep")[0]["plan"], "--find --rounds 8")
        self.assertIn("Dead: node5\n", out)
        self.assertIn("Connection refused", out)
        tried = {frozenset((line["from_host"], line["to_host"])) for line in self.lines("reading") if line["status"] == "failed"}
        self.assertEqual(len(tried), 2)

    def test_where_nothing_works(self):
        (self.folder / "refuse").touch()
        (self.folder / "mpirun").write_text(LAUNCHER.replace('if "node5" in hosts and ', "if "))
        status, out, err = self.sweep("-H", "node[4-11]")
        self.assertEqual(status, 1, out + err)
        self.assertIn("no pair could be measured in 2 rounds; 16 of 16 readings say: ", err)

    def test_one_of_three_hosts_is_dead(self):
        (self.folder / "refuse").touch()
        status, out, err = self.sweep("-H", "node[4-6]", "--seed", "2")  # the living ones meet in the third round
        self.assertEqual(status, 6, out + err)
        self.assertIn("Dead: node5\n", out)

    def test_one_job_where_nothing_works(self):
        (self.folder / "refuse").touch()
        (self.folder / "mpirun").write_text(LAUNCHER.replace('if "node5" in hosts and ', "if "))
        status, out, err = self.sweep("-H", "node[4-11]", "--resident", "--timeout", "6")
        self.assertEqual((status, out), (1, ""), err)
        self.assertIn("one job over 8 hosts; it is ended when it has said nothing for 44 s\n", err)
        self.assertIn("the job ended 1 time, and no host answers (does mpirun start 'hostname' on node10?): ssh: connect to host node5",
                      err)

    def test_a_launcher_of_another_kind_leaves_no_records(self):
        (self.folder / "mpirun").write_text("#!/bin/sh\necho mpirun of nobody\n")
        status, out, err = self.sweep("-H", "node[4-7]")
        self.assertEqual((status, out), (3, ""), err)
        self.assertIn("names neither Open MPI nor hydra", err)
        self.assertFalse(self.records.exists())

    def test_goes_on(self):
        self.assertIn(self.sweep("-H", "node[11-14]", "--rounds", "1", "--seed", "9")[0], (0, 7))
        kept = self.records.read_text()
        self.assertEqual(self.sweep("-H", "node[11-14]")[0], 2)  # the file is there already
        status, out, err = self.sweep("--resume", "--all-pairs")
        self.assertEqual(status, 0, out + err)
        self.assertTrue(self.records.read_text().startswith(kept))
        meetings = collections.Counter((line["from_host"], line["to_host"]) for line in self.lines("reading"))
        self.assertEqual((len(meetings), set(meetings.values())), (12, {1}))

    def test_goes_on_behind_half_a_record(self):
        self.assertIn(self.sweep("-H", "node[11-14]", "--rounds", "1", "--seed", "9")[0], (0, 7))
        kept = self.records.read_text()
        self.records.write_text(kept[:-20])
        status, out, err = self.sweep("--resume", "--all-pairs")
        self.assertEqual(status, 7, out + err)  # the other direction of that pair is known, so it is not measured again
        self.assertIn(f"fabricbench: {self.records}: the last line had no end; it is half a record and removed\n", err)
        self.assertTrue(self.records.read_text().startswith("".join(kept.splitlines(True)[:-1])))
        self.assertEqual(len(self.lines("reading")), 11)

    def test_where_standard_output_cannot_be_written(self):
        for closed, why in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            with self.subTest(closed):
                status, _, err = self.sweep("-H", "node[11-14]", "--rounds", "1", runner=("sh", "-c", f'exec "$@" {closed}', "sh"))
                self.assertEqual((status, err.count("standard output"), err.count(f"standard output: {why}")), (1, 1, 1), err)
                self.records.unlink()

    def test_broken_off(self):
        (self.folder / "slow_motion").touch()
        process = self.start("--hosts=node[11-14]")
        while not (self.folder / "begun").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(err, r"continue with: \S*/sweep_pairs\.sh --resume .*--hosts=node")
        self.assertEqual(self.lines("reading"), [])
        self.assertEqual([path.name for path in self.folder.glob("fabricbench-*")], [])
        (self.folder / "slow_motion").unlink()
        self.assertIn(self.sweep("--resume", "--rounds", "1")[0], (0, 7))
        self.assertEqual(len(self.lines("reading")), 4)

    def test_one_job_that_is_broken_off_leaves_its_readings(self):
        (self.folder / "stuck").touch()
        process = self.start("-H", "node[11-14]", "--resident", "--all-pairs")
        while not (self.folder / "begun").exists():
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("continue with: ", err)
        self.assertEqual([(line["from_host"], line["to_host"]) for line in self.lines("reading")],
                         [("node11", "node12"), ("node12", "node11")])
        (self.folder / "stuck").unlink()
        status, out, err = self.sweep("--resume", "--resident")
        self.assertEqual(status, 0, out + err)

    def test_a_script_that_is_killed_leaves_no_job(self):
        """Which nobody else would end for a minute and more."""
        for fault, arguments in (("slow_motion", ()), ("stuck", ("--resident",))):
            with self.subTest(fault):
                self.records.unlink(missing_ok=True)
                (self.folder / fault).touch()
                process = self.start("-H", "node[11-14]", *arguments)
                launchers = pids_in(self.folder / "begun", 1 if arguments else 2)
                process.kill()
                process.communicate()
                wait_until(lambda: not any(map(alive, launchers)), "launchers live on", 60)
                (self.folder / fault).unlink()
                (self.folder / "begun").unlink()

    def test_only_one_at_a_time(self):
        self.assertIn(self.sweep("-H", "node[11-14]", "--rounds", "1")[0], (0, 7))
        kept = self.records.read_text()
        with self.records.open() as holder:
            fcntl.flock(holder, fcntl.LOCK_EX)
            status, out, err = self.sweep("--resume", "--all-pairs")
        self.assertEqual((status, out, self.records.read_text()), (2, "", kept))
        self.assertIn("records.jsonl: another run is at work on it; wait for its end, or end it\n", err)

    def test_records_command_nothing(self):
        first = {"kind": "sweep", "hosts": ["node11", "node12"], "seed": "5", "plan": "--find"}
        for changes, words in (({"plan": "--records /etc/passwd"}, "records.jsonl: --records is no plan of a sweep"),
                               ({"plan": "--rounds 2 --json x"}, "records.jsonl: --json is no plan of a sweep"),
                               ({"plan": "--rounds x"}, "records.jsonl: --rounds 'x' is not a whole number of 1 or more"),
                               ({"seed": "5 --json"}, "is no seed"), ({"seed": None}, "is no seed"),
                               ({"hosts": ["node11", "x\ny"]}, '"x\\ny" is no host'), ({"hosts": ["node11"]}, "name 2 hosts"),
                               ({"hosts": None}, "name 2 hosts"), ({"hosts": ["node11", "-oProxyCommand=x"]}, "is no host")):
            with self.subTest(changes):
                self.records.write_text(json.dumps({**first, **changes}) + "\n")
                status, out, err = self.sweep("--resume")
                self.assertEqual((status, out, err.count("\n")), (2, "", 1), err)
                self.assertIn(words, err)

    def test_dry_run(self):
        status, out, err = self.sweep("-H", "node[11-14]", "--dry-run", "--timeout=7")
        self.assertEqual(status, 0, err)
        self.assertEqual(len(out.splitlines()), 2)
        self.assertIn("--timeout 7 ", out)
        self.assertFalse(self.records.exists())

    def test_dry_run_of_one_job(self):
        status, out, err = self.sweep("-H", "node[11-14]", "--dry-run", "--resident", "--rails", "eth8,eth9", "--rounds", "3")
        self.assertEqual(status, 0, err)
        first, second = out.splitlines()
        self.assertRegex(first, r" -np 4 .*/pairwise_bw --level host --seed \d+ --rounds 3 ")
        self.assertIn(" -x OMPI_MCA_btl_tcp_if_include ", second)

    def test_refused(self):
        for arguments, words in (
                (["-H", "node1"], "a sweep needs at least two hosts"),
                (["-H", "node[1-"], "-H"),
                (["-H", "node[1-4]", "--rounds", "0"], "--rounds '0' is not a whole number of 1 or more"),
                (["-H", "node[1-4]", "--rounds=0"], "--rounds '0' is not a whole number of 1 or more"),
                (["-H", "node[1-4]", "--round=2"], "'--round' is not an option of sweep_pairs.sh; the nearest is --rounds"),
                (["--resume"], "does not exist or is empty"),
                (["-H", "node[1-4]", "--resident", "--rdma"], "--resident runs pairwise_bw"),
                (["-H", "node[1-4]", "--expect", "x"], "--expect 'x' is neither a rate in GB/s nor adapters"),
                (["-H", "node[1-4]", "--expect=adapters:x"], "--expect adapters: 'x' is not a share"),
                (["-H", "node[1-4]", "--nonsense"], "'--nonsense' is not an option"),
                (["-H", "node[1-4]", "--test", "all_reduce_perf"], "can exceed the NICs' rate")):
            with self.subTest(arguments):
                status, out, err = self.sweep(*arguments)
                self.assertEqual(status, 2, out + err)
                self.assertIn(words, err)
                self.assertFalse(self.records.exists())


class FolderOfTheScript(SweepScriptTest):  # 1 rank, 1 s

    LAUNCHER = LAUNCHER

    def test_does_not_outlive_a_signal_that_comes_while_it_is_made(self):
        maker = self.folder / "mktemp"
        maker.write_text(f'#!/bin/sh\n{shutil.which("mktemp")} "$@"\nkill -TERM $PPID\nsleep 0.2\n')
        maker.chmod(0o755)
        status, out, err = self.sweep("-H", "node[1-4]")
        self.assertEqual((status, out, err), (130, "", "sweep_pairs.sh: interrupted; nothing has been measured\n"))
        self.assertEqual([path.name for path in self.folder.glob("fabricbench-*")], [])


class SweepCommand(SweepScript):  # 2 ranks, 9 s
    """The same without GNU parallel: fabricbench sweep."""

    COMMAND = [os.path.join(PROGRAMS, "fabricbench"), "sweep"]

    def test_says_its_own_name(self):
        for name in "sweep", "sweep_pairs":
            said = subprocess.run([self.COMMAND[0], name, "--nonsense"], capture_output=True, text=True, timeout=60)
            self.assertIn("fabricbench sweep: '--nonsense' is not an option of fabricbench sweep; run 'fabricbench sweep --help'",
                          said.stderr)
        said = subprocess.run([self.COMMAND[0], "sweep", "--help"], capture_output=True, text=True, timeout=60)
        self.assertTrue(said.stdout.startswith("usage: fabricbench sweep [OPTION]"), said.stdout)
