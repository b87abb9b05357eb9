"""find_slow_links and report.py on results of other tools."""

import itertools
import json
import os
import shutil
from pathlib import Path

from finding import CLEAN, MISSING, NOT_JUDGED, SLOW, USAGE
from launch import PROGRAMS
from other_tools import (HOSTS, SETS, SIZE, SLOW_HOST, ImportTest, csv_text, healthy, iperf3_log, nccl_log, osu_log, pair_logs,
                         perftest_log, with_slow_host)
from reporting import Page, Reporting


class Kinds(ImportTest):  # 1 rank, 5 s

    def each_set(self, rate):
        for kind, sets in SETS.items():
            for number, files in enumerate(sets):
                yield kind, self.folder(files(rate), f"{kind}-{number}")

    def test_one_slow_host_is_found(self):
        for kind, folder in self.each_set(with_slow_host):
            for given in (kind, "auto"):
                with self.subTest(folder.name, given=given):
                    stdout, stderr = self.run_tool(SLOW, "--quiet", "--import", given, folder)
                    self.assertIn(f"Slow: {HOSTS[SLOW_HOST]}\n", stdout)
                    self.assertNotIn("not understood", stderr)

    def test_healthy_hosts_are_fine(self):
        for kind, folder in self.each_set(healthy):
            with self.subTest(folder.name):
                stdout, _ = self.run_tool(CLEAN, "--quiet", "--import", kind, folder)
                self.assertEqual(stdout, "Fine: gpu-node-[1-6]\n")

    def test_units_are_those_of_the_tool(self):
        for kind, folder in self.each_set(healthy):
            records = self.records(kind, folder)
            self.assertEqual(records[0], {"kind": "sweep", "hosts": sorted(HOSTS)})
            for reading in records[1:]:
                ends = HOSTS.index(reading["from_host"]), HOSTS.index(reading["to_host"])
                expected = healthy(*ends)
                if reading["both_ways"]:
                    expected = min(expected, healthy(*ends[::-1]))
                with self.subTest(folder.name, ends=ends):
                    self.assertAlmostEqual(reading["bandwidth_gb_per_s"], expected, delta=0.006)

    def test_gpus_are_kept(self):
        folder = self.folder(SETS["nccl-tests"][0](with_slow_host))
        for reading in self.records("nccl-tests", folder)[1:]:
            self.assertRegex(reading["from_gpu"], r"^[0-9a-f:.]+$")
        stdout, _ = self.run_tool(SLOW, "--import", "nccl-tests", folder)
        self.assertRegex(stdout, f"{HOSTS[SLOW_HOST]} \\(.*{reading['from_gpu']}.*\\) is slow")

    def test_line_ends_and_byte_order_marks_do_not_matter(self):
        for kind, folder in self.each_set(with_slow_host):
            before = self.records(kind, folder)
            for file in folder.iterdir():
                file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
            with self.subTest(folder.name):
                self.assertEqual(self.records(kind, folder), before)


class FailedPairs(ImportTest):  # 1 rank, 1 s

    def test_a_dead_host_is_found(self):
        for kind in ("nccl-tests", "osu", "perftest", "iperf3", "iperf2", "csv"):
            with self.subTest(kind):
                files = SETS[kind][0](lambda a, b: None if 1 in (a, b) else healthy(a, b))
                stdout, _ = self.run_tool(SLOW, "--quiet", "--import", kind, self.folder(files, kind))
                self.assertIn("Dead: gpu-node-2\n", stdout)

    def test_reasons_are_kept(self):
        files = SETS["osu"][0](lambda a, b: None if {a, b} == {0, 1} else healthy(a, b))
        failed = [record for record in self.records("osu", self.folder(files)) if record.get("status") == "failed"]
        self.assertEqual({record["reason"] for record in failed},
                         {f"ssh: connect to host gpu-node-{number} port 22: No route to host" for number in (1, 2)})
        # They are held against what the others measured.
        self.assertEqual({(record["test"], record["size_bytes"]) for record in failed}, {("osu_bw", 4194304)})

    def test_without_words_of_failure_are_not_understood(self):
        for name, text, why in (
                ("empty", "", "the log is empty"), ("hello", "hello\n", "the log ends without a result, after 'hello'"),
                ("hung", osu_log(0, 1, healthy).splitlines()[0] + "\n", "the log ends without a result, after '# OSU")):
            files = SETS["osu"][0](healthy)
            files["osu_bw_gpu-node-1-to-gpu-node-2.txt"] = text
            del files["osu_bw_gpu-node-2-to-gpu-node-1.txt"]
            folder = self.folder(files, name)
            for kind in ("osu", "auto"):
                with self.subTest(name, kind=kind):
                    stdout, stderr = self.run_tool(NOT_JUDGED, "--import", kind, folder)
                    self.assertTrue(stdout.startswith("1 file was not understood"), stdout)
                    self.assertIn(f"{folder}/osu_bw_gpu-node-1-to-gpu-node-2.txt: not understood: {why}", stderr)


