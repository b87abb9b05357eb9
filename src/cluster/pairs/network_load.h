// Light load: few pairs are measured at the same time. In an oversubscribed network such pairs are faster.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fabricbench::cluster {

/// If pairs alone are faster than among many by less than this factor, pairs do not slow each other.
constexpr double kHardlyFaster = 1.03;

/// A round of so many pairs is fully loaded in a sweep of any size: it shows by itself what is usual at its time.
constexpr std::int64_t kPairsOfFullLoad = 16;

/// Whether `concurrent` pairs at once (0: not known) are a light load in a sweep of up to `most` pairs at once.
[[nodiscard]] constexpr bool is_lightly_loaded(std::int64_t concurrent, std::int64_t most) {
  return concurrent > 0 && 2 * concurrent < std::min(most, 2 * kPairsOfFullLoad);
}

}  // namespace fabricbench::cluster
