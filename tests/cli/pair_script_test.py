"""scripts/check_node_pair.sh: what it starts, by which launcher, and what it says of how that ended."""

import os
import pathlib
import threading

from pair_script import HYDRA, PROGRAMS, PairScriptTest, context, row, sweep_reading, text_of


class Records(PairScriptTest):  # 1 rank, 2 s

    def test_each_direction(self):
        self.make_launcher()
        result = self.check("--round", "3", "--concurrent", "8")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "node1 node2: ok, 12 GB/s there, 11 GB/s back\n")
        there, back = self.readings()
        self.assertEqual((there["from_host"], there["to_host"], there["bandwidth_gb_per_s"]), ("node1", "node2", 12.0))
        self.assertEqual((back["from_host"], back["to_host"], back["bandwidth_gb_per_s"]), ("node2", "node1", 11.0))
        for reading in there, back:
            self.assertEqual((reading["kind"], reading["round"], reading["concurrent"]), ("reading", 3, 8))
            self.assertEqual((reading["test"], reading["size_bytes"], reading["status"]), ("pairwise_bw", 1 << 20, "ok"))
            self.assertEqual((reading["both_ways"], reading["reason"], reading["log"]), (False, None, None))

    def test_launcher_that_sorts_hosts(self):
        self.make_launcher(text_of(context("node1.cluster", "node2.cluster"), sweep_reading(0, 1, 12.0), sweep_reading(1, 0, 11.0)))
        self.check("node2", "node1")
        self.assertEqual([(one["from_host"], one["bandwidth_gb_per_s"]) for one in self.readings()],
                         [("node2", 11.0), ("node1", 12.0)])

    def test_directions_of_a_row(self):
        self.make_launcher(text_of(context("node1", "node2"), row([5.0, 4.0])))
        self.check("--test", "send_recv_bibw", "--rail", "eth1")
        self.assertEqual([(one["from_host"], one["bandwidth_gb_per_s"], one["from_rail"], one["both_ways"])
                          for one in self.readings()],
                         [("node1", 5.0, "eth1", False), ("node2", 4.0, "eth1", False)])

    def test_names_devices_where_the_job_knows_them(self):
        told = context("node1", "node2")
        told["wire_rate_gb_per_s"] = 50.0
        told["groups"] = [{"ranks": "0, 1", "hosts": "node1, node2", "ports": "mlx5_0 port 1, mlx5_3 port 1"}]
        told["hosts"] = [{"name": "node1", "network_devices": [{"name": "mlx5_0:1", "guid": "0x0c42"}]},
                         {"name": "node2", "network_devices": []}]
        told["rank_map"][1]["gpu"] = {"pci": "0000:17:00.0", "uuid": "GPU-1"}
        self.make_launcher(text_of(told, row([5.0, 4.0])))
        self.check("--test", "rdma_write_bw")
        keys = ("nic", "nic_guid", "gpu", "gpu_uuid", "port_gb_per_s")
        ends = [[tuple(one.get(f"{end}_{key}") for key in keys) for end in ("from", "to")] for one in self.readings()]
        first, second = ("mlx5_0", "0x0c42", None, None, 50.0), ("mlx5_3", None, "0000:17:00.0", "GPU-1", 50.0)
        self.assertEqual(ends, [[first, second], [second, first]])
        self.assertNotIn("from_gpu", self.readings()[0])

    def test_names_the_interface_that_carried_the_bytes(self):
        told = context("node1", "node2")
        told["groups"] = [{"ranks": "0, 1", "hosts": "node1, node2", "ports": None}]
        told["hosts"] = [{"name": name, "network_devices": [{"name": "eth0", "speed_mbit_per_s": 25000},
                                                            {"name": "eth1", "speed_mbit_per_s": None}]}
                         for name in ("node1", "node2")]
        measured = row()
        bytes_of = {("node1", "lo"): 5000, ("node1", "eth0"): 960, ("node1", "eth1"): 40,
                    ("node2", "eth0"): 500, ("node2", "eth1"): 500}
        measured["out_of_place"]["wires"] = [{"host": host, "wire": wire, "sent_bytes": 0, "received_bytes": count}
                                             for (host, wire), count in bytes_of.items()]
        self.make_launcher(text_of(told, measured))
        self.check("--test", "tcp_bw")
        reading = self.readings()[0]
        self.assertEqual((reading["from_nic"], reading["from_port_gb_per_s"]), ("eth0", 3.125))
        self.assertNotIn("from_nic_guid", reading)
        self.assertNotIn("to_nic", reading, "its bytes went by two")

    def test_names_gpus_of_pairwise_bw(self):
        forth = {**sweep_reading(0, 1, 12.0), "to_gpu": "0000:17:00.0", "to_gpu_uuid": "GPU-1"}
        self.make_launcher(text_of(context("node1", "node2"), forth, sweep_reading(1, 0, 11.0)))
        self.check()
        self.assertEqual([(one.get("from_gpu_uuid"), one.get("to_gpu_uuid")) for one in self.readings()],
                         [(None, "GPU-1"), (None, None)])

    def test_both_ways_and_gpus(self):
        self.make_launcher(text_of(context("node1", "node1", "node2", "node2"), row(group=0), row(group=1, busbw=2.0)))
        self.check("--test", "sendrecv_perf", "--gpus", "2", "--size", "4K")
        self.assertEqual([(one["from_rail"], one["to_rail"], one["both_ways"], one["bandwidth_gb_per_s"], one["size_bytes"])
                          for one in self.readings()],
                         [("gpu0", "gpu0", True, 3.0, 4096), ("gpu1", "gpu1", True, 2.0, 4096)])
        self.assertIn("MOD 2", self.launched())

    def test_several_rails(self):
        """A rail that the job did not come to has no record, because another one may be the cause."""
        told = context("node1", "node1", "node1", "node2", "node2", "node2")
        told["groups"] = [{"ranks": f"{rank}, {rank + 3}", "ports": f"mlx5_{rank} port 1, mlx5_{rank} port 1"} for rank in (0, 2)]
        told["rank_map"] = [rank for rank in told["rank_map"] if rank["rank"] not in (1, 4)]  # as their pair is left out
        self.make_launcher(text_of(told, row([5.0, 4.0]), row([3.0, 2.0], group=1)), b"rdma_write_bw: a pair was left out\n", 3)
        result = self.check("--rdma", "--rail", "mlx5_0,mlx5_1,mlx5_2")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, "^node1 node2: failed, mlx5_0: 5 GB/s there, mlx5_0: 4 GB/s back, mlx5_2: 3 GB/s there, "
                                        "mlx5_2: 2 GB/s back; rdma_write_bw: a pair was left out; see ")
        self.assertEqual([(one["from_rail"], one["from_nic"], one["bandwidth_gb_per_s"]) for one in self.readings()],
                         [("mlx5_0", "mlx5_0", 5.0), ("mlx5_0", "mlx5_0", 4.0), ("mlx5_2", "mlx5_2", 3.0), ("mlx5_2", "mlx5_2", 2.0)])

    def test_slow(self):
        self.make_launcher()
        result = self.check("--min-bandwidth", "11.5")
        self.assertEqual(result.returncode, 6)
        self.assertRegex(result.stdout, r"^node1 node2: slow, 12 GB/s there, 11 GB/s back; 11 GB/s is below --min-bandwidth 11.5; see ")
        self.assertEqual([one["status"] for one in self.readings()], ["ok", "slow"])

    def test_of_a_busy_host(self):
        """What is slow there is not judged; without a requirement there is nothing to judge."""
        for required, status in (((), 0), (("--min-bandwidth", "11.5"), 7)):
            self.make_launcher(text_of(context("node1", "node2"), sweep_reading(0, 1, 12.0),
                                       {**sweep_reading(1, 0, 1.0), "processor_wait_share": 0.63}))
            result = self.check(*required)
            self.assertEqual(result.returncode, status, result.stdout)
            self.assertEqual([(one["status"], one.get("processor_wait_share")) for one in self.readings()[-2:]],
                             [("ok", None), ("ok", 0.63)])
            self.assertEqual("these are not figures of the network" in result.stderr, status == 7)
        measured = row([5.0, 4.0])
        measured["out_of_place"]["processor_wait_share"] = 0.2
        self.make_launcher(text_of(context("node1", "node2"), measured), status=7)
        self.assertEqual(self.check("--test", "send_recv_bibw", "--", "--min-bw", "9").returncode, 7)
        self.assertEqual([one["processor_wait_share"] for one in self.readings()[-2:]], [0.2, 0.2])

    def test_wrong_data_goes_first(self):
        self.make_launcher(text_of(context("node1", "node2"), sweep_reading(0, 1, 12.0, "wrong", "element 3"),
                                   sweep_reading(1, 0, None, "timeout", "no answer")), status=5)
        self.assertEqual(self.check().returncode, 5)
        self.assertEqual([(one["status"], one["reason"]) for one in self.readings()],
                         [("wrong", "element 3"), ("timeout", "no answer")])

    def test_one_direction_only(self):
        self.make_launcher(text_of(context("node1", "node2"), sweep_reading(0, 1, 12.0)), b"pairwise_bw: rank 1: lost\n", status=1)
        self.assertEqual(self.check().returncode, 1)
        self.assertEqual([(one["status"], one["reason"]) for one in self.readings()],
                         [("ok", None), ("failed", "pairwise_bw: rank 1: lost")])

    def test_one_host_under_two_names(self):
        self.make_launcher(text_of(context("node1", "node1"), sweep_reading(0, 1, 12.0), sweep_reading(1, 0, 11.0)))
        result = self.check()
        self.assertEqual(result.returncode, 1)
        self.assertEqual([one["bandwidth_gb_per_s"] for one in self.readings()], [None, None])
        self.assertIn("all ranks ran on node1", result.stdout)

    def test_the_half_of_a_record_is_removed_before_the_next_one(self):
        self.make_launcher()
        self.check()
        whole = self.records.read_text()
        for end, words, kept in (("", "", whole), ('{"kind":"reading","ro', "half a record and removed", whole),
                                 ('{"ki', "half a record and removed", whole), (whole.splitlines()[0], "ended", None),
                                 ("a note", "ended", None)):
            with self.subTest(end):
                self.records.write_text(whole + end)
                result = self.check()
                self.assertEqual((result.returncode, result.stderr), (
                    0, words and f"fabricbench: {self.records}: the last line had no end; it is {words}\n"))
                text = self.records.read_text()
                before = kept or f"{whole}{end}\n"
                self.assertEqual((text[:len(before)], text[len(before):].count("\n")), (before, 2))

    def test_where_standard_output_cannot_be_written(self):
        self.make_launcher()
        for closed, why in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            with self.subTest(closed):
                result = self.check(command=("sh", "-c", f'exec "$@" {closed}', "sh"))
                self.assertEqual((result.returncode, result.stderr),
                                 (1, f"check_node_pair.sh: cannot write to standard output: {why}\n"))
        self.assertEqual(len(self.readings()), 4)

    def test_many_writers(self):
        self.make_launcher()
        threads = [threading.Thread(target=self.check) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.readings()), 24)


