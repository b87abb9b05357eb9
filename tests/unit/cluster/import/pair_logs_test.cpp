// Readers of logs of one pair: nccl-tests, OSU, perftest.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/core/error.h"
#include "import_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;
using namespace fabricbench::cluster::test;

namespace pair_logs_test {

using Texts = std::vector<std::string>;

const std::string kOpening =
    "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
    "# Collective test starting: sendrecv_perf\n"
    "# nThread 1 nGpus 1 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5 iters: 20\n"
    "#\n# Using devices\n";

std::string rank_line(int rank, const std::string& host, int device) {
  return fmt::format("#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [0000:{}b:00] NVIDIA H100 80GB HBM3\n", rank,
                     4000 + rank, host, device, rank + 1);
}

const std::string kTitles =
    "#\n#                                                    out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)\n";

const std::string kRows =
    "     1048576        262144     float     sum      -1   251.38   10.00   10.00       0   250.42   11.00   11.00    "
    " N/A\n"
    "     2097152        524288     float     sum      -1   498.66   13.45   12.25       0   498.91   14.45   14.45    "
    " N/A\n";

const std::string kClosing =
    "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 12.1\n#\n# Collective test concluded: sendrecv_perf\n";

std::string nccl_log(const std::string& rows = kRows) {
  return kOpening + rank_line(0, "n1", 0) + rank_line(1, "n2", 3) + kTitles + rows + kClosing;
}

Imported nccl(const std::string& text, const std::string& path = "x.log") {
  return read_as(ImportKind::kNcclTests, path, text);
}

TEST(NcclTests, AreBusbwOfTheLargestSizeOfBothDirections) {
  const Imported found = nccl(nccl_log());
  EXPECT_EQ(told(found), (Texts{"n1 gpu0 > n2 gpu3 sendrecv_perf 2097152 = 12.25 both"}));
  EXPECT_EQ(found.smaller_sizes, 1);
  EXPECT_EQ(noted(found), Texts{});
  EXPECT_EQ(told(nccl(with_carriage_returns(nccl_log()))), told(found));
}

TEST(NcclTests, KeepThePciAddressesOfTheGpus) {
  const Imported found = nccl(nccl_log());
  ASSERT_EQ(found.gpus.size(), 1U);
  EXPECT_EQ(found.gpus[0].reading, 0U);
  EXPECT_EQ(found.gpus[0].from, "0000:1b:00");
  EXPECT_EQ(found.gpus[0].to, "0000:2b:00");
  std::string of_processors = nccl_log();
  for (const std::string pci : {"[0000:1b:00]", "[0000:2b:00]"}) {
    of_processors.replace(of_processors.find(pci), pci.size(), "[host]");
  }
  EXPECT_EQ(nccl(of_processors).gpus.at(0).from, "");
}

TEST(NcclTests, TakeThePlaceThatWasMeasured) {
  EXPECT_EQ(told(nccl(nccl_log("  8  2  float  sum  -1  N/A  N/A  N/A  N/A  1.0  9.00  7.00  0\n"))),
            (Texts{"n1 gpu0 > n2 gpu3 sendrecv_perf 8 = 7 both"}));
}

TEST(NcclTests, MayHaveOtherColumns) {
  // Of hypercube, whose reduction is blank; and as launchers label lines.
  EXPECT_EQ(told(nccl(nccl_log("  8  2  float  -1  1.0  9.00  6.00  0  1.0  9.00  7.00  0\n"))),
            (Texts{"n1 gpu0 > n2 gpu3 sendrecv_perf 8 = 6 both"}));
  std::string labelled;
  std::string text = nccl_log();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    labelled += "[1,0]<stdout>:" + text.substr(at, end - at);
    at = end;
  }
  EXPECT_EQ(told(nccl(labelled)), told(nccl(text)));
}

