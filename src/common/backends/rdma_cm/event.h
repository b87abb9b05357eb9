#pragma once

#include <string>
#include <string_view>

#include "common/core/rdma_options.h"
#include "common/core/units.h"

namespace fabricbench::rdma_cm {

/// The rdma_cm events of a connection; kOther is irrelevant to it.
enum class EventKind {
  kAddressResolved,
  kAddressError,
  kRouteResolved,
  kRouteError,
  kConnectRequest,
  kConnectResponse,  ///< if the queue pair is not managed by rdma_cm
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

/// The name in rdma_cm, such as `RDMA_CM_EVENT_REJECTED`.
[[nodiscard]] std::string_view name(EventKind kind);

/// The meaning of an event that ends an attempt to connect, and what to do, in one or two sentences:
/// `RDMA_CM_EVENT_REJECTED (status 8, no listener there): ...`. Source: man rdma_get_cm_event; InfiniBand
/// specification, table 112 of reasons.
[[nodiscard]] std::string explain(const Event& event);

/// Likely causes if no event came in a step within the limit.
[[nodiscard]] std::string explain_silence(ConnectStep step, Seconds limit);

}  // namespace fabricbench::rdma_cm
