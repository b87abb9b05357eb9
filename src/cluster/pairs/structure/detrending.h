// Detrending: removes changes with time that all pairs share, and that blur the levels of groups.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/pairs/structure/split.h"
#include "cluster/pairs/structure/structure.h"

namespace fabricbench::cluster {

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
