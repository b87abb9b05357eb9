#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "attribution_test_support.h"

using namespace fabricbench::cluster;

namespace poor_data_test {

TEST(PoorData, ADeadHostAndNotItsPartners) {
  Sweep sweep = sweep_of(quiet_fabric(17, {"dead:4"}), 6);
  const Finding finding = the_finding(judge(sweep), Blame::kDead);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_EQ(finding.ratio, 0);
  EXPECT_EQ(finding.readings, finding.failed);
  EXPECT_GE(finding.partners, 5);
  EXPECT_EQ(finding.reason, "no answer (simulated)");
  EXPECT_LT(finding.false_alarm, 0.01);
}

TEST(PoorData, AHostThatDiesOnTheWay) {
  Sweep sweep = sweep_of(quiet_fabric(17), 12);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round >= 6) each.outcome = Outcome::kFailed;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kDead).hosts, Hosts{4});
}

/// After two failures the planner does not try a host again: that has to be enough to say what is wrong.
TEST(PoorData, AHostThatDiesOnTheWayFailsTwiceOnly) {
  Sweep sweep = sweep_of(quiet_fabric(17), 12);
  std::erase_if(sweep.readings,
                [](const Reading& each) { return (each.from == 4 || each.to == 4) && each.round >= 8; });
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round >= 6) each.outcome = Outcome::kFailed;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kDead).hosts, Hosts{4});
}

/// What fails at the end may be the whole network, of which nobody has been heard since.
TEST(PoorData, TwoFailuresAtTheEndDoNotMakeAHostDead) {
  Sweep sweep = sweep_of(quiet_fabric(17), 12);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round >= 10) each.outcome = Outcome::kFailed;
  }
  std::erase_if(sweep.readings,
                [](const Reading& each) { return each.round >= 10 && each.outcome != Outcome::kFailed; });
  EXPECT_TRUE(with_blame(judge(sweep), Blame::kDead).empty());
}

TEST(PoorData, ADeadRailOfAHostThatWorks) {
  FabricPlan plan = quiet_fabric(16);
  plan.rails = 2;
  Sweep sweep = sweep_of(plan, 6);
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.from_rail == 1) each.outcome = Outcome::kFailed;
  }
  const Finding finding = the_finding(judge(sweep), Blame::kNic);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_EQ(finding.rail, 1);
  EXPECT_EQ(finding.ratio, 0);
}

/// Sixteen hosts with two rails; over the second one a reading fails where `fails` says so.
template <typename Fails>
Sweep with_failures_over_a_rail(int rounds, const Fails& fails) {
  FabricPlan plan = quiet_fabric(16);
  plan.rails = 2;
  Sweep sweep = sweep_of(plan, rounds);
  for (Reading& each : sweep.readings) {
    if (each.from_rail == 1 && fails(each)) each.outcome = Outcome::kFailed;
  }
  return sweep;
}

TEST(PoorData, ARailOverWhichNothingWorks) {
  const Verdict verdict = judge(with_failures_over_a_rail(6, [](const Reading&) { return true; }));
  const Finding finding = the_finding(verdict, Blame::kRail);
  EXPECT_EQ(finding.rail, 1);
  EXPECT_TRUE(finding.hosts.empty());
  EXPECT_EQ(finding.ratio, 0);
  EXPECT_EQ(finding.failed, 6 * 16);
  EXPECT_EQ(finding.partners, 16);
  EXPECT_EQ(finding.working_partners, 16);
  EXPECT_FALSE(finding.has_worked);
  EXPECT_LT(finding.false_alarm, 0.01);
  EXPECT_TRUE(verdict.questions.empty());
  EXPECT_TRUE(verdict.not_judged.empty());
}

TEST(PoorData, ARailThatDiesOnTheWay) {
  const Sweep sweep = with_failures_over_a_rail(12, [](const Reading& each) { return each.round >= 4; });
  EXPECT_TRUE(the_finding(judge(sweep), Blame::kRail).has_worked);
}

/// Where two work with each other, the switches do, and the others' NICs are to blame.
TEST(PoorData, ARailOverWhichTwoWorkIsNotDead) {
  const Sweep sweep = with_failures_over_a_rail(0, [](const Reading& each) { return each.from > 1 || each.to > 1; });
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(with_blame(verdict, Blame::kRail).empty());
  EXPECT_EQ(with_blame(verdict, Blame::kNic).size(), 14U);
}

