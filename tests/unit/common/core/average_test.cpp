// An avg of floating-point values in the orders in which GPUs compute it: each gives what is expected, to the bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/datatype.h"
#include "common/core/pattern.h"
#include "common/core/pattern_table.h"

using namespace fabricbench;

namespace average_test {

constexpr int kRanks[] = {1, 2, 3, 6, 7, 12, 40, 72, 255, 1024, 8192};
constexpr DataType kFloatingTypes[] = {DataType::kHalf,     DataType::kFloat,  DataType::kDouble,
                                       DataType::kBfloat16, DataType::kF8e4m3, DataType::kF8e5m2};

/// The type in which a small format is computed before it is rounded.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T>
Wide<T> wide(T value) {
  if constexpr (kIsSmallFloat<T>) {
    return to_float(value);
  } else {
    return value;
  }
}

template <typename T>
T rounded(Wide<T> value) {
  if constexpr (kIsSmallFloat<T>) {
    return small_float<T>(value);
  } else {
    return value;
  }
}

/// What each rank sends, and the factor by which NCCL multiplies it.
template <typename T>
struct Operands {
  std::vector<T> values;
  T share;

  [[nodiscard]] T multiplied(std::size_t rank) const { return rounded<T>(wide(values[rank]) * wide(share)); }
};

template <typename T>
T added(T a, T b) {
  return rounded<T>(wide(a) + wide(b));
}

/// Around a ring that begins at a rank; compilers may fuse the multiplication with the addition.
template <typename T>
T by_ring(const Operands<T>& operands, std::size_t first, bool fused) {
  T sum = operands.multiplied(first);
  for (std::size_t i = 1; i < operands.values.size(); ++i) {
    const std::size_t rank = (first + i) % operands.values.size();
    sum = fused ? rounded<T>(std::fma(wide(operands.values[rank]), wide(operands.share), wide(sum)))
                : added(operands.multiplied(rank), sum);
  }
  return sum;
}

template <typename T>
T by_tree(const Operands<T>& operands, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return operands.multiplied(begin);
  const std::size_t middle = begin + (end - begin) / 2;
  return added(by_tree(operands, begin, middle), by_tree(operands, middle, end));
}

/// In a switch (multimem), which adds in the wide type and rounds at the end.
template <typename T>
T by_switch(const Operands<T>& operands) {
  Wide<T> sum = 0;
  for (std::size_t rank = 0; rank < operands.values.size(); ++rank) sum += wide(operands.multiplied(rank));
  return rounded<T>(sum);
}

std::vector<std::uint64_t> slots(int ranks) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t slot = 0; slot < pattern::kPeriod; slot += ranks < 100 ? 41 : 409) chosen.push_back(slot);
  return chosen;
}

template <typename T>
void expect_all_orders_agree(DataType type, int ranks) {
  const pattern::Shape shape{type, Reduction::kAvg, static_cast<std::uint64_t>(ranks)};
  const PatternTable table = PatternTable::reduced(type, Reduction::kAvg, ranks, Average::kMultipliesEachValue);
  for (const std::uint64_t slot : slots(ranks)) {
    Operands<T> operands{{}, rounded<T>(static_cast<Wide<T>>(1.0 / ranks))};
    for (int rank = 0; rank < ranks; ++rank) {
      const std::uint64_t code = pattern::sent(shape, static_cast<std::uint64_t>(rank), slot);
      operands.values.push_back(element_of_code<T>(code));
    }
    const auto expect = [&](T got, const char* order) {
      const auto expected = table.element({slot, 0}, 0);
      ASSERT_EQ(std::memcmp(&got, expected.data(), sizeof got), 0)
          << facts(type).name << " over " << ranks << " ranks, slot " << slot << ", " << order << ": "
          << element_text(type, reinterpret_cast<const std::byte*>(&got)) << ", expected "
          << element_text(type, expected.data());
    };
    const auto last = static_cast<std::size_t>(ranks) - 1;
    for (const std::size_t first : {std::size_t{0}, last / 2, last}) {
      expect(by_ring(operands, first, false), "ring");
      expect(by_ring(operands, first, true), "ring, fused");
    }
    expect(by_tree(operands, 0, operands.values.size()), "tree");
    expect(by_switch(operands), "switch");
  }
}

TEST(Average, IsTheSameInEveryOrder) {
  for (const DataType type : kFloatingTypes) {
    for (const int ranks : kRanks) {
      with_type(type, [&]<typename T>(std::type_identity<T>) {
        if constexpr (!std::is_integral_v<T>) expect_all_orders_agree<T>(type, ranks);
      });
    }
  }
}

TEST(Average, HasAValueOfEachRankSomewhere) {
  const pattern::Shape shape{DataType::kHalf, Reduction::kAvg, 1024};
  std::vector<int> counted(1024, 0);
  for (std::uint64_t slot = 0; slot < pattern::kPeriod; ++slot) {
    for (std::uint64_t rank = 0; rank < 1024; ++rank) {
      if (pattern::sent(shape, rank, slot) > 0) ++counted[rank];
    }
  }
  EXPECT_EQ(std::count(counted.begin(), counted.end(), 0), 0);
  EXPECT_EQ(std::accumulate(counted.begin(), counted.end(), 0), static_cast<int>(pattern::kPeriod));
}

TEST(Average, IsWrongWithAnyBitFlipped) {
  for (const DataType type : kFloatingTypes) {
    const PatternTable table = PatternTable::reduced(type, Reduction::kAvg, 12, Average::kMultipliesEachValue);
    const std::size_t size = facts(type).size;
    std::vector<std::byte> buffer(100 * size);
    table.fill(buffer, {});
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      std::byte& flipped = buffer[50 * size + bit / 8];
      flipped ^= std::byte{1} << bit % 8;
      const auto wrong = table.check(buffer, {});
      ASSERT_TRUE(wrong) << facts(type).name << " bit " << bit;
      EXPECT_EQ(wrong->first_offset, 50U);
      flipped ^= std::byte{1} << bit % 8;
    }
  }
}

TEST(Average, OfManyRanksMayBeTooSmallForEightBits) {
  EXPECT_EQ(to_float(multiplied_by_share(to_f8e4m3(16), 1024)), 0);
  EXPECT_GT(to_float(multiplied_by_share(to_f8e4m3(16), 256)), 0);
}

}  // namespace average_test
