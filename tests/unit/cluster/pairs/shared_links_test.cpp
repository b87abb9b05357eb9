// Fabrics in which the pairs of a round share links: whether that is found out, and held against nobody.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attribution_test_support.h"
#include "cluster/pairs/attribution/links.h"
#include "cluster/pairs/planning/planner.h"
#include "simulation/simulation.h"

namespace fabricbench::cluster {
namespace shared_links_test {

using namespace test;

SimulatedSweep found_in(const FabricPlan& fabric) {
  SweepPlan plan;
  plan.schedule = {ScheduleKind::kCircle, fabric.hosts, 7, 0, 0};
  plan.both_directions = true;
  plan.find = true;
  return simulate(Fabric(fabric), plan, {});
}

FabricPlan oversubscribed(std::vector<std::string> faults = {}) {
  FabricPlan plan = clean_fabric(32, std::move(faults));
  plan.leaf_size = 8;
  plan.oversubscription = 2;
  return plan;
}

TEST(SharedLinks, AreSaidAndHeldAgainstNobody) {
  for (const bool known : {true, false}) {
    for (const bool collisions : {true, false}) {
      FabricPlan plan = oversubscribed();
      plan.leaves_known = known;
      plan.collisions = collisions;
      const SimulatedSweep swept = found_in(plan);
      const SharedLinks& links = swept.verdict.links;
      EXPECT_TRUE(links.are_shared);
      EXPECT_GT(links.alone, 1.4 * links.beside);
      EXPECT_TRUE(swept.verdict.findings.empty());
      EXPECT_EQ(swept.verdict.judged, Judged::kClean) << known << collisions;
    }
  }
}

/// The pairs of a round that are slow are slow again where the same pairs meet the same load.
TEST(SharedLinks, AreAskedForWithAWholeRoundAgain) {
  FabricPlan plan = oversubscribed();
  plan.collisions = true;
  const SimulatedSweep swept = found_in(plan);
  std::map<std::int32_t, std::vector<std::pair<std::int32_t, std::int32_t>>> rounds;  // first and second hosts
  for (const Reading& reading : swept.sweep.readings) {
    auto& pairs = rounds[reading.round];
    if (std::ranges::count(pairs, std::pair(reading.to, reading.from)) == 0)
      pairs.emplace_back(reading.from, reading.to);
  }
  const auto alone = std::ranges::find_if(rounds, [](const auto& each) { return each.second.size() == 1; });
  ASSERT_NE(alone, rounds.end());
  const auto again = std::find_if(alone, rounds.end(), [](const auto& each) { return each.second.size() > 1; });
  ASSERT_NE(again, rounds.end());
  EXPECT_EQ(std::count_if(rounds.begin(), alone, [&](const auto& each) { return each.second == again->second; }), 1);
}

TEST(SharedLinks, HideNoSlowHost) {
  const SimulatedSweep swept = found_in(oversubscribed({"host:11:0.7"}));
  EXPECT_TRUE(swept.verdict.links.are_shared);
  EXPECT_EQ(the_finding(swept.verdict, Blame::kHost).hosts, Hosts{11});
  EXPECT_EQ(swept.verdict.findings.size(), 1U);
}

TEST(SharedLinks, HideNoSlowLeaf) {
  FabricPlan plan = oversubscribed({"leaf:1:0.4"});
  const SimulatedSweep swept = found_in(plan);
  const Finding leaf = the_finding(swept.verdict, Blame::kLeaf);
  ASSERT_GE(leaf.leaf, 0);
  EXPECT_EQ(swept.verdict.groupings.at(0).groups.at(static_cast<std::size_t>(leaf.leaf)).hosts,
            (Hosts{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_TRUE(swept.verdict.not_judged.empty()) << "they are of the slow leaf";
  for (const Stratum& stratum : swept.verdict.strata) EXPECT_GT(stratum.centre, 1e9) << stratum.distance;
}

/// Two of three pairs of leaves are slow, and in few rounds collisions explain that as well.
TEST(SharedLinks, OfThreeLeavesASlowOneIsFoundInTheEnd) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    FabricPlan plan = clean_fabric(24, {"leaf:1:0.4"});
    plan.seed = seed;
    plan.leaf_size = 8;
    plan.oversubscription = 2;
    plan.leaves_known = plan.collisions = true;
    EXPECT_EQ(with_blame(found_in(plan).verdict, Blame::kLeaf).size(), 1U) << "seed " << seed;
  }
}

/// A pair that was slow once is measured alone for that reason, and would seem faster alone by chance.
TEST(SharedLinks, CountReadingsSinceThePairWasAlone) {
  Sweep sweep = sweep_of(clean_fabric(16));
  const auto measure = [&](std::int32_t round, double share, std::int32_t at_once) {
    for (std::int32_t host = 0; host < 16; host += 2) {
      const bool is_compared = host < 6;
      if (at_once == 1 && !is_compared) continue;
      sweep.readings.push_back(reading(host, host + 1, is_compared ? share * 25e9 : 25e9, round));
      sweep.readings.back().concurrent = at_once;
    }
  };
  measure(20, 0.5, 8);
  measure(21, 1, 1);
  EXPECT_EQ(find_shared_links(sweep, 0.05).readings, 0);
  measure(22, 1, 8);
  EXPECT_EQ(find_shared_links(sweep, 0.05).pairs, 3);
  EXPECT_FALSE(find_shared_links(sweep, 0.05).are_shared);
  measure(23, 0.5, 8);
  EXPECT_TRUE(find_shared_links(sweep, 0.05).are_shared);
}

/// Hosts and devices that are slow now and then are so alone as well.
TEST(SharedLinks, AreNoneWherePairsAreSlowAloneAsOften) {
  for (const bool slow_alone : {false, true}) {
    Sweep sweep = sweep_of(clean_fabric(16));
    std::int32_t round = 20;
    const auto measure = [&](double share, std::int32_t at_once) {
      for (std::int32_t host = 0; host < (at_once == 1 ? 6 : 16); host += 2) {
        sweep.readings.push_back(reading(host, host + 1, host < 6 ? share * 25e9 : 25e9, round));
        sweep.readings.back().concurrent = at_once;
      }
      ++round;
    };
    for (const double alone : {1.0, slow_alone ? 0.5 : 1.0, 1.0}) {
      measure(alone, 1);
      measure(0.5, 8);
      measure(1, 8);
    }
    EXPECT_NE(find_shared_links(sweep, 0.05).are_shared, slow_alone);
  }
}

/// In a round in which everything was slower, no load is to blame.
TEST(SharedLinks, AreNotSeenInASlowRound) {
  Sweep sweep = sweep_of(clean_fabric(8));
  for (const auto& [round, rate, at_once] : {std::tuple{20, 25e9, 1}, {21, 15e9, 4}}) {
    for (std::int32_t host = 0; host < 8; host += 2) {
      sweep.readings.push_back(reading(host, host + 1, rate, round));
      sweep.readings.back().concurrent = at_once;
    }
  }
  EXPECT_EQ(find_shared_links(sweep, 0.05).readings, 4);
  EXPECT_FALSE(find_shared_links(sweep, 0.05).are_shared);
}

/// Behind two large leaves, most pairs of a round may be slow. Some are as fast as ever, unlike in a slow round.
TEST(SharedLinks, AreSeenInARoundWithFastPairs) {
  Sweep sweep = sweep_of(clean_fabric(16));
  const auto measure = [&](std::int32_t round, double rate, std::int32_t at_once) {
    for (std::int32_t host = 0; host < 16; host += 2) {
      sweep.readings.push_back(reading(host, host + 1, host == 0 ? 25e9 : rate, round));
      sweep.readings.back().concurrent = at_once;
    }
  };
  for (std::int32_t round = 10; round < 20; ++round) measure(round, 25e9, 8);
  measure(20, 25e9, 1);
  measure(21, 15e9, 8);
  EXPECT_TRUE(find_shared_links(sweep, 0.05).are_shared);
}

/// No locality tells the leaves, and the directions of a round are measured one after the other, so that the slow
/// leaf's hosts are often as fast as others.
TEST(SharedLinks, ShowHostsBehindSlowUplinks) {
  Sweep sweep = sweep_of(clean_fabric(32));
  sweep.readings.clear();
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same in each run
  std::vector<std::int32_t> hosts(32);
  std::iota(hosts.begin(), hosts.end(), 0);
  const auto is_behind = [](std::int32_t host) { return host / 8 == 1; };
  const auto measure = [&](std::int32_t round, std::size_t first, std::size_t second) {
    int sending = 0;
    int receiving = 0;
    for (std::size_t i = 0; i < hosts.size(); i += 2) {
      const bool sends = is_behind(hosts[i + first]);
      const bool receives = is_behind(hosts[i + second]);
      sending += sends && !receives ? 1 : 0;
      receiving += receives && !sends ? 1 : 0;
    }
    for (std::size_t i = 0; i < hosts.size(); i += 2) {
      const std::int32_t from = hosts[i + first];
      const std::int32_t to = hosts[i + second];
      const int sharing = is_behind(from) ? sending : receiving;
      const double share = is_behind(from) == is_behind(to) ? 1 : std::min(1.0, 0.3 * 8 / sharing);
      sweep.readings.push_back(reading(from, to, share * 25e9 * (1 + 0.001 * static_cast<double>(i % 5)), round));
      sweep.readings.back().concurrent = 16;
    }
  };
  for (std::int32_t round = 0; round < 36; ++round) {
    std::shuffle(hosts.begin(), hosts.end(), random);
    measure(round, 0, 1);
    measure(round, 1, 0);
  }
  for (std::int32_t host = 8; host < 12; ++host) {
    for (const auto& [from, to] : {std::pair{host, host - 8}, std::pair{host - 8, host}}) {
      sweep.readings.push_back(reading(from, to, 25e9, 28 + host));
      sweep.readings.back().concurrent = 1;
    }
  }
  const Verdict verdict = judge(sweep, {});
  EXPECT_TRUE(verdict.links.are_shared);
  const Finding leaf = the_finding(verdict, Blame::kLeaf);
  ASSERT_GE(leaf.leaf, 0);
  EXPECT_EQ(verdict.groupings.at(0).groups.at(static_cast<std::size_t>(leaf.leaf)).hosts,
            (Hosts{8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST(SharedLinks, AreNotSeenInAHostThatIsSlowNowAndThen) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    FabricPlan plan = clean_fabric(16, {"flapping:3:0.5:0.4"});
    plan.seed = seed;
    EXPECT_FALSE(found_in(plan).verdict.links.are_shared) << seed;
  }
}

TEST(Find, IsDecidedInTwelveRoundsWhereOneHostIsSlow) {
  for (const std::int32_t hosts : {16, 64, 256, 1024}) {
    FabricPlan plan = clean_fabric(hosts, {"host:5:0.7"});
    const SimulatedSweep swept = found_in(plan);
    EXPECT_EQ(the_finding(swept.verdict, Blame::kHost).hosts, Hosts{5});
    EXPECT_LE(swept.rounds, 12) << hosts;
  }
}

}  // namespace shared_links_test
}  // namespace fabricbench::cluster
