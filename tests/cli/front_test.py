"""The command fabricbench: its list, what it starts and how, and what it says of a host."""

import os
import pathlib
import re
import shutil
import subprocess

from front import FRONT, HYDRA, JOB_OF_FOUR, OPEN_MPI, OTHER, PROGRAMS, TIMEOUT_S, FrontTest, WaitingTest

ALL_REDUCE, LATENCY = str(PROGRAMS / "all_reduce_perf"), str(PROGRAMS / "send_recv_lat")
PREFIX = os.environ["FABRICBENCH_LINK_PREFIX"]  # of installed links
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
COLUMNS = 80


def names_in(text):
    return re.findall(r"(?m)^  ([a-z_]+) ", text)


class List(FrontTest):  # 1 rank, 10 s

    def test_answers_questions_in_80_columns(self):
        result = self.front("list")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), COLUMNS)
        for question in ("Is my network fine?", "Which node, NIC or link is slow?", "Is this number normal?"):
            self.assertIn(question, lines)
        self.refused(2, "fabricbench: list takes no words, and was given 'x'", "list", "x")
        bare = self.front()
        self.assertEqual((bare.returncode, bare.stdout, bare.stderr), (0, result.stdout, ""))

    def test_help_names_the_commands(self):
        result = self.front("--help")
        self.assertEqual(result.returncode, 0)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), COLUMNS)
        commands = set(re.findall(r"(?m)^  ([a-z]+)  +[a-z]", result.stdout))
        self.assertEqual(commands, {"list", "run", "doctor", "table", "plot", "compare", "report"})
        self.assertLessEqual(commands - {"list", "run"}, set(names_in(self.front("list").stdout)))

    def test_everything_in_it_explains_itself(self):
        for name in names_in(self.front("list").stdout):
            with self.subTest(name):
                if name.startswith(("rdma_", "gpudirect_")) and not (PROGRAMS / name).exists():
                    continue  # not built: the verbs of this machine are too old
                result = self.front(name, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertGreater(result.stdout.count("\n"), 5)
                if (SCRIPTS / f"{name}.sh").exists():
                    self.assertTrue(result.stdout.startswith(f"usage: fabricbench {name} "), result.stdout)
                    self.assertNotRegex(result.stdout, r"scripts/[a-z_]+\.sh|build/")
                    self.assertLessEqual(max(map(len, result.stdout.splitlines())), COLUMNS)
        for name in ("run", "doctor", "plot"):
            lines = self.front(name, "--help", COLUMNS=str(COLUMNS)).stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), COLUMNS, name)

    def test_unknown_names(self):
        self.refused(2, "fabricbench: there is no program or command 'all_reduc_perf'; the nearest is all_reduce; "
                     "'fabricbench list' has them all", "all_reduc_perf")
        self.refused(2, "fabricbench: there is no program or command 'xyz'; 'fabricbench list' has them all", "xyz")
        self.refused(2, "fabricbench: there is no program or command 'ib_write_bw'; ib_write_bw of perftest is rdma_write_bw here; "
                     "'fabricbench list' has them all", "ib_write_bw")
        for command in ("doctor", "list"):
            self.refused(2, f"fabricbench: '{command}' is a command, not a program; type 'fabricbench {command}'", "run", command)
        self.refused(2, "fabricbench: run needs the name of a program; 'fabricbench list' has them", "run", "-np", "2")
        self.refused(2, "fabricbench: there is no program or command 'tabel'; the nearest is table; 'fabricbench list' has them all",
                     "tabel")
        self.refused(2, "fabricbench: there is no program or command 'lst'; the nearest is list; 'fabricbench list' has them all",
                     "lst")
        self.refused(2, "fabricbench: run has no option '--other'; see run --help", "run", "--other", "a", "all_reduce")
        self.refused(2, "fabricbench: run has no option '--dry-rn'; the nearest is --dry-run; see run --help", "run", "--dry-rn", "all_reduce")
        self.refused(2, "fabricbench: '--dry-rn' is no command; the nearest is --dry-run; options come behind one, see --help",
                     "--dry-rn", "all_reduce")
        self.refused(2, "fabricbench: '--hosts' is no command; options come behind one, see --help", "--hosts", "a")


