#pragma once

#include <optional>
#include <vector>

#include "common/core/units.h"
#include "common/host/interrupts.h"
#include "common/host/topology.h"
#include "common/processors/processor_report.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// Collects on which processors this process's main thread runs while it measures. One process of each host also
/// counts the interrupts of its network devices meanwhile.
class ProcessorMeter {
 public:
  /// `team` and `location` must outlive this. `local_ranks`: ranks of each process. `counts_interrupts`: reading the
  /// counts takes milliseconds on a large host.
  ProcessorMeter(const Team& team, const ProcessLocation& location, int local_ranks, bool counts_interrupts);

  /// Notes where the process ran. The processes of a pair note it at the same times.
  void note(host::Processor processor = host::current_processor()) { readings_.push_back(processor); }

  /// What was seen so far, on the first process; on others empty. Groups of two processes are searched for a processor
  /// that both ran on. Collective over the job.
  [[nodiscard]] ProcessorReport report() const;

 private:
  [[nodiscard]] ProcessAffinity own_place() const;
  [[nodiscard]] std::vector<SharedProcessor> own_pair() const;
  [[nodiscard]] std::vector<BusyInterrupts> own_interrupts() const;

  const Team& team_;
  const ProcessLocation& location_;
  int first_rank_;
  std::optional<host::InterruptReader> reader_;  // on one process of each host
  std::vector<host::DeviceInterrupts> before_;
  Seconds began_;
  std::vector<host::Processor> readings_;
};

}  // namespace fabricbench
