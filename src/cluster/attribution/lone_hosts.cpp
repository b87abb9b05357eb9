// Hosts that may be alone in their leaf, or of another one than a locality says.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/attribution/expectation.h"
#include "cluster/attribution/groups.h"
#include "cluster/robust.h"
#include "cluster/structure/clustering.h"

namespace fabricbench::cluster {
namespace {

/// A host that is within so many standard errors of what groups are with each other may be alone, and one that is
/// within so many of what one group is within may be of it.
constexpr double kErrorsOfAlone = 3;
constexpr double kErrorsOfMember = 4;

/// The rate that an effect reaches with a group, as a logarithm, and its standard error.
struct Reach {
  double rate = -std::numeric_limits<double>::infinity();
  double error = 0;
  std::int32_t part = Nearness::kNone;  ///< that group
  double of = 1;                        ///< of the fastest: so many groups
};

/// The rate of a reading without what its time took, as a logarithm.
double rate_of(const Model& model, const Point& point) { return point.residual + model.centre_of(point); }

/// With each group with which it was measured; hosts that are `left_out`, ascending, are of none.
std::vector<Reach> reach_by_group(const Model& model, std::int32_t effect,
                                  const std::vector<std::int32_t>& left_out = {}) {
  std::map<std::int32_t, std::vector<double>> rates;  // by group of the partner
  for (const Entry entry : model.entries_of(effect)) {
    const Point& point = model.point_of(entry);
    const std::int32_t partner = model.ids.host(entry.other);
    const std::int32_t part = model.part_of(partner);
    if (part == Nearness::kNone || std::binary_search(left_out.begin(), left_out.end(), partner)) continue;
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

/// With the group with which it is fastest.
Reach fastest_reach(const Model& model, std::int32_t effect) {
  std::vector<Reach> reach = reach_by_group(model, effect);
  const auto fastest =
      std::max_element(reach.begin(), reach.end(), [](const Reach& a, const Reach& b) { return a.rate < b.rate; });
  if (fastest == reach.end()) return {};
  fastest->of = static_cast<double>(reach.size());
  return *fastest;
}

/// Whether an effect is as fast with a group as hosts of one group are with each other, or (`within` false) of
/// different groups: within the tolerance, or so many standard errors.
bool is_as_usual(const Model& model, std::int32_t effect, const Reach& reach, bool within, double errors) {
  const Stratum& own = model.strata[static_cast<std::size_t>(model.point_of(model.entries_of(effect).front()).stratum)];
  for (std::size_t i = 0; i < model.strata.size(); ++i) {
    const bool wanted = (model.strata[i].distance == 0) == within && is_alike(model.strata[i], own);
    const double allowed = std::max(errors * reach.error, -model.slow);
    if (wanted && std::abs(reach.rate - model.log_centre[i]) < allowed) return true;
  }
  return false;
}

/// Whether an effect is mostly slower than hosts that are farthest from each other are.
bool is_slower_than_far(const Model& model, std::int32_t effect) {
  std::vector<double> rates;
  for (const Entry entry : model.entries_of(effect)) rates.push_back(rate_of(model, model.point_of(entry)));
  const Stratum& own = model.strata[static_cast<std::size_t>(model.point_of(model.entries_of(effect).front()).stratum)];
  std::optional<std::size_t> farthest;
  for (std::size_t i = 0; i < model.strata.size(); ++i) {
    if (!is_alike(model.strata[i], own)) continue;
    if (!farthest || model.strata[i].distance > model.strata[*farthest].distance) farthest = i;
  }
  return farthest && median_of(rates) < model.log_centre[*farthest] + model.slow;
}

/// Whether all that a host sends and receives is as fast as between groups.
bool may_be_alone(const Model& model, std::int32_t host) {
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (model.ids.host(effect) != host || model.entries_of(effect).empty()) continue;
    if (is_slower_than_far(model, effect)) return false;
    const Reach fastest = fastest_reach(model, effect);
    // Of so many the fastest is farther off by chance, as its square is by the logarithm of their square.
    const double errors = std::sqrt(kErrorsOfAlone * kErrorsOfAlone + 2 * std::log(fastest.of));
    if (!is_as_usual(model, effect, fastest, false, errors)) return false;
  }
  return true;
}

/// Of the groups that are nearest to a host that may be alone, those that it may be of: its readings with them are few,
/// and not all of their hosts were measured with it.
std::set<std::int32_t> nearest_groups(const Model& model, std::int32_t host) {
  std::set<std::int32_t> groups;
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (model.ids.host(effect) != host || model.entries_of(effect).empty()) continue;
    const Reach fastest = fastest_reach(model, effect);
    const std::int32_t part = fastest.part;
    if (part == Nearness::kNone || !is_as_usual(model, effect, fastest, true, kErrorsOfMember)) continue;
    std::set<std::int32_t> met;
    for (const Entry entry : model.entries_of(effect)) {
      const std::int32_t partner = model.ids.host(entry.other);
      if (model.part_of(partner) == part) met.insert(partner);
    }
    const std::vector<std::int32_t>& parts = model.structure.levels.front().part_of;
    const auto others = std::count(parts.begin(), parts.end(), part) - (model.part_of(host) == part ? 1 : 0);
    if (std::cmp_less(met.size(), others)) groups.insert(part);
  }
  return groups;
}

/// The groups with which a host was not measured at all, where these are few.
std::set<std::int32_t> groups_not_met(const Model& model, std::int32_t host) {
  constexpr std::size_t kMost = 8;
  std::set<std::int32_t> groups;
  for (std::int32_t part = 0; part < model.structure.levels.front().parts; ++part) groups.insert(groups.end(), part);
  for (std::int32_t effect = 0; effect < model.effects(); ++effect) {
    if (model.ids.host(effect) != host) continue;
    for (const Entry entry : model.entries_of(effect)) groups.erase(model.part_of(model.ids.host(entry.other)));
  }
  return groups.size() > kMost ? std::set<std::int32_t>() : groups;
}

/// The groups that a host that may be alone may be of yet. One that is taken for one of a group without being near it
/// may be of another.
std::set<std::int32_t> groups_it_may_have(const Model& model, std::int32_t host) {
  std::set<std::int32_t> groups = nearest_groups(model, host);
  if (model.part_of(host) >= 0 && model.structure.levels.size() == 1) groups.merge(groups_not_met(model, host));
  return groups;
}

/// Whether two hosts are of different parts of a coarser level: then they are of two in the finest too.
bool are_known_to_be_apart(const Structure& structure, std::int32_t a, std::int32_t b) {
  return std::any_of(structure.levels.begin() + 1, structure.levels.end(), [&](const Nearness& level) {
    const std::int32_t first = level.part_of[static_cast<std::size_t>(a)];
    const std::int32_t second = level.part_of[static_cast<std::size_t>(b)];
    return first >= 0 && second >= 0 && first != second;
  });
}

/// Whether two hosts are of one part of the next coarser level that has few: what is taken for one group there may be
/// two, of which a host has met the other one.
bool are_around_each_other(const Structure& structure, const std::vector<std::int32_t>& sizes, std::int32_t a,
                           std::int32_t b) {
  constexpr std::int32_t kMostAround = 64;
  if (structure.levels.size() < 2) return false;
  const std::int32_t part = structure.levels[1].common_part(a, b);
  return part >= 0 && sizes[static_cast<std::size_t>(part)] <= kMostAround;
}

/// Each host a group by itself; open are those that a lone one, ascending, may be near and was not measured with.
OpenGroups unmet_of(const Model& model, const std::vector<std::int32_t>& lone) {
  const Structure& structure = model.structure;
  const std::size_t hosts = model.sweep->hosts.size();
  OpenGroups open{std::vector<std::int32_t>(hosts), {}};
  std::iota(open.group_of.begin(), open.group_of.end(), 0);
  std::vector<char> is_lone(hosts, 0);
  for (const std::int32_t host : lone) is_lone[static_cast<std::size_t>(host)] = 1;
  std::set<std::pair<std::int32_t, std::int32_t>> met;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    const bool any =
        is_lone[static_cast<std::size_t>(reading.from)] != 0 || is_lone[static_cast<std::size_t>(reading.to)] != 0;
    if (any) met.insert(std::minmax(reading.from, reading.to));
  }
  const std::vector<std::int32_t> sizes =
      structure.levels.size() < 2 ? std::vector<std::int32_t>() : sizes_of(structure.levels[1].part_of);
  for (const std::int32_t host : lone) {
    const std::set<std::int32_t> groups = groups_it_may_have(model, host);
    for (std::int32_t other = 0; std::cmp_less(other, hosts); ++other) {
      const bool is_other_lone = is_lone[static_cast<std::size_t>(other)] != 0;
      if (other == host || (is_other_lone && other < host) || met.count(std::minmax(host, other)) > 0) continue;
      const bool may_be_near = is_other_lone ? !are_known_to_be_apart(structure, host, other)
                                             : are_around_each_other(structure, sizes, host, other) ||
                                                   groups.count(model.part_of(other)) > 0;
      if (may_be_near) open.groups.push_back(std::minmax(host, other));
    }
  }
  return open;
}

/// Whether a suspect is slow with its own group alone, and there as groups are with each other.
bool any_suspect_of_another_group(const Model& model, const UnitEffects& units) {
  return std::any_of(units.suspected.begin(), units.suspected.end(), [&](const UnitEffect& found) {
    return shows_within_group(model, found) && may_be_alone(model, model.ids.host(found.effect));
  });
}

/// Hosts that may be alone in their leaf, ascending: of no group, or blamed for what their own group alone shows, and
/// so perhaps of another one.
std::vector<std::int32_t> lone_hosts(const Model& model, const UnitEffects& units) {
  std::map<std::int32_t, bool> blamed;  // by host: whether it may be alone, as far as what is blamed shows
  for (const UnitEffect& found : units.blamed) {
    const std::int32_t host = model.ids.host(found.effect);
    const bool may_be = model.part_of(host) == Nearness::kNone || shows_within_group(model, found);
    bool& all = blamed.try_emplace(host, true).first->second;
    all = all && may_be;
  }
  std::vector<std::int32_t> lone;
  for (std::int32_t host = 0; host < model.ids.hosts; ++host) {
    const auto found = blamed.find(host);
    const bool alone =
        found == blamed.end() ? model.structure.is_alone_in_a_part(host) : found->second && may_be_alone(model, host);
    if (alone) lone.push_back(host);
  }
  return lone;
}

/// Whether what a host is blamed for shows in its own leaf of a locality alone, and is as fast there as hosts of
/// different leaves are.
bool is_as_far_from_its_leaf(const Model& model, const UnitEffect& found) {
  if (!shows_within_group(model, found)) return false;
  const std::int32_t own = model.part_of(model.ids.host(found.effect));
  const std::vector<Reach> reach = reach_by_group(model, found.effect);
  return std::any_of(reach.begin(), reach.end(), [&](const Reach& each) {
    return each.part == own && is_as_usual(model, found.effect, each, false, kErrorsOfAlone);
  });
}

/// Of a locality that was given, hosts that are blamed for nothing else: they may be of another leaf. Ascending.
std::vector<std::int32_t> hosts_of_another_leaf(const Model& model, const UnitEffects& units) {
  std::map<std::int32_t, bool> may_be;  // by host that is blamed
  for (const UnitEffect& found : units.blamed) {
    bool& all = may_be.try_emplace(model.ids.host(found.effect), true).first->second;
    all = all && is_as_far_from_its_leaf(model, found);
  }
  std::vector<std::int32_t> hosts;
  for (const auto& [host, is_far] : may_be) {
    if (is_far) hosts.push_back(host);
  }
  return hosts;
}

/// By leaf of a locality, whether a host may be of it: it has not met it, or was as fast with it as hosts of one leaf
/// are, both ways. Those that are `in_doubt` too, ascending, do not count.
std::vector<char> may_be_of(const Model& model, const UnitEffects& units, std::int32_t host,
                            const std::vector<std::int32_t>& in_doubt) {
  std::vector<char> may_be(static_cast<std::size_t>(model.structure.levels.front().parts), 1);
  for (const UnitEffect& found : units.blamed) {
    if (model.ids.host(found.effect) != host) continue;
    for (const Reach& reach : reach_by_group(model, found.effect, in_doubt)) {
      const bool is_near = is_as_usual(model, found.effect, reach, true, kErrorsOfMember);
      if (reach.part >= 0 && !is_near) may_be[static_cast<std::size_t>(reach.part)] = 0;
    }
  }
  return may_be;
}

/// Of a locality that was given: each of these hosts, ascending, as a group by itself behind the leaves; open are the
/// other leaves that it may be of, first those that another of these hosts is said to be of, since the two may have
/// been confused.
OpenGroups leaves_open_to(const Model& model, const UnitEffects& units, const std::vector<std::int32_t>& hosts) {
  const Nearness& leaves = model.structure.levels.front();
  OpenGroups open{leaves.part_of, {}};
  std::set<std::int32_t> of_hosts;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::int32_t own = leaves.part_of[static_cast<std::size_t>(hosts[i])];
    const std::int32_t group = leaves.parts + static_cast<std::int32_t>(i);
    open.group_of[static_cast<std::size_t>(hosts[i])] = group;
    of_hosts.insert(own);
    const std::vector<char> may_be = may_be_of(model, units, hosts[i], hosts);
    for (std::int32_t leaf = 0; leaf < leaves.parts; ++leaf) {
      if (leaf != own && may_be[static_cast<std::size_t>(leaf)] != 0) open.groups.emplace_back(leaf, group);
    }
  }
  std::stable_partition(open.groups.begin(), open.groups.end(),
                        [&](const auto& pair) { return of_hosts.count(pair.first) > 0; });
  return open;
}

