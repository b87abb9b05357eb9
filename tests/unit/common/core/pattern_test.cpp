#include "common/core/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

using namespace fabricbench;
using pattern::kPeriod;
using pattern::Shape;

namespace pattern_test {

constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProd, Reduction::kMin,
                                     Reduction::kMax, Reduction::kAvg,  Reduction::kMulSum};
constexpr std::uint64_t kRanks[] = {1, 2, 3, 4, 5, 7, 8, 16, 100, 1000, 8192, 16384};

/// Slots to look at: all of them where there are few ranks, a sample where there are many.
std::vector<std::uint64_t> slots(std::uint64_t ranks) {
  const std::uint64_t step = ranks <= 16 ? 37 : ranks <= 1000 ? 397 : 6007;
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t slot = 0; slot < kPeriod; slot += step) chosen.push_back(slot);
  chosen.push_back(kPeriod - 1);
  return chosen;
}

template <typename T>
T combined(Reduction reduction, T a, T b) {
  if constexpr (kIsSmallFloat<T>) {
    return small_float<T>(combined(reduction, to_float(a), to_float(b)));
  } else {
    switch (reduction) {
      case Reduction::kProd: return static_cast<T>(a * b);
      case Reduction::kMin: return std::min(a, b);
      case Reduction::kMax: return std::max(a, b);
      case Reduction::kSum:
      case Reduction::kAvg:
      case Reduction::kMulSum:
      case Reduction::kNone: break;
    }
    return static_cast<T>(a + b);
  }
}

/// A number without loss: of 64 bits and a sign.
template <typename T>
long double number(T value) {
  if constexpr (kIsSmallFloat<T>) {
    return to_float(value);
  } else {
    return static_cast<long double>(value);
  }
}

/// What `rank` brings into the reduction: for mulsum its value times its factor, in the type's own arithmetic.
template <typename T>
T brought(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  const T value = element_of_code<T>(pattern::sent(shape, rank, slot));
  if (shape.reduction != Reduction::kMulSum) return value;
  return combined(Reduction::kProd, value, from_integer<T>(pattern::mulsum_factor(rank)));
}

template <typename T>
std::vector<T> brought_by_all(const Shape& shape, std::uint64_t slot) {
  std::vector<T> values;
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank) values.push_back(brought<T>(shape, rank, slot));
  return values;
}

/// One after the other, around a ring that begins at any of them.
template <typename T>
T by_ring(Reduction reduction, const std::vector<T>& values, std::size_t first = 0) {
  T result = values[first];
  for (std::size_t i = 1; i < values.size(); ++i) {
    result = combined(reduction, result, values[(first + i) % values.size()]);
  }
  return result;
}

/// Neighbours with neighbours, as trees do.
template <typename T>
T by_tree(Reduction reduction, std::vector<T> values) {
  while (values.size() > 1) {
    std::vector<T> next;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2)
      next.push_back(combined(reduction, values[i], values[i + 1]));
    if (values.size() % 2 == 1) next.push_back(values.back());
    values = std::move(next);
  }
  return values.front();
}

/// In a switch (multimem), which computes small formats in float, or 8-bit ones in half, and rounds at the end.
template <typename Wide, typename T>
T by_switch(Reduction reduction, const std::vector<T>& values) {
  if constexpr (kIsSmallFloat<T>) {
    const auto widened = [](T value) {
      if constexpr (std::is_same_v<Wide, Half>) return to_half(to_float(value));
      if constexpr (!std::is_same_v<Wide, Half>) return static_cast<Wide>(to_float(value));
    };
    std::vector<Wide> wide;
    for (const T value : values) wide.push_back(widened(value));
    const Wide result = by_ring(reduction, wide);
    if constexpr (std::is_same_v<Wide, Half>) return small_float<T>(to_float(result));
    if constexpr (!std::is_same_v<Wide, Half>) return small_float<T>(result);
  } else {
    return by_ring(reduction, values);
  }
}

struct Combination {
  DataTypeFacts type;
  Reduction reduction;
  std::uint64_t ranks;

  [[nodiscard]] Shape shape() const { return {type.type, reduction, ranks}; }
  [[nodiscard]] std::string text() const {
    return std::string(type.name) + " " + std::string(name(reduction)) + " " + std::to_string(ranks);
  }
};

template <typename Action>
void for_each_combination(std::uint64_t most_ranks, Action action) {
  for (const DataTypeFacts& type : kDataTypes) {
    for (const Reduction reduction : kReductions) {
      for (const std::uint64_t ranks : kRanks) {
        if (ranks <= most_ranks) action(Combination{type, reduction, ranks});
      }
    }
  }
}

