#include "common/backends/cuda/wait.h"

#include <thread>

#include <fmt/format.h>

#include "common/backends/cuda/check.h"
#include "common/core/clock.h"
#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

bool is_idle(const DeviceStream& stream) {
  // A null stream belongs to the current device.
  const DeviceGuard guard(stream.device);
  const cudaError_t status = cudaStreamQuery(stream.stream);
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // CUDA keeps even this answer as an error, which a later call would report
    return false;
  }
  check(status, "cudaStreamQuery");
  return true;
}

}  // namespace

void wait_for(std::span<const DeviceStream> streams, Seconds limit, const std::function<void()>& poll) {
  const Seconds start = now();
  for (const DeviceStream& stream : streams) {
    while (!is_idle(stream)) {
      if (poll) poll();
      if (limit > 0 && now() - start > limit) {
        throw Error(ExitStatus::kTimeout, fmt::format("cuda: device {} has not finished its work after {}",
                                                      stream.device, readable_seconds(limit)));
      }
      std::this_thread::yield();
    }
  }
}

}  // namespace fabricbench::cuda
