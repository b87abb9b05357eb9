"""gpu_copy_bw on fake GPUs: what it measures, which GPU it names, how it ends."""

import csv
import json
import re
import signal
import subprocess
import time

import jsonschema

from copying import HOST_KINDS, LIMIT_S, PROGRAM, QUICK, SCHEMA, SPEED, CopyTest, copies, odd
from launch import TEST_PROGRAMS, Job, command, environment, in_a_few_tries, wait_until, with_whole_notes
from on_gpus import FAKES, MISSING, OK, TIMEOUT, USAGE, WRONG_DATA, library_path


class Copies(CopyTest):  # 2 ranks, 5 s

    def test_every_kind_of_every_gpu(self):
        def check(gpus):
            stdout, lines = self.copy_well(FAKE_CUDA_DEVICES=str(gpus))
            found = [(copy["gpu"]["device"], copy["copy"], (copy["peer"] or {}).get("device"))
                     for copy in copies(lines)]
            expected = [(gpu, kind, None) for gpu in range(gpus) for kind in (*HOST_KINDS, "device_to_device")]
            expected += [(gpu, "peer", peer) for gpu in range(gpus) for peer in range(gpus) if peer != gpu]
            self.assertEqual(sorted(found, key=str), sorted(expected, key=str))
            self.assertEqual(stdout.count("peer"), gpus * (gpus - 1))
        self.at_once(check, [1, 2, 4])

    @in_a_few_tries
    def test_eight_gpus(self):
        stdout, lines = self.copy_well("--epochs", 6, FAKE_CUDA_DEVICES="8", FAKE_CUDA_COPY_MB_PER_S="400")
        self.assertEqual(len(copies(lines)), 8 * (4 + 7))
        self.assertNotIn("differ", stdout)

    @in_a_few_tries
    def test_figures(self):
        _, lines = self.copy_well(FAKE_CUDA_DEVICES="1", FAKE_CUDA_COPY_MB_PER_S="200,0:d2h:50")
        by_kind = {copy["copy"]: copy for copy in copies(lines)}
        for kind, rate in (("host_to_device", 0.2), ("device_to_host", 0.05), ("device_to_device", 0.2)):
            self.assertLessEqual(by_kind[kind]["bandwidth_gb_per_s"], rate)
            self.assertGreater(by_kind[kind]["bandwidth_gb_per_s"], 0.3 * rate)
        both = by_kind["both_ways"]
        self.assertAlmostEqual(sum(both["directions_gb_per_s"]), both["bandwidth_gb_per_s"], delta=0.1)
        self.assertGreater(both["directions_gb_per_s"][0], both["directions_gb_per_s"][1])
        self.assertEqual((both["epochs"], by_kind["host_to_device"]["standing"]), (9, "alone"))

    def test_sizes(self):
        _, lines = self.copy_well("-b", "64K", "-e", "256K", "-f", 2, FAKE_CUDA_DEVICES="1")
        self.assertEqual({copy["size_bytes"] for copy in copies(lines)}, {2**16, 2**17, 2**18})

    def test_iterations(self):
        stdout = self.launch("-b", "1K", "-e", "1K", FAKE_CUDA_DEVICES="1").stdout
        self.assertIn(" 9 epochs", stdout)
        file = self.directory / "run.json"
        result = self.run_program("-b", 1024, "-e", 1024, "-n", 450, "--json", file, ranks=1, program=PROGRAM,
                                  FAKE_CUDA_DEVICES="1")
        self.assertEqual(result.status, OK, result.stderr)
        found = {copy["copy"]: copy for copy in copies(json.loads(line) for line in file.read_text().splitlines())}
        self.assertEqual(found["host_to_device"]["samples"], 450)
        self.assertEqual(found["host_to_device"]["epochs"], 1)
        self.assertIsNone(found["host_to_device"]["time_us_interval"])

    def test_chosen_gpu(self):
        _, lines = self.copy_well("--device", 2, ranks=2)
        self.assertEqual({copy["gpu"]["pci"] for copy in copies(lines)}, {"0000:12:00.0"})
        self.assertEqual(len(copies(lines)), 4)

    def test_unchecked(self):
        stdout, _ = self.copy_well("-c", 0, FAKE_CUDA_DEVICES="1", FAKE_CUDA_COPY_FAULT="wrong:0")
        self.assertIn("N/A\n", stdout)

    def test_csv(self):
        file = self.directory / "run.csv"
        _, lines = self.copy_well("--csv", file, FAKE_CUDA_DEVICES="2")
        with file.open() as text:
            found = list(csv.DictReader(text))
        self.assertEqual(len(found), len(copies(lines)))
        for row, copy in zip(found, copies(lines)):
            self.assertNotIn(None, row)
            self.assertEqual((row["host"], int(row["device"]), row["copy"]),
                             (copy["host"], copy["gpu"]["device"], copy["copy"]))
            self.assertAlmostEqual(float(row["bandwidth_gb_per_s"]), copy["bandwidth_gb_per_s"], delta=1e-4)

    def test_quiet(self):
        stdout, _ = self.copy_well("--quiet", FAKE_CUDA_DEVICES="1")
        marked = [line for line in stdout.splitlines() if line.startswith("# ")]
        self.assertEqual([line.split(":")[0].strip() for line in marked[-2:]],
                         ["# Out of bounds values", "# Odd GPUs"])
        self.assertNotIn("# Method", stdout)


