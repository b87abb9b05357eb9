#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/engine/case_list.h"
#include "common/engine/memory_plan.h"
#include "common/engine/sessions.h"
#include "common/measure/test.h"
#include "common/ranks/placement.h"
#include "common/ranks/team.h"
#include "common/report/sink.h"

namespace fabricbench {

/// The settings of a run before anything is measured. Every process gets the same ones, or the same Error.
struct Setup {
  Options options;
  std::unique_ptr<Team> team;
  Placed placed;
  BackendChoice backend;
  GroupSizes groups;
  std::vector<CaseList> cases;  ///< of each datatype, reduction and root
  MemoryPlan memory;
  std::vector<std::string> notices;
};

/// The table and the requested files, on the first process. Collective. Throws UsageError if a file cannot be created.
[[nodiscard]] Outputs open_outputs(const mpi::Communicator& world, Figure figure, const Options& options);

/// The facts about the whole run that the set-up of one round of pairs needs.
struct RoundOfRun {
  std::vector<int> pairs{};        ///< the numbers of the round's pairs in reports
  std::optional<KeptGpus> gpus{};  ///< see Placed
  std::int64_t steps = 1;          ///< how often the cases are measured, one time after the other
};

/// The GPUs that this process keeps for all rounds, which are set up one after the other. Collective over `world`, the
/// processes of all rounds. Throws Error.
[[nodiscard]] KeptGpus keep_gpus(const mpi::Communicator& world, int process, const Sessions& sessions,
                                 const Options& options);

/// Sets up everything but the outputs. Collective over `world`, which must outlive the result. `process`: this
/// process's number in the job. Throws Error, the same on every process.
[[nodiscard]] Setup set_up(const mpi::Communicator& world, int process, Test& test, const Sessions& sessions,
                           Options options, const RoundOfRun& round = {});

}  // namespace fabricbench
