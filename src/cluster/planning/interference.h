// Whether pairs slow each other: a pair alone against the same pair beside others.
#pragma once

#include <cstdint>
#include <optional>

#include "cluster/planning/planner.h"
#include "cluster/planning/survey.h"
#include "cluster/readings.h"
#include "cluster/verdict.h"

namespace fabricbench::cluster {

struct Interference {
  /// How many pairs may be measured at the same time: halved, as HPC-X ClusterKit does, as often as pairs alone were
  /// faster than beside so many others by more than 3 %, and than comes of chance.
  std::int64_t at_once = 1;
  bool oversubscribed = false;  ///< whether it was halved
  /// The median of all directions that it went by, at the last comparison, or at the last that halved; 0: none.
  double alone_over_together = 0;
  std::int64_t compared = 0;  ///< pairs that have been measured alone and beside more than half of `at_once`
};

/// `most_at_once`: of the plan. Goes by pairs whose rate beside others was that of most pairs of their round: of one
/// that is slow in itself, or was slow once, the ratio says nothing of the others.
[[nodiscard]] Interference interference_of(const Sweep& sweep, const SweepPlan& plan, std::int64_t most_at_once);

/// How many pairs it takes to tell 3 % from chance, where readings scatter by so much.
[[nodiscard]] std::int64_t comparisons_wanted(double scale);

/// A pair to be measured alone: of the last round that had more than half of `at_once` pairs, and in which not all were
/// slower by the tolerance than about that time, the one with the median rate among those that nothing is said of;
/// across leaves where there are any. Nothing where there is none.
[[nodiscard]] std::optional<Meeting> pair_to_compare(const Sweep& sweep, const Survey& survey, const Verdict& verdict,
                                                     std::int64_t at_once, double tolerance);

}  // namespace fabricbench::cluster
