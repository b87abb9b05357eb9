// What a run measures, in which order, when it stops, and what it says of wrong data: as the sinks see it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench_support.h"
#include "common/measure/message_test.h"

namespace fabricbench {
namespace {

using MeasuredCase = std::pair<Bytes, bool>;  // size, and whether in place

/// MPI, except that on the last rank of a group one element of every out-of-place all-reduce is wrong.
class WrongSession final : private test::IdleBackend, public test::HostSession {
 public:
  explicit WrongSession(const mpi::Communicator& group)
      : HostSession(*static_cast<Backend*>(this)), backend_(group), is_last_(group.rank() == group.size() - 1) {}
  void all_reduce(const void* send, void* recv, std::size_t count, DataType type, Reduction reduction) override {
    backend_.all_reduce(send, recv, count, type, reduction);
    if (is_last_ && send != recv) static_cast<std::byte*>(recv)[3 * sizeof(float)] ^= std::byte{1};
  }

 private:
  mpi::MpiBackend backend_;
  bool is_last_;
};

/// Every time it is asked, its rank has sent rank + 1 segments more again, and missed as many messages; and its stream,
/// of the first rank, has carried 1000 bytes more in 0.5 s.
class LosingSession final : private test::IdleBackend, public test::HostSession {
 public:
  explicit LosingSession(int rank) : HostSession(*static_cast<Backend*>(this)), rank_(rank) {}
  [[nodiscard]] TransportCounters counters() const override {
    const std::uint64_t count = ++times_asked_ * static_cast<std::uint64_t>(rank_ + 1);
    TransportCounters counted{.retransmitted_segments = count, .lost_messages = count};
    counted.messages_by_queue_pair = {count, 3 * count};
    if (rank_ > 0) return counted;
    counted.background_bytes = 1000 * count;
    counted.background_time = 0.5 * static_cast<double>(count);
    return counted;
  }

