// What is said of clusters that have groups, such as leaves and pods, and of slow uplinks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attribution_test_support.h"
#include "cluster/pairs/report/verdict_text.h"

namespace fabricbench::cluster {
namespace verdict_groups_test {

TEST(VerdictGroups, HealthyGroupsAreToldAndBlamedForNothing) {
  const Verdict verdict = judge(sweep_of(hidden_leaves(32, 8, 0.25)));
  EXPECT_EQ(verdict.judged, Judged::kClean);
  ASSERT_EQ(verdict.groupings.size(), 1U);
  EXPECT_EQ(verdict.groupings[0].groups.size(), 4U);
  EXPECT_EQ(verdict.groupings[0].groups[1].hosts, (Hosts{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_NEAR(verdict.groupings[0].across, 0.25, 0.01);
  EXPECT_FALSE(verdict.groupings[0].is_given);
  EXPECT_FALSE(verdict.groups_are_open);
}

TEST(VerdictGroups, ASlowHostWithinGroupsIsAHost) {
  const Finding finding = the_finding(judge(sweep_of(hidden_leaves(32, 8, 0.75, {"host:9:0.8"}))), Blame::kHost);
  EXPECT_EQ(finding.hosts, Hosts{9});
  EXPECT_NEAR(finding.ratio, 0.8, 0.02);
  EXPECT_EQ(finding.partners, 7) << "with others, the way between groups is slower still";
  EXPECT_EQ(finding.slow_partners, 7);
  EXPECT_EQ(finding.sends.met, 31);
}

TEST(VerdictGroups, ASlowHostThatIsFasterWithItsOwnGroupIsOfIt) {
  const Verdict verdict = judge(sweep_of(hidden_leaves(16, 8, 0.3, {"host:3:0.54"})));
  EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{3}) << "and no path of it to the other group is slow";
  EXPECT_EQ(verdict.groupings.at(0).groups.at(0).hosts, (Hosts{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(VerdictGroups, ASlowUplinkAmongGroups) {
  for (const double crossing : {0.8, 0.9}) {
    const Verdict verdict = judge(sweep_of(hidden_leaves(32, 8, crossing, {"leaf:2:0.4"})));
    const Finding finding = the_finding(verdict, Blame::kLeaf);
    EXPECT_EQ(verdict.groupings.at(0).groups.at(static_cast<std::size_t>(finding.leaf)).hosts.front(), 16);
    EXPECT_NEAR(finding.ratio, 0.4 / crossing, 0.02);
  }
}

TEST(VerdictGroups, ASlowUplinkThatIsTheOnlyGroupToBeSeen) {
  for (const std::string direction : {":sends", ":receives"}) {
    const Verdict verdict = judge(sweep_of(hidden_leaves(32, 8, 1, {"leaf:1:0.5" + direction})));
    const Finding finding = the_finding(verdict, Blame::kLeaf);
    EXPECT_EQ(verdict.groupings.at(0).groups.at(static_cast<std::size_t>(finding.leaf)).hosts,
              (Hosts{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_NEAR(finding.ratio, 0.5, 0.02);
    EXPECT_EQ(finding.direction, direction == ":sends" ? Direction::kSends : Direction::kReceives);
  }
}

TEST(VerdictGroups, ASmallGroupThatIsFarBothWaysMayBeAnotherHall) {
  const Verdict verdict = judge(sweep_of(hidden_leaves(32, 8, 1, {"leaf:1:0.5"})));
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.may_stand_apart, (Hosts{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(verdict.judged, Judged::kUnknown);
  ASSERT_EQ(verdict.notes.size(), 1U);
  EXPECT_NE(verdict.notes[0].find("group 2 reaches the other hosts at 50 %"), std::string::npos) << verdict.notes[0];
}

/// Of two pods of two leaves. Host 0 met two of its leaf, and was not as fast with them as it should be, by chance.
TEST(VerdictGroups, AHostThatMayBeOfTheGroupNearestToItIsToMeetMoreOfIt) {
  FabricPlan plan = hidden_leaves(24, 6, 0.9);
  plan.sigma = 0.04;
  Sweep sweep = again_and_again(plan, 69);
  const auto is_of_first = [](const Reading& each) {
    return (each.from == 0 || each.to == 0) && each.from + each.to < 6;
  };
  std::erase_if(sweep.readings, [&](const Reading& each) {
    return is_of_first(each) && (each.from + each.to > 2 || each.round >= 23);
  });
  for (Reading& each : sweep.readings) {
    if (is_of_first(each)) each.rate = 0.92F * 25e9F;
    if ((each.from < 12) != (each.to < 12)) each.rate *= 0.5F;
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.may_stand_apart, Hosts{0});
  EXPECT_TRUE(verdict.groups_are_open);
}

TEST(VerdictGroups, OneSlowUplinkOfThreeLeavesIsAnUplinkThoughMostPairsCrossIt) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    FabricPlan plan = clean_fabric(8, {"leaf:0:0.5"});
    plan.leaf_size = 3;
    plan.sigma = 0.03;
    plan.outliers = 0.02;
    plan.seed = seed;
    EXPECT_EQ(the_finding(judge(again_and_again(plan, 28)), Blame::kLeaf).leaf, 0) << "seed " << seed;
  }
}

TEST(VerdictGroups, AHostThatIsFarFromAllMayBeAloneInItsLeaf) {
  const Sweep sweep = sweep_of(hidden_leaves(13, 4, 0.5));
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.may_stand_apart, Hosts{12});
  EXPECT_EQ(verdict.judged, Judged::kUnknown);
  ASSERT_EQ(verdict.notes.size(), 1U);
  EXPECT_NE(
      verdict.notes[0].find(
          "hosts as slow with all others as hosts of different groups are with each other: node12; each is alone"),
      std::string::npos)
      << verdict.notes[0];
  EXPECT_EQ(host_lists(sweep, verdict).suspect, std::vector<std::string>{"node12"});
}

TEST(VerdictGroups, TwoHostsThatMayBeALeafAreToBeMeasuredWithEachOther) {
  Sweep sweep = sweep_of(hidden_leaves(14, 4, 0.5));
  const Verdict all = judge(sweep);
  EXPECT_EQ(all.judged, Judged::kClean);
  std::erase_if(sweep.readings, [](const Reading& each) { return each.from + each.to == 25; });  // 12 and 13
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.may_stand_apart, (Hosts{12, 13}));
  EXPECT_TRUE(verdict.groups_are_open);
  ASSERT_EQ(verdict.open_groups.size(), 1U) << "which the planner asks for";
  const OpenGroups& open = verdict.open_groups[0];
  ASSERT_EQ(open.groups.size(), 1U);
  EXPECT_EQ(open.group_of[12], open.groups[0].first);
  EXPECT_EQ(open.group_of[13], open.groups[0].second);
}

/// Pods of four leaves of four; of the first two pods one leaf each, of which no two hosts were measured.
TEST(VerdictGroups, HostsOfOnePodThatMayBeALeafAreToBeMeasuredWithEachOther) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : a / 16 == b / 16 ? 0.7 : 0.4; };
  Sweep sweep = sweep_by(64, share);
  std::erase_if(sweep.readings, [](const Reading& each) {
    return each.from / 4 == each.to / 4 && (each.from / 4 == 3 || each.from / 4 == 4);
  });
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.may_stand_apart, (Hosts{12, 13, 14, 15, 16, 17, 18, 19}));
  ASSERT_EQ(verdict.open_groups.size(), 1U);
  const OpenGroups& open = verdict.open_groups[0];
  EXPECT_EQ(open.groups.size(), 12U) << "six pairs of each pod";
  for (const auto& [first, second] : open.groups) EXPECT_EQ(first / 4, second / 4);
}

/// With each group it was measured once, and so may be as fast with one as hosts of different pods are.
TEST(VerdictGroups, AHostThatIsSlowerThanTheWayBetweenPodsIsNotAloneInItsLeaf) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    const double way = a / 4 == b / 4 ? 1 : a / 16 == b / 16 ? 0.9 : 0.7;
    return a == 0 || b == 0 ? std::min(way, 0.63) : way;
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Sweep sweep = sweep_by(64, share, 0, 0.03, seed);
    std::erase_if(sweep.readings, [](const Reading& each) {
      return (each.from == 0 || each.to == 0) && (each.from + each.to) % 4 != 1;
    });
    const Verdict verdict = judge(sweep);
    EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{0}) << "seed " << seed;
    EXPECT_TRUE(verdict.may_stand_apart.empty()) << "seed " << seed;
  }
}

/// Hosts 0 and 4 are each said to be of the other's leaf, with which they were not measured.
TEST(VerdictGroups, HostsThatALocalityMayHaveInTheWrongLeafAreToBeMeasuredWithOthers) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : 0.7; };
  Sweep sweep = sweep_by(24, share);
  sweep.leaves = {"a", "b", "c", "d", "e", "f"};
  for (std::int32_t host = 0; host < 24; ++host) sweep.leaf_of.push_back(host / 4);
  std::swap(sweep.leaf_of[0], sweep.leaf_of[4]);
  const Verdict all = judge(sweep);
  EXPECT_EQ(all.judged, Judged::kClean) << "the readings say of which leaf they are";
  EXPECT_TRUE(all.open_groups.empty());
  std::erase_if(sweep.readings, [](const Reading& each) {
    return each.from / 4 == each.to / 4 && (std::min(each.from, each.to) == 0 || std::min(each.from, each.to) == 4);
  });
  const Verdict verdict = judge(sweep);
  ASSERT_EQ(verdict.open_groups.size(), 1U);
  const OpenGroups& open = verdict.open_groups[0];
  const auto wanted = [&](std::int32_t leaf, std::size_t host) { return std::pair{leaf, open.group_of[host]}; };
  EXPECT_EQ(open.groups, (std::vector{wanted(0, 0), wanted(1, 4)}));
}

/// Its other rail is 4 % slower than those of its group, by chance.
TEST(VerdictGroups, AHostThatIsFarFromAllOnEachRailMayBeAloneInItsLeaf) {
  FabricPlan plan = hidden_leaves(13, 4, 0.94);
  plan.rails = 2;
  Sweep sweep = again_and_again(plan, 39);
  for (Reading& each : sweep.readings) {
    if (each.from_rail == 1 && (each.from == 12 || each.to == 12)) each.rate *= 1.012F;
  }
  const Verdict verdict = judge(sweep);
  EXPECT_TRUE(verdict.findings.empty());
  EXPECT_EQ(verdict.may_stand_apart, Hosts{12});
}

/// A leaf of two hosts whose uplinks are slow: `change` is done to their readings.
template <typename Change>
Verdict with_uplink_of_two(const Change& change) {
  FabricPlan plan = clean_fabric(16, {"leaf:1:0.5"});
  plan.leaf_size = 2;
  Sweep sweep = sweep_of(plan);
  for (Reading& each : sweep.readings) change(each);
  return judge(sweep);
}

TEST(VerdictGroups, AnUplinkIsBlamedThoughItsHostsAreALittleSlowWithEachOther) {
  const Verdict verdict = with_uplink_of_two([](Reading& each) {
    if (each.from / 2 == 1 && each.to / 2 == 1) each.rate *= 0.93F;
  });
  EXPECT_FALSE(with_blame(verdict, Blame::kLeaf).empty());
  EXPECT_TRUE(with_blame(verdict, Blame::kHost).empty());
}

TEST(VerdictGroups, TheSlowestReadingsBehindASlowUplinkBlameNoHost) {
  const Verdict verdict = with_uplink_of_two([](Reading& each) {
    if (each.from == 2 && (each.to == 5 || each.to == 9 || each.to == 12)) each.rate *= 0.7F;
  });
  EXPECT_FALSE(with_blame(verdict, Blame::kLeaf).empty());
  EXPECT_TRUE(with_blame(verdict, Blame::kHost).empty());
}

/// Two leaves are near each other, of five and of eleven, and a host of the others is slow with everybody.
TEST(VerdictGroups, WhatASlowHostReachesFarAwayIsNoSlowPath) {
  const Hosts leaf_of = {0, 1, 2, 3, 2, 3, 4, 0, 2, 2, 2, 4, 4, 2, 5, 4,
                         1, 0, 2, 3, 0, 2, 2, 2, 4, 2, 2, 4, 0, 4, 2, 2};
  const auto leaf = [&](std::int32_t host) { return leaf_of[static_cast<std::size_t>(host)]; };
  const auto share = [&](std::int32_t a, std::int32_t b) {
    const auto is_away = [&](std::int32_t host) { return leaf(host) == 1 || leaf(host) == 3; };
    const double way = leaf(a) == leaf(b) ? 1 : is_away(a) == is_away(b) ? 0.53 : 0.27;
    return a == 14 || b == 14 ? std::min(way, 0.42) : way;
  };
  const Sweep once = sweep_by(32, share, 0, 0.02);
  Sweep sweep = once;
  for (std::int32_t pass = 1; pass < 4; ++pass) {
    for (Reading each : once.readings) {
      each.round += 31 * pass;
      sweep.readings.push_back(each);
    }
  }
  EXPECT_EQ(the_finding(judge(sweep), Blame::kHost).hosts, Hosts{14});
}

TEST(VerdictGroups, TwoKindsOfHostsInOneDirectionBlameNobody) {
  const auto share = [](std::int32_t from, std::int32_t) { return from < 10 ? 0.33 : 1; };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Sweep sweep = sweep_by(16, share, 0, 0.03, seed);
    const Verdict verdict = judge(sweep);
    EXPECT_TRUE(verdict.findings.empty()) << "seed " << seed;
    EXPECT_EQ(verdict.judged, Judged::kUnknown);
    ASSERT_TRUE(verdict.kinds);
    EXPECT_EQ(verdict.kinds->slow, (Hosts{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(verdict.kinds->direction, Direction::kSends);
    EXPECT_NE(verdict_text(sweep, verdict, {}, {}).find("Two kinds of hosts when they send: n[10-15] (6) at"),
              std::string::npos);
  }
}

TEST(VerdictGroups, KindsInOneDirectionAreHeldAgainstWhatIsExpected) {
  const auto share = [](std::int32_t, std::int32_t to) { return to < 10 ? 0.5 : 1; };
  const Sweep sweep = sweep_by(16, share, 0, 0.03);
  VerdictSettings settings;
  settings.expected = 25e9;
  const Verdict verdict = judge(sweep, settings);
  EXPECT_EQ(with_blame(verdict, Blame::kHost).size(), 10U);
  for (const Finding& finding : verdict.findings) EXPECT_EQ(finding.direction, Direction::kReceives);
  settings.expected = 12e9;
  EXPECT_EQ(judge(sweep, settings).judged, Judged::kClean);
}

/// The ways out of the hosts from `first` on are slow.
Share slow_ways_out(std::int32_t first, double share) {
  return [first, share](std::int32_t from, std::int32_t to) { return from >= first && to < first ? share : 1; };
}

TEST(VerdictGroups, HowBadAnUplinkIsIsHeldAgainstWhatIsUsualWithoutIt) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Verdict verdict = judge(sweep_by(64, slow_ways_out(59, 0.5), 0, 0.03, seed));
    EXPECT_NEAR(the_finding(verdict, Blame::kLeaf).ratio, 0.5, 0.01) << "seed " << seed;
  }
}

/// Four groups of eight, the ways out of the first of which are slow, and a host that is alone in its leaf.
TEST(VerdictGroups, WhatASlowUplinkDoesWithAHostAloneIsNoSlowPath) {
  const auto share = [](std::int32_t from, std::int32_t to) { return from / 8 == to / 8 ? 1 : from < 8 ? 0.25 : 0.5; };
  const Verdict verdict = judge(sweep_by(33, share));
  EXPECT_TRUE(verdict.follow_ups.empty());
  EXPECT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(with_blame(verdict, Blame::kLeaf).size(), 1U);
  EXPECT_EQ(verdict.may_stand_apart, Hosts{32});
}

TEST(VerdictGroups, AHostThatIsSlowerOrFasterThanTheWayBetweenGroupsIsSlow) {
  for (const std::string fault : {"host:3:0.4", "host:3:0.6", "host:3:0.5:sends"}) {
    const Verdict verdict = judge(sweep_of(hidden_leaves(12, 4, 0.5, {fault})));
    EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{3}) << fault;
    EXPECT_TRUE(verdict.may_stand_apart.empty()) << fault;
  }
}

