"""Man pages, and completion in the shells that this machine has."""

import shutil
import unittest

from installing import FRONT, InstalledTest, options_in, run


class ManPages(InstalledTest):  # 2 ranks, 40 s

    def page_of(self, name):
        return self.root / "share/man/man1" / f"{self.command_of(name)}.1"

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
                self.assertRegex(page, r"\n.SH EXIT STATUS\n|Exit status: 0")

    def test_the_page_of_fabricbench_has_its_commands(self):
        page = self.page_of(FRONT).read_text(encoding="utf-8").replace("\\-", "-")
        for command, option in (("compare", "--allow"), ("table", "--form"), ("report", "")):
            self.assertIn(f"\n.SS {command}\n", page)
            self.assertIn(option, page)

    def test_groff_has_no_warnings(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff here")
        for name in self.names():
            with self.subTest(name):
                done = run("groff", "-man", "-ww", "-z", self.page_of(name))
                self.assertEqual((done.returncode, done.stderr), (0, ""))


    def test_lines_fit_into_80_columns(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff here")
        for name in self.names():
            with self.subTest(name):
                lines = self.succeed("groff", "-man", "-Tascii", "-P-cbou", self.page_of(name)).splitlines()
                self.assertGreater(len(lines), 20)
                self.assertEqual([line for line in lines if len(line) > 80], [])


class Completion(InstalledTest):  # 1 rank, 10 s

    def bash(self, *words, file=FRONT):
        """What bash offers for the last word, the others being there."""
        script = ('source "$1" && shift && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && '
                  'rule=$(complete -p "${1##*/}") && rule=${rule#*-F } && "${rule%% *}" && printf "%s\\n" "${COMPREPLY[@]}"')
        folder = self.root / "share/bash-completion/completions"
        return [line for line in self.succeed("bash", "-c", script, "-", folder / file, *words).splitlines() if line]

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

    def test_zsh_takes_the_file(self):
        if shutil.which("zsh") is None:
            self.skipTest("there is no zsh here")
        file = self.root / "share/zsh/site-functions/_fabricbench"
        self.succeed("zsh", "-n", file)
        self.assertIn(f" {self.command_of('all_reduce_perf')} ", file.read_text(encoding="utf-8").splitlines()[0] + " ")
        # The options that it hands to _arguments.
        told = self.succeed("zsh", "-f", "-c", "_arguments() { print -l -- $@ }; service=$1; . $2", "-",
                            self.command_of("all_reduce_perf"), file)
        self.assertIn("--json[", told)
        self.assertIn(":MODE:(pipelined isolated)\n", told)
        told = self.succeed("zsh", "-f", "-c", "_arguments() { print -l -- $@ }; service=$1; words=($1 all-reduce --m); CURRENT=3; . $2",
                            "-", FRONT, file)
        self.assertIn("--json[", told)
        self.assertIn("--hosts[", told)

    def test_fish_completes_options(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish here")
        folder = self.root / "share/fish/vendor_completions.d"
        for name in self.names():
            with self.subTest(name):
                self.succeed("fish", "--no-execute", folder / f"{self.command_of(name)}.fish")
        command = self.command_of("all_reduce_perf")
        told = self.succeed("fish", "--no-config", "-c", f"source {folder}/{command}.fish; complete -C '{command} --minb'",
                            env={"PATH": "/usr/bin:/bin", "HOME": str(self.work), "TERM": "dumb"})
        self.assertTrue(told.startswith("--minbytes\t"), told)
        told = self.succeed("fish", "--no-config", "-c", f"source {folder}/{command}.fish; complete -C '{command} --timing i'",
                            env={"PATH": "/usr/bin:/bin", "HOME": str(self.work), "TERM": "dumb"})
        self.assertTrue(told.startswith("isolated\t"), told)
        for word, start in (("all_red", "all_reduce\t"), ("all_reduce --minb", "--minbytes\t"), ("all_reduce --hostf", "--hostfile")):
            told = self.succeed("fish", "--no-config", "-c", f"source {folder}/{FRONT}.fish; complete -C '{FRONT} {word}'",
                                env={"PATH": "/usr/bin:/bin", "HOME": str(self.work), "TERM": "dumb"})
            self.assertTrue(told.startswith(start), told)


if __name__ == "__main__":
    unittest.main()
