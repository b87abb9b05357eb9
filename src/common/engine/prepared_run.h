#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "common/core/not_copied.h"
#include "common/engine/job.h"
#include "common/engine/setup.h"
#include "common/measure/bench.h"
#include "common/measure/test.h"
#include "common/mpi/common_clock.h"
#include "common/nic_counters/nic_meter.h"
#include "common/processors/processor_meter.h"
#include "common/record/context.h"
#include "common/record/field.h"
#include "common/record/row.h"
#include "common/report/sink.h"

namespace fabricbench {

/// The facts for the end of a run besides its rows, on the first process.
struct RunFacts {
  NicReport nics{};                    ///< what the NICs carried meanwhile
  ProcessorReport processors{};        ///< where the ranks ran meanwhile
  std::vector<std::string> remarks{};  ///< of sessions, a line each
  std::string memory_usage{};          ///< of the first process's session

  /// Adds those of a later round.
  void add(const RunFacts& later);
  void add_to(Ending& ending) const;
};

template <typename Visitor, record::Of<RunFacts> Message>
void describe(Visitor& visitor, Message& facts) {
  visitor.internal(facts.nics, facts.processors, facts.remarks, facts.memory_usage);
}

/// A test that is set up: its processes have met for the watchdog, and the common clock runs. All arguments must
/// outlive it.
class PreparedRun : NotCopied {
 public:
  /// Collective over the team of `setup`.
  PreparedRun(const Job& job, const Test& test, Setup& setup, Outputs& outputs);
  ~PreparedRun();

  /// The maximum over all processes.
  [[nodiscard]] Seconds clock_error() const { return clock_error_; }
  /// Makes the buffers, once the outputs have begun with `context`, and measures by `visit`, whose ending tells other
  /// processes why messages were given up. Where an operation fails, its process prints the error and ends the job.
  /// Collective.
  [[nodiscard]] RunFacts measure(const Context& context, const std::function<Ending(Run&)>& visit);

 private:
  [[noreturn]] void fail(const std::exception& error) const;
  [[noreturn]] void end_here(const Ending& ending) const;

  const Job& job_;
  const Test& test_;
  Setup& setup_;
  Outputs& outputs_;
  mpi::CommonClock clock_;
  Seconds clock_error_;
};

}  // namespace fabricbench
