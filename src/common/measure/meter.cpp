#include "common/measure/meter.h"

#include <algorithm>
#include <utility>

#include "common/core/clock.h"
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
constexpr Seconds kLongOperation = 0.1;  // which is not warmed up more than once

/// nccl-tests reads the host's clock after the final wait; only -I asks the device.
bool times_on_host(const Options& options) {
  return options.like == ReferenceTool::kNcclTests && !options.per_iteration;
}

}  // namespace

Seconds timer_cost() {
  constexpr int kReads = 64;
  std::vector<double> costs;
  for (int i = 0; i < 16; ++i) {
    const Seconds began = now();
    for (int read = 0; read < kReads - 1; ++read) (void)now();
    costs.push_back((now() - began) / kReads);
  }
  return median(costs);
}

Meter::Meter(const Team& team, Session& session, mpi::CommonClock& clock, const Options& options, Heartbeat& heartbeat)
    : team_(team),
      session_(session),
      device_(times_on_host(options) ? nullptr : session.device_clock()),
      clock_(clock),
      options_(options),
      heartbeat_(heartbeat),
      first_rank_(team.group().rank() * session.local_ranks()),
      lap_cost_(team.world().max(laps_.cost())),
      slack_(kFirstSlack),
      punctual_(std::max(kLeastPunctual, 4 * team.world().max(timer_cost()))) {
  if (options_.timing == Timing::kIsolated) choose_slack();
}

Epoch Meter::measure(Operation& operation, const VisitPlan& plan, const AroundEach& around) {
  const std::int64_t switches_before = host::involuntary_context_switches();
  const Seconds began = now();
  const IdleTime before = idle_until(session_, began);
  Epoch epoch = measure_once(operation, plan, around);
  if (plan.common_start && !epoch.common_start) {  // the clock was unusable: repeats the whole visit with barriers
    VisitPlan again = plan;
    again.common_start = false;
    epoch = measure_once(operation, again, around);
  }
  epoch.began = began;
  const IdleTime idle = idle_until(session_, now());
  epoch.idle = {idle.elapsed - before.elapsed, idle.stopped - before.stopped, idle.waiting - before.waiting};
  if (device_ != nullptr) {
    epoch.resolution = team_.group().max(device_->resolution()) / operations_per_sample(operation, plan);
  }
  heartbeat_.enter(Phase::kReduce);
  const auto switches = static_cast<double>(host::involuntary_context_switches() - switches_before);
  const std::vector<double> total = team_.group().all_reduce({switches}, MPI_SUM);
  const auto most = team_.group().max(std::vector<mpi::Communicator::Located>{{switches, first_rank_}});
  if (team_.group().is_root()) {
    epoch.preemptions = static_cast<std::int64_t>(total.front());
    epoch.most_preemptions = static_cast<std::int64_t>(most.front().value);
    epoch.most_preempted_rank = most.front().rank;
  }
  return epoch;
}

IdleTime idle_until(Session& session, Seconds time) {
  const std::optional<double> waited = host::processor_wait();
  if (!waited || session.device_clock() != nullptr) return {};
  return {time, time - host::processor_time() - *waited, *waited};
}

double Meter::operations_per_sample(const Operation& operation, const VisitPlan& plan) const {
  const bool single = options_.timing == Timing::kIsolated || times_each_on_device(plan);
  const std::int64_t iterations = single ? 1 : plan.iterations * std::max<std::int64_t>(plan.launches, 1);
  return static_cast<double>(iterations) * operation.operations_per_iteration();
}

bool Meter::times_each_on_device(const VisitPlan& plan) const {
  if (plan.gapless) return device_ != nullptr;
  return options_.per_iteration && plan.launches == 0;
}

Epoch Meter::measure_once(Operation& operation, const VisitPlan& plan, const AroundEach& around) {
  heartbeat_.enter(Phase::kPrepare);
  operation.prepare(plan.starts(operation.aggregated()));
  heartbeat_.enter(Phase::kWarmUp);
  repeat(operation, plan.warmup);
  if (plan.launches > 0) record(operation, plan);
  counted_before_ = session_.counters();
  heartbeat_.enter(Phase::kMeasure);
  if (options_.timing == Timing::kIsolated) return isolated(operation, plan, around);
  if (times_each_on_device(plan)) return each_on_device(operation, plan);
  return plan.gapless ? gapless(operation, plan) : pipelined(operation, plan);
}

