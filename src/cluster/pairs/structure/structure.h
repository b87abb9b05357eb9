// The structure of a cluster: which hosts are near each other, from a locality or from the readings.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/sets.h"

namespace fabricbench::cluster {

/// A level: a partition of hosts into parts, such as leaf switches, racks, pods or halls.
struct Level {
  static constexpr std::int32_t kNone = -1;     ///< in no part: slow with all parts, and measured with all of them
  static constexpr std::int32_t kUnknown = -2;  ///< not measured with enough parts to tell
  std::vector<std::int32_t> part_of;            ///< by host, from 0; below 0: in no part
  std::int32_t parts = 0;
  double across = 1;      ///< median rate between parts over the median rate within parts
  double gain = 0;        ///< see Split::gain; 0 if given by a locality
  bool is_given = false;  ///< given by a locality, and not found in the readings

  /// The part that both hosts are in; below 0: there is none.
  [[nodiscard]] std::int32_t common_part(std::int32_t a, std::int32_t b) const {
    const std::int32_t part = part_of[at(a)];
    return part == part_of[at(b)] ? part : kNone;
  }
};

/// A host that the locality has in the wrong leaf, or in none: the readings show it in another leaf.
struct Misplaced {
  std::int32_t host = 0;
  std::int32_t leaf = 0;  ///< the leaf by the readings: place in Sweep::leaves
};

/// The structure that a sweep's readings show.
struct Structure {
  std::vector<Level> levels;      ///< the finest first; each level merges whole parts of the one before; may be empty
  std::vector<char> is_alone;     ///< by host: slow with the hosts of all parts that were found
  std::vector<char> is_unplaced;  ///< by host: in no part that was found, and not measured with all parts
  /// By level: parts that were found and that may be one part.
  std::vector<OpenGroups> open_parts;
  /// By host: of the slower kind. Empty unless half of the hosts or more are slow with everybody, so that readings
  /// cannot tell which kind is healthy.
  std::vector<char> is_slow_kind;
  std::vector<std::int32_t> may_be_slow_leaf;  ///< where links are shared, hosts that may be behind slow uplinks
  Direction slow_way = Direction::kBoth;       ///< direction in which the slower kind is slower
  /// Parts in the readings that contradict the locality: hosts of one leaf are in two of them. Else empty.
  Level contradiction;
  std::vector<Misplaced> misplaced;  ///< hosts in the wrong leaf of the locality; `levels` has them corrected
  std::vector<Misplaced> left_out;   ///< hosts that the locality leaves out; `levels` has their leaf
  double scale = 0.01;  ///< standard deviation of a reading, as a logarithm, from the two directions of pairs

  /// Whether a reading is slowed by a host of the slower kind.
  [[nodiscard]] bool is_of_slow_kind(const Reading& reading) const;
  /// The distance between two hosts: the number of levels, from the finest on, in which they are in different parts. 0:
  /// in one part of the finest level. At levels that were found, a host without any part may be near any host.
  [[nodiscard]] std::int32_t distance(std::int32_t a, std::int32_t b) const;
  /// Whether both hosts are known to be in one part of the finest level.
  [[nodiscard]] bool are_near(std::int32_t a, std::int32_t b) const {
    return !levels.empty() && levels.front().common_part(a, b) >= 0;
  }
  /// Whether a host is in a part of a coarser level, and in none of the finest: its rate with all hosts is that between
  /// parts.
  [[nodiscard]] bool is_alone_in_a_part(std::int32_t host) const;
};

/// Finds the structure. A locality of the sweep is taken as the finest level, and compared with the readings. `depth`:
/// the minimum difference between the rates within and between parts, as a logarithm. `left_out`: readings to ignore,
/// by place; empty: none.
[[nodiscard]] Structure find_structure(const Sweep& sweep, double depth, const std::vector<char>& left_out = {});

}  // namespace fabricbench::cluster
