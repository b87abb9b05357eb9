#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/core/session.h"
#include "common/core/units.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// How large the buffers may be.
struct MemoryPlan {
  Bytes max_bytes = 0;               ///< the largest message: -e, or less where that does not fit
  Bytes pool_bytes = 0;              ///< each buffer
  std::vector<std::string> notices;  ///< what was lowered
};

/// Memory that every rank may take, the least over all: of its device, or what is free on its host, within its control
/// group too, divided among the ranks that share it. Collective.
[[nodiscard]] Bytes memory_per_rank(const mpi::Communicator& world, const Session& session);

/// Fits the sweep into `per_rank` bytes. `cold_pool`: what --buffers cold wants to rotate through.
/// Throws Error (missing), with the figures, where even the smallest message does not fit.
[[nodiscard]] MemoryPlan plan_memory(const Options& options, Bytes per_rank, Bytes cold_pool);

}  // namespace fabricbench
