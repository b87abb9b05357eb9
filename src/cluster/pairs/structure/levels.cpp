#include "cluster/pairs/structure/levels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/structure/clustering.h"

namespace fabricbench::cluster {
namespace {

constexpr int kMostLevels = 4;
/// Nats: with a lower gain, a split may consist of a few fast pairs and of others that chance adds.
constexpr double kWeak = 100;
/// Scales: with levels so close to each other, chance makes parts of pairs besides the few fast ones.
constexpr double kShallow = 4;

/// Settings for clusters in which nearly all hosts are slow: one or two pairs are fast, and have only few readings.
SplitSettings for_few_fast_pairs(SplitSettings settings) {
  settings.farthest_above = 10;
  settings.few_are_fast = true;
  return settings;
}

/// The values between hosts of one part.
std::vector<Comparison> values_within(const std::vector<Comparison>& values, const Level& level) {
  std::vector<Comparison> within;
  for (const Comparison& each : values) {
    if (level.common_part(each.first, each.second) >= 0) within.push_back(each);
  }
  return within;
}

/// The values between nodes.
std::vector<Comparison> values_across(const std::vector<Comparison>& values, const Nodes& nodes) {
  std::vector<Comparison> across;
  for (Comparison each : values) {
    each.first = nodes.node_of[at(each.first)];
    each.second = nodes.node_of[at(each.second)];
    if (each.first != each.second && each.first >= 0 && each.second >= 0) {
      across.push_back(each);
    }
  }
  return across;
}

void keep_open(OpenGroups open, Structure& structure) {
  if (!open.groups.empty()) structure.open_parts.push_back(std::move(open));
}

/// If the parts have fewer than half of the hosts, the others may be in parts that were not found: they are unplaced,
/// and not alone.
void keep_alone_among_many(const Level& level, Evidence& evidence) {
  const auto in_parts = std::ranges::count_if(level.part_of, [](std::int32_t part) { return part >= 0; });
  const auto alone = std::ranges::count(evidence.is_alone, 1);
  const auto unplaced = std::ranges::count(evidence.is_unplaced, 1);
  if (level.parts < 2 || in_parts >= alone + unplaced) return;
  for (std::size_t host = 0; host < evidence.is_alone.size(); ++host) {
    if (std::exchange(evidence.is_alone[host], 0) != 0) evidence.is_unplaced[host] = 1;
  }
}

/// Marks the part of unplaced hosts as not known.
void set_unknown(const std::vector<char>& is_unplaced, Level& level) {
  for (std::size_t host = 0; host < is_unplaced.size(); ++host) {
    if (is_unplaced[host] != 0) level.part_of[host] = Level::kUnknown;
  }
}

/// The rate of a host with a part.
struct PartReach {
  std::int32_t part = Level::kNone;
  double median = -std::numeric_limits<double>::infinity();
  std::size_t values = 0;
};

/// The part that a host is clearly nearer to than to all others; kNone: there is none. `values`: by part.
std::int32_t nearest_part(std::vector<std::vector<float>>& values, const SplitSettings& settings) {
  constexpr std::size_t kFewest = 2;
  PartReach nearest;
  PartReach next;
  for (std::size_t part = 0; part < values.size(); ++part) {
    if (values[part].size() < kFewest) continue;
    const PartReach reach{static_cast<std::int32_t>(part), median_of(values[part]), values[part].size()};
    if (reach.median > nearest.median) {
      next = std::exchange(nearest, reach);
    } else if (reach.median > next.median) {
      next = reach;
    }
  }
  if (next.part == Level::kNone) return Level::kNone;
  const bool clearly = is_clearly_faster(nearest.median - next.median, nearest.values, next.values, settings);
  return clearly ? nearest.part : Level::kNone;
}

/// The median rates between each two parts, if enough was measured between them.
std::vector<double> rates_between(const std::vector<Comparison>& values, const std::vector<std::int32_t>& part_of) {
  constexpr std::size_t kEnough = 8;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<float>> between;
  for (const Comparison& each : values) {
    const auto parts = std::minmax(part_of[at(each.first)], part_of[at(each.second)]);
    if (parts.first >= 0 && parts.first != parts.second) between[parts].push_back(each.value);
  }
  std::vector<double> rates;
  for (auto& [parts, own] : between) {
    if (own.size() >= kEnough) rates.push_back(median_of(own));
  }
  return rates;
}

/// Adds a finer level, if there is one. Hosts that are slow within their part are in no finer part, unless they are
/// nearest to one.
void add_finer(const ComparisonTable& table, const SplitSettings& settings, Structure& structure) {
  std::vector<Level>& levels = structure.levels;
  const auto hosts = static_cast<std::int32_t>(levels.front().part_of.size());
  const std::vector<Comparison> within = values_within(table.values, levels.front());
  SplitSettings finer_settings = settings;
  finer_settings.coarser = levels.front().part_of;
  const std::optional<Split> split = find_sure_split(within, hosts, finer_settings);
  if (!split) return;
  Level finer = level_of(*split);
  if (finer.parts == 1 && levels.front().parts == 1) {
    note_kinds_within(table, evidence_of(within, finer, *split, finer_settings).is_alone, structure);
  }
  if (finer.parts <= levels.front().parts) return;
  leave_weak_members(within, *split, finer_settings, finer);
  Evidence evidence = evidence_of(within, finer, *split, finer_settings);
  set_unknown(evidence.is_unplaced, finer);
  place_by_reach(within, settings, finer, evidence.is_unplaced);
  for (std::size_t host = 0; host < evidence.is_unplaced.size(); ++host) {
    if (evidence.is_unplaced[host] != 0) structure.is_unplaced[host] = 1;
  }
  keep_open(std::move(evidence.open), structure);
  levels.insert(levels.begin(), std::move(finer));
}

/// Adds a coarser level with two parts or more; one part, with which others are slow, is no level. A part that is
/// near no other is a coarser part by itself. Returns whether there is such a level.
bool add_coarser(const ComparisonTable& table, const SplitSettings& settings, std::vector<Level>& levels) {
  const Level& last = levels.back();
  const Nodes nodes = nodes_of(last);
  const std::vector<Comparison> across = values_across(table.values, nodes);
  const std::optional<Split> split = find_sure_split(across, nodes.nodes, settings);
  if (!split) return false;
  Level coarser = level_of(*split);
  if (coarser.parts < 2) return false;
  std::vector<std::int32_t> part_of_node = std::move(coarser.part_of);
  for (std::int32_t node = 0; node < last.parts; ++node) {
    std::int32_t& part = part_of_node[at(node)];
    if (part == Level::kNone) part = coarser.parts++;
  }
  coarser.part_of.clear();
  for (const std::int32_t node : nodes.node_of) {
    coarser.part_of.push_back(node < 0 ? node : part_of_node[at(node)]);
  }
  levels.push_back(std::move(coarser));
  return true;
}

/// Merges all parts into one if no reading goes from one part to another, as with jobs whose hosts never met.
void join_unless_met(const ComparisonTable& table, Level& level) {
  const auto part = [&](std::int32_t host) { return level.part_of[at(host)]; };
  const bool met = std::ranges::any_of(table.values, [&](const Comparison& each) {
    return part(each.first) != part(each.second) && part(each.first) >= 0 && part(each.second) >= 0;
  });
  if (met || level.parts < 2) return;
  for (std::int32_t& each : level.part_of) each = std::min(each, 0);
  level.parts = 1;
}

/// The number of coarser parts with several finer parts. A host without a part is a finer part by itself.
std::ptrdiff_t number_of_several(const Level& fine, const Level& coarse) {
  const Nodes nodes = nodes_of(fine);
  std::vector<std::vector<std::int32_t>> members(at(coarse.parts));
  for (std::size_t host = 0; host < nodes.node_of.size(); ++host) {
    if (nodes.node_of[host] < 0 || coarse.part_of[host] < 0) continue;
    members[at(coarse.part_of[host])].push_back(nodes.node_of[host]);
  }
  return std::ranges::count_if(members,
                               [](const std::vector<std::int32_t>& parts) { return sorted_unique(parts).size() > 1; });
}

/// Removes levels that do not reflect distance: levels with one part, and levels that only separate one finer part from
/// the others, as slow uplinks do.
void keep_level(std::vector<Level>& levels) {
  std::erase_if(levels, [](const Level& level) { return level.parts < 2; });
  for (std::size_t i = levels.size(); i-- > 1;) {
    if (number_of_several(levels[i - 1], levels[i]) < 2) levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// A split of the values, or else of the slower directions.
std::optional<Split> find_any_split(ComparisonTable& table, std::int32_t hosts, const SplitSettings& settings) {
  std::optional<Split> split = find_sure_split(table.values, hosts, settings);
  if (!split) {
    ComparisonTable slower = slower_directions(table);
    split = find_sure_split(slower.values, hosts, settings);
    if (split) table = std::move(slower);
  }
  return split;
}

/// Drift beside a split blurs its levels, unless it is far below the scale. Finds the split again without the drift,
/// and keeps the better one.
void sharpen(std::optional<Split>& split, std::int32_t hosts, const SplitSettings& settings, ComparisonTable& table) {
  constexpr int kMostTimes = 3;
  const auto blurs = [&](float drift) { return std::abs(drift) > settings.scale / 2; };
  for (int i = 0; split && i < kMostTimes && std::ranges::any_of(split->drift, blurs); ++i) {
    ComparisonTable sharper = table;
    for (Comparison& each : sharper.values) each.value -= split->drift[at(each.window)];
    std::optional<Split> again = find_any_split(sharper, hosts, settings);
    if (!again || again->gain <= split->gain) return;
    split = std::move(again);
    table = std::move(sharper);
  }
}

/// If the residuals of a split scatter by more than this times the scale, it is found again with the larger scale.
constexpr double kFarOff = 1.25;
constexpr int kMostRescalings = 4;

/// The scale of the residuals of a split. Values of single nodes, which may have levels of their own, count only if
/// there are hardly any others.
double scatter(std::span<const Comparison> values, const Split& split) {
  constexpr std::size_t kEnough = 8;
  const std::vector<std::int32_t> sizes = sizes_of(split.part_of);
  std::vector<double> distances;
  std::vector<double> alone;
  for (const Comparison& each : values) {
    const std::int32_t first = split.part_of[at(each.first)];
    const std::int32_t second = split.part_of[at(each.second)];
    const bool is_alone = sizes[at(first)] < 2 || sizes[at(second)] < 2;
    (is_alone ? alone : distances).push_back(std::abs(each.value - (first == second ? split.within : split.across)));
  }
  if (distances.size() < kEnough) distances.insert(distances.end(), alone.begin(), alone.end());
  return distances.empty() ? 0 : scale_by(distances);
}

/// The trend: the running median of the drift. The drift of a single window may be due to the pairs in it, and is left.
std::vector<double> trend_of(const std::vector<float>& drift) { return medians_about({drift.begin(), drift.end()}); }

/// Whether a trend is large enough to blur levels, compared with the scale.
bool is_worth_taking(const std::vector<double>& trend, double scale) {
  if (trend.empty()) return false;
  const auto [low, high] = std::ranges::minmax_element(trend);
  return *high - *low > scale / 2;
}

/// The drift of values without a split: that beside a split with a larger scale, since drift blurs the levels, or else
/// that of one level for all.
std::vector<float> blurred_drift(const std::vector<Comparison>& values, std::int32_t nodes,
                                 const SplitSettings& settings) {
  constexpr double kBlurred = 3;
  SplitSettings wide = settings;
  wide.scale *= kBlurred;
  const std::optional<Split> split = find_split(values, nodes, wide);
  return split ? split->drift : drift_without_split(values, settings);
}

/// The median of a window's values, if most of them are below -`least`; else 0.
float drop_of(std::vector<float>& values, double least) {
  if (values.size() < kReadingsOfWindow) return 0;
  return static_cast<double>(upper_bound_of_most(values)) < -least ? median_of(values) : 0;
}

void take(const std::vector<double>& trend, std::vector<Comparison>& values) {
  for (Comparison& each : values) each.value -= static_cast<float>(trend[at(each.window)]);
}

}  // namespace

Level level_of(const Split& split) {
  const std::vector<std::int32_t> sizes = sizes_of(split.part_of);
  std::vector<std::int32_t> numbers(sizes.size(), Level::kNone);
  Level level;
  for (const std::int32_t part : split.part_of) {
    const auto place = at(part);
    if (sizes[place] > 1 && numbers[place] == Level::kNone) numbers[place] = level.parts++;
    level.part_of.push_back(numbers[place]);
  }
  level.across = std::exp(split.across - split.within);
  level.gain = split.gain;
  return level;
}

void place_by_reach(const std::vector<Comparison>& comparisons, const SplitSettings& settings, Level& level,
                    std::vector<char>& is_unplaced) {
  const std::vector<std::int32_t> known = level.part_of;
  std::map<std::int32_t, std::vector<std::vector<float>>> reach;  // by host of no part, and part
  for (const Comparison& each : comparisons) {
    for (const auto& [own, other] : {std::pair{each.first, each.second}, std::pair{each.second, each.first}}) {
      const std::int32_t part = known[at(other)];
      if (known[at(own)] >= 0 || part < 0) continue;
      auto& values = reach[own];
      values.resize(at(level.parts));
      values[at(part)].push_back(each.value);
    }
  }
  if (reach.empty()) return;
  const std::vector<double> rates = rates_between(comparisons, known);
  for (auto& [host, values] : reach) {
    const std::int32_t part = nearest_part(values, settings);
    if (part < 0) continue;
    const double own = median_of(values[at(part)]);
    const bool is_as_near =
        std::ranges::any_of(rates, [&](double rate) { return std::abs(rate - own) < settings.depth / 2; });
    if (is_as_near) continue;
    level.part_of[at(host)] = part;
    is_unplaced[at(host)] = 0;
  }
}

void add_all_coarser(const ComparisonTable& table, const SplitSettings& settings, std::vector<Level>& levels) {
  for (int level = 1; level < kMostLevels && levels.back().parts > 2; ++level) {
    if (!add_coarser(table, settings, levels)) break;
  }
}

std::optional<Split> find_best_split(ComparisonTable& table, std::int32_t hosts, const SplitSettings& settings) {
  std::optional<Split> split = find_any_split(table, hosts, settings);
  if (detrend(split, hosts, settings, table.values)) {
    auto again = find_any_split(table, hosts, settings);
    if (again && (!split || again->gain > split->gain)) split = std::move(again);
  }
  sharpen(split, hosts, settings, table);
  SplitSettings used = settings;
  // After detrending, since a few early pairs are fast if the network gets slower.
  if (!split || split->gain < kWeak || split->within - split->across < kShallow * settings.scale) {
    const SplitSettings for_few = for_few_fast_pairs(settings);
    auto few = find_sure_split(table.values, hosts, for_few);
    const auto gain = [&](const Split& each) { return gain_of(table.values, each.part_of, for_few); };
    if (few && (!split || gain(*few) > gain(*split))) {
      split = std::move(few);
      used = for_few;
    }
  }
  if (split && table.number_of_kinds > 1) {
    centre_within(split->part_of, table);
    if (auto again = find_sure_split(table.values, hosts, used)) split = std::move(again);
  }
  return split;
}

void find_levels(ComparisonTable& table, const SplitSettings& settings, Structure& structure) {
  if (note_one_way_kinds(table, settings, structure)) return;
  const auto hosts = static_cast<std::int32_t>(structure.is_alone.size());
  const std::optional<Split> split = find_best_split(table, hosts, settings);
  if (!split) return;
  structure.levels.push_back(level_of(*split));
  join_unless_met(table, structure.levels.front());
  Evidence evidence = evidence_of(table.values, structure.levels.front(), *split, settings);
  keep_alone_among_many(structure.levels.front(), evidence);
  set_unknown(evidence.is_unplaced, structure.levels.front());
  structure.is_alone = std::move(evidence.is_alone);
  structure.is_unplaced = std::move(evidence.is_unplaced);
  keep_open(std::move(evidence.open), structure);
  note_kinds(table, structure);
  if (structure.is_slow_kind.empty()) {
    place_by_reach(table.values, settings, structure.levels.front(), structure.is_unplaced);
  }
  add_all_coarser(table, settings, structure.levels);
  add_finer(table, settings, structure);
  keep_level(structure.levels);
}

std::optional<Split> find_sure_split(std::span<const Comparison> values, std::int32_t nodes, SplitSettings settings) {
  const double of_directions = settings.scale;
  std::optional<Split> split = find_split(values, nodes, settings);
  for (int i = 0; split && i < kMostRescalings; ++i) {
    const double scale = scatter(values, *split);
    if (scale <= kFarOff * settings.scale) return split;
    settings.scale = scale;
    settings.weight = 1 / (2 - std::pow(of_directions / scale, 2));
    split = find_split(values, nodes, settings);
  }
  return split;
}

bool detrend(const std::optional<Split>& split, std::int32_t nodes, const SplitSettings& settings,
             std::vector<Comparison>& values) {
  std::vector<double> trend = trend_of(split ? split->drift : drift_without_split(values, settings));
  if (!is_worth_taking(trend, settings.scale)) return false;
  if (!split) trend = trend_of(blurred_drift(values, nodes, settings));
  take(trend, values);
  return true;
}

void detrend_by_residuals(const std::vector<Comparison>& left, const SplitSettings& settings,
                          std::vector<Comparison>& values) {
  const std::vector<double> trend = trend_of(drift_without_split(left, settings));
  if (is_worth_taking(trend, settings.scale)) take(trend, values);
}

bool remove_drops(const Structure& structure, const SplitSettings& settings, std::vector<Comparison>& values) {
  constexpr double kScales = 3;
  if (structure.levels.empty()) return false;
  std::vector<std::vector<float>> by_distance(structure.levels.size() + 1);
  for (const Comparison& each : values) {
    by_distance[at(structure.distance(each.first, each.second))].push_back(each.value);
  }
  std::vector<float> usual;
  usual.reserve(by_distance.size());
  for (std::vector<float>& own : by_distance) usual.push_back(own.empty() ? 0 : median_of(own));
  std::vector<std::vector<float>> left;  // by window
  for (const Comparison& each : values) {
    const auto window = at(each.window);
    if (window >= left.size()) left.resize(window + 1);
    left[window].push_back(each.value - usual[at(structure.distance(each.first, each.second))]);
  }
  std::vector<float> drops;
  drops.reserve(left.size());
  const double least = std::max(settings.depth, kScales * settings.scale);
  for (std::vector<float>& own : left) drops.push_back(drop_of(own, least));
  for (Comparison& each : values) each.value -= drops[at(each.window)];
  return std::ranges::any_of(drops, [](float drop) { return drop < 0; });
}

}  // namespace fabricbench::cluster
