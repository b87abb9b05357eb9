#include "common/measure/totals.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace fabricbench;

namespace totals_test {

Measurement measured(double busbw, std::int64_t samples = 100) {
  Measurement measurement;
  measurement.busbw = busbw;
  measurement.summary.median = 1e-3;
  measurement.summary.samples = samples;
  measurement.summary.epochs = 9;
  measurement.wrong = 0;
  return measurement;
}

Row row_of(int group, const std::vector<double>& busbws) {
  Row row;
  row.size = 1024;
  row.reduction = Reduction::kSum;
  row.group = group;
  if (!busbws.empty()) row.out_of_place = measured(busbws[0]);
  if (busbws.size() > 1) row.in_place = measured(busbws[1]);
  return row;
}

Interval interval_of(double half_width_percent) {
  return {1e-3 * (1 - half_width_percent / 100), 1e-3 * (1 + half_width_percent / 100), 0.96, 1e-3};
}

TEST(Totals, OfNothingAreZero) {
  const Options options;
  const Totals totals(options);
  EXPECT_EQ(totals.measurements(), 0);
  EXPECT_EQ(totals.wrong_checks(), 0U);
  EXPECT_TRUE(totals.wrong_data().empty());
  EXPECT_EQ(totals.average_busbw(0), 0);
  EXPECT_EQ(totals.slowest_group(), 0);
  EXPECT_FALSE(totals.slowest_rank(0, 2).has_value());
}

TEST(Totals, CountTheMessagesThatWereChecked) {
  const Options options;
  Totals totals(options);
  EXPECT_EQ(totals.checked_line(), "");
  Row row = row_of(0, {1});
  totals.add(row, "rdma_write_bw");
  EXPECT_EQ(totals.checked_line(), "") << "only with --check all";
  row.out_of_place->checked_messages = 1234000;
  row.out_of_place->wrong_messages = 0;
  totals.add(row, "rdma_write_bw");
  row.out_of_place->checked_messages = 567;
  row.out_of_place->wrong = 3;
  row.out_of_place->wrong_messages = 2;
  row.out_of_place->first_wrong = "rank 1: first in message 7 of window 3, byte 5: expected 1, got 2";
  totals.add(row, "rdma_write_bw");
  EXPECT_EQ(totals.checked_line(), "Every message was checked: 1,234,567 messages, 2 wrong");
  ASSERT_EQ(totals.wrong_data().size(), 1U);
  EXPECT_NE(totals.wrong_data().front().find("3 elements of 2 messages over"), std::string::npos);
}

TEST(Totals, SayWhatTheCheckedOperationsWouldFind) {
  const Options options;
  const auto line_of = [&](std::uint64_t operations) {
    Totals totals(options);
    Row row = row_of(0, {1});
    row.out_of_place->checked_operations = operations;
    totals.add(row, "all_reduce");
    return totals.checked_line();
  };
  EXPECT_EQ(line_of(0), "");
  EXPECT_EQ(line_of(1),
            "1 operation was checked, which finds corruption of 1 in 1 with 95 %, and of 1 in 1000 with 0.1 %");
  EXPECT_EQ(line_of(12),
            "12 operations were checked, which finds corruption of 1 in 4.5 with 95 %, and of 1 in 1000 with 1.1 %");
  EXPECT_EQ(
      line_of(30000),
      "30,000 operations were checked, which finds corruption of 1 in 10014 with 95 %, and of 1 in 1000 with 99 %");
}

TEST(Totals, SayWhatCheckingEachOperationCost) {
  const Options options;
  Totals totals(options);
  Row row = row_of(0, {1});
  for (const double share : {0.5, 0.81, 0.9}) {
    row.out_of_place->checked_operations = 1000;
    row.out_of_place->checking_share = share;
    totals.add(row, "all_reduce");
  }
  EXPECT_EQ(totals.checked_line(),
            "Every measured operation was checked: 3,000; filling and checking buffers took 81 % of the time");
}

TEST(Totals, KeepTheLargestLatency) {
  const Options options;
  Totals totals(options);
  EXPECT_FALSE(totals.largest_latency() || totals.without_figure());
  const struct {
    int group;
    double algbw;
    Seconds median;
  } rows[] = {{0, 5, 2e-6}, {1, 4, 1e-6}, {2, 4, 3e-6}, {3, 9, 3e-6}, {4, 0, 0}};
  for (const auto& [group, algbw, median] : rows) {
    Row row = row_of(group, {1});
    row.out_of_place->algbw = algbw;
    row.out_of_place->summary.median = median;
    totals.add(row, "rdma_write_bw");
  }
  EXPECT_EQ(totals.largest_latency()->group, 2);
  EXPECT_EQ(totals.largest_latency()->median, 3e-6);
  EXPECT_EQ(totals.without_figure()->group, 4) << "it is no bandwidth of 0, nor a latency of 0";
  EXPECT_EQ(totals.measurements(4), 1);
  EXPECT_EQ(totals.measurements(5), 0);
}

TEST(Totals, CountMeasurementsBelowTheStepOfTheClock) {
  const Options options;
  Totals totals(options);
  for (const Seconds resolution : {0.0, 1e-3, 2e-3, 3e-3}) {
    Row row = row_of(0, {1});
    row.out_of_place->summary.resolution = resolution;
    totals.add(row, "all_reduce");
  }
  EXPECT_EQ(totals.below_resolution(), 2) << "a time of one step is one";
  EXPECT_EQ(totals.coarsest_resolution(), 3e-3);
}

TEST(Totals, AverageTheMeasurementsOfEachGroupByItself) {
  const Options options;
  Totals totals(options);
  totals.add(row_of(0, {10, 20}), "all_reduce");
  totals.add(row_of(0, {60}), "all_reduce");
  totals.add(row_of(2, {5, 7}), "all_reduce");
  totals.add(row_of(1, {}), "all_reduce");  // nothing was measured
  EXPECT_EQ(totals.measurements(), 5);
  EXPECT_DOUBLE_EQ(totals.average_busbw(0), 30) << "what was not run is not averaged";
  EXPECT_DOUBLE_EQ(totals.average_busbw(2), 6);
  EXPECT_EQ(totals.average_busbw(1), 0);
  EXPECT_EQ(totals.slowest_group(), 2);
}

TEST(Totals, NameTheFirstOfGroupsThatAreAsSlow) {
  const Options options;
  Totals totals(options);
  for (const int group : {0, 1, 2}) totals.add(row_of(group, {8}), "x");
  EXPECT_EQ(totals.slowest_group(), 0);
}

TEST(Totals, JudgeNoGroupOfOneRankWhereThereAreOthers) {
  const Options options;
  Totals totals(options);
  totals.add(row_of(0, {0}), "x");
  totals.add(row_of(1, {8}), "x");
  totals.add(row_of(2, {9}), "x");
  EXPECT_EQ(totals.slowest_group(), 1);
}

/// Adds a measurement of 100 samples and 9 epochs of four ranks, the times of which are relative to the fastest's.
void add_slowest(Totals& totals, int group, std::vector<TimesSlowest> counts, std::vector<double> times) {
  Row row = row_of(group, {1});
  row.out_of_place->summary.times_slowest = std::move(counts);
  row.out_of_place->rank_times = std::move(times);
  totals.add(row, "x");
}

TEST(Totals, NameTheSlowestRankOfAGroupByItsSamplesInAllRows) {
  const Options options;
  Totals totals(options);
  // Rank 1 is slowest in neither row, but it has most samples of both.
  add_slowest(totals, 0, {{1, 45, 8}, {3, 55, 1}}, {1, 1.2, 1, 1.1});
  add_slowest(totals, 0, {{0, 52, 1}, {1, 48, 8}}, {1.1, 1.2, 1, 1});
  add_slowest(totals, 1, {{2, 100, 9}}, {1, 1, 2, 1});
  const auto first = totals.slowest_rank(0, 4);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->rank, 1);
  EXPECT_DOUBLE_EQ(first->share, 93.0 / 200);
  EXPECT_EQ(first->epochs, 16);
  EXPECT_EQ(first->all_epochs, 18);
  EXPECT_NEAR(first->excess, 1.2 / 1.05 - 1, 1e-12);
  EXPECT_EQ(totals.slowest_rank(1, 4)->rank, 2);
}

