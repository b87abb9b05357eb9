#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fabricbench {

/// A rule that divides processes into groups by their number, as nccl-tests' NCCL_TESTS_SPLIT does.
struct Split {
  enum class Rule { kAnd, kOr, kModulo, kDivide };
  Rule rule = Rule::kDivide;
  std::uint64_t operand = 0;

  /// The group of a process. Group numbers may have gaps.
  [[nodiscard]] std::uint64_t colour(std::uint64_t process) const;
  /// Such as `MOD 2`; the inverse of parse_split.
  [[nodiscard]] std::string text() const;
};

/// Reads `AND`, `OR`, `MOD` or `DIV` in either case, or `&`, `|`, `%`, `/`, and a whole number, decimal or prefixed
/// with 0x or 0b. Spaces between the two are optional. Throws UsageError for anything else and for a division by 0.
[[nodiscard]] Split parse_split(std::string_view text);

}  // namespace fabricbench
