// Findings on failures.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cluster/attribution/failures.h"
#include "cluster/attribution/units.h"
#include "cluster/disjoint_sets.h"

namespace fabricbench::cluster {
namespace {

bool at(const std::vector<char>& flags, std::int32_t place) { return flags[static_cast<std::size_t>(place)] != 0; }

/// The failed readings that a finding rests on.
struct Tally {
  std::int64_t failed = 0;
  bool small_pass = true;           // each time
  std::set<std::int32_t> partners;  // units
  std::int32_t first_round = std::numeric_limits<std::int32_t>::max();
  std::int32_t last_alone = -1;
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::int64_t rounds = 0;
  std::int32_t last_round = -1;
  std::int64_t rounds_worked = 0;  ///< rounds with a success: a run of failures may begin after each of them

  /// Adds a failed reading, given by its place in the sweep.
  void add(const Sweep& sweep, std::size_t place) {
    const Reading& reading = sweep.readings[place];
    ++failed;
    small_pass = small_pass && reading.small_pass;
    first_round = std::min(first_round, reading.round);
    if (reading.concurrent == 1) last_alone = std::max(last_alone, reading.round);
    first = std::min(first, place);
    rounds += std::exchange(last_round, reading.round) != reading.round ? 1 : 0;
  }
  /// Whether it failed again in a later round, as the only pair.
  [[nodiscard]] bool is_confirmed() const { return last_alone > first_round; }
};

/// The failures of these units since the last success of any of them.
Tally tally_of(const Sweep& sweep, const Failures& failures, const std::set<std::int32_t>& units) {
  Tally tally;
  std::set<std::int32_t> rounds_worked;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    const bool sends = units.contains(from);
    if (reading.from == reading.to || (!sends && !units.contains(to))) continue;
    if (reading.outcome == Outcome::kMeasured) {
      tally = {};
      rounds_worked.insert(reading.round);
    }
    if (reading.outcome != Outcome::kFailed) continue;
    tally.add(sweep, place);
    tally.partners.insert(sends ? to : from);
  }
  tally.rounds_worked = static_cast<std::int64_t>(rounds_worked.size());
  return tally;
}

/// The number of hosts of these units. With `besides`: only of units that have worked with other hosts than that.
std::int64_t hosts_of(const Failures& failures, const std::set<std::int32_t>& units, std::int32_t besides = -1) {
  std::set<std::int32_t> hosts;
  for (const std::int32_t unit : units) {
    if (besides < 0 || failures.works_besides(unit, besides)) hosts.insert(unit / failures.rails);
  }
  return static_cast<std::int64_t>(hosts.size());
}

/// The share of readings that usually fail: of all units, or of these up to their last success, whichever is higher.
double share_of(const Failures& failures, const std::set<std::int32_t>& units) {
  double share = failures.usual_share;
  for (const std::int32_t unit : units) {
    share = std::max(share, failures.earlier_share[static_cast<std::size_t>(unit)]);
  }
  return share;
}

/// A finding on the host of these units. `share`: of their readings that usually fail.
Finding finding_of(const Sweep& sweep, const Failures& failures, Blame blame, const std::set<std::int32_t>& units,
                   double share, const Tally& tally) {
  const std::int32_t host = *units.begin() / failures.rails;
  Finding finding;
  finding.blame = blame;
  finding.hosts = {host};
  finding.readings = finding.failed = tally.failed;
  finding.small_pass = tally.small_pass;
  finding.partners = hosts_of(failures, tally.partners);
  finding.working_partners = hosts_of(failures, tally.partners, host);
  // Both directions of an attempt fail together, and perhaps all rails. Only rounds and partners are independent.
  const std::int64_t attempts = std::max(tally.rounds, finding.partners);
  finding.false_alarm = chance_of_run(sweep, share, attempts, 1 + tally.rounds_worked);
  finding.confirmed = tally.is_confirmed();
  finding.reason = reason_of(sweep, tally.first);
  return finding;
}

Finding dead_finding(const Sweep& sweep, const Failures& failures, Blame blame, const std::set<std::int32_t>& units) {
  const Tally tally = tally_of(sweep, failures, units);
  Finding finding = finding_of(sweep, failures, blame, units, share_of(failures, units), tally);
  finding.has_worked =
      std::any_of(units.begin(), units.end(), [&](std::int32_t unit) { return at(failures.works, unit); });
  return finding;
}

/// A finding on units that work in the other direction only.
Finding silent_way_finding(const Sweep& sweep, const Failures& failures, Blame blame,
                           const std::set<std::int32_t>& units, bool receives) {
  Tally tally;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    if (reading.outcome != Outcome::kFailed || reading.both_ways || reading.from == reading.to) continue;
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    if (!units.contains(receives ? to : from)) continue;
    tally.add(sweep, place);
    tally.partners.insert(receives ? from : to);
  }
  Finding finding = finding_of(sweep, failures, blame, units, failures.usual_share, tally);
  finding.direction = receives ? Direction::kReceives : Direction::kSends;
  finding.other_way_fine = true;
  return finding;
}

