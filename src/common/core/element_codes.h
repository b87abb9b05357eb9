#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "common/core/datatype.h"

// Elements by their codes, the bits that stand for them, and by whole numbers times a power of two. All functions are
// constexpr, so that device code can use the same ones.
namespace fabricbench {

/// A whole number in two's complement times a power of two. Of whole-number types the exponent is not negative.
struct Number {
  std::uint64_t significand = 0;
  int exponent = 0;
};

[[nodiscard]] constexpr std::uint64_t negated(std::uint64_t value) { return ~value + 1; }

/// The code of which every bit is 1.
[[nodiscard]] constexpr std::uint64_t all_bits(const DataTypeFacts& type) {
  return ~std::uint64_t{0} >> (64 - 8 * type.size);
}
[[nodiscard]] constexpr std::uint64_t sign_bit(const DataTypeFacts& type) {
  return std::uint64_t{1} << (8 * type.size - 1);
}
/// The code of bytes that all are `byte`.
[[nodiscard]] constexpr std::uint64_t repeated(const DataTypeFacts& type, int byte) {
  return 0x0101010101010101u * static_cast<std::uint64_t>(byte) & all_bits(type);
}

/// Floating point: the code of the smallest normal number.
[[nodiscard]] constexpr std::uint64_t least_normal_code(const DataTypeFacts& type) {
  return std::uint64_t{1} << type.mantissa_bits;
}
/// Floating point: the code of the largest finite number. f8e4m3 has no infinity, and one NaN per sign.
[[nodiscard]] constexpr std::uint64_t largest_finite_code(const DataTypeFacts& type) {
  const std::uint64_t codes = std::uint64_t{1} << (8 * type.size - 1);
  return type.type == DataType::kF8e4m3 ? codes - 2 : codes - least_normal_code(type) - 1;
}
[[nodiscard]] constexpr bool is_nan(const DataTypeFacts& type, std::uint64_t code) {
  const std::uint64_t infinity = type.type == DataType::kF8e4m3 ? 0 : 1;
  return type.floating && (code & ~sign_bit(type)) > largest_finite_code(type) + infinity;
}
/// Floating point: the exponents of the smallest normal and of the largest finite number.
[[nodiscard]] constexpr int least_exponent(const DataTypeFacts& type) { return 2 - (1 << (type.exponent_bits - 1)); }
[[nodiscard]] constexpr int largest_exponent(const DataTypeFacts& type) {
  return static_cast<int>(largest_finite_code(type) >> type.mantissa_bits) - 1 + least_exponent(type);
}

/// The element with this code.
template <typename T>
[[nodiscard]] constexpr T element_of_code(std::uint64_t code) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<T>(static_cast<std::uint8_t>(code));
  if constexpr (sizeof(T) == 2) return std::bit_cast<T>(static_cast<std::uint16_t>(code));
  if constexpr (sizeof(T) == 4) return std::bit_cast<T>(static_cast<std::uint32_t>(code));
  if constexpr (sizeof(T) == 8) return std::bit_cast<T>(code);
}

template <typename T>
[[nodiscard]] constexpr std::uint64_t code_of(T element) {
  if constexpr (sizeof(T) == 1) return std::bit_cast<std::uint8_t>(element);
  if constexpr (sizeof(T) == 2) return std::bit_cast<std::uint16_t>(element);
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(element);
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(element);
}

/// A number that T represents exactly, and in floating point as a normal number or 0.
template <typename T>
[[nodiscard]] constexpr T element_of(Number number) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(number.significand << number.exponent);
  } else {
    constexpr int kBias = 1023;
    constexpr int kMantissaBits = 52;
    const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(number.exponent + kBias) << kMantissaBits);
    const double value = static_cast<double>(static_cast<std::int64_t>(number.significand)) * power;
    if constexpr (std::is_same_v<T, double>) return value;
    if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
    if constexpr (kIsSmallFloat<T>) return small_float<T>(static_cast<float>(value));
  }
}

[[nodiscard]] constexpr std::uint64_t code_of(DataType type, Number number) {
  return with_type(type, [&]<typename T>(std::type_identity<T>) { return code_of(element_of<T>(number)); });
}

/// A place in the ascending list of a type's numbers: all whole numbers; of floating-point types 0 (once) and the
/// normal numbers.
[[nodiscard]] constexpr std::uint64_t order_of(const DataTypeFacts& type, std::uint64_t code) {
  const std::uint64_t sign = sign_bit(type);
  if (!type.floating) return type.has_sign ? code ^ sign : code;
  const std::uint64_t normals = largest_finite_code(type) - least_normal_code(type) + 1;
  const std::uint64_t magnitude = code & ~sign;
  if (magnitude == 0) return normals;
  const std::uint64_t rank = magnitude - least_normal_code(type) + 1;
  return code == magnitude ? normals + rank : normals - rank;
}
/// The code at a place of that list.
[[nodiscard]] constexpr std::uint64_t code_in_order(const DataTypeFacts& type, std::uint64_t place) {
  const std::uint64_t sign = sign_bit(type);
  if (!type.floating) return type.has_sign ? place ^ sign : place;
  const std::uint64_t normals = largest_finite_code(type) - least_normal_code(type) + 1;
  if (place == normals) return 0;
  const std::uint64_t below = least_normal_code(type) - 1;
  return place > normals ? below + (place - normals) : sign | (below + (normals - place));
}
/// The last place of that list.
[[nodiscard]] constexpr std::uint64_t last_in_order(const DataTypeFacts& type) {
  return order_of(type,
                  type.floating ? largest_finite_code(type) : all_bits(type) ^ (type.has_sign ? sign_bit(type) : 0));
}

}  // namespace fabricbench
