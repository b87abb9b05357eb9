// What is measured next to find groups of hosts, and what a host reaches within its own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cluster/pairs/planning/open_questions.h"
#include "cluster/pairs/planning/sweep_progress.h"
#include "cluster/pairs/thresholds.h"
#include "planner_test_support.h"

namespace fabricbench::cluster {
namespace planner_groups_test {

using namespace test;

/// Groups of so many hosts, in their order.
Grouping groups_of_size(std::int32_t hosts, std::int32_t size, double across) {
  Grouping grouping;
  for (std::int32_t host = 0; host < hosts; ++host) {
    if (host % size == 0) grouping.groups.push_back({"group", {}});
    grouping.groups.back().hosts.push_back(host);
  }
  grouping.across = across;
  return grouping;
}

/// With how many of its own group a host was measured, the fewest.
std::size_t fewest_met(const std::vector<PlannedRound>& rounds, std::int32_t hosts, std::int32_t size) {
  std::vector<std::set<std::int32_t>> met(static_cast<std::size_t>(hosts));
  for (const PlannedRound& round : rounds) {
    for (const fabricbench::Pair& meeting : round.meetings) {
      if (meeting.first / size != meeting.second / size) continue;
      met[static_cast<std::size_t>(meeting.first)].insert(meeting.second);
      met[static_cast<std::size_t>(meeting.second)].insert(meeting.first);
    }
  }
  return std::min_element(met.begin(), met.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); })
      ->size();
}

TEST(GroupRounds, EachHostMeetsOthersOfItsOwnGroupWhereThatIsFaster) {
  for (const std::int32_t size : {2, 4, 16}) {
    for (const double across : {0.7, 0.99}) {
      const auto judge = [&](const Sweep&) {
        Verdict verdict = clean_verdict();
        verdict.groupings = {groups_of_size(128, size, across)};
        return verdict;
      };
      Sweep sweep = sweep_of(128);
      const std::vector<PlannedRound> rounds = run(Planner(plan_to_find(128)), {128}, sweep, judge);
      const std::size_t wanted = static_cast<std::size_t>(std::min(size - 1, 4));
      EXPECT_EQ(fewest_met(rounds, 128, size) >= wanted, across < 0.9) << size << " across " << across;
      EXPECT_LE(rounds.size(), 24U) << "a few rounds do, of all groups at once";
      for (const PlannedRound& round : rounds) {
        const auto near = std::count_if(
            round.meetings.begin(), round.meetings.end(),
            [&](const fabricbench::Pair& meeting) { return meeting.first / size == meeting.second / size; });
        EXPECT_LE(near, 64 * 2 / 3) << "a round of near pairs looks like a time at which everything is faster";
      }
    }
  }
}

/// Host 5 may be of another leaf than a locality says, as far as their hosts are not known to it.
TEST(GroupRounds, AHostThatMayBeOfAnotherLeafMeetsItOnceAllHaveMetTheirOwn) {
  const auto judge = [](const Sweep& sweep) {
    Verdict verdict = clean_verdict();
    verdict.groupings = {groups_of_size(128, 8, 0.7)};
    OpenGroups open;
    for (std::int32_t host = 0; host < 128; ++host) open.group_of.push_back(host / 8);
    open.group_of[5] = 16;
    for (std::int32_t leaf = 1; leaf < 16; ++leaf) {
      const bool is_known = std::any_of(sweep.readings.begin(), sweep.readings.end(), [&](const Reading& each) {
        return (each.from == 5 && each.to / 8 == leaf) || (each.to == 5 && each.from / 8 == leaf);
      });
      if (!is_known) open.groups.emplace_back(leaf, 16);
    }
    if (!open.groups.empty()) verdict.open_groups = {open};
    return verdict;
  };
  Sweep sweep = sweep_of(128);
  SweepPlan plan = plan_to_find(128);
  const std::vector<PlannedRound> rounds = run(Planner(plan), {128}, sweep, judge);
  const auto first = std::find_if(rounds.begin(), rounds.end(), [](const PlannedRound& round) {
    return round.why.find("may be near each other") != std::string::npos;
  });
  ASSERT_NE(first, rounds.end());
  EXPECT_GE(fewest_met({rounds.begin(), first}, 128, 8), 4U);
  EXPECT_TRUE(judge(sweep).open_groups.empty());
}

