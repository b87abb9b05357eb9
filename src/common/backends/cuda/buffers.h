#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/stream.h"
#include "common/core/buffer_source.h"

namespace fabricbench::cuda {

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
