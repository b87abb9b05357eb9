#pragma once

#include <vector>

namespace fabricbench {

/// One line of a sweep's matrix: what an endpoint received from every endpoint.
struct MatrixRow {
  int receiver = 0;
  /// Bytes per second by sender, of the last reading; 0: it failed; not a number: none was taken.
  std::vector<float> bandwidths;
};

}  // namespace fabricbench
