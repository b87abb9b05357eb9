// Interference: whether pairs slow each other. Compares pairs alone with the same pairs beside others.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/planning/planner.h"
#include "cluster/planning/sweep_progress.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

struct Interference {
  /// How many pairs may be measured at the same time. Halved, as in HPC-X ClusterKit, as long as pairs alone are faster
  /// than beside so many others, by more than 3 % and by more than chance.
  std::int64_t at_once = 1;
  bool oversubscribed = false;  ///< whether it was halved
  /// The median ratio over directions, at the last comparison, or at the last one that halved; 0: there was none.
  double alone_over_together = 0;
  std::int64_t compared =
      0;  ///< number of pairs that were measured both alone and beside more than half of `at_once` pairs
};

/// `most_at_once`: the limit of the plan. Only pairs with the usual rate of their round are compared: a pair that is
/// slow by itself, or was slow once, is no evidence.
[[nodiscard]] Interference interference_of(const Sweep& sweep, const SweepPlan& plan, std::int64_t most_at_once);

/// The number of pairs that are needed to tell 3 % from chance. `scale`: of readings.
[[nodiscard]] std::int64_t comparisons_wanted(double scale);

/// A pair to be measured alone, from the last full round (more than half of `at_once` pairs) that was no drop. It has
/// the median rate among pairs of hosts that are no suspects, across leaves if there are such pairs. Nothing: there is
/// none.
[[nodiscard]] std::optional<Meeting> pair_to_compare(const Sweep& sweep, const SweepProgress& progress,
                                                     const Verdict& verdict, std::int64_t at_once, double tolerance);

}  // namespace fabricbench::cluster
