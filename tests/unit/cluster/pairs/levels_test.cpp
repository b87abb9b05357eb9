// Groups of hosts as readings show them: the split of a set of values, and the structure of a sweep.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "cluster/pairs/structure/split.h"
#include "levels_test_support.h"

namespace fabricbench::cluster {
namespace levels_test {

TEST(Level, IsNotFoundWhereThereIsNone) {
  for (const std::int32_t hosts : {3, 4, 8, 17, 64}) {
    for (const double noise : {0.005, 0.01, 0.05}) {
      for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Structure flat = find_structure(sweep_by(
                                                  hosts, [](auto, auto) { return 1; }, 0, noise, seed),
                                              kDepth);
        EXPECT_TRUE(flat.levels.empty()) << hosts << " hosts, noise " << noise;
        EXPECT_TRUE(flat.is_slow_kind.empty());
        EXPECT_EQ(flat.distance(0, 1), 0);
      }
    }
  }
}

TEST(Level, FindsGroupsFromTwoHostsUp) {
  for (const Parts& part_of : {in_turn(8, 2), in_turn(16, 8), in_turn(24, 3), Parts{0, 1, 1, 1, 1, 1, 1, 0},
                               Parts{0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}}) {
    for (const double across : {0.1, 0.5, 0.9}) {
      const Sweep sweep = sweep_by(static_cast<std::int32_t>(part_of.size()), groups(part_of, across));
      const Structure found = find_structure(sweep, kDepth);
      ASSERT_EQ(found.levels.size(), 1U) << part_of.size() << " hosts, across " << across;
      EXPECT_EQ(found.levels[0].part_of, part_of);
      EXPECT_NEAR(found.levels[0].across, across, 0.02);
      EXPECT_GT(found.levels[0].gain, 7);
      EXPECT_FALSE(found.levels[0].is_given);
      EXPECT_TRUE(found.open_parts.empty());
    }
  }
}

TEST(Level, FindsGroupsInNoiseThatHidesThemFromTheEye) {
  const Structure found = find_structure(sweep_by(32, groups(in_turn(32, 2), 0.9), 0, 0.05), kDepth);
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_EQ(found.levels[0].part_of, in_turn(32, 2));
}

TEST(Level, FindsGroupsThoughRoundsDiffer) {
  const Parts part_of = in_blocks(32, 4);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Sweep sweep = sweep_by(32, groups(part_of, 0.9), 0, 0.03, seed);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> busy(0, 0.04);
    std::map<std::int32_t, float> share;  // by round
    for (Reading& each : sweep.readings) {
      const auto [at, is_new] = share.try_emplace(each.round, 1);
      if (is_new) at->second = static_cast<float>(std::exp(busy(random)));
      each.rate *= at->second;
    }
    const Structure found = find_structure(sweep, kDepth);
    EXPECT_EQ(found.levels.size(), 1U) << "seed " << seed;
    if (found.levels.empty()) continue;
    EXPECT_EQ(found.levels[0].part_of, part_of) << "seed " << seed;
  }
}

