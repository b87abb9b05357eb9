// What is said of clusters where many hosts are slow, and of what is expected of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "attribution_test_support.h"

namespace fabricbench::cluster {
namespace verdict_kinds_test {

std::vector<std::string> slow_hosts(int number) {
  std::vector<std::string> faults;
  for (int host = 0; host < number; ++host) faults.push_back("host:" + std::to_string(host) + ":0.7");
  return faults;
}

TEST(VerdictKinds, FewerThanHalfAreSlowHosts) {
  for (const int slow : {1, 3, 7}) {
    const Verdict verdict = judge(sweep_of(clean_fabric(16, slow_hosts(slow))));
    std::set<std::int32_t> blamed;
    for (const Finding& finding : with_blame(verdict, Blame::kHost)) blamed.insert(finding.hosts[0]);
    EXPECT_EQ(blamed.size(), static_cast<std::size_t>(slow));
    EXPECT_EQ(verdict.findings.size(), static_cast<std::size_t>(slow));
    EXPECT_FALSE(verdict.kinds);
  }
}

TEST(VerdictKinds, HalfOrMoreAreAKind) {
  for (const int slow : {8, 11, 14}) {
    const Verdict verdict = judge(sweep_of(clean_fabric(16, slow_hosts(slow))));
    EXPECT_EQ(verdict.judged, Judged::kUnknown);
    EXPECT_TRUE(verdict.findings.empty());
    ASSERT_TRUE(verdict.kinds);
    EXPECT_EQ(verdict.kinds->slow.size(), static_cast<std::size_t>(slow));
    EXPECT_EQ(verdict.kinds->fast.size(), static_cast<std::size_t>(16 - slow));
    EXPECT_NEAR(verdict.kinds->fast_rate, 25e9, 0.5e9);
    EXPECT_NEAR(verdict.kinds->slow_rate, 17.5e9, 0.5e9);
  }
}

/// One pair is no norm for its own two directions.
TEST(VerdictKinds, OfTwoFastHostsNoWayIsSlow) {
  Sweep sweep = again_and_again(clean_fabric(8, slow_hosts(6)), 35);
  for (Reading& each : sweep.readings) {
    if (each.from == 6 && each.to == 7) each.rate *= 0.87F;
  }
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_TRUE(verdict.kinds);
}

TEST(VerdictKinds, WhatIsExpectedSettlesWhichKindIsSlow) {
  const Sweep sweep = sweep_of(clean_fabric(16, slow_hosts(10)));
  VerdictSettings settings;
  settings.expected = 25e9;
  const Verdict slow = judge(sweep, settings);
  EXPECT_FALSE(slow.kinds);
  EXPECT_EQ(with_blame(slow, Blame::kHost).size(), 10U);
  EXPECT_EQ(slow.judged, Judged::kSlow);
  settings.expected = 17e9;
  const Verdict enough = judge(sweep, settings);
  ASSERT_TRUE(enough.kinds);
  EXPECT_TRUE(enough.kinds->both_suffice);
  EXPECT_EQ(enough.judged, Judged::kClean);
}

/// Gives every host a port; those below `slower` one of `rate`, and others one of 26.5 GB/s.
Sweep with_ports(Sweep sweep, std::int32_t slower, double rate) {
  sweep.routes = {{{Route::kNone, Route::kNone, Route::kNone}, 26.5e9},
                  {{Route::kNone, Route::kNone, Route::kNone}, rate}};
  for (const Reading& reading : sweep.readings) {
    sweep.routes_of.push_back({reading.from < slower ? 1 : 0, reading.to < slower ? 1 : 0});
  }
  return sweep;
}

TEST(VerdictKinds, TheRateOfTheAdaptersSettlesWhichKindIsSlow) {
  const Sweep sweep = sweep_of(clean_fabric(16, slow_hosts(10)));
  VerdictSettings settings;
  settings.expected_of_port = 0.9;
  const Verdict slow = judge(with_ports(sweep, 10, 26.5e9), settings);
  EXPECT_EQ(with_blame(slow, Blame::kHost).size(), 10U) << "their ports are as fast as those of the others";
  const Verdict older = judge(with_ports(sweep, 10, 18e9), settings);
  ASSERT_TRUE(older.kinds);
  EXPECT_TRUE(older.kinds->both_suffice) << "they have slower ports";
  EXPECT_EQ(older.judged, Judged::kClean);
  EXPECT_FALSE(judge(sweep, settings).kinds->both_suffice) << "nobody knows their ports";
  settings.expected_of_port = 0.99;
  settings.tolerance = 0.01;
  EXPECT_EQ(with_blame(judge(with_ports(sweep_of(clean_fabric(8)), 0, 0), settings), Blame::kAll).size(), 1U);
}

/// Hosts 0 to 9 have older ports, and host 10 a newer one that is as slow.
TEST(VerdictKinds, AHostThatIsAsSlowAsOlderOnesThoughItsPortIsNewIsSlow) {
  const Sweep sweep = sweep_of(clean_fabric(16, slow_hosts(11)));
  VerdictSettings settings;
  settings.expected_of_port = 0.9;
  const Verdict verdict = judge(with_ports(sweep, 10, 18e9), settings);
  EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{10});
  ASSERT_TRUE(verdict.kinds);
  EXPECT_EQ(verdict.kinds->slow.size(), 10U);
  EXPECT_TRUE(verdict.kinds->both_suffice);
}

TEST(VerdictKinds, FewOlderHostsThatReachWhatTheirPortsCarryAreNotSlow) {
  const Sweep sweep = sweep_of(clean_fabric(16, slow_hosts(4)));
  VerdictSettings settings;
  settings.expected_of_port = 0.9;
  const Verdict verdict = judge(with_ports(sweep, 4, 18e9), settings);
  EXPECT_EQ(verdict.judged, Judged::kClean);
  ASSERT_TRUE(verdict.kinds);
  EXPECT_EQ(verdict.kinds->slow, (Hosts{0, 1, 2, 3}));
  EXPECT_EQ(with_blame(judge(with_ports(sweep, 3, 18e9), settings), Blame::kHost).size(), 1U) << "one has a new port";
  EXPECT_EQ(with_blame(judge(with_ports(sweep, 4, 18e9)), Blame::kHost).size(), 4U) << "nothing is expected";
}

TEST(VerdictKinds, NothingThatReachesWhatIsExpectedIsAFinding) {
  VerdictSettings settings;
  settings.expected = 50e9;
  const Finding finding = the_finding(judge(sweep_of(clean_fabric(8)), settings), Blame::kAll);
  EXPECT_NEAR(finding.ratio, 0.5, 0.01);
  settings.expected = 25.5e9;
  EXPECT_EQ(judge(sweep_of(clean_fabric(8)), settings).judged, Judged::kClean) << "within the tolerance";
}

/// Hosts of the slow leaf are as slow with each other as with the others, which looks like the way between leaves.
TEST(VerdictKinds, HalfOrMoreMayBeWholeLeavesOfALocality) {
  for (const int slow : {8, 12}) {
    Sweep sweep = sweep_of(clean_fabric(16, slow_hosts(slow)));
    sweep.leaves = {"a", "b", "c", "d"};
    for (std::int32_t host = 0; host < 16; ++host) sweep.leaf_of.push_back(host / 4);
    const Verdict verdict = judge(sweep);
    EXPECT_EQ(verdict.judged, Judged::kUnknown);
    EXPECT_TRUE(verdict.findings.empty());
    EXPECT_EQ(verdict.kinds.value_or(HostKinds{}).slow.size(), static_cast<std::size_t>(slow));
    for (const Grouping& leaves : verdict.groupings) EXPECT_NEAR(leaves.across, 1, 0.01) << "of fast hosts";
    VerdictSettings settings;
    settings.expected = 25e9;
    EXPECT_EQ(with_blame(judge(sweep, settings), Blame::kHost).size(), static_cast<std::size_t>(slow));
  }
}

/// Two small leaves of six are fast.
TEST(VerdictKinds, AFewFastLeavesOfALocalityAreAKind) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto share = [](std::int32_t a, std::int32_t b) { return std::max(a, b) < 9 ? 1 : 0.6; };
    Sweep sweep = sweep_by(64, share, 34, 0.04, seed);
    sweep.leaves = {"a", "b", "c", "d", "e", "f"};
    for (std::int32_t host = 0; host < 64; ++host) {
      const std::array<std::int32_t, 5> ends = {5, 9, 17, 30, 46};
      sweep.leaf_of.push_back(
          static_cast<std::int32_t>(std::upper_bound(ends.begin(), ends.end(), host) - ends.begin()));
    }
    const Verdict verdict = judge(sweep);
    EXPECT_EQ(verdict.judged, Judged::kUnknown) << "seed " << seed;
    EXPECT_EQ(verdict.kinds.value_or(HostKinds{}).fast, (Hosts{0, 1, 2, 3, 4, 5, 6, 7, 8})) << "seed " << seed;
  }
}

