#include "cluster/planning/interference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/planning/follow_up_rounds.h"
#include "cluster/robust.h"
#include "cluster/structure/comparison_table.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

constexpr double kLeastRatio = 0.97;  // rate together over rate alone; below it, pairs slow each other
constexpr double kErrors = 3;         // standard errors of the median ratio
constexpr std::int64_t kMostComparisons = 6;

std::int32_t leaf_of(const Sweep& sweep, std::int32_t host) {
  return sweep.leaf_of.empty() ? Sweep::kNoLeaf : sweep.leaf_of[static_cast<std::size_t>(host)];
}

/// Whether both hosts are known to be in one leaf.
bool stays(const Sweep& sweep, const Reading& reading) {
  const std::int32_t leaf = leaf_of(sweep, reading.from);
  return leaf != Sweep::kNoLeaf && leaf == leaf_of(sweep, reading.to);
}

/// What comparable readings share: kind, rails, whether of both directions together, and whether within a leaf.
using Likeness = std::tuple<std::int16_t, std::int16_t, std::int16_t, bool, bool>;

Likeness likeness_of(const Sweep& sweep, const Reading& reading) {
  return {reading.kind, reading.from_rail, reading.to_rail, reading.both_ways, stays(sweep, reading)};
}

using Way = std::tuple<std::int32_t, std::int32_t, Likeness>;

Way way_of(const Sweep& sweep, const Reading& reading) {
  return {reading.from, reading.to, likeness_of(sweep, reading)};
}

bool is_alone(const Reading& reading) { return has_rate(reading) && reading.concurrent == 1; }

/// Whether a pair was beside others: more than half of `at_once`, and at most `at_once`.
bool is_beside(std::int32_t concurrent, std::int64_t at_once) {
  return concurrent > 1 && 2 * std::int64_t{concurrent} > at_once && concurrent <= at_once;
}

bool is_beside(const Reading& reading, std::int64_t at_once) {
  return has_rate(reading) && is_beside(reading.concurrent, at_once);
}

using ByWay = std::map<Way, std::vector<const Reading*>>;

/// The readings of pairs alone, by way.
ByWay readings_alone(const Sweep& sweep) {
  ByWay readings;
  for (const Reading& reading : sweep.readings) {
    if (is_alone(reading)) readings[way_of(sweep, reading)].push_back(&reading);
  }
  return readings;
}

/// The reading nearest in time, since the usual rate may drift.
const Reading& nearest_in_time(const std::vector<const Reading*>& readings, const Reading& to) {
  return **std::min_element(readings.begin(), readings.end(), [&](const Reading* a, const Reading* b) {
    return std::abs(a->round - to.round) < std::abs(b->round - to.round);
  });
}

/// The median rate of one round.
struct RoundMedian {
  std::int32_t round = 0;
  std::int32_t concurrent = 0;
  double rate = 0;
  bool is_drop = false;  ///< everything was slower in it than in the rounds around it
};

/// By likeness, the rounds in the order of time.
using RoundMedians = std::map<Likeness, std::vector<RoundMedian>>;

RoundMedians medians_of_rounds(const Sweep& sweep) {
  std::map<std::tuple<Likeness, std::int32_t, std::int32_t>, std::vector<double>> rates;
  for (const Reading& reading : sweep.readings) {
    if (!has_rate(reading)) continue;
    rates[{likeness_of(sweep, reading), reading.round, reading.concurrent}].push_back(reading.rate);
  }
  RoundMedians medians;
  for (const auto& [key, of_round] : rates) {
    const auto& [likeness, round, concurrent] = key;
    medians[likeness].push_back({round, concurrent, median(of_round)});
  }
  return medians;
}

/// Marks drops among full rounds. Something that slows all rounds, such as interference, is no drop.
void mark_drops(RoundMedians& medians, std::int64_t at_once, double tolerance) {
  for (auto& [likeness, all] : medians) {
    std::vector<RoundMedian*> rounds;
    std::vector<double> rates;
    for (RoundMedian& each : all) {
      if (!is_beside(each.concurrent, at_once)) continue;
      rounds.push_back(&each);
      rates.push_back(each.rate);
    }
    const std::vector<double> usual = medians_about(rates);
    for (std::size_t i = 0; i < rounds.size(); ++i) rounds[i]->is_drop = rates[i] < (1 - tolerance) * usual[i];
  }
}

