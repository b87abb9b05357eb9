"""Every option that GPUs have, and the others on GPUs."""

import re

from launch import program_of, rows
from on_gpus import MISSING, ONE, OLD_LIBRARY, USAGE, GpuTest, measurements

SWEEP = ("-b", 1024, "-e", 4096, "-f", 4)
FEW = (*SWEEP, "-n", 4)
EPOCHS = (*SWEEP, "--epochs", 2, "--time-budget", 0.01)
DATATYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "f8e4m3",
             "f8e5m2"]
REDUCTIONS = ["sum", "prod", "min", "max", "avg", "mulsum"]


def operations(lines):
    return {measured["operations_per_sample"] for measured in measurements(lines)}


class Options(GpuTest):  # 2 ranks, 3 s

    def test_graphs(self):
        stdout, lines = self.run_gpus(*FEW, "-G", 3)
        self.assertIn(" graph: 3 ", stdout)
        self.assertEqual(operations(lines), {12})
        _, lines = self.run_gpus(*FEW, "-G", 2, "-m", 3, "-g", 2)
        self.assertEqual(operations(lines), {24})

    def test_graphs_in_epochs(self):
        _, lines = self.run_gpus(*EPOCHS, "-G", 2)
        for measured in measurements(lines):
            self.assertGreaterEqual(measured["epochs"], 2)
            self.assertEqual(measured["operations_per_sample"] % 2, 0)

    def test_graphs_within_the_time_budget(self):
        """However often a graph is launched, about as many operations fit into the same time."""
        most = {}
        for launches in (1, 1024):
            _, lines = self.run_gpus("-b", 1024, "-e", 1024, "--epochs", 2, "--time-budget", 0.5, "-G", launches)
            most[launches] = max(measured["operations_per_sample"] for measured in measurements(lines))
        self.assertLess(most[1024], 100 * most[1])

    def test_graphs_of_every_kind_of_call(self):
        for collective in ("alltoall", "barrier", "gather", "hypercube", "reduce_scatter", "sendrecv"):
            with self.subTest(collective):
                self.run_gpus(*ONE, "-G", 2, program=program_of(collective))

    def test_repeatable(self):
        for options in ((), ("-g", 2), ("-G", 2), ("-m", 2)):
            with self.subTest(options):
                stdout, lines = self.run_gpus(*FEW, "--repeatable", *options)
                self.assertEqual({measured["repeatable"] for measured in measurements(lines)}, {True})
                self.assertIn("# Note: Repeatable: the same bits twice in all 4 cases\n", stdout)

    def test_not_repeatable(self):
        """With the ranks' values added in the opposite order the second time, which the checked data do not show."""
        for collective in ("all_reduce", "reduce", "reduce_scatter"):
            with self.subTest(collective):
                stdout, lines = self.run_gpus(*FEW, "--repeatable", FAKE_NCCL_FAULT="reordered", ranks=3,
                                              program=program_of(collective))
                self.assertEqual({measured["repeatable"] for measured in measurements(lines)}, {False})
                self.assertIn("# Note: Not repeatable: the same input gave other bits in 4 of 4 cases\n", stdout)
        _, lines = self.run_gpus(*FEW, "--repeatable", "-d", "int32", FAKE_NCCL_FAULT="reordered", ranks=3)
        self.assertEqual({measured["repeatable"] for measured in measurements(lines)}, {True})

    def test_what_graphs_exclude(self):
        several = "-G launches many iterations at once, .*; leave out one"
        null = "-G records streams, and CUDA cannot record the null stream that -y 1 asks for; leave out one"
        self.at_once(lambda case: self.refused_gpus(*case[:2], *SWEEP, "-G", 2, *case[2:]),
                     [(USAGE, several, "-I", 1), (USAGE, several, "-z", 1), (USAGE, several, "--timing", "isolated"),
                      (USAGE, null, "-y", 1)])

    def test_registration_policy_streams_and_start(self):
        for options in (("-R", 1), ("-R", 2), ("-R", 2, "-g", 2), ("-x", 0), ("-x", 1), ("-x", 2), ("-y", 1), ("-p", 1),
                        ("-p", 1, "-g", 2), ("-R", 2, "-u", 3)):
            with self.subTest(options):
                self.run_gpus(*ONE, *options)

    def test_device_implementations_of_alltoall(self):
        for number in (1, 2, 3, 4):
            with self.subTest(number):
                stdout, _ = self.run_gpus(*FEW, "-R", 2, "-D", number, program=program_of("alltoall"))
                self.assertIn(f"kernels of fabricbench through its device API (-D {number}, 16 CTAs)", stdout)
        reason = (r"-D 3: nccl: rank \d on GPU \d \(\S+\): ncclDevCommCreate: internal error: No GIN-capable devices found; "
                  "NCCL cannot do it on this machine, leave out -D")
        self.refused_gpus(MISSING, f".*{reason}", *FEW, "-R", 2, "-D", 3, program=program_of("alltoall"),
                          FAKE_NCCL_NO_GIN="1")

    def test_aggregated(self):
        stdout, lines = self.run_gpus(*FEW, "-m", 5)
        self.assertIn(" agg iters: 5 ", stdout)
        self.assertEqual(operations(lines), {20})

    def test_blocking(self):
        for blocking in (1, 2, 3):
            with self.subTest(blocking):
                self.run_gpus(*FEW, "-z", blocking)

    def test_unaligned(self):
        for elements, datatype in ((1, "int8"), (3, "float"), (7, "double")):
            with self.subTest(elements):
                stdout, _ = self.run_gpus(*FEW, "-u", elements, "-d", datatype, program=program_of("all_gather"))
                self.assertIn(f" unalign: {elements}\n", stdout)

    def test_isolated(self):
        for options in ((), ("-g", 2), ("-m", 3), ("-y", 1)):
            with self.subTest(options):
                _, lines = self.run_gpus(*EPOCHS, "--timing", "isolated", *options)
                self.assertEqual(lines[0]["timing"], "isolated")
                self.assertEqual(operations(lines), {3 if "-m" in options else 1})

    def test_launches_that_wait_for_their_end(self):
        for options in ((), ("-G", 2), ("-m", 3)):
            self.run_gpus(*FEW, *options, CUDA_LAUNCH_BLOCKING="1")
        reason = ("--timing isolated: with CUDA_LAUNCH_BLOCKING each launch waits for its operation, .*; unset it, or leave "
                  "out --timing isolated")
        self.refused_gpus(MISSING, reason, *FEW, "--timing", "isolated", CUDA_LAUNCH_BLOCKING="1")
        reason = "nccl: with CUDA_LAUNCH_BLOCKING .*, or start 2 processes with one GPU each"
        self.refused_gpus(MISSING, reason, *FEW, "-g", 2, CUDA_LAUNCH_BLOCKING="1", ranks=1)

    def test_buffers(self):
        for policy in ("rotate", "cold"):
            with self.subTest(policy):
                stdout, _ = self.run_gpus(*FEW, "--buffers", policy, ranks=1)
                self.assertIn(f"; buffers: {policy}; ", stdout)

    def test_cpu_time(self):
        stdout, lines = self.run_gpus(*FEW, "-C", 1)
        self.assertRegex(stdout, r"# +size +count .* cputime +algbw .* cputime +algbw ")
        shown = [float(row[column]) for row in rows(stdout) for column in (5, 9)]
        for field, measured in zip(shown, measurements(lines), strict=True):
            self.assertAlmostEqual(field, measured["cpu_time_us_median"], delta=0.01 + field / 1e4)

    def test_memory_report(self):
        size = r"[\d.]+ [KMG]?B"
        pattern = rf"Initialization {size} \| User-Allocated {size} \| Collective {size} \| Total {size}"
        stdout, lines = self.run_gpus(*FEW, "-M", 1)
        self.assertRegex(stdout, rf"\n# GPU memory usage     : {pattern}\n")
        self.assertRegex(lines[-1]["memory_usage"], f"^{pattern}$")
        self.assertNotIn("User-Allocated 0", lines[-1]["memory_usage"])
        stdout, lines = self.run_gpus(*FEW)
        self.assertNotIn("GPU memory usage", stdout)
        self.assertEqual(lines[-1]["memory_usage"], "")


