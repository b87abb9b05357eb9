#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/core/names.h"

namespace fabricbench {

/// Element types, in the order in which nccl-tests' `-d all` runs them.
enum class DataType {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kFloat,
  kDouble,
  kBfloat16,
  kF8e4m3,
  kF8e5m2
};

/// Reductions, in the order of `-o all`. kMulSum is a sum of values that each rank multiplies first (NCCL's PreMulSum);
/// kNone is for operations that only move data.
enum class Reduction { kSum, kProd, kMin, kMax, kAvg, kMulSum, kNone };

/// IEEE 754 binary16 and bfloat16 as stored in memory. Arithmetic is done in float and rounded to nearest even.
/// constexpr, so that device code can use the same functions.
struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};
/// The 8-bit formats of the Open Compute Project (OFP8, 2023): e4m3 without infinities, and e5m2.
struct F8e4m3 {
  std::uint8_t bits;
};
struct F8e5m2 {
  std::uint8_t bits;
};

[[nodiscard]] constexpr float to_float(Half value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = value.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude < 0x400u) {  // subnormal: a multiple of 2^-24
    const float absolute = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -absolute : absolute;
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));  // rebias the exponent from 15 to 127
}

[[nodiscard]] constexpr float to_float(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

[[nodiscard]] constexpr Half to_half(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits >= 0x47800000u) {  // 65536 and above, infinity, NaN
    return {static_cast<std::uint16_t>(sign | (bits > 0x7f800000u ? 0x7e00u : 0x7c00u))};
  }
  if (bits < 0x38800000u) {  // below 2^-14: adding 0.5 makes the float unit round to multiples of 2^-24
    const float aligned = std::bit_cast<float>(bits) + 0.5f;
    return {static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000u))};
  }
  const std::uint32_t odd = (bits >> 13) & 1u;
  return {static_cast<std::uint16_t>(sign | ((bits - (112u << 23) + 0xfffu + odd) >> 13))};
}

[[nodiscard]] constexpr Bfloat16 to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

[[nodiscard]] constexpr float to_float(F8e5m2 value) {  // the upper half of an IEEE half
  return to_float(Half{static_cast<std::uint16_t>(value.bits << 8)});
}

[[nodiscard]] constexpr float to_float(F8e4m3 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x80u) << 24;
  const std::uint32_t magnitude = value.bits & 0x7fu;
  if (magnitude == 0x7fu) return std::bit_cast<float>(sign | 0x7fc00000u);
  if (magnitude < 8) {  // subnormal: a multiple of 2^-9
    const float absolute = static_cast<float>(magnitude) * 0x1p-9f;
    return sign != 0 ? -absolute : absolute;
  }
  return std::bit_cast<float>(sign | ((magnitude << 20) + (120u << 23)));  // rebias the exponent from 7 to 127
}

/// Encodes a value within the finite range of a format with `mantissa` bits, rounded to nearest even.
[[nodiscard]] constexpr std::uint8_t to_eight_bits(float value, int mantissa, int bias) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const int raw = static_cast<int>(bits >> 23 & 0xffu) - 127;
  const int exponent = raw < 1 - bias ? 1 - bias : raw;
  float quantum = 1;  // the distance between neighbouring values
  for (int i = exponent - mantissa; i < 0; ++i) quantum /= 2;
  for (int i = exponent - mantissa; i > 0; --i) quantum *= 2;
  const float scaled = (value < 0 ? -value : value) / quantum;
  auto rounded = static_cast<std::uint32_t>(scaled);
  const float rest = scaled - static_cast<float>(rounded);
  if (rest > 0.5f || (rest == 0.5f && rounded % 2 == 1)) ++rounded;
  const std::uint32_t code = (static_cast<std::uint32_t>(exponent + bias - 1) << mantissa) + rounded;
  return static_cast<std::uint8_t>((bits >> 24 & 0x80u) | code);
}
[[nodiscard]] constexpr F8e4m3 to_f8e4m3(float value) { return {to_eight_bits(value, 3, 7)}; }
[[nodiscard]] constexpr F8e5m2 to_f8e5m2(float value) { return {to_eight_bits(value, 2, 15)}; }

/// Formats whose arithmetic is done in float.
template <typename T>
inline constexpr bool kIsSmallFloat =
    std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16> || std::is_same_v<T, F8e4m3> || std::is_same_v<T, F8e5m2>;

/// `value` rounded to the format T.
template <typename T>
[[nodiscard]] constexpr T small_float(float value) {
  if constexpr (std::is_same_v<T, Half>) return to_half(value);
  if constexpr (std::is_same_v<T, Bfloat16>) return to_bfloat16(value);
  if constexpr (std::is_same_v<T, F8e4m3>) return to_f8e4m3(value);
  if constexpr (std::is_same_v<T, F8e5m2>) return to_f8e5m2(value);
}