/// The median of comparable readings in the round of a reading.
const RoundMedian& round_of(const Sweep& sweep, const RoundMedians& medians, const Reading& reading) {
  const std::vector<RoundMedian>& rounds = medians.at(likeness_of(sweep, reading));
  return *std::lower_bound(rounds.begin(), rounds.end(), reading, [](const RoundMedian& each, const Reading& wanted) {
    return std::tie(each.round, each.concurrent) < std::tie(wanted.round, wanted.concurrent);
  });
}

/// The trend of full rounds, per round, as a logarithm: the median over likenesses. It may go on while pairs are
/// measured alone. 0: there are too few full rounds.
double drift_of(const RoundMedians& medians, std::int64_t at_once) {
  std::vector<double> trends;
  for (const auto& [likeness, of_rounds] : medians) {
    std::vector<double> rounds;
    std::vector<double> rates;
    for (const RoundMedian& each : of_rounds) {
      if (!is_beside(each.concurrent, at_once)) continue;
      rounds.push_back(each.round);
      rates.push_back(std::log(each.rate));
    }
    if (rounds.size() > 1) trends.push_back(theil_sen_slope(rounds, rates));
  }
  return trends.empty() ? 0 : median(trends);
}

/// The standard deviation of full rounds, from round to round, as a logarithm, without drift; 0: there are too few.
double scatter_of(const RoundMedians& medians, std::int64_t at_once) {
  constexpr std::size_t kEnough = 2;
  std::vector<double> steps;
  for (const auto& [likeness, of_rounds] : medians) {
    const RoundMedian* last = nullptr;
    for (const RoundMedian& each : of_rounds) {
      if (!is_beside(each.concurrent, at_once) || each.is_drop) continue;
      if (last != nullptr) steps.push_back(std::abs(std::log(each.rate / last->rate)));
      last = &each;
    }
  }
  return steps.size() < kEnough ? 0 : kDeviationsPerMad * median(steps) / std::sqrt(2.0);
}

struct AloneBeside {
  std::vector<double> ratios;         // logarithms of alone over together, a direction each
  std::vector<double> without_drift;  // the same, corrected for the trend
  std::int64_t pairs = 0;
  double of_rounds = 0;           // standard deviation of what all readings of a round share
  std::set<std::int32_t> beside;  // rounds of the readings that were not alone

  [[nodiscard]] double median_ratio() const { return std::exp(median(ratios)); }
  /// Whether pairs alone are faster by more than 3 %, and by more than chance. `scale`: of readings; the observed
  /// scatter of the ratios counts if it is larger.
  [[nodiscard]] bool is_slowed(double scale) const {
    const double centre = median(ratios);
    std::vector<double> distances;
    for (const double ratio : ratios) distances.push_back(std::abs(ratio - centre));
    const double of_pairs = std::max(std::hypot(scale, of_rounds), kDeviationsPerMad * median(distances));
    const double error = kMedianOverMeanError * std::hypot(of_pairs / std::sqrt(static_cast<double>(pairs)),
                                                           of_rounds / std::sqrt(static_cast<double>(beside.size())));
    return std::min(centre, median(without_drift)) > std::max(-std::log(kLeastRatio), kErrors * error);
  }
};

class Comparer {
 public:
  Comparer(const Sweep& sweep, double tolerance) : sweep_(sweep), tolerance_(tolerance), alone_(readings_alone(sweep)) {
    if (has_any()) medians_ = medians_of_rounds(sweep);
  }

  [[nodiscard]] bool has_any() const { return !alone_.empty(); }

