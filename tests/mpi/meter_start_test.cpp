// Isolated timing: starts agreed on by the common clock, late starts, and the barrier where the clock is no use.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kStarts = 10;

class Isolated : public ScriptedJob {
 protected:
  /// All samples are what an operation takes, up to the reading that notices the agreed start, and the one that ends
  /// the operation.
  static void expect_samples_of_common_starts(const Epoch& epoch, std::size_t count, Seconds operation) {
    EXPECT_TRUE(epoch.common_start);
    ASSERT_EQ(epoch.samples.size(), mpi::Communicator::world().is_root() ? count : 0u);
    EXPECT_EQ(epoch.slowest_ranks.size(), epoch.samples.size());
    for (const Seconds sample : epoch.samples) {
      EXPECT_GE(sample, operation + kReading - kRounding);
      EXPECT_LE(sample, operation + 2 * kReading + kRounding);
    }
  }
};

TEST_F(Isolated, SamplesAreThoseOfTheSlowestRank) {
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 1, .samples = kStarts});
  expect_samples_of_common_starts(epoch, kStarts, kSlowest);
  EXPECT_EQ(epoch.slowest_ranks, std::vector<int>(epoch.samples.size(), rig.world.size() - 1));
  EXPECT_EQ(epoch.late, 0);
  EXPECT_EQ(epoch.clock_error, 0) << "all ranks share one clock";
  EXPECT_EQ(sleeper.starts, 1 + kStarts);
}

TEST_F(Isolated, AggregatesAreThoseAskedFor) {
  const mpi::Communicator world = mpi::Communicator::world();
  const Seconds fastest = -world.max(-time_of(world));
  const struct {
    RankAggregate aggregate;
    Seconds expected;
  } cases[] = {{RankAggregate::kMin, fastest},
               {RankAggregate::kRank0, world.broadcast(time_of(world))},
               {RankAggregate::kMax, kSlowest}};
  for (const auto& [aggregate, expected] : cases) {
    Options options = options_for(Timing::kIsolated);
    options.average = aggregate;
    IdleSession session;
    Rig rig(options, session);
    const Sleeper sleeper(time_of(rig.world));
    Operation operation = rig.operation(sleeper);
    const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = 3});
    // -a min takes all samples, those of late starts too: there are none here.
    expect_samples_of_common_starts(epoch, 3, expected);
  }
}

TEST_F(Isolated, ASampleIsOneOperationsShareOfItsAggregate) {
  Options options = options_for(Timing::kIsolated);
  options.aggregated = 3;
  IdleSession session;
  Rig rig(options, session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = 3});
  ASSERT_EQ(epoch.samples.size(), rig.world.is_root() ? 3u : 0u);
  for (const Seconds sample : epoch.samples) {
    EXPECT_GE(sample, kSlowest + kReading / 3 - kRounding);
    EXPECT_LE(sample, kSlowest + 2 * kReading / 3 + kRounding);
  }
}

/// Where something keeps a rank from starting an operation.
struct HoldUp {
  Seconds time = 1e-3;
  int readings = 0;  // of the clock by then, since the rank was told when to start
};

/// Runs another collective; holds this rank up before those operations of which `is_late` says so, from 0.
class LateStarter final : public AllReduce {
 public:
  LateStarter(test::JobClock& clock, const Collective& collective, std::function<bool(int)> is_late,
              HoldUp hold_up = {})
      : clock_(clock), collective_(collective), is_late_(std::move(is_late)), hold_up_(hold_up) {
    clock_.when_met([this] {
      ++met_;
      readings_ = 0;
    });
    clock_.when_reading([this](int) {
      constexpr int kTold = 2;  // in a barrier ranks come together, and then they agree on the start
      if (met_ == kTold && readings_++ == hold_up_.readings && is_late_(starts)) clock_.advance(hold_up_.time);
    });
  }
  ~LateStarter() override {
    clock_.when_met(nullptr);
    clock_.when_reading(nullptr);
  }
  void start(Backend& backend, const Operands& operands) const override {
    collective_.start(backend, operands);
    ++starts;
    met_ = 0;
  }

  mutable int starts = 0;

 private:
  test::JobClock& clock_;
  const Collective& collective_;
  std::function<bool(int)> is_late_;
  HoldUp hold_up_;
  mutable int met_ = 0;
  int readings_ = 0;
};

/// Three of the last rank's operations begin late; they take so long that none of their samples goes unnoticed.
TEST_F(Isolated, LateStartsAreLeftOutAndCounted) {
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  const Seconds slack = rig.meter.slack();
  const bool is_last = rig.world.rank() == rig.world.size() - 1;
  const Sleeper sleeper([](int start) { return start % 3 == 2 ? kSlowest : kFastest; });
  const LateStarter collective(clock_, sleeper, [&](int start) { return is_last && start % 3 == 2; });
  Operation operation = rig.operation(collective);
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = kStarts});
  expect_samples_of_common_starts(epoch, kStarts - 3, kFastest);
  EXPECT_EQ(epoch.late, rig.world.is_root() ? 3 : 0);
  EXPECT_NEAR(rig.meter.slack(), 1.5 * slack, kRounding) << "more time, for so many are late";
}

