#include "common/backends/cuda/buffers.h"

#include <cstdint>

#include <fmt/format.h>

#include "common/backends/cuda/check.h"
#include "common/backends/cuda/device.h"
#include "common/backends/cuda/driver.h"
#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

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
