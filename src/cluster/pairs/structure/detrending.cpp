#include "cluster/pairs/structure/detrending.h"

#include <algorithm>
#include <cstddef>

#include "cluster/pairs/robust.h"

namespace fabricbench::cluster {
namespace {

/// The trend: the running median of the drift. The drift of a single window may be due to the pairs in it, and is left.
std::vector<double> trend_of(const std::vector<float>& drift) { return medians_about({drift.begin(), drift.end()}); }

/// Whether a trend is large enough to blur levels, compared with the scale.
bool is_worth_taking(const std::vector<double>& trend, double scale) {
  if (trend.empty()) return false;
  const auto [low, high] = std::minmax_element(trend.begin(), trend.end());
  return *high - *low > scale / 2;
}

/// The drift of values without a split: that beside a split with a larger scale, since drift blurs the levels, or else
/// that of one level for all.
std::vector<float> blurred_drift(const std::vector<Comparison>& values, std::int32_t nodes,
                                 const SplitSettings& settings) {
  constexpr double kBlurred = 3;
  SplitSettings wide = settings;
  wide.scale *= kBlurred;
  const std::optional<Split> split = find_split(values, nodes, wide);
  return split ? split->drift : drift_without_split(values, settings);
}

/// The median of a window's values, if most of them are below -`least`; else 0.
float drop_of(std::vector<float>& values, double least) {
  if (values.size() < kReadingsOfWindow) return 0;
  return static_cast<double>(upper_bound_of_most(values)) < -least ? median_of(values) : 0;
}

void take(const std::vector<double>& trend, std::vector<Comparison>& values) {
  for (Comparison& each : values) each.value -= static_cast<float>(trend[static_cast<std::size_t>(each.window)]);
}

}  // namespace

bool detrend(const std::optional<Split>& split, std::int32_t nodes, const SplitSettings& settings,
             std::vector<Comparison>& values) {
  std::vector<double> trend = trend_of(split ? split->drift : drift_without_split(values, settings));
  if (!is_worth_taking(trend, settings.scale)) return false;
  if (!split) trend = trend_of(blurred_drift(values, nodes, settings));
  take(trend, values);
  return true;
}

void detrend_by_residuals(const std::vector<Comparison>& left, const SplitSettings& settings,
                          std::vector<Comparison>& values) {
  const std::vector<double> trend = trend_of(drift_without_split(left, settings));
  if (is_worth_taking(trend, settings.scale)) take(trend, values);
}

bool remove_drops(const Structure& structure, const SplitSettings& settings, std::vector<Comparison>& values) {
  constexpr double kScales = 3;
  if (structure.levels.empty()) return false;
  std::vector<std::vector<float>> by_distance(structure.levels.size() + 1);
  for (const Comparison& each : values) {
    by_distance[static_cast<std::size_t>(structure.distance(each.first, each.second))].push_back(each.value);
  }
  std::vector<float> usual;
  usual.reserve(by_distance.size());
  for (std::vector<float>& own : by_distance) usual.push_back(own.empty() ? 0 : median_of(own));
  std::vector<std::vector<float>> left;  // by window
  for (const Comparison& each : values) {
    const auto window = static_cast<std::size_t>(each.window);
    if (window >= left.size()) left.resize(window + 1);
    left[window].push_back(each.value - usual[static_cast<std::size_t>(structure.distance(each.first, each.second))]);
  }
  std::vector<float> drops;
  drops.reserve(left.size());
  const double least = std::max(settings.depth, kScales * settings.scale);
  for (std::vector<float>& own : left) drops.push_back(drop_of(own, least));
  for (Comparison& each : values) each.value -= drops[static_cast<std::size_t>(each.window)];
  return std::any_of(drops.begin(), drops.end(), [](float drop) { return drop < 0; });
}

}  // namespace fabricbench::cluster
