#include "cluster/pairs/attribution/links.h"

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

#include "cluster/pairs/attribution/findings.h"
#include "cluster/pairs/attribution/model.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"
#include "common/core/schedule.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

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

/// By round beside others in which everything was slower than in the others: by how much, as a logarithm. Load leaves
/// some pairs as fast as ever, or slows all by more than a busy network does.
std::map<std::int32_t, double> drops_of(const Sweep& sweep, std::int32_t most) {
  std::map<std::int32_t, std::vector<double>> rates;
  for (const Reading& reading : sweep.readings) {
    if (has_rate(reading) && is_beside_others(reading, most))
      rates[reading.round].push_back(std::log(double{reading.rate}));
  }
  std::vector<double> medians;
  std::vector<double> uppers;
  for (auto& [round, own] : rates) {
    uppers.push_back(quantile(own, kFastest));
    medians.push_back(median_of(own));
  }
  if (rates.empty()) return {};
  const double upper = quantile(uppers, 0.5);
  const double median = quantile(medians, 0.5);
  std::map<std::int32_t, double> drops;
  for (auto& [round, own] : rates) {
    const double drop = std::min(median - median_of(own), upper - quantile(own, kFastest));
    drops[round] = std::max(drop, 0.0);
  }
  return drops;
}

std::map<PairWay, AloneAndBeside> alone_and_beside(const Sweep& sweep) {
  std::map<PairWay, AloneAndBeside> directions;
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading) || reading.concurrent != 1) continue;
    AloneAndBeside& own = directions[way_of(reading)];
    own.first_alone = std::min(own.first_alone, reading.round);
    own.alone.push_back(reading.rate);
  }
  if (directions.empty()) return directions;
  const std::int32_t most = most_at_once(sweep);
  const std::map<std::int32_t, double> drops = drops_of(sweep, most);
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading) || !is_beside_others(reading, most)) continue;
    const auto own = directions.find(way_of(reading));
    if (own == directions.end() || reading.round <= own->second.first_alone) continue;
    own->second.beside.push_back(reading.rate);
    own->second.without_drop.push_back(reading.rate * std::exp(drops.at(reading.round)));
  }
  return directions;
}

/// Counts pairs without a host in common.
class HostsOfPairs {
 public:
  void add(const Pair& pair) {
    if (!hosts_.contains(pair.first) && !hosts_.contains(pair.second)) hosts_.insert({pair.first, pair.second});
  }
  [[nodiscard]] std::size_t pairs() const { return hosts_.size() / 2; }

 private:
  std::set<std::int32_t> hosts_;
};

/// Which side of a reading, over which rail, in which kind of readings.
using Side = std::tuple<bool, std::int16_t, std::int16_t, bool>;

Side side_of(const Reading& reading, bool receives) {
  return {receives && !reading.both_ways, receives ? reading.to_rail : reading.from_rail, reading.test,
          reading.both_ways};
}

/// Whether no other pair has a part in a reading: its pair was alone, and is not one of hosts apart and another, or it
/// is in one leaf of a locality or among the hosts apart.
bool is_own(const Reading& reading, const Structure& structure) {
  if (structure.levels.empty()) return reading.concurrent == 1;
  const Level& leaves = structure.levels.front();
  const bool are_apart = leaves.parts == 1;
  const bool is_near = leaves.common_part(reading.from, reading.to) >= 0;
  const bool is_over_uplinks = are_apart && leaves.part_of[at(reading.from)] != leaves.part_of[at(reading.to)];
  return reading.concurrent == 1 ? !is_over_uplinks : is_near && (leaves.is_given || are_apart);
}