/// A rank that comes in time and loses its processor while it waits may begin a little after the agreed moment.
TEST_F(Isolated, StartsMayBeFiveMicrosecondsLate) {
  for (const Seconds behind : {3e-6, 6e-6}) {
    IdleSession session;
    Rig rig(options_for(Timing::kIsolated), session);
    const bool is_last = rig.world.rank() == rig.world.size() - 1;
    const Sleeper sleeper(kFastest);
    // Two readings and the call come between the moment to which the slack is added and the end of the hold-up.
    const HoldUp hold_up{.time = rig.meter.slack() - kCall - 2 * kReading + behind, .readings = 1};
    const LateStarter collective(
        clock_, sleeper, [&](int start) { return is_last && start == 1; }, hold_up);
    Operation operation = rig.operation(collective);
    const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = 4});
    const bool is_late = behind > 5e-6;
    EXPECT_TRUE(epoch.common_start);
    if (!rig.world.is_root()) continue;
    EXPECT_EQ(epoch.late, is_late ? 1 : 0);
    ASSERT_EQ(epoch.samples.size(), is_late ? 3u : 4u);
    if (!is_late) {
      EXPECT_NEAR(epoch.samples[1], behind + kFastest + kReading, kRounding) << "its delay counts";
    }
  }
}

/// One that comes after the agreed moment is late, however little.
TEST_F(Isolated, WhoComesAfterTheAgreedMomentIsLate) {
  for (const Seconds behind : {-3e-6, 3e-6}) {
    IdleSession session;
    Rig rig(options_for(Timing::kIsolated), session);
    const bool is_last = rig.world.rank() == rig.world.size() - 1;
    const Sleeper sleeper(kFastest);
    const HoldUp hold_up{.time = rig.meter.slack() - kCall - kReading + behind, .readings = 0};
    const LateStarter collective(
        clock_, sleeper, [&](int start) { return is_last && start == 1; }, hold_up);
    Operation operation = rig.operation(collective);
    const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = 4});
    EXPECT_EQ(epoch.late, rig.world.is_root() && behind > 0 ? 1 : 0) << behind;
  }
}

/// The clock is used while not more than half of the starts are late.
TEST_F(Isolated, HalfOfTheStartsMayBeLate) {
  for (const int late : {5, 6}) {
    IdleSession session;
    Rig rig(options_for(Timing::kIsolated), session);
    const bool is_last = rig.world.rank() == rig.world.size() - 1;
    const Sleeper sleeper(kFastest);
    const LateStarter collective(clock_, sleeper, [&](int start) { return is_last && start < late; });
    Operation operation = rig.operation(collective);
    const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = kStarts});
    EXPECT_EQ(epoch.common_start, late == 5);
    EXPECT_EQ(epoch.late, rig.world.is_root() && late == 5 ? 5 : 0);
  }
}

using Fallback = Isolated;

/// The last rank is late every time it is to start by the clock.
struct Hopeless {
  Hopeless(test::JobClock& clock, Rig& rig, const Collective& collective)
      : late(clock, collective, [&rig](int) { return rig.world.rank() == rig.world.size() - 1; }) {}
  LateStarter late;
};

TEST_F(Fallback, HopelesslyLateRanksStartByABarrier) {
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  const Sleeper sleeper(time_of(rig.world));
  const Hopeless hopeless(clock_, rig, sleeper);
  Operation operation = rig.operation(hopeless.late);
  VisitPlan plan{.warmup = 1, .samples = 4};
  Epoch epoch = rig.meter.measure(operation, plan);
  EXPECT_FALSE(epoch.common_start) << "on every rank, for all must do the same next time";
  EXPECT_EQ(hopeless.late.starts, 2 * (1 + 4)) << "by the clock, and again by a barrier";
  ASSERT_EQ(epoch.samples.size(), rig.world.is_root() ? 4u : 0u);
  EXPECT_EQ(epoch.late, 0) << "none of the samples kept began by the clock";
  for (const Seconds sample : epoch.samples) EXPECT_NEAR(sample, kSlowest + kReading, kRounding);

  plan.common_start = epoch.common_start;
  epoch = rig.meter.measure(operation, plan);
  EXPECT_FALSE(epoch.common_start);
  EXPECT_EQ(hopeless.late.starts, 3 * (1 + 4)) << "the clock is not tried again";
}

/// Every rank reads a clock of its own, and each reading on ranks other than 0 takes three milliseconds.
constexpr Seconds kLongReading = 3e-3;

mpi::CommonClock::Clock inexact_clock(int rank) {
  return [rank] {
    if (rank != 0) sleep_for(kLongReading);
    return now();
  };
}

