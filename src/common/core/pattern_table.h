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

/// The start of a buffer in the pattern: the position of its first element in the message, and the shift of the data's
/// source (pattern::source_shift).
struct PatternPosition {
  std::uint64_t position = 0;
  std::uint64_t shift = 0;
};

/// One period of the pattern as elements in memory, so that filling is a copy and checking a comparison.
class PatternTable {
 public:
  /// The values that `rank` of `ranks` sends for `reduction`, which is not kNone.
  static PatternTable sent(DataType type, Reduction reduction, int rank, int ranks);
  /// The values of a family of ranks (pattern::family) where data are only moved; each rank starts at its own shift.
  static PatternTable moved(DataType type, std::uint64_t family);
  /// The result of `reduction` over all of `ranks`; `how` a library computes an avg decides how that is rounded.
  static PatternTable reduced(DataType type, Reduction reduction, int ranks, Average how = Average::kDividesSum);

  /// Values that `rank` of `ranks` sends, whose floating-point sums and products round, differently in each order.
  static PatternTable rounding(DataType type, Reduction reduction, int rank, int ranks);

  /// Fills the whole of `buffer`, which holds whole elements, with the pattern from `place` on.
  void fill(std::span<std::byte> buffer, PatternPosition place) const;

  /// Compares the whole of `buffer` with the pattern from `place` on, bit by bit.
  [[nodiscard]] std::optional<Mismatch> check(std::span<const std::byte> buffer, PatternPosition place) const;

  [[nodiscard]] DataType type() const { return type_; }
  /// Two periods in a row, so that every rotation is contiguous: element s belongs to slot s.
  [[nodiscard]] std::span<const std::byte> two_periods() const { return two_periods_; }
  /// The element at `offset` elements behind `place`.
  [[nodiscard]] std::span<const std::byte> element(PatternPosition place, std::uint64_t offset) const;

 private:
  template <typename Value>
  PatternTable(DataType type, Value value);
  template <typename Action>
  void for_each_run(std::size_t bytes, PatternPosition place, Action action) const;

  DataType type_;
  std::size_t element_;  // bytes of one element
  std::vector<std::byte> two_periods_;
};

/// An element of `type` as text without loss.
[[nodiscard]] std::string element_text(DataType type, const std::byte* element);

/// Which values, 0 or 1, each bit of an element has among some elements. What has only one of them there could be stuck
/// or lost on its way without being noticed.
class SeenBits {
 public:
  explicit SeenBits(DataType type);

  /// Adds the elements of a buffer that begins at `place` of the pattern: `elements`, of which one period is enough.
  void add(const PatternTable& table, PatternPosition place, std::uint64_t elements);

  /// For each bit, 1 if it was seen as 0, and 1 if it was seen as 1. The flags of several objects combine by their
  /// maximum.
  [[nodiscard]] const std::vector<std::uint8_t>& flags() const { return flags_; }

 private:
  std::vector<std::uint8_t> flags_;
};

/// The share of the bits that were seen as 0 and as 1, from the flags of SeenBits.
[[nodiscard]] double share_of_both(const std::vector<std::uint8_t>& flags);

}  // namespace fabricbench
