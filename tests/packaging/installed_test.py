"""The installed programs, scripts and data."""

import json
import os
import re
import unittest

from installing import BUILD, FRONT, LIBMPI, MPIEXEC, SOURCES, InstalledTest, run, succeed

# Of the C and C++ compilers, which every system has that runs their programs.
LANGUAGES = {"linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libdl", "libpthread", "librt", "libstdc++",
             "libgcc_s"}
VERBS = {"libibverbs", "librdmacm", "libnl-3", "libnl-route-3"}
HWLOC = {"libhwloc", "libudev", "libcap", "libz"}
ADAPTERS = re.compile(r"^(rdma_|gpudirect_rdma_)")
WITHOUT_MPI = {FRONT, "find_slow_links", "list_hosts", "plan_sweep"}


def libraries_of(path):
    """{name without .so: where it is} of all libraries that a program loads at its start."""
    text = succeed("ldd", path, env={"PATH": os.environ["PATH"]})
    pairs = re.findall(r"^\s*(\S+)(?: => (\S.*?))?(?: \(0x[0-9a-f]+\))?$", text, re.MULTILINE)
    return {os.path.basename(name).split(".so")[0]: place for name, place in pairs}


class Layout(InstalledTest):  # 1 rank, 10 s

    def test_every_program_has_a_relative_link_with_the_prefix(self):
        self.assertEqual({self.command_of(name) for name in self.names()}, {path.name for path in self.bin.iterdir()})
        for name in self.names():
            with self.subTest(name):
                link = self.bin / self.command_of(name)
                self.assertFalse(os.readlink(link).startswith("/"))
                self.assertEqual(link.resolve(), (self.programs / name).resolve())

    def test_links_run_and_programs_say_the_name_of_the_link(self):
        for name in self.names():
            with self.subTest(name):
                command = self.command_of(name)
                if name == FRONT:
                    self.assertIn(f"usage: {FRONT} PROGRAM", self.succeed(self.bin / command, "--help"))
                else:
                    told = self.succeed(self.bin / command, "--describe-options")
                    self.assertEqual(told.splitlines()[0], f"name\t{command}")

    def test_help_has_the_name_by_which_the_program_was_called(self):
        for name in ("list_hosts", "all_reduce_perf"):
            with self.subTest(name):
                command = self.command_of(name)
                text = self.succeed(self.bin / command, "--help")
                self.assertIn(f"\nUsage: {command} [OPTIONS]", text)
                examples = [line for line in text.splitlines() if re.match(r"  (mpirun .*)?\S*" + name, line)]
                self.assertEqual(len(examples), 3)
                for line in examples:
                    self.assertIn(command, line.split())
                self.assertIn(f"\nUsage: {name} [OPTIONS]", self.succeed(self.programs / name, "--help"))

    def test_data_is_where_programs_and_scripts_look(self):
        for path in ("presets/h100-8x400g.jsonl", "output.schema.json", "scripts/accept.sh", "scripts/report_page/page.py",
                     "scripts/templates/report.css", "examples/slow_links.sbatch"):
            self.assertTrue((self.share / path).is_file(), path)
        for path in ("scripts/test.sh", "scripts/mutants.py", "scripts/fuzz.sh", "scripts/__pycache__"):
            self.assertFalse((self.share / path).exists(), path)
        self.assertTrue((self.root / "share/doc/fabricbench/README.md").is_file())
        self.assertTrue((self.root / "share/doc/fabricbench/docs/output.md").is_file())

    def test_links_between_documents_lead_somewhere(self):
        for page in (self.root / "share/doc/fabricbench").rglob("*.md"):
            for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, target=target):
                    self.assertTrue((page.parent / target).exists())

    def test_no_text_names_the_folder_of_the_sources_or_of_the_build(self):
        for path in (path for path in self.root.rglob("*") if path.is_file()):
            content = path.read_bytes()
            if b"\0" in content:
                continue
            for folder in (SOURCES, BUILD):
                self.assertNotIn(str(folder).encode(), content, path)


