#include "cluster/structure/structure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "cluster/robust.h"
#include "cluster/structure/clustering.h"
#include "cluster/structure/split.h"

namespace fabricbench::cluster {
namespace {

/// Readings differ by so much at least, and are not believed to do so less.
constexpr double kLeastScale = 0.01;
constexpr std::size_t kEnoughDifferences = 8;
constexpr std::size_t kMostDifferences = 4096;
/// Fewer readings than this share of the most at once were taken in a quiet network.
constexpr double kQuiet = 0.5;
constexpr std::int32_t kRoundsOfWindow = 4;
constexpr int kMostLevels = 4;
/// So many standard deviations apart, two medians of two values or more are not the same.
constexpr double kClearly = 4;
/// Where what a split leaves scatters by so much more than was assumed, it is looked for again.
constexpr double kFarOff = 1.25;
constexpr int kMostRescalings = 4;

bool is_taken(const Reading& reading) {
  return reading.outcome == Outcome::kMeasured && reading.from != reading.to && std::isfinite(reading.rate) &&
         reading.rate > 0;
}

/// What readings have to have in common to be compared, but for the hosts.
auto kind_of(const Reading& reading) {
  return std::tuple(reading.kind, reading.from_rail, reading.to_rail, reading.both_ways);
}

/// The readings of a network as busy as it was for most, as comparisons, each with the number of its kind.
struct Table {
  std::vector<Comparison> values;
  std::vector<std::int32_t> kinds;  // by value
  std::int32_t number_of_kinds = 0;
};

Table table_of(const Sweep& sweep) {
  std::int32_t most = 0;
  for (const Reading& reading : sweep.readings) {
    if (is_taken(reading)) most = std::max(most, reading.concurrent);
  }
  std::map<decltype(kind_of(Reading{})), std::int32_t> kinds;
  Table table;
  for (const Reading& reading : sweep.readings) {
    const bool quiet = reading.concurrent > 0 && reading.concurrent < kQuiet * most;
    if (!is_taken(reading) || quiet) continue;
    const auto kind = kinds.try_emplace(kind_of(reading), static_cast<std::int32_t>(kinds.size())).first->second;
    table.values.push_back(
        {reading.from, reading.to, reading.round / kRoundsOfWindow, static_cast<float>(std::log(reading.rate))});
    table.kinds.push_back(kind);
  }
  table.number_of_kinds = static_cast<std::int32_t>(kinds.size());
  return table;
}

/// The upper median over the hosts of each one's upper median, of each kind of values: it stands though many hosts are
/// slow.
std::vector<float> centres_of(const Table& table, std::size_t hosts) {
  std::vector<std::vector<float>> medians(static_cast<std::size_t>(table.number_of_kinds));
  std::vector<std::vector<std::pair<std::int32_t, float>>> by_host(hosts);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const Comparison& each = table.values[i];
    by_host[static_cast<std::size_t>(each.first)].emplace_back(table.kinds[i], each.value);
    by_host[static_cast<std::size_t>(each.second)].emplace_back(table.kinds[i], each.value);
  }
  std::vector<std::vector<float>> own(medians.size());
  for (const auto& values : by_host) {
    for (const auto& [kind, value] : values) own[static_cast<std::size_t>(kind)].push_back(value);
    for (std::size_t kind = 0; kind < own.size(); ++kind) {
      if (own[kind].empty()) continue;
      medians[kind].push_back(upper_median(own[kind]));
      own[kind].clear();
    }
  }
  std::vector<float> centres;
  centres.reserve(medians.size());
  for (std::vector<float>& of_hosts : medians) centres.push_back(of_hosts.empty() ? 0 : upper_median(of_hosts));
  return centres;
}

/// Takes from each value what is usual of its kind.
void centre(std::size_t hosts, Table& table) {
  const std::vector<float> centres = centres_of(table, hosts);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    table.values[i].value -= centres[static_cast<std::size_t>(table.kinds[i])];
  }
}

/// The same, of values within parts alone: what is usual between them may differ from kind to kind.
void centre_within(const std::vector<std::int32_t>& part_of, Table& table) {
  Table within;
  within.number_of_kinds = table.number_of_kinds;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const Comparison& each = table.values[i];
    if (part_of[static_cast<std::size_t>(each.first)] != part_of[static_cast<std::size_t>(each.second)]) continue;
    within.values.push_back(each);
    within.kinds.push_back(table.kinds[i]);
  }
  const std::vector<float> centres = centres_of(within, part_of.size());
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    table.values[i].value -= centres[static_cast<std::size_t>(table.kinds[i])];
  }
}

