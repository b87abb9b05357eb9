#include "common/backends/rdma/port_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;

namespace port_choice_test {

using Names = std::vector<std::string>;

const Names kRails = {"mlx5_10", "mlx5_2", "mlx5_0"};  // as a kernel may list them

RankPorts rank_of(const std::string& host, const Names& active, const Names& inactive = {}) {
  RankPorts rank{std::hash<std::string>{}(host), host, active, {}, {}};
  rank.devices.insert(rank.devices.end(), inactive.begin(), inactive.end());
  for (const std::string& device : inactive) rank.unusable.push_back({host, device, "port 1 is DOWN"});
  for (const std::string& device : active) rank.active.push_back({device, 1, PortDistance::kUnknown});
  return rank;
}

/// So many ranks of each host, one host after the other.
std::vector<RankPorts> ranks_of(const Names& hosts, int ranks, const Names& devices = kRails) {
  std::vector<RankPorts> all;
  for (const std::string& host : hosts) all.insert(all.end(), static_cast<std::size_t>(ranks), rank_of(host, devices));
  return all;
}

Names hosts_of(const std::vector<RankPorts>& ranks) {
  Names hosts;
  for (const RankPorts& rank : ranks) hosts.push_back(rank.host);
  return hosts;
}

Names devices(const std::string& rule, const std::vector<RankPorts>& ranks, const std::string& pairs = "hosts") {
  Names names;
  for (const ChosenPort& port : choose_ports(rule, ranks, choose_pairs(pairs, hosts_of(ranks)).pairs).ports) {
    names.push_back(port.device);
  }
  return names;
}

/// Such as `a mlx5_0: port 1 is DOWN`.
Names left_out(const std::string& rule, const std::vector<RankPorts>& ranks, const std::string& pairs = "hosts") {
  Names texts;
  for (const LeftOutDevice& each : choose_ports(rule, ranks, choose_pairs(pairs, hosts_of(ranks)).pairs).left_out) {
    texts.push_back(each.host + " " + each.device + ": " + each.reason);
  }
  return texts;
}

struct Refusal {
  ExitStatus status;
  std::string text;
  bool operator==(const Refusal&) const = default;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << static_cast<int>(refusal.status) << ": " << refusal.text;
}

Refusal refusal(const std::string& rule, const std::vector<RankPorts>& ranks, const std::string& pairs = "hosts") {
  try {
    (void)devices(rule, ranks, pairs);
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {ExitStatus::kOk, "not refused"};
}

TEST(AllDevices, GoByTheNumbersInTheirNames) {
  EXPECT_EQ(devices("all", ranks_of({"a", "b"}, 3)),
            (Names{"mlx5_0", "mlx5_2", "mlx5_10", "mlx5_0", "mlx5_2", "mlx5_10"}));
  std::vector<RankPorts> ranks = ranks_of({"a", "b"}, 1, {"mlx5_0"});
  ranks[1].active[0].port = 2;
  EXPECT_EQ(choose_ports("all", ranks, {{0, 1}}).ports[1].port, 2) << "the one that is active";
}

TEST(AllDevices, AreThoseWithAnActivePort) {
  const std::vector<RankPorts> ranks = {rank_of("a", {"mlx5_1"}, {"mlx5_0"}), rank_of("b", {"mlx5_0"})};
  EXPECT_EQ(devices("all", ranks), (Names{"mlx5_1", "mlx5_0"}));
  EXPECT_EQ(left_out("all", ranks), (Names{"a mlx5_0: port 1 is DOWN"}));
}

TEST(AllDevices, OfAHostWithFewerActiveOnesKeepTheirRails) {
  std::vector<RankPorts> ranks = ranks_of({"a", "b", "c", "d"}, 3, {"mlx5_0", "mlx5_1", "mlx5_2"});
  for (std::size_t rank = 3; rank < 6; ++rank) ranks[rank] = rank_of("b", {"mlx5_0", "mlx5_2"}, {"mlx5_1", "mlx5_9"});
  const PortChoice choice = choose_ports("rail", ranks, choose_pairs("hosts", hosts_of(ranks)).pairs);
  EXPECT_EQ(choice.ports[3].device, "mlx5_0");
  EXPECT_EQ(choice.ports[4].device, "mlx5_1") << "what other hosts use, and not mlx5_9";
  EXPECT_EQ(choice.ports[4].port, 0) << "it is not active";
  EXPECT_EQ(choice.ports[5].device, "mlx5_2");
  EXPECT_EQ(left_out("rail", ranks), (Names{"b mlx5_1: port 1 is DOWN", "b mlx5_9: port 1 is DOWN"}));
  EXPECT_EQ(
      refusal("all", {rank_of("a", {"x"}, {"y"}), rank_of("a", {"x"}, {"y"}), rank_of("a", {"x"}, {"y"}),
                      rank_of("b", {"x"}), rank_of("b", {"x"}), rank_of("b", {"x"})})
          .text,
      "--devices all: 3 ranks of host a are in pairs, and 1 device (x) need 1; start that many on each host, such "
      "as with mpirun --map-by ppr:1:node, or name the devices to take");
}

TEST(AllDevices, OfAHostWithoutAnActiveOneCannotBeOpened) {
  for (const char* const rule : {"all", "rail", "auto"}) {
    const std::vector<RankPorts> ranks = {rank_of("a", {"mlx5_1"}), rank_of("b", {}, {"mlx5_0", "mlx5_1"}),
                                          rank_of("c", {"mlx5_1"}), rank_of("d", {})};
    EXPECT_EQ(devices(rule, ranks), (Names{"mlx5_1", "mlx5_0", "mlx5_1", ""})) << rule;
  }
}

TEST(AllDevices, AreOfOneKindWhereThereAreMoreThanRanks) {
  std::vector<RankPorts> ranks = ranks_of({"a", "b"}, 2, {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"});
  for (RankPorts& rank : ranks) {
    for (PortSeen& port : rank.active) port.kind = "InfiniBand, 400 Gb/s";
    rank.active[0].kind = "Ethernet, 200 Gb/s";
    rank.active[2].virtual_function = true;
  }
  EXPECT_EQ(devices("all", ranks), (Names{"mlx5_1", "mlx5_3", "mlx5_1", "mlx5_3"}));
  const std::string storage =
      " mlx5_0: it is Ethernet, 200 Gb/s, unlike most devices (InfiniBand, 400 Gb/s), and there are more devices than "
      "ranks";
  const std::string function = " mlx5_2: it is a virtual function, and there are more devices than ranks";
  EXPECT_EQ(left_out("all", ranks), (Names{"a" + storage, "a" + function, "b" + storage, "b" + function}));
  ranks[0].active[3].kind = "InfiniBand, 200 Gb/s";
  EXPECT_EQ(devices("all", ranks), (Names{"mlx5_1", "mlx5_3", "mlx5_1", "mlx5_3"})) << "slow, but a rail of b";
  for (RankPorts& rank : ranks) rank.active.resize(2);
  EXPECT_EQ(devices("all", ranks), (Names{"mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1"})) << "as many as ranks";
}

TEST(AllDevices, OfAHostWithADeadRailAreNotItsStorage) {
  for (const int storage : {1, 2}) {
    std::vector<RankPorts> ranks = ranks_of({"a", "b", "c", "d"}, 3, {"mlx5_0", "mlx5_1", "mlx5_2"});
    for (std::size_t rank = 3; rank < 6; ++rank) ranks[rank] = rank_of("b", {"mlx5_0", "mlx5_2"}, {"mlx5_1"});
    for (RankPorts& rank : ranks) {
      for (PortSeen& port : rank.active) port.kind = "InfiniBand, 400 Gb/s";
      for (int i = 0; i < storage; ++i) {
        rank.active.push_back({"mlx5_" + std::to_string(3 + i), 1, PortDistance::kUnknown, "Ethernet, 100 Gb/s"});
      }
    }
    for (const char* const rule : {"all", "rail"}) {
      const PortChoice choice = choose_ports(rule, ranks, choose_pairs("hosts", hosts_of(ranks)).pairs);
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        EXPECT_EQ(choice.ports[rank].device, "mlx5_" + std::to_string(rank % 3)) << rule << rank;
        EXPECT_EQ(choice.ports[rank].port, rank == 4 ? 0 : 1) << rule << rank;
      }
    }
  }
}

TEST(AllDevices, OfAContainerAreItsVirtualFunctionsWhereItCannotOpenTheAdapters) {
  const Names adapters = {"mlx5_0", "mlx5_1"};
  const Names functions = {"mlx5_2", "mlx5_3"};
  std::vector<RankPorts> ranks(4, rank_of("a", functions, adapters));
  for (std::size_t rank = 2; rank < 4; ++rank) ranks[rank] = rank_of("b", functions, adapters);
  for (RankPorts& rank : ranks) {
    for (PortSeen& port : rank.active) port = {port.device, 1, PortDistance::kUnknown, "InfiniBand, 400 Gb/s", true};
  }
  for (const char* const rule : {"all", "rail", "auto"}) {
    EXPECT_EQ(devices(rule, ranks), (Names{"mlx5_2", "mlx5_3", "mlx5_2", "mlx5_3"})) << rule;
  }
}

TEST(AllDevices, TakeAsManyRanks) {
  EXPECT_EQ(refusal("all", ranks_of({"a", "b"}, 2)),
            (Refusal{ExitStatus::kUsage,
                     "--devices all: 2 ranks of host a are in pairs, and 3 devices (mlx5_0, mlx5_2, mlx5_10) need 3; "
                     "start that many on each host, such as with mpirun --map-by ppr:3:node, or name the devices to "
                     "take"}));
  EXPECT_EQ(refusal("all", ranks_of({"a", "b"}, 2, {"mlx5_0"})).status, ExitStatus::kUsage) << "too many";
  EXPECT_EQ(devices("all", ranks_of({"a", "b"}, 2, {"x"}), "0-2"), (Names{"x", "", "x", ""}))
      << "ranks in no pair do not count";
}

TEST(AllDevices, OfPairsWithinAHostGoToBothRanks) {
  EXPECT_EQ(devices("all", ranks_of({"a"}, 6), "loopback"),
            (Names{"mlx5_0", "mlx5_0", "mlx5_2", "mlx5_2", "mlx5_10", "mlx5_10"}));
  EXPECT_EQ(devices("all", ranks_of({"a"}, 4, {"x", "y"}), "halves"), (Names{"x", "y", "x", "y"}));
  EXPECT_EQ(devices("all", ranks_of({"a"}, 3), "all"), (Names{"mlx5_0", "mlx5_2", "mlx5_10"})) << "each meets both";
  EXPECT_EQ(refusal("all", ranks_of({"a"}, 2), "loopback").text,
            "--devices all: 2 ranks of host a are in pairs, and 3 devices (mlx5_0, mlx5_2, mlx5_10) need 6, two for "
            "each; start that many on each host, such as with mpirun --map-by ppr:6:node, or name the devices to take");
}

TEST(ListedDevices, AreTakenInTurn) {
  EXPECT_EQ(devices("y,x", ranks_of({"a", "b"}, 2, {"x", "y"})), (Names{"y", "x", "y", "x"}));
  EXPECT_EQ(devices("x,y", ranks_of({"a", "b"}, 4, {"x", "y", "z"})), (Names{"x", "y", "x", "y", "x", "y", "x", "y"}));
  EXPECT_EQ(devices("x", ranks_of({"a", "b", "c"}, 2, {"x"}), "0-2,1-4"), (Names{"x", "x", "x", "", "x", ""}));
  EXPECT_EQ(devices("x,y", ranks_of({"a"}, 4, {"x", "y"}), "loopback"), (Names{"x", "x", "y", "y"}));
}

TEST(ListedDevices, HaveToComeOut) {
  EXPECT_EQ(refusal("x,z", {rank_of("a", {"x", "z"}), rank_of("b", {"x"}, {"y"})}),
            (Refusal{ExitStatus::kUsage,
                     "--devices x,z: 1 rank of host a is in pairs, and 2 devices (x, z) need 2 or a multiple of it; "
                     "start that many on each host, such as with mpirun --map-by ppr:2:node"}));
  EXPECT_EQ(devices("z", {rank_of("a", {"x", "z"}), rank_of("b", {"x"}, {"y"})}), (Names{"z", "z"}))
      << "b's cannot be opened";
  EXPECT_EQ(refusal("x,q", {rank_of("a", {"x", "z"}), rank_of("b", {"x"}, {"y"})}),
            (Refusal{ExitStatus::kMissing, "--devices x,q: no host has an RDMA device 'q'; those of a: x, z"}));
  EXPECT_EQ(refusal("x,y", ranks_of({"a", "b"}, 3, {"x", "y"})).status, ExitStatus::kUsage);
  for (const char* const list : {"", "x,", ",x", "x,,y"}) {
    EXPECT_EQ(refusal(list, ranks_of({"a", "b"}, 1, {"x"})).text,
              std::string("--devices '") + list +
                  "' has an empty name; write auto, all, rail, or names such as "
                  "mlx5_0,mlx5_1");
  }
}

TEST(Rails, AreBetweenDevicesOfOneName) {
  EXPECT_EQ(devices("rail", ranks_of({"a", "b"}, 2, {"x", "y"})), (Names{"x", "y", "x", "y"}));
  EXPECT_EQ(refusal("rail", ranks_of({"a", "b"}, 2, {"x", "y"}), "0-3,1-2"),
            (Refusal{ExitStatus::kUsage,
                     "--devices rail: pair 0 would be between x of rank 0, host a, and y of rank 3, host b; pair the "
                     "k-th ranks of hosts whose devices have the same names, such as with --pairs hosts, or write "
                     "--devices all or a list"}));
  EXPECT_EQ(refusal("rail", {rank_of("a", {"mlx5_0"}), rank_of("b", {"mlx5_1"})}).status, ExitStatus::kUsage);
}

/// Ranks of host a, which see these distances to x and y.
std::vector<RankPorts> seeing(const std::vector<std::pair<PortDistance, PortDistance>>& distances) {
  std::vector<RankPorts> ranks;
  for (const auto& [to_x, to_y] : distances) {
    ranks.push_back(rank_of("a", {"x", "y"}));
    ranks.back().active[0].distance = to_x;
    ranks.back().active[1].distance = to_y;
  }
  return ranks;
}

TEST(NearestDevices, AreThoseOfTheNumaNode) {
  using enum PortDistance;
  const auto ranks = seeing({{kFar, kNear}, {kFar, kNear}, {kNear, kFar}, {kNear, kFar}});
  EXPECT_EQ(devices("auto", ranks, "all"), (Names{"y", "y", "x", "x"}));
  EXPECT_EQ(choose_ports("auto", ranks, {{0, 2}}).notice, "Devices: each rank uses a device of its own NUMA node");
  EXPECT_EQ(devices("auto", seeing({{kFar, kUnknown}, {kUnknown, kNear}, {kFar, kFar}}), "all"), (Names{"y", "y", "x"}))
      << "what is not known goes before what is far";
  EXPECT_EQ(choose_ports("auto", seeing({{kFar, kNear}, {kFar, kFar}}), {{0, 1}}).notice,
            "Devices: each rank uses a device of its own NUMA node")
      << "both of a pair within a host take the first one's";
  EXPECT_EQ(choose_ports("auto", seeing({{kFar, kNear}, {kFar, kFar}, {kNear, kFar}}), {{0, 1}, {0, 2}, {1, 2}}).notice,
            "Devices: each rank uses a device of its own NUMA node; for rank 1 none is known");
}

TEST(NearestDevices, OfSeveralAreSpreadOver) {
  using enum PortDistance;
  EXPECT_EQ(devices("auto", seeing({{kNear, kNear}, {kNear, kNear}, {kNear, kNear}}), "all"), (Names{"x", "y", "x"}));
  EXPECT_EQ(devices("auto", ranks_of({"a", "b"}, 4)),
            (Names{"mlx5_0", "mlx5_2", "mlx5_10", "mlx5_0", "mlx5_0", "mlx5_2", "mlx5_10", "mlx5_0"}))
      << "where nothing is known, in turn";
  EXPECT_EQ(
      choose_ports("auto", ranks_of({"a", "b"}, 1), {{0, 1}}).notice,
      "Devices: no rank is bound to the NUMA node of a device, so the ranks of each host use the devices in turn");
  EXPECT_EQ(left_out("auto", {rank_of("a", {"x"}), rank_of("b", {"x"}, {"y"})}), (Names{"b y: port 1 is DOWN"}));
}

TEST(NaturalOrder, CountsNumbersAsSuch) {
  Names names = {"mlx5_10", "mlx5_2", "mlx5_02b", "mlx5", "rxe0", "mlx4_11", "mlx5_bond_0"};
  std::sort(names.begin(), names.end(), [](const auto& a, const auto& b) { return naturally_before(a, b); });
  EXPECT_EQ(names, (Names{"mlx4_11", "mlx5", "mlx5_2", "mlx5_02b", "mlx5_10", "mlx5_bond_0", "rxe0"}));
  EXPECT_FALSE(naturally_before("a1", "a1"));
}

}  // namespace port_choice_test
