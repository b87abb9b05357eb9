#pragma once

#include <cstdint>
#include <string>

#include "cluster/readings.h"

namespace fabricbench::cluster {

/// A sweep as scripts/sweep_pairs.sh records it (docs/output.md): a line that names the hosts, a line for each host
/// whose leaf is known, and one for each reading, of messages of `size_bytes`.
[[nodiscard]] std::string records_of(const Sweep& sweep, std::int64_t size_bytes);

}  // namespace fabricbench::cluster
