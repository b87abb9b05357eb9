#pragma once

#include <optional>

#include "common/backends/rdma_cm/event.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// The rdma_cm part of one end of consecutive connections. Only next_event waits. All methods throw Error if a call
/// fails.
class Handshake {
 public:
  Handshake() = default;
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  virtual ~Handshake() = default;

  // Requests that events answer.
  virtual void resolve_address() = 0;
  virtual void resolve_route() = 0;
  virtual void connect() = 0;
  /// Accepts the last connection request.
  virtual void accept() = 0;

  /// Waits for the next event, for at most `longest`.
  [[nodiscard]] virtual std::optional<Event> next_event(Seconds longest) = 0;
};

}  // namespace fabricbench::rdma_cm
