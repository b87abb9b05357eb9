#include "common/measure/totals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/core/statistics.h"

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

/// `samples` of a hundred in every epoch in which `rank` took longest, and in the others the rank after it.
std::vector<TimesSlowest> slowest_in(std::int64_t epochs, int rank, std::int64_t samples) {
  std::vector<TimesSlowest> counts;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    counts.push_back({rank, epoch, samples});
    if (samples < 100) counts.push_back({rank + 1, epoch, 100 - samples});
  }
  return counts;
}

/// A measurement with these counts, and times of the ranks relative to each other.
Row row_of_ranks(int group, std::vector<TimesSlowest> counts, std::vector<double> means) {
  Row row = row_of(group, {1});
  row.out_of_place->summary.times_slowest = std::move(counts);
  row.out_of_place->rank_means = std::move(means);
  return row;
}

TEST(Totals, NameTheSlowestRankOfAGroupByItsSamplesInAllRows) {
  const Options options;
  Totals totals(options);
  // Rank 1 is slowest in neither row, but it has most samples of both.
  std::vector<TimesSlowest> first_row;
  std::vector<TimesSlowest> second_row;
  for (std::int64_t epoch = 0; epoch < 9; ++epoch) {
    first_row.insert(first_row.end(), {{1, epoch, 45}, {3, epoch, 55}});
    second_row.insert(second_row.end(), {{1, epoch, 48}, {0, epoch, 52}});
  }
  totals.add(row_of_ranks(0, first_row, {1, 1.2, 1, 1.1}), "x");
  totals.add(row_of_ranks(0, second_row, {1.1, 1.2, 1, 1}), "x");
  totals.add(row_of_ranks(1, slowest_in(9, 2, 100), {1, 1, 2, 1}), "x");
  const auto first = totals.slowest_rank(0, 4);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->leader.rank, 1);
  EXPECT_DOUBLE_EQ(first->share, 93.0 / 200);
  EXPECT_EQ(first->leader.blocks, 9) << "two rows of an epoch are near in time, and count once";
  EXPECT_EQ(first->leader.all_blocks, 9);
  EXPECT_NEAR(first->excess, 0.2, 1e-12);
  EXPECT_EQ(totals.slowest_rank(1, 4)->leader.rank, 2);
}

TEST(Totals, NameNoSlowestRankNearChance) {
  Options options;
  const std::vector<double> means = {1, 1.1, 1, 1};
  const auto named = [&](std::int64_t epochs, std::int64_t samples, const std::vector<double>& of_ranks) {
    Totals totals(options);
    totals.add(row_of_ranks(0, slowest_in(epochs, 1, samples), of_ranks), "x");
    return totals.slowest_rank(0, static_cast<std::int64_t>(of_ranks.size())).has_value();
  };
  EXPECT_TRUE(named(9, 80, means));
  EXPECT_FALSE(named(9, 51, {1, 1.1})) << "51 % is near 50 %";
  EXPECT_FALSE(named(4, 80, means)) << "4 ranks, 4 of 4 epochs: 1.6 % by chance";
  EXPECT_TRUE(named(5, 80, means)) << "and 5 of 5: 0.4 %";
  EXPECT_FALSE(named(9, 100, {1, 1, 1, 1})) << "all took the same time";
  EXPECT_FALSE(named(9, 100, {1}));
  EXPECT_FALSE(named(0, 100, means));
  options.timing = Timing::kIsolated;
  EXPECT_TRUE(named(9, 80, means));
  EXPECT_FALSE(named(9, 80, {1e-6, 1.5e-6, 1e-6, 1e-6})) << "some rank is the last of an operation that is alone";
}

TEST(Totals, CompareNoRanksOfWhichOneIsAlwaysTheRoot) {
  Options options;
  const auto slowest = [&] {
    Totals totals(options);
    for (const int root : options.root == kAllRoots ? std::vector<int>{0, 1, 2, 3} : std::vector<int>{0}) {
      Row row = row_of_ranks(0, slowest_in(9, 1, 100), {1, 1.1, 1, 1});
      row.root = root;
      totals.add(row, "x");
    }
    return totals.slowest_rank(0, 4);
  };
  EXPECT_FALSE(slowest().has_value()) << "another rank's part takes longer by nature";
  options.root = kAllRoots;
  ASSERT_TRUE(slowest().has_value());
  EXPECT_EQ(slowest()->leader.all_blocks, 36) << "each root has epochs of its own";
}