TEST(Level, HasSeveralLevels) {
  const auto share = [](std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 0.7 : 0.4; };
  const Structure found = find_structure(sweep_by(32, share), kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_EQ(found.levels[0].parts, 8);
  EXPECT_EQ(found.levels[1].parts, 4);
  EXPECT_EQ(found.distance(0, 3), 0);
  EXPECT_EQ(found.distance(0, 4), 1);
  EXPECT_EQ(found.distance(0, 8), 2);
}

/// Two pods of leaves of two, without one host of the first leaf.
TEST(Level, AHostThatIsAloneInItsLeafIsOfAPod) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    const auto leaf = [](std::int32_t host) { return (host + 1) / 2; };
    return leaf(a) == leaf(b) ? 1 : leaf(a) / 2 == leaf(b) / 2 ? 0.8 : 0.5;
  };
  const Structure found = find_structure(sweep_by(7, share), kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_EQ(found.levels[0].part_of, (Parts{Level::kNone, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(found.levels[1].part_of, (Parts{0, 0, 0, 1, 1, 1, 1}));
  EXPECT_TRUE(found.is_alone_in_a_part(0));
  EXPECT_FALSE(found.is_alone_in_a_part(1));
  EXPECT_EQ(found.distance(0, 1), 1) << "with its pod";
  EXPECT_EQ(found.distance(0, 3), 2);
}

TEST(Level, ASlowHostIsOfNoPod) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    return std::max(a, b) == 8 ? 0.4 : a / 2 == b / 2 ? 1 : a / 4 == b / 4 ? 0.8 : 0.5;
  };
  const Structure found = find_structure(sweep_by(9, share), kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_EQ(found.levels[1].part_of, (Parts{0, 0, 0, 0, 1, 1, 1, 1, Level::kNone}));
  EXPECT_FALSE(found.is_alone_in_a_part(8));
  EXPECT_EQ(found.distance(8, 0), 0) << "it may be near anybody";
}

/// Two pods, each of two leaves of four.
double in_pods(std::int32_t a, std::int32_t b) { return a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 0.9 : 0.4; }

/// Leaves out readings between a host below the limit and one of the next, up to another limit.
Sweep without_between(std::int32_t first_limit, std::int32_t second_limit) {
  Sweep sweep = sweep_by(16, in_pods);
  std::erase_if(sweep.readings, [&](const Reading& each) {
    const auto [low, high] = std::minmax(each.from, each.to);
    return low < first_limit && high >= first_limit && high < second_limit;
  });
  return sweep;
}

TEST(Level, AHostThatHasNotMetItsLeafIsNotAloneInIt) {
  const Structure found = find_structure(without_between(1, 4), kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_EQ(found.levels[0].part_of[0], Level::kUnknown);
  EXPECT_NE(found.is_unplaced[0], 0);
  EXPECT_FALSE(found.is_alone_in_a_part(0));
  EXPECT_EQ(found.levels[1].part_of[0], found.levels[1].part_of[4]) << "its pod is known";
}

TEST(Level, HalvesOfALeafThatHaveNotMetMayBeOne) {
  EXPECT_FALSE(find_structure(without_between(2, 4), kDepth).open_parts.empty());
  EXPECT_TRUE(find_structure(sweep_by(16, in_pods), kDepth).open_parts.empty());
}

/// Of two leaves that met in one pair, which is neither as fast as within nor as slow as across, nobody knows yet.
TEST(Level, OneReadingBetweenTheTwoRatesDoesNotTell) {
  for (const double rate : {0.95, 0.9}) {
    Sweep sweep = sweep_by(16, groups(in_blocks(16, 4), 0.9), 0, 0.03);
    std::erase_if(sweep.readings, [](const Reading& each) {
      const auto [low, high] = std::minmax(each.from, each.to);
      return low < 4 && high >= 4 && high < 8 && (low != 0 || high != 4);
    });
    for (Reading& each : sweep.readings) {
      if (std::minmax(each.from, each.to) == std::minmax(0, 4)) each.rate = static_cast<float>(25e9 * rate);
    }
    const Structure found = find_structure(sweep, kDepth);
    EXPECT_EQ(found.open_parts.empty(), rate < 0.92) << rate;
    if (!found.open_parts.empty()) {
      const auto [first, second] = found.open_parts[0].groups.at(0);
      EXPECT_EQ(found.open_parts[0].group_of[0], first);
      EXPECT_EQ(found.open_parts[0].group_of[4], second);
    }
  }
}

/// On the second rail, fast hosts have hardly met each other.
TEST(Level, ManySlowHostsAreNoSlowRail) {
  const Share share = slow_hosts(7, 0.8);
  Sweep sweep = sweep_by(16, share);
  const Sweep second = sweep_by(16, share, 0, 0.01, 2);
  for (Reading each : second.readings) {
    each.from_rail = each.to_rail = 1;
    if (std::min(each.from, each.to) < 7 || each.from + each.to < 20) sweep.readings.push_back(each);
  }
  const Structure found = find_structure(sweep, kDepth);
  for (std::size_t host = 0; host < 16; ++host) EXPECT_EQ(found.is_alone[host] != 0, host < 7) << host;
}

TEST(Level, HostsOfASlowerKindThatMetNoFastOneAreOfIt) {
  Sweep sweep = sweep_by(32, slow_hosts(28, 0.6));
  std::erase_if(sweep.readings, [](const Reading& each) {
    return std::min(each.from, each.to) == 0 && std::max(each.from, each.to) >= 28;
  });
  const Structure found = find_structure(sweep, kDepth);
  ASSERT_EQ(found.is_slow_kind.size(), 32U);
  for (std::size_t host = 0; host < 32; ++host) EXPECT_EQ(found.is_slow_kind[host] != 0, host < 28) << host;
  EXPECT_NE(found.is_unplaced[0], 0) << "and is asked about";
}

TEST(Level, SlowHostsAreNoGroup) {
  for (const std::int32_t slow : {1, 3, 7}) {
    const Structure found = find_structure(sweep_by(16, slow_hosts(slow, 0.7)), kDepth);
    EXPECT_TRUE(found.levels.empty()) << slow;
    EXPECT_TRUE(found.is_slow_kind.empty()) << slow;
    for (std::int32_t host = 0; host < 16; ++host) {
      EXPECT_EQ(found.is_alone[static_cast<std::size_t>(host)] != 0, host < slow) << slow << ", host " << host;
    }
  }
}

/// Of many, each slow in its own way, some are by chance as fast with each other as with the rest.
TEST(Level, SlowHostsThatAreAlikeAreNoGroup) {
  constexpr std::int32_t kHosts = 256;
  constexpr std::int32_t kSlow = 124;
  const Share share = [](std::int32_t a, std::int32_t b) {
    const std::int32_t slower = std::min(a, b);
    return slower < kSlow ? 0.3 + 0.5 * slower / kSlow : 1;
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_TRUE(find_structure(sweep_by(kHosts, share, 28, 0.05, seed), kDepth).levels.empty()) << seed;
  }
}

TEST(Level, HalfOfTheHostsAndMoreAreAnotherKind) {
  for (const std::int32_t slow : {8, 12, 14}) {
    const Structure found = find_structure(sweep_by(16, slow_hosts(slow, 0.7)), kDepth);
    ASSERT_EQ(found.is_slow_kind.size(), 16U) << slow;
    for (std::int32_t host = 0; host < 16; ++host) {
      EXPECT_EQ(found.is_slow_kind[static_cast<std::size_t>(host)] != 0, host < slow) << slow << ", host " << host;
      EXPECT_EQ(found.is_alone[static_cast<std::size_t>(host)], 0);
    }
  }
}

TEST(Level, ASlowHostMayBeNearAnybody) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    return std::min(std::min(a, b) == 0 ? 0.3 : 1.0, a / 8 == b / 8 ? 1 : 0.6);
  };
  const Structure found = find_structure(sweep_by(16, share), kDepth);
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_EQ(found.levels[0].part_of[0], Level::kNone);
  EXPECT_EQ(found.is_alone[0], 1);
  EXPECT_EQ(found.distance(0, 1), 0);
  EXPECT_EQ(found.distance(0, 15), 0);
  EXPECT_EQ(found.distance(1, 15), 1);
}

TEST(Level, AHostWithOneSlowDirectionOrNicStaysInItsGroup) {
  const auto share = [](std::int32_t from, std::int32_t to) {
    return std::min(to == 0 ? 0.3 : 1.0, from / 8 == to / 8 ? 1 : 0.6);
  };
  const Structure found = find_structure(sweep_by(16, share), kDepth);
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_EQ(found.levels[0].part_of[0], found.levels[0].part_of[1]);
}

TEST(Level, AWayThatIsSlowInOneDirectionParts) {
  const auto share = [](std::int32_t from, std::int32_t to) { return from < 4 && to >= 4 ? 0.5 : 1; };
  const Structure found = find_structure(sweep_by(16, share), kDepth);
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_EQ(found.levels[0].parts, 2);
  EXPECT_EQ(found.distance(0, 3), 0);
  EXPECT_EQ(found.distance(3, 4), 1);
}

TEST(Level, SlowTimesAreNoGroups) {
  Sweep sweep = sweep_by(16, [](auto, auto) { return 1; });
  for (Reading& each : sweep.readings) each.rate *= each.round < 8 ? 0.7F : 1.0F;
  EXPECT_TRUE(find_structure(sweep, kDepth).levels.empty());
}

/// Most partners of its leaf were measured with a host in rounds in which everything was slow.
TEST(Level, ARoundThatDropsTakesNoHostFromItsLeaf) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    return a / 16 == b / 16 ? 1 : a / 32 == b / 32 ? 0.9 : 0.55;
  };
  Sweep sweep = sweep_by(64, share, 28);
  std::vector<std::int32_t> slow;
  for (const Reading& each : sweep.readings) {
    if (each.from == 0 && each.to < 16) slow.push_back(each.round);
  }
  ASSERT_GE(slow.size(), 4U);
  slow.pop_back();
  for (Reading& each : sweep.readings) {
    if (std::count(slow.begin(), slow.end(), each.round) > 0) each.rate *= 0.89F;
  }
  const Structure found = find_structure(sweep, kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_EQ(found.levels[0].part_of[0], found.levels[0].part_of[1]);
  EXPECT_NE(found.levels[0].part_of[0], found.levels[0].part_of[16]);
}

