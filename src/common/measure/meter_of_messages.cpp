// The timing of messages between two ranks: a part of Meter.

#include <algorithm>
#include <utility>

#include "common/core/statistics.h"
#include "common/measure/meter.h"

namespace fabricbench {

/// Takes samples without gaps: only one read of a counter lies between two of them. No barrier is needed, because ranks
/// that exchange messages stay in step.
Epoch Meter::gapless(Operation& operation, const VisitPlan& plan) {
  const double count = static_cast<double>(plan.iterations) * operation.operations_per_iteration();
  std::vector<std::uint64_t> ends(static_cast<std::size_t>(plan.samples) + 1);
  std::vector<Seconds> until_received(operation.is_both_ways() ? ends.size() - 1 : 0);
  team_.world().barrier();
  (void)operation.take_receive_time();
  ends.front() = laps_.read();
  for (std::size_t sample = 1; sample < ends.size(); ++sample) {
    for (std::int64_t i = 0; i < plan.iterations; ++i) operation.start_iteration();
    operation.wait();
    ends[sample] = laps_.read();
    if (!until_received.empty()) until_received[sample - 1] = operation.take_receive_time();
    heartbeat_.tick();
  }
  note_processor();  // before a wait for others moves it
  await_others(operation);
  const Seconds tick = laps_.tick() / count;
  Times times(1);
  for (std::size_t i = 1; i < ends.size(); ++i) {
    times.front().push_back(static_cast<double>(ends[i] - ends[i - 1]) * tick);
  }
  Epoch epoch;
  epoch.cpu_times = {team_.group().max(median(times.front()))};
  epoch.has_directions = !until_received.empty() && team_.group().max(until_received.front()) > 0;
  if (epoch.has_directions) times.front() = times_of_own_direction(times.front(), until_received, count);
  reduce(times, epoch);
  if (epoch.has_directions) add_up_directions(times.front(), epoch);
  return epoch;
}

/// The time until this rank had received everything, and that of the answer to a window: what the rank that received
/// its last message later spent after it. `times` and the result are of one operation, `until_received` is of `count`.
std::vector<Seconds> Meter::times_of_own_direction(const std::vector<Seconds>& times,
                                                   const std::vector<Seconds>& until_received, double count) const {
  std::vector<Seconds> after(times.size());
  for (std::size_t i = 0; i < times.size(); ++i) after[i] = std::max(times[i] - until_received[i] / count, 0.0);
  std::vector<Seconds> own = team_.group().all_reduce(std::move(after), MPI_MIN);
  for (std::size_t i = 0; i < times.size(); ++i) own[i] += until_received[i] / count;
  return own;
}

/// The bandwidths of both directions are added, each over its own time, as perftest does. So a sample is the harmonic
/// mean of both times.
void Meter::add_up_directions(const std::vector<Seconds>& own_times, Epoch& epoch) const {
  std::vector<double> rates;
  rates.reserve(own_times.size());
  for (const Seconds time : own_times) rates.push_back(1 / time);
  const std::vector<double> sums = team_.group().all_reduce(rates, MPI_SUM);
  for (std::size_t i = 0; i < epoch.samples.size(); ++i) epoch.samples[i] = team_.group().size() / sums[i];
}

/// A run without end must not grow.
void Meter::note_processor() {
  constexpr std::size_t kMost = 4096;
  if (processors_.size() < kMost) processors_.push_back(host::current_processor());
}

}  // namespace fabricbench
