#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/harness/collective.h"
#include "common/harness/job.h"
#include "common/harness/setup.h"
#include "common/harness/watchdog.h"
#include "common/harness/wire_meter.h"
#include "common/harness/workspace.h"
#include "common/mpi/common_clock.h"
#include "common/record/context.h"
#include "common/record/row.h"

namespace fabricbench {

/// What measures has this to work with: everything is set up, and the outputs have begun.
struct Run {
  const mpi::Communicator& world;  ///< the processes that take part
  const Collective& collective;
  Setup& setup;
  const Context& context;
  Heartbeat& heartbeat;
  mpi::CommonClock& clock;
  Workspace& workspace;
  WireMeter& wires;
  bool has_abandoned = false;  ///< set where messages were given up, the same on every process
};

/// Measures, on every process that takes part, and says how it ended.
using Measure = std::function<Ending(Run&)>;

/// What there is to say besides rows, on the first process.
struct StageEnding {
  Ending ending;                     ///< as the measuring left it
  WireReport wires;                  ///< what was carried meanwhile
  std::vector<std::string> remarks;  ///< of sessions, a line each
  std::string memory_usage;          ///< of the first process's session

  /// All of it in the ending.
  [[nodiscard]] Ending whole() &&;
};

/// What is known of a run of `setup` before it begins: on the first process of `world`. Collective. Without the seed,
/// the clock's error, and what is the program's to say of pairs.
[[nodiscard]] Context describe_run(const mpi::Communicator& world, const Job& job, const Collective& collective,
                                   const Setup& setup);

/// Measures what is set up. `context` has the seed and is given the clock's error; then `begin` is called. Collective
/// over `world`. Where an operation fails on a process, that one names itself and ends the job.
[[nodiscard]] StageEnding run_stage(const mpi::Communicator& world, const Collective& collective, Setup& setup,
                                    Context& context, const std::function<void()>& begin, const Measure& measure);

}  // namespace fabricbench
