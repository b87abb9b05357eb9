#include "common/core/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace fabricbench;

namespace schedule_test {

using Two = std::pair<int, int>;
using Twos = std::vector<Two>;

constexpr int kSeveral[] = {2, 3, 4, 5, 6, 7, 8, 9, 64};
constexpr ScheduleKind kKinds[] = {ScheduleKind::kCircle, ScheduleKind::kShift, ScheduleKind::kRandom};

Twos round_of(const Schedule& schedule, std::int64_t number) {
  Twos meetings;
  for (const auto& [first, second] : schedule.round(number)) meetings.emplace_back(first, second);
  return meetings;
}

std::vector<Twos> all_rounds(const SchedulePlan& plan) {
  const Schedule schedule(plan);
  std::vector<Twos> rounds;
  for (std::int64_t number = 0; number < schedule.rounds(); ++number) rounds.push_back(round_of(schedule, number));
  return rounds;
}

/// How often each pair meets, whoever comes first.
std::map<Two, int> times_met(const std::vector<Twos>& rounds) {
  std::map<Two, int> times;
  for (const Twos& round : rounds) {
    for (const auto& [first, second] : round) ++times[std::minmax(first, second)];
  }
  return times;
}

/// The endpoints of a round, each as often as it is in it.
std::vector<int> present(const Twos& round) {
  std::vector<int> endpoints;
  for (const auto& [first, second] : round) {
    endpoints.push_back(first);
    endpoints.push_back(second);
  }
  std::sort(endpoints.begin(), endpoints.end());
  return endpoints;
}

/// All endpoints of an even number, all but one of an odd one, none twice and none that does not exist.
void expect_matching(const Twos& round, int endpoints) {
  const std::vector<int> busy = present(round);
  EXPECT_EQ(busy.size(), static_cast<std::size_t>(endpoints - endpoints % 2));
  EXPECT_EQ(std::set<int>(busy.begin(), busy.end()).size(), busy.size()) << "an endpoint is in two pairs";
  ASSERT_FALSE(busy.empty());
  EXPECT_GE(busy.front(), 0);
  EXPECT_LT(busy.back(), endpoints);
}

TEST(CircleSchedule, HasEveryPairMeetOnce) {
  for (const int endpoints : kSeveral) {
    SCOPED_TRACE(endpoints);
    const auto rounds = all_rounds({.endpoints = endpoints, .seed = 7});
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(endpoints % 2 == 0 ? endpoints - 1 : endpoints));
    const auto times = times_met(rounds);
    EXPECT_EQ(times.size(), static_cast<std::size_t>(endpoints * (endpoints - 1) / 2));
    for (const auto& [pair, count] : times) {
      EXPECT_EQ(count, 1) << pair.first << " and " << pair.second;
      EXPECT_NE(pair.first, pair.second);
    }
    for (const Twos& round : rounds) expect_matching(round, endpoints);
  }
}

TEST(CircleSchedule, OfAnOddNumberLeavesEachEndpointOutOnce) {
  for (const int endpoints : {3, 5, 9, 63}) {
    std::set<int> idle;
    for (const Twos& round : all_rounds({.endpoints = endpoints, .seed = 1})) {
      const std::vector<int> busy = present(round);
      for (int endpoint = 0; endpoint < endpoints; ++endpoint) {
        if (!std::binary_search(busy.begin(), busy.end(), endpoint)) idle.insert(endpoint);
      }
    }
    EXPECT_EQ(idle.size(), static_cast<std::size_t>(endpoints));
  }
}

TEST(CircleSchedule, HasEachEndpointFirstAsOftenAsSecond) {
  for (const int endpoints : kSeveral) {
    std::vector<int> balance(static_cast<std::size_t>(endpoints), 0);
    for (const Twos& round : all_rounds({.endpoints = endpoints, .seed = 3})) {
      for (const auto& [first, second] : round) {
        ++balance[static_cast<std::size_t>(first)];
        --balance[static_cast<std::size_t>(second)];
      }
    }
    for (const int difference : balance) EXPECT_LE(std::abs(difference), 1) << "of " << endpoints;
  }
}

TEST(CircleSchedule, IsCutToTheRoundsWanted) {
  const auto all = all_rounds({.endpoints = 9, .seed = 5});
  const auto some = all_rounds({.endpoints = 9, .seed = 5, .rounds = 4});
  ASSERT_EQ(some.size(), 4U);
  EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
  EXPECT_EQ(all_rounds({.endpoints = 9, .seed = 5, .rounds = 1000}), all) << "no more than there are";
}

