#include "cluster/report/map_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/hosts/host_folding.h"
#include "cluster/report/verdict_text.h"
#include "cluster/robust.h"
#include "cluster/structure/likeness.h"
#include "common/core/wording.h"

namespace fabricbench::cluster {
namespace {

/// With fewer readings, the centre of a stratum may be chance.
constexpr std::int64_t kEnoughReadings = 8;

/// The setting of a reading: test and size, both rails, and whether of both directions together.
using Setting = std::tuple<std::int16_t, std::int16_t, std::int16_t, bool>;

Setting setting_of(const Stratum& stratum) {
  return {stratum.kind, stratum.from_rail, stratum.to_rail, stratum.both_ways};
}

Setting setting_of(const Reading& reading) {
  return {reading.kind, reading.from_rail, reading.to_rail, reading.both_ways};
}

/// Whether a stratum says better than another one what is usual: the faster one, if both have enough readings.
bool is_better(const Stratum& stratum, const Stratum& other) {
  const bool are_enough = std::min(stratum.readings, other.readings) >= kEnoughReadings;
  return are_enough ? stratum.centre > other.centre : stratum.readings > other.readings;
}

using Usual = std::map<Setting, Stratum>;

Usual usual_by_setting(const std::vector<Stratum>& strata) {
  Usual usual;
  for (const Stratum& stratum : strata) {
    Stratum& best = usual.try_emplace(setting_of(stratum), stratum).first->second;
    if (is_better(stratum, best)) best = stratum;
  }
  return usual;
}

/// The share of one reading, with its way and rails.
struct Entry {
  std::uint64_t way;
  std::uint32_t rails;
  float share;
};

std::vector<Entry> entries_of(const Sweep& sweep, const Usual& usual) {
  std::vector<Entry> entries;
  entries.reserve(sweep.readings.size());
  const std::uint64_t hosts = sweep.hosts.size();
  const auto add = [&](std::int32_t receiver, std::int32_t sender, std::int16_t from, std::int16_t to, float share) {
    const std::uint64_t way = static_cast<std::uint64_t>(receiver) * hosts + static_cast<std::uint64_t>(sender);
    entries.push_back({way, static_cast<std::uint32_t>(from) << 16U | static_cast<std::uint16_t>(to), share});
  };
  for (const Reading& reading : sweep.readings) {
    const auto of_setting = usual.find(setting_of(reading));
    const bool is_judged =
        has_rate(reading) || reading.outcome == Outcome::kFailed || reading.outcome == Outcome::kWrong;
    if (!is_judged || of_setting == usual.end() || of_setting->second.centre <= 0) continue;
    const double rate = reading.outcome == Outcome::kMeasured ? static_cast<double>(reading.rate) : 0;
    const auto share = static_cast<float>(rate / of_setting->second.centre);
    add(reading.to, reading.from, reading.from_rail, reading.to_rail, share);
    if (reading.both_ways) add(reading.from, reading.to, reading.to_rail, reading.from_rail, share);
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.way, a.rails) < std::tie(b.way, b.rails); });
  return entries;
}

/// By way, the lowest of the medians over its rails.
void fill(const std::vector<Entry>& entries, std::vector<float>& shares) {
  std::vector<float> of_rails;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    of_rails.push_back(entries[i].share);
    const bool more = i + 1 < entries.size() && entries[i + 1].way == entries[i].way;
    if (more && entries[i + 1].rails == entries[i].rails) continue;
    float& share = shares[entries[i].way];
    const float median = median_of(of_rails);
    share = std::isnan(share) ? median : std::min(share, median);
    of_rails.clear();
  }
}

constexpr std::size_t kMostDrawnHosts = 64;

