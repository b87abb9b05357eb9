#include "common/core/pattern_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace fabricbench;

namespace seen_bits_test {

double share(const PatternTable& table, std::uint64_t elements = pattern::kPeriod) {
  SeenBits seen(table.type());
  seen.add(table, {}, elements);
  return share_of_both(seen.flags());
}

TEST(SeenBits, OfOneElementAreOneValueEach) {
  const PatternTable table = PatternTable::moved(DataType::kFloat, 0);
  EXPECT_EQ(share(table, 0), 0);
  EXPECT_EQ(share(table, 1), 0);
  EXPECT_GT(share(table, 2), 0);
  EXPECT_EQ(share(table), 1);
}

TEST(SeenBits, CombineByTheirMaximum) {
  SeenBits first(DataType::kInt32);
  SeenBits second(DataType::kInt32);
  const PatternTable table = PatternTable::moved(DataType::kInt32, 0);
  first.add(table, {0}, 1);
  second.add(table, {1}, 1);
  std::vector<std::uint8_t> both = first.flags();
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = std::max(both[i], second.flags()[i]);
  EXPECT_EQ(share_of_both(first.flags()), 0);
  EXPECT_EQ(share_of_both(both), share(table, 2));
}

TEST(SeenBits, AreCountedFromTheBufferAlone) {
  const PatternTable table = PatternTable::moved(DataType::kInt8, 0);
  SeenBits seen(DataType::kInt8);
  seen.add(table, {5, 3}, 1);
  std::uint8_t code = 0;
  std::memcpy(&code, table.element({5, 3}, 0).data(), 1);
  for (std::size_t bit = 0; bit < 8; ++bit) {
    const bool one = (code >> bit & 1) != 0;
    EXPECT_EQ(seen.flags()[2 * bit], one ? 0 : 1);
    EXPECT_EQ(seen.flags()[2 * bit + 1], one ? 1 : 0);
  }
}

/// What the pattern is for: a stuck or lost bit shows wherever exact results allow it.
TEST(SeenBits, AreAllExercisedButForTheSignsThatExactResultsLackHere) {
  for (const DataTypeFacts& type : kDataTypes) {
    EXPECT_EQ(share(PatternTable::moved(type.type, 0)), 1) << type.name;
    for (const int ranks : {2, 3, 8, 72, 1024, 8192}) {
      for (const Reduction reduction : {Reduction::kMin, Reduction::kMax}) {
        EXPECT_EQ(share(PatternTable::reduced(type.type, reduction, ranks)), 1)
            << type.name << " " << name(reduction) << " " << ranks;
      }
      EXPECT_EQ(share(PatternTable::reduced(type.type, Reduction::kSum, ranks)), 1) << type.name << " sum " << ranks;
      const double product = share(PatternTable::reduced(type.type, Reduction::kProd, ranks));
      EXPECT_EQ(product, type.has_sign ? 1 : 1 - 0.125 / static_cast<double>(type.size)) << type.name << " " << ranks;
    }
  }
}

}  // namespace seen_bits_test
