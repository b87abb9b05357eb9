#pragma once

// What the tests of the mpi backend share: buffers with guards, and what belongs in them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/core/datatype.h"
#include "common/core/pattern_table.h"
#include "common/mpi/mpi_backend.h"

namespace fabricbench::mpi {

inline constexpr std::byte kPoison{pattern::kPoisonByte};
inline constexpr std::size_t kAnyCount = std::size_t{1} << 30;  // one call for any count that a test has

/// What one operation of a test is about.
struct Example {
  DataType type = DataType::kFloat;
  Reduction reduction = Reduction::kNone;
  std::size_t count = 0;
  bool in_place = false;
  int root = -1;
};

[[nodiscard]] inline std::string describe(const Example& example) {
  return fmt::format("{} {} of {}, root {}, {}", facts(example.type).name, name(example.reduction), example.count,
                     example.root, example.in_place ? "in place" : "out of place");
}

/// So many elements, poisoned, with a guard before and behind them.
class Elements {
 public:
  Elements(DataType type, std::size_t count)
      : element_(facts(type).size), memory_(2 * kGuard + count * element_, kPoison) {}

  [[nodiscard]] std::byte* at(std::size_t element) { return memory_.data() + kGuard + element * element_; }
  [[nodiscard]] std::span<std::byte> part(std::size_t first, std::size_t count) {
    return std::span(memory_).subspan(kGuard + first * element_, count * element_);
  }
  [[nodiscard]] bool guards_hold() const {
    const auto is_poison = [](std::byte byte) { return byte == kPoison; };
    return std::all_of(memory_.begin(), memory_.begin() + kGuard, is_poison) &&
           std::all_of(memory_.end() - kGuard, memory_.end(), is_poison);
  }
  [[nodiscard]] bool is_untouched(std::size_t first, std::size_t count) {
    const auto elements = part(first, count);
    return std::all_of(elements.begin(), elements.end(), [](std::byte byte) { return byte == kPoison; });
  }

 private:
  static constexpr std::ptrdiff_t kGuard = 64;
  std::size_t element_;
  std::vector<std::byte> memory_;
};

/// Fails the test with what is wrong, if anything.
inline void expect_none(const std::optional<Mismatch>& wrong, const std::string& what) {
  EXPECT_FALSE(wrong) << what << ": " << wrong->count << " wrong, the first at " << wrong->first_offset << ": expected "
                      << wrong->expected << ", got " << wrong->got;
}

/// The datatypes that MPI has.
[[nodiscard]] inline std::vector<DataType> supported_types() {
  std::vector<DataType> types;
  for (const DataTypeFacts& type : kDataTypes) {
    if (why_not(type.type, Reduction::kNone).empty()) types.push_back(type.type);
  }
  return types;
}

}  // namespace fabricbench::mpi
