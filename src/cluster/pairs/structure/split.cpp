#include "cluster/pairs/structure/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/structure/clustering.h"

namespace fabricbench::cluster {
namespace {

/// Scales: values farther below the expected one count as if they were at this distance, since other traffic or a bad
/// path can slow any reading. Above, the limit is higher: nothing makes a reading faster than its hosts and links are.
constexpr double kFarthestBelow = 3;
constexpr double kMostLossBelow = kFarthestBelow * kFarthestBelow / 2;
/// Nats: a split has to be a thousand times likelier than one level.
constexpr double kWorthwhile = 7;
constexpr std::size_t kMostThresholds = 10;
/// Minimum share of fast values with a part so that a single node joins it.
constexpr double kShareOfMember = 0.34;
/// A node may be apart if a larger share of its values is below the threshold.
constexpr double kShareApart = 0.4;
/// Minimum share of fast pairs of a part.
constexpr double kShareFastWithin = 0.6;
constexpr double kShareFastOfTwo = 0.5;
constexpr int kRefinements = 3;
/// Scales: for levels so far apart, any threshold between them will do.
constexpr double kFarApart = 10;

double most_loss_above(const SplitSettings& settings) { return settings.farthest_above * settings.farthest_above / 2; }

/// The loss of a value at this distance from the expected one.
double loss(double distance, const SplitSettings& settings) {
  const double scales = distance / settings.scale;
  return std::min(scales * scales / 2, distance < 0 ? kMostLossBelow : most_loss_above(settings));
}

/// Two levels, and the threshold between them.
struct Threshold {
  double threshold = 0;
  double depth = 0;
};

std::vector<float> sorted_values(std::span<const Comparison> values) {
  std::vector<float> sorted;
  sorted.reserve(values.size());
  for (const Comparison& each : values) sorted.push_back(each.value);
  std::ranges::sort(sorted);
  return sorted;
}

/// Thresholds between modes; those that separate most values come first.
std::vector<Threshold> between_modes(const std::vector<float>& sorted, const SplitSettings& settings) {
  std::vector<std::pair<std::size_t, Threshold>> ranked;
  const std::vector<Mode> modes = modes_of(sorted, settings.scale);
  std::size_t below = 0;
  for (std::size_t i = 1; i < modes.size(); ++i) {
    below += modes[i - 1].values;
    const double depth = modes[i].centre - modes[i - 1].centre;
    const std::size_t fewer = std::min(below, sorted.size() - below);
    if (depth >= settings.depth && fewer >= 2) ranked.push_back({fewer, {modes[i].valley_before, depth}});
  }
  std::ranges::stable_sort(ranked, [](const auto& a, const auto& b) { return a.first > b.first; });
  if (ranked.size() > kMostThresholds) ranked.resize(kMostThresholds);
  std::vector<Threshold> levels;
  levels.reserve(ranked.size());
  for (const auto& [fewer, each] : ranked) levels.push_back(each);
  return levels;
}

/// Thresholds at quantiles, for levels so close to each other that their values overlap.
std::vector<Threshold> between_shares(const std::vector<float>& sorted, const SplitSettings& settings) {
  std::vector<Threshold> levels;
  std::vector<double> shares{0.1, 0.25, 0.5, 0.75, 0.9};
  if (settings.few_are_fast) shares.insert(shares.end(), {0.98, 0.995});
  for (const double share : shares) {
    const auto cut = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
    const double depth = sorted[(cut + sorted.size()) / 2] - sorted[cut / 2];
    if (depth >= settings.depth) levels.push_back({sorted[cut], depth});
  }
  return levels;
}

/// The log likelihood ratio of a value: upper level over lower level, limited.
double likelihood_of_upper(double value, const Threshold& levels, const SplitSettings& settings) {
  const double ratio = (value - levels.threshold) * levels.depth / (settings.scale * settings.scale);
  return std::clamp(ratio, -kMostLossBelow, most_loss_above(settings));
}

std::vector<Tie> ties_of(std::span<const Comparison> values, const Threshold& levels, const SplitSettings& settings) {
  std::vector<Tie> ties;
  ties.reserve(values.size());
  for (const Comparison& each : values) {
    const auto weight = static_cast<float>(likelihood_of_upper(each.value, levels, settings));
    const auto [first, second] = std::minmax(each.first, each.second);
    if (!ties.empty() && ties.back().first == first && ties.back().second == second) {
      ties.back().weight += weight;  // both directions of a pair come one after the other
    } else {
      ties.push_back({first, second, weight});
    }
  }
  return ties;
}

/// A number of values, and how many of them are above a threshold.
struct SpeedCount {
  std::int32_t fast = 0;
  std::int32_t all = 0;
};

/// Moves single nodes to the part with which they are fast often enough: one of its NICs or directions may be slow, or
/// it may be slow now and then.
void place_nodes_alone(std::span<const Comparison> values, double threshold, std::vector<std::int32_t>& part_of) {
  const std::vector<std::int32_t> sizes = sizes_of(part_of);
  std::map<std::pair<std::int32_t, std::int32_t>, SpeedCount> counts;  // by node alone and part
  const auto size = [&](std::int32_t node) { return sizes[at(part_of[at(node)])]; };
  for (const Comparison& each : values) {
    for (const auto& [own, other] : {std::pair{each.first, each.second}, std::pair{each.second, each.first}}) {
      if (size(own) > 1 || size(other) < 2) continue;
      SpeedCount& count = counts[{own, part_of[at(other)]}];
      ++count.all;
      count.fast += each.value > threshold ? 1 : 0;
    }
  }
  std::map<std::int32_t, std::pair<double, std::int32_t>>
      best;  // by node: the largest share of fast values, and its part
  for (const auto& [key, count] : counts) {
    const double share = static_cast<double>(count.fast) / count.all;
    auto& known = best[key.first];
    if (share >= kShareOfMember && share > known.first) known = {share, key.second};
  }
  for (const auto& [node, found] : best) {
    if (found.first > 0) part_of[at(node)] = found.second;
  }
  part_of = renumbered(part_of);
}

/// Calls `visit` with the parts of the two nodes of each meeting, and with the value of the faster direction.
template <typename Visit>
void for_each_meeting(std::span<const Comparison> values, const std::vector<std::int32_t>& part_of,
                      const Visit& visit) {
  for (std::size_t i = 0; i < values.size();) {
    const Comparison& each = values[i];
    const bool both = i + 1 < values.size() && values[i + 1].first == each.second && values[i + 1].second == each.first;
    visit(at(part_of[at(each.first)]), at(part_of[at(each.second)]),
          both ? std::max(each.value, values[i + 1].value) : each.value);
    i += both ? 2 : 1;
  }
}

/// By part, the counts of its meetings.
std::vector<SpeedCount> count_within(std::span<const Comparison> values, double threshold,
                                     const std::vector<std::int32_t>& part_of) {
  std::vector<SpeedCount> counts(part_of.size());
  for_each_meeting(values, part_of, [&](std::size_t first, std::size_t second, double value) {
    if (first != second) return;
    ++counts[first].all;
    counts[first].fast += value > threshold ? 1 : 0;
  });
  return counts;
}

/// Whether enough pairs of a part are fast. A chain of fast pairs is no part, since light traffic makes some pairs
/// fast. In a part of two nodes, half of the meetings suffice, since other traffic may have slowed the rest.
bool is_fast_within(const SpeedCount& pairs, std::int32_t size) {
  return pairs.fast >= (size > 2 ? kShareFastWithin : kShareFastOfTwo) * pairs.all;
}

bool are_fast_within(std::span<const Comparison> values, double threshold, const std::vector<std::int32_t>& part_of) {
  const std::vector<SpeedCount> counts = count_within(values, threshold, part_of);
  const std::vector<std::int32_t> sizes = sizes_of(part_of);
  for (std::size_t part = 0; part < sizes.size(); ++part) {
    if (!is_fast_within(counts[part], sizes[part])) return false;
  }
  return true;
}

/// The sizes of the parts of each coarser part.
std::map<std::int32_t, std::vector<std::int32_t>> sizes_by_coarser(const std::vector<std::int32_t>& part_of,
                                                                   const std::vector<std::int32_t>& coarser) {
  const std::vector<std::int32_t> sizes = sizes_of(part_of);
  std::vector<char> is_counted(sizes.size(), 0);
  std::map<std::int32_t, std::vector<std::int32_t>> of_coarser;
  for (std::size_t node = 0; node < part_of.size(); ++node) {
    const auto part = at(part_of[node]);
    const std::int32_t whole = coarser.empty() ? 0 : coarser[node];
    if (whole >= 0 && std::exchange(is_counted[part], 1) == 0) of_coarser[whole].push_back(sizes[part]);
  }
  return of_coarser;
}

/// The description length of a split: the logarithm of the number of ways to split nodes into parts of these sizes,
/// each coarser part by itself.
double description_of(const std::vector<std::int32_t>& part_of, const SplitSettings& settings) {
  const auto of_coarser = sizes_by_coarser(part_of, settings.coarser);
  std::set<std::int32_t> different;
  for (const auto& [whole, sizes] : of_coarser) different.insert(sizes.begin(), sizes.end());
  double directions = 0;
  for (const auto& [whole, sizes] : of_coarser) {
    directions += std::lgamma(std::accumulate(sizes.begin(), sizes.end(), 1.0));
    std::map<std::int32_t, int> alike;
    for (const std::int32_t size : sizes) {
      directions -= std::lgamma(size + 1.0);
      ++alike[size];
    }
    for (const auto& [size, count] : alike) directions -= std::lgamma(count + 1.0);
    // Which sizes the parts of each coarser part have. With a single one, it has all sizes.
    if (of_coarser.size() > 1) directions += static_cast<double>(sizes.size()) * std::log(different.size());
  }
  // The sizes themselves: so many parts, each with a size.
  return directions + static_cast<double>(different.size()) * std::log(static_cast<double>(part_of.size()) + 1);
}

/// The expected values of a model, by place.
using Expected = std::vector<float>;

/// By window, the median residual minus the median over all windows, shrunk by the positive-part estimate of James and
/// Stein.
std::vector<float> drift_of(std::span<const Comparison> values, const Expected& expected, double scale) {
  std::vector<std::vector<float>> left;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto window = at(values[i].window);
    if (window >= left.size()) left.resize(window + 1);
    left[window].push_back(values[i].value - expected[i]);
  }
  std::vector<float> drift(left.size(), 0);
  std::vector<float> medians;
  for (std::size_t window = 0; window < left.size(); ++window) {
    if (left[window].size() < kReadingsOfWindow) continue;
    drift[window] = median_of(left[window]);
    medians.push_back(drift[window]);
  }
  if (medians.size() < 2) return std::vector<float>(left.size(), 0);
  const float centre = median_of(medians);
  const auto variance_of = [&](std::size_t window) {
    return std::pow(kMedianOverMeanError * scale, 2) / static_cast<double>(left[window].size());
  };
  double excess = 0;
  for (std::size_t window = 0; window < left.size(); ++window) {
    if (left[window].size() < kReadingsOfWindow) continue;
    excess += std::pow(drift[window] - centre, 2) - variance_of(window);
  }
  const double between = std::max(excess / static_cast<double>(medians.size()), 0.0);
  for (std::size_t window = 0; window < left.size(); ++window) {
    if (left[window].size() < kReadingsOfWindow) continue;
    drift[window] = static_cast<float>((drift[window] - centre) * between / (between + variance_of(window)));
  }
  return drift;
}

double loss_of(std::span<const Comparison> values, const Expected& expected, const std::vector<float>& drift,
               const SplitSettings& settings) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += loss(values[i].value - expected[i] - drift[at(values[i].window)], settings);
  }
  return sum;
}