/// The shortest interval that holds two fifths of normal values is 1.05 standard deviations wide.
double scale_within_hosts(const Table& table, std::size_t hosts) {
  std::vector<std::vector<float>> values(hosts);
  for (const Comparison& each : table.values) {
    values[static_cast<std::size_t>(each.first)].push_back(each.value);
    values[static_cast<std::size_t>(each.second)].push_back(each.value);
  }
  std::vector<double> widths;
  for (std::vector<float>& own : values) {
    if (own.size() < 3) continue;
    std::sort(own.begin(), own.end());
    const std::size_t held = std::max<std::size_t>(1, 2 * own.size() / 5);
    double narrowest = INFINITY;
    for (std::size_t i = 0; i + held < own.size(); ++i) narrowest = std::min<double>(narrowest, own[i + held] - own[i]);
    widths.push_back(narrowest / 1.05);
  }
  return widths.empty() ? kLeastScale : median_of(widths);
}

/// From both directions of pairs that were measured one after the other: what differs between them is noise, whatever
/// the hosts and the path are like.
double scale_of(const Table& table, std::size_t hosts) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < table.values.size() && differences.size() < kMostDifferences; ++i) {
    const Comparison& forth = table.values[i - 1];
    const Comparison& back = table.values[i];
    const bool pair = forth.first == back.second && forth.second == back.first && table.kinds[i] == table.kinds[i - 1];
    if (pair) differences.push_back(std::abs(forth.value - back.value));
  }
  const double scale = differences.size() < kEnoughDifferences
                           ? scale_within_hosts(table, hosts)
                           : kDeviationsPerMad * median_of(differences) / std::sqrt(2.0);
  return std::max(scale, kLeastScale);
}

/// Both directions of a pair that were measured one after the other as one value, the slower one.
Table slower_directions(const Table& table) {
  Table slower;
  slower.number_of_kinds = table.number_of_kinds;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const Comparison& each = table.values[i];
    const bool is_back = !slower.values.empty() && slower.values.back().first == each.second &&
                         slower.values.back().second == each.first && slower.kinds.back() == table.kinds[i];
    if (is_back) {
      slower.values.back().value = std::min(slower.values.back().value, each.value);
    } else {
      slower.values.push_back(each);
      slower.kinds.push_back(table.kinds[i]);
    }
  }
  return slower;
}

/// A split's parts of two nodes or more, numbered anew; nodes alone are of none.
Nearness nearness_of(const Split& split) {
  const std::vector<std::int32_t> sizes = sizes_of(split.part_of);
  std::vector<std::int32_t> numbers(sizes.size(), Nearness::kNone);
  Nearness nearness;
  for (const std::int32_t part : split.part_of) {
    const auto at = static_cast<std::size_t>(part);
    if (sizes[at] > 1 && numbers[at] == Nearness::kNone) numbers[at] = nearness.parts++;
    nearness.part_of.push_back(numbers[at]);
  }
  nearness.across = std::exp(split.across - split.within);
  nearness.gain = split.gain;
  return nearness;
}

/// How much values scatter about what a split expects.
double scatter(std::span<const Comparison> values, const Split& split) {
  const std::vector<std::int32_t> sizes = sizes_of(split.part_of);
  std::vector<double> distances;
  for (const Comparison& each : values) {
    const std::int32_t first = split.part_of[static_cast<std::size_t>(each.first)];
    const std::int32_t second = split.part_of[static_cast<std::size_t>(each.second)];
    if (sizes[static_cast<std::size_t>(first)] < 2 || sizes[static_cast<std::size_t>(second)] < 2) continue;
    distances.push_back(std::abs(each.value - (first == second ? split.within : split.across)));
  }
  return distances.empty() ? 0 : kDeviationsPerMad * median_of(distances);
}

/// Hosts or paths may differ by more than the two directions of a pair, which other traffic slows alike: then a split
/// has to be worth it still, with that as the scale. Of two values with a correlation of r, each counts for 1 / (1 +
/// r).
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

/// The values between hosts of one part.
std::vector<Comparison> values_within(const std::vector<Comparison>& values, const Nearness& level) {
  std::vector<Comparison> within;
  for (const Comparison& each : values) {
    const std::int32_t part = level.part_of[static_cast<std::size_t>(each.first)];
    if (part >= 0 && part == level.part_of[static_cast<std::size_t>(each.second)]) within.push_back(each);
  }
  return within;
}

