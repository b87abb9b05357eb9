#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "common/core/statistics.h"

using namespace fabricbench;

namespace summary_test {

Epoch epoch_of(std::vector<Seconds> samples, Seconds began = 0) {
  Epoch epoch;
  epoch.samples = std::move(samples);
  epoch.slowest_ranks.assign(epoch.samples.size(), 0);
  epoch.began = began;
  return epoch;
}

/// Epochs of one sample each, one a second.
std::vector<Epoch> series(const std::vector<Seconds>& medians) {
  std::vector<Epoch> epochs;
  for (std::size_t i = 0; i < medians.size(); ++i) epochs.push_back(epoch_of({medians[i]}, static_cast<Seconds>(i)));
  return epochs;
}

TEST(Summary, TakesTheMedianOfTheEpochsMedians) {
  // The median of all eleven samples would be 8.
  const std::vector<Epoch> epochs = {epoch_of({1, 2, 1000}), epoch_of({5, 6, 7}), epoch_of({8, 11, 10, 9, 12})};
  const Summary summary = summarize(epochs);
  EXPECT_EQ(summary.median, 6);
  EXPECT_EQ(summary.epochs, 3);
  EXPECT_EQ(summary.epoch_medians, (std::vector<Seconds>{2, 6, 10}));
  EXPECT_EQ(summary.samples, 11);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 1000);
  EXPECT_DOUBLE_EQ(summary.mean, 1071.0 / 11);
}

TEST(Summary, HasAnIntervalOfTheEpochsMediansFromSixEpochsOn) {
  EXPECT_FALSE(summarize(series({1})).interval);
  EXPECT_FALSE(summarize(series({1, 2, 3, 4, 5})).interval);
  const Summary summary = summarize(series({5, 9, 2, 7, 1, 8, 3, 6, 4}));
  ASSERT_TRUE(summary.interval);
  EXPECT_EQ(summary.interval->low, 2);
  EXPECT_EQ(summary.interval->high, 8);
}

TEST(Summary, AllowsForTheLastKnownResolutionOfTheClock) {
  std::vector<Epoch> epochs = series({4, 4, 4, 4, 4, 4, 4, 4, 4});
  EXPECT_EQ(summarize(epochs).interval->half_width(), 0);
  for (std::size_t i = 0; i < epochs.size(); ++i) epochs[i].resolution = i == 8 ? 0.5 : 1;
  const Summary summary = summarize(epochs);
  EXPECT_EQ(summary.resolution, 0.5);
  EXPECT_EQ(summary.interval->low, 3.5);
  EXPECT_EQ(summary.interval->high, 4.5);
}

TEST(Summary, OfOneEpochHasNoIntervalHoweverManySamples) {
  std::vector<Seconds> samples(1000);
  std::iota(samples.begin(), samples.end(), 1.0);
  const std::vector<Epoch> epochs = {epoch_of(samples)};
  const Summary summary = summarize(epochs);
  EXPECT_FALSE(summary.interval);
  EXPECT_EQ(summary.median, 500.5);
  EXPECT_EQ(summary.p5, 50);
  EXPECT_EQ(summary.p95, 950);
}

TEST(Summary, GivesTailQuantilesOnlyWithEnoughSamples) {
  const auto of_samples = [](std::size_t n) {
    std::vector<Seconds> samples(n);
    std::iota(samples.begin(), samples.end(), 1.0);
    return summarize(std::vector<Epoch>{epoch_of(samples)});
  };
  EXPECT_FALSE(of_samples(298).p99);
  EXPECT_EQ(of_samples(299).p99, 297);
  EXPECT_FALSE(of_samples(2994).p999);
  EXPECT_EQ(of_samples(2995).p999, 2993);
}

TEST(Summary, HasTheStandardDeviationOfAllSamples) {
  const std::vector<Epoch> epochs = {epoch_of({2, 4, 4, 4}), epoch_of({5, 5, 7, 9})};
  EXPECT_DOUBLE_EQ(summarize(epochs).standard_deviation, 2);
  EXPECT_EQ(summarize(std::vector<Epoch>{epoch_of({7})}).standard_deviation, 0);
}

TEST(Summary, HasADeviationBelowAMicrosecond) {
  EXPECT_NEAR(summarize(std::vector<Epoch>{epoch_of({1.9e-6, 2.1e-6, 1.9e-6, 2.1e-6})}).standard_deviation, 0.1e-6,
              1e-15);
  const std::vector<Epoch> constant = {epoch_of(std::vector<Seconds>(1000, 1.0 / 384))};
  EXPECT_EQ(summarize(constant).standard_deviation, 0) << "whatever the mean is rounded to";
}

