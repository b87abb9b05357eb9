#include "common/core/sizes.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench {
namespace {

constexpr std::size_t kMostSizes = std::size_t{1} << 20;

/// The size after `size`, or the largest number on overflow.
Bytes next_size(const SizeRange& sizes, Bytes size, Bytes element_bytes) {
  constexpr Bytes kEnd = std::numeric_limits<Bytes>::max();
  if (sizes.step_factor > 1) {
    if (size == 0) return std::max<Bytes>(1, element_bytes);
    return size > kEnd / sizes.step_factor ? kEnd : size * sizes.step_factor;
  }
  return size > kEnd - sizes.step_bytes ? kEnd : size + sizes.step_bytes;
}

}  // namespace

SizeList list_sizes(const SizeRange& sizes, Bytes element_bytes) {
  SizeList list;
  for (Bytes size = sizes.min_bytes; size <= sizes.max_bytes; size = next_size(sizes, size, element_bytes)) {
    const Bytes whole = size - size % element_bytes;
    if (whole == 0 && size != 0) {
      list.too_small.push_back(size);
    } else if (list.sizes.empty() || list.sizes.back() != whole) {
      list.sizes.push_back(whole);
    }
    if (list.sizes.size() + list.too_small.size() > kMostSizes) {
      throw UsageError(fmt::format(
          "a sweep from {} to {} in steps of {} has more than {} sizes; raise --step-bytes, or use --step-factor 2",
          exact_bytes(sizes.min_bytes), exact_bytes(sizes.max_bytes), exact_bytes(sizes.step_bytes), kMostSizes));
    }
    if (size == sizes.max_bytes) break;  // also ends where the last size is the largest number
  }
  return list;
}

}  // namespace fabricbench
