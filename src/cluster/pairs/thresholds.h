// The numbers that parts of the verdict and of the planner share. Each was set by the sweeps of
// bench/verdicts/judge.py, or half and one and a half times as much make no difference there; a number of one part
// alone is in that part.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fabricbench::cluster {

/// Standard errors, or standard deviations of one reading, beyond which chance is no explanation: one of 740.
inline constexpr double kErrors = 3;
/// The same where a mistake would blame somebody, or move a host: one of 30,000.
inline constexpr double kSureErrors = 4;

/// With a higher probability of a false alarm a suspicion is dropped, and with a lower one kept.
inline constexpr double kLikely = 0.3;

/// The quantile of rates that is called fast: robust to three slow partners of ten.
inline constexpr double kUpper = 0.7;
/// The same where almost all of them may be slowed: robust to outliers only.
inline constexpr double kFastest = 0.9;

/// Most of some hosts or readings, where a few may be wrong.
inline constexpr double kMost = 0.75;
/// A larger share of hosts, pairs or readings is no exception.
inline constexpr double kExceptions = 0.1;

/// The part of a deficit, as a logarithm, that tells whether another deficit is the same one.
inline constexpr double kPart = 0.4;
/// What load takes at least, as a logarithm: more than drift within a few rounds.
inline constexpr double kLeastLoad = 0.1;

/// A host or path is slow now and then if it is so in this share of its meetings.
inline constexpr double kUnsteadyShare = 0.2;

/// One may be chance, or the fault of the other host.
inline constexpr int kMoreThanOne = 2;
/// So many cannot be one time, one partner or one path.
inline constexpr int kSeveral = 3;
/// Readings or rounds without which a median says nothing.
inline constexpr int kFew = 4;
/// Readings, meetings or rounds after which more of them decide nothing.
inline constexpr int kMany = 20;

// Light load: few pairs are measured at the same time. In an oversubscribed network such pairs are faster.

/// If pairs alone are faster than among many by less than this factor, pairs do not slow each other.
constexpr double kHardlyFaster = 1.03;

/// A round of so many pairs is fully loaded in a sweep of any size: it shows by itself what is usual at its time.
constexpr std::int64_t kPairsOfFullLoad = 16;

/// Whether `concurrent` pairs at once (0: not known) are a light load in a sweep of up to `most` pairs at once.
[[nodiscard]] constexpr bool is_lightly_loaded(std::int64_t concurrent, std::int64_t most) {
  return concurrent > 0 && 2 * concurrent < std::min(most, 2 * kPairsOfFullLoad);
}

}  // namespace fabricbench::cluster
