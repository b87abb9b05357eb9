// Whether rows have slid since the first launch of a baseline, however slowly.
#pragma once

#include <cstddef>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "common/record/baseline.h"

namespace fabricbench::baseline {

/// A history of fewer launches, or days, is not searched.
inline constexpr std::size_t kFewestForChanges = 10;

/// From one value on, the values are on another level.
struct ChangePoint {
  std::size_t first = 0;   ///< the first value of the new level
  double difference = 0;   ///< the median from there to the next change, less that from the change before
  double false_alarm = 1;  ///< probability that chance shows such a change anywhere in the history
};

/// The changes in `values`, which are in the order of time, with a false alarm of at most `most_false_alarm` each. Two
/// levels differ if they do both by their medians, in Student's sense, and by their ranks (Wilcoxon), which a heavy
/// tail does not disturb. The most significant split is searched, corrected for all splits (Bonferroni), and then each
/// side likewise, as in binary segmentation (Scott and Knott, 1974). No level is shorter than 3 values.
[[nodiscard]] std::vector<ChangePoint> change_points(std::span<const double> values, double most_false_alarm);

/// The day of a launch, in UTC: `2026-11-26`.
[[nodiscard]] std::string day_of(const Launch& launch);

/// One launch, or one day: where the times of its rows are.
struct HistoryPoint {
  std::time_t began = 0;
  std::vector<double> log_times;  ///< by row
};

/// The lasting changes of all rows together (the median over rows of each point), and of single rows. `keys`: of the
/// rows. `false_alarm`: the probability that a steady history shows any; most of it is for all rows together, which
/// show a change after 10 points, where a single row takes about 20.
[[nodiscard]] std::vector<HistoryChange> history_changes(std::span<const HistoryPoint> points,
                                                         std::span<const RowKey> keys, double false_alarm);

/// The points of a baseline's launches and of the run: days if there are launches of several days, else launches. Only
/// rows that all launches have; their keys are put into `keys`.
[[nodiscard]] std::vector<HistoryPoint> history_points(std::span<const Launch* const> launches,
                                                       std::span<const Launch> fresh, std::vector<RowKey>& keys);

}  // namespace fabricbench::baseline
