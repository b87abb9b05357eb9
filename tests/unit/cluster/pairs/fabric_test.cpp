#include "simulation/fabric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulation/simulation.h"

using namespace fabricbench;
using namespace fabricbench::cluster;

namespace fabric_test {

/// Readings without noise, as shares of a healthy NIC's rate.
FabricPlan exact(std::int32_t hosts, const std::vector<std::string>& faults = {}) {
  FabricPlan plan;
  plan.hosts = hosts;
  plan.rate = 1;
  plan.sigma = 0;
  plan.outliers = 0;
  for (const std::string& fault : faults) plan.faults.push_back(parse_fault(fault));
  return plan;
}

/// What one meeting gives in a round of its own.
std::vector<Reading> readings_of(const FabricPlan& plan, const Pair& meeting, std::int32_t round = 0) {
  const Fabric fabric(plan);
  Sweep sweep = fabric.empty_sweep();
  fabric.measure(std::vector<Pair>{meeting}, round, sweep);
  return sweep.readings;
}

/// From `from` to `to`, on the first rail.
double rate_of(const FabricPlan& plan, std::int32_t from, std::int32_t to, std::int32_t round = 0) {
  const std::vector<Reading> readings = readings_of(plan, {from, to}, round);
  return static_cast<double>(readings.at(0).rate);
}

TEST(Fabric, AMeetingIsTwoReadingsOnEveryRail) {
  FabricPlan plan = exact(4);
  plan.rails = 3;
  const std::vector<Reading> readings = readings_of(plan, {2, 1}, 7);
  ASSERT_EQ(readings.size(), 6U);
  for (std::size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(readings[i].from, i % 2 == 0 ? 2 : 1);
    EXPECT_EQ(readings[i].to, i % 2 == 0 ? 1 : 2);
    EXPECT_EQ(readings[i].from_rail, static_cast<std::int16_t>(i / 2));
    EXPECT_EQ(readings[i].round, 7);
    EXPECT_EQ(readings[i].concurrent, 1);
    EXPECT_FALSE(readings[i].both_ways);
    EXPECT_EQ(readings[i].rate, 1.0F);
  }
  EXPECT_EQ(Fabric(plan).empty_sweep().rails.size(), 3U);
}

TEST(Fabric, OneFigureForBothDirections) {
  FabricPlan plan = exact(4, {"host:2:0.5:sends"});
  plan.both_ways = true;
  const std::vector<Reading> readings = readings_of(plan, {2, 1});
  ASSERT_EQ(readings.size(), 1U);
  EXPECT_TRUE(readings[0].both_ways);
  EXPECT_EQ(readings[0].from, 2);
  EXPECT_EQ(readings[0].rate, 1.5F);
}

TEST(Fabric, FaultsSlowWhatGoesThroughThemAndNothingElse) {
  const FabricPlan host = exact(8, {"host:3:0.9"});
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of(host, 3, 1)), 0.9F);
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of(host, 1, 3)), 0.9F);
  EXPECT_EQ(rate_of(host, 1, 2), 1);
  const FabricPlan one_way = exact(8, {"nic:3:0:0.8:receives"});
  EXPECT_EQ(rate_of(one_way, 3, 1), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of(one_way, 1, 3)), 0.8F);
  const FabricPlan pair = exact(8, {"pair:3:4:0.7:sends"});
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of(pair, 3, 4)), 0.7F);
  EXPECT_EQ(rate_of(pair, 4, 3), 1);
  EXPECT_EQ(rate_of(pair, 3, 5), 1);
  EXPECT_EQ(rate_of(pair, 2, 5), 1) << "2 + 5 = 3 + 4";
  // The narrowest place decides.
  EXPECT_FLOAT_EQ(static_cast<float>(rate_of(exact(8, {"host:3:0.9", "host:4:0.6"}), 3, 4)), 0.6F);
}

TEST(Fabric, FaultsOfLeavesAndRails) {
  FabricPlan plan = exact(12, {"leaf:1:0.5:sends"});
  plan.leaf_size = 4;
  EXPECT_EQ(rate_of(plan, 4, 0), 0.5);
  EXPECT_EQ(rate_of(plan, 0, 4), 1);
  EXPECT_EQ(rate_of(plan, 4, 5), 1) << "within the leaf";
  plan.faults = {parse_fault("leaf-pair:0:2:0.5")};
  EXPECT_EQ(rate_of(plan, 0, 8), 0.5);
  EXPECT_EQ(rate_of(plan, 8, 0), 0.5);
  EXPECT_EQ(rate_of(plan, 4, 8), 1);
  plan.faults = {parse_fault("rail:1:0.5")};
  plan.rails = 2;
  const std::vector<Reading> readings = readings_of(plan, {0, 1});
  EXPECT_EQ(readings.at(0).rate, 1.0F);
  EXPECT_EQ(readings.at(2).rate, 0.5F);
}

