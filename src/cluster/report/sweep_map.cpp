#include "cluster/report/sweep_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "cluster/hosts/host_fold.h"
#include "common/core/heat_map.h"
#include "common/core/statistics.h"

namespace fabricbench::cluster {
namespace {

constexpr std::size_t kMostDrawnHosts = 64;

constexpr float kNotTaken = std::numeric_limits<float>::quiet_NaN();

/// The places of the hosts in the map, by their number in the sweep.
std::vector<std::size_t> places_of(const Sweep& sweep, std::vector<std::string>& names) {
  names = sweep.hosts;
  std::sort(names.begin(), names.end(), comes_before);
  std::vector<std::size_t> places;
  for (const std::string& host : sweep.hosts) {
    places.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), host) - names.begin()));
  }
  return places;
}

/// All shares of what is usual of one direction of a pair over one pair of rails, with 0 for those that failed.
using Shares = std::map<std::tuple<std::size_t, std::size_t, std::int16_t, std::int16_t>, std::vector<double>>;

Shares shares_of(const Sweep& sweep, const Verdict& verdict, const std::vector<std::size_t>& places) {
  Shares shares;
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (reading.outcome == Outcome::kNotTried) continue;
    const std::size_t from = places[static_cast<std::size_t>(reading.from)];
    const std::size_t to = places[static_cast<std::size_t>(reading.to)];
    double share = 0;
    if (reading.outcome == Outcome::kMeasured) {
      const std::int32_t stratum = verdict.stratum_of.at(i);
      if (stratum < 0) continue;
      share = static_cast<double>(reading.rate) / verdict.strata[static_cast<std::size_t>(stratum)].centre;
    }
    shares[{to, from, reading.from_rail, reading.to_rail}].push_back(share);
    if (reading.both_ways) shares[{from, to, reading.to_rail, reading.from_rail}].push_back(share);
  }
  return shares;
}

}  // namespace

std::string sweep_map(const Sweep& sweep, const Verdict& verdict, bool colour) {
  if (sweep.hosts.size() > kMostDrawnHosts) {
    return fmt::format("# Map: not drawn of more than {} hosts; scripts/plot_sweep.py draws them\n", kMostDrawnHosts);
  }
  const auto largest = std::max_element(verdict.strata.begin(), verdict.strata.end(),
                                        [](const Stratum& a, const Stratum& b) { return a.readings < b.readings; });
  if (largest == verdict.strata.end()) return "# Map: there is no figure to draw\n";
  std::vector<std::string> names;
  const std::vector<std::size_t> places = places_of(sweep, names);
  std::vector<MatrixRow> rows;
  for (std::size_t host = 0; host < names.size(); ++host) {
    rows.push_back({static_cast<int>(host), std::vector<float>(names.size(), kNotTaken)});
  }
  for (auto& [way, shares] : shares_of(sweep, verdict, places)) {
    const auto rate = static_cast<float>(median(shares) * largest->centre);
    float& cell = rows[std::get<0>(way)].bandwidths[std::get<1>(way)];
    cell = std::isnan(cell) ? rate : std::min(cell, rate);
  }
  const HeatMap map = {names, rows, largest->centre, colour};
  return "# Map: a line a host that receives, a column a host that sends\n#\n" + heat_map_lines(map) + "#\n" +
         heat_legend_lines(map);
}

}  // namespace fabricbench::cluster
