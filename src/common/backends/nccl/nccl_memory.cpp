#include "common/backends/nccl/nccl_memory.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/backends/cuda/device.h"
#include "common/backends/nccl/check.h"
#include "common/core/error.h"

namespace fabricbench::nccl {

NcclMemory::NcclMemory(std::shared_ptr<const Library> library, cuda::DeviceStream stream, Seconds limit)
    : CudaMemory(stream, limit), library_(std::move(library)) {}

std::byte* NcclMemory::allocate(std::size_t bytes) {
  if (!library_->has(Feature::kMemory)) return CudaMemory::allocate(bytes);
  const cuda::DeviceGuard guard(device());
  void* block = nullptr;
  const ncclResult_t result = library_->functions().allocate(&block, std::max(bytes, std::size_t{1}));
  if (result == ncclSuccess) return static_cast<std::byte*>(block);
  throw Error(ExitStatus::kMissing, fmt::format("nccl: GPU {}: {} asked for, {} free: {}", device(),
                                                readable_bytes(bytes), readable_bytes(cuda::free_memory(device())),
                                                problem_text(*library_, result, "ncclMemAlloc")));
}

void NcclMemory::release(std::byte* block) noexcept {
  if (!library_->has(Feature::kMemory)) {
    CudaMemory::release(block);
    return;
  }
  if (library_->functions().release(block) == ncclSuccess) return;
  fmt::print(stderr, "nccl: GPU {}: ncclMemFree failed\n", device());
}

}  // namespace fabricbench::nccl
