#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace fabricbench::verbs {

/// Releases a handle of libibverbs. If the library refuses, the handle is released at the end of the process.
template <auto Release>
struct Releaser {
  template <typename Handle>
  void operator()(Handle* handle) const noexcept {
    (void)Release(handle);
  }
};

using DeviceList = std::unique_ptr<ibv_device*, Releaser<&ibv_free_device_list>>;
using DeviceContext = std::unique_ptr<ibv_context, Releaser<&ibv_close_device>>;
using ProtectionDomain = std::unique_ptr<ibv_pd, Releaser<&ibv_dealloc_pd>>;
using CompletionChannel = std::unique_ptr<ibv_comp_channel, Releaser<&ibv_destroy_comp_channel>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Releaser<&ibv_destroy_cq>>;
using MemoryRegion = std::unique_ptr<ibv_mr, Releaser<&ibv_dereg_mr>>;
using SharedReceiveQueue = std::unique_ptr<ibv_srq, Releaser<&ibv_destroy_srq>>;
using QueuePair = std::unique_ptr<ibv_qp, Releaser<&ibv_destroy_qp>>;
using AddressHandle = std::unique_ptr<ibv_ah, Releaser<&ibv_destroy_ah>>;

}  // namespace fabricbench::verbs
