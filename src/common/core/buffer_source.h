#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/memory.h"
#include "common/core/units.h"

namespace fabricbench {

/// A part of a device's memory as a file that other devices' drivers understand. Whoever is given it closes it.
struct DmaBuf {
  int file = -1;
  std::uint64_t offset = 0;  ///< of the part's first byte in the file
};

/// Blocks of one kind of memory for buffers, and what fills and checks them there. Problems throw Error.
class BufferSource {
 public:
  BufferSource() = default;
  BufferSource(const BufferSource&) = delete;
  BufferSource& operator=(const BufferSource&) = delete;
  virtual ~BufferSource() = default;

  /// For people: `host memory`, `huge pages of 2 MiB`, `memory of GPU 0 (NVIDIA H100 80GB HBM3)`.
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual Memory& memory() = 0;
  /// Aligned to a page of this kind of memory. Throws Error (missing) with the size where there is not so much.
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* block) noexcept = 0;

  /// Whether the processor reads and writes blocks as its own memory.
  [[nodiscard]] virtual bool on_host() const { return true; }
  /// Bytes that may be taken; nothing where the host's free memory is the limit.
  [[nodiscard]] virtual std::optional<Bytes> available() const { return std::nullopt; }
  /// CUDA's number of the device that has the blocks, and its PCI address; nothing where they are the host's.
  [[nodiscard]] virtual std::vector<int> devices() const { return {}; }
  [[nodiscard]] virtual std::string pci_address() const { return ""; }

  /// Why export_dma_buf cannot work for this memory; empty where it can.
  [[nodiscard]] virtual std::string why_no_dma_buf() const { return "host memory needs none"; }
  /// `over_pcie`: to be reached over PCI Express even where the device has a faster way to the host (Data Direct).
  [[nodiscard]] virtual DmaBuf export_dma_buf(const std::byte* /*block*/, std::size_t /*bytes*/, bool /*over_pcie*/) {
    return {};
  }
};

}  // namespace fabricbench
