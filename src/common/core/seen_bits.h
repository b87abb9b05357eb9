#pragma once

#include <cstdint>
#include <vector>

#include "common/core/pattern_table.h"

namespace fabricbench {

/// Which values, 0 or 1, each bit of an element has among some elements. What has only one of them there could be stuck
/// or lost on its way without being noticed.
class SeenBits {
 public:
  explicit SeenBits(DataType type);

  /// Adds the elements of a buffer that begins at `place` of the pattern: `elements`, of which one period is enough.
  void add(const PatternTable& table, PatternPlace place, std::uint64_t elements);

  /// For each bit, 1 if it was seen as 0, and 1 if it was seen as 1. The flags of several objects combine by their
  /// maximum.
  [[nodiscard]] const std::vector<std::uint8_t>& flags() const { return flags_; }

 private:
  std::vector<std::uint8_t> flags_;
};

/// The share of the bits that were seen as 0 and as 1, from the flags of SeenBits.
[[nodiscard]] double share_of_both(const std::vector<std::uint8_t>& flags);

}  // namespace fabricbench