/// Found by a fuzzer: titles that only contain that of the bandwidth.
TEST(NcclTests, HaveNoRowsWithoutATitleOfTheBandwidth) {
  const Imported found = nccl(kOpening + rank_line(0, "n1", 0) + rank_line(1, "n2", 3) + "#  size  count  busbwST\n" +
                              "  1048576  262144  3  4  5  6  7  8  9\n" + kClosing);
  EXPECT_EQ(told(found), Texts{});
  EXPECT_EQ(noted(found),
            (Texts{"0: the log ends without a result, after '# Collective test concluded: sendrecv_perf'"}));
}

TEST(NcclTests, NameRanksWhereHostsHaveSeveralGpus) {
  const std::string text = kOpening + rank_line(0, "n1", 0) + rank_line(1, "n1", 1) + rank_line(2, "n2", 0) +
                           rank_line(3, "n2", 1) + kTitles + kRows + kClosing;
  EXPECT_EQ(told(nccl(text)), (Texts{"n1 > n2 sendrecv_perf, 4 ranks 2097152 = 12.25 both"}));
}

TEST(NcclTests, HoldSeveralRuns) {
  std::string other = nccl_log();
  other.replace(other.find("sendrecv_perf"), 13, "alltoall_perf");
  EXPECT_EQ(told(nccl(nccl_log() + "\n" + other)), (Texts{"n1 gpu0 > n2 gpu3 sendrecv_perf 2097152 = 12.25 both",
                                                          "n1 gpu0 > n2 gpu3 alltoall_perf 2097152 = 12.25 both"}));
  // One that died early was repeated.
  EXPECT_EQ(
      told(nccl(kOpening + "n2: Test NCCL failure common.cu:958 'unhandled system error'\n" + nccl_log(), "n1_n2.log")),
      (Texts{"n1 gpu0 > n2 gpu3 sendrecv_perf 2097152 = 12.25 both"}));
  // Another one was not.
  EXPECT_EQ(told(nccl(kOpening + "n2: Test NCCL failure common.cu:958\n" + other, "n1_n2.log")),
            (Texts{"n1 gpu0 > n2 gpu3 alltoall_perf 2097152 = 12.25 both",
                   "n1 > n2 sendrecv_perf -1 = failed: n2: Test NCCL failure common.cu:958 both"}));
}

TEST(NcclTests, FailWithoutTheClosingLines) {
  const std::string begun = kOpening + rank_line(0, "n1", 0) + rank_line(1, "n2", 3) + kTitles;
  EXPECT_EQ(told(nccl(begun + "n2: Test timeout (60s) common.cu:100\n")),
            (Texts{"n1 gpu0 > n2 gpu3 sendrecv_perf -1 = failed: n2: Test timeout (60s) common.cu:100 both"}));
}

TEST(NcclTests, WithoutTheClosingLinesNorAFailureAreNotUnderstood) {
  const std::string begun = kOpening + rank_line(0, "n1", 0) + rank_line(1, "n2", 3) + kTitles;
  for (const std::string& text : {begun, begun + kRows}) {
    const Imported found = nccl(text, "n1_n2.log");
    EXPECT_EQ(told(found), Texts{});
    ASSERT_EQ(found.notes.size(), 1U);
    EXPECT_EQ(found.notes[0].text.substr(0, 38), "the log ends without a result, after '") << found.notes[0].text;
  }
}

TEST(NcclTests, HaveWrongDataWhereverTheyAreTold) {
  const std::string wrong = "n1 gpu0 > n2 gpu3 sendrecv_perf 2097152 = wrong: wrong data: ";
  EXPECT_EQ(told(nccl(nccl_log("  8  2  float  sum  -1  1.0  9.0  5.0  3  1.0  9.0  7.0  0\n" + kRows))),
            (Texts{wrong + "3 elements out of place at 8 B, line 12 both"}));
  EXPECT_EQ(told(nccl(nccl_log(kRows + "  8  2  float  sum  -1  1.0  9.0  5.0  0  1.0  9.0  7.0  4e+02\n"))),
            (Texts{wrong + "4e+02 elements in place at 8 B, line 14 both"}));
  std::string text = nccl_log();
  text.replace(text.find(": 0 OK"), 6, ": 1 FAILED");
  EXPECT_EQ(told(nccl(text)), (Texts{wrong + "'# Out of bounds values : 1 FAILED', line 14 both"}));
}

