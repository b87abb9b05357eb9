// Levels of nearness in the readings: parts of hosts, coarser parts of parts, and finer parts within parts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

/// As find_split, but if the residuals scatter by more than `settings.scale`, the split has to hold with that larger
/// scale. `settings.scale` is from the two directions of a pair, which other traffic slows alike. Of two values with a
/// correlation of r, each counts for 1 / (1 + r).
[[nodiscard]] std::optional<Split> find_sure_split(std::span<const Comparison> values, std::int32_t nodes,
                                                   SplitSettings settings);

/// Subtracts the trend from each value. Returns whether there is one. `split`: the split that was found before, if any;
/// `nodes`: as in find_split.
bool detrend(const std::optional<Split>& split, std::int32_t nodes, const SplitSettings& settings,
             std::vector<Comparison>& values);

/// The same, with known residuals: `left` has each value without the effect of distance.
void detrend_by_residuals(const std::vector<Comparison>& left, const SplitSettings& settings,
                          std::vector<Comparison>& values);

/// Corrects single windows in which everything was slow, relative to values at the same distance, by more than noise
/// and than parts have to differ. Returns whether there were any.
[[nodiscard]] bool remove_drops(const Structure& structure, const SplitSettings& settings,
                                std::vector<Comparison>& values);

}  // namespace fabricbench::cluster
