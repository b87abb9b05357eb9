// Levels in the readings: parts of hosts, coarser parts of parts, and finer parts within parts. And two
// kinds of hosts: if half of the hosts or more are slower, readings cannot tell which kind is healthy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/pairs/structure/comparison_table.h"
#include "cluster/pairs/structure/split.h"
#include "cluster/pairs/structure/structure.h"

namespace fabricbench::cluster {

// Once parts have been found: how well readings show which part each host is in.

/// The nodes that a coarser level may merge, by host: the parts of a level, and behind them each host without a part as
/// a node by itself, since it is alone in its leaf, or slow. Negative: too little is known of the host.
struct Nodes {
  std::vector<std::int32_t> node_of;
  std::int32_t nodes = 0;
};

[[nodiscard]] Nodes nodes_of(const Level& level);

/// The evidence on hosts without a part, by host, and on parts.
struct Evidence {
  std::vector<char> is_alone;     ///< measured with enough parts to say so
  std::vector<char> is_unplaced;  ///< not measured with enough parts
  OpenGroups open;                ///< parts that may be one
};

/// Whether two medians differ by more than parts have to, and by far more than by chance. `gain`: their difference, as
/// a logarithm; `values`, `other_values`: the numbers of values.
[[nodiscard]] bool is_clearly_faster(double gain, std::size_t values, std::size_t other_values,
                                     const SplitSettings& settings);

/// Removes hosts from their part if there is little evidence for it, and if they may be in another part of the same
/// coarser part (SplitSettings::coarser) that they were not measured with.
void leave_weak_members(const std::vector<Comparison>& values, const Split& split, const SplitSettings& settings,
                        Level& level);

/// The evidence in the values in which `split` was found. `level`: the parts of the split.
[[nodiscard]] Evidence evidence_of(const std::vector<Comparison>& values, const Level& level, const Split& split,
                                   const SplitSettings& settings);

/// The level of a split: its parts of two nodes or more, renumbered. Single nodes are in no part.
[[nodiscard]] Level level_of(const Split& split);

/// Assigns hosts without a part to the part that they are nearest to, if it is clearly nearer than the others: a slow
/// host is slow within its part too, but faster than to other parts. Hosts whose rate with that part is a rate between
/// parts stay without one: they may be parts by themselves. Clears `is_unplaced`, by host, of assigned hosts.
void place_by_reach(const std::vector<Comparison>& comparisons, const SplitSettings& settings, Level& level,
                    std::vector<char>& is_unplaced);

/// Adds coarser levels, as long as there are any.
void add_all_coarser(const ComparisonTable& table, const SplitSettings& settings, std::vector<Level>& levels);

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

/// If half of the hosts or more are alone, sets two kinds of hosts; then no host is alone. Unplaced hosts, which are
/// slow with all that they met so far, are taken for the slower kind.
void note_kinds(const ComparisonTable& table, Structure& structure);

/// Within the faster hosts some are slow with each other too. If these and the slower hosts together are half of all
/// hosts or more, sets them as one kind.
void note_kinds_within(const ComparisonTable& table, const std::vector<char>& is_alone_within, Structure& structure);

/// Sets two kinds of hosts if one of them is slower in one direction only. Returns whether there are such kinds.
[[nodiscard]] bool note_one_way_kinds(const ComparisonTable& table, const SplitSettings& settings,
                                      Structure& structure);

}  // namespace fabricbench::cluster
