// What many hosts share: the uplinks of a leaf, the path between two leaves, a rail.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/readings.h"
#include "cluster/pairs/structure/structure.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

/// Slow uplinks of leaves, and slow paths between two leaves.
struct SlowLeaves {
  std::vector<Finding> findings;
  std::vector<char> explained;  ///< by place in Sweep::readings: it goes over one of them; empty: there are none
  std::set<std::int32_t> open;  ///< where links are shared: leaves that may be slow, or chance makes them look so
};

/// Compares readings between leaves with others of the same round, which met the same load at the same time. Most hosts
/// of a slow leaf are slow, and fine with each other. `left_out`, by place: readings that count for nothing; empty:
/// none. Where links are shared, of groups in the readings one with two thirds of the hosts is many leaves that look
/// like one: readings within it count too.
[[nodiscard]] SlowLeaves find_slow_leaves(const Sweep& sweep, const Structure& structure,
                                          const VerdictSettings& settings, const std::vector<char>& left_out,
                                          bool links_are_shared);

/// Adds findings on rails that are slower than the others for most hosts: strata that differ only in the rail.
void report_rails(const Model& model, Verdict& verdict);

}  // namespace fabricbench::cluster
