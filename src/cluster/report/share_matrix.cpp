#include "cluster/report/share_matrix.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "cluster/robust.h"

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

struct Usual {
  double rate = 0;            // bytes per second
  std::int64_t largest = 0;   // readings of its largest stratum
  std::int64_t readings = 0;  // of all its strata
};

/// The usual rate by setting: of its fastest stratum, without strata with few readings.
std::map<Setting, Usual> usual_by_setting(const std::vector<Stratum>& strata) {
  std::map<Setting, Usual> usual;
  for (const Stratum& stratum : strata) {
    Usual& of_setting = usual[setting_of(stratum)];
    of_setting.largest = std::max(of_setting.largest, stratum.readings);
    of_setting.readings += stratum.readings;
  }
  for (const Stratum& stratum : strata) {
    Usual& of_setting = usual[setting_of(stratum)];
    if (stratum.readings < std::min(kEnoughReadings, of_setting.largest)) continue;
    of_setting.rate = std::max(of_setting.rate, stratum.centre);
  }
  return usual;
}

/// The share of one reading, with its way and rails.
struct Entry {
  std::uint64_t way;
  std::uint32_t rails;
  float share;
};

std::vector<Entry> entries_of(const Sweep& sweep, const std::map<Setting, Usual>& usual) {
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
    if (!is_judged || of_setting == usual.end() || of_setting->second.rate <= 0) continue;
    const double rate = reading.outcome == Outcome::kMeasured ? static_cast<double>(reading.rate) : 0;
    const auto share = static_cast<float>(rate / of_setting->second.rate);
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

/// The name of a setting, as in the table of strata.
std::string text_of(const Sweep& sweep, const Setting& setting) {
  const auto& [kind, from_rail, to_rail, both_ways] = setting;
  std::string text = sweep.kinds.empty() ? "readings" : sweep.kinds[static_cast<std::size_t>(kind)];
  const std::string& from = sweep.rails[static_cast<std::size_t>(from_rail)];
  const std::string& to = sweep.rails[static_cast<std::size_t>(to_rail)];
  if (!from.empty() || !to.empty()) text += from == to ? ", rail " + from : fmt::format(", rail {} to {}", from, to);
  return both_ways ? text + ", both directions together" : text;
}

std::vector<std::string> without_figures(const Sweep& sweep, const std::map<Setting, Usual>& usual) {
  std::map<Setting, std::int64_t> failed;
  for (const Reading& reading : sweep.readings) {
    if (!usual.contains(setting_of(reading))) ++failed[setting_of(reading)];
  }
  std::vector<std::string> lines;
  lines.reserve(failed.size());
  for (const auto& [setting, readings] : failed) {
    lines.push_back(fmt::format("{}: {} reading{}, and none has a figure", text_of(sweep, setting), readings,
                                readings == 1 ? "" : "s"));
  }
  return lines;
}

}  // namespace

ShareMatrix share_matrix(const Sweep& sweep, const Verdict& verdict) {
  const std::map<Setting, Usual> usual = usual_by_setting(verdict.strata);
  ShareMatrix matrix;
  matrix.hosts = sweep.hosts.size();
  matrix.shares.assign(matrix.hosts * matrix.hosts, std::numeric_limits<float>::quiet_NaN());
  fill(entries_of(sweep, usual), matrix.shares);
  const auto most = std::max_element(
      usual.begin(), usual.end(), [](const auto& a, const auto& b) { return a.second.readings < b.second.readings; });
  if (most != usual.end()) matrix.usual = most->second.rate;
  matrix.left_out = without_figures(sweep, usual);
  return matrix;
}

}  // namespace fabricbench::cluster
