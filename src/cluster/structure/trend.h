// What changes with time in all pairs alike, and blurs the levels that groups are told by.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cluster/structure/split.h"
#include "cluster/structure/structure.h"

namespace fabricbench::cluster {

/// Takes from each value the trend of its time, and says whether there is one. `split` is what shows with it, if
/// anything; `nodes` as in find_split.
bool take_trend(const std::optional<Split>& split, std::int32_t nodes, const SplitSettings& settings,
                std::vector<Comparison>& values);

/// The same, where `left` is what is known beforehand to be left of each value beside how far apart its hosts are.
void take_trend_beside(const std::vector<Comparison>& left, const SplitSettings& settings,
                       std::vector<Comparison>& values);

/// Takes off what single windows are slower by than hosts so far apart are, where that is more than scatter and than
/// parts have to differ: in such a round everything was slow. Whether there was any.
[[nodiscard]] bool take_drops(const Structure& structure, const SplitSettings& settings,
                              std::vector<Comparison>& values);

}  // namespace fabricbench::cluster