class SecondFiles(ImportTest):  # 1 rank, 2 s
    """Files beside the log of a pair, as Slurm and scripts write them: the pair has a result, whatever they say."""

    def beside(self, kind, name, text):
        folder = self.folder({**SETS[kind][0](healthy), **{
            name.format(HOSTS[a], HOSTS[b]): text for a, b in itertools.combinations(range(6), 2)}}, f"{kind}{len(text)}")
        for given in (kind, "auto"):
            stdout, stderr = self.run_tool(CLEAN, "--quiet", "--import", given, folder)
            self.assertEqual(stdout, "Fine: gpu-node-[1-6]\n")
            self.assertNotIn("not understood", stderr)

    def test_do_not_make_hosts_dead(self):
        for kind in ("nccl-tests", "osu", "perftest", "iperf3"):
            with self.subTest(kind):
                self.beside(kind, "{}_{}.err", "")
                self.beside(kind, "{}_{}.err", "Warning: Permanently added 'gpu-node-4' (ED25519) to the list of known hosts.\n")
                self.beside(kind, "hostfile_{}_{}", "gpu-node-1 slots=1\ngpu-node-2 slots=1\n")

    def test_may_have_columns(self):
        folder = self.folder({**SETS["osu"][0](healthy), f"{HOSTS[0]}_{HOSTS[1]}.topo.txt": "\tGPU0\tNIC0\nGPU0\t X \tPIX\nNIC0\tPIX\t X \n"})
        stdout, _ = self.run_tool(CLEAN, "--quiet", "--import", "auto", folder)
        self.assertEqual(stdout, "Fine: gpu-node-[1-6]\n")

    def test_named_one_by_one_are_the_same(self):
        folder = self.folder({**SETS["osu"][0](healthy), "gpu-node-1_gpu-node-2.err": ""})
        stdout, _ = self.run_tool(CLEAN, "--quiet", "--import", "auto", *sorted(folder.iterdir()))
        self.assertEqual(stdout, "Fine: gpu-node-[1-6]\n")

    def test_may_name_a_failure(self):
        files = SETS["osu"][0](healthy)
        for b in (0, 2, 4):
            files[f"{HOSTS[1]}_{HOSTS[b]}.err"] = "[node02:1] *** An error occurred in MPI_Send\n"
        records = self.records("auto", self.folder(files))
        self.assertEqual(sum(record.get("status") == "failed" for record in records), 3)

    def test_may_name_wrong_data(self):
        files = SETS["perftest"][0](healthy)
        for b in (0, 2, 4):
            files[f"{HOSTS[1]}_{HOSTS[b]}.err"] = "VALIDATION: FAILED - 12 error(s), first at QP 0, Chunk 1, Offset 4096\n"
        stdout, _ = self.run_tool(SLOW, "--import", "auto", self.folder(files))
        self.assertIn("wrong data", stdout)

    def test_of_the_other_way_tell_nothing(self):
        files = SETS["perftest"][0](healthy)
        files[f"{HOSTS[1]}_{HOSTS[0]}.log"] = files[f"{HOSTS[0]}_{HOSTS[1]}.log"].partition("#bytes")[0]
        stdout, _ = self.run_tool(NOT_JUDGED, "--import", "auto", self.folder(files))
        self.assertTrue(stdout.startswith("1 file was not understood"), stdout)

    def test_of_a_host_of_another_make_are_not_passed_over(self):
        files = {name: text for name, text in SETS["perftest"][0](healthy).items() if HOSTS[5] not in name}
        for b in range(5):
            files[f"{HOSTS[b]}_login.log"] = "Couldn't connect to login:18515\n"
        stdout, _ = self.run_tool(NOT_JUDGED, "--import", "auto", self.folder(files))
        self.assertTrue(stdout.startswith("5 files were not understood"), stdout)

    def test_that_are_no_files(self):
        folder = self.folder(SETS["osu"][0](healthy))
        os.mkfifo(folder / "pipe")
        (folder / "link").symlink_to("nowhere")
        stdout, _ = self.run_tool(CLEAN, "--quiet", "--import", "auto", folder)
        self.assertEqual(stdout, "Fine: gpu-node-[1-6]\n")

    def test_of_a_server_count_once(self):
        files = SETS["perftest"][0](healthy)
        for name, text in list(files.items()):
            files["server_" + name] = "* Waiting for client to connect... *\n" + text
        self.assertEqual(len(self.records("auto", self.folder(files))), 31)
        only = {name: text for name, text in files.items() if name.startswith("server_")}
        self.assertEqual(len(self.records("auto", self.folder(only, "only"))), 31)


