#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attribution_test_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace attribution_test {

bool asks_about_host(const Verdict& verdict, std::int32_t host) {
  return std::any_of(verdict.follow_ups.begin(), verdict.follow_ups.end(),
                     [host](const FollowUp& follow_up) { return follow_up.host == host && follow_up.other < 0; });
}

TEST(Attribution, HealthyHostsAreClean) {
  for (const int hosts : {3, 4, 5, 8, 17, 64}) {
    const Verdict verdict = judge(sweep_of(clean_fabric(hosts)));
    EXPECT_EQ(verdict.judged, Judged::kClean) << hosts;
    EXPECT_TRUE(verdict.findings.empty()) << hosts;
    EXPECT_TRUE(verdict.not_judged.empty()) << hosts;
    EXPECT_EQ(verdict.readings, hosts * (hosts - 1)) << hosts;
    ASSERT_EQ(verdict.strata.size(), 1U);
    EXPECT_NEAR(verdict.strata[0].centre, 25e9, 0.5e9) << hosts;
  }
}

TEST(Attribution, NothingToJudgeIsUnknown) {
  for (const int hosts : {0, 1, 5}) {
    const Verdict verdict = judge(hosts_only(hosts));
    EXPECT_EQ(verdict.judged, Judged::kUnknown);
    EXPECT_TRUE(verdict.findings.empty());
    EXPECT_EQ(verdict.not_judged.size(), static_cast<std::size_t>(hosts));
  }
}

TEST(Attribution, AHostThatIsSlowBothWays) {
  const Finding finding = the_finding(judge(sweep_of(clean_fabric(17, {"host:3:0.9"}), 12)), Blame::kHost);
  EXPECT_EQ(finding.hosts, Hosts{3});
  EXPECT_EQ(finding.direction, Direction::kBoth);
  EXPECT_NEAR(finding.ratio, 0.9, 0.02);
  EXPECT_NEAR(finding.rate / finding.expected, finding.ratio, 1e-9);
  EXPECT_NEAR(finding.expected, 25e9, 0.5e9);
  EXPECT_GE(finding.partners, 11);
  EXPECT_LT(finding.false_alarm, 1e-6);
  EXPECT_FALSE(finding.confirmed);
}

TEST(Attribution, AHostThatIsSlowOneWay) {
  const Finding sends = the_finding(judge(sweep_of(clean_fabric(17, {"host:3:0.8:sends"}), 12)), Blame::kHost);
  EXPECT_EQ(sends.direction, Direction::kSends);
  EXPECT_EQ(sends.hosts, Hosts{3});
  const Finding receives = the_finding(judge(sweep_of(clean_fabric(17, {"host:4:0.8:receives"}), 12)), Blame::kHost);
  EXPECT_EQ(receives.direction, Direction::kReceives);
  EXPECT_EQ(receives.hosts, Hosts{4});
}

TEST(Attribution, SeveralSlowHostsAtOnceAndNobodyElse) {
  // Most pairs have a slow host in them: nearly half the hosts are.
  const std::vector<std::string> faults = {"host:1:0.7", "host:4:0.8",   "host:6:0.7",
                                           "host:9:0.6", "host:11:0.85", "host:12:0.7"};
  const Verdict verdict = judge(sweep_of(clean_fabric(16, faults), 12));
  std::set<std::int32_t> blamed;
  for (const Finding& finding : verdict.findings) {
    EXPECT_EQ(finding.blame, Blame::kHost);
    EXPECT_EQ(finding.direction, Direction::kBoth);
    blamed.insert(finding.hosts.begin(), finding.hosts.end());
  }
  EXPECT_EQ(blamed, (std::set<std::int32_t>{1, 4, 6, 9, 11, 12}));
  EXPECT_EQ(verdict.findings.front().hosts, Hosts{9}) << "the worst comes first";
}

TEST(Attribution, OneFigureForBothDirections) {
  FabricPlan plan = clean_fabric(17, {"host:3:0.85"});
  plan.both_ways = true;
  const Finding finding = the_finding(judge(sweep_of(plan, 12)), Blame::kHost);
  EXPECT_EQ(finding.hosts, Hosts{3});
  EXPECT_EQ(finding.direction, Direction::kBoth);
  EXPECT_NEAR(finding.ratio, 0.85, 0.02);
}