TEST(Fabric, ASpinesFaultHitsTheFlowsThatAreHashedOntoIt) {
  FabricPlan plan = exact(64, {"spine:0:2:0.5"});
  plan.leaf_size = 32;
  plan.spines = 4;
  int slow = 0;
  for (std::int32_t from = 0; from < 32; ++from) {
    for (std::int32_t to = 32; to < 64; ++to) {
      const double rate = rate_of(plan, from, to);
      EXPECT_EQ(rate, rate_of(plan, from, to, 5)) << "always the same way";
      slow += rate < 1 ? 1 : 0;
    }
  }
  EXPECT_NEAR(slow / 1024.0, 0.25, 0.05);
  EXPECT_EQ(rate_of(plan, 1, 2), 1);
}

TEST(Fabric, AFlappingHostIsSlowInSomeMeetings) {
  const FabricPlan plan = exact(8, {"flapping:3:0.5:0.3"});
  int slow = 0;
  for (std::int32_t round = 0; round < 1000; ++round) slow += rate_of(plan, 3, 1, round) < 1 ? 1 : 0;
  EXPECT_NEAR(slow / 1000.0, 0.3, 0.05);
}

TEST(Fabric, TheDeadGiveNoFigure) {
  const FabricPlan plan = exact(8, {"dead:3", "dead-pair:4:5"});
  const Fabric fabric(plan);
  Sweep sweep = fabric.empty_sweep();
  fabric.measure(std::vector<Pair>{{3, 1}, {4, 5}, {0, 6}}, 0, sweep);
  ASSERT_EQ(sweep.readings.size(), 6U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(sweep.readings[i].outcome, Outcome::kFailed);
    EXPECT_EQ(sweep.readings[i].rate, 0);
    EXPECT_EQ(sweep.reasons.at(i).first, i);
  }
  EXPECT_EQ(sweep.readings[4].outcome, Outcome::kMeasured);
  EXPECT_EQ(sweep.reasons.size(), 4U);
}

TEST(Fabric, NoiseOutliersAndGapsAreAsManyAsAskedFor) {
  FabricPlan plan = exact(100);
  plan.sigma = 0.02;
  plan.outliers = 0.05;
  plan.missing = 0.1;
  const Fabric fabric(plan);
  Sweep sweep = fabric.empty_sweep();
  for (std::int32_t round = 0; round < 20; ++round) {
    std::vector<Pair> meetings;
    for (int host = 0; host < 50; ++host) meetings.push_back({host, 50 + (host + round) % 50});
    fabric.measure(meetings, round, sweep);
  }
  std::vector<double> rates;
  double failed = 0;
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome == Outcome::kFailed)
      ++failed;
    else
      rates.push_back(static_cast<double>(reading.rate));
  }
  const auto all = static_cast<double>(rates.size());
  std::sort(rates.begin(), rates.end());
  EXPECT_NEAR(failed / static_cast<double>(sweep.readings.size()), 0.1, 0.03);
  EXPECT_NEAR(rates[rates.size() / 2], 1, 0.005);
  const auto outliers = std::count_if(rates.begin(), rates.end(), [](double rate) { return rate < 0.88; });
  EXPECT_NEAR(static_cast<double>(outliers) / all, 0.05, 0.015);
  const auto within = std::count_if(rates.begin(), rates.end(), [](double rate) { return rate > 0.98 && rate < 1.02; });
  EXPECT_NEAR(static_cast<double>(within) / all, 0.95 * 0.683, 0.04);
}

TEST(Fabric, TheSamePlanGivesTheSameReadingsInAnyOrder) {
  FabricPlan plan = exact(16);
  plan.sigma = 0.05;
  const Fabric fabric(plan);
  Sweep one = fabric.empty_sweep();
  Sweep other = fabric.empty_sweep();
  fabric.measure(std::vector<Pair>{{0, 1}, {2, 3}}, 4, one);
  fabric.measure(std::vector<Pair>{{2, 3}, {0, 1}}, 4, other);
  EXPECT_EQ(one.readings[0].rate, other.readings[2].rate);
  EXPECT_EQ(one.readings[3].rate, other.readings[1].rate);
  EXPECT_NE(one.readings[0].rate, one.readings[1].rate);
  plan.seed = 1;
  EXPECT_NE(rate_of(plan, 0, 1, 4), static_cast<double>(one.readings[0].rate));
}

TEST(Fabric, AnOversubscribedFabricIsSlowerTogetherThanAlone) {
  FabricPlan plan = exact(16);
  plan.leaf_size = 8;
  plan.oversubscription = 4;
  const Fabric fabric(plan);
  EXPECT_EQ(rate_of(plan, 0, 8), 1);
  Sweep sweep = fabric.empty_sweep();
  std::vector<Pair> all;
  for (int host = 0; host < 8; ++host) all.push_back({host, host + 8});
  fabric.measure(all, 0, sweep);
  for (const Reading& reading : sweep.readings) EXPECT_EQ(reading.rate, 0.25F);
}

