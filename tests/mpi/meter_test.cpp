// Pipelined timing of operations whose length is known on every rank. Operations take at least the time they
// sleep, whatever else the machine does; upper bounds are loose, and on medians.

#include "common/harness/meter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "common/core/statistics.h"
#include "harness_fakes.h"

namespace fabricbench {
namespace {

constexpr std::int64_t kSamples = 9;

struct Measured {
  Epoch epoch;
  std::vector<Seconds> took;  // on this rank, one for each operation, warm-up included
};

Measured measure(const Options& options, const VisitPlan& plan) {
  IdleSession session;
  Rig rig(options, session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  Epoch epoch = rig.meter.measure(operation, plan);
  return {std::move(epoch), sleeper.took};
}

TEST(Pipelined, SamplesAreThoseOfTheSlowestRank) {
  const mpi::Communicator world = mpi::Communicator::world();
  const VisitPlan plan{.warmup = 2, .samples = kSamples, .iterations = 2};
  const auto [epoch, took] = measure(options_for(Timing::kPipelined), plan);
  EXPECT_EQ(took.size(), 2u + kSamples * 2) << "warm-up and timed operations";
  EXPECT_TRUE(epoch.common_start);
  EXPECT_EQ(epoch.samples.size(), world.is_root() ? kSamples : 0u);
  EXPECT_EQ(epoch.slowest_ranks.size(), epoch.samples.size());
  if (!world.is_root()) return;
  EXPECT_GE(*std::min_element(epoch.samples.begin(), epoch.samples.end()), kSlowest);
  EXPECT_LE(median(epoch.samples), 3 * kSlowest);
  const auto last = std::count(epoch.slowest_ranks.begin(), epoch.slowest_ranks.end(), world.size() - 1);
  EXPECT_GT(last, kSamples / 2) << "most samples were the last rank's";
  EXPECT_EQ(epoch.late, 0);
  EXPECT_EQ(epoch.clock_error, 0);
}

TEST(Pipelined, ASampleIsOneOperationsShareOfABatch) {
  Options options = options_for(Timing::kPipelined);
  options.aggregated = 3;
  const auto [epoch, took] = measure(options, {.warmup = 1, .samples = 5, .iterations = 2});
  EXPECT_EQ(took.size(), 3u * (1 + 5 * 2));
  for (const Seconds sample : epoch.samples) EXPECT_GE(sample, kSlowest);
  if (!epoch.samples.empty()) {
    EXPECT_LE(median(epoch.samples), 3 * kSlowest);
  }
}

/// What -a must give for each sample at least, from what the operations really took; on rank 0.
std::vector<Seconds> least_samples(const mpi::Communicator& world, RankAggregate aggregate,
                                   const std::vector<Seconds>& took) {
  std::vector<Seconds> least;
  switch (aggregate) {
    case RankAggregate::kRank0: return took;
    case RankAggregate::kMin: return world.all_reduce(took, MPI_MIN);
    case RankAggregate::kMax: return world.all_reduce(took, MPI_MAX);
    case RankAggregate::kMean: break;
  }
  least = world.all_reduce(took, MPI_SUM);
  for (Seconds& sample : least) sample /= world.size();
  return least;
}

class Aggregates : public testing::TestWithParam<RankAggregate> {};

TEST_P(Aggregates, AreWhatTheRanksTook) {
  const mpi::Communicator world = mpi::Communicator::world();
  for (const Blocking blocking : {Blocking::kNone, Blocking::kBarrierUntimed}) {
    Options options = options_for(Timing::kPipelined);
    options.average = GetParam();
    options.blocking = blocking;
    const auto [epoch, took] = measure(options, {.warmup = 0, .samples = kSamples, .iterations = 1});
    const auto least = least_samples(world, GetParam(), took);
    const auto slowest = world.all_reduce(took, MPI_MAX);
    if (!world.is_root()) continue;
    ASSERT_EQ(epoch.samples.size(), static_cast<std::size_t>(kSamples));
    for (std::size_t i = 0; i < least.size(); ++i) EXPECT_GE(epoch.samples[i], least[i]);
    EXPECT_LE(median(epoch.samples), 3 * median(least));
    if (GetParam() != RankAggregate::kMax && world.size() > 1) {
      EXPECT_LT(median(epoch.samples), median(slowest));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pipelined, Aggregates,
                         testing::Values(RankAggregate::kRank0, RankAggregate::kMean, RankAggregate::kMin,
                                         RankAggregate::kMax));

TEST(Pipelined, ATimedBarrierMakesAllRanksAsSlowAsTheSlowest) {
  Options options = options_for(Timing::kPipelined);
  options.average = RankAggregate::kMin;
  options.blocking = Blocking::kBarrierTimed;
  const Epoch epoch = measure(options, {.warmup = 0, .samples = 3, .iterations = 2}).epoch;
  // The fastest rank too, but for the moment by which it left the first barrier after the others.
  for (const Seconds sample : epoch.samples) EXPECT_GE(sample, kSlowest / 3);
}

/// -z: what follows each operation, here as the calls that a session sees.
TEST(Pipelined, BlockingWaitsForEachOperation) {
  for (const Blocking blocking :
       {Blocking::kNone, Blocking::kBarrierTimed, Blocking::kWait, Blocking::kBarrierUntimed}) {
    Options options = options_for(Timing::kPipelined);
    options.blocking = blocking;
    IdleSession session;
    Rig rig(options, session);
    const Sleeper sleeper(0);
    Operation operation = rig.operation(sleeper);
    constexpr int kBatches = 2;
    constexpr int kOperations = 5;
    (void)rig.meter.measure(operation, {.warmup = 0, .samples = kBatches, .iterations = kOperations});
    const int after_warmup = 1;
    EXPECT_EQ(session.waits, after_warmup + kBatches * (blocking == Blocking::kNone ? 1 : kOperations))
        << "-z " << static_cast<int>(blocking);
  }
}

TEST(Pipelined, CpuTimeEndsBeforeTheWait) {
  IdleSession session(kSlowest);
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(0);
  Operation operation = rig.operation(sleeper);
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = kSamples, .iterations = 1});
  for (const Seconds sample : epoch.samples) EXPECT_GE(sample, kSlowest);
  ASSERT_EQ(epoch.cpu_times.size(), 1u) << "one for each visit, on every rank";
  EXPECT_LT(epoch.cpu_times.front(), kSlowest / 3);
}

TEST(Pipelined, EveryEpochSaysWhenItBeganAndTicks) {
  IdleSession session;
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(0);
  Operation operation = rig.operation(sleeper);
  const Seconds before = now();
  const std::uint64_t steps = rig.heartbeat.steps();
  const Epoch epoch = rig.meter.measure(operation, {.warmup = 0, .samples = kSamples, .iterations = 1});
  EXPECT_GE(epoch.began, before);
  EXPECT_LE(epoch.began, now());
  EXPECT_GE(rig.heartbeat.steps() - steps, static_cast<std::uint64_t>(kSamples));
}

TEST(Estimate, IsTheSlowestRanksAndTheSameOnAll) {
  IdleSession session;
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(time_of(rig.world));
  Operation operation = rig.operation(sleeper);
  const Seconds estimate = rig.meter.estimate(operation, 3);
  EXPECT_GE(estimate, kSlowest);
  EXPECT_LE(estimate, 10 * kSlowest) << "of very few operations, so a preemption counts";
  EXPECT_EQ(rig.world.broadcast(estimate), estimate);
  EXPECT_EQ(rig.meter.start_cost(), 0) << "nothing is agreed on before a batch";
}

TEST(Estimate, EndsForOperationsThatTakeNoTime) {
  IdleSession session;
  Rig rig(options_for(Timing::kPipelined), session);
  const Sleeper sleeper(0);
  Operation operation = rig.operation(sleeper);
  const Seconds estimate = rig.meter.estimate(operation, 0);
  EXPECT_GT(estimate, 0);
  EXPECT_EQ(rig.world.broadcast(estimate), estimate);
}

}  // namespace
}  // namespace fabricbench
