#pragma once

#include <vector>

#include "common/core/units.h"

namespace fabricbench {

/// The message sizes asked for, as nccl-tests' -b, -e, -i and -f describe them.
struct SizeRange {
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;
  Bytes step_bytes = 0;           ///< increment between sizes if `step_factor` is 1
  std::uint64_t step_factor = 1;  ///< factor between sizes if above 1
};

/// The sizes of a range, rounded down to whole elements of `element_bytes`, ascending and without duplicates.
struct SizeList {
  std::vector<Bytes> sizes;
  std::vector<Bytes> too_small;  ///< sizes above 0 that hold no element; not in `sizes`
};

/// Lists the sizes of a range. If there is more than one, the step must be above 0 or the factor above 1. With a
/// factor, one element follows size 0. Throws UsageError above 2^20 sizes, which must be a typing error.
[[nodiscard]] SizeList list_sizes(const SizeRange& sizes, Bytes element_bytes);

}  // namespace fabricbench