/// Properties of a datatype. `largest_exact` is the largest N such that every whole number from 0 to N is represented
/// exactly.
struct DataTypeFacts {
  DataType type;
  std::string_view name;  ///< as nccl-tests spells it
  std::size_t size;       ///< bytes of one element
  std::uint64_t largest_exact;
  bool has_sign;
  int mantissa_bits = 0;  ///< stored ones; 0 for whole numbers, as the next
  int exponent_bits = 0;
  bool floating = false;
};

inline constexpr std::array<DataTypeFacts, 12> kDataTypes = {{
    {DataType::kInt8, "int8", 1, (1u << 7) - 1, true},
    {DataType::kUint8, "uint8", 1, (1u << 8) - 1, false},
    {DataType::kInt32, "int32", 4, (1u << 31) - 1, true},
    {DataType::kUint32, "uint32", 4, ~std::uint32_t{0}, false},
    {DataType::kInt64, "int64", 8, ~std::uint64_t{0} >> 1, true},
    {DataType::kUint64, "uint64", 8, ~std::uint64_t{0}, false},
    {DataType::kHalf, "half", 2, 1u << 11, true, 10, 5, true},
    {DataType::kFloat, "float", 4, 1u << 24, true, 23, 8, true},
    {DataType::kDouble, "double", 8, std::uint64_t{1} << 53, true, 52, 11, true},
    {DataType::kBfloat16, "bfloat16", 2, 1u << 8, true, 7, 8, true},
    {DataType::kF8e4m3, "f8e4m3", 1, 1u << 4, true, 3, 4, true},
    {DataType::kF8e5m2, "f8e5m2", 1, 1u << 3, true, 2, 5, true},
}};

constexpr auto names_of(Reduction) {
  return std::to_array<std::string_view>({"sum", "prod", "min", "max", "avg", "mulsum", "none"});
}

constexpr auto names_of(DataType) {
  std::array<std::string_view, kDataTypes.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kDataTypes[i].name;
  return names;
}

[[nodiscard]] constexpr const DataTypeFacts& facts(DataType type) { return kDataTypes[static_cast<std::size_t>(type)]; }

/// Calls `action(std::type_identity<T>{})` with the C++ type of `type`.
template <typename Action>
constexpr decltype(auto) with_type(DataType type, Action&& action) {
  switch (type) {
    case DataType::kInt8: return action(std::type_identity<std::int8_t>{});
    case DataType::kUint8: return action(std::type_identity<std::uint8_t>{});
    case DataType::kInt32: return action(std::type_identity<std::int32_t>{});
    case DataType::kUint32: return action(std::type_identity<std::uint32_t>{});
    case DataType::kInt64: return action(std::type_identity<std::int64_t>{});
    case DataType::kUint64: return action(std::type_identity<std::uint64_t>{});
    case DataType::kHalf: return action(std::type_identity<Half>{});
    case DataType::kDouble: return action(std::type_identity<double>{});
    case DataType::kBfloat16: return action(std::type_identity<Bfloat16>{});
    case DataType::kF8e4m3: return action(std::type_identity<F8e4m3>{});
    case DataType::kF8e5m2: return action(std::type_identity<F8e5m2>{});
    case DataType::kFloat: break;
  }
  return action(std::type_identity<float>{});
}

/// A whole number of at most `largest_exact` as an element, without rounding.
template <typename T>
[[nodiscard]] constexpr T from_integer(std::uint64_t value) {
  if constexpr (kIsSmallFloat<T>) {
    return small_float<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// `value` divided by a number of ranks, as `avg` defines it: integers are truncated; the smaller floating-point
/// formats are divided in float and then rounded.
template <typename T>
[[nodiscard]] constexpr T divided(T value, int ranks) {
  if constexpr (kIsSmallFloat<T>) {
    return small_float<T>(to_float(value) / static_cast<float>(ranks));
  } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {  // a small T could not hold `ranks`
    return static_cast<T>(std::int64_t{value} / ranks);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::uint64_t{value} / static_cast<std::uint64_t>(ranks));
  } else {
    return value / static_cast<T>(ranks);
  }
}

/// `value` times the rounded 1/ranks, as NCCL multiplies each rank's floating-point value of an `avg` before the sum.
/// Source: hostToDevRedOp in NCCL's src/enqueue.cc, which computes the factor in float for formats up to float; the
/// smaller formats are multiplied in float and then rounded, which is what their own arithmetic gives.
template <typename T>
[[nodiscard]] constexpr T multiplied_by_share(T value, int ranks) {
  if constexpr (kIsSmallFloat<T>) {
    const T share = small_float<T>(static_cast<float>(1.0 / ranks));
    return small_float<T>(to_float(value) * to_float(share));
  } else {
    return value * static_cast<T>(1.0 / ranks);
  }
}

/// How a library computes an `avg` of floating-point values. Of integers, all divide the sum.
enum class Average { kDividesSum, kMultipliesEachValue };

/// The `avg` of values of which at most one is not 0, from their sum.
template <typename T>
[[nodiscard]] constexpr T average(T sum, int ranks, Average how) {
  if constexpr (!std::is_integral_v<T>) {
    if (how == Average::kMultipliesEachValue) return multiplied_by_share(sum, ranks);
  }
  return divided(sum, ranks);
}

}  // namespace fabricbench
