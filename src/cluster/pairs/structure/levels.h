// Levels of nearness in the readings: parts of hosts, coarser parts of parts, and finer parts within parts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/pairs/structure/comparison_table.h"
#include "cluster/pairs/structure/split.h"
#include "cluster/pairs/structure/structure.h"

namespace fabricbench::cluster {

/// The level of a split: its parts of two nodes or more, renumbered. Single nodes are in no part.
[[nodiscard]] Nearness nearness_of(const Split& split);

/// Assigns hosts without a part to the part that they are nearest to, if it is clearly nearer than the others: a slow
/// host is slow within its part too, but faster than to other parts. Hosts whose rate with that part is a rate between
/// parts stay without one: they may be parts by themselves. Clears `is_unplaced`, by host, of assigned hosts.
void place_by_reach(const std::vector<Comparison>& comparisons, const SplitSettings& settings, Nearness& level,
                    std::vector<char>& is_unplaced);

/// Adds coarser levels, as long as there are any.
void add_all_coarser(const ComparisonTable& table, const SplitSettings& settings, std::vector<Nearness>& levels);

/// The split that explains most: with or without detrending, or with settings for a few fast pairs. If there are
/// several kinds of values, it is found again with these centred.
[[nodiscard]] std::optional<Split> find_best_split(ComparisonTable& table, std::int32_t hosts,
                                                   const SplitSettings& settings);

/// Finds the levels of a structure without a locality.
void find_levels(ComparisonTable& table, const SplitSettings& settings, Structure& structure);

}  // namespace fabricbench::cluster
