"""Man pages, and completion in the shells that this machine has."""

import re
import shutil
import unittest

from completing import by_bash, offered
from installing import FRONT, LINK_PREFIX, InstalledTest, options_in, run


@unittest.skipIf(shutil.which("help2man") is None, "there is no help2man here, which makes man pages")
class ManPages(InstalledTest):  # 2 ranks, 40 s

    def page_of(self, name):
        return self.root / "share/man/man1" / f"{self.command_of(name)}.1"

    def pages(self):
        pages = sorted((self.root / "share/man/man1").iterdir())
        self.assertGreater(len(pages), len(self.names()))
        return pages

    def test_every_program_has_a_page_with_every_option_of_its_help(self):
        for name in self.names():
            with self.subTest(name):
                page = self.page_of(name).read_text(encoding="utf-8").replace("\\-", "-")
                help_text = self.succeed(self.bin / self.command_of(name), "--help")
                options = options_in(help_text)
                if name != FRONT:
                    self.assertIn("--version", options)
                for option in options:
                    self.assertIn(f"\\fB{option}\\fR", page)
                for title in ("NAME", "SYNOPSIS", "DESCRIPTION"):
                    self.assertIn(f"\n.SH {title}\n", page)
                self.assertIn('\n.SH "EXIT STATUS"\n', page)
                self.assertIn("\n.SH EXAMPLES\n.TP\n", page)

    def test_commands_and_scripts_have_pages_to_which_that_of_fabricbench_points(self):
        front = self.page_of(FRONT).read_text(encoding="utf-8").replace("\\-", "-")
        for command, option in (("compare", "--allow"), ("table", "--form"), ("accept", "--recheck"), ("run", "--hosts")):
            with self.subTest(command):
                self.assertIn(f"\n{command}\n", front)
                self.assertIn(f"fabricbench-{command} (1)", front)
                page = (self.root / f"share/man/man1/fabricbench-{command}.1").read_text(encoding="utf-8").replace("\\-", "-")
                self.assertIn(f"\\fB{option}\\fR", page)
                self.assertIn('\n.SH "EXIT STATUS"\n', page)

    def test_groff_has_no_warnings(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff here")
        for page in self.pages():
            with self.subTest(page.name):
                done = run("groff", "-man", "-ww", "-z", page)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_lines_fit_into_80_columns(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff here")
        for page in self.pages():
            with self.subTest(page.name):
                lines = self.succeed("groff", "-man", "-Tascii", "-P-cbou", page).splitlines()
                self.assertGreater(len(lines), 20)
                self.assertEqual([line for line in lines if len(line) > 80], [])


class Completion(InstalledTest):  # 1 rank, 20 s

    def bash(self, *words, file=FRONT):
        return by_bash(self.root / "share", self.work, file, *words)

    def test_bash_completes_options_by_either_name(self):
        command = self.command_of("all_reduce_perf")
        self.assertEqual(self.bash(command, "--minb"), ["--minbytes"])
        self.assertEqual(self.bash(command, "-n", "5", "--time-b"), ["--time-budget"])
        self.assertEqual(self.bash("all_reduce_perf", "--maxb"), ["--maxbytes"])
        self.assertEqual(self.bash("/somewhere/all_reduce_perf", "--maxb"), ["--maxbytes"])

    def test_bash_has_a_file_for_every_command(self):
        for name in self.names():
            if name != FRONT:
                with self.subTest(name):
                    command = self.command_of(name)
                    self.assertEqual(self.bash(command, "--vers", file=command), ["--version"])

    def test_bash_completes_values(self):
        command = self.command_of("all_reduce_perf")
        self.assertEqual(self.bash(command, "-C", ""), ["0", "1"])
        self.assertEqual(self.bash(command, "-C", "=", "1"), ["1"])
        self.assertEqual(self.bash(command, "--minbytes", ""), [])
        self.assertEqual(self.bash(command, "--timing", ""), ["pipelined", "isolated"])
        self.assertEqual(self.bash(command, "--timing", "=", "iso"), ["isolated"])
        self.assertEqual(self.bash(command, "--op", "m"), ["min", "max", "mulsum"])
        self.assertEqual(self.bash(self.command_of("find_slow_links"), "--import", "perf"), ["perftest"])
        self.assertEqual(self.bash(FRONT, "table", "--form", "p"), ["perftest"])
        self.assertEqual(self.bash(FRONT, "all_reduce", "--placement", "o"), ["out"])
        self.assertEqual(self.bash(FRONT, "all_reduce", "--launcher", ""), ["mpirun", "srun"])
        (self.work / "results.jsonl").touch()
        self.assertIn("results.jsonl", self.bash(command, "--json", "res"))
        self.assertIn("results.jsonl", self.bash(self.command_of("find_slow_links"), "res"))

    def test_bash_completes_commands_and_their_options(self):
        self.assertLessEqual({"compare", "report", "table"}, set(self.bash(FRONT, "")))
        self.assertEqual(self.bash(FRONT, "tab"), ["table"])
        self.assertEqual(self.bash(FRONT, "table", "--fo"), ["--form"])

    def test_bash_completes_programs_behind_fabricbench(self):
        self.assertNotIn(FRONT, self.bash(FRONT, ""))
        self.assertEqual(self.bash(FRONT, "all_r"), ["all_reduce"])
        for name in ("all_reduce", "all_reduce_perf", "all-reduce"):
            self.assertEqual(self.bash(FRONT, name, "--minb"), ["--minbytes"])
            self.assertEqual(self.bash(FRONT, name, "--hosts"), ["--hosts"])
        self.assertEqual(self.bash(FRONT, "find_slow_links", "--vers"), ["--version"])

    def test_bash_completes_a_separate_equals_sign(self):
        self.assertEqual(self.bash(FRONT, "run", "--launcher", "=", "sr"), ["srun"])
        self.assertEqual(self.bash(FRONT, "run", "--hosts", "=", "a,b", "all_reduce", "--order", "="), ["interleaved", "sequential"])

    def test_fish_takes_every_file(self):
        self.need("fish")
        folder = self.root / "share/fish/vendor_completions.d"
        for name in self.names():
            with self.subTest(name):
                self.succeed("fish", "--no-execute", folder / f"{self.command_of(name)}.fish")

    def test_zsh_names_every_command_in_its_first_line(self):
        first = (self.root / "share/zsh/site-functions/_fabricbench").read_text(encoding="utf-8").splitlines()[0]
        self.assertLessEqual({self.command_of(name) for name in self.names()}, set(first.split()))

    def need(self, shell):
        if shutil.which(shell) is None:
            self.skipTest(f"there is no {shell} here")


ORDERS = {"interleaved", "sequential"}

# All that is offered for the last word of a line.
EXACTLY = (
    ("fabricbench --", {"--help", "--version"}),
    ("fabricbench tab", {"table"}),
    ("fabricbench acc", {"accept"}),
    ("fabricbench swee", {"sweep"}),
    ("fabricbench run all_r", {"all_reduce"}),
    ("fabricbench run acc", {"accept"}),
    ("fabricbench run --launcher ", {"mpirun", "srun"}),
    ("fabricbench run --hosts a,b all_r", {"all_reduce"}),
    ("fabricbench run -np 2 all_r", {"all_reduce"}),
    ("fabricbench run --hosts a,b all_reduce --order ", ORDERS),
    ("fabricbench run -np 2 all-reduce --order=", ORDERS),
    ("fabricbench all_reduce --order ", ORDERS),
    ("fabricbench all_reduce --order=", ORDERS),
    ("fabricbench all-reduce --order ", ORDERS),
    ("fabricbench all_reduce_perf --order ", ORDERS),
    ("fabricbench {prefix}all_reduce_perf --order ", ORDERS),
    ("{prefix}all_reduce_perf --order ", ORDERS),
    ("{prefix}all_reduce_perf --order=", ORDERS),
    ("fabricbench all_reduce --hostf", {"--hostfile"}),
    ("fabricbench run all_reduce --hostf", {"--hostfile"}),
    ("fabricbench accept --hostf", {"--hostfile"}),
    ("fabricbench list --", {"--help"}),
    ("fabricbench help acc", {"accept"}),
    ("fabricbench table --form p", {"perftest"}),
    ("fabricbench find_slow_links --import perf", {"perftest"}),
    ("fabricbench list_hosts --", {"--host", "--hostfile", "--exclude", "--fold", "--slots", "--help", "--version"}),
)

# Some of what is offered, and what is not.
AMONG_OTHERS = (
    ("fabricbench ", {"list", "run", "table", "accept", "all_reduce", "find_slow_links"}, {FRONT, "results.jsonl"}),
    ("fabricbench help ", {"list", "run", "table", "accept", "all_reduce"}, {"--hosts", "results.jsonl"}),
    ("fabricbench run ", {"accept", "all_reduce", "find_slow_links"}, {"list", "run", "table", "results.jsonl"}),
    ("fabricbench run tab", set(), {"table"}),
    ("fabricbench run --", {"--hosts", "--hostfile", "--launcher", "--dry-run", "--help"}, {"--order", "--version"}),
    ("fabricbench list ", set(), {"--hosts", "results.jsonl"}),
    ("fabricbench accept --", {"--baseline", "--recheck", "--dry-run", "--launcher", "--agent", "--hosts"}, {"-np"}),
    ("fabricbench sweep --", {"--find", "--records", "--test", "--rdma", "--min-bandwidth", "--hosts"}, {"--record"}),
    ("fabricbench run sweep --", {"--find", "--records", "--test", "--hosts"}, {"-np"}),
    ("fabricbench record_baseline --", {"--launches", "--keep-going"}, {"--hosts", "--hostfile"}),
    ("fabricbench selftest --", {"--quick", "--list"}, {"--hosts", "--hostfile"}),
    ("fabricbench find_slow_links --", {"--import", "--json", "--version"}, {"--launcher", "--hosts", "--dry-run"}),
    ("fabricbench table ", {"results.jsonl"}, {"--hosts"}),
    ("fabricbench record_baseline ", {"results.jsonl"}, {"--hosts"}),
    ("fabricbench all_reduce --json ", {"results.jsonl"}, {"--hosts"}),
    ("{prefix}find_slow_links res", {"results.jsonl"}, set()),
)


class CompletionOfLines(InstalledTest):  # 1 rank, 60 s

    def check(self, shell):
        if shutil.which(shell) is None:
            self.skipTest(f"there is no {shell} here")
        (self.work / "results.jsonl").touch()
        lines = [case[0].format(prefix=LINK_PREFIX) for case in EXACTLY + AMONG_OTHERS]
        offers = dict(zip(lines, offered(shell, self.root / "share", self.work, lines)))
        for line, expected in EXACTLY:
            with self.subTest(line):
                self.assertEqual(offers[line.format(prefix=LINK_PREFIX)], expected)
        for line, expected, unwanted in AMONG_OTHERS:
            with self.subTest(line):
                found = offers[line.format(prefix=LINK_PREFIX)]
                self.assertLessEqual(expected, found)
                self.assertEqual(unwanted & found, set())

    def test_bash(self):
        self.check("bash")

    def test_zsh(self):
        self.check("zsh")

    def test_fish(self):
        self.check("fish")

    def test_dashes_stand_for_underscores(self):
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell) is not None:
                with self.subTest(shell):
                    told = offered(shell, self.root / "share", self.work, [f"{FRONT} all-re", f"{FRONT} run all-re"])
                    self.assertEqual(told, [{"all-reduce"}, {"all-reduce"}])

    def test_the_help_of_a_script_has_every_option_that_is_offered(self):
        for script in ("accept", "check_node_pair", "gpu_check", "rdma_check", "record_baseline", "selftest", "sweep"):
            with self.subTest(script):
                [told] = offered("bash", self.root / "share", self.work, [f"{FRONT} {script} --"])
                self.assertGreater(len(told), 3)
                self.assertLessEqual(told, set(re.findall(r"--[a-z-]+", self.succeed(self.bin / FRONT, script, "--help"))))


if __name__ == "__main__":
    unittest.main()
