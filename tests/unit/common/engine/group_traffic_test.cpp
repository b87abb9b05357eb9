#include "common/engine/describe.h"

#include <gtest/gtest.h>

#include "common/measure/message_test.h"

namespace fabricbench {
namespace {

/// A collective with the traffic that a test wants.
class Moving final : public Collective {
 public:
  Moving(HostTraffic (*traffic)(const RanksOnHosts&), double (*factor)(int))
      : Collective({.name = "moving"}), traffic_(traffic), factor_(factor) {}

  [[nodiscard]] Layout layout(Request /*request*/, int /*ranks*/) const override { return {}; }
  [[nodiscard]] std::vector<ExpectedBlock> expected(const Layout& /*layout*/,
                                                    const Participant& /*self*/) const override {
    return {};
  }
  [[nodiscard]] double bus_factor(int ranks) const override { return factor_(ranks); }
  [[nodiscard]] HostTraffic host_traffic(const RanksOnHosts& group) const override { return traffic_(group); }
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override {}

 private:
  HostTraffic (*traffic_)(const RanksOnHosts&);
  double (*factor_)(int);
};

/// One group; `ranks` on each of `hosts`.
Context ranks_on_hosts(int ranks, int hosts) {
  Context context;
  context.groups.emplace_back();
  for (int host = 0; host < hosts; ++host) {
    context.groups[0].host_names.push_back("node" + std::to_string(host));
    for (int local = 0; local < ranks; ++local) {
      RankFacts rank;
      rank.rank = host * ranks + local;
      rank.host = context.groups[0].host_names.back();
      context.ranks.push_back(rank);
    }
  }
  return context;
}

GroupFacts described(const Test& test, Context context) {
  describe_traffic(test, context);
  return context.groups[0];
}

TEST(GroupTraffic, OfARingGivesTheRateOfTheLinks) {
  const Moving all_reduce(host_traffic::all_reduce, bus_factor::all_reduce);
  const GroupFacts group = described(all_reduce, ranks_on_hosts(8, 2));
  EXPECT_DOUBLE_EQ(group.usual_busbw, 1);
  EXPECT_DOUBLE_EQ(group.most_busbw, 2.0 * 15 / 16);  // reduced in switches, each host sends the message once
  const Moving all_gather(host_traffic::all_parts, bus_factor::all_but_own);
  EXPECT_DOUBLE_EQ(described(all_gather, ranks_on_hosts(8, 2)).usual_busbw, 1);
  EXPECT_DOUBLE_EQ(described(all_gather, ranks_on_hosts(8, 2)).most_busbw, (15.0 / 16) / (1.0 / 2));
}

/// alltoall over 2 x 8 ranks: each rank sends half of its message to the other host. Eight ports of 50 GB/s allow 93.75
/// GB/s, of which NVCRE published 79.1.
TEST(GroupTraffic, OfEachToEachSharesTheLinksOfTheHost) {
  const Moving all_to_all(host_traffic::each_to_each, bus_factor::all_but_own);
  const GroupFacts group = described(all_to_all, ranks_on_hosts(8, 2));
  EXPECT_DOUBLE_EQ(group.usual_busbw * 400, 93.75);
  EXPECT_DOUBLE_EQ(group.most_busbw, group.usual_busbw);
}

TEST(GroupTraffic, OnOneHostIsOfTheLinksOfEachRank) {
  const Moving all_to_all(host_traffic::each_to_each, bus_factor::all_but_own);
  EXPECT_DOUBLE_EQ(described(all_to_all, ranks_on_hosts(8, 1)).usual_busbw, 1);
}

TEST(GroupTraffic, OfOneRankIsUnknown) {
  const Moving all_reduce(host_traffic::all_reduce, bus_factor::all_reduce);
  EXPECT_EQ(described(all_reduce, ranks_on_hosts(1, 1)).usual_busbw, 0);
}

/// Two pairs of the same two hosts share their links, unless they are measured in different rounds.
TEST(GroupTraffic, OfPairsAtTheSameTimeIsShared) {
  const PingPong test("pair");
  Context context = ranks_on_hosts(2, 2);
  context.row_kind = RowKind::kBandwidth;
  context.groups.push_back(context.groups[0]);
  describe_traffic(test, context);
  EXPECT_DOUBLE_EQ(context.groups[0].usual_busbw, 0.5);
  EXPECT_DOUBLE_EQ(context.groups[0].most_busbw, 1);
  context.groups[1].round = 1;
  describe_traffic(test, context);
  EXPECT_DOUBLE_EQ(context.groups[0].usual_busbw, 1);
}

TEST(GroupTraffic, BothWaysCountsBothDirections) {
  const BothWays test("pair");
  Context context = ranks_on_hosts(1, 2);
  context.row_kind = RowKind::kBothWays;
  EXPECT_DOUBLE_EQ(described(test, context).usual_busbw, 2);
}

}  // namespace
}  // namespace fabricbench
