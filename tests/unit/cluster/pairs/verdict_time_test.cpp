// What is said of clusters with groups where the network, or a host, is slower at times.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "attribution_test_support.h"

namespace fabricbench::cluster {
namespace verdict_time_test {

TEST(VerdictTime, WhatSlowsAllPairsOfARoundMakesNoGroups) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Sweep sweep = sweep_of(clean_fabric(16), 15);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 0.04);
    std::map<std::int32_t, double> of_round;
    for (Reading& reading : sweep.readings) {
      const double shared = of_round.try_emplace(reading.round, normal(random)).first->second;
      reading.rate = static_cast<float>(reading.rate * std::exp(shared));
    }
    EXPECT_TRUE(judge(sweep).groupings.empty()) << "seed " << seed;
  }
}

TEST(VerdictTime, GroupsAreFoundThoughTheNetworkGetsSlowerByAThird) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    FabricPlan plan = hidden_leaves(16, 4, 0.8);
    plan.seed = seed;
    Sweep sweep = again_and_again(plan, 46, false);
    for (Reading& reading : sweep.readings) reading.rate *= 1 - 0.008F * static_cast<float>(reading.round);
    const Verdict verdict = judge(sweep);
    ASSERT_EQ(verdict.groupings.size(), 1U) << "seed " << seed;
    EXPECT_EQ(verdict.groupings[0].groups.size(), 4U) << "seed " << seed;
    EXPECT_TRUE(verdict.findings.empty()) << "seed " << seed;
  }
}

TEST(VerdictTime, GroupsAreFoundThoughTheNetworkGetsSlowerAndEachPairWasMeasuredOnce) {
  FabricPlan plan = hidden_leaves(64, 16, 0.9);
  plan.sigma = 0.02;
  Sweep sweep = sweep_of(plan, 40);
  for (Reading& reading : sweep.readings) reading.rate *= 1 - 0.0075F * static_cast<float>(reading.round);
  const Verdict verdict = judge(sweep);
  ASSERT_EQ(verdict.groupings.size(), 1U);
  EXPECT_EQ(verdict.groupings[0].groups.size(), 4U);
  EXPECT_TRUE(verdict.findings.empty());
}

/// Leaves within pods. Drift blurs the levels until some of it is taken off.
TEST(VerdictTime, GroupsOfGroupsAreFoundThoughTheNetworkGetsSlower) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    FabricPlan plan = hidden_leaves(32, 8, 0.64, {"host:3:0.78"});
    plan.sigma = 0.02;
    plan.outliers = 0.02;
    plan.seed = seed;
    Sweep sweep = again_and_again(plan, 46, false);
    for (Reading& each : sweep.readings) {
      if ((each.from < 16) != (each.to < 16)) each.rate *= 0.67F;
      each.rate *= 1 - 0.008F * static_cast<float>(each.round);
    }
    const Verdict verdict = judge(sweep);
    ASSERT_EQ(verdict.groupings.size(), 2U) << "seed " << seed;
    EXPECT_EQ(verdict.groupings[0].groups.size(), 4U) << "seed " << seed;
    EXPECT_EQ(verdict.groupings[1].groups.size(), 2U) << "seed " << seed;
    EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{3}) << "seed " << seed;
  }
}

