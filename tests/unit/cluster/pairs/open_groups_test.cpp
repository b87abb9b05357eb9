// What is said, and asked for, of groups of which too little was measured.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attribution_test_support.h"
#include "cluster/pairs/report/verdict_text.h"

namespace fabricbench::cluster {
namespace open_groups_test {

/// Leaves of four, of which 28 rounds show few pairs.
double in_leaves_of_four(std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : 0.9; }

/// Pods of 16 hosts in leaves of four.
double in_pods(std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : a / 16 == b / 16 ? 0.7 : 0.4; }

TEST(OpenGroups, SmallLeavesOfWhichFewPairsWereMeasuredAreNoFault) {
  int clean = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Sweep sweep = sweep_by(512, in_leaves_of_four, 28, 0.02, seed);
    const Verdict verdict = judge(sweep);
    EXPECT_TRUE(verdict.findings.empty());
    EXPECT_FALSE(verdict.some_are_faster) << "seed " << seed;
    EXPECT_TRUE(verdict.groups_are_open) << "the planner goes on";
    if (!verdict.groupings.empty()) continue;  // some are seen already
    ASSERT_TRUE(verdict.near_pairs) << "seed " << seed;
    EXPECT_NEAR(verdict.near_pairs->faster_by, 0.11, 0.02);
    EXPECT_EQ(verdict.near_pairs->of, 28 * 256);
    const auto near = std::count_if(sweep.readings.begin(), sweep.readings.end(), [](const Reading& each) {
      return each.from < each.to && each.from / 4 == each.to / 4;
    });
    EXPECT_LE(verdict.near_pairs->pairs, near + 1);
    EXPECT_GE(verdict.near_pairs->pairs, near / 2);
    if (!verdict.follow_ups.empty()) continue;
    EXPECT_EQ(verdict.judged, Judged::kClean) << "seed " << seed;
    ++clean;
  }
  EXPECT_GE(clean, 1);
}

/// Then fewer than half of all hosts are as they should be.
TEST(OpenGroups, FewFastHostsAreNoSmallLeaves) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto share = [](std::int32_t a, std::int32_t b) { return a % 8 == 0 && b % 8 == 0 ? 1 : 0.9; };
    const Verdict verdict = judge(sweep_by(512, share, 28, 0.02, seed));
    EXPECT_FALSE(verdict.near_pairs) << "seed " << seed;
    EXPECT_NE(verdict.judged, Judged::kClean) << "seed " << seed;
  }
}

TEST(OpenGroups, LeavesWhoseUplinksAloneAreWellAreNoSmallLeaves) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    return a / 4 == b / 4 || (a / 4 % 8 == 0 && b / 4 % 8 == 0) ? 1 : 0.8;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Verdict verdict = judge(sweep_by(512, share, 28, 0.02, seed));
    EXPECT_FALSE(verdict.near_pairs) << "seed " << seed;
  }
}

/// One host has all fast pairs; some hosts reach others faster one way; some pairs do so once.
TEST(OpenGroups, FastPairsThatAreNoGroupsAreNoSmallLeaves) {
  const auto of_one = [](std::int32_t a, std::int32_t b) { return std::min(a, b) == 0 && std::max(a, b) < 60 ? 2 : 1; };
  const auto one_way = [](std::int32_t from, std::int32_t to) { return from < 60 && to / 60 == 1 ? 1.11 : 1; };
  for (const Share& share : {Share(of_one), Share(one_way)}) {
    const Verdict verdict = judge(sweep_by(256, share, 128, 0.02));
    EXPECT_FALSE(verdict.near_pairs);
    EXPECT_NE(verdict.judged, Judged::kClean);
  }
  Sweep sweep = sweep_by(
      256, [](std::int32_t, std::int32_t) { return 1; }, 128, 0.02);
  for (Reading& each : sweep.readings) {
    if ((each.from * each.to + each.from + each.to + each.round) % 50 == 0) each.rate *= 1.3F;
  }
  EXPECT_FALSE(judge(sweep).near_pairs) << "large parts of it hang together";
}

/// Fewer than half of the hosts are seen in groups yet: the others are of groups as well.
TEST(OpenGroups, HostsOfLeavesThatAreNotSeenYetAreNotAloneAndNotSlow) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto share = [](std::int32_t a, std::int32_t b) { return a / 2 == b / 2 ? 1 : 0.3; };
    const Verdict verdict = judge(sweep_by(512, share, 28, 0.03, seed));
    EXPECT_TRUE(verdict.findings.empty()) << "seed " << seed;
    EXPECT_TRUE(verdict.may_stand_apart.empty()) << "seed " << seed;
  }
}