/// Rounds that measure hosts within their groups are full of others, and are for all hosts too.
TEST(GroupRounds, SuspectsHaveAsManyRoundsAsThereWereForEverybody) {
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.groupings = {groups_of_size(128, 16, 0.7)};
    verdict.follow_ups.push_back({5, -1, 0, 1, "slow once"});
    return verdict;
  };
  Sweep sweep = sweep_of(128);
  SweepPlan plan = plan_to_find(128);
  plan.least_rounds = plan.most_rounds = 28;
  plan.most_meetings = 72;
  plan.most_extra_rounds = 8;
  const std::string why = run(Planner(plan), {128}, sweep, judge).back().why;
  bool is_found = false;
  for (int rounds = 29; rounds < 60; ++rounds) {
    is_found =
        is_found || why.find(fmt::format("after {0} rounds for all hosts and {0} more", rounds)) != std::string::npos;
  }
  EXPECT_TRUE(is_found) << why;
}

TEST(GroupRounds, PairsThatMayBeNearAreAFourthOfTheirRound) {
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.groups_are_open = true;
    OpenGroups open{std::vector<std::int32_t>(128, -1), {}};
    for (std::int32_t host = 0; host < 20; ++host) open.group_of[static_cast<std::size_t>(host)] = host;
    for (std::int32_t host = 0; host < 20; host += 2) open.groups.emplace_back(host, host + 1);
    verdict.open_groups = {open};
    return verdict;
  };
  Sweep sweep = sweep_of(128);
  std::size_t most = 0;
  for (const PlannedRound& round : run(Planner(plan_to_find(128)), {128}, sweep, judge)) {
    const auto near = static_cast<std::size_t>(
        std::count_if(round.meetings.begin(), round.meetings.end(), [](const fabricbench::Pair& meeting) {
          return std::max(meeting.first, meeting.second) < 20 && meeting.first / 2 == meeting.second / 2;
        }));
    EXPECT_LE(near, round.meetings.size() / 4);
    most = std::max(most, near);
  }
  EXPECT_GE(most, 8U) << "those that have not met, all at once";
}

TEST(GroupRounds, MoreAreMetWhereReadingsScatterMore) {
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.groupings = {groups_of_size(128, 16, 0.7)};
    verdict.strata.back().scale = 0.05;
    return verdict;
  };
  SweepPlan plan = plan_to_find(128);
  plan.most_meetings = 72;
  Sweep sweep = sweep_of(128);
  EXPECT_GE(fewest_met(run(Planner(plan), {128}, sweep, judge), 128, 16), 8U);
}

SweepProgress progress_without(const std::vector<std::int32_t>& absent, const Sweep& sweep) {
  SweepPlan plan = plan_to_find(static_cast<int>(sweep.hosts.size()));
  plan.absent = absent;
  return progress_of(sweep, plan, Schedule(plan.schedule));
}

TEST(GroupRounds, WhereGroupsAreOpenNobodyIsSentToItsOwn) {
  const Sweep sweep = sweep_of(64);
  Verdict verdict = clean_verdict();
  verdict.groupings = {groups_of_size(64, 8, 0.7)};
  const auto within = [&](const std::vector<std::int32_t>& absent) {
    const SweepProgress progress = progress_without(absent, sweep);
    return OpenQuestions(sweep, progress, verdict).within_groups(4, 0.95, 32).meetings;
  };
  EXPECT_EQ(within({}).size(), 32U);
  EXPECT_EQ(within({3}).size(), 31U);
  for (const fabricbench::Pair& meeting : within({3})) EXPECT_TRUE(meeting.first != 3 && meeting.second != 3);
  verdict.groups_are_open = true;
  EXPECT_TRUE(within({}).empty());
}

/// Two halves of a leaf that have not met are open until hosts of both have.
TEST(GroupRounds, MeasuresHostsOfGroupsThatMayBeOne) {
  constexpr std::int32_t kHosts = 128;
  Verdict open = clean_verdict();
  open.judged = Judged::kUnknown;
  open.groups_are_open = true;
  open.open_groups.resize(1);
  for (std::int32_t host = 0; host < kHosts; ++host) open.open_groups[0].group_of.push_back(host / 4);
  open.open_groups[0].groups = {{3, 4}, {3, 5}, {9, 20}};
  Sweep sweep = sweep_of(kHosts);
  const auto between = [&] {
    const SweepProgress progress = progress_without({}, sweep);
    return OpenQuestions(sweep, progress, open).between_groups(8).meetings;
  };
  std::set<Pair> groups;
  for (const fabricbench::Pair& meeting : between()) groups.insert(std::minmax(meeting.first / 4, meeting.second / 4));
  EXPECT_EQ(groups, (std::set<Pair>{{3, 4}, {3, 5}, {9, 20}}));
  const Pair first = ordered(between().front());
  sweep.readings.push_back({first.first, first.second});
  EXPECT_NE(ordered(between().front()), first) << "those have met";
}