TEST(Totals, NameNoSlowestRankNearChance) {
  const Options options;
  const std::vector<double> times = {1, 1.1, 1, 1};
  const auto named = [&](TimesSlowest most, const std::vector<double>& of_ranks, std::int64_t ranks) {
    Totals totals(options);
    add_slowest(totals, 0, {most, {2, 100 - most.samples, 0}}, of_ranks);
    return totals.slowest_rank(0, ranks).has_value();
  };
  EXPECT_TRUE(named({1, 80, 8}, times, 4));
  EXPECT_FALSE(named({1, 80, 6}, times, 4)) << "4 ranks, 6 of 9 epochs: 4 % by chance";
  EXPECT_TRUE(named({1, 80, 7}, times, 4)) << "and 7 of 9: 0.5 %";
  EXPECT_FALSE(named({1, 70, 9}, times, 2)) << "where 50 % of the samples would be chance";
  EXPECT_FALSE(named({1, 100, 9}, {1, 1, 1, 1}, 4)) << "all took the same time";
  EXPECT_FALSE(named({1, 100, 9}, times, 1));
}

TEST(Totals, CountWrongChecksByRankAndSayWhatWasFound) {
  const Options options;
  Totals totals(options);
  Row row = row_of(0, {1, 1});
  row.in_place->wrong = 12;
  row.in_place->wrong_ranks = 3;
  row.in_place->first_wrong = "rank 4: first at element 5: expected 6, got 7";
  testing::internal::CaptureStderr();
  totals.add(row, "broadcast");
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(totals.wrong_checks(), 3U);
  ASSERT_EQ(totals.wrong_data().size(), 1U);
  EXPECT_EQ(totals.wrong_data().front(),
            "wrong data in broadcast 1 KiB float sum, in place: 12 elements over 3 ranks; rank 4: first at element 5: "
            "expected 6, got 7");
  EXPECT_EQ(said, "fabricbench: " + totals.wrong_data().front() + "\n") << "at once, not only at the end";
}

