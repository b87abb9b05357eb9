// A sweep's readings as comparisons: what structure is found in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/readings.h"
#include "cluster/structure/split.h"

namespace fabricbench::cluster {

/// The readings of a network as busy as it was for most, as comparisons, each with the number of its kind.
struct ComparisonTable {
  std::vector<Comparison> values;
  std::vector<std::int32_t> kinds;  // by value
  std::int32_t number_of_kinds = 0;
  bool has_directions = true;  ///< no figure is of both directions together
};

/// Quiet readings and those without a rate are left out, and those that are `left_out`, by place; empty: none.
[[nodiscard]] ComparisonTable table_of(const Sweep& sweep, const std::vector<char>& left_out);

/// Takes from each value what is usual of its kind. `part_of`: by host; of what is between parts, each part counts
/// once.
void centre(const std::vector<std::int32_t>& part_of, ComparisonTable& table);

/// Takes from each value what all pairs have in common at its time, as far as pairs show it that were measured again
/// and again: median polish by pair and window, which knows nothing of where hosts are.
void take_drift(ComparisonTable& table);

/// Takes from each value what is usual of its kind within parts: what is between them may differ from kind to kind.
void centre_within(const std::vector<std::int32_t>& part_of, ComparisonTable& table);

/// The standard deviation of a value, as a logarithm: from both directions of pairs that were measured one after the
/// other, where what differs is noise, whatever the hosts and the path are like.
[[nodiscard]] double scale_of(const ComparisonTable& table, std::size_t hosts);

/// Both directions of a pair that were measured one after the other as one value, the slower one.
[[nodiscard]] ComparisonTable slower_directions(const ComparisonTable& table);

}  // namespace fabricbench::cluster
