#include "cluster/pairs/structure/sure_split.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/structure/clustering.h"

namespace fabricbench::cluster {
namespace {

/// If the residuals of a split scatter by more than this times the scale, it is found again with the larger scale.
constexpr double kFarOff = 1.25;
constexpr int kMostRescalings = 4;

/// The scale of the residuals of a split. Values of single nodes, which may have levels of their own, count only if
/// there are hardly any others.
double scatter(std::span<const Comparison> values, const Split& split) {
  constexpr std::size_t kEnough = 8;
  const std::vector<std::int32_t> sizes = sizes_of(split.part_of);
  std::vector<double> distances;
  std::vector<double> alone;
  for (const Comparison& each : values) {
    const std::int32_t first = split.part_of[static_cast<std::size_t>(each.first)];
    const std::int32_t second = split.part_of[static_cast<std::size_t>(each.second)];
    const bool is_alone = sizes[static_cast<std::size_t>(first)] < 2 || sizes[static_cast<std::size_t>(second)] < 2;
    (is_alone ? alone : distances).push_back(std::abs(each.value - (first == second ? split.within : split.across)));
  }
  if (distances.size() < kEnough) distances.insert(distances.end(), alone.begin(), alone.end());
  return distances.empty() ? 0 : kDeviationsPerMad * median_of(distances);
}

}  // namespace

std::optional<Split> find_sure_split(std::span<const Comparison> values, std::int32_t nodes, SplitSettings settings) {
  const double of_directions = settings.scale;
  std::optional<Split> split = find_split(values, nodes, settings);
  for (int i = 0; split && i < kMostRescalings; ++i) {
    const double scale = scatter(values, *split);
    if (scale <= kFarOff * settings.scale) return split;
    settings.scale = scale;
    settings.weight = 1 / (2 - std::pow(of_directions / scale, 2));
    split = find_split(values, nodes, settings);
  }
  return split;
}

}  // namespace fabricbench::cluster
