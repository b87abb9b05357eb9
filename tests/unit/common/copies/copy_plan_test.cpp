#include "common/copies/copy_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace fabricbench;

namespace copy_plan_test {

using Lists = std::vector<std::vector<std::string>>;
using Places = std::vector<std::vector<std::size_t>>;

TEST(DivideGpus, GivesEachGpuToOneProcess) {
  const std::vector<std::string> all = {"a", "b", "c", "d"};
  EXPECT_EQ(divide_gpus({all}), (Places{{0, 1, 2, 3}}));
  EXPECT_EQ(divide_gpus({all, all}), (Places{{0, 2}, {1, 3}}));
  EXPECT_EQ(divide_gpus({all, all, all, all, all}), (Places{{0}, {1}, {2}, {3}, {}}));
}

TEST(DivideGpus, LeavesAProcessWithoutAnyWhereOthersSeeItsGpus) {
  EXPECT_EQ(divide_gpus({{"a"}, {"a"}}), (Places{{0}, {}}));
  EXPECT_EQ(divide_gpus({{}, {"a"}}), (Places{{}, {0}}));
}

TEST(DivideGpus, GivesProcessesTheirOwnWhereEachSeesOthers) {
  EXPECT_EQ(divide_gpus({{"a"}, {"b"}}), (Places{{0}, {0}}));
  // The first sees both, and can do without the one that is all the second sees.
  EXPECT_EQ(divide_gpus({{"b", "a"}, {"b"}}), (Places{{1}, {0}}));
}

TEST(ListCopies, HasEveryKindForEveryGpuNodeAndSize) {
  const auto copies = list_copies({1, 2}, {0, 1, 2}, {0, 1}, {64, 128});
  EXPECT_EQ(copies.size(), 2U * 2 * (2 * 3 + 1 + 2));
  const auto count = [&](CopyKind kind) {
    return std::count_if(copies.begin(), copies.end(), [&](const SizedCopy& one) { return one.copy.kind == kind; });
  };
  for (const CopyKind kind : {CopyKind::kHostToDevice, CopyKind::kDeviceToHost, CopyKind::kBothWays}) {
    EXPECT_EQ(count(kind), 8);
  }
  EXPECT_EQ(count(CopyKind::kDeviceToDevice), 4);
  EXPECT_EQ(count(CopyKind::kPeer), 8);
  for (const SizedCopy& one : copies) {
    EXPECT_NE(one.copy.device, one.copy.peer);
    EXPECT_NE(one.copy.device, 0);
    EXPECT_EQ(one.copy.memory_node.has_value(), one.copy.kind < CopyKind::kDeviceToDevice);
  }
}

TEST(ListCopies, OfOneGpuHasNoPeers) {
  EXPECT_EQ(list_copies({0}, {0}, {std::nullopt}, {64}).size(), 4U);
  EXPECT_TRUE(list_copies({}, {0}, {std::nullopt}, {64}).empty());
}

CopyGpu gpu(int device, std::optional<int> node = 0) {
  return {device, "0000:1" + std::to_string(device) + ":00.0", "H200", node};
}

/// A row from the host, in GB/s.
CopyRow from_host(int device, double rate, const std::string& host = "a") {
  CopyRow row;
  row.host = host;
  row.gpu = gpu(device);
  row.memory_node = 0;
  row.size = Bytes{256} << 20;
  row.bandwidth = rate * 1e9;
  row.summary.median = static_cast<double>(row.size) / row.bandwidth;
  return row;
}

CopyRow to_peer(int device, int peer, double rate) {
  CopyRow row = from_host(device, rate);
  row.kind = CopyKind::kPeer;
  row.memory_node.reset();
  row.peer = gpu(peer);
  return row;
}

std::vector<std::string> said_of(std::vector<CopyRow> rows) {
  compare_gpus(rows);
  return findings(rows);
}

using Lines = std::vector<std::string>;

TEST(Findings, NameTheSlowGpu) {
  EXPECT_EQ(said_of({from_host(0, 55), from_host(1, 54), from_host(2, 25), from_host(3, 55)}),
            (Lines{"GPU 2 (0000:12:00.0) of host a is slower than the others: 256 MiB from the host: 25 GB/s, others "
                   "55 GB/s"}));
  EXPECT_EQ(said_of({from_host(0, 55), from_host(1, 54), from_host(2, 53)}), Lines{});
}

TEST(Findings, NameAGpuByAllThatIsSlow) {
  std::vector<CopyRow> rows;
  for (int device = 0; device < 3; ++device) {
    for (const CopyKind kind : {CopyKind::kHostToDevice, CopyKind::kDeviceToHost}) {
      rows.push_back(from_host(device, device == 1 ? 10 : 50));
      rows.back().kind = kind;
    }
  }
  EXPECT_EQ(
      said_of(rows),
      (Lines{"GPU 1 (0000:11:00.0) of host a is slower than the others: 256 MiB from the host: 10 GB/s, others 50 "
             "GB/s; 256 MiB to the host: 10 GB/s, others 50 GB/s"}));
}

TEST(Findings, DoNotCompareNearMemoryWithFar) {
  std::vector<CopyRow> rows;
  for (int device = 0; device < 4; ++device) {
    for (const int node : {0, 1}) {
      rows.push_back(from_host(device, node == device / 2 ? 55 : 30));
      rows.back().gpu = gpu(device, device / 2);
      rows.back().memory_node = node;
    }
  }
  EXPECT_EQ(said_of(rows), Lines{});
  rows[1].bandwidth = 20e9;  // GPU 0, from node 1
  EXPECT_EQ(said_of(rows),
            (Lines{"GPU 0 (0000:10:00.0) of host a is slower than the others: 256 MiB from the host, with memory "
                   "of another node: 20 GB/s, others 30 GB/s"}));
}

TEST(Findings, NameAHostThatIsSlowAsAWhole) {
  EXPECT_EQ(said_of({from_host(0, 55), from_host(0, 25, "b"), from_host(0, 55, "c")}),
            (Lines{"GPU 0 (0000:10:00.0) of host b is slower than the others: 256 MiB from the host: 25 GB/s, others "
                   "55 GB/s of all hosts"}));
}

TEST(Findings, SayWhereTwoDiffer) {
  EXPECT_EQ(said_of({from_host(0, 55), from_host(1, 25)}),
            (Lines{"Two GPUs of host a differ, and without a third it is unclear which is slow: 256 MiB from the host: "
                   "55 and 25 GB/s"}));
}

TEST(Findings, DoNotBlameAGpuWhoseIntervalReachesTheOthers) {
  std::vector<CopyRow> rows = {from_host(0, 55), from_host(1, 25), from_host(2, 55)};
  rows[1].summary.interval = Interval{rows[0].summary.median, rows[1].summary.median * 2, 0.96, rows[1].summary.median};
  EXPECT_EQ(said_of(rows), Lines{});
  rows[1].summary.interval->low = rows[1].summary.median * 0.9;
  EXPECT_EQ(said_of(rows).size(), 1U);
}

TEST(Findings, HoldOneGpuAgainstItsBound) {
  CopyRow row = from_host(0, 30);
  row.bound = CopyBound{63e9, "PCIe 32 GT/s x16"};
  const Lines expected = {
      "GPU 0 (0000:10:00.0) of host a has less than 60 % of a bound: 256 MiB from the host: 30 of 63 "
      "GB/s (PCIe 32 GT/s x16)"};
  EXPECT_EQ(said_of({row}), expected);
  CopyRow smaller = row;
  smaller.size = 1024;  // what is short is not held against a bound
  EXPECT_EQ(said_of({smaller, row}), expected);
  row.bandwidth = 40e9;
  EXPECT_EQ(said_of({row}), Lines{});
  row.bandwidth = 30e9;
  row.gpu.numa_node = 1;  // the memory is far
  EXPECT_EQ(said_of({row}), Lines{});
  row.gpu.numa_node = 0;
  row.kind = CopyKind::kBothWays;
  EXPECT_EQ(said_of({row}), Lines{});
}

std::vector<CopyRow> every_pair(int gpus, int slow_sender, int slow_receiver) {
  std::vector<CopyRow> rows;
  for (int from = 0; from < gpus; ++from) {
    for (int into = 0; into < gpus; ++into) {
      if (from != into) rows.push_back(to_peer(from, into, from == slow_sender || into == slow_receiver ? 40 : 400));
    }
  }
  return rows;
}

TEST(Findings, TellWhoSendsAndWhoReceivesSlowly) {
  for (const int gpus : {3, 4, 8}) {
    EXPECT_EQ(said_of(every_pair(gpus, 2, -1)),
              (Lines{"GPU 2 (0000:12:00.0) of host a is slower than the others: 256 MiB to its peers: 40 GB/s, others "
                     "400 GB/s"}))
        << gpus;
    EXPECT_EQ(
        said_of(every_pair(gpus, -1, 1)),
        (Lines{"GPU 1 (0000:11:00.0) of host a is slower than the others: 256 MiB from its peers: 40 GB/s, others "
               "400 GB/s"}))
        << gpus;
    EXPECT_EQ(said_of(every_pair(gpus, 0, 0)).size(), 1U) << gpus;
    EXPECT_EQ(said_of(every_pair(gpus, -1, -1)), Lines{}) << gpus;
  }
}

TEST(Findings, SayWhichCopiesGoOverTheHost) {
  std::vector<CopyRow> rows = every_pair(3, -1, -1);
  rows.front().over_host = true;
  rows.front().bandwidth /= 20;  // not compared with those that go straight
  EXPECT_EQ(said_of(rows),
            (Lines{"Copies to a GPU marked * go through host memory: the two GPUs cannot access each other's memory"}));
}

TEST(CompareGpus, ComparesModelsSizesAndKindsByThemselves) {
  std::vector<CopyRow> rows = {from_host(0, 50), from_host(1, 50), from_host(2, 50), from_host(3, 5)};
  rows[3].gpu.model = "L4";
  compare_gpus(rows);
  EXPECT_EQ(rows[3].comparison.status, OutlierStatus::kAlone);
  EXPECT_EQ(rows[0].comparison.status, OutlierStatus::kUsual);
  EXPECT_DOUBLE_EQ(rows[0].of_others(), 1);
  EXPECT_EQ(rows[3].of_others(), 0);
}

}  // namespace copy_plan_test
