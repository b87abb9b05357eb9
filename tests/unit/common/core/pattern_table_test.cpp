#include "common/core/pattern_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using namespace fabricbench;
using pattern::kPeriod;

namespace pattern_table_test {

using Buffer = std::vector<std::byte>;

constexpr std::uint64_t kPositions[] = {0, 1, kPeriod - 1, kPeriod, 7 * kPeriod + 3, std::uint64_t{1} << 40};
constexpr std::uint64_t kLengths[] = {0, 1, 2, kPeriod - 1, kPeriod, kPeriod + 1, 3 * kPeriod, 3 * kPeriod + 17};

constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProd,   Reduction::kMin, Reduction::kMax,
                                     Reduction::kAvg, Reduction::kMulSum, Reduction::kNone};

template <typename Action>
void for_each_type(Action action) {
  for (const DataTypeFacts& type : kDataTypes) {
    SCOPED_TRACE(std::string(type.name));
    action(type);
  }
}

/// `elements` of the table from `position` on.
Buffer filled(const PatternTable& table, std::size_t element, std::uint64_t elements, std::uint64_t position = 0) {
  Buffer buffer(elements * element);
  table.fill(buffer, {position});
  return buffer;
}

TEST(PatternTable, HoldsTheElementsOfThePattern) {
  for_each_type([](const DataTypeFacts& type) {
    const pattern::Shape shape{type.type, Reduction::kSum, 5};
    const PatternTable sent = PatternTable::sent(type.type, Reduction::kSum, 3, 5);
    const PatternTable reduced = PatternTable::reduced(type.type, Reduction::kSum, 5);
    for (const std::uint64_t position : kPositions) {
      const Buffer sent_bytes = filled(sent, type.size, 2 * kPeriod, position);
      const Buffer reduced_bytes = filled(reduced, type.size, 2 * kPeriod, position);
      with_type(type.type, [&]<typename T>(std::type_identity<T>) {
        for (std::uint64_t i = 0; i < 2 * kPeriod; ++i) {
          const std::uint64_t slot = pattern::slot(position + i);
          const T own = element_of_code<T>(pattern::sent(shape, 3, slot));
          const T all = element_of_code<T>(pattern::reduced(shape, slot));
          ASSERT_EQ(std::memcmp(sent_bytes.data() + i * sizeof(T), &own, sizeof(T)), 0) << position + i;
          ASSERT_EQ(std::memcmp(reduced_bytes.data() + i * sizeof(T), &all, sizeof(T)), 0) << position + i;
        }
      });
    }
  });
}

TEST(PatternTable, OfAnAverageHoldsTheSumDividedByTheRanks) {
  const PatternTable table = PatternTable::reduced(DataType::kFloat, Reduction::kAvg, 3);
  const pattern::Shape shape{DataType::kFloat, Reduction::kAvg, 3};
  const Buffer bytes = filled(table, 4, kPeriod);
  for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
    float value = 0;
    std::memcpy(&value, bytes.data() + slot * 4, 4);
    ASSERT_EQ(value, element_of_code<float>(pattern::reduced(shape, slot)) / 3.0F);
  }
}

TEST(PatternTable, AveragesOfManyRanksAreNeverNegative) {
  const Buffer bytes = filled(PatternTable::reduced(DataType::kInt8, Reduction::kAvg, 200), 1, kPeriod);
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](std::byte value) { return value == std::byte{0}; }));
}

TEST(PatternTable, AcceptsWhatItFilledAtAnyPositionAndLength) {
  for_each_type([](const DataTypeFacts& type) {
    const PatternTable table = PatternTable::reduced(type.type, Reduction::kMax, 4);
    for (const std::uint64_t position : kPositions) {
      for (const std::uint64_t length : kLengths) {
        const Buffer buffer = filled(table, type.size, length, position);
        EXPECT_FALSE(table.check(buffer, {position})) << position << " " << length;
      }
    }
  });
}

TEST(PatternTable, FillsInPiecesWhatItFillsAtOnce) {
  for_each_type([](const DataTypeFacts& type) {
    const PatternTable table = PatternTable::moved(type.type, 0);
    const Buffer whole = filled(table, type.size, 3 * kPeriod, 100);
    Buffer pieces(whole.size());
    std::uint64_t done = 0;
    for (const std::uint64_t length : {std::uint64_t{1}, kPeriod - 102, std::uint64_t{2}, kPeriod, kPeriod + 99}) {
      table.fill(std::span(pieces).subspan(done * type.size, length * type.size), {100 + done});
      done += length;
    }
    ASSERT_EQ(done, 3 * kPeriod);
    EXPECT_EQ(pieces, whole);
  });
}

