"""However NCCL fails with messages between two GPUs, the job ends soon, with the right status, and says who and why.

The fake's faults are listed in tests/fakes/nccl/faults.h.
"""

import json
import re
import signal

from gpu_pair_program import ONE, PAIR_TESTS, GpuPairTest
from launch import PROGRAMS, Job, command, environment, in_a_few_tries, kill
from on_gpus import FAILURE, NEWEST_LIBRARY, TIMEOUT, WRONG_DATA

LIMIT_S = 2
MANY = ("-b", 4096, "-e", 4096, "-n", 20)
LIMITED = (*MANY, "-T", LIMIT_S)


class WrongData(GpuPairTest):  # 4 ranks, 2 s

    def test_of_every_rank_that_receives(self):
        receivers = {"send_recv_lat": (0, 1), "send_recv_bw": (1,), "send_recv_bibw": (0, 1), "multi_pair_bw": (1,)}

        def check(case):
            name, rank, options = case
            said = self.said(WRONG_DATA, name, *ONE, *options, FAKE_NCCL_FAULT=f"wrong_from:{rank}:0")
            self.assertRegex(said, rf"fabricbench: wrong data in {name} messages of 4 KiB: 1 element over "
                                   rf"1 rank; rank {rank}: first at element 2048: expected \S+, got \S+")
        self.at_once(check, [(name, rank, options) for name in PAIR_TESTS for rank in receivers[name]
                             for options in ((), ("--window", 3)) if name != "send_recv_lat" or not options])

    def test_of_puts(self):
        receivers = {"send_recv_lat": (0, 1), "send_recv_bw": (1,), "send_recv_bibw": (0, 1), "multi_pair_bw": (1,)}

        def check(case):
            name, rank = case
            said = self.said(WRONG_DATA, name, *ONE, "--one-sided", 1, FAKE_NCCL_FAULT=f"wrong_from:{rank}:0",
                             **NEWEST_LIBRARY)
            self.assertRegex(said, rf"1 element over 1 rank; rank {rank}: first at element 0: expected \S+, got \S+")
        self.at_once(check, [(name, rank) for name in PAIR_TESTS for rank in receivers[name]])

    def test_of_the_answer_is_none(self):
        """The byte that answers a window is not looked at: the first rank of a pair receives nothing else."""
        self.measure_gpus("send_recv_bw", *ONE, FAKE_NCCL_FAULT="wrong_from:0:0")

    def test_rank_of_the_job(self):
        """Each pair has a second rank."""
        said = self.said(WRONG_DATA, "multi_pair_bw", *ONE, "--pairs", "3-1,0-2", ranks=4,
                         FAKE_NCCL_FAULT="wrong_from:1:0")
        self.assertEqual(set(re.findall(r"; (rank \d): first at", said)), {"rank 1", "rank 2"})


class Errors(GpuPairTest):  # 4 ranks, 1 s

    def test_asynchronous(self):
        def check(name):
            said = self.said(FAILURE, name, *MANY, FAKE_NCCL_FAULT="async_error:1:20")
            self.assertRegex(said, rf"{name}: rank 1 on \S+: nccl: rank 1 on GPU 1 .*: a link of rank 1 broke")
        self.at_once(check, PAIR_TESTS)

    def test_of_puts(self):
        def check(case):
            name, call, fault = case
            said = self.said(FAILURE, name, *MANY, "--one-sided", 1, FAKE_NCCL_FAULT=f"{fault}:1:6", **NEWEST_LIBRARY)
            self.assertRegex(said, rf"{name}: rank 1 on \S+: nccl: rank 1 on GPU 1 .*: {call}.*, as the test asked for")
        self.at_once(check, [("send_recv_bibw", "ncclPutSignal: unhandled system error: ", "call_error"),
                             ("send_recv_bw", ".*a link of rank 1 broke", "async_error")])

    def test_rank_of_the_job(self):
        said = self.said(FAILURE, "send_recv_bw", *MANY, "--pairs", "1-3", ranks=4, FAKE_NCCL_FAULT="async_error:1:20")
        self.assertRegex(said, r"send_recv_bw: rank 3 on \S+: nccl: rank 3 on GPU 1 .*: a link of rank 1 broke")

    def test_of_a_call(self):
        calls = {"send_recv_lat": "ncclRecv", "send_recv_bw": "ncclRecv", "send_recv_bibw": "ncclSend",
                 "multi_pair_bw": "ncclRecv"}

        def check(name):
            said = self.said(FAILURE, name, *MANY, FAKE_NCCL_FAULT=f"call_error:1:{4 if name.endswith('lat') else 5}")
            self.assertRegex(said, rf"{name}: rank 1 on \S+: nccl: rank 1 on GPU 1 .*: {calls[name]}: unhandled system "
                                   "error: a call failed, as the test asked for")
        self.at_once(check, PAIR_TESTS)


class Hangs(GpuPairTest):  # 3 ranks, 15 s

    def test_message(self):
        """A third rank, which takes no part, does not keep the job from ending."""
        @in_a_few_tries
        def check(case):
            name, ranks = case
            said = self.said(TIMEOUT, name, *LIMITED, ranks=ranks, FAKE_NCCL_FAULT="hang:1:20")
            self.assertRegex(said, rf"fabricbench: no progress for [\d.]+ s, the limit is --timeout {LIMIT_S}; the job is "
                                   "ended\n")
            self.assertRegex(said, r"2 ranks wait, the first is rank 0 on \S+: (?:measuring|warming up) messages "
                                   r"of 4 KiB \(rank 0 on GPU 0 .*, NCCL: no error\)")
        self.at_once(check, [*((name, 2) for name in PAIR_TESTS), ("send_recv_bw", 3)])

    @in_a_few_tries
    def test_reason_in_json(self):
        file = self.directory / "run.json"
        self.said(TIMEOUT, "send_recv_bw", *LIMITED, "--json", file, "--force", FAKE_NCCL_FAULT="hang:0:20")
        end = json.loads(file.read_text().splitlines()[-1])
        self.assertEqual((end["kind"], end.get("exit_status")), ("end", TIMEOUT))
        self.assertRegex(end["reason"], r"no progress for .* \(rank 0 on GPU 0 ")

    def stopped(self, rank, pairs, *options):
        """What the job says after the process of a rank was stopped; the limit ends it, and leaves nobody behind."""
        arguments = (*MANY, "-N", 0, "-T", LIMIT_S, "--pairs", pairs, *options)
        with Job(command(3, arguments, str(PROGRAMS / "send_recv_lat")), env=environment()) as job:
            job.read_pids(2)
            while not re.match(r" *\d+ ", job.read_line()):
                self.assertIsNone(job.process.poll())
            kill(job.pids[rank], signal.SIGSTOP)
            result = self.end_of(job)
        self.assertEqual(result.status, TIMEOUT, result.stderr)
        return result.stderr

    @in_a_few_tries
    def test_stopped_process(self):
        said = self.stopped(2, "0-2")
        self.assertRegex(said, r"fabricbench:   rank 2 on \S+: silent for [\d.]+ s: stopped, dead or out of reach\n")
        self.assertNotRegex(said, r"rank [01] on \S+: silent")

    @in_a_few_tries
    def test_stopped_process_that_would_report(self):
        """Ranks are the job's: here the first of those that take part is its last."""
        self.assertRegex(self.stopped(2, "2-0"), r"(send_recv_lat: |fabricbench:   )rank 0 on \S+: ")
        self.assertRegex(self.stopped(2, "2-0", "--memory", "host"),
                         r"fabricbench:   rank 0 on \S+: .*, and rank 2 on \S+ did not answer for [\d.]+ s\n")
