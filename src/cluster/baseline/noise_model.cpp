#include "cluster/baseline/noise_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "common/core/statistics.h"

namespace fabricbench::baseline {
namespace {

constexpr std::size_t kNeighbours = 3;         // on each side
constexpr double kLeastOfNeighbours = 0.5;     // of their median
constexpr std::size_t kFewestJudgedAlone = 3;  // fresh launches whose own spread counts

/// Values in groups.
using Groups = std::map<int, std::vector<double>>;

/// The values' deviations from the medians of their groups.
struct Deviations {
  std::vector<double> values;
  std::size_t groups = 0;

  void add(std::span<const double> group) {
    const double centre = median(group);
    for (const double value : group) values.push_back(value - centre);
    ++groups;
  }
  /// Empty if no group has two values.
  [[nodiscard]] std::optional<double> scale() const {
    if (values.size() <= groups) return std::nullopt;
    double sum = 0;
    for (const double value : values) sum += std::abs(value);
    return kDeviationsPerMeanAbsolute * sum / static_cast<double>(values.size() - groups);
  }
};

Deviations deviations_of(const Groups& groups) {
  Deviations all;
  for (const auto& [number, values] : groups) all.add(values);
  return all;
}

std::vector<double> medians_of(const Groups& groups) {
  std::vector<double> medians;
  for (const auto& [number, values] : groups) medians.push_back(median(values));
  return medians;
}

double mean_size(const Groups& groups) {
  std::size_t values = 0;
  for (const auto& [number, group] : groups) values += group.size();
  return static_cast<double>(values) / static_cast<double>(groups.size());
}

/// The standard deviation of what groups have in common, from one of their medians of `values` values each.
double without_lower(double of_medians, double lower, double values) {
  return std::sqrt(std::max(0.0, of_medians * of_medians - lower * lower * kMedianOverMeanVariance / values));
}

/// The launches' times, as they are grouped.
struct Grouped {
  Groups by_allocation;  ///< empty if allocations tell nothing that days do not
  Groups by_day;         ///< of launches; of allocations' medians if there are any
};

Grouped group(const RowHistory& row) {
  Grouped grouped;
  std::map<int, int> day_of;
  for (const LaunchTime& launch : row.recorded) {
    grouped.by_allocation[launch.occasion.allocation].push_back(std::log(launch.time));
    day_of[launch.occasion.allocation] = launch.occasion.day;
  }
  std::map<int, int> allocations;
  for (const auto& [allocation, day] : day_of) ++allocations[day];
  const bool any_day_has_several =
      std::any_of(allocations.begin(), allocations.end(), [](const auto& each) { return each.second > 1; });
  if (any_day_has_several && grouped.by_allocation.size() < row.recorded.size()) {
    for (const auto& [allocation, times] : grouped.by_allocation) {
      grouped.by_day[day_of[allocation]].push_back(median(times));
    }
    return grouped;
  }
  grouped.by_allocation.clear();
  for (const LaunchTime& launch : row.recorded) grouped.by_day[launch.occasion.day].push_back(std::log(launch.time));
  return grouped;
}

/// The deviations of launches from those of their own occasion.
Deviations launches_of(const Grouped& grouped) {
  return deviations_of(grouped.by_allocation.empty() ? grouped.by_day : grouped.by_allocation);
}

Spread spread_of(const RowHistory& row, const Grouped& grouped) {
  Spread spread;
  const std::vector<double> days = medians_of(grouped.by_day);
  spread.centre = median(days);
  spread.of_launches = row.recorded.size();
  spread.of_allocations = grouped.by_allocation.size();
  spread.of_days = grouped.by_day.size();
  spread.days_known = spread.of_days > 1;

  Deviations all;
  all.add(days);
  Deviations launches = launches_of(grouped);
  const bool one_launch_a_day = !launches.scale();
  if (one_launch_a_day) launches = all;
  if (row.fresh.size() >= kFewestJudgedAlone) {
    std::vector<double> fresh;
    for (const Seconds time : row.fresh) fresh.push_back(std::log(time));
    launches.add(fresh);
  }
  spread.launches = launches.scale().value_or(0);
  if (!grouped.by_allocation.empty()) {
    spread.allocations = without_lower(deviations_of(grouped.by_day).scale().value_or(0), spread.launches,
                                       mean_size(grouped.by_allocation));
  }
  if (one_launch_a_day || !spread.days_known) {
    spread.days = spread.launches;
  } else {
    const double lower = grouped.by_allocation.empty() ? spread.launches : spread.allocations;
    spread.days = without_lower(all.scale().value_or(0), lower, mean_size(grouped.by_day));
  }
  return spread;
}

/// Calls `action` with each row's neighbours in its series, and with itself.
template <typename Action>
void for_each_near(std::span<const RowHistory> rows, std::size_t row, const Action& action) {
  for (std::size_t i = row - std::min(row, kNeighbours); i < std::min(rows.size(), row + kNeighbours + 1); ++i) {
    if (rows[i].series == rows[row].series) action(i);
  }
}

/// Raises each row's value where those of its neighbours say that it is small by chance.
void raise_to_neighbours(std::span<const RowHistory> rows, std::vector<Spread>& spreads, double Spread::*which,
                         double least_share) {
  std::vector<double> raised;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<double> near;
    for_each_near(rows, row, [&](std::size_t i) { near.push_back(spreads[i].*which); });
    raised.push_back(std::max(spreads[row].*which, least_share * median(near)));
  }
  for (std::size_t row = 0; row < rows.size(); ++row) spreads[row].*which = raised[row];
}

/// What a new launch may deviate by, as far as those of a row show: they are nearer to the median of their own occasion
/// than to the true one.
std::vector<double> widened(const Deviations& launches) {
  if (!launches.scale()) return {};
  const auto values = static_cast<double>(launches.values.size());
  const double factor = std::sqrt(values / (values - static_cast<double>(launches.groups)));
  std::vector<double> wide = launches.values;
  for (double& value : wide) value *= factor;
  return wide;
}

}  // namespace

NoiseModel::NoiseModel(std::span<const RowHistory> rows) {
  std::vector<std::vector<double>> own;
  for (const RowHistory& row : rows) {
    const Grouped grouped = group(row);
    spreads_.push_back(spread_of(row, grouped));
    own.push_back(widened(launches_of(grouped)));
  }
  raise_to_neighbours(rows, spreads_, &Spread::launches, kLeastOfNeighbours);
  raise_to_neighbours(rows, spreads_, &Spread::allocations, 1);
  raise_to_neighbours(rows, spreads_, &Spread::days, 1);
  deviations_.resize(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<double>& all = deviations_[row];
    for_each_near(rows, row, [&](std::size_t i) { all.insert(all.end(), own[i].begin(), own[i].end()); });
    std::sort(all.begin(), all.end(), std::greater<>());
  }
}

double NoiseModel::launch_limit(std::size_t row, double tail, double quantile, bool slower) const {
  const Spread& spread = spreads_[row];
  const double usual =
      quantile * spread.launches * std::sqrt(1 + kMedianOverMeanVariance / static_cast<double>(spread.of_launches));
  const std::vector<double>& seen = deviations_[row];
  const auto above = static_cast<std::size_t>(tail * static_cast<double>(seen.size()));
  if (above >= seen.size()) return usual;
  return std::max(usual, slower ? seen[above] : -seen[seen.size() - 1 - above]);
}

}  // namespace fabricbench::baseline
