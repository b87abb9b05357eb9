// What is measured next, on a fabric that is made up.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "planner_test_support.h"

namespace fabricbench::cluster {
namespace planner_test {

using namespace test;

TEST(Planner, AllPairsOnceInRounds) {
  for (const int hosts : {2, 3, 4, 7, 16}) {
    for (const int concurrent : {0, 1, 3}) {
      Sweep sweep = sweep_of(hosts);
      const auto rounds = run(Planner(plan_of(hosts, 0, concurrent)), {hosts}, sweep);
      const std::map<Pair, int> meetings = meetings_of(rounds);
      EXPECT_EQ(meetings.size(), static_cast<std::size_t>(hosts * (hosts - 1) / 2)) << hosts;
      for (const auto& [pair, times] : meetings) EXPECT_EQ(times, 1);
      const Schedule schedule({ScheduleKind::kCircle, hosts, 7, 0, concurrent});
      EXPECT_EQ(rounds.size(), static_cast<std::size_t>(schedule.rounds()) + 1) << hosts << " " << concurrent;
    }
  }
}

TEST(Planner, NumbersItsRoundsAndIsNeverAboveTheLimit) {
  Sweep sweep = sweep_of(16);
  const auto rounds = run(Planner(plan_of(16, 0, 3)), {16}, sweep);
  for (std::size_t number = 0; number < rounds.size(); ++number) {
    EXPECT_EQ(rounds[number].number, static_cast<std::int64_t>(number));
    EXPECT_LE(rounds[number].meetings.size(), 3U);
  }
}

TEST(Planner, AFewRoundsGiveEverybodyAsManyPartners) {
  Sweep sweep = sweep_of(16);
  const auto rounds = run(Planner(plan_of(16, 3)), {16}, sweep);
  EXPECT_EQ(rounds.size(), 4U);
  EXPECT_EQ(rounds[1].why, "round 2 of 3 for all hosts");
  EXPECT_EQ(meetings_of(rounds).size(), 24U);
}

TEST(Planner, WithoutTwoHostsThereIsNothingToDo) {
  for (const int hosts : {0, 1}) {
    Sweep sweep = sweep_of(hosts);
    EXPECT_EQ(run(Planner(plan_of(hosts)), {hosts}, sweep).size(), 1U);
    EXPECT_EQ(run(Planner(plan_to_find(hosts)), {hosts}, sweep).size(), 1U);
  }
}

TEST(Planner, RefusesWhatDoesNotFit) {
  SweepPlan shift = plan_of(4);
  shift.schedule.kind = ScheduleKind::kShift;
  EXPECT_THROW(Planner{shift}, std::invalid_argument);
  EXPECT_THROW(static_cast<void>(Planner(plan_of(4)).next(sweep_of(5), no_verdict)), std::invalid_argument);
}

TEST(Planner, LeavesADeadHostOutAfterTwoFailures) {
  for (const int hosts : {8, 9, 16, 33}) {
    for (const bool find : {false, true}) {
      Sweep sweep = sweep_of(hosts);
      const auto rounds = run(Planner(find ? plan_to_find(hosts) : plan_of(hosts)), {hosts, {5}}, sweep);
      EXPECT_EQ(rounds_with(rounds, 5).size(), 2U) << hosts << find;
      EXPECT_NE(rounds.back().why.find("left out: n05"), std::string::npos) << rounds.back().why;
      if (find) continue;
      EXPECT_EQ(pairs_of(sweep).size(), static_cast<std::size_t>((hosts - 1) * (hosts - 2) / 2 + 2));
    }
  }
}

TEST(Planner, PairsWhoWouldHaveMetDeadHosts) {
  constexpr int kHosts = 32;
  Sweep sweep = sweep_of(kHosts);
  const auto rounds = run(Planner(plan_of(kHosts, 12)), {kHosts, {1, 4, 9, 20, 25, 31}}, sweep);
  for (std::size_t number = 3; number + 1 < rounds.size(); ++number) {
    EXPECT_GE(rounds[number].meetings.size(), 12U) << rounds[number].why;  // 26 hosts, and two idle at most
  }
  for (const auto& [pair, times] : meetings_of(rounds)) EXPECT_EQ(times, 1);
}

TEST(Planner, PartnersOfDeadHostsAreNotTakenForDead) {
  constexpr int kHosts = 8;
  Sweep sweep = sweep_of(kHosts);
  const auto rounds = run(Planner(plan_of(kHosts)), {kHosts, {0, 1, 2, 3, 4}}, sweep);
  std::set<Pair> pairs = pairs_of(sweep);
  for (const Pair& pair : {Pair{5, 6}, Pair{5, 7}, Pair{6, 7}}) EXPECT_EQ(pairs.count(pair), 1U);
}

TEST(Planner, GivesUpWhereNothingWorks) {
  Sweep sweep = sweep_of(64);
  std::set<std::int32_t> all;
  for (int host = 0; host < 64; ++host) all.insert(host);
  const auto rounds = run(Planner(plan_of(64)), {64, all}, sweep);
  EXPECT_EQ(rounds.size(), 5U);
  EXPECT_NE(rounds.back().why.find("fewer than two hosts"), std::string::npos) << rounds.back().why;
}

/// In the third round the second one's partner shows that it works. A host that has worked may fail now and then: it is
/// tried again, ever more seldom, since each failure costs a time limit.
TEST(Planner, LeavesAHostOutThatDiesLaterAndTriesItAgain) {
  constexpr int kHosts = 64;
  Sweep sweep = sweep_of(kHosts);
  const Planner planner(plan_of(kHosts));
  PlannedFabric fabric{kHosts};
  for (int turn = 0; turn < 4; ++turn) fabric.measure(planner.next(sweep, no_verdict), sweep);
  fabric.dead = {3};
  std::vector<std::int64_t> tried;
  for (const PlannedRound& round : rounds_with(run(planner, fabric, sweep), 3)) tried.push_back(round.number);
  EXPECT_EQ(tried, (std::vector<std::int64_t>{4, 5, 6, 6 + 9, 15 + 25}));
}

TEST(Planner, LeavesOutWhoIsAbsent) {
  SweepPlan plan = plan_of(8);
  plan.absent = {2, 6};
  Sweep sweep = sweep_of(8);
  const auto rounds = run(Planner(plan), {8}, sweep);
  EXPECT_TRUE(rounds_with(rounds, 2).empty());
  EXPECT_EQ(pairs_of(sweep).size(), 15U);
}

/// What a round had when it was broken off stands, and the rest follows under its number.
TEST(Planner, CompletesARoundThatWasBrokenOff) {
  for (const bool find : {false, true}) {
    const Planner planner(find ? plan_to_find(16) : plan_of(16));
    const PlannedFabric fabric{16};
    Sweep whole = sweep_of(16);
    const auto rounds = run(planner, fabric, whole);
    for (const std::size_t kept : {1U, 2U, 9U, 15U, 17U, 31U, 33U, 40U}) {
      Sweep sweep = sweep_of(16);
      sweep.readings.assign(whole.readings.begin(), whole.readings.begin() + static_cast<std::ptrdiff_t>(kept));
      const auto rest = run(planner, fabric, sweep);
      EXPECT_EQ(pairs_of(sweep), pairs_of(whole)) << kept;
      const std::int64_t begun = whole.readings[kept - 1].round;
      const bool is_whole = whole.readings[kept].round != begun;
      EXPECT_EQ(rest.front().number, is_whole ? begun + 1 : begun) << kept;
      if (find) continue;  // a pair that was missing and is measured alone says whether pairs slow each other
      EXPECT_EQ(rest.back().number, rounds.back().number) << kept;
      // The pair of which one direction was missing is measured again.
      EXPECT_EQ(sweep.readings.size(), whole.readings.size() + kept % 2) << kept;
    }
  }
}

TEST(Planner, CompletesAPartOfASplitRound) {
  const Planner planner(plan_of(16, 0, 3));
  const PlannedFabric fabric{16};
  Sweep whole = sweep_of(16);
  const auto rounds = run(planner, fabric, whole);
  for (std::size_t kept = 0; kept < 40; kept += 2) {
    Sweep sweep = sweep_of(16);
    sweep.readings.assign(whole.readings.begin(), whole.readings.begin() + static_cast<std::ptrdiff_t>(kept));
    const auto rest = run(planner, fabric, sweep);
    EXPECT_EQ(rest.back().number, rounds.back().number) << kept;
    EXPECT_EQ(sweep.readings.size(), whole.readings.size()) << kept;
  }
}

TEST(Planner, IsTheSameForTheSameReadings) {
  const Planner planner(plan_to_find(12));
  const PlannedFabric fabric{12};
  Sweep whole = sweep_of(12);
  const auto rounds = run(planner, fabric, whole);
  Sweep sweep = sweep_of(12);
  for (const PlannedRound& round : rounds) {
    const PlannedRound again = Planner(plan_to_find(12)).next(sweep, clean_verdict);
    EXPECT_EQ(again.why, round.why);
    EXPECT_EQ(again.number, round.number);
    ASSERT_EQ(again.meetings.size(), round.meetings.size());
    fabric.measure(round, sweep);
  }
}

}  // namespace planner_test
}  // namespace fabricbench::cluster