TEST(NcclTests, ThatFailedBeforeTheirFirstLineAreTold) {
  const std::string failure = "ssh: connect to host n3 port 22: No route to host\n";
  const Imported all_pairs = nccl(nccl_log() + failure + nccl_log(), "all.log");
  EXPECT_EQ(all_pairs.lost, 1);
  EXPECT_EQ(noted(all_pairs),
            (Texts{"19: a run before this line is not understood: ssh: connect to host n3 port 22: No "
                   "route to host"}));
  EXPECT_EQ(nccl(failure + nccl_log(), "n1_n2.log").lost, 0);  // it was repeated
}

TEST(NcclTests, OfAProgramWithoutMpiAreNoPair) {
  const std::string why =
      "0: ranks appear twice, on different hosts: the program was built without MPI, and its runs were apart";
  const std::string one = kOpening + rank_line(0, "n1", 0) + rank_line(1, "n1", 1);
  const std::string other = kOpening + rank_line(0, "n2", 0) + rank_line(1, "n2", 1);
  const std::string tables = kTitles + kRows + kTitles + kRows + kClosing + kClosing;
  EXPECT_EQ(noted(nccl(one + other + tables, "n1_n2.log")), Texts{why});
  EXPECT_EQ(noted(nccl(kOpening + kOpening + rank_line(0, "n1", 0) + rank_line(0, "n2", 0) + tables)), Texts{why});
  EXPECT_EQ(told(nccl(one + other + tables)), Texts{});
  // A run that was started again is one.
  EXPECT_EQ(told(nccl(kOpening + rank_line(0, "n1", 0) + rank_line(1, "n2", 3) + nccl_log())),
            (Texts{"n1 gpu0 > n2 gpu3 sendrecv_perf 2097152 = 12.25 both"}));
}

TEST(NcclTests, WithoutANameAreToldApartByTheirColumns) {
  std::string text = nccl_log() + nccl_log("  8  2  float  none  -1  1.0  9.00  4.50  0  1.0  9.00  4.50  0\n");
  for (std::size_t at; (at = text.find("# Collective test starting: sendrecv_perf\n")) != std::string::npos;) {
    text.erase(at, 42);
  }
  EXPECT_EQ(told(nccl(text)), (Texts{"n1 gpu0 > n2 gpu3 nccl-tests, sum, busbw = 1.0 algbw 2097152 = 12.25 both",
                                     "n1 gpu0 > n2 gpu3 nccl-tests, none, busbw = 0.5 algbw 8 = 4.5 both"}));
}

TEST(NcclTests, AreAPairByNameWhereNothingElseTells) {
  const Imported found = nccl("ssh: connect to host n2: No route to host\n", "n1_n2.log");
  EXPECT_EQ(told(found), (Texts{"n1 > n2  -1 = failed: ssh: connect to host n2: No route to host both"}));
  EXPECT_EQ(noted(nccl("hello\n", "notes.txt")).size(), 1U);
}

TEST(NcclTests, OfOtherNumbersOfHostsAreNoPair) {
  std::string text = nccl_log();
  text.replace(text.find(" n2 "), 4, " n1 ");
  EXPECT_EQ(noted(nccl(text)), (Texts{"0: it ran on 1 host, not on a pair of hosts"}));
  text = nccl_log();
  text.insert(text.find("#  Rank"), rank_line(2, "n3", 0));
  EXPECT_EQ(noted(nccl(text)), (Texts{"0: it ran on 3 hosts, not on a pair of hosts"}));
}

