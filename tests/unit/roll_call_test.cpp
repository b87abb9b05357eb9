#include "common/watch/roll_call.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

using namespace fabricbench;

namespace roll_call_test {

using Ranks = std::vector<int>;

TEST(RollCall, FindsWhoWasHeardAndIsNotAnyMore) {
  RollCall roll(10);
  roll.hear(3, 100);
  roll.hear(1, 100);
  roll.hear(2, 105);
  EXPECT_EQ(roll.gone(110), Ranks{});
  EXPECT_EQ(roll.gone(110.5), (Ranks{1, 3}));
  roll.hear(3, 111);
  EXPECT_EQ(roll.gone(115.5), (Ranks{1, 2}));
}

TEST(RollCall, TellsHowLongEachRankHasBeenSilent) {
  RollCall roll(10);
  roll.hear(3, 100);
  roll.hear(1, 104);
  EXPECT_EQ(roll.silences(105), (std::map<int, Seconds>{{1, 1}, {3, 5}}));
}

TEST(RollCall, PassesOverWhoWasNeverHeard) { EXPECT_EQ(RollCall(10).gone(1e9), Ranks{}); }

TEST(RollCall, IsDueEightTimesWithinThePatience) {
  RollCall roll(8);
  int calls = 0;
  for (int quarter = 0; quarter < 4 * 16; ++quarter) calls += roll.is_due(50 + 0.25 * quarter) ? 1 : 0;
  EXPECT_EQ(calls, 16);
}

}  // namespace roll_call_test
