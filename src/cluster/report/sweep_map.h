#pragma once

#include <string>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// A sweep as a picture of characters (common/core/heat_map.h): a line for each receiving host, a column for each
/// sending host, in the order and with the blocks and marks of map_layout. The cells are those of share_matrix; each
/// combination that it leaves out has a line. For more than 64 hosts it is one line that says where else to look.
[[nodiscard]] std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour);

}  // namespace fabricbench::cluster