TEST(NcclTests, TellWhatIsBroken) {
  EXPECT_EQ(noted(nccl(nccl_log(kRows + "  4194304  1048576  float  sum\n"))),
            (Texts{"14: a row of the table is incomplete, and is left out"}));
  EXPECT_EQ(noted(nccl(nccl_log(kRows + "  8  2  float  sum  -1  N/A  N/A  N/A  N/A  N/A  N/A  N/A  N/A\n"))),
            (Texts{"14: a row of the table has no figure, and is left out"}));
  EXPECT_EQ(noted(nccl(kOpening + "#  Rank 0 on (none) device 0\n" + nccl_log())).front(),
            "6: '#  Rank 0 on (none) device 0' does not have a rank's host and device, and is left out");
}

const std::string kOsu =
    "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n"
    "1                       3.50\n1048576             12000.25\n4194304             12500.50\n";

Imported osu(const std::string& text, const std::string& path = "n1_n2.log") {
  return read_as(ImportKind::kOsu, path, text);
}

TEST(Osu, AreMillionsOfBytes) {
  const Imported found = osu(kOsu);
  EXPECT_EQ(told(found), (Texts{"n1 > n2 osu_bw 4194304 = 12.5005"}));
  EXPECT_EQ(found.smaller_sizes, 2);
  EXPECT_EQ(told(osu(with_carriage_returns(kOsu))), told(found));
  EXPECT_EQ(told(osu("# OSU MPI-CUDA Bi-Directional Bandwidth Test v5.9\n# Size  Bandwidth (MB/s)\n8   1000\n")),
            (Texts{"n1 > n2 osu_bibw 8 = 1 both"}));
}

TEST(Osu, FailWithoutARowOrWhereTheyBreakOff) {
  EXPECT_EQ(told(osu("mpirun was unable to reach n2\n")),
            (Texts{"n1 > n2  -1 = failed: mpirun was unable to reach n2"}));
  EXPECT_EQ(noted(osu("")), Texts{"0: the log is empty"});
  EXPECT_EQ(told(osu(kOsu + "[n2:1] *** An error occurred in MPI_Send\n")),
            (Texts{"n1 > n2 osu_bw 4194304 = failed: [n2:1] *** An error occurred in MPI_Send"}));
  for (const char* end : {"slurmstepd: error: *** STEP 1.0 CANCELLED ***\n", "rank 1 exited on signal 9 (Killed)\n"}) {
    EXPECT_EQ(told(osu(kOsu + end)), (Texts{"n1 > n2 osu_bw 4194304 = 12.5005"})) << end;
  }
  EXPECT_EQ(told(osu("# OSU MPI Bandwidth Test\n# Size Bandwidth (MB/s) Validation\n8 1000 Fail\n")),
            (Texts{"n1 > n2 osu_bw 8 = wrong: wrong data: the check says Fail at 8 B, line 3"}));
  EXPECT_EQ(told(osu("# OSU MPI Bandwidth Test\n# Size Bandwidth (MB/s)\n8 0.00\n")),
            (Texts{"n1 > n2 osu_bw 8 = failed: the figure is 0"}));
}

TEST(Osu, MayBeOneSidedOrSeveral) {
  const std::string rows = "# Size      Bandwidth (MB/s)\n8   1000.00\n";
  EXPECT_EQ(told(osu("# OSU MPI_Get Bandwidth Test v5.6\n# Window creation: MPI_Win_allocate\n" + rows)),
            (Texts{"n2 > n1 osu_get_bw 8 = 1"}));
  EXPECT_EQ(told(osu("# OSU MPI_Put Bi-directional Bandwidth Test v5.6\n" + rows)),
            (Texts{"n1 > n2 osu_put_bibw 8 = 1 both"}));
  EXPECT_EQ(told(osu(kOsu + "\n# OSU MPI Bi-Directional Bandwidth Test v7.4\n" + rows)),
            (Texts{"n1 > n2 osu_bw 4194304 = 12.5005", "n1 > n2 osu_bibw 8 = 1 both"}));
  const Imported found = osu(kOsu + "\n# OSU MPI Latency Test v7.4\n# Size Avg Latency(us)\n8  1.50\n");
  EXPECT_EQ(told(found), (Texts{"n1 > n2 osu_bw 4194304 = 12.5005"}));
  EXPECT_EQ(noted(found), (Texts{"8: '# OSU MPI Latency Test v7.4' is neither osu_bw nor osu_bibw"}));
}

