#include "cluster/baseline/noise_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "common/core/statistics.h"

namespace fabricbench::baseline {
namespace {

/// pi / 2: the variance of the median of many normal values over that of their mean.
constexpr double kMedianOverMeanVariance = 1.5708;

using Groups = std::map<int, std::vector<double>>;

/// The sum of squared deviations from the mean.
double squares(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

/// One value for each job, if some days have several and some jobs have several launches.
bool merge_jobs(std::vector<LaunchValue>& values) {
  Groups jobs;
  std::map<int, Occasion> occasions;
  std::set<int> days;
  for (const LaunchValue& each : values) {
    jobs[each.occasion.allocation].push_back(each.value);
    occasions[each.occasion.allocation] = each.occasion;
    days.insert(each.occasion.day);
  }
  if (jobs.size() == values.size() || jobs.size() == days.size()) return false;
  values.clear();
  for (const auto& [job, of_job] : jobs) values.push_back({mean(of_job), occasions[job]});
  return true;
}

}  // namespace

Spread spread_of(std::vector<LaunchValue> values) {
  Spread spread;
  spread.jobs_are_launches = merge_jobs(values);
  Groups by_day;
  for (const LaunchValue& each : values) by_day[each.occasion.day].push_back(each.value);
  std::vector<double> means;
  double within = 0;
  double shares = 0;
  for (const auto& [day, of_day] : by_day) {
    means.push_back(mean(of_day));
    within += squares(of_day);
    shares += 1 / static_cast<double>(of_day.size());
  }
  spread.centre = mean(means);
  spread.of_launches = values.size();
  spread.of_days = by_day.size();
  const auto days = static_cast<double>(spread.of_days);
  spread.launches_per_day = days / shares;
  const std::size_t degrees = spread.of_launches - spread.of_days;
  if (degrees > 0) spread.launches = within / static_cast<double>(degrees);
  spread.days = spread.of_days == 1
                    ? spread.launches
                    : std::max(0.0, squares(means) / (days - 1) - spread.launches / spread.launches_per_day);
  return spread;
}

Prediction predict(const Spread& spread, std::size_t fresh) {
  const auto days = static_cast<double>(spread.of_days);
  const double of_median =
      spread.jobs_are_launches ? 1 : std::min(1.0, kMedianOverMeanVariance / static_cast<double>(fresh));
  const double launches = spread.launches * (of_median + 1 / (days * spread.launches_per_day));
  const double between = spread.days * (1 + 1 / days);
  const double variance = launches + between;
  if (variance <= 0) return {};
  const double of_launches = std::max(1.0, static_cast<double>(spread.of_launches) - days);
  const double of_days = days > 1 ? days - 1 : of_launches;
  return {std::sqrt(variance), variance * variance / (launches * launches / of_launches + between * between / of_days)};
}

}  // namespace fabricbench::baseline
