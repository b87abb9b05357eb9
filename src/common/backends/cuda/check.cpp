#include "common/backends/cuda/check.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::cuda {

void fail(cudaError_t code, const char* call) {
  cudaGetLastError();  // clears the error that it returns
  const char* const advice =
      code == cudaErrorDevicesUnavailable
          ? "; another process uses it, or has it for itself (nvidia-smi -q -d COMPUTE shows the mode)"
          : "";
  throw Error(ExitStatus::kFailure,
              fmt::format("cuda: {}: {} ({}){}", call, cudaGetErrorString(code), cudaGetErrorName(code), advice));
}

}  // namespace fabricbench::cuda
