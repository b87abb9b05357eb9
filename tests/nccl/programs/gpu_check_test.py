"""scripts/gpu_check.sh where a fake GPU can be had only: what it says, how it ends, what it records."""

import os

from checking import FAULTY, STUB, CheckTest
from launch import COLLECTIVES, PROGRAMS, program_of
from on_gpus import FAILURE, MISSING, OK, USAGE


class Everything(CheckTest):  # 3 ranks, 90 s, extended

    def test_everything_that_a_fake_can(self):
        record = self.directory / "record.txt"
        record.write_text("of another day\n")
        status, lines, stderr = self.check("--programs", PROGRAMS, "--record", record)
        self.assertEqual((status, stderr), (OK, ""), "\n".join(lines))
        self.assertEqual(record.read_text().splitlines(), lines)
        self.assertRegex(lines[0], r"^# \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ all_reduce_perf \(fabricbench\) \d")
        verdicts = self.counted(lines)
        skipped = {name: detail for name, (word, detail) in verdicts.items() if word == "SKIP"}
        self.assertEqual({name for name, (word, _) in verdicts.items() if word == "FAIL"}, set())
        self.assertIn("not built", skipped.pop("kernels"))
        self.assertIn("is available", skipped.pop("large messages"))
        self.assertEqual({name for name in skipped if " -D " not in name and "--one-sided" not in name}, set())
        for collective in COLLECTIVES:
            self.assertEqual(verdicts[collective][0], "PASS")
            self.assertEqual(verdicts[f"{collective}, 2 ranks on one GPU"][0], "PASS")
        self.assertEqual(verdicts["too few GPUs"], ("PASS", "exit status 3"))
        self.assertRegex(verdicts["copies"][1], "^odd GPUs: ")
        self.assertEqual(verdicts["copies, GPUs divided among 2 processes"], ("PASS", "10 rows"))
        self.assertEqual(verdicts["copies without a GPU"], ("PASS", "exit status 3"))
        self.assertIn("RING/SIMPLE/", verdicts["algorithm and protocol named"][1])


class Faults(CheckTest):  # 3 ranks, 32 s, extended

    def test_failures(self):
        """Wrong data, a program that measured MPI instead, and stubs that do not know when to refuse."""
        faulty = FAULTY.format("wrong_from:1:0", program_of("broadcast"))
        on_mpi = STUB.replace("Backend: nccl", "Backend: mpi")
        folder = self.folder_of({"broadcast": faulty, "scatter": on_mpi})
        copies = folder / "gpu_copy_bw"
        copies.write_text(f'#!/bin/sh\nFAKE_CUDA_COPY_FAULT=wrong:2 exec {PROGRAMS / "gpu_copy_bw"} "$@"\n')
        copies.chmod(0o755)
        record = self.directory / "record.txt"
        status, lines, _ = self.check("--programs", folder, "--record", record, GPUS="3", FAKE_CUDA_DEVICES="3")
        self.assertEqual(status, FAILURE)
        self.assertEqual(record.read_text().splitlines(), lines)
        verdicts = self.counted(lines)
        for name in ("broadcast", "broadcast, 2 ranks on one GPU"):
            self.assertEqual(verdicts[name][0], "FAIL")
            self.assertRegex(verdicts[name][1], r"^exit status 5: .*wrong data in broadcast")
        self.assertEqual(verdicts["scatter"][0], "FAIL")
        self.assertRegex(verdicts["scatter"][1], "^exit status 0: # Backend: mpi, because")
        self.assertEqual(verdicts["too few GPUs"][0], "FAIL")
        self.assertEqual(verdicts["reduce"][0], "PASS")
        self.assertEqual(verdicts["copies"][0], "FAIL")
        self.assertRegex(verdicts["copies"][1], "^exit status 5: gpu_copy_bw: .*Wrong data in .* of GPU 2 ")
        self.assertEqual(verdicts["copies without a GPU"], ("PASS", "exit status 3"))
        self.assertEqual(verdicts["hypercube"], ("SKIP", "3 is no power of two"))


class Part(CheckTest):  # 2 ranks, 3 s

    def test_one_part(self):
        status, lines, stderr = self.check("--programs", PROGRAMS, "--part", "endings")
        self.assertEqual((status, stderr), (OK, ""), "\n".join(lines))
        self.assertEqual(set(self.counted(lines)),
                         {"too few GPUs", "isolated timing where launches block", "launches that block",
                          "no GPU visible", "nccl without a GPU"})


class NothingToCheck(CheckTest):  # 1 rank, 2 s

    def test_nothing_to_check(self):
        status, lines, stderr = self.check("--programs", self.directory)
        self.assertEqual((status, lines), (MISSING, []))
        self.assertIn("has no all_reduce_perf", stderr)
        status, lines, stderr = self.check("--programs", PROGRAMS, GPUS="0")
        self.assertEqual((status, lines), (MISSING, []))
        self.assertIn("no GPU", stderr)
        nothing = self.directory / "nvidia-smi"
        nothing.write_text("#!/bin/sh\nexit 127\n")
        nothing.chmod(0o755)
        status, lines, stderr = self.check("--programs", PROGRAMS, GPUS="", PATH=f"{self.directory}:{os.environ['PATH']}")
        self.assertEqual((status, lines), (MISSING, []))
        self.assertIn("nvidia-smi lists no GPU here", stderr)
        status, lines, stderr = self.check("--part", "nothing")
        self.assertEqual((status, lines), (USAGE, []))
        self.assertIn("there is no part 'nothing'; use one of programs options ", stderr)
        self.assertEqual(self.check("--no-such-option")[0], USAGE)
        self.assertEqual(self.check("--help")[0], OK)
