#include "cluster/pairs/structure/structure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/structure/clustering.h"
#include "cluster/pairs/structure/comparison_table.h"
#include "cluster/pairs/structure/levels.h"
#include "cluster/pairs/structure/split.h"

namespace fabricbench::cluster {
namespace {

/// Minimum number of values to know a host's rate with a leaf.
constexpr std::size_t kFewestOfLeaf = 2;

using ByHost = std::vector<std::vector<float>>;

/// By host, its values with others of its leaf, without partners that are slow with everybody (`is_slow`; empty: none).
ByHost values_within(const ComparisonTable& table, const Level& given, const std::vector<char>& is_slow) {
  ByHost within(given.part_of.size());
  for (const Comparison& each : table.values) {
    if (given.common_part(each.first, each.second) < 0) continue;
    const auto first = at(each.first);
    const auto second = at(each.second);
    if (is_slow.empty() || is_slow[second] == 0) within[first].push_back(each.value);
    if (is_slow.empty() || is_slow[first] == 0) within[second].push_back(each.value);
  }
  return within;
}

/// By host, whether it is slower than `least` with all partners: then its values are no evidence on leaves.
std::vector<char> slow_with_all(const ComparisonTable& table, std::size_t hosts, double least) {
  std::vector<std::map<std::int32_t, std::vector<float>>> by_partner(hosts);
  for (const Comparison& each : table.values) {
    by_partner[at(each.first)][each.second].push_back(each.value);
    by_partner[at(each.second)][each.first].push_back(each.value);
  }
  std::vector<char> is_slow(hosts, 0);
  for (std::size_t host = 0; host < hosts; ++host) {
    const bool all = std::all_of(by_partner[host].begin(), by_partner[host].end(),
                                 [&](auto& partner) { return upper_median(partner.second) < least; });
    is_slow[host] = all ? 1 : 0;
  }
  return is_slow;
}

/// A move of a host to a leaf with which it is faster.
struct Move {
  Misplaced to;
  double gain = 0;
};

/// The values of a host with each host of another leaf.
using ByPartner = std::map<std::int32_t, std::vector<float>>;

/// The rate of a host with a leaf.
struct Reached {
  double rate = 0;
  std::size_t values = 0;
};

/// The upper median over the hosts of a leaf: of two, one suffices, since the other may be misplaced as well.
Reached reached_with(ByPartner& partners) {
  std::vector<float> medians;
  Reached reached;
  for (auto& [partner, own] : partners) {
    medians.push_back(median_of(own));
    reached.values += own.size();
  }
  reached.rate = upper_median(medians);
  return reached;
}

/// The best move of a host that is slower with its leaf than `usual`: to a leaf with which it reaches that.
std::optional<Move> move_of(std::int32_t host, std::vector<float>& own, std::map<std::int32_t, ByPartner>& leaves,
                            double usual, const SplitSettings& settings) {
  const double with_own = median_of(own);
  const double lost = usual - with_own;
  std::optional<Move> best;
  for (auto& [leaf, partners] : leaves) {
    const Reached with_leaf = reached_with(partners);
    if (with_leaf.values < kFewestOfLeaf) continue;
    const double gain = with_leaf.rate - with_own;
    // Hosts of one pod and of different leaves may be nearly as fast.
    const double error = kMedianOverMeanError * settings.scale * std::sqrt(2.0 / static_cast<double>(with_leaf.values));
    const double allowed = std::max(std::clamp(lost / 4, settings.depth, 2 * settings.depth), 3 * error);
    const bool is_near = with_leaf.rate > usual - allowed;
    const bool is_clear = is_near && is_clearly_faster(gain, own.size(), with_leaf.values, settings);
    if (is_clear && (!best || gain > best->gain)) best = Move{{host, leaf}, gain};
  }
  return best;
}

/// The usual rate within leaves; nothing if the rate between leaves is as high: then readings do not show leaves.
std::optional<double> usual_within(const ComparisonTable& table, const Level& given, ByHost& within,
                                   const SplitSettings& settings) {
  std::vector<float> medians;
  for (std::vector<float>& own : within) {
    if (!own.empty()) medians.push_back(median_of(own));
  }
  std::vector<float> across;
  for (const Comparison& each : table.values) {
    const std::int32_t first = given.part_of[at(each.first)];
    const std::int32_t second = given.part_of[at(each.second)];
    if (first >= 0 && second >= 0 && first != second) across.push_back(each.value);
  }
  if (medians.empty() || across.empty()) return std::nullopt;
  // With few hosts, misplaced ones and their partners are more than half.
  const double usual = quantile(medians, 0.75);
  return median_of(across) < usual - settings.depth ? std::optional(usual) : std::nullopt;
}

/// For hosts whose leaf has no other hosts than slow ones, adds the values with other leaves to `own`, in the place of
/// the missing ones. `within`: values within leaves, also with slow hosts.
void take_across_of_lone(const ComparisonTable& table, const Level& given, const std::vector<char>& is_slow,
                         const ByHost& within, ByHost& own) {
  std::vector<char> lone(own.size(), 0);
  for (std::size_t host = 0; host < own.size(); ++host) {
    lone[host] = is_slow[host] == 0 && !within[host].empty() && own[host].empty() ? 1 : 0;
  }
  for (const Comparison& each : table.values) {
    for (const auto& [host, other] : {std::pair{each.first, each.second}, std::pair{each.second, each.first}}) {
      const bool counts = lone[at(host)] != 0 && is_slow[at(other)] == 0 && given.part_of[at(other)] >= 0;
      if (counts) own[at(host)].push_back(each.value);
    }
  }
}

std::optional<Move> farthest_off(const ComparisonTable& table, const SplitSettings& settings, const Level& given) {
  constexpr double kScales = 3;
  ByHost within = values_within(table, given, {});
  const std::optional<double> usual = usual_within(table, given, within, settings);
  if (!usual) return std::nullopt;
  const double least = *usual - std::max(settings.depth, kScales * settings.scale);
  const std::vector<char> is_slow = slow_with_all(table, given.part_of.size(), least);
  ByHost own = values_within(table, given, is_slow);
  take_across_of_lone(table, given, is_slow, within, own);
  std::map<std::int32_t, std::map<std::int32_t, ByPartner>> elsewhere;  // by host that is slow within, and leaf
  for (std::size_t host = 0; host < own.size(); ++host) {
    const bool is_off = own[host].size() >= kFewestOfLeaf && median_of(own[host]) < *usual - settings.depth;
    if (is_off) elsewhere[static_cast<std::int32_t>(host)] = {};
  }
  if (elsewhere.empty()) return std::nullopt;
  const auto add = [&](std::int32_t host, std::int32_t other, float value) {
    const std::int32_t leaf = given.part_of[at(other)];
    const auto found = elsewhere.find(host);
    if (found == elsewhere.end() || leaf < 0 || leaf == given.part_of[at(host)]) return;
    if (is_slow[at(other)] != 0) return;
    found->second[leaf][other].push_back(value);
  };
  for (const Comparison& each : table.values) {
    add(each.first, each.second, each.value);
    add(each.second, each.first, each.value);
  }
  std::optional<Move> most;
  for (auto& [host, leaves] : elsewhere) {
    const std::optional<Move> move = move_of(host, own[at(host)], leaves, *usual, settings);
    if (move && (!most || move->gain > most->gain)) most = move;
  }
  return most;
}

/// For a locality that has hosts in the wrong leaf, as happens after cables or machines were moved.
/// Moves hosts that are clearly slower with their own leaf to the leaf with which they have the rate within leaves; the
/// host that gains most first. Returns these hosts with their new leaves. If that would be more than a quarter of all
/// hosts, nothing is changed: the locality is of another cluster, or something else is wrong.
std::vector<Misplaced> correct_locality(const ComparisonTable& table, const SplitSettings& settings, Level& given) {
  const std::vector<std::int32_t> as_given = given.part_of;
  std::vector<Misplaced> misplaced;
  while (const std::optional<Move> move = farthest_off(table, settings, given)) {
    misplaced.push_back(move->to);
    given.part_of[at(move->to.host)] = move->to.leaf;
    if (4 * misplaced.size() <= as_given.size()) continue;
    given.part_of = as_given;
    return {};
  }
  return misplaced;
}

/// The median rate between parts over that within parts, without slow hosts; nothing: one of them is not known.
/// `is_slow`: by host.
std::optional<double> across_over_within(const ComparisonTable& table, const Level& level,
                                         const std::vector<char>& is_slow) {
  std::vector<float> within;
  std::vector<float> across;
  for (const Comparison& each : table.values) {
    const auto first = at(each.first);
    const auto second = at(each.second);
    if (level.part_of[first] < 0 || level.part_of[second] < 0) continue;
    if (is_slow[first] != 0 || is_slow[second] != 0) continue;
    (level.part_of[first] == level.part_of[second] ? within : across).push_back(each.value);
  }
  if (within.empty() || across.empty()) return std::nullopt;
  return std::exp(median_of(across) - median_of(within));
}

/// By leaf of the locality, whether its hosts are slower with each other than those of the fastest leaf. Leaves with
/// few readings do not count, since one slow host would suffice.
std::vector<char> slow_leaves(const ComparisonTable& table, const Level& given, const SplitSettings& settings) {
  constexpr std::size_t kFewest = 6;  // three pairs, both ways
  std::vector<std::vector<float>> within(at(given.parts));
  for (const Comparison& each : table.values) {
    const std::int32_t part = given.common_part(each.first, each.second);
    if (part >= 0) within[at(part)].push_back(each.value);
  }
  if (within.empty()) return {};
  std::vector<double> medians(within.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t part = 0; part < within.size(); ++part) {
    if (!within[part].empty()) medians[part] = median_of(within[part]);
  }
  const auto fastest = std::ranges::max_element(medians);
  const std::size_t values = within[at(fastest - medians.begin())].size();
  std::vector<char> slow(within.size(), 0);
  for (std::size_t part = 0; part < within.size(); ++part) {
    const bool counts = within[part].size() >= kFewest;
    slow[part] = counts && is_clearly_faster(*fastest - medians[part], values, within[part].size(), settings) ? 1 : 0;
  }
  return slow;
}

/// Subtracts from each value the centre of its distance, so that only differences remain that the locality does not
/// explain.
void centre_by_distance(const Structure& structure, ComparisonTable& table) {
  const auto distances = static_cast<std::int32_t>(structure.levels.size()) + 1;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const std::int32_t distance = structure.distance(table.values[i].first, table.values[i].second);
    table.kinds[i] = table.kinds[i] * distances + distance;
  }
  table.number_of_kinds *= distances;
  centre(structure.levels.front().part_of, table);
}

/// Whether each part of `fine` is within one part of `coarse`, ignoring hosts without a part.
bool is_finer(const Level& fine, const Level& coarse) {
  std::vector<std::int32_t> container(at(fine.parts), Level::kNone);
  for (std::size_t host = 0; host < fine.part_of.size(); ++host) {
    if (fine.part_of[host] < 0 || coarse.part_of[host] < 0) continue;
    std::int32_t& known = container[at(fine.part_of[host])];
    if (known >= 0 && known != coarse.part_of[host]) return false;
    known = coarse.part_of[host];
  }
  return true;
}

/// Sets the slow hosts if whole leaves of the locality are slow, as a kind if they are half of all hosts or more.
/// Returns whether there is such a leaf. To be called before distances are subtracted: the rate of slow leaves with
/// others looks like that between leaves.
bool note_slow_leaves(ComparisonTable table, const SplitSettings& settings, const Level& given, Structure& structure) {
  const std::vector<char> is_slow = slow_leaves(table, given, settings);
  if (std::ranges::find(is_slow, 1) == is_slow.end()) return false;
  const std::optional<Split> split = find_best_split(table, static_cast<std::int32_t>(given.part_of.size()), settings);
  if (!split) return false;
  const std::vector<char> is_alone = evidence_of(table.values, level_of(*split), *split, settings).is_alone;
  const std::vector<std::int32_t> sizes = sizes_of(given.part_of);
  bool any_leaf = false;
  for (std::size_t host = 0; host < is_alone.size(); ++host) {
    const std::int32_t leaf = given.part_of[host];
    // A host of a tiny leaf may just be far from the others.
    if (is_alone[host] == 0 || leaf < 0 || sizes[at(leaf)] < 3) continue;
    structure.is_alone[host] = 1;
    any_leaf = any_leaf || is_slow[at(leaf)] != 0;
  }
  if (!any_leaf) structure.is_alone.assign(is_alone.size(), 0);
  note_kinds(table, structure);
  return any_leaf;
}

/// Assigns hosts that the locality leaves out to the leaf that they are nearest to, if there is one.
void place_left_out(const ComparisonTable& table, const SplitSettings& settings, Level& given,
                    std::vector<Misplaced>& left_out) {
  const std::vector<std::int32_t> known = given.part_of;
  std::vector<char> is_unplaced(known.size(), 0);
  place_by_reach(table.values, settings, given, is_unplaced);
  for (std::size_t host = 0; host < known.size(); ++host) {
    if (known[host] != given.part_of[host]) {
      left_out.push_back({static_cast<std::int32_t>(host), given.part_of[host]});
    }
  }
}

/// Removes values of hosts whose leaf is not known: they may have the rate within a leaf, or between leaves.
void leave_out_unknown(const Level& level, ComparisonTable& table) {
  const auto is_known = [&](std::int32_t host) { return level.part_of[at(host)] != Level::kUnknown; };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (!is_known(table.values[i].first) || !is_known(table.values[i].second)) continue;
    table.values[kept] = table.values[i];
    table.kinds[kept++] = table.kinds[i];
  }
  table.values.resize(kept);
  table.kinds.resize(kept);
}