TEST(Pattern, ReducedIsWhatAllRanksSendReducedInAnyOrderInTheTypesOwnArithmetic) {
  std::mt19937_64 random(1);
  for_each_combination(16384, [&](const Combination& which) {
    with_type(which.type.type, [&]<typename T>(std::type_identity<T>) {
      for (const std::uint64_t slot : slots(which.ranks)) {
        std::vector<T> values = brought_by_all<T>(which.shape(), slot);
        const auto expect = [&](T got, const char* order) {
          ASSERT_EQ(code_of(got), pattern::reduced(which.shape(), slot)) << which.text() << " slot " << slot << order;
        };
        const Reduction reduction = which.reduction;
        for (const std::size_t first : {std::size_t{0}, values.size() / 2, values.size() - 1}) {
          expect(by_ring(reduction, values, first), ", ring");
        }
        expect(by_tree(reduction, values), ", tree");
        expect(by_switch<float>(reduction, values), ", switch");
        if (sizeof(T) == 1) expect(by_switch<Half>(reduction, values), ", switch in half");
        std::reverse(values.begin(), values.end());
        expect(by_ring(reduction, values), ", reversed");
        std::shuffle(values.begin(), values.end(), random);
        expect(by_ring(reduction, values), ", shuffled");
      }
    });
  });
}

/// Not only all ranks together: what any of them have added up so far stays exact, whatever their signs.
TEST(Pattern, MagnitudesOfASumStayWithinTheLargestExactNumberTogether) {
  for_each_combination(16384, [](const Combination& which) {
    if (which.reduction != Reduction::kSum && which.reduction != Reduction::kMulSum) return;
    with_type(which.type.type, [&]<typename T>(std::type_identity<T>) {
      for (const std::uint64_t slot : slots(which.ranks)) {
        const long double unit = std::ldexp(1.0L, pattern::exponent(which.shape(), slot));
        long double sum = 0;
        for (const T value : brought_by_all<T>(which.shape(), slot)) {
          const long double units = std::fabs(number(value)) / unit;
          ASSERT_EQ(units, std::floor(units)) << which.text() << " slot " << slot;
          sum += units;
        }
        ASSERT_LE(sum, static_cast<long double>(which.type.largest_exact)) << which.text() << " slot " << slot;
      }
    });
  });
}

/// Devices may treat subnormal numbers, infinities and -0 in ways of their own.
TEST(Pattern, ReductionsHaveNormalNumbersAndZeroOnly) {
  for_each_combination(1000, [](const Combination& which) {
    if (!which.type.floating) return;
    const auto expect = [&](std::uint64_t code) {
      const std::uint64_t magnitude = code & ~sign_bit(which.type);
      ASSERT_LE(magnitude, largest_finite_code(which.type)) << which.text();
      ASSERT_TRUE(code == 0 || magnitude >= least_normal_code(which.type)) << which.text() << " code " << code;
    };
    for (const std::uint64_t slot : slots(which.ranks)) {
      expect(pattern::reduced(which.shape(), slot));
      for (std::uint64_t rank = 0; rank < which.ranks; ++rank) expect(pattern::sent(which.shape(), rank, slot));
    }
  });
}

TEST(Pattern, NoResultIsThePoison) {
  for_each_combination(16384, [](const Combination& which) {
    with_type(which.type.type, [&]<typename T>(std::type_identity<T>) {
      for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
        const std::uint64_t poison = pattern::poison_code(which.type.type);
        const std::uint64_t result = pattern::reduced(which.shape(), slot);
        if (which.reduction != Reduction::kAvg) {
          ASSERT_NE(result, poison) << which.text() << " slot " << slot;
          continue;
        }
        for (const Average how : {Average::kDividesSum, Average::kMultipliesEachValue}) {
          const T value = average(element_of_code<T>(result), static_cast<int>(which.ranks), how);
          ASSERT_NE(code_of(value), poison) << which.text() << " slot " << slot;
        }
      }
    });
  });
}

