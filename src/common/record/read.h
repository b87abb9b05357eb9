// Records read back from lines of JSON.
#pragma once

#include <cstddef>
#include <ctime>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <simdjson.h>

#include "common/core/names.h"
#include "common/record/field.h"

namespace fabricbench::record {
namespace detail {

using Value = simdjson::ondemand::value;

template <typename Field>
void take(Field& field, Value value);

/// A word that names no value of an enum, or a number that no figure is.
struct NoSuchValue : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Such as `'fine' is none of ok, slow and failed`.
[[nodiscard]] std::string none_of(std::string_view word, std::span<const std::string_view> names);

/// A number, in any unit. Far larger ones would be infinite in another.
[[nodiscard]] double figure_of(Value value);

/// A text unchanged, a whole number by its digits; empty for null.
[[nodiscard]] std::string_view name_of(Value value);

/// The way from a key's value into a record.
struct FieldReader {
  std::string_view key;
  std::ptrdiff_t offset = 0;  ///< of the field in the record
  double multiplier = 1;      ///< see Scaled
  double divisor = 1;
  void (*take)(void* field, Value value, const FieldReader& reader) = nullptr;
  bool may_be_null = false;
  bool may_be_missing = false;
};

/// Whether a record may lack keys, as one of an earlier version does.
enum class Keys { kSome, kAll };

/// A visitor that records the offsets of a record's fields, so that they can be filled in a file's order of keys.
class ReadingVisitor : public ValueVisitor {
 public:
  explicit ReadingVisitor(const void* record) : record_(static_cast<const char*>(record)) {}

  template <typename Field>
  void operator()(std::string_view key, Field&& field, std::string_view /*meaning*/) {
    add(key, field);
  }
  template <typename... Values>
  void internal(const Values&... /*values*/) {}

  [[nodiscard]] std::vector<FieldReader> finish() { return std::move(readers_); }

 private:
  template <typename Field>
  void add(std::string_view key, Field& field) {
    using Plain = std::remove_const_t<Field>;
    if constexpr (kIs<NullIfNone, Plain> || kIs<LeftOutIfNone, Plain>) {
      add(key, field.field);
      readers_.back().may_be_null = true;
      readers_.back().may_be_missing = kIs<LeftOutIfNone, Plain>;
    } else if constexpr (kIs<Scaled, Plain>) {
      add_scaled(key, field);
    } else if constexpr (kIs<NameOrNumber, Plain>) {
      add_with(key, field.field.field, [](void* found, Value value, const FieldReader&) {
        *static_cast<std::remove_reference_t<decltype(field.field.field)>*>(found) = name_of(value);
      });
    } else if constexpr (kIs<Utc, Plain>) {
      add_with(key, field.value, [](void* time, Value value, const FieldReader&) {
        *static_cast<std::time_t*>(time) = time_of(value.get_string().value());
      });
    } else if constexpr (kIs<Natural, Plain>) {
      add(key, field.value);
    } else {
      add_with(key, field, [](void* found, Value value, const FieldReader&) {
        fabricbench::record::detail::take(*static_cast<Plain*>(found), value);
      });
    }
  }

  template <typename T>
  void add_scaled(std::string_view key, Scaled<T>& field) {
    add_with(key, field.value, [](void* found, Value value, const FieldReader& reader) {
      auto& target = *static_cast<T*>(found);
      const auto unscaled = [&](double number) { return number * reader.divisor / reader.multiplier; };
      fabricbench::record::detail::take(target, value);
      if constexpr (kIs<std::optional, T>) {
        if (target) *target = unscaled(*target);
      } else if constexpr (kIsVector<T>) {
        for (double& number : target) number = unscaled(number);
      } else {
        target = unscaled(target);
      }
    });
    readers_.back().multiplier = field.multiplier;
    readers_.back().divisor = field.divisor;
  }

