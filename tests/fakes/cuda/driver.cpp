// The functions of the driver that cudaGetDriverEntryPoint finds.

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include <cuda.h>

#include "../faulty_call.h"
#include "fake_cuda.h"
#include "state.h"

namespace fake_cuda {
namespace {

/// What was done with blocks. Never destroyed: a program may release them at its very end.
struct Done {
  std::mutex mutex;
  const void* synchronized_last = nullptr;
  fake_cuda_export last{};
};

Done& done() {
  static auto* all = new Done;
  return *all;
}

CUresult get_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (device < 0 || device >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
  const bool asked = attribute == CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED;
  if (!asked && attribute != CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED) return CUDA_ERROR_INVALID_VALUE;
  *value = std::getenv(asked ? "FAKE_CUDA_NO_GPU_DIRECT" : "FAKE_CUDA_NO_DMA_BUF") == nullptr ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult set_pointer_attribute(const void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
  const void* const block = reinterpret_cast<const void*>(pointer);  // NOLINT(performance-no-int-to-ptr)
  if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !is_device_memory(block, 1)) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(done().mutex);
  done().synchronized_last = *static_cast<const unsigned*>(value) != 0 ? block : nullptr;
  return CUDA_SUCCESS;
}

/// As CUDA does, it wants whole pages of one block.
CUresult get_handle(void* handle, CUdeviceptr pointer, std::size_t bytes, CUmemRangeHandleType type,
                    unsigned long long flags) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const void* const block = reinterpret_cast<const void*>(pointer);  // NOLINT(performance-no-int-to-ptr)
  if (type != CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD || pointer % page != 0 || bytes % page != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!is_device_memory(block, bytes)) return CUDA_ERROR_INVALID_VALUE;
  if (std::getenv("FAKE_CUDA_EXPORT_FAILS") != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
  *static_cast<int*>(handle) = file;
  const std::lock_guard lock(done().mutex);
  done().last = {block, bytes, flags, file};
  return CUDA_SUCCESS;
}

CUresult get_error_string(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_NOT_SUPPORTED ? "operation not supported" : "invalid argument";
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace fake_cuda

using namespace fake_cuda;

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long /*flags*/,
                                    cudaDriverEntryPointQueryResult* result) {
  if (fails()) return report(cudaErrorUnknown);
  static const std::map<std::string_view, void*> kFunctions = {
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(&get_attribute)},
      {"cuPointerSetAttribute", reinterpret_cast<void*>(&set_pointer_attribute)},
      {"cuMemGetHandleForAddressRange", reinterpret_cast<void*>(&get_handle)},
      {"cuGetErrorString", reinterpret_cast<void*>(&get_error_string)}};
  *function = nullptr;
  if (no_driver()) return report(cudaErrorInsufficientDriver);
  const auto found = kFunctions.find(symbol);
  const bool hidden = environment("FAKE_CUDA_WITHOUT", "") == symbol;
  *result = cudaDriverEntryPointSymbolNotFound;
  if (found == kFunctions.end() || hidden) return cudaSuccess;
  *function = found->second;
  *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

const void* fake_cuda_synchronized_last() {
  const std::lock_guard lock(done().mutex);
  return done().synchronized_last;
}

fake_cuda_export fake_cuda_exported_last() {
  const std::lock_guard lock(done().mutex);
  return done().last;
}
}