TEST(Attribution, TheSmallestSweepsThatCanBlameAHost) {
  for (const int hosts : {3, 4}) {
    FabricPlan plan = clean_fabric(hosts, {"host:2:0.7"});
    Sweep sweep = sweep_of(plan);
    for (const Pair& pair : {Pair{2, 0}, Pair{2, 1}, Pair{0, 1}}) measure_again(plan, pair, 1, sweep);
    const Finding finding = the_finding(judge(sweep), Blame::kHost);
    EXPECT_EQ(finding.hosts, Hosts{2}) << hosts;
    EXPECT_TRUE(finding.confirmed) << hosts;
  }
}

/// Most readings may be of a slow path that was measured again and again: that is no noise.
TEST(Attribution, ReadingsOfASlowPathAreNoNoise) {
  Sweep sweep = sweep_by(6, [](std::int32_t from, std::int32_t to) { return from + to == 1 ? 0.15 : 1; });
  for (std::int32_t round = 10; round < 40; ++round) {
    sweep.readings.push_back(reading(0, 1, (round % 9 + 1) * 2.5e9, round));
    sweep.readings.push_back(reading(1, 0, (round % 7 + 1) * 2.5e9, round));
  }
  EXPECT_LT(judge(sweep).strata.front().scale, 0.05);
}

TEST(Attribution, TooFewReadingsOfASlowHostAreAQuestion) {
  FabricPlan plan = clean_fabric(64, {"host:5:0.9"});
  plan.sigma = 0.03;
  const Verdict verdict = judge(sweep_of(plan, 2));
  EXPECT_TRUE(with_blame(verdict, Blame::kHost).empty());
  EXPECT_TRUE(asks_about(verdict, 5, -1));
  EXPECT_EQ(verdict.judged, Judged::kUnknown);
}

TEST(Attribution, HostsWithTooFewPartnersAreNotJudged) {
  const Verdict verdict = judge(sweep_of(clean_fabric(16), 2));
  EXPECT_EQ(verdict.judged, Judged::kUnknown);
  EXPECT_EQ(verdict.not_judged.size(), 16U);
  Sweep sweep = sweep_of(clean_fabric(16), 6);
  sweep.hosts.push_back("n16");  // never measured
  EXPECT_EQ(judge(sweep).not_judged, Hosts{16});
  EXPECT_EQ(judge(sweep).judged, Judged::kUnknown);
}

TEST(Attribution, OneRailOfSeveral) {
  FabricPlan plan = clean_fabric(16, {"nic:3:1:0.8:sends"});
  plan.rails = 2;
  const Finding finding = the_finding(judge(sweep_of(plan, 12)), Blame::kNic);
  EXPECT_EQ(finding.hosts, Hosts{3});
  EXPECT_EQ(finding.rail, 1);
  EXPECT_EQ(finding.direction, Direction::kSends);
}

TEST(Attribution, AllRailsOfAHostAreTheHost) {
  FabricPlan plan = clean_fabric(16, {"host:3:0.8"});
  plan.rails = 4;
  const Finding finding = the_finding(judge(sweep_of(plan, 12)), Blame::kHost);
  EXPECT_EQ(finding.hosts, Hosts{3});
  EXPECT_EQ(finding.rail, -1);
}

TEST(Attribution, ARailOfEverybody) {
  FabricPlan plan = clean_fabric(16, {"rail:2:0.8"});
  plan.rails = 4;
  const Finding finding = the_finding(judge(sweep_of(plan, 6)), Blame::kRail);
  EXPECT_EQ(finding.rail, 2);
  EXPECT_TRUE(finding.hosts.empty());
  EXPECT_NEAR(finding.ratio, 0.8, 0.02);
  EXPECT_EQ(finding.partners, 16);
}

TEST(Attribution, ALeafBeforeItsHosts) {
  for (const std::string direction : {"", ":sends", ":receives"}) {
    FabricPlan plan = clean_fabric(48, {"leaf:2:0.6" + direction});
    plan.leaf_size = 8;
    const Finding finding = the_finding(judge(sweep_of(plan, 12)), Blame::kLeaf);
    EXPECT_EQ(finding.leaf, 2);
    EXPECT_TRUE(finding.hosts.empty());
    EXPECT_NEAR(finding.ratio, 0.6, 0.02);
    EXPECT_EQ(finding.direction, direction.empty()       ? Direction::kBoth
                                 : direction == ":sends" ? Direction::kSends
                                                         : Direction::kReceives);
  }
}

TEST(Attribution, HostsOfOneLeafThatAreSlowWithEachOtherTooAreHosts) {
  FabricPlan plan = clean_fabric(48, {"host:16:0.7", "host:17:0.7", "host:18:0.7", "host:19:0.7"});
  plan.leaf_size = 4;
  const Verdict verdict = judge(sweep_of(plan));
  EXPECT_EQ(with_blame(verdict, Blame::kHost).size(), 4U);
  EXPECT_EQ(verdict.findings.size(), 4U);
}

