// Functions of the driver that CUDA's runtime lacks. They are looked up at run time, so that a program also runs with
// older drivers.
#pragma once

#include <cstddef>
#include <string>

#include "common/core/buffer_source.h"

namespace fabricbench::cuda {

/// Why other devices cannot use this one's memory, and what to do; empty if they can. Throws Error.
[[nodiscard]] std::string why_no_gpu_direct(int device);

/// Why a device's memory cannot be exported as a dma-buf, and what to do; empty if it can. Throws Error.
[[nodiscard]] std::string why_no_dma_buf(int device);

/// Makes copies and fills of a block of cudaMalloc synchronous where CUDA would not: other devices that read the block
/// do not know about streams. Throws Error (missing).
void synchronize_copies(const void* block);

/// Exports `bytes` from `data` on of a block of cudaMalloc; both ends are at boundaries of the host's pages.
/// `over_pcie` is as for BufferSource::export_dma_buf. Throws Error (missing).
[[nodiscard]] DmaBuf export_dma_buf(const std::byte* data, std::size_t bytes, bool over_pcie);

}  // namespace fabricbench::cuda
