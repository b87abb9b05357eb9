#pragma once

#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/endpoint.h"
#include "common/backends/verbs/device.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/core/ownership.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"
#include "common/record/field.h"

namespace fabricbench::rdma_cm {

/// A queue pair made by rdma_create_qp belongs to its identifier.
inline void release_identifier(rdma_cm_id* identifier) {
  if (identifier->qp != nullptr) rdma_destroy_qp(identifier);
  (void)rdma_destroy_id(identifier);
}

using EventChannel = Handle<rdma_event_channel, &rdma_destroy_event_channel>;
using Identifier = Handle<rdma_cm_id, &release_identifier>;
/// Must be released before its identifier, whose destruction waits for it.
using PendingEvent = Handle<rdma_cm_event, &rdma_ack_cm_event>;

/// Why a call of librdmacm failed, and what to do: ENODEV and ENOENT (the kernel's module rdma_ucm), EADDRNOTAVAIL,
/// EACCES, others as in verbs::explain_call.
[[nodiscard]] std::string explain_call(const char* call, int error);

/// Throws Error (missing) with explain_call and errno unless `succeeded`.
void check(bool succeeded, const char* call);

/// The GIDs of a port that rdma_cm accepts as addresses: all on InfiniBand; on RoCE those for an IP address of the
/// host, either IPv4 or IPv6 beyond link-local. `asked` is -x. Throws Error (missing) if there is none, or if the
/// one asked for is not usable.
[[nodiscard]] std::vector<verbs::Gid> addressable(const verbs::PortFacts& port,
                                                  const std::optional<std::int64_t>& asked);

/// An IPv4, IPv6 or InfiniBand address with a port, 0 if rdma_cm is to choose one. An InfiniBand address (AF_IB) is the
/// GID itself, in the default partition: no IP over InfiniBand is needed. Its port is the end of a service identifier
/// that begins with `transport`. Source: rdma/rdma_cma.h; InfiniBand specification, annex A11.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const verbs::Gid& gid, std::uint16_t port, Transport transport);

  [[nodiscard]] sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage_); }

 private:
  sockaddr_storage storage_{};
};

/// Where a side listens, and the secret that connection requests must bring. It goes to the other rank over MPI.
struct ListenInfo {
  std::uint16_t port = 0;  ///< 0: it does not listen
  std::uint64_t secret = 0;
};

template <typename Visitor, record::Of<ListenInfo> Record>
void describe(Visitor& visitor, Record& info) {
  visitor.internal(info.port, info.secret);
}

/// What a connection request carries as its private data: the secret of the side that is asked, and a number that both
/// sides know the connection by, in network byte order.
using PrivateData = std::array<std::byte, sizeof(std::uint64_t) + sizeof(std::uint32_t)>;

[[nodiscard]] PrivateData make_private_data(std::uint64_t secret, std::uint32_t number);
/// The number; empty if the request has no private data with this secret: it is a stranger's.
[[nodiscard]] std::optional<std::uint32_t> number_in(const rdma_cm_event& request, Transport transport,
                                                     std::uint64_t secret);

/// Receives the events of all identifiers that it created. All methods throw Error (missing).
class Channel {
 public:
  Channel();

  [[nodiscard]] Identifier make_identifier(Transport transport) const;
  /// An identifier bound to the address of `gid`, with a port chosen by the system; the address must belong to
  /// `device`.
  [[nodiscard]] Identifier bind(const verbs::Gid& gid, const std::string& device, Transport transport) const;
  /// Waits for the next event, for at most `longest`; empty if none has come.
  [[nodiscard]] PendingEvent wait(Seconds longest) const;

 private:
  EventChannel channel_;
};

/// Starts to accept connection requests, of which `backlog` may wait; the kernel's limit is net.rdma_ucm.max_backlog.
/// Returns the port.
[[nodiscard]] std::uint16_t listen_at(rdma_cm_id* bound, std::size_t backlog = 16);

[[nodiscard]] EventKind kind_of(rdma_cm_event_type type);

/// The kernel's time limit for resolving: slightly less than a step's `limit`, because the kernel then reports the
/// reason.
[[nodiscard]] int resolving_ms(Seconds limit);

}  // namespace fabricbench::rdma_cm
