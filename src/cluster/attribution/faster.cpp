#include "cluster/attribution/faster.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "cluster/attribution/tests_made.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Whether how far apart the hosts of a reading are is known: one of a locality that leaves a host out may be faster
/// because they are near.
bool has_distance(const Model& model, const Point& point) {
  if (model.structure.levels.empty() || !model.structure.levels.front().is_given) return true;
  const std::vector<std::int32_t>& leaf_of = model.structure.levels.front().part_of;
  const Reading& reading = model.reading_of(point);
  return leaf_of[static_cast<std::size_t>(reading.from)] >= 0 && leaf_of[static_cast<std::size_t>(reading.to)] >= 0;
}

/// Whether a few of a hundred readings are further above what is usual than noise and the tolerance explain.
bool are_a_few_faster(const Model& model) {
  constexpr double kScales = 4;
  constexpr std::int64_t kFew = 3;
  constexpr double kShare = 0.01;
  std::int64_t fast = 0;
  std::int64_t all = 0;
  for (const Point& point : model.points) {
    if (point.quiet || !has_distance(model, point)) continue;
    ++all;
    fast += point.residual > std::max(-model.slow, kScales * model.scale_of(point)) ? 1 : 0;
  }
  return fast >= kFew && static_cast<double>(fast) > kShare * static_cast<double>(all);
}

/// What was measured of a pair of hosts.
struct PairRate {
  double sum = 0;    ///< of residuals
  double scale = 0;  ///< the largest
  std::int64_t readings = 0;
};

/// By pair of hosts; readings of a quiet network are left out.
using PairRates = std::unordered_map<std::int64_t, PairRate>;

std::int64_t pair_of(const Model& model, const Point& point) {
  const Reading& reading = model.reading_of(point);
  const auto [first, second] = std::minmax(reading.from, reading.to);
  return std::int64_t{first} * model.ids.hosts + second;
}

/// Those of which a reading is so fast that all of them may be.
PairRates pairs_that_may_be_faster(const Model& model) {
  constexpr double kScales = 3;
  PairRates pairs;
  for (const Point& point : model.points) {
    if (!point.quiet && has_distance(model, point) &&
        point.residual > std::max(-model.slow, kScales * model.scale_of(point))) {
      pairs[pair_of(model, point)] = {};
    }
  }
  return pairs;
}

/// Whether a pair is faster than chance makes any pair. Pairs differ by their paths, which both directions have in
/// common: that is the part of the scale which differences of directions do not show.
bool is_any_pair_faster(const Model& model) {
  PairRates pairs = pairs_that_may_be_faster(model);
  if (pairs.empty()) return false;
  for (const Point& point : model.points) {
    const auto found = point.quiet ? pairs.end() : pairs.find(pair_of(model, point));
    if (found == pairs.end()) continue;
    PairRate& pair = found->second;
    pair.sum += point.residual;
    pair.scale = std::max(pair.scale, model.scale_of(point));
    ++pair.readings;
  }
  const double of_direction = model.structure.scale;
  const double tests =
      std::min(static_cast<double>(model.points.size()), 0.5 * model.hosts_present * model.hosts_present);
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& each) {
    const PairRate& pair = each.second;
    if (pair.readings < 2) return false;
    const auto readings = static_cast<double>(pair.readings);
    const double of_path = std::max(pair.scale * pair.scale - of_direction * of_direction, 0.0);
    const double error = std::sqrt(of_path + of_direction * of_direction / readings);
    const double mean = pair.sum / readings;
    return mean > -model.slow && family_wise(normal_below(-mean / error), tests) < model.settings.false_alarm;
  });
}

}  // namespace

bool any_are_faster(const Model& model) { return are_a_few_faster(model) || is_any_pair_faster(model); }

}  // namespace fabricbench::cluster
