#include "cluster/attribution/faster.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

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

void add(const Model& model, const Point& point, PairRate& pair) {
  pair.sum += point.residual;
  pair.scale = std::max(pair.scale, model.scale_of(point));
  ++pair.readings;
}

double mean_of(const PairRate& pair) { return pair.sum / static_cast<double>(pair.readings); }

/// The standard error of a pair's mean. Pairs differ by their paths, which both directions have in common: that is the
/// part of the scale which differences of directions do not show.
double error_of(const Model& model, const PairRate& pair) {
  const double of_direction = model.structure.scale;
  const double of_path = std::max(pair.scale * pair.scale - of_direction * of_direction, 0.0);
  return std::sqrt(of_path + of_direction * of_direction / static_cast<double>(pair.readings));
}

/// Whether a pair is faster than chance makes any pair.
bool is_any_pair_faster(const Model& model) {
  PairRates pairs = pairs_that_may_be_faster(model);
  if (pairs.empty()) return false;
  for (const Point& point : model.points) {
    const auto found = point.quiet ? pairs.end() : pairs.find(pair_of(model, point));
    if (found != pairs.end()) add(model, point, found->second);
  }
  const double tests =
      std::min(static_cast<double>(model.points.size()), 0.5 * model.hosts_present * model.hosts_present);
  return std::any_of(pairs.begin(), pairs.end(), [&](const auto& each) {
    const PairRate& pair = each.second;
    if (pair.readings < 2) return false;
    const double mean = mean_of(pair);
    return mean > -model.slow &&
           family_wise(normal_below(-mean / error_of(model, pair)), tests) < model.settings.false_alarm;
  });
}

}  // namespace

std::optional<NearPairs> find_near_pairs(const Model& model) {
  constexpr double kErrors = 4;
  constexpr std::size_t kFewest = 10;
  PairRates pairs;
  for (const Point& point : model.points) {
    if (!point.quiet) add(model, point, pairs[pair_of(model, point)]);
  }
  std::vector<double> fast;
  std::vector<char> is_of_one(static_cast<std::size_t>(model.ids.hosts), 0);
  for (const auto& [number, pair] : pairs) {
    if (mean_of(pair) <= std::max(-model.slow, kErrors * error_of(model, pair))) continue;
    fast.push_back(mean_of(pair));
    is_of_one[static_cast<std::size_t>(number / model.ids.hosts)] = 1;
    is_of_one[static_cast<std::size_t>(number % model.ids.hosts)] = 1;
  }
  if (fast.size() < kFewest) return std::nullopt;
  std::vector<double> among_them;
  for (const auto& [number, pair] : pairs) {
    const bool both = is_of_one[static_cast<std::size_t>(number / model.ids.hosts)] != 0 &&
                      is_of_one[static_cast<std::size_t>(number % model.ids.hosts)] != 0;
    if (both) among_them.push_back(mean_of(pair));
  }
  if (among_them.size() < 4 * fast.size() || std::abs(median_of(among_them)) > -model.slow / 2) return std::nullopt;
  const auto faster = static_cast<std::int64_t>(fast.size());
  return NearPairs{faster, static_cast<std::int64_t>(pairs.size()), std::expm1(median_of(fast))};
}

bool any_are_faster(const Model& model) { return are_a_few_faster(model) || is_any_pair_faster(model); }

}  // namespace fabricbench::cluster
