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

using namespace fabricbench::cluster;

namespace unsteady_host_test {

bool asks_about_host(const Verdict& verdict, std::int32_t host) {
  return std::any_of(verdict.follow_ups.begin(), verdict.follow_ups.end(),
                     [host](const FollowUp& follow_up) { return follow_up.host == host && follow_up.other < 0; });
}

TEST(UnsteadyHost, AHostThatIsSlowNowAndThen) {
  FabricPlan plan = clean_fabric(64, {"flapping:4:0.6:0.3"});
  plan.outliers = 0.01;
  const Finding finding = the_finding(judge(sweep_of(plan)), Blame::kTransient);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_NEAR(finding.ratio, 0.6, 0.03);
  EXPECT_GE(finding.partners, 3);
}

/// All pairs of so many hosts; what host 4 does in three rounds is slow.
Sweep slow_three_times(std::int32_t hosts) {
  Sweep sweep = sweep_of(clean_fabric(hosts));
  for (Reading& each : sweep.readings) {
    const bool slow = each.round == 2 || each.round == 9 || each.round == 20;
    if (slow && (each.from == 4 || each.to == 4)) each.rate *= 0.5F;
  }
  return sweep;
}

TEST(UnsteadyHost, AHostThatMayBeSlowNowAndThenIsMeasuredMoreOften) {
  const Verdict verdict = judge(slow_three_times(32));
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_TRUE(asks_about_host(verdict, 4));
  EXPECT_EQ(verdict.judged, Judged::kUnknown);
}

TEST(UnsteadyHost, AHostThatMayBeSlowNowAndThenIsNotMeasuredForEver) {
  const Verdict verdict = judge(slow_three_times(64));
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_FALSE(asks_about_host(verdict, 4));
}

/// A matrix has no rounds: with some partners is not now and then.
TEST(UnsteadyHost, NobodyIsWhereAllWasMeasuredInOneRound) {
  Sweep sweep = sweep_of(clean_fabric(32));
  for (Reading& each : sweep.readings) {
    const std::int32_t partner = each.from == 4 ? each.to : each.to == 4 ? each.from : -1;
    if (partner >= 0 && partner % 4 == 1) each.rate *= 0.5F;
    each.round = 0;
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(with_blame(verdict, Blame::kTransient).size(), 0U);
  EXPECT_NE(verdict.judged, Judged::kClean);
}

/// Of four rails one is slow by chance in every seventh meeting, but never so slow.
TEST(UnsteadyHost, AHostThatIsSlowerNowAndThenThanChanceMakesAnyIsNotFine) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    FabricPlan plan = clean_fabric(8);
    plan.rails = 4;
    plan.outliers = 0.02;
    plan.seed = seed;
    Sweep sweep = again_and_again(plan, 28, false);
    for (Reading& each : sweep.readings) {
      if (each.round % 5 == 1 && (each.from == 6 || each.to == 6)) each.rate *= 0.3F;
    }
    EXPECT_NE(judge(sweep).judged, Judged::kClean) << "seed " << seed;
  }
}

/// Of four hosts no more than two pairs can be measured at once.
TEST(UnsteadyHost, ARoundInWhichAllPairsOfFourHostsAreSlowBlamesNobody) {
  Sweep sweep = again_and_again(clean_fabric(4), 30);
  for (Reading& each : sweep.readings) {
    if (each.round % 10 == 3 || each.round % 10 == 4) each.rate *= 0.6F;
  }
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.judged, Judged::kClean);
}

/// Of four hosts one is slow in two of five rounds, and single readings of others are slow too. Its partners meet it so
/// often that chance makes as many of their meetings slow: that speaks against none of them.
TEST(UnsteadyHost, TheHostThatComesAndGoesAndNotItsPartners) {
  for (const std::int32_t rails : {1, 4}) {
    FabricPlan plan = clean_fabric(4);
    plan.rails = rails;
    Sweep sweep = again_and_again(plan, 40);
    for (Reading& each : sweep.readings) {
      const bool of_first = each.from == 0 || each.to == 0;
      if (of_first && each.round % 5 < 2) each.rate *= 0.5F;
      if (!of_first && each.round % 8 == 3 && each.from < each.to && each.from_rail == 0) each.rate *= 0.7F;
    }
    const Verdict verdict = judge(sweep);
    EXPECT_EQ(the_finding(verdict, Blame::kTransient).hosts, Hosts{0}) << rails << " rails";
  }
}