/// A pair that was slow once is measured again, and is not slow then.
TEST(VerdictTime, WhatWasMeasuredAgainBecauseItWasSlowMakesNoDrift) {
  FabricPlan plan = hidden_leaves(64, 4, 0.75);
  Sweep sweep = sweep_of(plan, 60);
  std::mt19937 random(1);
  std::vector<Pair> again;
  for (std::size_t i = 0; i + 1 < sweep.readings.size(); i += 2) {
    if (random() % 9 != 0) continue;
    for (const std::size_t place : {i, i + 1}) sweep.readings[place].rate *= 0.4F;
    again.push_back({sweep.readings[i].from, sweep.readings[i].to});
  }
  const Fabric fabric(plan);
  for (std::int32_t round = 60; !again.empty(); ++round) {
    std::vector<Pair> meetings;
    std::set<std::int32_t> busy;
    std::erase_if(again, [&](const Pair& pair) {
      if (busy.contains(pair.first) || busy.contains(pair.second)) return false;
      busy.insert({pair.first, pair.second});
      meetings.push_back(pair);
      return true;
    });
    if (meetings.size() < 20) break;
    fabric.measure(meetings, round, sweep);
  }
  const Verdict verdict = judge(sweep);
  ASSERT_EQ(verdict.groupings.size(), 1U);
  EXPECT_EQ(verdict.groupings[0].groups.size(), 16U);
  for (const Group& group : verdict.groupings[0].groups) EXPECT_EQ(group.hosts.size(), 4U) << group.hosts.front();
}

TEST(VerdictTime, AHostThatIsSlowNowAndThenIsNotTakenForOneThatIsAlone) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    FabricPlan plan = hidden_leaves(64, 16, 0.9, {"flapping:5:0.67:0.45"});
    plan.seed = seed;
    EXPECT_EQ(the_finding(judge(again_and_again(plan, 80)), Blame::kTransient).hosts, Hosts{5}) << "seed " << seed;
  }
}

/// It shows with three partners only, and what others reach scatters far enough to look like more and less than that.
TEST(VerdictTime, AHostThatIsSlowWithinALeafIsNotSlowNowAndThen) {
  for (unsigned seed = 21; seed <= 120; ++seed) {
    FabricPlan plan = hidden_leaves(16, 4, 0.63, {"host:3:0.78"});
    plan.sigma = 0.05;
    plan.seed = seed;
    EXPECT_TRUE(with_blame(judge(again_and_again(plan, 40, false)), Blame::kTransient).empty()) << "seed " << seed;
  }
}

/// Half of what was measured between groups is slow, and scatters by far more than the rest does: no drift of a round
/// is as large.
TEST(VerdictTime, ASlowUplinkMakesNoDriftOfSmallDifferencesBetweenRounds) {
  Sweep sweep = sweep_of(hidden_leaves(64, 8, 1, {"leaf:2:0.5:receives"}), 40);
  for (Reading& each : sweep.readings) each.rate *= each.round % 3 == 0 ? 0.985F : 1.0F;
  const Verdict verdict = judge(sweep);
  EXPECT_LT(verdict.changes_with_time, 0.05);
  EXPECT_NEAR(the_finding(verdict, Blame::kLeaf).ratio, 0.5, 0.02);
}

/// Behind a burst those with which the host was fast stay so, and do not tell.
TEST(VerdictTime, OfAHostThatWasSlowInABurstPartnersOfBothKindsAreMetAgain) {
  Sweep sweep = sweep_by(
      64, [](std::int32_t, std::int32_t) { return 1; }, 28);
  for (Reading& each : sweep.readings) {
    const bool is_burst = (each.round >= 2 && each.round <= 10) || (each.round >= 17 && each.round <= 23);
    if (is_burst && (each.from == 5 || each.to == 5)) each.rate *= 0.69F;
  }
  for (std::int32_t round = 28; round < 32; ++round) {
    const Verdict verdict = judge(sweep);
    const auto asked = std::find_if(verdict.follow_ups.begin(), verdict.follow_ups.end(),
                                    [](const FollowUp& each) { return each.host == 5 && each.other >= 0; });
    if (asked == verdict.follow_ups.end()) break;  // decided
    sweep.readings.push_back(reading(5, asked->other, 25e9, round));
    sweep.readings.push_back(reading(asked->other, 5, 25e9, round));
  }
  EXPECT_EQ(with_blame(judge(sweep), Blame::kTransient).size(), 1U);
}

}  // namespace verdict_time_test
}  // namespace fabricbench::cluster
