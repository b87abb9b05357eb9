#include "common/core/sweep.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostSizes = std::size_t{1} << 20;

/// The size after `size`, or the largest number on overflow.
Bytes next_size(const Sweep& sweep, Bytes size, Bytes element_bytes) {
  constexpr Bytes kEnd = std::numeric_limits<Bytes>::max();
  if (sweep.step_factor > 1) {
    if (size == 0) return std::max<Bytes>(1, element_bytes);
    return size > kEnd / sweep.step_factor ? kEnd : size * sweep.step_factor;
  }
  return size > kEnd - sweep.step_bytes ? kEnd : size + sweep.step_bytes;
}

}  // namespace

SizeList list_sizes(const Sweep& sweep, Bytes element_bytes) {
  SizeList list;
  for (Bytes size = sweep.min_bytes; size <= sweep.max_bytes; size = next_size(sweep, size, element_bytes)) {
    const Bytes whole = size - size % element_bytes;
    if (whole == 0 && size != 0) {
      list.too_small.push_back(size);
    } else if (list.sizes.empty() || list.sizes.back() != whole) {
      list.sizes.push_back(whole);
    }
    if (list.sizes.size() + list.too_small.size() > kMostSizes) {
      throw UsageError(fmt::format(
          "a sweep from {} to {} in steps of {} has more than {} sizes; raise --step-bytes, or use --step-factor 2",
          exact_bytes(sweep.min_bytes), exact_bytes(sweep.max_bytes), exact_bytes(sweep.step_bytes), kMostSizes));
    }
    if (size == sweep.max_bytes) break;  // also ends a sweep whose last size is the largest number
  }
  return list;
}

}  // namespace fabricbench