TEST(Osu, CutInTheLastRowHaveNoResult) {
  for (const std::string& text : {kOsu.substr(0, kOsu.size() - 1), kOsu.substr(0, kOsu.size() - 6)}) {
    EXPECT_EQ(told(osu(text)), Texts{}) << text;
    EXPECT_EQ(noted(osu(text)), (Texts{"6: the file ends within this line"})) << text;
  }
}

TEST(Osu, RefuseWhatIsNotClear) {
  EXPECT_EQ(noted(osu(kOsu, "log.txt")),
            (Texts{"0: its name does not contain the pair; name it HOSTA_HOSTB.log or HOSTA-to-HOSTB.log"}));
  EXPECT_EQ(noted(osu("# OSU MPI Latency Test v7.4\n# Size  Latency (us)\n8  1.5\n")),
            (Texts{"1: '# OSU MPI Latency Test v7.4' is neither osu_bw nor osu_bibw"}));
  EXPECT_EQ(told(osu("# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# Size MB/s Messages/s\n8 1000 1\n")),
            Texts{});
  EXPECT_THROW(static_cast<void>(osu("# OSU MPI Bandwidth Test\n# Size Bandwidth (GB/s)\n8 1\n")), UsageError);
}

std::string perftest_log(const std::string& title, const std::string& unit, const std::string& rows) {
  return fmt::format(
      "----------------------------------------\n                    {}\n Dual-port       : OFF\t\tDevice         : "
      "mlx5_0\n"
      "----------------------------------------\n #bytes     #iterations    BW peak[{}]    BW average[{}]   "
      "MsgRate[Mpps]\n"
      "{}----------------------------------------\n",
      title, unit, unit, rows);
}

Imported perftest(const std::string& text, const std::string& path = "n1_n2.log") {
  return read_as(ImportKind::kPerftest, path, text);
}

