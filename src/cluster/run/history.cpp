#include "cluster/run/history.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "common/core/statistics.h"

namespace fabricbench::baseline {
namespace {

constexpr std::size_t kShortest = 3;
/// sqrt(pi / 2): the standard deviation of normal values over the mean absolute one; the same of errors of median and
/// mean.
constexpr double kDeviationsPerMeanAbsolute = 1.2533;

double absolute_deviations(std::span<const double> values, double centre) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value - centre);
  return sum;
}

/// The probability that the medians of two parts of one level differ as much as these do.
double chance_of_medians(std::span<const double> before, std::span<const double> after) {
  const auto n = static_cast<double>(before.size());
  const auto m = static_cast<double>(after.size());
  const double low = median(before);
  const double high = median(after);
  const double scale =
      kDeviationsPerMeanAbsolute * (absolute_deviations(before, low) + absolute_deviations(after, high)) / (n + m - 2);
  const double error = kDeviationsPerMeanAbsolute * scale * std::sqrt(1 / n + 1 / m);
  const double difference = std::abs(high - low);
  if (error <= 0) return difference > 0 ? 0 : 1;
  return 2 * student_tail(difference / error, n + m - 2);
}

/// The probability that `few` of `all` ranks, from 0 and drawn at random, have a sum of at most `sum`: the number of
/// such draws, rank by rank, over that of all draws.
double rank_sum_tail(std::size_t all, std::size_t few, std::size_t sum) {
  std::vector<std::vector<double>> draws(few + 1, std::vector<double>(sum + 1, 0));  // by ranks drawn, and their sum
  draws[0][0] = 1;
  for (std::size_t rank = 0; rank < all; ++rank) {
    for (std::size_t drawn = std::min(rank + 1, few); drawn > 0; --drawn) {
      for (std::size_t total = rank; total <= sum; ++total) draws[drawn][total] += draws[drawn - 1][total - rank];
    }
  }
  double fitting = 0;
  for (const double number : draws[few]) fitting += number;
  const auto n = static_cast<double>(all);
  const auto k = static_cast<double>(few);
  return fitting * std::exp(std::lgamma(k + 1) + std::lgamma(n - k + 1) - std::lgamma(n + 1));
}

/// The probability that the ranks of two parts of one level differ as much as these do: exact up to 40 values, and by
/// the normal distribution beyond.
double chance_of_ranks(std::span<const double> before, std::span<const double> after) {
  constexpr std::size_t kMostExact = 40;
  double below = 0;  // pairs in which the first one is smaller; equal ones count half
  for (const double first : before) {
    for (const double second : after) below += first < second ? 1 : first > second ? 0 : 0.5;
  }
  const std::size_t n = before.size();
  const std::size_t m = after.size();
  const auto pairs = static_cast<double>(n * m);
  const double fewer = std::min(below, pairs - below);
  if (n + m <= kMostExact) {
    return std::min(1.0, 2 * rank_sum_tail(n + m, n, static_cast<std::size_t>(std::ceil(fewer)) + n * (n - 1) / 2));
  }
  const double deviation = std::sqrt(pairs * static_cast<double>(n + m + 1) / 12);
  return std::min(1.0, 2 * normal_below((fewer + 0.5 - pairs / 2) / deviation));
}

double chance(std::span<const double> before, std::span<const double> after) {
  const double of_medians = chance_of_medians(before, after);
  return of_medians < 1 ? std::max(of_medians, chance_of_ranks(before, after)) : 1;
}

/// Searches values[begin, end) and adds the first values of new levels in their order.
void search(std::span<const double> values, std::size_t begin, std::size_t end, double most_false_alarm,
            std::vector<ChangePoint>& found) {
  if (end - begin < 2 * kShortest) return;
  ChangePoint best;
  for (std::size_t split = begin + kShortest; split + kShortest <= end; ++split) {
    const double each = chance(values.subspan(begin, split - begin), values.subspan(split, end - split));
    if (best.first == 0 || each < best.false_alarm) best = {split, 0, each};
  }
  const std::size_t splits = values.size() - 2 * kShortest + 1;
  best.false_alarm = std::min(1.0, best.false_alarm * static_cast<double>(splits));
  if (best.false_alarm > most_false_alarm) return;
  search(values, begin, best.first, most_false_alarm, found);
  found.push_back(best);
  search(values, best.first, end, most_false_alarm, found);
}

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

std::vector<ChangePoint> change_points(std::span<const double> values, double most_false_alarm) {
  std::vector<ChangePoint> found;
  if (values.size() < kFewestForChanges) return found;
  search(values, 0, values.size(), most_false_alarm, found);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t end = i + 1 < found.size() ? found[i + 1].first : values.size();
    found[i].difference = median(values.subspan(found[i].first, end - found[i].first)) -
                          median(values.subspan(begin, found[i].first - begin));
    begin = found[i].first;
  }
  return found;
}

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

}  // namespace fabricbench::baseline
