#include "cluster/baseline/noise_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "common/core/distributions.h"

namespace fabricbench::baseline {
namespace {

struct Grouped {
  int days = 3;
  int jobs = 1;      // a day
  int launches = 3;  // a job
  double of_days = 0;
  double of_jobs = 0;
  double of_launches = 0.01;
};

std::vector<LaunchValue> values_of(const Grouped& plan, std::mt19937_64& generator) {
  std::normal_distribution<double> noise;
  std::vector<LaunchValue> values;
  int job = 0;
  for (int day = 0; day < plan.days; ++day) {
    const double on_day = plan.of_days * noise(generator);
    for (int i = 0; i < plan.jobs; ++i, ++job) {
      const double in_job = on_day + plan.of_jobs * noise(generator);
      for (int launch = 0; launch < plan.launches; ++launch) {
        values.push_back({in_job + plan.of_launches * noise(generator), {job, day}});
      }
    }
  }
  return values;
}

TEST(NoiseModel, LaunchesAndDaysAreToldApart) {
  std::mt19937_64 generator(1);
  const Spread spread = spread_of(values_of({200, 1, 5, 0.05, 0, 0.01}, generator));
  EXPECT_NEAR(std::sqrt(spread.launches), 0.01, 0.001);
  EXPECT_NEAR(std::sqrt(spread.days), 0.05, 0.01);
  EXPECT_NEAR(spread.centre, 0, 0.01);
  EXPECT_EQ(spread.of_launches, 1000U);
  EXPECT_EQ(spread.of_days, 200U);
}

TEST(NoiseModel, SpreadsAreTextbookOnes) {
  const std::vector<LaunchValue> values = {{1, {0, 0}}, {3, {0, 0}}, {5, {1, 1}}, {7, {1, 1}}};
  const Spread spread = spread_of(values);
  EXPECT_DOUBLE_EQ(spread.centre, 4);
  EXPECT_DOUBLE_EQ(spread.launches, 2);  // 1 + 1 + 1 + 1 over 4 - 2
  EXPECT_DOUBLE_EQ(spread.days, 7);      // 8 between the means 2 and 6, less 2 / 2
  const Prediction one = predict(spread, 1);
  EXPECT_DOUBLE_EQ(one.scale, std::sqrt(2 * (1 + 0.25) + 7 * (1 + 0.5)));
  EXPECT_DOUBLE_EQ(one.degrees, 13.0 * 13.0 / (2.5 * 2.5 / 2 + 10.5 * 10.5 / 1));
}

TEST(NoiseModel, DaysThatAreNotKnownDifferAsLaunchesDo) {
  std::mt19937_64 generator(1);
  const Spread one_day = spread_of(values_of({.days = 1, .launches = 9}, generator));
  EXPECT_EQ(one_day.days, one_day.launches);
  EXPECT_EQ(one_day.of_days, 1U);
}

TEST(NoiseModel, OneLaunchADayIsTheDay) {
  std::mt19937_64 generator(1);
  const Spread spread = spread_of(values_of({.days = 9, .launches = 1}, generator));
  EXPECT_EQ(spread.launches, 0);
  EXPECT_DOUBLE_EQ(predict(spread, 1).degrees, 8);
  EXPECT_EQ(predict(spread, 1).scale, predict(spread, 5).scale) << "what launches of one day differ by is not known";
}

TEST(NoiseModel, LaunchesOfJobsThatDifferAreNoOnesOfTheirOwn) {
  std::mt19937_64 generator(1);
  const Spread spread =
      spread_of(values_of({.jobs = 4, .launches = 5, .of_jobs = 0.02, .of_launches = 0.001}, generator));
  EXPECT_EQ(spread.of_launches, 12U);
  EXPECT_NEAR(std::sqrt(spread.launches), 0.02, 0.01);
  EXPECT_EQ(predict(spread, 1).scale, predict(spread, 5).scale);
}

TEST(NoiseModel, EqualLaunchesHaveNoNoise) {
  const std::vector<LaunchValue> values(5);
  EXPECT_EQ(predict(spread_of(values), 1).scale, 0);
}

/// The share of new launches beyond a limit of 5 %.
TEST(NoiseModel, NewLaunchesAreBeyondTheLimitAsOftenAsItSays) {
  std::mt19937_64 generator(3);
  for (const Grouped& plan : {Grouped{}, Grouped{.of_days = 0.02}}) {
    int beyond = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      std::vector<LaunchValue> values = values_of({plan.days + 1, 1, 3, plan.of_days, 0, plan.of_launches}, generator);
      const double fresh = values.back().value;
      values.resize(values.size() - 3);
      const Spread spread = spread_of(values);
      const Prediction noise = predict(spread, 1);
      if (fresh > spread.centre + noise.scale * student_quantile(0.05, noise.degrees)) ++beyond;
    }
    EXPECT_GT(beyond, 50);
    EXPECT_LT(beyond, 140);
  }
}

}  // namespace
}  // namespace fabricbench::baseline
