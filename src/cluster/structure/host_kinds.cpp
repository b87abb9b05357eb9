#include "cluster/structure/host_kinds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "cluster/structure/one_way_kinds.h"

namespace fabricbench::cluster {

void note_kinds(const ComparisonTable& table, double gain, Structure& structure) {
  std::vector<char> taken(structure.is_alone.size(), 0);
  for (const Comparison& each : table.values) {
    taken[static_cast<std::size_t>(each.first)] = taken[static_cast<std::size_t>(each.second)] = 1;
  }
  const auto present = std::count(taken.begin(), taken.end(), 1);
  const auto alone = std::count(structure.is_alone.begin(), structure.is_alone.end(), 1);
  if (2 * alone < present) return;
  structure.is_slow_kind = structure.is_alone;
  for (std::size_t host = 0; host < structure.is_unplaced.size(); ++host) {
    if (structure.is_unplaced[host] != 0) structure.is_slow_kind[host] = 1;
  }
  structure.kinds_false_alarm = std::exp(-gain);
  std::fill(structure.is_alone.begin(), structure.is_alone.end(), 0);
}

void note_kinds_within(const ComparisonTable& table, const std::vector<char>& is_alone_within, double gain,
                       Structure& structure) {
  if (!structure.is_slow_kind.empty()) return;
  const std::vector<char> known = structure.is_alone;
  for (std::size_t host = 0; host < known.size(); ++host) {
    if (is_alone_within[host] != 0) structure.is_alone[host] = 1;
  }
  note_kinds(table, gain, structure);
  if (structure.is_slow_kind.empty()) structure.is_alone = known;
}

bool note_one_way_kinds(const ComparisonTable& table, const SplitSettings& settings, Structure& structure) {
  std::optional<OneWayKinds> kinds = find_one_way_kinds(table, structure.is_alone.size(), settings);
  if (!kinds) return false;
  structure.is_slow_kind = std::move(kinds->is_slow);
  structure.slow_way = kinds->way;
  structure.kinds_false_alarm = std::exp(-kinds->gain);
  return true;
}

}  // namespace fabricbench::cluster
