#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/mpi/communicator.h"

namespace fabricbench {

/// What to do where a process may use too few processors.
inline constexpr std::string_view kUnbind =
    "start with mpirun --bind-to numa (or --bind-to none), or srun --cpu-bind=none";

/// What the notices on placement need of this process.
struct PlacementOfProcess {
  int ranks = 1;           ///< of the smallest group
  int processes_here = 1;  ///< of the job, on this host
  bool on_nccl = false;
};

/// Sentences on how ranks and processors fit together, the same on every process. Collective.
[[nodiscard]] std::vector<std::string> placement_notices(const mpi::Communicator& world,
                                                         const PlacementOfProcess& process);

/// Whether a process may use so few of its host's processors that NCCL's threads hinder each other: below four (its own
/// thread, and two or three of NCCL), though its share of the host has more. Open MPI binds the ranks of a job of two
/// to a core each.
[[nodiscard]] bool is_bound_too_narrowly(int allowed, int on_host, int processes_here);

}  // namespace fabricbench