/// In half of the rounds or more, half of the pairs go over it.
TEST(Level, ASlowUplinkAmongFewHostsIsNoRoundThatDrops) {
  const auto share = [](std::int32_t a, std::int32_t b) {
    return a / 4 == b / 4 ? 1 : a / 4 == 0 || b / 4 == 0 ? 0.38 : 0.76;
  };
  for (const std::int32_t hosts : {12, 16, 20}) {
    const Structure found = find_structure(sweep_by(hosts, share), kDepth);
    ASSERT_EQ(found.levels.size(), 1U) << hosts;
    EXPECT_EQ(found.levels[0].part_of, in_blocks(hosts, 4));
  }
}

/// A host that is alone in its leaf, in a pod with a leaf of two; in the other pod are two leaves as near each other.
TEST(Level, AHostAsNearToALeafAsLeavesAreToEachOtherIsAPartByItself) {
  const Parts leaf{0, 0, 1, 2, 2, 3, 3};
  const auto share = [&](std::int32_t a, std::int32_t b) {
    const std::int32_t first = leaf[static_cast<std::size_t>(a)];
    const std::int32_t second = leaf[static_cast<std::size_t>(b)];
    return first == second ? 1 : first / 2 == second / 2 ? 0.8 : 0.7;
  };
  const Structure found = find_structure(sweep_by(7, share), kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_EQ(found.levels[0].part_of, (Parts{0, 0, Level::kNone, 1, 1, 2, 2}));
  EXPECT_EQ(found.levels[1].part_of, (Parts{0, 0, 0, 1, 1, 1, 1}));
}

TEST(Level, AFewFastPairsAmongManyAreAKindThoughReadingsScatter) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const Structure found = find_structure(sweep_by(64, slow_hosts(60, 0.79), 0, 0.05, seed), kDepth);
    ASSERT_EQ(found.is_slow_kind.size(), 64U) << seed;
    EXPECT_EQ(std::count(found.is_slow_kind.begin() + 60, found.is_slow_kind.end(), 1), 0) << seed;
    EXPECT_GE(std::count(found.is_slow_kind.begin(), found.is_slow_kind.end(), 1), 50) << seed << ": but chance";
  }
}