/// What hosts reach near each other or alone, by side: the median over hosts of the upper part of their rates.
class UpperRates {
 public:
  UpperRates(const Sweep& sweep, const Structure& structure, double tolerance) : tolerance_(tolerance) {
    std::map<std::pair<Side, std::int32_t>, std::vector<double>> rates;
    for (const Reading& reading : sweep.readings) {
      if (!has_rate(reading) || (!is_own(reading, structure) && !structure.are_near(reading.from, reading.to)))
        continue;
      rates[{side_of(reading, false), reading.from}].push_back(reading.rate);
      rates[{side_of(reading, true), reading.to}].push_back(reading.rate);
    }
    std::map<Side, std::vector<double>> of_hosts;
    for (auto& [key, own] : rates) of_hosts[key.first].push_back(quantile(own, kUpper));
    for (auto& [side, own] : of_hosts) usual_[side] = upper_median(own);
  }

  [[nodiscard]] double tolerance() const { return tolerance_; }
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
double across_of(const Sweep& sweep, const Level& parts) {
  std::array<std::vector<double>, 2> rates;  // across, within
  for (const Reading& reading : sweep.readings) {
    if (has_rate(reading) && reading.concurrent > 1)
      rates.at(parts.common_part(reading.from, reading.to) >= 0 ? 1 : 0).push_back(reading.rate);
  }
  return rates[0].empty() || rates[1].empty() ? 1 : median_of(rates[0]) / median_of(rates[1]);
}

/// A reading beside others, relative to the mean of its round, which met the same load at the same time.
struct OfRound {
  std::int32_t from = 0;
  std::int32_t to = 0;
  double value = 0;  // a logarithm
};

std::vector<OfRound> relative_to_rounds(const Sweep& sweep) {
  std::map<std::tuple<std::int32_t, std::int16_t, std::int16_t, bool>, std::vector<OfRound>> rounds;
  const std::int32_t most = most_at_once(sweep);
  const std::set<std::int32_t> repeated = repeated_rounds(sweep);
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading) || !is_beside_others(reading, most) || repeated.contains(reading.round)) continue;
    rounds[{reading.round, reading.from_rail, reading.test, reading.both_ways}].push_back(
        {reading.from, reading.to, std::log(double{reading.rate})});
  }
  std::vector<OfRound> all;
  for (auto& [key, own] : rounds) {
    double sum = 0;
    for (const OfRound& each : own) sum += each.value;
    for (OfRound& each : own) {
      each.value -= sum / static_cast<double>(own.size());
      all.push_back(each);
    }
  }
  return all;
}

/// By host, the mean of what it sends to or receives from hosts that are not apart.
std::vector<double> means_of(const std::vector<OfRound>& readings, const std::vector<char>& is_apart,
                             Direction direction) {
  std::vector<double> sums(is_apart.size(), 0);
  std::vector<double> counts(is_apart.size(), 0);
  const auto add = [&](std::int32_t host, std::int32_t other, double value) {
    if (is_apart[at(other)] != 0) return;
    sums[at(host)] += value;
    ++counts[at(host)];
  };
  for (const OfRound& each : readings) {
    if (direction != Direction::kReceives) add(each.from, each.to, each.value);
    if (direction != Direction::kSends) add(each.to, each.from, each.value);
  }
  for (std::size_t host = 0; host < sums.size(); ++host) sums[host] /= std::max(counts[host], 1.0);
  return sums;
}