/// The values between parts, of which each is a node.
std::vector<Comparison> values_across(const std::vector<Comparison>& values, const Nearness& level) {
  std::vector<Comparison> across;
  for (Comparison each : values) {
    each.first = level.part_of[static_cast<std::size_t>(each.first)];
    each.second = level.part_of[static_cast<std::size_t>(each.second)];
    if (each.first != each.second && each.first >= 0 && each.second >= 0) {
      across.push_back(each);
    }
  }
  return across;
}

/// Parts within the parts of the finest level. Hosts that are slow within their part are of none.
void add_finer(const Table& table, const SplitSettings& settings, std::vector<Nearness>& levels) {
  const auto hosts = static_cast<std::int32_t>(levels.front().part_of.size());
  const std::vector<Comparison> within = values_within(table.values, levels.front());
  const std::optional<Split> split = find_sure_split(within, hosts, settings);
  if (!split) return;
  Nearness finer = nearness_of(*split);
  if (finer.parts > levels.front().parts) levels.insert(levels.begin(), std::move(finer));
}

/// Parts of parts of the coarsest level. Nothing where one part alone is slow with the others: that is no nearness.
bool add_coarser(const Table& table, const SplitSettings& settings, std::vector<Nearness>& levels) {
  const Nearness& last = levels.back();
  const std::vector<Comparison> across = values_across(table.values, last);
  const std::optional<Split> split = find_sure_split(across, last.parts, settings);
  if (!split) return false;
  const Nearness parts = nearness_of(*split);
  const bool alone = std::count(parts.part_of.begin(), parts.part_of.end(), Nearness::kNone) > 0;
  if (parts.parts < 2 || alone) return false;
  Nearness coarser = parts;
  coarser.part_of.clear();
  for (const std::int32_t part : last.part_of) {
    coarser.part_of.push_back(part < 0 ? part : parts.part_of[static_cast<std::size_t>(part)]);
  }
  levels.push_back(std::move(coarser));
  return true;
}

/// Which hosts of no part were measured with parts enough to say that they are alone, and whether all parts were
/// measured with each other.
void judge_evidence(const Table& table, const Nearness& level, Structure& structure) {
  const std::size_t hosts = level.part_of.size();
  std::vector<std::vector<std::int32_t>> met(hosts);
  std::vector<char> taken(hosts, 0);
  std::vector<std::pair<std::int32_t, std::int32_t>> parts_met;
  for (const Comparison& each : table.values) {
    for (const auto& [own, other] : {std::pair{each.first, each.second}, std::pair{each.second, each.first}}) {
      const std::int32_t part = level.part_of[static_cast<std::size_t>(own)];
      const std::int32_t partner = level.part_of[static_cast<std::size_t>(other)];
      taken[static_cast<std::size_t>(own)] = 1;
      if (partner < 0) continue;
      if (part < 0) met[static_cast<std::size_t>(own)].push_back(partner);
      if (part < partner && part >= 0) parts_met.emplace_back(part, partner);
    }
  }
  const auto different = [](auto& list) {
    std::sort(list.begin(), list.end());
    return std::unique(list.begin(), list.end()) - list.begin();
  };
  for (std::size_t host = 0; host < hosts; ++host) {
    if (level.part_of[host] >= 0 || taken[host] == 0) continue;
    (different(met[host]) == level.parts ? structure.is_alone : structure.is_unplaced)[host] = 1;
  }
  const std::int64_t pairs = static_cast<std::int64_t>(level.parts) * (level.parts - 1) / 2;
  structure.is_complete = different(parts_met) == pairs;
}

/// Whether a part of the coarser level is one part of the finer level.
bool has_single(const Nearness& fine, const Nearness& coarse) {
  std::vector<std::vector<std::int32_t>> members(static_cast<std::size_t>(coarse.parts));
  for (std::size_t host = 0; host < fine.part_of.size(); ++host) {
    if (fine.part_of[host] < 0 || coarse.part_of[host] < 0) continue;
    members[static_cast<std::size_t>(coarse.part_of[host])].push_back(fine.part_of[host]);
  }
  return std::any_of(members.begin(), members.end(), [](std::vector<std::int32_t>& parts) {
    std::sort(parts.begin(), parts.end());
    return std::unique(parts.begin(), parts.end()) - parts.begin() == 1;
  });
}

