#pragma once

#include <functional>
#include <span>

#include "common/backends/cuda/stream.h"
#include "common/core/units.h"

namespace fabricbench::cuda {

/// Returns when everything started on the streams has completed. In between it calls `poll`, where there is one, which
/// ends the wait by throwing, and lets other threads run. Allocates nothing.
/// Throws Error (timeout) naming the device after `limit` seconds, 0 for no limit, and Error (failure) where the
/// device failed.
void wait_for(std::span<const DeviceStream> streams, Seconds limit, const std::function<void()>& poll = {});

}  // namespace fabricbench::cuda