TEST(VerdictGroups, OfLeavesOfTwoWithAReadingDroppedNowAndThenOnlyTheUplinkIsBlamed) {
  FabricPlan plan = hidden_leaves(8, 2, 1, {"leaf:1:0.5"});
  plan.leaves_known = true;
  plan.outliers = 0.05;
  for (plan.seed = 1; plan.seed <= 20; ++plan.seed) {
    const Verdict verdict = judge(again_and_again(plan, 40));
    EXPECT_EQ(the_finding(verdict, Blame::kLeaf).leaf, 1) << "seed " << plan.seed;
  }
}

/// Two hosts that were measured with each other alone, and never among many.
TEST(VerdictGroups, OfTwoThatWereMeasuredWithEachOtherAloneAreTold) {
  const FabricPlan plan = hidden_leaves(64, 62, 0.2);
  for (const float gain : {1.0F, 1.5F}) {
    Sweep sweep = sweep_of(plan, 28);
    std::erase_if(sweep.readings, [](const Reading& each) { return each.from + each.to == 62 + 63; });
    const std::int32_t last = sweep.readings.back().round;
    const Reading known = sweep.readings.front();
    measure_again(plan, {known.from, known.to}, 1, sweep);
    measure_again(plan, {62, 63}, 1, sweep);
    for (Reading& each : sweep.readings) {
      if (each.round > last) each.rate *= gain;
    }
    const Verdict verdict = judge(sweep);
    const bool told = verdict.groupings.size() == 1 && verdict.groupings[0].groups.size() == 2;
    EXPECT_EQ(told, gain == 1.0F) << "where each pair is faster alone, that says nothing";
    EXPECT_FALSE(told && !verdict.findings.empty());
  }
}