/// Two of four leaves have slow uplinks: most of what crosses is slow.
TEST(VerdictKinds, FewFastPairsBetweenLeavesOfALocalityAreNotClean) {
  Sweep sweep = sweep_by(32, [](std::int32_t a, std::int32_t b) {
    return a / 8 == b / 8 ? 1 : std::max(a, b) < 16 ? 0.8 : 0.4;
  });
  sweep.leaves = {"a", "b", "c", "d"};
  for (std::int32_t host = 0; host < 32; ++host) sweep.leaf_of.push_back(host / 8);
  const Verdict verdict = judge(sweep);
  EXPECT_NE(verdict.judged, Judged::kClean);
}

/// Of 16 hosts 14 receive slowly; what they send to the other two reaches what is expected.
TEST(VerdictKinds, WhatReachesTheExpectationIsNotSlow) {
  VerdictSettings settings;
  settings.expected = 22e9;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto share = [](std::int32_t, std::int32_t to) { return to < 14 ? 0.6 : 1; };
    for (const Finding& finding : with_blame(judge(sweep_by(16, share, 0, 0.05, seed), settings), Blame::kHost)) {
      EXPECT_LT(finding.rate, 0.95 * settings.expected) << "seed " << seed << ", host " << finding.hosts[0];
    }
  }
}

