#pragma once

#include <cstdint>
#include <vector>

#include "cluster/pairs/readings.h"

namespace fabricbench::cluster {

/// The last round in which a unit had a reading with a rate; -1: it never had one. A unit is host * rails + rail; if
/// `rails` is 1, it is the host, with all of its rails.
[[nodiscard]] std::vector<std::int32_t> last_success(const Sweep& sweep, std::int32_t rails);

}  // namespace fabricbench::cluster
