#include "cluster/pairs/sets.h"
#include "cluster/pairs/structure/levels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "cluster/pairs/robust.h"

namespace fabricbench::cluster {
namespace {

/// Two kinds of hosts, one of which is slower in one direction only.
struct OneWayKinds {
  std::vector<char> is_slow;  ///< by host: of the slower kind, which has half of the hosts or more
  Direction direction = Direction::kSends;
  double gain = 0;  ///< as Split::gain
};

/// Minimum number of readings to know a host's rate in one direction.
constexpr std::size_t kReadingsOfHost = 3;
/// Nats: two kinds have to be a thousand times likelier than one.
constexpr double kLeastKindsGain = 7;
/// Maximum share of readings, and of hosts, that are exceptions.
constexpr double kShareOfExceptions = 0.1;
constexpr double kLeastKindsScale = 0.002;

std::int32_t own_side(const Comparison& each, Direction direction) {
  return direction == Direction::kSends ? each.first : each.second;
}

/// By host, its median in one direction, after subtracting the level of the host on the other side (`levels`). Empty:
/// some host has too few readings. A host without readings has no median.
std::vector<std::optional<float>> medians_by_host(const ComparisonTable& table, std::size_t hosts, Direction direction,
                                                  const std::vector<std::optional<float>>& levels = {}) {
  std::vector<std::vector<float>> values(hosts);
  for (const Comparison& each : table.values) {
    const std::int32_t own = own_side(each, direction);
    const auto other = at(own == each.first ? each.second : each.first);
    values[at(own)].push_back(each.value - (levels.empty() ? 0 : levels[other].value_or(0)));
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
  std::ranges::sort(sorted);
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
                                Direction direction) {
  std::vector<float> left;
  left.reserve(table.values.size());
  for (const Comparison& each : table.values) {
    left.push_back(std::abs(each.value - levels[at(own_side(each, direction))].value_or(0)));
  }
  return left;
}

/// Whether one side alone explains the readings, apart from few exceptions among readings and hosts; there are fewer
/// exceptions than readings of the faster hosts.
bool explains_all(const ComparisonTable& table, const std::vector<std::optional<float>>& levels, Direction direction,
                  const std::vector<float>& left_of_readings, const KindsGap& gap) {
  const double width = gap.width;
  const auto exceptions = std::ranges::count_if(left_of_readings, [&](float left) { return left > width / 2; });
  if (static_cast<double>(exceptions) > kShareOfExceptions * static_cast<double>(table.values.size())) return false;
  const auto of_faster = std::ranges::count_if(table.values, [&](const Comparison& each) {
    return levels[at(own_side(each, direction))].value_or(0) >= gap.above;
  });
  if (exceptions > of_faster) return false;
  const Direction other_way = direction == Direction::kSends ? Direction::kReceives : Direction::kSends;
  const auto left = medians_by_host(table, levels.size(), other_way, levels);
  const auto exceptional = std::ranges::count_if(
      left, [&](const std::optional<float>& each) { return each && std::abs(*each) > width / 4; });
  return !left.empty() && static_cast<double>(exceptional) <= kShareOfExceptions * static_cast<double>(left.size());
}

/// Finds such kinds: the senders alone, or the receivers alone, explain the readings, and half of them or more, but not
/// all but one, are slower than the others. Nothing if any host has too few readings, or if readings are of both
/// directions together.
std::optional<OneWayKinds> find_one_way_kinds(const ComparisonTable& table, std::size_t hosts,
                                              const SplitSettings& settings) {
  if (!table.has_directions) return std::nullopt;
  for (const Direction direction : {Direction::kSends, Direction::kReceives}) {
    const std::vector<std::optional<float>> levels = medians_by_host(table, hosts, direction);
    const KindsGap gap = widest_gap(levels);
    if (gap.width < settings.depth) continue;
    std::vector<float> left = left_of_each(table, levels, direction);
    if (!explains_all(table, levels, direction, left, gap)) continue;
    // The two directions of a pair differ by more than noise here, so that the scale has to be taken from what is left.
    const double scale = std::max(scale_by(left), kLeastKindsScale);
    const auto readings = static_cast<double>(table.values.size());
    const double per_reading = gap.below * (1 - gap.below) * std::pow(gap.width / scale, 2) / 2;
    OneWayKinds kinds{std::vector<char>(hosts, 0), direction,
                      readings * per_reading - static_cast<double>(hosts) * std::log(2)};
    if (kinds.gain < kLeastKindsGain) continue;
    for (std::size_t host = 0; host < hosts; ++host) {
      kinds.is_slow[host] = levels[host] && *levels[host] < gap.above ? 1 : 0;
    }
    return kinds;
  }
  return std::nullopt;
}

}  // namespace

void note_kinds(const ComparisonTable& table, Structure& structure) {
  std::vector<char> taken(structure.is_alone.size(), 0);
  for (const Comparison& each : table.values) {
    taken[at(each.first)] = taken[at(each.second)] = 1;
  }
  const auto present = std::ranges::count(taken, 1);
  const auto alone = std::ranges::count(structure.is_alone, 1);
  if (2 * alone < present) return;
  structure.is_slow_kind = structure.is_alone;
  for (std::size_t host = 0; host < structure.is_unplaced.size(); ++host) {
    if (structure.is_unplaced[host] != 0) structure.is_slow_kind[host] = 1;
  }
  std::ranges::fill(structure.is_alone, 0);
}

void note_kinds_within(const ComparisonTable& table, const std::vector<char>& is_alone_within, Structure& structure) {
  if (!structure.is_slow_kind.empty()) return;
  const std::vector<char> known = structure.is_alone;
  for (std::size_t host = 0; host < known.size(); ++host) {
    if (is_alone_within[host] != 0) structure.is_alone[host] = 1;
  }
  note_kinds(table, structure);
  if (structure.is_slow_kind.empty()) structure.is_alone = known;
}

bool note_one_way_kinds(const ComparisonTable& table, const SplitSettings& settings, Structure& structure) {
  std::optional<OneWayKinds> kinds = find_one_way_kinds(table, structure.is_alone.size(), settings);
  if (!kinds) return false;
  structure.is_slow_kind = std::move(kinds->is_slow);
  structure.slow_way = kinds->direction;
  return true;
}

}  // namespace fabricbench::cluster
