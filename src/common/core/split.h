#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fabricbench {

/// A rule that deals processes out to groups by their number, as nccl-tests' NCCL_TESTS_SPLIT does.
struct Split {
  enum class Rule { kAnd, kOr, kModulo, kDivide };
  Rule rule = Rule::kDivide;
  std::uint64_t operand = 0;

  /// The group of a process; groups need not be numbered without gaps.
  [[nodiscard]] std::uint64_t colour(std::uint64_t process) const;
  /// Such as `MOD 2`; parse_split reads it back.
  [[nodiscard]] std::string text() const;
};

/// Reads `AND`, `OR`, `MOD` or `DIV`, of either case, or `&`, `|`, `%`, `/`, and a whole number, decimal or with
/// 0x or 0b in front; spaces between them are free. Throws UsageError for anything else, and for a division by 0.
[[nodiscard]] Split parse_split(std::string_view text);

}  // namespace fabricbench
