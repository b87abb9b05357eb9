#pragma once

#include <cuda_runtime_api.h>

#include "common/backends/cuda/check.h"
#include "common/backends/cuda/stream.h"
#include "common/core/handle.h"

namespace fabricbench::cuda {

/// A `Words` shared by host and devices: it lies in host memory that is pinned and mapped into the devices' address
/// space.
template <typename Words>
using MappedWords = Handle<Words, cudaFreeHost>;

/// Initially `Words{}`, allocated through the context of one device; all devices reach it. Throws Error as check does.
template <typename Words>
[[nodiscard]] Words* allocate_mapped(int device) {
  const DeviceGuard guard(device);
  void* block = nullptr;
  check(cudaHostAlloc(&block, sizeof(Words), cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  return new (block) Words{};
}

/// Its address on a device.
template <typename Words>
[[nodiscard]] Words* mapped_address(int device, Words* words) {
  const DeviceGuard guard(device);
  void* address = nullptr;
  check(cudaHostGetDevicePointer(&address, words, 0), "cudaHostGetDevicePointer");
  return static_cast<Words*>(address);
}

}  // namespace fabricbench::cuda
