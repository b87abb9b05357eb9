// Fabrics with groups of hosts, for tests of the structure that readings show.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attribution_test_support.h"
#include "cluster/pairs/structure/structure.h"

namespace fabricbench::cluster::levels_test {

using Parts = std::vector<std::int32_t>;

/// Hosts of one part reach everything, those of two `across`.
inline Share groups(Parts part_of, double across) {
  return [part_of = std::move(part_of), across](std::int32_t a, std::int32_t b) {
    return part_of[static_cast<std::size_t>(a)] == part_of[static_cast<std::size_t>(b)] ? 1 : across;
  };
}

/// The first `slow` hosts are so much slower with everybody.
inline Share slow_hosts(std::int32_t slow, double share) {
  return [slow, share](std::int32_t a, std::int32_t b) { return std::min(a, b) < slow ? share : 1; };
}

inline Parts in_blocks(std::int32_t hosts, std::int32_t size) {
  Parts part_of;
  for (std::int32_t host = 0; host < hosts; ++host) part_of.push_back(host / size);
  return part_of;
}

inline Parts in_turn(std::int32_t hosts, std::int32_t parts) {
  Parts part_of;
  for (std::int32_t host = 0; host < hosts; ++host) part_of.push_back(host % parts);
  return part_of;
}

constexpr double kDepth = 0.04;

}  // namespace fabricbench::cluster::levels_test
