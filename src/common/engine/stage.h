#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/engine/job.h"
#include "common/engine/setup.h"
#include "common/measure/test.h"
#include "common/measure/totals.h"
#include "common/measure/workspace.h"
#include "common/mpi/common_clock.h"
#include "common/nic_counters/nic_meter.h"
#include "common/record/context.h"
#include "common/record/row.h"
#include "common/report/sink.h"
#include "common/watch/watchdog.h"

namespace fabricbench {

/// What measures has this to work with: everything is set up, and the outputs have begun.
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
  bool has_abandoned = false;  ///< set where messages were given up, the same on every process
};

/// Measures, on every process that takes part, and says how it ended.
using Measure = std::function<Ending(Run&)>;

/// Measures the cases of a run, and hands their rows to its outputs and to `totals`, on the first process; null: to the
/// outputs alone.
void measure_rows(Run& run, Totals* totals);

/// What there is to say besides rows, on the first process.
struct StageEnding {
  Ending ending;                     ///< as the measuring left it
  NicReport nics;                    ///< what was carried meanwhile
  std::vector<std::string> remarks;  ///< of sessions, a line each
  std::string memory_usage;          ///< of the first process's session

  /// All of it in the ending.
  [[nodiscard]] Ending whole() &&;
};

/// What is known of a run of `setup` before it begins: on the first process of `world`. Collective. Without the seed,
/// the clock's error, and what is the program's to say of pairs.
[[nodiscard]] Context describe_run(const mpi::Communicator& world, const Job& job, const Test& test,
                                   const Sessions& sessions, const Setup& setup);

/// A test that is set up: the watchdog is on, and the clock that all processes share runs. All that it is given must
/// outlive it.
class Stage {
 public:
  /// Collective over `world`. `program` is its name.
  Stage(const mpi::Communicator& world, const std::string& program, const Test& test, Setup& setup, Outputs& outputs);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// The largest of any process.
  [[nodiscard]] Seconds clock_error() const { return clock_error_; }
  /// Measures what is set up; the outputs have begun. Collective. Where an operation fails on a process, that one names
  /// itself and ends the job.
  [[nodiscard]] StageEnding measure(const Context& context, const Measure& measure);

 private:
  [[nodiscard]] Ending measured_or_ended(Run& run, const Measure& measure);
  [[noreturn]] void end_here(const Ending& ending);

  const mpi::Communicator& world_;
  std::string program_;
  const Test& test_;
  Setup& setup_;
  Outputs& outputs_;
  Heartbeat heartbeat_;
  Watchdog watchdog_;
  mpi::CommonClock clock_;
  Seconds clock_error_;
};

}  // namespace fabricbench
