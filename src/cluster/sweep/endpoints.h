#pragma once

#include "common/core/options.h"
#include "common/engine/pair_plan.h"
#include "common/mpi/communicator.h"

namespace fabricbench::sweep {

/// The processes that are paired with each other: the first of each host, or all. Of kAuto, hosts where there are
/// several. Collective over the job. Throws UsageError, the same on every process: fewer than two, or more GPUs a
/// process than one.
[[nodiscard]] Members choose_endpoints(const mpi::Communicator& job, const Options& options);

}  // namespace fabricbench::sweep
