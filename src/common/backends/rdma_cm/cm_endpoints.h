#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/backends/rdma_cm/channel.h"
#include "common/backends/rdma_cm/endpoint.h"
#include "common/backends/verbs/device.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/core/rdma_options.h"

namespace fabricbench::rdma_cm {

struct EndpointSettings {
  std::string device;  ///< the device that the address must belong to
  verbs::Gid gid;      ///< from addressable(): the address to bind to
  Transport transport = Transport::kRc;
  std::uint32_t messages = 1;  ///< in each direction of a connection
  Bytes size = 0;
  Seconds limit = 5;         ///< time limit of resolving
  std::size_t parallel = 1;  ///< connections at the same time

  [[nodiscard]] bool datagrams() const { return transport == Transport::kUd; }
};

/// The endpoints of one side over librdmacm.
class CmEndpoints : public Endpoints {
 public:
  /// Starts to accept connection requests, on the accepting side.
  [[nodiscard]] virtual ListenInfo listen() = 0;
  /// For the connecting side.
  virtual void set_peer(const verbs::Gid& gid, const ListenInfo& listen_info) = 0;
};

/// Binds to the address, with a port chosen by the system. Throws Error (missing; usage if the device has too few queue
/// pairs or completions).
[[nodiscard]] std::unique_ptr<CmEndpoints> open_endpoints(const EndpointSettings& settings);

}  // namespace fabricbench::rdma_cm
