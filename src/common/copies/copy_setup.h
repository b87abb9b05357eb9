#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/backends/gpu/gpu_copies.h"
#include "common/copies/copy_plan.h"
#include "common/core/options.h"
#include "common/mpi/communicator.h"
#include "common/ranks/team.h"

namespace fabricbench {

/// The settings of a run before copies are measured.
struct CopySetup {
  Options options;
  ProcessLocation location;
  std::optional<mpi::Communicator> host;  ///< the processes of this host
  std::vector<gpu::SeenGpu> seen;         ///< all GPUs that this process sees, or only that of --device
  std::vector<SizedCopy> copies;          ///< this process's own
  gpu::CopyMemory memory;
  std::vector<std::string> notices;

  [[nodiscard]] const CopyGpu& gpu(int device) const;
};

/// Collective. Throws Error, the same on every process: usage, or missing if one of them has no GPU.
[[nodiscard]] CopySetup set_up_copies(const mpi::Communicator& world, Options options);

}  // namespace fabricbench