class Labels(ImportTest):  # 1 rank, 1 s

    def test_do_not_matter(self):
        labels = {"kubectl": "2024-07-29T12:34:56.789012345Z ", "pdsh": "n01: ", "hydra": "[0] ",
                  "tags": "Mon Jul 29 12:34:56 2024[1,0]<stdout>:", "colour": "\x1b[0;32m"}
        for kind in ("nccl-tests", "osu", "perftest", "iperf3"):
            for name, label in labels.items():
                files = SETS[kind][0](with_slow_host)
                for file in list(files)[::2] if name == "pdsh" else files:
                    files[file] = "".join(label + line for line in files[file].splitlines(keepends=True))
                with self.subTest(kind, label=name):
                    stdout, _ = self.run_tool(SLOW, "--quiet", "--import", "auto", self.folder(files, kind + name))
                    self.assertEqual(stdout, "Slow: gpu-node-4\nFine: gpu-node-[1-3,5-6]\n")

    def test_that_are_not_understood_are_the_reason(self):
        files = SETS["osu"][0](healthy)
        for b in (0, 1, 2, 4, 5):
            for name in (f"osu_bw_{HOSTS[3]}-to-{HOSTS[b]}.txt", f"osu_bw_{HOSTS[b]}-to-{HOSTS[3]}.txt"):
                files[name] = "".join("x" + line for line in files[name].splitlines(keepends=True))
        stdout, stderr = self.run_tool(NOT_JUDGED, "--quiet", "--import", "auto", self.folder(files))
        self.assertNotIn("Dead", stdout)
        self.assertIn("not understood: 'x' stands before lines, which is no known label (osu)", stderr)


