// Whether rows have become slower, and the smallest slowdown that their noise would have let us see.
#pragma once

#include <span>
#include <vector>

#include "cluster/baseline/noise_model.h"
#include "common/record/baseline.h"

namespace fabricbench::baseline {

struct JudgementSettings {
  double false_alarm = 0.05;  ///< probability that a run of an unchanged system has any row called slower
  double ignored = 0.01;      ///< slowdowns up to this are no finding, however exactly they were measured
  double wanted = 0.05;       ///< slowdown that has to be seen: a row that could hide it is undecided
};

/// A baseline of fewer launches says too little of its own noise.
inline constexpr std::size_t kFewestLaunches = 5;

/// Judges all rows of a run, which have fresh times of the same number of launches. The run's false alarm is shared out
/// between the rows (Bonferroni). A row is slower if more than half of the fresh launches are above what an unchanged
/// system would exceed by chance; so one launch that had bad luck does not matter if there are three.
[[nodiscard]] std::vector<Judgement> judge(std::span<const RowHistory> rows, const JudgementSettings& settings);

}  // namespace fabricbench::baseline
