#include "cluster/attribution/failures.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/attribution/tests_made.h"
#include "cluster/last_work.h"
#include "cluster/robust.h"

namespace fabricbench::cluster {
namespace {

/// Partners that work otherwise and with whom a host fails before it is called dead; of one that worked before, more,
/// unless they have worked since.
constexpr std::size_t kDeadPartners = 2;
constexpr std::size_t kDeadPartnersLater = 3;

std::int32_t unit_of(const Failures& failures, std::int32_t host, std::int32_t rail) {
  return host * failures.rails + rail;
}

bool at(const std::vector<char>& flags, std::int32_t place) { return flags[static_cast<std::size_t>(place)] != 0; }

/// The flows that failed at least once, with how often they worked.
std::vector<FailedFlow> failed_flows(const Sweep& sweep, const Failures& failures) {
  std::map<std::pair<std::int32_t, std::int32_t>, FailedFlow> flows;
  const auto key_of = [&](const Reading& reading) {
    return std::pair{unit_of(failures, reading.from, reading.from_rail),
                     unit_of(failures, reading.to, reading.to_rail)};
  };
  for (std::size_t i = 0; i < sweep.readings.size(); ++i) {
    const Reading& reading = sweep.readings[i];
    if (reading.outcome != Outcome::kFailed || reading.from == reading.to) continue;
    const auto key = key_of(reading);
    const auto [flow, added] =
        flows.try_emplace(key, FailedFlow{key.first, key.second, 0, 0, reading.both_ways, false, i});
    ++flow->second.failed;
    if (reading.concurrent == 1) flow->second.alone = true;
  }
  if (flows.empty()) return {};
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome != Outcome::kMeasured) continue;
    const auto flow = flows.find(key_of(reading));
    if (flow != flows.end()) ++flow->second.worked;
  }
  std::vector<FailedFlow> list;
  list.reserve(flows.size());
  for (const auto& [key, flow] : flows) list.push_back(flow);
  return list;
}

/// How many different hosts that work a unit failed with since it last worked itself.
struct FailedPartners {
  std::size_t all = 0;
  std::size_t since = 0;  ///< that have worked in a later round, so that whatever it was is not the whole network's
};

/// By unit.
std::vector<FailedPartners> partners_failed(const Sweep& sweep, const Failures& failures) {
  struct Partners {
    std::set<std::int32_t> all;
    std::set<std::int32_t> since;
  };
  const std::vector<std::int32_t> worked = last_work(sweep, failures.rails);
  std::vector<Partners> partners(failures.works.size());
  for (const Reading& reading : sweep.readings) {
    const std::int32_t from = unit_of(failures, reading.from, reading.from_rail);
    const std::int32_t to = unit_of(failures, reading.to, reading.to_rail);
    for (const auto& [own, other, host] : {std::tuple{from, to, reading.to}, std::tuple{to, from, reading.from}}) {
      Partners& failed = partners[static_cast<std::size_t>(own)];
      if (reading.outcome == Outcome::kMeasured && !failed.all.empty()) failed = {};
      if (reading.outcome != Outcome::kFailed || !at(failures.works, other)) continue;
      failed.all.insert(host);
      if (worked[static_cast<std::size_t>(other)] > reading.round) failed.since.insert(host);
    }
  }
  std::vector<FailedPartners> counts;
  counts.reserve(partners.size());
  for (const Partners& failed : partners) counts.push_back({failed.all.size(), failed.since.size()});
  return counts;
}

/// What failed of a unit, for a finding about it.
struct Tally {
  std::int64_t failed = 0;
  std::set<std::int32_t> partners;
  bool alone = false;
  std::size_t first = 0;
};

Tally tally_of(const Failures& failures, const std::set<std::int32_t>& units) {
  Tally tally;
  bool any = false;
  for (const FailedFlow& flow : failures.flows) {
    const bool sends = units.contains(flow.from);
    if (!sends && !units.contains(flow.to)) continue;
    tally.failed += flow.failed;
    tally.alone = tally.alone || flow.alone;
    tally.partners.insert((sends ? flow.to : flow.from) / failures.rails);
    tally.first = any ? std::min(tally.first, flow.first) : flow.first;
    any = true;
  }
  return tally;
}

/// How often chance alone would have all readings of somebody fail, from how often others' fail.
double chance_of_failures(const Sweep& sweep, const Failures& failures, std::int64_t failed) {
  std::int64_t unexplained = 0;
  for (const FailedFlow& flow : failures.flows) unexplained += failures.is_explained(flow) ? 0 : flow.failed;
  const double each = (static_cast<double>(unexplained) + 0.4) / (static_cast<double>(sweep.readings.size()) + 20);
  return family_wise(binomial_tail(failed, std::min(each, 1.0), failed), static_cast<double>(sweep.hosts.size()));
}

