// What is measured next where a sweep goes on until everything is decided.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "planner_test_support.h"

namespace fabricbench::cluster {
namespace planner_find_test {

using namespace test;

TEST(Find, EndsEarlyWhereAllIsWell) {
  Sweep sweep = sweep_of(64);
  const auto rounds = run(Planner(plan_to_find(64)), {64}, sweep);
  std::vector<std::size_t> sizes;
  for (const PlannedRound& round : rounds) sizes.push_back(round.meetings.size());
  // Where readings scatter by 1 %, three rounds are enough.
  EXPECT_EQ(sizes, (std::vector<std::size_t>{32, 32, 32, 0}));
  EXPECT_EQ(rounds.back().why, "after 3 rounds for all hosts, nothing is slow and no question is open");
}

TEST(Find, AsksForNoVerdictBeforeTheFirstRounds) {
  const Planner planner(plan_to_find(8));
  const PlannedFabric fabric{8};
  Sweep sweep = sweep_of(8);
  for (int turn = 0; turn < 3; ++turn) fabric.measure(planner.next(sweep, no_verdict), sweep);
  int asked = 0;
  static_cast<void>(planner.next(sweep, [&] {
    ++asked;
    return clean_verdict();
  }));
  EXPECT_EQ(asked, 1);
  static_cast<void>(Planner(plan_of(8)).next(sweep, no_verdict));
}

TEST(Find, MeasuresMoreWhereReadingsScatter) {
  const auto rounds_at = [](double scale) {
    Sweep sweep = sweep_of(64);
    run(Planner(plan_to_find(64)), {64}, sweep, [&](const Sweep&) {
      Verdict verdict = clean_verdict();
      verdict.strata.front().scale = scale;
      return verdict;
    });
    return pairs_of(sweep).size() / 32;
  };
  EXPECT_EQ(rounds_at(0.005), 3U);
  EXPECT_EQ(rounds_at(0.01), 3U);
  EXPECT_EQ(rounds_at(0.015), 7U);
  EXPECT_EQ(rounds_at(0.03), 12U);  // the most that is allowed
}

TEST(Find, TakesAllPairsWhereThatIsAskedFor) {
  SweepPlan plan = plan_to_find(16);
  plan.least_rounds = plan.most_rounds = SweepPlan::kAllPairs;
  Sweep sweep = sweep_of(16);
  const auto rounds = run(Planner(plan), {16}, sweep);
  EXPECT_EQ(pairs_of(sweep).size(), 120U);
  EXPECT_EQ(rounds.front().why, "round 1 of 15 for all pairs");
}

FollowUp about(std::int32_t host, std::int32_t other, std::int32_t readings, std::string why) {
  FollowUp follow_up;
  follow_up.host = host;
  follow_up.other = other;
  follow_up.readings = readings;
  follow_up.why = std::move(why);
  return follow_up;
}

TEST(Find, MeasuresPairsAgainWhereAllOfThemAreFewMeetingsOfAHost) {
  for (const int hosts : {4, 5, 8}) {
    SweepPlan plan = plan_to_find(hosts);
    plan.least_rounds = plan.most_rounds = 28;
    plan.least_meetings = 12;
    plan.most_meetings = 30;
    Sweep sweep = sweep_of(hosts);
    const auto rounds = run(Planner(plan), {hosts}, sweep);
    for (std::int32_t host = 0; host < hosts; ++host) EXPECT_GE(rounds_with(rounds, host).size(), 11U) << hosts;
    EXPECT_EQ(rounds.back().why.find("the maximum"), std::string::npos) << rounds.back().why;
    EXPECT_LE(rounds.size(), 20U);
  }
}

TEST(Find, MeasuresNoPairsAgainInFewRoundsOrOfFewHosts) {
  SweepPlan plan = plan_to_find(8);
  plan.least_meetings = plan.most_meetings = 28;
  limit_rounds(plan, 3);
  Sweep sweep = sweep_of(8);
  EXPECT_LE(run(Planner(plan), {8}, sweep).size(), 6U);
  SweepPlan three = plan_to_find(3);
  three.least_meetings = 28;
  Sweep small = sweep_of(3);
  EXPECT_LE(run(Planner(three), {3}, small).size(), 6U);
}

TEST(Find, MeasuresEverybodyWhereAHostMayBeSlowNowAndThen) {
  SweepPlan plan = plan_to_find(16);
  plan.most_meetings = 20;
  Sweep sweep = sweep_of(16);
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    FollowUp follow_up = about(5, -1, 1, "slow once");
    follow_up.by_everybody = true;
    verdict.follow_ups.push_back(follow_up);
    return verdict;
  };
  const auto rounds = run(Planner(plan), {16}, sweep, judge);
  const auto of_all =
      std::count_if(rounds.begin(), rounds.end(), [](const PlannedRound& round) { return round.meetings.size() == 8; });
  EXPECT_EQ(of_all, 20) << "more pairs first, then all of them again, and then the host alone";
  EXPECT_NE(rounds[17].why.find("n05 (slow once)"), std::string::npos) << rounds[17].why;
}

/// They are left out, and meet each other before anything else is asked.
TEST(Find, MeasuresTheDeadWithEachOther) {
  SweepPlan plan = plan_to_find(8);
  Sweep sweep = sweep_of(8);
  PlannedFabric fabric{8};
  fabric.dead = {1, 2, 5, 6};
  const auto judge = [](const Sweep& so_far) {
    Verdict verdict = clean_verdict();
    for (const Pair& pair : {Pair{1, 2}, Pair{5, 6}}) {
      const bool has_met = std::any_of(so_far.readings.begin(), so_far.readings.end(), [&](const Reading& each) {
        return each.round >= 3 && Pair(std::minmax(each.from, each.to)) == pair;
      });
      if (has_met) continue;
      FollowUp follow_up = about(pair.first, pair.second, 1, "nothing works with either");
      follow_up.of_suspects = follow_up.of_dead = true;
      verdict.follow_ups.push_back(follow_up);
    }
    return verdict;
  };
  plan.absent = {6};
  const auto rounds = run(Planner(plan), fabric, sweep, judge);
  std::vector<std::string> of_dead;
  for (const PlannedRound& round : rounds) {
    if (!round.why.starts_with("dead hosts")) continue;
    of_dead.push_back(round.why);
    EXPECT_EQ(round.meetings.size(), 1U) << "host 6 is absent";
  }
  ASSERT_EQ(of_dead.size(), 1U);
  EXPECT_EQ(of_dead.front(), "dead hosts with each other: n01 and n02 (nothing works with either)");
}

/// Hosts that are left out leave many rounds of the schedule without a pair, and not the sweep without a round.
TEST(Find, RepeatsPairsOfThoseThatAreLeft) {
  SweepPlan plan = plan_to_find(8);
  plan.most_meetings = 20;
  Sweep sweep = sweep_of(8);
  PlannedFabric fabric{8};
  fabric.dead = {1, 2, 5, 6};
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    FollowUp follow_up = about(0, -1, 1, "slow once");
    follow_up.by_everybody = true;
    verdict.follow_ups.push_back(follow_up);
    return verdict;
  };
  const auto rounds = run(Planner(plan), fabric, sweep, judge);
  const auto of_all = std::count_if(rounds.begin(), rounds.end(),
                                    [](const PlannedRound& round) { return round.why.starts_with("all pairs again"); });
  EXPECT_GE(of_all, 10);
  for (const PlannedRound& round : rounds) {
    if (!round.why.starts_with("all pairs again")) continue;
    EXPECT_FALSE(round.meetings.empty()) << round.number;
  }
}

