#include <array>

#include "../faulty_call.h"
#include "state.h"

namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
  cudaError_t code;
  const char* name;
  const char* text;
};

// The words are those of CUDA 13.
constexpr std::array kErrors = {
    ErrorText{cudaSuccess, "cudaSuccess", "no error"},
    ErrorText{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorText{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorText{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
              "CUDA driver version is insufficient for CUDA runtime version"},
    ErrorText{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorText{cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable",
              "CUDA-capable device(s) is/are busy or unavailable"},
    ErrorText{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    ErrorText{cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    ErrorText{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    ErrorText{cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    ErrorText{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    ErrorText{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
              "operation not permitted when stream is capturing"},
    ErrorText{cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
              "operation failed due to a previous error during capture"}};

const ErrorText& text_of(cudaError_t code) {
  static constexpr ErrorText kUnknown{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  for (const ErrorText& error : kErrors) {
    if (error.code == code) return error;
  }
  return kUnknown;
}

}  // namespace

cudaError_t fake_cuda::report(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

extern "C" {

cudaError_t cudaGetLastError() {
  if (fails()) return fake_cuda::report(cudaErrorUnknown);
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  if (fails()) return fake_cuda::report(cudaErrorUnknown);
  return last_error;
}
const char* cudaGetErrorName(cudaError_t code) { return text_of(code).name; }
const char* cudaGetErrorString(cudaError_t code) { return text_of(code).text; }
}