/// The units of a host that were tried.
std::set<std::int32_t> units_tried(const Failures& failures, const std::vector<char>& tried, std::int32_t host) {
  std::set<std::int32_t> units;
  for (std::int32_t rail = 0; rail < failures.rails; ++rail) {
    const std::int32_t unit = failures.unit_of(host, rail);
    if (at(tried, unit)) units.insert(unit);
  }
  return units;
}

std::vector<char> tried_units(const Failures& failures) {
  std::vector<char> tried = failures.works;
  for (const FailedFlow& flow : failures.flows) {
    tried[static_cast<std::size_t>(flow.from)] = 1;
    tried[static_cast<std::size_t>(flow.to)] = 1;
  }
  return tried;
}

/// A finding on a rail over which nothing works, from all hosts that were tried over it.
Finding dead_rail_finding(const Sweep& sweep, const Failures& failures, const std::vector<char>& tried,
                          std::int32_t rail) {
  std::set<std::int32_t> units;
  std::int64_t elsewhere = 0;
  for (std::int32_t host = 0; host < static_cast<std::int32_t>(sweep.hosts.size()); ++host) {
    const std::int32_t unit = failures.unit_of(host, rail);
    if (!at(tried, unit)) continue;
    units.insert(unit);
    elsewhere += failures.works_without(host, rail) ? 1 : 0;
  }
  Finding finding = dead_finding(sweep, failures, Blame::kRail, units);
  finding.hosts.clear();
  finding.rail = rail;
  finding.partners = static_cast<std::int64_t>(units.size());
  finding.working_partners = elsewhere;
  finding.confirmed = false;  // one of them failed again, and perhaps another one than before
  return finding;
}

/// Two units with failures in one direction or both.
struct FailedPair {
  std::int32_t first = 0;  // units
  std::int32_t second = 0;
  bool forth = false;
  bool back = false;
  std::int64_t failed_forth = 0;
  std::int64_t failed_back = 0;
  bool other_way_works = false;
  Tally tally = {};

  /// Failures of the worse direction.
  [[nodiscard]] std::int64_t most() const { return std::max(failed_forth, failed_back); }
};

using UnitPair = std::pair<std::int32_t, std::int32_t>;

/// Removes directions that have worked, and pairs without any direction left.
void keep_what_never_worked(const Sweep& sweep, const Failures& failures, std::map<UnitPair, FailedPair>& pairs) {
  for (const Reading& reading : sweep.readings) {
    if (pairs.empty()) return;
    if (reading.outcome != Outcome::kMeasured) continue;
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    const auto found = pairs.find(std::minmax(from, to));
    if (found == pairs.end()) continue;
    FailedPair& pair = found->second;
    const bool is_forth = from == pair.first;
    if (reading.both_ways || is_forth) pair.forth = false;
    if (reading.both_ways || !is_forth) pair.back = false;
    pair.other_way_works = true;
    if (!pair.forth && !pair.back) pairs.erase(found);
  }
}

/// Counts failures in the directions that never worked.
void count_failed(const Sweep& sweep, const Failures& failures, std::map<UnitPair, FailedPair>& pairs) {
  if (pairs.empty()) return;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    if (reading.outcome != Outcome::kFailed) continue;
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    const auto found = pairs.find(std::minmax(from, to));
    if (found == pairs.end()) continue;
    FailedPair& pair = found->second;
    const bool forth = pair.forth && (reading.both_ways || from == pair.first);
    const bool back = pair.back && (reading.both_ways || from != pair.first);
    pair.failed_forth += forth ? 1 : 0;
    pair.failed_back += back ? 1 : 0;
    if (forth || back) pair.tally.add(sweep, place);
  }
}

/// Pairs with a direction that failed and never worked, and that nothing else explains.
std::vector<FailedPair> failed_pairs(const Sweep& sweep, const Failures& failures, const std::vector<char>& blamed) {
  std::map<UnitPair, FailedPair> pairs;
  for (const FailedFlow& flow : failures.flows) {
    if (flow.worked > 0 || failures.is_explained(flow.from, flow.to, flow.both_ways)) continue;
    if (at(blamed, flow.from / failures.rails) || at(blamed, flow.to / failures.rails)) continue;
    const UnitPair key = std::minmax(flow.from, flow.to);
    FailedPair& pair = pairs.try_emplace(key, FailedPair{key.first, key.second}).first->second;
    (flow.from == key.first ? pair.forth : pair.back) = true;
    if (flow.both_ways) pair.forth = pair.back = true;
  }
  keep_what_never_worked(sweep, failures, pairs);
  count_failed(sweep, failures, pairs);
  std::vector<FailedPair> list;
  list.reserve(pairs.size());
  for (const auto& [key, pair] : pairs) list.push_back(pair);
  return list;
}

