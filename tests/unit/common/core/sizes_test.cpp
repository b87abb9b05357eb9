#include "common/core/units.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;

namespace sweep_test {

constexpr Bytes kGiB = Bytes{1} << 30;

using Sizes = std::vector<Bytes>;

Sizes by_factor(Bytes first, Bytes last, std::uint64_t factor, Bytes element) {
  return list_sizes({first, last, 0, factor}, element).sizes;
}

Sizes by_step(Bytes first, Bytes last, Bytes step, Bytes element) {
  return list_sizes({first, last, step, 1}, element).sizes;
}

TEST(Sizes, MultipliesFromSizeToSize) {
  EXPECT_EQ(by_factor(8, 128, 2, 4), (Sizes{8, 16, 32, 64, 128}));
  EXPECT_EQ(by_factor(8, 127, 2, 4), (Sizes{8, 16, 32, 64}));
  EXPECT_EQ(by_factor(4, 400, 10, 4), (Sizes{4, 40, 400}));
}

TEST(Sizes, AddsFromSizeToSizeWhereTheFactorIsOne) {
  EXPECT_EQ(by_step(8, 32, 8, 8), (Sizes{8, 16, 24, 32}));
  EXPECT_EQ(by_step(8, 31, 8, 8), (Sizes{8, 16, 24}));
}

TEST(Sizes, StartsAtZeroWhereAskedTo) {
  EXPECT_EQ(by_step(0, 16, 8, 4), (Sizes{0, 8, 16}));
  EXPECT_EQ(by_factor(0, 16, 2, 4), (Sizes{0, 4, 8, 16}));
  EXPECT_EQ(by_factor(0, 16, 2, 1), (Sizes{0, 1, 2, 4, 8, 16}));
  EXPECT_EQ(by_factor(0, 40, 3, 4), (Sizes{0, 4, 12, 36})) << "it goes on with one element";
  EXPECT_TRUE(list_sizes({0, 16, 0, 2}, 4).too_small.empty());
  EXPECT_EQ(by_factor(0, 3, 2, 4), (Sizes{0}));
  EXPECT_EQ(by_factor(0, 0, 2, 4), (Sizes{0}));
}

TEST(Sizes, CutsOddSizesToWholeElements) {
  EXPECT_EQ(by_factor(9, 75, 2, 4), (Sizes{8, 16, 36, 72}));
  EXPECT_EQ(by_factor(9, 75, 2, 8), (Sizes{8, 16, 32, 72}));
  EXPECT_EQ(by_step(1001, 1003, 1, 1), (Sizes{1001, 1002, 1003}));
}

TEST(Sizes, ListsASizeOnceWhereSeveralAreCutToIt) {
  EXPECT_EQ(by_step(8, 20, 1, 4), (Sizes{8, 12, 16, 20}));
  EXPECT_EQ(by_step(8, 20, 1, 8), (Sizes{8, 16}));
  EXPECT_EQ(by_step(8, 20, 3, 8), (Sizes{8, 16}));
}

TEST(Sizes, NamesSizesThatHoldNoElement) {
  const SizeList list = list_sizes({1, 16, 0, 2}, 8);
  EXPECT_EQ(list.sizes, (Sizes{8, 16}));
  EXPECT_EQ(list.too_small, (Sizes{1, 2, 4}));
  const SizeList none = list_sizes({1, 3, 1, 1}, 4);
  EXPECT_TRUE(none.sizes.empty());
  EXPECT_EQ(none.too_small, (Sizes{1, 2, 3}));
}

TEST(Sizes, DoesNotCountZeroAsTooSmall) {
  const SizeList list = list_sizes({0, 4, 2, 1}, 4);
  EXPECT_EQ(list.sizes, (Sizes{0, 4}));
  EXPECT_EQ(list.too_small, (Sizes{2}));
}

TEST(Sizes, GoesBeyondTwoGibibytes) {
  EXPECT_EQ(by_factor(kGiB, 16 * kGiB, 2, 4), (Sizes{kGiB, 2 * kGiB, 4 * kGiB, 8 * kGiB, 16 * kGiB}));
  EXPECT_EQ(by_step(2 * kGiB + 4, 6 * kGiB + 4, 2 * kGiB, 4), (Sizes{2 * kGiB + 4, 4 * kGiB + 4, 6 * kGiB + 4}));
}

TEST(Sizes, EndsWhereTheNextSizeWouldOverflow) {
  constexpr Bytes kLargest = (Bytes{1} << 63) - 1;
  EXPECT_EQ(by_factor(Bytes{1} << 61, kLargest, 2, 8), (Sizes{Bytes{1} << 61, Bytes{1} << 62}));
  EXPECT_EQ(by_factor(Bytes{1} << 62, kLargest, 1000, 8), (Sizes{Bytes{1} << 62}));
  EXPECT_EQ(by_step(kLargest - 1, kLargest, kLargest, 1), (Sizes{kLargest - 1}));
  EXPECT_EQ(by_step(kLargest - 1, kLargest, 1, 1), (Sizes{kLargest - 1, kLargest}));
  constexpr Bytes kEnd = std::numeric_limits<Bytes>::max();
  EXPECT_EQ(by_step(kEnd - 1, kEnd, 1, 1), (Sizes{kEnd - 1, kEnd}));
  EXPECT_EQ(by_factor(kEnd / 2, kEnd, 3, 1), (Sizes{kEnd / 2, kEnd}));
}

TEST(Sizes, OfOneSizeNeedsNoStep) {
  EXPECT_EQ(by_step(64, 64, 0, 4), (Sizes{64}));
  EXPECT_EQ(by_factor(64, 64, 2, 4), (Sizes{64}));
  EXPECT_EQ(by_step(0, 0, 0, 4), (Sizes{0}));
}

TEST(Sizes, IsEmptyWhereTheFirstSizeIsAboveTheLast) { EXPECT_TRUE(by_step(64, 32, 8, 4).empty()); }

TEST(Sizes, AllowsAMillionSizesAndRefusesMore) {
  constexpr Bytes kMost = Bytes{1} << 20;
  EXPECT_EQ(by_step(1, kMost, 1, 1).size(), kMost);
  EXPECT_THROW((void)by_step(1, kMost + 1, 1, 1), UsageError);
  EXPECT_THROW((void)by_step(1, 2 * kMost, 1, 8 * kMost), UsageError) << "sizes that hold no element count too";
  try {
    (void)by_step(8, Bytes{1} << 40, 8, 4);
    ADD_FAILURE() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "a sweep from 8 to 1T in steps of 8 has more than 1048576 sizes; raise --step-bytes, or use --step-factor 2");
  }
}

}  // namespace sweep_test