/// Of two leaves, most readings between them are slow where most hosts of one are.
TEST(Attribution, MostHostsOfOneOfTwoLeavesAndNotTheOtherLeaf) {
  for (const std::int32_t size : {4, 8, 16}) {
    for (std::int32_t slow = size / 2 + 1; slow < size; ++slow) {
      std::vector<std::string> faults;
      for (std::int32_t host = 0; host < slow; ++host) faults.push_back("host:" + std::to_string(host) + ":0.6");
      FabricPlan plan = clean_fabric(2 * size, faults);
      plan.leaf_size = size;
      const Verdict verdict = judge(sweep_of(plan));
      EXPECT_EQ(with_blame(verdict, Blame::kHost).size(), static_cast<std::size_t>(slow)) << slow << " of " << size;
      EXPECT_EQ(verdict.findings.size(), static_cast<std::size_t>(slow)) << slow << " of " << size;
    }
  }
}

TEST(Attribution, APathBetweenTwoLeaves) {
  FabricPlan plan = clean_fabric(32, {"leaf-pair:1:3:0.7"});
  plan.leaf_size = 8;
  const Finding both = the_finding(judge(sweep_of(plan)), Blame::kLeafPair);
  EXPECT_EQ(std::minmax(both.leaf, both.other_leaf), std::minmax(1, 3));
  EXPECT_EQ(both.direction, Direction::kBoth);
  plan.faults = {parse_fault("leaf-pair:3:1:0.7:sends")};
  const Finding one_way = the_finding(judge(sweep_of(plan)), Blame::kLeafPair);
  EXPECT_EQ(one_way.leaf, 3);
  EXPECT_EQ(one_way.other_leaf, 1);
  EXPECT_EQ(one_way.direction, Direction::kSends);
}

TEST(Attribution, APairIsAQuestionFirstAndThenNamed) {
  const FabricPlan plan = clean_fabric(16, {"pair:2:5:0.7"});
  Sweep sweep = sweep_of(plan);
  const Verdict first = judge(sweep);
  EXPECT_TRUE(first.findings.empty());
  EXPECT_TRUE(asks_about(first, 2, 5));
  EXPECT_EQ(first.judged, Judged::kUnknown);
  measure_again(plan, {2, 5}, 2, sweep);
  EXPECT_TRUE(judge(sweep).findings.empty()) << "two more readings are not three";
  measure_again(plan, {2, 5}, 1, sweep);
  const Verdict last = judge(sweep);
  const Finding finding = the_finding(last, Blame::kPair);
  EXPECT_EQ(finding.hosts, (Hosts{2, 5}));
  EXPECT_EQ(finding.direction, Direction::kBoth);
  EXPECT_NEAR(finding.ratio, 0.7, 0.02);
  EXPECT_TRUE(finding.confirmed);
  EXPECT_FALSE(asks_about(last, 2, 5));
}

TEST(Attribution, OneDirectionOfAPair) {
  const FabricPlan plan = clean_fabric(16, {"pair:5:2:0.7:sends"});
  Sweep sweep = sweep_of(plan);
  measure_again(plan, {2, 5}, 3, sweep);
  const Finding finding = the_finding(judge(sweep), Blame::kPair);
  EXPECT_EQ(finding.hosts, (Hosts{5, 2})) << "from 5 to 2";
  EXPECT_EQ(finding.direction, Direction::kSends);
}

TEST(Attribution, APairOfASlowHostIsOnlyWhatTheHostDoesNotExplain) {
  const FabricPlan plan = clean_fabric(16, {"host:2:0.8", "pair:2:5:0.6"});
  Sweep sweep = sweep_of(plan);
  measure_again(plan, {2, 5}, 4, sweep);
  measure_again(plan, {2, 6}, 4, sweep);
  const Verdict verdict = judge(sweep);
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].blame, Blame::kPair);
  EXPECT_EQ(verdict.findings[0].hosts, (Hosts{2, 5}));
  EXPECT_EQ(verdict.findings[1].blame, Blame::kHost);
  EXPECT_EQ(verdict.findings[1].hosts, Hosts{2});
}

