// Records as JSON objects.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/core/names.h"
#include "common/record/field.h"

namespace fabricbench {
struct Row;
}

namespace fabricbench::record {

using Json = nlohmann::ordered_json;

namespace detail {

template <typename Field>
[[nodiscard]] Json json_of(const Field& field);

/// A visitor that makes a JSON object of a record.
class JsonVisitor {
 public:
  void line(std::string_view kind, std::string_view /*meaning*/, std::string_view /*name*/ = "") { add("kind", kind); }
  void other_keys(std::string_view /*meaning*/) {}
  void part(std::string_view /*name*/, std::string_view /*meaning*/) {}
  template <typename Field>
  void operator()(std::string_view key, const Field& field, std::string_view /*meaning*/) {
    if constexpr (kIs<LeftOutIfNone, Field>) {
      if (is_none(field.field)) return;
      add(key, json_of(field.field));
    } else {
      add(key, json_of(field));
    }
  }
  template <typename Value>
  void derived(std::string_view key, const Value& value, std::string_view meaning) {
    (*this)(key, value, meaning);
  }
  template <typename... Values>
  void internal(const Values&... /*values*/) {}

  [[nodiscard]] Json take() { return std::move(object_); }

 private:
  void add(std::string_view key, Json value) { object_.emplace(std::string(key), std::move(value)); }
  Json object_ = Json::object();
};

template <typename T>
[[nodiscard]] Json scaled_json(const Scaled<T>& field) {
  using Plain = std::remove_const_t<T>;
  const auto scaled = [&](double value) { return value * field.multiplier / field.divisor; };
  if constexpr (kIs<std::optional, Plain>) {
    return field.value ? Json(scaled(*field.value)) : Json(nullptr);
  } else if constexpr (kIsVector<Plain>) {
    Json list = Json::array();
    for (const double value : field.value) list.push_back(scaled(value));
    return list;
  } else {
    return scaled(field.value);
  }
}

template <typename Field>
Json json_of(const Field& field) {
  if constexpr (kIs<Scaled, Field>) {
    return scaled_json(field);
  } else if constexpr (kIs<Natural, Field>) {
    return json_of(field.value);
  } else if constexpr (kIs<NameOrNumber, Field>) {
    return json_of(field.field);
  } else if constexpr (kIs<Utc, Field>) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(field.value));
  } else if constexpr (kIs<NullIfNone, Field>) {
    return is_none(field.field) ? Json(nullptr) : json_of(field.field);
  } else if constexpr (kIs<std::optional, Field>) {
    return field ? json_of(*field) : Json(nullptr);
  } else if constexpr (std::is_same_v<Field, Texts>) {
    Json object = Json::object();
    for (const auto& [name, text] : field) object[name] = text;
    return object;
  } else if constexpr (kIsVector<Field>) {
    Json list = Json::array();
    for (const auto& each : field) list.push_back(json_of(each));
    return list;
  } else if constexpr (Named<Field>) {
    return name(field);
  } else if constexpr (std::is_arithmetic_v<Field> || std::is_convertible_v<Field, std::string_view>) {
    return field;
  } else {
    JsonVisitor visitor;
    describe(visitor, field);
    return visitor.take();
  }
}

}  // namespace detail

template <typename Record>
[[nodiscard]] Json to_json(const Record& record) {
  return detail::json_of(record);
}

/// The measurements of a row, one per placement: the fields of the measurement, those of the row as `row`, and `out` or
/// `in` as `placement`.
[[nodiscard]] std::vector<Json> placements(const Row& row);

/// One line. Invalid UTF-8 (in a host's name, for instance) is replaced and throws no exception.
[[nodiscard]] std::string json_line(const Json& json);

}  // namespace fabricbench::record
