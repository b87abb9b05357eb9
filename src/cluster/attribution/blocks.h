// Blocks: leaf switches, paths between two of them, and rails, which slow many hosts at once. Found before hosts are
// blamed one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// The score of a block.
struct BlockScore {
  double median = 0;  ///< of its residuals
  std::int64_t readings = 0;
  std::int64_t hosts = 0;  ///< in the leaf, or on the smaller side of a path between leaves
  double false_alarm = 1;
};

/// The uplinks of a leaf: out of it (role kSender), into it (kReceiver), or both together (kEither, from readings of
/// both directions).
struct LeafRow {
  std::int32_t kind = 0;
  std::int32_t leaf = 0;
  Role role = Role::kSender;
  BlockScore score;
};

/// The path from one leaf to another; with `either`, both directions together.
struct LeafPath {
  std::int32_t kind = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  bool either = false;
  BlockScore score;
};

/// A rail that is slower than the others for most hosts.
struct SlowRail {
  std::int32_t rail = 0;
  double rate = 0;              ///< bytes per second
  double expected = 0;          ///< of the other rails
  std::int64_t slow_hosts = 0;  ///< hosts of the score that are slower on it than on other rails
  BlockScore score;
};

struct Blocks {
  std::vector<LeafRow> rows;
  std::vector<LeafPath> paths;
};

/// A block has at least so many hosts on each side; with fewer, the hosts themselves may be slow. A leaf of two hosts
/// counts if these were measured with each other and are fine.
constexpr std::int64_t kHostsOfBlock = 2;

/// Finds slow leaves and paths between leaves, the worst first, and sets Point::block.
[[nodiscard]] Blocks find_blocks(Model& model);

/// Finds slow rails: compares strata that differ only in the rail.
[[nodiscard]] std::vector<SlowRail> find_slow_rails(const Model& model);

}  // namespace fabricbench::cluster
