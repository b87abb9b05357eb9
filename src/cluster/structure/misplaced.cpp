#include "cluster/structure/misplaced.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "cluster/robust.h"
#include "cluster/structure/evidence.h"

namespace fabricbench::cluster {
namespace {

/// Minimum number of values to know a host's rate with a leaf.
constexpr std::size_t kFewestOfLeaf = 2;

using ByHost = std::vector<std::vector<float>>;

/// By host, its values with others of its leaf, without partners that are slow with everybody (`is_slow`; empty: none).
ByHost values_within(const ComparisonTable& table, const Nearness& given, const std::vector<char>& is_slow) {
  ByHost within(given.part_of.size());
  for (const Comparison& each : table.values) {
    if (given.common_part(each.first, each.second) < 0) continue;
    const auto first = static_cast<std::size_t>(each.first);
    const auto second = static_cast<std::size_t>(each.second);
    if (is_slow.empty() || is_slow[second] == 0) within[first].push_back(each.value);
    if (is_slow.empty() || is_slow[first] == 0) within[second].push_back(each.value);
  }
  return within;
}

/// By host, whether it is slower than `least` with all partners: then its values are no evidence on leaves.
std::vector<char> slow_with_all(const ComparisonTable& table, std::size_t hosts, double least) {
  std::vector<std::map<std::int32_t, std::vector<float>>> by_partner(hosts);
  for (const Comparison& each : table.values) {
    by_partner[static_cast<std::size_t>(each.first)][each.second].push_back(each.value);
    by_partner[static_cast<std::size_t>(each.second)][each.first].push_back(each.value);
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
std::optional<double> usual_within(const ComparisonTable& table, const Nearness& given, ByHost& within,
                                   const SplitSettings& settings) {
  std::vector<float> medians;
  for (std::vector<float>& own : within) {
    if (!own.empty()) medians.push_back(median_of(own));
  }
  std::vector<float> across;
  for (const Comparison& each : table.values) {
    const std::int32_t first = given.part_of[static_cast<std::size_t>(each.first)];
    const std::int32_t second = given.part_of[static_cast<std::size_t>(each.second)];
    if (first >= 0 && second >= 0 && first != second) across.push_back(each.value);
  }
  if (medians.empty() || across.empty()) return std::nullopt;
  // With few hosts, misplaced ones and their partners are more than half.
  const double usual = quantile(medians, 0.75);
  return median_of(across) < usual - settings.depth ? std::optional(usual) : std::nullopt;
}

/// For hosts whose leaf has no other hosts than slow ones, adds the values with other leaves to `own`, in the place of
/// the missing ones. `within`: values within leaves, also with slow hosts.
void take_across_of_lone(const ComparisonTable& table, const Nearness& given, const std::vector<char>& is_slow,
                         const ByHost& within, ByHost& own) {
  std::vector<char> lone(own.size(), 0);
  for (std::size_t host = 0; host < own.size(); ++host) {
    lone[host] = is_slow[host] == 0 && !within[host].empty() && own[host].empty() ? 1 : 0;
  }
  for (const Comparison& each : table.values) {
    for (const auto& [host, other] : {std::pair{each.first, each.second}, std::pair{each.second, each.first}}) {
      const bool counts = lone[static_cast<std::size_t>(host)] != 0 && is_slow[static_cast<std::size_t>(other)] == 0 &&
                          given.part_of[static_cast<std::size_t>(other)] >= 0;
      if (counts) own[static_cast<std::size_t>(host)].push_back(each.value);
    }
  }
}

std::optional<Move> farthest_off(const ComparisonTable& table, const SplitSettings& settings, const Nearness& given) {
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
    const std::int32_t leaf = given.part_of[static_cast<std::size_t>(other)];
    const auto found = elsewhere.find(host);
    if (found == elsewhere.end() || leaf < 0 || leaf == given.part_of[static_cast<std::size_t>(host)]) return;
    if (is_slow[static_cast<std::size_t>(other)] != 0) return;
    found->second[leaf][other].push_back(value);
  };
  for (const Comparison& each : table.values) {
    add(each.first, each.second, each.value);
    add(each.second, each.first, each.value);
  }
  std::optional<Move> most;
  for (auto& [host, leaves] : elsewhere) {
    const std::optional<Move> move = move_of(host, own[static_cast<std::size_t>(host)], leaves, *usual, settings);
    if (move && (!most || move->gain > most->gain)) most = move;
  }
  return most;
}

}  // namespace

std::vector<Misplaced> correct_locality(const ComparisonTable& table, const SplitSettings& settings, Nearness& given) {
  const std::vector<std::int32_t> as_given = given.part_of;
  std::vector<Misplaced> misplaced;
  while (const std::optional<Move> move = farthest_off(table, settings, given)) {
    misplaced.push_back(move->to);
    given.part_of[static_cast<std::size_t>(move->to.host)] = move->to.leaf;
    if (4 * misplaced.size() <= as_given.size()) continue;
    given.part_of = as_given;
    return {};
  }
  return misplaced;
}

}  // namespace fabricbench::cluster