constexpr float kNoLevel = std::numeric_limits<float>::infinity();

double median_or(std::vector<float>& values, double otherwise) {
  return values.empty() ? otherwise : static_cast<double>(median_of(values));
}

/// The loss of one level for all values: the lowest over several candidate levels.
double loss_of_one_level(std::span<const Comparison> values, const std::set<double>& places,
                         const SplitSettings& settings) {
  double least = INFINITY;
  for (const double level : places) {
    const Expected expected(values.size(), static_cast<float>(level));
    const std::vector<float> drift = drift_of(values, expected, settings.scale);
    least = std::min(least, loss_of(values, expected, drift, settings));
  }
  return least;
}

/// Values within parts of two nodes or more, between such parts, and of single nodes.
struct Sorted {
  std::vector<float> within;
  std::vector<float> across;
  std::vector<std::vector<float>> alone;  // by node
};

Sorted sort_values(std::span<const Comparison> values, const std::vector<std::int32_t>& part_of,
                   const std::vector<std::int32_t>& sizes) {
  Sorted sorted;
  sorted.alone.resize(part_of.size());
  for (const Comparison& each : values) {
    const std::int32_t first = part_of[at(each.first)];
    const std::int32_t second = part_of[at(each.second)];
    const bool first_alone = sizes[at(first)] == 1;
    const bool second_alone = sizes[at(second)] == 1;
    if (first_alone) sorted.alone[at(each.first)].push_back(each.value);
    if (second_alone) sorted.alone[at(each.second)].push_back(each.value);
    if (first_alone || second_alone) continue;
    (first == second ? sorted.within : sorted.across).push_back(each.value);
  }
  return sorted;
}