class OddGpus(CopyTest):  # 2 ranks, 6 s

    @in_a_few_tries
    def test_slow_from_the_host(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="4", FAKE_CUDA_COPY_MB_PER_S=f"{SPEED},2:h2d:20")
        self.assertEqual(odd(stdout), [2])
        self.assertRegex(stdout, r"# Note: GPU 2 \(0000:12:00\.0\) of host \S+ is slower than the others: 256 KiB from "
                                 r"the host: 0\.0\S* GB/s, others 0\.[12]\S* GB/s")
        slow = {(copy["gpu"]["device"], copy["copy"]) for copy in copies(lines) if copy["standing"] == "slow"}
        self.assertIn((2, "host_to_device"), slow)
        self.assertEqual({device for device, _ in slow}, {2})

    @in_a_few_tries
    def test_slow_altogether(self):
        stdout, _ = self.copy_well("--epochs", 6, FAKE_CUDA_DEVICES="8", FAKE_CUDA_COPY_MB_PER_S="400,5:40")
        self.assertEqual(odd(stdout), [5])

    @in_a_few_tries
    def test_slow_to_peers(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="3", FAKE_CUDA_COPY_MB_PER_S=f"{SPEED},1:p2p:20")
        self.assertEqual(odd(stdout), [1])
        self.assertEqual({copy["copy"] for copy in copies(lines) if copy["standing"] == "slow"}, {"peer"})

    @in_a_few_tries
    def test_two_that_differ(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="2", FAKE_CUDA_COPY_MB_PER_S=f"{SPEED},1:20")
        self.assertIn("cannot tell", odd(stdout))
        self.assertRegex(stdout, r"# Note: Two GPUs of host \S+ differ, and without a third it is unclear "
                                 r"which is slow: ")
        self.assertIn("undecided", {copy["standing"] for copy in copies(lines)})

    @in_a_few_tries
    def test_one_against_its_bound(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="1", FAKE_PCI_LINKS="2.5x1", FAKE_CUDA_COPY_MB_PER_S="100")
        self.assertIn("no other to compare with", odd(stdout))
        self.assertRegex(stdout, r"# Note: GPU 0 .* has less than 60 % of a bound: .*256 KiB from the host: "
                                 r"0\.\d+ of 0\.25 GB/s \(PCIe 2\.5 GT/s x1\)")
        bounds = {copy["copy"]: copy["bound_gb_per_s"] for copy in copies(lines)}
        self.assertEqual(bounds, {"host_to_device": 0.25, "device_to_host": 0.25, "both_ways": 0.5,
                                  "device_to_device": 512})

    @in_a_few_tries
    def test_slow_link(self):
        stdout, _ = self.copy_well(FAKE_CUDA_DEVICES="2", FAKE_PCI_LINKS="32x16,1:16x8")
        self.assertRegex(stdout, r"GPU 1 \(0000:11:00\.0\): its link ran at PCIe 16 GT/s x8 during the copies, and can "
                                 r"do PCIe 32 GT/s x16")


