#include "cluster/pairs/structure/comparison_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "cluster/pairs/thresholds.h"

namespace fabricbench::cluster {
namespace {

/// Minimum scale.
constexpr double kLeastScale = 0.01;
constexpr std::size_t kEnoughDifferences = 8;
constexpr std::size_t kMostDifferences = 4096;

/// Replaces rounds in Comparison::window by windows of time. A window has as few rounds as contain enough values: a
/// moment in which the network is slow affects all pairs of a round, and looks like groups of hosts.
void make_windows(ComparisonTable& table) {
  std::map<std::int32_t, std::int32_t> windows;  // by round
  std::int32_t last = -1;
  for (const Comparison& each : table.values) {
    if (std::exchange(last, each.window) != each.window) windows[each.window] = 0;
  }
  const std::size_t values = std::max<std::size_t>(table.values.size(), 1);
  const auto length = static_cast<std::int32_t>((kReadingsOfWindow * windows.size() + values - 1) / values);
  std::int32_t place = 0;
  for (auto& [round, window] : windows) window = place++ / std::max(length, 1);
  auto at = windows.end();
  for (Comparison& each : table.values) {
    if (at == windows.end() || at->first != each.window) at = windows.find(each.window);
    each.window = at->second;
  }
}

/// The values, by place, of pairs that were measured in several windows, pair after pair.
struct Repeated {
  std::vector<std::size_t> places;
  std::vector<std::size_t> begins;  ///< of each pair in `places`, and one more at the end
};

/// `wanted`: by window.
Repeated repeated_pairs(const ComparisonTable& table, const std::vector<char>& wanted) {
  struct Place {
    std::uint64_t pair = 0;
    std::int32_t kind = 0;
    std::uint32_t place = 0;
    bool operator<(const Place& other) const {
      return std::tie(pair, kind, place) < std::tie(other.pair, other.kind, other.place);
    }
    [[nodiscard]] bool is_alike(const Place& other) const { return pair == other.pair && kind == other.kind; }
  };
  std::vector<Place> order;
  order.reserve(table.values.size());
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const Comparison& each = table.values[i];
    if (wanted[at(each.window)] == 0) continue;
    const std::uint64_t pair =
        (std::uint64_t{static_cast<std::uint32_t>(each.first)} << 32) | static_cast<std::uint32_t>(each.second);
    order.push_back({pair, table.kinds[i], static_cast<std::uint32_t>(i)});
  }
  std::sort(order.begin(), order.end());
  Repeated repeated;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    bool at_several_times = false;
    const std::int32_t window = table.values[order[begin].place].window;
    for (end = begin; end < order.size() && order[end].is_alike(order[begin]); ++end) {
      at_several_times = at_several_times || table.values[order[end].place].window != window;
    }
    if (!at_several_times) continue;
    repeated.begins.push_back(repeated.places.size());
    for (std::size_t i = begin; i < end; ++i) repeated.places.push_back(order[i].place);
  }
  repeated.begins.push_back(repeated.places.size());
  return repeated;
}

std::size_t windows_of(const ComparisonTable& table) {
  std::int32_t last = -1;
  for (const Comparison& each : table.values) last = std::max(last, each.window);
  return at(last) + 1;
}

/// Repeated pairs, only from windows in which they have half of the values or more. In other windows pairs were
/// measured again because they were slow.
Repeated repeated_in_whole_windows(const ComparisonTable& table) {
  constexpr int kMostLooks = 10;  // each pass removes windows, after which others may no longer qualify
  std::vector<char> wanted(windows_of(table), 1);
  Repeated repeated;
  for (int look = 0; look < kMostLooks; ++look) {
    repeated = repeated_pairs(table, wanted);
    if (repeated.places.empty()) return repeated;
    std::vector<std::int64_t> surplus(wanted.size(), 0);  // twice the values of repeated pairs, minus all values
    for (const Comparison& each : table.values) --surplus[at(each.window)];
    for (const std::size_t place : repeated.places) surplus[at(table.values[place].window)] += 2;
    bool are_all_whole = true;
    for (std::size_t window = 0; window < wanted.size(); ++window) {
      if (wanted[window] == 0 || surplus[window] >= 0) continue;
      wanted[window] = 0;
      are_all_whole = false;
    }
    if (are_all_whole) return repeated;
  }
  return repeated_pairs(table, wanted);
}

