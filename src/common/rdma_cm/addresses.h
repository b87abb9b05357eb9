#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/verbs/device.h"
#include "common/verbs/gid_choice.h"

namespace fabricbench::rdma_cm {

/// The GIDs of a port that stand for an address of the host's network, which is what rdma_cm takes: IPv4 ones, and IPv6
/// ones that reach further than their link. `asked` is -x. Throws Error (missing) where there is none of them, or where
/// the one asked for is none.
[[nodiscard]] std::vector<verbs::Gid> addressable(const verbs::PortFacts& port,
                                                  const std::optional<std::int64_t>& asked);

/// An IPv4 or IPv6 address with a port.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const verbs::Gid& gid, std::uint16_t port);

  [[nodiscard]] sockaddr* generic() { return reinterpret_cast<sockaddr*>(&storage_); }

 private:
  sockaddr_storage storage_{};
};

}  // namespace fabricbench::rdma_cm
