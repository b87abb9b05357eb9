// What becomes of a locality that was given, held against the readings.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "levels_test_support.h"

namespace fabricbench::cluster {
namespace levels_test {

Sweep with_leaves(Sweep sweep, const Parts& leaf_of) {
  sweep.leaf_of = leaf_of;
  for (std::int32_t leaf = 0; leaf <= *std::max_element(leaf_of.begin(), leaf_of.end()); ++leaf) {
    sweep.leaves.push_back("leaf" + std::to_string(leaf));
  }
  return sweep;
}

TEST(GivenLocality, ALocalityIsTakenAsItIs) {
  const Structure flat =
      find_structure(with_leaves(sweep_by(16, [](auto, auto) { return 1; }), in_turn(16, 4)), kDepth);
  ASSERT_EQ(flat.levels.size(), 1U);
  EXPECT_TRUE(flat.levels[0].is_given);
  EXPECT_NEAR(flat.levels[0].across, 1, 0.01);
  EXPECT_EQ(flat.contradiction.parts, 0);
  const Structure tapered =
      find_structure(with_leaves(sweep_by(16, groups(in_turn(16, 4), 0.25)), in_turn(16, 4)), kDepth);
  ASSERT_EQ(tapered.levels.size(), 1U);
  EXPECT_NEAR(tapered.levels[0].across, 0.25, 0.01);
  EXPECT_EQ(tapered.contradiction.parts, 0);
}

/// Of four leaves of four, two hosts have changed places since the list was written.
TEST(GivenLocality, HostsThatALocalityHasInTheWrongLeafAreMoved) {
  for (const double across : {0.5, 0.9}) {
    Parts part_of = in_blocks(16, 4);
    std::swap(part_of[0], part_of[4]);
    Sweep sweep = sweep_by(16, groups(part_of, across), 0, 0.01);
    sweep.leaf_of = in_blocks(16, 4);
    sweep.leaves = {"a", "b", "c", "d"};
    const Structure found = find_structure(sweep, kDepth);
    EXPECT_EQ(found.levels.at(0).part_of, part_of) << across;
    ASSERT_EQ(found.misplaced.size(), 2U) << across;
    EXPECT_EQ(found.misplaced[0].host + found.misplaced[1].host, 4);
  }
}

TEST(GivenLocality, NoHostOfARightLocalityIsMoved) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto share = [](std::int32_t a, std::int32_t b) {
      const double way = a / 4 == b / 4 ? 1 : 0.9;
      return a == 1 || b == 1 ? std::min(way, 0.85) : way;
    };
    Sweep sweep = sweep_by(16, share, 0, 0.04, seed);
    sweep.leaf_of = in_blocks(16, 4);
    sweep.leaves = {"a", "b", "c", "d"};
    EXPECT_TRUE(find_structure(sweep, kDepth).misplaced.empty()) << "seed " << seed;
  }
}

TEST(GivenLocality, ASlowPathWithinALeafMovesNobody) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a + b == 1 ? 0.5 : 1; };
  Sweep sweep = sweep_by(8, share, 0, 0.02);
  sweep.leaf_of = in_blocks(8, 2);
  sweep.leaves = {"a", "b", "c", "d"};
  EXPECT_TRUE(find_structure(sweep, kDepth).misplaced.empty());
}

TEST(GivenLocality, OfTwoLeavesOfTwoTheSwappedHostsAreMoved) {
  Parts part_of = {0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2};
  Sweep sweep = sweep_by(12, groups(part_of, 0.5), 0, 0.04);
  std::swap(part_of[0], part_of[2]);
  sweep.leaf_of = part_of;
  sweep.leaves = {"a", "b", "c"};
  const Structure found = find_structure(sweep, kDepth);
  EXPECT_EQ(found.misplaced.size(), 2U);
  const Parts& parts = found.levels.at(0).part_of;
  EXPECT_TRUE(parts[0] == parts[1] && parts[2] == parts[3] && parts[0] != parts[2]);
}

/// Pods of eight, leaves of so many; the first hosts of the first leaf are slow with everybody.
TEST(GivenLocality, HostsThatShareALeafWithSlowOnesAreNotMoved) {
  for (const auto& [leaf, slow] : {std::pair{2, 1}, std::pair{4, 2}, std::pair{4, 3}}) {
    const auto share = [leaf = leaf, slow = slow](std::int32_t a, std::int32_t b) {
      const double way = a / leaf == b / leaf ? 1 : a / 8 == b / 8 ? 0.8 : 0.5;
      return std::min(a, b) < slow ? std::min(way, 0.3) : way;
    };
    Sweep sweep = sweep_by(32, share, 0, 0.02);
    for (std::int32_t host = 0; host < 32; ++host) sweep.leaf_of.push_back(host / leaf);
    sweep.leaves.assign(static_cast<std::size_t>(32 / leaf), "leaf");
    EXPECT_TRUE(find_structure(sweep, kDepth).misplaced.empty()) << slow << " of " << leaf;
  }
}