TEST(Perftest, HasMebibytesOrGigabits) {
  const std::string row = " 65536      5000             100.50             100.00\t\t   0.19\n";
  EXPECT_EQ(told(perftest(perftest_log("RDMA_Write BW Test", "Gb/sec", row))),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 12.5"}));
  for (const char* unit : {"MB/sec", "MiB/sec"}) {
    EXPECT_EQ(told(perftest(perftest_log("Send BW Test", unit, row))),
              (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_send_bw 65536 = 0.104858"}));
  }
  EXPECT_THROW(static_cast<void>(perftest(perftest_log("Send BW Test", "GB/sec", row))), UsageError);
}

TEST(Perftest, KnowsDirections) {
  const std::string rows = " 2  10  1.0  1.0  1\n 65536  5000  100.50  80.00  0.19\n";
  EXPECT_EQ(told(perftest(perftest_log("RDMA_Write Bidirectional BW Test", "Gb/sec", rows))),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 10 both"}));
  EXPECT_EQ(told(perftest(perftest_log("RDMA_Read BW Test", "Gb/sec", rows))),
            (Texts{"n2 mlx5_0 > n1 mlx5_0 ib_read_bw 65536 = 10"}));
  EXPECT_EQ(perftest(perftest_log("RDMA_Read BW Test", "Gb/sec", rows)).smaller_sizes, 1);
}

TEST(Perftest, IsTheAverageOfBothEndsTogether) {
  const std::string row = " 8388608    1000             317.92             160.00\t\t   0.004733\n";
  const std::string ends =
      "\n Local results: \n-----\n #bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
      " 8388608 1000 158.96 80.00 0.002366\n-----\n";
  EXPECT_EQ(told(perftest(perftest_log("RDMA_Write Bidirectional BW Test", "Gb/sec", row) + ends)),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 8388608 = 20 both"}));
  std::string per_port = perftest_log("RDMA_Write BW Test", "Gb/sec", " 65536 1000 80.00 0.1\n");
  per_port.replace(per_port.find("BW peak[Gb/sec]"), 15, "");
  EXPECT_EQ(told(perftest(per_port)), (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 10"}));
}

TEST(Perftest, MayBeSeveralAndEndsWithItsTable) {
  const std::string row = " 65536  5000  1  8.00  0.19\n";
  EXPECT_EQ(told(perftest(perftest_log("RDMA_Write BW Test", "Gb/sec", row) +
                          perftest_log("RDMA_Read BW Test", "Gb/sec", row))),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 1", "n2 mlx5_0 > n1 mlx5_0 ib_read_bw 65536 = 1"}));
  EXPECT_EQ(told(perftest(perftest_log("RDMA_Write BW Test", "Gb/sec", row) + "Terminated\nKilled\n")),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 1"}));
  EXPECT_EQ(told(perftest("Couldn't connect to n2:18515\n" + perftest_log("RDMA_Write BW Test", "Gb/sec", row))),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 1"}));
  const std::string whole = perftest_log("RDMA_Write BW Test", "Gb/sec", row);
  const Imported cut = perftest(whole.substr(0, whole.find("8.00") + 1));
  EXPECT_EQ(told(cut), Texts{});
  EXPECT_EQ(noted(cut), (Texts{"6: the file ends within this line"}));
}

TEST(Perftest, MayHaveWrongData) {
  const std::string row = " 65536  5000  1  8.00  0.19\n";
  EXPECT_EQ(told(perftest(perftest_log("RDMA_Write BW Test", "Gb/sec", row) +
                          " VALIDATION: FAILED (receiver) - 12 error(s)\n")),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = wrong: wrong data: VALIDATION: FAILED (receiver) - 12 "
                   "error(s), line 8"}));
}

TEST(Perftest, FailsWithItsReason) {
  EXPECT_EQ(told(perftest("Couldn't connect to n2:18515\n Unable to init the socket connection\n")),
            (Texts{"n1 > n2  -1 = failed: Couldn't connect to n2:18515"}));
  const std::string row = " 65536  5000  1  8.00  0.19\n";
  EXPECT_EQ(
      told(perftest(perftest_log("RDMA_Write BW Test", "Gb/sec", row) + "ethernet_read_data: Couldn't read reports\n")),
      (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = 1"}));
  std::string broken = perftest_log("RDMA_Write BW Test", "Gb/sec", row);
  broken.erase(broken.find(row) + row.size());
  EXPECT_EQ(told(perftest(broken + " Completion with error at client\n")),
            (Texts{"n1 mlx5_0 > n2 mlx5_0 ib_write_bw 65536 = failed: Completion with error at client"}));
  EXPECT_EQ(noted(perftest(perftest_log("RDMA_Write Latency Test", "Gb/sec", row))).size(), 1U);
  EXPECT_EQ(noted(perftest(perftest_log("RDMA_Write BW Test", "Gb/sec", row + " 131072  5000\n"))),
            (Texts{"7: a row of the table has no figure, and is left out"}));
}

TEST(PairLogs, MayBeCutOffAnywhere) {
  const std::string perftest_text = perftest_log("RDMA_Write BW Test", "Gb/sec", " 65536  5000  1  8.00  0.19\n");
  for (const auto& [kind, text] : std::vector<std::pair<ImportKind, std::string>>{
           {ImportKind::kNcclTests, nccl_log()}, {ImportKind::kOsu, kOsu}, {ImportKind::kPerftest, perftest_text}}) {
    for (const std::string& part : cut_off(text)) {
      const Imported found = read_as(kind, "n1_n2.log", part);
      EXPECT_GT(found.readings.size() + found.notes.size(), 0U) << part;
      if (!found.readings.empty()) {
        EXPECT_EQ(found.hosts.names(), (Texts{"n1", "n2"})) << part;
      }
    }
  }
}

}  // namespace pair_logs_test
