#pragma once

#include <cstdint>
#include <vector>

#include "cluster/readings.h"

namespace fabricbench::cluster {

/// The last round in which anything was measured; -1: nothing was. By NIC, which is host * rails + rail; with `rails` 1
/// by host, whatever rails the readings have.
[[nodiscard]] std::vector<std::int32_t> last_work(const Sweep& sweep, std::int32_t rails);

}  // namespace fabricbench::cluster
