#include "common/engine/describe.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/core/wording.h"
#include "common/engine/job.h"
#include "common/engine/sessions.h"
#include "common/engine/setup.h"
#include "common/host/environment.h"
#include "common/host/identity.h"
#include "common/host/nics.h"
#include "common/host/topology.h"
#include "common/measure/meter.h"
#include "common/mpi/environment.h"
#include "common/options/command_line.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

HostFacts describe_host(const std::string& name) {
  const host::Topology topology = host::topology();
  return {name,
          host::kernel_release(),
          host::processor_model(),
          topology.sockets,
          topology.cores,
          topology.processing_units,
          topology.last_level_cache_bytes,
          topology.nodes,
          host::network_devices(),
          host::switches_above()};
}

/// The first few names, and the number of the others.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  const auto shown = std::vector<std::string>(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, names.size())));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

/// What describe_all needs from a process's session.
struct OfSession {
  std::vector<GpuFacts> gpus;  // of this process's first ranks; others have none
  MemoryPath path{};
};

/// The ranks of all processes, of which each has `local_ranks`.
std::vector<RankFacts> describe_all(const Team& team, const ProcessLocation& location, int local_ranks,
                                    const OfSession& session) {
  std::vector<RankFacts> own(static_cast<std::size_t>(local_ranks));
  for (int local = 0; local < local_ranks; ++local) {
    RankFacts& rank = own[static_cast<std::size_t>(local)];
    rank.rank = team.process_in_job() * local_ranks + local;
    rank.local_rank = location.local_process * local_ranks + local;
    rank.pid = getpid();
    rank.host = location.host;
    rank.processor = host::processor_model();
    rank.binding = host::current_binding();
    rank.group = team.group_number();
    rank.group_rank = team.group().rank() * local_ranks + local;
    if (static_cast<std::size_t>(local) < session.gpus.size()) rank.gpu = session.gpus[static_cast<std::size_t>(local)];
    rank.reader_round_trip = session.path.reader_round_trip;
    rank.obstacles = session.path.obstacles;
    rank.host_memory_rate = session.path.host_memory_rate;
    rank.processes_on_host = location.local_processes;
    rank.processors_on_host = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  }
  return gather_lists_on_first(team.world(), own);
}

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

/// Adds the ports of the two processes of each pair, if they are known.
void describe_all_ports(const mpi::Communicator& world, const LocalPort& own, Context& context) {
  const std::vector<LocalPort> ports = gather_on_first(world, own);
  context.wire_rate = -world.max(-own.rate);
  for (std::size_t first = 0; first + 1 < ports.size() && !ports[first].name.empty(); first += 2) {
    describe_ports(ports[first], ports[first + 1], context.groups[first / 2]);
  }
}

}  // namespace

std::vector<std::string> distinct_hosts(const std::string& first, const std::string& second) {
  return first == second ? std::vector{first} : std::vector{first, second};
}

Context context_of(const mpi::Communicator& world, const Job& job, const Options& options,
                   const ProcessLocation& location) {
  Context context;
  context.program = job.program.name;
  context.command_line = job.command_line;
  context.options = options;
  context.option_values = option_values(job.program, options);
  context.launcher = mpi::launch_from_environment().variable;
  context.hosts = location.hosts;
  if (options.keeps_records()) context.host_facts = describe_hosts(world, location);
  context.environment = host::communication_variables();
  context.timer_cost = timer_cost();
  context.started = std::time(nullptr);
  return context;
}

Context describe_run(const Job& job, const Test& test, const Sessions& sessions, const Setup& setup) {
  const mpi::Communicator& world = setup.team->world();
  Context context = context_of(world, job, setup.options, setup.location);
  context.row_kind = test.traits().row_kind;
  context.backend = setup.backend.name;
  context.backend_reason = setup.backend.reason;
  context.library = setup.backend.session->library();
  context.nccl_version = setup.backend.session->nccl_version();
  context.ranks = describe_ranks(*setup.team, setup.location, *setup.backend.session, sessions);
  context.groups = is_of_pairs(context.row_kind) ? describe_pairs(context.ranks) : describe_groups(context.ranks);
  describe_traffic(test, context);
  describe_all_ports(world, sessions.local_port(), context);
  context.left_out_pairs = sessions.left_out_pairs();
  context.notices = setup.notices;
  context.time_means = test.traits().time_means;
  return context;
}

std::vector<RankFacts> describe_ranks(const Team& team, const ProcessLocation& location, const Session& session,
                                      const Sessions& sessions) {
  return describe_all(team, location, session.local_ranks(),
                      {sessions.describe_gpus(session.devices()), session.memory_path()});
}

std::vector<RankFacts> describe_processes(const Team& team, const ProcessLocation& location, std::vector<GpuFacts> gpus,
                                          int local_ranks) {
  return describe_all(team, location, local_ranks, {.gpus = std::move(gpus)});
}

std::vector<GroupFacts> describe_groups(const std::vector<RankFacts>& ranks) {
  std::vector<std::vector<int>> numbers;
  std::vector<std::vector<std::string>> hosts;
  for (const RankFacts& rank : ranks) {
    const auto group = static_cast<std::size_t>(rank.group);
    numbers.resize(std::max(numbers.size(), group + 1));
    hosts.resize(numbers.size());
    numbers[group].push_back(rank.rank);
    auto& known = hosts[group];
    if (std::find(known.begin(), known.end(), rank.host) == known.end()) known.push_back(rank.host);
  }
  std::vector<GroupFacts> groups;
  for (std::size_t group = 0; group < numbers.size(); ++group) {
    groups.push_back({folded(numbers[group]), some_of(hosts[group])});
    groups.back().host_names = std::move(hosts[group]);
  }
  return groups;
}

std::vector<GroupFacts> describe_pairs(const std::vector<RankFacts>& ranks) {
  std::vector<GroupFacts> pairs;
  for (std::size_t first = 0; first + 1 < ranks.size(); first += 2) {
    const RankFacts& second = ranks[first + 1];
    pairs.push_back(
        {fmt::format("{}, {}", ranks[first].rank, second.rank), fmt::format("{}, {}", ranks[first].host, second.host)});
    pairs.back().host_names = distinct_hosts(ranks[first].host, second.host);
  }
  return pairs;
}

void describe_ports(const LocalPort& first, const LocalPort& second, GroupFacts& pair) {
  if (first.name.empty()) return;
  pair.ports = fmt::format("{}, {}", first.name, second.name);
  const LocalPort& slower = second.rate < first.rate ? second : first;
  pair.wire_rate = slower.rate;
  pair.wire_rate_source = slower.rate_source;
}

std::vector<HostFacts> describe_hosts(const mpi::Communicator& world, const ProcessLocation& location) {
  std::vector<HostFacts> own;
  if (location.local_process == 0) own.push_back(describe_host(location.host));
  return gather_lists_on_first(world, own);
}

void describe_traffic(const Test& test, Context& context) {
  const bool of_pairs = is_of_pairs(context.row_kind);
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
