#pragma once

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

/// What is settled before anything is measured. Every process arrives at the same, or at the same Error.
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

/// The table and the files asked for, on the first process. Collective. Throws UsageError where a file cannot be made.
[[nodiscard]] Outputs open_outputs(const mpi::Communicator& world, Figure figure, const Options& options);

/// What the set-up of one round of pairs is given of the whole run.
struct RoundOfRun {
  std::vector<int> pairs{};        ///< their numbers in reports
  std::optional<KeptGpus> gpus{};  ///< see Placed
};

/// The GPUs that this process keeps where rounds are set up one after the other. Collective over `world`, the processes
/// of all rounds. Throws Error.
[[nodiscard]] KeptGpus keep_gpus(const mpi::Communicator& world, int process, const Sessions& sessions,
                                 const Options& options);

/// Everything but the outputs. Collective over `world`, which must outlive the result. `process`: this one's number in
/// the job. Throws Error, the same on every process.
[[nodiscard]] Setup set_up(const mpi::Communicator& world, int process, Test& test, const Sessions& sessions,
                           Options options, const RoundOfRun& round = {});

}  // namespace fabricbench