Finding dead_finding(const Sweep& sweep, const Failures& failures, Blame blame, std::int32_t host,
                     const std::set<std::int32_t>& units) {
  const Tally tally = tally_of(failures, units);
  Finding finding;
  finding.blame = blame;
  finding.hosts = {host};
  finding.readings = tally.failed;
  finding.failed = tally.failed;
  finding.partners = static_cast<std::int64_t>(tally.partners.size());
  // Both directions of one attempt fail together: partners are what is independent.
  finding.false_alarm = chance_of_failures(sweep, failures, finding.partners);
  finding.confirmed = tally.alone;
  finding.reason = reason_of(sweep, tally.first);
  return finding;
}

/// The rails of a host that were tried at all.
std::set<std::int32_t> units_tried(const Failures& failures, const std::vector<char>& tried, std::int32_t host) {
  std::set<std::int32_t> units;
  for (std::int32_t rail = 0; rail < failures.rails; ++rail) {
    const std::int32_t unit = unit_of(failures, host, rail);
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

/// A flow and the one back, if both failed, as one.
struct FailedPair {
  std::int32_t first = 0;  // units
  std::int32_t second = 0;
  bool forth = false;
  bool back = false;
  std::int64_t failed = 0;
  std::int64_t most = 0;  // of one direction
  bool alone = false;
  std::size_t reading = 0;
};

/// Pairs of which at least one direction failed and never worked, and that nobody blamed explains.
std::vector<FailedPair> failed_pairs(const Failures& failures, const std::vector<char>& blamed) {
  std::map<std::pair<std::int32_t, std::int32_t>, FailedPair> pairs;
  for (const FailedFlow& flow : failures.flows) {
    if (flow.worked > 0 || failures.is_explained(flow)) continue;
    if (at(blamed, flow.from / failures.rails) || at(blamed, flow.to / failures.rails)) continue;
    const std::pair<std::int32_t, std::int32_t> key = std::minmax(flow.from, flow.to);
    FailedPair& pair =
        pairs.try_emplace(key, FailedPair{key.first, key.second, false, false, 0, 0, false, flow.first}).first->second;
    (flow.from == key.first ? pair.forth : pair.back) = true;
    if (flow.both_ways) pair.forth = pair.back = true;
    pair.failed += flow.failed;
    pair.alone = pair.alone || flow.alone;
    pair.most = std::max(pair.most, flow.failed);
    pair.reading = std::min(pair.reading, flow.first);
  }
  std::vector<FailedPair> list;
  list.reserve(pairs.size());
  for (const auto& [key, pair] : pairs) list.push_back(pair);
  return list;
}

void add_failed_pair(const Sweep& sweep, const Failures& failures, const FailedPair& pair, Verdict& verdict) {
  const bool both_work = at(failures.works, pair.first) && at(failures.works, pair.second);
  Finding finding;
  finding.blame = both_work && pair.most >= 2 ? Blame::kDeadPair : Blame::kUndecided;
  const bool backwards = pair.back && !pair.forth;
  finding.hosts = {pair.first / failures.rails, pair.second / failures.rails};
  if (backwards) std::swap(finding.hosts[0], finding.hosts[1]);
  if (pair.forth != pair.back) finding.direction = Direction::kSends;
  if (failures.rails > 1 && pair.first % failures.rails == pair.second % failures.rails) {
    finding.rail = pair.first % failures.rails;
  }
  finding.readings = finding.failed = pair.failed;
  finding.partners = 1;
  finding.false_alarm = chance_of_failures(sweep, failures, pair.most);
  finding.confirmed = pair.alone;
  finding.reason = reason_of(sweep, pair.reading);
  verdict.findings.push_back(finding);
  if (finding.blame == Blame::kDeadPair) return;
  const auto rail = static_cast<std::int16_t>(pair.first % failures.rails);
  if (both_work) {
    verdict.questions.push_back({finding.hosts[0], finding.hosts[1], rail, 1, "failed once"});
    return;
  }
  for (const std::int32_t unit : {pair.first, pair.second}) {
    if (at(failures.works, unit)) continue;
    const std::string other =
        sweep.hosts[static_cast<std::size_t>((unit == pair.first ? pair.second : pair.first) / failures.rails)];
    verdict.questions.push_back(
        {unit / failures.rails, -1, rail, 2, fmt::format("failed with {}, and worked with nobody", other)});
  }
}

/// Units that fail with each other and work with nobody: one finding for all that hang together.
std::vector<std::set<std::int32_t>> silent_groups(const std::vector<FailedPair>& pairs) {
  std::map<std::int32_t, std::int32_t> leader;
  const auto find = [&](std::int32_t unit) {
    leader.try_emplace(unit, unit);
    while (leader[unit] != unit) unit = leader[unit] = leader[leader[unit]];
    return unit;
  };
  for (const FailedPair& pair : pairs) leader[find(pair.first)] = find(pair.second);
  std::map<std::int32_t, std::set<std::int32_t>> groups;
  for (const FailedPair& pair : pairs) {
    groups[find(pair.first)].insert(pair.first);
    groups[find(pair.first)].insert(pair.second);
  }
  std::vector<std::set<std::int32_t>> list;
  list.reserve(groups.size());
  for (const auto& [unit, group] : groups) list.push_back(group);
  return list;
}

void add_silent_group(const Sweep& sweep, const Failures& failures, const std::set<std::int32_t>& group,
                      Verdict& verdict) {
  std::set<std::int32_t> hosts;
  for (const std::int32_t unit : group) hosts.insert(unit / failures.rails);
  Finding finding = dead_finding(sweep, failures, Blame::kUndecided, *hosts.begin(), group);
  finding.hosts.assign(hosts.begin(), hosts.end());
  finding.confirmed = false;
  verdict.findings.push_back(finding);
  for (const std::int32_t host : hosts) {
    verdict.questions.push_back({host, -1, 0, 2, "failed, and so did all that were tried with it"});
  }
}

}  // namespace

bool Failures::host_is_dead(std::int32_t host) const {
  bool any = false;
  for (std::int32_t rail = 0; rail < rails; ++rail) {
    const std::int32_t number = host * rails + rail;
    const auto unit = static_cast<std::size_t>(number);
    if (dead[unit] == 0 && works[unit] != 0) return false;
    any = any || dead[unit] != 0;
  }
  return any;
}

Failures find_failures(const Sweep& sweep, std::int32_t rails) {
  Failures failures;
  failures.rails = rails;
  const std::size_t units = sweep.hosts.size() * static_cast<std::size_t>(rails);
  failures.works.assign(units, 0);
  failures.dead.assign(units, 0);
  bool any = false;
  for (const Reading& reading : sweep.readings) {
    any = any || reading.outcome == Outcome::kFailed;
    if (reading.outcome != Outcome::kMeasured) continue;
    failures.works[static_cast<std::size_t>(unit_of(failures, reading.from, reading.from_rail))] = 1;
    failures.works[static_cast<std::size_t>(unit_of(failures, reading.to, reading.to_rail))] = 1;
  }
  if (!any) return failures;
  failures.flows = failed_flows(sweep, failures);
  const std::vector<FailedPartners> partners = partners_failed(sweep, failures);
  for (std::size_t unit = 0; unit < units; ++unit) {
    const std::size_t least = failures.works[unit] != 0 ? kDeadPartnersLater : kDeadPartners;
    if (partners[unit].all >= least || partners[unit].since >= kDeadPartners) failures.dead[unit] = 1;
  }
  return failures;
}

void report_dead(const Sweep& sweep, const Failures& failures, Verdict& verdict) {
  const std::vector<char> tried = tried_units(failures);
  for (std::int32_t host = 0; host < static_cast<std::int32_t>(sweep.hosts.size()); ++host) {
    const std::set<std::int32_t> units = units_tried(failures, tried, host);
    std::set<std::int32_t> dead;
    for (const std::int32_t unit : units) {
      if (at(failures.dead, unit)) dead.insert(unit);
    }
    if (dead.empty()) continue;
    if (dead == units) {
      verdict.findings.push_back(dead_finding(sweep, failures, Blame::kDead, host, units));
      continue;
    }
    for (const std::int32_t unit : dead) {
      verdict.findings.push_back(dead_finding(sweep, failures, Blame::kNic, host, {unit}));
      verdict.findings.back().rail = unit % failures.rails;
    }
  }
}

void report_failed_pairs(const Sweep& sweep, const Failures& failures, const std::vector<char>& blamed,
                         Verdict& verdict) {
  std::vector<FailedPair> silent;
  for (const FailedPair& pair : failed_pairs(failures, blamed)) {
    const bool neither = !at(failures.works, pair.first) && !at(failures.works, pair.second);
    if (neither) {
      silent.push_back(pair);
    } else {
      add_failed_pair(sweep, failures, pair, verdict);
    }
  }
  for (const std::set<std::int32_t>& group : silent_groups(silent)) {
    add_silent_group(sweep, failures, group, verdict);
  }
}

std::string reason_of(const Sweep& sweep, std::size_t reading) {
  const auto found = std::lower_bound(sweep.reasons.begin(), sweep.reasons.end(), reading,
                                      [](const auto& entry, std::size_t place) { return entry.first < place; });
  return found != sweep.reasons.end() && found->first == reading ? found->second : std::string();
}

}  // namespace fabricbench::cluster
