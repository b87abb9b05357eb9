// Hosts that may be alone in their leaf, or in another leaf than the locality says.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/structure/clustering.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// The rate of an effect with a group, as a logarithm, and its standard error.
struct Reach {
  double rate = -std::numeric_limits<double>::infinity();
  double error = 0;
  std::int32_t part = Level::kNone;  ///< that group
  double of = 1;                     ///< of the fastest group: the number of groups that it was chosen from
};

/// The rate of a reading without drift, as a logarithm.
double rate_of(const Model& model, const Point& point) { return point.residual + model.centre_of(point); }

/// The rates of an effect with each group that it was measured with, without hosts that are `left_out` (ascending).
std::vector<Reach> reach_by_group(const Model& model, std::int32_t effect,
                                  const std::vector<std::int32_t>& left_out = {}) {
  std::map<std::int32_t, std::vector<double>> rates;  // by group of the partner
  for (const Entry entry : model.entries_of(effect)) {
    const Point& point = model.point_of(entry);
    const std::int32_t partner = model.ids.host(entry.other);
    const std::int32_t part = model.part_of(partner);
    if (part == Level::kNone || std::ranges::binary_search(left_out, partner)) continue;
    rates[part].push_back(rate_of(model, point));
  }
  const double scale = model.scale_of(model.point_of(model.entries_of(effect).front()));
  std::vector<Reach> reach;
  reach.reserve(rates.size());
  for (auto& [part, own] : rates) {
    reach.push_back({median_of(own), kMedianOverMeanError * scale / std::sqrt(static_cast<double>(own.size())), part});
  }
  return reach;
}

/// The rate of an effect with the group with which it is fastest.
Reach fastest_reach(const Model& model, std::int32_t effect) {
  std::vector<Reach> reach = reach_by_group(model, effect);
  const auto fastest = std::ranges::max_element(reach, {}, [](const auto& each) { return each.rate; });
  if (fastest == reach.end()) return {};
  fastest->of = static_cast<double>(reach.size());
  return *fastest;
}

/// Whether the rate with a group is the usual one within groups (`within`), or between groups (not `within`): within
/// the tolerance, or within so many standard errors.
bool is_as_usual(const Model& model, std::int32_t effect, const Reach& reach, bool within, double errors) {
  const Stratum& own = model.strata[at(model.point_of(model.entries_of(effect).front()).stratum)];
  for (std::size_t i = 0; i < model.strata.size(); ++i) {
    const bool wanted = (model.strata[i].distance == 0) == within && is_alike(model.strata[i], own);
    const double allowed = std::max(errors * reach.error, -model.slow);
    if (wanted && std::abs(reach.rate - model.log_centre[i]) < allowed) return true;
  }
  return false;
}

/// Whether the median rate of an effect is below the rate between hosts that are farthest apart.
bool is_slower_than_far(const Model& model, std::int32_t effect) {
  std::vector<double> rates;
  for (const Entry entry : model.entries_of(effect)) rates.push_back(rate_of(model, model.point_of(entry)));
  const Stratum& own = model.strata[at(model.point_of(model.entries_of(effect).front()).stratum)];
  std::optional<std::size_t> farthest;
  for (std::size_t i = 0; i < model.strata.size(); ++i) {
    if (!is_alike(model.strata[i], own)) continue;
    if (!farthest || model.strata[i].distance > model.strata[*farthest].distance) farthest = i;
  }
  return farthest && median_of(rates) < model.log_centre[*farthest] + model.slow;
}

/// Whether all effects of a host have the rate that is usual between groups.
bool may_be_alone(const Model& model, std::int32_t host) {
  for (const std::int32_t effect : effects_of(model, host)) {
    if (is_slower_than_far(model, effect)) return false;
    const Reach fastest = fastest_reach(model, effect);
    // The maximum of n rates is higher by chance, by about sqrt(2 log n) standard errors.
    const double errors = std::sqrt(kErrors * kErrors + 2 * std::log(fastest.of));
    if (!is_as_usual(model, effect, fastest, false, errors)) return false;
  }
  return true;
}

/// The groups that a host that may be alone may be in: it is fastest with them, at the rate within groups, and was not
/// measured with all of their hosts.
std::set<std::int32_t> nearest_groups(const Model& model, std::int32_t host) {
  std::set<std::int32_t> groups;
  for (const std::int32_t effect : effects_of(model, host)) {
    const Reach fastest = fastest_reach(model, effect);
    const std::int32_t part = fastest.part;
    if (part == Level::kNone || !is_as_usual(model, effect, fastest, true, kSureErrors)) continue;
    std::set<std::int32_t> met;
    for (const Entry entry : model.entries_of(effect)) {
      const std::int32_t partner = model.ids.host(entry.other);
      if (model.part_of(partner) == part) met.insert(partner);
    }
    const std::vector<std::int32_t>& parts = model.structure.levels.front().part_of;
    const auto others = std::ranges::count(parts, part) - (model.part_of(host) == part ? 1 : 0);
    if (std::cmp_less(met.size(), others)) groups.insert(part);
  }
  return groups;
}

