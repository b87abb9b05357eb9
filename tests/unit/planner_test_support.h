// What the tests of the planner share: fabrics that are made up.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/pairs/planning/planner.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster::test {

inline constexpr float kRate = 10e9F;

using Pair = std::pair<std::int32_t, std::int32_t>;

inline Pair ordered(const fabricbench::Pair& meeting) { return std::minmax(meeting.first, meeting.second); }

/// Hosts whose readings are what `share` says, and none with dead ones.
struct PlannedFabric {
  int hosts = 0;
  std::set<std::int32_t> dead{};
  /// Of the usual rate, by sender, receiver, round, and pairs at the same time.
  std::function<double(int, int, std::int64_t, std::size_t)> share = [](int, int, std::int64_t, std::size_t) {
    return 1.0;
  };

  void measure(const PlannedRound& round, const fabricbench::Pair& meeting, Sweep& sweep) const {
    for (const auto& [from, to] :
         {std::pair(meeting.first, meeting.second), std::pair(meeting.second, meeting.first)}) {
      Reading reading{from, to};
      reading.round = static_cast<std::int32_t>(round.number);
      reading.concurrent = static_cast<std::int32_t>(round.meetings.size());
      reading.outcome = dead.count(from) + dead.count(to) > 0 ? Outcome::kFailed : Outcome::kMeasured;
      if (reading.outcome == Outcome::kMeasured) {
        reading.rate = static_cast<float>(kRate * share(from, to, round.number, round.meetings.size()));
      }
      sweep.readings.push_back(reading);
    }
  }
  void measure(const PlannedRound& round, Sweep& sweep) const {
    for (const fabricbench::Pair& meeting : round.meetings) measure(round, meeting, sweep);
  }
};

inline Sweep sweep_of(int hosts) {
  Sweep sweep;
  for (int host = 0; host < hosts; ++host) sweep.hosts.push_back(fmt::format("n{:02}", host));
  sweep.tests = {"test"};
  return sweep;
}

inline SweepPlan plan_of(int hosts, int rounds = 0, int concurrent = 0) {
  SweepPlan plan;
  plan.schedule = {ScheduleKind::kCircle, hosts, 7, rounds, concurrent};
  plan.both_directions = true;
  return plan;
}

inline SweepPlan plan_to_find(int hosts, int concurrent = 0) {
  SweepPlan plan = plan_of(hosts, 0, concurrent);
  plan.find = true;
  plan.least_rounds = 3;
  plan.most_rounds = 12;
  plan.least_meetings = plan.most_meetings = 0;  // no pair again; tests of that set them
  return plan;
}

inline Verdict clean_verdict() {
  Verdict verdict;
  verdict.judged = Judged::kClean;
  verdict.strata.push_back({});
  verdict.strata.back().scale = 0.01;
  verdict.strata.back().readings = 100;
  return verdict;
}

inline std::set<Pair> pairs_of(const Sweep& sweep) {
  std::set<Pair> pairs;
  for (const Reading& reading : sweep.readings) pairs.insert(std::minmax(reading.from, reading.to));
  return pairs;
}

using JudgeOf = std::function<Verdict(const Sweep&)>;

/// For rounds that no verdict decides.
inline Verdict no_verdict() {
  ADD_FAILURE() << "a verdict was asked for";
  return {};
}

/// Runs a sweep to its end, and checks what is true of every plan. Returns its rounds.
inline std::vector<PlannedRound> run(
    const Planner& planner, const PlannedFabric& fabric, Sweep& sweep,
    const JudgeOf& judge = [](const Sweep&) { return clean_verdict(); }) {
  std::vector<PlannedRound> rounds;
  for (int turn = 0; turn < 2000; ++turn) {
    PlannedRound round = planner.next(sweep, [&] { return judge(sweep); });
    EXPECT_FALSE(round.why.empty());
    EXPECT_EQ(round.rounds_left == 0, round.meetings.empty()) << round.why;
    if (round.meetings.empty()) {
      rounds.push_back(std::move(round));
      return rounds;
    }
    std::set<std::int32_t> engaged;
    for (const fabricbench::Pair& meeting : round.meetings) {
      EXPECT_TRUE(engaged.insert(meeting.first).second) << round.why;
      EXPECT_TRUE(engaged.insert(meeting.second).second) << round.why;
    }
    fabric.measure(round, sweep);
    rounds.push_back(std::move(round));
  }
  ADD_FAILURE() << "the sweep does not end";
  return rounds;
}

/// How often each pair met.
inline std::map<Pair, int> meetings_of(const std::vector<PlannedRound>& rounds) {
  std::map<Pair, int> meetings;
  for (const PlannedRound& round : rounds) {
    for (const fabricbench::Pair& meeting : round.meetings) ++meetings[ordered(meeting)];
  }
  return meetings;
}

inline std::vector<PlannedRound> rounds_with(const std::vector<PlannedRound>& rounds, std::int32_t host) {
  std::vector<PlannedRound> found;
  std::copy_if(rounds.begin(), rounds.end(), std::back_inserter(found), [&](const PlannedRound& round) {
    return std::any_of(round.meetings.begin(), round.meetings.end(), [&](const fabricbench::Pair& meeting) {
      return meeting.first == host || meeting.second == host;
    });
  });
  return found;
}

}  // namespace fabricbench::cluster::test