TEST(ShiftSchedule, HasEveryOrderedPairMeetOnce) {
  for (const int endpoints : kSeveral) {
    SCOPED_TRACE(endpoints);
    const auto rounds = all_rounds({.kind = ScheduleKind::kShift, .endpoints = endpoints, .seed = 7});
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(endpoints - 1));
    std::set<Two> flows;
    std::size_t count = 0;
    for (const Twos& round : rounds) {
      count += round.size();
      for (const Two& flow : round) {
        EXPECT_NE(flow.first, flow.second);
        flows.insert(flow);
      }
    }
    EXPECT_EQ(flows.size(), static_cast<std::size_t>(endpoints * (endpoints - 1)));
    EXPECT_EQ(count, flows.size());
  }
}

TEST(ShiftSchedule, HasEveryEndpointSendOnceAndReceiveOnceInARound) {
  for (const int endpoints : kSeveral) {
    for (const Twos& round : all_rounds({.kind = ScheduleKind::kShift, .endpoints = endpoints, .seed = 7})) {
      std::set<int> senders;
      std::set<int> receivers;
      for (const auto& [sender, receiver] : round) {
        senders.insert(sender);
        receivers.insert(receiver);
      }
      EXPECT_EQ(round.size(), static_cast<std::size_t>(endpoints));
      EXPECT_EQ(senders.size(), round.size());
      EXPECT_EQ(receivers.size(), round.size());
    }
  }
}

/// In round d everybody sends to whom d times round 1 leads to.
TEST(ShiftSchedule, GoesOneEndpointFurtherFromRoundToRound) {
  const auto rounds = all_rounds({.kind = ScheduleKind::kShift, .endpoints = 9, .seed = 7});
  const std::map<int, int> next(rounds[0].begin(), rounds[0].end());
  for (std::size_t number = 1; number < rounds.size(); ++number) {
    const std::map<int, int> before(rounds[number - 1].begin(), rounds[number - 1].end());
    for (const auto& [sender, receiver] : rounds[number]) EXPECT_EQ(receiver, next.at(before.at(sender)));
  }
}

TEST(RandomSchedule, PairsEverybodyInEveryRound) {
  for (const int endpoints : kSeveral) {
    SCOPED_TRACE(endpoints);
    const auto rounds = all_rounds({.kind = ScheduleKind::kRandom, .endpoints = endpoints, .seed = 7, .rounds = 100});
    EXPECT_EQ(rounds.size(), 100U);
    for (const Twos& round : rounds) expect_matching(round, endpoints);
  }
}

TEST(RandomSchedule, DrawsEveryRoundAnewAndComesToAllPairs) {
  const auto rounds = all_rounds({.kind = ScheduleKind::kRandom, .endpoints = 8, .seed = 7, .rounds = 700});
  const auto times = times_met(rounds);
  ASSERT_EQ(times.size(), 28U);
  // Each pair meets in a round with probability 1/7: 100 times, and the standard deviation is 9.3.
  for (const auto& [pair, count] : times) EXPECT_NEAR(count, 100, 50) << pair.first << " and " << pair.second;
}

TEST(RandomSchedule, WithoutANumberHasAsManyRoundsAsTheCircle) {
  for (const int endpoints : kSeveral) {
    EXPECT_EQ(Schedule({.kind = ScheduleKind::kRandom, .endpoints = endpoints}).rounds(),
              Schedule({.kind = ScheduleKind::kCircle, .endpoints = endpoints}).rounds());
  }
}

TEST(RandomSchedule, HasNoRoundInCommonWithTheNextSeed) {
  const auto rounds = all_rounds({.kind = ScheduleKind::kRandom, .endpoints = 64, .seed = 1, .rounds = 20});
  const auto next = all_rounds({.kind = ScheduleKind::kRandom, .endpoints = 64, .seed = 2, .rounds = 20});
  std::set<Twos> known(rounds.begin(), rounds.end());
  EXPECT_EQ(known.size(), 20U);
  for (const Twos& round : next) EXPECT_EQ(known.count(round), 0U);
}

TEST(Schedule, DependsOnTheSeedAndOnNothingElse) {
  for (const ScheduleKind kind : kKinds) {
    const SchedulePlan plan = {.kind = kind, .endpoints = 64, .seed = 11};
    SchedulePlan other = plan;
    other.seed = plan.seed + (std::uint64_t{1} << 32);
    EXPECT_EQ(all_rounds(plan), all_rounds(plan));
    EXPECT_NE(all_rounds(plan), all_rounds(other)) << "all 64 bits of the seed count";
  }
}