class WrongData(ImportTest):  # 1 rank, 1 s

    def judged(self, kind, spoil):
        files = SETS[kind][0](healthy)
        for name, text in files.items():
            if HOSTS[2] in name:
                files[name] = spoil(text)
                self.assertNotEqual(files[name], text)
        folder = self.folder(files, f"{kind}{len(self.seen)}")
        self.seen.append(kind)
        stdout, _ = self.run_tool(SLOW, "--quiet", "--import", "auto", folder)
        self.assertIn("Wrong data: gpu-node-3\n", stdout)
        self.assertNotIn("Dead", stdout)

    def test_are_neither_fine_nor_dead(self):
        self.seen = []
        size = f"  {SIZE}  {SIZE // 4}  float"
        for spoil in (lambda text: text.replace("9.99  9.99  N/A\n# Out", "9.99  9.99  4711\n# Out"),
                      lambda text: text.replace(f"  0  1.0  9.99  9.99  N/A\n{size}", f"  3  1.0  9.99  9.99  N/A\n{size}"),
                      lambda text: text.replace(": 0 OK", ": 1 FAILED")):
            self.judged("nccl-tests", spoil)
        self.judged("osu", lambda text: text.replace("3.50\n", "3.50   Fail\n"))

    def test_are_said(self):
        files = SETS["osu"][0](healthy)
        name = f"osu_bw_{HOSTS[0]}-to-{HOSTS[1]}.txt"
        files[name] = files[name].replace("3.50\n", "3.50   Fail\n")
        stdout, _ = self.run_tool(SLOW, "--import", "auto", self.folder(files))
        self.assertIn("1 path is delivering wrong data; all 6 hosts are fine.", stdout)
        self.assertIn("reason      wrong data: the check says Fail at 1 B, line 4\n", stdout)
        self.assertIn("Path with wrong data: gpu-node-1 gpu-node-2\n", stdout)


class Logs(ImportTest):  # 1 rank, 2 s

    def test_of_several_programs_are_told_apart(self):
        title = "# OSU MPI Bandwidth Test"
        files = {name: text + text.replace(title, "# OSU MPI Bi-Directional Bandwidth Test").replace("12", "23", 1)
                 for name, text in SETS["osu"][0](with_slow_host).items()}
        records = self.records("auto", self.folder(files))[1:]
        self.assertEqual([record["test"] for record in records[:4]], ["osu_bw", "osu_bibw"] * 2)
        self.assertEqual([record["both_ways"] for record in records[:4]], [False, True] * 2)

    def test_of_iperf3_and_another_tool(self):
        files = pair_logs(with_slow_host, lambda a, b, rate: perftest_log(a, b, rate) + iperf3_log(a, b, rate), itertools.permutations)
        folder = self.folder(files)
        records = self.records("auto", folder)[1:]
        self.assertEqual([record["test"] for record in records], ["ib_write_bw", "iperf3"] * 30)
        records = self.records("iperf3", folder)[1:]
        self.assertEqual([record["test"] for record in records], ["iperf3"] * 30)
        _, stderr = self.run_tool(NOT_JUDGED, "--import", "osu", folder)
        self.assertIn("it has lines of several tools; give a log for each", stderr)

    def test_of_a_rail_have_its_name(self):
        files = {}
        for rail in ("mlx5_0", "mlx5_1"):
            rate = with_slow_host if rail == "mlx5_1" else healthy
            for name, text in SETS["perftest"][0](rate).items():
                files[f"{rail}_{name}"] = text.replace("mlx5_0", rail)
        stdout, _ = self.run_tool(SLOW, "--import", "auto", self.folder(files))
        self.assertIn("gpu-node-4 is slow with all partners over rail mlx5_1", stdout)
        folder = self.folder({}, "rails")
        for rail in ("mlx5_0", "mlx5_1"):
            (folder / rail).mkdir()
            for name, text in SETS["osu"][0](with_slow_host if rail == "mlx5_1" else healthy).items():
                (folder / rail / name).write_text(text)
        stdout, _ = self.run_tool(SLOW, "--import", "auto", folder)
        self.assertIn("gpu-node-4 is slow with all partners over rail mlx5_1", stdout)

    def test_names_of_files_make_no_hosts(self):
        for number, name in enumerate(("{}-{}-mlx5_0.txt", "{}_to_{}_mlx5_0.log", "{}_{}_mlx5_0.log", "{}_{}.1.log",
                                       "{}_{}.dat", "{}_{}.LOG", "{}_{}.stdout", "{}_{}.result")):
            files = pair_logs(with_slow_host, perftest_log, itertools.permutations, name)
            with self.subTest(name):
                stdout, _ = self.run_tool(SLOW, "--quiet", "--import", "auto", self.folder(files, str(number)))
                self.assertEqual(stdout, "Slow: gpu-node-4\nFine: gpu-node-[1-3,5-6]\n")

    def test_short_and_full_names_are_one_host(self):
        files = {name if HOSTS[0] in name else name.replace("gpu-node-2", "gpu-node-2.cluster.org"): text
                 for name, text in SETS["perftest"][0](with_slow_host).items()}
        stdout, _ = self.run_tool(SLOW, "--quiet", "--import", "auto", self.folder(files))
        self.assertEqual(stdout, "Slow: gpu-node-4\nFine: gpu-node-[1-3,5-6]\n")

    def test_of_a_program_without_mpi_are_not_understood(self):
        log = nccl_log(0, 1, healthy).replace("Rank  1", "Rank  0")
        file = self.directory / "gpu-node-1_gpu-node-2.log"
        file.write_text(log)
        _, stderr = self.run_tool(NOT_JUDGED, "--import", "auto", file)
        self.assertIn("the program was built without MPI", stderr)

    def test_cut_in_the_last_row_have_no_result(self):
        for kind in ("osu", "perftest"):
            files = SETS[kind][0](healthy)
            name = next(iter(files))
            files[name] = files[name][:files[name].rindex(".") - 1]
            with self.subTest(kind):
                _, stderr = self.run_tool(NOT_JUDGED, "--quiet", "--import", "auto", self.folder({name: files[name]}, kind))
                self.assertIn("the file ends within this line", stderr)


