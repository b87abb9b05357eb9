// The fields of records, declared once: each record has one function `describe`, which passes every field to a visitor.
// A visitor turns them into JSON, CSV, bytes for another process, a schema, or a table for the documentation.
//
//   template <typename Form, Of<EpochRecord> Record>
//   void describe(Visitor& visitor, Record& epoch) {
//     visitor.line("epoch", "after each epoch");                     // or visitor.part(...) for a part of a line
//     visitor("size_bytes", natural(epoch.size), "of a message");
//     visitor("time_us_median", us(epoch.median), "of its samples");
//     visitor.derived("gb_per_s", ..., "...");                       // written, never read
//     visitor.internal(epoch.details, epoch.more);                     // sent to other processes, never to files
//   }
//
// A field is a reference to a member, with or without a unit: memory has seconds, bytes per second and shares, files
// have us, GB/s and percent. Members are numbers, text, enums with names, optional ones, vectors, and other records.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/core/names.h"

namespace fabricbench::record {

/// `T`, or the same as const.
template <typename T, typename Plain>
concept Of = std::same_as<std::remove_const_t<T>, Plain>;

/// A number written to files as `value * multiplier / divisor`; or several, or an optional one.
template <typename T>
struct Scaled {
  T& value;
  double multiplier;
  double divisor;
  std::string_view unit;
};

template <typename T>
[[nodiscard]] Scaled<T> us(T& seconds) {
  return {seconds, 1e6, 1, "us"};
}
template <typename T>
[[nodiscard]] Scaled<T> gb_per_s(T& bytes_per_s) {
  return {bytes_per_s, 1, 1e9, "GB/s"};
}
template <typename T>
[[nodiscard]] Scaled<T> percent(T& share) {
  return {share, 100, 1, "%"};
}

/// A whole number of at least 0.
template <typename T>
struct Natural {
  T& value;
};
template <typename T>
[[nodiscard]] Natural<T> natural(T& value) {
  return {value};
}

/// A name that may also be written as a whole number: a rail may be called 3.
template <typename Field>
struct NameOrNumber {
  Field field;
};
template <typename Field>
[[nodiscard]] NameOrNumber<Field> name_or_number(Field field) {
  return {field};
}

/// A moment as ISO 8601 in UTC.
template <typename T>
struct Utc {
  T& value;
};
template <typename T>
[[nodiscard]] Utc<T> utc(T& time) {
  return {time};
}

/// Written to files as null if the value is 0, negative or empty: unknown, or none.
template <typename Field>
struct NullIfNone {
  Field field;
};
template <typename T>
[[nodiscard]] NullIfNone<T&> null_if_none(T& value) {
  return {value};
}
template <typename T>
[[nodiscard]] NullIfNone<Scaled<T>> null_if_none(Scaled<T> value) {
  return {value};
}

/// Left out of files if the value is empty.
template <typename Field>
struct LeftOutIfNone {
  Field field;
};
template <typename T>
[[nodiscard]] LeftOutIfNone<T&> left_out_if_none(T& value) {
  return {value};
}
template <typename T>
[[nodiscard]] LeftOutIfNone<Scaled<T>> left_out_if_none(Scaled<T> value) {
  return {value};
}

/// Named texts, written to files as an object.
using Texts = std::vector<std::pair<std::string, std::string>>;

namespace detail {

template <template <typename> typename Template, typename T>
inline constexpr bool kIs = false;
template <template <typename> typename Template, typename Argument>
inline constexpr bool kIs<Template, Template<Argument>> = true;

template <typename T>
inline constexpr bool kIsVector = false;
template <typename Element>
inline constexpr bool kIsVector<std::vector<Element>> = true;
template <typename T>
inline constexpr bool kIsArray = false;
template <typename Element, std::size_t kSize>
inline constexpr bool kIsArray<std::array<Element, kSize>> = true;

/// The base of visitors that take values only, without names and meanings.
class ValueVisitor {
 public:
  void line(std::string_view /*kind*/, std::string_view /*meaning*/, std::string_view /*name*/ = "") {}
  void other_keys(std::string_view /*meaning*/) {}
  void part(std::string_view /*name*/, std::string_view /*meaning*/) {}
  template <typename Value>
  void derived(std::string_view /*key*/, const Value& /*value*/, std::string_view /*meaning*/) {}
};

/// Whether null_if_none and left_out_if_none treat `value` as none.
template <typename T>
[[nodiscard]] bool is_none(const T& value) {
  if constexpr (kIs<Scaled, T>) {
    return is_none(value.value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return !(value > 0);
  } else if constexpr (kIs<std::optional, T>) {
    return !value.has_value();
  } else {
    return value.empty();
  }
}

}  // namespace detail
}  // namespace fabricbench::record