TEST(VerdictGroups, ALeafOfTwoHostsHasUplinks) {
  FabricPlan plan = hidden_leaves(12, 2, 1, {"leaf:2:0.5"});
  plan.leaves_known = true;
  const Verdict verdict = judge(sweep_of(plan));
  EXPECT_EQ(the_finding(verdict, Blame::kLeaf).leaf, 2);
  EXPECT_TRUE(verdict.not_judged.empty()) << "its hosts have one partner that tells, and are of the slow leaf";
}

TEST(VerdictGroups, TwoHallsAreNoFault) {
  EXPECT_EQ(judge(sweep_of(hidden_leaves(32, 16, 0.3))).judged, Judged::kClean) << "of one size";
  EXPECT_EQ(judge(sweep_of(hidden_leaves(24, 14, 0.3))).judged, Judged::kClean) << "14 and 10 hosts";
  EXPECT_EQ(judge(sweep_of(hidden_leaves(12, 10, 0.91))).judged, Judged::kClean) << "10 and 2, hardly slower";
}

TEST(VerdictGroups, OneSlowUplinkOfThreeGroupsIsAnUplink) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    FabricPlan plan = hidden_leaves(9, 3, 0.8, {"leaf:0:0.4"});
    plan.seed = seed;
    const Verdict verdict = judge(again_and_again(plan, 27));
    const Finding finding = the_finding(verdict, Blame::kLeaf);
    EXPECT_EQ(verdict.groupings.at(0).groups.at(static_cast<std::size_t>(finding.leaf)).hosts, (Hosts{0, 1, 2}));
  }
}

