#include "common/harness/meter.h"

#include <algorithm>
#include <array>

#include "common/core/clock.h"
#include "common/core/statistics.h"
#include "common/harness/describe.h"
#include "common/host/usage.h"

namespace fabricbench {
namespace {

constexpr Seconds kLeastSlack = 10e-6;
constexpr Seconds kFirstSlack = 50e-6;
constexpr Seconds kMostSlack = 10e-3;
constexpr Seconds kLeastPunctual = 5e-6;
constexpr double kToleratedLate = 0.02;       // share of late starts above which the slack grows
constexpr double kHopelesslyLate = 0.5;       // share above which starting by the clock is given up
constexpr double kToleratedClockError = 0.1;  // of the median
constexpr Seconds kEstimateTime = 2e-3;
constexpr std::int64_t kMostEstimateIterations = 4096;

MPI_Op mpi_op(RankAggregate aggregate) {
  switch (aggregate) {
    case RankAggregate::kMin: return MPI_MIN;
    case RankAggregate::kMean: return MPI_SUM;
    case RankAggregate::kRank0:
    case RankAggregate::kMax: break;
  }
  return MPI_MAX;
}

}  // namespace

Meter::Meter(const mpi::Communicator& world, mpi::CommonClock& clock, const Options& options, Heartbeat& heartbeat)
    : world_(world),
      clock_(clock),
      options_(options),
      heartbeat_(heartbeat),
      slack_(kFirstSlack),
      punctual_(std::max(kLeastPunctual, 4 * timer_cost())) {
  if (options_.timing == Timing::kIsolated) choose_slack();
}

Epoch Meter::measure(Operation& operation, const VisitPlan& plan) {
  const std::int64_t switches_before = host::involuntary_context_switches();
  const Seconds began = now();
  Epoch epoch = measure_once(operation, plan);
  if (plan.common_start && !epoch.common_start) {  // the clock was no use: the whole visit again, started by a barrier
    VisitPlan again = plan;
    again.common_start = false;
    epoch = measure_once(operation, again);
  }
  epoch.began = began;
  heartbeat_.enter(Phase::kReduce);
  const auto switches = static_cast<double>(host::involuntary_context_switches() - switches_before);
  const std::vector<double> total = world_.reduce({switches}, MPI_SUM);
  const auto most = world_.reduce_max_located(std::array{switches});
  if (world_.is_root()) {
    epoch.preemptions = static_cast<std::int64_t>(total.front());
    epoch.most_preemptions = static_cast<std::int64_t>(most.front().value);
    epoch.most_preempted_rank = most.front().rank;
  }
  return epoch;
}

Epoch Meter::measure_once(Operation& operation, const VisitPlan& plan) {
  heartbeat_.enter(Phase::kPrepare);
  operation.prepare(plan.starts(options_.aggregated));
  heartbeat_.enter(Phase::kWarmUp);
  run(operation, plan.warmup);
  heartbeat_.enter(Phase::kMeasure);
  return options_.timing == Timing::kPipelined ? pipelined(operation, plan) : isolated(operation, plan);
}

/// Operations without a clock: warm-up and estimates.
void Meter::run(Operation& operation, std::int64_t iterations) {
  for (std::int64_t i = 0; i < iterations * options_.aggregated; ++i) {
    operation.start();
    heartbeat_.tick();
  }
  operation.wait();
}

Epoch Meter::pipelined(Operation& operation, const VisitPlan& plan) {
  std::vector<Seconds> durations;
  std::vector<Seconds> cpu_times;
  for (std::int64_t sample = 0; sample < plan.samples; ++sample) {
    const BatchTimes times = time_batch(operation, plan.iterations);
    durations.push_back(times.completed);
    cpu_times.push_back(times.started);
    heartbeat_.tick();
  }
  Epoch epoch;
  reduce(durations, epoch);
  epoch.cpu_times = {world_.max(median(cpu_times))};
  return epoch;
}

/// Operations back to back between two clock reads, as nccl-tests times them.
Meter::BatchTimes Meter::time_batch(Operation& operation, std::int64_t iterations) {
  const std::int64_t operations = iterations * options_.aggregated;
  const auto count = static_cast<double>(operations);
  if (options_.blocking != Blocking::kNone) {
    const Seconds each = time_each(operation, operations);
    return {each, each};
  }
  world_.barrier();
  const Seconds began = now();
  for (std::int64_t i = 0; i < operations; ++i) {
    operation.start();
    heartbeat_.tick();  // a store to a cache line of our own: below a nanosecond
  }
  const Seconds started = now();
  operation.wait();
  const Seconds completed = now();
  return {(started - began) / count, (completed - began) / count};
}

/// -z: every operation is waited for; then a barrier may follow, inside the time or outside it.
Seconds Meter::time_each(Operation& operation, std::int64_t operations) {
  const bool timed_barrier = options_.blocking == Blocking::kBarrierTimed;
  const bool untimed_barrier = options_.blocking == Blocking::kBarrierUntimed;
  Seconds total = 0;
  world_.barrier();
  for (std::int64_t i = 0; i < operations; ++i) {
    const Seconds began = now();
    operation.start();
    operation.wait();
    if (timed_barrier) world_.barrier();
    total += now() - began;
    if (untimed_barrier) world_.barrier();
    heartbeat_.tick();
  }
  return total / static_cast<double>(operations);
}

/// Fills in the samples over all ranks, and who was slowest.
void Meter::reduce(const std::vector<Seconds>& durations, Epoch& epoch) const {
  for (const auto& slowest : world_.reduce_max_located(durations)) {
    epoch.samples.push_back(slowest.value);
    epoch.slowest_ranks.push_back(slowest.rank);
  }
  if (options_.average == RankAggregate::kMax) return;
  if (options_.average == RankAggregate::kRank0) {
    if (world_.is_root()) epoch.samples = durations;
    return;
  }
  epoch.samples = world_.reduce(durations, mpi_op(options_.average));
  if (options_.average == RankAggregate::kMean) {
    for (Seconds& sample : epoch.samples) sample /= world_.size();
  }
}

Epoch Meter::isolated(Operation& operation, const VisitPlan& plan) {
  std::vector<Stamp> stamps;
  stamps.reserve(static_cast<std::size_t>(plan.samples));
  clock_.synchronise();
  for (std::int64_t i = 0; i < plan.samples; ++i) {
    stamps.push_back(plan.common_start ? time_from_common_start(operation) : time_from_barrier(operation));
    heartbeat_.tick();
  }
  clock_.synchronise();
  Epoch epoch;
  epoch.clock_error = world_.max(clock_.error());
  epoch.common_start = plan.common_start && keep_timely(stamps, epoch);
  if (plan.common_start) return epoch;
  std::vector<Seconds> durations;
  durations.reserve(stamps.size());
  for (const Stamp& stamp : stamps) {
    durations.push_back((stamp.ended - stamp.began) / static_cast<double>(options_.aggregated));
  }
  reduce(durations, epoch);
  return epoch;
}

/// One operation that every rank starts at an agreed moment of the common clock.
Meter::Stamp Meter::time_from_common_start(Operation& operation) {
  world_.barrier();  // without it rank 0 runs ahead, and half of the agreed moments have passed when they arrive
  const Seconds due = world_.broadcast(clock_.to_common(now()) + slack_);
  const Seconds due_here = clock_.to_local(due);
  Seconds began = now();
  bool late = began > due_here;
  while (began < due_here) began = now();
  late = late || began > due_here + punctual_;  // preempted while it waited
  for (std::int64_t i = 0; i < options_.aggregated; ++i) operation.start();
  operation.wait();
  const Seconds ended = now();
  return {due, began, ended, late};
}

Meter::Stamp Meter::time_from_barrier(Operation& operation) {
  world_.barrier();
  const Seconds began = now();
  for (std::int64_t i = 0; i < options_.aggregated; ++i) operation.start();
  operation.wait();
  const Seconds ended = now();
  return {0, began, ended, false};
}

/// Reduces the iterations that every rank began in time. False, on every rank, where the common clock is no
/// use: most starts were late, or its error is too large a part of what was measured.
bool Meter::keep_timely(const std::vector<Stamp>& stamps, Epoch& epoch) {
  std::vector<double> late;
  std::vector<Seconds> durations;
  durations.reserve(stamps.size());
  for (const Stamp& stamp : stamps) {
    late.push_back(stamp.late ? 1 : 0);
    durations.push_back((clock_.to_common(stamp.ended) - stamp.due) / static_cast<double>(options_.aggregated));
  }
  late = world_.reduce(std::move(late), MPI_MAX);
  Epoch all;
  reduce(durations, all);
  for (std::size_t i = 0; i < all.samples.size(); ++i) {
    if (late[i] != 0) continue;
    epoch.samples.push_back(all.samples[i]);
    epoch.slowest_ranks.push_back(all.slowest_ranks[i]);
  }
  bool useful = true;
  if (world_.is_root()) {
    epoch.late = static_cast<std::int64_t>(all.samples.size() - epoch.samples.size());
    const double late_share = static_cast<double>(epoch.late) / static_cast<double>(stamps.size());
    adapt_slack(late_share);
    useful = late_share <= kHopelesslyLate && epoch.clock_error <= kToleratedClockError * median(epoch.samples);
  }
  return world_.broadcast(std::int64_t{useful}) != 0;
}

/// Finds a slack that is long enough before anything is measured, by starts of nothing.
void Meter::choose_slack() {
  constexpr int kRounds = 8;
  constexpr int kStarts = 8;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> late;
    for (int i = 0; i < kStarts; ++i) {
      world_.barrier();
      const Seconds due = world_.broadcast(clock_.to_common(now()) + slack_);
      late.push_back(now() > clock_.to_local(due) ? 1 : 0);
    }
    late = world_.reduce(std::move(late), MPI_MAX);
    if (world_.is_root()) adapt_slack(static_cast<double>(std::count(late.begin(), late.end(), 1.0)) / kStarts);
  }
}

void Meter::adapt_slack(double late_share) {
  if (late_share > kToleratedLate) slack_ = std::min(slack_ * 1.5, kMostSlack);
  if (late_share == 0) slack_ = std::max(slack_ * 0.9, kLeastSlack);
}

Seconds Meter::start_cost() const { return options_.timing == Timing::kIsolated ? world_.broadcast(slack_) * 1.5 : 0; }

Seconds Meter::estimate(Operation& operation, std::int64_t warmup) {
  heartbeat_.enter(Phase::kEstimate);
  const std::int64_t most = warmup + 2 * kMostEstimateIterations;
  operation.prepare(most * options_.aggregated);
  run(operation, std::max<std::int64_t>(warmup, 1));
  for (std::int64_t iterations = 1;; iterations *= 4) {
    world_.barrier();
    const Seconds began = now();
    run(operation, iterations);
    const Seconds elapsed = world_.max(now() - began);
    heartbeat_.tick();
    if (elapsed >= kEstimateTime || iterations >= kMostEstimateIterations) {
      return elapsed / static_cast<double>(iterations);
    }
  }
}

}  // namespace fabricbench
