#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "common/core/not_copied.h"
#include "common/core/pattern_table.h"

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

}  // namespace fabricbench
