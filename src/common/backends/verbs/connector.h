#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/verbs/device.h"
#include "common/backends/verbs/handles.h"
#include "common/backends/verbs/introduction.h"
#include "common/backends/verbs/queue_pair_states.h"
#include "common/core/rdma_options.h"

namespace fabricbench::verbs {

/// What the two ranks of a pair have agreed on before their queue pairs are connected.
struct Meeting {
  Transport transport = Transport::kRc;
  int service_level = 0;
  int traffic_class = 0;
  std::vector<std::uint32_t> flow_labels;  ///< of the queue pairs in turn; empty: the network's choice
  Retransmission retransmission;
  bool by_rdma_cm = false;  ///< rdma_cm chooses partition and route
  Seconds limit = 5;        ///< for each wait for the other rank
  Introduction own;
  Introduction peer;
  Agreement agreed;
  bool first = false;  ///< whether this is the pair's first rank

  /// The agreed GIDs.
  [[nodiscard]] Gid own_gid() const;
  [[nodiscard]] Gid peer_gid() const;
  /// The index of the agreed partition in the own port's table.
  [[nodiscard]] int partition_index() const { return first ? agreed.partitions.first : agreed.partitions.second; }
  /// Of a queue pair; 0: the network's choice.
  [[nodiscard]] std::uint32_t flow_label(std::size_t queue_pair) const {
    return flow_labels.empty() ? 0 : flow_labels[queue_pair % flow_labels.size()];
  }
  /// The way of a queue pair's packets to the other rank's port.
  [[nodiscard]] ibv_ah_attr path_to_peer(std::size_t queue_pair) const;
};

/// A rank's own queue pairs in the reset state.
struct OwnQueuePairs {
  const OpenDevice& device;
  ibv_pd* domain = nullptr;
  std::span<const QueuePair> all;
};

/// The results of connecting.
struct Connected {
  AddressHandle to_peer;       ///< datagrams only
  std::uint32_t peer_key = 0;  ///< datagrams only
  int mtu = 0;                 ///< bytes
};

/// A method of connecting a rank's queue pairs to those of the other rank of its pair, until they send and receive.
/// Between the calls the ranks exchange whether they succeeded.
class Connector {
 public:
  Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  virtual ~Connector() = default;

  /// The own port's GIDs that this method can connect by; `asked` is -x. Throws Error (missing) if there is none.
  [[nodiscard]] virtual std::vector<Gid> usable_gids(const PortFacts& port,
                                                     const std::optional<std::int64_t>& asked) const = 0;
  /// Gets ready to be connected to, and returns the data that the other rank needs for it. Throws Error (missing).
  [[nodiscard]] virtual std::string invite(const Meeting& meeting) = 0;
  /// Called by both ranks; `invitation` is the other rank's. Throws Error with the peer's name: missing if the problem
  /// is this rank's alone and does not make the other one wait, else failure or timeout.
  [[nodiscard]] virtual Connected connect(const Meeting& meeting, const OwnQueuePairs& own,
                                          const std::string& invitation) = 0;
  /// For messages, after a comma; may be empty.
  [[nodiscard]] virtual std::string description() const = 0;
};

}  // namespace fabricbench::verbs
