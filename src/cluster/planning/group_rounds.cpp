#include "cluster/planning/group_rounds.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

using HostsMet = std::vector<std::set<std::int32_t>>;  // by host

/// The hosts of a group that take part.
std::vector<std::int32_t> members_of(const Group& group, const SweepProgress& progress) {
  std::vector<std::int32_t> members = group.hosts;
  std::erase_if(members, [&](std::int32_t host) { return progress.left_out[static_cast<std::size_t>(host)] != 0; });
  return members;
}

/// By host, the hosts that it has met, over the readings that `wanted` takes.
template <typename Wanted>
HostsMet hosts_met(const Sweep& sweep, const Wanted& wanted) {
  HostsMet met(sweep.hosts.size());
  for (const Reading& reading : sweep.readings) {
    if (reading.from == reading.to || !wanted(reading)) continue;
    met[static_cast<std::size_t>(reading.from)].insert(reading.to);
    met[static_cast<std::size_t>(reading.to)].insert(reading.from);
  }
  return met;
}

HostsMet met_within(const Sweep& sweep, const Grouping& grouping) {
  const std::vector<std::int32_t> group_of = groups_of(grouping, sweep.hosts.size());
  return hosts_met(sweep, [&](const Reading& reading) {
    const std::int32_t group = group_of[static_cast<std::size_t>(reading.from)];
    return group >= 0 && group == group_of[static_cast<std::size_t>(reading.to)];
  });
}

/// Adds a meeting of one host of each list that have not met, if there are such, and removes both from the lists.
void pair_unmet(std::vector<std::int32_t>& first, std::vector<std::int32_t>& second, const HostsMet& met,
                std::vector<Meeting>& meetings) {
  for (auto host = first.begin(); host != first.end(); ++host) {
    const std::set<std::int32_t>& known = met[static_cast<std::size_t>(*host)];
    const auto other =
        std::find_if(second.begin(), second.end(), [&](std::int32_t each) { return known.count(each) == 0; });
    if (other == second.end()) continue;
    meetings.push_back({*host, *other});
    first.erase(host);
    second.erase(other);
    return;
  }
}

/// By group, the hosts that take part and have no meeting.
std::vector<std::vector<std::int32_t>> idle_members(const OpenGroups& open, const SweepProgress& progress,
                                                    const std::vector<Meeting>& meetings) {
  std::vector<std::uint8_t> engaged = progress.left_out;
  for (const Meeting& meeting : meetings) {
    engaged[static_cast<std::size_t>(meeting.first)] = engaged[static_cast<std::size_t>(meeting.second)] = 1;
  }
  std::vector<std::vector<std::int32_t>> members;
  for (std::size_t host = 0; host < engaged.size(); ++host) {
    const std::int32_t group = open.group_of[host];
    if (group < 0 || engaged[host] != 0) continue;
    members.resize(std::max(members.size(), static_cast<std::size_t>(group) + 1));
    members[static_cast<std::size_t>(group)].push_back(static_cast<std::int32_t>(host));
  }
  return members;
}

/// Adds pairs of a group's hosts that have not met, for hosts that have met fewer than `wanted`.
void pair_within(const std::vector<std::int32_t>& members, const HostsMet& met, std::size_t wanted, std::size_t at_once,
                 std::vector<Meeting>& meetings) {
  const auto number_met = [&](std::int32_t host) { return met[static_cast<std::size_t>(host)].size(); };
  std::vector<std::int32_t> waiting = members;
  std::stable_sort(waiting.begin(), waiting.end(),
                   [&](std::int32_t a, std::int32_t b) { return number_met(a) < number_met(b); });
  while (waiting.size() > 1 && meetings.size() < at_once && number_met(waiting.front()) < wanted) {
    const std::int32_t host = waiting.front();
    waiting.erase(waiting.begin());
    const std::set<std::int32_t>& known = met[static_cast<std::size_t>(host)];
    const auto partner =
        std::find_if(waiting.begin(), waiting.end(), [&](std::int32_t other) { return known.count(other) == 0; });
    if (partner == waiting.end()) continue;
    meetings.push_back({host, *partner});
    waiting.erase(partner);
  }
}

}  // namespace

std::vector<std::int32_t> groups_of(const Grouping& grouping, std::size_t hosts) {
  std::vector<std::int32_t> group_of(hosts, -1);
  const std::vector<Group>& groups = grouping.groups;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::int32_t host : groups[group].hosts) {
      group_of[static_cast<std::size_t>(host)] = static_cast<std::int32_t>(group);
    }
  }
  return group_of;
}

std::optional<PlannedRound> round_between_groups(const Sweep& sweep, const SweepProgress& progress,
                                                 const Verdict& verdict, std::int64_t at_once,
                                                 std::int64_t most_rounds) {
  std::size_t pairs = 0;
  for (const OpenGroups& open : verdict.open_groups) pairs += open.groups.size();
  if (pairs == 0 || std::cmp_greater(pairs, most_rounds * at_once)) return std::nullopt;
  const HostsMet met = hosts_met(sweep, [](const Reading&) { return true; });
  PlannedRound round;
  for (const OpenGroups& open : verdict.open_groups) {
    std::vector<std::vector<std::int32_t>> idle = idle_members(open, progress, round.meetings);
    for (const auto& [first, second] : open.groups) {
      if (std::cmp_greater_equal(round.meetings.size(), at_once)) break;
      const auto last = static_cast<std::size_t>(std::max(first, second));
      if (last >= idle.size()) continue;
      pair_unmet(idle[static_cast<std::size_t>(first)], idle[static_cast<std::size_t>(second)], met, round.meetings);
    }
  }
  if (round.meetings.empty()) return std::nullopt;
  round.why = fmt::format("{} {} of hosts that may be near each other, to find groups", round.meetings.size(),
                          round.meetings.size() == 1 ? "pair" : "pairs");
  return round;
}

std::optional<PlannedRound> round_within_groups(const Sweep& sweep, const SweepProgress& progress,
                                                const Verdict& verdict, std::int64_t at_once, std::int64_t partners,
                                                double most_across) {
  if (verdict.groups_are_open) return std::nullopt;
  for (const Grouping& grouping : verdict.groupings) {
    if (grouping.across >= most_across) continue;
    const HostsMet met = met_within(sweep, grouping);
    PlannedRound round;
    for (const Group& group : grouping.groups) {
      const std::vector<std::int32_t> members = members_of(group, progress);
      const std::size_t others = members.empty() ? 0 : members.size() - 1;
      const std::size_t wanted = std::min(static_cast<std::size_t>(partners), others);
      pair_within(members, met, wanted, static_cast<std::size_t>(at_once), round.meetings);
    }
    if (round.meetings.empty()) continue;
    round.why = fmt::format("{} {} within groups, because paths between groups hide the bandwidth of hosts",
                            round.meetings.size(), round.meetings.size() == 1 ? "pair" : "pairs");
    return round;
  }
  return std::nullopt;
}

}  // namespace fabricbench::cluster