void Meter::run_untimed(Operation& operation, Phase phase, Seconds longer_s) {
  heartbeat_.enter(phase, longer_s);
  operation.prepare(operation.aggregated());
  repeat(operation, 1);
}

/// Operations without a clock: warm-up and estimates.
void Meter::repeat(Operation& operation, std::int64_t iterations) {
  for (std::int64_t i = 0; i < iterations; ++i) {
    operation.start_iteration();
    heartbeat_.tick();
  }
  operation.wait();
}

/// Records one batch, which is later launched as a whole. The first launch, which uploads it, is not timed.
void Meter::record(Operation& operation, const VisitPlan& plan) {
  Recorder& recorder = *session_.recorder();
  recorder.begin();
  for (std::int64_t i = 0; i < plan.iterations; ++i) operation.start_iteration();
  recorder.end();
  recorder.launch();
  operation.wait();
  heartbeat_.tick();
}

void Meter::replay(Operation& operation, const VisitPlan& plan) {
  operation.prepare(plan.starts(operation.aggregated()));
  session_.recorder()->launch();
  operation.wait();
  heartbeat_.tick();
}

void Meter::run_recorded(Operation& operation) {
  Recorder& recorder = *session_.recorder();
  operation.prepare(1);
  recorder.begin();
  operation.start();
  recorder.end();
  recorder.launch();
  operation.wait();
  heartbeat_.tick();
}

Epoch Meter::pipelined(Operation& operation, const VisitPlan& plan) {
  Times times(static_cast<std::size_t>(session_.local_ranks()));
  std::vector<Seconds> cpu_times;
  std::vector<Seconds> host_times;
  for (std::int64_t sample = 0; sample < plan.samples; ++sample) {
    const BatchTimes batch = time_batch(operation, plan);
    for (std::size_t rank = 0; rank < times.size(); ++rank) times[rank].push_back(batch.completed[rank]);
    cpu_times.push_back(batch.started);
    host_times.push_back(batch.on_host);
    heartbeat_.tick();
  }
  Epoch epoch;
  reduce(times, epoch);
  epoch.cpu_times = {team_.group().max(median(cpu_times))};
  if (device_ != nullptr) epoch.host_times = {team_.group().max(median(host_times))};
  return epoch;
}

/// An idle rank waits asleep: if it polled, it might occupy the processor that serves its device.
void Meter::await_others(const Operation& operation) const {
  if (operation.has_idle_rank()) team_.group().barrier_asleep(operation.is_idle());
}

/// Operations back to back between two readings of a clock, as nccl-tests times them.
Meter::BatchTimes Meter::time_batch(Operation& operation, const VisitPlan& plan) {
  const std::int64_t launches = std::max<std::int64_t>(plan.launches, 1);
  const double count = static_cast<double>(plan.iterations * launches) * operation.operations_per_iteration();
  if (options_.blocking != Blocking::kNone) {
    const Seconds each = time_each(operation, plan.iterations);
    return {std::vector<Seconds>(static_cast<std::size_t>(session_.local_ranks()), each), each, each};
  }
  Recorder* const recorder = session_.recorder();
  if (device_ != nullptr) device_->reset();
  team_.world().barrier();
  if (device_ != nullptr) device_->mark();
  const Seconds began = now();
  if (plan.launches > 0) {
    for (std::int64_t i = 0; i < plan.launches; ++i) recorder->launch();
  } else {
    for (std::int64_t i = 0; i < plan.iterations; ++i) {
      operation.start_iteration();
      heartbeat_.tick();  // a store to a cache line of our own: below a nanosecond
    }
  }
  const Seconds started = now();
  if (device_ != nullptr) device_->mark();
  operation.wait();
  const Seconds completed = now();
  await_others(operation);
  Times times(static_cast<std::size_t>(session_.local_ranks()));
  add_durations(completed - began, count, times);
  BatchTimes batch{{}, (started - began) / count, (completed - began) / count};
  for (const std::vector<Seconds>& of_rank : times) batch.completed.push_back(of_rank.front());
  return batch;
}

