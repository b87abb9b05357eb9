// Whether rows have slid since the first launch of a baseline, however slowly.
#pragma once

#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "common/record/baseline.h"

namespace fabricbench::baseline {

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

/// The ratio of times between the end of the history and its beginning.
[[nodiscard]] double total_ratio(std::span<const HistoryChange> changes, const RowKey* key);

}  // namespace fabricbench::baseline