class Failures(PairScriptTest):  # 1 rank, 2 s

    def test_size_of_the_benchmarks_own_options(self):
        for options, test, size in ((("-b", "64K"), "pairwise_bw", 1 << 16), (("-b64K",), "send_recv_bw", 1 << 16),
                                    (("--min-bytes=4K",), "tcp_bw", 4096), (("-n", "3"), "tcp_bw", 1 << 20),
                                    (("-b", "-s", "8K"), "rdma_write_bw", 8192)):
            with self.subTest(options=options, test=test):
                self.make_launcher(b"", b"lost\n", 1)
                self.check("--test", test, "--", *options)
                self.assertEqual({one["size_bytes"] for one in self.readings()[-1:]}, {size})

    def test_ranks_have_a_time_limit_of_their_own(self):
        """On a host that is cut off, nobody else ends them."""
        self.make_launcher()
        self.check("--timeout", "15")
        self.assertIn("--pair-timeout 4 -T 18 ", " ".join(self.launched()))
        if os.path.exists(os.path.join(PROGRAMS, "rdma_write_bw")):
            self.check("--timeout", "15", "--rdma")  # whose -T is the traffic class
            self.assertIn(" -b --timeout 11 ", " ".join(self.launched()))

    def fails(self, err, status=1, out=b""):
        """The reason of both directions, which is the same."""
        self.make_launcher(out, err, status)
        result = self.check()
        there, back = self.readings()[-2:]
        self.assertEqual((there["status"], there["reason"]), (back["status"], back["reason"]))
        self.assertIsNone(there["bandwidth_gb_per_s"])
        self.assertIn(err.decode("utf-8", "replace").strip()[:20], pathlib.Path(there["log"]).read_text())
        self.assertEqual(result.returncode, {"failed": 1, "timeout": 4, "wrong": 5}[there["status"]])
        return there["status"], there["reason"]

    def test_benchmark_says_why(self):
        self.assertEqual(self.fails(b"some notice\npairwise_bw: no memory\nmpirun: aborted\n"), ("failed", "pairwise_bw: no memory"))

    def test_reasons_are_text(self):
        status, reason = self.fails(b'ssh: "node1" \\ \x1b[31m\xff\x00 refused \xe2\x82\xac\n', 255)
        self.assertEqual((status, reason), ("failed", 'the job ended with status 255: ssh: "node1" \\ [31m\ufffd refused \u20ac'))

    def test_long_reason(self):
        reason = self.fails(b"pairwise_bw: " + b"x" * 5000)[1]
        self.assertEqual((len(reason), reason[-3:]), (400, "..."))

    def test_launcher_explains(self):
        line = b"-" * 60 + b"\n"
        self.assertEqual(self.fails(line + b"WARNING: this is\n\n  not it\n" + line + line + b"No node\nis there.\n\nMore.\n" + line),
                         ("failed", "the job ended with status 1: No node is there."))

    def test_nothing_is_said(self):
        self.assertEqual(self.fails(b"", 127), ("failed", "the job ended with status 127 and said nothing"))

    def test_mpirun_timed_out(self):
        self.assertEqual(self.fails(b"-----\nThe job was aborted\n", 110), ("timeout", "no result within 60 s: the ranks had not even met"))
        met = text_of(context("node1", "node2"))
        self.assertEqual(self.fails(b"", 110, met), ("timeout", "no result within 60 s: the ranks had met, and then got stuck"))

    def test_launcher_waits_though_ssh_has_ended(self):
        """As hydra does. Its own complaints are of the end by the time limit."""
        said = (b"Warning: Permanently added 'node2' (ED25519) to the list of known hosts.\n"
                b"ssh: connect to host node1 port 22: Connection refused\n")
        ended = b"[mpiexec@login] HYDU_sock_write (utils/sock/sock.c:254): write error (Bad file descriptor)\n"
        self.assertEqual(self.fails(said + ended, 124), ("timeout", "no result within 60 s: the ranks had not even met; "
                                                         "ssh: connect to host node1 port 22: Connection refused"))
        self.assertEqual(self.fails(ended, 124), ("timeout", "no result within 60 s: the ranks had not even met"))

    def test_benchmark_timed_out(self):
        self.assertEqual(self.fails(b"pairwise_bw: rank 1 on node2: silent\n", 4), ("timeout", "pairwise_bw: rank 1 on node2: silent"))

    def test_time_limit_of_its_own(self):
        """A launcher that never ends, and takes no notice of being told to."""
        self.make_launcher()
        path = self.folder / "mpirun"
        path.write_text("#!/bin/sh\ncase $1 in --version) echo HYDRA; exit 0 ;; esac\nexec sleep 50\n")
        result = self.check("--timeout", "1")
        self.assertEqual(result.returncode, 4, result.stdout + result.stderr)
        self.assertEqual({one["reason"] for one in self.readings()}, {"no result within 1 s: the ranks had not even met"})

    def test_usage_is_no_reading(self):
        self.make_launcher(b"", b"pairwise_bw: unknown option '--nonsense'\n", 2)
        result = self.check("--", "--nonsense")
        self.assertEqual((result.returncode, result.stderr), (2, "pairwise_bw: unknown option '--nonsense'\n"))
        self.assertEqual(self.readings(), [])


