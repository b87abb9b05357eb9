#include "cluster/pairs/structure/levels.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/structure/clustering.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// By part, the number of its side: parts that readings connect are on one side. Hosts of two jobs that never met are
/// on different sides.
std::vector<std::int32_t> sides_of(std::int32_t parts, const std::vector<std::pair<std::int32_t, std::int32_t>>& met) {
  DisjointSets connected(at(parts));
  for (const auto& [part, partner] : met) connected.join(part, partner);
  std::vector<std::int32_t> sides;
  sides.reserve(at(parts));
  for (std::int32_t part = 0; part < parts; ++part) sides.push_back(connected.representative(part));
  return sides;
}

/// By part, its coarser part as its side.
std::vector<std::int32_t> sides_within(const Level& level, const std::vector<std::int32_t>& coarser) {
  std::vector<std::int32_t> sides(at(level.parts), 0);
  for (std::size_t host = 0; host < coarser.size(); ++host) {
    if (level.part_of[host] >= 0) sides[at(level.part_of[host])] = coarser[host];
  }
  return sides;
}

/// Maximum number of open pairs to keep.
constexpr std::size_t kMostOpen = 1 << 16;
/// The evidence, in nats, that decides whether two parts are one.
constexpr double kLikelihood = 5;

/// Up to `most` parts on one of the sides that are not among `parts` (ascending). Without sides: of all parts.
std::vector<std::int32_t> lacking(const std::vector<std::int32_t>& parts, const std::vector<std::int32_t>& side_of,
                                  const std::set<std::int32_t>& sides, std::size_t most) {
  std::vector<std::int32_t> others;
  for (std::int32_t part = 0; std::cmp_less(part, side_of.size()) && others.size() < most; ++part) {
    const bool is_beside = sides.empty() || sides.count(side_of[at(part)]) > 0;
    if (is_beside && !std::ranges::binary_search(parts, part)) others.push_back(part);
  }
  return others;
}

/// The evidence between two parts, the lower number first.
struct Between {
  std::pair<std::int32_t, std::int32_t> parts;
  double likelihood = 0;  ///< log likelihood ratio: both are one part, over two parts
  std::int32_t values = 0;
};

/// Sums up evidence by pair of parts, ascending.
std::vector<Between> put_together(std::vector<Between> values) {
  std::ranges::sort(values, [](const Between& a, const Between& b) { return a.parts < b.parts; });
  std::vector<Between> together;
  for (const Between& each : values) {
    if (together.empty() || together.back().parts != each.parts) together.push_back({each.parts, 0, 0});
    together.back().likelihood += each.likelihood;
    together.back().values += each.values;
  }
  return together;
}

/// Whether two parts are known to be two. After a few values that fit neither case, more values do not help.
bool are_two(const Between& between) {
  constexpr std::int32_t kMostValues = 4;
  return between.likelihood < -kLikelihood || between.values >= kMostValues;
}

/// Pairs of parts that are not known to be two, without pairs of parts on different sides.
std::vector<std::pair<std::int32_t, std::int32_t>> open_parts(const std::vector<Between>& between,
                                                              const std::vector<std::int32_t>& sides) {
  std::vector<std::pair<std::int32_t, std::int32_t>> open;
  auto next = between.begin();
  const auto parts = static_cast<std::int32_t>(sides.size());
  for (std::int32_t first = 0; first < parts && open.size() < kMostOpen; ++first) {
    for (std::int32_t second = first + 1; second < parts; ++second) {
      while (next != between.end() && next->parts < std::pair{first, second}) ++next;
      const bool has_met = next != between.end() && next->parts == std::pair{first, second};
      const bool known = has_met && are_two(*next);
      const bool is_beside = sides[at(first)] == sides[at(second)];
      if (!known && is_beside) open.emplace_back(first, second);
    }
  }
  return open;
}

/// The evidence between two parts, and between a part and a host without a part, which is a node behind the parts.
std::vector<Between> between_parts(const std::vector<Comparison>& values, const Nodes& nodes, std::int32_t parts,
                                   const Split& split, const SplitSettings& settings) {
  std::vector<Between> between;
  for (const Comparison& each : values) {
    const auto [first, second] = std::minmax(nodes.node_of[at(each.first)], nodes.node_of[at(each.second)]);
    if (first < 0 || first >= parts || first == second) continue;
    const double value = each.value - split.drift[at(each.window)];
    between.push_back({{first, second}, likelihood_of_one(value, split, settings), 1});
  }
  return put_together(std::move(between));
}