/// Leaves out what is no nearness: one part, and hosts that are slow with it; and a level that does no more than part
/// one of the finer parts from the others, as slow uplinks do.
void keep_nearness(std::vector<Nearness>& levels) {
  std::erase_if(levels, [](const Nearness& level) { return level.parts < 2; });
  for (std::size_t i = levels.size(); i-- > 1;) {
    if (has_single(levels[i - 1], levels[i])) levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// Half of the hosts or more are alone: two kinds of hosts. Then they are alone no more.
void note_kinds(const Table& table, double gain, Structure& structure) {
  std::vector<char> taken(structure.is_alone.size(), 0);
  for (const Comparison& each : table.values) {
    taken[static_cast<std::size_t>(each.first)] = taken[static_cast<std::size_t>(each.second)] = 1;
  }
  const auto present = std::count(taken.begin(), taken.end(), 1);
  const auto alone = std::count(structure.is_alone.begin(), structure.is_alone.end(), 1);
  if (2 * alone < present) return;
  structure.is_slow_kind = structure.is_alone;
  structure.kinds_false_alarm = std::exp(-gain);
  std::fill(structure.is_alone.begin(), structure.is_alone.end(), 0);
}

/// The part that a host of none is nearer to than to all others by more than `least`, as a logarithm; kNone where there
/// is no such part.
std::int32_t nearest_part(std::vector<std::vector<float>>& values, double least) {
  constexpr std::size_t kFewest = 2;
  std::int32_t nearest = Nearness::kNone;
  double highest = -INFINITY;
  double next = -INFINITY;
  for (std::size_t part = 0; part < values.size(); ++part) {
    if (values[part].size() < kFewest) continue;
    const double median = median_of(values[part]);
    next = std::max(next, std::min(median, highest));
    if (median <= highest) continue;
    highest = median;
    nearest = static_cast<std::int32_t>(part);
  }
  return std::isfinite(next) && highest - next > least ? nearest : Nearness::kNone;
}

/// Hosts of no part that are nearer to one part than to the others are of that one: a slow host is slow within it too,
/// but less than the way to others.
void place_by_reach(const Table& table, double least, Structure& structure) {
  Nearness& level = structure.levels.front();
  const std::vector<std::int32_t> known = level.part_of;
  std::map<std::int32_t, std::vector<std::vector<float>>> reach;  // by host of no part, and part
  for (const Comparison& each : table.values) {
    for (const auto& [own, other] : {std::pair{each.first, each.second}, std::pair{each.second, each.first}}) {
      const std::int32_t part = known[static_cast<std::size_t>(other)];
      if (known[static_cast<std::size_t>(own)] >= 0 || part < 0) continue;
      auto& values = reach[own];
      values.resize(static_cast<std::size_t>(level.parts));
      values[static_cast<std::size_t>(part)].push_back(static_cast<float>(each.value));
    }
  }
  for (auto& [host, values] : reach) {
    const std::int32_t part = nearest_part(values, least);
    if (part < 0) continue;
    level.part_of[static_cast<std::size_t>(host)] = part;
    structure.is_unplaced[static_cast<std::size_t>(host)] = 0;
  }
}

void add_all_coarser(const Table& table, const SplitSettings& settings, std::vector<Nearness>& levels) {
  for (int level = 1; level < kMostLevels && levels.back().parts > 2; ++level) {
    if (!add_coarser(table, settings, levels)) break;
  }
}

void find_levels(Table& table, const SplitSettings& settings, Structure& structure) {
  const auto hosts = static_cast<std::int32_t>(structure.is_alone.size());
  std::optional<Split> split = find_sure_split(table.values, hosts, settings);
  if (!split) {
    table = slower_directions(table);
    split = find_sure_split(table.values, hosts, settings);
  }
  if (!split) return;
  if (table.number_of_kinds > 1) {
    centre_within(split->part_of, table);
    if (auto again = find_sure_split(table.values, hosts, settings)) split = std::move(again);
  }
  structure.levels.push_back(nearness_of(*split));
  judge_evidence(table, structure.levels.front(), structure);
  for (std::size_t host = 0; host < structure.is_unplaced.size(); ++host) {
    if (structure.is_unplaced[host] != 0) structure.levels.front().part_of[host] = Nearness::kUnknown;
  }
  note_kinds(table, split->gain, structure);
  if (structure.is_slow_kind.empty()) {
    place_by_reach(table, std::max(settings.depth, kClearly * settings.scale), structure);
  }
  add_all_coarser(table, settings, structure.levels);
  add_finer(table, settings, structure.levels);
  keep_nearness(structure.levels);
}

/// The median rate between parts over that within one; 1 where one of them is not known.
double across_over_within(const Table& table, const Nearness& level) {
  std::vector<float> within;
  std::vector<float> across;
  for (const Comparison& each : table.values) {
    const std::int32_t first = level.part_of[static_cast<std::size_t>(each.first)];
    const std::int32_t second = level.part_of[static_cast<std::size_t>(each.second)];
    if (first >= 0 && second >= 0) {
      (first == second ? within : across).push_back(each.value);
    }
  }
  return within.empty() || across.empty() ? 1 : std::exp(median_of(across) - median_of(within));
}

/// Takes from each value the median of those whose hosts are as far apart, so that a locality explains what it can.
void centre_by_distance(const Structure& structure, Table& table) {
  const auto distances = static_cast<std::int32_t>(structure.levels.size()) + 1;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const std::int32_t distance = structure.distance(table.values[i].first, table.values[i].second);
    table.kinds[i] = table.kinds[i] * distances + distance;
  }
  table.number_of_kinds *= distances;
  centre(structure.is_alone.size(), table);
}

/// Whether each part of `fine` is within one part of `coarse`, but for hosts of no part.
bool is_finer(const Nearness& fine, const Nearness& coarse) {
  std::vector<std::int32_t> container(static_cast<std::size_t>(fine.parts), Nearness::kNone);
  for (std::size_t host = 0; host < fine.part_of.size(); ++host) {
    if (fine.part_of[host] < 0 || coarse.part_of[host] < 0) continue;
    std::int32_t& known = container[static_cast<std::size_t>(fine.part_of[host])];
    if (known >= 0 && known != coarse.part_of[host]) return false;
    known = coarse.part_of[host];
  }
  return true;
}

void take_locality(const Sweep& sweep, Table& table, const SplitSettings& settings, Structure& structure) {
  Nearness given;
  for (const std::int32_t leaf : sweep.leaf_of) given.part_of.push_back(leaf < 0 ? Nearness::kUnknown : leaf);
  given.parts = static_cast<std::int32_t>(sweep.leaves.size());
  given.across = across_over_within(table, given);
  given.is_given = true;
  structure.levels.push_back(std::move(given));
  add_all_coarser(table, settings, structure.levels);
  centre_by_distance(structure, table);
  const auto hosts = static_cast<std::int32_t>(sweep.hosts.size());
  const std::optional<Split> split = find_sure_split(table.values, hosts, settings);
  if (!split) return;
  Nearness found = nearness_of(*split);
  judge_evidence(table, found, structure);
  std::fill(structure.is_unplaced.begin(), structure.is_unplaced.end(), 0);
  structure.is_complete = true;
  note_kinds(table, found.gain, structure);
  if (found.parts > 1 && !is_finer(structure.levels.front(), found)) structure.contradiction = std::move(found);
}

}  // namespace

