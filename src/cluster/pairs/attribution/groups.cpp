#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/attribution/units.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

Grouping grouping_of(const Sweep& sweep, const Level& level) {
  Grouping grouping;
  grouping.groups.resize(at(level.parts));
  for (std::size_t host = 0; host < level.part_of.size(); ++host) {
    if (level.part_of[host] < 0) continue;
    grouping.groups[at(level.part_of[host])].hosts.push_back(static_cast<std::int32_t>(host));
  }
  for (std::size_t i = 0; i < grouping.groups.size(); ++i) {
    grouping.groups[i].name = level.is_given ? sweep.leaves[i] : fmt::format("group {}", i + 1);
  }
  grouping.across = level.across;
  grouping.is_given = level.is_given;
  grouping.false_alarm = level.is_given ? 0 : std::exp(-level.gain);
  return grouping;
}

/// The median rates of pairs of the fast kind, and of all others.
HostKinds kinds_of(const Model& model) {
  const std::vector<char>& slow = model.structure.is_slow_kind;
  HostKinds kinds;
  std::vector<char> taken(slow.size(), 0);
  std::vector<float> fast_rates;
  std::vector<float> slow_rates;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    taken[at(reading.from)] = taken[at(reading.to)] = 1;
    (model.structure.is_of_slow_kind(reading) ? slow_rates : fast_rates).push_back(reading.rate);
  }
  for (std::size_t host = 0; host < slow.size(); ++host) {
    if (taken[host] != 0) (slow[host] != 0 ? kinds.slow : kinds.fast).push_back(static_cast<std::int32_t>(host));
  }
  if (!fast_rates.empty()) kinds.fast_rate = median_of(fast_rates);
  if (!slow_rates.empty()) kinds.slow_rate = median_of(slow_rates);
  kinds.both_suffice = model.kinds_suffice;
  kinds.direction = model.structure.slow_way;
  return kinds;
}

void follow_up_unplaced(const Model& model, Verdict& verdict) {
  const std::vector<char>& unplaced = model.structure.is_unplaced;
  const auto number = std::ranges::count(unplaced, 1);
  if (number == 0) return;
  const bool few = static_cast<double>(number) <= (1 - kMost) * static_cast<double>(unplaced.size());
  if (!few || !model.structure.levels.empty()) {
    verdict.groups_are_open = true;
    return;
  }
  for (std::size_t host = 0; host < unplaced.size(); ++host) {
    if (unplaced[host] == 0) continue;
    verdict.follow_ups.push_back({static_cast<std::int32_t>(host), -1, 0, 2, "slow with all hosts it has met so far"});
  }
}

/// The median rate from one group to another, and its number of readings.
struct RateBetween {
  double rate = 0;
  std::int64_t readings = 0;
};

RateBetween rate_between(const Model& model, const Level& level, std::int32_t from, std::int32_t to) {
  std::vector<float> rates;
  for (const Point& point : model.points) {
    const Reading& reading = model.reading_of(point);
    const std::int32_t first = level.part_of[at(reading.from)];
    const std::int32_t second = level.part_of[at(reading.to)];
    const bool wanted = (first == from && second == to) || (reading.both_ways && first == to && second == from);
    if (wanted) rates.push_back(reading.rate);
  }
  const auto readings = static_cast<std::int64_t>(rates.size());
  return {rates.empty() ? 0 : static_cast<double>(median_of(rates)), readings};
}

/// Such as `node03 in leaf2, node07 in leaf1 and 3 more`.
std::string text_of(const Sweep& sweep, const std::vector<Misplaced>& placed) {
  constexpr std::size_t kMostNamed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(placed.size(), kMostNamed); ++i) {
    text += fmt::format("{}{} in {}", i == 0 ? "" : ", ", sweep.hosts[at(placed[i].host)],
                        sweep.leaves[at(placed[i].leaf)]);
  }
  return placed.size() > kMostNamed ? fmt::format("{} and {} more", text, placed.size() - kMostNamed) : text;
}