/// By kind of values, the upper median of the hosts' upper medians, which is robust if many hosts are slow. Between
/// parts, each part counts once. `part_of`: by host.
std::vector<float> centres_of(const ComparisonTable& table, const std::vector<std::int32_t>& part_of) {
  constexpr std::int32_t kWithin = std::numeric_limits<std::int32_t>::min();  // in the place of a partner's part
  struct OfKind {
    std::int32_t kind = 0;
    OfPart value;
  };
  std::vector<std::vector<OfKind>> by_host(part_of.size());
  for (std::vector<OfKind>& own : by_host) own.reserve(2 * table.values.size() / by_host.size() + 1);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const auto first = at(table.values[i].first);
    const auto second = at(table.values[i].second);
    const bool is_within = part_of[first] == part_of[second];
    const float value = table.values[i].value;
    by_host[first].push_back({table.kinds[i], {is_within ? kWithin : part_of[second], value}});
    by_host[second].push_back({table.kinds[i], {is_within ? kWithin : part_of[first], value}});
  }
  const auto kinds = at(table.number_of_kinds);
  std::vector<std::vector<OfPart>> medians(kinds);
  std::vector<std::vector<OfPart>> own(kinds);
  for (std::size_t host = 0; host < by_host.size(); ++host) {
    for (const auto& [kind, value] : by_host[host]) own[at(kind)].push_back(value);
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      if (own[kind].empty()) continue;
      const std::int32_t part = own[kind].front().part == kWithin ? kWithin : part_of[host];
      medians[kind].push_back({part, upper_median_of_parts(own[kind])});
      own[kind].clear();
    }
  }
  std::vector<float> centres;
  centres.reserve(medians.size());
  for (std::vector<OfPart>& of_hosts : medians) {
    centres.push_back(of_hosts.empty() ? 0 : upper_median_of_parts(of_hosts));
  }
  return centres;
}

/// Subtracts from each value the centre of its kind.
void subtract(const std::vector<float>& centres, ComparisonTable& table) {
  for (std::size_t i = 0; i < table.values.size(); ++i) table.values[i].value -= centres[at(table.kinds[i])];
}

/// The shortest interval that holds two fifths of normal values is 1.05 standard deviations wide.
double scale_within_hosts(const ComparisonTable& table, std::size_t hosts) {
  std::vector<std::vector<float>> values(hosts);
  for (const Comparison& each : table.values) {
    values[at(each.first)].push_back(each.value);
    values[at(each.second)].push_back(each.value);
  }
  std::vector<double> widths;
  for (std::vector<float>& own : values) {
    if (own.size() < 3) continue;
    std::ranges::sort(own);
    const std::size_t held = std::max<std::size_t>(1, 2 * own.size() / 5);
    double narrowest = INFINITY;
    for (std::size_t i = 0; i + held < own.size(); ++i) narrowest = std::min<double>(narrowest, own[i + held] - own[i]);
    widths.push_back(narrowest / 1.05);
  }
  return widths.empty() ? kLeastScale : median_of(widths);
}

/// A kind without its rails.
std::pair<std::int16_t, bool> without_rails(const Setting& kind) { return {std::get<0>(kind), std::get<3>(kind)}; }

/// By kind of values, the mean value of each pair of hosts.
using MeansOfPairs = std::vector<std::map<std::pair<std::int32_t, std::int32_t>, double>>;