TEST(Fabric, LeavesAreToldUnlessTheyAreHidden) {
  FabricPlan plan = exact(10);
  plan.leaf_size = 4;
  const Sweep told = Fabric(plan).empty_sweep();
  EXPECT_EQ(told.leaves.size(), 3U);
  EXPECT_EQ(told.leaf_of, (std::vector<std::int32_t>{0, 0, 0, 0, 1, 1, 1, 1, 2, 2}));
  plan.leaves_known = false;
  EXPECT_TRUE(Fabric(plan).empty_sweep().leaf_of.empty());
}

TEST(Fabric, FaultsThatCannotBeReadAreRefused) {
  for (const char* fault : {"", "host", "host:1", "host:1:2:3", "host:x:0.9", "host:-1:0.9", "hosts:1:0.9", "nic:1:0.9",
                            "dead:1:0.5", "flapping:1:0.5", "host:1:0.9:up", "dead:1:sends"}) {
    EXPECT_THROW((void)parse_fault(fault), std::invalid_argument) << fault;
  }
  EXPECT_EQ(parse_fault("flapping:1:0.5:0.25").share, 0.25);
}

TEST(Fabric, FaultsOfWhatIsNotThereAreRefused) {
  for (const char* fault : {"host:4:0.9", "nic:1:1:0.9", "pair:1:1:0.9", "pair:1:9:0.9", "leaf:1:0.9", "spine:0:4:0.9",
                            "rail:1:0.5", "leaf-pair:0:0:0.5", "host:1:0"}) {
    EXPECT_THROW(Fabric(exact(4, {fault})), std::invalid_argument) << fault;
  }
}

/// With the usual faults, and one reading in a hundred off by a fifth.
Score score_with(bool batches, std::uint64_t seed) {
  FabricPlan plan;
  plan.hosts = 24;
  plan.seed = seed;
  for (const char* fault : {"host:3:0.9", "nic:8:0:0.8:sends", "pair:1:2:0.7"})
    plan.faults.push_back(parse_fault(fault));
  const Fabric fabric(plan);
  SweepPlan sweep;
  sweep.schedule.endpoints = plan.hosts;
  sweep.find = true;
  sweep.both_directions = true;
  sweep.most_extra_rounds = 200;
  if (!batches) limit_rounds(sweep, SweepPlan::kAllPairs);
  return score_of(fabric, batches ? simulate_in_batches(fabric, sweep, {}) : simulate(fabric, sweep, {}));
}

TEST(Simulation, WhatIsWrongIsNamedAndNothingElse) {
  for (const bool batches : {false, true}) {
    Score score;
    for (std::uint64_t seed = 0; seed < 10; ++seed) score = score + score_with(batches, seed);
    EXPECT_EQ(score.sweeps, 10);
    EXPECT_EQ(score.slow_hosts, 20);
    EXPECT_EQ(score.slow_hosts_named, 20);
    EXPECT_EQ(score.hosts_wronged, 0);
    EXPECT_EQ(score.slow_pairs, 10);
    EXPECT_EQ(score.slow_pairs_named, 10);
    EXPECT_EQ(score.pairs_wronged, 0);
    EXPECT_GE(score.meetings, 10 * 24 * 23 / 2);
  }
}

TEST(Simulation, AScoreCountsWhoIsMissedAndWhoIsWronged) {
  const Fabric fabric(exact(8, {"host:3:0.8:sends", "pair:1:2:0.7", "host:5:0.7"}));
  SimulatedSweep sweep;
  const auto add = [&](Blame blame, std::vector<std::int32_t> hosts, Direction direction) {
    Finding finding;
    finding.blame = blame;
    finding.hosts = std::move(hosts);
    finding.direction = direction;
    sweep.verdict.findings.push_back(finding);
  };
  add(Blame::kHost, {3}, Direction::kBoth);          // the wrong direction
  add(Blame::kHost, {5}, Direction::kBoth);          // right
  add(Blame::kHost, {6}, Direction::kSends);         // healthy
  add(Blame::kPair, {2, 1}, Direction::kBoth);       // right
  add(Blame::kPair, {1, 4}, Direction::kBoth);       // healthy
  add(Blame::kUndecided, {6, 7}, Direction::kBoth);  // blames nobody
  const Score score = score_of(fabric, sweep);
  EXPECT_EQ(score.slow_hosts, 2);
  EXPECT_EQ(score.slow_hosts_named, 1);
  EXPECT_EQ(score.hosts_wronged, 1);
  EXPECT_EQ(score.slow_pairs_named, 1);
  EXPECT_EQ(score.pairs_wronged, 1);
}

}  // namespace fabric_test