class Places(CopyTest):  # 4 ranks, 3 s

    def test_numa_nodes(self):
        _, lines = self.copy_well(FAKE_CUDA_DEVICES="1", FAKE_NUMA_NODES="2")
        nodes = [(copy["copy"], copy["memory_node"]) for copy in copies(lines)]
        self.assertEqual(sorted(nodes[:-1]), sorted((kind, node) for kind in HOST_KINDS for node in (0, 1)))
        self.assertEqual(nodes[-1], ("device_to_device", None))

    def test_memory_that_cannot_be_placed(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="1", FAKE_NUMA_NODES="2", FAKE_NUMA_REFUSE="1")
        self.assertEqual({copy["memory_node"] for copy in copies(lines)}, {None})
        self.assertEqual(stdout.count("# Memory of host "), 1)

    def test_processes_divide_the_gpus(self):
        def check(ranks):
            _, lines = self.copy_well(ranks=ranks, FAKE_CUDA_DEVICES="3")
            self.assertEqual(len(copies(lines)), 3 * (4 + 2))
            order = [copy["gpu"]["device"] for copy in copies(lines)]
            self.assertEqual(order, sorted(order))
            self.assertEqual(lines[0]["ranks"], ranks)
        self.at_once(check, [2, 4])

    def test_processes_that_see_one_gpu_each(self):
        """As a launcher may show them; peers are then out of reach."""
        program = self.directory / "one_each"
        program.write_text(f'#!/bin/sh\nCUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_RANK exec {PROGRAM} "$@"\n')
        program.chmod(0o755)
        result = self.run_program(*QUICK, ranks=2, program=str(program), FAKE_CUDA_DEVICES="2")
        self.assertEqual((result.status, result.stderr), (OK, ""))
        self.assertEqual(set(re.findall(r"0000:1\d:00\.0", result.stdout)), {"0000:10:00.0", "0000:11:00.0"})
        self.assertNotIn(" peer ", result.stdout)
        self.assertIn("# Copies between GPUs are left out", result.stdout)

    def test_nvlink(self):
        settings = {"LD_LIBRARY_PATH": library_path(FAKES / "nvml"), "FAKE_CUDA_DEVICES": "2"}

        def bounds(**changes):
            _, lines = self.copy_well("--epochs", 1, **settings, **changes)
            return [(copy["bound_gb_per_s"], copy["bound_by"]) for copy in copies(lines) if copy["copy"] == "peer"]
        self.assertEqual(bounds(FAKE_NVML_LINKS="18"), [(478.116, "NVLink")] * 2)
        self.assertEqual(bounds(FAKE_NVML_LINKS="18", FAKE_NVML_DOWN="9"), [(239.058, "NVLink")] * 2)
        self.assertEqual(bounds(FAKE_NVML_LINKS="18", FAKE_NVML_MBPS="0"), [(None, None)] * 2)
        by_pci = bounds(FAKE_PCI_LINKS="2.5x16,1:2.5x8")
        self.assertEqual(by_pci, [(2.0, "PCIe 2.5 GT/s x8")] * 2)

    def test_nvlink_unknown(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="2", FAKE_NVML_BROKEN="1",
                                       LD_LIBRARY_PATH=library_path(FAKES / "nvml"))
        self.assertEqual({copy["bound_gb_per_s"] for copy in copies(lines) if copy["copy"] == "peer"}, {None})
        self.assertIn("What NVLink carries between GPUs is not known: nvml: nvmlInit_v2 failed", stdout)

    def test_peers_that_do_not_reach_each_other(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="2", FAKE_CUDA_NO_PEERS="1")
        self.assertEqual({copy["over_host"] for copy in copies(lines) if copy["copy"] == "peer"}, {True})
        self.assertIn("GPU 1*", stdout)
        self.assertIn("# Note: Copies to a GPU marked * go through host memory", stdout)

    def test_little_memory(self):
        stdout, lines = self.copy_well(FAKE_CUDA_DEVICES="1", FAKE_CUDA_MEMORY=str(2**22))
        self.assertEqual({copy["size_bytes"] for copy in copies(lines)}, {2**18})
        stdout, lines = self.copy_well("-e", "64M", "-f", 256, FAKE_CUDA_DEVICES="1", FAKE_CUDA_MEMORY=str(2**24),
                                       FAKE_CUDA_COPY_MB_PER_S="0")
        self.assertRegex(stdout, r"# Reducing maxBytes to \d+ due to memory limitation: ")
        self.assertLess(max(copy["size_bytes"] for copy in copies(lines)), 2**23)


