#include "cluster/attribution/shared_links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/attribution/findings.h"
#include "cluster/attribution/model.h"
#include "cluster/robust.h"
#include "cluster/schedule.h"
#include "common/core/distributions.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

/// What comparable readings of one direction of a pair share.
using PairWay = std::tuple<std::int32_t, std::int32_t, std::int16_t, std::int16_t, std::int16_t, bool>;

PairWay way_of(const Reading& reading) {
  return {reading.from, reading.to, reading.from_rail, reading.to_rail, reading.kind, reading.both_ways};
}

std::int32_t most_at_once(const Sweep& sweep) {
  std::int32_t most = 0;
  for (const Reading& reading : sweep.readings) most = std::max(most, reading.concurrent);
  return most;
}

/// Whether a reading was taken beside at least half as many pairs as ever.
bool is_beside_others(const Reading& reading, std::int32_t most) {
  return reading.concurrent > 1 && 2 * reading.concurrent >= most;
}

/// The readings of one direction of a pair, alone and beside others since.
struct AloneAndBeside {
  std::int32_t first_alone = std::numeric_limits<std::int32_t>::max();  // its round
  std::vector<double> alone;
  std::vector<double> beside;        // as measured
  std::vector<double> without_drop;  // the same, as in a round that is not slow for all
};

/// By round beside others in which everything was slower than in the others: by how much, as a logarithm.
std::map<std::int32_t, double> drops_of(const Sweep& sweep, std::int32_t most) {
  std::map<std::int32_t, std::vector<double>> rates;
  for (const Reading& reading : sweep.readings) {
    if (has_rate(reading) && is_beside_others(reading, most))
      rates[reading.round].push_back(std::log(double{reading.rate}));
  }
  std::map<std::int32_t, double> drops;
  std::vector<double> medians;
  medians.reserve(rates.size());
  for (auto& [round, own] : rates) medians.push_back(drops[round] = median_of(own));
  const double usual = medians.empty() ? 0 : median_of(medians);
  for (auto& [round, drop] : drops) drop = std::max(0.0, usual - drop);
  return drops;
}

std::map<PairWay, AloneAndBeside> alone_and_beside(const Sweep& sweep) {
  std::map<PairWay, AloneAndBeside> ways;
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading) || reading.concurrent != 1) continue;
    AloneAndBeside& own = ways[way_of(reading)];
    own.first_alone = std::min(own.first_alone, reading.round);
    own.alone.push_back(reading.rate);
  }
  if (ways.empty()) return ways;
  const std::int32_t most = most_at_once(sweep);
  const std::map<std::int32_t, double> drops = drops_of(sweep, most);
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading) || !is_beside_others(reading, most)) continue;
    const auto own = ways.find(way_of(reading));
    if (own == ways.end() || reading.round <= own->second.first_alone) continue;
    own->second.beside.push_back(reading.rate);
    own->second.without_drop.push_back(reading.rate * std::exp(drops.at(reading.round)));
  }
  return ways;
}

/// The noise of a reading alone: the standard deviation of its logarithm, from the two directions of pairs.
double noise_alone(const std::map<PairWay, AloneAndBeside>& ways) {
  std::vector<double> differences;
  for (const auto& [way, own] : ways) {
    const auto& [from, to, from_rail, to_rail, kind, both] = way;
    const auto back = ways.find(PairWay{to, from, to_rail, from_rail, kind, both});
    if (from > to || back == ways.end()) continue;
    differences.push_back(std::abs(std::log(own.alone.front() / back->second.alone.front())));
  }
  return differences.empty() ? 0 : kDeviationsPerMad * median_of(differences) / std::sqrt(2.0);
}

/// Counts pairs without a host in common.
class HostsOfPairs {
 public:
  void add(const Meeting& pair) {
    if (!hosts_.contains(pair.first) && !hosts_.contains(pair.second)) hosts_.insert({pair.first, pair.second});
  }
  [[nodiscard]] std::size_t pairs() const { return hosts_.size() / 2; }

 private:
  std::set<std::int32_t> hosts_;
};

/// Which side of a reading, over which rail, in which kind of readings.
using Side = std::tuple<bool, std::int16_t, std::int16_t, bool>;

Side side_of(const Reading& reading, bool receives) {
  return {receives && !reading.both_ways, receives ? reading.to_rail : reading.from_rail, reading.kind,
          reading.both_ways};
}

