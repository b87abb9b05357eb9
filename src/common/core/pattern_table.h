#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/pattern.h"

namespace fabricbench {

/// Wrong elements found by a check. Offsets are in elements.
struct Mismatch {
  std::uint64_t count = 0;
  std::uint64_t first_offset = 0;
  std::string expected;
  std::string got;
};

/// One period of the pattern as elements in memory, so that filling is copying and checking is comparing.
class PatternTable {
 public:
  /// What `rank` of `ranks` sends for `reduction`.
  static PatternTable sent(DataType type, Reduction reduction, int rank, int ranks);
  /// What every rank receives from `reduction` over all of `ranks`.
  static PatternTable reduced(DataType type, Reduction reduction, int ranks);

  /// Writes the pattern's elements from `position` on over the whole of `buffer`, which holds whole elements.
  void fill(std::span<std::byte> buffer, std::uint64_t position) const;

  /// Compares the whole of `buffer` with the pattern from `position` on, bit by bit.
  [[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> buffer, std::uint64_t position) const;

 private:
  template <typename Value>
  PatternTable(DataType type, Value value);
  template <typename Action>
  void for_each_run(std::size_t bytes, std::uint64_t position, Action action) const;

  DataType type_;
  std::size_t element_;                 // bytes of one element
  std::vector<std::byte> two_periods_;  // twice the period, so that every rotation of it is one run
};

/// An element of `type` as text that shows every bit that matters.
[[nodiscard]] std::string element_text(DataType type, const std::byte* element);

}  // namespace fabricbench
