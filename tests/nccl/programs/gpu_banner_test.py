"""What is said of GPUs and library before the first row, in text and in JSON."""

import json
import re

import jsonschema

from launch import COLLECTIVES, program_of, rows
from on_gpus import CUDA_AWARE_PROGRAM, ONE, OLD_LIBRARY, ROOT, SHARED_GPU, GpuTest, device_lines, measurements

SCHEMA = json.loads((ROOT / "docs" / "output.schema.json").read_text())
MODES = {
    "several GPUs": ("-g", 2),
    "graphs": ("-G", 2),
    "iterations": ("-I", 1, "-K", 1, "--samples"),
    "memory": ("-M", 1),
    "isolated": ("--timing", "isolated"),
    "groups": ("--split", "MOD 2"),
    "shared": ("--device", 0),
    "statistics": ("--stats",),
    "MPI": ("--backend", "mpi"),
}

SETTINGS = {"shared": SHARED_GPU}

GPU_LINE = (r"^#    Rank (\d+): driver CUDA \d+\.\d+; NUMA node (?:unknown|\d+, process there: (?:yes|no|partly)); "
            r"nearest NICs: \S.*$")


class Banner(GpuTest):  # 2 ranks, 1 s

    def test_backend_and_versions(self):
        for library, version in (({}, "2.28.9"), (OLD_LIBRARY, "2.18.6")):
            with self.subTest(version):
                stdout, lines = self.run_gpus(*ONE, **library)
                said = re.search(r"^# Backend: nccl, because every rank has a GPU; (.*)$", stdout, re.MULTILINE)
                self.assertRegex(said[1], rf"^NCCL {version}, headers \d+\.\d+\.\d+$")
                self.assertEqual((lines[0]["library"], lines[0]["backend_reason"]), (said[1], "every rank has a GPU"))

    def test_reason_where_it_was_asked_for(self):
        self.assertIn("# Backend: nccl, because --backend nccl asks for it; ",
                      self.run_gpus(*ONE, "--backend", "nccl")[0])

    def test_devices(self):
        stdout, lines = self.run_gpus(*ONE, "-g", 2)
        self.assertEqual(device_lines(stdout), [(n, 0, n, n, "Fake GPU") for n in range(4)])
        self.assertEqual(re.findall(GPU_LINE, stdout, re.MULTILINE), ["0", "1", "2", "3"])
        for place in lines[0]["rank_map"]:
            gpu = place["gpu"]
            self.assertEqual((gpu["device"], gpu["model"], gpu["pci"]),
                             (place["rank"], "Fake GPU", f"0000:{0x10 + place['rank']:02x}:00.0"))
            self.assertRegex(gpu["driver"], r"^CUDA \d+\.\d+$")
        self.assertEqual(len({place["pid"] for place in lines[0]["rank_map"]}), 2)
        self.assertEqual([place["local_rank"] for place in lines[0]["rank_map"]], [0, 1, 2, 3])

    def test_no_gpus_on_host_memory(self):
        _, lines = self.run_json(*ONE, "--memory", "host")
        self.assertEqual([place["gpu"] for place in lines[0]["rank_map"]], [None, None])

    def test_devices_in_the_layout_of_nccl_tests(self):
        file = self.directory / "nccl_tests.json"
        self.run_well(*ONE, "-g", 2, "-J", file)
        config = json.loads(file.read_text())["config"]
        self.assertEqual([(device["rank"], device["device"], device["device_info"]) for device in config["devices"]],
                         [(n, n, "Fake GPU") for n in range(4)])
        self.assertEqual(config["ngpus"], 2)
        self.assertRegex(config["devices"][3]["device_hex"], "0000:13:00")


class Schema(GpuTest):  # 2 ranks, 1 s
    """docs/output.schema.json on GPUs."""

    def check(self, name, *arguments, **how):
        file = self.directory / f"{name}.json"
        self.run_well(*ONE, *arguments, "--json", file, **how)
        for line in map(json.loads, file.read_text().splitlines()):
            schema = SCHEMA["definitions"][line["kind"]] | {"definitions": SCHEMA["definitions"]}
            for problem in jsonschema.Draft7Validator(schema).iter_errors(line):
                self.fail(f"{line['kind']}: {problem.message}"[:1000])

    def test_modes(self):
        self.at_once(lambda mode: self.check(mode, *MODES[mode], **SETTINGS.get(mode, {})), list(MODES))
        self.check("old", **OLD_LIBRARY)
        self.check("aware", "--backend", "mpi", "--memory", "cuda", program=CUDA_AWARE_PROGRAM)

    def test_programs(self):
        self.at_once(lambda collective: self.check(collective, program=program_of(collective)), COLLECTIVES)


class Choice(GpuTest):  # 2 ranks, 1 s
    """Which algorithm, protocol and how many channels NCCL took."""

    def chosen(self, stdout):
        lines = [line.split()[1:] for line in stdout.partition("\n# Statistics: samples")[2].splitlines()[1:]]
        titles = next(line for line in lines if "chosen" in line and "size" in line)
        return [line[titles.index("chosen")] for line in lines if line and line[0].isdigit()]

    def test_named(self):
        stdout, lines = self.run_gpus("-b", 1024, "-e", 4096, "-f", 4, "-n", 2, "--stats")
        self.assertEqual(self.chosen(stdout), ["RING/SIMPLE/4"] * 4)
        self.assertEqual([measured["choice"] for measured in measurements(lines)],
                         [{"algorithm": "RING", "protocol": "SIMPLE", "channels": 4}] * 4)
        self.assertNotIn("are not known", stdout)

    def test_in_json_without_statistics(self):
        _, lines = self.run_gpus(*ONE)
        self.assertEqual({measured["choice"]["algorithm"] for measured in measurements(lines)}, {"RING"})

    def test_why_not(self):
        stdout, lines = self.run_gpus(*ONE, "--stats", **OLD_LIBRARY)
        self.assertEqual(self.chosen(stdout), ["-", "-"])
        reason = ("Algorithm, protocol and channels are not known: NCCL 2.18.6 does not have a profiler interface that "
                  "names the algorithm; NCCL 2.24.0 and newer do")
        self.assertIn(f"#\n# {reason}\n", stdout)
        self.assertIn(reason, lines[0]["notices"])
        self.assertEqual([measured["choice"] for measured in measurements(lines)], [None, None])


class MpiOnGpuMemory(GpuTest):  # 2 ranks, 1 s

    def test_cuda_aware(self):
        stdout, lines = self.run_json(*ONE, "--backend", "mpi", "--memory", "cuda", program=CUDA_AWARE_PROGRAM)
        self.assertRegex(stdout, r"# Backend: mpi, because --backend mpi asks for it; .*, in GPU memory\n")
        self.assertEqual(device_lines(stdout), [(n, 0, n, n, "Fake GPU") for n in range(2)])
        self.assertEqual([place["gpu"]["device"] for place in lines[0]["rank_map"]], [0, 1])

    def test_left_out(self):
        stdout = self.run_well(*ONE, "--backend", "mpi", "--memory", "cuda", "-d", "all", "-o", "all",
                               program=CUDA_AWARE_PROGRAM).stdout
        for words in ("MPI has no avg", "MPI has no mulsum", "MPI has no half", "MPI has no f8e4m3"):
            self.assertIn(f"# Left out: {words}", stdout)
        self.assertEqual(len(rows(stdout)), 8 * 4)
