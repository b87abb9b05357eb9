#pragma once

#include <optional>

#include "common/backends/rdma_cm/event.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// One end of connections that follow each other, as far as rdma_cm goes: nothing waits here but next_event. All throw
/// Error: of calls that fail.
class Handshake {
 public:
  Handshake() = default;
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  virtual ~Handshake() = default;

  // What events answer.
  virtual void resolve_address() = 0;
  virtual void resolve_route() = 0;
  virtual void connect() = 0;
  /// Answers the last request to connect.
  virtual void accept() = 0;

  /// Waits for the next event, for so long at most.
  [[nodiscard]] virtual std::optional<Event> next_event(Seconds longest) = 0;
};

}  // namespace fabricbench::rdma_cm
