#pragma once

#include <string>

#include "common/backends/rdma_cm/event.h"
#include "common/backends/rdma_cm/handles.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// Where the events of all identifiers made by it come. All throw Error (missing).
class Channel {
 public:
  Channel();

  [[nodiscard]] Identifier make_identifier(Transport transport) const;
  /// One that is bound to the address that `gid` stands for, with a port of the system's choice; the address is to be
  /// of `device`.
  [[nodiscard]] Identifier bind(const verbs::Gid& gid, const std::string& device, Transport transport) const;
  /// Waits for the next event, for so long at most; nothing where none has come.
  [[nodiscard]] PendingEvent wait(Seconds longest) const;

 private:
  EventChannel channel_;
};

/// Begins to take requests to connect. Returns the port.
[[nodiscard]] std::uint16_t listen_at(rdma_cm_id* bound);

[[nodiscard]] EventKind kind_of(rdma_cm_event_type type);

/// How long the kernel is to resolve for: it gives up a little before a step of `limit` does, and then says why.
[[nodiscard]] int resolving_ms(Seconds limit);

}  // namespace fabricbench::rdma_cm
