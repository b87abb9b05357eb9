// What the driver can do that CUDA's runtime has no functions for. They are looked up at run time, so that a program
// runs with older drivers too.
#pragma once

#include <cstddef>
#include <string>

#include "common/core/buffer_source.h"

namespace fabricbench::cuda {

/// Why no other device may be given this one's memory, and what to do; empty where they may. Throws Error.
[[nodiscard]] std::string why_no_gpu_direct(int device);

/// Why a device's memory cannot be exported as a dma-buf, and what to do; empty where it can. Throws Error.
[[nodiscard]] std::string why_no_dma_buf(int device);

/// Lets copies and fills of a block of cudaMalloc return only when they are done, also where CUDA would not make them:
/// other devices read it and do not know of streams. Throws Error (missing).
void synchronize_copies(const void* block);

/// `bytes` from `data` on of a block of cudaMalloc, which begins and ends where pages of the host's size do.
/// `over_pcie` as of BufferSource::export_dma_buf. Throws Error (missing).
[[nodiscard]] DmaBuf export_dma_buf(const std::byte* data, std::size_t bytes, bool over_pcie);

}  // namespace fabricbench::cuda
