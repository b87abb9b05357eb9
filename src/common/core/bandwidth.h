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

/// The ranks of a group on its hosts.
struct RanksOnHosts {
  int ranks = 1;
  int hosts = 1;
  int most_on_a_host = 1;
};

/// The bytes that the busiest host sends to other hosts or receives from them, whichever is more, relative to the
/// message size. 0: unknown.
struct HostTraffic {
  double usual = 0;  ///< of the best algorithm without help from switches that goes from rank to rank
  double least = 0;  ///< no algorithm gets by with less, even if switches reduce and copy the data
};

/// Source: Patarasu and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations (2009), for rings;
/// Graham et al., Scalable Hierarchical Aggregation Protocol (2016), for reduction in switches.
namespace host_traffic {

/// Each host's contribution goes out once if switches reduce it, and nearly twice around a ring.
[[nodiscard]] constexpr HostTraffic all_reduce(const RanksOnHosts& group) {
  return {bus_factor::all_reduce(group.ranks), 1};
}

/// all_gather, reduce_scatter: a ring passes all parts but one; a host needs those of the other hosts.
[[nodiscard]] constexpr HostTraffic all_parts(const RanksOnHosts& group) {
  return {bus_factor::all_but_own(group.ranks), bus_factor::all_but_own(group.hosts)};
}

/// broadcast, reduce, and messages of a pair: the whole message, once.
inline constexpr HostTraffic kOnce{1, 1};

/// alltoall, hypercube: each rank of a host sends a part to each rank of other hosts.
[[nodiscard]] constexpr HostTraffic each_to_each(const RanksOnHosts& group) {
  const double parts = static_cast<double>(group.most_on_a_host) * (group.ranks - group.most_on_a_host);
  return {parts / group.ranks, parts / group.ranks};
}

/// gather, scatter: the root's host has the parts of all ranks on other hosts. Least if it is the host with most ranks.
[[nodiscard]] constexpr HostTraffic root_and_each(const RanksOnHosts& group) {
  const double parts = static_cast<double>(group.ranks - group.most_on_a_host) / group.ranks;
  return {parts, parts};
}

/// sendrecv: at least one rank of each host sends to another host. Which NICs it can use is unknown.
inline constexpr HostTraffic kAtLeastOnce{0, 1};

}  // namespace host_traffic
}  // namespace fabricbench
