#pragma once

#include <string>

#include "cluster/readings.h"
#include "cluster/verdict.h"
#include "common/core/heat_map.h"

namespace fabricbench::cluster {

/// A sweep as a picture of characters (common/core/heat_map.h): a line for each receiving host, a column for each
/// sending host, in the order and with the blocks and marks of map_layout. The cells are those of share_matrix; each
/// combination that it leaves out has a line. For more than 64 hosts it is one line that says where else to look.
[[nodiscard]] std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour);

/// Hosts up to this number are ordered by likeness; more would take gigabytes.
constexpr std::size_t kMostCompared = 2048;

/// The order of hosts in a map, as places in Sweep::hosts. Hosts of a group of the coarsest level stand together, then
/// those of finer groups, then those of one kind; each has a block around it. Within these, hosts with similar rates
/// stand together (structure/likeness.h), the largest class first. Within a class, hosts are in natural order, those
/// with a mark last. With more than kMostCompared hosts, likeness does not count. Marks are those of host_lists.
[[nodiscard]] HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
