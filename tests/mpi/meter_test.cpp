// Pipelined timing of operations whose length is known on every rank.

#include "common/measure/meter.h"

#include <gtest/gtest.h>

#include <vector>

#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kBatches = 9;

struct Visited {
  Epoch epoch;
  int starts;  // on this rank, warm-up included
};

Visited visit_sleepers(const Options& options, const VisitPlan& plan) {
  IdleSession session;
  Rig rig(options, session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  Epoch epoch = rig.meter.measure(operation, plan);
  return {std::move(epoch), sleeper.starts};
}

class Pipelined : public ScriptedJob {
 protected:
  /// On rank 0 all samples are what an operation takes and its share of so many readings of the clock; elsewhere there
  /// are none.
  static void expect_samples(const Epoch& epoch, std::size_t count, Seconds operation, double readings) {
    ASSERT_EQ(epoch.samples.size(), mpi::Communicator::world().is_root() ? count : 0u);
    for (const Seconds sample : epoch.samples) EXPECT_NEAR(sample, operation + readings * kReading, kRounding);
  }
};

TEST_F(Pipelined, SamplesAreThoseOfTheSlowestRank) {
  const mpi::Communicator world = mpi::Communicator::world();
  const VisitPlan plan{.warmup = 2, .samples = kBatches, .iterations = 2};
  const auto [epoch, starts] = visit_sleepers(options_for(Timing::kPipelined), plan);
  EXPECT_EQ(starts, 2 + kBatches * 2) << "warm-up and timed operations";
  EXPECT_TRUE(epoch.common_start);
  expect_samples(epoch, kBatches, kSlowest, 2.0 / 2);
  EXPECT_EQ(epoch.slowest_ranks, std::vector<int>(epoch.samples.size(), world.size() - 1));
  EXPECT_EQ(epoch.late, 0);
  EXPECT_EQ(epoch.clock_error, 0);
}

TEST_F(Pipelined, ASampleIsOneOperationsShareOfABatch) {
  Options options = options_for(Timing::kPipelined);
  options.aggregated = 3;
  const auto [epoch, starts] = visit_sleepers(options, {.warmup = 1, .samples = 5, .iterations = 2});
  EXPECT_EQ(starts, 3 * (1 + 5 * 2));
  expect_samples(epoch, 5, kSlowest, 2.0 / (3 * 2));
}

/// What -a must give for each sample.
Seconds aggregate_of(const mpi::Communicator& world, RankAggregate aggregate) {
  const Seconds own = time_of(world);
  switch (aggregate) {
    case RankAggregate::kRank0: return world.broadcast(own);
    case RankAggregate::kMin: return -world.max(-own);
    case RankAggregate::kMax: return world.max(own);
    case RankAggregate::kMean: break;
  }
  return world.all_reduce({own}, MPI_SUM).front() / world.size();
}

class Aggregates : public Pipelined, public testing::WithParamInterface<RankAggregate> {};

TEST_P(Aggregates, AreWhatTheRanksTook) {
  const mpi::Communicator world = mpi::Communicator::world();
  for (const Blocking blocking : {Blocking::kNone, Blocking::kBarrierUntimed}) {
    Options options = options_for(Timing::kPipelined);
    options.average = GetParam();
    options.blocking = blocking;
    const Epoch epoch = visit_sleepers(options, {.warmup = 0, .samples = kBatches, .iterations = 1}).epoch;
    expect_samples(epoch, kBatches, aggregate_of(world, GetParam()), blocking == Blocking::kNone ? 2 : 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Pipelined, Aggregates,
                         testing::Values(RankAggregate::kRank0, RankAggregate::kMean, RankAggregate::kMin,
                                         RankAggregate::kMax));

TEST_F(Pipelined, ATimedBarrierMakesAllRanksAsSlowAsTheSlowest) {
  Options options = options_for(Timing::kPipelined);
  options.average = RankAggregate::kMin;
  options.blocking = Blocking::kBarrierTimed;
  const Epoch epoch = visit_sleepers(options, {.warmup = 0, .samples = 3, .iterations = 2}).epoch;
  expect_samples(epoch, 3, kSlowest + kCall, 1);
}

/// -z: what follows each operation, here as the calls that a session sees.
TEST_F(Pipelined, BlockingWaitsForEachOperation) {
  for (const Blocking blocking :
       {Blocking::kNone, Blocking::kBarrierTimed, Blocking::kWait, Blocking::kBarrierUntimed}) {
    Options options = options_for(Timing::kPipelined);
    options.blocking = blocking;
    IdleSession session;
    Rig rig(options, session);
    const Sleeper sleeper(0);
    Operation operation = rig.operation(sleeper);
    constexpr int kSamples = 2;
    constexpr int kOperations = 5;
    (void)rig.meter.measure(operation, {.warmup = 0, .samples = kSamples, .iterations = kOperations});
    const int after_warmup = 1;
    EXPECT_EQ(session.waits, after_warmup + kSamples * (blocking == Blocking::kNone ? 1 : kOperations))
        << "-z " << static_cast<int>(blocking);
  }
}

TEST_F(Pipelined, CpuTimeEndsBeforeTheWait) {
  IdleSession session(kSlowest);
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(kFastest);
  Operation operation = rig.operation(sleeper);
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = kBatches, .iterations = 1});
  expect_samples(epoch, kBatches, kFastest + kSlowest, 2);
  ASSERT_EQ(epoch.cpu_times.size(), 1u) << "one for each visit, on every rank";
  EXPECT_NEAR(epoch.cpu_times.front(), kFastest + kReading, kRounding);
}

TEST_F(Pipelined, EveryEpochSaysWhenItBeganAndTicks) {
  IdleSession session;
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(kFastest);
  Operation operation = rig.operation(sleeper);
  const Seconds before = clock_.shows();
  const std::uint64_t steps = rig.heartbeat.steps();
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 2, .samples = kBatches, .iterations = 1});
  EXPECT_NEAR(epoch.began, before + kReading, kRounding) << "before the warm-up";
  EXPECT_GE(rig.heartbeat.steps() - steps, static_cast<std::uint64_t>(kBatches));
}

