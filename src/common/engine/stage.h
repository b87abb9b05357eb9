#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "common/core/not_copied.h"
#include "common/engine/job.h"
#include "common/engine/setup.h"
#include "common/measure/test.h"
#include "common/measure/totals.h"
#include "common/measure/workspace.h"
#include "common/mpi/common_clock.h"
#include "common/nic_counters/nic_meter.h"
#include "common/processors/processor_meter.h"
#include "common/record/context.h"
#include "common/record/row.h"
#include "common/report/sink.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// A run that is ready to measure: everything is set up, and the outputs have begun.
struct Run {
  const mpi::Communicator& world;  ///< the processes that take part
  const Test& test;
  Setup& setup;
  Outputs& outputs;
  const Context& context;
  Heartbeat& heartbeat;
  mpi::CommonClock& clock;
  Workspace& workspace;
  NicMeter& nics;
  ProcessorMeter& processors;
  bool has_abandoned = false;  ///< set if messages were given up; the same on every process
};

/// Measures the cases of a run. On the first process the rows go to the outputs, and to `totals` unless it is null.
void measure_rows(Run& run, Totals* totals);

/// The facts for the end of a run besides its rows, on the first process.
struct StageEnding {
  Ending ending;                     ///< that follows from the rows
  NicReport nics;                    ///< what the NICs carried meanwhile
  ProcessorReport processors;        ///< where the ranks ran meanwhile
  std::vector<std::string> remarks;  ///< of sessions, a line each
  std::string memory_usage;          ///< of the first process's session

  /// The ending with all other members added.
  [[nodiscard]] Ending whole() &&;
};

/// The context of a run of `setup` before it begins, on the first process of `world`. Collective. The caller adds the
/// seed, the clock's error, and the program's facts about pairs.
[[nodiscard]] Context describe_run(const mpi::Communicator& world, const Job& job, const Test& test,
                                   const Sessions& sessions, const Setup& setup);

/// A test that is set up: its processes have met for the watchdog, and the common clock runs. All arguments must
/// outlive it.
class Stage : NotCopied {
 public:
  /// Collective over `world`.
  Stage(const mpi::Communicator& world, const Job& job, const Test& test, Setup& setup, Outputs& outputs);
  ~Stage();

  /// The maximum over all processes.
  [[nodiscard]] Seconds clock_error() const { return clock_error_; }
  /// Makes the buffers, once the outputs have begun with `context`, which must outlive the run. Collective.
  [[nodiscard]] Run& begin(const Context& context);
  /// An operation has failed on this process, which prints the error and ends the job.
  [[noreturn]] void fail(const std::exception& error);
  /// Ends the run and releases the buffers. Collective.
  [[nodiscard]] StageEnding finish(Ending ending);

 private:
  [[noreturn]] void end_here(const Ending& ending);

  const mpi::Communicator& world_;
  const Job& job_;
  const Test& test_;
  Setup& setup_;
  Outputs& outputs_;
  mpi::CommonClock clock_;
  Seconds clock_error_;
  std::optional<Workspace> workspace_;  // this and the following: between `begin` and `finish`
  std::optional<NicMeter> nics_;
  std::optional<ProcessorMeter> processors_;
  std::optional<Run> run_;
};

}  // namespace fabricbench
