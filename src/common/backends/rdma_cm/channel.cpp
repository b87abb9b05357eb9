#include "common/backends/rdma_cm/channel.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include <fmt/format.h>

#include "common/backends/rdma_cm/addresses.h"
#include "common/backends/rdma_cm/check.h"
#include "common/core/error.h"

namespace fabricbench::rdma_cm {

Channel::Channel() : channel_(rdma_create_event_channel()) {
  check(channel_ != nullptr, "rdma_create_event_channel");
  check(fcntl(channel_->fd, F_SETFL, O_NONBLOCK) == 0, "fcntl");
}

Identifier Channel::make_identifier(Transport transport) const {
  rdma_cm_id* made = nullptr;
  const rdma_port_space space = transport == Transport::kUd ? RDMA_PS_UDP : RDMA_PS_TCP;
  check(rdma_create_id(channel_.get(), &made, nullptr, space) == 0, "rdma_create_id");
  return Identifier(made);
}

Identifier Channel::bind(const verbs::Gid& gid, const std::string& device, Transport transport) const {
  Identifier bound = make_identifier(transport);
  check(rdma_bind_addr(bound.get(), SocketAddress(gid, 0, transport).generic()) == 0, "rdma_bind_addr");
  if (bound->verbs != nullptr && device == ibv_get_device_name(bound->verbs->device)) return bound;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("rdma_cm takes the address of GID {} for {}, and not for {}; name the one with -d, or give each "
                  "interface an address of its own",
                  verbs::describe(gid),
                  bound->verbs == nullptr ? "no device's" : ibv_get_device_name(bound->verbs->device), device));
}

PendingEvent Channel::wait(Seconds longest) const {
  pollfd waiting{channel_->fd, POLLIN, 0};
  constexpr Seconds kMost = 1e6;  // an int holds its milliseconds
  const int ready = ::poll(&waiting, 1, static_cast<int>(std::ceil(std::min(longest, kMost) * 1000)));
  if (ready < 0 && errno == EINTR) return nullptr;
  check(ready >= 0, "poll");
  rdma_cm_event* got = nullptr;
  if (ready == 0) return nullptr;
  if (rdma_get_cm_event(channel_.get(), &got) == 0) return PendingEvent(got);
  check(errno == EAGAIN, "rdma_get_cm_event");
  return nullptr;
}

std::uint16_t listen_at(rdma_cm_id* bound, std::size_t backlog) {
  check(rdma_listen(bound, static_cast<int>(backlog)) == 0, "rdma_listen");
  return ntohs(rdma_get_src_port(bound));
}

EventKind kind_of(rdma_cm_event_type type) {
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: return EventKind::kAddressResolved;
    case RDMA_CM_EVENT_ADDR_ERROR: return EventKind::kAddressError;
    case RDMA_CM_EVENT_ROUTE_RESOLVED: return EventKind::kRouteResolved;
    case RDMA_CM_EVENT_ROUTE_ERROR: return EventKind::kRouteError;
    case RDMA_CM_EVENT_CONNECT_REQUEST: return EventKind::kConnectRequest;
    case RDMA_CM_EVENT_CONNECT_RESPONSE: return EventKind::kConnectResponse;
    case RDMA_CM_EVENT_CONNECT_ERROR: return EventKind::kConnectError;
    case RDMA_CM_EVENT_UNREACHABLE: return EventKind::kUnreachable;
    case RDMA_CM_EVENT_REJECTED: return EventKind::kRejected;
    case RDMA_CM_EVENT_ESTABLISHED: return EventKind::kEstablished;
    case RDMA_CM_EVENT_DISCONNECTED: return EventKind::kDisconnected;
    case RDMA_CM_EVENT_DEVICE_REMOVAL: return EventKind::kDeviceRemoved;
    case RDMA_CM_EVENT_ADDR_CHANGE: return EventKind::kAddressChange;
    default: return EventKind::kOther;
  }
}

int resolving_ms(Seconds limit) { return std::max(1, static_cast<int>(std::floor(limit * 900))); }

}  // namespace fabricbench::rdma_cm