class Run(FrontTest):  # 1 rank, 10 s

    def test_as_users_write_names(self):
        self.make_launcher()
        for name in ("all_reduce", "all-reduce", "all_reduce_perf", "all-reduce-perf", f"{PREFIX}all_reduce_perf", f"{PREFIX}all-reduce"):
            self.assertEqual(self.dry_run(name, "-np", "3", "-b", "8", "-n", "5")[-5:], [ALL_REDUCE, "-b", "8", "-n", "5"])
            self.assertEqual(self.dry_run("run", "-np", "3", name)[-1], ALL_REDUCE)

    def test_starts_it_and_says_how(self):
        self.make_launcher(status=6)
        result = self.front("send_recv_lat", "-b", "8", "--", "--hosts")
        self.assertEqual((result.returncode, result.stdout), (6, "what it says\n"))
        words = self.words_of()
        self.assertEqual((words[:2], words[-4:]), (["-np", "2"], [LATENCY, "-b", "8", "--hosts"]))
        said = result.stderr.splitlines()
        self.assertRegex(said[0], r"^fabricbench: 2 ranks on this host, as many as the program takes; -np changes that")
        self.assertRegex(said[1], rf"^fabricbench: running .*mpirun -np 2 .*{LATENCY} -b 8 --hosts$")
        if os.geteuid() == 0:
            self.assertIn("running OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun", said[1])
            self.assertEqual((self.folder / "environment").read_text(), "1\n")

    def test_ranks_without_a_number(self):
        self.make_launcher()
        self.make_gpus(0)
        self.assertIn(self.dry_run("all_reduce")[2], ("2", "4", "8"))
        self.assertEqual(self.dry_run("gpu_copy_bw")[1:3], ["-np", "1"])
        self.make_gpus(6)
        self.assertEqual(self.dry_run("all_reduce")[1:3], ["-np", "6"])
        self.assertEqual(self.dry_run("send_recv_bw")[1:3], ["-np", "2"])
        hosts = self.dry_run("all_reduce", "--hosts", "node[1-3]")
        self.assertEqual(hosts[1:5], ["--host", "node1:6,node2:6,node3:6", "-np", "18"])

    def test_more_ranks_than_cores(self):
        self.make_launcher()
        self.assertIn("--oversubscribe", self.dry_run("all_reduce", "-np", "100000"))
        self.assertIn("; they share cores: expect low figures\n", self.front("all_reduce", "-np", "100000").stderr)

    def test_hosts(self):
        self.make_launcher()
        self.make_gpus(0)
        words = self.dry_run("all_reduce", "-b", "8", "--hosts=node[1-2]", "-e", "1G")
        self.assertEqual(words[1:5], ["--host", "node1:1,node2:1", "-np", "2"])
        self.assertEqual(words[-5:], [ALL_REDUCE, "-b", "8", "-e", "1G"])
        (self.folder / "hosts").write_text("node5 slots=4\nnode6 slots=4\nnode7 slots=4\n")
        self.assertEqual(self.dry_run("run", "--hostfile", "hosts", "send_recv_lat")[1:5],
                         ["--host", "node5:1,node6:1", "-np", "2"])
        self.assertEqual(self.dry_run("all_reduce", "--hostfile", "hosts", "-np", "12")[1:7],
                         ["--host", "node5:4,node6:4,node7:4", "-np", "12", "--map-by", "ppr:4:node"])
        for words in (("--hosts", "node[01-"), ("--hosts", "")):
            result = self.front("all_reduce", *words, PBS_NODEFILE="hosts")
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertRegex(result.stderr, r"^fabricbench: --hosts: .*'" + re.escape(words[1]) + "'.*\n$")

    def test_ranks_that_hosts_do_not_share_evenly(self):
        self.make_launcher()
        job = ["all_reduce", "--hosts", "node[1-3]", "-np"]
        self.assertEqual(self.dry_run(*job, 4)[1:7], ["--host", "node1:2,node2:1,node3:1", "-np", "4", "--map-by", "slot"])
        self.assertEqual(self.dry_run(*job, 8)[1:5], ["--host", "node1:3,node2:3,node3:2", "-np", "8"])
        self.assertEqual(self.dry_run(*job, 2)[1:5], ["--host", "node1:1,node2:1", "-np", "2"])
        for ranks, said in ((4, "4 ranks on 3 hosts, as -np says: 2 on the first, 1 on each other"),
                            (8, "8 ranks on 3 hosts, as -np says: 3 on the first 2, 2 on each other"),
                            (1, "1 rank on 1 host of 3, as -np says"),
                            (6, "6 ranks on 3 hosts, as -np says")):
            self.assertEqual(self.front(*job, ranks).stderr.splitlines()[0], f"fabricbench: {said}")

    def test_hosts_of_a_job(self):
        self.make_launcher()
        (self.folder / "nodes").write_text("node8\nnode9\n")
        self.assertEqual(self.dry_run("send_recv_lat", PBS_NODEFILE=str(self.folder / "nodes"))[2], "node8:1,node9:1")
        result = self.front("send_recv_lat", PBS_NODEFILE=str(self.folder / "none"))
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertIn("fabricbench: ", result.stderr)

    def test_hydra(self):
        self.make_launcher(version=HYDRA)
        self.assertEqual(self.dry_run("all_reduce", "-np", "100000"), ["mpirun", "-np", "100000", ALL_REDUCE])
        self.assertEqual(self.dry_run("send_recv_lat", "--hosts", "a,b")[:7],
                         ["mpirun", "-hosts", "a:1,b:1", "-n", "2", "-ppn", "1"])
        words = self.dry_run("all_reduce", "--hosts", "a,b", "-np", "3")
        self.assertEqual(words[:5], ["mpirun", "-hosts", "a:2,b:1", "-n", "3"])
        self.assertNotIn("-ppn", words)

    def test_another_mpirun(self):
        self.make_launcher(version=OTHER)
        self.assertEqual(self.dry_run("all_reduce", "-np", "2"), ["mpirun", "-np", "2", ALL_REDUCE])
        self.refused(3, "fabricbench: 'mpirun --version' names neither Open MPI nor hydra (MPICH, Intel MPI); put one of them "
                     "first on the PATH, or use --launcher srun", "all_reduce", "--hosts", "a,b")

    def test_no_launcher(self):
        self.make_path_without("mpirun", "srun")
        self.refused(3, "fabricbench: there is no 'mpirun' on the PATH; install or load it", "all_reduce", alone=True)

    def test_values(self):
        self.make_launcher()
        self.refused(2, "fabricbench: -np 'two' is not a whole number of 1 or more", "all_reduce", "-np", "two")
        self.refused(2, "fabricbench: -np needs a value; see run --help", "all_reduce", "-np")
        self.refused(2, "fabricbench: --dry-run takes no value", "all_reduce", "--dry-run=1")
        self.refused(2, "fabricbench: --launcher 'aprun': use mpirun or srun", "all_reduce", "--launcher", "aprun")
        self.assertEqual(self.front("all_reduce", "--hosts", "node[3-1]").returncode, 2)

    def test_options_of_mpirun_and_srun(self):
        for word, own in (("--host", "--hosts A,B"), ("-H", "--hosts A,B"), ("--np", "-np N"), ("--ntasks=4", "-np N"),
                          ("-np4", "-np 4"), ("-hostfile", "--hostfile FILE")):
            self.refused(2, f"fabricbench: '{word}' is {own} here; see run --help", "all_reduce", word, "4")
            self.refused(2, f"fabricbench: '{word}' is {own} here; see run --help", "run", word, "4", "all_reduce")

    def test_options_of_the_launcher(self):
        self.make_launcher()
        words = self.dry_run("all_reduce", "--mpi-options", "--mca btl self,tcp", "-np", "2")
        self.assertEqual(words[words.index("--mca"):], ["--mca", "btl", "self,tcp", ALL_REDUCE])

    def test_without_a_job(self):
        result = self.front("list-hosts", "-H", "node[1-2]")
        self.assertEqual((result.returncode, result.stdout), (0, "node1\nnode2\n"))
        self.refused(2, "fabricbench: list_hosts is not started as one MPI job; give its own options behind its name, not "
                     "--hosts", "run", "--hosts", "a", "list_hosts")
        self.refused(2, "fabricbench check_node_pair: a pair is two hosts; given: 1 (node1)", "check_node_pair", "node1")

    def test_scripts_find_the_programs(self):
        self.make_launcher()
        result = self.front("check_node_pair", "node1", "node2", "--test", "pairwise_bw", "--dry-run")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(f" {PROGRAMS / 'pairwise_bw'} ", result.stdout)

    def test_a_link_to_it(self):
        """The programs are where the file itself is."""
        link = self.folder / "fb"
        link.symlink_to(FRONT)
        self.make_launcher()
        self.assertEqual(self.dry_run("all_reduce", "-np", "2", program=link)[-1], ALL_REDUCE)


