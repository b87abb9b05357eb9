#include "cluster/structure/one_way_kinds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Minimum number of readings to know a host's rate in one direction.
constexpr std::size_t kReadingsOfHost = 3;
/// Nats: two kinds have to be a thousand times likelier than one.
constexpr double kLeastKindsGain = 7;
/// Maximum share of readings, and of hosts, that are exceptions.
constexpr double kShareOfExceptions = 0.1;
constexpr double kLeastKindsScale = 0.002;

std::int32_t own_side(const Comparison& each, Direction way) {
  return way == Direction::kSends ? each.first : each.second;
}

/// By host, its median in one direction, after subtracting the level of the host on the other side (`levels`). Empty:
/// some host has too few readings. A host without readings has no median.
std::vector<std::optional<float>> medians_by_host(const ComparisonTable& table, std::size_t hosts, Direction way,
                                                  const std::vector<std::optional<float>>& levels = {}) {
  std::vector<std::vector<float>> values(hosts);
  for (const Comparison& each : table.values) {
    const std::int32_t own = own_side(each, way);
    const auto other = static_cast<std::size_t>(own == each.first ? each.second : each.first);
    values[static_cast<std::size_t>(own)].push_back(each.value - (levels.empty() ? 0 : levels[other].value_or(0)));
  }
  std::vector<std::optional<float>> medians(hosts);
  for (std::size_t host = 0; host < hosts; ++host) {
    if (values[host].empty()) continue;
    if (values[host].size() < kReadingsOfHost) return {};
    medians[host] = median_of(values[host]);
  }
  return medians;
}

/// The widest gap between medians of hosts, with half of the hosts or more below it, and two or more above it.
struct KindsGap {
  double above = 0;  ///< the lowest of those above it
  double width = 0;
  double below = 0;  ///< the share of hosts
};

KindsGap widest_gap(const std::vector<std::optional<float>>& medians) {
  std::vector<float> sorted;
  for (const std::optional<float>& each : medians) {
    if (each) sorted.push_back(*each);
  }
  std::sort(sorted.begin(), sorted.end());
  KindsGap widest;
  for (std::size_t i = (sorted.size() + 1) / 2; i + 2 <= sorted.size() && i > 0; ++i) {
    const double width = sorted[i] - sorted[i - 1];
    if (width <= widest.width) continue;
    widest = {sorted[i], width, static_cast<double>(i) / static_cast<double>(sorted.size())};
  }
  return widest;
}

/// By reading, the absolute residual if one side alone explains it.
std::vector<float> left_of_each(const ComparisonTable& table, const std::vector<std::optional<float>>& levels,
                                Direction way) {
  std::vector<float> left;
  left.reserve(table.values.size());
  for (const Comparison& each : table.values) {
    left.push_back(std::abs(each.value - levels[static_cast<std::size_t>(own_side(each, way))].value_or(0)));
  }
  return left;
}

/// Whether one side alone explains the readings, apart from few exceptions among readings and hosts; there are fewer
/// exceptions than readings of the faster hosts.
bool explains_all(const ComparisonTable& table, const std::vector<std::optional<float>>& levels, Direction way,
                  const std::vector<float>& left_of_readings, const KindsGap& gap) {
  const double width = gap.width;
  const auto exceptions =
      std::count_if(left_of_readings.begin(), left_of_readings.end(), [&](float left) { return left > width / 2; });
  if (static_cast<double>(exceptions) > kShareOfExceptions * static_cast<double>(table.values.size())) return false;
  const auto of_faster = std::count_if(table.values.begin(), table.values.end(), [&](const Comparison& each) {
    return levels[static_cast<std::size_t>(own_side(each, way))].value_or(0) >= gap.above;
  });
  if (exceptions > of_faster) return false;
  const Direction other_way = way == Direction::kSends ? Direction::kReceives : Direction::kSends;
  const auto left = medians_by_host(table, levels.size(), other_way, levels);
  const auto exceptional = std::count_if(
      left.begin(), left.end(), [&](const std::optional<float>& each) { return each && std::abs(*each) > width / 4; });
  return !left.empty() && static_cast<double>(exceptional) <= kShareOfExceptions * static_cast<double>(left.size());
}

}  // namespace

std::optional<OneWayKinds> find_one_way_kinds(const ComparisonTable& table, std::size_t hosts,
                                              const SplitSettings& settings) {
  if (!table.has_directions) return std::nullopt;
  for (const Direction way : {Direction::kSends, Direction::kReceives}) {
    const std::vector<std::optional<float>> levels = medians_by_host(table, hosts, way);
    const KindsGap gap = widest_gap(levels);
    if (gap.width < settings.depth) continue;
    std::vector<float> left = left_of_each(table, levels, way);
    if (!explains_all(table, levels, way, left, gap)) continue;
    // The two directions of a pair differ by more than noise here, so that the scale has to be taken from what is left.
    const double scale = std::max(kDeviationsPerMad * static_cast<double>(median_of(left)), kLeastKindsScale);
    const auto readings = static_cast<double>(table.values.size());
    const double per_reading = gap.below * (1 - gap.below) * std::pow(gap.width / scale, 2) / 2;
    OneWayKinds kinds{std::vector<char>(hosts, 0), way,
                      readings * per_reading - static_cast<double>(hosts) * std::log(2)};
    if (kinds.gain < kLeastKindsGain) continue;
    for (std::size_t host = 0; host < hosts; ++host) {
      kinds.is_slow[host] = levels[host] && *levels[host] < gap.above ? 1 : 0;
    }
    return kinds;
  }
  return std::nullopt;
}

}  // namespace fabricbench::cluster