 private:
  int rank_;
  mutable std::uint64_t times_asked_ = 0;
};

/// Ranks of NCCL, which connects them in their first operation.
class NcclSession final : public IdleSession {
 public:
  explicit NcclSession(int local_ranks) : IdleSession(0, local_ranks) {}
  [[nodiscard]] int nccl_version() const override { return 22809; }
};

/// All-reduce that remembers its starts.
class Recorder final : public AllReduce {
 public:
  void start(Backend& backend, const Operands& operands) const override {
    starts.emplace_back(operands.count * sizeof(float), operands.send == operands.recv);
    AllReduce::start(backend, operands);
  }
  mutable std::vector<MeasuredCase> starts;
};

const std::vector<Bytes> kSizes{16, 64, 256};

struct RecordedResult : Result {
  std::vector<MeasuredCase> starts;
};

RecordedResult run(const Options& options, const std::vector<Bytes>& sizes = kSizes) {
  const mpi::Communicator world = mpi::Communicator::world();
  mpi::MpiSession session(world);
  const Recorder all_reduce;
  RecordedResult result{run(options, session, all_reduce, cases_of(sizes)), {}};
  result.starts = all_reduce.starts;
  return result;
}

/// Epochs that start each operation exactly once.
Options one_start_a_visit(std::uint64_t seed) {
  Options options = quick(seed);
  options.time_budget = 1e-9;
  options.warmup = 0;
  options.given = {{.key = "warmup_iters", .name = "--warmup_iters"}, {.key = "epochs", .name = "--epochs"}};
  options.checks = 0;
  return options;
}

/// The orders in which nine such epochs visited the subjects; what was started before them made the plan.
std::vector<std::vector<MeasuredCase>> orders_of(std::uint64_t seed) {
  const std::size_t measured_cases = 2 * kSizes.size();
  const std::vector<MeasuredCase> starts = run(one_start_a_visit(seed)).starts;
  std::vector<std::vector<MeasuredCase>> orders;
  for (auto first = starts.end() - static_cast<std::ptrdiff_t>(9 * measured_cases); first != starts.end();) {
    const auto end = first + static_cast<std::ptrdiff_t>(measured_cases);
    orders.emplace_back(first, end);
    first = end;
  }
  return orders;
}

using Interleaved = BenchTest;
using InOrder = BenchTest;
using Stopping = BenchTest;
using WrongData = BenchTest;
using Losses = BenchTest;

TEST_F(Interleaved, EveryEpochVisitsEverySubject) {
  for (const auto& order : orders_of(1)) {
    EXPECT_EQ(std::set<MeasuredCase>(order.begin(), order.end()).size(), 2 * kSizes.size());
  }
}

TEST_F(Interleaved, TheOrderFollowsFromTheSeed) {
  const auto one = orders_of(7);
  EXPECT_EQ(one, orders_of(7));
  EXPECT_NE(one, orders_of(8));
  EXPECT_EQ(std::set(one.begin(), one.end()).size(), one.size()) << "every epoch in an order of its own";
}

TEST_F(Interleaved, ReportsEveryEpochOfEverySubject) {
  const Result result = run(quick());
  const Log& log = result.log;
  if (log.epochs.empty()) return;  // not rank 0
  ASSERT_EQ(log.epochs.size(), std::size_t{18} * kSizes.size());
  for (std::size_t i = 0; i < log.epochs.size(); ++i) {
    EXPECT_EQ(log.epochs[i].epoch, static_cast<std::int64_t>(i / (2 * kSizes.size()))) << "one epoch after the other";
    EXPECT_GT(log.epochs[i].median, 0);
    EXPECT_GT(log.epochs[i].samples, 0);
  }
  EXPECT_TRUE(std::is_sorted(log.is_row.begin(), log.is_row.end())) << "no row before the last epoch";
}

TEST_F(Interleaved, RowsAreInTheOrderGivenWithBothPlacements) {
  const Result result = run(quick());
  EXPECT_EQ(result.wrong_checks, 0u);
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

TEST_F(InOrder, EachRowFollowsItsEpochs) {
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

TEST_F(InOrder, ExactIterationsAreOneEpoch) {
  for (const Timing timing : {Timing::kPipelined, Timing::kIsolated}) {
    Options options = quick();
    options.timing = timing;
    options.iterations = 20;
    const Result result = run(options);
    for (const Row& row : result.log.rows) {
      EXPECT_EQ(row.out_of_place->summary.epochs, 1);
      EXPECT_EQ(row.out_of_place->summary.late, 0);
      EXPECT_EQ(row.out_of_place->iterations, 20);
      EXPECT_FALSE(row.out_of_place->summary.interval) << "one epoch gives no interval";
    }
  }
}

TEST_F(InOrder, TheFirstOperationIsUntimedEvenWithoutWarmUp) {
  Options options = quick();
  options.iterations = 20;
  options.checks = 0;
  for (const std::int64_t warmup : {0, 3}) {
    options.warmup = warmup;
    const RecordedResult result = run(options);
    EXPECT_EQ(result.starts.size(),
              2 * kSizes.size() * static_cast<std::size_t>(20 + std::max<std::int64_t>(warmup, 1)));
    for (const Row& row : result.log.rows) EXPECT_EQ(row.out_of_place->iterations, 20);
  }
}

/// How much longer than the limit each operation may take, as its first rank in this process sees it.
std::vector<Seconds> allowances(int local_ranks) {
  NcclSession session(local_ranks);
  Options options = quick();
  options.iterations = 3;
  options.warmup = 1;
  options.checks = 0;
  Rig rig(options, session);
  std::vector<Seconds> seen;
  const Sleeper sleeper([&](int start) {
    if (start % local_ranks == 0) seen.push_back(rig.heartbeat.longer_s());
    return 0.0;
  });
  Outputs outputs;
  measure_cases(rig, sleeper, cases_of({16, 64}), outputs);
  return seen;
}

TEST_F(InOrder, ManyRanksOfNcclConnectInAnOperationOfTheirOwn) {
  const int processes = mpi::Communicator::world().size();
  const std::size_t operations = 4 * 4;  // of both sizes, out of place and in place
  EXPECT_EQ(allowances(63 / processes), std::vector<Seconds>(operations, 0));
  const int local = (63 + processes) / processes;
  std::vector<Seconds> expected(operations + 1, 0);
  expected.front() = 3.0 * local * processes;
  EXPECT_EQ(allowances(local), expected);
}

std::pair<std::int64_t, std::int64_t> fewest_and_most_epochs(const std::vector<Row>& rows) {
  std::vector<std::int64_t> epochs;
  for (const Row& row : rows) {
    for (const auto& measured : {row.out_of_place, row.in_place}) epochs.push_back(measured->summary.epochs);
  }
  return {*std::min_element(epochs.begin(), epochs.end()), *std::max_element(epochs.begin(), epochs.end())};
}

/// Runs whose operations take a little longer from time to time, so that no two epochs agree.
class Budget : public BenchTest {
 protected:
  static Result run_uneven(Options options, const std::vector<Bytes>& sizes) {
    IdleSession session;
    const Sleeper sleeper([](int start) { return 1e-3 + 20e-6 * (start / 100 % 7); });
    options.checks = 0;
    return run(options, session, sleeper, cases_of(sizes));
  }
};

TEST_F(Budget, EpochsAreSpreadOverTime) {
  Options options = quick();
  options.time_budget = 1;
  const Result result = run_uneven(options, {64});
  const Seconds least = 9 * 0.3 * options.time_budget;
  EXPECT_GE(result.took, least) << "nine epochs, each 0.3 of the budget at least";
  EXPECT_LE(result.took, 1.5 * least) << "each ends with a round of visits, which take a tenth of the budget";
  for (const Row& row : result.log.rows) EXPECT_EQ(row.in_place->summary.epochs, 9);
}

/// Each measurement has the budget. That of a single size has to fill the epochs by itself, and may spend as much as
/// eighteen of them have to last.
TEST_F(Budget, EpochsAreAddedUntilItIsSpent) {
  Options options = quick();
  options.target_precision_percent = 0;  // more than can be had
  options.time_budget = 1;
  for (const std::vector<Bytes>& sizes : {std::vector<Bytes>{64}, kSizes}) {
    const Result result = run_uneven(options, sizes);
    if (result.log.rows.empty()) continue;
    const auto [fewest, most] = fewest_and_most_epochs(result.log.rows);
    const auto measured_cases = 2 * static_cast<double>(sizes.size());
    const Seconds to_spend = std::max(measured_cases * options.time_budget, 2 * 9 * 0.3 * options.time_budget);
    EXPECT_EQ((fewest - 9) % 3, 0) << "an interval is judged after three more";
    EXPECT_EQ(most, sizes.size() == 1 ? 15 : 18);
    EXPECT_GE(result.took, to_spend);
    EXPECT_LT(result.took * static_cast<double>(fewest - 3) / static_cast<double>(most), to_spend) << "not before";
    EXPECT_NE(result.precision.find("for 0 of " + std::to_string(2 * sizes.size())), std::string::npos)
        << result.precision;
    const std::string epochs = "; " + std::to_string(fewest) + " to " + std::to_string(most) + " epochs";
    EXPECT_NE(result.precision.find(epochs), std::string::npos) << result.precision;
  }
}

/// The times differ by some percent: more than the one precision, less than the other.
TEST_F(Budget, EndsWhereTheIntervalIsAsNarrowAsAskedFor) {
  Options options = quick();
  options.time_budget = 1;
  for (const auto& [percent, precise] : {std::pair(20.0, true), std::pair(0.1, false)}) {
    options.target_precision_percent = percent;
    const Result result = run_uneven(options, {64});
    if (result.log.rows.empty()) continue;
    EXPECT_EQ(fewest_and_most_epochs(result.log.rows).first == 9, precise) << percent << " %";
  }
}

/// Operations in all, and the epochs of each measurement.
std::pair<int, std::int64_t> spent_on(Seconds operation, Options options) {
  IdleSession session;
  const Sleeper sleeper(operation);
  options.checks = 0;
  options.time_budget = 1;
  const Result result = run(options, session, sleeper, cases_of({64}));
  return {sleeper.starts, result.log.rows.empty() ? 0 : fewest_and_most_epochs(result.log.rows).first};
}

TEST_F(Budget, LongOperationsHaveNoWarmUpAndThenFewerEpochs) {
  const bool has_rows = mpi::Communicator::world().is_root();
  constexpr int kPlacements = 2;
  // 60 ms is more than half the budget divided by nine; an epoch of 0.3 s has three visits of each placement.
  EXPECT_EQ(spent_on(0.06, quick()), (std::pair{kPlacements * (3 + 1 + 9 * 3), std::int64_t{has_rows ? 9 : 0}}));
  // Nine of 0.2 s are more than the budget, and so are six, which an interval takes; one warm-up of the estimate is
  // left.
  EXPECT_EQ(spent_on(0.2, quick()), (std::pair{kPlacements * (1 + 1 + 6), std::int64_t{has_rows ? 6 : 0}}));
  Options asked = quick();
  asked.given = {{"warmup_iters", "-w"}, {"epochs", "--epochs"}};
  EXPECT_EQ(spent_on(0.2, asked), (std::pair{kPlacements * (1 + 1 + 9 * (3 + 1)), std::int64_t{has_rows ? 9 : 0}}))
      << "what is asked for counts more";
}

/// Messages of 4 MiB over 200 Mbit/s, in windows that are answered, or that follow each other.
class SlowWindows final : public MessageTest, private Windows {
 public:
  static constexpr Seconds kMessage = 0.168;
  explicit SlowWindows(bool stream) : MessageTest({.name = "slow", .row_kind = RowKind::kBandwidth}), stream_(stream) {}
  [[nodiscard]] const Windows* windows() const override { return this; }
  void start(Backend& /*backend*/, const Operands& /*operands*/) const override { sleep_for(kMessage); }

 private:
  void finish(Backend& /*backend*/, const Operands& /*operands*/) const override {}
  void answer(Backend& /*backend*/, const Operands& /*operands*/) const override {}
  [[nodiscard]] bool are_stream() const override { return stream_; }
  [[nodiscard]] bool receives(int /*rank*/) const override { return false; }

  bool stream_;
};

Result windows_over_a_slow_link(Options options, bool stream) {
  constexpr Bytes kSize = 4 << 20;
  IdleSession session;
  const SlowWindows test(stream);
  options.aggregated = 64;
  const Case which{.size = kSize, .layout = {kSize, kSize, kSize}, .datatype = DataType::kUint8, .root = -1};
  return run(options, session, test, {which}, 2 * kSize);
}

TEST_F(Budget, WindowsOfASlowLinkShrinkAndQuickIsQuick) {
  for (const bool stream : {false, true}) {
    Options options;
    options.quick = true;
    options.epochs = 6;
    options.time_budget = 2.0 / 3;  // of three sizes
    const Result result = windows_over_a_slow_link(options, stream);
    EXPECT_LT(result.took, 3) << "and 64 messages take 10.7 s";
  }
}

TEST_F(Budget, WindowsThatAreAskedForStayUnlessTimeIsShort) {
  Options options;
  options.time_budget = 1;
  EXPECT_LT(windows_over_a_slow_link(options, false).took, 15);
  options.given = {{"window", "--window"}};
  EXPECT_GT(windows_over_a_slow_link(options, false).took, 64 * SlowWindows::kMessage);
}

/// An operation that takes longer than all of the time is run twice: for the estimate, and to be measured and checked.
TEST_F(Budget, QuickDoesNotRepeatWhatTakesTooLong) {
  IdleSession session;
  const Sleeper sleeper(10);
  Options options;
  options.quick = true;
  options.epochs = 6;
  options.time_budget = 1;
  const Result result = run(options, session, sleeper, cases_of({64}));
  EXPECT_EQ(sleeper.starts, 2 * 2);
}

/// Two operations of each placement make the estimates, and the one behind them never ends.
TEST_F(Stopping, BeforeTheFirstEpochLeavesTheEstimates) {
  constexpr Seconds kLong = 10;
  IdleSession session;
  const Sleeper sleeper([](int start) {
    if (start >= 4) throw std::runtime_error("interrupted");
    return kLong;
  });
  Options options;
  options.checks = 0;
  Rig rig(options, session);
  Log log;
  Outputs outputs;
  if (rig.world.is_root()) outputs.add(std::make_unique<LogSink>(log));
  EXPECT_THROW(measure_cases(rig, sleeper, cases_of({64}), outputs), std::runtime_error);
  static_cast<void>(outputs.abandon({}));
  ASSERT_EQ(log.rows.size(), rig.world.is_root() ? 1U : 0U);
  for (const Row& row : log.rows) {
    EXPECT_TRUE(row.cut_short);
    EXPECT_NEAR(row.out_of_place->summary.median, kLong, 1e-3);
    EXPECT_NEAR(row.in_place->summary.median, kLong, 1e-3);
    EXPECT_EQ(row.in_place->summary.epochs, 0);
  }
}

TEST_F(Stopping, MoreEpochsThanNineCanBeAskedFor) {
  Options options = quick();
  options.epochs = 15;
  const Result result = run(options, {64});
  if (result.log.rows.empty()) return;
  EXPECT_EQ(fewest_and_most_epochs(result.log.rows).first, 15);
}

TEST_F(WrongData, IsCountedOnceForEachMeasurementAndRank) {
  const mpi::Communicator world = mpi::Communicator::world();
  WrongSession session(world);
  const Result result = run(quick(), session, AllReduce(), cases_of({64, 128}));
  if (!world.is_root()) return;
  EXPECT_EQ(result.wrong_checks, 2u) << "out of place, of two sizes, on one rank";
  ASSERT_EQ(result.log.rows.size(), 2u);
  for (const Row& row : result.log.rows) {
    EXPECT_EQ(row.out_of_place->wrong, 1u) << "elements, however many epochs found them";
    EXPECT_EQ(row.out_of_place->wrong_ranks, 1u);
    EXPECT_EQ(row.in_place->wrong, 0u);
    EXPECT_EQ(row.in_place->first_wrong, "");
  }
  ASSERT_EQ(result.wrong_data.size(), 2u);
  const std::string culprit = "rank " + std::to_string(world.size() - 1) + ": first at element 3:";
  EXPECT_NE(result.wrong_data[0].find(culprit), std::string::npos) << result.wrong_data[0];
}

TEST_F(WrongData, IsNotLookedForWithoutChecks) {
  const mpi::Communicator world = mpi::Communicator::world();
  WrongSession session(world);
  Options options = quick();
  options.checks = 0;
  const Result result = run(options, session, AllReduce(), cases_of({64}));
  EXPECT_EQ(result.wrong_checks, 0u);
  for (const Row& row : result.log.rows) EXPECT_FALSE(row.out_of_place->wrong.has_value());
}

TEST_F(Losses, CountsWhatWasSentAgainDuringEachVisit) {
  const mpi::Communicator world = mpi::Communicator::world();
  Options one_visit;
  one_visit.iterations = 2;
  for (Options options : {one_visit, quick()}) {
    LosingSession session(world.rank());
    options.checks = 0;
    const Result result = run(options, session, AllReduce(), cases_of({16, 32}));
    if (!world.is_root()) continue;
    std::vector<std::uint64_t> expected;
    expected.reserve(static_cast<std::size_t>(world.size()));
    for (int rank = 0; rank < world.size(); ++rank) {
      expected.push_back(static_cast<std::uint64_t>((rank + 1) * (options.iterations ? 1 : 9)));
    }
    ASSERT_EQ(result.log.rows.size(), 2U);
    for (const Row& row : result.log.rows) {
      EXPECT_EQ(row.out_of_place->retransmitted, expected);
      EXPECT_EQ(row.in_place->retransmitted, expected);
      EXPECT_EQ(row.out_of_place->background_rate, 2000);
      const double busbw = row.out_of_place->busbw;
      EXPECT_EQ(row.out_of_place->queue_pairs, (std::vector<double>{0.25 * busbw, 0.75 * busbw}));
    }
  }
}

/// An all-reduce that counts as a stream of messages.
class Stream final : public AllReduce {
 public:
  Stream() { traits_.row_kind = RowKind::kBandwidth; }
};

TEST_F(Losses, AreNoPartOfAStreamsBandwidth) {
  const mpi::Communicator world = mpi::Communicator::world();
  Options options = one_start_a_visit(1);
  options.iterations = 1000;
  options.warmup = 500;
  options.checks = 0;
  LosingSession session(world.rank());
  const Stream stream;
  const Result result = run(options, session, stream, cases_of({16}));
  if (!world.is_root()) return;
  const double lost = world.size() * (world.size() + 1) / 2.0;
  const double sent = 1000 * stream.counted_share(world.size());
  const Measurement& measured = *result.log.rows.at(0).out_of_place;
  const double posted = 16 * stream.counted_share(world.size()) / measured.summary.median;
  EXPECT_NEAR(measured.algbw / posted, 1 - lost / sent, 1e-9);
}

/// One message is missing whenever its rank has waited for them.
class MissingSession final : private test::IdleBackend, public test::HostSession {
 public:
  MissingSession() : HostSession(*static_cast<Backend*>(this)) {}
  [[nodiscard]] TransportCounters counters() const override {
    return {.lost_messages = static_cast<std::uint64_t>(waits)};
  }
};

TEST_F(Losses, OfTheWarmUpDoNotCount) {
  const mpi::Communicator world = mpi::Communicator::world();
  Options options = one_start_a_visit(1);
  options.iterations = 1000;
  options.warmup = 5;
  options.checks = 0;
  MissingSession session;
  const Result result = run(options, session, Stream(), cases_of({16}));
  if (!world.is_root()) return;
  EXPECT_EQ(result.log.rows.at(0).out_of_place->lost, static_cast<std::uint64_t>(1000 * world.size()));
}

TEST_F(Losses, DoesNotCountWhatTheLibraryDoesNotTell) {
  const Result result = run(one_start_a_visit(1), {16});
  for (const Row& row : result.log.rows) {
    EXPECT_TRUE(row.out_of_place->retransmitted.empty());
    EXPECT_FALSE(row.out_of_place->background_rate.has_value());
    EXPECT_TRUE(row.out_of_place->queue_pairs.empty());
  }
}

}  // namespace
}  // namespace fabricbench
