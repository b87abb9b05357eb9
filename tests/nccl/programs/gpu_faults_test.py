"""However NCCL fails, the job ends soon, with the right status, and says which rank, host and GPU and why.

The fake's faults are listed in tests/fakes/nccl/faults.h.
"""

import json
import re
import signal

from launch import OUT_OF_PLACE_ONLY, ROOTED, Job, command, environment, in_a_few_tries, kill, program_of, rows
from on_gpus import FAILURE, MISSING, ONE, TIMEOUT, WRONG_DATA, GpuTest

MANY = ("-b", 1024, "-e", 1024, "-n", 20)
LIMIT_S = 2
LIMITED = (*MANY, "-T", LIMIT_S)


def gpu(rank):
    return rf"rank {rank} on GPU {rank} \(0000:1{rank}:00\.0\)"


class Errors(GpuTest):  # 3 ranks, 2 s

    def test_asynchronous(self):
        def check(case):
            said = self.ends(FAILURE, "async_error:1:20", *MANY, *case[1:], ranks=case[0])
            self.assertRegex(said, rf"all_reduce_perf: rank 1 on \S+: nccl: {gpu(1)}: ncclCommGetAsyncError: "
                                   r"remote process exited .*: a link of rank 1 broke, as the test asked for")
        self.at_once(check, [(3,), (2, "--timing", "isolated"), (2, "-G", 2), (2, "-m", 4)])

    def test_asynchronous_on_the_second_gpu_of_a_process(self):
        said = self.ends(FAILURE, "async_error:3:20", *MANY, "-g", 2)
        self.assertRegex(said, rf"all_reduce_perf: rank \d on \S+: nccl: {gpu(3)}: .*: a link of rank 3 broke")

    def test_of_a_call(self):
        """With other operations under way, whose buffers must outlive them."""
        def check(options):
            said = self.ends(FAILURE, "call_error:1:5", *MANY, *options)
            self.assertRegex(said, rf"nccl: {gpu(1)}: ncclAllReduce: unhandled system error: a call failed, as the "
                                   "test asked for")
        self.at_once(check, [(), ("-g", 2), ("-m", 4), ("-G", 2)])

    def test_of_a_start(self):
        said = self.ends(FAILURE, "init_error:1", *MANY)
        self.assertRegex(said, rf"all_reduce_perf: rank 1 on \S+: nccl: {gpu(1)}: ncclCommInitRankConfig: .*: no "
                               "network, as the test asked for")

    def test_out_of_memory(self):
        said = self.ends(MISSING, "out_of_memory", *MANY)
        self.assertRegex(said, r"all_reduce_perf: rank \d on \S+: nccl: GPU \d: [\d.]+ KiB asked for, [\d.]+ GiB free: "
                               r"ncclMemAlloc: unhandled cuda error: Cuda failure 2 'out of memory'")

    def test_reason_in_json(self):
        file = self.directory / "run.json"
        self.ends(FAILURE, "async_error:0:20", *MANY, "--json", file)
        end = json.loads(file.read_text().splitlines()[-1])
        self.assertEqual((end["kind"], end["exit_status"]), ("end", FAILURE))
        self.assertRegex(end["reason"], rf"^nccl: {gpu(0)}: .*a link of rank 0 broke")


class Hangs(GpuTest):  # 3 ranks, 12 s
    """Bounded by -T, which is told from the time of the whole run."""

    def hangs(self, fault, *options, **how):
        return self.ends(TIMEOUT, fault, *LIMITED, *options, **how)

    def test_operation(self):
        @in_a_few_tries
        def check(case):
            said = self.hangs("hang:1:20", *case[1:], ranks=case[0])
            self.assertRegex(said, rf"fabricbench: no progress for [\d.]+ s, the limit is --timeout {LIMIT_S}; the job is "
                                   r"ended\n")
            self.assertRegex(said, r"\d ranks wait, the first is rank 0 on \S+: (?:measuring|warming up) 1 KiB float "
                                   rf"sum, out of place \({gpu(0)}, NCCL: no error\)")
        self.at_once(check, [(3,), (2, "-G", 2), (2, "--timing", "isolated")])

    @in_a_few_tries
    def test_two_gpus_of_one_process(self):
        self.assertRegex(self.hangs("hang:1:20", "-g", 2, ranks=1), rf"rank 0 on \S+: .* \({gpu(0)}, {gpu(1)}, NCCL: ")

    def test_start(self):
        @in_a_few_tries
        def check(case):
            said = self.hangs("init_hang:1", *case[1:], ranks=case[0])
            self.assertRegex(said, rf"all_reduce_perf: rank \d on \S+: nccl: (?:{gpu(0)}|{gpu(1)}): the communicator "
                                   r"of 2 ranks was not there within [\d.]+ s; NCCL's last error: none")
        self.at_once(check, [(2,), (1, "-g", 2, "-p", 1)])

    @in_a_few_tries
    def test_reason_in_json(self):
        file = self.directory / "run.json"
        self.hangs("hang:0:20", "--json", file, "--force")
        end = json.loads(file.read_text().splitlines()[-1])
        self.assertEqual((end["kind"], end.get("exit_status")), ("end", TIMEOUT))
        self.assertRegex(end["reason"], rf"no progress for .* \({gpu(0)}, ")

    @in_a_few_tries
    def test_stopped_process(self):
        """The roll call names it: the others' GPUs only wait for its."""
        for_ever = ("-b", 1024, "-e", 1024, "-n", 20, "-N", 0, "-T", LIMIT_S)
        with Job(command(3, for_ever), env=environment()) as job:
            job.read_pids(3)
            while not re.match(r" *\d+ ", job.read_line()):
                self.assertIsNone(job.process.poll())
            kill(job.pids[1], signal.SIGSTOP)
            result = self.end_of(job)
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        self.assertRegex(result.stderr, r"fabricbench:   rank 1 on \S+: silent for [\d.]+ s: stopped, dead or out of reach\n")
        self.assertNotRegex(result.stderr, r"rank [02] on \S+: silent")


