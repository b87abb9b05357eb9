#include "common/backends/rdma_cm/cm_connector.h"

#include <utility>

#include <fmt/format.h>

#include "common/backends/rdma_cm/addresses.h"
#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

QueuePairSettings settings_of(const verbs::Meeting& meeting) {
  const auto peer = [&meeting](int queue_pair) {
    return fmt::format("{} port {} of host {}, queue pair {:#x} ({})", meeting.peer.port.device, meeting.peer.port.port,
                       meeting.peer.host, meeting.peer.queue_pairs.at(static_cast<std::size_t>(queue_pair)),
                       verbs::describe(meeting.peer_gid()));
  };
  return {meeting.transport, static_cast<int>(meeting.own.queue_pairs.size()), meeting.first, meeting.limit, peer, now};
}

}  // namespace

std::vector<verbs::Gid> CmConnector::usable_gids(const verbs::PortFacts& port,
                                                 const std::optional<std::int64_t>& asked) const {
  return addressable(port, asked);
}

std::string CmConnector::invite(const verbs::Meeting& meeting) {
  queue_pairs_ = std::make_unique<CmQueuePairs>(meeting);
  const bool is_called = !meeting.first || meeting.transport == Transport::kUd;
  return to_text(is_called ? queue_pairs_->listen() : Invitation{});
}

verbs::Connected CmConnector::connect(const verbs::Meeting& meeting, const verbs::OwnQueuePairs& own,
                                      const std::string& invitation) {
  queue_pairs_->take(own, parse_invitation(invitation));
  try {
    connect_queue_pairs(*queue_pairs_, settings_of(meeting));
  } catch (const Error& error) {
    throw Error(error.status() == ExitStatus::kTimeout ? ExitStatus::kTimeout : ExitStatus::kFailure,
                fmt::format("rdma_cm: {}; {}", error.what(),
                            verbs::own_port_text(own.device.port, verbs::current_state(own.device))));
  }
  return queue_pairs_->connected();
}

}  // namespace fabricbench::rdma_cm
