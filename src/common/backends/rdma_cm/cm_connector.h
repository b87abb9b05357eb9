#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/channel.h"
#include "common/backends/rdma_cm/link.h"
#include "common/backends/verbs/connector.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// A handshake for queue pairs that already exist, one after the other.
class QueuePairHandshake : public Handshake {
 public:
  /// Selects the queue pair for the following calls, from 0.
  virtual void begin(int queue_pair) = 0;
  /// Takes the queue pair to the state in which it sends and receives, and tells the accepting side. For datagrams
  /// nobody has to be told: connect's answer is kEstablished instead of kConnectResponse.
  virtual void establish() = 0;
  /// Waits for the next event, for at most `longest`; the only method that waits.
  [[nodiscard]] virtual std::optional<Event> next_event(Seconds longest) = 0;
};

struct QueuePairSettings {
  Transport transport = Transport::kRc;
  int queue_pairs = 1;
  bool first = false;                    ///< whether this is the connecting side
  Seconds limit = 5;                     ///< of a step
  std::function<std::string(int)> peer;  ///< of a queue pair, such as `mlx5_0 port 1 of host node-07, queue pair 0x11`
  std::function<Seconds()> clock;
};

/// Connects all queue pairs of one side to those of the other; both sides call it. Datagrams are connected in both
/// directions: the second side connects after the first. Throws Error as Steps does.
void connect_queue_pairs(QueuePairHandshake& handshake, const QueuePairSettings& settings);

/// Connects queue pairs of a device that was opened without librdmacm: it determines their attributes, which are set
/// here. So an connection does not depend on how it was connected.
class CmQueuePairs final : public QueuePairHandshake {
 public:
  /// Binds to the address of the own GID. Throws Error (missing).
  explicit CmQueuePairs(const verbs::Meeting& meeting);

  /// Starts to accept connection requests.
  [[nodiscard]] Invitation listen();
  /// The queue pairs to connect, and where the other rank listens.
  void take(const verbs::OwnQueuePairs& own, const Invitation& peer);
  /// The result. No further requests are taken.
  [[nodiscard]] verbs::Connected connected();

  void begin(int queue_pair) override {
    which_ = static_cast<std::size_t>(queue_pair);
    is_done_ = false;
  }
  void resolve_address() override;
  void resolve_route() override;
  void connect() override;
  void establish() override;
  void accept() override;
  [[nodiscard]] std::optional<Event> next_event(Seconds longest) override;

 private:
  void learn_from(const rdma_cm_event& event);
  [[nodiscard]] bool take_request();
  void make_ready();
  void make_ready_to_receive(ibv_qp* queue_pair);
  void make_ready_to_send(ibv_qp* queue_pair);
  void keep_connection();
  [[nodiscard]] ibv_qp_attr attributes_for(ibv_qp_state state, int& mask) const;
  void set_traffic_class(rdma_cm_id* identifier) const;
  [[nodiscard]] rdma_conn_param parameters() const;
  [[nodiscard]] ibv_qp* queue_pair() const { return queue_pairs_[which_].get(); }
  [[nodiscard]] bool datagrams() const { return meeting_.transport == Transport::kUd; }

  verbs::Meeting meeting_;
  Channel channel_;
  Identifier anchor_;  // bound and listening
  SocketAddress peer_;
  std::uint64_t own_secret_ = 0;
  std::uint64_t peer_secret_ = 0;
  ibv_pd* domain_ = nullptr;
  std::span<const verbs::QueuePair> queue_pairs_;
  std::size_t which_ = 0;
  bool is_done_ = false;          // on this side
  Ticket ticket_{};               // sent in a connection request
  Identifier request_;            // the last one not handled yet
  std::uint32_t requesting_ = 0;  // the queue pair that it claims to come from
  Identifier connection_;
  std::vector<Identifier> connections_;  // established ones: they end with their identifiers
  std::vector<bool> ready_;
  verbs::Connected connected_;
};

/// Connects queue pairs over librdmacm: the first rank of a pair connects, and the second one accepts. Only for
/// reliable connections and datagrams, see decisions/0015-queue-pairs-over-rdma-cm.md.
class CmConnector final : public verbs::Connector {
 public:
  [[nodiscard]] std::vector<verbs::Gid> usable_gids(const verbs::PortFacts& port,
                                                    const std::optional<std::int64_t>& asked) const override;
  [[nodiscard]] std::string invite(const verbs::Meeting& meeting) override;
  /// Throws only failure and timeout, because the other rank is waiting.
  [[nodiscard]] verbs::Connected connect(const verbs::Meeting& meeting, const verbs::OwnQueuePairs& own,
                                         const std::string& invitation) override;
  [[nodiscard]] std::string description() const override { return "connected by rdma_cm"; }

 private:
  std::unique_ptr<CmQueuePairs> queue_pairs_;  // destroyed last: the connections end with it
};

}  // namespace fabricbench::rdma_cm