void note_misplaced(const Model& model, Verdict& verdict) {
  const Structure& structure = model.structure;
  if (!structure.misplaced.empty()) {
    verdict.notes.push_back(fmt::format(
        "the readings contradict --locality: by their bandwidth these hosts belong to other leaves, and are counted "
        "there: {}; is the list out of date?",
        text_of(*model.sweep, structure.misplaced)));
  }
  if (!structure.left_out.empty()) {
    verdict.notes.push_back(fmt::format(
        "--locality lacks these hosts; by their bandwidth they belong to these leaves, and are counted there: {}",
        text_of(*model.sweep, structure.left_out)));
  }
}

/// Whether the distance of a reading's hosts is known. If the locality leaves out a host, the reading may be faster
/// because the hosts are near.
bool has_distance(const Model& model, const Point& point) {
  if (model.structure.levels.empty() || !model.structure.levels.front().is_given) return true;
  const std::vector<std::int32_t>& leaf_of = model.structure.levels.front().part_of;
  const Reading& reading = model.reading_of(point);
  return leaf_of[at(reading.from)] >= 0 && leaf_of[at(reading.to)] >= 0;
}

/// The readings of a pair of hosts.
struct PairRate {
  double sum = 0;                                          ///< of residuals
  double scale = 0;                                        ///< the largest
  double least = std::numeric_limits<double>::infinity();  ///< of the residuals
  std::int64_t readings = 0;
};

/// By pair of hosts; without readings under light load.
using PairRates = std::unordered_map<std::int64_t, PairRate>;

std::int64_t pair_of(const Model& model, const Point& point) {
  const Reading& reading = model.reading_of(point);
  const auto [first, second] = std::minmax(reading.from, reading.to);
  return std::int64_t{first} * model.ids.hosts + second;
}

/// Pairs with one reading that is faster than noise, and by more than `least` (a logarithm).
PairRates pairs_that_may_be_faster(const Model& model, double least) {
  PairRates pairs;
  for (const Point& point : model.points) {
    if (!point.lightly_loaded && has_distance(model, point) &&
        point.residual > std::max(least, kErrors * model.scale_of(point))) {
      pairs[pair_of(model, point)] = {};
    }
  }
  return pairs;
}

void add(const Model& model, const Point& point, PairRate& pair) {
  pair.sum += point.residual;
  pair.scale = std::max(pair.scale, model.scale_of(point));
  pair.least = std::min(pair.least, static_cast<double>(point.residual));
  ++pair.readings;
}

double mean_of(const PairRate& pair) { return pair.sum / static_cast<double>(pair.readings); }

/// The standard error of a pair's mean. Paths differ, and both directions share a path: that part of the variance does
/// not shrink with the number of readings.
double error_of(const Model& model, const PairRate& pair) {
  const double of_direction = model.structure.scale;
  const double of_path = std::max(pair.scale * pair.scale - of_direction * of_direction, 0.0);
  return std::sqrt(of_path + of_direction * of_direction / static_cast<double>(pair.readings));
}

/// Whether a pair is faster than chance makes any pair, and by more than `least`.
bool is_any_pair_faster(const Model& model, double least) {
  PairRates pairs = pairs_that_may_be_faster(model, least);
  if (pairs.empty()) return false;
  for (const Point& point : model.points) {
    const auto found = point.lightly_loaded ? pairs.end() : pairs.find(pair_of(model, point));
    if (found != pairs.end()) add(model, point, found->second);
  }
  const double tests =
      std::min(static_cast<double>(model.points.size()), 0.5 * model.hosts_present * model.hosts_present);
  return std::ranges::any_of(pairs, [&](const auto& each) {
    const PairRate& pair = each.second;
    if (pair.readings < 2) return false;
    const double mean = mean_of(pair);
    return mean > least && family_wise(normal_below(-mean / error_of(model, pair)), tests) < model.settings.false_alarm;
  });
}

