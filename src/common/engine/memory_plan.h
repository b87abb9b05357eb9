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

/// The bytes of a buffer in which each message has a place of its own (--check all). `distance`: of the places of the
/// largest messages.
[[nodiscard]] Bytes pool_of_places(Bytes distance);

/// Fits the sizes into `per_rank` bytes. `pool`: the bytes that operations use in turn, with --buffers cold or --check
/// all. Throws Error (missing), with the figures, if even the smallest message does not fit.
[[nodiscard]] MemoryPlan plan_memory(const Options& options, Bytes per_rank, Bytes pool);

}  // namespace fabricbench