MeansOfPairs means_of_pairs(const ComparisonTable& table) {
  MeansOfPairs means(at(table.number_of_kinds));
  std::vector<std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t>> counts(means.size());
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const auto kind = at(table.kinds[i]);
    const std::pair pair(table.values[i].first, table.values[i].second);
    double& mean = means[kind][pair];
    mean += (table.values[i].value - mean) / ++counts[kind][pair];
  }
  return means;
}

/// Merges rails that were measured with the same pairs, after subtracting each rail's median difference from the first
/// rail over these pairs. Many slow hosts do not look like a slow rail then.
void join_rails(const std::map<Setting, std::int32_t>& kinds, ComparisonTable& table) {
  constexpr std::size_t kEnoughPairs = 8;
  std::map<std::pair<std::int16_t, bool>, std::int32_t> first;  // of those that differ in rails alone
  bool any = false;
  for (const auto& [kind, number] : kinds) any = !first.try_emplace(without_rails(kind), number).second || any;
  if (!any) return;
  const MeansOfPairs means = means_of_pairs(table);
  std::vector<double> more(means.size(), 0);
  std::vector<std::int32_t> joined(means.size());
  for (const auto& [kind, number] : kinds) {
    const auto place = at(number);
    joined[place] = number;
    const std::int32_t with = first.at(without_rails(kind));
    std::vector<double> differences;
    for (const auto& [pair, mean] : means[place]) {
      const auto other = means[at(with)].find(pair);
      if (other != means[at(with)].end()) differences.push_back(mean - other->second);
    }
    if (with == number || differences.size() < kEnoughPairs) continue;
    more[place] = median_of(differences);
    joined[place] = with;
  }
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const auto kind = at(table.kinds[i]);
    table.values[i].value -= static_cast<float>(more[kind]);
    table.kinds[i] = joined[kind];
  }
}

/// By place, whether a reading was taken under light load.
std::vector<char> lightly_loaded_readings(const Sweep& sweep) {
  std::int32_t most = 0;
  for (const Reading& reading : sweep.readings) {
    if (has_rate(reading)) most = std::max(most, reading.concurrent);
  }
  std::vector<char> light;
  for (const Reading& each : sweep.readings) {
    light.push_back(has_rate(each) && is_lightly_loaded(each.concurrent, most) ? 1 : 0);
  }
  return light;
}

/// By flow with readings under light load: its maximum rate under full load; 0: there is none.
std::map<PairWay, float> full_rates(const Sweep& sweep, const std::vector<char>& light) {
  std::map<PairWay, float> rates;
  for (std::size_t place = 0; place < light.size(); ++place) {
    if (light[place] != 0) rates[way_of(sweep.readings[place])] = 0;
  }
  if (rates.empty()) return rates;
  for (std::size_t place = 0; place < light.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    if (light[place] != 0 || !has_rate(reading)) continue;
    const auto at = rates.find(way_of(reading));
    if (at != rates.end()) at->second = std::max(at->second, reading.rate);
  }
  return rates;
}

/// Keeps in `light` only the readings to be left out. If pairs are hardly faster under light load, flows without a
/// reading under full load are not left out.
void keep_left_out(const Sweep& sweep, std::vector<char>& light) {
  const std::map<PairWay, float> rates = full_rates(sweep, light);
  std::vector<double> gains;
  for (std::size_t place = 0; place < light.size(); ++place) {
    if (light[place] == 0) continue;
    const float full = rates.at(way_of(sweep.readings[place]));
    if (full > 0) gains.push_back(static_cast<double>(sweep.readings[place].rate) / static_cast<double>(full));
  }
  if (gains.empty() || median_of(gains) > kHardlyFaster) return;
  for (std::size_t place = 0; place < light.size(); ++place) {
    if (light[place] != 0 && rates.at(way_of(sweep.readings[place])) == 0) light[place] = 0;
  }
}

}  // namespace