/// After one round, each of a pair may be to blame.
TEST(PoorData, ARailOfOneRoundIsNotDead) {
  const Verdict verdict = judge(with_failures_over_a_rail(1, [](const Reading&) { return true; }));
  EXPECT_TRUE(with_blame(verdict, Blame::kRail).empty());
}

TEST(PoorData, TwoThatFailOnlyWithEachOther) {
  const FabricPlan plan = quiet_fabric(17, {"dead-pair:4:5"});
  Sweep sweep = sweep_of(plan);
  const Verdict once = judge(sweep);
  EXPECT_EQ(the_finding(once, Blame::kUndecided).hosts, (Hosts{4, 5}));
  EXPECT_TRUE(asks_about(once, 4, 5));
  measure_again(plan, {4, 5}, 1, sweep);
  const Finding finding = the_finding(judge(sweep), Blame::kDeadPair);
  EXPECT_EQ(finding.hosts, (Hosts{4, 5}));
  EXPECT_EQ(finding.failed, 4);
  EXPECT_TRUE(finding.confirmed);
}

TEST(PoorData, AFailureThatDoesNotComeAgainIsNobodysFault) {
  const FabricPlan plan = quiet_fabric(17);
  Sweep sweep = sweep_of(plan);
  for (Reading& each : sweep.readings) {
    if (std::minmax(each.from, each.to) == std::minmax(4, 5)) each.outcome = Outcome::kFailed;
  }
  measure_again(plan, {4, 5}, 1, sweep);
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.failed, 2);
}

TEST(PoorData, NotTriedSaysNothing) {
  Sweep sweep = sweep_of(quiet_fabric(8));
  const std::int64_t measured = static_cast<std::int64_t>(sweep.readings.size());
  for (int other = 0; other < 7; ++other) {
    Reading skipped = failure(7, other, 9);
    skipped.outcome = Outcome::kNotTried;
    sweep.readings.push_back(skipped);
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.judged, Judged::kClean);
  EXPECT_EQ(verdict.readings, measured);
}

TEST(PoorData, TwoHostsThatFailCannotBeToldApart) {
  Sweep sweep = hosts_only(2);
  sweep.readings = {failure(0, 1), failure(1, 0)};
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(the_finding(verdict, Blame::kUndecided).hosts, (Hosts{0, 1}));
  EXPECT_TRUE(asks_about(verdict, 0, -1));
  EXPECT_TRUE(asks_about(verdict, 1, -1));
}

TEST(PoorData, TwoHostsAloneHaveNothingToCompareWith) {
  Sweep sweep = hosts_only(2);
  sweep.readings = {reading(0, 1, 10e9), reading(1, 0, 10.1e9)};
  const Verdict same = judge(sweep);
  EXPECT_EQ(same.judged, Judged::kUnknown);
  EXPECT_TRUE(same.findings.empty());
  EXPECT_EQ(same.not_judged, (Hosts{0, 1}));
  sweep.readings[0].rate = 5e9F;
  const Finding finding = the_finding(judge(sweep), Blame::kUndecided);
  EXPECT_EQ(finding.hosts, (Hosts{0, 1})) << "slow from 0 to 1";
  EXPECT_EQ(finding.direction, Direction::kSends);
}

TEST(PoorData, OneMatchingCannotTellWhichOfTheTwo) {
  const Verdict verdict = judge(sweep_of(quiet_fabric(32, {"host:5:0.6"}), 1));
  const Finding finding = the_finding(verdict, Blame::kUndecided);
  ASSERT_EQ(finding.hosts.size(), 2U);
  EXPECT_TRUE(finding.hosts[0] == 5 || finding.hosts[1] == 5);
  for (const std::int32_t suspect : finding.hosts) EXPECT_TRUE(asks_about(verdict, suspect, -1));
}

TEST(PoorData, TwoClassesOfPairsBlameNobody) {
  // Leaves of which nobody told: half the pairs of every host are slower.
  for (const auto& [hosts, leaf, rounds] :
       {std::tuple{64, 32, 12}, {64, 32, 0}, {8, 4, 0}, {32, 24, 12}, {64, 8, 12}}) {
    FabricPlan plan = quiet_fabric(hosts);
    plan.leaf_size = leaf;
    plan.crossing = 0.7;
    plan.leaves_known = false;
    const Verdict verdict = judge(sweep_of(plan, rounds));
    EXPECT_TRUE(verdict.findings.empty()) << hosts << " in leaves of " << leaf;
    EXPECT_FALSE(verdict.groupings.empty()) << hosts << " in leaves of " << leaf;
    plan.leaves_known = true;
    EXPECT_EQ(judge(sweep_of(plan, rounds)).judged, Judged::kClean) << hosts << " in leaves of " << leaf;
  }
}

