// What the tests of the attribution share: sweeps to judge, and how to look at verdicts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pairs/attribution/attribution.h"
#include "common/core/schedule.h"
#include "simulation/fabric.h"

namespace fabricbench::cluster {

/// A fabric whose readings are all near what they should be: no outliers, 1 % noise.
inline FabricPlan clean_fabric(std::int32_t hosts, const std::vector<std::string>& faults = {}) {
  FabricPlan plan;
  plan.hosts = hosts;
  plan.outliers = 0;
  plan.seed = 7;
  for (const std::string& fault : faults) plan.faults.push_back(parse_fault(fault));
  return plan;
}

/// Leaves that the sweep does not know of.
inline FabricPlan hidden_leaves(std::int32_t hosts, std::int32_t leaf_size, double crossing,
                                const std::vector<std::string>& faults = {}) {
  FabricPlan plan = clean_fabric(hosts, faults);
  plan.leaf_size = leaf_size;
  plan.crossing = crossing;
  plan.leaves_known = false;
  return plan;
}

/// So many rounds of the circle; 0: all pairs.
inline Sweep sweep_of(const FabricPlan& plan, int rounds = 0) {
  const Fabric fabric(plan);
  Sweep sweep = fabric.empty_sweep();
  SchedulePlan schedule_plan;
  schedule_plan.endpoints = plan.hosts;
  schedule_plan.rounds = rounds;
  const Schedule schedule(schedule_plan);
  for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
    fabric.measure(schedule.round(round), static_cast<std::int32_t>(round), sweep);
  }
  return sweep;
}

/// All pairs, again and again, in so many rounds: in the same order, or each pass in one of its own, as the planner
/// does.
inline Sweep again_and_again(const FabricPlan& plan, std::int32_t rounds, bool in_one_order = true) {
  const Fabric fabric(plan);
  Sweep sweep = fabric.empty_sweep();
  SchedulePlan schedule_plan;
  schedule_plan.endpoints = plan.hosts;
  for (std::int32_t round = 0; round < rounds; schedule_plan.seed += in_one_order ? 0 : 1) {
    const Schedule schedule(schedule_plan);
    for (std::int64_t i = 0; i < schedule.rounds() && round < rounds; ++i, ++round) {
      fabric.measure(schedule.round(i), round, sweep);
    }
  }
  return sweep;
}

/// Measures a pair alone, so many times more.
inline void measure_again(const FabricPlan& plan, const Pair& pair, int times, Sweep& sweep) {
  const Fabric fabric(plan);
  const std::int32_t last = sweep.readings.empty() ? -1 : sweep.readings.back().round;
  for (int i = 1; i <= times; ++i) fabric.measure(std::vector<Pair>{pair}, last + i, sweep);
}

inline Reading reading(std::int32_t from, std::int32_t to, double rate, std::int32_t round = 0) {
  Reading result;
  result.from = from;
  result.to = to;
  result.round = round;
  result.rate = static_cast<float>(rate);
  return result;
}

inline Reading failure(std::int32_t from, std::int32_t to, std::int32_t round = 0) {
  Reading result = reading(from, to, 0, round);
  result.outcome = Outcome::kFailed;
  return result;
}

inline Sweep hosts_only(int hosts) {
  Sweep sweep;
  for (int host = 0; host < hosts; ++host) sweep.hosts.push_back("n" + std::to_string(host));
  sweep.tests = {"test 1 MiB"};
  return sweep;
}

/// What a pair reaches, as a share of the best.
using Share = std::function<double(std::int32_t, std::int32_t)>;

/// Readings of both directions of all pairs, or of the first `rounds`, with 1 % noise.
inline Sweep sweep_by(std::int32_t hosts, const Share& share, int rounds = 0, double noise = 0.01,
                      std::uint64_t seed = 1) {
  Sweep sweep = hosts_only(hosts);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, noise);
  SchedulePlan plan;
  plan.endpoints = hosts;
  plan.rounds = rounds;
  plan.seed = seed;
  const Schedule schedule(plan);
  for (std::int64_t round = 0; round < schedule.rounds(); ++round) {
    for (const Pair& pair : schedule.round(round)) {
      for (const auto& [from, to] : {std::pair{pair.first, pair.second}, std::pair{pair.second, pair.first}}) {
        const double rate = 25e9 * share(from, to) * std::exp(normal(random));
        sweep.readings.push_back(reading(from, to, rate, static_cast<std::int32_t>(round)));
      }
    }
  }
  return sweep;
}

using Hosts = std::vector<std::int32_t>;

/// The findings with this blame.
inline std::vector<Finding> with_blame(const Verdict& verdict, Blame blame) {
  std::vector<Finding> findings;
  std::copy_if(verdict.findings.begin(), verdict.findings.end(), std::back_inserter(findings),
               [&](const Finding& finding) { return finding.blame == blame; });
  return findings;
}

/// That there is one finding and no other, and what it says.
inline Finding the_finding(const Verdict& verdict, Blame blame) {
  EXPECT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.judged, Judged::kSlow);
  if (verdict.findings.empty()) return {};
  EXPECT_EQ(verdict.findings.front().blame, blame);
  return verdict.findings.front();
}

inline bool asks_about(const Verdict& verdict, std::int32_t host, std::int32_t other) {
  return std::any_of(verdict.follow_ups.begin(), verdict.follow_ups.end(), [&](const FollowUp& follow_up) {
    return std::minmax(follow_up.host, follow_up.other) == std::minmax(host, other);
  });
}

}  // namespace fabricbench::cluster