TEST(Summary, HasTheMeanStepFromOneSampleToTheNextAsJitter) {
  EXPECT_DOUBLE_EQ(summarize(std::vector<Epoch>{epoch_of({5, 8, 7, 7})}).jitter.value(), 4.0 / 3) << "of 3, 1 and 0";
  EXPECT_DOUBLE_EQ(summarize(std::vector<Epoch>{epoch_of({1, 9, 1, 9})}).jitter.value(), 8);
  EXPECT_DOUBLE_EQ(summarize(std::vector<Epoch>{epoch_of({1, 1, 9, 9})}).jitter.value(), 8.0 / 3) << "the order counts";
}

TEST(Summary, CountsNoStepFromOneEpochToAnotherAsJitter) {
  const std::vector<Epoch> epochs = {epoch_of({1, 2}), epoch_of({}), epoch_of({1000}), epoch_of({50, 53, 50})};
  EXPECT_DOUBLE_EQ(summarize(epochs).jitter.value(), 7.0 / 3);
  EXPECT_FALSE(summarize(series({1, 100, 3})).jitter.has_value());
}

TEST(Summary, OfOneSampleHasNoJitter) { EXPECT_FALSE(summarize(std::vector<Epoch>{epoch_of({7})}).jitter.has_value()); }

TEST(Summary, CountsOutliersAndKeepsThem) {
  std::vector<Seconds> samples(40, 1.0);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] += 0.001 * static_cast<double>(i);
  samples[10] = 50;
  samples[30] = 60;
  const Summary summary = summarize(std::vector<Epoch>{epoch_of(samples)});
  EXPECT_EQ(summary.outliers, 2);
  EXPECT_EQ(summary.samples, 40);
  EXPECT_EQ(summary.max, 60);
  EXPECT_GT(summary.mean, 3);
}

TEST(ExplainingWait, IsThatOfTheUsualEpochAndNotSmall) {
  EXPECT_DOUBLE_EQ(explaining_wait(std::vector{0.63, 0.9, 0.2}), 0.63) << "as the figure is that of the usual epoch";
  EXPECT_EQ(explaining_wait(std::vector{0.05, 0.9, 0.09}), 0) << "too little to explain anything";
  EXPECT_EQ(explaining_wait({}), 0) << "unknown";
}

TEST(Summary, AddsUpLateStartsAndPreemptions) {
  std::vector<Epoch> epochs = series({1, 2, 3});
  epochs[0].late = 3;
  epochs[1].late = 4;
  epochs[0].preemptions = 5;
  epochs[0].most_preempted_rank = 2;
  epochs[1].preemptions = 3;
  epochs[1].most_preempted_rank = 7;
  epochs[2].preemptions = 4;
  epochs[2].most_preempted_rank = 7;
  const Summary summary = summarize(epochs);
  EXPECT_EQ(summary.late, 7);
  EXPECT_EQ(summary.preemptions, 12);
  EXPECT_EQ(summary.most_preempted_rank, 7);
}

TEST(Summary, NamesTheRankThatWasSlowestInMostSamples) {
  std::vector<Epoch> epochs = {epoch_of({1, 2, 3}), epoch_of({1, 2})};
  epochs[0].slowest_ranks = {4, 1, 4};
  epochs[1].slowest_ranks = {1, 4};
  const Summary summary = summarize(epochs);
  EXPECT_EQ(summary.slowest_rank, 4);
  EXPECT_DOUBLE_EQ(summary.slowest_share.value(), 0.6);
}

TEST(Summary, CountsTheSamplesOfEachEpochInWhichEachRankWasSlowest) {
  std::vector<Epoch> epochs = {epoch_of({1, 2, 3}), epoch_of({1, 2}), epoch_of({1})};
  epochs[0].slowest_ranks = {4, 1, 4};
  epochs[1].slowest_ranks = {1, 4};
  epochs[2].slowest_ranks = {7};
  std::vector<std::vector<std::int64_t>> counts;
  for (const TimesSlowest& count : summarize(epochs).times_slowest) {
    counts.push_back({count.rank, count.epoch, count.samples});
  }
  EXPECT_EQ(counts, (std::vector<std::vector<std::int64_t>>{{1, 0, 1}, {4, 0, 2}, {1, 1, 1}, {4, 1, 1}, {7, 2, 1}}));
}

TEST(Summary, SeesASeriesThatRises) {
  EXPECT_NEAR(summarize(series({9, 9.5, 10, 10.5, 11})).drift.value(), 0.2, 1e-12);
  EXPECT_NEAR(summarize(series({11, 10.5, 10, 9.5, 9})).drift.value(), -0.2, 1e-12);
  EXPECT_NEAR(summarize(series({9, 9.5, 1000, 10.5, 11})).drift.value(), 2 / 10.5, 1e-12) << "one outlier is no trend";
  EXPECT_EQ(summarize(series({5, 5, 5, 5})).drift, 0.0);
  EXPECT_FALSE(summarize(series({1, 2})).drift) << "two points are no trend";
}

