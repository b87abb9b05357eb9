#pragma once

#include <functional>
#include <string>

#include "common/backends/rdma_cm/queue_pair_handshake.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// Why a step failed, with the step and the peer: `connecting with rank 1 on node-07: why`.
[[nodiscard]] std::string in_step(ConnectStep step, const std::string& peer, const std::string& why);

struct StepSettings {
  Seconds limit = 5;  ///< of a step
  std::string peer;   ///< such as `rank 1 on node-07 (10.0.0.7)`
  std::function<Seconds()> clock;
};

/// Carries out the steps of a queue pair's handshake. All methods throw Error with the step, the peer and likely
/// causes: timeout if no event came in time, or if rdma_cm reported that none will, else the status of the call that
/// failed.
class Steps {
 public:
  /// Does not own the handshake.
  Steps(QueuePairHandshake& handshake, StepSettings settings) : handshake_(handshake), settings_(std::move(settings)) {}

  /// Waits for an event, for at most `limit`.
  void await(EventKind wanted, ConnectStep step, Seconds limit) const;
  void await(EventKind wanted, ConnectStep step) const { await(wanted, step, settings_.limit); }
  /// Calls `act`, which throws Error without the peer's name.
  void attempt(ConnectStep step, const std::function<void()>& act) const;
  /// Calls `start` and waits for `answer`. Returns the time of both together.
  Seconds take(ConnectStep step, EventKind answer, const std::function<void()>& start) const;

 private:
  QueuePairHandshake& handshake_;
  StepSettings settings_;
};

}  // namespace fabricbench::rdma_cm
