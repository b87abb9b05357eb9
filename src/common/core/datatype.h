#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace fabricbench {

/// Element types, in the order in which nccl-tests' `-d all` runs them.
enum class DataType { kInt8, kUint8, kInt32, kUint32, kInt64, kUint64, kHalf, kFloat, kDouble, kBfloat16 };

/// Reductions, in the order of `-o all`; kNone for operations that only move data.
enum class Reduction { kSum, kProd, kMin, kMax, kAvg, kNone };

/// IEEE 754 binary16 and bfloat16 as they lie in memory. Arithmetic is done in float; rounding is to
/// nearest even. constexpr, so that a device compiler can use the very same functions.
struct Half {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
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

/// What the suite knows of a type. `largest_exact` is the largest N such that every whole number from 0
/// to N is represented exactly and is distinct from the poison that receive buffers are filled with.
struct DataTypeFacts {
  DataType type;
  std::string_view name;  ///< as nccl-tests spells it
  std::size_t size;       ///< bytes of one element
  std::uint64_t largest_exact;
};

inline constexpr std::array<DataTypeFacts, 10> kDataTypes = {{
    {DataType::kInt8, "int8", 1, (1u << 7) - 1},
    {DataType::kUint8, "uint8", 1, (1u << 7) - 1},
    {DataType::kInt32, "int32", 4, (1u << 31) - 1},
    {DataType::kUint32, "uint32", 4, (1u << 31) - 1},
    {DataType::kInt64, "int64", 8, std::uint64_t{1} << 62},
    {DataType::kUint64, "uint64", 8, std::uint64_t{1} << 62},
    {DataType::kHalf, "half", 2, 1u << 11},
    {DataType::kFloat, "float", 4, 1u << 24},
    {DataType::kDouble, "double", 8, std::uint64_t{1} << 53},
    {DataType::kBfloat16, "bfloat16", 2, 1u << 8},
}};

inline constexpr std::array<std::string_view, 6> kReductionNames = {"sum", "prod", "min", "max", "avg", "none"};

[[nodiscard]] constexpr const DataTypeFacts& facts(DataType type) { return kDataTypes[static_cast<std::size_t>(type)]; }
[[nodiscard]] constexpr std::string_view name(Reduction reduction) {
  return kReductionNames[static_cast<std::size_t>(reduction)];
}

/// Calls `action(std::type_identity<T>{})` with the C++ type of `type`.
template <typename Action>
decltype(auto) with_type(DataType type, Action&& action) {
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
    case DataType::kFloat: break;
  }
  return action(std::type_identity<float>{});
}

/// A whole number of at most `largest_exact` as an element; exact.
template <typename T>
[[nodiscard]] constexpr T from_integer(std::uint64_t value) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// `value` divided by a number of ranks, as `avg` defines it: integers are cut off, half and bfloat16 are divided in
/// float and then rounded.
template <typename T>
[[nodiscard]] constexpr T divided(T value, int ranks) {
  if constexpr (std::is_same_v<T, Half>) {
    return to_half(to_float(value) / static_cast<float>(ranks));
  } else if constexpr (std::is_same_v<T, Bfloat16>) {
    return to_bfloat16(to_float(value) / static_cast<float>(ranks));
  } else if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {  // a small T could not hold `ranks`
    return static_cast<T>(std::int64_t{value} / ranks);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::uint64_t{value} / static_cast<std::uint64_t>(ranks));
  } else {
    return value / static_cast<T>(ranks);
  }
}

}  // namespace fabricbench