TEST(Find, GoesOnForHostsOfWhichTooLittleIsKnown) {
  Sweep sweep = sweep_of(17);
  const auto judge = [](const Sweep& so_far) {
    Verdict verdict = clean_verdict();
    verdict.strata.front().scale = 0.001;
    std::vector<int> partners(17, 0);
    for (const Pair& pair : pairs_of(so_far))
      ++partners[static_cast<std::size_t>(pair.first)], ++partners[static_cast<std::size_t>(pair.second)];
    for (std::int32_t host = 0; host < 17; ++host) {
      if (partners[static_cast<std::size_t>(host)] < 3) verdict.not_judged.push_back(host);
    }
    return verdict;
  };
  const auto rounds = run(Planner(plan_to_find(17)), {17}, sweep, judge);
  EXPECT_NE(rounds[3].why.find("too little is known of"), std::string::npos) << rounds[3].why;
  EXPECT_EQ(rounds.size(), 5U);
}

TEST(Find, GivesSuspectsPartnersThatTheyHaveNotMet) {
  Sweep sweep = sweep_of(16);
  const std::set<std::int32_t> suspects = {2, 7, 11};
  std::set<Pair> before;
  const auto judge = [&](const Sweep& so_far) {
    Verdict verdict = clean_verdict();
    const auto met = [&](std::int32_t host) {
      const std::set<Pair> pairs = pairs_of(so_far);
      return std::count_if(pairs.begin(), pairs.end(),
                           [&](const Pair& pair) { return pair.first == host || pair.second == host; });
    };
    for (const std::int32_t host : suspects) {
      if (met(host) < 7) verdict.follow_ups.push_back(about(host, -1, 1, "slow"));
    }
    return verdict;
  };
  const auto rounds = run(Planner(plan_to_find(16)), {16}, sweep, judge);
  int asked = 0;
  for (const PlannedRound& round : rounds) {
    if (round.why.find("again") == std::string::npos) continue;
    ++asked;
    EXPECT_EQ(round.meetings.size(), 3U);
    for (const fabricbench::Pair& meeting : round.meetings) {
      EXPECT_EQ(suspects.count(meeting.first) + suspects.count(meeting.second), 1U) << round.why;
    }
    EXPECT_NE(round.why.find("3 hosts again, each with a new partner: n02 (slow)"), std::string::npos) << round.why;
  }
  EXPECT_EQ(asked, 4);
  for (const auto& [pair, times] : meetings_of(rounds)) EXPECT_LE(times, 2) << pair.first << " " << pair.second;
}