TEST(OpenGroups, ThatThereAreSmallLeavesIsSaidWithItsCounts) {
  Verdict verdict;
  verdict.near_pairs = NearPairs{137, 65536, 0.11};
  verdict.groups_are_open = true;
  const std::string text = verdict_text(hosts_only(4), verdict, {}, {});
  EXPECT_NE(
      text.find("There are small groups of near hosts: 137 of 65536 pairs are 11 % faster than other pairs of the same "
                "hosts."),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("Some pairs are much faster"), std::string::npos) << text;
}

/// Of the first pod, pairs of its leaves alone were measured, and so no leaf shows there.
TEST(OpenGroups, HostsOfAPodWithoutLeavesAreToBeMeasuredWithEachOther) {
  Sweep sweep = sweep_by(64, in_pods);
  std::erase_if(sweep.readings,
                [](const Reading& each) { return each.from < 16 && each.to < 16 && each.from % 4 != each.to % 4; });
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_TRUE(verdict.groups_are_open);
  std::vector<std::pair<std::int32_t, std::int32_t>> asked;
  for (const OpenGroups& open : verdict.open_groups) {
    const auto host_of = [&](std::int32_t group) {
      return static_cast<std::int32_t>(std::find(open.group_of.begin(), open.group_of.end(), group) -
                                       open.group_of.begin());
    };
    for (const auto& [first, second] : open.groups) asked.push_back(std::minmax(host_of(first), host_of(second)));
  }
  for (std::int32_t mate = 1; mate < 4; ++mate) {
    EXPECT_EQ(std::count(asked.begin(), asked.end(), std::pair(0, mate)), 1) << "node " << mate << " of its leaf";
  }
}

/// It was slow with one of the other three of its leaf, which would make it alone.
TEST(OpenGroups, AHostThatMayBeAloneIsToMeetAllOfItsPod) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    return std::min(a, b) == 12 && std::max(a, b) == 13 ? 0.7 : in_pods(a, b);
  };
  Sweep sweep = sweep_by(64, share);
  std::erase_if(sweep.readings, [](const Reading& each) {
    const auto [first, second] = std::minmax(each.from, each.to);
    return first == 12 && second > 13 && second < 16;
  });
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.may_stand_apart, Hosts{12});
  ASSERT_EQ(verdict.open_groups.size(), 1U);
  using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;
  EXPECT_EQ(verdict.open_groups[0].groups, (Pairs{{12, 14}, {12, 15}}));
  EXPECT_EQ(verdict.open_groups[0].group_of[15], 15) << "each host by itself";
}

/// Chance has made it near one host of the first leaf; its own it has not met.
TEST(OpenGroups, AHostOfTheWrongGroupIsToMeetTheOneThatItHasNotMet) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    if (std::min(a, b) == 0 && std::max(a, b) == 1) return 1.0;
    return a != 0 && b != 0 && a / 8 == b / 8 ? 1 : 0.9;
  };
  Sweep sweep = sweep_by(32, share);
  for (std::int32_t round = 31; round < 33; ++round) {
    sweep.readings.push_back(reading(0, 1, 25e9, round));
    sweep.readings.push_back(reading(1, 0, 25e9, round));
  }
  std::erase_if(sweep.readings,
                [](const Reading& each) { return each.from + each.to >= 24 && std::min(each.from, each.to) == 0; });
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.may_stand_apart, Hosts{0});
  ASSERT_EQ(verdict.open_groups.size(), 1U);
  for (const auto& [first, second] : verdict.open_groups[0].groups) {
    EXPECT_EQ(first, 0);
    EXPECT_GE(second, 24);
  }
}

/// Nothing else shows that there are groups, and what is usual changes from round to round.
TEST(OpenGroups, UplinksOfOneGroupThatAreSlowOneWayAreNotOfTime) {
  Sweep sweep = sweep_by(64, [](std::int32_t from, std::int32_t to) { return from < 9 && to >= 9 ? 0.5 : 1; });
  for (Reading& each : sweep.readings) each.rate *= each.round % 4 == 0 ? 0.9F : 1;
  const Verdict verdict = judge(sweep);
  const Finding found = the_finding(verdict, Blame::kLeaf);
  EXPECT_EQ(found.direction, Direction::kSends);
  ASSERT_GE(found.leaf, 0);
  EXPECT_EQ(verdict.groupings[0].groups[static_cast<std::size_t>(found.leaf)].hosts,
            (Hosts{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

}  // namespace open_groups_test
}  // namespace fabricbench::cluster
