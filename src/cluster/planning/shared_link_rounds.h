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

/// Pairs for the hosts that are not judged: all of them with hosts of their groups, twice with the same; then alone, up
/// to `at_once` pairs, which hardly meet: with each other first, of different groups, those that were not alone before.
[[nodiscard]] std::vector<Meeting> pairs_to_judge(const Sweep& sweep, const SweepProgress& progress,
                                                  const Verdict& verdict, std::size_t at_once);

}  // namespace fabricbench::cluster
