"""A rank that gets stuck anywhere between the first line of a program and its last ends the job, which says where."""

import itertools
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from launch import MPIEXEC, PROGRAMS, TIMEOUT_S, ProgramTest, environment, in_a_few_tries

FAULTY_CALLS = os.environ["FABRICBENCH_FAULTY_CALLS"]
VERBS = os.environ["FABRICBENCH_VERBS_BETWEEN_PROCESSES"]
ON_FAKES = os.environ["FABRICBENCH_PROGRAMS_ON_FAKES"]
FAILURE, USAGE, MISSING, TIMEOUT, NOT_JUDGED = 1, 2, 3, 4, 7
LIMIT_S = 4  # that -T gives: more than starting MPI takes on a busy machine
STOPPED = r"rank 1 on \S+: silent for [\d.]+ s: stopped, dead or out of reach"
SHORT = ("-b", 1024, "-e", 1024, "-n", 3, "-T", LIMIT_S)


def faulty(function, call, fault, rank):
    return {"LD_PRELOAD": FAULTY_CALLS, "FAULTY_CALL": f"{function}:{call}:{fault}:{rank}"}


def run_faulty(function, call, fault, rank, *arguments, program=PROGRAMS / "all_reduce_perf"):
    settings = [f"{name}={value}" for name, value in faulty(function, call, fault, rank).items()]
    command = [MPIEXEC, "-np", "2", "env", *settings, program, *map(str, (*SHORT, *arguments))]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=TIMEOUT_S)


class StartAndEnd(ProgramTest):  # 2 ranks, 120 s

    def ends(self, function, call, fault, rank, said, *arguments):
        result = run_faulty(function, call, fault, rank, *arguments)
        self.assertEqual(result.returncode, TIMEOUT, result.stderr)
        self.assertRegex(result.stderr, rf"fabricbench: no progress for [\d.]+ s, the limit is --timeout {LIMIT_S}; "
                                        r"the job is ended\n")
        self.assertRegex(result.stderr, said)
        return result

    @in_a_few_tries
    def test_start_of_mpi(self):
        for rank, other in ((0, 1), (1, 0)):
            for fault in ("hang", "stop"):
                with self.subTest(rank=rank, fault=fault):
                    speaker = rank if fault == "hang" and rank == 0 else "[01]" if fault == "hang" else other
                    self.ends("MPI_Init", 1, fault, rank,
                              rf"fabricbench:   rank {speaker} on \S+: starting MPI \(MPI_Init\), which takes until every rank")

    def test_a_launcher_that_waits_for_itself(self):
        """Open MPI's mpirun may when one of its ranks got stuck while it was being connected: fabricbench run ends it."""
        for call in (5, 6, 7):
            with self.subTest(call=call):
                settings = [f"-x {name}={value}" for name, value in faulty("mmap", call, "hang", 1).items()]
                command = [PROGRAMS / "fabricbench", "run", "-np", 2, "--mpi-options", " ".join(settings), "all_reduce", *SHORT]
                result = subprocess.run(list(map(str, command)), env=environment(), capture_output=True, text=True,
                                        timeout=TIMEOUT_S)
                self.assertEqual(result.returncode, TIMEOUT, result.stderr)

    @in_a_few_tries
    def test_steps_of_the_start(self):
        """The rank that did not take a step is named, once the ranks know each other."""
        for call, said in ((1, r"rank 0 on \S+: agreeing on the options, and does not know what the others were doing"),
                           (8, STOPPED), (16, STOPPED), (32, STOPPED)):
            with self.subTest(call=call):
                self.ends("MPI_Allreduce", call, "stop", 1, said)

    @in_a_few_tries
    def test_end_of_mpi(self):
        for function, fault in itertools.product(("MPI_Finalize", "MPI_Finalize_end"), ("hang", "stop")):
            with self.subTest(function=function, fault=fault):
                file = self.directory / f"{function}-{fault}.json"
                alone = function == "MPI_Finalize_end"
                said = STOPPED if fault == "stop" else r"rank 1 on \S+: \D+: ending MPI \(MPI_Finalize\) for [\d.]+ s\n"
                waits = "waiting for the others to end MPI" if alone else r"ending MPI \(MPI_Finalize\)"
                result = self.ends(function, 1, fault, 1, said, "--json", file)
                self.assertRegex(result.stderr, rf"1 rank waits for it, the first is rank 0 on \S+: {waits}\n")
                self.assertNotIn("did not answer", result.stderr)
                ends = [line for line in map(json.loads, file.read_text().splitlines()) if line["kind"] == "end"]
                self.assertEqual([line["exit_status"] for line in ends], [TIMEOUT])

    @in_a_few_tries
    def test_end_of_mpi_on_the_first_rank(self):
        result = self.ends("MPI_Finalize_end", 1, "hang", 0,
                           r"rank 0 on \S+: has not arrived: ending MPI \(MPI_Finalize\) for [\d.]+ s\n")
        self.assertRegex(result.stderr, r"1 rank waits for it, the first is rank 1 on \S+: has ended MPI\n")

    @in_a_few_tries
    def test_exit_handlers(self):
        file = self.directory / "exit.json"
        result = run_faulty("exit", 1, "hang", 1, "--json", file)
        self.assertEqual(result.returncode, TIMEOUT, result.stderr)
        self.assertRegex(result.stderr, r"fabricbench: rank 1 on \S+: all results are written, but the process did not end for "
                                        rf"{LIMIT_S} s, the limit is --timeout {LIMIT_S}: a library's exit handler is stuck\n")
        self.assertIn('"exit_status":0', file.read_text().splitlines()[-1])


