// What is measured while few pairs are: the network is quiet, and pairs that disturb each other are faster.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fabricbench::cluster {

/// A pair is hardly faster alone than it is among many by less than this factor: pairs do not disturb each other.
constexpr double kHardlyFaster = 1.03;

/// So many pairs at once show what is usual at their time by themselves, in a sweep of any size.
constexpr std::int64_t kPairsOfBusy = 16;

/// Whether so many pairs at once, 0 where that is not known, are a quiet network in a sweep of up to `most` at once.
[[nodiscard]] constexpr bool is_quiet(std::int64_t concurrent, std::int64_t most) {
  return concurrent > 0 && 2 * concurrent < std::min(most, 2 * kPairsOfBusy);
}

}  // namespace fabricbench::cluster
