// Clusters that fall apart: hosts that work with each other, and not with the others.
#include <gtest/gtest.h>

#include "attribution_test_support.h"

namespace fabricbench::cluster {
namespace {

/// All pairs, of which those between the first so many hosts and the others fail.
Sweep cut_behind(std::int32_t first, std::int32_t hosts, int rounds = 0) {
  Sweep sweep = sweep_of(clean_fabric(hosts), rounds);
  for (Reading& each : sweep.readings) {
    if ((each.from < first) != (each.to < first)) each.outcome = Outcome::kFailed;
  }
  return sweep;
}

TEST(Parts, TheSmallerOneIsCutOffAndNobodyIsDead) {
  for (const std::int32_t size : {2, 3, 5, 8}) {
    const Finding finding = the_finding(judge(cut_behind(size, 17)), Blame::kCutOff);
    Hosts hosts;
    for (std::int32_t host = 0; host < size; ++host) hosts.push_back(host);
    EXPECT_EQ(finding.hosts, hosts);
    EXPECT_EQ(finding.failed, 2 * size * (17 - size));
    EXPECT_EQ(finding.partners, 17 - size);
  }
}

TEST(Parts, SlowHostsOfEitherAreStillFound) {
  Sweep sweep = cut_behind(6, 16);
  for (Reading& each : sweep.readings) {
    for (const std::int32_t slow : {2, 9}) {
      if (each.from == slow || each.to == slow) each.rate *= 0.6F;
    }
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(with_blame(verdict, Blame::kCutOff).size(), 1U);
  EXPECT_EQ(with_blame(verdict, Blame::kHost).size(), 2U);
  EXPECT_EQ(verdict.findings.size(), 3U);
}

/// One pair that works shows that they are not apart.
TEST(Parts, AreOneWhereAnythingWorksBetweenThem) {
  Sweep sweep = cut_behind(4, 16);
  for (Reading& each : sweep.readings) {
    if (std::min(each.from, each.to) == 1 && std::max(each.from, each.to) == 9) each.outcome = Outcome::kMeasured;
  }
  EXPECT_TRUE(with_blame(judge(sweep), Blame::kCutOff).empty());
}

TEST(Parts, FewPairsDoNotCutOff) {
  EXPECT_TRUE(with_blame(judge(cut_behind(4, 16, 2)), Blame::kCutOff).empty()) << "two rounds";
}

/// Of two that are cut off and have not met nobody knows whether they are one.
TEST(Parts, ThoseThatAreCutOffAreMeasuredWithEachOther) {
  Sweep sweep = cut_behind(6, 20);
  std::erase_if(sweep.readings,
                [](const Reading& each) { return each.from < 6 && each.to < 6 && (each.from < 3) != (each.to < 3); });
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(with_blame(verdict, Blame::kCutOff).size(), 2U);
  EXPECT_TRUE(asks_about(verdict, 0, 3));
  sweep.readings.push_back(reading(0, 3, 25e9, 20));
  sweep.readings.push_back(reading(3, 0, 25e9, 20));
  EXPECT_EQ(the_finding(judge(sweep), Blame::kCutOff).hosts.size(), 6U);
}

/// Hosts that look dead are to meet each other, in one round as many as can.
TEST(Parts, TheDeadAreMeasuredWithEachOther) {
  Sweep sweep = cut_behind(4, 16);
  std::erase_if(sweep.readings, [](const Reading& each) { return each.from < 4 && each.to < 4; });
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(with_blame(verdict, Blame::kDead).size(), 4U);
  std::vector<int> asked(16, 0);
  for (const FollowUp& follow_up : verdict.follow_ups) {
    EXPECT_TRUE(follow_up.of_dead);
    EXPECT_LT(std::max(follow_up.host, follow_up.other), 4);
    ++asked[static_cast<std::size_t>(follow_up.host)];
    ++asked[static_cast<std::size_t>(follow_up.other)];
  }
  for (std::size_t host = 0; host < 4; ++host) EXPECT_GE(asked[host], 2) << host;

  for (const FollowUp& follow_up : verdict.follow_ups) {
    sweep.readings.push_back(failure(follow_up.host, follow_up.other, 15));
    sweep.readings.push_back(failure(follow_up.other, follow_up.host, 15));
  }
  EXPECT_TRUE(judge(sweep).follow_ups.empty()) << "once is enough: each failure costs a time limit";
}

}  // namespace
}  // namespace fabricbench::cluster
