#pragma once

#include <string>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/verdict.h"
#include "common/core/heat_map.h"

namespace fabricbench::cluster {

/// A sweep as a picture of characters (common/core/heat_map.h): a line for each receiving host, a column for each
/// sending host, in the order and with the blocks and marks of map_layout. A cell is the rate as a share of the usual
/// rate of near hosts of the faster kind with the same test, message size and rails, so that groups and kinds show: the
/// median of repeated readings, and the lowest over rails and sizes. The usual rate is that of the test, size and rails
/// with most readings. For more than 64 hosts it is one line that says where else to look.
[[nodiscard]] std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour);

/// The order of hosts in a map, as places in Sweep::hosts. Hosts of a group of the coarsest level stand together, then
/// those of finer groups, then those of one kind; each has a block around it. Within these, hosts are in natural order,
/// those with a mark last. Marks are those of host_lists.
[[nodiscard]] HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
