#include "cluster/attribution/own_rates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/attribution/findings.h"
#include "cluster/robust.h"
#include "common/core/distributions.h"

namespace fabricbench::cluster {
namespace {

/// The part of partners, or of hosts, that decides: robust to three slow ones of ten.
constexpr double kUpper = 0.7;
/// Added to the observed readings: ten good readings do not prove that there are no bad ones.
constexpr double kImaginedOwn = 60;
constexpr double kImaginedSlowOwn = 1;

/// Readings that are comparable: the fields of Stratum before its numbers.
using Alike = std::tuple<std::int16_t, std::int16_t, std::int16_t, bool, bool>;  // kind, rails, both ways, near

/// A reading of a host in one direction over one rail.
struct OwnReading {
  std::int32_t round = 0;
  std::int32_t partner = 0;
  double ratio = 0;     // of the usual rate
  bool is_own = false;  // no other pair has a part in it
  bool is_near = false;
  bool is_slow = false;
  std::int32_t reading = 0;
};

/// One direction of a host over one rail, in readings of one kind.
struct UnitId {
  std::int32_t host = 0;
  std::int16_t kind = 0;
  std::int16_t rail = 0;
  bool both_ways = false;
  bool receives = false;
  [[nodiscard]] auto key() const { return std::tuple(host, kind, rail, both_ways, receives); }
  friend bool operator<(const UnitId& a, const UnitId& b) { return a.key() < b.key(); }
};

/// What is known of one.
struct Unit {
  std::vector<OwnReading> readings;
  std::int64_t own = 0;
  std::int64_t slow = 0;           // of these
  std::int64_t partners = 0;       // of these
  std::int64_t slow_partners = 0;  // by the median of their readings
  double upper = 1;                // the upper part of the partners' medians
  bool is_cleared = false;         // fast twice since its first slow reading
  bool has_near = false;           // it has readings with hosts of its own group
  bool is_slow_near = false;       // and is slow with one of them
  double chance = 1;               // that a healthy unit has as many slow readings
};

class OwnRates {
 public:
  OwnRates(const Sweep& sweep, const Structure& structure, const VerdictSettings& settings, Verdict& verdict)
      : sweep_(sweep), structure_(structure), settings_(settings), verdict_(verdict) {}

  void judge() {
    find_usual();
    find_units();
    find_slow_units();
    if (!are_two_kinds()) report_units();
    report_rails();
    report_paths();
    find_open_hosts();
  }

 private:
  [[nodiscard]] bool stays(const Reading& reading) const { return structure_.are_near(reading.from, reading.to); }
  [[nodiscard]] bool is_given() const { return !structure_.levels.empty() && structure_.levels.front().is_given; }
  [[nodiscard]] bool has_group(std::int32_t host) const {
    if (structure_.levels.empty()) return false;
    const std::vector<std::int32_t>& part_of = structure_.levels.front().part_of;
    const std::int32_t part = part_of[static_cast<std::size_t>(host)];
    return part >= 0 && std::count(part_of.begin(), part_of.end(), part) > settings_.partners;
  }
  [[nodiscard]] bool is_own(const Reading& reading) const { return reading.concurrent == 1 || stays(reading); }
  [[nodiscard]] Alike alike_of(const Reading& reading, bool near) const {
    return {reading.kind, reading.from_rail, reading.to_rail, reading.both_ways, near};
  }
  [[nodiscard]] static UnitId unit_of(const Reading& reading, bool receives) {
    return {receives ? reading.to : reading.from, reading.kind, receives ? reading.to_rail : reading.from_rail,
            reading.both_ways, receives && !reading.both_ways};
  }

  void find_usual();
  void find_units();
  void find_slow_units();
  void look_at(Unit& unit) const;
  [[nodiscard]] bool is_slow(const Unit& unit) const;
  [[nodiscard]] bool are_two_kinds();
  void report_units();
  void report_rails();
  using Path = std::tuple<std::int32_t, std::int32_t, std::int16_t, std::int16_t, std::int16_t, bool>;
  using Paths = std::map<Path, std::vector<const OwnReading*>>;
  [[nodiscard]] Paths own_paths() const;
  [[nodiscard]] Finding finding_of(const Path& path, const std::vector<const OwnReading*>& readings) const;
  void add_path(const Finding& finding);
  void report_paths();
  void find_open_hosts();
  [[nodiscard]] Finding finding_of(const std::vector<const std::pair<const UnitId, Unit>*>& units) const;

