// How long a path that is slow, or fails, now and then is measured again.
#pragma once

#include <cstdint>

namespace fabricbench::cluster {

/// After so many meetings a path that is not known to be unsteady is not measured again.
constexpr std::int64_t kMeetingsToSettle = 20;

/// Whether a path may be unsteady: slow, or failing, in a fifth of its meetings. `bad`: of its meetings so far, those
/// in which it was slow, or failed.
[[nodiscard]] inline bool may_be_unsteady(std::int64_t bad, std::int64_t meetings) {
  constexpr double kLeastShare = 0.15;
  return static_cast<double>(bad) >= kLeastShare * static_cast<double>(meetings);
}

}  // namespace fabricbench::cluster