/// Two classes of hosts by their means.
struct Classes {
  static constexpr double kLeastScatter = 0.003;  // a simulator's readings may have no noise
  std::array<std::vector<double>, 2> means;       // of the others, and of those apart
  Classes(const std::vector<double>& by_host, const std::vector<char>& is_apart) {
    for (std::size_t host = 0; host < by_host.size(); ++host)
      means.at(is_apart[host] != 0 ? 1 : 0).push_back(by_host[host]);
  }
  [[nodiscard]] bool are_two() const { return means[1].size() > 1 && 3 * means[1].size() <= all(); }
  [[nodiscard]] std::size_t all() const { return means[0].size() + means[1].size(); }
  [[nodiscard]] double squares(std::size_t of) const {
    double sum = 0;
    for (const double each : means.at(of)) sum += std::pow(each - mean(means.at(of)), 2);
    return sum;
  }
  /// Between the two: midway, or as far from each as its means scatter.
  [[nodiscard]] double limit(bool by_scatter) const {
    if (!by_scatter) return (mean(means[0]) + mean(means[1])) / 2;
    const double scatter = kLeastScatter + std::sqrt(squares(0) / static_cast<double>(means[0].size()));
    const double apart = kLeastScatter + std::sqrt(squares(1) / static_cast<double>(means[1].size()));
    return (mean(means[0]) * apart + mean(means[1]) * scatter) / (scatter + apart);
  }
  /// By how many nats two classes describe the means better than one does, less the choice of the hosts; times how far
  /// the nearest hosts of the two are from each other, as a share of the distance of their centres.
  [[nodiscard]] double gain() const {
    const auto hosts = static_cast<double>(all());
    const auto apart = static_cast<double>(means[1].size());
    const double distance = mean(means[0]) - mean(means[1]);
    const double within = squares(0) + squares(1) + hosts * kLeastScatter * kLeastScatter;
    const double between = apart * (hosts - apart) / hosts * distance * distance;
    const double choices = std::lgamma(hosts + 1) - std::lgamma(apart + 1) - std::lgamma(hosts - apart + 1);
    const double gap = std::ranges::min(means[0]) - std::ranges::max(means[1]);
    return (hosts / 2 * std::log1p(between / within) - choices) * gap / distance;
  }
};

/// The hosts that are slower than the others by one direction: first half-way between the slowest and the fastest, then
/// by what each host has with hosts that are not apart. Empty: no split is stable.
std::vector<char> slower_class(const std::vector<OfRound>& readings, std::size_t hosts, Direction direction,
                               bool by_scatter) {
  constexpr int kMostSteps = 10;
  std::vector<char> is_apart(hosts, 0);
  std::vector<double> means = means_of(readings, is_apart, direction);
  double limit = (std::ranges::min(means) + std::ranges::max(means)) / 2;
  for (int step = 0; step < kMostSteps; ++step) {
    std::vector<char> next;
    next.reserve(hosts);
    for (const double each : means) next.push_back(each < limit ? 1 : 0);
    if (next == is_apart) return is_apart;
    is_apart = std::move(next);
    means = means_of(readings, is_apart, direction);
    const Classes classes(means, is_apart);
    if (classes.means[0].empty() || classes.means[1].empty()) break;
    limit = classes.limit(by_scatter);
  }
  return {};
}

/// Whether hosts in one part reach what others do and what is reached alone, for the most part.
bool are_fast_within(const Sweep& sweep, const Level& parts, const UpperRates& rates) {
  std::vector<double> within;
  std::vector<double> others;
  std::size_t fast = 0;
  for (const Reading& reading : sweep.readings) {
    const bool from = parts.part_of[at(reading.from)] >= 0;
    const bool to = parts.part_of[at(reading.to)] >= 0;
    if (!has_rate(reading) || from != to) continue;
    (from ? within : others).push_back(reading.rate);
    fast += from && rates.is_reached(reading) ? 1 : 0;
  }
  return within.size() > 1 && !others.empty() && 2 * fast > within.size() &&
         median_of(within) >= (1 - rates.tolerance()) * median_of(others);
}

/// Healthy fabrics reach 7, since a schedule's pairs spread unevenly over leaves.
constexpr double kSureGain = 8;

/// Hosts that are slower than all others in the rounds that they share, and fast with each other, as those behind slow
/// uplinks are; the rest are in no part. With a gain below kSureGain they may be others. Nothing: there are none, or
/// more than a third of the hosts.
std::optional<Level> hosts_apart(const Sweep& sweep, const UpperRates& rates) {
  const std::vector<OfRound> readings = relative_to_rounds(sweep);
  if (readings.empty()) return std::nullopt;
  Level found;
  found.parts = 1;
  found.gain = kSureGain / 2;  // one of fifty healthy fabrics has more
  for (const auto& [direction, by_scatter] :
       {std::pair{Direction::kBoth, false}, std::pair{Direction::kBoth, true}, std::pair{Direction::kSends, false},
        std::pair{Direction::kSends, true}, std::pair{Direction::kReceives, false},
        std::pair{Direction::kReceives, true}}) {
    const std::vector<char> is_apart = slower_class(readings, sweep.hosts.size(), direction, by_scatter);
    if (is_apart.empty()) continue;
    const Classes classes(means_of(readings, is_apart, direction), is_apart);
    if (!classes.are_two() || classes.gain() <= found.gain) continue;
    found.gain = classes.gain();
    found.part_of.clear();
    for (const char apart : is_apart) found.part_of.push_back(apart != 0 ? 0 : Level::kNone);
  }
  if (found.part_of.empty()) return std::nullopt;
  if (!are_fast_within(sweep, found, rates)) return std::nullopt;
  found.across = across_of(sweep, found);
  return found;
}

