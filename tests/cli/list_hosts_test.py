"""list_hosts: the hosts that a list, a host file or a job names."""

import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from launch import PROGRAMS, environment, text_of

OK, USAGE, MISSING = 0, 2, 3
NOTHING = ("no hosts: give -H node[01-16] or --hostfile FILE, or start this in a job of Slurm, PBS or LSF, or in the "
           "launcher of a Kubernetes MPIJob")
JOB_VARIABLES = ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS")


class Listing(unittest.TestCase):  # 1 rank, 1 s

    def setUp(self):
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = Path(folder.name)

    def write(self, text):
        path = self.directory / "hosts"
        path.write_text(text)
        return path

    def run_tool(self, status, *arguments, stdin="", **variables):
        """Returns the lines of stdout and of stderr. No job is around but that of `variables`."""
        env = environment(**{**dict.fromkeys(JOB_VARIABLES), **variables})
        result = subprocess.run([PROGRAMS / "list_hosts", *map(str, arguments)], input=stdin.encode(),
                                capture_output=True, timeout=30, check=False, env=env)
        self.assertEqual(result.returncode, status, text_of(result.stderr))
        return text_of(result.stdout).splitlines(), text_of(result.stderr).splitlines()

    def refused(self, status, message, *arguments, **how):
        self.assertEqual(self.run_tool(status, *arguments, **how), ([], [f"list_hosts: {message}"]))

    def test_lists_and_folds(self):
        self.assertEqual(self.run_tool(OK, "-H", "node[01-03],login:4,node02"),
                         (["node01", "node02", "node03", "login"], []))
        self.assertEqual(self.run_tool(OK, "--fold", "-H", "node[01-03],login:4,node02,r[1-2]n[1-4]"),
                         (["login,node[01-03],r[1-2]n[1-4]"], []))
        self.assertEqual(self.run_tool(OK, "--slots", "-H", "node[01-02],login:4,node02"),
                         (["node01", "node02 slots=2", "login slots=4"], []))

    def test_host_file(self):
        file = self.write("# ours\nnode1 slots=8\n[fe80::1]:2\n")
        self.assertEqual(self.run_tool(OK, "--hostfile", file, "--slots"), (["node1 slots=8", "fe80::1 slots=2"], []))
        self.assertEqual(self.run_tool(OK, "--hostfile", file, "-H", "b,node1"), (["b", "node1", "fe80::1"], []))
        self.assertEqual(self.run_tool(OK, "--hostfile", "-", stdin="a 8 b 8\n"), (["a", "b"], []))

    def test_exclude(self):
        self.assertEqual(self.run_tool(OK, "-H", "node[1-4]", "--exclude", "node[2-3]"), (["node1", "node4"], []))
        self.assertEqual(self.run_tool(OK, "-H", "node[1-4]", "--exclude", "node[4-5],x"),
                         (["node1", "node2", "node3"],
                          ["list_hosts: --exclude names hosts that -H does not have: node5,x"]))
        self.refused(USAGE, "--exclude 'a' removes every host of -H; keep some", "-H", "a", "--exclude", "a")

    def test_surrounding_job(self):
        file = self.write("n1\nn1\nn2\n")
        cases = (
            ({"SLURM_JOB_NODELIST": "node[01-02,4]"}, ["node01", "node02", "node4"], "$SLURM_JOB_NODELIST"),
            ({"PBS_NODEFILE": str(file)}, ["n1 slots=2", "n2"], "$PBS_NODEFILE"),
            ({"LSB_DJOB_HOSTFILE": str(file)}, ["n1 slots=2", "n2"], "$LSB_DJOB_HOSTFILE"),
            ({"LSB_MCPU_HOSTS": "a 8 b 4"}, ["a slots=8", "b slots=4"], "$LSB_MCPU_HOSTS"),
            ({"LSB_MCPU_HOSTS": "a 8", "LSB_DJOB_HOSTFILE": str(file), "PBS_NODEFILE": str(file),
              "SLURM_JOB_NODELIST": "s"}, ["s"], "$SLURM_JOB_NODELIST"),
            ({"LSB_MCPU_HOSTS": "a 8", "PBS_NODEFILE": ""}, ["a slots=8"], "$LSB_MCPU_HOSTS"),
        )
        for variables, hosts, source in cases:
            with self.subTest(source):
                self.assertEqual(self.run_tool(OK, "--slots", **variables), (hosts, [f"list_hosts: hosts of {source}"]))
        self.assertEqual(self.run_tool(OK, "-H", "a", SLURM_JOB_NODELIST="b"), (["a"], []))

    def test_refusals(self):
        self.refused(USAGE, "-H: 'a[2-1]': '2-1' in the brackets runs backwards; write the smaller number first", "-H",
                     "a[2-1]")
        self.refused(USAGE, f"{self.directory}/hosts:2: 'b': after host 'a' only settings may follow, such as slots=8",
                     "--hostfile", self.write("\na b\n"))
        self.refused(USAGE, f"{self.directory}/hosts names no host", "--hostfile", self.write("# none\n"))
        self.refused(USAGE, "standard input names no host", "--hostfile", "-")
        self.refused(USAGE, "stray argument 'x'; --help says what may be given", "x")
        self.refused(USAGE, "--fold excludes --slots; --help says what each option takes", "--fold", "--slots", "-H", "a")
        self.refused(MISSING, "cannot open --hostfile '/nowhere': No such file or directory; check the path and its "
                              "permissions", "--hostfile", "/nowhere")
        self.refused(MISSING, "cannot open $PBS_NODEFILE '/nowhere': No such file or directory; check the path and its "
                              "permissions", PBS_NODEFILE="/nowhere")
        if not Path("/etc/mpi/hostfile").exists():  # else these are an MPIJob's hosts
            self.refused(USAGE, NOTHING)