TEST(Totals, CountEachSizeOnceWithoutEpochs) {
  Options options;
  options.iterations = 20;
  Totals totals(options);
  for (Bytes size = 8; size <= 64; size *= 2) {
    Row row = row_of_ranks(0, slowest_in(1, 1, 100), {1, 1.1, 1, 1});
    row.in_place = row.out_of_place;
    row.size = size;
    totals.add(row, "x");
    if (size == 8) {
      EXPECT_FALSE(totals.slowest_rank(0, 4).has_value());
    }
  }
  EXPECT_FALSE(totals.slowest_rank(0, 4).has_value()) << "4 of 4 sizes: 1.6 % by chance";
  Row row = row_of_ranks(0, slowest_in(1, 1, 100), {1, 1.1, 1, 1});
  row.size = 128;
  totals.add(row, "x");
  EXPECT_EQ(totals.slowest_rank(0, 4)->leader.all_blocks, 5);
}

/// Some sizes of some ranks in nine epochs. What a rank's time has in common with others of the epoch, of the visit,
/// and what it has alone, is drawn.
class SimulatedRanks {
 public:
  SimulatedRanks(unsigned seed, int ranks) : random_(seed), ranks_(ranks) {}

  /// By how much the time of rank 1 is longer in a sample: relative, by size and sample.
  std::function<double(int, int)> slower = [](int, int) { return 0.0; };
  /// The rank's operations end when it ends, and the others' too: it came late, and they waited.
  bool others_wait = false;

  [[nodiscard]] std::optional<Totals::Slowest> slowest() {
    const Options options;
    Totals totals(options);
    std::vector<std::vector<Epoch>> epochs(kSizes);
    std::vector<std::vector<std::vector<double>>> means(kSizes);
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      const std::vector<double> of_epoch = drawn(0.1);
      for (int size = 0; size < kSizes; ++size) visit(size, of_epoch, epochs, means);
    }
    for (int size = 0; size < kSizes; ++size) {
      const auto index = static_cast<std::size_t>(size);
      Row row = row_of_ranks(0, summarize(epochs[index]).times_slowest, {});
      row.size = Bytes{8} << index;
      for (const std::vector<double>& of_rank : means[index]) row.out_of_place->rank_means.push_back(median(of_rank));
      totals.add(row, "x");
    }
    return totals.slowest_rank(0, ranks_);
  }

 private:
  static constexpr int kSizes = 6;
  static constexpr int kEpochs = 9;
  static constexpr int kSamples = 5;

  std::vector<double> drawn(double deviation) {
    std::vector<double> values;
    for (int rank = 0; rank < ranks_; ++rank) values.push_back(std::normal_distribution(0.0, deviation)(random_));
    return values;
  }

  void visit(int size, const std::vector<double>& of_epoch, std::vector<std::vector<Epoch>>& epochs,
             std::vector<std::vector<std::vector<double>>>& means) {
    const auto index = static_cast<std::size_t>(size);
    const std::vector<double> of_visit = drawn(0.05);
    std::vector<std::vector<double>> times(static_cast<std::size_t>(ranks_));
    Epoch& epoch = epochs[index].emplace_back();
    for (int sample = 0; sample < kSamples; ++sample) {
      const std::vector<double> alone = drawn(0.02);
      std::vector<double> all;
      for (std::size_t rank = 0; rank < times.size(); ++rank) {
        const bool longer = others_wait ? rank != 1 : rank == 1;
        const double wait = others_wait ? slower(size, sample) : 0;
        // What others wait for is in all times; the rank itself finds their data there already.
        const double own = others_wait ? (longer ? 0.001 : 0) : (longer ? slower(size, sample) : 0);
        const double noise = others_wait ? alone[rank] / 100 : of_epoch[rank] + of_visit[rank] + alone[rank];
        all.push_back(1 + wait + own + noise);
        times[rank].push_back(all.back());
      }
      const auto longest = std::max_element(all.begin(), all.end());
      epoch.samples.push_back(*longest);
      epoch.slowest_ranks.push_back(static_cast<int>(longest - all.begin()));
    }
    means[index].resize(times.size());
    for (std::size_t rank = 0; rank < times.size(); ++rank) means[index][rank].push_back(mean(times[rank]));
  }

  std::mt19937 random_;
  int ranks_;
};

