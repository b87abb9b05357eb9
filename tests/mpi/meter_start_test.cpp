// Isolated timing: starts agreed on by the common clock, late starts, and the barrier where the clock is no use.
// This program reads a clock of its own. It runs a thousand times slower than time, so that what a busy machine does
// to a rank counts for little, and it can hold a rank up between two operations, or stand still.

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <optional>
#include <vector>

#include "common/core/statistics.h"
#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr double kSlowdown = 1000;
constexpr Seconds kHoldUp = 0.1;  // 100 us to this clock; the slack begins at half of that
constexpr std::int64_t kSamples = 10;
constexpr int kTries = 8;  // the slack grows by half when starts are late

/// So long to the clock of this program.
constexpr Seconds slowed(Seconds time) { return time / kSlowdown; }

/// What the clock of this program does besides showing the time.
struct {
  bool holds_up = false;  // every reading but the next one takes kHoldUp: the next one ends the last operation
  int readings = 0;
  std::optional<Seconds> standing;
} test_clock;

void hold_up_next_start(bool yes) {
  test_clock.holds_up = yes;
  test_clock.readings = 0;
}

/// Runs another collective; holds this rank up before those operations of which `is_late` says so, from 0.
class LateStarter final : public AllReduce {
 public:
  LateStarter(const Collective& collective, std::function<bool(int)> is_late)
      : collective_(collective), is_late_(std::move(is_late)) {
    hold_up_next_start(is_late_(0));
  }
  void start(Backend& backend, const Operands& operands) const override {
    hold_up_next_start(false);
    collective_.start(backend, operands);
    ++starts;
    hold_up_next_start(is_late_(starts));
  }
  ~LateStarter() override { hold_up_next_start(false); }

  mutable int starts = 0;

 private:
  const Collective& collective_;
  std::function<bool(int)> is_late_;
};

}  // namespace

Seconds now() {
  if (test_clock.standing) return *test_clock.standing;
  if (test_clock.holds_up && test_clock.readings++ > 0) sleep(kHoldUp);
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return slowed(static_cast<Seconds>(time.tv_sec) + 1e-9 * static_cast<Seconds>(time.tv_nsec));
}

void sleep_for(Seconds time) { sleep(time); }