class Stacks(ProgramTest):  # 2 ranks, 30 s

    @in_a_few_tries
    def test_who_is_stuck_prints_where(self):
        """The one that is behind, and not the one that waits for it."""
        for rank, other in ((1, 0), (0, 1)):
            with self.subTest(rank=rank):
                result = run_faulty("MPI_Allreduce", 32, "hang", rank, "--stall-action", "stack")
                self.assertEqual(result.returncode, TIMEOUT, result.stderr)
                self.assertRegex(result.stderr, rf"fabricbench:   rank {rank} on \S+: its main thread is in\n"
                                                r"(fabricbench:     .*\n)*"
                                                r"fabricbench:     MPI_Allreduce \(libfaulty_calls.so\)\n"
                                                r"(fabricbench:     .*\n)*fabricbench:     .* \(all_reduce_perf\)\n")
                self.assertNotRegex(result.stderr, rf"rank {other} on \S+: its main thread is in")


@unittest.skipUnless(VERBS, "built without RDMA verbs")
class OverRdma(ProgramTest):  # 2 ranks, 10 s
    """On a stub of libibverbs that connects the processes of a host."""

    def run_faulty(self, program, fault, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"LD_PRELOAD": f"{FAULTY_CALLS}:{VERBS}", "FAKE_VERBS_FILE": f"{folder}/verbs", "FAULTY_CALL": fault}
            command = [MPIEXEC, "-np", "2", "env", *(f"{name}={value}" for name, value in settings.items()),
                       PROGRAMS / program, "--pairs", "0-1", "-s", "1024", "-n", "3", *map(str, arguments)]
            return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=TIMEOUT_S)

    @in_a_few_tries
    def test_other_end_that_is_stuck(self):
        """Who waits for its messages says whose they are."""
        result = self.run_faulty("rdma_send_lat", "ibv_get_cq_event:1:hang:1", "-e", "--timeout", 60, "--stall-timeout", 2)
        self.assertEqual(result.returncode, TIMEOUT, result.stderr)
        self.assertRegex(result.stderr, r"rdma_send_lat: rank 0 on \S+: verbs: waited 2 s in vain for messages to arrive; "
                                        r"the other end is mlx5_0 port 1 of host \S+, queue pair 0x\w+ of rank 1; ")

    def test_completion_queue_that_cannot_be_polled(self):
        result = self.run_faulty("rdma_write_bw", "ibv_poll_cq:1:fail:0")
        self.assertEqual(result.returncode, MISSING, result.stderr)
        self.assertRegex(result.stderr, r"rdma_write_bw: rank 0 on \S+: verbs: ibv_poll_cq returned -1: ")


@unittest.skipUnless(ON_FAKES, "built without NCCL")
class OnGpus(ProgramTest):  # 2 ranks, 5 s
    """On fakes of CUDA and NCCL."""

    def run_faulty(self, fault, program, *arguments):
        settings = {"LD_PRELOAD": FAULTY_CALLS, "FAULTY_CALL": fault, "FAKE_CUDA_DEVICES": "2", "CUDA_VISIBLE_DEVICES": "0,1",
                    "LD_LIBRARY_PATH": Path(ON_FAKES).parents[1] / "fakes" / "nccl-2.28"}
        command = [MPIEXEC, "-np", "2", "env", *(f"{name}={value}" for name, value in settings.items()),
                   f"{ON_FAKES}/{program}", *arguments]
        return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=TIMEOUT_S)

    def test_nccl_that_fails_on_one_rank(self):
        """Also where it is opened again, which the other rank does not wait for in vain."""
        result = self.run_faulty("ncclGetVersion:2:fail:1", "all_reduce_perf", "-b", "1024", "-e", "1024", "-n", "3")
        self.assertEqual(result.returncode, FAILURE, result.stderr)
        self.assertRegex(result.stderr, r"all_reduce_perf: rank 1 on \S+: nccl: ncclGetVersion: unhandled system error")

    def test_devices_that_are_gone_on_one_rank(self):
        """After they were seen first."""
        result = self.run_faulty("cudaGetDeviceCount:2:fail:1", "all_reduce_perf", "-b", "1024", "-e", "1024", "-n", "3")
        self.assertEqual(result.returncode, MISSING, result.stderr)
        self.assertRegex(result.stderr, r"all_reduce_perf: rank 1, host \S+: .*\(cudaErrorUnknown\)")


class OtherPrograms(ProgramTest):  # 2 ranks, 3 s

    def test_two_programs_in_one_launch(self):
        command = [MPIEXEC, "-np", "1", PROGRAMS / "tcp_bw", "-s", "8", ":", "-np", "1", PROGRAMS / "tcp_lat", "-s", "8"]
        result = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(result.returncode, USAGE, result.stderr)
        said = [line for line in result.stderr.splitlines() if line.startswith("tcp_")]
        self.assertEqual(len(said), 1, result.stderr)
        self.assertRegex(said[0], r"^tcp_bw: all processes of a job must be one program of one version: rank 0 on \S+ is "
                                  r"tcp_bw \S+, and rank 1 on \S+ is tcp_lat \S+$")


class Clocks(ProgramTest):  # 2 ranks, 6 s

    @in_a_few_tries
    def test_clock_that_leaps(self):
        """Without a progress limit, which the leap would exceed."""
        for rank in 0, 1:
            with self.subTest(rank=rank):
                result = run_faulty("clock_gettime", 1000, "jump", rank, "-T", 0)
                self.assertEqual(result.returncode, NOT_JUDGED, result.stderr)
                self.assertRegex(result.stderr, rf"all_reduce_perf: the clock of rank {rank} on \S+ \(CLOCK_MONOTONIC\) leapt by "
                                                r"900 s during the run: figures may mean nothing\n")