/// The groups that a host was not measured with; none if these are many.
std::set<std::int32_t> groups_not_met(const Model& model, std::int32_t host) {
  std::set<std::int32_t> groups;
  for (std::int32_t part = 0; part < model.structure.levels.front().parts; ++part) groups.insert(groups.end(), part);
  for (const std::int32_t effect : effects_of(model, host)) {
    for (const Entry entry : model.entries_of(effect)) groups.erase(model.part_of(model.ids.host(entry.other)));
  }
  return groups.size() > kFew ? std::set<std::int32_t>() : groups;
}

/// The groups that a host that may be alone may still be in. A host that is assigned to a group without being near it
/// may be in a group that it has not met.
std::set<std::int32_t> groups_it_may_have(const Model& model, std::int32_t host) {
  std::set<std::int32_t> groups = nearest_groups(model, host);
  if (model.part_of(host) >= 0 && model.structure.levels.size() == 1) groups.merge(groups_not_met(model, host));
  return groups;
}

/// Whether two hosts are in one small part of the next coarser level. A group in such a part may in fact be two groups,
/// and a host may have met only the other one.
bool are_around_each_other(const Structure& structure, const std::vector<std::int32_t>& sizes, std::int32_t a,
                           std::int32_t b) {
  if (structure.levels.size() < 2) return false;
  const std::int32_t part = structure.levels[1].common_part(a, b);
  return part >= 0 && sizes[at(part)] <= kMany;
}

/// Open groups, with each host as a group by itself: pairs of a lone host (ascending) and a host that it may be near,
/// and has not met.
OpenGroups unmet_of(const Model& model, const std::vector<std::int32_t>& lone) {
  const Structure& structure = model.structure;
  const std::size_t hosts = model.sweep->hosts.size();
  OpenGroups open{std::vector<std::int32_t>(hosts), {}};
  std::iota(open.group_of.begin(), open.group_of.end(), 0);
  std::vector<char> is_lone(hosts, 0);
  for (const std::int32_t host : lone) is_lone[at(host)] = 1;
  std::set<HostPair> met;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    const bool any = is_lone[at(reading.from)] != 0 || is_lone[at(reading.to)] != 0;
    if (any) met.insert(std::minmax(reading.from, reading.to));
  }
  const std::vector<std::int32_t> sizes =
      structure.levels.size() < 2 ? std::vector<std::int32_t>() : sizes_of(structure.levels[1].part_of);
  for (const std::int32_t host : lone) {
    const std::set<std::int32_t> groups = groups_it_may_have(model, host);
    for (std::int32_t other = 0; std::cmp_less(other, hosts); ++other) {
      const bool is_other_lone = is_lone[at(other)] != 0;
      if (other == host || (is_other_lone && other < host) || met.count(std::minmax(host, other)) > 0) continue;
      const bool may_be_near = is_other_lone || are_around_each_other(structure, sizes, host, other) ||
                               groups.count(model.part_of(other)) > 0;
      if (may_be_near) open.groups.push_back(std::minmax(host, other));
    }
  }
  return open;
}

/// By host that is blamed, whether all of its blamed effects are such.
template <typename Is>
std::map<std::int32_t, bool> are_all(const Model& model, const UnitEffects& units, const Is& is) {
  std::map<std::int32_t, bool> hosts;
  for (const UnitEffect& found : units.blamed) {
    bool& all = hosts.try_emplace(model.ids.host(found.effect), true).first->second;
    all = all && is(found);
  }
  return hosts;
}

/// Hosts that may be alone in their leaf, ascending: they are in no group, or blamed only for readings within their
/// group, and so perhaps in another one.
std::vector<std::int32_t> lone_hosts(const Model& model, const UnitEffects& units) {
  const std::map<std::int32_t, bool> blamed = are_all(model, units, [&](const UnitEffect& found) {
    return model.part_of(model.ids.host(found.effect)) == Level::kNone || shows_within_group(model, found);
  });
  std::vector<std::int32_t> lone;
  for (std::int32_t host = 0; host < model.ids.hosts; ++host) {
    const auto found = blamed.find(host);
    const bool alone =
        found == blamed.end() ? model.structure.is_alone_in_a_part(host) : found->second && may_be_alone(model, host);
    if (alone) lone.push_back(host);
  }
  return lone;
}

/// Whether an effect is blamed only for readings within its leaf of the locality, at the rate between leaves.
bool is_as_far_from_its_leaf(const Model& model, const UnitEffect& found) {
  if (!shows_within_group(model, found)) return false;
  const std::int32_t own = model.part_of(model.ids.host(found.effect));
  const std::vector<Reach> reach = reach_by_group(model, found.effect);
  return std::ranges::any_of(reach, [&](const Reach& each) {
    return each.part == own && is_as_usual(model, found.effect, each, false, kErrors);
  });
}

