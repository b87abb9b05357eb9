// Enums whose values have names: in files, in messages, on the command line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// The names that somebody may have meant by one that does not exist.

/// Letters to change, add, take away or swap with the next to make `to` of `from`; at most 1 where `from` is the
/// beginning of `to`, because perftest and nccl-tests take shortened names.
[[nodiscard]] std::size_t name_distance(std::string_view from, std::string_view to);

/// A name that exists, as readers are told it, and how far it is from the given one.
struct NearName {
  std::size_t distance;
  std::string text;
};

/// The texts of up to three names that may be slips of `given`, nearest first.
[[nodiscard]] std::vector<std::string> nearest_names(std::string_view given, std::vector<NearName> names);

/// The same for a message: `the nearest is --minbytes`, or `the nearest are list, table`; empty if there is none.
[[nodiscard]] std::string the_nearest(std::string_view given, std::vector<NearName> names);

}  // namespace fabricbench
