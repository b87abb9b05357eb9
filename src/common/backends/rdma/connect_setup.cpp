#include "common/backends/rdma/connect_setup.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma/routes.h"
#include "common/backends/rdma_cm/addresses.h"
#include "common/backends/rdma_cm/cm_links.h"
#include "common/backends/verbs/device.h"
#include "common/backends/verbs/introduction.h"
#include "common/core/error.h"
#include "common/engine/setup.h"
#include "common/host/files.h"
#include "common/host/identity.h"
#include "common/ranks/agreement.h"

namespace fabricbench {
namespace {

/// Both ends of a pair, the connecting one first.
struct Ends {
  verbs::PortFacts connecting;
  verbs::PortFacts accepting;
};

/// The addresses to which both ends bind.
struct Addresses {
  verbs::Gid connecting;
  verbs::Gid accepting;
  std::string description;
};

verbs::Gid gid_of(const verbs::PortFacts& port, int index) {
  return *std::find_if(port.gids.begin(), port.gids.end(), [&](const verbs::Gid& gid) { return gid.index == index; });
}

Addresses agreed_addresses(Ends ends, const std::optional<std::int64_t>& asked) {
  for (verbs::PortFacts* port : {&ends.connecting, &ends.accepting}) port->gids = rdma_cm::addressable(*port, asked);
  const auto& [first, second] = ends;
  const verbs::GidPair pair = asked ? verbs::check_gids(first.gids, second.gids, static_cast<int>(*asked))
                                    : verbs::choose_gids(first.gids, second.gids);
  return {gid_of(first, pair.first), gid_of(second, pair.second), pair.description};
}

void check_datagram_size(const Options& options, const Ends& ends) {
  const int mtu = std::min(ends.connecting.mtu, ends.accepting.mtu);
  if (options.rdma.transport != Transport::kUd || options.sizes.max_bytes <= static_cast<Bytes>(mtu)) return;
  throw UsageError(
      fmt::format("-c UD sends datagrams of {} bytes at most between {} and {}, and -s is {}; lower -s, "
                  "take -c RC, or raise the MTU of the interfaces",
                  mtu, ends.connecting.device, ends.accepting.device, exact_bytes(options.sizes.max_bytes)));
}

std::string route_of(const Ends& ends, const Addresses& addresses) {
  return fmt::format("{} port {} GID {} and {} port {} GID {} ({})", ends.connecting.device, ends.connecting.port,
                     verbs::describe(addresses.connecting), ends.accepting.device, ends.accepting.port,
                     verbs::describe(addresses.accepting), addresses.description);
}

rdma_cm::LinkSettings link_settings(const Options& options, const verbs::PortFacts& port, const verbs::Gid& gid) {
  return {port.device,
          gid,
          options.rdma.transport,
          static_cast<std::uint32_t>(options.rdma.messages),
          options.sizes.max_bytes,
          options.rdma.stall_timeout,
          static_cast<std::size_t>(options.rdma.parallel)};
}

/// Tells the connecting side where the other side listens, and both sides the name of the other one.
void meet(ConnectSetup& setup, rdma_cm::CmLinks& links, const Addresses& addresses,
          const rdma_cm::Invitation& invitation) {
  const mpi::Communicator& group = setup.team->group();
  const std::string own = host::name_of_process(setup.team->process_in_job(), setup.placed.host);
  const std::vector<std::string> names = all_gather(group, own);
  const std::vector<std::string> invitations = all_gather(group, to_text(invitation));
  const bool connects = setup.connects();
  if (connects) links.set_peer(addresses.accepting, rdma_cm::parse_invitation(invitations[1]));
  setup.peer = fmt::format("{} ({})", names[connects ? 1 : 0],
                           verbs::describe(connects ? addresses.accepting : addresses.connecting));
}

/// Where the kernel keeps fewer unanswered requests than come at the same time: it refuses the others. Empty if it
/// keeps enough, or does not say.
std::string small_backlog(const std::string& host, std::int64_t parallel) {
  const auto most = host::read_integer<std::int64_t>("/proc/sys/net/rdma_ucm/max_backlog");
  if (!most || *most >= parallel) return "";
  return fmt::format(
      "{} keeps at most {} requests that have not been answered yet, and refuses more; raise net.rdma_ucm.max_backlog "
      "with sysctl if requests are rejected",
      host, *most);
}

}  // namespace

ConnectSetup set_up_connections(const mpi::Communicator& world, int process, Options options,
                                const std::vector<std::string>& notices) {
  ConnectSetup setup;
  setup.options = std::move(options);
  setup.notices = notices;
  setup.team = std::make_unique<Team>(world, "DIV 2", process);
  setup.placed = place_processes(world);
  const RdmaOptions& rdma = setup.options.rdma;
  const std::string& host = setup.placed.host;
  const verbs::PortFacts own =
      everywhere(world, [&] { return verbs::open_device(rdma.device, static_cast<int>(rdma.port)).port; });
  const std::vector<std::string> introductions = all_gather(setup.team->group(), verbs::to_text({host, own, {}, {}}));
  const Ends ends{verbs::parse_introduction(introductions.at(0)).port,
                  verbs::parse_introduction(introductions.at(1)).port};
  const Addresses addresses = everywhere(world, [&] {
    check_datagram_size(setup.options, ends);
    return agreed_addresses(ends, rdma.gid);
  });
  rdma_cm::Invitation invitation;
  auto links = everywhere(world, [&] {
    const verbs::Gid& gid = setup.connects() ? addresses.connecting : addresses.accepting;
    auto made = std::make_unique<rdma_cm::CmLinks>(link_settings(setup.options, own, gid));
    if (!setup.connects()) invitation = made->listen();
    return made;
  });
  meet(setup, *links, addresses, invitation);
  setup.links = std::move(links);
  for (std::string& notice : route_notices(*setup.team, "rdma_cm", route_of(ends, addresses))) {
    setup.notices.push_back(std::move(notice));
  }
  const std::string backlog = setup.connects() ? "" : small_backlog(host, rdma.parallel);
  if (std::string text = kinds_notice(world, "Backlog", backlog); !text.empty()) {
    setup.notices.push_back(std::move(text));
  }
  return setup;
}

}  // namespace fabricbench