TEST(Pattern, HasBothSignsInResultsAndInWhatRanksSend) {
  for_each_combination(8192, [](const Combination& which) {
    const bool of_whole_avg = which.reduction == Reduction::kAvg && !which.type.floating;
    const bool of_small_avg = which.reduction == Reduction::kAvg && which.type.size == 1 && which.ranks > 64;
    if (!which.type.has_sign || of_whole_avg || of_small_avg) return;
    int negative = 0;
    int negative_sent = 0;
    for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
      negative += (pattern::reduced(which.shape(), slot) & sign_bit(which.type)) != 0 ? 1 : 0;
      const std::uint64_t rank = slot % which.ranks;
      negative_sent += (pattern::sent(which.shape(), rank, slot) & sign_bit(which.type)) != 0 ? 1 : 0;
    }
    EXPECT_GT(negative, 1000) << which.text();
    EXPECT_LT(negative, 7191) << which.text();
    if (which.ranks <= 4) {
      EXPECT_GT(negative_sent, 500) << which.text();
    }
  });
}

TEST(Sum, HasBothSignsAtOneSlot) {
  for (const DataType type : {DataType::kInt32, DataType::kFloat, DataType::kHalf}) {
    const Shape shape{type, Reduction::kSum, 8};
    int mixed = 0;
    for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
      int negative = 0;
      for (std::uint64_t rank = 0; rank < 8; ++rank) {
        negative += (pattern::sent(shape, rank, slot) & sign_bit(facts(type))) != 0 ? 1 : 0;
      }
      mixed += negative > 0 && negative < 8 ? 1 : 0;
    }
    EXPECT_GT(mixed, 2000) << facts(type).name;
  }
}

TEST(MulSum, IsNotThePlainSumOfWhatIsSent) {
  for (const DataTypeFacts& type : kDataTypes) {
    for (const std::uint64_t ranks : {2U, 3U, 4U, 5U, 16U}) {
      const Shape shape{type.type, Reduction::kMulSum, ranks};
      int different = 0;
      with_type(type.type, [&]<typename T>(std::type_identity<T>) {
        for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
          std::vector<T> sent;
          for (std::uint64_t rank = 0; rank < ranks; ++rank) {
            sent.push_back(element_of_code<T>(pattern::sent(shape, rank, slot)));
          }
          different += code_of(by_ring(Reduction::kSum, sent)) != pattern::reduced(shape, slot) ? 1 : 0;
        }
      });
      EXPECT_GT(different, static_cast<int>(kPeriod / 3)) << type.name << " " << ranks;
    }
  }
}

TEST(MulSum, MultipliesEverySecondRanksValuesByTwo) {
  EXPECT_EQ(pattern::mulsum_factor(0), 1U);
  EXPECT_EQ(pattern::mulsum_factor(1), 2U);
  EXPECT_EQ(pattern::mulsum_factor(2), 1U);
  EXPECT_EQ(pattern::mulsum_factor(16383), 2U);
}

TEST(Pattern, ProductsHaveNoZero) {
  for_each_combination(100, [](const Combination& which) {
    if (which.reduction != Reduction::kProd) return;
    for (const std::uint64_t slot : slots(which.ranks)) {
      for (std::uint64_t rank = 0; rank < which.ranks; ++rank) {
        ASSERT_NE(pattern::sent(which.shape(), rank, slot), 0U) << which.text();
      }
    }
  });
}

TEST(Pattern, PlaceIsAPermutationOfTheRanks) {
  for (const std::uint64_t ranks : kRanks) {
    for (const std::uint64_t slot : slots(ranks)) {
      std::vector<char> seen(ranks, 0);
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        const std::uint64_t place = pattern::place(ranks, rank, slot);
        ASSERT_LT(place, ranks);
        ASSERT_EQ(seen[place]++, 0) << "two ranks in place " << place << " of " << ranks;
      }
    }
  }
}

TEST(Pattern, DataThatOnlyMovesIsNeitherNanNorThePoison) {
  for (const DataTypeFacts& type : kDataTypes) {
    const Shape shape{type.type, Reduction::kNone, 16384};
    for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
      for (const std::uint64_t rank : {std::uint64_t{0}, kPeriod, 2 * kPeriod - 1}) {
        const std::uint64_t code = pattern::sent(shape, rank, slot);
        ASSERT_FALSE(is_nan(type, code)) << type.name;
        ASSERT_NE(code, pattern::poison_code(type.type)) << type.name;
        ASSERT_EQ(code & ~all_bits(type), 0U) << type.name;
      }
    }
  }
}

