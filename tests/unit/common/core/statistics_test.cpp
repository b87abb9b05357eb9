#include "common/core/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

using namespace fabricbench;

namespace statistics_test {

using Values = std::vector<double>;

/// 1, 2, ..., n.
Values first_numbers(std::size_t n) {
  Values values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median(Values{3}), 3);
  EXPECT_EQ(median(Values{4, 1}), 2.5);
  EXPECT_EQ(median(Values{9, 1, 5}), 5);
  EXPECT_EQ(median(Values{8, 2, 100, 4}), 6);
  EXPECT_EQ(median(Values{1, 1, 1, 9}), 1);
}

TEST(MedianInterval, HasTheRanksOfTheKnownTable) {
  const struct {
    std::size_t n;
    double low, high, confidence;
  } cases[] = {{6, 1, 6, 0.96875},   {7, 1, 7, 0.984375},   {8, 1, 8, 0.9921875},
               {9, 2, 8, 0.9609375}, {12, 3, 10, 0.961426}, {15, 4, 12, 0.964844}};
  for (const auto& [n, low, high, confidence] : cases) {
    const auto interval = median_interval(first_numbers(n));
    ASSERT_TRUE(interval) << n;
    EXPECT_EQ(interval->low, low) << n;
    EXPECT_EQ(interval->high, high) << n;
    EXPECT_NEAR(interval->confidence, confidence, 1e-6) << n;
  }
}

TEST(MedianInterval, IsNothingForFewerThanSixValues) {
  for (std::size_t n = 0; n < 6; ++n) EXPECT_FALSE(median_interval(first_numbers(n))) << n;
}

TEST(MedianInterval, AgreesWithTheNormalApproximationForManyValues) {
  for (const std::size_t n : {1000U, 100000U}) {
    const auto interval = median_interval(first_numbers(n));
    ASSERT_TRUE(interval);
    const auto count = static_cast<double>(n);
    EXPECT_NEAR(interval->low, (count - 1.96 * std::sqrt(count)) / 2, 1.5);
    EXPECT_NEAR(interval->high, 1 + (count + 1.96 * std::sqrt(count)) / 2, 1.5);
    EXPECT_GE(interval->confidence, 0.95);
    EXPECT_LT(interval->confidence, 0.96);
  }
}

TEST(MedianInterval, DoesNotDependOnTheOrderOfTheValues) {
  Values values = first_numbers(9);
  std::reverse(values.begin(), values.end());
  std::swap(values[0], values[5]);
  EXPECT_EQ(median_interval(values)->low, 2);
  EXPECT_EQ(median_interval(values)->high, 8);
}

TEST(MedianInterval, CoversTheMedianOfASkewedDistributionAsOftenAsItSays) {
  std::mt19937_64 random(20260101);
  std::lognormal_distribution<double> skewed(0, 1.5);  // its median is 1
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Values values(9);
    for (double& value : values) value = skewed(random);
    const auto interval = median_interval(values);
    covered += interval->low <= 1 && 1 <= interval->high ? 1 : 0;
  }
  EXPECT_GE(covered, kTrials * 94 / 100);
  EXPECT_LE(covered, kTrials * 98 / 100) << "wider than it needs to be";
}

TEST(MedianInterval, HasAHalfWidthRelativeToItsCentre) {
  EXPECT_DOUBLE_EQ((Interval{9, 12, 0.96, 10}.half_width()), 0.15);
  EXPECT_EQ((Interval{0, 0, 0.96, 0}.half_width()), 0);
}

TEST(MedianInterval, AllowsForTheStepsOfTheClock) {
  const Interval equal = widened({10, 10, 0.96, 10}, 0.5);
  EXPECT_DOUBLE_EQ(equal.low, 9.5);
  EXPECT_DOUBLE_EQ(equal.high, 10.5);
  EXPECT_DOUBLE_EQ(equal.half_width(), 0.05) << "equal readings are not exact ones";
  const Interval nothing = widened({0, 0, 0.96, 0}, 0.5);
  EXPECT_EQ(nothing.low, 0) << "no time is less";
  EXPECT_DOUBLE_EQ(nothing.high, 0.5);
  EXPECT_DOUBLE_EQ(nothing.half_width(), 1) << "all of it is unknown";
}