class Hosts(CopyTest):  # 3 ranks, 2 s
    """Each process is a host of its own by its name."""

    def setUp(self):
        super().setUp()
        if subprocess.run(["unshare", "--uts", "hostname", "host0"], capture_output=True).returncode != 0:
            self.skipTest("a process cannot have a host name of its own here")

    def on_hosts(self, hosts, *arguments, slow=-1, **changes):
        """Runs with one process a host, named host0 and so on; `slow` is one of them. Returns stdout and the copies."""
        program = self.directory / "on_host"
        program.write_text(f"""#!/bin/sh
            [ $OMPI_COMM_WORLD_RANK != {slow} ] || export FAKE_CUDA_COPY_MB_PER_S=20
            exec unshare --uts sh -c 'hostname host$OMPI_COMM_WORLD_RANK && exec "$0" "$@"' {PROGRAM} "$@"
            """)
        program.chmod(0o755)
        file = self.directory / "hosts.json"
        settings = {"FAKE_CUDA_COPY_MB_PER_S": SPEED, **changes}
        result = self.run_program(*QUICK, "--json", file, *arguments, ranks=hosts, program=str(program), **settings)
        self.assertEqual((result.status, result.stderr), (OK, ""), result.stdout)
        return with_whole_notes(result.stdout), copies(json.loads(line) for line in file.read_text().splitlines())

    def test_every_host_measures_its_gpus(self):
        stdout, found = self.on_hosts(3, FAKE_CUDA_DEVICES="2")
        self.assertEqual([copy["host"] for copy in found], [f"host{host}" for host in range(3) for _ in range(2 * 5)])
        self.assertIn("# Ranks: 3, hosts: 3;", stdout)

    @in_a_few_tries
    def test_one_gpu_a_host(self):
        """None can be compared on its host, but with those of the others."""
        stdout, found = self.on_hosts(3, slow=1, FAKE_CUDA_DEVICES="1")
        self.assertRegex(stdout, r"# Odd GPUs +: GPU 0 \(0000:10:00\.0\) of host host1\n")
        self.assertRegex(stdout, r"of host host1 is slower than the others: .* GB/s of all hosts")
        slow = {(copy["host"], copy["across_hosts"]) for copy in found if copy["standing"] == "slow"}
        self.assertEqual(slow, {("host1", True)})


