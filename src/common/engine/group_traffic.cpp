#include "common/engine/group_traffic.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace fabricbench {
namespace {

using Counts = std::map<std::pair<int, std::string>, int>;  // by round or group, and by host

/// Groups of each round that send from a host to others.
Counts groups_on_hosts(const Context& context) {
  Counts counts;
  for (const GroupFacts& group : context.groups) {
    if (group.host_names.size() < 2) continue;
    for (const std::string& host : group.host_names) ++counts[{group.round, host}];
  }
  return counts;
}

Counts ranks_on_hosts(const Context& context) {
  Counts counts;
  for (const RankFacts& rank : context.ranks) ++counts[{rank.group, rank.host}];
  return counts;
}

/// On one host, each rank counts as a host: a GPU has links of its own.
RanksOnHosts place_of(int number, const GroupFacts& group, const Counts& ranks_on) {
  RanksOnHosts place{.ranks = 0, .hosts = static_cast<int>(group.host_names.size()), .most_on_a_host = 1};
  for (const std::string& host : group.host_names) {
    const auto found = ranks_on.find({number, host});
    const int ranks = found == ranks_on.end() ? 0 : found->second;
    place.ranks += ranks;
    place.most_on_a_host = std::max(place.most_on_a_host, ranks);
  }
  if (place.hosts == 1) place = {.ranks = place.ranks, .hosts = place.ranks, .most_on_a_host = 1};
  return place;
}

int groups_at_once(const GroupFacts& group, const Counts& groups_on) {
  int most = 1;
  for (const std::string& host : group.host_names) {
    const auto found = groups_on.find({group.round, host});
    if (found != groups_on.end()) most = std::max(most, found->second);
  }
  return most;
}

}  // namespace

void describe_traffic(const Test& test, Context& context) {
  const bool of_pairs = is_of_pairs(context.figure);
  const Counts groups_on = groups_on_hosts(context);
  const Counts ranks_on = ranks_on_hosts(context);
  for (std::size_t number = 0; number < context.groups.size(); ++number) {
    GroupFacts& group = context.groups[number];
    const RanksOnHosts place = of_pairs ? RanksOnHosts{.ranks = 2, .hosts = 2, .most_on_a_host = 1}
                                        : place_of(static_cast<int>(number), group, ranks_on);
    if (place.ranks < 2) continue;
    const HostTraffic traffic = test.host_traffic(place);
    const double busbw = test.counted_share(place.ranks) * test.bus_factor(place.ranks);
    if (traffic.usual > 0) group.usual_busbw = busbw / traffic.usual / groups_at_once(group, groups_on);
    if (traffic.least > 0) group.most_busbw = busbw / traffic.least;
  }
}

}  // namespace fabricbench