/// A follow-up about a pair that stands until it has been measured so often alone.
JudgeOf asks_about_pairs(std::vector<Pair> pairs, int readings) {
  return [pairs = std::move(pairs), readings](const Sweep& so_far) {
    Verdict verdict = clean_verdict();
    for (const Pair& pair : pairs) {
      const auto times = std::count_if(so_far.readings.begin(), so_far.readings.end(), [&](const Reading& reading) {
        return reading.from == pair.first && reading.to == pair.second && reading.concurrent == 1;
      });
      if (times < readings) {
        verdict.follow_ups.push_back(about(pair.first, pair.second, readings - static_cast<int>(times), "slow once"));
      }
    }
    return verdict;
  };
}

TEST(Find, MeasuresAPairAloneAndInTurns) {
  Sweep sweep = sweep_of(16);
  const auto rounds = run(Planner(plan_to_find(16)), {16}, sweep, asks_about_pairs({{1, 2}, {3, 4}}, 3));
  std::vector<Pair> alone;
  for (const PlannedRound& round : rounds) {
    if (round.why.rfind("alone: ", 0) != 0) continue;
    EXPECT_EQ(round.meetings.size(), 1U);
    alone.push_back(ordered(round.meetings.front()));
  }
  ASSERT_EQ(alone.size(), 6U);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), Pair{1, 2}), 3);
  EXPECT_NE(alone[4], alone[5]);
}