  template <typename T>
  void add_with(std::string_view key, T& member, void (*take)(void*, Value, const FieldReader&)) {
    readers_.push_back({key, reinterpret_cast<const char*>(&member) - record_, 1, 1, take});
  }

  static std::time_t time_of(std::string_view text);

  const char* record_;
  std::vector<FieldReader> readers_;
};

/// Fills a record from an object. Ignores unknown keys; leaves fields without a key unchanged. With Keys::kAll, throws
/// std::invalid_argument if a key is missing, is there twice, or is null though it has to have a value.
void take_object(void* record, simdjson::ondemand::object object, const std::vector<FieldReader>& readers,
                 Keys keys = Keys::kSome);

template <typename Record>
[[nodiscard]] const std::vector<FieldReader>& readers_of() {
  static const std::vector<FieldReader> readers = [] {
    Record record{};
    ReadingVisitor visitor(&record);
    describe(visitor, record);
    return visitor.finish();
  }();
  return readers;
}

template <typename Field>
void take(Field& field, Value value) {
  if (value.is_null()) {
    field = Field{};
  } else if constexpr (kIs<std::optional, Field>) {  // NOLINT(bugprone-branch-clone): it takes discarded ones for alike
    take(field.emplace(), value);
  } else if constexpr (std::is_same_v<Field, Texts>) {
    field.clear();
    for (auto each : value.get_object()) {
      std::string name(each.unescaped_key().value());
      field.emplace_back(std::move(name), std::string(each.value().get_string().value()));
    }
  } else if constexpr (kIsVector<Field>) {
    field.clear();
    for (Value each : value.get_array()) take(field.emplace_back(), each);
  } else if constexpr (std::is_same_v<Field, bool>) {
    field = value.get_bool().value();
  } else if constexpr (Named<Field>) {
    const std::string_view word = value.get_string().value();
    const auto found = named<Field>(word);
    if (!found) throw NoSuchValue(none_of(word, names_of(Field{})));
    field = *found;
  } else if constexpr (std::is_floating_point_v<Field>) {
    field = static_cast<Field>(figure_of(value));
  } else if constexpr (std::is_unsigned_v<Field>) {
    field = static_cast<Field>(value.get_uint64().value());
  } else if constexpr (std::is_integral_v<Field>) {
    field = static_cast<Field>(value.get_int64().value());
  } else if constexpr (std::is_same_v<Field, std::string> || std::is_same_v<Field, std::string_view>) {
    field = value.get_string().value();
  } else {
    take_object(&field, value.get_object(), readers_of<Field>());
  }
}

}  // namespace detail

/// Reads lines of JSON, one after the other.
class LineReader {
 public:
  /// Bytes after a line that it may read.
  static constexpr std::size_t kSpare = simdjson::SIMDJSON_PADDING;

  /// Opens a line, whose buffer has `capacity` readable bytes. Returns its `kind`, or an empty text if it has none. The
  /// line must stay in place until the next call. Throws std::invalid_argument if it is not a JSON object.
  std::string_view open(std::string_view line, std::size_t capacity);
  /// The same without readable bytes after the line.
  std::string_view open(std::string_view line);

  /// Validates the rest of that line. Throws std::invalid_argument.
  void check() { fill(nullptr, {}, detail::Keys::kSome); }

  /// The record in that line. Text views are valid until the next line. Throws std::invalid_argument with the key.
  template <typename Record>
  [[nodiscard]] Record read() {
    Record record{};
    fill(&record, detail::readers_of<Record>(), detail::Keys::kSome);
    return record;
  }
  /// The same, and no key may be missing.
  template <typename Record>
  [[nodiscard]] Record read_whole() {
    Record record{};
    fill(&record, detail::readers_of<Record>(), detail::Keys::kAll);
    return record;
  }

 private:
  void fill(void* record, const std::vector<detail::FieldReader>& readers, detail::Keys keys);
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  simdjson::padded_string copy_;
};

}  // namespace fabricbench::record
