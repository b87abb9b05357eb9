#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/core/units.h"
#include "common/engine/case_list.h"
#include "common/engine/job.h"
#include "common/engine/sessions.h"
#include "common/measure/test.h"
#include "common/mpi/communicator.h"
#include "common/ranks/team.h"
#include "common/report/sink.h"

namespace fabricbench {

/// The size of the buffers.
struct MemoryPlan {
  Bytes max_bytes = 0;               ///< the largest message: -e, or less if that does not fit
  Bytes pool_bytes = 0;              ///< size of each buffer
  std::vector<std::string> notices;  ///< the values that were lowered
};

/// The memory that each rank may use: the minimum over all ranks. A rank has the free memory of its device, or its
/// share of the host's free memory, which the ranks on that host divide and a control group may limit. Collective.
[[nodiscard]] Bytes memory_per_rank(const mpi::Communicator& world, const Session& session);

/// The bytes of a buffer in which each message has a place of its own (--check all). `distance`: of the places of the
/// largest messages.
[[nodiscard]] Bytes pool_of_places(Bytes distance);

/// Fits the sizes into `per_rank` bytes. `pool`: the bytes that operations use in turn, with --buffers cold or --check
/// all. Throws Error (missing), with the figures, if even the smallest message does not fit.
[[nodiscard]] MemoryPlan plan_memory(const Options& options, Bytes per_rank, Bytes pool);

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

/// The table, the requested files and the judges, on the first process. Collective. Throws UsageError if a file cannot
/// be created.
[[nodiscard]] Outputs open_outputs(const mpi::Communicator& world, Figure figure, const Options& options,
                                   const MakeJudges& make_judges);

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
