// Once parts have been found: how well readings show which part each host is in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/pairs/structure/split.h"
#include "cluster/pairs/structure/structure.h"

namespace fabricbench::cluster {

/// The nodes that a coarser level may merge, by host: the parts of a level, and behind them each host without a part as
/// a node by itself, since it is alone in its leaf, or slow. Negative: too little is known of the host.
struct Nodes {
  std::vector<std::int32_t> node_of;
  std::int32_t nodes = 0;
};

[[nodiscard]] Nodes nodes_of(const Nearness& level);

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
                        Nearness& level);

/// The evidence in the values in which `split` was found. `level`: the parts of the split.
[[nodiscard]] Evidence evidence_of(const std::vector<Comparison>& values, const Nearness& level, const Split& split,
                                   const SplitSettings& settings);

}  // namespace fabricbench::cluster
