#include "cluster/planning/interference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "cluster/planning/questions.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

constexpr double kLeastRatio = 0.97;  // together over alone; facts on interference: below it, pairs slow each other
constexpr std::int64_t kMostComparisons = 6;

/// What readings have to have in common to be compared, but for the hosts.
using Likeness = std::tuple<std::int16_t, std::int16_t, std::int16_t, bool>;

Likeness likeness_of(const Reading& reading) {
  return {reading.kind, reading.from_rail, reading.to_rail, reading.both_ways};
}

using Way = std::tuple<std::int32_t, std::int32_t, Likeness>;

Way way_of(const Reading& reading) { return {reading.from, reading.to, likeness_of(reading)}; }

bool is_alone(const Reading& reading) { return reading.outcome == Outcome::kMeasured && reading.concurrent == 1; }

/// Beside more than half of `at_once`, but not beside more than that.
bool is_beside(const Reading& reading, std::int64_t at_once) {
  return reading.outcome == Outcome::kMeasured && reading.concurrent > 1 &&
         2 * std::int64_t{reading.concurrent} > at_once && reading.concurrent <= at_once;
}

/// Rates of all ways that were measured alone, by way.
std::map<Way, std::vector<double>> rates_alone(const Sweep& sweep) {
  std::map<Way, std::vector<double>> rates;
  for (const Reading& reading : sweep.readings) {
    if (is_alone(reading)) rates[way_of(reading)].push_back(reading.rate);
  }
  return rates;
}

struct Comparison {
  std::vector<double> ratios;  // alone over together, a direction each
  std::int64_t pairs = 0;
};

/// Medians of rounds are worked out for the ways that were measured alone, which are few.
class Comparer {
 public:
  Comparer(const Sweep& sweep, double tolerance) : sweep_(sweep), tolerance_(tolerance), alone_(rates_alone(sweep)) {}

  [[nodiscard]] bool has_any() const { return !alone_.empty(); }

  [[nodiscard]] Comparison at(std::int64_t at_once) {
    Comparison comparison;
    std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
    for (const Reading& reading : sweep_.readings) {
      if (!is_beside(reading, at_once)) continue;
      const auto alone = alone_.find(way_of(reading));
      if (alone == alone_.end() || reading.rate < (1 - tolerance_) * usual(reading)) continue;
      comparison.ratios.push_back(median(alone->second) / reading.rate);
      pairs.emplace_back(std::min(reading.from, reading.to), std::max(reading.from, reading.to));
    }
    std::sort(pairs.begin(), pairs.end());
    comparison.pairs = std::unique(pairs.begin(), pairs.end()) - pairs.begin();
    return comparison;
  }

 private:
  /// The median of what is like it in its round.
  double usual(const Reading& of) {
    auto [place, is_new] = medians_.try_emplace({of.round, likeness_of(of)}, 0);
    if (is_new) {
      std::vector<double> rates;
      for (const Reading& reading : sweep_.readings) {
        if (reading.round == of.round && reading.outcome == Outcome::kMeasured &&
            likeness_of(reading) == likeness_of(of)) {
          rates.push_back(reading.rate);
        }
      }
      place->second = median(rates);
    }
    return place->second;
  }

  const Sweep& sweep_;
  double tolerance_;
  std::map<Way, std::vector<double>> alone_;
  std::map<std::pair<std::int32_t, Likeness>, double> medians_;  // by round
};

std::int32_t leaf_of(const Sweep& sweep, std::int32_t host) {
  return sweep.leaf_of.empty() ? Sweep::kNoLeaf : sweep.leaf_of[static_cast<std::size_t>(host)];
}

}  // namespace

Interference interference_of(const Sweep& sweep, const SweepPlan& plan, std::int64_t most_at_once) {
  Interference found;
  found.at_once = std::max<std::int64_t>(most_at_once, 1);
  if (found.at_once == 1) return found;
  Comparer comparer(sweep, plan.tolerance);
  while (found.at_once > 1 && comparer.has_any()) {
    Comparison comparison = comparer.at(found.at_once);
    found.compared = comparison.pairs;
    if (comparison.ratios.empty()) break;
    const double ratio = median(comparison.ratios);
    const bool slowed = ratio > 1 / kLeastRatio;
    if (slowed || !found.oversubscribed) found.alone_over_together = ratio;
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

std::optional<Meeting> pair_to_compare(const Sweep& sweep, const Survey& survey, const Verdict& verdict,
                                       std::int64_t at_once) {
  const std::vector<std::uint8_t> suspects = suspects_of(verdict, sweep.hosts.size());
  const std::map<Way, std::vector<double>> alone = rates_alone(sweep);
  std::int32_t round = -1;
  for (const Reading& reading : sweep.readings) {
    if (is_beside(reading, at_once)) round = std::max(round, reading.round);
  }
  std::vector<const Reading*> candidates;
  for (const Reading& reading : sweep.readings) {
    if (reading.round != round || !is_beside(reading, at_once) || alone.count(way_of(reading)) > 0) continue;
    bool fine = true;
    for (const std::int32_t host : {reading.from, reading.to}) {
      const auto place = static_cast<std::size_t>(host);
      fine = fine && suspects[place] == 0 && survey.left_out[place] == 0;
    }
    if (fine) candidates.push_back(&reading);
  }
  const auto stays = [&](const Reading* reading) {
    const std::int32_t leaf = leaf_of(sweep, reading->from);
    return leaf != Sweep::kNoLeaf && leaf == leaf_of(sweep, reading->to);
  };
  const auto first_stay = std::stable_partition(candidates.begin(), candidates.end(),
                                                [&](const Reading* reading) { return !stays(reading); });
  if (first_stay != candidates.begin()) candidates.erase(first_stay, candidates.end());
  if (candidates.empty()) return std::nullopt;
  const auto middle = candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2);
  std::nth_element(candidates.begin(), middle, candidates.end(), [](const Reading* a, const Reading* b) {
    return std::tie(a->rate, a->from, a->to) < std::tie(b->rate, b->from, b->to);
  });
  return Meeting{(*middle)->from, (*middle)->to};
}

}  // namespace fabricbench::cluster