/// Pairs that are clearly faster than others.
struct FastPairs {
  std::vector<double> rates;                          ///< means
  double median = 0;                                  ///< of them
  double median_among_hosts = 0;                      ///< of all pairs between their hosts
  std::vector<std::vector<std::int32_t>> neighbours;  ///< by host
  std::size_t unsteady = 0;                           ///< pairs with a reading at the usual level
};

FastPairs fast_pairs(const Model& model, const PairRates& pairs) {
  const auto hosts_of = [&](std::int64_t number) {
    return std::pair{at(number / model.ids.hosts), at(number % model.ids.hosts)};
  };
  FastPairs fast;
  fast.neighbours.resize(at(model.ids.hosts));
  for (const auto& [number, pair] : pairs) {
    if (mean_of(pair) <= std::max(-model.slow, kSureErrors * error_of(model, pair))) continue;
    const auto [first, second] = hosts_of(number);
    fast.rates.push_back(mean_of(pair));
    fast.neighbours[first].push_back(static_cast<std::int32_t>(second));
    fast.neighbours[second].push_back(static_cast<std::int32_t>(first));
    fast.unsteady += pair.least < mean_of(pair) / 2 - 2 * pair.scale ? 1 : 0;
  }
  if (fast.rates.empty()) return fast;
  std::vector<double> among;
  for (const auto& [number, pair] : pairs) {
    const auto [first, second] = hosts_of(number);
    if (!fast.neighbours[first].empty() && !fast.neighbours[second].empty()) among.push_back(mean_of(pair));
  }
  fast.median = upper_median(fast.rates);
  fast.median_among_hosts = upper_median(among);
  return fast;
}

/// The number of hosts that fast pairs connect with a host, itself included.
std::size_t hosts_around(const FastPairs& fast, std::int32_t host, std::vector<char>& visited) {
  std::vector<std::int32_t> around{host};
  visited[at(host)] = 1;
  for (std::size_t i = 0; i < around.size(); ++i) {
    for (const std::int32_t other : fast.neighbours[at(around[i])]) {
      if (std::exchange(visited[at(other)], 1) == 0) around.push_back(other);
    }
  }
  return around.size();
}

/// Whether fast pairs form small groups: they are fast each time, they connect few hosts each, and two hosts that are
/// near a third one are near each other.
bool are_small_groups(const FastPairs& fast, const PairRates& pairs, std::int32_t hosts) {
  const auto are_few = [](std::size_t exceptions, std::size_t all) {
    return static_cast<double>(exceptions) <= 1 + kExceptions * static_cast<double>(all);
  };
  if (!are_few(fast.unsteady, fast.rates.size())) return false;
  std::vector<char> visited(at(hosts), 0);
  std::size_t triads = 0;
  std::size_t open_triads = 0;
  for (std::int32_t host = 0; host < hosts; ++host) {
    const std::vector<std::int32_t>& near = fast.neighbours[at(host)];
    if (visited[at(host)] == 0 && hosts_around(fast, host, visited) > kMany) return false;
    for (std::size_t i = 0; i < near.size(); ++i) {
      for (std::size_t j = i + 1; j < near.size(); ++j) {
        const auto [first, second] = std::minmax(near[i], near[j]);
        const auto found = pairs.find(std::int64_t{first} * hosts + second);
        if (found == pairs.end()) continue;
        ++triads;
        open_triads += mean_of(found->second) < fast.median / 2 ? 1 : 0;
      }
    }
  }
  return are_few(open_triads, triads);
}

}  // namespace

