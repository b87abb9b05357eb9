// A split with a realistic scale: hosts and paths may differ by more than the noise of readings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cluster/pairs/structure/split.h"

namespace fabricbench::cluster {

/// As find_split, but if the residuals scatter by more than `settings.scale`, the split has to hold with that larger
/// scale. `settings.scale` is from the two directions of a pair, which other traffic slows alike. Of two values with a
/// correlation of r, each counts for 1 / (1 + r).
[[nodiscard]] std::optional<Split> find_sure_split(std::span<const Comparison> values, std::int32_t nodes,
                                                   SplitSettings settings);

}  // namespace fabricbench::cluster