TEST(Summary, DriftCountsTimeNotEpochs) {
  const std::vector<Epoch> epochs = {epoch_of({10}, 0), epoch_of({11}, 1), epoch_of({14}, 4), epoch_of({20}, 10)};
  EXPECT_NEAR(summarize(epochs).drift.value(), 10 / 12.5, 1e-12);
}

TEST(Summary, SkipsEpochsWithoutSamplesButCountsTheirLateStarts) {
  std::vector<Epoch> epochs = series({100, 9, 9.5, 10, 10.5, 11});
  epochs[0].samples.clear();
  epochs[0].slowest_ranks.clear();
  epochs[0].late = 20;
  epochs[0].began = -100;
  const Summary summary = summarize(epochs);
  EXPECT_EQ(summary.epochs, 5);
  EXPECT_EQ(summary.samples, 5);
  EXPECT_EQ(summary.median, 10);
  EXPECT_EQ(summary.late, 20);
  EXPECT_NEAR(summary.drift.value(), 0.2, 1e-12);
}

TEST(Summary, KeepsTheWorstClockErrorAndWhetherAllStartedTogether) {
  std::vector<Epoch> epochs = series({1, 2, 3});
  epochs[1].clock_error = 5e-6;
  EXPECT_EQ(summarize(epochs).clock_error, 5e-6);
  EXPECT_TRUE(summarize(epochs).common_start);
  epochs[2].common_start = false;
  EXPECT_FALSE(summarize(epochs).common_start);
}

TEST(Summary, SeesStretchesOfSlowSamples) {
  const Summary stretches = summarize(std::vector<Epoch>{epoch_of({1, 1.1, 1.2, 1, 9, 9.1, 9, 9.2})});
  EXPECT_GT(stretches.autocorrelation, 0.5);
  const Summary alternating = summarize(std::vector<Epoch>{epoch_of({1, 9, 1, 9, 1, 9, 1, 9})});
  EXPECT_DOUBLE_EQ(alternating.autocorrelation, -1);
}

TEST(EpochOfSeveralVisits, HoldsWhatAllOfThemMeasured) {
  Epoch first = epoch_of({1, 2}, 100);
  first.slowest_ranks = {0, 1};
  first.cpu_times = {0.5};
  first.host_times = {0.6};
  first.own_times = {{1.5}, {1.25}};
  first.own_means = {{1.6}, {1.3}};
  first.late = 1;
  first.preemptions = 2;
  first.most_preemptions = 1;
  first.most_preempted_rank = 4;
  first.clock_error = 1e-6;
  Epoch second = epoch_of({3}, 200);
  second.slowest_ranks = {2};
  second.cpu_times = {0.7};
  second.host_times = {0.8};
  second.own_times = {{2.5}, {2.25}};
  second.own_means = {{2.6}, {2.3}};
  second.late = 2;
  second.preemptions = 5;
  second.most_preemptions = 2;
  second.most_preempted_rank = 6;
  second.clock_error = 3e-6;
  second.common_start = false;
  Epoch whole;
  whole.add(first);
  whole.add(second);
  EXPECT_EQ(whole.samples, (std::vector<Seconds>{1, 2, 3}));
  EXPECT_EQ(whole.slowest_ranks, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(whole.cpu_times, (std::vector<Seconds>{0.5, 0.7}));
  EXPECT_EQ(whole.host_times, (std::vector<Seconds>{0.6, 0.8}));
  EXPECT_EQ(whole.own_times, (std::vector<std::vector<Seconds>>{{1.5, 2.5}, {1.25, 2.25}})) << "by rank";
  EXPECT_EQ(whole.own_means, (std::vector<std::vector<Seconds>>{{1.6, 2.6}, {1.3, 2.3}}));
  EXPECT_EQ(whole.began, 100);
  EXPECT_EQ(whole.late, 3);
  EXPECT_EQ(whole.preemptions, 7);
  EXPECT_EQ(whole.most_preempted_rank, 6);
  EXPECT_EQ(whole.clock_error, 3e-6);
  EXPECT_FALSE(whole.common_start);
}

TEST(EpochOfSeveralVisits, BeginsWithTheFirstThatHasSamples) {
  Epoch whole;
  whole.add(epoch_of({}, 100));
  whole.add(epoch_of({1}, 200));
  whole.add(epoch_of({2}, 300));
  EXPECT_EQ(whole.began, 200);
}

}  // namespace summary_test