TEST(PatternTable, WorksOnBuffersThatAreNotAligned) {
  for_each_type([](const DataTypeFacts& type) {
    const PatternTable table = PatternTable::sent(type.type, Reduction::kSum, 0, 2);
    Buffer memory((kPeriod + 2) * type.size + 1);
    const auto odd = std::span(memory).subspan(1, (kPeriod + 2) * type.size);
    table.fill(odd, {5});
    EXPECT_FALSE(table.check(odd, {5}));
    EXPECT_EQ(memory.front(), std::byte{0}) << "wrote before the buffer";
    odd.back() ^= std::byte{1};
    EXPECT_EQ(table.check(odd, {5})->first_offset, kPeriod + 1);
  });
}

TEST(PatternTable, FindsOneChangedBitAndNamesIt) {
  for_each_type([](const DataTypeFacts& type) {
    const PatternTable table = PatternTable::reduced(type.type, Reduction::kProd, 3);
    Buffer buffer = filled(table, type.size, 2 * kPeriod + 5, 77);
    for (const std::uint64_t offset : {std::uint64_t{0}, kPeriod - 78, kPeriod - 77, kPeriod, 2 * kPeriod + 4}) {
      for (std::size_t byte = 0; byte < type.size; ++byte) {
        std::byte* element = buffer.data() + offset * type.size;
        const std::string expected = element_text(type.type, element);
        element[byte] ^= std::byte{0x10};
        const auto found = table.check(buffer, {77});
        ASSERT_TRUE(found) << offset;
        EXPECT_EQ(found->count, 1U);
        EXPECT_EQ(found->first_offset, offset);
        EXPECT_EQ(found->expected, expected);
        EXPECT_EQ(found->got, element_text(type.type, element));
        EXPECT_NE(found->got, found->expected);
        element[byte] ^= std::byte{0x10};
      }
    }
    EXPECT_FALSE(table.check(buffer, {77}));
  });
}

TEST(PatternTable, FindsAnyBitThatIsFlippedInAnyElement) {
  for_each_type([](const DataTypeFacts& type) {
    for (const Reduction reduction : kReductions) {
      for (const int ranks : {2, 8192}) {
        const PatternTable table = reduction == Reduction::kNone ? PatternTable::moved(type.type, 0)
                                                                 : PatternTable::reduced(type.type, reduction, ranks);
        Buffer buffer = filled(table, type.size, 300);
        for (std::size_t bit = 0; bit < 8 * buffer.size(); ++bit) {
          buffer[bit / 8] ^= std::byte{1} << bit % 8;
          const auto found = table.check(buffer, {});
          ASSERT_TRUE(found) << name(reduction) << " bit " << bit;
          ASSERT_EQ(found->count, 1U);
          ASSERT_EQ(found->first_offset, bit / 8 / type.size);
          buffer[bit / 8] ^= std::byte{1} << bit % 8;
        }
      }
    }
  });
}

TEST(PatternTable, CountsAllWrongElementsAndNamesTheFirst) {
  const PatternTable table = PatternTable::reduced(DataType::kInt32, Reduction::kSum, 3);
  Buffer buffer = filled(table, 4, 4 * kPeriod);
  for (std::uint64_t i = 100; i < 4 * kPeriod; i += 1000) buffer[i * 4 + 3] ^= std::byte{0x80};
  const auto found = table.check(buffer, {0});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_offset, 100U);
  EXPECT_EQ(found->count, (4 * kPeriod - 100 + 999) / 1000);
}

TEST(PatternTable, FindsATailThatWasNeverWritten) {
  for_each_type([](const DataTypeFacts& type) {
    for (const Reduction reduction : kReductions) {
      if (reduction == Reduction::kNone) continue;
      const PatternTable table = PatternTable::reduced(type.type, reduction, 4);
      Buffer buffer = filled(table, type.size, kPeriod + 10);
      std::memset(buffer.data() + (kPeriod + 3) * type.size, pattern::kPoisonByte, 7 * type.size);
      const auto found = table.check(buffer, {0});
      ASSERT_TRUE(found);
      EXPECT_EQ(found->count, 7U) << name(reduction) << ": a value equals the poison";
      EXPECT_EQ(found->first_offset, kPeriod + 3);
    }
  });
}

TEST(PatternTable, NoElementOfAnyTableEqualsThePoison) {
  for_each_type([](const DataTypeFacts& type) {
    Buffer poison(type.size);
    std::memset(poison.data(), pattern::kPoisonByte, poison.size());
    for (const Reduction reduction : kReductions) {
      const Buffer buffer = filled(reduction == Reduction::kNone ? PatternTable::moved(type.type, 1)
                                                                 : PatternTable::reduced(type.type, reduction, 7),
                                   type.size, kPeriod);
      for (std::size_t i = 0; i < buffer.size(); i += type.size) {
        ASSERT_NE(std::memcmp(buffer.data() + i, poison.data(), type.size), 0) << name(reduction);
      }
    }
  });
}