/// Compares pairs alone with the same pairs beside others, later on. Readings beside others count from a pair's first
/// reading alone on only: a pair is measured alone because it was slow, and would seem faster by chance (regression to
/// the mean).
SharedLinks compare_alone(const Sweep& sweep) {
  SharedLinks links;
  std::vector<double> gains;
  std::vector<double> alone;
  std::vector<double> beside;
  std::int64_t slow_alone = 0;
  std::int64_t all_alone = 0;
  HostsOfPairs slowed;
  HostsOfPairs again;  // slowed for the most part, twice or more, and never slow alone
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  std::map<PairWay, AloneAndBeside> directions = alone_and_beside(sweep);
  for (auto& [direction, own] : directions) {
    if (own.beside.empty()) continue;
    const Pair pair{std::get<0>(direction), std::get<1>(direction)};
    pairs.insert(std::minmax(pair.first, pair.second));
    const double least = *std::ranges::min_element(own.alone);
    const auto times = own.alone.size();
    alone.push_back(median_of(own.alone));
    std::int64_t large = 0;
    beside.insert(beside.end(), own.beside.begin(), own.beside.end());
    for (const double rate : own.without_drop) {
      gains.push_back(std::log(alone.back() / rate));
      large += gains.back() >= 2 * kLeastLoad ? 1 : 0;
    }
    links.slowed += large;
    const double best = std::max(std::ranges::max(own.alone), std::ranges::max(own.beside));
    slow_alone += std::ranges::count_if(own.alone, [&](double rate) { return std::log(best / rate) > 2 * kLeastLoad; });
    all_alone += std::ssize(own.alone);
    if (large > 0) slowed.add(pair);
    if (large > 1 && 2 * large > std::ssize(own.beside) && times > 1 && std::log(alone.back() / least) < kLeastLoad)
      again.add(pair);
  }
  links.pairs = static_cast<std::int64_t>(pairs.size());
  links.readings = static_cast<std::int64_t>(gains.size());
  if (gains.empty()) return links;
  links.alone = median_of(alone);
  links.beside = median_of(beside);
  const bool is_usual = median_of(gains) > kLeastLoad ||
                        static_cast<double>(links.slowed) >= (1 - kMost) * static_cast<double>(gains.size());
  // What is slow alone half as often is slow for another reason.
  const bool is_load = 2 * slow_alone * links.readings <= links.slowed * all_alone;
  links.are_shared = is_load && ((slowed.pairs() >= kMoreThanOne && is_usual) || again.pairs() >= kMoreThanOne);
  return links;
}

}  // namespace

std::set<std::int32_t> repeated_rounds(const Sweep& sweep) {
  std::map<std::int32_t, std::uint64_t> sums;  // by round: of a number for each pair, as SplitMix64 makes it
  for (const Reading& reading : sweep.readings) {
    if (reading.concurrent < 2) continue;
    const auto [low, high] = std::minmax(reading.from, reading.to);
    std::uint64_t of_pair = static_cast<std::uint64_t>(low) << 32U | static_cast<std::uint64_t>(high);
    of_pair = (of_pair ^ (of_pair >> 30U)) * 0xbf58476d1ce4e5b9U;
    of_pair = (of_pair ^ (of_pair >> 27U)) * 0x94d049bb133111ebU;
    sums[reading.round] += of_pair ^ (of_pair >> 31U);
  }
  std::set<std::uint64_t> known;
  std::set<std::int32_t> repeated;
  for (const auto& [round, sum] : sums) {
    if (!known.insert(sum).second) repeated.insert(round);
  }
  return repeated;
}

