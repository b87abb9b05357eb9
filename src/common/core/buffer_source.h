#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/memory.h"
#include "common/core/not_copied.h"
#include "common/core/units.h"

namespace fabricbench {

/// A range of device memory, exported as a file that drivers of other devices understand. The receiver closes it.
struct DmaBuf {
  int file = -1;
  std::uint64_t offset = 0;  ///< offset of the range in the file
};

/// Allocates buffers in one kind of memory, and fills and checks them there. Problems throw Error.
class BufferSource : public InterfaceBase {
 public:
  /// For messages: `host memory`, `huge pages of 2 MiB`, `memory of GPU 0 (NVIDIA H100 80GB HBM3)`.
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual Memory& memory() = 0;
  /// Aligned to a page of this kind of memory. Throws Error (missing) with the size if memory is short.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* block) noexcept = 0;

  /// Whether the processor can read and write the blocks directly.
  [[nodiscard]] virtual bool on_host() const { return true; }
  /// Bytes that may be allocated; empty if the host's free memory is the limit.
  [[nodiscard]] virtual std::optional<Bytes> available() const { return std::nullopt; }
  /// CUDA's number and the PCI address of the device that holds the blocks; empty for host memory.
  [[nodiscard]] virtual std::vector<int> devices() const { return {}; }
  [[nodiscard]] virtual std::string pci_address() const { return ""; }

  /// Why export_dma_buf cannot work for this memory; empty if it can.
  [[nodiscard]] virtual std::string why_no_dma_buf() const { return "host memory needs none"; }
  /// `over_pcie`: use PCI Express even if the device has a faster path to the host (Data Direct).
  [[nodiscard]] virtual DmaBuf export_dma_buf(const std::byte* /*block*/, std::size_t /*bytes*/, bool /*over_pcie*/) {
    return {};
  }
};

/// Buffers in this process's memory, in pages of the usual size.
class HostBuffers final : public BufferSource {
 public:
  [[nodiscard]] std::string description() const override { return "host memory"; }
  [[nodiscard]] Memory& memory() override { return memory_; }
  [[nodiscard]] std::byte* allocate(std::size_t bytes) override { return HostMemory::allocate(bytes); }
  void release(std::byte* block) noexcept override { HostMemory::release(block); }

 private:
  HostMemory memory_;
};

}  // namespace fabricbench