/// Adds, for each rank of this process, the duration of one of `operations`: by the device's clock between its last two
/// marks, or without such a clock by the host's.
void Meter::add_durations(Seconds on_host, double operations, Times& times) const {
  if (device_ == nullptr) {
    for (std::vector<Seconds>& of_rank : times) of_rank.push_back(on_host / operations);
    return;
  }
  const std::vector<std::vector<Seconds>> intervals = device_->intervals();
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    times[rank].push_back(intervals[rank].back() / operations);
  }
}

/// -z: waits for every iteration; a barrier may follow, inside or outside the timed part.
Seconds Meter::time_each(Operation& operation, std::int64_t iterations) {
  const bool timed_barrier = options_.blocking == Blocking::kBarrierTimed;
  const bool untimed_barrier = options_.blocking == Blocking::kBarrierUntimed;
  Seconds total = 0;
  team_.world().barrier();
  for (std::int64_t i = 0; i < iterations; ++i) {
    const Seconds began = now();
    operation.start_iteration();
    operation.wait();
    if (timed_barrier) team_.group().barrier();
    total += now() - began;
    if (untimed_barrier) team_.group().barrier();
    heartbeat_.tick();
  }
  return total / (static_cast<double>(iterations) * operation.operations_per_iteration());
}

/// -I: runs iterations back to back, with a mark of the device's clock between them. Each iteration is a sample.
Epoch Meter::each_on_device(Operation& operation, const VisitPlan& plan) {
  Times times(static_cast<std::size_t>(session_.local_ranks()));
  device_->reserve(static_cast<std::size_t>(plan.samples * plan.iterations) + 1);
  device_->reset();
  team_.world().barrier();
  const Seconds began = now();
  device_->mark();
  for (std::int64_t i = 0; i < plan.samples * plan.iterations; ++i) {
    operation.start_iteration();
    device_->mark();
    heartbeat_.tick();
  }
  const Seconds started = now();
  operation.wait();
  const Seconds completed = now();
  times = device_->intervals();
  const double operations = operation.operations_per_iteration();
  for (std::vector<Seconds>& of_rank : times) {
    for (Seconds& time : of_rank) time /= operations;
  }
  const double count = static_cast<double>(plan.samples * plan.iterations) * operations;
  Epoch epoch;
  reduce(times, epoch);
  epoch.cpu_times = {team_.group().max((started - began) / count)};
  epoch.host_times = {team_.group().max((completed - began) / count)};
  return epoch;
}

/// Reduces the samples over all ranks of the group, and finds the slowest rank of each sample.
void Meter::reduce(const Times& times, Epoch& epoch) const {
  const std::size_t samples = times.front().size();
  std::vector<mpi::Communicator::Located> longest;
  for (std::size_t i = 0; i < samples; ++i) {
    mpi::Communicator::Located own{times.front()[i], first_rank_};
    for (std::size_t rank = 1; rank < times.size(); ++rank) {
      if (times[rank][i] > own.value) own = {times[rank][i], first_rank_ + static_cast<int>(rank)};
    }
    longest.push_back(own);
  }
  const auto slowest_of_all = team_.group().max(std::move(longest));
  if (team_.group().is_root()) {
    for (const auto& slowest : slowest_of_all) {
      epoch.samples.push_back(slowest.value);
      epoch.slowest_ranks.push_back(slowest.rank);
    }
  }
  epoch.own_times.clear();
  epoch.own_means.clear();
  for (const std::vector<Seconds>& of_rank : times) {
    epoch.own_times.push_back(of_rank.empty() ? of_rank : std::vector{median(of_rank)});
    epoch.own_means.push_back(of_rank.empty() ? of_rank : std::vector{mean(of_rank)});
  }
  if (options_.average == RankAggregate::kRank0 && team_.group().is_root()) epoch.samples = times.front();
  if (options_.average == RankAggregate::kMin || options_.average == RankAggregate::kMean) average(times, epoch);
}

