#include "cluster/pairs/report/verdict_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/hosts/host_list.h"
#include "cluster/pairs/robust.h"
#include "cluster/pairs/sets.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// Whether a stratum says better than another one what is usual: the faster one, if both have enough readings.
bool is_better(const Stratum& stratum, const Stratum& other) {
  constexpr std::int64_t kEnoughReadings = 8;  // the centre of fewer may be chance
  const bool are_enough = std::min(stratum.readings, other.readings) >= kEnoughReadings;
  return are_enough ? stratum.centre > other.centre : stratum.readings > other.readings;
}

std::map<Setting, Stratum> usual_by_setting(const std::vector<Stratum>& strata) {
  std::map<Setting, Stratum> usual;
  for (const Stratum& stratum : strata) {
    Stratum& best = usual.try_emplace(setting_of(stratum), stratum).first->second;
    if (is_better(stratum, best)) best = stratum;
  }
  return usual;
}

/// The cells of the map: what each way reached, as a share of what is usual in its setting, times the `reference`.
std::vector<MatrixRow> rows_of_map(const Sweep& sweep, const std::map<Setting, Stratum>& usual, double reference) {
  using Cell = std::tuple<std::int32_t, std::int32_t, Setting>;  // receiver and sender
  std::map<Cell, std::vector<float>> shares;
  for (const Reading& reading : sweep.readings) {
    const auto own = usual.find(setting_of(reading));
    const bool is_judged =
        has_rate(reading) || reading.outcome == Outcome::kFailed || reading.outcome == Outcome::kWrong;
    if (!is_judged || own == usual.end() || own->second.centre <= 0) continue;
    const double rate = reading.outcome == Outcome::kMeasured ? static_cast<double>(reading.rate) : 0;
    const auto share = static_cast<float>(rate / own->second.centre);
    shares[{reading.to, reading.from, own->first}].push_back(share);
    if (reading.both_ways) shares[{reading.from, reading.to, own->first}].push_back(share);
  }
  const std::vector<float> none(sweep.hosts.size(), std::numeric_limits<float>::quiet_NaN());
  std::vector<MatrixRow> rows;
  for (int receiver = 0; std::cmp_less(receiver, sweep.hosts.size()); ++receiver) rows.push_back({receiver, none});
  for (auto& [direction, of_direction] : shares) {
    const auto& [receiver, sender, setting] = direction;
    float& cell = rows[at(receiver)].bandwidths[at(sender)];
    cell = std::fmin(cell,
                     static_cast<float>(median_of(of_direction) * reference));  // of a number and no number, the number
  }
  return rows;
}

constexpr std::string_view kMarksInOrder = " ?~!x";

/// Groups of hosts at one level, in the order of the map.
using MapLevel = std::vector<Group>;

/// The levels of the map, the coarsest first. Kinds of hosts are within groups.
std::vector<MapLevel> levels_of(const Verdict& verdict) {
  std::vector<MapLevel> levels;
  for (auto grouping = verdict.groupings.rbegin(); grouping != verdict.groupings.rend(); ++grouping) {
    levels.push_back(grouping->groups);
    std::ranges::sort(levels.back(), comes_before, &Group::name);
  }
  if (verdict.kinds) levels.push_back({{"faster", verdict.kinds->fast}, {"slower", verdict.kinds->slow}});
  return levels;
}

/// By host, the place of its group at each level; hosts without a group come last.
using Paths = std::vector<std::vector<std::size_t>>;

Paths paths_of(const std::vector<MapLevel>& levels, std::size_t hosts) {
  Paths paths(hosts);
  for (const MapLevel& level : levels) {
    for (auto& path : paths) path.push_back(level.size());
    for (std::size_t group = 0; group < level.size(); ++group) {
      for (const std::int32_t host : level[group].hosts) paths[at(host)].back() = group;
    }
  }
  return paths;
}

/// The blocks of all levels: runs of hosts of one group, and of the same coarser groups.
std::vector<HeatBlock> blocks_of(const std::vector<MapLevel>& levels, const Paths& paths,
                                 const std::vector<std::size_t>& hosts) {
  std::vector<HeatBlock> blocks;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto path_of = [&](std::size_t line) {
      const std::vector<std::size_t>& path = paths[hosts[line]];
      return std::vector(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(level) + 1);
    };
    for (std::size_t first = 0; first < hosts.size();) {
      std::size_t last = first + 1;
      while (last < hosts.size() && path_of(last) == path_of(first)) ++last;
      const std::size_t group = path_of(first).back();
      if (group < levels[level].size()) {
        blocks.push_back({levels[level][group].name, first, last, static_cast<int>(levels.size() - 1 - level)});
      }
      first = last;
    }
  }
  return blocks;
}

}  // namespace

std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour) {
  constexpr std::size_t kMostDrawnHosts = 64;
  if (sweep.hosts.size() > kMostDrawnHosts)
    return fmt::format("# Map: not drawn for more than {} hosts; fabricbench report draws them\n", kMostDrawnHosts);
  const std::map<Setting, Stratum> usual = usual_by_setting(verdict.strata);
  const auto most = std::ranges::max_element(usual, {}, [](const auto& each) { return each.second.readings; });
  if (most == usual.end() || most->second.centre <= 0) return "# Map: there is no figure to draw\n";
  const double reference = most->second.centre;
  const std::vector<MatrixRow> rows = rows_of_map(sweep, usual, reference);
  const HeatMap map = {sweep.hosts, rows, reference, colour, map_layout(sweep, verdict), "usual"};
  const std::string text = "# Map: a line for each receiving host, a column for each sending host\n";
  return text + "#\n" + heat_map_lines(map) + "#\n" + heat_legend_lines(map);
}

HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict) {
  const std::vector<MapLevel> levels = levels_of(verdict);
  const Paths paths = paths_of(levels, sweep.hosts.size());
  HeatLayout layout;
  layout.marks = host_lists(sweep, verdict).marks;
  std::vector<std::size_t> hosts(sweep.hosts.size());
  std::iota(hosts.begin(), hosts.end(), std::size_t{0});
  const auto key = [&](std::size_t host) { return std::tuple(paths[host], kMarksInOrder.find(layout.marks[host])); };
  std::ranges::sort(hosts, [&](std::size_t a, std::size_t b) {
    return key(a) == key(b) ? comes_before(sweep.hosts[a], sweep.hosts[b]) : key(a) < key(b);
  });
  layout.blocks = blocks_of(levels, paths, hosts);
  layout.order = std::move(hosts);
  return layout;
}

}  // namespace fabricbench::cluster