TEST(Pattern, OfOneRankDiffersFromThatOfAnother) {
  for (const Reduction reduction : {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax,
                                    Reduction::kAvg, Reduction::kMulSum, Reduction::kNone}) {
    for (const DataTypeFacts& type : kDataTypes) {
      for (const std::uint64_t ranks : {2U, 3U, 4U, 8U, 16U}) {
        const Shape shape{type.type, reduction, ranks};
        for (std::uint64_t a = 0; a < ranks; ++a) {
          for (std::uint64_t b = a + 1; b < ranks; ++b) {
            int different = 0;
            for (std::uint64_t slot = 0; slot < 1000; ++slot) {
              different += pattern::sent(shape, a, slot) != pattern::sent(shape, b, slot) ? 1 : 0;
            }
            ASSERT_GE(different, 50) << type.name << " " << name(reduction) << ": ranks " << a << " and " << b;
          }
        }
      }
    }
  }
}

/// Added in another order, the values of --repeatable give other bits; the pattern's own would not.
TEST(RoundingCode, ShowsTheOrderOfAdditions) {
  for (const DataTypeFacts& type : kDataTypes) {
    if (!type.floating) continue;
    with_type(type.type, [&]<typename T>(std::type_identity<T>) {
      for (const Reduction reduction : {Reduction::kSum, Reduction::kProd}) {
        int different = 0;
        for (std::uint64_t slot = 0; slot < 1000; ++slot) {
          std::vector<T> values;
          for (std::uint64_t rank = 0; rank < 8; ++rank) {
            const std::uint64_t code = pattern::rounding_code(type, reduction, rank, slot);
            ASSERT_FALSE(is_nan(type, code));
            values.push_back(element_of_code<T>(code));
          }
          different += code_of(by_ring(reduction, values)) != code_of(by_tree(reduction, values)) ? 1 : 0;
        }
        EXPECT_GT(different, 200) << type.name << " " << name(reduction);
      }
    });
  }
}

TEST(Pattern, ResultDiffersFromWhatAnyOneRankSends) {
  for_each_combination(100, [](const Combination& which) {
    if (which.ranks == 1) return;
    for (const std::uint64_t rank : {std::uint64_t{0}, which.ranks - 1}) {
      int different = 0;
      for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
        different += pattern::sent(which.shape(), rank, slot) != pattern::reduced(which.shape(), slot) ? 1 : 0;
      }
      ASSERT_GE(different, 1000) << which.text();
    }
  });
}

TEST(Pattern, NeighbouringSlotsDiffer) {
  for_each_combination(16, [](const Combination& which) {
    for (const std::uint64_t distance : {1U, 2U, 3U, 4U, 8U, 4096U}) {
      int different = 0;
      for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
        const std::uint64_t other = (slot + distance) % kPeriod;
        different += pattern::reduced(which.shape(), slot) != pattern::reduced(which.shape(), other) ? 1 : 0;
      }
      ASSERT_GE(different, 2000) << which.text() << " at distance " << distance;
    }
  });
}

TEST(Slot, OfEveryShiftedPatternDiffersSomewhereInTwoPeriods) {
  for (std::uint64_t shift = 1; shift <= 100000; ++shift) {
    std::uint64_t same = 0;
    for (std::uint64_t position = 0; position < 2 * kPeriod; position += 16) {
      same += pattern::slot(position) == pattern::slot(position + shift) ? 1 : 0;
    }
    ASSERT_LT(same, kPeriod / 8) << "shift " << shift << " leaves every position as it is";
  }
}

TEST(Slot, AtTheDistanceOfAPowerOfTwoDiffersEverywhere) {
  for (unsigned power = 0; power < 44; ++power) {
    for (std::uint64_t position = 0; position < 3 * kPeriod; ++position) {
      ASSERT_NE(pattern::slot(position), pattern::slot(position + (std::uint64_t{1} << power))) << "2^" << power;
    }
  }
}

TEST(Slot, RunsThroughAllValuesInEveryPeriod) {
  for (const std::uint64_t begin : {std::uint64_t{0}, kPeriod, 12345 * kPeriod}) {
    std::vector<char> seen(kPeriod, 0);
    for (std::uint64_t i = 0; i < kPeriod; ++i) ++seen[pattern::slot(begin + i)];
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), static_cast<std::ptrdiff_t>(kPeriod));
  }
}

TEST(Slot, TurnsFromPeriodToPeriodAndComesBackAfterAPeriodOfPeriods) {
  EXPECT_EQ(pattern::slot(0), 0U);
  EXPECT_EQ(pattern::slot(kPeriod - 1), kPeriod - 1);
  EXPECT_EQ(pattern::slot(kPeriod), pattern::kRotation);
  EXPECT_EQ(pattern::slot(kPeriod * kPeriod), 0U);
  EXPECT_EQ(pattern::slot(kPeriod * kPeriod + 5), 5U);
}

}  // namespace pattern_test