TEST(Quantile, IsTheNearestRank) {
  const struct {
    std::size_t n;
    double q, value;
  } cases[] = {{100, 0.95, 95}, {100, 0.05, 5}, {100, 0.99, 99}, {100, 1, 100}, {10, 0.95, 10},    {10, 0.5, 5},
               {10, 0.25, 3},   {1, 0.01, 1},   {20, 0.05, 1},   {3, 0.34, 2},  {1000, 0.999, 999}};
  for (const auto& [n, q, value] : cases) EXPECT_EQ(quantile(first_numbers(n), q), value) << n << " " << q;
}

TEST(SamplesNeeded, GrowWithTheQuantile) {
  EXPECT_EQ(samples_needed(0.99), 299);
  EXPECT_EQ(samples_needed(0.999), 2995);
  EXPECT_EQ(samples_needed(0.5), 5);
}

TEST(FarOutValues, AreThoseAboveThreeInterquartileRanges) {
  // Quartiles of 1..20 are 5 and 15, so the fence is 15 + 3 * 10.
  Values values = first_numbers(20);
  EXPECT_EQ(far_out_values(values), 0);
  values.back() = 45;
  EXPECT_EQ(far_out_values(values), 0);
  values.back() = 45.1;
  EXPECT_EQ(far_out_values(values), 1);
  values[18] = 1000;
  std::sort(values.begin(), values.end());
  EXPECT_EQ(far_out_values(values), 2);
  EXPECT_EQ(far_out_values(Values{-1000, 1, 2, 3, 4}), 0) << "fast ones are not outliers";
  EXPECT_EQ(far_out_values(Values{7}), 0);
}

TEST(TheilSen, IsTheSlopeOfALineAndOutliersDoNotMoveIt) {
  const Values x = first_numbers(21);
  Values y(x);
  for (double& value : y) value = 3 * value - 7;
  EXPECT_DOUBLE_EQ(theil_sen_slope(x, y), 3);
  y[4] = 1e9;
  y[20] = -1e9;
  EXPECT_DOUBLE_EQ(theil_sen_slope(x, y), 3);
}

TEST(TheilSen, IsZeroForFewerThanTwoDistinctPlaces) {
  EXPECT_EQ(theil_sen_slope(Values{}, Values{}), 0);
  EXPECT_EQ(theil_sen_slope(Values{1}, Values{5}), 0);
  EXPECT_EQ(theil_sen_slope(Values{1, 1, 1}, Values{1, 5, 9}), 0);
}

TEST(TheilSen, SkipsPairsAtOnePlace) { EXPECT_DOUBLE_EQ(theil_sen_slope(Values{0, 0, 1, 1}, Values{0, 0, 2, 2}), 2); }

TEST(SignAutocorrelation, TellsAlternationFromStretchesAndChance) {
  Values alternating;
  Values blocks;
  for (int i = 0; i < 1000; ++i) {
    alternating.push_back(i % 2 == 0 ? 1 : 2);
    blocks.push_back(i / 100 % 2 == 0 ? 1 : 2);
  }
  EXPECT_DOUBLE_EQ(sign_autocorrelation(alternating), -1);
  EXPECT_NEAR(sign_autocorrelation(blocks), 1 - 2 * 9 / 999.0, 1e-9);
  Values shuffled = first_numbers(4000);
  std::mt19937_64 random(7);
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  EXPECT_NEAR(sign_autocorrelation(shuffled), 0, 0.06);
}

TEST(SignAutocorrelation, IsZeroWhereNothingVariesOrThereIsTooLittle) {
  EXPECT_EQ(sign_autocorrelation(Values{}), 0);
  EXPECT_EQ(sign_autocorrelation(Values{1}), 0);
  EXPECT_EQ(sign_autocorrelation(Values{5, 5, 5, 5}), 0);
}

TEST(ChanceToFind, IsThatOfIndependentOperations) {
  EXPECT_DOUBLE_EQ(chance_to_find(1, 4), 0.25);
  EXPECT_DOUBLE_EQ(chance_to_find(2, 2), 0.75);
  EXPECT_DOUBLE_EQ(chance_to_find(5, 1), 1);
  EXPECT_NEAR(chance_to_find(1, 1e15), 1e-15, 1e-21);
}

TEST(RarestFound, IsAThirdOfTheOperations) {
  EXPECT_NEAR(rarest_found(1, 0.95), 1 / 0.95, 1e-12);
  EXPECT_NEAR(rarest_found(3'000'000, 0.95), 1e6, 2e3);
  for (const std::uint64_t checked : {1U, 7U, 1000U}) {
    EXPECT_NEAR(chance_to_find(checked, rarest_found(checked, 0.95)), 0.95, 1e-12);
  }
}

}  // namespace statistics_test
