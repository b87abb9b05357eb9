// Hosts whose slow readings are all with others that are slow too, or that others refute.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "attribution_test_support.h"

namespace fabricbench::cluster {
namespace circular_test {

/// All pairs of so many hosts, four times.
Sweep four_times(std::int32_t hosts, const Share& share, std::uint64_t seed) {
  Sweep sweep = sweep_by(hosts, share, 0, 0.01, seed);
  const std::int32_t rounds = sweep.readings.back().round + 1;
  for (std::int32_t time = 1; time < 4; ++time) {
    for (Reading each : sweep_by(hosts, share, 0, 0.01, 1000 * seed + static_cast<std::uint64_t>(time)).readings) {
      each.round += time * rounds;
      sweep.readings.push_back(each);
    }
  }
  return sweep;
}

std::int32_t leaf_of(std::int32_t host) { return host / 4; }

Sweep with_leaves(Sweep sweep) {
  for (std::int32_t host = 0; host < static_cast<std::int32_t>(sweep.hosts.size()); ++host) {
    sweep.leaf_of.push_back(leaf_of(host));
    if (host % 4 == 0) sweep.leaves.push_back("leaf" + std::to_string(leaf_of(host)));
  }
  return sweep;
}

/// Hosts 0, 1 and 2 of the first leaf of four do not exceed `cap`; between leaves there is less anyway.
Sweep all_but_one_of_a_leaf(double cap, std::uint64_t seed) {
  const auto share = [cap](std::int32_t a, std::int32_t b) {
    if (leaf_of(a) != leaf_of(b)) return 0.5;
    return std::min(a, b) < 3 && leaf_of(a) == 0 ? cap : 1.0;
  };
  return four_times(16, share, seed);
}

TEST(Circular, WhereAllButOneOfALeafAreSlowNobodyCanTellWhich) {
  int told = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Sweep& sweep : {all_but_one_of_a_leaf(0.65, seed), with_leaves(all_but_one_of_a_leaf(0.65, seed))}) {
      const Verdict verdict = judge(sweep);
      EXPECT_TRUE(with_blame(verdict, Blame::kHost).empty()) << seed;
      EXPECT_NE(verdict.judged, Judged::kClean) << seed;
      for (const Finding& finding : with_blame(verdict, Blame::kUndecided)) {
        EXPECT_EQ(finding.hosts, (Hosts{0, 1, 2, 3})) << seed;
        ++told;
      }
    }
  }
  EXPECT_GT(told, 0);
}

TEST(Circular, WithTwoFineHostsInTheLeafTheOthersAreNamed) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto share = [](std::int32_t a, std::int32_t b) {
      if (leaf_of(a) != leaf_of(b)) return 0.5;
      return std::min(a, b) < 2 && leaf_of(a) == 0 ? 0.65 : 1.0;
    };
    const std::vector<Finding> findings = with_blame(judge(with_leaves(four_times(16, share, seed))), Blame::kHost);
    ASSERT_EQ(findings.size(), 2U) << seed;
    EXPECT_LT(std::max(findings[0].hosts.front(), findings[1].hosts.front()), 2) << seed;
  }
}

/// The uplink of hosts 0 to 3 carries half, hosts 5 and 8 reach a third, and nobody says where the leaves are.
TEST(Circular, AGroupBehindASlowUplinkIsNotBlamedHostByHost) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto share = [](std::int32_t a, std::int32_t b) {
      const bool slow = a == 5 || a == 8 || b == 5 || b == 8;
      const bool across = (a < 4) != (b < 4);
      return std::min(slow ? 0.33 : 1, across ? 0.36 : leaf_of(a) == leaf_of(b) ? 1 : 0.9);
    };
    for (const Finding& finding : judge(four_times(16, share, seed)).findings) {
      if (finding.blame != Blame::kHost) continue;
      EXPECT_GE(finding.hosts.front(), 4) << seed;
    }
  }
}

/// What hosts 0 to 3 send to the others does not arrive, ever.
TEST(Circular, WhatAlwaysFailsIsNotUnsteady) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Sweep sweep = four_times(
        17, [](std::int32_t, std::int32_t) { return 1.0; }, seed);
    for (Reading& each : sweep.readings) {
      if (each.from < 4 && each.to >= 4) {
        each.outcome = Outcome::kFailed;
        each.rate = 0;
      }
    }
    EXPECT_TRUE(with_blame(judge(sweep), Blame::kTransient).empty()) << seed;
  }
}

/// Each of two paths fails in two of its four meetings, and nothing else does.
TEST(Circular, TwoPathsThatFailAgainAreLookedAtFurther) {
  Sweep sweep = four_times(
      16, [](std::int32_t, std::int32_t) { return 1.0; }, 1);
  std::vector<int> met(2, 0);
  for (Reading& each : sweep.readings) {
    const bool first = std::minmax({each.from, each.to}) == std::pair{1, 2};
    const bool second = std::minmax({each.from, each.to}) == std::pair{7, 9};
    if (!first && !second) continue;
    if (met[first ? 0 : 1]++ / 2 % 2 == 0) continue;  // both ways of every second meeting
    each.outcome = Outcome::kFailed;
    each.rate = 0;
  }
  const Verdict verdict = judge(sweep);
  EXPECT_EQ(verdict.judged, Judged::kUnknown);
  EXPECT_EQ(verdict.follow_ups.size(), 2U);
}

}  // namespace circular_test
}  // namespace fabricbench::cluster
