// Leaf switches, paths between two of them, and rails: what is slow for many hosts at once. Looked for before hosts are
// blamed one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/attribution/model.h"

namespace fabricbench::cluster {

/// What all readings of a block have in common.
struct BlockScore {
  double median = 0;  ///< of the logarithms of rates, relative to what is healthy
  std::int64_t readings = 0;
  std::int64_t hosts = 0;  ///< on the side that is blamed, or on the smaller side of a pair of leaves
  double false_alarm = 1;
};

/// A leaf's way up (role kSender) or down (kReceiver), or both together where nobody can tell (kEither).
struct LeafRow {
  std::int32_t kind = 0;
  std::int32_t leaf = 0;
  Role role = Role::kSender;
  BlockScore score;
};

/// The path from one leaf to another; with `either`, both ways together.
struct LeafPath {
  std::int32_t kind = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
  bool either = false;
  BlockScore score;
};

/// A rail that is slower than the others, for everybody.
struct SlowRail {
  std::int32_t rail = 0;
  double rate = 0;              ///< bytes per second
  double expected = 0;          ///< of the other rails
  std::int64_t slow_hosts = 0;  ///< of the score's hosts, those that are slower on it than on other rails
  BlockScore score;
};

struct Blocks {
  std::vector<LeafRow> rows;
  std::vector<LeafPath> paths;
};

/// A block has at least so many hosts on each side, or it is their own fault. A leaf of two is one where these two were
/// measured with each other and are fine.
constexpr std::int64_t kHostsOfBlock = 2;

/// Finds slow leaves and paths between them, the worst first, and notes at each point what they explain.
[[nodiscard]] Blocks find_blocks(Model& model);

/// Compares the centres of strata that differ by rail alone.
[[nodiscard]] std::vector<SlowRail> find_slow_rails(const Model& model);

}  // namespace fabricbench::cluster
