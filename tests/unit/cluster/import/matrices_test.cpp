// Readers of results of all pairs: mpiGraph, hp2p, ClusterKit, CSV.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/core/error.h"
#include "import_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;
using namespace fabricbench::cluster::test;

namespace matrices_test {

using Texts = std::vector<std::string>;

const std::string kMpiGraph =
    "START mpiGraph v1.5\nMsgSize\t16384\nTimes\t100\nWindow\t50\nProcs\t3\n\n1 of 3 (33.3%)\nGathering results\n"
    "\nSend max\t3000.000000\nSend avg\t2000.000000\n\nSend\ta:0\tb:1\tc:2\t\n"
    "a:0 to\t0.000\t1.000\t2.000\t\nb:1 to\t3.000\t0.000\t4.000\t\nc:2 to\t5.000\t6.000\t0.000\t\n"
    "\nRecv max\t3000.000000\nRecv avg\t2000.000000\n\nRecv\ta:0\tb:1\tc:2\t\n"
    "a:0 from\t0.000\t1000.000\t2000.000\t\nb:1 from\t3000.000\t0.000\t4000.000\t\nc:2 "
    "from\t5000.000\t6000.000\t0.000\t\n"
    "END mpiGraph\n";

Imported mpigraph(const std::string& text) { return read_as(ImportKind::kMpiGraph, "x", text); }

TEST(MpiGraph, HasMebibytesThatArrived) {
  const Imported found = mpigraph(kMpiGraph);
  EXPECT_EQ(told(found), (Texts{"b > a mpiGraph 16384 = 1.04858", "c > a mpiGraph 16384 = 2.09715",
                                "a > b mpiGraph 16384 = 3.14573", "c > b mpiGraph 16384 = 4.1943",
                                "a > c mpiGraph 16384 = 5.24288", "b > c mpiGraph 16384 = 6.29146"}));
  EXPECT_EQ(noted(found), Texts{});
  EXPECT_EQ(told(mpigraph(with_carriage_returns(kMpiGraph))), told(found));
  // In step D all send to the one D further.
  EXPECT_TRUE(found.rounds_are_known);
  std::vector<int> rounds;
  for (const Reading& reading : found.readings) rounds.push_back(reading.round);
  EXPECT_EQ(rounds, (std::vector<int>{1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(found.readings[0].concurrent, 3);
}

TEST(MpiGraph, HasWhatWasSentWhereNobodyToldMore) {
  const Imported found = mpigraph(kMpiGraph.substr(0, kMpiGraph.find("\nb:1 from")));
  EXPECT_EQ(told(found), (Texts{"b > a mpiGraph 16384 = 1.04858", "c > a mpiGraph 16384 = 2.09715",
                                "a > b mpiGraph 16384 = 0.00104858", "a > c mpiGraph 16384 = 0.00209715",
                                "b > c mpiGraph 16384 = 0.0041943", "c > b mpiGraph 16384 = 0.00629146"}));
  EXPECT_EQ(noted(found), (Texts{"0: the line END mpiGraph is missing: the run was aborted, or the file is cut off"}));
}

TEST(MpiGraph, NamesRanksOfOneHost) {
  EXPECT_EQ(told(mpigraph("START mpiGraph\nRecv\ta:0\ta:1\tb:2\t\nb:2 from\t1000\t2000\t0\t\nEND mpiGraph\n")),
            (Texts{"a rank0 > b rank0 mpiGraph -1 = 1.04858", "a rank1 > b rank0 mpiGraph -1 = 2.09715"}));
}

TEST(MpiGraph, MayNameHostsWithoutRanks) {
  std::string text = kMpiGraph;
  for (const char* rank : {":0", ":1", ":2"}) {
    for (std::size_t at = text.find(rank); at != std::string::npos; at = text.find(rank)) text.erase(at, 2);
  }
  EXPECT_EQ(told(mpigraph(text)), told(mpigraph(kMpiGraph)));
  EXPECT_EQ(noted(mpigraph(text)), Texts{});
  EXPECT_EQ(told(mpigraph("Recv\ta\ta\tb\t\na from\t0\t0\t1\t\na from\t0\t0\t1000\t\nb from\t0\t2000\t0\t\n")).back(),
            "a rank1 > b rank0 mpiGraph -1 = 2.09715");
  EXPECT_EQ(noted(mpigraph("Recv\ta\tb\t\nc from\t0\t1\t\nEND mpiGraph\n")),
            (Texts{"2: 'c' is not a rank of the table; the row is left out"}));
  EXPECT_EQ(told(mpigraph("START mpiGraph\nRecv buffer full\nSend nothing\n" + kMpiGraph)), told(mpigraph(kMpiGraph)));
}

TEST(MpiGraph, TellsWhatIsBroken) {
  EXPECT_EQ(noted(mpigraph("Send\ta:0\tb:1\t\na:0 to\t0\t\nb:7 to\t1\t0\t\nb:1 to\tx\t0\t\nEND mpiGraph\n")),
            (Texts{"3: 'b:7' is not a rank of the table; the row is left out", "2: the row has 1 figures for 2 ranks",
                   "4: 'x' is not a figure, and is left out"}));
  EXPECT_EQ(noted(mpigraph("Send\ta:0\tb c:1\t\n")),
            (Texts{"1: 'b c:1' is not a host and a rank; the table is left out"}));
  EXPECT_EQ(told(mpigraph("Send\ta:0\tb:1\t\na:0 to\t0\t0.000\t\n")),
            (Texts{"a > b mpiGraph -1 = failed: the figure is 0"}));
}

TEST(MpiGraph, LeavesOutATableOfOtherHosts) {
  const Imported found =
      mpigraph("Send\ta:0\tb:1\tc:2\t\nc:2 to\t1\t2\t0\t\nRecv\ta:0\tb:1\t\nb:1 from\t1000\t0\t\nEND mpiGraph\n");
  EXPECT_EQ(told(found), (Texts{"a > b mpiGraph -1 = 1.04858"}));
  EXPECT_EQ(noted(found), (Texts{"1: the table has other hosts than that of line 3, and is left out"}));
}

/// A fork of it pads titles with blanks, and has 10^6 bytes in a MB.
TEST(MpiGraph, IsReadAsItsForkPrintsIt) {
  const Imported found = mpigraph(
      "START mpiGraph v1.6\nMsg Size: 4194304 Bytes\nIterations: 129\nProcs: 2\n\n[    1] of 2 (50.0%)\n\n"
      "Send max: 3000.000 MB/s\nSend avg: 2000.000 MB/s\n\nSend               \ta:0    \tb:1    \t\n"
      "a:0       to\t0.000          \t1000.000       \t\nb:1       to\t2000.000       \t0.000          \t\n\n"
      "Recv max: 1 MB/s\n\nRecv               \ta:0    \tb:1    \t\n"
      "a:0     from\t0.000          \t2000.000       \t\nb:1     from\t1000.000       \t0.000          \t\n\n"
      "END mpiGraph\n");
  EXPECT_EQ(told(found), (Texts{"b > a mpiGraph 4194304 = 2", "a > b mpiGraph 4194304 = 1"}));
  EXPECT_EQ(noted(found), Texts{});
}

TEST(MpiGraph, MayHaveBlanksForTabs) {
  std::string text = kMpiGraph;
  for (std::size_t at = text.find('\t'); at != std::string::npos; at = text.find('\t', at)) text.replace(at, 1, "   ");
  EXPECT_EQ(told(mpigraph(text)), told(mpigraph(kMpiGraph)));
  EXPECT_EQ(noted(mpigraph(text)), Texts{});
}

const std::string kHp2p =
    "<!DOCTYPE html>\n<html>\n<script type=\"text/javascript\">\n// hostlist start\nvar hostlist = \n[    \"a\",     "
    "\"b\",     "
    "\"c\",     ]\n;\nvar msg_size = \n    1048576\n    ;\nvar bandwidth = \n[    [ 0.00, 1000.00, 0.00, ],     [ "
    "3000.00, "
    "0.00, 500.00, ],     [ 0.00, 0.00, 0.00, ],     ]\n;\n// bandwidth end\n</script>\n";

Imported hp2p(const std::string& text) { return read_as(ImportKind::kHp2p, "x.html", text); }

TEST(Hp2p, HasTheMeanOfWhatBothPartnersSaw) {
  const Imported found = hp2p(kHp2p);
  EXPECT_EQ(told(found), (Texts{"a > b hp2p 1048576 = 2.09715 both", "b > c hp2p 1048576 = 0.524288 both"}));
  EXPECT_EQ(found.hosts.names(), (Texts{"a", "b", "c"}));
  EXPECT_EQ(told(hp2p(with_carriage_returns(kHp2p))), told(found));
}

TEST(Hp2p, TellsWhatIsBroken) {
  EXPECT_EQ(noted(hp2p("0.0\t1.0\n")),
            (Texts{"0: it lacks the lists hostlist and bandwidth of hp2p's HTML page, or is cut off"}));
  std::string text = kHp2p;
  text.replace(text.find("500.00"), 6, "oops");
  EXPECT_EQ(noted(hp2p(text)), (Texts{"12: the matrix of bandwidths does not have 3 by 3 figures"}));
  text = kHp2p;
  text.replace(text.find("\"a\""), 3, "\"<b>\"");
  EXPECT_EQ(noted(hp2p(text)), (Texts{"6: '<b>' is not a host"}));
}

Imported clusterkit(const std::string& text, double unit = 0) {
  return read_as(ImportKind::kClusterKit, "x", text, unit);
}

const std::string kTable =
    "Rank:        0        1        2\n   0 (a ):      0.0  12000.0  12500.0\n   1 (b ):  12000.0      0.0   6000.0\n"
    "   2 (c ):  12500.0   6000.0      0.0\nMinimum: 6000.0\n";

TEST(ClusterKit, HasATableOfBothDirectionsOrOfEach) {
  EXPECT_EQ(told(clusterkit(kTable)), (Texts{"a > b clusterkit -1 = 12 both", "a > c clusterkit -1 = 12.5 both",
                                             "b > c clusterkit -1 = 6 both"}));
  EXPECT_EQ(told(clusterkit(kTable, 2e6))[0], "a > b clusterkit -1 = 24 both");
  EXPECT_EQ(told(clusterkit("Rank: 0 1\n 0 (a): 0.0 1000.0\n 1 (b): 2000.0 0.0\n")),
            (Texts{"a > b clusterkit -1 = 1", "b > a clusterkit -1 = 2"}));
  EXPECT_EQ(noted(clusterkit("Rank: 0 1\n 0 (a): 0.0 1000.0\n 1 (b): 2000.0\n")),
            (Texts{"3: the row does not have 2 figures; the table is left out"}));
  // Wide columns run into each other.
  EXPECT_EQ(told(clusterkit("Rank: 0 1\n 0 (a): 0.0112000.0\n 1 (b): 112000.00.0\n")),
            (Texts{"a > b clusterkit -1 = 112 both"}));
  EXPECT_EQ(noted(clusterkit("Rank: 0 1\n 0 (a b): 0.0 1000.0\n")), (Texts{"2: 'a b' is not a host"}));
}

TEST(ClusterKit, IsReadAsJsonWhereThatIsClear) {
  const std::string json =
      R"({"hosts":["a","b"],"bandwidth":{"unit":"MB/s","matrix":[[0,1000],[2000,null]]},"latency":{"matrix":[[0,1],[1,0]]}})";
  EXPECT_EQ(told(clusterkit(json)), (Texts{"a > b clusterkit -1 = 1", "b > a clusterkit -1 = 2"}));
  const std::string without_unit = R"({"nodes":["a","b"],"bw":[[0,8],[8,0]]})";
  EXPECT_EQ(told(clusterkit(without_unit, 1e9)), (Texts{"a > b clusterkit -1 = 8 both"}));
  EXPECT_THROW(static_cast<void>(clusterkit(without_unit)), UsageError);
  for (const char* text : {R"({"nodes":["a","b"],"bw":[[0,8],[8,0]],"other":[[0,8],[8,0]]})", R"({"bw":[[0,8],[8,0]]})",
                           R"({"nodes":["a","b"],"bw":[[0,8]]})", R"({"nodes":["a","b"],"bw":[[0,"x"],[8,0]]})"}) {
    EXPECT_EQ(told(clusterkit(text, 1e9)), Texts{}) << text;
    EXPECT_EQ(noted(clusterkit(text, 1e9)).size(), 1U) << text;
  }
  EXPECT_EQ(noted(clusterkit(R"({"nodes":[)", 1e9)), (Texts{"0: the JSON is broken or cut off"}));
}

Imported csv(const std::string& text, double unit = 0) { return read_as(ImportKind::kCsv, "x.csv", text, unit); }

TEST(Csv, TakesTheUnitFromTheTitle) {
  for (const auto& [title, told_rate] : std::vector<std::pair<std::string, std::string>>{{"GB/s", "8"},
                                                                                         {"Gb/s", "1"},
                                                                                         {"bandwidth (Gbit/s)", "1"},
                                                                                         {"rate[MiB/s]", "0.00838861"},
                                                                                         {"Gbps", "1"},
                                                                                         {"gbps", "1"},
                                                                                         {"bandwidth_gb_per_s", "8"}}) {
    EXPECT_EQ(told(csv("from,to," + title + "\na,b,8\n")), (Texts{"a > b csv -1 = " + told_rate})) << title;
  }
  EXPECT_EQ(told(csv("from,to,value\na,b,8\n", 1e9)), (Texts{"a > b csv -1 = 8"}));
  for (const char* title : {"value", "bandwidth", "rate (fast)"}) {
    EXPECT_THROW(static_cast<void>(csv(std::string("from,to,") + title + "\na,b,8\n")), UsageError) << title;
  }
}

TEST(Csv, HasColumnsInAnyOrderAndMoreOfThem) {
  EXPECT_EQ(told(csv("# made by hand\n\nGB/s;dst;src;test;size;rail;both_ways\n\"1.5\";b;a;my test;4096;mlx5_0;yes\n")),
            (Texts{"a mlx5_0 > b mlx5_0 my test 4096 = 1.5 both"}));
  const Imported found = csv("from\tto\tGB/s\tround\na\tb\t1\t3\na\tb\t2\t4\n");
  EXPECT_TRUE(found.rounds_are_known);
  EXPECT_EQ(found.readings.at(1).round, 4);
  EXPECT_EQ(told(csv(with_carriage_returns("from,to,GB/s\na,b,1\n"))), (Texts{"a > b csv -1 = 1"}));
}

TEST(Csv, HasFailedPairs) {
  EXPECT_EQ(told(csv("from,to,GB/s,reason\na,b,,\"timed out, twice\"\na,c,timeout,\na,d,0,x\n")),
            (Texts{"a > b csv -1 = failed: timed out, twice", "a > c csv -1 = failed: timeout",
                   "a > d csv -1 = failed: the figure is 0"}));
  // What only is not there may not have been measured.
  const Imported found = csv("from,to,GB/s\na,b,\na,c,-\na,d,nan\n");
  EXPECT_EQ(told(found), Texts{});
  EXPECT_EQ(found.notes.size(), 3U);
}

TEST(Csv, TellsWhatIsBroken) {
  const Imported found =
      csv("from,to,GB/s,round\na,b,1\na b,c,1,0\na,b,fast,0\na,b,1e20,0\na,b,1,x\na,b,1,-1\na,b,2,0\n");
  EXPECT_EQ(
      noted(found),
      (Texts{"2: the line has 3 fields instead of 4, and is left out", "3: 'a b' is not a host; the line is left out",
             "4: 'fast' is not a figure; the line is left out", "5: 1e+20 GB/s is not a link's bandwidth",
             "6: 'x' is not a round; the line is left out", "7: '-1' is not a round; the line is left out"}));
  EXPECT_EQ(told(found), (Texts{"a > b csv -1 = 2"}));
  EXPECT_EQ(noted(csv("host,GB/s\na,1\n")),
            (Texts{"1: 'host,GB/s' does not name columns from, to and a figure, such as from,to,GB/s"}));
}

TEST(Csv, HasNamesThatCanBePrinted) {
  EXPECT_EQ(told(csv("from,to,GB/s,test,rail\na,b,1,\xff\x1b[1m,\xfe\n")), (Texts{"a ? > b ? ? -1 = 1"}));
}

TEST(Csv, HasNoThousandsOfTests) {
  std::string text = "from,to,GB/s,size\n";
  for (int size = 0; size < 10'001; ++size) text += fmt::format("a,b,1,{}\n", size);
  EXPECT_THROW(static_cast<void>(csv(text)), Error);
}

Imported matrix(const std::string& text, double unit = 0) { return read_as(ImportKind::kCsv, "m.csv", text, unit); }

TEST(CsvMatrix, HasSendersInItsRows) {
  const Texts expected = {"a > b csv -1 = 1", "a > c csv -1 = 2", "b > a csv -1 = 3",
                          "b > c csv -1 = 4", "c > a csv -1 = 5", "c > b csv -1 = 6"};
  const std::string rows = "a,-,1,2\nb,3,-,4\nc,5,6,-\n";
  const Imported found = matrix(",a,b,c\n" + rows, 1e9);
  EXPECT_EQ(told(found), expected);
  EXPECT_EQ(noted(found), (Texts{"1: its rows are taken for senders; write from or to into the first field to say what "
                                 "they are"}));
  for (const std::string corner : {"from (GB/s)", "from\\to (GB/s)", "Sender (GB/s)", "src/dst[GB/s]"}) {
    EXPECT_EQ(told(matrix(corner + ",a,b,c\n" + rows)), expected) << corner;
    EXPECT_EQ(noted(matrix(corner + ",a,b,c\n" + rows)), Texts{}) << corner;
  }
  EXPECT_EQ(told(matrix("GB/s;c;a;b;\n\nb;4;3;;\na;2;;1;\nc;x;5;6;\n")).size(), 6U);
  EXPECT_EQ(told(matrix(with_carriage_returns("from (GB/s)\ta\tb\tc\na\t-\t1\t2\n"))),
            (Texts{"a > b csv -1 = 1", "a > c csv -1 = 2"}));
}

TEST(CsvMatrix, MayHaveReceiversInItsRows) {
  for (const std::string corner : {"receiver", "to\\from", "dst"}) {
    EXPECT_EQ(told(matrix(corner + ",a,b\na,,1\nb,2,\n", 1e9)), (Texts{"a > b csv -1 = 2", "b > a csv -1 = 1"}));
  }
}

TEST(CsvMatrix, IsOfBothDirectionsWhereItIsSymmetric) {
  const Imported found = matrix(",a,b,c\na,0,1,2\nb,1,0,3\nc,2,3,0\n", 1e9);
  EXPECT_EQ(told(found), (Texts{"a > b csv -1 = 1 both", "a > c csv -1 = 2 both", "b > c csv -1 = 3 both"}));
  EXPECT_EQ(noted(found), Texts{});
}

TEST(CsvMatrix, FailsWithWordsOnly) {
  const Imported found = matrix("from,a,b,c\na,,timeout,\nb,n/a,,fast\nc,1,0,\n", 1e9);
  EXPECT_EQ(told(found), (Texts{"a > b csv -1 = failed: timeout", "c > a csv -1 = 1"}));
  EXPECT_EQ(noted(found), (Texts{"3: 'fast' is not a figure, and is left out"}));
}

TEST(CsvMatrix, RefusesWhatIsNotClear) {
  EXPECT_THROW(static_cast<void>(matrix(",a,b\na,,1\nb,2,\n")), UsageError);
  EXPECT_EQ(noted(matrix("from,a,b\na,,1\nd,2,\nb,2\n", 1e9)),
            (Texts{"3: 'd,2,' is no row of the matrix, and is left out",
                   "4: 'b,2' is no row of the matrix, and is left out"}));
  for (const std::string text :
       {",a,b\n", ",a,b\nd,1,2\n", ",1,2\n1,0,1\n", ",a,a\na,1,2\n", "a,b\na,1\n", "", "a\n"}) {
    EXPECT_EQ(recognise(text), std::nullopt) << text;
  }
  EXPECT_EQ(recognise("# heat map\n\n,a,b\na,,1\n"), ImportKind::kCsv);
}

TEST(Matrices, MayBeCutOffAnywhere) {
  for (const auto& [kind, text] : std::vector<std::pair<ImportKind, std::string>>{
           {ImportKind::kMpiGraph, kMpiGraph}, {ImportKind::kHp2p, kHp2p}, {ImportKind::kClusterKit, kTable}}) {
    for (const std::string& part : cut_off(text)) EXPECT_NO_THROW(static_cast<void>(read_as(kind, "x", part))) << part;
  }
}

TEST(Recognise, TellsWhatHasWrittenAText) {
  using K = ImportKind;
  for (const auto& [text, kind] : std::vector<std::pair<std::string, std::optional<K>>>{
           {"srun: job 7\n# nccl-tests version 2.17.6\n", K::kNcclTests},
           {"# nThread 1 nGpus 1 minBytes 8\n", K::kNcclTests},
           {"# OSU MPI Latency Test v7\n", K::kOsu},
           {"      RDMA_Write BW Test\n", K::kPerftest},
           {" #bytes #iterations    BW peak[Gb/sec]    BW average[Gb/sec]\n", K::kPerftest},
           {"iperf3: error - unable to connect\n", K::kIperf3},
           {"{\"start\":{\"version\":\"iperf 3.12\"}}", K::kIperf3},
           {"Client connecting to n2, TCP port 5001\n[ ID] Interval  \n[  3] 0-1 sec 1 GBytes 1 Gbits/sec\n",
            K::kIperf2},
           {"[  3] local n1 port 4 connected with n2 port 5001\n", K::kIperf2},
           {"#    Intel (R) MPI Benchmark Suite V3.2, MPI-1 part\n", K::kImb},
           {"# Benchmarking PingPong \n#bytes #repetitions t[usec] Mbytes/sec\n", K::kImb},
           {"{\"test_info\": {\"test\": \"RDMA_Write_BW_Test\"}}", K::kPerftest},
           {kMpiGraph, K::kMpiGraph},
           {kHp2p, K::kHp2p},
           {kTable, K::kClusterKit},
           {"from,to,GB/s\n", K::kCsv},
           {"src;dst;bandwidth\n", K::kCsv},
           {"", std::nullopt},
           {"hello\n", std::nullopt},
           {"{\"kind\":\"reading\"}", std::nullopt},
           {"# nccl-tests version 2\n# OSU MPI Bandwidth Test\n", std::nullopt},
           {std::string("\0\1\2\xff", 4), std::nullopt}}) {
    EXPECT_EQ(recognise(text), kind) << text;
  }
}

TEST(Recognise, NamesToolsThatAreNotRead) {
  for (const auto& [text, tool] : std::vector<std::pair<std::string, std::string>>{
           {"|              |              |      overhead (usec)        |   bandwidth (MB/s)  |\n", "ucx_perftest"},
           {"rc_rdma_write_bw:\n    bw  =  11.5 GB/sec\n", "qperf"},
           {"MIGRATED TCP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to n2 () port 0 AF_INET\n", "netperf"},
           {"sockperf: Summary: BandWidth is 105.902 MBps (847.215 Mbps)\n", "sockperf"},
           {" 1533.5176 MB /  10.03 sec = 1282.1 Mbps 5 %TX 9 %RX 0 retrans 0.21 msRTT\n", "nuttcp"},
           {"bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec\n", "fabtests"},
           {"1000 iters in 0.01 seconds = 5.92 usec/iter\n", "ibv_rc_pingpong"},
           {"nvbandwidth Version: v0.7\n", "nvbandwidth"},
           {"nvloom_cli 1.1.0\n", "nvloom"},
           {"hello\n", ""}}) {
    EXPECT_EQ(unread_tool_of(text), tool);
    EXPECT_EQ(recognise(text), std::nullopt) << text;
  }
}

TEST(Recognise, KnowsNames) {
  EXPECT_EQ(import_kind_named("nccl-tests"), ImportKind::kNcclTests);
  EXPECT_EQ(import_kind_named("ib_write_bw"), ImportKind::kPerftest);
  EXPECT_EQ(import_kind_named("excel"), std::nullopt);
  EXPECT_EQ(import_kind_names(), "nccl-tests, osu, perftest, iperf3, iperf2, imb, mpigraph, hp2p, clusterkit, csv");
  for (const auto kind : {ImportKind::kNcclTests, ImportKind::kCsv}) EXPECT_EQ(import_kind_named(name_of(kind)), kind);
}

}  // namespace matrices_test
