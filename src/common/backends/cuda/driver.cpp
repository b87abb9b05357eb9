#include "common/backends/cuda/driver.h"

#include <unistd.h>

#include <cstdint>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "common/backends/cuda/check.h"
#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

/// A function of the driver; null if the driver is too old.
template <typename Function>
Function find_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
// CUDA 12.5 has a replacement and deprecates this function; older toolkits have only this one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const cudaError_t status = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &result);
#pragma GCC diagnostic pop
  if (status != cudaSuccess) {
    cudaGetLastError();  // clears the error, which this function's result already tells
    return nullptr;
  }
  return result == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(found) : nullptr;
}

template <typename Function>
Function find_or_throw(const char* name) {
  if (const Function found = find_function<Function>(name); found != nullptr) return found;
  throw Error(ExitStatus::kMissing, fmt::format("cuda: the NVIDIA driver has no {}; update it", name));
}

void check_driver(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  const auto error_text = find_function<CUresult (*)(CUresult, const char**)>("cuGetErrorString");
  if (error_text == nullptr || error_text(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  throw Error(ExitStatus::kMissing, fmt::format("cuda: {}: {} ({})", call, text, static_cast<int>(result)));
}

bool has_attribute(int device, CUdevice_attribute attribute) {
  const auto get = find_or_throw<CUresult (*)(int*, CUdevice_attribute, CUdevice)>("cuDeviceGetAttribute");
  int value = 0;
  // A driver that does not know the attribute lacks the feature. CUdevice is the runtime's number.
  return get(&value, attribute, device) == CUDA_SUCCESS && value != 0;
}

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::string why_no_gpu_direct(int device) {
  if (has_attribute(device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)) return "";
  return fmt::format(
      "other devices cannot use GPU {}'s memory (its attribute GPU_DIRECT_RDMA_SUPPORTED is 0); use a data "
      "centre "
      "or workstation GPU, or --memory host",
      device);
}

std::string why_no_dma_buf(int device) {
  if (!has_attribute(device, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)) {
    return fmt::format(
        "the driver of GPU {} exports none (its attribute DMA_BUF_SUPPORTED is 0); it needs NVIDIA's open kernel "
        "modules of version 515 or newer, and Linux 5.12",
        device);
  }
  if (find_function<void (*)()>("cuMemGetHandleForAddressRange") == nullptr) {
    return "the NVIDIA driver has no cuMemGetHandleForAddressRange; update it to one that supports CUDA 11.7";
  }
  return "";
}

void synchronize_copies(const void* block) {
  const auto set = find_or_throw<CUresult (*)(const void*, CUpointer_attribute, CUdeviceptr)>("cuPointerSetAttribute");
  const unsigned on = 1;
  check_driver(set(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, reinterpret_cast<CUdeviceptr>(block)),
               "cuPointerSetAttribute");
}

DmaBuf export_dma_buf(const std::byte* data, std::size_t bytes, bool over_pcie) {
  constexpr unsigned long long kMappedOverPcie = 1;  // CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE, of CUDA 12.8
  const auto get =
      find_or_throw<CUresult (*)(void*, CUdeviceptr, std::size_t, CUmemRangeHandleType, unsigned long long)>(
          "cuMemGetHandleForAddressRange");
  const std::uint64_t page = page_bytes();
  const auto first = reinterpret_cast<std::uint64_t>(data);
  const std::uint64_t begin = first / page * page;
  const std::uint64_t end = (first + bytes + page - 1) / page * page;
  DmaBuf exported;
  check_driver(
      get(&exported.file, begin, end - begin, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, over_pcie ? kMappedOverPcie : 0),
      "cuMemGetHandleForAddressRange");
  exported.offset = first - begin;
  return exported;
}

}  // namespace fabricbench::cuda
