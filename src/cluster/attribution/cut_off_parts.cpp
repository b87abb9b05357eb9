// Partitions of the cluster: hosts that work with each other, and not with the others.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/attribution/failures.h"
#include "cluster/disjoint_sets.h"

namespace fabricbench::cluster {
namespace {

/// A part is cut off if at least so much failed between it and the largest part, and nothing worked.
constexpr std::size_t kPairsOfCut = 4;
constexpr std::size_t kHostsOfCut = 2;  // of each of the two parts
constexpr std::size_t kRoundsOfCut = 3;
/// A dead host is measured with so many other dead hosts, and with so many hosts of each part.
constexpr std::ptrdiff_t kDeadToMeet = 2;
constexpr std::int32_t kDead = -1;

/// The failures between a part and the largest part.
struct Cut {
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  std::set<std::int32_t> hosts;   ///< of the part
  std::set<std::int32_t> others;  ///< of the largest
  std::set<std::int32_t> rounds;
  std::int64_t readings = 0;
  std::size_t first = 0;

  [[nodiscard]] bool is_one() const {
    return pairs.size() >= kPairsOfCut && hosts.size() >= kHostsOfCut && others.size() >= kHostsOfCut &&
           rounds.size() >= kRoundsOfCut;
  }
  void add(const Reading& reading, std::size_t place, std::int32_t own, std::int32_t other) {
    if (readings == 0) first = place;
    ++readings;
    pairs.insert({own, other});
    hosts.insert(own);
    others.insert(other);
    rounds.insert(reading.round);
  }
};

/// The failures between each part and the part `largest`.
std::map<std::int32_t, Cut> cuts_of(const Sweep& sweep, const std::vector<std::int32_t>& part_of,
                                    std::int32_t largest) {
  std::map<std::int32_t, Cut> cuts;
  for (std::size_t place = 0; place < sweep.readings.size(); ++place) {
    const Reading& reading = sweep.readings[place];
    if (reading.outcome != Outcome::kFailed) continue;
    const std::int32_t from = part_of[static_cast<std::size_t>(reading.from)];
    const std::int32_t to = part_of[static_cast<std::size_t>(reading.to)];
    if (from < 0 || to < 0 || from == to) continue;
    if (to == largest) cuts[from].add(reading, place, reading.from, reading.to);
    if (from == largest) cuts[to].add(reading, place, reading.to, reading.from);
  }
  return cuts;
}

/// By host, its part: all hosts that successful readings connect. A part has the number of one of its hosts; a host
/// alone has -1.
std::vector<std::int32_t> connected_parts(const Sweep& sweep) {
  DisjointSets connected(sweep.hosts.size());
  for (const Reading& reading : sweep.readings) {
    if (reading.outcome == Outcome::kMeasured) connected.join(reading.from, reading.to);
  }
  std::vector<std::int32_t> part_of;
  std::vector<std::int32_t> hosts(sweep.hosts.size(), 0);
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    part_of.push_back(connected.representative(static_cast<std::int32_t>(host)));
    ++hosts[static_cast<std::size_t>(part_of.back())];
  }
  for (std::int32_t& part : part_of) {
    if (hosts[static_cast<std::size_t>(part)] < 2) part = -1;
  }
  return part_of;
}

/// The part with most hosts; -1: there is none.
std::int32_t largest_part(const std::vector<std::int32_t>& part_of) {
  std::map<std::int32_t, std::int64_t> hosts;
  std::int32_t largest = -1;
  for (const std::int32_t part : part_of) {
    if (part >= 0) ++hosts[part];
  }
  for (const auto& [part, number] : hosts) {
    if (largest < 0 || number > hosts[largest]) largest = part;
  }
  return largest;
}

Finding cut_finding(const Sweep& sweep, const Failures& failures, std::int32_t part, const Cut& cut) {
  Finding finding;
  finding.blame = Blame::kCutOff;
  for (std::size_t host = 0; host < failures.part_of.size(); ++host) {
    if (failures.part_of[host] == part) finding.hosts.push_back(static_cast<std::int32_t>(host));
  }
  finding.readings = finding.failed = cut.readings;
  finding.partners = static_cast<std::int64_t>(cut.others.size());
  finding.false_alarm = chance_of_run(sweep, failures.usual_share, static_cast<std::int64_t>(cut.rounds.size()));
  finding.reason = reason_of(sweep, cut.first);
  return finding;
}

/// Which dead hosts, and which parts, have met. Adds follow-ups for those that have not.
class DeadMeetings {
 public:
  DeadMeetings(const Sweep& sweep, const std::map<std::int32_t, std::vector<std::int32_t>>& parts) {
    std::vector<std::int32_t> part_of(sweep.hosts.size(), kNoPart);
    for (const auto& [part, hosts] : parts) {
      for (const std::int32_t host : hosts) part_of[static_cast<std::size_t>(host)] = part;
    }
    for (const Reading& reading : sweep.readings) {
      const std::int32_t from = part_of[static_cast<std::size_t>(reading.from)];
      const std::int32_t to = part_of[static_cast<std::size_t>(reading.to)];
      between_.insert(std::minmax(from, to));
      if (from == kDead || to == kDead) met_.insert(std::minmax(reading.from, reading.to));
    }
  }

