#pragma once

#include <vector>

namespace fabricbench {

/// One line of a sweep's matrix: what an endpoint received from every other endpoint.
struct MatrixRow {
  int receiver = 0;
  /// Last reading of each sender in bytes per second; 0: it failed; not a number: no reading.
  std::vector<float> bandwidths;
};

}  // namespace fabricbench
