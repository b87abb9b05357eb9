#include "cluster/attribution/failures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/attribution/units.h"
#include "cluster/last_success.h"

namespace fabricbench::cluster {
namespace {

/// A host is dead if it fails with so many partners that work with others. If it has worked before, it has to fail with
/// more, or with so many that have worked since.
constexpr std::size_t kDeadPartners = 2;
constexpr std::size_t kDeadPartnersLater = 3;
/// A rail over which nothing works is dead if so many of its hosts work over other rails. With fewer, their NICs are
/// dead.
constexpr std::int64_t kHostsOfDeadRail = 3;

constexpr std::size_t kSeveral = 3;  // partners

bool never_works(const FailedFlow& flow) {
  constexpr std::int64_t kNever = 2;
  return flow.worked == 0 && flow.failed >= kNever;
}

/// By unit: it fails with several partners, and not only over paths that never work.
std::vector<char> fail_with_several(const Failures& failures) {
  std::vector<std::set<std::int32_t>> partners(failures.works.size());
  std::vector<char> any_works(failures.works.size(), 0);
  for (const FailedFlow& flow : failures.flows) {
    if (failures.is_explained(flow.from, flow.to, flow.both_ways)) continue;
    for (const auto& [unit, partner] : {std::pair{flow.from, flow.to}, std::pair{flow.to, flow.from}}) {
      partners[static_cast<std::size_t>(unit)].insert(partner / failures.rails);
      if (!never_works(flow)) any_works[static_cast<std::size_t>(unit)] = 1;
    }
  }
  std::vector<char> several(failures.works.size(), 0);
  for (std::size_t unit = 0; unit < several.size(); ++unit) {
    several[unit] = partners[unit].size() >= kSeveral && any_works[unit] != 0 ? 1 : 0;
  }
  return several;
}

/// The flows with a failed reading.
std::vector<FailedFlow> failed_flows(const Sweep& sweep, const Failures& failures) {
  std::map<std::pair<std::int32_t, std::int32_t>, FailedFlow> flows;
  const auto key_of = [&](const Reading& reading) {
    std::pair key{failures.unit_of(reading.from, reading.from_rail), failures.unit_of(reading.to, reading.to_rail)};
    if (reading.both_ways && key.first > key.second) std::swap(key.first, key.second);
    return key;
  };
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome != Outcome::kFailed || reading.from == reading.to) continue;
    const auto key = key_of(reading);
    const auto [flow, added] = flows.try_emplace(key, FailedFlow{key.first, key.second, 0, 0, reading.both_ways});
    ++flow->second.failed;
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

/// If a host fails now and then, and a run of failures has at least this probability by chance, the host is not dead.
constexpr double kLikelyRun = 0.01;

/// Failures of a unit since its last success, with hosts that work.
struct FailedPartners {
  std::size_t all = 0;
  std::size_t since = 0;     ///< hosts that worked in a later round, which rules out a failure of the whole network
  std::int64_t rounds = 0;   ///< with such a failure
  double earlier_share = 0;  ///< the share of its readings with such hosts that failed, up to its last success
  std::int64_t rounds_worked = 0;
};

/// The readings of a unit with hosts that work, in the order of time.
class AttemptsOfUnit {
 public:
  void add_success(std::int32_t round) {
    ++tried_;
    earlier_failed_ = failed_;
    earlier_tried_ = tried_;
    rounds_worked_ += std::exchange(last_worked_, round) != round ? 1 : 0;
    hosts_.clear();
    hosts_since_.clear();
    rounds_ = 0;
  }
  /// A failure with a host, and whether that has worked in a later round.
  void add_failure(std::int32_t round, std::int32_t host, bool works_later) {
    ++tried_;
    ++failed_;
    rounds_ += std::exchange(last_failed_, round) != round ? 1 : 0;
    hosts_.insert(host);
    if (works_later) hosts_since_.insert(host);
  }
  [[nodiscard]] FailedPartners since_last_success() const {
    const double share =
        static_cast<double>(earlier_failed_) / static_cast<double>(std::max<std::int64_t>(earlier_tried_, 1));
    return {hosts_.size(), hosts_since_.size(), rounds_, share, rounds_worked_};
  }