/// What hosts reach near each other or alone, by side: the median over hosts of the upper part of their rates.
class UpperRates {
 public:
  UpperRates(const Sweep& sweep, const Structure& structure, double tolerance) : tolerance_(tolerance) {
    constexpr double kUpper = 0.7;  // robust to three slow partners of ten
    std::map<std::pair<Side, std::int32_t>, std::vector<double>> rates;
    for (const Reading& reading : sweep.readings) {
      if (!has_rate(reading) || (reading.concurrent > 1 && !structure.are_near(reading.from, reading.to))) continue;
      rates[{side_of(reading, false), reading.from}].push_back(reading.rate);
      rates[{side_of(reading, true), reading.to}].push_back(reading.rate);
    }
    std::map<Side, std::vector<double>> of_hosts;
    for (auto& [key, own] : rates) of_hosts[key.first].push_back(quantile(own, kUpper));
    for (auto& [side, own] : of_hosts) usual_[side] = upper_median(own);
  }

  /// Whether a reading is as fast as that, on one of its sides.
  [[nodiscard]] bool is_reached(const Reading& reading) const {
    return is_reached(reading, false) || is_reached(reading, true);
  }

 private:
  [[nodiscard]] bool is_reached(const Reading& reading, bool receives) const {
    const auto own = usual_.find(side_of(reading, receives));
    return own != usual_.end() && reading.rate >= (1 - tolerance_) * own->second;
  }

  double tolerance_;
  std::map<Side, double> usual_;
};

/// The median rate beside others between parts over that within them.
double across_of(const Sweep& sweep, const Nearness& parts) {
  std::array<std::vector<double>, 2> rates;  // across, within
  for (const Reading& reading : sweep.readings) {
    if (has_rate(reading) && reading.concurrent > 1)
      rates.at(parts.common_part(reading.from, reading.to) >= 0 ? 1 : 0).push_back(reading.rate);
  }
  return rates[0].empty() || rates[1].empty() ? 1 : median_of(rates[0]) / median_of(rates[1]);
}

/// Hosts that are slow with all others and fast with each other, as those behind slow uplinks are; the rest are a part
/// of their own. Nothing: there are none, or more than a third of the hosts.
std::optional<Nearness> hosts_apart(const Sweep& sweep, const UpperRates& rates) {
  // Of a leaf with a third of the hosts or fewer, more than half of the meetings are slow.
  constexpr double kHalf = 0.5;
  constexpr double kMost = 0.8;
  std::vector<std::array<std::int64_t, 2>> met(sweep.hosts.size());  // readings beside others, and slow ones
  const auto counts = [](const Reading& reading) { return has_rate(reading) && reading.concurrent > 1; };
  for (const Reading& reading : sweep.readings) {
    if (!counts(reading)) continue;
    for (const std::int32_t host : {reading.from, reading.to}) {
      ++met[static_cast<std::size_t>(host)][0];
      met[static_cast<std::size_t>(host)][1] += rates.is_reached(reading) ? 0 : 1;
    }
  }
  Nearness found;
  found.parts = 2;
  for (const auto& [all, slow] : met) {
    found.part_of.push_back(static_cast<double>(slow) > kHalf * static_cast<double>(all) ? 1 : 0);
  }
  const auto apart = std::count(found.part_of.begin(), found.part_of.end(), 1);
  if (apart < 2 || 3 * apart > std::ssize(found.part_of)) return std::nullopt;
  std::array<std::array<std::int64_t, 2>, 2> pairs{};  // across and within those apart: readings, and slow ones
  for (const Reading& reading : sweep.readings) {
    const std::int32_t from = found.part_of[static_cast<std::size_t>(reading.from)];
    const std::int32_t to = found.part_of[static_cast<std::size_t>(reading.to)];
    if (!counts(reading) || (from == 0 && to == 0)) continue;
    std::array<std::int64_t, 2>& own = pairs.at(from == to ? 1 : 0);
    ++own[0];
    own[1] += rates.is_reached(reading) ? 0 : 1;
  }
  const auto& [across, within] = pairs;
  const bool is_slow_across = static_cast<double>(across[1]) > kMost * static_cast<double>(across[0]);
  const bool is_fast_within =
      within[0] >= apart && static_cast<double>(within[1]) < (1 - kMost) * static_cast<double>(within[0]);
  if (!is_slow_across || !is_fast_within) return std::nullopt;
  found.gain =
      static_cast<double>(across[1]);  // that so many readings are slow by chance is less likely than e to this
  found.across = across_of(sweep, found);
  return found;
}

}  // namespace

