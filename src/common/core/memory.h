#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/ownership.h"
#include "common/core/pattern_table.h"
#include "common/core/units.h"

namespace fabricbench {

/// The memory that holds a rank's buffers, with the means to fill and check them there. A method returns when its work
/// is done. Problems throw Error.
class Memory : public InterfaceBase {
 public:
  virtual void set(std::span<std::byte> buffer, int byte) = 0;
  /// Fills the whole of `buffer`, which holds whole elements, with the pattern of `table` from `place` on.
  virtual void fill(std::span<std::byte> buffer, const PatternTable& table, PatternPosition place) = 0;
  /// Compares the whole of `buffer` with the pattern from `place` on, bit by bit.
  [[nodiscard]] virtual std::optional<Mismatch> check(std::span<const std::byte> buffer, const PatternTable& table,
                                                      PatternPosition place) = 0;
  virtual void copy_to_host(std::span<const std::byte> from, std::byte* into) = 0;
  virtual void copy_from_host(std::span<const std::byte> from, std::byte* into) = 0;
};

/// The memory of this process.
class HostMemory final : public Memory {
 public:
  void set(std::span<std::byte> buffer, int byte) override;
  void fill(std::span<std::byte> buffer, const PatternTable& table, PatternPosition place) override;
  [[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> buffer, const PatternTable& table,
                                              PatternPosition place) override;
  void copy_to_host(std::span<const std::byte> from, std::byte* into) override;
  void copy_from_host(std::span<const std::byte> from, std::byte* into) override;

  /// Page-aligned. Throws Error (missing) with the size if memory is short.
  [[nodiscard]] static std::byte* allocate(std::size_t bytes);
  static void release(std::byte* block) noexcept;
};

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
