// The description of records, for docs/output.schema.json and the tables of docs/output.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "common/core/names.h"
#include "common/record/field.h"

namespace fabricbench::record {

using Json = nlohmann::ordered_json;

/// A key of a record.
struct Key {
  std::string key;
  std::string type;  ///< in words: `us`, `GB/s or null`
  std::string meaning;
};

/// The description of a type of records.
struct Description {
  std::string name;
  std::string kind;  ///< kind of the line; empty for a part of other records
  std::string meaning;
  std::vector<Key> keys;
  Json schema;
};

/// Types of records without duplicates, each followed by the types it contains.
using Descriptions = std::vector<Description>;

namespace detail {

struct Type {
  std::string words;
  Json schema;

  [[nodiscard]] Type or_null() const;
  /// Undoes or_null.
  [[nodiscard]] Type without_null() const;
  [[nodiscard]] Type list() const;
  /// The type without 0 and without the empty text, which stand for none.
  [[nodiscard]] Type without_none() const;
};

[[nodiscard]] Type type_of_number(bool whole, bool not_negative, std::string words);
[[nodiscard]] Type type_of_text();
[[nodiscard]] Type type_of_truth();
[[nodiscard]] Type type_of_texts();
[[nodiscard]] Type type_of_time();
[[nodiscard]] Type type_of_names(const std::vector<std::string>& names);
[[nodiscard]] Type type_of_record(const Description& description);

template <typename Record>
[[nodiscard]] Type described(Descriptions& all);

template <typename Field>
[[nodiscard]] Type type_of(Descriptions& all, const Field& field, std::string_view unit = "");

/// A visitor that lists a record's keys.
class SchemaVisitor {
 public:
  explicit SchemaVisitor(Descriptions& all) : all_(all) {}

  /// `name`: the type's name, if several types have lines of this kind.
  void line(std::string_view kind, std::string_view meaning, std::string_view name = "");
  /// Allows other keys with texts.
  void other_keys(std::string_view meaning);
  void part(std::string_view name, std::string_view meaning);
  template <typename Field>
  void operator()(std::string_view key, const Field& field, std::string_view meaning) {
    if constexpr (kIs<LeftOutIfNone, Field>) {
      add(key, type_of(all_, field.field).without_null().without_none(), meaning, false);
    } else {
      add(key, type_of(all_, field), meaning, true);
    }
  }
  template <typename Value>
  void derived(std::string_view key, const Value& value, std::string_view meaning) {
    (*this)(key, value, meaning);
  }
  template <typename... Values>
  void internal(const Values&... /*values*/) {}

  [[nodiscard]] Description take() { return std::move(made_); }

 private:
  void add(std::string_view key, const Type& type, std::string_view meaning, bool always);
  Descriptions& all_;
  Description made_;
};

template <typename T>
struct ElementOf {
  using Type = T;
};
template <typename T>
struct ElementOf<std::optional<T>> {
  using Type = T;
};
template <typename T>
struct ElementOf<std::vector<T>> {
  using Type = T;
};

template <typename Field>
Type type_of(Descriptions& all, const Field& field, std::string_view unit) {
  using Plain = std::remove_cvref_t<Field>;
  if constexpr (kIs<Scaled, Plain>) {
    return type_of(all, field.value, field.unit);
  } else if constexpr (kIs<Natural, Plain>) {
    return type_of(all, field.value, "count");
  } else if constexpr (kIs<NameOrNumber, Plain>) {
    return type_of(all, field.field, unit);
  } else if constexpr (kIs<Utc, Plain>) {
    return type_of_time();
  } else if constexpr (kIs<NullIfNone, Plain>) {
    return type_of(all, field.field).without_none().or_null();
  } else if constexpr (kIs<std::optional, Plain>) {
    return type_of(all, typename ElementOf<Plain>::Type{}, unit).or_null();
  } else if constexpr (std::is_same_v<Plain, Texts>) {
    return type_of_texts();
  } else if constexpr (kIsVector<Plain>) {
    return type_of(all, typename ElementOf<Plain>::Type{}, unit).list();
  } else if constexpr (std::is_same_v<Plain, bool>) {
    return type_of_truth();
  } else if constexpr (Named<Plain>) {
    const auto names = names_of(Plain{});
    return type_of_names({names.begin(), names.end()});
  } else if constexpr (std::is_arithmetic_v<Plain>) {
    const bool whole = std::is_integral_v<Plain>;
    const bool not_negative = std::is_unsigned_v<Plain> || unit == "count" || unit == "us" || unit == "GB/s";
    return type_of_number(whole, not_negative, std::string(unit));
  } else if constexpr (std::is_convertible_v<Plain, std::string_view>) {
    return type_of_text();
  } else {
    return described<Plain>(all);
  }
}

template <typename Record>
Type described(Descriptions& all) {
  SchemaVisitor visitor(all);
  Record record{};
  describe(visitor, record);
  const Description made = visitor.take();
  for (const Description& known : all) {
    if (known.name == made.name) return type_of_record(known);
  }
  all.push_back(made);
  return type_of_record(made);
}

}  // namespace detail

/// Adds a type of records, and all types it contains.
template <typename Record>
void add_description(Descriptions& all) {
  (void)detail::described<Record>(all);
}

/// The whole schema, as JSON Schema draft 7.
[[nodiscard]] Json schema_of(const Descriptions& all);
/// The same as text, with one line per key.
[[nodiscard]] std::string schema_text(const Descriptions& all);

/// A table in Markdown of a record's keys.
[[nodiscard]] std::string table_of(const Description& record);

}  // namespace fabricbench::record