class IterationTimes(GpuTest):  # 2 ranks, 1 s
    """-I and -K: columns as nccl-tests 2.19.6 has them."""

    def test_columns(self):
        stdout, lines = self.run_gpus(*SWEEP, "-n", 6, "-I", 1, "-K", 2, "--samples")
        self.assertEqual(len(re.findall("i_min +i_max +i_p99 +i_cv%", stdout)), 2)
        shown = [row[column:column + 4] for row in self.fields(stdout, 21) for column in (9, 17)]
        for fields, measured in zip(shown, measurements(lines), strict=True):
            samples = measured["samples_us"]
            self.assertEqual(len(samples), 6)
            kept = samples[2:]
            mean = sum(kept) / len(kept)
            variation = 100 * (sum((one - mean) ** 2 for one in kept) / len(kept)) ** 0.5 / mean
            for field, expected in zip(fields, (min(kept), max(kept), max(kept), variation)):
                self.assertAlmostEqual(float(field), expected, delta=0.01 + expected / 1e4)
            self.assertAlmostEqual(measured["iteration_times"]["min_us"], min(kept), 6)

    def test_no_in_place_form(self):
        stdout, _ = self.run_gpus(*FEW, "-I", 1, "-K", 1, program=program_of("alltoall"))
        for row in self.fields(stdout, 21):
            self.assertEqual(row[13:], ["N/A"] * 8)
            self.assertNotIn("N/A", row[:13])

    def test_all_skipped(self):
        stdout, lines = self.run_gpus(*FEW, "-I", 1, "-K", 4)
        for row in self.fields(stdout, 21):
            self.assertEqual(row[9:13] + row[17:], ["N/A"] * 8)
            self.assertNotIn("N/A", row[5:9] + row[13:17])
        self.assertEqual({measured["iteration_times"] for measured in measurements(lines)}, {None})

    def test_several_gpus_and_aggregated(self):
        _, lines = self.run_gpus(*FEW, "-I", 1, "-g", 2, "-m", 2, "--samples")
        for measured in measurements(lines):
            self.assertEqual((len(measured["samples_us"]), len(measured["rank_times_us"])), (4, 4))


