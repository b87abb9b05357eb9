"""Which backend, which library and which GPUs a job takes, and how it ends where they are not there."""

import re

from launch import MPIEXEC, Job, environment, program_of, rows
from on_gpus import (CUDA_AWARE_PROGRAM, FAILURE, LIBRARY_WITHOUT_WINDOWS, MISSING, NEWEST_LIBRARY, ONE, OLD_LIBRARY, SHARED_GPU, USAGE, GpuTest,
                     buses, device_lines, library_path)

MIB = 2**20


class Devices(GpuTest):  # 4 ranks, 4 s

    def run_ranks(self, shell, *arguments, ranks=2, collective="all_reduce", **changes):
        """Starts the ranks by a shell each, which says what is different on it."""
        launch = [MPIEXEC, "-np", str(ranks), "bash", "-c", f'{shell}; exec "$@"', "-", program_of(collective),
                  *map(str, arguments)]
        with Job(launch, env=environment(**changes)) as job:
            return job.finish()

    def test_given_by_number(self):
        stdout, _ = self.run_gpus(*ONE, "--device", 3, **SHARED_GPU)
        self.assertEqual(buses(stdout), [3, 3])
        stdout, _ = self.run_gpus(*ONE, "--device", 3, "-g", 2, ranks=1)
        self.assertEqual(buses(stdout), [3, 4])
        self.assertNotIn("share", stdout)

    def test_given_as_nccl_tests_are(self):
        settings = {"NCCL_TESTS_DEVICE": "2", **SHARED_GPU}
        self.assertEqual(buses(self.run_gpus(*ONE, **settings)[0]), [2, 2])
        self.assertEqual(buses(self.run_gpus(*ONE, "--device", 1, **settings)[0]), [1, 1])

    def test_shared(self):
        stdout, lines = self.run_gpus(*ONE, "--device", 0, ranks=3, **SHARED_GPU)
        notice = lines[0]["notices"][0]
        self.assertRegex(notice, r"^Processes share 1 CUDA device, such as processes 0 and 1 and 2 of host \S+: ")
        self.assertIn(f"#\n# {notice}\n", stdout)

    def test_shared_where_nccl_refuses(self):
        advice = ("; NCCL wants a GPU for each rank: start at most as many ranks on a host as it has GPUs and leave out "
                  "--device")
        duplicate = ("Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 10000" + advice +
                     ", or set NCCL_MULTI_RANK_GPU_ENABLE=1 (NCCL 2.30 and newer)")
        multiple = ("Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this "
                    "configuration" + advice)

        def check(case):
            words, settings = case
            result = self.run_program(*ONE, "--device", 0, **settings)
            self.assertEqual((result.status, result.stdout), (FAILURE, ""), result.stderr)
            self.assertRegex(result.stderr, rf"rank \d on \S+: nccl: .*: invalid usage: {re.escape(words)}\n")
        self.at_once(check, [(duplicate, {}), (duplicate, {"NCCL_MULTI_RANK_GPU_ENABLE": "1"}),
                             (duplicate, {"NCCL_HOSTID": "host"}), (duplicate, OLD_LIBRARY), (multiple, NEWEST_LIBRARY)])

    def test_shared_by_ranks_on_hosts_of_their_own(self):
        """As NCCL sees it."""
        result = self.run_ranks("export NCCL_HOSTID=h$OMPI_COMM_WORLD_RANK", *ONE, "--device", 0)
        self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertIn("# Processes share 1 CUDA device", result.stdout)

    def test_peers_of_a_ring(self):
        """NCCL is told that sendrecv has few, as by nccl-tests."""
        for collective, peers in (("sendrecv", 2), ("all_reduce", 3)):
            result = self.run_ranks("export NCCL_HOSTID=h$OMPI_COMM_WORLD_RANK", *ONE, ranks=3, collective=collective,
                                    NCCL_DEBUG="INFO", **NEWEST_LIBRARY)
            self.assertEqual((result.status, result.stderr), (0, ""))
            self.assertEqual(set(re.findall(r"maxP2pPeers = (\d+)", result.stdout)), {str(peers)})

    def test_one_visible_to_each(self):
        """Every rank calls its own GPU number 0."""
        result = self.run_ranks("export CUDA_VISIBLE_DEVICES=$((5 - OMPI_COMM_WORLD_RANK))", *ONE)
        self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertEqual([line[2:4] for line in device_lines(result.stdout)], [(0, 5), (0, 4)])
        self.assertNotIn("share", result.stdout)

    def test_some_visible_to_all(self):
        stdout, lines = self.run_gpus(*ONE, CUDA_VISIBLE_DEVICES="6,2")
        self.assertEqual([line[2:4] for line in device_lines(stdout)], [(0, 6), (1, 2)])
        self.assertEqual(lines[0]["environment"]["CUDA_VISIBLE_DEVICES"], "6,2")

    def test_too_few(self):
        for_each = "--device 7 and 2 for each process"
        together = "the processes that see the same"
        self.at_once(lambda case: self.refused_gpus(
            MISSING, rf".*process \d on \S+ sees {case[0]}; start fewer processes on a host, .*", *ONE, *case[2:],
            ranks=case[1], FAKE_CUDA_DEVICES=case[0][0]),
            [(f"3 CUDA devices, but {together} need 4", 4), (f"3 CUDA devices, but {together} need 4", 2, "-g", 2),
             (f"3 CUDA devices, but {together} need 4", 1, "-t", 2, "-g", 2),
             (f"1 CUDA device, but {together} need 2", 2),
             (f"8 CUDA devices, but {for_each} need 9", 1, "--device", 7, "-g", 2)])
        self.refused_gpus(MISSING, r".*sees 1 CUDA device, but .* need 2; .*", *ONE, CUDA_VISIBLE_DEVICES="4")

    def test_of_one_process_each(self):
        """In EXCLUSIVE_PROCESS mode, a context of another process on a GPU is an error."""
        modes = ((), ("-g", 2), ("-G", 2), ("-R", 2, "-D", 1), ("--timing", "isolated"), ("-p", 1))
        for number, options in enumerate(modes):
            with self.subTest(options):
                folder = self.directory / f"gpus{number}"
                folder.mkdir()
                result = self.run_ranks("true", *ONE, *options, ranks=3, FAKE_CUDA_EXCLUSIVE=str(folder))
                self.assertEqual((result.status, result.stderr), (0, ""))
                self.assertEqual(len(list(folder.iterdir())), 6 if "-g" in options else 3)
        result = self.run_ranks("true", *ONE, "--device", 0, FAKE_CUDA_EXCLUSIVE=str(self.directory / "gpus0"))
        self.assertEqual(result.status, FAILURE)
        self.assertIn("(cudaErrorDevicesUnavailable); another process uses it, or has it for itself (nvidia-smi -q -d "
                      "COMPUTE shows the mode)", result.stderr)

    def test_none_on_one_rank(self):
        hide = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then export CUDA_VISIBLE_DEVICES=; fi"
        result = self.run_ranks(hide, *ONE)
        self.assertEqual((result.status, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"# Backend: mpi, because host \S+: the NVIDIA driver shows this process no "
                                        r"device; see nvidia-smi and CUDA_VISIBLE_DEVICES; ")
        result = self.run_ranks(hide, *ONE, "--backend", "nccl")
        self.assertEqual((result.status, result.stdout), (MISSING, ""))

    def test_libraries_of_two_versions(self):
        old = f"if [ $OMPI_COMM_WORLD_RANK = 1 ]; then export LD_LIBRARY_PATH={OLD_LIBRARY['LD_LIBRARY_PATH']}; fi"
        result = self.run_ranks(old, *ONE)
        self.assertEqual((result.status, result.stdout), (MISSING, ""))
        self.assertIn("the processes have NCCL 2.18.6 to 2.28.9; give all the same one with LD_LIBRARY_PATH",
                      result.stderr)


class Backends(GpuTest):  # 2 ranks, 2 s

    def assert_on_mpi(self, reason, *arguments, **how):
        stdout, lines = self.run_json(*ONE, *arguments, **how)
        self.assertRegex(stdout, f"# Backend: mpi, because {reason}; ")
        self.assertRegex(stdout, r"#  Rank  0 .* \[host\] ")
        self.assertEqual((lines[0]["backend"], lines[0]["rank_map"][0]["gpu"]), ("mpi", None))
        self.assertEqual(len(rows(stdout)), 1)

    def test_mpi_asked_for(self):
        self.assert_on_mpi("--backend mpi asks for it", "--backend", "mpi")
        self.assert_on_mpi("--memory host asks for it", "--memory", "host")

    def test_nccl_on_host_memory(self):
        self.refused_gpus(USAGE, "NCCL works on GPU memory only; .*", *ONE, "--backend", "nccl", "--memory", "host")

    def test_mpi_that_is_not_cuda_aware(self):
        self.refused_gpus(MISSING, ".*--memory cuda: .* does not say that it is CUDA-aware; .*", *ONE, "--backend",
                          "mpi", "--memory", "cuda")

    def test_cuda_aware_mpi_with_too_few_gpus(self):
        self.refused_gpus(MISSING, r".*sees 1 CUDA device, but .* need 2; .*", *ONE, "--backend", "mpi", "--memory",
                          "cuda", program=CUDA_AWARE_PROGRAM, FAKE_CUDA_DEVICES="1")

    def test_no_driver(self):
        reason = r"host \S+: no NVIDIA driver is installed"
        self.assert_on_mpi(reason, FAKE_CUDA_NO_DRIVER="1")
        self.refused_gpus(MISSING, f"--backend nccl: {reason}", *ONE, "--backend", "nccl", FAKE_CUDA_NO_DRIVER="1")

    def test_no_library(self):
        """What stands in its place hides any other that the host has."""
        (self.directory / "libnccl.so.2").touch()
        folder = {"LD_LIBRARY_PATH": library_path(self.directory)}
        reason = (r"host \S+: nccl: \S*libnccl.so.2: .*; install NCCL \(the package libnccl2 of NVIDIA's repository\), "
                  "or set LD_LIBRARY_PATH to the folder that has it")
        self.assert_on_mpi(reason, **folder)
        self.refused_gpus(MISSING, f"--backend nccl: {reason}", *ONE, "--backend", "nccl", **folder)

    def test_options_of_nccl_on_mpi(self):
        self.at_once(lambda options: self.refused_gpus(MISSING, f"{options[0]} {options[1]} is for NCCL on GPUs, .*",
                                                       *ONE, *options, FAKE_CUDA_NO_DRIVER="1"),
                     [("-g", 2), ("-G", 2), ("-R", 1), ("-I", 1)])

    def test_old_library(self):
        self.at_once(lambda case: self.refused_gpus(
            MISSING, rf"{case[0]}NCCL 2\.18\.6 does not have .*; NCCL {case[1]} and newer do.*", *ONE, *case[2:],
            **OLD_LIBRARY),
            [(".*-R 1: ", "2.19.0", "-R", 1), (".*-R 2: ", "2.27.0", "-R", 2), (".*-x: ", "2.27.0", "-x", 1),
             ("", "2.24.0", "-d", "f8e4m3")])

    def test_library_without_windows(self):
        """-R 1 takes the place of -R 2, as in nccl-tests."""
        stdout, lines = self.run_gpus(*ONE, "-R", 2, **LIBRARY_WITHOUT_WINDOWS)
        notice = ("-R 2: NCCL 2.19.3 does not have symmetric windows (ncclCommWindowRegister); NCCL 2.27.0 and newer do; "
                  "-R 1 takes its place")
        self.assertIn(notice, lines[0]["notices"])
        self.assertIn(f"# {notice}\n", stdout)
        self.assertNotIn("takes its place", self.run_gpus(*ONE, "-R", 1, **LIBRARY_WITHOUT_WINDOWS)[0])

    def test_old_library_in_every_kind_of_call(self):
        """It has no all-to-all, gather and scatter of its own."""
        for collective in ("alltoall", "gather", "scatter", "all_gather"):
            with self.subTest(collective):
                self.run_gpus(*ONE, program=program_of(collective), **OLD_LIBRARY)


class Memory(GpuTest):  # 2 ranks, 6 s

    def test_last_size_lowered(self):
        for options, most in (((), 8 * MIB), (("--device", 0), 4 * MIB)):  # alone on a GPU, and two sharing it
            with self.subTest(options):
                stdout, lines = self.run_gpus("-b", "1M", "-e", "64M", "-f", 2, "-n", 1, *options,
                                              FAKE_CUDA_MEMORY=str(20 * MIB), **SHARED_GPU)
                self.assertEqual(max(int(row[0]) for row in rows(stdout)), most)
                self.assertRegex(stdout, r"#\n# Reducing maxBytes to \d+ due to memory limitation: [\d.]+ MiB per "
                                         r"rank is available for 2 buffers\n")
                self.assertLess(int(lines[0]["options"]["maxbytes"]), 2 * most)

    def test_first_size_does_not_fit(self):
        self.refused_gpus(MISSING, r"the smallest message, 16 MiB, needs 32\.0 MiB per rank for 2 buffers, but only "
                                   r"[\d.]+ MiB per rank is available; lower --min-bytes, .*", "-b", "16M", "-e", "64M",
                          "-n", 1, FAKE_CUDA_MEMORY=str(20 * MIB))