/// What every machine and C++ library has to find, so that a run can be repeated elsewhere.
TEST(Schedule, IsTheSameEverywhere) {
  EXPECT_EQ(round_of(Schedule({.kind = ScheduleKind::kCircle, .endpoints = 8, .seed = 1}), 0),
            (Twos{{7, 0}, {5, 1}, {4, 6}, {3, 2}}));
  EXPECT_EQ(round_of(Schedule({.kind = ScheduleKind::kShift, .endpoints = 5, .seed = 1}), 0),
            (Twos{{2, 3}, {3, 1}, {1, 0}, {0, 4}, {4, 2}}));
  EXPECT_EQ(round_of(Schedule({.kind = ScheduleKind::kRandom, .endpoints = 8, .seed = 1}), 0),
            (Twos{{4, 0}, {3, 6}, {5, 1}, {7, 2}}));
}

TEST(Schedule, SplitsARoundIntoAlikePartsOfAtMostSoManyMeetings) {
  for (const ScheduleKind kind : kKinds) {
    for (const int endpoints : kSeveral) {
      const auto whole = all_rounds({.kind = kind, .endpoints = endpoints, .seed = 7, .rounds = 5});
      for (const int most : {1, 2, 3, 7, 31, 32, 1000}) {
        SCOPED_TRACE(testing::Message() << endpoints << " endpoints, at most " << most);
        const auto parts =
            all_rounds({.kind = kind, .endpoints = endpoints, .seed = 7, .rounds = 5, .concurrent = most});
        Twos in_whole_rounds;
        Twos in_parts;
        std::size_t least = parts[0].size();
        std::size_t largest = 0;
        for (const Twos& round : whole) in_whole_rounds.insert(in_whole_rounds.end(), round.begin(), round.end());
        for (const Twos& part : parts) {
          in_parts.insert(in_parts.end(), part.begin(), part.end());
          least = std::min(least, part.size());
          largest = std::max(largest, part.size());
        }
        EXPECT_EQ(in_parts, in_whole_rounds) << "the same meetings in the same order";
        EXPECT_LE(largest, static_cast<std::size_t>(most));
        EXPECT_LE(largest - least, 1U);
        const std::size_t needed = (whole[0].size() - 1) / static_cast<std::size_t>(most) + 1;
        EXPECT_EQ(parts.size(), whole.size() * needed);
      }
    }
  }
}

TEST(Schedule, HasNoPartThatReachesIntoTwoRounds) {
  const auto whole = all_rounds({.endpoints = 10, .seed = 7});
  const auto parts = all_rounds({.endpoints = 10, .seed = 7, .concurrent = 3});
  ASSERT_EQ(parts.size(), 2 * whole.size());
  for (std::size_t number = 0; number < whole.size(); ++number) {
    Twos joined = parts[2 * number];
    joined.insert(joined.end(), parts[2 * number + 1].begin(), parts[2 * number + 1].end());
    EXPECT_EQ(joined, whole[number]);
  }
}

TEST(Schedule, OfFewerThanTwoEndpointsHasNoRounds) {
  for (const ScheduleKind kind : kKinds) {
    for (const int endpoints : {0, 1}) {
      EXPECT_EQ(Schedule({.kind = kind, .endpoints = endpoints, .rounds = 3, .concurrent = 2}).rounds(), 0);
    }
  }
}

TEST(Schedule, RefusesARoundThatItDoesNotHave) {
  const Schedule schedule({.endpoints = 8});
  EXPECT_EQ(schedule.round(6).size(), 4U);
  EXPECT_THROW((void)schedule.round(7), std::out_of_range);
  EXPECT_THROW((void)schedule.round(-1), std::out_of_range);
  EXPECT_THROW((void)Schedule({}).round(0), std::out_of_range);
}

TEST(Schedule, OfManyEndpointsIsWorkedOutRoundByRound) {
  constexpr int kMany = 16384;
  for (const ScheduleKind kind : kKinds) {
    const Schedule schedule({.kind = kind, .endpoints = kMany, .seed = 1, .concurrent = 100});
    const bool shift = kind == ScheduleKind::kShift;
    EXPECT_EQ(schedule.rounds(), std::int64_t{kMany - 1} * (shift ? 164 : 82));
    EXPECT_LE(schedule.round(0).size(), 100U);
    EXPECT_LE(schedule.round(schedule.rounds() - 1).size(), 100U);
  }
  expect_matching(round_of(Schedule({.endpoints = kMany}), kMany / 2), kMany);
  expect_matching(round_of(Schedule({.kind = ScheduleKind::kRandom, .endpoints = kMany}), 5), kMany);
}

TEST(Schedule, CountsMoreRoundsThanFitIn32Bits) {
  const Schedule schedule({.kind = ScheduleKind::kShift, .endpoints = 100000, .concurrent = 1});
  EXPECT_EQ(schedule.rounds(), std::int64_t{99999} * 100000);
  EXPECT_EQ(schedule.round(schedule.rounds() - 1).size(), 1U);
}

}  // namespace schedule_test
