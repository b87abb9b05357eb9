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

// The data that operations carry, chosen so that a result can be checked to the bit whatever the order
// in which the library reduced it, at a cost that does not depend on the number of ranks:
//
// - where data is only moved, and for min and max, a value may be any code but NaN; min and max also have no -0, no
//   subnormal numbers and no infinities, which libraries and devices may treat differently;
// - every partial sum and product is a whole number that the type represents exactly, times a power of two that belongs
//   to the slot, so no order of evaluation rounds, overflows, saturates or meets a subnormal number: of a sum, the
//   ranks' magnitudes together are at most the largest exact number, whatever their signs; of a product, one rank has a
//   mantissa, and the others have powers of two;
// - of an avg of floating-point values, which libraries may scale before they add them, one rank's value counts at each
//   slot and the others are 0, so only the scaling rounds. An avg of whole numbers has no negative ones, since
//   libraries may round their quotient up or down;
// - what all ranks together make of a position is a closed formula, not a loop over ranks;
// - where data is only moved, a rank's values are the same sequence begun elsewhere, so one table serves all ranks;
// - values depend on the rank and on the position. They repeat after a prime number of elements, and each
//   repetition is rotated, so data that landed at another offset differs: everywhere for the distances that block sizes
//   make, powers of two, and somewhere in every two periods for any other below kPeriod squared;
// - no expected element is the poison of receive buffers, so poison never passes for a result.
//
// Plain constexpr functions: a device kernel compiles the very same ones.
namespace fabricbench::pattern {

inline constexpr std::uint64_t kPeriod = 8191;  // prime
inline constexpr std::uint64_t kRotation = 3571;
inline constexpr std::uint64_t kSourceStep = 2459;  // prime

inline constexpr int kPoisonByte = 0xA5;
inline constexpr int kGuardByte = 0x5C;

/// The pattern's parameters.
struct Shape {
  DataType type;
  Reduction reduction;
  std::uint64_t ranks;
};

/// The slot (0 to kPeriod - 1) of an element's position in the message; `shift` belongs to the data's source.
[[nodiscard]] constexpr std::uint64_t slot(std::uint64_t position, std::uint64_t shift = 0) {
  return (position + position / kPeriod * kRotation + shift) % kPeriod;
}

/// The shift of the data that `rank` sends, where data are only moved. Ranks in [0, kPeriod) form one family and share
/// one sequence of values; the next kPeriod ranks are another family, with other values.
[[nodiscard]] constexpr std::uint64_t source_shift(std::uint64_t rank) { return rank * kSourceStep % kPeriod; }
[[nodiscard]] constexpr std::uint64_t family(std::uint64_t rank) { return rank / kPeriod; }

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a bijection that scatters its input.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

/// A number below `bound` that belongs to a slot, independent for each `purpose`.
[[nodiscard]] constexpr std::uint64_t drawn(std::uint64_t slot, std::uint64_t purpose, std::uint64_t bound) {
  return mix(slot + purpose * kPeriod) % bound;
}

/// A rank's place in a permutation of [0, ranks) that differs from slot to slot. It is a permutation because the
/// multiplier is a prime above any number of ranks.
[[nodiscard]] constexpr std::uint64_t place(std::uint64_t ranks, std::uint64_t rank, std::uint64_t slot) {
  constexpr std::uint64_t kMultipliers[] = {104729, 1299709, 15485863, 32452843};
  const std::uint64_t scatter = mix(slot);
  return (rank * kMultipliers[scatter % 4] + (scatter >> 2) % ranks) % ranks;
}

[[nodiscard]] constexpr std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

[[nodiscard]] constexpr std::uint64_t poison_code(DataType type) { return repeated(facts(type), kPoisonByte); }
[[nodiscard]] constexpr bool is_poison(DataType type, Number number) {
  return code_of(type, number) == poison_code(type);
}

/// The largest number that sums and products may reach. Without a sign, all but sum stay below the poison.
[[nodiscard]] constexpr std::uint64_t room(const Shape& shape) {
  const DataTypeFacts& type = facts(shape.type);
  return type.has_sign || shape.reduction == Reduction::kSum ? type.largest_exact : type.largest_exact / 2;
}
[[nodiscard]] constexpr bool may_be_negative(const Shape& shape) {
  return facts(shape.type).has_sign && shape.reduction != Reduction::kAvg;
}

/// The power of two of a slot: the exponents of all partial results, which are at least 1 and at most the room times
/// 2^`doublings` without it, are those of normal numbers.
[[nodiscard]] constexpr int exponent(const Shape& shape, std::uint64_t slot, int doublings = 0) {
  const DataTypeFacts& type = facts(shape.type);
  if (!type.floating) return 0;
  const int least = least_exponent(type);
  const int most = largest_exponent(type) - (type.mantissa_bits + 1) - doublings;
  return least + static_cast<int>(drawn(slot, 9, static_cast<std::uint64_t>(std::int64_t{most} - least + 1)));
}

/// avg of floating-point values: one rank's value counts at each slot, and the others are 0.
[[nodiscard]] constexpr bool is_alone(const Shape& shape) {
  return shape.reduction == Reduction::kAvg && facts(shape.type).floating;
}
/// Whether the average is the poison, however a library computes it.
[[nodiscard]] constexpr bool averages_to_poison(const Shape& shape, Number lone) {
  return with_type(shape.type, [&]<typename T>(std::type_identity<T>) {
    const auto is_poison = [&](Average how) {
      return code_of(average(element_of<T>(lone), static_cast<int>(shape.ranks), how)) == poison_code(shape.type);
    };
    return is_poison(Average::kDividesSum) || is_poison(Average::kMultipliesEachValue);
  });
}
/// That of the rank in the first place. 1/ranks may be too small for a small type; then a whole number is sent, whose
/// average may be 0. Otherwise the average is a normal number.
[[nodiscard]] constexpr Number lone_value(const Shape& shape, std::uint64_t slot) {
  const DataTypeFacts& type = facts(shape.type);
  const std::uint64_t magnitude = 1 + drawn(slot, 8, type.largest_exact);
  int halvings = 0;
  while (std::uint64_t{1} << halvings < shape.ranks) ++halvings;
  const int least = least_exponent(type) + halvings + 1;
  const int most = largest_exponent(type) - (type.mantissa_bits + 1);
  if (halvings > -least_exponent(type) || least > most) return {magnitude, 0};
  const int power =
      least + static_cast<int>(drawn(slot, 9, static_cast<std::uint64_t>(std::int64_t{most} - least + 1)));
  const Number negative{negated(magnitude), power};
  return drawn(slot, 10, 2) == 0 || averages_to_poison(shape, negative) ? Number{magnitude, power} : negative;
}

/// sum, avg of whole numbers: every rank has the same share of the room, some ranks have one more, and those in the
/// last places are negative: at a quarter of the slots all, at another none.
[[nodiscard]] constexpr std::uint64_t sum_share(const Shape& shape, std::uint64_t slot) {
  const std::uint64_t share = room(shape) / shape.ranks;
  return share > 1 ? drawn(slot, 1, share) : 0;
}
[[nodiscard]] constexpr std::uint64_t positive_ranks(const Shape& shape, std::uint64_t slot) {
  if (!may_be_negative(shape)) return shape.ranks;
  const std::uint64_t kind = drawn(slot, 10, 4);
  if (kind < 2) return kind * shape.ranks;
  return drawn(slot, 11, shape.ranks + 1);
}
[[nodiscard]] constexpr Number sum_with(const Shape& shape, std::uint64_t slot, std::uint64_t extras) {
  const std::uint64_t positive = positive_ranks(shape, slot);
  const std::uint64_t positive_extras = smaller(positive, extras);
  return {sum_share(shape, slot) * (2 * positive - shape.ranks) + 2 * positive_extras - extras, exponent(shape, slot)};
}
[[nodiscard]] constexpr std::uint64_t sum_extras(const Shape& shape, std::uint64_t slot) {
  const std::uint64_t extras = 1 + drawn(slot, 2, smaller(shape.ranks, room(shape)));
  return is_poison(shape.type, sum_with(shape, slot, extras)) ? extras - 1 : extras;
}
[[nodiscard]] constexpr Number summand(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  const std::uint64_t order = place(shape.ranks, rank, slot);
  const std::uint64_t magnitude = sum_share(shape, slot) + (order < sum_extras(shape, slot) ? 1 : 0);
  return {order < positive_ranks(shape, slot) ? magnitude : negated(magnitude), exponent(shape, slot)};
}

/// prod: the rank in the first place has any number, those in the next places have 2, and all others 1. Those in the
/// last places are negative.
[[nodiscard]] constexpr int prod_doublings(const Shape& shape, std::uint64_t slot) {
  const DataTypeFacts& type = facts(shape.type);
  const int span = type.floating ? largest_exponent(type) - least_exponent(type) - type.mantissa_bits - 1
                                 : static_cast<int>(std::bit_width(room(shape))) - 1;
  const std::uint64_t most = smaller(smaller(shape.ranks - 1, static_cast<std::uint64_t>(span) / 2), 40);
  return static_cast<int>(drawn(slot, 4, most + 1));
}
/// Without its sign.
[[nodiscard]] constexpr Number prod_magnitude(const Shape& shape, std::uint64_t slot) {
  const int doublings = prod_doublings(shape, slot);
  const std::uint64_t most = facts(shape.type).floating ? room(shape) : room(shape) >> doublings;
  return {1 + drawn(slot, 3, most), exponent(shape, slot, doublings) + doublings};
}
[[nodiscard]] constexpr std::uint64_t negative_factors(const Shape& shape, std::uint64_t slot) {
  if (!may_be_negative(shape)) return 0;
  const Number magnitude = prod_magnitude(shape, slot);
  const bool fits = !is_poison(shape.type, {negated(magnitude.significand), magnitude.exponent});
  return fits ? drawn(slot, 11, shape.ranks + 1) : 0;
}
[[nodiscard]] constexpr Number product(const Shape& shape, std::uint64_t slot) {
  const Number magnitude = prod_magnitude(shape, slot);
  const bool negative = negative_factors(shape, slot) % 2 == 1;
  return {negative ? negated(magnitude.significand) : magnitude.significand, magnitude.exponent};
}
[[nodiscard]] constexpr Number factor(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  const std::uint64_t order = place(shape.ranks, rank, slot);
  const int doublings = prod_doublings(shape, slot);
  Number own{1, order <= static_cast<std::uint64_t>(doublings) ? 1 : 0};
  if (order == 0) {
    own = prod_magnitude(shape, slot);
    own.exponent -= doublings;
  }
  const bool negative = shape.ranks - 1 - order < negative_factors(shape, slot);
  return {negative ? negated(own.significand) : own.significand, own.exponent};
}

/// min, max: the ranks' values are places in the list of the type's numbers without the poison. They spread over a
/// range above a base: neighbouring numbers at half of the slots, half of all numbers at the others.
[[nodiscard]] constexpr std::uint64_t extreme_numbers(const Shape& shape) { return last_in_order(facts(shape.type)); }
[[nodiscard]] constexpr std::uint64_t extreme_range(const Shape& shape, std::uint64_t slot) {
  const std::uint64_t numbers = extreme_numbers(shape);
  return drawn(slot, 10, 2) == 0 ? numbers / 2 : smaller(shape.ranks, numbers / 8);
}
[[nodiscard]] constexpr std::uint64_t extreme_code(const Shape& shape, std::uint64_t order, std::uint64_t slot) {
  const DataTypeFacts& type = facts(shape.type);
  const std::uint64_t range = extreme_range(shape, slot);
  const std::uint64_t base = drawn(slot, 5, extreme_numbers(shape) - range + 1);
  const std::uint64_t above = range / shape.ranks * order + range % shape.ranks * order / shape.ranks;
  const std::uint64_t place = base + above;
  return code_in_order(type, place < order_of(type, poison_code(shape.type)) ? place : place + 1);
}

/// mulsum: every second rank's value counts twice. Ranks 2p and 2p+1 are a pair; an active pair has a 1 besides the
/// base in one of its two, so it adds 1 or 2 to the sum. Of an odd number of ranks, the last has the base alone. All
/// ranks have the same sign.
[[nodiscard]] constexpr std::uint64_t pairs(const Shape& shape) { return shape.ranks / 2; }
[[nodiscard]] constexpr std::uint64_t active_pairs(const Shape& shape) {
  return smaller(pairs(shape), room(shape) / 2);
}
[[nodiscard]] constexpr std::uint64_t mulsum_base(const Shape& shape, std::uint64_t slot) {
  const std::uint64_t weights = shape.ranks + pairs(shape);
  const std::uint64_t share = (room(shape) - smaller(room(shape), 2 * active_pairs(shape))) / weights;
  return share > 1 ? drawn(slot, 6, share) : 0;
}
[[nodiscard]] constexpr std::uint64_t pairs_with_odd_one(const Shape& shape, std::uint64_t slot) {
  return drawn(slot, 7, active_pairs(shape) + 1);
}
[[nodiscard]] constexpr std::uint64_t mulsum_extra(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  if (rank / 2 >= pairs(shape)) return 0;
  const std::uint64_t order = place(pairs(shape), rank / 2, slot);
  if (order >= active_pairs(shape)) return 0;
  return (order < pairs_with_odd_one(shape, slot)) == (rank % 2 == 1) ? 1 : 0;
}
/// Of the magnitudes, each times its rank's factor.
[[nodiscard]] constexpr std::uint64_t mulsum_magnitude(const Shape& shape, std::uint64_t slot) {
  return (shape.ranks + pairs(shape)) * mulsum_base(shape, slot) + active_pairs(shape) +
         pairs_with_odd_one(shape, slot);
}
/// `magnitude` with the sign of the slot.
[[nodiscard]] constexpr Number mulsum_signed(const Shape& shape, std::uint64_t magnitude, std::uint64_t slot) {
  const int power = exponent(shape, slot);
  const bool negative = may_be_negative(shape) && drawn(slot, 10, 2) == 1 &&
                        !is_poison(shape.type, {negated(mulsum_magnitude(shape, slot)), power});
  return {negative ? negated(magnitude) : magnitude, power};
}
/// The factor by which mulsum multiplies a rank's values.
[[nodiscard]] constexpr std::uint64_t mulsum_factor(std::uint64_t rank) { return 1 + rank % 2; }

/// Where data is only moved.
[[nodiscard]] constexpr std::uint64_t moved_code(const DataTypeFacts& type, std::uint64_t rank, std::uint64_t slot) {
  const std::uint64_t code = mix(family(rank) * kPeriod + (slot + source_shift(rank)) % kPeriod) & all_bits(type);
  if (is_nan(type, code)) return code ^ least_normal_code(type);
  return code == poison_code(type.type) ? code ^ 1 : code;
}

/// Floating point, to see whether an operation is repeatable: full mantissas and all signs, so that the order of
/// additions shows. Products stay near 1, because a factor is as often below 1 as above.
[[nodiscard]] constexpr std::uint64_t rounding_code(const DataTypeFacts& type, Reduction reduction, std::uint64_t rank,
                                                    std::uint64_t slot) {
  const std::uint64_t random = mix(mix(rank) + slot);
  const std::uint64_t mantissa = random & (least_normal_code(type) - 1);
  const int exponent =
      reduction == Reduction::kProd ? -static_cast<int>(random >> 60 & 1) : static_cast<int>(random >> 60 & 7) - 4;
  const auto biased = static_cast<std::uint64_t>(std::int64_t{exponent} - least_exponent(type) + 1);
  return (random >> 63 != 0 ? sign_bit(type) : 0) | biased << type.mantissa_bits | mantissa;
}

/// The code of the value that `rank` sends at a slot.
[[nodiscard]] constexpr std::uint64_t sent(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  const auto code = [&](Number number) { return code_of(shape.type, number); };
  if (is_alone(shape)) return place(shape.ranks, rank, slot) == 0 ? code(lone_value(shape, slot)) : 0;
  switch (shape.reduction) {
    case Reduction::kSum:
    case Reduction::kAvg: return code(summand(shape, rank, slot));
    case Reduction::kProd: return code(factor(shape, rank, slot));
    case Reduction::kMin:
    case Reduction::kMax: return extreme_code(shape, place(shape.ranks, rank, slot), slot);
    case Reduction::kMulSum:
      return code(mulsum_signed(shape, mulsum_base(shape, slot) + mulsum_extra(shape, rank, slot), slot));
    case Reduction::kNone: break;
  }
  return moved_code(facts(shape.type), rank, slot);
}

/// The code of the reduction of all ranks' values at a slot; for avg the sum, before the division. Not for kNone.
[[nodiscard]] constexpr std::uint64_t reduced(const Shape& shape, std::uint64_t slot) {
  const auto code = [&](Number number) { return code_of(shape.type, number); };
  if (is_alone(shape)) return code(lone_value(shape, slot));
  switch (shape.reduction) {
    case Reduction::kProd: return code(product(shape, slot));
    case Reduction::kMin: return extreme_code(shape, 0, slot);
    case Reduction::kMax: return extreme_code(shape, shape.ranks - 1, slot);
    case Reduction::kMulSum: return code(mulsum_signed(shape, mulsum_magnitude(shape, slot), slot));
    case Reduction::kSum:
    case Reduction::kAvg:
    case Reduction::kNone: break;
  }
  return code(sum_with(shape, slot, sum_extras(shape, slot)));
}

}  // namespace fabricbench::pattern