ComparisonTable table_of(const Sweep& sweep, const std::vector<char>& left_out) {
  std::vector<char> light = lightly_loaded_readings(sweep);
  keep_left_out(sweep, light);
  std::map<Setting, std::int32_t> kinds;
  ComparisonTable table;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    if (!left_out.empty() && left_out[place] != 0) continue;
    const Reading& reading = sweep.readings[place];
    if (!has_rate(reading) || light[place] != 0) continue;
    const auto kind = kinds.try_emplace(setting_of(reading), static_cast<std::int32_t>(kinds.size())).first->second;
    table.values.push_back({reading.from, reading.to, reading.round, static_cast<float>(std::log(reading.rate))});
    table.kinds.push_back(kind);
    table.has_directions = table.has_directions && !reading.both_ways;
  }
  table.number_of_kinds = static_cast<std::int32_t>(kinds.size());
  join_rails(kinds, table);
  make_windows(table);
  return table;
}

void centre(const std::vector<std::int32_t>& part_of, ComparisonTable& table) {
  subtract(centres_of(table, part_of), table);
}

void remove_drift(ComparisonTable& table) {
  constexpr int kSteps = 20;  // for pairs with two values, each step halves the remaining drift
  const Repeated repeated = repeated_in_whole_windows(table);
  std::vector<std::vector<float>> left;  // by window
  std::vector<float> drift;
  std::vector<float> own;
  const auto window_of = [&](std::size_t place) { return at(table.values[place].window); };
  for (const std::size_t place : repeated.places) left.resize(std::max(left.size(), window_of(place) + 1));
  drift.resize(left.size(), 0);
  for (int step = 0; step < kSteps; ++step) {
    for (std::vector<float>& of_window : left) of_window.clear();
    for (std::size_t pair = 0; pair + 1 < repeated.begins.size(); ++pair) {
      own.clear();
      for (std::size_t i = repeated.begins[pair]; i < repeated.begins[pair + 1]; ++i) {
        const std::size_t place = repeated.places[i];
        own.push_back(table.values[place].value - drift[window_of(place)]);
      }
      const float usual = median_of(own);
      for (std::size_t i = repeated.begins[pair]; i < repeated.begins[pair + 1]; ++i) {
        const std::size_t place = repeated.places[i];
        left[window_of(place)].push_back(table.values[place].value - usual);
      }
    }
    for (std::size_t window = 0; window < left.size(); ++window) {
      if (left[window].size() >= kReadingsOfWindow) drift[window] = median_of(left[window]);
    }
  }
  for (Comparison& each : table.values) {
    const auto window = at(each.window);
    if (window < drift.size()) each.value -= drift[window];
  }
}

void centre_within(const std::vector<std::int32_t>& part_of, ComparisonTable& table) {
  ComparisonTable within;
  within.number_of_kinds = table.number_of_kinds;
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    const Comparison& each = table.values[i];
    if (part_of[at(each.first)] != part_of[at(each.second)]) continue;
    within.values.push_back(each);
    within.kinds.push_back(table.kinds[i]);
  }
  subtract(centres_of(within, part_of), table);
}

double scale_of(const ComparisonTable& table, std::size_t hosts) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < table.values.size() && differences.size() < kMostDifferences; ++i) {
    const Comparison& forth = table.values[i - 1];
    const Comparison& back = table.values[i];
    const bool pair = forth.first == back.second && forth.second == back.first && table.kinds[i] == table.kinds[i - 1];
    if (pair) differences.push_back(std::abs(forth.value - back.value));
  }
  const double scale = differences.size() < kEnoughDifferences ? scale_within_hosts(table, hosts)
                                                               : scale_by(differences) / std::sqrt(2.0);
  return std::max(scale, kLeastScale);
}

ComparisonTable slower_directions(const ComparisonTable& table) {
  ComparisonTable slower;
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
  make_windows(slower);
  return slower;
}

}  // namespace fabricbench::cluster
