// Modes of a distribution: places where values are dense.
#pragma once

#include <cstddef>
#include <vector>

namespace fabricbench::cluster {

/// A mode.
struct Mode {
  double centre = 0;
  double valley_before = 0;  ///< the least dense place between the mode before and this one
  std::size_t values = 0;
};

/// The modes of sorted values, from the lowest up: local maxima of their histogram, whose bins are as wide as `scale`.
[[nodiscard]] std::vector<Mode> modes_of(const std::vector<float>& sorted, double scale);

}  // namespace fabricbench::cluster