/// Other traffic slowed one of the two meetings of two hosts that are a leaf.
TEST(Level, OneSlowMeetingOfTwoPartsNoLeaf) {
  Sweep sweep = sweep_by(16, groups(in_blocks(16, 2), 0.8));
  const Sweep again = sweep_by(16, groups(in_blocks(16, 2), 0.8), 0, 0.01, 2);
  for (Reading each : again.readings) {
    each.round += 15;
    sweep.readings.push_back(each);
  }
  for (Reading& each : sweep.readings) {
    if (each.round < 15 && std::max(each.from, each.to) == 1) each.rate *= 0.65F;
  }
  const Structure found = find_structure(sweep, kDepth);
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_EQ(found.levels[0].parts, 8);
}

TEST(Level, SaysWhichHostsItCannotPlace) {
  const Structure few = find_structure(sweep_by(64, groups(in_turn(64, 8), 0.5), 4), kDepth);
  EXPECT_TRUE(!few.open_parts.empty() || std::count(few.is_unplaced.begin(), few.is_unplaced.end(), 1) > 0);
  for (std::size_t host = 0; host < 64 && !few.levels.empty(); ++host) {
    if (few.is_unplaced[host] != 0) {
      EXPECT_EQ(few.levels[0].part_of[host], Level::kUnknown);
    }
  }
  const Structure all = find_structure(sweep_by(64, groups(in_turn(64, 8), 0.5)), kDepth);
  EXPECT_TRUE(all.open_parts.empty());
  EXPECT_EQ(std::count(all.is_unplaced.begin(), all.is_unplaced.end(), 1), 0);
}

