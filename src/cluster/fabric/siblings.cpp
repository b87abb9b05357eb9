#include "cluster/fabric/siblings.h"

#include <algorithm>
#include <cstdlib>

#include "cluster/fabric/findings.h"

namespace fabricbench::fabric {
namespace {

/// Empty if the map has no such key.
template <typename Key>
const std::vector<std::size_t>& those_of(const std::map<Key, std::vector<std::size_t>>& map, const Key& key) {
  static const std::vector<std::size_t> none;
  const auto found = map.find(key);
  return found == map.end() ? none : found->second;
}

}  // namespace

Siblings::Siblings(const Fabric& fabric, const Shape& shape) : fabric_(fabric), shape_(shape) {
  for (std::size_t i = 0; i < fabric.cables.size(); ++i) add(i);
  find(true);
  find(false);
}

void Siblings::add(std::size_t cable) {
  const auto& [a, b, rate] = fabric_.cables[cable];
  const int difference = shape_.tiers[b.node] - shape_.tiers[a.node];
  if (shape_.tiers[a.node] == 0 || shape_.tiers[b.node] == 0 || std::abs(difference) != 1) return;
  const SwitchPair pair = difference == 1 ? SwitchPair(a.node, b.node) : SwitchPair(b.node, a.node);
  cables_[pair].push_back(cable);
  up_[pair.first].insert(pair.second);
  down_[pair.second].insert(pair.first);
}

/// Of those that share neighbours, where ports are in order, the ones that share most of the ports.
void Siblings::find(bool above) {
  for (const auto& [one, its] : neighbours(above)) {
    const std::map<std::size_t, std::size_t> found = alike(one, above);
    if (found.empty()) continue;
    const std::size_t best = most_common(found)->second;
    const bool in_order = 2 * best >= its.size();
    for (const auto& [other, ports] : found) {
      if (!in_order || 2 * ports >= best) siblings_[{one, above}].push_back(other);
    }
  }
}

/// Switches of one tier that share at least half of their neighbours, with the number of ports alike.
std::map<std::size_t, std::size_t> Siblings::alike(std::size_t one, bool above) const {
  const std::set<std::size_t>& its = neighbours(above).at(one);
  std::map<std::size_t, std::size_t> shared;
  for (const std::size_t neighbour : its) {
    for (const std::size_t other : neighbours(!above).at(neighbour)) ++shared[other];
  }
  std::map<std::size_t, std::size_t> found;
  for (const auto& [other, count] : shared) {
    if (other == one || shape_.tiers[other] != shape_.tiers[one]) continue;
    const std::size_t all = std::max(its.size(), neighbours(above).at(other).size());
    if (2 * count == all && are_of_two_rails(one, other)) continue;
    if (2 * count >= all) found[other] = ports_alike(one, other, above);
  }
  return found;
}

bool Siblings::are_of_two_rails(std::size_t one, std::size_t other) const {
  const auto rail = shape_.rails.find(one);
  const auto other_rail = shape_.rails.find(other);
  return rail != shape_.rails.end() && other_rail != shape_.rails.end() && rail->second != other_rail->second;
}

/// Number of ports of two switches that lead to the same neighbour.
std::size_t Siblings::ports_alike(std::size_t one, std::size_t other, bool above) const {
  std::size_t count = 0;
  for (const auto& [port, cable] : shape_.ports[one]) {
    const auto same = shape_.ports[other].find(port);
    if (same == shape_.ports[other].end()) continue;
    const std::size_t target = fabric_.cables[cable].other(one).node;
    const bool is_same = target == fabric_.cables[same->second].other(other).node;
    count += is_same && neighbours(above).at(one).contains(target) ? 1 : 0;
  }
  return count;
}

const std::vector<std::size_t>& Siblings::of(std::size_t one, bool above) const {
  return those_of(siblings_, {one, above});
}

const std::vector<std::size_t>& Siblings::cables(SwitchPair pair) const { return those_of(cables_, pair); }

std::optional<int> Siblings::expected_count(SwitchPair pair) const {
  const auto connected = are_connected_elsewhere(pair);
  if (!connected) return std::nullopt;
  return *connected ? usual_count(pair) : 0;
}

/// Number of cables that siblings of both have between each other, if half of them agree or none is far off.
std::optional<int> Siblings::usual_count(SwitchPair pair) const {
  std::vector<std::size_t> lower = of(pair.first, true);
  std::vector<std::size_t> upper = of(pair.second, false);
  lower.push_back(pair.first);
  upper.push_back(pair.second);
  std::vector<int> counts;
  for (const std::size_t low : lower) {
    for (const std::size_t high : upper) {
      if (const int cables = count({low, high}); cables > 0) counts.push_back(cables);
    }
  }
  if (counts.empty()) return std::nullopt;
  std::sort(counts.begin(), counts.end());
  const int median = counts[counts.size() / 2];
  const auto agree = std::count(counts.begin(), counts.end(), median);
  const bool are_near = counts.front() >= median - 1 && counts.back() <= median + 1;
  return are_near || 2 * static_cast<std::size_t>(agree) >= counts.size() ? std::optional(median) : std::nullopt;
}

/// Whether siblings of the one have the other, and the other way round; nothing: there are none, or they disagree.
std::optional<bool> Siblings::are_connected_elsewhere(SwitchPair pair) const {
  std::size_t yes = 0;
  const auto& lower = of(pair.first, true);
  const auto& upper = of(pair.second, false);
  for (const std::size_t low : lower) yes += count({low, pair.second}) > 0 ? 1 : 0;
  for (const std::size_t high : upper) yes += count({pair.first, high}) > 0 ? 1 : 0;
  const std::size_t all = lower.size() + upper.size();
  if (all < 2) return std::nullopt;
  if (3 * yes >= 2 * all) return true;
  return 3 * yes <= all ? std::optional(false) : std::nullopt;
}

std::optional<std::size_t> Siblings::usual_neighbour(std::size_t one, int port, bool above) const {
  std::map<std::size_t, std::size_t> targets;
  const auto& others = of(one, above);
  for (const std::size_t other : others) {
    const auto found = shape_.ports[other].find(port);
    if (found != shape_.ports[other].end()) ++targets[fabric_.cables[found->second].other(other).node];
  }
  if (targets.empty()) return std::nullopt;
  const auto most = most_common(targets);
  return 4 * most->second >= 3 * others.size() ? std::optional(most->first) : std::nullopt;
}

}  // namespace fabricbench::fabric