/// Leaves within pods. It is as fast with its own leaf as its cap allows, which is a little more than the way to
/// others.
TEST(VerdictGroups, ASlowHostThatIsALittleFasterWithItsOwnGroupIsOfIt) {
  int found = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    FabricPlan plan = hidden_leaves(32, 8, 0.74, {"host:3:0.8"});
    plan.sigma = 0.025;
    plan.seed = seed;
    Sweep sweep = again_and_again(plan, 62, false);
    for (Reading& each : sweep.readings) {
      if ((each.from < 16) != (each.to < 16)) each.rate *= 0.5F;
    }
    const Verdict verdict = judge(sweep);
    const std::vector<Finding> hosts = with_blame(verdict, Blame::kHost);
    found += hosts.size() == 1 && hosts[0].hosts == Hosts{3} ? 1 : 0;
    EXPECT_LE(hosts.size(), 1U) << "seed " << seed;
  }
  EXPECT_EQ(found, 20);
}

/// Two pods of two leaves, and one of one leaf.
TEST(VerdictGroups, ALeafThatIsAPodByItselfIsOneBesideTwoPods) {
  for (const bool given : {true, false}) {
    FabricPlan plan = hidden_leaves(20, 4, 0.6, {"host:2:0.8"});
    plan.leaves_known = given;
    Sweep sweep = again_and_again(plan, 57);
    const auto pod_of = [](std::int32_t host) { return host / 8; };
    for (Reading& each : sweep.readings) {
      if (pod_of(each.from) != pod_of(each.to)) each.rate *= 0.55F;
    }
    const Verdict verdict = judge(sweep);
    EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{2}) << given;
    ASSERT_EQ(verdict.groupings.size(), 2U) << given;
    EXPECT_EQ(verdict.groupings[1].groups.size(), 3U) << given;
  }
}

