#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/core/units.h"
#include "common/mpi/communicator.h"

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

/// Fits the sizes into `per_rank` bytes. `cold_pool`: the bytes that --buffers cold rotates through. Throws Error
/// (missing), with the figures, if even the smallest message does not fit.
[[nodiscard]] MemoryPlan plan_memory(const Options& options, Bytes per_rank, Bytes cold_pool);

}  // namespace fabricbench