  [[nodiscard]] AloneBeside at(std::int64_t at_once) {
    mark_drops(medians_, at_once, tolerance_);
    ByWay together;
    for (const Reading& reading : sweep_.readings) {
      if (!is_beside(reading, at_once) || alone_.count(way_of(sweep_, reading)) == 0) continue;
      const RoundMedian& round = round_of(sweep_, medians_, reading);
      const bool is_usual = !round.is_drop && reading.rate >= (1 - tolerance_) * round.rate;
      if (is_usual) together[way_of(sweep_, reading)].push_back(&reading);
    }
    const double drift = drift_of(medians_, at_once);
    AloneBeside comparison;
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (const auto& [way, beside] : together) {
      for (const Reading* alone : alone_.at(way)) {
        const Reading& nearest = nearest_in_time(beside, *alone);
        comparison.beside.insert(nearest.round);
        comparison.ratios.push_back(std::log(double{alone->rate} / nearest.rate));
        comparison.without_drift.push_back(comparison.ratios.back() - drift * (alone->round - nearest.round));
      }
      pairs.insert(std::minmax(std::get<0>(way), std::get<1>(way)));
    }
    comparison.pairs = static_cast<std::int64_t>(pairs.size());
    comparison.of_rounds = scatter_of(medians_, at_once);
    return comparison;
  }

 private:
  const Sweep& sweep_;
  double tolerance_;
  ByWay alone_;
  RoundMedians medians_;
};

}  // namespace

Interference interference_of(const Sweep& sweep, const SweepPlan& plan, std::int64_t most_at_once) {
  Interference found;
  found.at_once = std::max<std::int64_t>(most_at_once, 1);
  if (found.at_once == 1) return found;
  Comparer comparer(sweep, plan.tolerance);
  const double scale = comparer.has_any() ? scale_of(table_of(sweep, {}), sweep.hosts.size()) : 0;
  while (found.at_once > 1 && comparer.has_any()) {
    const AloneBeside comparison = comparer.at(found.at_once);
    found.compared = comparison.pairs;
    if (comparison.ratios.empty()) break;
    const bool slowed = comparison.is_slowed(scale);
    if (slowed || !found.oversubscribed) found.alone_over_together = comparison.median_ratio();
    if (!slowed) break;
    found.oversubscribed = true;
    found.at_once /= 2;
    found.compared = 0;
  }
  return found;
}

/// The ratio of two readings scatters by sqrt(2) times as much as one, and the mean of n pairs' two directions by
/// 1 / sqrt(2 n) of that; three of these have to fit into 3 %.
std::int64_t comparisons_wanted(double scale) {
  const double wanted = std::ceil(std::pow(3 * scale / (1 - kLeastRatio), 2) - 0.01);
  return std::clamp(static_cast<std::int64_t>(wanted), std::int64_t{1}, kMostComparisons);
}

std::optional<Meeting> pair_to_compare(const Sweep& sweep, const SweepProgress& progress, const Verdict& verdict,
                                       std::int64_t at_once, double tolerance) {
  const std::vector<std::uint8_t> suspects = suspects_of(verdict, sweep.hosts.size());
  const ByWay alone = readings_alone(sweep);
  RoundMedians medians = medians_of_rounds(sweep);
  mark_drops(medians, at_once, tolerance);
  std::int32_t round = -1;
  for (const Reading& reading : sweep.readings) {
    const bool fits = is_beside(reading, at_once) && reading.round > round;
    if (fits && !round_of(sweep, medians, reading).is_drop) round = reading.round;
  }
  std::vector<const Reading*> candidates;
  for (const Reading& reading : sweep.readings) {
    if (reading.round != round || !is_beside(reading, at_once) || alone.count(way_of(sweep, reading)) > 0) continue;
    bool fine = true;
    for (const std::int32_t host : {reading.from, reading.to}) {
      const auto place = static_cast<std::size_t>(host);
      fine = fine && suspects[place] == 0 && progress.left_out[place] == 0;
    }
    if (fine) candidates.push_back(&reading);
  }
  const auto first_stay = std::stable_partition(candidates.begin(), candidates.end(),
                                                [&](const Reading* reading) { return !stays(sweep, *reading); });
  if (first_stay != candidates.begin()) candidates.erase(first_stay, candidates.end());
  if (candidates.empty()) return std::nullopt;
  const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2);
  std::nth_element(candidates.begin(), middle, candidates.end(), [](const Reading* a, const Reading* b) {
    return std::tie(a->rate, a->from, a->to) < std::tie(b->rate, b->from, b->to);
  });
  return Meeting{(*middle)->from, (*middle)->to};
}

}  // namespace fabricbench::cluster