  [[nodiscard]] bool has(std::int32_t host, std::int32_t other) const {
    return met_.contains(std::minmax(host, other));
  }
  [[nodiscard]] bool any_between(std::int32_t part, std::int32_t other) const {
    return between_.contains(std::minmax(part, other));
  }
  /// Adds a follow-up: whether two hosts work with each other. Returns false if they have met, or if it has been added
  /// before.
  bool ask(std::int32_t a, std::int32_t b, Verdict& verdict) {
    const auto [host, other] = std::minmax(a, b);
    if (host == other || !met_.insert({host, other}).second) return false;
    FollowUp follow_up{host, other, 0, 1, "both fail with the others: do they work with each other?", true};
    follow_up.of_dead = true;
    verdict.follow_ups.push_back(std::move(follow_up));
    return true;
  }

 private:
  static constexpr std::int32_t kNoPart = -2;
  std::set<std::pair<std::int32_t, std::int32_t>> met_;      // hosts, of which one is dead
  std::set<std::pair<std::int32_t, std::int32_t>> between_;  // parts
};

}  // namespace

void find_parts(const Sweep& sweep, Failures& failures) {
  std::vector<std::int32_t> part_of = connected_parts(sweep);
  const std::int32_t largest = largest_part(part_of);
  std::set<std::int32_t> known;
  for (const auto& [part, cut] : cuts_of(sweep, part_of, largest)) {
    if (cut.is_one()) known.insert(part);
  }
  if (known.empty()) return;
  known.insert(largest);
  for (std::int32_t& part : part_of) {
    if (!known.contains(part)) part = -1;
  }
  failures.largest_part = largest;
  failures.part_of = std::move(part_of);
}

void report_parts(const Sweep& sweep, const Failures& failures, Verdict& verdict) {
  if (failures.part_of.empty()) return;
  for (const auto& [part, cut] : cuts_of(sweep, failures.part_of, failures.largest_part)) {
    verdict.findings.push_back(cut_finding(sweep, failures, part, cut));
  }
}

void follow_up_dead_hosts(const Sweep& sweep, const Failures& failures, Verdict& verdict) {
  std::map<std::int32_t, std::vector<std::int32_t>> parts;  // their hosts by part, the dead as one of their own
  for (std::int32_t host = 0; host < static_cast<std::int32_t>(sweep.hosts.size()); ++host) {
    if (failures.host_is_dead(host)) {
      parts[kDead].push_back(host);
    } else if (!failures.part_of.empty() && failures.part_of[static_cast<std::size_t>(host)] >= 0) {
      parts[failures.part_of[static_cast<std::size_t>(host)]].push_back(host);
    }
  }
  if (parts.empty()) return;
  DeadMeetings met(sweep, parts);
  const std::vector<std::int32_t> dead = parts[kDead];
  for (const auto& [part, hosts] : parts) {
    for (std::size_t i = 0; i < dead.size(); ++i) {
      auto known =
          std::count_if(hosts.begin(), hosts.end(), [&](std::int32_t other) { return met.has(dead[i], other); });
      // Each dead host begins with a different partner, so that all of them can be measured in one round.
      for (std::size_t step = 1; step <= hosts.size() && known < kDeadToMeet; ++step) {
        known += met.ask(dead[i], hosts[(i + step) % hosts.size()], verdict) ? 1 : 0;
      }
    }
  }
  // Two parts that are cut off may be one part.
  for (auto first = parts.begin(); first != parts.end(); ++first) {
    for (auto second = std::next(first); second != parts.end(); ++second) {
      const bool is_of_cut =
          first->first != kDead && first->first != failures.largest_part && second->first != failures.largest_part;
      if (is_of_cut && !met.any_between(first->first, second->first)) {
        met.ask(first->second.front(), second->second.front(), verdict);
      }
    }
  }
}

}  // namespace fabricbench::cluster
