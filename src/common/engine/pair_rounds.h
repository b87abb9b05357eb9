#pragma once

#include <cstdint>
#include <vector>

#include "common/core/pairs.h"

namespace fabricbench {

/// Which pairs are measured at the same time: the numbers of those of each round, ascending. No rank is in two pairs of
/// a round, the first round begins with pair 0, and a round has at most `concurrent` of them (0: as many as there are).
/// Every pair is in one round. Pairs of which no two have a rank in common keep their order; others have to be all that
/// `ranks` ranks can form.
[[nodiscard]] std::vector<std::vector<int>> rounds_of(const std::vector<Pair>& pairs, int ranks,
                                                      std::int64_t concurrent);

}  // namespace fabricbench