class Endings(CopyTest):  # 2 ranks, 10 s

    def test_wrong_data(self):
        file = self.directory / "run.json"
        result = self.launch("--json", file, ranks=2, FAKE_CUDA_DEVICES="2", FAKE_CUDA_COPY_FAULT="wrong:1")
        self.assertEqual(result.status, WRONG_DATA, result.stdout)
        self.assertRegex(self.said(result)[0],
                         r"gpu_copy_bw: 5 copies delivered wrong data; Wrong data in 256 KiB H->D of GPU 1 "
                         r"\(0000:11:00\.0\) of host \S+: 1 bytes; first at byte 262143: expected -?\d+, got -?\d+")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        wrong = {(copy["gpu"]["device"], copy["copy"]): copy["wrong_elements"] for copy in copies(lines)}
        self.assertEqual({count for (device, _), count in wrong.items() if device == 0}, {0})
        self.assertEqual([wrong[1, kind] for kind in (*HOST_KINDS, "device_to_device", "peer")], [1, 1, 2, 1, 1])
        self.assertEqual((lines[-1]["exit_status"], lines[-1]["wrong_checks"]), (WRONG_DATA, 5))

    def test_hang(self):
        def check(ranks):
            result = self.launch("-T", LIMIT_S, ranks=ranks, FAKE_CUDA_DEVICES="2", FAKE_CUDA_COPY_FAULT="hang:1")
            self.assertEqual(result.status, TIMEOUT, result.stderr)
            self.assertRegex("\n".join(self.said(result)),
                             r"gpu_copy_bw: rank \d on \S+: 256 KiB \S+ on GPU 1 \(0000:11:00\.0\).*: cuda: device 1 "
                             rf"has not finished its work after {LIMIT_S} s")
        self.at_once(check, [1, 2])

    @in_a_few_tries
    def test_interrupted(self):
        """What the finished epochs tell is in the table and in the files. A busy machine takes longer to finish one."""
        file, csv_file = self.directory / "run.json", self.directory / "run.csv"
        for patience_s in (0.5, 4, 32):
            job = Job(command(2, (*QUICK, "--time-budget", 20, "--epochs", 1000, "--json", file, "--csv", csv_file, "--force"),
                              program=str(TEST_PROGRAMS / "gpu_copy_bw")),
                      env=environment(FAKE_CUDA_DEVICES="2", FAKE_CUDA_COPY_MB_PER_S=SPEED,
                                      OMPI_MCA_odls_base_sigkill_timeout="2"))
            self.addCleanup(job.__exit__)
            wait_until(lambda: job.process.poll() is not None or file.exists() and '"kind":"context"' in file.read_text(),
                       "the run does not begin")
            time.sleep(patience_s)
            job.process.send_signal(signal.SIGINT)
            result = job.finish()
            self.assertNotEqual(result.status, OK)
            if "\n# Cut short: " in result.stdout:
                break
            file.unlink()
        _, _, table = result.stdout.partition("\n# Cut short: ")
        self.assertEqual(len(re.findall(r"^ +262144 ", table, re.MULTILINE)), 2 * (4 + 1), result.stdout)
        self.assertRegex(table, r"\n# Ended early: rank 0 on \S+ was ended by SIG(TERM|INT)\n")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            jsonschema.Draft7Validator(SCHEMA).validate(line)
        self.assertEqual([copy["cut_short"] for copy in copies(lines)], [True] * 2 * (4 + 1))
        with csv_file.open() as text:
            self.assertEqual([row["cut_short"] for row in csv.DictReader(text)], ["1"] * 2 * (4 + 1))

    def test_no_time_limit(self):
        """The watchdog, whose limit follows from that of the copies, has none either."""
        with self.assertRaisesRegex(AssertionError, "still running after 4 s"):
            self.launch_program(*QUICK, "-T", 0, ranks=1, program=PROGRAM, timeout=4, FAKE_CUDA_DEVICES="2",
                                FAKE_CUDA_COPY_FAULT="hang:1", FAKE_CUDA_COPY_MB_PER_S=SPEED)

    def test_no_gpu(self):
        for changes, reason in (({"FAKE_CUDA_DEVICES": "0"}, r"the NVIDIA driver shows this process no device; .*"),
                                ({"FAKE_CUDA_NO_DRIVER": "1"}, "no NVIDIA driver is installed")):
            result = self.launch(ranks=2, **changes)
            self.assertEqual((result.status, result.stdout), (MISSING, ""))
            self.assertEqual(len(self.said(result)), 1, result.stderr)
            self.assertRegex(self.said(result)[0], rf"^gpu_copy_bw: host \S+: {reason}$")

    def test_no_such_gpu(self):
        result = self.launch("--device", 2, FAKE_CUDA_DEVICES="2")
        self.assertEqual((result.status, result.stdout), (MISSING, ""))
        self.assertRegex(self.said(result)[0], "there is no --device 2: this process sees 2 CUDA devices")

    def test_options_of_messages(self):
        for option in ("-d", "-o", "-r", "--pairs", "--placement", "-g", "--window", "--stats"):
            result = self.launch(option, 1)
            self.assertEqual((result.status, result.stdout), (USAGE, ""), option)
