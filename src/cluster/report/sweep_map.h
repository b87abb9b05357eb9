#pragma once

#include <string>

#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// A sweep as a picture of characters (common/core/heat_map.h): a line a host that receives, a column a host that
/// sends, in the order and with the blocks and marks of map_layout. A cell is what share_matrix has; what that leaves
/// out is named in a line each. Of more than 64 hosts it is one line that says where else to look.
[[nodiscard]] std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour);

}  // namespace fabricbench::cluster