SharedLinks find_shared_links(const Sweep& sweep, double tolerance) {
  SharedLinks links = compare_alone(sweep);
  if (links.are_shared || !sweep.leaf_of.empty()) return links;
  const auto apart = hosts_apart(sweep, UpperRates(sweep, Structure{}, tolerance));
  if (!apart || apart->gain < kSureGain) return links;
  std::array<std::vector<double>, 2> rates;  // between hosts apart and others: beside others, alone
  for (const Reading& reading : sweep.readings) {
    const bool is_across = apart->part_of[at(reading.from)] != apart->part_of[at(reading.to)];
    if (has_rate(reading) && is_across) rates.at(reading.concurrent == 1 ? 1 : 0).push_back(reading.rate);
  }
  links.are_shared = !rates[1].empty() && median_of(rates[0]) < (1 - kLeastLoad) * median_of(rates[1]);
  return links;
}

Structure structure_with_shared_links(const Sweep& sweep, const VerdictSettings& settings) {
  std::vector<char> alone(sweep.readings.size(), 0);  // they are as fast at any distance
  for (std::size_t i = 0; i < alone.size(); ++i) alone[i] = sweep.readings[i].concurrent == 1 ? 1 : 0;
  Structure structure = structure_of(sweep, settings, alone);
  structure.contradiction = {};
  for (const Misplaced& each : structure.misplaced) {  // by readings that may be slow for the load
    structure.levels.front().part_of[at(each.host)] = sweep.leaf_of[at(each.host)];
  }
  structure.misplaced.clear();
  structure.is_unplaced.clear();
  std::ranges::fill(structure.is_alone, 0);
  structure.is_slow_kind.clear();
  if (!structure.levels.empty() && structure.levels.front().is_given) return structure;
  const UpperRates rates(sweep, structure, settings.tolerance);
  if (const auto apart = hosts_apart(sweep, rates)) {
    if (apart->gain >= kSureGain) {
      structure.levels.assign(1, *apart);
      return structure;
    }
    for (std::size_t host = 0; host < apart->part_of.size(); ++host) {
      if (apart->part_of[host] == 0) structure.may_be_slow_leaf.push_back(static_cast<std::int32_t>(host));
    }
  }
  std::int64_t within = 0;
  std::int64_t slow = 0;
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading) || reading.concurrent == 1 || !structure.are_near(reading.from, reading.to)) continue;
    ++within;
    slow += rates.is_reached(reading) ? 0 : 1;
  }
  if (static_cast<double>(slow) > kExceptions * static_cast<double>(within)) structure.levels.clear();
  return structure;
}

Loaded loaded_readings(const Sweep& sweep, const Structure& structure, double tolerance) {
  const UpperRates rates(sweep, structure, tolerance);
  Loaded loaded;
  loaded.readings.assign(sweep.readings.size(), 0);
  loaded.above_usual.assign(sweep.readings.size(), 0);
  loaded.slow_lately.assign(sweep.hosts.size(), 0);
  loaded.never_fast.assign(sweep.hosts.size(), 1);
  std::map<std::tuple<std::int32_t, bool, bool>, int> since;  // by direction of a host: readings since a fast one
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (!has_rate(reading)) continue;
    const bool is_fast = rates.is_reached(reading);
    const bool own = is_own(reading, structure);
    loaded.readings[i] = own || is_fast ? 0 : 1;
    loaded.above_usual[i] = is_fast && !own ? 1 : 0;
    for (const bool receives : {false, true}) {
      int& count = since[{receives ? reading.to : reading.from, receives, reading.both_ways}];
      count = is_fast ? 0 : count + 1;
      if (is_fast) loaded.never_fast[at(receives ? reading.to : reading.from)] = 0;
    }
  }
  for (const auto& [key, count] : since) {
    if (count >= kFew) loaded.slow_lately[at(std::get<0>(key))] = 1;
  }
  return loaded;
}

}  // namespace fabricbench::cluster
