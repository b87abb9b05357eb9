#pragma once

#include <cuda_runtime_api.h>

namespace fabricbench::cuda {

/// Throws Error (failure) as `cuda: CALL: meaning (cudaErrorName)`, and clears the error that CUDA keeps for this
/// thread, so that it is not reported twice.
[[noreturn]] void fail(cudaError_t code, const char* call);

/// Throws as `fail` if a call failed. `call` is the function's name.
inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) [[unlikely]]
    fail(code, call);
}

}  // namespace fabricbench::cuda
