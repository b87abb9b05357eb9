"""However a job breaks off, it ends soon, says which rank on which host was to blame, and leaves valid files."""

import json
import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
from time import sleep

from launch import PROGRAMS, TIMEOUT_S, Job, ProgramTest, alive, command, environment, fault, in_a_few_tries, kill, wait_until

TIMEOUT = 4
NOT_JUDGED = 7
FOR_EVER = ("-b", 1024, "-e", 4096, "-f", 2, "-n", 50, "-N", 0)
LONG = ("-b", 1024, "-e", 4096, "-f", 2, "--placement", "out", "--time-budget", 200, "--epochs", 1000)
LONG_SIZES = [1024, 2048, 4096]
# mpirun of Open MPI gives a second from SIGTERM to SIGKILL, and under sanitizers on a busy machine that is little.
PATIENCE = {"OMPI_MCA_odls_base_sigkill_timeout": "2"}
FOR_EVER_IN_EPOCHS = ("-b", 1024, "-e", 4096, "-f", 2, "-N", 0, "--time-budget", 0.05)


def stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] == "T"


def front_command(ranks, arguments):
    return [str(PROGRAMS / "fabricbench"), "run", "-np", str(ranks), "all_reduce", *map(str, arguments)]


class Endings(ProgramTest):  # 3 ranks, 75 s

    def start(self, *arguments, ranks=2, variables=None):
        """A running job whose first rows have come."""
        job = Job(command(ranks, arguments, variables=variables), env=environment())
        self.addCleanup(job.__exit__)
        job.read_pids(ranks)
        while not re.match(r" *\d+ ", job.read_line()):
            self.assertIsNone(job.process.poll())
        return job

    def lines_of(self, file):
        """The file's JSON Lines; the last one must be whole too."""
        text = file.read_text()
        self.assertTrue(text.endswith("\n"))
        return [json.loads(line) for line in text.splitlines()]

    def wait_for_row(self, file):
        """Until the file has a row, which stands in it a little later than in the table."""
        wait_until(lambda: '"kind":"row"' in file.read_text(), "no row in the file")

    def test_one_rank_killed(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                job = self.start(*FOR_EVER, ranks=3)
                kill(job.pids[rank], signal.SIGKILL)
                result = self.end_of(job)
                self.assertNotEqual(result.status, 0)
                self.assertRegex(result.stderr, rf"rank {rank} with PID \d+ on node \S+")

    @in_a_few_tries
    def test_one_rank_stopped(self):
        job = self.start(*FOR_EVER, "-T", 3, ranks=3)
        sleep(1)  # the watchdogs look in the meantime, and have nothing to report
        kill(job.pids[1], signal.SIGSTOP)
        result = self.end_of(job)
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        self.assertRegex(result.stderr, r"fabricbench: no progress for [\d.]+ s, the limit is --timeout 3; the job is ended\n")
        self.assertRegex(result.stderr, r"fabricbench:   rank 1 on \S+: silent for [\d.]+ s: stopped, dead or out of reach\n")
        self.assertNotRegex(result.stderr, r"rank [02] on \S+: silent")

    @in_a_few_tries
    def test_rank_0_stopped(self):
        job = self.start(*FOR_EVER, "-T", 2)
        kill(job.pids[0], signal.SIGSTOP)
        result = self.end_of(job)
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        self.assertRegex(result.stderr, r"fabricbench:   rank 1 on \S+: .*, and rank 0 on \S+ did not answer for [\d.]+ s\n")

    @in_a_few_tries
    def test_no_time_limit(self):
        """The thread that would watch for it is not there."""
        limited, unlimited = (self.start(*FOR_EVER, *limit).threads(1) for limit in ((), ("-T", 0)))
        self.assertEqual(unlimited, limited - 1)

    def test_json_after_everything_was_killed(self):
        for arguments in (FOR_EVER, FOR_EVER_IN_EPOCHS):
            with self.subTest(arguments):
                file = self.directory / "killed.json"
                job = self.start(*arguments, "--json", file, "--force")
                self.wait_for_row(file)
                for pid in (job.process.pid, *job.pids.values()):
                    kill(pid, signal.SIGKILL)
                job.process.wait()
                kinds = [line["kind"] for line in self.lines_of(file)]
                self.assertEqual(kinds[0], "context")
                self.assertIn("row", kinds)
                self.assertNotIn("end", kinds)

    @in_a_few_tries
    def test_json_after_a_time_out(self):
        file = self.directory / "timeout.json"
        csv = self.directory / "timeout.csv"
        document = self.directory / "timeout_nccl_tests.json"
        job = self.start(*FOR_EVER, "-T", 2, "--json", file, "--csv", csv, "-J", document, "--force")
        kill(job.pids[1], signal.SIGSTOP)
        self.assertEqual(self.end_of(job).status, TIMEOUT)
        end = self.lines_of(file)[-1]
        self.assertEqual((end["kind"], end.get("exit_status")), ("end", TIMEOUT))
        self.assertRegex(end["reason"], r"^no progress for .* rank 1 on \S+: silent")
        self.assertTrue(csv.read_text().endswith("\n"))
        self.assertRegex(json.loads(document.read_text())["errors"][0], r"rank 1 on \S+: silent")

    def test_json_after_an_error(self):
        file = self.directory / "error.json"
        result = self.run_program("-b", 1024, "-e", 1024, "-n", 5, "--json", file, variables=fault("error", rank=0))
        self.assertEqual(result.status, 1)
        end = self.lines_of(file)[-1]
        self.assertEqual((end["kind"], end["exit_status"]), ("end", 1))
        self.assertIn("MPI_Allreduce", end["reason"])

    def test_full_disk(self):
        result = self.run_program("-b", 1024, "-e", 1024, "-n", 5, "--csv", "/dev/full", "--force")
        self.assertEqual(result.status, 1)
        self.assertRegex("\n".join(self.own_lines(result)),
                         r"all_reduce_perf: rank 0 on \S+: cannot write to /dev/full: No space left on device")

    def test_full_disk_behind_the_launcher(self):
        """Which takes what the ranks print, and ends well although it cannot write it."""
        for arguments in ((), ("--json", "-")):
            with self.subTest(arguments), open("/dev/full", "wb") as full, \
                    tempfile.TemporaryDirectory(prefix="fabricbench-session-", ignore_cleanup_errors=True) as session:
                words = command(2, ("-b", 1024, "-e", 1024, "-n", 5, *arguments))
                ended = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True,
                                       timeout=TIMEOUT_S, check=False,
                                       env=environment(OMPI_MCA_orte_tmpdir_base=session))
                self.assertEqual(ended.returncode, 1, ended.stderr)
                self.assertIn("the disk that the launcher writes standard output to is full: rows may be lost", ended.stderr)

    def test_clock_that_stands_still(self):
        result = self.run_program("-b", 1024, "-e", 1024, "-n", 5, variables={"FAKE_CLOCK_STEP_LOG2": "frozen"})
        self.assertEqual(result.status, NOT_JUDGED, result.stderr)
        self.assertEqual(self.own_lines(result), ["all_reduce_perf: 2 of 2 measurements took no time by this host's clock "
                                                  "(CLOCK_MONOTONIC), which stands still or jumps: their figures mean nothing"])

    def test_interrupted(self):
        job = self.start(*FOR_EVER)
        job.process.send_signal(signal.SIGINT)
        self.assertNotEqual(self.end_of(job).status, 0)

    def start_long(self, file, *arguments, launch=command):
        """A running job that measures in epochs, of which every size has had one; its rows would take long."""
        job = Job(launch(2, (*LONG, "--json", file, "--force", *arguments)), env=environment(**PATIENCE))
        self.addCleanup(job.__exit__)
        job.read_pids(2)
        wait_until(lambda: file.exists() and {line["size_bytes"] for line in self.whole_lines_of(file)
                                              if line["kind"] == "epoch"} == set(LONG_SIZES), "no epochs")
        return job

    def whole_lines_of(self, file):
        return [json.loads(line) for line in file.read_text().splitlines(True) if line.endswith("\n")]

    def check_cut_short(self, result, file, reason):
        """What the finished epochs tell is in the table and in the files."""
        _, mark, table = result.stdout.partition("# Cut short: the rows below ")
        self.assertTrue(mark, result.stdout)
        self.assertEqual([int(line.split()[0]) for line in table.splitlines()[1:] if not line.startswith("#") and line.strip()],
                         LONG_SIZES)
        self.assertRegex(table, rf"\n# Ended early: {reason}")
        lines = self.lines_of(file)
        found = [line for line in lines if line["kind"] == "row"]
        self.assertEqual([row["size_bytes"] for row in found], LONG_SIZES)
        self.assertEqual({row["cut_short"] for row in found}, {True})
        for row in found:
            medians = sorted(line["time_us_median"] for line in lines
                             if line["kind"] == "epoch" and line["size_bytes"] == row["size_bytes"])
            measured = row["out_of_place"]
            self.assertEqual(sorted(measured["epoch_times_us"]), medians)
            self.assertEqual(measured["time_us_interval"] is None, len(medians) < 6)
        self.assertRegex(lines[-1]["reason"], reason)

    @in_a_few_tries  # mpirun kills what has not ended in time, with all that it still had to say
    def test_rows_of_a_job_that_is_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            file, csv = self.directory / "run.json", self.directory / "run.csv"
            job = self.start_long(file, "--csv", csv)
            job.process.send_signal(number)
            result = self.end_of(job)
            self.assertNotEqual(result.status, 0)
            self.check_cut_short(result, file, r"rank 0 on \S+ was ended by SIG(TERM|INT|USR1)")
            self.assertRegex(result.stderr, r"all_reduce_perf: rank 0 on \S+ was ended by SIG(TERM|INT|USR1)\n")
            self.assertEqual([line.split(",")[-2] for line in csv.read_text().splitlines()],
                             ["cut_short", *["1"] * len(LONG_SIZES)])

    @in_a_few_tries  # mpirun's own ending hangs now and then, and what it has not passed on by then is lost
    def test_rows_of_a_job_of_the_front_command(self):
        """Nobody kills its ranks before they have printed what they have measured."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            file = self.directory / "run.json"
            job = self.start_long(file, launch=front_command)
            job.process.send_signal(number)
            result = self.end_of(job)
            self.assertEqual(result.status, 128 + number)
            self.check_cut_short(result, file, r"rank 0 on \S+ was ended by SIGUSR1")
            self.assertIn(f"fabricbench: {number.name}: the ranks get SIGUSR1, and print what they have measured; once more ends them at once\n",
                          result.stderr)

    @in_a_few_tries
    def test_a_job_of_the_front_command_can_be_paused(self):
        job = self.start_long(self.directory / "run.json", launch=front_command)
        processes = (job.process.pid, *job.pids.values())
        job.process.send_signal(signal.SIGTSTP)  # Ctrl-Z
        wait_until(lambda: all(map(stopped, processes)), "not all are stopped")
        job.process.send_signal(signal.SIGCONT)
        wait_until(lambda: not any(map(stopped, processes)), "some are stopped")
        job.process.send_signal(signal.SIGQUIT)
        self.assertEqual(self.end_of(job).status, 128 + signal.SIGQUIT)

    def test_the_front_command_says_where_more_rows_are(self):
        file = self.directory / "a run.json"
        job = self.start_long(file, launch=front_command)
        kill(job.pids[0], signal.SIGKILL)
        result = self.end_of(job)
        self.assertNotIn("# Cut short", result.stdout)
        name = str(file).replace(" ", "\\ ")
        self.assertIn(f"fabricbench: the record is broken off; 'fabricbench table {name}' prints the rows that it has\n",
                      result.stderr)

    def test_the_front_command_does_not_speak_of_another_run(self):
        file = self.directory / "run.json"
        file.write_text('{"kind":"context"}\n')
        os.utime(file, (1, 1))
        done = subprocess.run(front_command(2, ("-b", 8, "-e", 8, "-n", 5, "--json", file)), capture_output=True, text=True,
                              env=environment(), timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertNotIn("broken off", done.stderr)

    def test_the_front_command_notices_that_output_is_lost(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(front_command(2, ("-b", 8, "-e", 8, "-n", 5)), stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=environment(), timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("fabricbench: not all of the output could be written: rows of the table may be lost\n", done.stderr)

    def test_a_job_of_the_front_command_is_not_left_alone(self):
        if subprocess.run(["setpriv", "--pdeathsig", "TERM", "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("setpriv of util-linux before 2.33 has no --pdeathsig")
        job = self.start_long(self.directory / "run.json", launch=front_command)
        kill(job.process.pid, signal.SIGKILL)
        wait_until(lambda: not any(map(alive, job.pids.values())), "the ranks live on")

    @in_a_few_tries
    def test_endpoints_of_a_sweep_that_is_interrupted(self):
        """What the readings tell of them is in the table, the map and the files."""
        file, matrix = self.directory / "sweep.json", self.directory / "matrix.csv"
        sweep = ("-b", 4096, "-n", 20000, "--pair-timeout", 100, "--json", file, "--matrix-csv", matrix, "--force")
        job = Job(command(3, sweep, program=str(PROGRAMS / "pairwise_bw")), env=environment(**PATIENCE))
        self.addCleanup(job.__exit__)
        job.read_pids(3)
        wait_until(lambda: file.exists() and '"kind":"reading"' in file.read_text(), "no reading in the file")
        job.process.send_signal(signal.SIGTERM)
        result = self.end_of(job)
        lines = self.lines_of(file)
        measured = {(line["from"], line["to"]) for line in lines if line["kind"] == "reading"}
        self.assertLess(len(measured), 6)
        endpoints = [line for line in lines if line["kind"] == "endpoint"]
        self.assertEqual({line["endpoint"] for line in endpoints}, {end for pair in measured for end in pair})
        self.assertEqual({line["cut_short"] for line in endpoints}, {True})
        self.assertEqual(sum(line["received"]["readings"] for line in endpoints), len(measured))
        _, mark, table = result.stdout.partition("# Cut short: the rows below are of the readings made until then\n")
        self.assertTrue(mark, result.stdout)
        self.assertEqual([int(line.split()[0]) for line in table.splitlines() if re.match(r" +\d+  \S+:r\d ", line)],
                         [line["endpoint"] for line in endpoints])
        self.assertIn("# Map: ", table)
        cells = [line.split(",")[1:] for line in matrix.read_text().splitlines()[1:]]
        self.assertEqual({(sender, receiver) for receiver, line in enumerate(cells) for sender, cell in enumerate(line) if cell},
                         measured)

    @in_a_few_tries
    def test_rows_of_a_job_with_a_dead_rank(self):
        file = self.directory / "run.json"
        job = self.start_long(file)
        kill(job.pids[1], signal.SIGKILL)
        self.check_cut_short(self.end_of(job), file, r".+")

    @in_a_few_tries
    def test_rows_of_a_job_with_a_stopped_rank(self):
        file = self.directory / "run.json"
        job = self.start_long(file, "-T", 2)
        kill(job.pids[1], signal.SIGSTOP)
        result = self.end_of(job)
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        self.check_cut_short(result, file, r"no progress for .*")
