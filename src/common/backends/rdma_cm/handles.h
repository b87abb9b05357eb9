#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

namespace fabricbench::rdma_cm {

struct ReleaseChannel {
  void operator()(rdma_event_channel* channel) const noexcept { rdma_destroy_event_channel(channel); }
};

/// A queue pair made by rdma_create_qp belongs to its identifier.
struct ReleaseIdentifier {
  void operator()(rdma_cm_id* identifier) const noexcept {
    if (identifier->qp != nullptr) rdma_destroy_qp(identifier);
    (void)rdma_destroy_id(identifier);
  }
};

struct AcknowledgeEvent {
  void operator()(rdma_cm_event* event) const noexcept { (void)rdma_ack_cm_event(event); }
};

using EventChannel = std::unique_ptr<rdma_event_channel, ReleaseChannel>;
using Identifier = std::unique_ptr<rdma_cm_id, ReleaseIdentifier>;
/// Must be released before its identifier, whose destruction waits for it.
using PendingEvent = std::unique_ptr<rdma_cm_event, AcknowledgeEvent>;

}  // namespace fabricbench::rdma_cm
