// How far readings tell which part each host is of, once parts have been found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

/// What a coarser level may put together, as numbers by host: the parts of a level, and behind them its hosts of none,
/// each a part of its own: alone in its leaf, or slow. Negative for hosts of which too little is known.
struct Nodes {
  std::vector<std::int32_t> node_of;
  std::int32_t nodes = 0;
};

[[nodiscard]] Nodes nodes_of(const Nearness& level);

/// What readings say of hosts of no part, by host, and of parts.
struct Evidence {
  std::vector<char> is_alone;     ///< measured with parts enough to say so
  std::vector<char> is_unplaced;  ///< not measured with parts enough
  OpenGroups open;                ///< parts that may be one
};

/// Whether the medians of so many values each differ by more than parts have to, and by far more than by chance.
/// `gain`: by how much, as a logarithm.
[[nodiscard]] bool is_clearly_faster(double gain, std::size_t values, std::size_t other_values,
                                     const SplitSettings& settings);

/// Takes out of their parts hosts that hardly anything shows to be of them, and that may be of another part of the same
/// coarser one (SplitSettings::coarser), with which they were not measured.
void leave_weak_members(const std::vector<Comparison>& values, const Split& split, const SplitSettings& settings,
                        Nearness& level);

/// Of the values that `split` was found in; `level`: its parts.
[[nodiscard]] Evidence evidence_of(const std::vector<Comparison>& values, const Nearness& level, const Split& split,
                                   const SplitSettings& settings);

}  // namespace fabricbench::cluster
