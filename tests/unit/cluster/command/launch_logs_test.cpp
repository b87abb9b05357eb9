#include "cluster/command/launch_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/core/error.h"

namespace fabricbench::cluster {
namespace {

constexpr std::time_t kWritten = 1'760'000'000;

const std::string kNcclTests =
    "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 5 iters: 20\n#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid   4001 on node01 device  0 [0000:1b:00] NVIDIA H100\n"
    "#  Rank  1 Group  0 Pid   4002 on node02 device  0 [0000:1b:00] NVIDIA H100\n#\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)\n"
    "        1024           256     float     sum      -1    12.50    0.08    0.08       0    13.50    0.08    0.08    "
    "   0\n"
    "        2048           512     float     sum      -1    14.50    0.14    0.28       0    15.50    0.13    0.26    "
    "   0\n"
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.175\n#\n";

std::string identity_value(const baseline::Launch& launch, std::string_view key) {
  for (const auto& [name, text] : launch.start.identity) {
    if (name == key) return text;
  }
  return "(none)";
}

std::vector<baseline::Launch> read_log(const std::string& text) { return launches_in_log(text, "run.log", kWritten); }

std::string refused_log(const std::string& text) {
  try {
    static_cast<void>(read_log(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kNotJudged);
    return error.what();
  }
  return "(read)";
}

std::string without(std::string text, const std::string& part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.erase(at, part.size());
}

TEST(NcclTestsLog, IsALaunch) {
  const auto launches = read_log(kNcclTests);
  ASSERT_EQ(launches.size(), 1U);
  const baseline::Launch& launch = launches[0];
  EXPECT_EQ(identity_value(launch, "program"), "nccl-tests all_reduce_perf");
  EXPECT_EQ(identity_value(launch, "library"), "NCCL 22807");
  EXPECT_EQ(identity_value(launch, "ranks"), "2");
  EXPECT_EQ(identity_value(launch, "hosts"), "node[01-02]");
  EXPECT_EQ(identity_value(launch, "gpus"), "2 x NVIDIA H100");
  EXPECT_EQ(launch.start.began, kWritten);
  ASSERT_EQ(launch.rows.size(), 4U);
  EXPECT_EQ(launch.start.rows, 4);
  EXPECT_EQ(launch.rows[2].key.size, 2048U);
  EXPECT_EQ(launch.rows[2].key.placement, "out_of_place");
  EXPECT_EQ(launch.rows[2].key.reduction, "sum");
  EXPECT_DOUBLE_EQ(launch.rows[2].time, 14.5e-6);
  EXPECT_DOUBLE_EQ(launch.rows[2].busbw, 0.28e9);
  EXPECT_EQ(launch.rows[3].key.placement, "in_place");
  EXPECT_DOUBLE_EQ(launch.rows[3].time, 15.5e-6);
}

TEST(NcclTestsLog, IsToldFromOthersByItsText) {
  const std::size_t known = read_log(kNcclTests)[0].text_hash;
  EXPECT_NE(known, 0U);
  EXPECT_EQ(launches_in_log(kNcclTests, "copy.log", kWritten + 60)[0].text_hash, known);
  EXPECT_EQ(read_log(kNcclTests + kNcclTests)[1].text_hash, known);
  EXPECT_NE(read_log(kNcclTests + "#\n")[0].text_hash, known);
}

TEST(NcclTestsLog, MayHaveSeveralRunsAndLabels) {
  EXPECT_EQ(read_log(kNcclTests + kNcclTests).size(), 2U);
  std::string labelled;
  for (std::size_t at = 0; at < kNcclTests.size();) {
    const std::size_t end = kNcclTests.find('\n', at) + 1;
    labelled += "[1,0]<stdout>:" + kNcclTests.substr(at, end - at);
    at = end;
  }
  EXPECT_EQ(read_log(labelled)[0].rows.size(), 4U);
}

TEST(OsuLog, WithAnUnknownLabelIsRefused) {
  EXPECT_EQ(refused_log("x# OSU MPI Bandwidth Test v7.4\nx# Size      Bandwidth (MB/s)\nx8   1.0\n"),
            "run.log:1: 'x' stands before lines, which is no known label; give the log of a run that ended well");
}

TEST(NcclTestsLog, ThatDidNotEndWellIsRefused) {
  const std::string end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.175\n#\n";
  EXPECT_NE(refused_log(without(kNcclTests, end) + "node02: Test NCCL failure common.cu:958 'unhandled system error'\n")
                .find("the run has no end: "),
            std::string::npos);
  EXPECT_NE(refused_log(without(kNcclTests, end) + kNcclTests).find("the run has no end"), std::string::npos);
  std::string wrong = kNcclTests;
  wrong.replace(wrong.find("0.08       0    13"), 12, "0.08       4");
  EXPECT_NE(refused_log(wrong).find("run.log:11: the data was wrong: 4 elements out of place"), std::string::npos)
      << refused_log(wrong);
  std::string failed = kNcclTests;
  failed.replace(failed.find("0 OK"), 4, "2 FAILED");
  EXPECT_NE(refused_log(failed).find("FAILED"), std::string::npos);
}

std::string replaced(std::string text, const std::string& part, const std::string& with) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), with);
}

