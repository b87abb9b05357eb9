#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/record/field.h"
#include "common/record/row.h"

/// On which processors ranks ran while they measured, and what else ran there. Pure functions of what was seen.
namespace fabricbench {

/// Readings that found a process on one processor.
struct SeenOn {
  int processor = 0;
  int numa_node = 0;
  std::int64_t readings = 0;
};

/// One process.
struct ProcessAffinity {
  int rank = 0;  ///< its first
  std::string host;
  std::vector<SeenOn> seen;  ///< by processor, ascending
};

/// Two ranks of a pair that were on the same processor at the same time, more often than not.
struct SharedProcessor {
  int pair = 0;
  int first_rank = 0;
  int second_rank = 0;
  std::string host;
  int processor = 0;        ///< the one that they shared most often
  std::int64_t shared = 0;  ///< readings in which they were on the same processor
  std::int64_t readings = 0;
};

/// One process's readings of the processor that it ran on, in their order.
struct ProcessorSamples {
  int rank = 0;  ///< its first
  std::string host;
  std::uint64_t host_id = 0;  ///< see ProcessLocation
  std::vector<int> processors;
};

/// A processor that handled many interrupts of a network device.
struct BusyInterrupts {
  std::string host;
  std::string device;
  int processor = 0;
  double per_second = 0;  ///< handled there
};

struct ProcessorReport {
  std::vector<ProcessAffinity> processes;
  std::vector<SharedProcessor> shared;
  std::vector<BusyInterrupts> interrupts;

  /// Adds what was seen later, for example in another round. A process in both reports gets the sum.
  void add(const ProcessorReport& later);
  /// Adds a line for each host to a run's ending, and notes on shared processors.
  void add_to(Ending& ending) const;
};

template <typename Visitor, record::Of<SeenOn> Message>
void describe(Visitor& visitor, Message& seen) {
  visitor.internal(seen.processor, seen.numa_node, seen.readings);
}
template <typename Visitor, record::Of<ProcessAffinity> Message>
void describe(Visitor& visitor, Message& place) {
  visitor.internal(place.rank, place.host, place.seen);
}
template <typename Visitor, record::Of<ProcessorSamples> Message>
void describe(Visitor& visitor, Message& readings) {
  visitor.internal(readings.rank, readings.host, readings.host_id, readings.processors);
}
template <typename Visitor, record::Of<SharedProcessor> Message>
void describe(Visitor& visitor, Message& shared) {
  visitor.internal(shared.pair, shared.first_rank, shared.second_rank, shared.host, shared.processor, shared.shared,
                   shared.readings);
}
template <typename Visitor, record::Of<BusyInterrupts> Message>
void describe(Visitor& visitor, Message& busy) {
  visitor.internal(busy.host, busy.device, busy.processor, busy.per_second);
}
template <typename Visitor, record::Of<ProcessorReport> Message>
void describe(Visitor& visitor, Message& report) {
  visitor.internal(report.processes, report.shared, report.interrupts);
}

/// The processor that the ends of a pair shared, from readings that both took at the same times. Empty if they are on
/// different hosts, or were on the same processor in half of the readings or less.
[[nodiscard]] std::optional<SharedProcessor> shared_processor(int pair, const ProcessorSamples& first,
                                                              const ProcessorSamples& second);

/// The processes' lines, one for each host: `Processors: host a: rank 0 on 3 (NUMA node 0), rank 1 on 4 and 5 (NUMA
/// node 0)`.
[[nodiscard]] std::vector<std::string> processor_lines(const std::vector<ProcessAffinity>& processes);

/// Sentences on pairs whose ends took turns on a processor, and on ranks that were interrupted for a network device,
/// each with what to do; no more than a few, and the number of the others.
[[nodiscard]] std::vector<std::string> processor_warnings(const ProcessorReport& report);

}  // namespace fabricbench