/// -a 1 and 2: the mean or the minimum over the ranks instead of the maximum.
void Meter::average(const Times& times, Epoch& epoch) const {
  const bool mean = options_.average == RankAggregate::kMean;
  std::vector<Seconds> own = times.front();
  for (std::size_t rank = 1; rank < times.size(); ++rank) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i] = mean ? own[i] + times[rank][i] : std::min(own[i], times[rank][i]);
    }
  }
  own = team_.group().all_reduce(std::move(own), mean ? MPI_SUM : MPI_MIN);
  if (!team_.group().is_root()) return;
  epoch.samples = std::move(own);
  const auto ranks = static_cast<double>(times.size()) * team_.group().size();
  for (Seconds& sample : epoch.samples) sample /= mean ? ranks : 1;
}

Epoch Meter::isolated(Operation& operation, const VisitPlan& plan, const AroundEach& around) {
  std::vector<Start> starts;
  starts.reserve(static_cast<std::size_t>(plan.samples));
  Times times(static_cast<std::size_t>(session_.local_ranks()));
  for (std::vector<Seconds>& of_rank : times) of_rank.reserve(starts.capacity());
  clock_.synchronise();
  for (std::int64_t i = 0; i < plan.samples; ++i) {
    if (around.before) around.before();
    starts.push_back(start_together(operation, plan, times));
    if (around.after) around.after();
    heartbeat_.tick();
  }
  clock_.synchronise();
  Epoch epoch;
  epoch.clock_error = team_.world().max(clock_.error());
  epoch.common_start = plan.common_start && keep_timely(starts, times, epoch);
  if (!plan.common_start) reduce(times, epoch);
  return epoch;
}

/// Runs one iteration, which all processes start at an agreed time of the common clock, or after a barrier. A device
/// gets its work beforehand, behind a gate, so that launching is not timed.
Meter::Start Meter::start_together(Operation& operation, const VisitPlan& plan, Times& times) {
  if (device_ != nullptr) {
    device_->reset();
    device_->close_gate();
    device_->mark();
    operation.start_iteration();
    device_->mark();
  }
  team_.world().barrier();  // otherwise the first process runs ahead, and others learn of half of the starts too late
  Start start{0, 0, false};
  if (plan.common_start) {
    start.due = agreed_start();
    const Seconds due_here = clock_.to_local(start.due);
    start.began = now();
    start.late = start.began > due_here;
    while (start.began < due_here) start.began = now();
    start.late = start.late || start.began > due_here + punctual_;  // preempted while it waited
  } else {
    start.began = now();
  }
  if (device_ != nullptr) {
    device_->open_gate();
  } else {
    operation.start_iteration();
  }
  operation.wait();
  // With a common start, keep_timely divides the time, after it has subtracted the wait for the start.
  add_durations(now() - start.began, plan.common_start ? 1 : operation.operations_per_iteration(), times);
  return start;
}

/// A start on the common clock that all processes should reach in time. Collective.
Seconds Meter::agreed_start() { return team_.world().broadcast(clock_.to_common(now()) + slack_); }

/// Reduces the iterations that every rank of the group started in time. Returns false, on every process of the job, if
/// the common clock is unusable: most starts were late, or its error is too large for the measured times.
bool Meter::keep_timely(const std::vector<Start>& starts, Times times, Epoch& epoch) {
  std::vector<double> late;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    late.push_back(starts[i].late ? 1 : 0);
    const Seconds waited = clock_.to_common(starts[i].began) - starts[i].due;
    for (std::vector<Seconds>& of_rank : times) {
      of_rank[i] = (waited + of_rank[i]) / static_cast<double>(options_.aggregated);
    }
  }
  late = team_.group().all_reduce(std::move(late), MPI_MAX);
  Epoch all;
  reduce(times, all);
  epoch.own_times = all.own_times;
  epoch.own_means = all.own_means;
  for (std::size_t i = 0; i < all.samples.size(); ++i) {
    if (late[i] != 0) continue;
    epoch.samples.push_back(all.samples[i]);
    epoch.slowest_ranks.push_back(all.slowest_ranks[i]);
  }
  bool useful = true;
  if (team_.group().is_root()) {
    epoch.late = static_cast<std::int64_t>(all.samples.size() - epoch.samples.size());
    const double late_share = static_cast<double>(epoch.late) / static_cast<double>(starts.size());
    adapt_slack(late_share);
    useful = late_share <= kHopelesslyLate && epoch.clock_error <= kToleratedClockError * median(epoch.samples);
  }
  return team_.world().min(std::int64_t{useful}) != 0;
}