/// A leaf of slow hosts, one of fast ones, and a host far from both: what the slow ones send shows in their leaf alone.
TEST(VerdictKinds, NoDirectionIsCalledFastThatCouldNotBeSeen) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    return std::min(a, b) < 8 || std::max(a, b) == 16 ? 0.6 : 1;
  };
  Sweep sweep = sweep_by(17, share);
  sweep.leaves = {"a", "b", "c"};
  for (std::int32_t host = 0; host < 17; ++host) sweep.leaf_of.push_back(host / 8);
  for (const Finding& finding : judge(sweep).findings) EXPECT_FALSE(finding.other_way_fine) << finding.hosts.at(0);
}

/// Six fast hosts, five at 80 % and five at 50 %.
TEST(VerdictKinds, OfThreeGradesNoSlowOneIsFine) {
  std::vector<std::string> faults;
  for (int host = 0; host < 10; ++host) faults.push_back("host:" + std::to_string(host) + (host < 5 ? ":0.8" : ":0.5"));
  const Verdict verdict = judge(sweep_of(clean_fabric(16, faults)));
  ASSERT_TRUE(verdict.kinds);
  EXPECT_EQ(verdict.kinds->fast, (Hosts{10, 11, 12, 13, 14, 15}));
  for (const Finding& finding : with_blame(verdict, Blame::kHost)) EXPECT_GE(finding.hosts.at(0), 5) << "the slowest";
}

TEST(VerdictKinds, ReadingsBelowWhatTheirRunsWereAskedForAreNotClean) {
  Sweep sweep = sweep_of(clean_fabric(8));
  sweep.below_asked = 2;
  const Verdict few = judge(sweep);
  EXPECT_EQ(few.judged, Judged::kClean);
  EXPECT_NE(few.notes.at(0).find("2 of "), std::string::npos) << few.notes.at(0);
  sweep.below_asked = static_cast<std::int64_t>(sweep.readings.size());
  EXPECT_EQ(judge(sweep).judged, Judged::kUnknown);
}

TEST(VerdictKinds, OneFastPairOfManyIsNotClean) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto two_are_fast = [](std::int32_t a, std::int32_t b) { return a < 2 && b < 2 ? 1 : 0.8; };
    EXPECT_EQ(judge(sweep_by(32, two_are_fast, 0, 0.03, seed)).kinds.value_or(HostKinds{}).fast, (Hosts{0, 1})) << seed;
    EXPECT_NE(judge(sweep_by(32, two_are_fast, 0, 0.045, seed)).judged, Judged::kClean) << "seed " << seed;
    const auto all_are_alike = [](std::int32_t, std::int32_t) { return 1; };
    EXPECT_FALSE(judge(sweep_by(32, all_are_alike, 0, 0.045, seed)).groups_are_open) << "seed " << seed;
  }
}

TEST(VerdictKinds, FewRoundsThatShowFastPairsAreNotClean) {
  const Verdict verdict = judge(sweep_of(clean_fabric(32, slow_hosts(20)), 4));
  EXPECT_NE(verdict.judged, Judged::kClean);
  EXPECT_TRUE(verdict.groups_are_open || verdict.kinds);
}

/// Two of the faster hosts have met faster ones mostly, and so look like the only ones that send fast.
TEST(VerdictKinds, TwoFastHostsThatMetFastOnesAreNotTheOnlyOnesThatSendFast) {
  Sweep sweep = sweep_by(
      128, [](std::int32_t a, std::int32_t b) { return a < 38 && b < 38 ? 1 : 0.53; }, 29, 0.03);
  std::erase_if(sweep.readings, [](const Reading& each) {
    return std::min(each.from, each.to) < 2 && std::max(each.from, each.to) >= 50;
  });
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  ASSERT_TRUE(verdict.kinds);
  EXPECT_EQ(verdict.kinds->direction, Direction::kBoth);
  EXPECT_EQ(verdict.kinds->fast.size(), 38U);
}

}  // namespace verdict_kinds_test
}  // namespace fabricbench::cluster
