#pragma once

#include "common/core/options.h"
#include "common/engine/pair_plan.h"
#include "common/mpi/communicator.h"

namespace fabricbench::sweep {

/// The processes to pair: the first of each host, or all. kAuto means hosts if there are several. Collective over the
/// job. Throws UsageError, the same on every process, for fewer than two processes or several GPUs per process.
[[nodiscard]] Members choose_endpoints(const mpi::Communicator& job, const Options& options);

}  // namespace fabricbench::sweep