/// Adds pairs of unplaced hosts of the same coarser part: too little was measured there to show a part.
void open_among_unplaced(const std::vector<char>& is_unplaced, const std::vector<std::int32_t>& coarser,
                         OpenGroups& open) {
  std::map<std::int32_t, std::vector<std::int32_t>> nodes;  // by coarser part
  for (std::size_t host = 0; host < coarser.size(); ++host) {
    if (is_unplaced[host] == 0) continue;
    std::vector<std::int32_t>& others = nodes[coarser[host]];
    for (const std::int32_t other : others) {
      if (open.groups.size() < kMostOpen) open.groups.emplace_back(other, open.group_of[host]);
    }
    others.push_back(open.group_of[host]);
  }
}

}  // namespace

Nodes nodes_of(const Level& level) {
  Nodes nodes{level.part_of, level.parts};
  for (std::int32_t& each : nodes.node_of) {
    if (each == Level::kNone) each = nodes.nodes++;
  }
  return nodes;
}

bool is_clearly_faster(double gain, std::size_t values, std::size_t other_values, const SplitSettings& settings) {
  // Both directions of a pair may have their noise in common.
  const double halves = 2.0 / static_cast<double>(values) + 2.0 / static_cast<double>(other_values);
  const double error = kMedianOverMeanError * settings.scale * std::sqrt(halves);
  return gain > std::max(settings.depth, kSureErrors * error);
}

void leave_weak_members(const std::vector<Comparison>& values, const Split& split, const SplitSettings& settings,
                        Level& level) {
  struct Member {
    double likelihood = 0;             ///< log likelihood ratio: the host is in its part, over not
    std::set<std::int32_t> parts_met;  ///< other parts
  };
  std::vector<Member> members(level.part_of.size());
  for (const Comparison& each : values) {
    const double value = each.value - split.drift[at(each.window)];
    for (const auto& [own, other] : {std::pair{each.first, each.second}, std::pair{each.second, each.first}}) {
      Member& member = members[at(own)];
      const std::int32_t part = level.part_of[at(other)];
      if (part < 0) continue;
      if (part != level.part_of[at(own)])
        member.parts_met.insert(part);
      else
        member.likelihood += likelihood_of_one(value, split, settings);
    }
  }
  const std::vector<std::int32_t> sides = sides_within(level, settings.coarser);
  std::vector<std::int32_t> sizes = sizes_of(level.part_of);
  for (std::size_t host = 0; host < members.size(); ++host) {
    std::int32_t& part = level.part_of[host];
    if (part < 0 || members[host].likelihood >= kLikelihood || sizes[at(part)] < 3) continue;
    const auto others = std::ranges::count(sides, settings.coarser[host]) - 1;
    if (std::cmp_greater_equal(members[host].parts_met.size(), others)) continue;
    --sizes[at(part)];
    part = Level::kNone;
  }
}

Evidence evidence_of(const std::vector<Comparison>& values, const Level& level, const Split& split,
                     const SplitSettings& settings) {
  const std::size_t hosts = level.part_of.size();
  Evidence evidence{std::vector<char>(hosts, 0), std::vector<char>(hosts, 0), {}};
  const Nodes nodes = nodes_of(level);
  const std::vector<Between> between = between_parts(values, nodes, level.parts, split, settings);
  std::vector<std::pair<std::int32_t, std::int32_t>> parts_met;
  std::vector<std::vector<std::int32_t>> others(at(nodes.nodes));  // by host of none
  for (const Between& each : between) {
    if (each.parts.second < level.parts) parts_met.push_back(each.parts);
    if (each.parts.second >= level.parts && are_two(each)) {
      others[at(each.parts.second)].push_back(each.parts.first);
    }
  }
  std::vector<char> taken(hosts, 0);
  for (const Comparison& each : values) {
    taken[at(each.first)] = taken[at(each.second)] = 1;
  }
  const std::vector<std::int32_t> sides =
      settings.coarser.empty() ? sides_of(level.parts, parts_met) : sides_within(level, settings.coarser);
  evidence.open = {nodes.node_of, open_parts(between, sides)};
  for (std::size_t host = 0; host < hosts; ++host) {
    if (level.part_of[host] >= 0 || taken[host] == 0) continue;
    const std::int32_t node = nodes.node_of[host];
    const std::vector<std::int32_t>& known = others[at(node)];
    const std::size_t most = kMostOpen - std::min(kMostOpen - 1, evidence.open.groups.size());
    std::set<std::int32_t> own_sides;
    for (const std::int32_t part : known) own_sides.insert(sides[at(part)]);
    if (!settings.coarser.empty()) own_sides = {settings.coarser[host]};
    const std::vector<std::int32_t> left = lacking(known, sides, own_sides, most);
    (left.empty() && !known.empty() ? evidence.is_alone : evidence.is_unplaced)[host] = 1;
    for (const std::int32_t part : left) evidence.open.groups.emplace_back(part, node);
  }
  open_among_unplaced(evidence.is_unplaced, settings.coarser, evidence.open);
  return evidence;
}

}  // namespace fabricbench::cluster