class Notices(ImportTest):  # 1 rank, 1 s

    def test_what_is_not_understood_is_said(self):
        files = {**SETS["osu"][0](healthy), "about_this.txt": "hello\n", "core.log": b"\0\1\2", "log": "hello\n",
                 ".hidden_file.log": "hello\n", "a_b.csv": csv_text(healthy)}
        folder = self.folder(files)
        _, stderr = self.run_tool(CLEAN, "--import", "osu", folder)
        self.assertEqual(stderr.splitlines(), [
            f"find_slow_links: {folder}/a_b.csv: not understood: its format is csv",
            f"find_slow_links: {folder}/core.log: not understood: it is not a text file",
            f"find_slow_links: {folder}/about_this.txt: not understood: it has no result, and its file name has no "
            "hosts like those of the other files",
            f"find_slow_links: {folder}/log: not understood: its name does not contain the pair; name it HOSTA_HOSTB.log "
            "or HOSTA-to-HOSTB.log",
            "find_slow_links: 30 figures of smaller messages left out: the largest size of each run counts"])

    def test_lines_are_named(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy) + "gpu-node-1,gpu-node-2\n")
        stdout, stderr = self.run_tool(NOT_JUDGED, "--import", "csv", file, "--json", "-")
        notice = f"{file}:32: the line has 2 fields instead of 4, and is left out"
        self.assertEqual(stderr, f"find_slow_links: {notice}\n")
        self.assertEqual(json.loads(stdout)["notices"], [notice])

    def test_lines_of_a_csv_may_be_missing_but_not_odd(self):
        for odd, status in (("-", CLEAN), ("", CLEAN), ("-5", NOT_JUDGED), ("1e400", NOT_JUDGED), ("=1+1", NOT_JUDGED)):
            with self.subTest(odd):
                file = self.directory / "pairs.csv"
                file.write_text(csv_text(healthy) + f"{HOSTS[0]},{HOSTS[1]},{odd},\n")
                self.run_tool(status, "--import", "csv", file)

    def test_an_empty_log_among_logs_that_tell_their_hosts(self):
        pairs = itertools.combinations(range(6), 2)
        files = {f"run{number:03}.log": nccl_log(a, b, healthy) for number, (a, b) in enumerate(pairs)}
        self.run_tool(CLEAN, "--import", "auto", self.folder(files, "whole"))
        _, stderr = self.run_tool(NOT_JUDGED, "--import", "auto", self.folder({**files, "run004.log": ""}, "empty"))
        self.assertIn("run004.log: not understood: its name does not contain the pair", stderr)

    def test_logs_that_end_early_are_said(self):
        files = SETS["osu"][0](healthy)
        name = "osu_bw_gpu-node-1-to-gpu-node-2.txt"
        files[name] = files[name][:files[name].index("4194304")]
        folder = self.folder(files)
        _, stderr = self.run_tool(NOT_JUDGED, "--import", "osu", folder)
        self.assertIn(f"{folder}/{name}: its largest message has 1 B, most others have 4 MiB: "
                      "it is not compared with them\n", stderr)

    def test_notices_do_not_go_on_and_on(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy) + "x\n" * 1000)
        _, stderr = self.run_tool(NOT_JUDGED, "--import", "csv", file)
        self.assertEqual(len(stderr.splitlines()), 41)
        self.assertIn("find_slow_links: 960 more notices like these are left out\n", stderr)

    def test_records_without_import_are_recognised(self):
        file = self.directory / "gpu-node-1_gpu-node-2.log"
        file.write_text(nccl_log(0, 1, healthy))
        _, stderr = self.run_tool(NOT_JUDGED, file)
        self.assertTrue(stderr.endswith("; its format is nccl-tests, which --import nccl-tests reads\n"), stderr)


