#include "common/report/sweep_facts.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/core/statistics.h"

using namespace fabricbench;

namespace running_median_test {

double median_of(const std::vector<double>& values) {
  RunningMedian running;
  for (const double value : values) running.add(value);
  EXPECT_EQ(running.values(), static_cast<std::int64_t>(values.size()));
  return running.median();
}

TEST(RunningMedian, IsExactOfValuesThatAreApart) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_DOUBLE_EQ(median_of({7e9}), 7e9);
  EXPECT_DOUBLE_EQ(median_of({3e9, 1e9}), 2e9);
  EXPECT_DOUBLE_EQ(median_of({9e9, 1e9, 5e9}), 5e9);
  EXPECT_DOUBLE_EQ(median_of({2e-6, 4e-6, 3e-6, 1e-6, 4e-6}), 3e-6);
  EXPECT_DOUBLE_EQ(median_of({5, 5, 5, 1}), 5);
}

TEST(RunningMedian, IsWithinAThousandthOfManyValues) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> lognormal(23, 0.5);
  std::vector<double> values;
  for (int i = 0; i < 100001; ++i) values.push_back(lognormal(random));
  const double exact = median(values);
  EXPECT_NEAR(median_of(values) / exact, 1, 0.001);
}

TEST(RunningMedian, TakesAnyPositiveValue) { EXPECT_DOUBLE_EQ(median_of({1e-300, 1e-9, 1e300}), 1e-9); }

}  // namespace running_median_test
