// What a run measures, in which order, when it stops, and what it says of wrong data: as the sinks see it.

#include "common/harness/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/mpi/mpi_backend.h"
#include "harness_fakes.h"

namespace fabricbench {
namespace {

using Subject = std::pair<Bytes, bool>;  // size, and whether in place

/// Everything that a sink was told, in order.
struct Log {
  std::vector<EpochRecord> epochs;
  std::vector<Row> rows;
  std::vector<Bytes> sizes_of_all;  // of epochs and rows, in the order of the calls
  std::vector<bool> is_row;         // for each of these calls
};

class LogSink final : public Sink {
 public:
  explicit LogSink(Log& log) : log_(log) {}
  void begin(const Context&) override {}
  void epoch(const EpochRecord& record) override {
    log_.epochs.push_back(record);
    note(record.size, false);
  }
  void row(const Row& row) override {
    log_.rows.push_back(row);
    note(row.size, true);
  }
  void end(const Ending&) override {}

 private:
  void note(Bytes size, bool is_row) {
    log_.sizes_of_all.push_back(size);
    log_.is_row.push_back(is_row);
  }

  Log& log_;
};

/// MPI's all-reduce, except that on the last rank one element of every out-of-place result is wrong.
class WrongBackend final : public Backend {
 public:
  explicit WrongBackend(const mpi::Communicator& world) : backend_(world), is_last_(world.rank() == world.size() - 1) {}
  [[nodiscard]] std::string library() const override { return "wrong"; }
  void all_reduce(const void* send, void* recv, std::size_t count, DataType type, Reduction reduction) override {
    backend_.all_reduce(send, recv, count, type, reduction);
    if (is_last_ && send != recv) static_cast<float*>(recv)[3] += 1;
  }
  void wait() override {}

 private:
  mpi::MpiBackend backend_;
  bool is_last_;
};

/// All-reduce that remembers its starts.
class Recorder final : public AllReduce {
 public:
  void start(Backend& backend, const Operands& operands) const override {
    starts.emplace_back(operands.count * sizeof(float), operands.send == operands.recv);
    AllReduce::start(backend, operands);
  }
  mutable std::vector<Subject> starts;
};

struct Result {
  Log log;  // rank 0
  Totals totals;
  std::vector<Subject> starts;
  Seconds took = 0;
};

std::vector<Case> cases_of(const std::vector<Bytes>& sizes) {
  std::vector<Case> cases;
  for (const Bytes size : sizes) {
    for (const bool in_place : {false, true}) {
      const std::uint64_t count = size / sizeof(float);
      cases.push_back({size, {count, count, count}, DataType::kFloat, Reduction::kSum, -1, in_place});
    }
  }
  return cases;
}

const std::vector<Bytes> kSizes{16, 32, 64, 128, 256, 512};

Result run(const Options& options, const std::vector<Bytes>& sizes = kSizes, Backend* backend = nullptr) {
  Rig rig(options);
  mpi::MpiBackend right(rig.world);
  const Recorder all_reduce;
  Result result;
  std::vector<std::unique_ptr<Sink>> sinks;
  if (rig.world.is_root()) sinks.push_back(std::make_unique<LogSink>(result.log));
  Bench bench(rig.world, rig.options, all_reduce, backend != nullptr ? *backend : right, rig.workspace, rig.meter,
              rig.heartbeat, options.seed.value_or(1), sinks);
  const Seconds began = now();
  bench.run(cases_of(sizes));
  result.took = now() - began;
  result.totals = bench.totals();
  result.starts = all_reduce.starts;
  return result;
}

/// Nine short epochs of each size, and no more.
Options quick(std::uint64_t seed = 1) {
  Options options;
  options.time_budget = 0.02;
  options.target_precision_percent = 1e9;
  options.seed = seed;
  return options;
}

/// Epochs that start each operation exactly once.
Options one_start_a_visit(std::uint64_t seed) {
  Options options = quick(seed);
  options.time_budget = 1e-9;
  options.warmup = 0;
  options.given = {"warmup_iters"};
  options.checks = 0;
  return options;
}

/// The orders in which nine such epochs visited the subjects; what was started before them made the plan.
std::vector<std::vector<Subject>> orders_of(std::uint64_t seed) {
  const std::size_t subjects = 2 * kSizes.size();
  const std::vector<Subject> starts = run(one_start_a_visit(seed)).starts;
  std::vector<std::vector<Subject>> orders;
  for (auto first = starts.end() - static_cast<std::ptrdiff_t>(9 * subjects); first != starts.end();) {
    const auto end = first + static_cast<std::ptrdiff_t>(subjects);
    orders.emplace_back(first, end);
    first = end;
  }
  return orders;
}

TEST(Interleaved, EveryEpochVisitsEverySubject) {
  for (const auto& order : orders_of(1)) {
    EXPECT_EQ(std::set<Subject>(order.begin(), order.end()).size(), 2 * kSizes.size());
  }
}

TEST(Interleaved, TheOrderFollowsFromTheSeed) {
  const auto one = orders_of(7);
  EXPECT_EQ(one, orders_of(7));
  EXPECT_NE(one, orders_of(8));
  EXPECT_EQ(std::set(one.begin(), one.end()).size(), one.size()) << "every epoch in an order of its own";
}

TEST(Interleaved, ReportsEveryEpochOfEverySubject) {
  const Result result = run(quick());
  const Log& log = result.log;
  if (log.epochs.empty()) return;  // not rank 0
  ASSERT_EQ(log.epochs.size(), 9 * 2 * kSizes.size());
  for (std::size_t i = 0; i < log.epochs.size(); ++i) {
    EXPECT_EQ(log.epochs[i].epoch, static_cast<std::int64_t>(i / (2 * kSizes.size()))) << "one epoch after the other";
    EXPECT_GT(log.epochs[i].median, 0);
    EXPECT_GT(log.epochs[i].samples, 0);
  }
  EXPECT_TRUE(std::is_sorted(log.is_row.begin(), log.is_row.end())) << "no row before the last epoch";
}

TEST(Interleaved, EpochsAreSpreadOverTime) {
  Options options = quick();
  options.time_budget = 0.1;
  const Result result = run(options, {64});
  EXPECT_GE(result.took, 9 * 0.3 * options.time_budget) << "nine epochs, each 0.3 of the budget at least";
  for (const Row& row : result.log.rows) EXPECT_EQ(row.in_place->summary.epochs, 9);
}

TEST(Interleaved, RowsAreInTheOrderGivenWithBothPlacements) {
  const Result result = run(quick());
  EXPECT_EQ(result.totals.wrong_checks, 0u);
  const auto& rows = result.log.rows;
  EXPECT_EQ(rows.size(), result.log.epochs.empty() ? 0 : kSizes.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].size, kSizes[i]);
    ASSERT_TRUE(rows[i].out_of_place && rows[i].in_place);
    EXPECT_EQ(rows[i].out_of_place->summary.epochs, 9);
    EXPECT_EQ(rows[i].out_of_place->wrong, 0u);
    EXPECT_EQ(rows[i].in_place->wrong, 0u);
    EXPECT_GT(rows[i].in_place->busbw, 0);
  }
}

