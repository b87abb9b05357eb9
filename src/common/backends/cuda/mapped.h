#pragma once

#include <new>

#include <cuda_runtime_api.h>

#include "common/backends/cuda/check.h"
#include "common/backends/cuda/stream.h"
#include "common/core/handle.h"

namespace fabricbench::cuda {

/// A `Words` that host and devices share: it lies in the host's memory, locked and mapped into the devices' addresses.
template <typename Words>
using MappedWords = Handle<Words, cudaFreeHost>;

/// Starts as `Words{}`. Throws Error as check does.
template <typename Words>
[[nodiscard]] Words* allocate_mapped() {
  void* block = nullptr;
  check(cudaHostAlloc(&block, sizeof(Words), cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  return new (block) Words{};
}

/// Where a device finds them.
template <typename Words>
[[nodiscard]] Words* mapped_address(int device, Words* words) {
  const DeviceGuard guard(device);
  void* address = nullptr;
  check(cudaHostGetDevicePointer(&address, words, 0), "cudaHostGetDevicePointer");
  return static_cast<Words*>(address);
}

}  // namespace fabricbench::cuda