class Launch(PairScriptTest):  # 1 rank, 2 s

    def test_open_mpi(self):
        self.make_launcher()
        self.check("--timeout", "33", "--mpi-options", "--bind-to none", "--", "--window", "8", NCCL_DEBUG="INFO", OMPI_MCA_pml="ob1",
                   UCX_TLS="rc", FI_PROVIDER="tcp", OMPI_COMM_WORLD_RANK="3", SECRET="no")
        words = self.launched()
        self.assertEqual(words[words.index("--timeout") + 1], "33")
        self.assertEqual(words[words.index("--bind-to") + 1], "none")
        self.assertEqual(words[-2:], ["--window", "8"])
        exported = {words[index + 1] for index, word in enumerate(words) if word == "-x"}
        self.assertLessEqual({"NCCL_DEBUG", "OMPI_MCA_pml", "UCX_TLS", "FI_PROVIDER", "PATH"}, exported)
        self.assertFalse({"OMPI_COMM_WORLD_RANK", "SECRET", "HOME"} & exported)
        self.assertEqual((self.folder / "hostfile").read_text(), "node1 slots=1\nnode2 slots=1\n")

    def test_agent(self):
        self.make_launcher()
        self.check("--agent", "true")
        words = self.launched()
        self.assertEqual(words[words.index("plm_rsh_agent") + 1], "true")

    def test_hydra(self):
        self.make_launcher(version=HYDRA)
        self.assertEqual(self.check("--agent", "true", NCCL_DEBUG="INFO").returncode, 0)
        words = self.launched()
        self.assertNotIn("--timeout", words[:words.index("-genvlist")])
        self.assertIn("NCCL_DEBUG", words[words.index("-genvlist") + 1].split(","))
        self.assertEqual(words[words.index("-launcher-exec") + 1], "true")
        self.assertEqual((self.folder / "hostfile").read_text(), "node1:1\nnode2:1\n")

    def test_srun(self):
        self.make_launcher(name="srun")
        self.assertEqual(self.check("--launcher", "srun", "--timeout", "70", "node2", "node1", NCCL_DEBUG="INFO").returncode, 0)
        words = self.launched()
        self.assertLessEqual({"--nodes=2", "--ntasks=2", "--distribution=arbitrary", "--overlap", "--time=1:10"}, set(words))
        exported = next(word for word in words if word.startswith("--export=")).partition("=")[2].split(",")
        self.assertIn("NCCL_DEBUG", exported)
        self.assertNotIn("HOME", exported)
        self.assertEqual((self.folder / "hostfile").read_text(), "node2\nnode1\n")

    def test_other_mpirun(self):
        self.make_launcher(version="mpirun of nobody")
        result = self.check()
        self.assertEqual(result.returncode, 3)
        self.assertIn("names neither Open MPI nor hydra", result.stderr)

    def test_mpirun_that_does_not_answer(self):
        (self.folder / "mpirun").write_text("#!/bin/sh\nexit 124\n")  # the status of what was ended at its limit
        (self.folder / "mpirun").chmod(0o755)
        result = self.check()
        self.assertEqual(result.returncode, 3)
        self.assertIn("'mpirun --version' gave no answer within 30 s; run it by hand", result.stderr)

    def test_rails(self):
        for test, rail, variables, options in (
                ("pairwise_bw", "eth7", {"OMPI_MCA_btl_tcp_if_include": "eth7", "UCX_NET_DEVICES": "eth7"}, []),
                ("pairwise_bw", "mlx5_3", {"UCX_NET_DEVICES": "mlx5_3:1", "NCCL_IB_HCA": "=mlx5_3"}, []),
                ("sendrecv_perf", "eth7", {"NCCL_SOCKET_IFNAME": "=eth7"}, []),
                ("tcp_bw", "eth7", {}, ["--interface", "eth7"]),
                ("rdma_write_bw", "mlx5_3:2", {}, ["-d", "mlx5_3", "-i", "2"]),
                ("rdma_write_bw", "mlx5_3,mlx5_4", {}, ["--devices", "mlx5_3,mlx5_4", "--concurrent", "1", "-s"])):
            with self.subTest(test=test, rail=rail):
                if not os.path.exists(os.path.join(PROGRAMS, test)):
                    continue  # not built: the verbs of this machine are too old
                self.make_launcher()
                self.check("--test", test, "--rail", rail)
                found = self.names_in_environment()
                self.assertEqual({name: found.get(name) for name in variables}, variables)
                words = self.launched()
                self.assertIn(" ".join(options), " ".join(words))
                exported = {words[index + 1] for index, word in enumerate(words) if word == "-x"}
                self.assertLessEqual(set(variables), exported)

    def test_refused(self):
        self.make_launcher()
        for arguments, words in (
                (["--test", "all_reduce_perf"], "can exceed the NICs' rate"),
                (["--test", "barrier_perf"], "does not measure a pair of hosts"),
                (["--timeout", "0"], "--timeout '0' is not a whole number of 1 or more"),
                (["--timeout=0"], "--timeout '0' is not a whole number of 1 or more"),
                (["--timeout"], "--timeout needs a value"),
                (["--min-bandwidth", "fast"], "'fast' is not a number of GB/s"),
                (["--size", "x"], "'x' is not a size"),
                (["--launcher", "rsh"], "--launcher 'rsh': use mpirun or srun"),
                (["--nonsense"], "'--nonsense' is not an option"),
                (["--rdma", "--rail", "mlx5_0:1,mlx5_0:2"], "one job measures several devices at the same port"),
                (["node1", "node1"], "'node1' is given twice"),
                (["node1", "node2", "node3"], "given: 3 (node1 node2 node3)")):
            with self.subTest(arguments):
                result = self.check(*arguments)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertIn(words, result.stderr)
        self.assertEqual(self.readings(), [])
        self.assertFalse((self.folder / "arguments").exists(), "a job was started")
