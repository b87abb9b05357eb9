#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// The settings of one side's connections.
struct SideSettings {
  Transport transport = Transport::kRc;
  std::uint32_t messages = 1;  ///< per direction of a connection
  Seconds limit = 5;           ///< longest time without an answer in a step
  std::string peer;            ///< such as `rank 1 on node-07 (10.0.0.7)`
  std::function<Seconds()> clock;
  std::size_t parallel = 1;  ///< connections at the same time

  [[nodiscard]] bool datagrams() const { return transport == Transport::kUd; }
};

}  // namespace fabricbench::rdma_cm