Finding failed_pair_finding(const Sweep& sweep, const Failures& failures, const FailedPair& pair) {
  const bool backwards = pair.back && !pair.forth;
  const std::int32_t from = backwards ? pair.second : pair.first;
  const std::int32_t to = backwards ? pair.first : pair.second;
  Finding finding;
  finding.hosts = {from / failures.rails, to / failures.rails};
  if (pair.forth != pair.back) finding.direction = Direction::kSends;
  if (failures.rails > 1) finding.rail = from % failures.rails;
  if (from % failures.rails != to % failures.rails) finding.other_rail = to % failures.rails;
  finding.other_way_fine = pair.other_way_works;
  finding.readings = finding.failed = pair.tally.failed;
  finding.small_pass = pair.tally.small_pass;
  finding.partners = 1;
  finding.false_alarm = chance_of_run(sweep, failures.usual_share, pair.most());
  finding.confirmed = pair.tally.is_confirmed();
  finding.reason = reason_of(sweep, pair.tally.first);
  return finding;
}

void add_failed_pair(const Sweep& sweep, const Failures& failures, const FailedPair& pair, double false_alarm,
                     Verdict& verdict) {
  Finding finding = failed_pair_finding(sweep, failures, pair);
  const std::int32_t first_host = pair.first / failures.rails;
  const std::int32_t second_host = pair.second / failures.rails;
  const bool first_works = failures.works_besides(pair.first, second_host);
  const bool second_works = failures.works_besides(pair.second, first_host);
  const bool both_work = first_works && second_works;
  const bool is_sure = both_work && pair.most() >= 2 && finding.false_alarm < false_alarm;
  if (is_sure && !finding.small_pass) finding.blame = Blame::kDeadPair;
  verdict.findings.push_back(finding);
  if (is_sure) return;
  const auto rail = static_cast<std::int16_t>(pair.first % failures.rails);
  if (both_work) {
    const std::string why = pair.most() == 1 ? "failed once" : fmt::format("failed {} times", pair.most());
    verdict.follow_ups.push_back({finding.hosts[0], finding.hosts[1], rail, 1, why});
    return;
  }
  for (const auto& [host, other, works] :
       {std::tuple{first_host, second_host, first_works}, std::tuple{second_host, first_host, second_works}}) {
    if (works) continue;
    verdict.follow_ups.push_back({host, -1, rail, 2,
                                  fmt::format("failed with {}, and has not worked with any host",
                                              sweep.hosts[static_cast<std::size_t>(other)])});
  }
}

/// The sets of units, of `units` in all, that pairs of units connect.
std::vector<std::set<std::int32_t>> connected_units(const std::vector<FailedPair>& pairs, std::size_t units) {
  DisjointSets connected(units);
  for (const FailedPair& pair : pairs) connected.join(pair.first, pair.second);
  std::map<std::int32_t, std::set<std::int32_t>> groups;  // by representative
  for (const FailedPair& pair : pairs) groups[connected.representative(pair.first)].insert({pair.first, pair.second});
  std::vector<std::set<std::int32_t>> list;
  list.reserve(groups.size());
  for (const auto& [representative, group] : groups) list.push_back(group);
  return list;
}

/// The rail that all of these units share; -1: they share none, or there is only one rail.
std::int32_t common_rail(const Failures& failures, const std::set<std::int32_t>& units) {
  if (failures.rails == 1) return -1;
  const std::int32_t rail = *units.begin() % failures.rails;
  const bool same =
      std::all_of(units.begin(), units.end(), [&](std::int32_t unit) { return unit % failures.rails == rail; });
  return same ? rail : -1;
}

void add_silent_group(const Sweep& sweep, const Failures& failures, const std::set<std::int32_t>& group,
                      Verdict& verdict) {
  std::set<std::int32_t> hosts;
  for (const std::int32_t unit : group) hosts.insert(unit / failures.rails);
  Finding finding = dead_finding(sweep, failures, Blame::kUndecided, group);
  finding.hosts.assign(hosts.begin(), hosts.end());
  finding.rail = common_rail(failures, group);
  finding.confirmed = false;  // one of them failed again, and perhaps another one than before
  verdict.findings.push_back(finding);
  for (const std::int32_t host : hosts) {
    verdict.follow_ups.push_back({host, -1, 0, 2, "failed with every partner, and no partner has worked"});
  }
}

