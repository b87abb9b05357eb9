#pragma once

#include <optional>

#include "common/harness/backends.h"
#include "common/rdma/own_port.h"

namespace fabricbench {

/// Queue pairs between the two ranks of each pair, on the port that settle_port gave this process. `seen_by`: when a
/// message counts, where the program asks for it. Of bandwidths in GPU memory, `test` is tried in the host's memory
/// too, for comparison. Throws as choose_backend does, the same on every process.
[[nodiscard]] BackendChoice open_verbs(const Team& team, const Placed& placed, const Options& options,
                                       const SettledPort& port, const Collective& test,
                                       std::optional<SeenBy> seen_by = std::nullopt);

}  // namespace fabricbench
