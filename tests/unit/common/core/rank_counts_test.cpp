#include "common/core/outlier_detection.h"

#include <gtest/gtest.h>

using namespace fabricbench;

namespace rank_counts_test {

TEST(RankCounts, OfNothingHaveNoLeader) { EXPECT_FALSE(RankCounts().leader(4).has_value()); }

TEST(RankCounts, NameTheLeaderOfMoreBlocksThanChanceExplains) {
  RankCounts counts;
  for (int block = 0; block < 6; ++block) counts.add({0, block}, 1, 0.5);
  for (int block = 6; block < 9; ++block) counts.add({0, block}, 2, 0.5);
  EXPECT_FALSE(counts.leader(4).has_value()) << "4 ranks, 6 of 9 blocks: 4 % by chance";
  counts.add({0, 6}, 1, 0.6);
  ASSERT_TRUE(counts.leader(4).has_value()) << "and 7 of 9: 0.5 %";
  EXPECT_EQ(counts.leader(4)->rank, 1);
  EXPECT_EQ(counts.leader(4)->blocks, 7);
  EXPECT_EQ(counts.leader(4)->all_blocks, 9);
  EXPECT_FALSE(counts.leader(2).has_value()) << "of 2 ranks it is 18 %";
  EXPECT_FALSE(counts.leader(1).has_value());
}

TEST(RankCounts, AddUpTheMeasurementsOfABlock) {
  RankCounts counts;
  for (int block = 0; block < 9; ++block) {
    counts.add({0, block}, 0, 0.5);
    for (int measurement = 0; measurement < 3; ++measurement) counts.add({0, block}, 1, 0.2);
  }
  ASSERT_TRUE(counts.leader(2).has_value());
  EXPECT_EQ(counts.leader(2)->rank, 1);
}

TEST(RankCounts, GiveABlockWithEqualRanksToNobody) {
  RankCounts counts;
  for (int block = 0; block < 9; ++block) {
    counts.add({0, block}, 0, 0.3);
    counts.add({0, block}, 1, 0.1);
    counts.add({0, block}, 1, 0.2);
    counts.add({1, block}, 2, 0);
  }
  EXPECT_FALSE(counts.leader(3).has_value());
}

}  // namespace rank_counts_test