/// With a given locality: hosts with no other blamed effects than such. They may be in another leaf. Ascending.
std::vector<std::int32_t> hosts_of_another_leaf(const Model& model, const UnitEffects& units) {
  std::vector<std::int32_t> hosts;
  const auto is_as_far = [&](const UnitEffect& found) { return is_as_far_from_its_leaf(model, found); };
  for (const auto& [host, is_far] : are_all(model, units, is_as_far)) {
    if (is_far) hosts.push_back(host);
  }
  return hosts;
}

/// By leaf of the locality, whether a host may be in it: the host has not met it, or has the rate within leaves with it
/// in all blamed effects. Hosts that are `in_doubt` (ascending) do not count.
std::vector<char> may_be_of(const Model& model, const UnitEffects& units, std::int32_t host,
                            const std::vector<std::int32_t>& in_doubt) {
  std::vector<char> may_be(at(model.structure.levels.front().parts), 1);
  for (const UnitEffect& found : units.blamed) {
    if (model.ids.host(found.effect) != host) continue;
    for (const Reach& reach : reach_by_group(model, found.effect, in_doubt)) {
      const bool is_near = is_as_usual(model, found.effect, reach, true, kSureErrors);
      if (reach.part >= 0 && !is_near) may_be[at(reach.part)] = 0;
    }
  }
  return may_be;
}

/// Open groups with a given locality: the leaves, and behind them each of these hosts (ascending) as a group by itself.
/// Open are the other leaves that a host may be in.
OpenGroups leaves_open_to(const Model& model, const UnitEffects& units, const std::vector<std::int32_t>& hosts) {
  const Level& leaves = model.structure.levels.front();
  OpenGroups open{leaves.part_of, {}};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::int32_t own = leaves.part_of[at(hosts[i])];
    const std::int32_t group = leaves.parts + static_cast<std::int32_t>(i);
    open.group_of[at(hosts[i])] = group;
    const std::vector<char> may_be = may_be_of(model, units, hosts[i], hosts);
    for (std::int32_t leaf = 0; leaf < leaves.parts; ++leaf) {
      if (leaf != own && may_be[at(leaf)] != 0) open.groups.emplace_back(leaf, group);
    }
  }
  return open;
}

/// Takes these hosts (ascending) out of `units.blamed`: they may just be far from the others.
void set_apart(const Model& model, const std::vector<std::int32_t>& hosts, UnitEffects& units, Verdict& verdict) {
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    return std::ranges::binary_search(hosts, model.ids.host(found.effect));
  });
  verdict.may_stand_apart.insert(verdict.may_stand_apart.end(), hosts.begin(), hosts.end());
}

/// Reports hosts that may be in another leaf than the locality says. Whether they are slow is open while other leaves
/// are possible, or if the locality is wrong about other hosts.
void report_hosts_of_another_leaf(const Model& model, UnitEffects& units, Verdict& verdict) {
  const std::vector<std::int32_t> hosts = hosts_of_another_leaf(model, units);
  if (hosts.empty()) return;
  OpenGroups open = leaves_open_to(model, units, hosts);
  if (open.groups.empty() && model.structure.misplaced.empty()) return;
  if (!open.groups.empty()) verdict.open_groups.push_back(std::move(open));
  set_apart(model, hosts, units, verdict);
  verdict.notes.push_back(fmt::format(
      "hosts as slow with their own leaf as hosts of different leaves are with each other: {}; each is slow by that "
      "much, or in the wrong leaf of --locality: is the list up to date?",
      fmt::join(model.sweep->names_of(hosts), ", ")));
}

}  // namespace

void report_lone_hosts(const Model& model, UnitEffects& units, Verdict& verdict) {
  const Structure& structure = model.structure;
  if (structure.levels.empty() || !structure.is_slow_kind.empty()) return;
  if (structure.levels.front().is_given) {
    report_hosts_of_another_leaf(model, units, verdict);
    return;
  }
  const std::vector<std::int32_t> lone = lone_hosts(model, units);
  if (lone.empty()) return;
  set_apart(model, lone, units, verdict);
  const bool any_of_a_group = std::ranges::any_of(lone, [&](std::int32_t host) { return model.part_of(host) >= 0; });
  OpenGroups unmet = unmet_of(model, lone);
  if (any_of_a_group || !unmet.groups.empty()) verdict.groups_are_open = true;
  if (!unmet.groups.empty()) verdict.open_groups.push_back(std::move(unmet));
  verdict.notes.push_back(fmt::format(
      "hosts as slow with all others as hosts of different groups are with each other: {}; each is alone in its leaf, "
      "or slow by that much; --locality FILE with the leaf or hall of each host settles it",
      fmt::join(model.sweep->names_of(lone), ", ")));
}

}  // namespace fabricbench::cluster
