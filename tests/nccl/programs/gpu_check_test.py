"""scripts/gpu_check.sh where a fake GPU can be had only: what it says, how it ends, what it records."""

import subprocess

from launch import COLLECTIVES, PROGRAMS, TIMEOUT_S, environment, program_of
from on_gpus import FAILURE, MISSING, OK, ROOT, USAGE, GpuTest

# Says what the script looks for, without measuring anything.
STUB = """#!/bin/sh
echo '# Backend: nccl, because a test says so'
echo '# RING/SIMPLE/2'
echo '# Out of bounds values : 0 OK'
"""
FAULTY = """#!/bin/sh
FAKE_NCCL_FAULT={} exec {} "$@"
"""


class Check(GpuTest):  # 3 ranks, 400 s

    def check(self, *arguments, **changes):
        """Runs the script with 2 GPUs. Returns its exit status, its lines and what it said on stderr."""
        settings = {"GPUS": "2", "TIME_BUDGET": "0.002", "FAKE_CUDA_DEVICES": "2", "FAKE_CUDA_MEMORY": str(2**26),
                    **changes}
        run = subprocess.run([ROOT / "scripts" / "gpu_check.sh", *map(str, arguments)], env=environment(**settings),
                             stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=6 * TIMEOUT_S)
        return run.returncode, run.stdout.splitlines(), run.stderr

    def folder_of(self, programs):
        """A folder of programs, each given by its text; the others are stubs."""
        for collective in COLLECTIVES:
            file = self.directory / f"{collective}_perf"
            file.write_text(programs.get(collective, STUB))
            file.chmod(0o755)
        return self.directory

    def counted(self, lines):
        """The verdicts by their names, which the last line must count rightly."""
        verdicts = {name: (word, detail) for word, name, detail in map(self.parts_of, lines) if word}
        words = [word for word, _ in verdicts.values()]
        self.assertEqual(lines[-1], f"{words.count('PASS')} passed, {words.count('FAIL')} failed, "
                                    f"{words.count('SKIP')} skipped")
        return verdicts

    def parts_of(self, line):
        word, _, rest = line.partition(" ")
        name, _, detail = rest.partition(": ")
        return (word, name, detail) if word in {"PASS", "FAIL", "SKIP"} else (None, name, detail)

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
        self.assertIn("can be had", skipped.pop("large messages"))
        self.assertEqual({name for name in skipped if " -D " not in name}, set())
        for collective in COLLECTIVES:
            self.assertEqual(verdicts[collective][0], "PASS")
            self.assertEqual(verdicts[f"{collective}, 2 ranks on one GPU"][0], "PASS")
        self.assertEqual(verdicts["too few GPUs"], ("PASS", "exit status 3"))
        self.assertRegex(verdicts["copies"][1], "^odd GPUs: ")
        self.assertEqual(verdicts["copies, GPUs divided among 2 processes"], ("PASS", "10 rows"))
        self.assertEqual(verdicts["copies without a GPU"], ("PASS", "exit status 3"))
        self.assertIn("RING/SIMPLE/", verdicts["algorithm and protocol named"][1])

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

    def test_nothing_to_check(self):
        status, lines, stderr = self.check("--programs", self.directory)
        self.assertEqual((status, lines), (MISSING, []))
        self.assertIn("has no all_reduce_perf", stderr)
        status, lines, stderr = self.check("--programs", PROGRAMS, GPUS="0")
        self.assertEqual((status, lines), (MISSING, []))
        self.assertIn("no GPU", stderr)
        self.assertEqual(self.check("--no-such-option")[0], USAGE)
        self.assertEqual(self.check("--help")[0], OK)
