#pragma once

#include <span>

#include "common/core/units.h"

namespace fabricbench {

/// Bytes per second of two directions at once.
struct BothRates {
  double first = 0;
  double second = 0;
  [[nodiscard]] double sum() const { return first + second; }
};

/// What two directions carried while both were under way. Each is a row of copies of `size` bytes that began at the
/// same moment and follow each other without a gap; how long each took is given. What one direction does after the
/// other has ended does not count; of a copy that was under way at that moment, the part that had passed by then does.
/// Both rates are 0 where a direction has no copies, or where no time has passed.
[[nodiscard]] BothRates rates_of_both(Bytes size, std::span<const Seconds> first, std::span<const Seconds> second);

}  // namespace fabricbench
