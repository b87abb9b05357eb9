#pragma once

#include <vector>

#include "common/core/units.h"

namespace fabricbench {

/// The message sizes asked for, as nccl-tests' -b, -e, -i and -f describe them.
struct Sweep {
  Bytes min_bytes = 0;
  Bytes max_bytes = 0;
  Bytes step_bytes = 0;           ///< added from size to size where `step_factor` is 1
  std::uint64_t step_factor = 1;  ///< multiplied from size to size where above 1
};

/// The sizes of a sweep, cut to whole elements of `element_bytes`, ascending and each once.
struct SizeList {
  std::vector<Bytes> sizes;
  std::vector<Bytes> too_small;  ///< sizes above 0 that hold not even one element; not in `sizes`
};

/// Lists the sweep's sizes; the step is above 0 or the factor above 1 where there is more than one. A multiplicative
/// sweep from 0 goes on with one element. Throws UsageError where the sweep has more sizes than anybody can want
/// (2^20): that is a slip of the keyboard.
[[nodiscard]] SizeList list_sizes(const Sweep& sweep, Bytes element_bytes);

}  // namespace fabricbench
