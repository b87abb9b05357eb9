#include "common/backends/rdma/local_port.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma/port_choice.h"
#include "common/backends/verbs/device.h"
#include "common/core/error.h"
#include "common/core/shortened_list.h"
#include "common/host/network.h"
#include "common/host/pci_locality.h"
#include "common/host/topology.h"
#include "common/ranks/agreement.h"
#include "common/ranks/exchange.h"
#include "common/ranks/placement.h"

namespace fabricbench {
namespace {

bool is_in_a_pair(const PairPlan& plan, int rank) {
  return std::any_of(plan.pairs.begin(), plan.pairs.end(),
                     [&](const Pair& pair) { return pair.first == rank || pair.second == rank; });
}

PortDistance distance_to(const std::string& device, int port, const std::vector<host::NetworkDevice>& known) {
  const std::string name = fmt::format("{}:{}", device, port);
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& each) { return each.name == name; });
  if (found == known.end() || !found->numa_node) return PortDistance::kUnknown;
  switch (host::node_binding(*found->numa_node, host::current_binding())) {
    case host::NodeBinding::kInside: return PortDistance::kNear;
    case host::NodeBinding::kOutside: return PortDistance::kFar;
    case host::NodeBinding::kPartly:
    case host::NodeBinding::kUnknown: break;
  }
  return PortDistance::kUnknown;
}

std::string kind_of(const verbs::PortState& port) {
  const char* layer = port.ethernet ? "Ethernet" : "InfiniBand";
  if (port.other_layer) layer = "unspecified link layer";
  return port.rate > 0 ? fmt::format("{}, {:.4g} Gb/s", layer, port.rate * 8 / 1e9) : layer;
}

/// The devices of this host; none if it has no RDMA at all, which is learned when one is opened.
std::vector<verbs::DeviceState> known_devices() {
  try {
    return verbs::device_states();
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kMissing) throw;
    return {};
  }
}

RankPorts look_around(const Placed& placed, int asked_port) {
  RankPorts found{placed.host_id, placed.host, {}, {}, {}};
  const std::vector<host::NetworkDevice> known = host::network_devices();
  for (const verbs::DeviceState& device : known_devices()) {
    found.devices.push_back(device.name);
    const int number = verbs::active_port(device, asked_port);
    if (number == 0) {
      found.unusable.push_back({placed.host, device.name, verbs::why_unusable(device, asked_port)});
      continue;
    }
    const auto port = std::find_if(device.ports.begin(), device.ports.end(),
                                   [&](const verbs::PortState& each) { return each.number == number; });
    found.active.push_back(
        {device.name, number, distance_to(device.name, number, known), kind_of(*port), device.virtual_function});
  }
  return found;
}

/// The port that --devices gives this process; adds the devices that it leaves out.
ChosenPort chosen_port(const mpi::Communicator& job, const PairPlan& plan, const Placed& placed, bool takes_part,
                       const RdmaOptions& rdma, SettledPort& settled) {
  const RankPorts own = takes_part ? look_around(placed, static_cast<int>(rdma.port)) : RankPorts();
  const auto ranks = broadcast_from_first(job, gather_on_first(job, own));
  const PortChoice choice = choose_ports(rdma.devices, ranks, plan.pairs);
  if (!choice.notice.empty()) settled.notices.push_back(choice.notice);
  for (std::string& line : left_out_notices(choice.left_out)) settled.notices.push_back(std::move(line));
  return choice.ports[static_cast<std::size_t>(job.rank())];
}

/// The port that a process has opened for a moment, or why it could not.
struct Attempt {
  std::optional<verbs::PortFacts> port;
  std::vector<LeftOutDevice> passed_by;
  StepProblem problem;
};

Attempt try_to_open(const SettledPort& chosen, const std::string& host) {
  Attempt attempt;
  try {
    verbs::OpenDevice opened = verbs::open_device(chosen.device, chosen.port);
    for (const verbs::UnusableDevice& each : opened.passed_by)
      attempt.passed_by.push_back({host, each.name, each.reason});
    attempt.port = std::move(opened.port);
  } catch (const Error& error) {
    if (error.status() != ExitStatus::kMissing) throw;
    attempt.problem = {error.status(), error.what()};
  }
  return attempt;
}

/// The numbers of the pairs with a process that has a problem, and a line on each. `problems`: by process; empty: none.
std::set<int> pairs_with_problems(const PairPlan& plan, const std::vector<std::string>& problems,
                                  std::vector<std::string>& lines) {
  std::set<int> numbers;
  for (std::size_t number = 0; number < plan.pairs.size(); ++number) {
    const auto [first, second] = plan.pairs[number];
    for (const int rank : {first, second}) {
      const std::string& problem = problems[static_cast<std::size_t>(rank)];
      if (problem.empty() || !numbers.insert(static_cast<int>(number)).second) continue;
      lines.push_back(fmt::format("Left out: the pair of ranks {} and {}, because of rank {} on host {}: {}", first,
                                  second, rank, plan.hosts[static_cast<std::size_t>(rank)], problem));
    }
  }
  return numbers;
}

/// Leaves pairs out of the plan in which a process has a problem. Throws if none is left. Collective.
void leave_out_pairs(const mpi::Communicator& job, PairPlan& plan, const StepProblem& own, SettledPort& settled) {
  constexpr std::size_t kMostLines = 16;  // in the banner
  std::vector<std::string> lines;
  const std::set<int> numbers =
      pairs_with_problems(plan, broadcast_from_first(job, gather_on_first(job, own.text)), lines);
  if (numbers.size() == plan.pairs.size()) throw_everywhere(job, own);
  settled.left_out_pairs = static_cast<std::int64_t>(numbers.size());
  plan = without_pairs(std::move(plan), numbers);
  for (std::string& line : shortened(std::move(lines), kMostLines, "more pairs that were left out"))
    settled.notices.push_back(std::move(line));
}

}  // namespace

SettledPort settle_port(const mpi::Communicator& job, PairPlan& plan, const Options& options) {
  const RdmaOptions& rdma = options.rdma;
  const Placed placed = place_processes(job);
  const bool takes_part = is_in_a_pair(plan, job.rank());
  SettledPort settled{rdma.device, static_cast<int>(rdma.port), {}, {}};
  if (!rdma.devices.empty()) {
    const ChosenPort chosen = chosen_port(job, plan, placed, takes_part, rdma, settled);
    settled.device = chosen.device;
    if (chosen.port > 0) settled.port = chosen.port;
  }
  const Attempt attempt = takes_part ? try_to_open(settled, placed.host) : Attempt();
  const auto passed_by = broadcast_from_first(job, gather_lists_on_first(job, attempt.passed_by));
  for (std::string& line : left_out_notices(passed_by)) settled.notices.push_back(std::move(line));
  leave_out_pairs(job, plan, attempt.problem, settled);
  if (!attempt.port || !is_in_a_pair(plan, job.rank())) {
    settled.device.clear();
    return settled;
  }
  settled.device = attempt.port->device;
  settled.port = attempt.port->port;
  const std::string name = fmt::format("{} port {}", settled.device, settled.port);
  settled.facts = {name, attempt.port->rate,
                   fmt::format("{} of host {} (its driver reports '{}')", name, placed.host, attempt.port->rate_text)};
  return settled;
}

}  // namespace fabricbench
