#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/backends/verbs/device.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

/// The GIDs of a port that rdma_cm accepts as addresses: all on InfiniBand; on RoCE those for an IP address of the
/// host, either IPv4 or IPv6 beyond link-local. `asked` is -x. Throws Error (missing) if there is none, or if the one
/// asked for is not usable.
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

}  // namespace fabricbench::rdma_cm