/// Removes the trend with time, which would blur coarser levels.
void detrend_leaves(const Level& level, const SplitSettings& settings, ComparisonTable& table) {
  const auto is_within = [&](const Comparison& each) { return level.common_part(each.first, each.second) >= 0; };
  std::vector<float> within;
  std::vector<float> across;
  for (const Comparison& each : table.values) (is_within(each) ? within : across).push_back(each.value);
  if (within.empty() || across.empty()) return;
  const float near = median_of(within);
  const float far = median_of(across);
  std::vector<Comparison> left = table.values;
  for (Comparison& each : left) each.value -= is_within(each) ? near : far;
  detrend_by_residuals(left, settings, table.values);
}

void take_locality(const Sweep& sweep, ComparisonTable& table, const SplitSettings& settings, Structure& structure) {
  Level given;
  for (const std::int32_t leaf : sweep.leaf_of) given.part_of.push_back(leaf < 0 ? Level::kUnknown : leaf);
  given.parts = static_cast<std::int32_t>(sweep.leaves.size());
  structure.misplaced = correct_locality(table, settings, given);
  place_left_out(table, settings, given, structure.left_out);
  given.is_given = true;
  const bool are_slow = note_slow_leaves(table, settings, given, structure);
  const std::vector<char>& slow = structure.is_slow_kind.empty() ? structure.is_alone : structure.is_slow_kind;
  const std::optional<double> across = across_over_within(table, given, slow);
  if (are_slow && !across) return;  // all readings between leaves are of slow hosts
  given.across = across.value_or(1);
  structure.levels.push_back(std::move(given));
  if (are_slow) return;
  leave_out_unknown(structure.levels.front(), table);
  detrend_leaves(structure.levels.front(), settings, table);
  add_all_coarser(table, settings, structure.levels);
  centre_by_distance(structure, table);
  if (note_one_way_kinds(table, settings, structure)) return;
  const auto hosts = static_cast<std::int32_t>(sweep.hosts.size());
  const std::optional<Split> split = find_sure_split(table.values, hosts, settings);
  if (!split) return;
  Level found = level_of(*split);
  structure.is_alone = evidence_of(table.values, found, *split, settings).is_alone;
  note_kinds(table, structure);
  if (found.parts > 1 && !is_finer(structure.levels.front(), found)) structure.contradiction = std::move(found);
}

}  // namespace

