#pragma once

#include "cluster/readings.h"
#include "cluster/verdict.h"
#include "common/core/heat_map.h"

namespace fabricbench::cluster {

/// Hosts up to this number are ordered by likeness; more would take gigabytes.
constexpr std::size_t kMostCompared = 2048;

/// The order of hosts in a map, as places in Sweep::hosts. Hosts of a group of the coarsest level stand together, then
/// those of finer groups, then those of one kind; each has a block around it. Within these, hosts with similar rates
/// stand together (structure/likeness.h), the largest class first. Within a class, hosts are in natural order, those
/// with a mark last. With more than kMostCompared hosts, likeness does not count. Marks are those of host_lists.
[[nodiscard]] HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