/// A pair alone does not show what was usual at its time.
TEST(Find, MeasuresSuspectsAmongOthersWhereWhatIsUsualChanges) {
  for (const bool changes : {false, true}) {
    Sweep sweep = sweep_of(64);
    const auto judge = [&](const Sweep& so_far) {
      Verdict verdict = clean_verdict();
      verdict.changes_with_time = changes ? 0.1 : 0;
      if (so_far.readings.back().round > 8) return verdict;
      verdict.follow_ups = {about(1, 2, 3, "slow once"), about(3, 4, 3, "slow once")};
      return verdict;
    };
    int asked = 0;
    for (const PlannedRound& round : run(Planner(plan_to_find(64)), {64}, sweep, judge)) {
      if (round.why.find("n01 and n02 (slow once)") == std::string::npos) continue;
      ++asked;
      EXPECT_EQ(round.meetings.size(), changes ? 16U : 1U) << round.why;
      EXPECT_EQ(
          round.why.find("; among other pairs, because the usual bandwidth changes with time") != std::string::npos,
          changes);
      EXPECT_EQ(round.why.find("2 of 2 pairs again") != std::string::npos, changes) << round.why;
    }
    EXPECT_GE(asked, 2);
  }
}

TEST(Find, MeasuresManyPairsBesideEachOther) {
  Sweep sweep = sweep_of(64);
  std::vector<Pair> pairs;
  for (std::int32_t host = 0; host < 60; host += 2) pairs.push_back({host, host + 1});
  const auto rounds = run(Planner(plan_to_find(64)), {64}, sweep, asks_about_pairs(pairs, 3));
  const auto beside = std::find_if(rounds.begin(), rounds.end(), [](const PlannedRound& round) {
    return round.why.find("30 of 30 pairs again, with no host in common") != std::string::npos;
  });
  ASSERT_NE(beside, rounds.end());
  EXPECT_GE(beside->meetings.size(), 30U) << "and others, whose hosts would be idle";
  EXPECT_NE(rounds.back().why.find("more, the maximum, these questions are open"), std::string::npos);
}

TEST(Find, KeepsPairsOfALeafApartWhereThatSuffices) {
  Sweep sweep = sweep_of(64);
  std::vector<Pair> pairs;
  for (std::int32_t host = 0; host < 16; ++host) pairs.push_back({host, host + 32});
  for (std::int32_t host = 0; host < 64; ++host) sweep.leaf_of.push_back(host / 4);
  sweep.leaves.assign(16, "leaf");
  const auto rounds = run(Planner(plan_to_find(64)), {64}, sweep, asks_about_pairs(pairs, 3));
  const auto apart = std::find_if(rounds.begin(), rounds.end(), [](const PlannedRound& round) {
    return round.why.find("with no leaf in common") != std::string::npos;
  });
  ASSERT_NE(apart, rounds.end());
  std::set<std::int32_t> leaves;
  for (const fabricbench::Pair& meeting : apart->meetings) {
    for (const int host : {meeting.first, meeting.second}) EXPECT_TRUE(leaves.insert(host / 4).second);
  }
}

/// Hosts of one leaf share no links, so that none of these pairs has to be alone.
TEST(Find, MeasuresNearPairsBesideEachOtherWhereLinksAreShared) {
  const Planner planner(plan_to_find(16));
  const PlannedFabric fabric{16};
  Sweep sweep = sweep_of(16);
  sweep.leaves = {"a", "b"};
  for (std::int32_t host = 0; host < 16; ++host) sweep.leaf_of.push_back(host / 8);
  Verdict verdict = clean_verdict();
  verdict.links.are_shared = true;
  verdict.groupings.resize(1);
  verdict.groupings.front().is_given = true;
  verdict.groupings.front().groups = {{"a", {0, 1, 2, 3, 4, 5, 6, 7}}, {"b", {8, 9, 10, 11, 12, 13, 14, 15}}};
  verdict.follow_ups = {about(0, 1, 3, "slow once"), about(2, 3, 3, "slow once"), about(4, 12, 3, "slow once"),
                        about(9, -1, 2, "slow")};
  const auto next = [&] { return planner.next(sweep, [&] { return verdict; }); };
  for (PlannedRound round = next(); !round.meetings.empty(); round = next()) {
    fabric.measure(round, sweep);
    if (round.why.starts_with("again, with hosts of the same leaf")) {
      ASSERT_EQ(round.meetings.size(), 3U);
      EXPECT_EQ(ordered(round.meetings[0]), (Pair{0, 1}));
      EXPECT_EQ(ordered(round.meetings[1]), (Pair{2, 3}));
      const Pair third = ordered(round.meetings[2]);
      EXPECT_TRUE(third.first == 9 || third.second == 9);
      EXPECT_GE(third.first, 8) << "with a host of its own leaf";
      return;
    }
  }
  FAIL() << "no such round";
}

