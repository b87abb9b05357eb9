#pragma once

#include "common/core/units.h"

namespace fabricbench {

/// Algorithm bandwidth in bytes per second: message size over time. 0 where no time has passed.
[[nodiscard]] constexpr double algorithm_bandwidth(double bytes, Seconds time) { return time > 0 ? bytes / time : 0.0; }

/// Bus bandwidth is algorithm bandwidth times a factor of the collective and the number of ranks: what
/// each rank's link must carry in the best algorithm without help from switches (nccl-tests,
/// doc/PERFORMANCE.md). One rank moves nothing over a bus, so most factors are 0 for it.
namespace bus_factor {

[[nodiscard]] constexpr double all_reduce(int ranks) { return 2.0 * (ranks - 1) / ranks; }

/// all_gather, reduce_scatter, alltoall, alltoallv, gather, scatter: all but a rank's own part crosses its link.
[[nodiscard]] constexpr double all_but_own(int ranks) { return static_cast<double>(ranks - 1) / ranks; }

/// broadcast, reduce, sendrecv, hypercube: what is counted crosses the link once.
inline constexpr double kOnce = 1.0;

}  // namespace bus_factor
}  // namespace fabricbench
