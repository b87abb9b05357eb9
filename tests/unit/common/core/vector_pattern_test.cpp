#include "common/backends/cuda/vector_pattern.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "common/core/pattern_table.h"

using namespace fabricbench;
using namespace fabricbench::cuda;
using pattern::kPeriod;

namespace vector_pattern_test {

constexpr std::uint32_t kElements[] = {1, 2, 4, 8};
constexpr std::uint64_t kPositions[] = {0, 1, kPeriod - 1, kPeriod, 7 * kPeriod + 3, std::uint64_t{1} << 40};
constexpr std::uint64_t kShifts[] = {0, 1, 2459, kPeriod - 1};

DataType type_of_size(std::uint32_t element) {
  switch (element) {
    case 1: return DataType::kUint8;
    case 2: return DataType::kHalf;
    case 4: return DataType::kInt32;
    default: return DataType::kDouble;
  }
}

/// The two periods as the device has them.
std::vector<Vector16> vectors_of(const PatternTable& table) {
  const auto bytes = table.two_periods();
  std::vector<Vector16> vectors((bytes.size() + kVectorBytes - 1) / kVectorBytes);
  std::memcpy(vectors.data(), bytes.data(), bytes.size());
  return vectors;
}

template <typename Action>
void for_each_source(Action action) {
  for (const std::uint32_t element : kElements) {
    const PatternTable table = PatternTable::moved(type_of_size(element), 0);
    const std::vector<Vector16> vectors = vectors_of(table);
    for (const std::uint64_t position : kPositions) {
      for (const std::uint64_t shift : kShifts) {
        SCOPED_TRACE(testing::Message() << element << " bytes, position " << position << ", shift " << shift);
        action(PatternSource{position, shift, element}, table, vectors.data());
      }
    }
  }
}

std::vector<std::byte> filled(const PatternTable& table, const PatternSource& source, std::size_t elements) {
  std::vector<std::byte> bytes(elements * source.element);
  table.fill(bytes, {source.position, source.shift});
  return bytes;
}

TEST(Cursor, StandsWhereThePatternsSlotSays) {
  for_each_source([](const PatternSource& source, const PatternTable&, const Vector16*) {
    const std::uint32_t period = period_bytes(source.element);
    for (std::uint64_t byte = 0; byte < 3 * period; byte += 5) {
      const Cursor cursor = cursor_at(source, byte);
      ASSERT_LT(cursor.in_period, period);
      ASSERT_LT(cursor.rotation, period);
      const std::uint64_t slot = pattern::slot(source.position + byte / source.element, source.shift);
      ASSERT_EQ(wrapped(cursor.in_period + cursor.rotation, period), slot * source.element + byte % source.element);
    }
  });
}

TEST(Cursor, AdvancesToWhereItWouldHaveBegun) {
  constexpr std::uint64_t kSteps[] = {16, 256 * 16, 8 * kPeriod, 16 * kPeriod, std::uint64_t{132} << 20, 16 * 8190};
  for_each_source([&](const PatternSource& source, const PatternTable&, const Vector16*) {
    for (const std::uint64_t step : kSteps) {
      Cursor cursor = cursor_at(source, 3);
      for (std::uint64_t i = 1; i < 200; ++i) {
        cursor = advanced(cursor, step_of(source.element, step), period_bytes(source.element));
        const Cursor direct = cursor_at(source, 3 + i * step);
        ASSERT_EQ(cursor.in_period, direct.in_period) << step << " " << i;
        ASSERT_EQ(cursor.rotation, direct.rotation) << step << " " << i;
      }
    }
  });
}

TEST(Window, IsSixteenBytesFromAnyByteOn) {
  std::vector<Vector16> table(8);
  std::vector<unsigned char> bytes(sizeof(Vector16) * table.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 37 + 1);
  std::memcpy(table.data(), bytes.data(), bytes.size());
  for (std::uint32_t byte = 0; byte + 2 * kVectorBytes <= bytes.size(); ++byte) {
    const Vector16 value = window(table.data(), byte);
    EXPECT_EQ(std::memcmp(&value, bytes.data() + byte, sizeof value), 0) << byte;
    EXPECT_EQ(table_byte(table.data(), byte), bytes[byte]);
  }
}

TEST(PatternVector, IsThePatternAtEveryByteAlsoAcrossPeriods) {
  for_each_source([](const PatternSource& source, const PatternTable& table, const Vector16* vectors) {
    const std::vector<std::byte> expected = filled(table, source, 2 * kPeriod + 64);
    // Every byte around the ends of periods, and every third elsewhere.
    for (std::uint64_t byte = 0; byte + kVectorBytes <= expected.size();) {
      const Cursor cursor = cursor_at(source, byte);
      const Vector16 value = pattern_vector(vectors, cursor, source.element);
      ASSERT_EQ(std::memcmp(&value, expected.data() + byte, kVectorBytes), 0) << byte;
      ASSERT_EQ(pattern_byte(vectors, cursor, source.element), std::to_integer<std::uint32_t>(expected[byte]));
      byte += period_bytes(source.element) - cursor.in_period < 40 ? 1 : 3;
    }
  });
}

TEST(ElementBits, AreThoseThatLieThere) {
  const Vector16 value{{0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c}};
  for (const std::uint32_t element : kElements) {
    for (std::uint32_t byte = 0; byte < kVectorBytes; byte += element) {
      std::uint64_t expected = 0;
      std::memcpy(&expected, reinterpret_cast<const char*>(&value) + byte, element);
      EXPECT_EQ(element_bits(value, byte, element), expected) << element << " " << byte;
    }
  }
}

TEST(CountWrong, CountsElementsAndKeepsTheFirst) {
  const Vector16 expected{{1, 2, 3, 4}};
  Vector16 got = expected;
  got.words[1] ^= 0x00010000u;
  got.words[3] ^= 0x01010101u;
  const std::uint64_t counts[] = {5, 3, 2, 2};
  const std::uint64_t firsts[] = {6, 3, 1, 0};
  for (int i = 0; i < 4; ++i) {
    CheckResult found{};
    count_wrong(expected, got, 100, kElements[i], found);
    EXPECT_EQ(found.count, counts[i]);
    EXPECT_EQ(~found.inverted_first, 100 + firsts[i]);
    count_wrong(expected, got, 50, kElements[i], found);
    count_wrong(expected, got, 70, kElements[i], found);
    EXPECT_EQ(found.count, 3 * counts[i]);
    EXPECT_EQ(~found.inverted_first, 50 + firsts[i]);
  }
}

TEST(Split, CutsABufferIntoAlignedVectorsAndTheRest) {
  for (const std::uint32_t element : kElements) {
    for (std::uint64_t address = 1024; address < 1024 + kVectorBytes; ++address) {
      for (std::uint64_t elements = 0; elements < 40; ++elements) {
        const Split split = split_of(address, elements * element, element);
        EXPECT_EQ(split.head + split.vectors * kVectorBytes + split.tail, elements * element);
        EXPECT_TRUE(address % element == 0 || split.vectors == 0);
        if (split.vectors == 0) continue;
        EXPECT_EQ((address + split.head) % kVectorBytes, 0U);
        EXPECT_EQ(split.head % element, 0U);
        EXPECT_LT(split.head, kVectorBytes);
        EXPECT_LT(split.tail, kVectorBytes);
      }
    }
  }
}

}  // namespace vector_pattern_test
