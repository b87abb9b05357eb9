// Rounds that measure whether pairs share links: the slowest pairs that nothing explains, alone and among all others
// again.
#pragma once

#include <cstdint>
#include <vector>

#include "cluster/planning/planner.h"
#include "cluster/planning/sweep_progress.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

/// The next step of the comparison.
struct ProbeStep {
  std::vector<Meeting> meetings;  ///< empty: it is over, or there is nothing to compare
  bool among_others = false;      ///< they are to be measured beside as many pairs as possible
  std::int64_t pairs = 0;         ///< that are compared
};

/// Compares up to six pairs without a host in common, the slowest ones. None, where one host that is slow with most
/// partners, or a few readings, are all that is slow.
[[nodiscard]] ProbeStep next_probe(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                   double tolerance);

/// Pairs to be measured alone, so many of them at a time that they hardly meet: hosts of `wanted` with each other, and
/// the last one with any other host. Pairs that were not measured alone come first, and hosts of different groups.
[[nodiscard]] std::vector<Meeting> pairs_alone_of(const Sweep& sweep, const SweepProgress& progress,
                                                  const Verdict& verdict, const std::vector<std::int32_t>& wanted,
                                                  std::size_t at_once);

}  // namespace fabricbench::cluster