TEST(Find, GivesUpAPairThatOnlyFails) {
  Sweep sweep = sweep_of(8);
  const auto judge = [](const Sweep& so_far) {
    Verdict verdict = clean_verdict();
    if (pairs_of(so_far).count({1, 2}) > 0) verdict.follow_ups.push_back(about(1, 2, 3, "failed"));
    return verdict;
  };
  PlannedFabric fabric{8};
  Planner planner(plan_to_find(8));
  std::vector<PlannedRound> alone;
  for (int turn = 0; turn < 100; ++turn) {
    const PlannedRound round = planner.next(sweep, [&] { return judge(sweep); });
    if (round.meetings.empty()) break;
    if (round.why.rfind("alone: ", 0) == 0) alone.push_back(round);
    for (const fabricbench::Pair& meeting : round.meetings) {
      PlannedFabric of_pair{8};
      if (ordered(meeting) == Pair{1, 2}) of_pair.dead = {1, 2};
      of_pair.measure(round, meeting, sweep);
    }
  }
  EXPECT_LE(alone.size(), 3U);
}

TEST(Find, KeepsWithinTheRoundsThatAreAllowed) {
  Sweep sweep = sweep_of(16);
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.follow_ups = {about(1, -1, 2, "slow"), about(5, -1, 2, "slow")};
    return verdict;
  };
  const auto rounds = run(Planner(plan_to_find(16)), {16}, sweep, judge);
  EXPECT_LE(rounds.size(), 12U + 40U + 1U);
  EXPECT_NE(rounds.back().why.find("these questions are open"), std::string::npos) << rounds.back().why;
  EXPECT_NE(rounds.back().why.find("n01 (slow); n05 (slow)"), std::string::npos) << rounds.back().why;
}

TEST(Find, MayTakeAsManyRoundsForSuspectsAsForEverybody) {
  SweepPlan plan = plan_to_find(64);
  limit_rounds(plan, SweepPlan::kAllPairs);
  Sweep sweep = sweep_of(64);
  const auto rounds = run(Planner(plan), {64}, sweep, [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.follow_ups = {about(1, -1, 2, "slow")};
    return verdict;
  });
  EXPECT_NE(rounds.back().why.find("after 63 rounds for all hosts and 63 more"), std::string::npos)
      << rounds.back().why;
}

TEST(Find, MeasuresPairsBesideAHostWhereTheyAreTooManyToBeMeasuredAlone) {
  for (const int pairs : {2, 14}) {
    Sweep sweep = sweep_of(32);
    const auto rounds = run(Planner(plan_to_find(32)), {32}, sweep, [&](const Sweep&) {
      Verdict verdict = clean_verdict();
      verdict.follow_ups = {about(1, -1, 2, "slow")};
      for (int i = 0; i < pairs; ++i) verdict.follow_ups.push_back(about(2 + 2 * i, 3 + 2 * i, 3, "slow once"));
      return verdict;
    });
    const auto asked = std::find_if(rounds.begin(), rounds.end(), [](const PlannedRound& round) {
      return round.why.find("n01 (slow)") != std::string::npos;
    });
    ASSERT_NE(asked, rounds.end());
    EXPECT_EQ(asked->meetings.size(), pairs == 2 ? 1U : 14U) << asked->why;
  }
}

