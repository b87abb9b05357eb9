#include "cluster/baseline/noise_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "common/core/distributions.h"

namespace fabricbench::baseline {
namespace {

/// A row with launches of `per_day` on each of `days` days, whose times vary by the relative deviations given.
RowHistory row_with(int days, int allocations_per_day, int per_allocation, double of_days, double of_allocations,
                    double of_launches, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> noise;
  RowHistory row;
  int allocation = 0;
  for (int day = 0; day < days; ++day) {
    const double on_day = of_days * noise(generator);
    for (int i = 0; i < allocations_per_day; ++i, ++allocation) {
      const double in_allocation = on_day + of_allocations * noise(generator);
      for (int launch = 0; launch < per_allocation; ++launch) {
        row.recorded.push_back({std::exp(in_allocation + of_launches * noise(generator)), {allocation, day}});
      }
    }
  }
  return row;
}

TEST(NoiseModel, LaunchesAllocationsAndDaysAreToldApart) {
  constexpr int kMany = 40;
  std::vector<RowHistory> rows;
  for (int i = 0; i < kMany; ++i) {
    rows.push_back(row_with(8, 4, 5, 0.05, 0.02, 0.01, static_cast<std::uint64_t>(i)));
    rows.back().series = static_cast<std::size_t>(i);  // so that neighbours do not matter
  }
  const NoiseModel model(rows);
  Spread mean;
  for (std::size_t i = 0; i < kMany; ++i) {
    mean.launches += model.of(i).launches / kMany;
    mean.allocations += model.of(i).allocations / kMany;
    mean.days += model.of(i).days / kMany;
  }
  EXPECT_NEAR(mean.launches, 0.01, 0.001);
  EXPECT_NEAR(mean.allocations, 0.02, 0.005);
  EXPECT_NEAR(mean.days, 0.05, 0.01);
  EXPECT_EQ(model.of(0).of_launches, 160U);
  EXPECT_EQ(model.of(0).of_allocations, 32U);
  EXPECT_EQ(model.of(0).of_days, 8U);
}

TEST(NoiseModel, OneAllocationADayIsTheDay) {
  const std::vector<RowHistory> rows = {row_with(5, 1, 4, 0.05, 0, 0.01, 1)};
  const NoiseModel model(rows);
  EXPECT_EQ(model.of(0).of_allocations, 0U);
  EXPECT_EQ(model.of(0).allocations, 0);
  EXPECT_GT(model.of(0).days, 0.02);
}

TEST(NoiseModel, DaysThatAreNotKnownDifferAsLaunchesDo) {
  const std::vector<RowHistory> one_day = {row_with(1, 1, 9, 0, 0, 0.01, 1)};
  EXPECT_FALSE(NoiseModel(one_day).of(0).days_known);
  EXPECT_EQ(NoiseModel(one_day).of(0).days, NoiseModel(one_day).of(0).launches);
  const std::vector<RowHistory> one_launch_a_day = {row_with(9, 1, 1, 0.03, 0, 0.01, 1)};
  EXPECT_TRUE(NoiseModel(one_launch_a_day).of(0).days_known);
  EXPECT_EQ(NoiseModel(one_launch_a_day).of(0).days, NoiseModel(one_launch_a_day).of(0).launches);
}

TEST(NoiseModel, ARowIsNotFarSteadierThanItsNeighbours) {
  std::vector<RowHistory> rows;
  rows.reserve(7);
  for (int i = 0; i < 7; ++i) rows.push_back(row_with(1, 1, 9, 0, 0, 0.02, static_cast<std::uint64_t>(i)));
  for (LaunchTime& launch : rows[3].recorded) launch.time = 1;
  EXPECT_GT(NoiseModel(rows).of(3).launches, 0.005);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].series = i;
  EXPECT_EQ(NoiseModel(rows).of(3).launches, 0) << "rows of other series say nothing";
}

TEST(NoiseModel, OneOutlierDoesNotDecideTheSpread) {
  RowHistory row = row_with(1, 1, 9, 0, 0, 0.01, 1);
  const std::vector<RowHistory> before = {row};
  row.recorded.back().time *= 2;
  const std::vector<RowHistory> after = {row};
  EXPECT_LT(NoiseModel(after).of(0).launches, 0.15);
  EXPECT_NEAR(NoiseModel(after).of(0).centre, NoiseModel(before).of(0).centre, 0.01);
}

TEST(NoiseModel, QuantilesFollowLaunchesThatWereFarOut) {
  std::vector<RowHistory> rows;
  rows.reserve(20);
  for (int i = 0; i < 20; ++i) rows.push_back(row_with(1, 1, 20, 0, 0, 0.01, static_cast<std::uint64_t>(i)));
  const double quantile = student_quantile(0.02, 3);
  const double usual = NoiseModel(rows).launch_limit(5, 0.02, quantile, true);
  EXPECT_LT(usual, 0.07);
  for (std::size_t row = 2; row < 9; ++row) rows[row].recorded[0].time *= 1.2;  // one in twenty is slow
  EXPECT_GT(NoiseModel(rows).launch_limit(5, 0.02, quantile, true), 0.15);
  EXPECT_LT(NoiseModel(rows).launch_limit(5, 0.02, quantile, false), 0.1);
  EXPECT_LT(NoiseModel(rows).launch_limit(15, 0.02, quantile, true), 2 * usual) << "far from these sizes";
}

}  // namespace
}  // namespace fabricbench::baseline
