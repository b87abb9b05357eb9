#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/options.h"
#include "common/harness/collective.h"
#include "common/mpi/communicator.h"

namespace fabricbench {

/// Those of the job's processes that take part in what is measured.
struct Members {
  /// Processes 2k and 2k+1 are the first and the second of pair k; nothing on a process that takes no part.
  std::optional<mpi::Communicator> communicator;
  std::vector<std::string> notices;
};

/// The processes that exchange messages by --pairs. Collective over the job. Throws UsageError, the same on every
/// process.
[[nodiscard]] Members choose_members(const mpi::Communicator& job, const Collective& collective,
                                     const Options& options);

}  // namespace fabricbench
