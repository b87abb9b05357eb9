#include "cluster/baseline/history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cluster/baseline/change_points.h"
#include "common/core/statistics.h"

namespace fabricbench::baseline {
namespace {

constexpr double kShareOfAllRows = 0.8;  // of the false alarm

/// One row's values, by point.
std::vector<double> series_of(std::span<const HistoryPoint> points, std::size_t row) {
  std::vector<double> series;
  for (const HistoryPoint& point : points) series.push_back(point.log_times[row]);
  return series;
}

/// The median over rows of how far each point is from the row's usual value.
std::vector<double> series_of_all(std::span<const HistoryPoint> points, std::size_t rows) {
  std::vector<std::vector<double>> deviations(points.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<double> series = series_of(points, row);
    const double usual = median(series);
    for (std::size_t i = 0; i < series.size(); ++i) deviations[i].push_back(series[i] - usual);
  }
  std::vector<double> all;
  all.reserve(deviations.size());
  for (const std::vector<double>& each : deviations) all.push_back(median(each));
  return all;
}

void add(std::span<const HistoryPoint> points, const std::vector<double>& series, const std::optional<RowKey>& key,
         double false_alarm, std::vector<HistoryChange>& changes) {
  for (const ChangePoint& point : change_points(series, false_alarm)) {
    changes.push_back({key, points[point.first].began, std::exp(point.difference), point.false_alarm});
  }
}

/// The point of several launches: the median of each row.
HistoryPoint point_of(const std::vector<const Launch*>& launches, const std::vector<RowKey>& keys) {
  HistoryPoint point;
  point.began = launches.front()->start.began;
  std::map<RowKey, std::vector<double>> times;
  for (const Launch* launch : launches) {
    for (const RowTimes& row : launch->rows) times[row.key].push_back(std::log(row.time));
  }
  for (const RowKey& key : keys) point.log_times.push_back(median(times[key]));
  return point;
}

std::vector<RowKey> keys_of_all(const std::vector<const Launch*>& launches) {
  std::map<RowKey, std::size_t> counts;
  for (const Launch* launch : launches) {
    for (const RowTimes& row : launch->rows) ++counts[row.key];
  }
  std::vector<RowKey> keys;
  for (const auto& [key, count] : counts) {
    if (count == launches.size()) keys.push_back(key);
  }
  return keys;
}

}  // namespace

std::string day_of(const Launch& launch) { return fmt::format("{:%F}", fmt::gmtime(launch.start.began)); }

std::vector<HistoryPoint> history_points(std::span<const Launch* const> launches, std::span<const Launch> fresh,
                                         std::vector<RowKey>& keys) {
  std::vector<const Launch*> all(launches.begin(), launches.end());
  for (const Launch& launch : fresh) all.push_back(&launch);
  std::stable_sort(all.begin(), all.end(),
                   [](const Launch* a, const Launch* b) { return a->start.began < b->start.began; });
  keys = keys_of_all(all);
  std::map<std::string, std::vector<const Launch*>> by_day;
  for (const Launch* launch : all) by_day[day_of(*launch)].push_back(launch);
  std::vector<HistoryPoint> points;
  if (by_day.size() > 1) {
    for (const auto& [day, of_day] : by_day) points.push_back(point_of(of_day, keys));
  } else {
    for (const Launch* launch : all) points.push_back(point_of({launch}, keys));
  }
  return points;
}

std::vector<HistoryChange> history_changes(std::span<const HistoryPoint> points, std::span<const RowKey> keys,
                                           double false_alarm) {
  std::vector<HistoryChange> changes;
  if (keys.empty() || points.size() < kFewestForChanges) return changes;
  add(points, series_of_all(points, keys.size()), std::nullopt, kShareOfAllRows * false_alarm, changes);
  const double of_row = (1 - kShareOfAllRows) * false_alarm / static_cast<double>(keys.size());
  for (std::size_t row = 0; row < keys.size(); ++row) add(points, series_of(points, row), keys[row], of_row, changes);
  return changes;
}

double total_ratio(std::span<const HistoryChange> changes, const RowKey* key) {
  double ratio = 1;
  for (const HistoryChange& change : changes) {
    if (key == nullptr ? !change.key : change.key == *key) ratio *= change.ratio;
  }
  return ratio;
}

}  // namespace fabricbench::baseline
