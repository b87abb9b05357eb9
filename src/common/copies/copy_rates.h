#pragma once

#include <span>

#include "common/core/units.h"

namespace fabricbench {

/// Bytes per second of two directions at the same time.
struct BothRates {
  double first = 0;
  double second = 0;
  [[nodiscard]] double sum() const { return first + second; }
};

/// Rates of two directions while both were busy. Each direction is a series of copies of `size` bytes, given by their
/// durations; both series began at the same moment and have no gaps. Only the time until the first direction ends
/// counts; a copy that was in flight at that moment counts in proportion. Both rates are 0 if a direction has no
/// copies, or if no time has passed.
[[nodiscard]] BothRates rates_of_both(Bytes size, std::span<const Seconds> first, std::span<const Seconds> second);

}  // namespace fabricbench