/// Adds a finding on a dead host or NIC. If it may be chance, the finding is undecided, and a follow-up is added. What
/// small messages get through is not dead.
void add_dead(Finding finding, double false_alarm, Verdict& verdict) {
  if (finding.small_pass) finding.blame = Blame::kUndecided;
  if (finding.false_alarm >= false_alarm) {
    finding.blame = Blame::kUndecided;
    const auto rail = static_cast<std::int16_t>(std::max(finding.rail, 0));
    verdict.follow_ups.push_back(
        {finding.hosts.front(), -1, rail, 2,
         fmt::format("failed with {} partner{}", finding.partners, finding.partners == 1 ? "" : "s")});
  }
  verdict.findings.push_back(std::move(finding));
}

/// Adds one finding if no rail of a host works in a direction, or else one for each rail that does not.
void add_silent_ways(const Sweep& sweep, const Failures& failures, const std::set<std::int32_t>& tried,
                     double false_alarm, Verdict& verdict) {
  for (const bool receives : {false, true}) {
    std::set<std::int32_t> silent;
    for (const std::int32_t unit : tried) {
      const bool is_silent = failures.is_silent[static_cast<std::size_t>(unit)][receives ? 1 : 0];
      if (is_silent && !at(failures.dead, unit)) silent.insert(unit);
    }
    if (!silent.empty() && silent == tried) {
      add_dead(silent_way_finding(sweep, failures, Blame::kDead, tried, receives), false_alarm, verdict);
      continue;
    }
    for (const std::int32_t unit : silent) {
      Finding finding = silent_way_finding(sweep, failures, Blame::kNic, {unit}, receives);
      finding.rail = unit % failures.rails;
      add_dead(std::move(finding), false_alarm, verdict);
    }
  }
}

}  // namespace

void report_dead(const Sweep& sweep, const Failures& failures, double false_alarm, Verdict& verdict) {
  if (failures.flows.empty()) return;
  const std::vector<char> tried = tried_units(failures);
  for (std::int32_t rail = 0; rail < failures.rails; ++rail) {
    if (!at(failures.dead_rails, rail)) continue;
    verdict.findings.push_back(dead_rail_finding(sweep, failures, tried, rail));
  }
  for (std::int32_t host = 0; host < static_cast<std::int32_t>(sweep.hosts.size()); ++host) {
    const std::set<std::int32_t> units = units_tried(failures, tried, host);
    std::set<std::int32_t> dead;
    for (const std::int32_t unit : units) {
      if (at(failures.dead, unit)) dead.insert(unit);
    }
    if (!dead.empty() && dead == units) {
      add_dead(dead_finding(sweep, failures, Blame::kDead, units), false_alarm, verdict);
      continue;
    }
    std::erase_if(dead, [&](std::int32_t unit) { return at(failures.dead_rails, unit % failures.rails); });
    const auto working = std::count_if(units.begin(), units.end(), [&](std::int32_t unit) {
      return at(failures.works, unit) && !at(failures.dead, unit);
    });
    for (const std::int32_t unit : dead) {
      Finding finding = dead_finding(sweep, failures, Blame::kNic, {unit});
      finding.rail = unit % failures.rails;
      finding.other_rails = static_cast<std::int64_t>(units.size()) - 1;
      finding.fine_rails = working;
      add_dead(std::move(finding), false_alarm, verdict);
    }
    add_silent_ways(sweep, failures, units, false_alarm, verdict);
  }
}

void report_failed_pairs(const Sweep& sweep, const Failures& failures, const std::vector<char>& blamed,
                         double false_alarm, Verdict& verdict) {
  std::vector<FailedPair> silent;
  for (const FailedPair& pair : failed_pairs(sweep, failures, blamed)) {
    const bool neither = !at(failures.works, pair.first) && !at(failures.works, pair.second);
    if (neither) {
      silent.push_back(pair);
    } else {
      add_failed_pair(sweep, failures, pair, false_alarm, verdict);
    }
  }
  // Units that work with nobody, and fail with each other: one finding for each connected set.
  for (const std::set<std::int32_t>& group : connected_units(silent, failures.works.size())) {
    add_silent_group(sweep, failures, group, verdict);
  }
}

std::string reason_of(const Sweep& sweep, std::size_t reading) {
  const auto found = std::lower_bound(sweep.reasons.begin(), sweep.reasons.end(), reading,
                                      [](const auto& entry, std::size_t place) { return entry.first < place; });
  return found != sweep.reasons.end() && found->first == reading ? found->second : std::string();
}

}  // namespace fabricbench::cluster