TEST(Attribution, AReadingThatDoesNotComeAgainIsNobodysFault) {
  const FabricPlan plan = clean_fabric(16);
  Sweep sweep = sweep_of(plan);
  const auto once = std::find_if(sweep.readings.begin(), sweep.readings.end(),
                                 [](const Reading& each) { return each.from == 4 && each.to == 9; });
  ASSERT_NE(once, sweep.readings.end());
  once->rate *= 0.6F;
  const Verdict open = judge(sweep);
  EXPECT_TRUE(open.findings.empty());
  EXPECT_TRUE(asks_about(open, 4, 9));
  EXPECT_EQ(open.outliers, 0) << "the path may explain it";
  measure_again(plan, {4, 9}, 1, sweep);
  EXPECT_EQ(judge(sweep).judged, Judged::kClean);
}

TEST(Attribution, OnePercentOfOutliersBlamesNobody) {
  FabricPlan plan = clean_fabric(64);
  plan.outliers = 0.01;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    plan.seed = seed;
    EXPECT_TRUE(judge(sweep_of(plan, 12)).findings.empty()) << seed;
  }
}

/// Rounds differ by some percent. The last one was fast, which says nothing of those in which a pair is measured alone.
TEST(Attribution, WhatTheLastRoundHasByChanceIsNotExpectedOfPairsThatAreMeasuredAloneLater) {
  const FabricPlan plan = clean_fabric(48);
  Sweep sweep = sweep_of(plan);
  const std::int32_t last = sweep.readings.back().round;
  measure_again(plan, {4, 9}, 4, sweep);
  constexpr std::array<float, 7> kChance = {-0.04F, 0.03F, 0.05F, -0.06F, 0.01F, 0.04F, -0.03F};
  for (Reading& each : sweep.readings) {
    const float chance = each.round == last ? 0.08F : kChance.at(static_cast<std::size_t>(each.round) % kChance.size());
    const bool is_pair = (each.from == 4 && each.to == 9) || (each.from == 9 && each.to == 4);
    each.rate *= is_pair ? 0.93F : 1 + chance;
  }
  EXPECT_TRUE(judge(sweep).findings.empty());
}

/// Where a partner has two readings, one outlier makes their median slow.
TEST(Attribution, OneSlowReadingOfTwoWithHalfOfThePartnersIsNoSlowHost) {
  Sweep sweep = again_and_again(clean_fabric(16), 30);
  for (std::size_t i = 0; i < sweep.readings.size(); i += 21) sweep.readings[i].rate *= 0.65F;
  for (Reading& each : sweep.readings) {
    if (each.from == 6 && each.to < 9 && each.round < 15) each.rate *= 0.65F;
  }
  EXPECT_TRUE(with_blame(judge(sweep), Blame::kHost).empty());
}

TEST(Attribution, AHostIsNotSaidToBeFastInADirectionThatIsNearlySlow) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    FabricPlan plan = clean_fabric(8, {"host:3:0.95"});
    plan.seed = seed;
    for (const Finding& finding : judge(again_and_again(plan, 42)).findings) {
      EXPECT_FALSE(finding.other_way_fine) << "seed " << seed;
      EXPECT_EQ(finding.direction, Direction::kBoth) << "seed " << seed;
    }
  }
}

TEST(Attribution, AHostNearTheToleranceIsSlowOrTold) {
  for (const std::string factor : {"0.94", "0.95", "0.96", "0.97"}) {
    const Verdict verdict = judge(sweep_of(clean_fabric(32, {"host:4:" + factor})));
    EXPECT_TRUE(with_blame(verdict, Blame::kTransient).empty()) << factor;
    EXPECT_TRUE(with_blame(verdict, Blame::kPair).empty()) << factor;
    const bool told = std::any_of(verdict.notes.begin(), verdict.notes.end(), [](const std::string& note) {
      return note.find("--tolerance") != std::string::npos && note.find(": node04;") != std::string::npos;
    });
    EXPECT_NE(told, !with_blame(verdict, Blame::kHost).empty()) << factor;
  }
  EXPECT_TRUE(judge(sweep_of(clean_fabric(32))).notes.empty());
}

/// Few hosts: one of them would draw down what is usual, and hide.
TEST(Attribution, AHostNearTheToleranceIsToldOfFewHosts) {
  for (const std::int32_t hosts : {4, 5, 8}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      FabricPlan plan = clean_fabric(hosts, {"host:1:0.95"});
      plan.seed = seed;
      const Verdict verdict = judge(again_and_again(plan, 30));
      const bool named = !with_blame(verdict, Blame::kHost).empty();
      EXPECT_TRUE(named || asks_about_host(verdict, 1)) << hosts << " hosts, seed " << seed;
      EXPECT_LE(verdict.findings.size(), named ? 1U : 0U) << hosts << " hosts, seed " << seed;
    }
  }
}

}  // namespace attribution_test