/// Takes these hosts, ascending, from those that are blamed: they may only be far from the others.
void set_apart(const Model& model, const std::vector<std::int32_t>& hosts, UnitEffects& units, Verdict& verdict) {
  std::erase_if(units.blamed, [&](const UnitEffect& found) {
    return std::binary_search(hosts.begin(), hosts.end(), model.ids.host(found.effect));
  });
  verdict.may_stand_apart.insert(verdict.may_stand_apart.end(), hosts.begin(), hosts.end());
}

std::vector<std::string> names_of(const Sweep& sweep, const std::vector<std::int32_t>& hosts) {
  std::vector<std::string> names;
  names.reserve(hosts.size());
  for (const std::int32_t host : hosts) names.push_back(sweep.hosts[static_cast<std::size_t>(host)]);
  return names;
}

/// Hosts of a locality that may be of another leaf than it says: as long as they may be of any, or where others are in
/// the wrong one, nobody can tell whether they are slow.
void report_hosts_of_another_leaf(const Model& model, UnitEffects& units, Verdict& verdict) {
  const std::vector<std::int32_t> hosts = hosts_of_another_leaf(model, units);
  if (hosts.empty()) return;
  OpenGroups open = leaves_open_to(model, units, hosts);
  if (open.groups.empty() && model.structure.misplaced.empty()) return;
  if (!open.groups.empty()) verdict.open_groups.push_back(std::move(open));
  set_apart(model, hosts, units, verdict);
  verdict.notes.push_back(fmt::format(
      "as slow with their leaf as hosts of different leaves are: {}; slow by as much, or in the wrong leaf of "
      "--locality: is the list up to date?",
      fmt::join(names_of(*model.sweep, hosts), ", ")));
}

}  // namespace

void report_lone_hosts(const Model& model, UnitEffects& units, Verdict& verdict) {
  const Structure& structure = model.structure;
  if (structure.levels.empty() || !structure.is_slow_kind.empty()) return;
  if (structure.levels.front().is_given) {
    report_hosts_of_another_leaf(model, units, verdict);
    return;
  }
  if (any_suspect_of_another_group(model, units)) verdict.groups_are_open = true;
  const std::vector<std::int32_t> lone = lone_hosts(model, units);
  if (lone.empty()) return;
  set_apart(model, lone, units, verdict);
  const bool any_of_a_group =
      std::any_of(lone.begin(), lone.end(), [&](std::int32_t host) { return model.part_of(host) >= 0; });
  OpenGroups unmet = unmet_of(model, lone);
  if (any_of_a_group || !unmet.groups.empty()) verdict.groups_are_open = true;
  if (!unmet.groups.empty()) verdict.open_groups.push_back(std::move(unmet));
  verdict.notes.push_back(fmt::format(
      "no faster with any host than hosts of different groups are: {}; alone in a leaf, or slow by as much; --locality "
      "FILE, with the leaf or hall of each host, settles it",
      fmt::join(names_of(*model.sweep, lone), ", ")));
}

}  // namespace fabricbench::cluster