class Refusals(ImportTest):  # 1 rank, 1 s

    def refused(self, status, words, *arguments):
        stdout, stderr = self.run_tool(status, *arguments)
        self.assertEqual(stdout, "")
        self.assertIn(words, stderr)
        self.assertEqual(stderr.count("\n"), 1, stderr)

    def test_command_lines(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy))
        self.refused(USAGE, "--import 'excel' is not a kind of results; use one of auto, nccl-tests, osu, perftest, iperf3, "
                            "iperf2, imb, mpigraph, hp2p, clusterkit, csv", "--import", "excel", file)
        self.refused(USAGE, f"{file}: its format is csv, not osu; give --import csv", "--import", "osu", file)
        self.refused(USAGE, "--unit 'gb/s' is not a unit of bandwidth", "--import", "csv", "--unit", "gb/s", file)
        self.refused(USAGE, "--unit requires --import", "--unit", "GB/s", file)
        self.refused(USAGE, "--convert requires --import", "--convert", "x", file)
        self.refused(USAGE, "no file of records is given", "--import", "csv")

    def test_files(self):
        self.refused(MISSING, "cannot open '/nowhere'", "--import", "osu", "/nowhere")
        self.refused(NOT_JUDGED, "no file was understood; there is no file", "--import", "osu", self.folder({}))
        records = self.write([{"kind": "sweep", "hosts": ["a", "b"]}])
        self.refused(NOT_JUDGED, "it is a file of records, which is read without --import", "--import", "osu", records)
        for name, text in (("empty.log", ""), ("junk_file.log", "hello\n"), ("binary_file.log", "\0\1\2")):
            file = self.directory / name
            file.write_text(text)
            self.refused(NOT_JUDGED, "not understood: ", "--import", "nccl-tests", file)
            self.refused(NOT_JUDGED, "not understood: ", "--import", "auto", file)

    def test_units_that_are_not_clear(self):
        file = self.directory / "pairs.csv"
        text = csv_text(healthy)
        file.write_text(text.replace("bandwidth (Gb/s)", "bandwidth"))
        self.refused(USAGE, "the column 'bandwidth' does not name the unit; call it GB/s, Gb/s or MiB/s, or give --unit",
                     "--import", "csv", file)
        (first,) = self.records("csv", file, "--unit", "Gb/s")[1:2]
        self.assertAlmostEqual(first["bandwidth_gb_per_s"], healthy(0, 1), delta=0.001)