/// Leaves of three, three and two; a host of the first is slow, and two of the others are swapped with hosts of it.
TEST(GivenLocality, SwappedHostsAreMovedBesideASlowOne) {
  const Parts part_of = {0, 0, 0, 1, 1, 1, 2, 2};
  const auto share = [&](std::int32_t a, std::int32_t b) {
    const double way = part_of[static_cast<std::size_t>(a)] == part_of[static_cast<std::size_t>(b)] ? 1 : 0.7;
    return std::min(a, b) == 0 ? std::min(way, 0.4) : way;
  };
  Sweep sweep = sweep_by(8, share, 0, 0.02);
  sweep.leaf_of = part_of;
  std::swap(sweep.leaf_of[2], sweep.leaf_of[6]);
  sweep.leaves = {"a", "b", "c"};
  const Structure found = find_structure(sweep, kDepth);
  EXPECT_EQ(found.misplaced.size(), 2U);
  const Parts& parts = found.levels.at(0).part_of;
  EXPECT_TRUE(parts[1] == parts[2] && parts[6] == parts[7] && parts[1] != parts[6])
      << "where the slow one is, none shows";
}

/// Leaves of three, three and two. A host of the last is slow, and the other one of it is swapped with one of the
/// first: that one shows where it belongs, and the other may be slow or the slow one's mate.
TEST(GivenLocality, AHostWhoseOnlyMateIsSlowIsNotBlamedForAWrongList) {
  const Parts part_of = {0, 0, 0, 1, 1, 1, 2, 2};
  const auto share = [&](std::int32_t a, std::int32_t b) {
    const double way = part_of[static_cast<std::size_t>(a)] == part_of[static_cast<std::size_t>(b)] ? 1 : 0.4;
    return std::max(a, b) == 7 ? 0.2 : way;
  };
  Sweep sweep = sweep_by(8, share, 0, 0.01);
  sweep.leaf_of = part_of;
  std::swap(sweep.leaf_of[0], sweep.leaf_of[6]);
  sweep.leaves = {"a", "b", "c"};
  const Structure found = find_structure(sweep, kDepth);
  ASSERT_EQ(found.misplaced.size(), 1U);
  EXPECT_EQ(found.misplaced[0].host, 0);
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(the_finding(verdict, Blame::kHost).hosts, Hosts{7});
  EXPECT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.may_stand_apart, Hosts{6});
}

TEST(GivenLocality, HostsThatItLeavesOutAreOfTheLeafThatIsNearestToThem) {
  Sweep sweep = sweep_by(16, groups(in_blocks(16, 4), 0.5), 0, 0.04);
  sweep.leaf_of = in_blocks(16, 4);
  sweep.leaves = {"a", "b", "c", "d"};
  for (const std::size_t host : {1U, 6U, 7U, 15U}) sweep.leaf_of[host] = Sweep::kNoLeaf;
  const Structure found = find_structure(sweep, kDepth);
  EXPECT_EQ(found.levels.at(0).part_of, in_blocks(16, 4));
  EXPECT_EQ(found.left_out.size(), 4U);
  EXPECT_TRUE(found.misplaced.empty());
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.judged, Judged::kClean);
  EXPECT_NE(verdict.notes.at(0).find("--locality lacks these hosts"), std::string::npos) << verdict.notes.at(0);
}

/// Leaves are given, pods are not, and the network is slower by up to 17 % at times.
TEST(GivenLocality, PodsAreFoundBesideATimeOfDay) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 0.8 : 0.7; };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Sweep sweep = sweep_by(64, share, 55, 0.02, seed);
    for (Reading& each : sweep.readings) {
      each.rate *= static_cast<float>(1 - 0.085 * (1 + std::sin(6.2832 * each.round / 42)));
    }
    const Structure found = find_structure(with_leaves(sweep, in_blocks(64, 4)), kDepth);
    ASSERT_EQ(found.levels.size(), 2U) << "seed " << seed;
    EXPECT_EQ(found.levels[1].part_of, in_blocks(64, 8)) << "seed " << seed;
  }
}

/// A list of another cluster is not put right host by host.
TEST(GivenLocality, ALocalityOfWhichMostIsWrongIsLeftAsItIs) {
  Sweep sweep = sweep_by(16, groups(in_turn(16, 4), 0.5), 0, 0.01);
  sweep.leaf_of = in_blocks(16, 4);
  sweep.leaves = {"a", "b", "c", "d"};
  const Structure found = find_structure(sweep, kDepth);
  EXPECT_TRUE(found.misplaced.empty());
  EXPECT_EQ(found.contradiction.parts, 4);
}

TEST(GivenLocality, ALocalityThatTheReadingsContradictIsToldOf) {
  const Structure found = find_structure(
      with_leaves(sweep_by(16, groups(in_turn(16, 2), 0.5)), Parts(in_turn(8, 2).size() * 2, 0)), kDepth);
  EXPECT_EQ(found.contradiction.parts, 2);
  EXPECT_EQ(found.contradiction.part_of, in_turn(16, 2));
}

TEST(GivenLocality, AHostOfUnknownLeafIsNearNobody) {
  Parts leaf_of = in_turn(16, 2);
  leaf_of[0] = Sweep::kNoLeaf;
  const Structure found = find_structure(with_leaves(sweep_by(16, [](auto, auto) { return 1; }), leaf_of), kDepth);
  EXPECT_EQ(found.distance(0, 2), 1);
  EXPECT_EQ(found.distance(2, 4), 0);
}

}  // namespace levels_test
}  // namespace fabricbench::cluster