TEST(GroupRounds, OfVeryManyOpenGroupsRoundsForEverybodyTellMore) {
  Verdict open = clean_verdict();
  open.open_groups.resize(1);
  for (std::int32_t host = 0; host < 64; ++host) open.open_groups[0].group_of.push_back(host);
  for (std::int32_t a = 0; a < 64; ++a) {
    for (std::int32_t b = a + 1; b < 64; ++b) open.open_groups[0].groups.emplace_back(a, b);
  }
  const Sweep sweep = sweep_of(64);
  const SweepProgress progress = progress_without({}, sweep);
  EXPECT_TRUE(OpenQuestions(sweep, progress, open).between_groups(8).meetings.empty());
  open.open_groups[0].groups.resize(8 * 32);
  EXPECT_FALSE(OpenQuestions(sweep, progress, open).between_groups(8).meetings.empty());
}

TEST(GroupRounds, TellManyOpenGroupsOnceRoundsForEverybodyAreOver) {
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.judged = Judged::kUnknown;
    verdict.groups_are_open = true;
    verdict.open_groups.resize(1);
    OpenGroups& open = verdict.open_groups[0];
    for (std::int32_t host = 0; host < 64; ++host) open.group_of.push_back(host / 2);
    for (std::int32_t a = 0; a < 32; ++a) {
      for (std::int32_t b = a + 1; b < 32; ++b) open.groups.emplace_back(a, b);
    }
    return verdict;
  };
  SweepPlan plan = plan_to_find(64);
  plan.most_rounds = plan.most_rounds_for_groups = 12;
  plan.least_rounds = 4;
  Sweep sweep = sweep_of(64);
  std::vector<std::size_t> between;
  const std::vector<PlannedRound> rounds = run(Planner(plan), {64}, sweep, judge);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (rounds[i].why.find("that may be near each other, to find groups") != std::string::npos) between.push_back(i);
  }
  ASSERT_FALSE(between.empty());
  EXPECT_GE(between.front(), 12U);
}

/// What a few pairs reach says nothing where what is usual changes: such rounds have others in them too.
TEST(GroupRounds, AreNeverOfAFewPairsAlone) {
  const auto judge = [](const Sweep& sweep) {
    Verdict verdict = clean_verdict();
    if (sweep.readings.back().round > 6) return verdict;
    verdict.groups_are_open = true;
    verdict.open_groups.resize(1);
    for (std::int32_t host = 0; host < 64; ++host) verdict.open_groups[0].group_of.push_back(host / 4);
    verdict.open_groups[0].groups = {{3, 4}};
    return verdict;
  };
  Sweep sweep = sweep_of(64);
  int between = 0;
  for (const PlannedRound& round : run(Planner(plan_to_find(64)), {64}, sweep, judge)) {
    if (round.why.find("that may be near each other, to find groups") == std::string::npos) continue;
    ++between;
    EXPECT_FALSE(is_lightly_loaded(static_cast<std::int64_t>(round.meetings.size()), 32)) << round.meetings.size();
  }
  EXPECT_GE(between, 2);
}

TEST(Quiet, IsWhatFewPairsAreOfManyAndNeverSixteen) {
  EXPECT_TRUE(is_lightly_loaded(1, 3));
  EXPECT_FALSE(is_lightly_loaded(1, 2));
  EXPECT_TRUE(is_lightly_loaded(15, 32));
  EXPECT_FALSE(is_lightly_loaded(16, 32));
  EXPECT_TRUE(is_lightly_loaded(15, 512));
  EXPECT_FALSE(is_lightly_loaded(16, 512));
  EXPECT_FALSE(is_lightly_loaded(0, 512)) << "not known";
}

}  // namespace planner_groups_test
}  // namespace fabricbench::cluster