std::int32_t Structure::distance(std::int32_t a, std::int32_t b) const {
  auto near = static_cast<std::int32_t>(levels.size());
  while (near > 0) {
    const std::vector<std::int32_t>& part_of = levels[static_cast<std::size_t>(near) - 1].part_of;
    const std::int32_t first = part_of[static_cast<std::size_t>(a)];
    const std::int32_t second = part_of[static_cast<std::size_t>(b)];
    const bool may_be_near = first == Nearness::kNone || second == Nearness::kNone;
    if (may_be_near ? levels[static_cast<std::size_t>(near) - 1].is_given : first != second || first < 0) break;
    --near;
  }
  return near;
}

Structure find_structure(const Sweep& sweep, double depth) {
  Structure structure;
  structure.is_alone.assign(sweep.hosts.size(), 0);
  structure.is_unplaced.assign(sweep.hosts.size(), 0);
  Table table = table_of(sweep);
  centre(sweep.hosts.size(), table);
  structure.scale = scale_of(table, sweep.hosts.size());
  const SplitSettings settings{structure.scale, depth};
  if (sweep.leaf_of.empty()) {
    find_levels(table, settings, structure);
  } else {
    take_locality(sweep, table, settings, structure);
  }
  return structure;
}

}  // namespace fabricbench::cluster