/// The split of a partition, with its levels and gain; nothing if it has one part only, or if its parts are as fast
/// across.
std::optional<Split> split_of(std::span<const Comparison> values, std::vector<std::int32_t> part_of,
                              const SplitSettings& settings) {
  const std::vector<std::int32_t> sizes = sizes_of(part_of);
  if (sizes.size() < 2) return std::nullopt;
  Sorted sorted = sort_values(values, part_of, sizes);
  if (sorted.within.empty()) return std::nullopt;
  Split split;
  split.within = median_of(sorted.within);
  std::vector<float> own(part_of.size(), kNoLevel);
  std::vector<float> levels;
  for (std::size_t node = 0; node < own.size(); ++node) {
    if (sorted.alone[node].empty()) continue;
    own[node] = median_of(sorted.alone[node]);
    levels.push_back(own[node]);
  }
  const bool several = !sorted.across.empty();
  split.across = several ? static_cast<double>(median_of(sorted.across)) : median_or(levels, split.within);
  if (split.within - split.across < settings.depth) return std::nullopt;
  const double cost_of_level = std::log(static_cast<double>(values.size())) / 2;
  double numbers = 1;  // that describe the levels
  for (std::size_t node = 0; node < own.size(); ++node) {
    if (own[node] == kNoLevel) continue;
    const double saved = static_cast<double>(sorted.alone[node].size()) * loss(own[node] - split.across, settings);
    if (saved > cost_of_level) {
      ++numbers;
    } else {
      own[node] = static_cast<float>(split.across);
    }
  }
  Expected expected;
  expected.reserve(values.size());
  for (const Comparison& each : values) {
    const auto first = at(each.first);
    const auto second = at(each.second);
    const float alone = std::min(own[first], own[second]);
    const double level = part_of[first] == part_of[second] ? split.within : split.across;
    expected.push_back(alone == kNoLevel ? static_cast<float>(level) : alone);
  }
  std::set<double> places{split.within, split.across};
  if (!levels.empty()) places.insert(median_of(levels));
  const double one = loss_of_one_level(values, places, settings);
  split.drift = drift_of(values, expected, settings.scale);
  const double two = loss_of(values, expected, split.drift, settings);
  split.gain = settings.weight * (one - two) - description_of(part_of, settings) - numbers * cost_of_level;
  split.part_of = std::move(part_of);
  return split;
}