TEST(SlowestRank, IsNamedInLessThanOneOfAHundredRunsWhereAllAreAlike) {
  constexpr unsigned kRuns = 400;
  for (const int ranks : {2, 3, 8}) {
    int named = 0;
    for (unsigned seed = 0; seed < kRuns; ++seed) named += SimulatedRanks(seed, ranks).slowest() ? 1 : 0;
    EXPECT_LE(named, 4) << ranks << " ranks, whose times are alike within an epoch";
  }
}

TEST(SlowestRank, IsTheOneThatTakesLonger) {
  const auto times_named = [](const std::function<double(int, int)>& slower) {
    int named = 0;
    for (unsigned seed = 0; seed < 50; ++seed) {
      SimulatedRanks simulated(seed, 4);
      simulated.slower = slower;
      const auto slowest = simulated.slowest();
      if (slowest && slowest->leader.rank == 1) ++named;
    }
    return named;
  };
  EXPECT_GE(times_named([](int, int) { return 0.5; }), 49) << "always";
  EXPECT_GE(times_named([](int, int sample) { return sample % 2 == 0 ? 1.0 : 0.0; }), 49) << "in bursts";
  EXPECT_LE(times_named([](int size, int) { return size == 2 ? 0.1 : 0.0; }), 3)
      << "at one of six sizes, and less than the others scatter: the row tells, the note is of all";
}

TEST(SlowestRank, IsNotOneOfThoseThatWaitForAnother) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    for (const int ranks : {2, 4}) {
      SimulatedRanks simulated(seed, ranks);
      simulated.others_wait = true;
      simulated.slower = [](int, int) { return 0.5; };
      EXPECT_FALSE(simulated.slowest().has_value());
    }
  }
}

TEST(IdlestRank, IsTheOneThatOftenDidNotRun) {
  const Options options;
  const auto stopped = [&](std::vector<double> shares, std::int64_t epochs, int most) {
    Totals totals(options);
    for (int size = 0; size < 2; ++size) {
      Row row = row_of_ranks(0, {}, std::vector<double>(shares.size(), 1.0));
      IdleShares& idle = row.out_of_place->stopped;
      idle.by_rank = shares;
      idle.most_idle.assign(static_cast<std::size_t>(epochs), most);
      // At the first size hardly any epoch has it; another rank then has the most by chance.
      if (size == 0) idle.most_idle.assign(idle.most_idle.size(), 0);
      idle.most.assign(idle.most_idle.size(), size == 0 ? 0.001 : 0.5);
      totals.add(row, "x");
    }
    EXPECT_FALSE(totals.waiting_rank(0, 4).has_value());
    return totals.stopped_rank(0, static_cast<std::int64_t>(shares.size()));
  };
  const auto found = stopped({0.01, 0.01, 0.25, 0.02}, 9, 2);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->leader.rank, 2);
  EXPECT_EQ(found->leader.blocks, 9);
  EXPECT_DOUBLE_EQ(found->share, 0.25);
  EXPECT_DOUBLE_EQ(found->others, 0.01);
  EXPECT_FALSE(stopped({0.01, 0.01, 0.25, 0.02}, 3, 2).has_value()) << "3 of 3 epochs: 6 % by chance";
  EXPECT_FALSE(stopped({0.01, 0.01, 0.05, 0.02}, 9, 2).has_value()) << "hardly more than the others";
  EXPECT_FALSE(stopped({0.6, 0.7, 0.9, 0.5}, 9, 2).has_value()) << "the library sleeps while it waits";
  EXPECT_FALSE(Totals(options).stopped_rank(0, 4).has_value());
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
