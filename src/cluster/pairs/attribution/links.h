// What many hosts share: the uplinks of a leaf, the path between two leaves, a rail; and links that pairs of one round
// share: an oversubscribed fabric, hash collisions, a slow uplink or spine link. There a reading says what was left for
// the pair, and not what its hosts can do.
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

/// Links are shared if pairs alone are faster than the same pairs beside others, later on, or if hosts are slow
/// together with all others and fast with each other.
[[nodiscard]] SharedLinks find_shared_links(const Sweep& sweep, double tolerance);

/// Rounds of the same pairs as an earlier one, as they are measured to find shared links: the same load is no news of
/// leaves, and the round was chosen because it is slow.
[[nodiscard]] std::set<std::int32_t> repeated_rounds(const Sweep& sweep);

/// The structure of a sweep with shared links. Groups that were found are dropped if many pairs within them are slow,
/// since collisions look like groups as well. Hosts that are slow with all others and fast with each other are a group.
[[nodiscard]] Structure structure_with_shared_links(const Sweep& sweep, const VerdictSettings& settings);

/// Where links are shared, readings of pairs alone, of hosts in one leaf of a locality, and those as fast as these say
/// what hosts can do. Groups in the readings are not sure enough.
struct Loaded {
  std::vector<char> readings;  ///< by place: it says what was left for its pair
  std::vector<char>
      above_usual;  ///< by place: beside others, and taken because it is fast: no estimate of what is usual
  std::vector<char> never_fast;   ///< by host: it has not been as fast as usual
  std::vector<char> slow_lately;  ///< by host: its latest readings in a direction are slow; it may have become slow
};
[[nodiscard]] Loaded loaded_readings(const Sweep& sweep, const Structure& structure, double tolerance);

}  // namespace fabricbench::cluster
