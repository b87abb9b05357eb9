#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// What to do where a process may use too few processors.
inline constexpr std::string_view kUnbind =
    "start with mpirun --bind-to numa (or --bind-to none), or srun --cpu-bind=none";

/// What the notices on placement need of this process.
struct ProcessCounts {
  int ranks = 1;           ///< of the smallest group
  int processes_here = 1;  ///< of the job, on this host
  bool on_nccl = false;
};

/// Sentences on how ranks and processors fit together, the same on every process. Collective.
[[nodiscard]] std::vector<std::string> binding_notices(const mpi::Communicator& world, const ProcessCounts& process);

/// Whether a process may use so few of its host's processors that NCCL's threads hinder each other: below four (its own
/// thread, and two or three of NCCL), though its share of the host has more. Open MPI binds the ranks of a job of two
/// to a core each.
[[nodiscard]] bool is_bound_too_narrowly(int allowed, int on_host, int processes_here);

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
  ProcessLocation location;
  BackendChoice backend;
  GroupSizes groups;
  std::vector<CaseList> cases;  ///< of each datatype, reduction and root
  MemoryPlan memory;
  std::vector<std::string> notices;
};

/// The table, the requested files and the judges, on the first process. Collective. Throws UsageError if a file cannot
/// be created.
[[nodiscard]] Outputs open_outputs(const mpi::Communicator& world, RowKind row_kind, const Options& options,
                                   const MakeJudges& make_judges);

/// The facts about the whole run that the set-up of one round of pairs needs.
struct RoundOfRun {
  std::vector<int> pairs{};            ///< the numbers of the round's pairs in reports
  std::optional<ReservedGpus> gpus{};  ///< see ProcessLocation
  std::int64_t steps = 1;              ///< how often the cases are measured, one time after the other
};

/// The GPUs that this process keeps for all rounds, which are set up one after the other. Collective over `world`, the
/// processes of all rounds. Throws Error.
[[nodiscard]] ReservedGpus reserve_gpus(const mpi::Communicator& world, int process, const Sessions& sessions,
                                        const Options& options);

/// Sets up everything but the outputs. Collective over `world`, which must outlive the result. `process`: this
/// process's number in the job. Throws Error, the same on every process.
[[nodiscard]] Setup set_up(const mpi::Communicator& world, int process, Test& test, const Sessions& sessions,
                           Options options, const RoundOfRun& round = {});

}  // namespace fabricbench