TEST(InOrder, EachRowFollowsItsEpochs) {
  for (const bool exact : {true, false}) {
    Options options = quick();
    options.order = Order::kSequential;
    if (exact) options.iterations = 20;
    const Log log = run(options).log;
    if (log.epochs.empty()) continue;
    EXPECT_EQ(log.rows.size(), kSizes.size());
    EXPECT_TRUE(std::is_sorted(log.sizes_of_all.begin(), log.sizes_of_all.end())) << "size by size";
    for (std::size_t i = 1; i < log.is_row.size(); ++i) {
      const bool next_size = log.sizes_of_all[i] != log.sizes_of_all[i - 1];
      EXPECT_EQ(log.is_row[i - 1], next_size) << "a row ends its size";
    }
  }
}

TEST(InOrder, ExactIterationsAreOneEpoch) {
  for (const Timing timing : {Timing::kPipelined, Timing::kIsolated}) {
    Options options = quick();
    options.timing = timing;
    options.iterations = 20;
    const Result result = run(options);
    for (const Row& row : result.log.rows) {
      EXPECT_EQ(row.out_of_place->summary.epochs, 1);
      const std::int64_t late = row.out_of_place->summary.late;
      EXPECT_EQ(row.out_of_place->iterations, 20 - late);
      EXPECT_FALSE(row.out_of_place->summary.interval) << "one epoch gives no interval";
    }
  }
}

TEST(Stopping, EpochsAreAddedUntilTheBudgetIsSpent) {
  Options options = quick();
  options.target_precision_percent = 0;  // more than can be had
  options.time_budget = 0.1;
  const Result result = run(options, {64});
  if (result.log.rows.empty()) return;
  EXPECT_GE(result.totals.fewest_epochs, 9);
  EXPECT_GT(result.totals.most_epochs, 9) << "the first nine leave budget";
  EXPECT_EQ((result.totals.most_epochs - 9) % 3, 0) << "an interval is judged after three more";
  EXPECT_LT(result.took, 100 * options.time_budget);
  EXPECT_EQ(result.totals.precise, 0);
}

TEST(Stopping, MoreEpochsThanNineCanBeAskedFor) {
  Options options = quick();
  options.epochs = 15;
  const Result result = run(options, {64});
  if (result.log.rows.empty()) return;
  EXPECT_EQ(result.totals.fewest_epochs, 15);
}

TEST(WrongData, IsCountedOnceForEachMeasurementAndRank) {
  const mpi::Communicator world = mpi::Communicator::world();
  WrongBackend backend(world);
  const Result result = run(quick(), {64, 128}, &backend);
  if (!world.is_root()) return;
  EXPECT_EQ(result.totals.wrong_checks, 2u) << "out of place, of two sizes, on one rank";
  ASSERT_EQ(result.log.rows.size(), 2u);
  for (const Row& row : result.log.rows) {
    EXPECT_EQ(row.out_of_place->wrong, 1u) << "elements, however many epochs found them";
    EXPECT_EQ(row.in_place->wrong, 0u);
  }
  ASSERT_EQ(result.totals.notes.size(), 2u);
  const std::string culprit = "rank " + std::to_string(world.size() - 1) + ": first at element 3:";
  EXPECT_NE(result.totals.notes[0].find(culprit), std::string::npos) << result.totals.notes[0];
}

TEST(WrongData, IsNotLookedForWithoutChecks) {
  const mpi::Communicator world = mpi::Communicator::world();
  WrongBackend backend(world);
  Options options = quick();
  options.checks = 0;
  const Result result = run(options, {64}, &backend);
  EXPECT_EQ(result.totals.wrong_checks, 0u);
  for (const Row& row : result.log.rows) EXPECT_FALSE(row.out_of_place->wrong.has_value());
}

}  // namespace
}  // namespace fabricbench