TEST(PoorData, SparseDataWithGaps) {
  FabricPlan plan = quiet_fabric(64, {"host:9:0.85"});
  plan.outliers = 0.01;
  Sweep sweep = sweep_of(plan, 12);
  // Every third reading never came.
  std::size_t place = 0;
  std::erase_if(sweep.readings, [&](const Reading&) { return place++ % 3 == 0; });
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{9});
}

TEST(PoorData, DriftOfEverybodyIsNobodysFault) {
  FabricPlan plan = quiet_fabric(64, {"host:9:0.9"});
  plan.drift = 0.08;
  EXPECT_EQ(the_finding(judge(sweep_of(plan, 12)), Blame::kHost).hosts, Hosts{9});
  plan.faults.clear();
  EXPECT_TRUE(judge(sweep_of(plan)).findings.empty());
}

TEST(PoorData, KindsOfReadingsAreNotMixed) {
  Sweep sweep = sweep_of(quiet_fabric(16), 6);
  const std::vector<Reading> large = sweep.readings;
  sweep.kinds.push_back("test 8 B");
  for (Reading each : large) {
    each.kind = 1;
    each.rate *= 0.01F;
    sweep.readings.push_back(each);
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.judged, Judged::kClean);
  EXPECT_EQ(verdict.strata.size(), 2U);
}

TEST(PoorData, OversubscriptionIsSaidAndHeldAgainstNobody) {
  FabricPlan plan = quiet_fabric(64);
  plan.leaf_size = 8;
  plan.oversubscription = 2;
  Sweep sweep = sweep_of(plan, 12);
  EXPECT_EQ(judge(sweep).alone_over_together, 0) << "nothing was measured alone";
  for (int host = 0; host < 8; ++host) {
    const Reading& pair = sweep.readings[static_cast<std::size_t>(10 * host)];
    measure_again(plan, {pair.from, pair.to}, 1, sweep);
  }
  const Verdict verdict = judge(sweep);
  EXPECT_GT(verdict.alone_over_together, 1.5);
  EXPECT_TRUE(verdict.findings.empty());
}

TEST(PoorData, ASlowPairOfAnOversubscribedFabricIsNotClearedByTheQuiet) {
  FabricPlan plan = quiet_fabric(64, {"pair:1:20:0.3"});
  plan.leaf_size = 8;
  plan.oversubscription = 2;
  Sweep sweep = sweep_of(plan);
  for (int host = 2; host < 8; ++host) measure_again(plan, {host, host + 20}, 1, sweep);
  measure_again(plan, {1, 20}, 4, sweep);
  const Finding finding = the_finding(judge(sweep), Blame::kPair);
  EXPECT_EQ(finding.hosts, (Hosts{1, 20}));
}

TEST(PoorData, SmallDifferencesAreHeldAgainstNobody) {
  const FabricPlan plan = quiet_fabric(32, {"host:3:0.97", "pair:4:5:0.96"});
  EXPECT_TRUE(judge(sweep_of(plan)).findings.empty());
  VerdictSettings strict;
  strict.tolerance = 0.02;
  EXPECT_EQ(the_finding(judge(sweep_of(plan), strict), Blame::kHost).hosts, Hosts{3});
}

TEST(PoorData, RatesThatAreNoNumbersAreLeftOut) {
  Sweep sweep = sweep_of(quiet_fabric(8));
  for (const float rate :
       {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    sweep.readings.push_back(reading(1, 2, 0, 9));
    sweep.readings.back().rate = rate;
  }
  sweep.readings.push_back(reading(3, 3, 1, 9));  // with itself
  EXPECT_EQ(judge(sweep).judged, Judged::kClean);
}

TEST(PoorData, TheSameSweepGivesTheSameVerdict) {
  FabricPlan plan = quiet_fabric(64, {"host:3:0.9", "nic:8:0:0.8:sends"});
  plan.outliers = 0.01;
  const Sweep sweep = sweep_of(plan, 12);
  const Verdict first = judge(sweep);
  const Verdict second = judge(sweep);
  ASSERT_EQ(first.findings.size(), second.findings.size());
  for (std::size_t i = 0; i < first.findings.size(); ++i) {
    EXPECT_EQ(first.findings[i].hosts, second.findings[i].hosts);
    EXPECT_EQ(first.findings[i].ratio, second.findings[i].ratio);
  }
  EXPECT_EQ(first.questions.size(), second.questions.size());
}

}  // namespace poor_data_test
