#include "common/core/bandwidth.h"

#include <gtest/gtest.h>

using namespace fabricbench;

namespace bandwidth_test {

TEST(AlgorithmBandwidth, IsSizeOverTime) {
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(1000, 2), 500);
  EXPECT_NEAR(algorithm_bandwidth(1073741824, 44023.0e-6) / 1e9, 24.39, 0.005) << "a row of nccl-tests' own";
  EXPECT_EQ(algorithm_bandwidth(0, 1e-6), 0);
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(Bytes{1} << 40, 1), 1099511627776.0);
}

TEST(AlgorithmBandwidth, IsZeroWhereNoTimeHasPassed) {
  EXPECT_EQ(algorithm_bandwidth(8, 0), 0);
  EXPECT_EQ(algorithm_bandwidth(8, -1e-9), 0);
}

TEST(BusFactor, OfAllReduceIsTwiceTheShareOfTheOthers) {
  EXPECT_EQ(bus_factor::all_reduce(1), 0);
  EXPECT_DOUBLE_EQ(bus_factor::all_reduce(2), 1);
  EXPECT_DOUBLE_EQ(bus_factor::all_reduce(3), 4.0 / 3);
  EXPECT_DOUBLE_EQ(bus_factor::all_reduce(4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor::all_reduce(16), 1.875);  // 24.39 GB/s become the 45.73 of nccl-tests' own row
  EXPECT_NEAR(bus_factor::all_reduce(16384), 2, 2e-4);
}

TEST(BusFactor, OfThoseThatKeepTheirOwnPartIsTheShareOfTheOthers) {
  EXPECT_EQ(bus_factor::all_but_own(1), 0);
  EXPECT_DOUBLE_EQ(bus_factor::all_but_own(2), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor::all_but_own(5), 0.8);
  for (int ranks = 1; ranks < 100; ++ranks) {
    EXPECT_DOUBLE_EQ(bus_factor::all_reduce(ranks), 2 * bus_factor::all_but_own(ranks));
  }
}

}  // namespace bandwidth_test
