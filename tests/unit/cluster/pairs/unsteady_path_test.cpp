// Paths that are slow or fail now and then, while both of their hosts are fine with others.
#include <gtest/gtest.h>

#include "attribution_test_support.h"

namespace fabricbench::cluster {
namespace {

/// The pair of hosts 1 and 6 in its meetings with these numbers: slow, or without a figure.
void spoil(Sweep& sweep, const std::vector<int>& meetings, Outcome outcome) {
  int meeting = -1;
  std::int32_t round = -1;
  for (Reading& each : sweep.readings) {
    if (std::min(each.from, each.to) != 1 || std::max(each.from, each.to) != 6) continue;
    if (std::exchange(round, each.round) != each.round) ++meeting;
    if (std::find(meetings.begin(), meetings.end(), meeting) == meetings.end()) continue;
    each.rate *= 0.4F;
    each.outcome = outcome;
  }
}

TEST(UnsteadyPath, IsOpenWhileItIsSlowNowAndThen) {
  for (const std::vector<int>& slow : {std::vector{0, 2}, {0, 1, 4}, {2, 3}}) {
    Sweep sweep = again_and_again(clean_fabric(8), 35, false);
    spoil(sweep, slow, Outcome::kMeasured);
    const Verdict verdict = judge(sweep);
    EXPECT_EQ(verdict.judged, Judged::kUnknown);
    EXPECT_TRUE(asks_about(verdict, 1, 6));
  }
}

TEST(UnsteadyPath, IsNamedOnceItWasSlowOften) {
  Sweep sweep = again_and_again(clean_fabric(8), 70, false);
  spoil(sweep, {0, 2, 3, 7}, Outcome::kMeasured);
  const Finding finding = the_finding(judge(sweep), Blame::kTransient);
  EXPECT_EQ(finding.hosts, (Hosts{1, 6}));
  EXPECT_EQ(finding.slow, 8);
  EXPECT_EQ(finding.readings, 20);
}

TEST(UnsteadyPath, IsChanceWhereOthersAreSlowAsOften) {
  Sweep sweep = again_and_again(clean_fabric(8), 70, false);
  spoil(sweep, {0, 7}, Outcome::kMeasured);
  std::mt19937 random(3);
  std::bernoulli_distribution slow(0.1);
  for (Reading& each : sweep.readings) {
    if (slow(random)) each.rate *= 0.4F;
  }
  EXPECT_EQ(with_blame(judge(sweep), Blame::kTransient).size(), 0U);
}

TEST(UnsteadyPath, FailsNowAndThen) {
  Sweep sweep = again_and_again(clean_fabric(8), 35, false);
  spoil(sweep, {0, 2}, Outcome::kFailed);
  const Verdict open = judge(sweep);
  EXPECT_EQ(open.judged, Judged::kUnknown);
  EXPECT_TRUE(asks_about(open, 1, 6));

  sweep = again_and_again(clean_fabric(8), 35, false);
  spoil(sweep, {0, 2, 3}, Outcome::kFailed);
  const Finding finding = the_finding(judge(sweep), Blame::kTransient);
  EXPECT_EQ(finding.hosts, (Hosts{1, 6}));
  EXPECT_EQ(finding.direction, Direction::kBoth);
  EXPECT_EQ(finding.failed, 6);
  EXPECT_EQ(finding.readings, 10);
}

TEST(UnsteadyPath, FailsInOneDirection) {
  Sweep sweep = again_and_again(clean_fabric(8), 35, false);
  spoil(sweep, {0, 2, 3}, Outcome::kFailed);
  for (Reading& each : sweep.readings) {
    if (each.from == 1) each.outcome = Outcome::kMeasured;
    if (each.from == 1 && each.to == 6) each.rate = 25e9F;
  }
  const Finding finding = the_finding(judge(sweep), Blame::kTransient);
  EXPECT_EQ(finding.hosts, (Hosts{6, 1}));
  EXPECT_EQ(finding.direction, Direction::kSends);
  EXPECT_EQ(finding.failed, 3);
  EXPECT_EQ(finding.readings, 5);
}

/// Hosts that fail with others too are what is to be looked at, and no path.
TEST(UnsteadyPath, IsNotBlamedForAHostThatFailsWithOthers) {
  Sweep sweep = again_and_again(clean_fabric(8), 35, false);
  spoil(sweep, {0, 2, 3}, Outcome::kFailed);
  for (Reading& each : sweep.readings) {
    if ((each.from == 1 || each.to == 1) && each.round % 9 == 4) each.outcome = Outcome::kFailed;
  }
  for (const Finding& finding : with_blame(judge(sweep), Blame::kTransient)) EXPECT_EQ(finding.hosts, Hosts{1});
}

}  // namespace
}  // namespace fabricbench::cluster