namespace {

constexpr VisitPlan kPlan{.warmup = 1, .samples = kSamples};

/// Measures until most operations of an epoch were started by the common clock; nothing where that never was.
/// Collective.
std::optional<Epoch> measure_by_clock(Rig& rig, Operation& operation, const VisitPlan& plan = kPlan) {
  for (int i = 0; i < kTries; ++i) {
    Epoch epoch = rig.meter.measure(operation, plan);
    if (epoch.common_start) return epoch;
  }
  return std::nullopt;
}

TEST(Isolated, SamplesAreThoseOfTheSlowestRank) {
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  const auto epoch = measure_by_clock(rig, operation);
  ASSERT_TRUE(epoch.has_value());
  if (!rig.world.is_root()) {
    EXPECT_TRUE(epoch->samples.empty());
    return;
  }
  const auto samples = static_cast<std::int64_t>(epoch->samples.size());
  EXPECT_EQ(samples + epoch->late, kSamples);
  EXPECT_EQ(epoch->slowest_ranks.size(), epoch->samples.size());
  EXPECT_GE(*std::min_element(epoch->samples.begin(), epoch->samples.end()), slowed(kSlowest));
  EXPECT_LE(median(epoch->samples), 3 * slowed(kSlowest));
  const auto last = std::count(epoch->slowest_ranks.begin(), epoch->slowest_ranks.end(), rig.world.size() - 1);
  EXPECT_GT(last, samples / 2);
  EXPECT_EQ(epoch->clock_error, 0) << "all ranks share one clock";
}

TEST(Isolated, AggregatesAreOrdered) {
  std::vector<Seconds> medians;
  for (const RankAggregate aggregate : {RankAggregate::kMin, RankAggregate::kRank0, RankAggregate::kMax}) {
    Options options = options_for(Timing::kIsolated);
    options.average = aggregate;
    IdleSession session;
    Rig rig(options, session);
    const Sleeper sleeper(time_of(rig.world));
    Operation operation = rig.operation(sleeper);
    const auto epoch = measure_by_clock(rig, operation);
    ASSERT_TRUE(epoch.has_value());
    if (rig.world.is_root()) medians.push_back(median(epoch->samples));
    if (rig.world.size() == 1) return;
  }
  if (medians.empty()) return;
  EXPECT_LT(medians[0], slowed(kSlowest));
  EXPECT_LT(medians[1], slowed(kSlowest));
  EXPECT_GE(medians[1], slowed(kRank0));
  EXPECT_GE(medians[2], slowed(kSlowest));
}

TEST(Isolated, ASampleIsOneOperationsShareOfItsAggregate) {
  Options options = options_for(Timing::kIsolated);
  options.aggregated = 3;
  IdleSession session;
  Rig rig(options, session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  const auto epoch = measure_by_clock(rig, operation, {.warmup = 0, .samples = 3});
  ASSERT_TRUE(epoch.has_value());
  for (const Seconds sample : epoch->samples) EXPECT_GE(sample, slowed(kSlowest));
  if (rig.world.is_root()) {
    EXPECT_LE(median(epoch->samples), 3 * slowed(kSlowest));
  }
}

/// Three of the last rank's operations begin late; they take so long that none of their samples goes unnoticed.
TEST(Isolated, LateStartsAreLeftOutAndCounted) {
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  constexpr Seconds kLong = 0.2;
  std::optional<Epoch> epoch;
  for (int i = 0; i < kTries && !epoch; ++i) {
    const auto is_late = [&](int start) { return rig.world.rank() == rig.world.size() - 1 && start % 3 == 2; };
    const Sleeper sleeper(0);
    const Sleeper slow(kLong);
    int starts = 0;
    struct Choose final : AllReduce {
      void start(Backend& backend, const Operands& operands) const override { pick().start(backend, operands); }
      std::function<const Collective&()> pick;
    } either;
    either.pick = [&]() -> const Collective& { return starts++ % 3 == 2 ? slow : sleeper; };
    const LateStarter collective(either, is_late);
    Operation operation = rig.operation(collective);
    Epoch measured = rig.meter.measure(operation, {.warmup = 0, .samples = kSamples});
    if (measured.common_start) epoch = std::move(measured);
  }
  ASSERT_TRUE(epoch.has_value());
  if (!rig.world.is_root()) return;
  EXPECT_GE(epoch->late, 3);
  EXPECT_EQ(static_cast<std::int64_t>(epoch->samples.size()) + epoch->late, kSamples);
  for (const Seconds sample : epoch->samples) EXPECT_LT(sample, slowed(kLong));
}

/// The last rank is late every time it is to start by the clock.
struct Hopeless {
  Hopeless(Rig& rig, const Collective& collective)
      : late(collective, [&rig](int) { return rig.world.rank() == rig.world.size() - 1; }) {}
  LateStarter late;
};

TEST(Fallback, HopelesslyLateRanksStartByABarrier) {
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  const Sleeper sleeper(time_of(rig.world));
  const Hopeless hopeless(rig, sleeper);
  Operation operation = rig.operation(hopeless.late);
  VisitPlan plan{.warmup = 1, .samples = 4};
  Epoch epoch = rig.meter.measure(operation, plan);
  EXPECT_FALSE(epoch.common_start) << "on every rank, for all must do the same next time";
  EXPECT_EQ(epoch.samples.size(), rig.world.is_root() ? 4u : 0u);
  EXPECT_EQ(epoch.late, 0) << "none of the samples kept began by the clock";
  for (const Seconds sample : epoch.samples) EXPECT_GE(sample, slowed(kSlowest));

  plan.common_start = epoch.common_start;
  const int before = hopeless.late.starts;
  epoch = rig.meter.measure(operation, plan);
  EXPECT_FALSE(epoch.common_start);
  EXPECT_EQ(hopeless.late.starts - before, 1 + 4) << "the clock is not tried again";
}

constexpr Seconds kReading = 3e-3;

/// Every rank reads a clock of its own, and each reading on ranks other than 0 takes three milliseconds.
mpi::CommonClock::Clock inexact_clock(int rank) {
  return [rank] {
    if (rank != 0) sleep(kReading);
    return now();
  };
}

TEST(Fallback, AClockTooInexactForTheOperationIsNotUsed) {
  const mpi::Communicator world = mpi::Communicator::world();
  if (world.size() == 1) GTEST_SKIP() << "one rank has no error";
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session, inexact_clock(world.rank()), false);
  const Sleeper sleeper(0);
  Operation operation = rig.operation(sleeper);
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = 5});
  EXPECT_FALSE(epoch.common_start) << "its error is more than a tenth of an operation that does nothing";
  EXPECT_GE(epoch.clock_error, slowed(kReading / 2));
}