/// Sixteen pods of two leaves each, of which few pairs were measured: a share of all splits of 256 hosts would be far
/// too many, but each pod is split by itself.
Share pods_of_two_leaves() {
  return [](std::int32_t a, std::int32_t b) { return a / 8 == b / 8 ? 1 : a / 16 == b / 16 ? 0.9 : 0.5; };
}

TEST(Level, PartsOfPartsAreFoundInEachByItself) {
  const Structure found = find_structure(sweep_by(256, pods_of_two_leaves(), 64, 0.05), kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  EXPECT_GE(found.levels[0].parts, 32);
  EXPECT_NEAR(found.levels[0].across, 0.9, 0.02);
  EXPECT_GE(found.levels[1].parts, 16) << "more where hosts have not met";
}

TEST(Level, AsksOfPartsOfPartsOnlyWithinEach) {
  const Structure found = find_structure(sweep_by(256, pods_of_two_leaves(), 96, 0.05), kDepth);
  ASSERT_EQ(found.levels.size(), 2U);
  for (const OpenGroups& open : found.open_parts) {
    std::vector<std::int32_t> pod_of_node(256, -1);
    for (std::int32_t host = 0; host < 256; ++host) {
      const std::int32_t node = open.group_of[static_cast<std::size_t>(host)];
      if (node >= 0) pod_of_node[static_cast<std::size_t>(node)] = host / 16;
    }
    for (const auto& [first, second] : open.groups) {
      EXPECT_EQ(pod_of_node[static_cast<std::size_t>(first)], pod_of_node[static_cast<std::size_t>(second)]);
    }
  }
  EXPECT_FALSE(found.open_parts.empty());
}

TEST(Level, RailsAreComparedEachWithItself) {
  Sweep sweep = sweep_by(16, groups(in_turn(16, 2), 0.5));
  Sweep other = sweep_by(16, groups(in_turn(16, 2), 0.5), 0, 0.01, 2);
  sweep.rails = {"0", "1"};
  for (Reading& each : other.readings) {
    each.from_rail = each.to_rail = 1;
    each.rate *= 0.25F;
    sweep.readings.push_back(each);
  }
  const Structure found = find_structure(sweep, kDepth);
  ASSERT_EQ(found.levels.size(), 1U);
  EXPECT_EQ(found.levels[0].part_of, in_turn(16, 2));
}

TEST(Level, HalfOfTheHostsAndMoreMayBeSlowerInOneDirectionAlone) {
  for (const std::int32_t hosts : {8, 16, 17}) {
    for (std::int32_t slow = (hosts + 1) / 2; slow <= hosts - 2; ++slow) {
      for (const bool sends : {true, false}) {
        const auto share = [&](std::int32_t from, std::int32_t to) { return (sends ? from : to) < slow ? 0.7 : 1; };
        const Structure found = find_structure(sweep_by(hosts, share, 0, 0.04), kDepth);
        ASSERT_FALSE(found.is_slow_kind.empty()) << slow << " of " << hosts << (sends ? " send" : " receive");
        for (std::int32_t host = 0; host < hosts; ++host) {
          EXPECT_EQ(found.is_slow_kind[static_cast<std::size_t>(host)] != 0, host < slow) << slow << " of " << hosts;
        }
        EXPECT_EQ(found.slow_way, sends ? Direction::kSends : Direction::kReceives);
      }
    }
  }
}

TEST(Level, AHallThatSendsSlowlyToTheOtherIsNoKindOfHosts) {
  const auto share = [](std::int32_t from, std::int32_t to) { return from < 10 && to >= 10 ? 0.5 : 1; };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_TRUE(find_structure(sweep_by(16, share, 0, 0.02, seed), kDepth).is_slow_kind.empty()) << "seed " << seed;
  }
}

}  // namespace levels_test
}  // namespace fabricbench::cluster
