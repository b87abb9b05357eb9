#pragma once

#include <string>
#include <string_view>

#include "common/core/connect_step.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// What rdma_cm says has happened to a connection; kOther is of no consequence to it.
enum class EventKind {
  kAddressResolved,
  kAddressError,
  kRouteResolved,
  kRouteError,
  kConnectRequest,
  kConnectResponse,  ///< where the queue pair is not rdma_cm's to make ready
  kConnectError,
  kUnreachable,
  kRejected,
  kEstablished,
  kDisconnected,
  kDeviceRemoved,
  kAddressChange,
  kOther
};

struct Event {
  EventKind kind = EventKind::kOther;
  int status = 0;  ///< 0, a negative errno, or the reason of a rejection
};

/// As rdma_cm names it, such as `RDMA_CM_EVENT_REJECTED`.
[[nodiscard]] std::string_view name(EventKind kind);

/// What an event that ends an attempt to connect means, and what to do, in one sentence or two: `RDMA_CM_EVENT_REJECTED
/// (status 8, no listener there): ...`. Source: man rdma_get_cm_event; InfiniBand specification, table 112 of reasons.
[[nodiscard]] std::string explain(const Event& event);

/// What may be wrong where no event came in a step for so long.
[[nodiscard]] std::string explain_silence(ConnectStep step, Seconds limit);

}  // namespace fabricbench::rdma_cm