class Data(GpuTest):  # 7 ranks, 4 s

    def types(self, stdout):
        return [tuple(row[2:4]) for row in rows(stdout)]

    def test_every_datatype_and_reduction(self):
        """3 ranks: a third is no floating-point number, so an avg has to be rounded as NCCL rounds it."""
        every = [(datatype, reduction) for datatype in DATATYPES for reduction in REDUCTIONS]
        stdout, _ = self.run_gpus(*ONE, "-d", "all", "-o", "all", ranks=3)
        self.assertEqual(self.types(stdout), every)
        self.assertNotIn("Left out", stdout)

    def test_averages_of_many_ranks(self):
        self.run_gpus("-b", 65536, "-e", 65536, "-n", 2, "-d", "all", "-o", "avg", ranks=7)

    def test_every_datatype_moved(self):
        stdout, _ = self.run_gpus("-b", 960, "-e", 960, "-n", 2, "-d", "all", program=program_of("alltoall"), ranks=3)
        self.assertEqual(self.types(stdout), [(datatype, "none") for datatype in DATATYPES])

    def test_what_an_old_library_lacks(self):
        stdout, lines = self.run_gpus(*ONE, "-d", "all", **OLD_LIBRARY)
        self.assertEqual(self.types(stdout), [(datatype, "sum") for datatype in DATATYPES[:-2]])
        notice = "Left out: NCCL 2.18.6 does not have 8-bit floating-point types; NCCL 2.24.0 and newer do"
        self.assertIn(f"# {notice}\n", stdout)
        self.assertIn(notice, lines[0]["notices"])
