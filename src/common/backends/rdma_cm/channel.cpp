#include "common/backends/rdma_cm/channel.h"

#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <infiniband/ib.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "common/backends/verbs/explain.h"
#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

const char* hint_of(std::string_view call, int error) {
  const bool opens = call == "rdma_create_event_channel";
  if (opens && (error == ENODEV || error == ENOENT)) {
    return "the kernel's rdma_cm is not available to programs; load its module (modprobe rdma_ucm), and in a container "
           "pass "
           "--device=/dev/infiniband/rdma_cm";
  }
  if (opens && (error == EACCES || error == EPERM)) {
    return "this user may not use rdma_cm; check the permissions of /dev/infiniband/rdma_cm";
  }
  if (error == EADDRNOTAVAIL || error == ENODEV) {
    return "no RDMA device has this address; is its interface up, and does it still have its address (ip addr, rdma "
           "link)?";
  }
  return nullptr;
}

bool stands_for_address(const verbs::Gid& gid) {
  return gid.type == verbs::GidType::kInfiniBand || gid.is_ipv4() || !gid.is_link_local();
}

std::string listed(const std::vector<verbs::Gid>& gids) {
  std::string text;
  for (const verbs::Gid& gid : gids) text += (text.empty() ? "" : ", ") + verbs::describe(gid);
  return text.empty() ? "none" : text;
}

}  // namespace

std::string explain_call(const char* call, int error) {
  const char* hint = hint_of(call, error);
  if (hint == nullptr) return verbs::explain_call(call, error);
  return fmt::format("rdma_cm: {}: {}; {}", call, std::strerror(error), hint);
}

void check(bool succeeded, const char* call) {
  if (!succeeded) throw Error(ExitStatus::kMissing, explain_call(call, errno));
}

std::vector<verbs::Gid> addressable(const verbs::PortFacts& port, const std::optional<std::int64_t>& asked) {
  std::vector<verbs::Gid> usable;
  std::copy_if(port.gids.begin(), port.gids.end(), std::back_inserter(usable), stands_for_address);
  const auto fits = [&](const verbs::Gid& gid) { return !asked || gid.index == *asked; };
  if (std::any_of(usable.begin(), usable.end(), fits)) return usable;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("{}port {} of {} has no GID{} for an IP address, which rdma_cm needs; {} "
                  "It has: {}",
                  asked ? fmt::format("-x {}: ", *asked) : "", port.port, port.device, asked ? " of this index" : "",
                  asked && !usable.empty()
                      ? "name the index of one that does, or leave out -x."
                      : "give its interface one (ip addr add ADDRESS/LENGTH dev NAME; rdma link tells NAME).",
                  listed(port.gids)));
}

SocketAddress::SocketAddress(const verbs::Gid& gid, std::uint16_t port, Transport transport) {
  constexpr std::size_t kIpv4Begin = 12;
  if (gid.type == verbs::GidType::kInfiniBand) {
    sockaddr_ib address{};
    address.sib_family = AF_IB;
    address.sib_pkey = htobe16(verbs::kDefaultPartition);
    std::memcpy(&address.sib_addr, gid.raw.data(), sizeof address.sib_addr);
    address.sib_sid = htobe64((transport == Transport::kUd ? RDMA_IB_IP_PS_UDP : RDMA_IB_IP_PS_TCP) | port);
    address.sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK | (port == 0 ? 0 : RDMA_IB_IP_PORT_MASK));
    std::memcpy(&storage_, &address, sizeof address);
  } else if (gid.is_ipv4()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    std::memcpy(&address.sin_addr, gid.raw.data() + kIpv4Begin, sizeof address.sin_addr);
    std::memcpy(&storage_, &address, sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    std::memcpy(&address.sin6_addr, gid.raw.data(), sizeof address.sin6_addr);
    std::memcpy(&storage_, &address, sizeof address);
  }
}

PrivateData make_private_data(std::uint64_t secret, std::uint32_t number) {
  const std::uint64_t first = htobe64(secret);
  const std::uint32_t second = htobe32(number);
  PrivateData private_data{};
  std::memcpy(private_data.data(), &first, sizeof first);
  std::memcpy(private_data.data() + sizeof first, &second, sizeof second);
  return private_data;
}

std::optional<std::uint32_t> number_in(const rdma_cm_event& request, Transport transport, std::uint64_t secret) {
  const bool datagrams = transport == Transport::kUd;
  const void* const data = datagrams ? request.param.ud.private_data : request.param.conn.private_data;
  const std::size_t bytes = datagrams ? request.param.ud.private_data_len : request.param.conn.private_data_len;
  std::uint32_t number = 0;
  if (data == nullptr || bytes < sizeof(PrivateData)) return std::nullopt;
  std::memcpy(&number, static_cast<const std::byte*>(data) + sizeof secret, sizeof number);
  number = be32toh(number);
  const PrivateData wanted = make_private_data(secret, number);
  return std::memcmp(data, wanted.data(), wanted.size()) == 0 ? std::optional(number) : std::nullopt;
}

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