class Mixtures(ImportTest):  # 1 rank, 1 s

    def test_records_and_others_together(self):
        records = self.directory / "records.jsonl"
        self.run_tool(CLEAN, "--import", "csv", self.folder({"pairs.csv": csv_text(with_slow_host)}), "--convert", records)
        folder = self.folder(SETS["osu"][0](with_slow_host), "osu")
        stdout, _ = self.run_tool(SLOW, "--import", "auto", records, folder)
        self.assertIn("Measured: 60 readings", stdout)
        stdout, _ = self.run_tool(SLOW, "--quiet", records)
        self.assertEqual(stdout, "Slow: gpu-node-4\nFine: gpu-node-[1-3,5-6]\n")

    def test_later_readings_of_a_pair_are_of_later_rounds(self):
        first = self.folder(SETS["osu"][0](healthy), "first")
        second = self.folder(SETS["osu"][0](lambda a, b: healthy(a, b) + 0.01), "second")
        rounds = [record["round"] for record in self.records("osu", first, second)[1:]]
        self.assertEqual((rounds[:30], rounds[30:]), ([0] * 30, [1] * 30))

    def test_files_count_once_in_whatever_order(self):
        for kind, sets in SETS.items():
            for number, files in enumerate(sets):
                folder = self.folder(files(with_slow_host), f"{kind}-{number}")
                copy = Path(shutil.copytree(folder, self.directory / f"{kind}-{number}-copy"))
                names = sorted(folder.iterdir())
                with self.subTest(folder.name):
                    once, _ = self.run_tool(SLOW, "--import", kind, folder)
                    for given in ((folder, folder), (copy, folder), names[::-1], (*names[::-1], folder, copy)):
                        again, said = self.run_tool(SLOW, "--import", kind, *given)
                        self.assertEqual(again, once)
                    self.assertIn(": left out: it is there twice, as a file or as a copy\n", said)

    def test_two_pairs_and_two_rails_may_have_the_same_text(self):
        """Logs of OSU name no host."""
        files = SETS["osu"][0](lambda a, b: 12.0)
        self.assertEqual(len(self.records("osu", self.folder(files))[1:]), 30)
        rails = self.folder({f"{name[:-4]}_{rail}.log": text for name, text in files.items() for rail in ("mlx5_0", "mlx5_1")}, "rails")
        self.assertEqual(len(self.records("osu", rails)[1:]), 60)

    def test_standard_input(self):
        stdout, _ = self.run_tool(SLOW, "--quiet", "--import", "csv", "-", stdin=csv_text(with_slow_host))
        self.assertEqual(stdout, "Slow: gpu-node-4\nFine: gpu-node-[1-3,5-6]\n")

    def test_a_log_is_named_by_the_option(self):
        file = self.directory / "n1_n2.log"
        file.write_text(osu_log(0, 1, healthy))
        self.assertEqual([record.get("from_host") for record in self.records("osu_bw", file)], [None, "n1"])


class Report(Reporting, ImportTest):  # 1 rank, 2 s

    def test_shows_what_is_imported(self):
        folder = self.folder(SETS["nccl-tests"][0](with_slow_host))
        said = self.run_report("--import", "nccl-tests", folder, "--programs", PROGRAMS)
        self.assertIn("15 figures of smaller messages left out", said)
        page = Page(self.page.read_text())
        self.assertIn("15 readings, none failed", page.texts["pairs"])
        self.assertIn(f"imported from {folder}", page.texts["configuration"])
        self.assertEqual(page.rows("Findings, by their numbers on the map")[0][2], HOSTS[SLOW_HOST])

    def test_is_not_accepted_where_logs_were_not_understood(self):
        files = SETS["osu"][0](healthy)
        files["osu_bw_gpu-node-1-to-gpu-node-2.txt"] = ""
        self.run_report("--import", "auto", self.folder(files), "--programs", PROGRAMS)
        self.assertIn("1 file was not understood", self.page.read_text())

    def test_refuses_as_find_slow_links_does(self):
        file = self.directory / "pairs.csv"
        file.write_text(csv_text(healthy))
        for status, words, arguments in ((USAGE, "its format is csv, not osu; give --import csv",
                                          ("--import", "osu", file)),
                                         (MISSING, "cannot open '/nowhere'", ("--import", "osu", "/nowhere"))):
            self.assertIn(words, self.refuse(*arguments, "--programs", PROGRAMS, status=status))
        self.assertIn("--unit is for --import", self.run_report("--unit", "GB/s", file, status=USAGE))
