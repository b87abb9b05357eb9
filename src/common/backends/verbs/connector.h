#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/verbs/device.h"
#include "common/backends/verbs/handles.h"
#include "common/backends/verbs/introduction.h"
#include "common/core/rdma_options.h"

namespace fabricbench::verbs {

/// What is settled between the two ranks of a pair before their queue pairs are connected.
struct Meeting {
  Transport transport = Transport::kRc;
  int service_level = 0;
  int traffic_class = 0;
  Seconds limit = 5;  ///< of each wait for the other rank
  Introduction own;
  Introduction peer;
  Agreement agreed;
  bool first = false;  ///< this is the pair's first rank

  /// The agreed ones.
  [[nodiscard]] Gid own_gid() const;
  [[nodiscard]] Gid peer_gid() const;
};

/// A rank's own queue pairs, as they were made, in the reset state.
struct OwnQueuePairs {
  const OpenDevice& device;
  ibv_pd* domain = nullptr;
  std::span<const QueuePair> all;
};

/// What came of connecting.
struct Connected {
  AddressHandle to_peer;       ///< of datagrams
  std::uint32_t peer_key = 0;  ///< of datagrams
  int mtu = 0;                 ///< bytes
};

/// A way to connect a rank's queue pairs to those of the other rank of its pair, until they send and receive. The ranks
/// tell each other between the calls how they went.
class Connector {
 public:
  Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  virtual ~Connector() = default;

  /// The GIDs of the own port by which it can connect; `asked` is -x. Throws Error (missing) where there is none.
  [[nodiscard]] virtual std::vector<Gid> usable_gids(const PortFacts& port,
                                                     const std::optional<std::int64_t>& asked) const = 0;
  /// Makes ready to be connected to, and says what the other rank has to know for it. Throws Error (missing).
  [[nodiscard]] virtual std::string invite(const Meeting& meeting) = 0;
  /// Both ranks call it; `invitation` is the other's. Throws Error that names the peer: missing where this rank alone
  /// has a problem and nobody waits for it, else failure and timeout.
  [[nodiscard]] virtual Connected connect(const Meeting& meeting, const OwnQueuePairs& own,
                                          const std::string& invitation) = 0;
  /// For people, after a comma; empty where there is nothing to say.
  [[nodiscard]] virtual std::string description() const = 0;
};

}  // namespace fabricbench::verbs
