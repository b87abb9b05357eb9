#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/harness/backends.h"
#include "common/harness/case_list.h"
#include "common/harness/collective.h"
#include "common/harness/describe.h"
#include "common/harness/memory_plan.h"
#include "common/harness/team.h"
#include "common/report/sink.h"

namespace fabricbench {

/// What is settled before anything is measured. Every process arrives at the same, or at the same Error.
struct Setup {
  Options options;
  std::unique_ptr<Team> team;
  Placed placed;
  BackendChoice backend;
  GroupSizes groups;
  std::vector<Combination> combinations;
  MemoryPlan memory;
  std::vector<std::string> notices;
  Outputs outputs;  // the job's first process
};

/// The table and the files asked for, on the first process. Collective. Throws UsageError where a file cannot be made.
[[nodiscard]] Outputs open_outputs(const mpi::Communicator& world, Figure figure, const Options& options);

/// What a part of a run's processes that is set up by itself is told of the whole run.
struct PartOfRun {
  std::vector<int> numbers{};      ///< of its groups, see Team
  std::optional<KeptGpus> gpus{};  ///< see Placed
};

/// The GPUs that this process keeps where parts of the run are set up one after the other. Collective over `world`, the
/// processes of all parts. Throws Error.
[[nodiscard]] KeptGpus keep_gpus(const mpi::Communicator& world, int process, const Collective& collective,
                                 const Options& options);

/// All but the outputs. Collective over `world`, which must outlive the result. `process`: this one's number in the
/// job. Throws Error.
[[nodiscard]] Setup set_up(const mpi::Communicator& world, int process, Collective& collective, Options options,
                           const PartOfRun& part = {});

}  // namespace fabricbench
