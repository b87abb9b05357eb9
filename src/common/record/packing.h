// Records as bytes for another process of the same program on a machine of the same kind: the only way in which typed
// data goes from rank to rank. A type that is only a message, and goes into no file, describes itself by
// `visitor.internal(...)` alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "common/record/field.h"

namespace fabricbench::record {
namespace detail {

/// Writes the fields of a record one after the other.
class Packer : public ValueVisitor {
 public:
  template <typename Field>
  void operator()(std::string_view /*key*/, const Field& field, std::string_view /*meaning*/) {
    pack(field);
  }
  template <typename... Values>
  void internal(const Values&... values) {
    (pack(values), ...);
  }

  template <typename Field>
  void pack(const Field& field) {
    if constexpr (kIs<Scaled, Field> || kIs<Natural, Field> || kIs<Utc, Field>) {
      pack(field.value);
    } else if constexpr (kIs<NullIfNone, Field> || kIs<LeftOutIfNone, Field> || kIs<NameOrNumber, Field>) {
      pack(field.field);
    } else if constexpr (std::is_arithmetic_v<Field> || std::is_enum_v<Field>) {
      packed_.append(reinterpret_cast<const char*>(&field), sizeof field);
    } else if constexpr (std::is_same_v<Field, std::string>) {
      pack(std::uint64_t{field.size()});
      packed_ += field;
    } else if constexpr (kIs<std::optional, Field>) {
      pack(field.has_value());
      if (field) pack(*field);
    } else if constexpr (kIsVector<Field>) {
      pack(std::uint64_t{field.size()});
      for (const auto& each : field) pack(each);
    } else if constexpr (kIsArray<Field>) {
      for (const auto& each : field) pack(each);
    } else if constexpr (requires { field.first; }) {
      pack(field.first);
      pack(field.second);
    } else {
      describe(*this, field);
    }
  }

  [[nodiscard]] std::string take() { return std::move(packed_); }

 private:
  std::string packed_;
};

/// Reads what Packer has written.
class Unpacker : public ValueVisitor {
 public:
  explicit Unpacker(std::string_view packed) : packed_(packed) {}

  template <typename Field>
  void operator()(std::string_view /*key*/, Field&& field, std::string_view /*meaning*/) {
    unpack(field);
  }
  template <typename... Values>
  void internal(Values&... values) {
    (unpack(values), ...);
  }

  template <typename Field>
  void unpack(Field& field) {
    using Plain = std::remove_const_t<Field>;
    if constexpr (kIs<Scaled, Plain> || kIs<Natural, Plain> || kIs<Utc, Plain>) {
      unpack(field.value);
    } else if constexpr (kIs<NullIfNone, Plain> || kIs<LeftOutIfNone, Plain> || kIs<NameOrNumber, Plain>) {
      unpack(field.field);
    } else if constexpr (std::is_same_v<Plain, bool>) {
      const auto byte = static_cast<unsigned char>(next(1).front());
      if (byte > 1) throw std::invalid_argument("a record from another process is broken");
      field = byte != 0;
    } else if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain>) {
      std::memcpy(&field, next(sizeof field).data(), sizeof field);
    } else if constexpr (std::is_same_v<Plain, std::string>) {
      field = next(unpacked<std::uint64_t>());
    } else if constexpr (kIs<std::optional, Plain>) {
      field.reset();
      if (unpacked<bool>()) unpack(field.emplace());
    } else if constexpr (kIsVector<Plain>) {
      field.clear();
      for (auto left = unpacked<std::uint64_t>(); left > 0; --left) unpack(field.emplace_back());
    } else if constexpr (kIsArray<Plain>) {
      for (auto& each : field) unpack(each);
    } else if constexpr (requires { field.first; }) {
      unpack(field.first);
      unpack(field.second);
    } else {
      describe(*this, field);
    }
  }

  [[nodiscard]] bool is_at_end() const { return packed_.empty(); }

 private:
  template <typename T>
  [[nodiscard]] T unpacked() {
    T value{};
    unpack(value);
    return value;
  }
  [[nodiscard]] std::string_view next(std::size_t bytes) {
    if (bytes > packed_.size()) throw std::invalid_argument("a record from another process is cut off");
    const std::string_view found = packed_.substr(0, bytes);
    packed_.remove_prefix(bytes);
    return found;
  }
  std::string_view packed_;
};

}  // namespace detail

/// A record, or a vector of records.
template <typename Record>
[[nodiscard]] std::string pack(const Record& record) {
  detail::Packer packer;
  packer.pack(record);
  return packer.take();
}

/// Throws std::invalid_argument unless `packed` is exactly one record.
template <typename Record>
[[nodiscard]] Record unpack(std::string_view packed) {
  Record record{};
  detail::Unpacker unpacker(packed);
  unpacker.unpack(record);
  if (!unpacker.is_at_end()) throw std::invalid_argument("a record from another process is too long");
  return record;
}

}  // namespace fabricbench::record
