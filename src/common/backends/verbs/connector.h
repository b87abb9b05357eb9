#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/backends/verbs/connect_info.h"
#include "common/backends/verbs/device.h"
#include "common/core/ownership.h"
#include "common/core/rdma_options.h"

namespace fabricbench::verbs {

// State changes that all methods of connecting queue pairs share.

/// When a reliable connection sends again, and how often; the defaults are perftest's.
struct Retransmission {
  int timeout = 14;  ///< an acknowledgement is waited for 4.096 us x 2^this; 0: for ever
  int retries = 7;   ///< at most 7
};

/// Throws Error (missing) with the target `state`.
void modify(ibv_qp* queue_pair, ibv_qp_attr& attributes, int mask, const char* state);

inline constexpr std::uint8_t kShortestRnrDelay = 1;  // 10 us

/// The queue key of both ends, where messages name their destination.
inline constexpr std::uint32_t kQueueKey = 0x11111111;

/// The properties of a queue pair that it gets first.
struct InitialState {
  Transport transport = Transport::kRc;
  int port = 1;
  int partition = 0;            ///< index of the key
  std::uint32_t queue_key = 0;  ///< UD and SRD only
  bool atomics = true;          ///< the device has them; one without refuses to allow them
};
void make_initial(ibv_qp* queue_pair, const InitialState& wanted);

/// Adds the limits of a reliable connection: how long it waits for the other end, and how many reads and atomics are in
/// flight.
void set_limits_to_receive(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding);
void set_limits_to_send(ibv_qp_attr& attributes, int& mask, Transport transport, int outstanding,
                        const Retransmission& retransmission);

/// For messages that name their destination, which is not part of these states. `retries`: they are sent again while
/// the receiver has no room (SRD).
void make_ready_for_datagrams(ibv_qp* queue_pair, std::uint32_t sequence_number, bool retries = false);

/// The largest MTU not above `bytes`.
[[nodiscard]] ibv_mtu mtu_code(int bytes);
[[nodiscard]] int bytes_of(ibv_mtu code);

/// What the two ranks of a pair have agreed on before their queue pairs are connected.
struct NegotiatedSettings {
  Transport transport = Transport::kRc;
  int service_level = 0;
  int traffic_class = 0;
  std::vector<std::uint32_t> flow_labels;  ///< of the queue pairs in turn; empty: the network's choice
  Retransmission retransmission;
  bool by_rdma_cm = false;  ///< rdma_cm chooses partition and route
  Seconds limit = 5;        ///< for each wait for the other rank
  ConnectInfo own;
  ConnectInfo peer;
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
class Connector : public InterfaceBase {
 public:
  /// The own port's GIDs that this method can connect by; `asked` is -x. Throws Error (missing) if there is none.
  [[nodiscard]] virtual std::vector<Gid> usable_gids(const PortFacts& port,
                                                     const std::optional<std::int64_t>& asked) const = 0;
  /// Gets ready to be connected to, and returns the data that the other rank needs for it. Throws Error (missing).
  [[nodiscard]] virtual std::string listen(const NegotiatedSettings& negotiated) = 0;
  /// Called by both ranks; `listen_info` is the other rank's. Throws Error with the peer's name: missing if the
  /// problem is this rank's alone and does not make the other one wait, else failure or timeout.
  [[nodiscard]] virtual Connected connect(const NegotiatedSettings& negotiated, const OwnQueuePairs& own,
                                          const std::string& listen_info) = 0;
  /// For messages, after a comma; may be empty.
  [[nodiscard]] virtual std::string description() const = 0;
};

/// Connects queue pairs with the data from the two ranks' connection information.
class DirectConnector final : public Connector {
 public:
  [[nodiscard]] std::vector<Gid> usable_gids(const PortFacts& port,
                                             const std::optional<std::int64_t>& /*asked*/) const override {
    return port.gids;
  }
  [[nodiscard]] std::string listen(const NegotiatedSettings& /*negotiated*/) override { return ""; }
  [[nodiscard]] Connected connect(const NegotiatedSettings& negotiated, const OwnQueuePairs& own,
                                  const std::string& listen_info) override;
  [[nodiscard]] std::string description() const override { return ""; }
};

}  // namespace fabricbench::verbs
