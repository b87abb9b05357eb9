#include "common/backends/cuda/check.h"

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::cuda {

void fail(cudaError_t code, const char* call) {
  cudaGetLastError();  // clears the error that it returns
  throw Error(ExitStatus::kFailure,
              fmt::format("cuda: {}: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code)));
}

}  // namespace fabricbench::cuda