/// Each reading of one of four hosts is slow by itself, so that each of its pairs is slow now and then.
TEST(UnsteadyHost, AHostWhoseReadingsComeAndGoIsBlamedAndNoPairOfIt) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Sweep sweep = again_and_again(clean_fabric(4), 72, false);
    std::mt19937 random(seed);
    std::bernoulli_distribution slow(0.4);
    for (Reading& each : sweep.readings) {
      if ((each.from == 2 || each.to == 2) && slow(random)) each.rate *= 0.4F;
    }
    EXPECT_EQ(the_finding(judge(sweep), Blame::kTransient).hosts, Hosts{2}) << "seed " << seed;
  }
}

/// Slow in two of three meetings, and by chance in all with one partner.
TEST(UnsteadyHost, AHostThatComesAndGoesExplainsAPartnerWithWhomItAlwaysWas) {
  Sweep sweep = again_and_again(clean_fabric(4), 30);
  for (Reading& each : sweep.readings) {
    const bool of_first = each.from == 0 || each.to == 0;
    const bool with_last = each.from == 3 || each.to == 3;
    if (of_first && (with_last || each.round % 4 < 2)) each.rate *= 0.46F;
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kTransient).hosts, Hosts{0});
}

TEST(UnsteadyHost, AHostThatIsSlowBesideSlowerOnesIsNotUnsteady) {
  const Verdict verdict = judge(again_and_again(
      clean_fabric(17, {"host:3:0.74", "host:10:0.38", "host:6:0.58", "host:12:0.47", "host:1:0.53", "host:14:0.46"}),
      68));
  EXPECT_EQ(with_blame(verdict, Blame::kHost).size(), 6U);
  EXPECT_EQ(verdict.findings.size(), 6U);
}

/// Rounds of all pairs of so many hosts, again and again; host 0 is slow in every second meeting with host 1.
Sweep slow_with_one(std::int32_t hosts, int times) {
  Sweep sweep = sweep_of(clean_fabric(hosts));
  const Sweep once = sweep;
  for (int time = 1; time < times; ++time) {
    for (Reading each : once.readings) {
      each.round += time * (hosts - 1);
      const bool slow = each.from + each.to == 1 && time % 2 == 0;
      if (slow) each.rate *= 0.5F;
      sweep.readings.push_back(each);
    }
  }
  return sweep;
}

TEST(UnsteadyHost, APairThatIsSlowNowAndThenIsToldFromAHostThatIs) {
  const Finding path = the_finding(judge(slow_with_one(8, 12)), Blame::kTransient);
  EXPECT_EQ(path.hosts, (Hosts{0, 1}));
  Sweep sweep = slow_with_one(8, 12);
  for (Reading& each : sweep.readings) {
    if ((each.from == 0 || each.to == 0) && each.round % 9 == 0) each.rate *= 0.5F;
  }
  const Verdict host = judge(sweep);
  EXPECT_TRUE(std::none_of(host.findings.begin(), host.findings.end(), [](const Finding& finding) {
    return finding.blame == Blame::kTransient && finding.hosts == Hosts{0, 1};
  })) << "host 0 is slow with others too";
}

TEST(UnsteadyHost, AHostThatFailsNowAndThen) {
  Sweep sweep = sweep_of(clean_fabric(32));
  for (Reading& each : sweep.readings) {
    if ((each.from == 4 || each.to == 4) && each.round % 3 == 0) each.outcome = Outcome::kFailed;
  }
  const Verdict verdict = judge(sweep);
  const Finding finding = the_finding(verdict, Blame::kTransient);
  EXPECT_EQ(finding.hosts, Hosts{4});
  EXPECT_GT(finding.failed, 0);
}

}  // namespace unsteady_host_test