TEST(NcclTestsLog, WithWrongDataAnywhereSaysSo) {
  const std::string words = ": the data was wrong: ";
  EXPECT_NE(
      refused_log(replaced(kNcclTests, "0.08       0\n", "0.08       4\n")).find(":11" + words + "4 elements in place"),
      std::string::npos);
  EXPECT_NE(refused_log(replaced(kNcclTests, "0.28       0", "0.28   1e+06"))
                .find(":12" + words + "1e+06 elements out of place"),
            std::string::npos);
  EXPECT_NE(
      refused_log(replaced(kNcclTests, "0.26       0\n", "0.26       1\n")).find(":12" + words + "1 elements in place"),
      std::string::npos);
  EXPECT_NE(refused_log(replaced(kNcclTests, "0 OK", "2 FAILED")).find(words + "'# Out of bounds values : 2 FAILED'"),
            std::string::npos);
}

TEST(NcclTestsLog, OfOldVersionsHasNoNumberOfWrongElements) {
  const auto launches = read_log(
      "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 1048576 step: 2(factor) warmup iters: 5 iters: 20 validation: 1 \n"
      "#\n# Using devices\n#   Rank  0 Pid   1320 on     node01 device  0 [0x07] Tesla V100-SXM2-16GB\n"
      "#   Rank  1 Pid   2066 on     node02 device  0 [0x07] Tesla V100-SXM2-16GB\n#\n"
      "#                                   out-of-place                       in-place          \n"
      "#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n"
      "#        (B)    (elements)             (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n"
      "     1048576        262144   float     52.8   19.86   19.86  2e-07     53.8   19.49   19.49  0e+00\n"
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 19.6 \n#\n");
  ASSERT_EQ(launches[0].rows.size(), 2U);
  EXPECT_EQ(launches[0].rows[0].key.datatype, "float");
  EXPECT_EQ(launches[0].rows[0].key.reduction, "");
  EXPECT_DOUBLE_EQ(launches[0].rows[0].time, 52.8e-6);
  EXPECT_EQ(launches[0].rows[1].key.placement, "in_place");
  EXPECT_DOUBLE_EQ(launches[0].rows[1].busbw, 19.49e9);
}

/// The run with titles and values behind each placement of the first row, the second left out.
std::string with_columns(const std::string& titles, const std::string& values, const std::string& last_title = "",
                         const std::string& last_value = "") {
  std::string text = kNcclTests;
  text.erase(text.find("        2048"), text.find("# Out of bounds") - text.find("        2048"));
  text = replaced(std::move(text), "#wrong     time", "#wrong" + titles + "     time");
  text = replaced(std::move(text), "#wrong\n", "#wrong" + titles + last_title + "\n");
  text = replaced(std::move(text), "0    13.50", "0" + values + "    13.50");
  return replaced(std::move(text), "0.08       0\n", "0.08     N/A" + values + last_value + "\n");
}

TEST(NcclTestsLog, FindsTimesBesideMoreColumns) {
  const std::string titles = "    i_min    i_max    i_p99    i_cv%";
  const std::string values = "    10.50    62.34    57.15     1.37";
  for (const std::string& text :
       {with_columns("", "", "           timestamp", "  2025-11-03 12:00:01"), with_columns(titles, values),
        with_columns(titles, values, " timestamp", "  2025-11-03 12:00:01")}) {
    const auto launches = read_log(text);
    ASSERT_EQ(launches[0].rows.size(), 2U);
    EXPECT_DOUBLE_EQ(launches[0].rows[0].time, 12.5e-6);
    EXPECT_DOUBLE_EQ(launches[0].rows[1].time, 13.5e-6);
    EXPECT_DOUBLE_EQ(launches[0].rows[1].busbw, 0.08e9);
  }
}

TEST(NcclTestsLog, ComparesOperationsAndNotTheHostsTime) {
  std::string text = with_columns("", "");
  for (int placement = 0; placement < 2; ++placement) text = replaced(std::move(text), "     time", "  cputime");
  EXPECT_NE(refused_log(text).find("cputime is the host's"), std::string::npos) << refused_log(text);
  text = replaced(std::move(text), "    0.08    0.08", "    1.28    2.50");
  const auto launches = read_log(text);
  ASSERT_EQ(launches[0].rows.size(), 1U);
  EXPECT_DOUBLE_EQ(launches[0].rows[0].time, 1024 / 1.28e9);
  EXPECT_DOUBLE_EQ(launches[0].rows[0].busbw, 2.5e9);
}

TEST(NcclTestsLog, OfTwoProgramsIsRefused) {
  EXPECT_NE(refused_log(replaced(kNcclTests, "Rank  1", "Rank  0"))
                .find("rank 0 appears twice: the program was built without MPI"),
            std::string::npos);
}

TEST(NcclTestsLog, OfARunThatFailedAtItsEndIsRefused) {
  EXPECT_NE(
      refused_log(kNcclTests + "srun: error: gpu01: task 3: Exited with exit code 3\n").find("Exited with exit code"),
      std::string::npos);
  EXPECT_NE(refused_log(kNcclTests + "gpu01: Test NCCL failure common.cu:958\n").find("NCCL failure"),
            std::string::npos);
  std::string slow = kNcclTests;
  slow.replace(slow.find("0.175"), 5, "0.175 FAILED");
  EXPECT_NE(refused_log(slow).find("FAILED"), std::string::npos);
}

TEST(NcclTestsLog, WithEachSizeTwiceHasTheMedian) {
  std::string cycles = kNcclTests;
  const std::string row =
      "        1024           256     float     sum      -1    14.50    0.07    0.07       0    13.50    "
      "0.08    0.08       0\n";
  cycles.insert(cycles.find("# Out of bounds"), row);
  const auto launches = read_log(cycles);
  ASSERT_EQ(launches[0].rows.size(), 4U);
  EXPECT_EQ(launches[0].start.rows, 4);
  EXPECT_DOUBLE_EQ(launches[0].rows[0].time, 13.5e-6);
  EXPECT_EQ(launches[0].rows[0].epochs.size(), 2U);
}

TEST(OsuLog, OfRatesIsALaunch) {
  const auto launches = read_log(
      "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n"
      "1     3.50\n4194304       12000.00\n");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(identity_value(launches[0], "program"), "OSU MPI Bandwidth Test v7.4");
  EXPECT_EQ(launches[0].rows[1].key.size, 4194304U);
  EXPECT_DOUBLE_EQ(launches[0].rows[1].time, 4194304 / 12e9);
  EXPECT_DOUBLE_EQ(launches[0].rows[1].busbw, 12e9);
}

TEST(OsuLog, OfTimesIsALaunch) {
  const auto launches = read_log(
      "# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_INT.\n# Size  Avg Latency(us)\n"
      "8     3.50\n16     3.75\n");
  EXPECT_DOUBLE_EQ(launches[0].rows[1].time, 3.75e-6);
  EXPECT_EQ(launches[0].rows[1].busbw, 0);
}

TEST(OsuLog, OfTwoProgramsHasALaunchOfEach) {
  const std::string rates = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n8     4.00\n";
  const std::string times = "# OSU MPI Latency Test v7.4\n# Size          Latency (us)\n8     3.50\n16    3.75\n";
  const auto launches = read_log(rates + "\n" + times);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(identity_value(launches[0], "program"), "OSU MPI Bandwidth Test v7.4");
  ASSERT_EQ(launches[0].rows.size(), 1U);
  EXPECT_DOUBLE_EQ(launches[0].rows[0].time, 2e-6);
  EXPECT_EQ(identity_value(launches[1], "program"), "OSU MPI Latency Test v7.4");
  ASSERT_EQ(launches[1].rows.size(), 2U);
  EXPECT_DOUBLE_EQ(launches[1].rows[0].time, 3.5e-6);
  EXPECT_NE(refused_log(rates + "# OSU MPI Latency Test v7.4\n").find("there is no row of results"), std::string::npos);
}

TEST(OsuLog, ThatDidNotEndWellIsRefused) {
  const std::string title = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n";
  EXPECT_NE(refused_log(title).find("there is no row of results"), std::string::npos);
  EXPECT_NE(refused_log(title + "1     3.50     Fail\n").find("run.log:3: the data was wrong"), std::string::npos);
  EXPECT_NE(refused_log("# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (GB/s)\n1 2\n").find("names neither"),
            std::string::npos);
}

TEST(PerftestLog, OfRatesIsALaunch) {
  const auto launches = read_log(
      "----\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n"
      " Number of qps   : 1\t\tTransport type : IB\n Mtu             : 4096[B]\n Link type       : IB\n----\n"
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
      " 65536      5000             392.10             391.20     0.746\n----\n");
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(identity_value(launches[0], "program"), "perftest RDMA_Write BW Test");
  EXPECT_EQ(identity_value(launches[0], "device"), "mlx5_0");
  EXPECT_EQ(identity_value(launches[0], "mtu"), "4096[B]");
  EXPECT_DOUBLE_EQ(launches[0].rows[0].busbw, 391.2e9 / 8);
}

TEST(PerftestLog, OfTwoProgramsHasALaunchOfEach) {
  const auto log = [](const std::string& title, const std::string& figure) {
    return fmt::format(
        "----\n                    {}\n Device         : mlx5_0\n----\n"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
        " 65536      5000             392.10             {}     0.746\n----\n",
        title, figure);
  };
  const auto launches = read_log(log("RDMA_Write BW Test", "391.20") + log("RDMA_Read BW Test", "80.00"));
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(identity_value(launches[1], "program"), "perftest RDMA_Read BW Test");
  EXPECT_EQ(identity_value(launches[1], "device"), "mlx5_0");
  ASSERT_EQ(launches[1].rows.size(), 1U);
  EXPECT_DOUBLE_EQ(launches[1].rows[0].busbw, 10e9);
}

TEST(PerftestLog, OfTimesTakesTheTypicalOne) {
  const auto launches = read_log(
      "                    RDMA_Write Latency Test\n Device : mlx5_0\n"
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
      " 2       1000          1.80           9.12         1.90                1.95\n----\n");
  EXPECT_DOUBLE_EQ(launches[0].rows[0].time, 1.9e-6);
}

TEST(LaunchLogs, ThatWereCutOffAreRefused) {
  const std::string osu = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1     3.50\n2     7.0";
  EXPECT_NE(refused_log(osu).find("run.log:4: the file ends within this line"), std::string::npos);
  const std::string perftest =
      "                    RDMA_Write Latency Test\n"
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
      " 2       1000          1.80           9.12         1.90                1.95\n";
  EXPECT_NE(refused_log(perftest).find("the run has no end"), std::string::npos);
  EXPECT_NE(refused_log("--------\n" + perftest + "-----").find("the run has no end"), std::string::npos);
}

TEST(LaunchLogs, AreOfThreeTools) {
  EXPECT_EQ(read_log("from,to,bandwidth (Gb/s)\n").size(), 0U);
  EXPECT_EQ(read_log("hello\n").size(), 0U);
}

}  // namespace
}  // namespace fabricbench::cluster
