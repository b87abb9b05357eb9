#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/backends/rdma_cm/endpoint.h"
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
/// directions: the second side connects after the first. Throws Error as HandshakeSteps does.
void connect_queue_pairs(QueuePairHandshake& handshake, const QueuePairSettings& settings);

/// Connects queue pairs over librdmacm: the first rank of a pair connects, and the second one accepts. Only for
/// reliable connections and datagrams, see decisions/0015-queue-pairs-over-rdma-cm.md.
[[nodiscard]] std::unique_ptr<verbs::Connector> make_cm_connector();

}  // namespace fabricbench::rdma_cm
