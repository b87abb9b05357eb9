#pragma once

#include <algorithm>
#include <vector>

namespace fabricbench::cluster {

/// The values in ascending order, each of them once.
template <typename Value>
[[nodiscard]] std::vector<Value> sorted_unique(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace fabricbench::cluster
