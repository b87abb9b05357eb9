#include "cluster/run/history.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "baseline_test_support.h"
#include "cluster/run/comparison.h"

namespace fabricbench::baseline {
namespace {

using test::launch_with;
using test::launches_with;

std::vector<double> noise(std::size_t values, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, 0.001);
  std::vector<double> made(values);
  for (double& value : made) value = normal(generator);
  return made;
}

TEST(ChangePoints, AStepIsFoundWhereItIs) {
  std::vector<double> values = noise(20, 1);
  for (std::size_t i = 12; i < values.size(); ++i) values[i] += 0.05;
  const std::vector<ChangePoint> found = change_points(values, 0.01);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first, 12U);
  EXPECT_NEAR(found[0].difference, 0.05, 0.002);
  EXPECT_LT(found[0].false_alarm, 0.01);
}

TEST(ChangePoints, SeveralStepsAreFoundInTheirOrder) {
  std::vector<double> values = noise(36, 2);
  for (std::size_t i = 12; i < 24; ++i) values[i] += 0.05;
  for (std::size_t i = 24; i < 36; ++i) values[i] -= 0.02;
  const std::vector<ChangePoint> found = change_points(values, 0.01);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].first, 12U);
  EXPECT_EQ(found[1].first, 24U);
  EXPECT_NEAR(found[1].difference, -0.07, 0.002);
}

TEST(ChangePoints, OutliersAndShortHistoriesAreNone) {
  std::vector<double> values = noise(20, 3);
  values[7] += 1;
  values[8] += 1;
  EXPECT_TRUE(change_points(values, 0.01).empty());
  EXPECT_TRUE(change_points(std::vector<double>{0, 0, 0, 0, 1, 1, 1, 1, 1}, 0.05).empty());
  EXPECT_EQ(change_points(std::vector<double>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 0.04).size(), 1U) << "ten are enough";
}

TEST(ChangePoints, AFlatLineHasNone) { EXPECT_TRUE(change_points(std::vector<double>(30, 1), 0.05).empty()); }

/// Values with a slow mode: the promise is 4 % of histories; of 200, 20 and more would be chance once in 10,000.
TEST(ChangePoints, FalseAlarmsAreRare) {
  std::mt19937_64 generator(4);
  std::normal_distribution<double> normal;
  std::bernoulli_distribution slow(0.1);
  int alarms = 0;
  for (int history = 0; history < 200; ++history) {
    std::vector<double> values(25);
    for (double& value : values) value = normal(generator) + (slow(generator) ? 8 : 0);
    if (!change_points(values, 0.04).empty()) ++alarms;
  }
  EXPECT_LT(alarms, 20);
}

TEST(ChangePoints, LongHistoriesAreSearchedToo) {
  std::vector<double> values = noise(300, 5);
  for (std::size_t i = 150; i < values.size(); ++i) values[i] += 0.01;
  const std::vector<ChangePoint> found = change_points(values, 0.001);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].first, 150U);
}

/// Eighteen rows, each launch a little slower than the one before.
std::vector<Launch> sliding_launches(int launches, double by) {
  std::vector<Launch> made;
  for (int i = 0; i < launches; ++i) {
    std::vector<Seconds> times(18, 1e-5 * std::pow(1 + by, i));
    made.push_back(launches_with(times, 1, 1, 0.004, static_cast<std::uint64_t>(i)).front());
    made.back().start.began = test::kFirstDay + i * test::kDay;
  }
  return made;
}

TEST(BaselineHistory, ASlowSlideIsFoundThoughNoRunIsSlowerThanTheBaseline) {
  std::vector<Launch> launches = sliding_launches(20, 0.002);
  const Launch fresh = launches.back();
  launches.pop_back();
  const BaselineComparison found = compare(launches, std::vector{fresh}, {});
  ASSERT_FALSE(found.changes.empty());
  EXPECT_FALSE(found.changes[0].key) << "all rows together";
  EXPECT_GT(found.changes[0].ratio, 1);
  EXPECT_EQ(found.exit_status, 6);
  EXPECT_NE(found.headline.find("since its first launches"), std::string::npos) << found.headline;
}

TEST(BaselineHistory, ASteadyHistoryHasNoChanges) {
  std::vector<Launch> launches = sliding_launches(20, 0);
  const Launch fresh = launches.back();
  launches.pop_back();
  EXPECT_TRUE(compare(launches, std::vector{fresh}, {}).changes.empty());
}

TEST(BaselineHistory, PointsAreDaysIfThereAreSeveral) {
  const auto launches = launches_with({1e-6, 2e-6}, 12, 4, 0.001);
  std::vector<const Launch*> recorded;
  recorded.reserve(launches.size());
  for (const Launch& launch : launches) recorded.push_back(&launch);
  std::vector<RowKey> keys;
  const auto points = history_points(recorded, std::vector{launch_with({1e-6}, test::kFirstDay)}, keys);
  EXPECT_EQ(points.size(), 4U);
  EXPECT_EQ(keys.size(), 1U) << "the run lacks the second row";
  EXPECT_NEAR(points[0].log_times.at(0), std::log(1e-6), 0.01);
}

}  // namespace
}  // namespace fabricbench::baseline