/// Whether any node has a large share of its values below the threshold, as each node of the smaller of two parts has.
bool may_part(std::span<const Comparison> values, std::int32_t nodes, double threshold) {
  std::vector<SpeedCount> counts(at(nodes));
  for (const Comparison& each : values) {
    for (const std::int32_t node : {each.first, each.second}) {
      SpeedCount& count = counts[at(node)];
      ++count.all;
      count.fast += each.value < threshold ? 0 : 1;
    }
  }
  return std::ranges::any_of(counts,
                             [](const SpeedCount& count) { return count.all - count.fast > kShareApart * count.all; });
}

/// By part, whether its meetings support it: they are likelier within a part than between parts, by more than chance
/// gives the best of as many meetings as there are between single nodes.
std::vector<char> supported_parts(std::span<const Comparison> values, const Threshold& levels, const Split& split,
                                  const std::vector<std::int32_t>& sizes, const SplitSettings& settings) {
  std::vector<double> likelihoods(sizes.size(), 0);
  double chances = 0;
  for_each_meeting(values, split.part_of, [&](std::size_t first, std::size_t second, double value) {
    if (first == second) likelihoods[first] += likelihood_of_upper(value, levels, settings);
    if (sizes[first] == 1 && sizes[second] == 1) ++chances;
  });
  std::vector<char> supported;
  supported.reserve(likelihoods.size());
  for (const double likelihood : likelihoods) {
    supported.push_back(chances == 0 || likelihood > 2 * std::log(1 + chances) ? 1 : 0);
  }
  return supported;
}

