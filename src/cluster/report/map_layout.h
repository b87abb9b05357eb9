#pragma once

#include "cluster/readings.h"
#include "cluster/verdict.h"
#include "common/core/heat_map.h"

namespace fabricbench::cluster {

/// Hosts up to this number are ordered by likeness; more would take gigabytes.
constexpr std::size_t kMostCompared = 2048;

/// How hosts stand in a map, by their place in Sweep::hosts: those of a group of the coarsest level together, within it
/// those of a finer one, then those of one kind, each with a block around them. Within those, hosts that reach the
/// same with the same partners stand together (structure/likeness.h), the most first; alike ones are in the order of
/// people, those with a mark last. Of more than kMostCompared hosts, likeness does not count. Marks are what host_lists
/// says of a host.
[[nodiscard]] HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict);

}  // namespace fabricbench::cluster