/// Its error may be a tenth of what an operation takes.
TEST_F(Fallback, AClockTooInexactForTheOperationIsNotUsed) {
  const mpi::Communicator world = mpi::Communicator::world();
  if (world.size() == 1) GTEST_SKIP() << "one rank has no error";
  Seconds error = 0;
  for (const double errors : {0.0, 9.8, 10.2}) {
    IdleSession session;
    Rig rig(options_for(Timing::kIsolated), session, inexact_clock(world.rank()), false);
    const Sleeper sleeper(errors * error);
    Operation operation = rig.operation(sleeper);
    const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = 5});
    EXPECT_EQ(epoch.common_start, errors > 10) << "an operation of " << errors << " errors";
    error = epoch.clock_error;
    const Seconds of_a_ping_pong = (kLongReading + 2 * kCall + 2 * kReading) / 2;
    const double hops = world.size() > 3 ? 2 : 1;
    EXPECT_GE(error, hops * kLongReading / 2) << "half a round trip for each step down the tree";
    EXPECT_LE(error, hops * (of_a_ping_pong + kLongReading / 2));
  }
}

/// After the fallback as before it, a single in-place operation leaves a defined result: it ran once on fresh data.
TEST_F(Fallback, LeavesTheResultOfOneInPlaceOperation) {
  const mpi::Communicator world = mpi::Communicator::world();
  mpi::MpiSession session(world);
  Rig rig(options_for(Timing::kIsolated), session);
  const AllReduce all_reduce;
  const Hopeless hopeless(clock_, rig, all_reduce);
  Operation operation = rig.operation(hopeless.late, true);
  EXPECT_FALSE(rig.meter.measure(operation, {.warmup = 0, .samples = 1}).common_start);
  ASSERT_TRUE(operation.last_result_is_defined(1));
  const auto wrong = operation.check(1);
  EXPECT_FALSE(wrong) << "expected " << wrong->first.expected << ", got " << wrong->first.got;
}

/// The operations of the second attempt do not run on into the guard zone behind those of the first.
TEST_F(Fallback, KeepsRotatingBuffersWithinTheirBounds) {
  Options options = options_for(Timing::kIsolated);
  options.buffers = BufferPolicy::kRotate;
  const mpi::Communicator world = mpi::Communicator::world();
  mpi::MpiSession session(world);
  Rig rig(options, session);
  const AllReduce all_reduce;
  const Hopeless hopeless(clock_, rig, all_reduce);
  Operation operation = rig.operation(hopeless.late);
  EXPECT_FALSE(rig.meter.measure(operation, {.warmup = 1, .samples = 4}).common_start);
  const auto wrong = operation.check(1 + 4);
  EXPECT_FALSE(wrong) << "expected " << wrong->first.expected << ", got " << wrong->first.got;
}

/// On a busy host processes wait for a processor when they meet, which a sample then takes, too.
TEST_F(Isolated, EstimateHasTheWaitForTheStart) {
  constexpr Seconds kWait = 20e-3;
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  const Sleeper sleeper(kFastest);
  Operation operation = rig.operation(sleeper);
  clock_.when_met([this] { clock_.advance(kWait); });
  const Seconds estimate = rig.meter.estimate(operation, 3);
  EXPECT_GE(estimate, kWait);
  EXPECT_EQ(rig.world.broadcast(estimate), estimate);
  clock_.when_met(nullptr);
}

/// It begins at 50 us and follows what eight rounds of starts show.
class Slack : public Isolated {
 protected:
  static Seconds first_slack() {
    IdleSession session;
    const Rig rig(options_for(Timing::kIsolated), session);
    return rig.meter.slack();
  }
};

TEST_F(Slack, ShrinksWhereNoStartIsLate) { EXPECT_NEAR(first_slack(), 50e-6 * std::pow(0.9, 8), kRounding); }

TEST_F(Slack, ShrinksToTenMicroseconds) {
  IdleSession session;
  Rig rig(options_for(Timing::kIsolated), session);
  const Sleeper sleeper(kFastest);
  Operation operation = rig.operation(sleeper);
  for (int i = 0; i < 9; ++i) (void)rig.meter.measure(operation, {.warmup = 0, .samples = 1});
  EXPECT_NEAR(rig.meter.slack(), 10e-6, kRounding);
}

TEST_F(Slack, GrowsToTenMillisecondsWhileStartsAreLate) {
  clock_.when_met([this] { clock_.advance(1); });
  EXPECT_NEAR(first_slack(), 10e-3, kRounding);
}

/// More than eight rounds only while that is too little.
TEST_F(Slack, GrowsUntilStartsAreInTime) {
  clock_.when_met([this] { clock_.advance(2e-3); });
  EXPECT_NEAR(first_slack(), 50e-6 * std::pow(1.5, 10) * 0.9, kRounding);
}

}  // namespace
}  // namespace fabricbench