TEST(Totals, KeepTwentyLinesAndCountTheRest) {
  const Options options;
  Totals totals(options);
  Row row = row_of(0, {1});
  row.out_of_place->wrong = 1;
  row.out_of_place->wrong_ranks = 1;
  testing::internal::CaptureStderr();
  for (int i = 0; i < 30; ++i) totals.add(row, "x");
  (void)testing::internal::GetCapturedStderr();
  EXPECT_EQ(totals.wrong_checks(), 30U);
  EXPECT_EQ(totals.wrong_data().size(), 20U);
}

TEST(Totals, AddUpLateSamplesAndStartsByBarrier) {
  const Options options;
  Totals totals(options);
  Row row = row_of(0, {1, 1});
  row.out_of_place->summary.late = 3;
  row.in_place->summary.late = 4;
  row.in_place->summary.common_start = false;
  totals.add(row, "x");
  EXPECT_EQ(totals.late(), 7);
  EXPECT_EQ(totals.started_by_barrier(), 1);
}

TEST(Precision, CountsIntervalsAsNarrowAsAskedForAndNamesTheWidest) {
  Options options;
  options.target_precision_percent = 2;
  Totals totals(options);
  Row row = row_of(0, {1, 1});
  row.out_of_place->summary.interval = interval_of(1.9);
  row.in_place->summary.interval = interval_of(5);
  row.in_place->summary.epochs = 15;
  totals.add(row, "x");
  row.size = 2048;
  row.in_place->summary.interval.reset();
  row.in_place->summary.epochs = 3;
  totals.add(row, "x");
  EXPECT_EQ(totals.precision_line(),
            "Precision: 95 % interval within +-2 % for 2 of 4 measurements; widest +-5.0 % (1 KiB float sum, in "
            "place); 3 to 15 epochs");
}

TEST(Precision, IsUnknownWithExactIterationsOrTooFewEpochs) {
  Options options;
  {
    Totals totals(options);
    totals.add(row_of(0, {1}), "x");
    EXPECT_EQ(totals.precision_line(), "Precision: unknown, since an interval takes at least 6 epochs");
  }
  options.iterations = 20;
  const Totals totals(options);
  EXPECT_EQ(totals.precision_line(), "Precision: unknown with -n; leave it out to get intervals");
}

}  // namespace totals_test
