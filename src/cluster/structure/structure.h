// Which hosts are near each other: as a locality says, and as the readings show.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/open_groups.h"
#include "cluster/readings.h"

namespace fabricbench::cluster {

/// One way of sorting hosts into parts: leaf switches or racks, pods, halls.
struct Nearness {
  static constexpr std::int32_t kNone = -1;     ///< fast with no part, though it was measured with all of them
  static constexpr std::int32_t kUnknown = -2;  ///< not measured with enough hosts to tell
  std::vector<std::int32_t> part_of;            ///< by host, from 0; below 0: of no part
  std::int32_t parts = 0;
  double across = 1;      ///< rate between parts over the rate within one, the medians
  double gain = 0;        ///< see Split::gain; 0 of a locality that was given
  bool is_given = false;  ///< by a locality, and not found

  /// The part that both hosts are of; below 0: there is none.
  [[nodiscard]] std::int32_t common_part(std::int32_t a, std::int32_t b) const {
    const std::int32_t part = part_of[static_cast<std::size_t>(a)];
    return part == part_of[static_cast<std::size_t>(b)] ? part : kNone;
  }
};

/// A host that a locality has in another leaf, or in none, than that with which it is as fast as hosts of one leaf are.
struct Misplaced {
  std::int32_t host = 0;
  std::int32_t leaf = 0;  ///< that leaf, by its place in Sweep::leaves
};

/// What a sweep's readings show of hosts' places.
struct Structure {
  std::vector<Nearness> levels;   ///< the finest first; each puts together whole parts of the one before; may be empty
  std::vector<char> is_alone;     ///< by host: slow with hosts of each part that was found, one or more
  std::vector<char> is_unplaced;  ///< by host: of no part that was found, and not measured with all of them
  /// Of parts that were found, by level of which it is not known of every two that they are two.
  std::vector<OpenGroups> open_parts;
  /// By host: one of the slower kind, where half of the hosts or more are alone, so that nobody can say which kind is
  /// as it should be. Else empty.
  std::vector<char> is_slow_kind;
  Direction slow_way = Direction::kBoth;  ///< in which hosts of the slower kind are slower
  double kinds_false_alarm = 1;           ///< the chance that hosts of one kind look like two, about
  /// Parts that the readings show against a locality that was given: hosts of one leaf in two of them. Else empty.
  Nearness contradiction;
  std::vector<Misplaced> misplaced;  ///< of a locality that was given, which is corrected in `levels`
  std::vector<Misplaced> left_out;   ///< by a locality that was given; they have their leaf in `levels`
  double scale = 0.01;  ///< standard deviation of a reading, as a logarithm, from readings that have the same causes

  /// Whether a reading is of the slower kind, as far as its direction is known.
  [[nodiscard]] bool is_of_slow_kind(const Reading& reading) const;
  /// By how many levels two hosts are apart: 0 within a part of the finest level, and so on; as many as there are
  /// levels where no level has both in one part. Of levels that were found, a host that has no part at all may be near
  /// anybody.
  [[nodiscard]] std::int32_t distance(std::int32_t a, std::int32_t b) const;
  /// Whether a host has a part of a coarser level, and none of the finest: it is as slow with all as hosts of different
  /// parts.
  [[nodiscard]] bool is_alone_in_a_part(std::int32_t host) const;
};

/// A locality that the sweep has is taken as it is, and held against the readings. `depth`: parts whose rates differ
/// less than this, as a logarithm, are not told apart. `left_out`: by place, readings that say nothing of hosts; empty:
/// none.
[[nodiscard]] Structure find_structure(const Sweep& sweep, double depth, const std::vector<char>& left_out = {});

}  // namespace fabricbench::cluster