class Libraries(InstalledTest):  # 1 rank, 10 s

    def of_mpi(self):
        names = set()
        for library in LIBMPI:
            names |= {os.path.basename(library).split(".so")[0], *libraries_of(library)}
        self.assertIn("libmpi", {re.sub("^libmpich.*", "libmpi", name) for name in names})
        return names

    def test_programs_load_mpi_and_what_comes_with_them_only(self):
        of_mpi = self.of_mpi()
        for name in self.names():
            with self.subTest(name):
                loaded = libraries_of(self.programs / name)
                allowed = LANGUAGES | HWLOC
                if name not in WITHOUT_MPI:
                    allowed |= of_mpi
                if ADAPTERS.match(name):
                    allowed |= VERBS
                brought = {library for library, place in loaded.items() if place and str(self.root) in os.path.realpath(place)}
                self.assertEqual(set(loaded) - allowed - brought, set())
                self.assertNotIn("not found", loaded.values())

    def test_what_the_distribution_need_not_have_is_linked_statically_or_installed_too(self):
        for name in self.names():
            for library, place in libraries_of(self.programs / name).items():
                if library in ("libfmt", "libsimdjson"):
                    with self.subTest(name):
                        self.assertIn(str(self.root), os.path.realpath(place))


class Use(InstalledTest):  # 2 ranks, 20 s

    def test_a_run_its_table_and_its_report(self):
        record = self.work / "run.jsonl"
        done = run(MPIEXEC, "-np", "2", self.bin / self.command_of("all_reduce_perf"), "-b", "8", "-e", "8", "-n", "5",
                   "--preset", "h100-8x400g", "--json", record, cwd=self.work)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Out of bounds values : 0 OK", done.stdout)
        table = self.succeed(self.bin / FRONT, "table", record)
        self.assertIn("Out of bounds values : 0 OK", table)
        page = run(self.bin / FRONT, "report", record, "-o", self.work / "report.html", cwd=self.work)
        if "has no module" in page.stderr:
            self.skipTest(page.stderr.strip())
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertIn("all_reduce_perf", (self.work / "report.html").read_text(encoding="utf-8"))

    def test_the_record_names_the_program_without_prefix(self):
        record = self.work / "named.jsonl"
        self.succeed(MPIEXEC, "-np", "1", self.bin / self.command_of("barrier_perf"), "-n", "3", "--json", record)
        first = json.loads(record.read_text(encoding="utf-8").splitlines()[0])
        self.assertEqual(first["program"], "barrier_perf")

    def test_scripts_find_the_installed_programs(self):
        scripts = self.share / "scripts"
        found = self.succeed("bash", "-c", 'source "$1/lib.sh"; own_programs', "-", scripts)
        self.assertEqual(found.strip(), str(self.programs))
        place = self.succeed("python3", "-c", "import sys; sys.path.insert(0, sys.argv[1]); sys.dont_write_bytecode = True\n"
                             "from report_page.judging import path_of_program; print(path_of_program(None))", scripts)
        self.assertEqual(place.strip(), str(self.programs / "find_slow_links"))

    def test_advice_names_installed_commands(self):
        record = self.work / "sweep.jsonl"
        succeed(BUILD / "simulate_fabric", "--hosts", "8", "--fault", "host:3:0.8", "--records", record)
        result = run(self.bin / self.command_of("find_slow_links"), record)
        self.assertIn("fabricbench sweep -H ", result.stdout)
        self.assertNotIn("scripts/", result.stdout)

    def test_the_module_file_sets_path_and_folder(self):
        init = "/usr/share/lmod/lmod/init/bash"
        if not os.path.exists(init):
            self.skipTest("there is no Lmod here, which reads the module file")
        told = self.succeed("bash", "-c", f'source {init}; module use "$1" && module load fabricbench && '
                            'command -v fabricbench && echo "$FABRICBENCH"', "-", self.share / "modulefiles")
        self.assertEqual(told.split(), [str(self.bin / FRONT), str(self.share)])

    def test_scripts_explain_themselves(self):
        for name in ("accept", "sweep", "check_node_pair", "record_baseline", "selftest", "gpu_check", "rdma_check"):
            script = "sweep_pairs" if name == "sweep" else name
            for command in ([self.bin / FRONT, name], [self.share / "scripts" / f"{script}.sh"]):
                with self.subTest(command):
                    self.assertTrue(self.succeed(*command, "--help").startswith(f"usage: {FRONT} {name} "))
        script = self.share / "scripts" / "install_deps.sh"
        self.assertTrue(self.succeed(script, "--help").startswith(f"usage: {script} "))


if __name__ == "__main__":
    unittest.main()
