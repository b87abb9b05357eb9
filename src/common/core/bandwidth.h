#pragma once

#include "common/core/units.h"

namespace fabricbench {

/// Algorithm bandwidth in bytes per second: message size over time. 0 where no time has passed.
[[nodiscard]] constexpr double algorithm_bandwidth(Bytes size, Seconds time) {
  return time > 0 ? static_cast<double>(size) / time : 0.0;
}

/// Bus bandwidth is algorithm bandwidth times a factor of the collective and the number of ranks: what
/// each rank's link must carry in the best algorithm without help from switches (nccl-tests,
/// doc/PERFORMANCE.md). One rank moves nothing over a bus, so its factor is 0.
namespace bus_factor {

[[nodiscard]] constexpr double all_reduce(int ranks) { return 2.0 * (ranks - 1) / ranks; }

}  // namespace bus_factor
}  // namespace fabricbench
