#include "common/core/pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
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
constexpr std::uint64_t kRanks[] = {1, 2, 3, 4, 5, 7, 8, 16, 100, 1000, 16384};

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

template <typename T>
std::uint64_t whole(T value) {
  if constexpr (kIsSmallFloat<T>) {
    return static_cast<std::uint64_t>(to_float(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

/// What `rank` brings into the reduction: for mulsum its value times its factor, in the type's own arithmetic.
template <typename T>
T brought(const Shape& shape, std::uint64_t rank, std::uint64_t slot) {
  const T value = from_integer<T>(pattern::sent(shape, rank, slot));
  if (shape.reduction != Reduction::kMulSum) return value;
  return combined(Reduction::kProd, value, from_integer<T>(pattern::mulsum_factor(rank)));
}

/// One after the other.
template <typename T>
T folded(Reduction reduction, const std::vector<T>& values) {
  return std::accumulate(values.begin() + 1, values.end(), values.front(),
                         [&](T a, T b) { return combined(reduction, a, b); });
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

struct Combination {
  DataTypeFacts type;
  Reduction reduction;
  std::uint64_t ranks;

  [[nodiscard]] Shape shape() const { return pattern::shape_of(type.type, reduction, ranks); }
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
        std::vector<T> values;
        for (std::uint64_t rank = 0; rank < which.ranks; ++rank) {
          values.push_back(brought<T>(which.shape(), rank, slot));
        }
        const std::uint64_t expected = pattern::reduced(which.shape(), slot);
        ASSERT_EQ(whole(folded(which.reduction, values)), expected) << which.text() << " slot " << slot;
        ASSERT_EQ(whole(by_tree(which.reduction, values)), expected) << which.text() << " slot " << slot;
        std::reverse(values.begin(), values.end());
        ASSERT_EQ(whole(folded(which.reduction, values)), expected) << which.text() << " slot " << slot;
        std::shuffle(values.begin(), values.end(), random);
        ASSERT_EQ(whole(folded(which.reduction, values)), expected) << which.text() << " slot " << slot;
      }
    });
  });
}

TEST(Pattern, NoPartialResultIsAboveTheLargestExactNumber) {
  for_each_combination(16384, [](const Combination& which) {
    for (const std::uint64_t slot : slots(which.ranks)) {
      // Sums and products only grow, so the result of all ranks is the largest partial result.
      ASSERT_LE(pattern::reduced(which.shape(), slot), which.type.largest_exact) << which.text();
      for (std::uint64_t rank = 0; rank < which.ranks; ++rank) {
        ASSERT_LE(pattern::sent(which.shape(), rank, slot), which.type.largest_exact) << which.text();
      }
    }
  });
}

/// Not only all ranks together: what any of them have added up so far stays exact, and so does each one's product.
TEST(MulSum, OfAnyRanksStaysWithinTheLargestExactNumber) {
  for (const DataTypeFacts& type : kDataTypes) {
    for (const std::uint64_t ranks : kRanks) {
      const Shape shape{Reduction::kMulSum, type.largest_exact, ranks};
      for (const std::uint64_t slot : slots(ranks)) {
        std::uint64_t sum = 0;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) {
          const std::uint64_t value = pattern::sent(shape, rank, slot);
          ASSERT_LE(value * pattern::mulsum_factor(rank), type.largest_exact);
          sum += value * pattern::mulsum_factor(rank);
        }
        ASSERT_EQ(sum, pattern::reduced(shape, slot)) << type.name << " " << ranks;
        ASSERT_LE(sum, type.largest_exact) << type.name << " " << ranks;
      }
    }
  }
}

TEST(MulSum, IsNotThePlainSumOfWhatIsSent) {
  for (const DataTypeFacts& type : kDataTypes) {
    for (const std::uint64_t ranks : {2U, 3U, 4U, 5U, 16U}) {
      const Shape shape{Reduction::kMulSum, type.largest_exact, ranks};
      int different = 0;
      for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
        std::uint64_t plain = 0;
        for (std::uint64_t rank = 0; rank < ranks; ++rank) plain += pattern::sent(shape, rank, slot);
        different += plain != pattern::reduced(shape, slot) ? 1 : 0;
      }
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

TEST(Pattern, ProductsAndExtremesHaveNoZero) {
  for_each_combination(100, [](const Combination& which) {
    if (which.reduction == Reduction::kSum || which.reduction == Reduction::kAvg) return;
    if (which.reduction == Reduction::kMulSum) return;
    for (const std::uint64_t slot : slots(which.ranks)) {
      for (std::uint64_t rank = 0; rank < which.ranks; ++rank) {
        ASSERT_GT(pattern::sent(which.shape(), rank, slot), 0U) << which.text();
      }
    }
  });
}

TEST(Pattern, PlaceIsAPermutationOfTheRanks) {
  for (const std::uint64_t ranks : kRanks) {
    const Shape shape{Reduction::kSum, 1000, ranks};
    for (const std::uint64_t slot : slots(ranks)) {
      std::vector<char> seen(ranks, 0);
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        const std::uint64_t place = pattern::place(shape, rank, slot);
        ASSERT_LT(place, ranks);
        ASSERT_EQ(seen[place]++, 0) << "two ranks in place " << place << " of " << ranks;
      }
    }
  }
}

TEST(Pattern, DataThatOnlyMovesIsWithinTheTypesRange) {
  for (const DataTypeFacts& type : kDataTypes) {
    const Shape shape{Reduction::kNone, type.largest_exact, 16384};
    for (std::uint64_t slot = 0; slot < kPeriod; slot += 3) {
      for (const std::uint64_t rank : {0U, 1U, 16383U}) {
        ASSERT_LE(pattern::sent(shape, rank, slot), type.largest_exact);
        ASSERT_GT(pattern::sent(shape, rank, slot), 0U);
      }
    }
  }
}

TEST(Pattern, OfOneRankDiffersFromThatOfAnother) {
  for (const Reduction reduction : {Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax,
                                    Reduction::kAvg, Reduction::kMulSum, Reduction::kNone}) {
    for (const DataTypeFacts& type : kDataTypes) {
      for (const std::uint64_t ranks : {2U, 3U, 4U, 8U, 16U}) {
        const Shape shape = pattern::shape_of(type.type, reduction, ranks);
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