/// So many hosts of one leaf, all others alone in theirs.
Sweep with_one_leaf(Sweep sweep, std::int32_t of_leaf) {
  for (std::int32_t host = 0; host < static_cast<std::int32_t>(sweep.hosts.size()); ++host) {
    const std::int32_t leaf = std::max(host - of_leaf + 1, 0);
    if (host == 0 || leaf > 0) sweep.leaves.push_back("leaf" + std::to_string(leaf));
    sweep.leaf_of.push_back(leaf);
  }
  return sweep;
}

TEST(VerdictGroups, OfOneNearPairWhatIsUsualIsWhatThoseFartherApartReach) {
  const Verdict verdict = judge(with_one_leaf(again_and_again(clean_fabric(8, {"pair:0:1:0.5"}), 28), 2));
  const Finding finding = the_finding(verdict, Blame::kPair);
  EXPECT_EQ(finding.hosts, (Hosts{0, 1}));
  EXPECT_NEAR(finding.ratio, 0.5, 0.02);
  EXPECT_EQ(judge(with_one_leaf(again_and_again(clean_fabric(8), 28), 2)).judged, Judged::kClean);
}

TEST(VerdictGroups, NearPairsThatAreSlowerThanThoseFartherApartAreNotFine) {
  std::vector<std::string> faults;
  for (const char* pair : {"0:1", "0:2", "0:3", "1:2", "1:3", "2:3"})
    faults.push_back(std::string("pair:") + pair + ":0.5");
  const Verdict verdict = judge(with_one_leaf(again_and_again(clean_fabric(12, faults), 33), 4));
  EXPECT_NE(verdict.judged, Judged::kClean);
  EXPECT_TRUE(asks_about(verdict, 0, 1));
}