/// Finds a sufficient slack from starts without an operation, before anything is measured. More rounds only where it is
/// still too small: on a busy machine, a rank may wait for a processor for milliseconds.
void Meter::choose_slack() {
  constexpr int kLeastRounds = 8;
  constexpr int kMostRounds = 16;  // which lead to the largest slack
  constexpr int kStarts = 8;
  double late_share = 0;
  for (int round = 0; round < kLeastRounds || (round < kMostRounds && late_share > kToleratedLate); ++round) {
    std::vector<double> late;
    for (int i = 0; i < kStarts; ++i) {
      team_.world().barrier();
      const Seconds due = agreed_start();
      late.push_back(now() > clock_.to_local(due) ? 1 : 0);
    }
    late = team_.world().all_reduce(std::move(late), MPI_MAX);
    late_share = static_cast<double>(std::count(late.begin(), late.end(), 1.0)) / kStarts;
    if (team_.world().is_root()) adapt_slack(late_share);
  }
}

void Meter::adapt_slack(double late_share) {
  if (late_share > kToleratedLate) slack_ = std::min(slack_ * 1.5, kMostSlack);
  if (late_share == 0) slack_ = std::max(slack_ * 0.9, kLeastSlack);
}

Seconds Meter::estimate(Operation& operation, std::int64_t warmup, const Check& check) {
  heartbeat_.enter(Phase::kEstimate);
  const std::int64_t aggregated = operation.aggregated();
  const std::optional<std::int64_t> places = operation.places();
  const std::int64_t most = places ? std::max<std::int64_t>(*places / aggregated, 1) : kMostEstimateIterations;
  const std::int64_t first = std::clamp<std::int64_t>(warmup, 1, places ? most : std::max<std::int64_t>(warmup, 1));
  if (!places) operation.prepare((warmup + 3 * kMostEstimateIterations) * aggregated);
  const auto take = [&](std::int64_t iterations, bool together) {
    if (places) operation.prepare(iterations * aggregated);
    if (together) team_.world().barrier();
    const Seconds began = now();
    repeat(operation, iterations);
    const Seconds elapsed = now() - began;
    if (places) check(iterations * aggregated);
    return elapsed;
  };
  const Seconds one = team_.world().max(take(1, false));
  if (options_.quick && one > options_.time_budget) return one;
  if (one <= kLongOperation && first > 1) (void)take(first - 1, false);
  for (std::int64_t iterations = 1;; iterations = std::min(4 * iterations, most)) {
    const Seconds elapsed = team_.world().max(take(iterations, true));
    heartbeat_.tick();
    if (elapsed >= kEstimateTime || iterations >= std::min(most, kMostEstimateIterations)) {
      const Seconds each = elapsed / static_cast<double>(iterations);
      return options_.timing == Timing::kIsolated && each < kLongOperation ? estimate_isolated(operation, check) : each;
    }
  }
}

/// With the wait for the start, which is long where processes wait for a processor.
Seconds Meter::estimate_isolated(Operation& operation, const Check& check) {
  constexpr Seconds kTime = 10e-3;
  constexpr std::int64_t kMost = 1024;
  const bool has_places = operation.places().has_value();
  Times times(static_cast<std::size_t>(session_.local_ranks()));
  for (std::int64_t samples = 1;; samples *= 4) {
    const Seconds began = now();
    for (std::int64_t i = 0; i < samples; ++i) {
      if (has_places) operation.prepare(operation.aggregated());
      (void)start_together(operation, {}, times);
      if (has_places) check(operation.aggregated());
    }
    const Seconds elapsed = team_.world().max(now() - began);
    heartbeat_.tick();
    if (elapsed >= kTime || samples == kMost) return elapsed / static_cast<double>(samples);
  }
}

}  // namespace fabricbench