SharedLinks find_shared_links(const Sweep& sweep) {
  constexpr double kGain = 0.1;  // of the median, as a logarithm: more than drift within a few rounds
  constexpr double kLargeGain = 0.15;
  constexpr double kScales = 5;      // of noise: two readings are compared
  constexpr double kShare = 0.25;    // of readings with a large gain: collisions are by chance
  constexpr std::size_t kPairs = 2;  // without a host in common: one host may be slow now and then
  SharedLinks links;
  std::vector<double> gains;
  std::vector<double> alone;
  std::vector<double> beside;
  HostsOfPairs slowed;
  HostsOfPairs again;  // slowed twice or more, and never slow alone
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  std::map<PairWay, AloneAndBeside> ways = alone_and_beside(sweep);
  const double noise = kScales * noise_alone(ways);
  for (auto& [way, own] : ways) {
    if (own.beside.empty()) continue;
    const Meeting pair{std::get<0>(way), std::get<1>(way)};
    pairs.insert(std::minmax(pair.first, pair.second));
    const double least = *std::min_element(own.alone.begin(), own.alone.end());
    const auto times = own.alone.size();
    alone.push_back(median_of(own.alone));
    std::int64_t large = 0;
    beside.insert(beside.end(), own.beside.begin(), own.beside.end());
    for (const double rate : own.without_drop) {
      gains.push_back(std::log(alone.back() / rate));
      large += gains.back() >= std::max(kLargeGain, noise) ? 1 : 0;
    }
    links.slowed += large;
    if (large > 0) slowed.add(pair);
    if (large > 1 && times > 1 && std::log(alone.back() / least) < kGain) again.add(pair);
  }
  links.pairs = static_cast<std::int64_t>(pairs.size());
  links.readings = static_cast<std::int64_t>(gains.size());
  if (gains.empty()) return links;
  links.alone = median_of(alone);
  links.beside = median_of(beside);
  const bool is_usual = median_of(gains) > std::max(kGain, noise / 2) ||
                        static_cast<double>(links.slowed) >= kShare * static_cast<double>(gains.size());
  links.are_shared = (slowed.pairs() >= kPairs && is_usual) || again.pairs() > kPairs;
  return links;
}

Structure structure_with_shared_links(const Sweep& sweep, const VerdictSettings& settings) {
  constexpr double kMostSlow = 0.15;                  // of the readings within groups
  std::vector<char> alone(sweep.readings.size(), 0);  // they are as fast at any distance
  for (std::size_t i = 0; i < alone.size(); ++i) alone[i] = sweep.readings[i].concurrent == 1 ? 1 : 0;
  Structure structure = structure_of(sweep, settings, alone);
  structure.contradiction = {};
  for (const Misplaced& each : structure.misplaced) {  // by readings that may be slow for the load
    structure.levels.front().part_of[static_cast<std::size_t>(each.host)] =
        sweep.leaf_of[static_cast<std::size_t>(each.host)];
  }
  structure.misplaced.clear();
  structure.is_slow_kind.clear();
  const UpperRates rates(sweep, structure, settings.tolerance);
  if (structure.levels.empty()) {
    if (const auto apart = hosts_apart(sweep, rates)) structure.levels.push_back(*apart);
    return structure;
  }
  if (structure.levels.front().is_given) return structure;
  std::int64_t within = 0;
  std::int64_t slow = 0;
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading) || reading.concurrent == 1 || !structure.are_near(reading.from, reading.to)) continue;
    ++within;
    slow += rates.is_reached(reading) ? 0 : 1;
  }
  if (static_cast<double>(slow) > kMostSlow * static_cast<double>(within)) structure.levels.clear();
  return structure;
}

Loaded loaded_readings(const Sweep& sweep, const Structure& structure, double tolerance) {
  constexpr int kLatest = 4;
  const UpperRates rates(sweep, structure, tolerance);
  const bool is_given = !structure.levels.empty() && structure.levels.front().is_given;
  Loaded loaded;
  loaded.readings.assign(sweep.readings.size(), 0);
  loaded.above_usual.assign(sweep.readings.size(), 0);
  loaded.slow_lately.assign(sweep.hosts.size(), 0);
  loaded.never_fast.assign(sweep.hosts.size(), 1);
  std::map<std::tuple<std::int32_t, bool, bool>, int> since;  // by direction of a host: readings since a fast one
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (!has_rate(reading)) continue;
    const bool is_own = reading.concurrent == 1 || (is_given && structure.are_near(reading.from, reading.to));
    const bool is_fast = rates.is_reached(reading);
    loaded.readings[i] = is_own || is_fast ? 0 : 1;
    loaded.above_usual[i] = is_fast && !is_own ? 1 : 0;
    for (const bool receives : {false, true}) {
      int& count = since[{receives ? reading.to : reading.from, receives, reading.both_ways}];
      count = is_fast ? 0 : count + 1;
      if (is_fast) loaded.never_fast[static_cast<std::size_t>(receives ? reading.to : reading.from)] = 0;
    }
  }
  for (const auto& [key, count] : since) {
    if (count >= kLatest) loaded.slow_lately[static_cast<std::size_t>(std::get<0>(key))] = 1;
  }
  return loaded;
}

}  // namespace fabricbench::cluster