/// Dissolves parts that are no faster within than across, or that have no values within: of many slow nodes, chance
/// makes some as fast with each other as with the rest.
std::optional<Split> without_slow_parts(std::span<const Comparison> values, std::optional<Split> split,
                                        const SplitSettings& settings) {
  if (!split) return split;
  const Threshold levels = {(split->within + split->across) / 2, split->within - split->across};
  const std::vector<SpeedCount> counts = count_within(values, levels.threshold, split->part_of);
  const std::vector<std::int32_t> sizes = sizes_of(split->part_of);
  const std::vector<char> supported = supported_parts(values, levels, *split, sizes, settings);
  std::vector<std::int32_t> part_of = split->part_of;
  auto parts = static_cast<std::int32_t>(sizes.size());
  for (std::int32_t& part : part_of) {
    const auto place = at(part);
    const bool is_fast = is_fast_within(counts[place], sizes[place]) && counts[place].all > 0 && supported[place] != 0;
    if (sizes[place] > 1 && !is_fast) part = parts++;
  }
  return std::cmp_equal(parts, sizes.size()) ? split : split_of(values, renumbered(part_of), settings);
}

/// Clusters at a threshold, and again at the threshold between the levels that result.
std::optional<Split> split_at(std::span<const Comparison> values, std::int32_t nodes, Threshold levels,
                              const SplitSettings& settings) {
  std::optional<Split> best;
  if (!may_part(values, nodes, levels.threshold)) return best;
  for (int i = 0; i < kRefinements; ++i) {
    std::vector<std::int32_t> part_of = cluster_by(ties_of(values, levels, settings), nodes);
    place_nodes_alone(values, levels.threshold, part_of);
    if ((best && part_of == best->part_of) || !are_fast_within(values, levels.threshold, part_of)) break;
    std::optional<Split> split = without_slow_parts(values, split_of(values, std::move(part_of), settings), settings);
    if (!split) break;
    levels = {(split->within + split->across) / 2, split->within - split->across};
    if (!best || split->gain > best->gain) best = std::move(split);
    if (levels.depth > kFarApart * settings.scale) break;
  }
  return best;
}

/// Dissolves parts of two nodes that are not worth their description: among many pairs chance makes some fast.
Split without_chance_pairs(std::span<const Comparison> values, Split best, const SplitSettings& settings) {
  constexpr int kMostTried = 32;
  const std::vector<std::int32_t> part_of = best.part_of;
  const std::vector<std::int32_t> sizes = sizes_of(part_of);
  int tried = 0;
  for (std::size_t first = 0; first < part_of.size() && tried < kMostTried; ++first) {
    const std::int32_t part = part_of[first];
    const auto second = std::find(part_of.begin() + static_cast<std::ptrdiff_t>(first) + 1, part_of.end(), part);
    if (sizes[at(part)] != 2 || second == part_of.end()) continue;
    ++tried;
    std::vector<std::int32_t> apart = best.part_of;
    apart[first] = 1 + *std::ranges::max_element(apart);
    std::optional<Split> split = split_of(values, renumbered(apart), settings);
    if (split && split->gain > best.gain) best = std::move(*split);
  }
  return best;
}

}  // namespace

std::optional<Split> find_split(std::span<const Comparison> values, std::int32_t nodes, const SplitSettings& settings) {
  if (nodes < 3 || values.size() < 3) return std::nullopt;
  const std::vector<float> sorted = sorted_values(values);
  std::optional<Split> best;
  for (const auto& levels_of : {between_modes, between_shares}) {
    for (const Threshold& levels : levels_of(sorted, settings)) {
      std::optional<Split> split = split_at(values, nodes, levels, settings);
      if (split && (!best || split->gain > best->gain)) best = std::move(split);
    }
    if (best && best->gain >= kWorthwhile && !settings.few_are_fast) return best;
  }
  if (best && settings.few_are_fast) best = without_chance_pairs(values, std::move(*best), settings);
  if (best && best->gain < kWorthwhile) best.reset();
  return best;
}

double gain_of(std::span<const Comparison> values, const std::vector<std::int32_t>& part_of,
               const SplitSettings& settings) {
  const std::optional<Split> split = split_of(values, part_of, settings);
  return split ? split->gain : -std::numeric_limits<double>::infinity();
}

double likelihood_of_one(double value, const Split& split, const SplitSettings& settings) {
  return likelihood_of_upper(value, {(split.within + split.across) / 2, split.within - split.across}, settings);
}

std::vector<float> drift_without_split(std::span<const Comparison> values, const SplitSettings& settings) {
  return drift_of(values, Expected(values.size(), 0), settings.scale);
}

}  // namespace fabricbench::cluster
