// The reader of the Intel MPI Benchmarks.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "import_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;
using namespace fabricbench::cluster::test;

namespace imb_test {

using Texts = std::vector<std::string>;

std::string table(const std::string& test, const std::string& titles, const std::string& rows,
                  const std::string& processes = "2") {
  const std::string line = "#---------------------------------------------------\n";
  return fmt::format("\n{0}# Benchmarking {1} \n# #processes = {2} \n{0}       {3}\n{4}", line, test, processes, titles,
                     rows);
}

const std::string kOpening =
    "#----------------------------------------------------------------\n"
    "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n"
    "#----------------------------------------------------------------\n\n"
    "# Calling sequence was: \n\n# IMB-MPI1 PingPong\n\n# List of Benchmarks to run:\n\n# PingPong\n";
const std::string kClosing = "\n\n# All processes entering MPI_Finalize\n\n";
const std::string kTime = "#bytes #repetitions      t[usec]   Mbytes/sec";
const std::string kRange = "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec";
const std::string kMessages = "#bytes #repetitions   Mbytes/sec      Msg/sec";

Imported imb(const std::string& text) { return read_as(ImportKind::kImb, "n1_n2.log", text); }

TEST(Imb, TellsBandwidthsByTheirTime) {
  const std::string rows =
      "            0         1000         1.66         0.00\n"
      "      1048576           40       100.00     10000.00\n"
      "      4194304           10       419.43     10000.01\n";
  const Imported found = imb(kOpening + table("PingPong", kTime, rows) + kClosing);
  EXPECT_EQ(told(found), (Texts{"n1 > n2 IMB PingPong 4194304 = 10 both"}));
  EXPECT_EQ(found.smaller_sizes, 1);
  EXPECT_EQ(told(imb(with_carriage_returns(kOpening + table("PingPong", kTime, rows) + kClosing))), told(found));
}

TEST(Imb, TellsEachTest) {
  EXPECT_EQ(told(imb(kOpening + table("PingPing", kTime, "1000000 10  100.00  10000.00\n") +
                     table("Sendrecv", kRange, "1000000 10  90.00 100.00 95.00  20000.00\n") +
                     table("Exchange", kRange, "1000000 10  90.00 100.00 95.00  40000.00\n") +
                     table("Uniband", kMessages, "1000000 10  10000.00  10000\n") +
                     table("Biband", kMessages, "1000000 10  20000.00  20000\n") + kClosing)),
            (Texts{"n1 > n2 IMB PingPing 1000000 = 10 both", "n1 > n2 IMB Sendrecv 1000000 = 20 both",
                   "n1 > n2 IMB Exchange 1000000 = 40 both", "n1 > n2 IMB Uniband 1000000 = 10",
                   "n1 > n2 IMB Biband 1000000 = 20 both"}));
}

TEST(Imb, LeavesOutWhatIsNoPair) {
  const Imported found =
      imb(kOpening + table("PingPong", kTime, "1000000 10  100.00  10000.00\n") +
          table("Sendrecv", kRange, "1000000 10  90.00 100.00 95.00  20000.00\n", "4") +
          table("Multi-PingPong", kTime, "1000000 10  100.00  10000.00\n") +
          table("Allreduce", "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]", "1000000 10 1 2 3\n") +
          kClosing);
  EXPECT_EQ(told(found), (Texts{"n1 > n2 IMB PingPong 1000000 = 10 both"}));
  EXPECT_EQ(noted(found), (Texts{"0: these are no bandwidths of two processes alone, and are left out: Sendrecv of 4 "
                                 "processes, Multi-PingPong, Allreduce"}));
  // Where others wait, the first two may be on one host.
  std::string waiting = table("PingPong", kTime, "1000000 10  100.00  10000.00\n");
  waiting.insert(waiting.find("2 \n") + 3, "# ( 62 additional processes waiting in MPI_Barrier)\n");
  EXPECT_EQ(told(imb(kOpening + waiting + kClosing)), Texts{});
  EXPECT_EQ(noted(imb(kOpening + waiting + kClosing)).size(), 1U);
}

TEST(Imb, TellsOfWrongData) {
  const std::vector<std::string> all =
      told(imb(kOpening + table("PingPong", kTime + "      defects", "1000 10  100.00  10.00  0.25\n") + kClosing));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].find("n1 > n2 IMB PingPong 1000 = "), 0U) << all[0];
  EXPECT_NE(all[0].find("wrong data: defects"), std::string::npos) << all[0];
}

TEST(Imb, FailsWithWordsOnly) {
  EXPECT_EQ(told(imb(kOpening + "n2: Segmentation fault\n")), (Texts{"n1 > n2  -1 = failed: n2: Segmentation fault"}));
  const Imported cut = imb(kOpening + table("PingPong", kTime, "1000000 10  100.0"));
  EXPECT_EQ(told(cut), Texts{});
  EXPECT_EQ(noted(cut).size(), 1U);
  const Imported timed_out =
      imb(kOpening + table("PingPong", kTime, "1000000 10  100.00  10000.00\n  4194304 time-out.; Time limit\n"));
  EXPECT_EQ(told(timed_out), (Texts{"n1 > n2 IMB PingPong 1000000 = 10 both"}));
  EXPECT_EQ(noted(timed_out), (Texts{"19: a row of the table has no figure, and is left out"}));
}

}  // namespace imb_test
