#include "common/backends/rdma/local_port.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma/port_choice.h"
#include "common/backends/verbs/device.h"
#include "common/core/error.h"
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

RankPorts look_around(const Placed& placed, int asked_port) {
  RankPorts found{placed.host_id, placed.host, {}, {}};
  const std::vector<host::NetworkDevice> known = host::network_devices();
  for (const verbs::DeviceState& device : verbs::device_states()) {
    found.devices.push_back(device.name);
    const int port = verbs::active_port(device, asked_port);
    if (port > 0) found.active.push_back({device.name, port, distance_to(device.name, port, known)});
  }
  return found;
}

/// The port that --devices gives this process.
ChosenPort chosen_port(const mpi::Communicator& job, const PairPlan& plan, const Placed& placed, bool takes_part,
                       const RdmaOptions& rdma, std::vector<std::string>& notices) {
  const RankPorts own =
      everywhere(job, [&] { return takes_part ? look_around(placed, static_cast<int>(rdma.port)) : RankPorts(); });
  const auto ranks = broadcast_from_first(job, gather_on_first(job, own));
  const PortChoice choice = choose_ports(rdma.devices, ranks, plan.pairs);
  if (!choice.notice.empty()) notices.push_back(choice.notice);
  return choice.ports[static_cast<std::size_t>(job.rank())];
}

}  // namespace

SettledPort settle_port(const mpi::Communicator& job, const PairPlan& plan, const Options& options) {
  const RdmaOptions& rdma = options.rdma;
  const Placed placed = place_processes(job);
  const bool takes_part = is_in_a_pair(plan, job.rank());
  SettledPort settled{rdma.device, static_cast<int>(rdma.port), {}, {}};
  if (!rdma.devices.empty()) {
    const ChosenPort chosen = chosen_port(job, plan, placed, takes_part, rdma, settled.notices);
    settled.device = chosen.device;
    if (chosen.port > 0) settled.port = chosen.port;
  }
  const auto port = everywhere(job, [&] {
    return takes_part ? std::optional(verbs::open_device(settled.device, settled.port).port) : std::nullopt;
  });
  if (!port) return settled;
  settled.device = port->device;
  settled.port = port->port;
  settled.facts = {fmt::format("{} port {}", port->device, port->port), port->rate};
  return settled;
}

}  // namespace fabricbench
