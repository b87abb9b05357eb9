// Enums whose values have names: in files, in messages, on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace fabricbench {

/// An enum with a function `names_of` beside it that lists the names of its values in order, from 0 on:
///   constexpr auto names_of(Verb) { return std::to_array<std::string_view>({"write", "read"}); }
template <typename Enum>
concept Named = requires(Enum value) {
  names_of(value).size();
};

template <Named Enum>
[[nodiscard]] constexpr std::string_view name(Enum value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The value with this name; empty if there is none.
template <Named Enum>
[[nodiscard]] constexpr std::optional<Enum> named(std::string_view name) {
  const auto names = names_of(Enum{});
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace fabricbench
