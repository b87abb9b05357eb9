#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "common/backends/rdma_cm/event.h"
#include "common/backends/rdma_cm/handles.h"
#include "common/backends/verbs/gid_choice.h"
#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// Receives the events of all identifiers that it created. All methods throw Error (missing).
class Channel {
 public:
  Channel();

  [[nodiscard]] Identifier make_identifier(Transport transport) const;
  /// An identifier bound to the address of `gid`, with a port chosen by the system; the address must belong to
  /// `device`.
  [[nodiscard]] Identifier bind(const verbs::Gid& gid, const std::string& device, Transport transport) const;
  /// Waits for the next event, for at most `longest`; empty if none has come.
  [[nodiscard]] PendingEvent wait(Seconds longest) const;

 private:
  EventChannel channel_;
};

/// Starts to accept connection requests, of which `backlog` may wait; the kernel's limit is net.rdma_ucm.max_backlog.
/// Returns the port.
[[nodiscard]] std::uint16_t listen_at(rdma_cm_id* bound, std::size_t backlog = 16);

[[nodiscard]] EventKind kind_of(rdma_cm_event_type type);

/// The kernel's time limit for resolving: slightly less than a step's `limit`, because the kernel then reports the
/// reason.
[[nodiscard]] int resolving_ms(Seconds limit);

}  // namespace fabricbench::rdma_cm
