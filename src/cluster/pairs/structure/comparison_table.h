// A sweep's readings as comparisons, in which structure is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/pairs/readings.h"
#include "cluster/pairs/structure/split.h"

namespace fabricbench::cluster {

/// The readings under full load, as comparisons, each with the number of its kind.
struct ComparisonTable {
  std::vector<Comparison> values;
  std::vector<std::int32_t> kinds;  // by value
  std::int32_t number_of_kinds = 0;
  bool has_directions = true;  ///< no reading is of both directions together
};

/// Leaves out readings under light load, readings without a rate, and those that are `left_out` (by place; empty:
/// none).
[[nodiscard]] ComparisonTable table_of(const Sweep& sweep, const std::vector<char>& left_out);

/// Subtracts from each value the centre of its kind. `part_of`: by host; between parts, each part counts once.
void centre(const std::vector<std::int32_t>& part_of, ComparisonTable& table);

/// Subtracts drift, as far as pairs show it that were measured at several times: median polish by pair and window,
/// which does not depend on structure.
void remove_drift(ComparisonTable& table);

/// Subtracts from each value the centre of its kind within parts, since rates between parts may differ from kind to
/// kind.
void centre_within(const std::vector<std::int32_t>& part_of, ComparisonTable& table);

/// The standard deviation of a value, as a logarithm, from the two directions of pairs that were measured one after the
/// other: they differ by noise only, whatever the hosts and the path are like.
[[nodiscard]] double scale_of(const ComparisonTable& table, std::size_t hosts);

/// Merges the two directions of a pair, if measured one after the other, into one value: the slower one.
[[nodiscard]] ComparisonTable slower_directions(const ComparisonTable& table);

}  // namespace fabricbench::cluster