TEST(Find, HasNoPartnerForAHostAmongSuspectsOnly) {
  Sweep sweep = sweep_of(2);
  const auto rounds = run(Planner(plan_to_find(2)), {2}, sweep, [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.judged = Judged::kUnknown;
    verdict.follow_ups = {about(0, -1, 2, "slow"), about(1, -1, 2, "slow")};
    return verdict;
  });
  EXPECT_EQ(rounds.size(), 2U);
  EXPECT_NE(rounds.back().why.find("no further reading would settle these questions"), std::string::npos);
}

TEST(Find, MeetsHostsOfItsOwnGroupWhereTheQuestionIsOfThoseAlone) {
  for (const std::int32_t level : {0, 1}) {
    Sweep sweep = sweep_of(16);
    const auto judge = [&](const Sweep&) {
      Verdict verdict = clean_verdict();
      verdict.judged = Judged::kUnknown;
      verdict.groupings.resize(2);
      verdict.groupings[0].groups = {{"1", {0, 1, 2, 3}}, {"2", {4, 5, 6, 7}}, {"3", {8, 9, 10, 11, 12, 13, 14, 15}}};
      verdict.groupings[1].groups = {{"1", {0, 1, 2, 3, 4, 5, 6, 7}}, {"2", {8, 9, 10, 11, 12, 13, 14, 15}}};
      verdict.follow_ups = {about(2, -1, 4, "slow")};
      verdict.follow_ups[0].within_level = level;
      return verdict;
    };
    int asked = 0;
    std::set<std::int32_t> partners;
    for (const PlannedRound& round : run(Planner(plan_to_find(16)), {16}, sweep, judge)) {
      if (round.why.find("n02 (slow)") == std::string::npos || round.meetings.empty()) continue;
      ASSERT_EQ(round.meetings.size(), 1U) << round.why;
      partners.insert(round.meetings[0].first + round.meetings[0].second - 2);
      ++asked;
    }
    EXPECT_EQ(asked, 40) << "all that are allowed";
    EXPECT_EQ(partners, (level == 0 ? std::set{0, 1, 3} : std::set{0, 1, 3, 4, 5, 6, 7}));
  }
}

/// Of a leaf of four all but one are suspects, and what they are suspected of shows with that leaf alone.
TEST(Find, MeetsSuspectsOfItsOwnGroupWhereThereAreFewOthers) {
  Sweep sweep = sweep_of(16);
  const auto judge = [](const Sweep&) {
    Verdict verdict = clean_verdict();
    verdict.judged = Judged::kUnknown;
    verdict.groupings.resize(1);
    verdict.groupings[0].groups = {{"1", {0, 1, 2, 3}}, {"2", {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}};
    for (const std::int32_t host : {1, 2, 3}) {
      verdict.follow_ups.push_back(about(host, -1, 4, "slow"));
      verdict.follow_ups.back().within_level = 0;
    }
    return verdict;
  };
  std::map<std::int32_t, std::set<std::int32_t>> partners;
  for (const PlannedRound& round : run(Planner(plan_to_find(16)), {16}, sweep, judge)) {
    if (round.why.find("n01 (slow)") == std::string::npos || round.meetings.empty()) continue;
    EXPECT_EQ(round.meetings.size(), 2U) << round.why;
    for (const fabricbench::Pair& meeting : round.meetings) {
      partners[meeting.first].insert(meeting.second);
      partners[meeting.second].insert(meeting.first);
    }
  }
  EXPECT_EQ(partners[1], (std::set{0, 2, 3}));
  EXPECT_EQ(partners[3], (std::set{0, 1, 2}));
}

}  // namespace planner_find_test
}  // namespace fabricbench::cluster
