#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "attribution_test_support.h"
#include "cluster/pairs/report/verdict_text.h"

using namespace fabricbench::cluster;

namespace poor_data_test {

TEST(PoorData, TwoHostsAloneHaveNothingToCompareWith) {
  Sweep sweep = hosts_only(2);
  sweep.readings = {reading(0, 1, 10e9), reading(1, 0, 10.1e9)};
  const Verdict same = judge(sweep);
  EXPECT_EQ(same.judged, Judged::kUnknown);
  EXPECT_TRUE(same.findings.empty());
  EXPECT_EQ(same.not_judged, (Hosts{0, 1}));
  sweep.readings[0].rate = 5e9F;
  const Verdict slow = judge(sweep);
  EXPECT_EQ(slow.judged, Judged::kUnknown) << "one reading may be chance";
  ASSERT_EQ(slow.findings.size(), 1U);
  const Finding& finding = slow.findings.front();
  EXPECT_EQ(finding.blame, Blame::kUndecided);
  EXPECT_EQ(finding.hosts, (Hosts{0, 1})) << "slow from 0 to 1";
  EXPECT_EQ(finding.direction, Direction::kSends);
}

TEST(PoorData, OneMatchingCannotTellWhichOfTheTwo) {
  const Verdict verdict = judge(sweep_of(clean_fabric(32, {"host:5:0.6"}), 1));
  EXPECT_EQ(verdict.judged, Judged::kUnknown) << "two readings may be chance";
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& finding = verdict.findings.front();
  EXPECT_EQ(finding.blame, Blame::kUndecided);
  ASSERT_EQ(finding.hosts.size(), 2U);
  EXPECT_TRUE(finding.hosts[0] == 5 || finding.hosts[1] == 5);
  for (const std::int32_t suspect : finding.hosts) EXPECT_TRUE(asks_about(verdict, suspect, -1));
}

TEST(PoorData, TwoClassesOfPairsBlameNobody) {
  // Leaves of which nobody told: half the pairs of every host are slower.
  for (const auto& [hosts, leaf, rounds] :
       {std::tuple{64, 32, 12}, {64, 32, 0}, {8, 4, 0}, {32, 24, 12}, {64, 8, 12}}) {
    FabricPlan plan = clean_fabric(hosts);
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
  FabricPlan plan = clean_fabric(64, {"host:9:0.85"});
  plan.outliers = 0.01;
  Sweep sweep = sweep_of(plan, 12);
  // Every third reading never came.
  std::size_t place = 0;
  std::erase_if(sweep.readings, [&](const Reading&) { return place++ % 3 == 0; });
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{9});
}

TEST(PoorData, DriftOfEverybodyIsNobodysFault) {
  FabricPlan plan = clean_fabric(64, {"host:9:0.9"});
  plan.drift = 0.08;
  EXPECT_EQ(the_finding(judge(sweep_of(plan, 12)), Blame::kHost).hosts, Hosts{9});
  plan.faults.clear();
  EXPECT_TRUE(judge(sweep_of(plan)).findings.empty());
}

/// Which time was as it should be is then nobody's to say.
TEST(PoorData, HalfOfTheUsualIsNotFine) {
  Sweep sweep = sweep_of(clean_fabric(16), 12);
  for (Reading& each : sweep.readings) each.rate *= each.round < 6 ? 1 : 0.5F;
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.judged, Judged::kUnknown);
}

TEST(PoorData, KindsOfReadingsAreNotMixed) {
  Sweep sweep = sweep_of(clean_fabric(16), 6);
  const std::vector<Reading> large = sweep.readings;
  sweep.tests.push_back("test 8 B");
  for (Reading each : large) {
    each.test = 1;
    each.rate *= 0.01F;
    sweep.readings.push_back(each);
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.judged, Judged::kClean);
  EXPECT_EQ(verdict.strata.size(), 2U);
}

TEST(PoorData, ASlowPairOfAnOversubscribedFabricIsNotClearedByTheQuiet) {
  FabricPlan plan = clean_fabric(64, {"pair:1:20:0.3"});
  plan.leaf_size = 8;
  plan.oversubscription = 2;
  Sweep sweep = sweep_of(plan);
  for (int host = 2; host < 8; ++host) measure_again(plan, {host, host + 20}, 1, sweep);
  measure_again(plan, {1, 20}, 4, sweep);
  const Finding finding = the_finding(judge(sweep), Blame::kPair);
  EXPECT_EQ(finding.hosts, (Hosts{1, 20}));
}

TEST(PoorData, SmallDifferencesAreHeldAgainstNobody) {
  const FabricPlan plan = clean_fabric(32, {"host:3:0.97", "pair:4:5:0.96"});
  EXPECT_TRUE(judge(sweep_of(plan)).findings.empty());
  VerdictSettings strict;
  strict.tolerance = 0.02;
  EXPECT_EQ(the_finding(judge(sweep_of(plan), strict), Blame::kHost).hosts, Hosts{3});
}

