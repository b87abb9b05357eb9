#include "common/watch/process_table.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

using namespace fabricbench;

namespace roll_call_test {

using Ranks = std::vector<int>;

/// Who is asked again and again in the times from `first` to `last`.
void ask(FailureDetector& roll, Seconds first, Seconds last) {
  for (Seconds time = first; time <= last; time += 0.25) static_cast<void>(roll.to_ask(time));
}

TEST(FailureDetector, FindsWhoWasHeardAndIsNotAnyMore) {
  FailureDetector roll(10);
  roll.hear(3, 100);
  roll.hear(1, 100);
  roll.hear(2, 105);
  ask(roll, 105, 110);
  EXPECT_EQ(roll.gone(110), Ranks{});
  EXPECT_EQ(roll.gone(110.5), (Ranks{1, 3}));
  roll.hear(3, 111);
  ask(roll, 110.5, 115.5);
  EXPECT_EQ(roll.gone(115.5), (Ranks{1, 2}));
}

TEST(FailureDetector, CallsNobodyGoneWhoWasNotAsked) {
  FailureDetector roll(32);
  roll.hear(1, 100);
  EXPECT_EQ(roll.gone(1000), Ranks{});  // this process itself was stopped until then
  for (int time = 0; time < 7; ++time) EXPECT_EQ(roll.to_ask(1000 + time), Ranks{1});
  EXPECT_EQ(roll.gone(1007), Ranks{});
  EXPECT_EQ(roll.to_ask(1007), Ranks{1});
  EXPECT_EQ(roll.gone(1007), Ranks{1});
}

TEST(FailureDetector, AsksWhoIsSilentForAQuarterOfThePatienceButNotAtEveryLook) {
  FailureDetector roll(32);
  roll.hear(1, 100);
  roll.hear(2, 104);
  EXPECT_EQ(roll.to_ask(107.5), Ranks{});
  EXPECT_EQ(roll.to_ask(108), Ranks{1});
  EXPECT_EQ(roll.to_ask(108.5), Ranks{});
  EXPECT_EQ(roll.to_ask(112), (Ranks{1, 2}));
  roll.hear(1, 112);
  EXPECT_EQ(roll.to_ask(113), Ranks{2});
}

TEST(FailureDetector, IsAnxiousWhileSomebodyMayStillAnswer) {
  FailureDetector roll(32);
  roll.hear(1, 100);
  EXPECT_FALSE(roll.is_anxious(116));
  EXPECT_TRUE(roll.is_anxious(116.5));
  EXPECT_TRUE(roll.is_anxious(132));
  EXPECT_FALSE(roll.is_anxious(132.5));
}

TEST(FailureDetector, TellsHowLongEachRankHasBeenSilent) {
  FailureDetector roll(10);
  roll.hear(3, 100);
  roll.hear(1, 104);
  EXPECT_EQ(roll.silences(105), (std::map<int, Seconds>{{1, 1}, {3, 5}}));
}

TEST(FailureDetector, PassesOverWhoWasNeverHeard) { EXPECT_EQ(FailureDetector(10).gone(1e9), Ranks{}); }

/// When a process of that rank says that it is there.
std::vector<int> dues(int rank) {
  FailureDetector roll(8, rank);
  std::vector<int> times;
  for (int time = 0; time < 800; ++time) {
    if (roll.is_due(50 + 0.01 * time)) times.push_back(time);
  }
  return times;
}

TEST(FailureDetector, IsDueEightToSixteenTimesWithinThePatience) {
  for (const int rank : {0, 1, 1000}) {
    EXPECT_GE(dues(rank).size(), 8U);
    EXPECT_LE(dues(rank).size(), 16U);
  }
}

TEST(FailureDetector, LetsRanksSpeakAtDifferentTimes) { EXPECT_NE(dues(1), dues(2)); }

}  // namespace roll_call_test
