#include "common/processors/processor_meter.h"

#include <algorithm>
#include <map>

#include <unistd.h>

#include "common/core/clock.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

constexpr double kBusyPerSecond = 1000;  // interrupts: each takes microseconds, so fewer do not count

/// Whether each process of the host can have a processor of its own.
bool has_enough_processors(const ProcessLocation& location) {
  return sysconf(_SC_NPROCESSORS_ONLN) > 1 && location.local_processes <= sysconf(_SC_NPROCESSORS_ONLN);
}

}  // namespace

ProcessorMeter::ProcessorMeter(const Team& team, const ProcessLocation& location, int local_ranks,
                               bool counts_interrupts)
    : team_(team), location_(location), first_rank_(team.process_in_job() * local_ranks), began_(now()) {
  if (!counts_interrupts || location.local_process != 0) return;
  reader_.emplace();
  before_ = reader_->read();
}

ProcessAffinity ProcessorMeter::own_place() const {
  std::map<int, SeenOn> by_processor;
  for (const host::Processor& reading : readings_) {
    SeenOn& seen = by_processor.try_emplace(reading.number, SeenOn{reading.number, reading.numa_node, 0}).first->second;
    ++seen.readings;
  }
  ProcessAffinity place{first_rank_, location_.host, {}};
  for (const auto& [processor, seen] : by_processor) place.seen.push_back(seen);
  return place;
}

/// On the pair's first process; empty on the other one, and if the two did not share a processor.
std::vector<SharedProcessor> ProcessorMeter::own_pair() const {
  ProcessorSamples own{first_rank_, location_.host, location_.host_id, {}};
  own.processors.reserve(readings_.size());
  for (const host::Processor& reading : readings_) own.processors.push_back(reading.number);
  const std::vector<ProcessorSamples> both = gather_on_first(team_.group(), own);
  if (both.size() != 2 || !has_enough_processors(location_)) return {};
  const auto shared = shared_processor(team_.reported_number(), both[0], both[1]);
  return shared ? std::vector{*shared} : std::vector<SharedProcessor>();
}

std::vector<BusyInterrupts> ProcessorMeter::own_interrupts() const {
  if (!reader_ || !has_enough_processors(location_)) return {};
  const Seconds took = std::max(now() - began_, 1e-3);
  std::vector<BusyInterrupts> busy;
  for (const host::DeviceInterrupts& device : host::interrupts_between(before_, reader_->read())) {
    for (const auto& [processor, count] : device.by_processor) {
      const double per_second = static_cast<double>(count) / took;
      if (per_second >= kBusyPerSecond) busy.push_back({location_.host, device.device, processor, per_second});
    }
  }
  return busy;
}

ProcessorReport ProcessorMeter::report() const {
  const mpi::Communicator& world = team_.world();
  ProcessorReport report;
  report.processes = gather_on_first(world, own_place());
  report.shared = gather_lists_on_first(world, own_pair());
  report.interrupts = gather_lists_on_first(world, own_interrupts());
  return report;
}

}  // namespace fabricbench