TEST(PoorData, RatesThatAreNoNumbersAreLeftOut) {
  Sweep sweep = sweep_of(clean_fabric(8));
  for (const float rate :
       {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    sweep.readings.push_back(reading(1, 2, 0, 9));
    sweep.readings.back().rate = rate;
  }
  sweep.readings.push_back(reading(3, 3, 1, 9));  // with itself
  EXPECT_EQ(judge(sweep).judged, Judged::kClean);
}

TEST(PoorData, TheSameSweepGivesTheSameVerdict) {
  FabricPlan plan = clean_fabric(64, {"host:3:0.9", "nic:8:0:0.8:sends"});
  plan.outliers = 0.01;
  const Sweep sweep = sweep_of(plan, 12);
  const Verdict first = judge(sweep);
  const Verdict second = judge(sweep);
  ASSERT_EQ(first.findings.size(), second.findings.size());
  for (std::size_t i = 0; i < first.findings.size(); ++i) {
    EXPECT_EQ(first.findings[i].hosts, second.findings[i].hosts);
    EXPECT_EQ(first.findings[i].ratio, second.findings[i].ratio);
  }
  EXPECT_EQ(first.follow_ups.size(), second.follow_ups.size());
}

/// Rates in GB/s over 7 rounds in which nearly every host is slow at some time.
TEST(PoorData, WhomOthersExplainAltogetherIsBlamedForNothing) {
  struct Row {
    std::int32_t from, to;
    double rate;
    std::int32_t round;
  };
  constexpr std::array<Row, 37> kRows = {
      {{2, 4, 2.66, 2},  {0, 2, 4.63, 3},  {5, 0, 4.67, 5},  {1, 4, 13.47, 5}, {4, 1, 10.86, 5}, {2, 3, 4.00, 5},
       {3, 2, 5.88, 5},  {4, 0, 4.67, 6},  {5, 3, 4.82, 6},  {3, 5, 4.80, 6},  {1, 2, 7.61, 6},  {3, 0, 10.30, 7},
       {2, 4, 8.30, 7},  {5, 1, 12.58, 7}, {1, 5, 9.72, 7},  {0, 2, 1.48, 8},  {2, 0, 1.65, 8},  {3, 1, 1.38, 8},
       {1, 3, 1.72, 8},  {4, 5, 4.00, 8},  {5, 4, 4.01, 8},  {0, 1, 4.70, 9},  {1, 0, 4.65, 9},  {2, 5, 9.12, 9},
       {5, 2, 8.18, 9},  {3, 4, 2.20, 9},  {4, 3, 4.51, 9},  {0, 5, 1.39, 10}, {5, 0, 1.64, 10}, {1, 4, 3.64, 10},
       {4, 1, 3.34, 10}, {0, 4, 1.55, 11}, {4, 0, 1.50, 11}, {5, 3, 1.39, 11}, {3, 5, 1.59, 11}, {1, 2, 2.79, 11},
       {2, 1, 2.54, 11}}};
  Sweep sweep = hosts_only(6);
  for (const Row& row : kRows) {
    sweep.readings.push_back(reading(row.from, row.to, row.rate * 1e9, row.round));
    sweep.readings.back().concurrent = 3;
  }
  const Verdict verdict = judge(sweep);
  EXPECT_NE(verdict.judged, Judged::kClean);
  for (const Finding& finding : verdict.findings) EXPECT_GT(finding.expected, 0);
}

/// Of sixteen hosts `slow` send at a third of the rate: readings of rounds differ by who meets whom, and not by time.
Sweep slow_senders(std::int32_t slow, std::uint64_t seed) {
  const Sweep once = sweep_by(
      16, [slow](std::int32_t from, std::int32_t) { return from < slow ? 0.33 : 1; }, 0, 0.03, seed);
  Sweep sweep = once;
  for (Reading each : once.readings) {
    each.round += 15;
    sweep.readings.push_back(each);
  }
  return sweep;
}

TEST(PoorData, WhoIsInARoundIsNotWhatIsUsualAtItsTime) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const std::int32_t slow : {5, 7, 9, 10}) {
      const Verdict verdict = judge(slow_senders(slow, seed));
      EXPECT_NE(verdict.judged, Judged::kClean);
      for (const Finding& finding : with_blame(verdict, Blame::kHost)) {
        EXPECT_LT(finding.hosts[0], slow) << "seed " << seed;
        EXPECT_GT(finding.ratio, 0.3) << "seed " << seed;
      }
    }
  }
}

TEST(PoorData, OneRoundIsNoExceptionFromItself) {
  Sweep sweep = sweep_by(8, [](std::int32_t a, std::int32_t b) { return 1 - 0.07 * std::max(a, b); });
  for (Reading& each : sweep.readings) each.round = 0;
  for (const std::string& note : judge(sweep).notes) EXPECT_EQ(note.find("everything was slower"), std::string::npos);
}

TEST(PoorData, FailuresThatNobodyIsBlamedForAreNotFine) {
  FabricPlan plan = clean_fabric(8);
  plan.missing = 0.3;
  for (plan.seed = 1; plan.seed <= 10; ++plan.seed) {
    const Verdict verdict = judge(again_and_again(plan, 28));
    EXPECT_NE(verdict.judged, Judged::kClean) << "seed " << plan.seed;
    EXPECT_TRUE(with_blame(verdict, Blame::kDead).empty()) << "seed " << plan.seed;
  }
}

}  // namespace poor_data_test