TEST(PatternTable, FindsSwappedBlocksOfAPowerOfTwo) {
  for_each_type([](const DataTypeFacts& type) {
    const PatternTable table = PatternTable::reduced(type.type, Reduction::kSum, 2);
    for (unsigned power = 6; power <= 17; ++power) {
      const std::size_t block = std::size_t{1} << power;
      Buffer buffer = filled(table, type.size, 2 * block);
      const auto middle = buffer.begin() + static_cast<std::ptrdiff_t>(block * type.size);
      std::swap_ranges(buffer.begin(), middle, middle);
      const auto found = table.check(buffer, {0});
      ASSERT_TRUE(found) << "blocks of " << block;
      EXPECT_GT(found->count, block) << "more than half of what moved must be seen to be wrong";
    }
  });
}

TEST(PatternTable, ChecksAgainstThePositionItIsGiven) {
  const PatternTable table = PatternTable::reduced(DataType::kFloat, Reduction::kSum, 2);
  const Buffer buffer = filled(table, 4, 1000, 500);
  EXPECT_FALSE(table.check(buffer, {500}));
  EXPECT_TRUE(table.check(buffer, {501}));
  EXPECT_TRUE(table.check(buffer, {500 + kPeriod})) << "each period is turned against the one before";
}

TEST(PatternTable, OfMovedDataServesEveryRankOfItsFamily) {
  for_each_type([](const DataTypeFacts& type) {
    const pattern::Shape shape{type.type, Reduction::kNone, 1};
    for (const std::uint64_t rank : {std::uint64_t{0}, std::uint64_t{1}, kPeriod - 1, kPeriod, std::uint64_t{16383}}) {
      const PatternTable table = PatternTable::moved(type.type, pattern::family(rank));
      const PatternPosition place{500, pattern::source_shift(rank)};
      Buffer buffer(2 * kPeriod * type.size);
      table.fill(buffer, place);
      EXPECT_FALSE(table.check(buffer, place));
      EXPECT_TRUE(table.check(buffer, {500, place.shift + 1}));
      with_type(type.type, [&]<typename T>(std::type_identity<T>) {
        for (std::uint64_t i = 0; i < 2 * kPeriod; ++i) {
          const T value = element_of_code<T>(pattern::sent(shape, rank, pattern::slot(500 + i)));
          ASSERT_EQ(std::memcmp(buffer.data() + i * sizeof(T), &value, sizeof(T)), 0) << rank << " " << i;
          ASSERT_EQ(std::memcmp(table.element(place, i).data(), &value, sizeof(T)), 0) << rank << " " << i;
        }
      });
    }
  });
}

TEST(PatternTable, HoldsItsElementsTwiceInTheOrderOfSlots) {
  const PatternTable table = PatternTable::reduced(DataType::kInt64, Reduction::kSum, 3);
  const auto twice = table.two_periods();
  ASSERT_EQ(twice.size(), 2 * kPeriod * 8);
  EXPECT_EQ(std::memcmp(twice.data(), twice.data() + kPeriod * 8, kPeriod * 8), 0);
  EXPECT_EQ(table.element({7, 3}, 2).data(), twice.data() + 12 * 8);
}

TEST(ElementText, ShowsWhatTheElementIs) {
  const auto text = []<typename T>(DataType type, T value) {
    return element_text(type, reinterpret_cast<const std::byte*>(&value));
  };
  EXPECT_EQ(text(DataType::kInt8, std::int8_t{-91}), "-91");
  EXPECT_EQ(text(DataType::kUint8, std::uint8_t{165}), "165");
  EXPECT_EQ(text(DataType::kInt32, std::int32_t{-5}), "-5");
  EXPECT_EQ(text(DataType::kUint64, ~std::uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(text(DataType::kHalf, to_half(1.5F)), "1.5");
  EXPECT_EQ(text(DataType::kBfloat16, to_bfloat16(-2.0F)), "-2");
  EXPECT_EQ(text(DataType::kF8e4m3, to_f8e4m3(-1.5F)), "-1.5");
  EXPECT_EQ(text(DataType::kF8e5m2, to_f8e5m2(0.25F)), "0.25");
  EXPECT_EQ(text(DataType::kDouble, 0.1), "0.1");
  EXPECT_EQ(text(DataType::kFloat, 16777216.0F), "16777216");
  EXPECT_NE(text(DataType::kFloat, 1.0F), text(DataType::kFloat, 1.0F + 0x1p-23F));
}

}  // namespace pattern_table_test
