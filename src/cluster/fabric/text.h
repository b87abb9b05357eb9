// Pieces of the lines that tools print.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace fabricbench::fabric {

inline constexpr std::string_view kBlanks = " \t\r";

[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// The number that a text begins with; `0x` may stand before one of base 16.
template <typename Number>
[[nodiscard]] std::optional<Number> number_at(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  Number number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace fabricbench::fabric