 private:
  std::set<std::int32_t> hosts_;        // that it failed with since its last success
  std::set<std::int32_t> hosts_since_;  // of these, those that have worked in a later round
  std::int64_t failed_ = 0;
  std::int64_t tried_ = 0;
  std::int64_t earlier_failed_ = 0;  // up to the last success
  std::int64_t earlier_tried_ = 0;
  std::int64_t rounds_worked_ = 0;
  std::int32_t last_worked_ = -1;
  std::int64_t rounds_ = 0;
  std::int32_t last_failed_ = -1;
};

/// By unit.
std::vector<FailedPartners> partners_failed(const Sweep& sweep, const Failures& failures) {
  const std::vector<std::int32_t> worked = last_success(sweep, failures.rails);
  std::vector<AttemptsOfUnit> attempts(failures.works.size());
  for (const Reading& reading : sweep.readings) {
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    for (const auto& [own, other, host] : {std::tuple{from, to, reading.to}, std::tuple{to, from, reading.from}}) {
      AttemptsOfUnit& of_unit = attempts[static_cast<std::size_t>(own)];
      if (reading.outcome == Outcome::kMeasured) of_unit.add_success(reading.round);
      if (reading.outcome != Outcome::kFailed || failures.is_cut(own, other)) continue;
      if (!failures.works_besides(other, own / failures.rails)) continue;
      of_unit.add_failure(reading.round, host, worked[static_cast<std::size_t>(other)] > reading.round);
    }
  }
  std::vector<FailedPartners> counts;
  counts.reserve(attempts.size());
  for (const AttemptsOfUnit& of_unit : attempts) counts.push_back(of_unit.since_last_success());
  return counts;
}

/// By unit: the hosts with which it has failed and never worked.
std::vector<std::set<std::int32_t>> never_reached(const Failures& failures) {
  std::vector<std::set<std::int32_t>> hosts(failures.works.size());
  for (const FailedFlow& flow : failures.flows) {
    if (flow.worked > 0 || failures.is_cut(flow.from, flow.to)) continue;
    hosts[static_cast<std::size_t>(flow.from)].insert(flow.to / failures.rails);
    hosts[static_cast<std::size_t>(flow.to)].insert(flow.from / failures.rails);
  }
  return hosts;
}

/// Whether a rail is dead: each host that was tried over it is dead there, or failed with two partners or more and
/// worked with none, and most of these hosts work over other rails.
bool is_dead_rail(const Failures& failures, const std::vector<std::set<std::int32_t>>& unreached, std::int32_t rail) {
  std::int64_t tried = 0;
  std::int64_t elsewhere = 0;
  const std::int32_t hosts = static_cast<std::int32_t>(failures.works.size()) / failures.rails;
  for (std::int32_t host = 0; host < hosts; ++host) {
    const auto unit = static_cast<std::size_t>(failures.unit_of(host, rail));
    if (failures.works[unit] == 0 && unreached[unit].empty()) continue;
    const bool is_silent = failures.works[unit] == 0 && unreached[unit].size() >= kDeadPartners;
    if (!is_silent && failures.dead[unit] == 0) return false;
    ++tried;
    elsewhere += failures.works_without(host, rail) ? 1 : 0;
  }
  return elsewhere >= kHostsOfDeadRail && 2 * elsewhere > tried;
}

void find_dead_rails(Failures& failures) {
  const std::vector<std::set<std::int32_t>> unreached = never_reached(failures);
  for (std::int32_t rail = 0; rail < failures.rails; ++rail) {
    failures.dead_rails[static_cast<std::size_t>(rail)] = is_dead_rail(failures, unreached, rail) ? 1 : 0;
  }
  for (std::size_t unit = 0; unit < failures.dead.size(); ++unit) {
    const bool on_dead_rail = failures.dead_rails[unit % static_cast<std::size_t>(failures.rails)] != 0;
    if (on_dead_rail && !unreached[unit].empty()) failures.dead[unit] = 1;
  }
}

/// One direction of a unit: the unit, and whether it receives.
using UnitWay = std::pair<std::int32_t, bool>;

/// The directions of units that have failed and never worked, with the units on the other side.
std::map<UnitWay, std::set<std::int32_t>> ways_that_never_worked(const Sweep& sweep, const Failures& failures) {
  std::map<UnitWay, std::set<std::int32_t>> silent;
  for (const FailedFlow& flow : failures.flows) {
    if (flow.worked > 0 || flow.both_ways || failures.is_explained(flow.from, flow.to, false)) continue;
    silent[{flow.from, false}].insert(flow.to);
    silent[{flow.to, true}].insert(flow.from);
  }
  for (const Reading& reading : sweep.readings) {
    if (silent.empty()) break;
    if (reading.outcome != Outcome::kMeasured) continue;
    silent.erase({failures.unit_of(reading.from, reading.from_rail), false});
    silent.erase({failures.unit_of(reading.to, reading.to_rail), true});
  }
  return silent;
}

/// Sets Failures::is_silent. Three partners or more have to show it, and the other direction has to work. The direction
/// that most partners show is taken first; its failures no longer count against these partners.
void find_silent_ways(const Sweep& sweep, Failures& failures) {
  constexpr std::size_t kPartners = 3;
  std::map<UnitWay, std::set<std::int32_t>> silent = ways_that_never_worked(sweep, failures);
  std::erase_if(silent,
                [&](const auto& each) { return failures.works[static_cast<std::size_t>(each.first.first)] == 0; });
  while (!silent.empty()) {
    const auto most = std::max_element(silent.begin(), silent.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (most->second.size() < kPartners) return;
    const auto [unit, receives] = most->first;
    failures.is_silent[static_cast<std::size_t>(unit)][receives ? 1 : 0] = true;
    silent.erase(most);
    for (auto& [other, units] : silent) {
      if (other.second != receives) units.erase(unit);
    }
  }
}

/// By unit: it fails with several partners, and in a tenth of its readings or more. If more than a quarter of all units
/// do, the network is to blame, and no unit is returned.
std::vector<char> failing_units(const Sweep& sweep, const Failures& failures) {
  constexpr double kOften = 0.1;
  std::vector<char> failing = fail_with_several(failures);
  std::vector<std::int64_t> failed(failing.size(), 0);
  std::vector<std::int64_t> tried(failing.size(), 0);
  for (const Reading& reading : sweep.readings) {
    if (!has_worked_or_failed(reading)) continue;
    for (const std::int32_t unit :
         {failures.unit_of(reading.from, reading.from_rail), failures.unit_of(reading.to, reading.to_rail)}) {
      ++tried[static_cast<std::size_t>(unit)];
      failed[static_cast<std::size_t>(unit)] += reading.outcome == Outcome::kFailed ? 1 : 0;
    }
  }
  std::size_t number = 0;
  for (std::size_t unit = 0; unit < failing.size(); ++unit) {
    const bool often = static_cast<double>(failed[unit]) >= kOften * static_cast<double>(tried[unit]);
    failing[unit] = failing[unit] != 0 && often ? 1 : 0;
    number += failing[unit] != 0 ? 1 : 0;
  }
  if (4 * number > failing.size()) failing.assign(failing.size(), 0);
  return failing;
}

/// Sets the share of readings that usually fail. Left out are failures of dead units after their last success, of pairs
/// that never work, and all readings of units that fail now and then.
void set_usual_share(const Sweep& sweep, Failures& failures) {
  const auto never = never_worked(failures);
  const std::vector<char> failing = failing_units(sweep, failures);
  const std::vector<std::int32_t> worked = last_success(sweep, failures.rails);
  const auto is_over = [&](std::int32_t unit, const Reading& reading) {
    const auto at = static_cast<std::size_t>(unit);
    return failures.dead[at] != 0 && reading.round >= worked[at];
  };
  for (const Reading& reading : sweep.readings) {
    const std::int32_t from = failures.unit_of(reading.from, reading.from_rail);
    const std::int32_t to = failures.unit_of(reading.to, reading.to_rail);
    const bool failed = reading.outcome == Outcome::kFailed;
    const bool is_silent = failures.needs_silent_way(from, to, reading.both_ways);
    if (failed && (failures.is_cut(from, to) || is_silent || is_over(from, reading) || is_over(to, reading) ||
                   never.contains({from, to})))
      continue;
    if (failing[static_cast<std::size_t>(from)] != 0 || failing[static_cast<std::size_t>(to)] != 0) continue;
    ++failures.usual_tried;
    failures.usual_failed += failed ? 1 : 0;
  }
  // 0.4 failures in 20 readings are added, since few readings do not prove that nothing ever fails.
  const auto failed = static_cast<double>(failures.usual_failed);
  failures.usual_share = std::min((failed + 0.4) / (static_cast<double>(failures.usual_tried) + 20), 1.0);
}

/// Sets which units work, and with whom.
void note_working(const Sweep& sweep, Failures& failures) {
  const auto note = [&](std::int32_t unit, std::int32_t partner) {
    failures.works[static_cast<std::size_t>(unit)] = 1;
    auto& [first, second] = failures.worked_with[static_cast<std::size_t>(unit)];
    if (first < 0) first = partner;
    if (first != partner && second < 0) second = partner;
  };
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome != Outcome::kMeasured) continue;
    note(failures.unit_of(reading.from, reading.from_rail), reading.to);
    note(failures.unit_of(reading.to, reading.to_rail), reading.from);
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

bool Failures::host_is_silent(std::int32_t host) const {
  const auto first = is_silent.begin() + std::ptrdiff_t{host} * rails;
  return std::any_of(first, first + rails, [](const std::array<bool, 2>& ways) { return ways[0] || ways[1]; });
}

bool Failures::works_without(std::int32_t host, std::int32_t rail) const {
  for (std::int32_t other = 0; other < rails; ++other) {
    const auto unit = static_cast<std::size_t>(unit_of(host, other));
    if (other != rail && works[unit] != 0 && dead[unit] == 0) return true;
  }
  return false;
}

double chance_of_run(const Sweep& sweep, double share, std::int64_t failed, std::int64_t looks) {
  const double tests = static_cast<double>(sweep.hosts.size()) * static_cast<double>(looks);
  return family_wise(std::pow(share, failed), tests);
}

std::set<std::pair<std::int32_t, std::int32_t>> never_worked(const Failures& failures) {
  const std::vector<char> with_several = fail_with_several(failures);
  const auto fails_with_several = [&](std::int32_t unit) { return with_several[static_cast<std::size_t>(unit)] != 0; };
  std::set<std::pair<std::int32_t, std::int32_t>> never;
  for (const FailedFlow& flow : failures.flows) {
    const bool is_of_unit = fails_with_several(flow.from) || fails_with_several(flow.to);
    if (never_works(flow) && !is_of_unit) never.emplace(flow.from, flow.to);
  }
  return never;
}

Failures find_failures(const Sweep& sweep, std::int32_t rails) {
  Failures failures;
  failures.rails = rails;
  const std::size_t units = sweep.hosts.size() * static_cast<std::size_t>(rails);
  failures.works.assign(units, 0);
  failures.worked_with.assign(units, {-1, -1});
  failures.dead.assign(units, 0);
  failures.earlier_share.assign(units, 0);
  failures.is_silent.assign(units, {});
  failures.dead_rails.assign(static_cast<std::size_t>(rails), 0);
  note_working(sweep, failures);
  failures.flows = failed_flows(sweep, failures);
  if (failures.flows.empty()) return failures;
  find_parts(sweep, failures);
  const std::vector<FailedPartners> partners = partners_failed(sweep, failures);
  for (std::size_t unit = 0; unit < units; ++unit) {
    const auto& [all, since, rounds, earlier_share, rounds_worked] = partners[unit];
    failures.earlier_share[unit] = earlier_share;
    const std::size_t least = failures.works[unit] != 0 ? kDeadPartnersLater : kDeadPartners;
    const std::int64_t attempts = std::max(rounds, static_cast<std::int64_t>(all));
    const double chance = chance_of_run(sweep, earlier_share, attempts, 1 + rounds_worked);
    const bool fails_now_and_then = earlier_share > 0 && chance > kLikelyRun;
    if ((all >= least || since >= kDeadPartners) && !fails_now_and_then) failures.dead[unit] = 1;
  }
  find_dead_rails(failures);
  find_silent_ways(sweep, failures);
  set_usual_share(sweep, failures);
  return failures;
}

}  // namespace fabricbench::cluster