class Installed(FrontTest):  # 1 rank, 3 s
    """Programs, links to them and scripts, each in the folder where an installation has them."""

    def setUp(self):
        super().setUp()
        prefix = self.folder / "prefix"
        self.programs = prefix / "libexec" / "fabricbench"
        self.programs.mkdir(parents=True)
        for name in ("fabricbench", "list_hosts", "all_reduce_perf", "pairwise_bw"):
            shutil.copy2(PROGRAMS / name, self.programs)
        shutil.copytree(SCRIPTS, prefix / "share" / "fabricbench" / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        self.link = prefix / "bin" / "fabricbench"
        self.link.parent.mkdir()
        self.link.symlink_to("../libexec/fabricbench/fabricbench")
        self.make_launcher()

    def test_finds_programs(self):
        words = self.dry_run("all_reduce", "--hosts", "node[1-2]", program=self.link)
        self.assertEqual(words[-1], str(self.programs / "all_reduce_perf"))
        self.assertEqual(self.front("list_hosts", "-H", "a,b", program=self.link).stdout, "a\nb\n")
        self.refused(3, f"fabricbench: there is no program tcp_bw in {self.programs}; this build left it out, and CMake says why",
                     "tcp_bw", program=self.link)

    def test_scripts_find_programs(self):
        result = self.front("check_node_pair", "node1", "node2", "--test", "pairwise_bw", "--dry-run", program=self.link)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(f" {self.programs / 'pairwise_bw'} ", result.stdout)

    def test_without_scripts(self):
        shutil.rmtree(self.folder / "prefix" / "share")
        self.refused(3, "fabricbench: there is no scripts/plot.py above the program; install the suite as a whole, or run plot.py "
                     "from its sources", "plot", program=self.link)


class Slurm(FrontTest):  # 1 rank, 3 s

    def setUp(self):
        super().setUp()
        self.make_launcher()
        self.make_launcher("srun", status=7)
        self.make_gpus(0)
        libraries = subprocess.run(["ldd", ALL_REDUCE], capture_output=True, text=True, check=True).stdout
        self.type = ["--mpi=pmix"] if "libmpi.so.40" in libraries else []  # of Open MPI

    def test_starts_it_in_the_allocation(self):
        result = self.front("all_reduce", "-b", "8", **JOB_OF_FOUR)
        self.assertEqual((result.returncode, result.stdout), (7, "what it says\n"))
        self.assertEqual(self.words_of("srun"), ["--overlap", "--kill-on-bad-exit=1", *self.type, ALL_REDUCE, "-b", "8"])
        self.assertIn("fabricbench: as many ranks as this allocation of Slurm has tasks, 32; -np changes that\n", result.stderr)
        self.assertNotIn("OMPI_ALLOW", result.stderr)

    def test_ranks(self):
        for words, expected in ((["all_reduce", "-np", "5"], ["--ntasks=5"]),
                                (["send_recv_lat"], ["--nodes=2", "--ntasks=2"]),
                                (["gpu_copy_bw"], ["--nodes=4", "--ntasks=4", "--ntasks-per-node=1"])):
            with self.subTest(words):
                self.assertEqual(self.dry_run(*words, **JOB_OF_FOUR)[3:-1], [*expected, *self.type])
        self.assertEqual(self.dry_run("send_recv_lat", **{**JOB_OF_FOUR, "SLURM_JOB_NUM_NODES": "1"})[3:-1],
                         ["--nodes=1", "--ntasks=2", *self.type])

    def test_type_of_mpi(self):
        words = self.dry_run("all_reduce", "--mpi-options", "--mpi=pmi2", **JOB_OF_FOUR)
        self.assertEqual(words[3:-1], [*self.type, "--mpi=pmi2"], "the last one counts")
        self.assertEqual(self.dry_run("all_reduce", SLURM_MPI_TYPE="pmix_v4", **JOB_OF_FOUR)[3:-1], [])
        if not self.type:
            self.skipTest("the programs are not linked to Open MPI")
        self.make_launcher("srun", types="none pmi2")
        result = self.front("send_recv_lat", "--dry-run", **JOB_OF_FOUR)
        self.assertIn(" --host node1:1,node2:1 -np 2 ", result.stdout)
        self.assertEqual(result.stderr, "fabricbench: srun has no PMIx here, by which it starts programs of Open MPI; mpirun takes "
                         "its place\n")
        self.assertEqual(self.dry_run("send_recv_lat", "--launcher", "srun", **JOB_OF_FOUR)[0], "srun")

    def test_some_of_its_hosts(self):
        words = self.dry_run("all_reduce", "--hosts", "node[2-3]", "-np", "4", **JOB_OF_FOUR)
        self.assertLessEqual({"--nodes=2", "--ntasks=4", "--nodelist=node2,node3", "--ntasks-per-node=2"}, set(words))
        words = self.dry_run("all_reduce", "--hosts", "node[2-3]", "-np", "3", **JOB_OF_FOUR)
        self.assertLessEqual({"--nodes=2", "--ntasks=3", "--nodelist=node2,node3", "--ntasks-per-node=2"}, set(words))

    def test_by_mpirun(self):
        self.assertEqual(self.dry_run("all_reduce", "--launcher", "mpirun", **JOB_OF_FOUR)[:3],
                         ["mpirun", "--host", "node1:1,node2:1,node3:1,node4:1"])

    def test_outside_of_an_allocation(self):
        self.assertEqual(self.dry_run("all_reduce")[0], "mpirun")


class Waiting(WaitingTest):  # 1 rank, 120 s
    """Launchers that go on without their ranks."""

    def test_one_that_waits_for_itself(self):
        self.make_waiting()
        self.ended("its ranks ended", "-np", 2)

    def test_one_behind_a_script_of_its_name(self):
        self.make_waiting(launcher="the_real_one")
        self.make_tool("mpirun", f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{OPEN_MPI}' && exit\nthe_real_one \"$@\"\nsleep 1000\n")
        self.ended("its ranks ended", "-np", 2, "-T", 1)

    def test_one_that_starts_nothing(self):
        self.make_tool("mpirun", f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{OPEN_MPI}' && exit\necho what it says\nexec sleep 1000\n")
        self.ended("it began without any rank", "-np", 2, "-T", 1)

    def test_one_with_ranks_that_say_nothing_for_long(self):
        self.make_waiting(ranks=(14,), seconds=0)
        self.goes_well("-np", 2)

    def test_one_with_ranks_elsewhere(self):
        """Its agents have ended, since their daemons do not need them, or it needs none."""
        self.make_waiting(ranks=(), agents=(("--daemonize", 1), ("-mca", 1)), seconds=14)
        self.goes_well("--hosts", "a,b", "-T", 1)


class WaitingForDaemons(WaitingTest):  # 1 rank, 120 s

    def test_one_that_waits_for_a_daemon(self):
        self.make_waiting(agents=(("-mca", 1000),))
        self.ended("its ranks here ended", "--hosts", "a,b", "-T", 1)

    def test_one_that_waits_for_one_daemon_of_several(self):
        """No rank is here, and the daemons of the others have ended."""
        self.make_waiting(ranks=(), agents=(("-mca", 1000), ("-mca", 5)))
        self.ended("the daemon of a host ended", "--hosts", "a,b", "-T", 1)

    def test_hydra(self):
        """Its ranks here are children of its daemon, which may hang."""
        self.make_waiting(version=HYDRA)
        self.ended("its ranks ended", "-np", 2)
        self.make_waiting(ranks=(), agents=(("--usize", 1000), ("--usize", 5)), version=HYDRA, daemon="hydra_pmi_proxy")
        self.ended("the daemon of a host ended", "--hosts", "a,b", "-T", 1)

    def test_srun(self):
        """Its ranks are no children of it."""
        self.make_launcher()
        self.make_waiting(launcher="srun", version="pmix")
        self.ended("its ranks here ended", "-T", 1, launcher="srun", **JOB_OF_FOUR)
        self.make_waiting(ranks=(), launcher="srun", version="pmix", seconds=14)
        self.goes_well("-T", 1, **JOB_OF_FOUR)


class Measures(FrontTest):  # 2 ranks, 10 s

    def test_with_the_real_launcher(self):
        result = self.front("all_reduce", "-np", "2", "-b", "8", "-e", "8", "-n", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("# Ranks: 2, hosts: 1;", result.stdout)

    def test_where_standard_error_cannot_be_written(self):
        command = f"{FRONT} all_reduce -np 2 -b 8 -e 8 -n 1"
        for full in ("2>/dev/full", "2>&-"):
            done = subprocess.run(["sh", "-c", f"{command} {full}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                  timeout=TIMEOUT_S, check=False, cwd=self.folder)
            self.assertEqual(done.returncode, 0)
            self.assertIn("# Out of bounds values : 0 OK", done.stdout)

    def test_where_nothing_can_be_written(self):
        for closed in (">&-", ">&- 2>&-", ">/dev/full 2>&-"):
            with self.subTest(closed):
                done = subprocess.run(["sh", "-c", f"{FRONT} all_reduce -np 2 -b 8 -e 8 -n 1 {closed}"], stdin=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False, cwd=self.folder)
                self.assertEqual(done.returncode, 1, done.stderr)

    def test_passes_the_exit_status_on(self):
        result = self.front("send_recv_lat", "-b", "8x")
        self.assertEqual(result.returncode, 2)
        self.assertIn("send_recv_lat: ", result.stderr)


class Doctor(FrontTest):  # 2 ranks, 20 s

    def state_of(self, name, result):
        found = re.search(rf"(?m)^([a-z]+) +{re.escape(name)} +(.*)$", result.stdout)
        self.assertIsNotNone(found, result.stdout)
        return found.groups()

    def test_of_this_host(self):
        result = self.front("doctor")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertEqual(self.state_of("two ranks", result)[0], "ok")
        self.assertEqual(self.state_of("mpirun", result)[0], "ok")
        self.assertEqual(self.state_of("python3", result)[0], "ok")
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), max(COLUMNS, len(str(PROGRAMS)) + 29))

    def test_no_launcher(self):
        self.make_path_without("mpirun", "srun", "parallel")
        result = self.front("doctor", alone=True)
        self.assertEqual((result.returncode, result.stderr), (3, ""), result.stdout)
        self.assertEqual(self.state_of("mpirun", result), ("missing", "neither mpirun nor srun is on the PATH"))
        self.assertEqual(self.state_of("parallel", result)[0], "absent")
        if shutil.which("apt-get"):
            self.assertRegex(result.stdout, r"(?m)^ +mend: (sudo )?apt-get install -y openmpi-bin$")
            self.assertRegex(result.stdout, r"(?m)^ +mend: (sudo )?apt-get install -y parallel$")
        self.assertIn("Missing for every program: 1; what mends it is above.", result.stdout)

    def test_a_launcher_of_another_mpi(self):
        """Each process is alone there."""
        self.make_launcher(command='shift 2; PMI_SIZE=2 PMI_RANK=0 exec "$@"')
        result = self.front("doctor")
        self.assertEqual(self.state_of("two ranks", result)[0], "missing", result.stdout)
        self.assertIn("belongs to another MPI", " ".join(result.stdout.split()))
        self.assertEqual(result.returncode, 3)

    def test_a_launcher_that_starts_no_job_of_two_ranks(self):
        """One rank, two jobs of one rank, or no program at all."""
        alone = "env -i PATH=\"$PATH\" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \"$@\""
        for command in (f"shift 2; {alone}", f"shift 2; {alone}; {alone}", "echo started"):
            with self.subTest(command):
                self.make_launcher(command=command)
                result = self.front("doctor")
                self.assertEqual(self.state_of("two ranks", result),
                                 ("missing", "the launcher did not start 2 ranks of one job"))
                self.assertEqual(result.returncode, 3)

    def test_a_launcher_that_fails_is_unknown(self):
        self.make_launcher(status=1)
        result = self.front("doctor")
        self.assertEqual(self.state_of("two ranks", result), ("unknown", "all_reduce_perf ended with status 1"))
        self.assertEqual(result.returncode, 7)
        self.assertIn("Whether programs work here is unknown; see above.", result.stdout)

    def test_a_remedy_installs_all_that_is_missing(self):
        """Of two modules, too: the command installed one of them."""
        (self.folder / "jinja2.py").write_text("raise ImportError")
        result = self.front("doctor", PYTHONPATH=str(self.folder))
        self.assertEqual(self.state_of("jinja2 and plotly", result)[0], "absent")
        if shutil.which("apt-get") or shutil.which("dnf"):
            self.assertRegex(result.stdout, r"(?m)^ +mend: (sudo )?(apt-get|dnf) install -y python3-jinja2 python3-plotly$")

    def test_in_an_allocation(self):
        """What a program refuses for want of a launcher says nothing of NCCL; srun is a launcher."""
        result = self.front("doctor", SLURM_NTASKS="32")
        self.assertEqual(self.state_of("NCCL", result)[0], "unknown", result.stdout)
        self.assertIn("could not be checked: SLURM_NTASKS=32: this is an allocation of Slurm, but neither srun nor mpirun started "
                      "this process", " ".join(result.stdout.split()))
        self.make_launcher("srun", command='for word; do shift; case $word in */all_reduce_perf) break ;; esac; done\n'
                                           'SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0 "$word" "$@"; exit $?')
        result = self.front("doctor", **JOB_OF_FOUR)
        self.assertNotIn("started this process", " ".join(result.stdout.split()))
        self.assertIn("NCCL", result.stdout)
        self.assertIn(self.state_of("NCCL", result)[0], ("absent", "ok"), result.stdout)

    def test_no_programs(self):
        result = self.front("doctor", "--programs", self.folder)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(self.state_of("programs", result)[0], "missing")
        self.refused(2, "fabricbench doctor: '-x' is not an option of fabricbench doctor; run 'fabricbench doctor --help' for "
                     "the list", "doctor", "-x")
        self.refused(2, "fabricbench doctor: '--program' is not an option of fabricbench doctor; the nearest is --programs; run "
                     "'fabricbench doctor --help' for the list", "doctor", "--program")
        self.refused(2, "fabricbench doctor: --programs needs a value; run 'fabricbench doctor --help'", "doctor", "--programs")
