#pragma once

#include "common/core/units.h"

namespace fabricbench {

/// Algorithm bandwidth in bytes per second: message size over time. 0 if no time has passed.
[[nodiscard]] constexpr double algorithm_bandwidth(double bytes, Seconds time) { return time > 0 ? bytes / time : 0.0; }

/// Bus bandwidth is algorithm bandwidth times a factor of the collective and the number of ranks: the traffic on each
/// rank's link in the best algorithm without help from switches (nccl-tests, doc/PERFORMANCE.md). With one rank nothing
/// crosses a bus, so most factors are 0.
namespace bus_factor {

[[nodiscard]] constexpr double all_reduce(int ranks) { return 2.0 * (ranks - 1) / ranks; }

/// all_gather, reduce_scatter, alltoall, alltoallv, gather, scatter: everything but a rank's own part crosses its link.
[[nodiscard]] constexpr double all_but_own(int ranks) { return static_cast<double>(ranks - 1) / ranks; }

/// broadcast, reduce, sendrecv, hypercube: the message crosses the link once.
inline constexpr double kOnce = 1.0;

}  // namespace bus_factor
}  // namespace fabricbench
