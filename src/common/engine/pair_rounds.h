#pragma once

#include <cstdint>
#include <vector>

#include "common/core/pairs.h"

namespace fabricbench {

/// Divides pairs into rounds of pairs that are measured at the same time. Returns the numbers of each round's pairs,
/// ascending. No two pairs of a round have a rank in common, and a round has at most `concurrent` pairs (0: no limit).
/// The first round begins with pair 0. Every pair is in one round. `pairs` must either have no rank in common, and then
/// keep their order, or be all pairs that `ranks` ranks can form.
[[nodiscard]] std::vector<std::vector<int>> rounds_of(const std::vector<Pair>& pairs, int ranks,
                                                      std::int64_t concurrent);

}  // namespace fabricbench
