#pragma once

#include <functional>
#include <span>

#include "common/backends/cuda/stream.h"
#include "common/core/units.h"

namespace fabricbench::cuda {

/// Returns when all work started on the streams has completed. In between it calls `poll`, if given, which can end the
/// wait by throwing, and yields to other threads. Allocates nothing. Throws Error (timeout) with the device after
/// `limit` seconds, 0 for no limit, and Error (failure) if the device failed.
void wait_for(std::span<const DeviceStream> streams, Seconds limit, const std::function<void()>& poll = {});

}  // namespace fabricbench::cuda