class WrongData(GpuTest):  # 3 ranks, 2 s

    def test_every_program(self):
        """Every operation's result is wrong in one element, in the middle of what a call is about."""
        def check(collective):
            rank = 0 if collective in {"gather", "reduce"} else 1
            result = self.run_program(*ONE, "--placement", "out", FAKE_NCCL_FAULT=f"wrong_from:{rank}:0",
                                      program=program_of(collective))
            self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
            self.assertEqual(rows(result.stdout)[0][8], "1")
            self.assertIn("# Out of bounds values : 1 FAILED\n", result.stdout)
            root = " root 0" if collective in ROOTED else ""
            self.assertRegex(result.stderr, rf"fabricbench: wrong data in {collective} 1 KiB float.*{root}.*, out of "
                                            rf"place: 1 element over 1 rank; rank {rank}: first at element \d+: "
                                            r"expected \S+, got \S+\n")
        self.at_once(check, ["all_gather", "all_reduce", "alltoall", "alltoallv", "broadcast", "gather", "hypercube",
                             "reduce", "reduce_scatter", "scatter", "sendrecv"])

    def test_element_and_values(self):
        said = self.ends(WRONG_DATA, "wrong_from:1:0", *ONE, "-d", "int32")
        found = re.findall(r"int32 sum, (?:out of|in) place: 1 element over 1 rank; rank 1: first at element 128: "
                           r"expected (-?\d+), got (-?\d+)", said)
        self.assertEqual(len(found), 2, said)
        for expected, got in found:
            self.assertEqual(int(expected) ^ 1, int(got))

    def test_last_timed_operation(self):
        """Not only extra operations are checked, but what was measured too: 3 of warm-up, then 20."""
        self.ends(WRONG_DATA, "wrong:1:22", *MANY, "--placement", "out")

    def test_one_gpu_of_several(self):
        said = self.ends(WRONG_DATA, "wrong_from:3:0", *ONE, "-g", 2)
        self.assertEqual(len(re.findall(r" over 1 rank; rank 3: first at element 128: ", said)), 2, said)

    def test_graph(self):
        self.assertRegex(self.ends(WRONG_DATA, "wrong_from:1:0", *ONE, "-G", 2), "; rank 1: first at element 128: ")

    def test_only_in_graphs(self):
        """In place too, where the timed results are not defined, and in every collective."""
        def check(collective):
            rank = 0 if collective in {"gather", "reduce"} else 1
            result = self.run_program(*ONE, "-G", 2, FAKE_NCCL_FAULT=f"wrong_in_graph:{rank}",
                                      program=program_of(collective))
            self.assertEqual(result.status, WRONG_DATA, result.stdout + result.stderr)
            row = rows(result.stdout)[0]
            self.assertEqual((row[8], row[12]), ("1", "N/A" if collective in OUT_OF_PLACE_ONLY else "1"), collective)
        self.at_once(check, ["all_gather", "all_reduce", "alltoall", "broadcast", "gather", "reduce", "reduce_scatter",
                             "scatter", "sendrecv"])
        self.run_gpus(*ONE, FAKE_NCCL_FAULT="wrong_in_graph:1")

    def test_rank_of_the_job_with_groups(self):
        """Both groups have a rank 1."""
        said = self.ends(WRONG_DATA, "wrong_from:1:0", *ONE, "--split", "MOD 2", ranks=4, timeout=60)
        self.assertEqual(set(re.findall(r"; (rank \d): first at", said)), {"rank 2", "rank 3"})