  const Sweep& sweep_;
  const Structure& structure_;
  const VerdictSettings& settings_;
  Verdict& verdict_;
  std::map<Alike, double> usual_;  // bytes per second
  std::map<UnitId, Unit> units_;
  std::set<std::int32_t> blamed_;  // hosts
  double slow_share_ = 0;          // of own readings, of units that are not slow
};

/// The usual rate of near hosts, and of hosts of different groups alone: the median over hosts of the upper part of
/// what each reaches. Fills the strata.
void OwnRates::find_usual() {
  std::map<Alike, std::map<std::int32_t, std::vector<double>>> rates;
  for (const Reading& reading : sweep_.readings) {
    if (!has_rate(reading) || !is_own(reading)) continue;
    std::map<std::int32_t, std::vector<double>>& hosts = rates[alike_of(reading, stays(reading))];
    hosts[reading.from].push_back(reading.rate);
    hosts[reading.to].push_back(reading.rate);
  }
  for (auto& [alike, hosts] : rates) {
    std::vector<double> own;
    own.reserve(hosts.size());
    std::int64_t readings = 0;
    for (auto& [host, of_host] : hosts) {
      readings += static_cast<std::int64_t>(of_host.size());
      own.push_back(quantile(of_host, kUpper));
    }
    // The upper part of noisy rates is above what is usual: that is the median of all that come near it.
    const double reached = (1 - 2 * settings_.tolerance) * quantile(own, kUpper);
    std::vector<double> near;
    for (const auto& [host, of_host] : hosts) {
      std::copy_if(of_host.begin(), of_host.end(), std::back_inserter(near),
                   [&](double rate) { return rate >= reached; });
    }
    const double usual = median_of(near);
    std::vector<double> distances;
    distances.reserve(near.size());
    for (const double rate : near) distances.push_back(std::abs(std::log(rate / usual)));
    usual_[alike] = usual;
    Stratum stratum;
    std::tie(stratum.kind, stratum.from_rail, stratum.to_rail, stratum.both_ways, std::ignore) = alike;
    stratum.distance = std::get<4>(alike) || structure_.levels.empty() ? 0 : 1;
    stratum.readings = readings / 2;
    stratum.pairs = Stratum::kPairsOfNorm;
    stratum.centre = usual;
    stratum.scale = std::max(kDeviationsPerMad * median_of(distances), 0.01);
    verdict_.strata.push_back(stratum);
  }
}

void OwnRates::find_units() {
  constexpr double kScales = 3;
  verdict_.usual.assign(sweep_.readings.size(), 0);
  verdict_.stratum_of.assign(sweep_.readings.size(), -1);
  for (std::size_t i = 0; i < sweep_.readings.size(); ++i) {
    const Reading& reading = sweep_.readings[i];
    if (!has_rate(reading)) continue;
    const bool near = stays(reading);
    const auto far = usual_.find(alike_of(reading, false));
    const auto within = usual_.find(alike_of(reading, true));
    const bool far_is_known = far != usual_.end();
    const bool near_is_known = within != usual_.end();
    // A pair alone shows what its hosts can do, unless the path between groups is slower than they are.
    const bool path_is_as_fast =
        !near_is_known || (far_is_known && far->second >= (1 - settings_.tolerance) * within->second);
    const auto& own = near ? within : far;
    if (own == usual_.end()) continue;
    const double best = near_is_known ? std::max(within->second, own->second) : own->second;
    OwnReading each;
    each.round = reading.round;
    each.is_near = near;
    each.ratio = reading.rate / (near || path_is_as_fast ? own->second : best);
    const double scale = verdict_.strata[static_cast<std::size_t>(std::distance(usual_.begin(), own))].scale;
    each.is_slow = each.ratio < 1 - std::max(settings_.tolerance, kScales * scale);
    // Groups in the readings are no evidence against a host: it may be in another one.
    each.is_own = near && reading.concurrent > 1 ? is_given() || !each.is_slow : is_own(reading) && path_is_as_fast;
    each.reading = static_cast<std::int32_t>(i);
    for (const bool receives : {false, true}) {
      each.partner = receives ? reading.from : reading.to;
      units_[unit_of(reading, receives)].readings.push_back(each);
    }
    if (!is_own(reading)) continue;
    verdict_.usual[i] = static_cast<float>(own->second);
    verdict_.stratum_of[i] = static_cast<std::int32_t>(std::distance(usual_.begin(), own));
  }
}

/// Looks at a unit's readings since the first slow one, which may be the beginning of a fault.
void OwnRates::look_at(Unit& unit) const {
  const auto first = std::find_if(unit.readings.begin(), unit.readings.end(),
                                  [](const OwnReading& reading) { return reading.is_own && reading.is_slow; });
  if (first == unit.readings.end()) return;
  std::map<std::int32_t, std::vector<double>> ratios;  // by partner
  std::int64_t fast = 0;
  for (auto reading = first; reading != unit.readings.end(); ++reading) {
    fast += reading->is_slow ? 0 : 1;
    unit.is_slow_near = unit.is_slow_near || (reading->is_slow && reading->is_near);
    if (!reading->is_own) continue;
    ++unit.own;
    unit.slow += reading->is_slow ? 1 : 0;
    ratios[reading->partner].push_back(reading->ratio);
  }
  unit.has_near = std::any_of(unit.readings.begin(), unit.readings.end(),
                              [](const OwnReading& reading) { return reading.is_own && reading.is_near; });
  unit.is_cleared = fast >= 2;
  std::vector<double> medians;
  for (auto& [partner, own] : ratios) {
    medians.push_back(median_of(own));
    unit.slow_partners += medians.back() < 1 - settings_.tolerance ? 1 : 0;
  }
  unit.partners = static_cast<std::int64_t>(medians.size());
  unit.upper = quantile(medians, kUpper);
}

bool OwnRates::is_slow(const Unit& unit) const {
  return unit.upper < 1 - settings_.tolerance && 2 * unit.slow_partners > unit.partners && !unit.is_cleared;
}

/// Looks at all units, and sets how likely chance makes them slow.
void OwnRates::find_slow_units() {
  for (auto& [id, unit] : units_) look_at(unit);
  std::int64_t own = 0;
  std::int64_t slow = 0;
  for (const auto& [id, unit] : units_) {
    if (is_slow(unit)) continue;
    own += unit.own;
    for (const OwnReading& reading : unit.readings) {
      slow += reading.is_own && reading.is_slow && unit.is_cleared ? 1 : 0;
    }
  }
  slow_share_ = (static_cast<double>(slow) + kImaginedSlowOwn) / (static_cast<double>(own) + kImaginedOwn);
  for (auto& [id, unit] : units_) {
    const std::int64_t independent = std::min(unit.slow, 2 * unit.slow_partners);
    unit.chance = std::min(1.0, std::pow(slow_share_, independent) * static_cast<double>(units_.size()));
  }
}

/// The units of one host, as a finding.
Finding OwnRates::finding_of(const std::vector<const std::pair<const UnitId, Unit>*>& units) const {
  Finding finding;
  bool sends = false;
  bool receives = false;
  std::vector<double> ratios;
  std::vector<double> rates;
  finding.hosts = {units.front()->first.host};
  for (const auto* each : units) {
    const auto& [id, unit] = *each;
    sends = sends || !id.receives || id.both_ways;
    receives = receives || id.receives || id.both_ways;
    finding.both_ways = finding.both_ways || id.both_ways;
    PartnerCount count{unit.partners, unit.partners, unit.slow_partners};
    if (!id.receives || id.both_ways) finding.sends = count;
    if (id.receives || id.both_ways) finding.receives = count;
    finding.readings += unit.own;
    finding.slow += unit.slow;
    finding.partners = std::max(finding.partners, unit.partners);
    finding.slow_partners = std::max(finding.slow_partners, unit.slow_partners);
    finding.false_alarm = std::min(finding.false_alarm, unit.chance);
    for (const OwnReading& reading : unit.readings) {
      if (!reading.is_own || !reading.is_slow) continue;
      ratios.push_back(reading.ratio);
      rates.push_back(sweep_.readings[static_cast<std::size_t>(reading.reading)].rate);
    }
  }
  finding.direction = direction_of(sends, receives);
  finding.ratio = median_of(ratios);
  finding.rate = median_of(rates);
  finding.expected = finding.rate / finding.ratio;
  finding.other_way_fine = finding.direction != Direction::kBoth;
  return finding;
}

void OwnRates::report_units() {
  using Entry = std::pair<const UnitId, Unit>;
  std::map<std::int32_t, std::map<std::int16_t, std::vector<const Entry*>>> slow;  // by host and rail
  std::map<std::int32_t, std::set<std::int16_t>> rails;
  for (const Entry& each : units_) {
    rails[each.first.host].insert(each.first.rail);
    if (is_slow(each.second)) slow[each.first.host][each.first.rail].push_back(&each);
  }
  for (const auto& [host, of_rails] : slow) {
    const bool all_rails = of_rails.size() == rails[host].size();
    std::vector<const Entry*> all;
    for (const auto& [rail, units] : of_rails) all.insert(all.end(), units.begin(), units.end());
    std::vector<std::pair<std::int32_t, std::vector<const Entry*>>> reported;  // rail, units
    if (all_rails) {
      reported.emplace_back(-1, all);
    } else {
      for (const auto& [rail, units] : of_rails) reported.emplace_back(rail, units);
    }
    for (const auto& [rail, units] : reported) {
      Finding finding = finding_of(units);
      finding.rail = rail;
      finding.blame = rail < 0 ? Blame::kHost : Blame::kNic;
      finding.other_rails = static_cast<std::int64_t>(rails[host].size()) - 1;
      finding.fine_rails = static_cast<std::int64_t>(rails[host].size() - of_rails.size());
      // What is slow with hosts of other groups only may be slow between the groups.
      const bool needs_near = std::none_of(units.begin(), units.end(), [](const Entry* each) {
        return each->second.is_slow_near || !each->second.has_near;
      });
      const bool is_sure = finding.slow_partners >= settings_.partners && finding.false_alarm < settings_.false_alarm;
      if (needs_near || !is_sure) {
        FollowUp more{.host = host, .readings = 2, .why = "slow near others or alone"};
        if (needs_near || has_group(host)) more.within_level = 0;
        verdict_.follow_ups.push_back(std::move(more));
        continue;
      }
      blamed_.insert(host);
      verdict_.findings.push_back(std::move(finding));
    }
  }
}

/// Whether a third of the hosts or more are slow: then readings cannot tell which kind of hosts is healthy.
bool OwnRates::are_two_kinds() {
  constexpr std::size_t kThird = 3;
  std::set<std::int32_t> slow;
  std::set<std::int32_t> hosts;
  std::vector<double> slow_rates;
  for (const auto& [id, unit] : units_) {
    hosts.insert(id.host);
    if (!is_slow(unit)) continue;
    slow.insert(id.host);
    slow_rates.push_back(unit.upper);
  }
  if (kThird * slow.size() < hosts.size() || slow.size() < 2) return false;
  Kinds kinds;
  for (const std::int32_t host : hosts) (slow.contains(host) ? kinds.slow : kinds.fast).push_back(host);
  kinds.fast_rate = usual_.begin()->second;
  kinds.slow_rate = kinds.fast_rate * median_of(slow_rates);
  const bool expected_is_known = settings_.expected > 0;
  kinds.both_suffice = expected_is_known && kinds.slow_rate >= (1 - settings_.tolerance) * settings_.expected;
  blamed_.insert(slow.begin(), slow.end());
  verdict_.kinds = std::move(kinds);
  return true;
}

/// Rails that are slower than the others for all hosts.
void OwnRates::report_rails() {
  for (const auto& each : usual_) {
    const Alike& alike = each.first;
    const double usual = each.second;
    std::vector<double> others;
    for (const auto& [other, rate] : usual_) {
      const bool is_other_rail = std::get<0>(other) == std::get<0>(alike) && std::get<1>(other) == std::get<2>(other) &&
                                 std::get<3>(other) == std::get<3>(alike) && std::get<4>(other) == std::get<4>(alike);
      if (is_other_rail) others.push_back(rate);
    }
    if (others.size() < 3 || std::get<1>(alike) != std::get<2>(alike)) continue;
    const double expected = median_of(others);
    const bool known = std::any_of(verdict_.findings.begin(), verdict_.findings.end(), [&](const Finding& finding) {
      return finding.blame == Blame::kRail && finding.rail == std::get<1>(alike);
    });
    if (usual >= (1 - settings_.tolerance) * expected || known) continue;
    Finding finding;
    finding.blame = Blame::kRail;
    finding.rail = std::get<1>(alike);
    finding.ratio = usual / expected;
    finding.rate = usual;
    finding.expected = expected;
    const auto hosts = static_cast<std::int64_t>(sweep_.hosts.size());
    finding.partners = hosts;
    finding.sends = {hosts, hosts, hosts};
    finding.false_alarm = 0;
    verdict_.findings.push_back(finding);
  }
}

/// The own readings of paths between hosts that are not to blame.
OwnRates::Paths OwnRates::own_paths() const {
  Paths paths;
  for (const auto& [id, unit] : units_) {
    if (id.receives) continue;
    for (const OwnReading& each : unit.readings) {
      if (!each.is_own || blamed_.contains(id.host) || blamed_.contains(each.partner)) continue;
      const Reading& reading = sweep_.readings[static_cast<std::size_t>(each.reading)];
      if (reading.both_ways && reading.from != id.host) continue;
      paths[{reading.from, reading.to, reading.from_rail, reading.to_rail, reading.kind, reading.both_ways}].push_back(
          &each);
    }
  }
  return paths;
}

Finding OwnRates::finding_of(const Path& path, const std::vector<const OwnReading*>& readings) const {
  const auto& [from, to, from_rail, to_rail, kind, both] = path;
  Finding finding;
  finding.blame = Blame::kPair;
  finding.direction = both ? Direction::kBoth : Direction::kSends;
  finding.both_ways = both;
  finding.hosts = {from, to};
  if (sweep_.rails.size() > 1) finding.rail = from_rail;
  if (from_rail != to_rail) finding.other_rail = to_rail;
  std::vector<double> ratios;
  ratios.reserve(readings.size());
  for (const OwnReading* each : readings) ratios.push_back(each->ratio);
  finding.ratio = median_of(ratios);
  const Reading& first = sweep_.readings[static_cast<std::size_t>(readings.front()->reading)];
  finding.expected = first.rate / readings.front()->ratio;
  finding.rate = finding.expected * finding.ratio;
  finding.readings = finding.slow = std::ssize(readings);
  finding.confirmed = true;
  return finding;
}

/// Adds a path to the findings, or to that on the way back.
void OwnRates::add_path(const Finding& finding) {
  const auto same = std::find_if(verdict_.findings.begin(), verdict_.findings.end(), [&](const Finding& known) {
    return known.blame == Blame::kPair && known.hosts[0] == finding.hosts[1] && known.hosts[1] == finding.hosts[0] &&
           known.rail == (finding.other_rail >= 0 ? finding.other_rail : finding.rail);
  });
  if (same == verdict_.findings.end()) {
    verdict_.findings.push_back(finding);
    return;
  }
  same->direction = Direction::kBoth;
  same->readings += finding.readings;
  same->slow += finding.slow;
}

/// Paths that are slow in each of their own readings, though both hosts are fine.
void OwnRates::report_paths() {
  const Paths paths = own_paths();
  std::int64_t own = 0;
  std::int64_t unexplained = 0;
  for (const auto& [path, readings] : paths) {
    const auto slow = std::count_if(readings.begin(), readings.end(), [](const OwnReading* r) { return r->is_slow; });
    const bool all = std::cmp_equal(slow, readings.size());
    own += std::ssize(readings);
    if (slow == 0) continue;
    const double chance = std::min(1.0, std::pow(slow_share_, slow) * static_cast<double>(paths.size()));
    if (!all) {
      unexplained += slow;
    } else if (slow <= settings_.pair_readings || chance >= settings_.false_alarm) {
      const auto more = static_cast<std::int32_t>(std::max<std::int64_t>(settings_.pair_readings + 1 - slow, 1));
      verdict_.follow_ups.push_back({.host = std::get<0>(path),
                                     .other = std::get<1>(path),
                                     .rail = std::get<2>(path),
                                     .readings = more,
                                     .why = "slow alone or near"});
    } else {
      Finding finding = finding_of(path, readings);
      finding.false_alarm = chance;
      add_path(finding);
    }
  }
  verdict_.outliers = own == 0 ? 0 : static_cast<double>(unexplained) / static_cast<double>(own);
}

/// Hosts without two fast readings in each direction, and hosts that may have become slow: none of their latest
/// readings is fast.
void OwnRates::find_open_hosts() {
  constexpr std::ptrdiff_t kLatest = 4;
  std::set<std::int32_t> open(verdict_.not_judged.begin(), verdict_.not_judged.end());
  std::set<std::int32_t> seen;
  for (const auto& [id, unit] : units_) {
    seen.insert(id.host);
    if (blamed_.contains(id.host)) continue;
    const auto fast = std::count_if(unit.readings.begin(), unit.readings.end(),
                                    [](const OwnReading& reading) { return !reading.is_slow; });
    const auto latest = unit.readings.end() - std::min<std::ptrdiff_t>(kLatest, std::ssize(unit.readings));
    const bool is_late_slow =
        std::all_of(latest, unit.readings.end(), [](const OwnReading& each) { return each.is_slow; });
    if (fast < 2 || is_late_slow) open.insert(id.host);
  }
  for (std::size_t host = 0; host < sweep_.hosts.size(); ++host) {
    if (!seen.contains(static_cast<std::int32_t>(host))) open.insert(static_cast<std::int32_t>(host));
  }
  for (const Finding& finding : verdict_.findings) {
    if (finding.hosts.size() == 1) open.erase(finding.hosts.front());
  }
  verdict_.not_judged.assign(open.begin(), open.end());
}

}  // namespace

void judge_own_rates(const Sweep& sweep, const Structure& structure, const VerdictSettings& settings,
                     Verdict& verdict) {
  OwnRates(sweep, structure, settings, verdict).judge();
}

}  // namespace fabricbench::cluster