class Estimate : public ScriptedJob {};

TEST_F(Estimate, IsTheSlowestRanksAndTheSameOnAll) {
  IdleSession session;
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  const Seconds estimate = rig.meter.estimate(operation, 3);
  EXPECT_NEAR(estimate, kSlowest + kReading, kRounding);
  EXPECT_EQ(sleeper.starts, 3 + 1) << "one takes long enough";
  EXPECT_EQ(rig.world.broadcast(estimate), estimate);
}

/// Four times as many, until they last 2 ms on the slowest rank.
TEST_F(Estimate, IsTheMeanOfAFewMilliseconds) {
  IdleSession session;
  Rig rig(options_for(Timing::kPipelined), session);
  const Seconds slowest = 0.1e-3;
  const Sleeper sleeper(rig.world.rank() == rig.world.size() - 1 ? slowest : 0);
  Operation operation = rig.operation(sleeper);
  const Seconds estimate = rig.meter.estimate(operation, 0);
  EXPECT_NEAR(estimate, slowest + kReading / 64, kRounding);
  EXPECT_EQ(sleeper.starts, 1 + (1 + 4 + 16 + 64)) << "a warm-up in any case";
}

TEST_F(Estimate, EndsForOperationsThatTakeNoTime) {
  IdleSession session;
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(0);
  Operation operation = rig.operation(sleeper);
  const Seconds estimate = rig.meter.estimate(operation, 0);
  EXPECT_NEAR(estimate, kReading / 4096, kRounding / 4096);
  EXPECT_EQ(rig.world.broadcast(estimate), estimate);
}

}  // namespace
}  // namespace fabricbench
