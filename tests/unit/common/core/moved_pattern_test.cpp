// Where data is only moved, every rank sends the same sequence begun elsewhere. Here: that a block of one rank, or from
// one place, does not pass for another's.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/core/pattern.h"

using namespace fabricbench;
using pattern::kPeriod;

namespace moved_pattern_test {

constexpr std::uint64_t kMostRanks = 16384;

/// A block of elements: where it begins in its source's data, and whose it is.
struct Block {
  std::uint64_t position;
  std::uint64_t source;
};

/// Whether two blocks of one family's ranks are the same slot by slot, and so are equal for every datatype.
bool look_alike(const Block& a, const Block& b, std::uint64_t length) {
  if (pattern::family(a.source) != pattern::family(b.source)) return false;
  for (std::uint64_t done = 0; done < length;) {
    const auto slot_of = [&](const Block& block) {
      return pattern::slot(block.position + done, pattern::source_shift(block.source));
    };
    if (slot_of(a) != slot_of(b)) return false;
    const auto left = [&](const Block& block) { return kPeriod - (block.position + done) % kPeriod; };
    done += std::min(left(a), left(b));  // up to there both go on alike
  }
  return true;
}

/// Powers of two, and odd lengths of every magnitude.
std::vector<std::uint64_t> lengths() {
  std::vector<std::uint64_t> all;
  for (unsigned power = 1; power <= 24; ++power) {
    all.push_back(std::uint64_t{1} << power);
    all.push_back((std::uint64_t{1} << power) + 1);
    all.push_back((std::uint64_t{1} << power) * 3 / 2 + 3);
  }
  return all;
}

/// The elements from every slot of a family on, as many as the smallest block has: 16 bytes.
std::vector<std::vector<std::uint64_t>> smallest_blocks(const DataTypeFacts& type, std::uint64_t family) {
  const pattern::Shape shape{type.type, Reduction::kNone, 1};
  std::vector<std::uint64_t> values;
  for (std::uint64_t slot = 0; slot < kPeriod; ++slot) values.push_back(pattern::sent(shape, family * kPeriod, slot));
  std::vector<std::vector<std::uint64_t>> blocks;
  for (std::uint64_t slot = 0; slot < kPeriod; ++slot) {
    std::vector<std::uint64_t>& block = blocks.emplace_back();
    for (std::uint64_t i = 0; i < 16 / type.size; ++i) block.push_back(values[(slot + i) % kPeriod]);
  }
  return blocks;
}

/// So blocks that begin at different slots, or are of ranks of different families, differ within 16 bytes.
TEST(MovedData, BegunAtAnotherSlotOrOfAnotherFamilyDiffersWithinTheSmallestBlock) {
  for (const DataTypeFacts& type : kDataTypes) {
    std::set<std::vector<std::uint64_t>> different;
    const std::uint64_t families = pattern::family(kMostRanks - 1) + 1;
    for (std::uint64_t family = 0; family < families; ++family) {
      for (auto& block : smallest_blocks(type, family)) different.insert(std::move(block));
    }
    EXPECT_EQ(different.size(), families * kPeriod) << type.name;
  }
}

TEST(MovedData, OfEveryRankOfAFamilyBeginsAtASlotOfItsOwn) {
  std::set<std::uint64_t> shifts;
  for (std::uint64_t rank = 0; rank < kPeriod; ++rank) {
    EXPECT_EQ(pattern::family(rank), 0U);
    EXPECT_LT(pattern::source_shift(rank), kPeriod);
    shifts.insert(pattern::source_shift(rank));
  }
  EXPECT_EQ(shifts.size(), kPeriod);
  EXPECT_EQ(pattern::source_shift(0), 0U);
  EXPECT_EQ(pattern::source_shift(kPeriod), 0U);
  EXPECT_EQ(pattern::family(kPeriod), 1U);
}

/// all_gather, gather and alltoall out of place: blocks of different ranks from the same position.
TEST(MovedData, OfAnyTwoRanksFromTheSamePositionDiffers) {
  for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{5000}, 7 * kPeriod - 1}) {
    for (std::uint64_t distance = 1; distance < kMostRanks; ++distance) {
      for (const std::uint64_t rank : {std::uint64_t{0}, kMostRanks - 1 - distance}) {
        ASSERT_FALSE(look_alike({position, rank}, {position, rank + distance}, 2)) << rank << " " << distance;
      }
    }
  }
}

/// In place, rank r's block lies at r times its length; a ring that stops one step early leaves the neighbour's.
TEST(MovedData, OfNeighboursInPlaceDiffers) {
  for (const std::uint64_t length : lengths()) {
    for (std::uint64_t rank = 0; rank + 1 < kMostRanks; ++rank) {
      ASSERT_FALSE(look_alike({rank * length, rank}, {(rank + 1) * length, rank + 1}, length)) << length << " " << rank;
    }
  }
}

TEST(MovedData, OfNeighbouringPlacesOfOneSourceDiffers) {
  for (const std::uint64_t length : lengths()) {
    for (std::uint64_t rank = 0; rank + 1 < kMostRanks; ++rank) {
      ASSERT_FALSE(look_alike({rank * length, 5}, {(rank + 1) * length, 5}, length)) << length << " " << rank;
    }
  }
}

/// Every two blocks of a job of moderate size, of one source (alltoall, scatter) and in place (all_gather, gather).
TEST(MovedData, OfPowersOfTwoDiffersBetweenAnyTwoOfFiveHundredRanks) {
  constexpr std::uint64_t kRanks = 500;
  for (unsigned power = 1; power <= 24; ++power) {
    const std::uint64_t length = std::uint64_t{1} << power;
    for (std::uint64_t a = 0; a < kRanks; ++a) {
      for (std::uint64_t b = a + 1; b < kRanks; ++b) {
        ASSERT_FALSE(look_alike({a * length, 3}, {b * length, 3}, length)) << "2^" << power << ": " << a << ", " << b;
        ASSERT_FALSE(look_alike({a * length, a}, {b * length, b}, length)) << "2^" << power << ": " << a << ", " << b;
      }
    }
  }
}

/// A block longer than a period turns on its way, and only the same place turns there.
TEST(MovedData, OfBlocksLongerThanAPeriodDiffersBetweenAnyTwo) {
  for (const std::uint64_t length : {kPeriod + 1, std::uint64_t{9240}, std::uint64_t{12811}, 2 * kPeriod}) {
    for (std::uint64_t a = 0; a < 300; ++a) {
      for (std::uint64_t b = a + 1; b < 300; ++b) {
        ASSERT_FALSE(look_alike({a * length, 3}, {b * length, 3}, length)) << length << ": " << a << ", " << b;
        ASSERT_FALSE(look_alike({a * length, a}, {b * length, b}, length)) << length << ": " << a << ", " << b;
      }
    }
  }
}

}  // namespace moved_pattern_test