TEST(Fallback, AClockExactEnoughForTheOperationIsUsed) {
  const mpi::Communicator world = mpi::Communicator::world();
  if (world.size() == 1) GTEST_SKIP() << "one rank has no error";
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session, inexact_clock(world.rank()), false);
  const Sleeper sleeper(0.1);
  Operation operation = rig.operation(sleeper);
  const auto epoch = measure_by_clock(rig, operation, {.warmup = 0, .samples = 3});
  ASSERT_TRUE(epoch.has_value());
  EXPECT_GE(epoch->clock_error, slowed(kReading / 2));
  // To rank 0 the others may seem to end sooner than they do, by as much as their clocks are off.
  for (const Seconds sample : epoch->samples) EXPECT_GE(sample, slowed(0.1 / 3));
}

/// After the fallback as before it, a single in-place operation leaves a defined result: it ran once on fresh data.
TEST(Fallback, LeavesTheResultOfOneInPlaceOperation) {
  const mpi::Communicator world = mpi::Communicator::world();
  mpi::MpiSession session(world);
  Rig rig(options_for(Timing::kIsolated), session);
  const AllReduce all_reduce;
  const Hopeless hopeless(rig, all_reduce);
  Operation operation = rig.operation(hopeless.late, true);
  EXPECT_FALSE(rig.meter.measure(operation, {.warmup = 0, .samples = 1}).common_start);
  ASSERT_TRUE(operation.last_result_is_defined(1));
  const auto wrong = operation.check(1);
  EXPECT_FALSE(wrong) << "expected " << wrong->first.expected << ", got " << wrong->first.got;
}

/// The operations of the second attempt do not run on into the guard zone behind those of the first.
TEST(Fallback, KeepsRotatingBuffersWithinTheirBounds) {
  Options options = options_for(Timing::kIsolated);
  options.buffers = BufferPolicy::kRotate;
  const mpi::Communicator world = mpi::Communicator::world();
  mpi::MpiSession session(world);
  Rig rig(options, session);
  const AllReduce all_reduce;
  const Hopeless hopeless(rig, all_reduce);
  Operation operation = rig.operation(hopeless.late);
  EXPECT_FALSE(rig.meter.measure(operation, {.warmup = 1, .samples = 4}).common_start);
  const auto wrong = operation.check(1 + 4);
  EXPECT_FALSE(wrong) << "expected " << wrong->first.expected << ", got " << wrong->first.got;
}

/// While the clock stands still no start is late, and rank 0 shortens the time it allows for them.
TEST(StartCost, FollowsTheSlackThatRank0Uses) {
  test_clock.standing = 1000;
  IdleSession session;
  const Rig rig(options_for(Timing::kIsolated), session);
  test_clock.standing.reset();
  EXPECT_GT(rig.meter.start_cost(), 0);
  EXPECT_LT(rig.meter.start_cost(), 50e-6) << "eight rounds without a late start shorten 50 us to 22 us";
  EXPECT_EQ(rig.world.broadcast(rig.meter.start_cost()), rig.meter.start_cost());
}

}  // namespace
}  // namespace fabricbench
