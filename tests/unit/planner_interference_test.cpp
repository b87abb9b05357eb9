// Whether the planner finds out that pairs slow each other.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "cluster/planning/interference.h"
#include "planner_test_support.h"

namespace fabricbench::cluster {
namespace planner_interference_test {

using namespace test;

TEST(Interference, MeasuresFewerAtOnceWherePairsSlowEachOther) {
  for (const int carried : {8, 4}) {
    Sweep sweep = sweep_of(32);
    PlannedFabric fabric{32};
    fabric.share = [&](int, int, std::int64_t, std::size_t at_once) {
      return std::min(1.0, carried / static_cast<double>(at_once));
    };
    const auto judge = [](const Sweep&) {
      Verdict verdict = clean_verdict();
      verdict.strata.front().scale = 0.02;  // so that there are rounds left for fewer pairs
      return verdict;
    };
    const auto rounds = run(Planner(plan_to_find(32)), fabric, sweep, judge);
    std::size_t most = 16;
    for (const PlannedRound& round : rounds) {
      if (round.why.find("to see whether pairs slow each other") != std::string::npos) most = 8;
      EXPECT_LE(round.meetings.size(), most) << round.why;
    }
    EXPECT_EQ(most, 8U);
    EXPECT_NE(
        rounds.back().why.find(fmt::format(
            "the fabric is oversubscribed (a pair alone had 2.00 times its bandwidth among others), so at most {}",
            carried)),
        std::string::npos)
        << rounds.back().why;
  }
}

/// All readings of a round are slower or faster together, and in one of seven by half.
TEST(Interference, TakesNoRoundForPairsThatSlowEachOther) {
  int taken = 0;
  SweepPlan plan = plan_to_find(32);
  plan.least_rounds = 12;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Sweep sweep = sweep_of(32);
    PlannedFabric fabric{32};
    fabric.share = [&](int, int, std::int64_t round, std::size_t) {
      std::mt19937 random(seed * 1000 + static_cast<unsigned>(round));
      std::normal_distribution<double> normal;
      return (random() % 7 == 0 ? 0.5 : 1) * std::exp(0.024 * normal(random));
    };
    const auto judge = [](const Sweep&) {
      Verdict verdict = clean_verdict();
      verdict.strata.front().scale = 0.03;
      return verdict;
    };
    const auto rounds = run(Planner(plan), fabric, sweep, judge);
    taken += rounds.back().why.find("oversubscribed") != std::string::npos ? 1 : 0;
  }
  EXPECT_LE(taken, 1) << "of 20";
}

TEST(Interference, TakesNeitherDriftNorNoiseForPairsThatSlowEachOther) {
  for (const auto& [noise, drift] : {std::pair{0.0, 0.002}, {0.05, 0.002}, {0.02, 0.006}}) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      Sweep sweep = sweep_of(16);
      std::mt19937 random(seed);
      std::normal_distribution<double> normal;
      PlannedFabric fabric{16};
      fabric.share = [&, noise = noise, drift = drift](int, int, std::int64_t round, std::size_t) {
        return (0.8 + drift * static_cast<double>(round)) * std::exp(noise * normal(random));
      };
      const auto judge = [noise = noise](const Sweep&) {
        Verdict verdict = clean_verdict();
        verdict.strata.front().scale = std::max(noise, 0.02);
        return verdict;
      };
      const auto rounds = run(Planner(plan_to_find(16)), fabric, sweep, judge);
      EXPECT_EQ(rounds.back().why.find("oversubscribed"), std::string::npos)
          << "noise " << noise << ", drift " << drift << ", seed " << seed << ": " << rounds.back().why;
    }
  }
}

TEST(Interference, TakesNoSuspectForTheComparison) {
  for (const std::set<std::int32_t>& suspects : {std::set{0, 1, 2, 3}, std::set{4, 5, 6, 7}}) {
    Sweep sweep = sweep_of(8);
    const auto judge = [&](const Sweep&) {
      Verdict verdict = clean_verdict();
      Finding finding;
      finding.blame = Blame::kHost;
      for (const std::int32_t host : suspects) {
        finding.hosts = {host};
        verdict.findings.push_back(finding);
      }
      verdict.judged = Judged::kSlow;
      return verdict;
    };
    int compared = 0;
    for (const PlannedRound& round : run(Planner(plan_to_find(8)), {8}, sweep, judge)) {
      if (round.why.find("to see whether pairs slow each other") == std::string::npos) continue;
      ++compared;
      const Meeting& pair = round.meetings.front();
      EXPECT_EQ(suspects.count(pair.first) + suspects.count(pair.second), 0U) << round.why;
    }
    EXPECT_GE(compared, 1);
  }
}

/// Of two leaves, of whose pairs most stay in most rounds, and cross in others at half the rate.
TEST(Interference, PairsThatCrossLeavesAreComparedWithPairsThatDo) {
  Sweep sweep = sweep_of(16);
  sweep.leaves = {"a", "b"};
  for (int host = 0; host < 16; ++host) sweep.leaf_of.push_back(host / 8);
  PlannedFabric fabric{16};
  fabric.share = [](int from, int to, std::int64_t, std::size_t) { return from / 8 == to / 8 ? 1.0 : 0.5; };
  PlannedRound round;
  round.meetings = {{0, 1}, {2, 3}, {4, 5}, {6, 14}, {7, 15}, {8, 9}, {10, 11}, {12, 13}};
  for (; round.number < 4; ++round.number) fabric.measure(round, sweep);
  round.meetings = {{6, 14}};
  fabric.measure(round, sweep);
  EXPECT_EQ(interference_of(sweep, plan_to_find(16), 8).compared, 1);
}

}  // namespace planner_interference_test
}  // namespace fabricbench::cluster
