#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/backends/verbs/device.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

/// The GIDs of a port that rdma_cm takes as addresses: all of InfiniBand; on RoCE those that stand for an address of
/// the host's network, which are IPv4 ones, and IPv6 ones that reach further than their link. `asked` is -x. Throws
/// Error (missing) where there is none of them, or where the one asked for is none.
[[nodiscard]] std::vector<verbs::Gid> addressable(const verbs::PortFacts& port,
                                                  const std::optional<std::int64_t>& asked);

/// An IPv4, IPv6 or InfiniBand address with a port, 0 where rdma_cm is to choose one. An InfiniBand one (AF_IB) is the
/// GID itself, in the default partition: no IP over InfiniBand is needed. Its port is the end of a service identifier,
/// of which `transport` is the beginning. Source: rdma/rdma_cma.h; InfiniBand specification, annex A11.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const verbs::Gid& gid, std::uint16_t port, Transport transport);

  [[nodiscard]] sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage_); }

 private:
  sockaddr_storage storage_{};
};

}  // namespace fabricbench::rdma_cm
