#pragma once

#include <cstddef>
#include <memory>

#include "common/backends/cuda/memory.h"
#include "common/backends/nccl/library.h"
#include "common/core/units.h"

namespace fabricbench::nccl {

/// A device's memory with blocks from ncclMemAlloc if NCCL has it, as registration requires and nccl-tests always does;
/// else from cudaMalloc.
class NcclMemory final : public cuda::CudaMemory {
 public:
  NcclMemory(std::shared_ptr<const Library> library, cuda::DeviceStream stream, Seconds limit);

  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* block) noexcept override;

 private:
  std::shared_ptr<const Library> library_;
};

}  // namespace fabricbench::nccl