std::int32_t Structure::distance(std::int32_t a, std::int32_t b) const {
  auto near = static_cast<std::int32_t>(levels.size());
  bool a_has_part =
      false;  // in a coarser level: a host without a part in a finer level is then known to be alone there
  bool b_has_part = false;
  while (near > 0) {
    const Level& level = levels[at(near) - 1];
    const std::int32_t first = level.part_of[at(a)];
    const std::int32_t second = level.part_of[at(b)];
    const bool may_be_near = (first == Level::kNone && !a_has_part) || (second == Level::kNone && !b_has_part);
    if (may_be_near ? level.is_given : first != second || first < 0) break;
    a_has_part = a_has_part || first >= 0;
    b_has_part = b_has_part || second >= 0;
    --near;
  }
  return near;
}

bool Structure::is_of_slow_kind(const Reading& reading) const {
  if (is_slow_kind.empty()) return false;
  const bool sends = is_slow_kind[at(reading.from)] != 0;
  const bool receives = is_slow_kind[at(reading.to)] != 0;
  if (slow_way == Direction::kBoth || reading.both_ways) return sends || receives;
  return slow_way == Direction::kSends ? sends : receives;
}

bool Structure::is_alone_in_a_part(std::int32_t host) const {
  const auto place = at(host);
  return !levels.empty() && levels.front().part_of[place] == Level::kNone &&
         std::any_of(levels.begin() + 1, levels.end(), [&](const Level& level) { return level.part_of[place] >= 0; });
}

Structure find_structure(const Sweep& sweep, double depth, const std::vector<char>& left_out) {
  Structure structure;
  structure.is_alone.assign(sweep.hosts.size(), 0);
  structure.is_unplaced.assign(sweep.hosts.size(), 0);
  ComparisonTable table = table_of(sweep, left_out);
  remove_drift(table);
  centre(std::vector<std::int32_t>(sweep.hosts.size(), 0), table);
  structure.scale = scale_of(table, sweep.hosts.size());
  const SplitSettings settings{structure.scale, depth};
  if (sweep.leaf_of.empty()) {
    const Structure without_levels = structure;
    find_levels(table, settings, structure);
    // A host that met its near partners in rounds that dropped looks far from them.
    if (remove_drops(structure, settings, table.values)) {
      structure = without_levels;
      find_levels(table, settings, structure);
    }
  } else {
    take_locality(sweep, table, settings, structure);
  }
  return structure;
}

}  // namespace fabricbench::cluster
