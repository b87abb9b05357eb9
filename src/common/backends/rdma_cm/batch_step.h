#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/link.h"
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

/// Connections that are made at the same time, by their numbers.
struct Batch {
  std::uint64_t first = 0;
  std::size_t count = 0;
};

/// One step of all connections of a batch: which of them wait, how long each took, and which failed. A failed
/// connection does not end the step for the others.
class BatchStep {
 public:
  /// Does not own the settings. All connections wait.
  BatchStep(ConnectStep step, const Batch& batch, const SideSettings& settings);

  /// Begins the time of a connection, and calls `act` as `attempt` does.
  void start(std::size_t link, const std::function<void()>& act);
  /// Calls `act`, which may throw Error: the connection has then failed.
  void attempt(std::size_t link, const std::function<void()>& act);
  /// This connection waits no longer; does nothing if it has failed.
  void finish(std::size_t link);
  void fail(std::size_t link, ExitStatus status, const std::string& why);
  /// Those that still wait have failed.
  void fail_waiting(ExitStatus status, const std::string& why);

  [[nodiscard]] ConnectStep step() const { return step_; }
  [[nodiscard]] const Batch& batch() const { return batch_; }
  [[nodiscard]] bool waits(std::size_t link) const { return states_[link] == State::kWaits; }
  [[nodiscard]] std::size_t waiting() const { return waiting_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  /// From `start` to `finish`, in the order in which connections finished.
  [[nodiscard]] const std::vector<Seconds>& times() const { return times_; }
  /// From the construction to the end of the last connection.
  [[nodiscard]] Seconds took() const { return ended_ - began_; }
  /// Throws the Error of the first connection that failed, if any, with its number and the number of others.
  void raise() const;

 private:
  enum class State : char { kWaits, kDone, kFailed };

  void end_wait(std::size_t link, State state);

  ConnectStep step_;
  Batch batch_;
  const SideSettings& settings_;
  std::vector<State> states_;
  std::vector<Seconds> starts_;
  std::vector<Seconds> times_;
  std::size_t waiting_;
  std::size_t failed_ = 0;
  Seconds began_;
  Seconds ended_;
  Problem problem_;  // of the first that failed
};

}  // namespace fabricbench::rdma_cm
