#pragma once

#include <cstddef>
#include <cstdint>

#include "common/core/datatype.h"

// The data that operations carry, chosen so that a result can be checked to the bit whatever the order
// in which the library reduced it, at a cost that does not depend on the number of ranks:
//
// - every value and every partial reduction is a whole number that the type represents exactly, so
//   no order of evaluation rounds, overflows or saturates; of an avg of floating-point values, which libraries may
//   scale before they add them, one rank's value counts at each position and the others are 0, so only the scaling
//   rounds;
// - what all ranks together make of a position is a closed formula, not a loop over ranks;
// - where data is only moved, a rank's values are the same sequence begun elsewhere, so one table serves all ranks;
// - values depend on the rank and on the position. They repeat after a prime number of elements, and each
//   repetition is rotated, so data that landed at another offset differs: everywhere for the distances that block sizes
//   make, powers of two, and somewhere in every two periods for any other below kPeriod squared;
// - the poison in a receive buffer is negative or larger than any value, so it never passes for a result.
//
// Plain constexpr functions: a device kernel compiles the very same ones.
namespace fabricbench::pattern {

inline constexpr std::uint64_t kPeriod = 8191;  // prime
inline constexpr std::uint64_t kRotation = 3571;
inline constexpr std::uint64_t kSourceStep = 2459;  // prime

inline constexpr int kPoisonByte = 0xA5;
inline constexpr int kGuardByte = 0x5C;

/// The pattern's parameters: the reduction, the number of ranks, and the room that the type has.
struct Shape {
  Reduction reduction;
  std::uint64_t largest;  ///< DataTypeFacts::largest_exact
  std::uint64_t ranks;
  bool alone = false;  ///< one rank's value counts at each slot, and the others are 0
};

[[nodiscard]] constexpr Shape shape_of(DataType type, Reduction reduction, std::uint64_t ranks) {
  return {reduction, facts(type).largest_exact, ranks, reduction == Reduction::kAvg && facts(type).floating};
}

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

/// A rank's place in a permutation of [0, ranks) that differs from slot to slot. It is a permutation because the
/// multiplier is a prime above any number of ranks.
[[nodiscard]] constexpr std::uint64_t place(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  constexpr std::uint64_t kMultipliers[] = {104729, 1299709, 15485863, 32452843};
  const std::uint64_t scatter = mix(slot);
  return (rank * kMultipliers[scatter % 4] + (scatter >> 2) % shape.ranks) % shape.ranks;
}

[[nodiscard]] constexpr std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

/// avg of floating-point values: that of the rank in the first place.
[[nodiscard]] constexpr std::uint64_t lone_value(const Shape& shape, std::uint64_t slot) {
  return 1 + mix(slot + 8 * kPeriod) % shape.largest;
}

/// sum, avg of whole numbers: every rank has the same share of the room, and some ranks have one more.
[[nodiscard]] constexpr std::uint64_t sum_share(const Shape& shape, std::uint64_t slot) {
  const std::uint64_t share = shape.largest / shape.ranks;
  return share > 1 ? mix(slot + 1 * kPeriod) % share : 0;
}
[[nodiscard]] constexpr std::uint64_t sum_extras(const Shape& shape, std::uint64_t slot) {
  return 1 + mix(slot + 2 * kPeriod) % smaller(shape.ranks, shape.largest);
}

/// prod: some ranks have the factor 2, and the rank in the first place has an odd factor too.
[[nodiscard]] constexpr std::uint64_t prod_factor(std::uint64_t slot) { return 1 + 2 * (mix(slot + 3 * kPeriod) % 2); }
[[nodiscard]] constexpr std::uint64_t prod_doublings(const Shape& shape, std::uint64_t slot) {
  std::uint64_t room = 0;  // 3 * 2^room still fits
  while (std::uint64_t{3} << (room + 1) <= shape.largest && room < 40) ++room;
  return mix(slot + 4 * kPeriod) % (smaller(shape.ranks, room) + 1);
}

/// min, max: the ranks' values spread over a range above a base.
[[nodiscard]] constexpr std::uint64_t extreme_range(const Shape& shape) {
  return smaller(shape.ranks, shape.largest / 2);
}
[[nodiscard]] constexpr std::uint64_t extreme_base(const Shape& shape, std::uint64_t slot) {
  return 1 + mix(slot + 5 * kPeriod) % (shape.largest - extreme_range(shape));
}

/// mulsum: every second rank's value counts twice. Ranks 2p and 2p+1 are a pair; an active pair has a 1 besides the
/// base in one of its two, so it adds 1 or 2 to the sum. Of an odd number of ranks, the last has the base alone.
[[nodiscard]] constexpr std::uint64_t pairs(const Shape& shape) { return shape.ranks / 2; }
[[nodiscard]] constexpr std::uint64_t active_pairs(const Shape& shape) {
  return smaller(pairs(shape), shape.largest / 2);
}
[[nodiscard]] constexpr std::uint64_t mulsum_base(const Shape& shape, std::uint64_t slot) {
  const std::uint64_t weights = shape.ranks + pairs(shape);
  const std::uint64_t share = (shape.largest - smaller(shape.largest, 2 * active_pairs(shape))) / weights;
  return share > 1 ? mix(slot + 6 * kPeriod) % share : 0;
}
[[nodiscard]] constexpr std::uint64_t pairs_with_odd_one(const Shape& shape, std::uint64_t slot) {
  return mix(slot + 7 * kPeriod) % (active_pairs(shape) + 1);
}
[[nodiscard]] constexpr std::uint64_t mulsum_extra(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  if (rank / 2 >= pairs(shape)) return 0;
  const std::uint64_t order = place({shape.reduction, shape.largest, pairs(shape)}, rank / 2, slot);
  if (order >= active_pairs(shape)) return 0;
  return (order < pairs_with_odd_one(shape, slot)) == (rank % 2 == 1) ? 1 : 0;
}
/// The factor by which mulsum multiplies a rank's values.
[[nodiscard]] constexpr std::uint64_t mulsum_factor(std::uint64_t rank) { return 1 + rank % 2; }

/// The value that `rank` sends at a slot.
[[nodiscard]] constexpr std::uint64_t sent(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  if (shape.alone) return place(shape, rank, slot) == 0 ? lone_value(shape, slot) : 0;
  switch (shape.reduction) {
    case Reduction::kSum:
    case Reduction::kAvg: return sum_share(shape, slot) + (place(shape, rank, slot) < sum_extras(shape, slot) ? 1 : 0);
    case Reduction::kProd: {
      const std::uint64_t order = place(shape, rank, slot);
      return (order == 0 ? prod_factor(slot) : 1) * (order < prod_doublings(shape, slot) ? 2 : 1);
    }
    case Reduction::kMin:
    case Reduction::kMax:
      return extreme_base(shape, slot) + place(shape, rank, slot) * extreme_range(shape) / shape.ranks;
    case Reduction::kMulSum: return mulsum_base(shape, slot) + mulsum_extra(shape, rank, slot);
    case Reduction::kNone: break;
  }
  return 1 + mix(family(rank) * kPeriod + (slot + source_shift(rank)) % kPeriod) % shape.largest;
}

/// The reduction of all ranks' values at a slot; for avg the sum, before the division.
[[nodiscard]] constexpr std::uint64_t reduced(const Shape& shape, std::uint64_t slot) {
  if (shape.alone) return lone_value(shape, slot);
  switch (shape.reduction) {
    case Reduction::kProd: return prod_factor(slot) << prod_doublings(shape, slot);
    case Reduction::kMin: return extreme_base(shape, slot);
    case Reduction::kMax: return extreme_base(shape, slot) + (shape.ranks - 1) * extreme_range(shape) / shape.ranks;
    case Reduction::kMulSum:
      return (shape.ranks + pairs(shape)) * mulsum_base(shape, slot) + active_pairs(shape) +
             pairs_with_odd_one(shape, slot);
    case Reduction::kSum:
    case Reduction::kAvg:
    case Reduction::kNone: break;
  }
  return shape.ranks * sum_share(shape, slot) + sum_extras(shape, slot);
}

}  // namespace fabricbench::pattern
