// Links that pairs of one round share: an oversubscribed fabric, hash collisions, a slow uplink or spine link. There a
// reading says what was left for the pair, and not what its hosts can do.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/structure/structure.h"
#include "cluster/pairs/verdict.h"

namespace fabricbench::cluster {

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