TEST(VerdictGroups, ALocalityThatDisagreesIsToldOf) {
  FabricPlan plan = hidden_leaves(16, 8, 0.5);
  Sweep sweep = sweep_of(plan);
  sweep.leaves = {"all"};
  sweep.leaf_of.assign(16, 0);
  const Verdict verdict = judge(sweep);
  ASSERT_TRUE(verdict.contradiction);
  EXPECT_EQ(verdict.contradiction->groups.size(), 2U);
}

TEST(VerdictGroups, SlowHostsAreToBeMeasuredWithEachOther) {
  FabricPlan plan = hidden_leaves(64, 8, 1, {"leaf:1:0.5"});
  const Sweep sweep = sweep_of(plan, 6);
  const Verdict verdict = judge(sweep);
  int asked = 0;
  for (const FollowUp& follow_up : verdict.follow_ups) {
    if (!follow_up.of_suspects) continue;
    ++asked;
    EXPECT_EQ(follow_up.host / 8, 1);
    EXPECT_EQ(follow_up.other / 8, 1);
  }
  EXPECT_TRUE(asked > 0 || verdict.groups_are_open || !with_blame(verdict, Blame::kLeaf).empty());
  EXPECT_NE(verdict.judged, Judged::kClean);
}

/// Two pods of three leaves of four; of one pod, the first two leaves met in one pair alone, besides the pairs `kept`.
Sweep pods_with_one_slow_pair(const std::vector<std::int32_t>& kept) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : a / 12 == b / 12 ? 0.9 : 0.6; };
  Sweep sweep = sweep_by(24, share);
  const auto is_between = [](const Reading& each) {
    const auto [low, high] = std::minmax(each.from, each.to);
    return low < 4 && high >= 4 && high < 8;
  };
  const auto is_kept = [&](const Reading& each) {
    return std::find(kept.begin(), kept.end(), std::min(each.from, each.to)) != kept.end() &&
           std::abs(each.from - each.to) == 4;
  };
  std::erase_if(sweep.readings, [&](const Reading& each) { return is_between(each) && !is_kept(each); });
  for (std::int32_t round = 100; round < 106; ++round) {
    for (const auto& [from, to] : {std::pair(0, 4), std::pair(4, 0)}) {
      sweep.readings.push_back(reading(from, to, 0.6 * 25e9, round));
    }
  }
  for (Reading& each : sweep.readings) {
    if (std::minmax(each.from, each.to) == std::minmax(0, 4)) each.rate = static_cast<float>(0.6 * 25e9);
  }
  return sweep;
}

TEST(VerdictGroups, APairThatAloneShowsHowFarItsLeavesAreApartIsNoSlowPath) {
  EXPECT_TRUE(with_blame(judge(pods_with_one_slow_pair({0})), Blame::kPair).empty());
  const Finding finding = the_finding(judge(pods_with_one_slow_pair({0, 1, 2})), Blame::kPair);
  EXPECT_EQ(finding.hosts, (Hosts{0, 4})) << "others of their leaves are as fast as in one pod";
}

}  // namespace verdict_groups_test
}  // namespace fabricbench::cluster