std::vector<MatrixRow> rows_of(const ShareMatrix& matrix) {
  std::vector<MatrixRow> rows;
  for (std::size_t receiver = 0; receiver < matrix.hosts; ++receiver) {
    MatrixRow row{static_cast<int>(receiver), {}};
    for (std::size_t sender = 0; sender < matrix.hosts; ++sender) {
      row.bandwidths.push_back(static_cast<float>(matrix.at(receiver, sender) * matrix.usual));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr std::string_view kMarksInOrder = " ?~!x";

/// Hosts are alike if they differ by less than kAlikePercent, plus kNoisePercent times the relative standard deviation
/// of the noise. Two readings differ by 1.13 standard deviations in the mean; the rest is a margin.
constexpr double kAlikePercent = 3;
constexpr double kNoisePercent = 150;

/// Groups of hosts at one level, in the order of the map.
using Level = std::vector<Group>;

/// The levels of the map, the coarsest first. Kinds of hosts are within groups.
std::vector<Level> levels_of(const Verdict& verdict) {
  std::vector<Level> levels;
  for (auto grouping = verdict.groupings.rbegin(); grouping != verdict.groupings.rend(); ++grouping) {
    levels.push_back(grouping->groups);
    std::sort(levels.back().begin(), levels.back().end(),
              [](const Group& a, const Group& b) { return comes_before(a.name, b.name); });
  }
  if (verdict.kinds) levels.push_back({{"faster", verdict.kinds->fast}, {"slower", verdict.kinds->slow}});
  return levels;
}

/// By host, the place of its group at each level; hosts without a group come last.
using Paths = std::vector<std::vector<std::size_t>>;

Paths paths_of(const std::vector<Level>& levels, std::size_t hosts) {
  Paths paths(hosts);
  for (const Level& level : levels) {
    for (auto& path : paths) path.push_back(level.size());
    for (std::size_t group = 0; group < level.size(); ++group) {
      for (const std::int32_t host : level[group].hosts) paths[static_cast<std::size_t>(host)].back() = group;
    }
  }
  return paths;
}

constexpr auto kMarks =
    std::to_array<std::pair<std::vector<std::string> HostLists::*, char>>({{&HostLists::suspect, kSuspectMark},
                                                                           {&HostLists::unsteady, kUnsteadyMark},
                                                                           {&HostLists::slow, kSlowMark},
                                                                           {&HostLists::wrong_data, kSlowMark},
                                                                           {&HostLists::cut_off, kDeadMark},
                                                                           {&HostLists::dead, kDeadMark}});

std::string marks_of(const Sweep& sweep, const HostLists& lists) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t host = 0; host < sweep.hosts.size(); ++host) places.emplace(sweep.hosts[host], host);
  std::string marks(sweep.hosts.size(), kNoMark);
  for (const auto& [list, mark] : kMarks) {
    for (const std::string& host : lists.*list) marks[places.at(host)] = mark;
  }
  return marks;
}

/// Natural order, hosts without a mark first.
std::vector<std::int32_t> by_name(const Sweep& sweep, std::string_view marks) {
  std::vector<std::int32_t> hosts(sweep.hosts.size());
  std::iota(hosts.begin(), hosts.end(), 0);
  std::sort(hosts.begin(), hosts.end(), [&](std::int32_t a, std::int32_t b) {
    const auto first = static_cast<std::size_t>(a);
    const auto second = static_cast<std::size_t>(b);
    if (marks[first] == marks[second]) return comes_before(sweep.hosts[first], sweep.hosts[second]);
    return kMarksInOrder.find(marks[first]) < kMarksInOrder.find(marks[second]);
  });
  return hosts;
}

/// The usual relative standard deviation of readings.
double scale_of(const std::vector<Stratum>& strata) {
  const auto largest = std::max_element(strata.begin(), strata.end(),
                                        [](const Stratum& a, const Stratum& b) { return a.readings < b.readings; });
  return largest == strata.end() ? 0 : largest->scale;
}

/// Sorts hosts by likeness, within each run of hosts of the same groups.
void sort_by_likeness(const Sweep& sweep, const Verdict& verdict, const Paths& paths,
                      std::vector<std::int32_t>& hosts) {
  const ShareMatrix matrix = share_matrix(sweep, verdict);
  const Profiles profiles(matrix.shares, matrix.hosts);
  const double alike = kAlikePercent + kNoisePercent * scale_of(verdict.strata);
  const auto path_of = [&](std::int32_t host) -> const auto& { return paths[static_cast<std::size_t>(host)]; };
  for (auto first = hosts.begin(); first != hosts.end();) {
    const auto last =
        std::find_if(first, hosts.end(), [&](std::int32_t host) { return path_of(host) != path_of(*first); });
    const std::vector<std::int32_t> run(first, last);
    first = std::copy_n(in_order_of_likeness(profiles, run, alike).begin(), run.size(), first);
  }
}

/// The blocks of all levels: runs of hosts of one group, and of the same coarser groups.
std::vector<HeatBlock> blocks_of(const std::vector<Level>& levels, const Paths& paths,
                                 const std::vector<std::int32_t>& hosts) {
  std::vector<HeatBlock> blocks;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const auto path_of = [&](std::size_t line) {
      const std::vector<std::size_t>& path = paths[static_cast<std::size_t>(hosts[line])];
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

ShareMatrix share_matrix(const Sweep& sweep, const Verdict& verdict) {
  const Usual usual = usual_by_setting(verdict.strata);
  ShareMatrix matrix;
  matrix.hosts = sweep.hosts.size();
  matrix.shares.assign(matrix.hosts * matrix.hosts, std::numeric_limits<float>::quiet_NaN());
  fill(entries_of(sweep, usual), matrix.shares);
  const auto most = std::max_element(
      usual.begin(), usual.end(), [](const auto& a, const auto& b) { return a.second.readings < b.second.readings; });
  if (most != usual.end()) matrix.usual = most->second.centre;
  return matrix;
}

std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour) {
  if (sweep.hosts.size() > kMostDrawnHosts) {
    return fmt::format("# Map: not drawn for more than {} hosts; fabricbench report draws them\n", kMostDrawnHosts);
  }
  const ShareMatrix matrix = share_matrix(sweep, verdict);
  if (matrix.usual <= 0) return "# Map: there is no figure to draw\n";
  const std::vector<MatrixRow> rows = rows_of(matrix);
  const HeatMap map = {sweep.hosts, rows, matrix.usual, colour, map_layout(sweep, verdict), "usual"};
  std::string text = "# Map: a line for each receiving host, a column for each sending host\n";
  return text + "#\n" + heat_map_lines(map) + "#\n" + heat_legend_lines(map);
}

HeatLayout map_layout(const Sweep& sweep, const Verdict& verdict) {
  const std::vector<Level> levels = levels_of(verdict);
  const Paths paths = paths_of(levels, sweep.hosts.size());
  HeatLayout layout;
  layout.marks = marks_of(sweep, host_lists(sweep, verdict));
  std::vector<std::int32_t> hosts = by_name(sweep, layout.marks);
  std::stable_sort(hosts.begin(), hosts.end(), [&](std::int32_t a, std::int32_t b) {
    return paths[static_cast<std::size_t>(a)] < paths[static_cast<std::size_t>(b)];
  });
  if (sweep.hosts.size() <= kMostCompared) sort_by_likeness(sweep, verdict, paths, hosts);
  layout.blocks = blocks_of(levels, paths, hosts);
  layout.order.assign(hosts.begin(), hosts.end());
  return layout;
}

}  // namespace fabricbench::cluster
