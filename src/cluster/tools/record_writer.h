#pragma once

#include <cstdint>
#include <string>

#include "cluster/readings.h"

namespace fabricbench::cluster {

/// A sweep in the format of scripts/sweep_pairs.sh (docs/output.md): a line with the hosts, a line for each host with a
/// known leaf, and a line for each reading, for messages of `size_bytes`.
[[nodiscard]] std::string records_of(const Sweep& sweep, std::int64_t size_bytes);

}  // namespace fabricbench::cluster
