// The split that is still worth its description where hosts and paths differ by more than readings do by chance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cluster/structure/split.h"

namespace fabricbench::cluster {

/// As find_split. Hosts or paths may differ by more than the two directions of a pair, which other traffic slows alike:
/// then a split has to be worth it still, with that as the scale. Of two values with a correlation of r, each counts
/// for 1 / (1 + r).
[[nodiscard]] std::optional<Split> find_sure_split(std::span<const Comparison> values, std::int32_t nodes,
                                                   SplitSettings settings);

}  // namespace fabricbench::cluster