void report_groups(const Model& model, Verdict& verdict) {
  const Structure& structure = model.structure;
  for (const Level& level : structure.levels) verdict.groupings.push_back(grouping_of(*model.sweep, level));
  if (!structure.is_slow_kind.empty()) verdict.kinds = kinds_of(model);
  verdict.open_groups = structure.open_parts;
  if (!verdict.open_groups.empty()) verdict.groups_are_open = true;
  follow_up_unplaced(model, verdict);
  note_misplaced(model, verdict);
  if (structure.contradiction.parts > 0) {
    Grouping found = grouping_of(*model.sweep, structure.contradiction);
    verdict.contradiction = std::move(found);
  }
}

void report_small_group(const Model& model, Verdict& verdict) {
  const std::vector<Level>& levels = model.structure.levels;
  if (levels.size() != 1 || levels.front().is_given || levels.front().parts != 2) return;
  if (levels.front().across > kMost || verdict.groups_are_open) return;
  const std::vector<Group>& groups = verdict.groupings.front().groups;
  const std::int32_t small = groups[0].hosts.size() < groups[1].hosts.size() ? 0 : 1;
  const std::size_t hosts = groups[at(small)].hosts.size();
  if (groups[at(1 - small)].hosts.size() < 3 * hosts) return;  // either may have the slow uplinks
  const RateBetween within = rate_between(model, levels.front(), 1 - small, 1 - small);
  const RateBetween out = rate_between(model, levels.front(), small, 1 - small);
  const RateBetween in = rate_between(model, levels.front(), 1 - small, small);
  if (within.rate <= 0) return;
  const bool sends = out.readings > 0 && out.rate < kMost * within.rate;
  const bool receives = in.readings > 0 && in.rate < kMost * within.rate;
  if (!sends || !receives) return;  // slow in one direction only: no second hall, and blamed as other faults are
  verdict.may_stand_apart = groups[at(small)].hosts;
  verdict.notes.push_back(fmt::format(
      "{} reaches the other hosts at {:.0f} % of the bandwidth within them: either it is farther away, such as in "
      "another hall, or its uplinks are slow, and there is no third group to compare with; --locality FILE with the "
      "leaf or hall of each host settles it",
      groups[at(small)].name, 100 * std::min(out.rate, in.rate) / within.rate));
}

void report_all(const Model& model, Verdict& verdict) {
  const std::vector<double> expected = expected_by_stratum(model);
  const Stratum* best = nullptr;
  Finding finding;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Stratum& stratum = model.strata[i];
    if (expected[i] <= 0) continue;
    const double rate = stratum.both_ways ? stratum.centre / 2 : stratum.centre;
    if (best != nullptr && rate / expected[i] <= finding.ratio) continue;
    best = &stratum;
    finding.rate = rate;
    finding.expected = expected[i];
    finding.ratio = rate / expected[i];
  }
  if (best == nullptr || finding.ratio >= 1 - model.settings.tolerance) return;
  finding.blame = Blame::kAll;
  finding.readings = best->readings;
  finding.false_alarm = 0;
  verdict.findings.push_back(finding);
}

std::optional<NearPairs> find_near_pairs(const Model& model) {
  PairRates pairs;
  for (const Point& point : model.points) {
    if (!point.lightly_loaded) add(model, point, pairs[pair_of(model, point)]);
  }
  const FastPairs fast = fast_pairs(model, pairs);
  if (fast.rates.size() < kMany / 2 || !are_small_groups(fast, pairs, model.ids.hosts)) return std::nullopt;
  if (std::abs(fast.median_among_hosts) > -model.slow / 2) return std::nullopt;
  return NearPairs{static_cast<std::int64_t>(fast.rates.size()), static_cast<std::int64_t>(pairs.size()),
                   std::expm1(fast.median)};
}

bool any_are_faster(const Model& model) { return is_any_pair_faster(model, -model.slow); }

bool are_two_kinds(const Model& model) {
  // Rails of a host may share its PCIe link, alone as well.
  return model.sweep->rails.size() == 1 && is_any_pair_faster(model, 2 * kLeastLoad);
}

}  // namespace fabricbench::cluster
