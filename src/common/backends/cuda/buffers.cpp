#include "common/backends/cuda/buffers.h"

#include <unistd.h>

#include <cstdint>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "common/backends/cuda/device.h"
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

constexpr std::size_t kDevicePage = std::size_t{64} << 10;  // granularity of memory that other devices can use
constexpr double kShareOfFree = 0.9;                        // leaves some for the driver

/// Returns the device if other devices can use its memory. The device stays current for the lifetime of the process, so
/// that the driver's functions know which device is meant.
int checked(int device) {
  make_current(device);
  if (const std::string why_not = why_no_gpu_direct(device); !why_not.empty()) {
    throw Error(ExitStatus::kMissing, fmt::format("--memory cuda: {}", why_not));
  }
  return device;
}

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

CudaBuffers::CudaBuffers(int device, int sharing, Seconds time_limit)
    : sharing_(sharing), stream_(Stream::create(checked(device))), memory_(stream_.view(), time_limit) {}

CudaBuffers::~CudaBuffers() {
  while (!allocated_.empty()) release(allocated_.begin()->first);
}

std::string CudaBuffers::description() const {
  return fmt::format("memory of GPU {} ({})", stream_.device(), device_facts(stream_.device()).model);
}

std::string CudaBuffers::pci_address() const { return device_facts(stream_.device()).pci_address; }

/// cudaMalloc aligns to less than a page, so this allocates one page more than the block.
std::byte* CudaBuffers::allocate(std::size_t bytes) {
  const std::size_t whole = (bytes / kDevicePage + 2) * kDevicePage;
  if (whole < bytes) throw_no_memory(stream_.device(), bytes);
  std::byte* const taken = memory_.allocate(whole);
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(taken) % kDevicePage;
  std::byte* const block = taken + (beyond > 0 ? kDevicePage - beyond : 0);
  allocated_[block] = taken;
  try {
    synchronize_copies(taken);
  } catch (const Error&) {
    release(block);
    throw;
  }
  return block;
}

void CudaBuffers::release(std::byte* block) noexcept {
  const auto found = allocated_.find(block);
  if (found == allocated_.end()) return;
  memory_.release(found->second);
  allocated_.erase(found);
}

std::optional<Bytes> CudaBuffers::available() const {
  return static_cast<Bytes>(static_cast<double>(free_memory(stream_.device())) * kShareOfFree / sharing_);
}

std::string CudaBuffers::why_no_dma_buf() const { return cuda::why_no_dma_buf(stream_.device()); }

DmaBuf CudaBuffers::export_dma_buf(const std::byte* block, std::size_t bytes, bool over_pcie) {
  return cuda::export_dma_buf(block, bytes, over_pcie);
}

}  // namespace fabricbench::cuda
