#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/core/memory.h"

namespace fabricbench::cuda {

// Functions of the driver that CUDA's runtime lacks. They are looked up at run time, so that a program also runs with
// older drivers.

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

/// Blocks of a device's memory that other devices can use. Each begins and ends at a boundary of the device's pages.
class CudaBuffers final : public BufferSource {
 public:
  /// `sharing`: processes that use the device. No method waits longer than `time_limit` for it. Throws Error (missing)
  /// if other devices cannot use its memory.
  CudaBuffers(int device, int sharing, Seconds time_limit);
  ~CudaBuffers() override;

  [[nodiscard]] std::string description() const override;
  [[nodiscard]] Memory& memory() override { return memory_; }
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* block) noexcept override;
  [[nodiscard]] bool on_host() const override { return false; }
  [[nodiscard]] std::optional<Bytes> available() const override;
  [[nodiscard]] std::vector<int> devices() const override { return {stream_.device()}; }
  [[nodiscard]] std::string pci_address() const override;
  [[nodiscard]] std::string why_no_dma_buf() const override;
  [[nodiscard]] DmaBuf export_dma_buf(const std::byte* block, std::size_t bytes, bool over_pcie) override;

 private:
  int sharing_;
  Stream stream_;
  CudaMemory memory_;
  std::map<std::byte*, std::byte*> allocated_;  // each block, and the allocation that contains it
};

}  // namespace fabricbench::cuda
