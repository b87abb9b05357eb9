// Levels of nearness as readings show them: parts of hosts, parts of parts, and parts within them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/structure/comparison_table.h"
#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

/// A split's parts of two nodes or more, numbered anew; nodes alone are of none.
[[nodiscard]] Nearness nearness_of(const Split& split);

/// Hosts of no part that are nearer to one part than to the others are of that one: a slow host is slow within it too,
/// but less than the way to others. Not those that are as near to it as other parts are to each other: such a host may
/// be a part by itself. `is_unplaced`: by host, cleared of those.
void place_by_reach(const std::vector<Comparison>& comparisons, const SplitSettings& settings, Nearness& level,
                    std::vector<char>& is_unplaced);

/// Parts of parts of the coarsest level, as long as there are any.
void add_all_coarser(const ComparisonTable& table, const SplitSettings& settings, std::vector<Nearness>& levels);

/// The split that explains most: without or with a trend, or with a few fast pairs, for which `settings` change. Then
/// again with what is usual of each kind taken off.
[[nodiscard]] std::optional<Split> find_best_split(ComparisonTable& table, std::int32_t hosts,
                                                   const SplitSettings& settings);

/// Fills in what a structure without a locality has.
void find_levels(ComparisonTable& table, const SplitSettings& settings, Structure& structure);

}  // namespace fabricbench::cluster
