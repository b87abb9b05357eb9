#include "common/core/datatype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "common/core/pattern.h"

using namespace fabricbench;

namespace datatype_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::uint16_t half(float value) { return to_half(value).bits; }
std::uint16_t bfloat(float value) { return to_bfloat16(value).bits; }

/// `value` rounded once to nearest even, to `digits` bits of mantissa and exponents from `least` to `most`.
double rounded(double value, int digits, int least, int most) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(value), least) - (digits - 1));
  const double result = std::nearbyint(value / unit) * unit;
  return std::abs(result) >= std::ldexp(1.0, most + 1) ? std::copysign(INFINITY, value) : result;
}
double rounded_to_half(double value) { return rounded(value, 11, -14, 15); }
double rounded_to_bfloat16(double value) { return rounded(value, 8, -126, 127); }

double rounded_to_f8e4m3(double value) { return rounded(value, 4, -6, 8); }
double rounded_to_f8e5m2(double value) { return rounded(value, 3, -14, 15); }

TEST(Half, EveryValueSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Half value{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(value);
    if ((bits & 0x7fffU) > 0x7c00U) {
      EXPECT_TRUE(std::isnan(wide) && std::isnan(to_float(to_half(wide)))) << bits;
    } else {
      EXPECT_EQ(half(wide), bits);
    }
  }
}

TEST(Bfloat16, EveryValueSurvivesTheWayThroughFloat) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Bfloat16 value{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(value);
    if ((bits & 0x7fffU) > 0x7f80U) {
      EXPECT_TRUE(std::isnan(wide) && std::isnan(to_float(to_bfloat16(wide)))) << bits;
    } else {
      EXPECT_EQ(bfloat(wide), bits);
    }
  }
}

/// What a code means by the definition of a format with `mantissa` bits of mantissa (Open Compute Project, OFP8).
double value_of_code(std::uint32_t code, int mantissa, int bias) {
  const auto fraction = static_cast<int>(code & ((1U << mantissa) - 1));
  const auto exponent = static_cast<int>((code & 0x7fU) >> mantissa);
  const int whole = exponent == 0 ? fraction : fraction + (1 << mantissa);
  const double value = std::ldexp(whole, std::max(exponent, 1) - bias - mantissa);
  return (code & 0x80U) != 0 ? -value : value;
}

TEST(F8e4m3, EveryCodeHasItsValueAndSurvivesTheWayThroughFloat) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    const F8e4m3 element{static_cast<std::uint8_t>(code)};
    const float wide = to_float(element);
    if ((code & 0x7fU) == 0x7fU) {
      EXPECT_TRUE(std::isnan(wide)) << code;
      continue;
    }
    EXPECT_EQ(wide, value_of_code(code, 3, 7)) << code;
    EXPECT_EQ(std::signbit(wide), code >= 128) << code;
    EXPECT_EQ(small_float<F8e4m3>(wide).bits, code);
  }
  EXPECT_EQ(to_float(F8e4m3{0x7e}), 448.0F) << "the largest; there are no infinities";
}

TEST(F8e5m2, EveryCodeHasItsValueAndSurvivesTheWayThroughFloat) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    const F8e5m2 element{static_cast<std::uint8_t>(code)};
    const float wide = to_float(element);
    if ((code & 0x7fU) > 0x7cU) {
      EXPECT_TRUE(std::isnan(wide)) << code;
    } else if ((code & 0x7fU) == 0x7cU) {
      EXPECT_EQ(wide, code < 128 ? kInfinity : -kInfinity);
    } else {
      EXPECT_EQ(wide, value_of_code(code, 2, 15)) << code;
      EXPECT_EQ(std::signbit(wide), code >= 128) << code;
      EXPECT_EQ(small_float<F8e5m2>(wide).bits, code);
    }
  }
  EXPECT_EQ(to_float(F8e5m2{0x7b}), 57344.0F) << "the largest";
}

/// Half way between each two neighbours, and the floats next to that.
template <typename T>
void expect_ties_to_even(std::uint32_t largest) {
  for (std::uint32_t code = 0; code < largest; ++code) {
    const float low = to_float(T{static_cast<std::uint8_t>(code)});
    const float high = to_float(T{static_cast<std::uint8_t>(code + 1)});
    const float middle = (low + high) / 2;
    const std::uint32_t even = code % 2 == 0 ? code : code + 1;
    EXPECT_EQ(small_float<T>(middle).bits, even) << middle;
    EXPECT_EQ(small_float<T>(-middle).bits, even | 0x80U) << -middle;
    EXPECT_EQ(small_float<T>(std::nextafter(middle, 0.0F)).bits, code) << middle;
    EXPECT_EQ(small_float<T>(std::nextafter(middle, kInfinity)).bits, code + 1) << middle;
  }
}

TEST(F8, RoundsToTheNearestAndTiesToTheEvenNeighbour) {
  expect_ties_to_even<F8e4m3>(0x7e);
  expect_ties_to_even<F8e5m2>(0x7b);
}

TEST(F8, RoundsLikeExactArithmeticForRandomFloats) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200000; ++trial) {
    const int exponent = static_cast<int>(random() % 40) - 25;
    const double fraction = 1 + static_cast<double>(random() % (1U << 23)) * 0x1p-23;
    const auto value = static_cast<float>(std::ldexp(trial % 2 == 0 ? fraction : -fraction, exponent));
    if (std::abs(value) <= 448) {
      ASSERT_EQ(to_float(to_f8e4m3(value)), rounded_to_f8e4m3(value)) << value;
    }
    if (std::abs(value) <= 57344) {
      ASSERT_EQ(to_float(to_f8e5m2(value)), rounded_to_f8e5m2(value)) << value;
    }
  }
}

TEST(Half, HasTheBitsOfIeee754) {
  const struct {
    float value;
    std::uint16_t bits;
  } cases[] = {{0.0F, 0x0000},     {-0.0F, 0x8000},     {1.0F, 0x3c00},        {-2.0F, 0xc000},
               {65504.0F, 0x7bff}, {0x1p-14F, 0x0400},  {0x1p-24F, 0x0001},    {0x1.ff8p-15F, 0x03ff},
               {2048.0F, 0x6800},  {0.5F, 0x3800},      {kInfinity, 0x7c00},   {-kInfinity, 0xfc00},
               {65519.9F, 0x7bff}, {65520.0F, 0x7c00},  {65536.0F, 0x7c00},    {-1e30F, 0xfc00},
               {0x1p-25F, 0x0000}, {-0x1p-25F, 0x8000}, {0x1.000002p-25F, 1},  {0x1.8p-24F, 0x0002},
               {0x1p-26F, 0x0000}, {1e-40F, 0x0000},    {0x1.ffcp-15F, 0x0400}};
  for (const auto& [value, bits] : cases) EXPECT_EQ(half(value), bits) << value;
}

TEST(Half, RoundsTiesToTheEvenNeighbour) {
  EXPECT_EQ(half(2049.0F), half(2048.0F));
  EXPECT_EQ(half(2051.0F), half(2052.0F));
  EXPECT_EQ(half(1.0F + 0x1p-11F), 0x3c00);
  EXPECT_EQ(half(1.0F + 0x3p-11F), 0x3c02);
  EXPECT_EQ(half(1.0F + 0x1.002p-11F), 0x3c01) << "above the tie";
}

TEST(Bfloat16, HasTheUpperBitsOfFloatRounded) {
  const struct {
    float value;
    std::uint16_t bits;
  } cases[] = {{0.0F, 0x0000},
               {-0.0F, 0x8000},
               {1.0F, 0x3f80},
               {-2.0F, 0xc000},
               {256.0F, 0x4380},
               {257.0F, 0x4380},
               {259.0F, 0x4382},
               {257.01F, 0x4381},
               {kInfinity, 0x7f80},
               {1e-40F, 0x0001},
               {3.3961e38F, 0x7f7f},
               {3.3962e38F, 0x7f80},
               {std::numeric_limits<float>::max(), 0x7f80},
               {0x1p-133F, 1},
               {0x1p-134F, 0x0000},
               {-kInfinity, 0xff80}};
  for (const auto& [value, bits] : cases) EXPECT_EQ(bfloat(value), bits) << value;
}

TEST(HalfAndBfloat16, RoundLikeExactArithmeticForRandomFloats) {
  std::mt19937 random(42);
  for (int trial = 0; trial < 500000; ++trial) {
    // Half of the trials stay where binary16 has values.
    auto bits = static_cast<std::uint32_t>(random());
    if (trial % 2 == 0) bits = (bits & 0x807fffffU) | (100U + bits % 45U) << 23;
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    ASSERT_EQ(to_float(to_half(value)), rounded_to_half(value)) << value;
    ASSERT_EQ(to_float(to_bfloat16(value)), rounded_to_bfloat16(value)) << value;
  }
}

TEST(HalfAndBfloat16, KeepNotANumberWhateverItsPayload) {
  for (const std::uint32_t bits : {0x7fc00000U, 0x7f800001U, 0xff800001U, 0x7fffffffU, 0xffffffffU, 0x7f80ffffU}) {
    const auto value = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(to_float(to_half(value)))) << bits;
    EXPECT_TRUE(std::isnan(to_float(to_bfloat16(value)))) << bits;
  }
}

TEST(DataTypeFacts, AreInTheOrderAndSpellingOfNcclTests) {
  const std::vector<std::string> names = {"int8", "uint8", "int32",  "uint32",   "int64",  "uint64",
                                          "half", "float", "double", "bfloat16", "f8e4m3", "f8e5m2"};
  ASSERT_EQ(kDataTypes.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(kDataTypes[i].name, names[i]);
    EXPECT_EQ(&facts(kDataTypes[i].type), &kDataTypes[i]);
    with_type(kDataTypes[i].type, [&]<typename T>(std::type_identity<T>) { EXPECT_EQ(sizeof(T), kDataTypes[i].size); });
  }
  EXPECT_EQ(name(Reduction::kSum), "sum");
  EXPECT_EQ(name(Reduction::kProd), "prod");
  EXPECT_EQ(name(Reduction::kMin), "min");
  EXPECT_EQ(name(Reduction::kMax), "max");
  EXPECT_EQ(name(Reduction::kAvg), "avg");
  EXPECT_EQ(name(Reduction::kMulSum), "mulsum");
  EXPECT_EQ(name(Reduction::kNone), "none");
}

/// The whole number that an element is.
template <typename T>
std::uint64_t whole(T element) {
  if constexpr (kIsSmallFloat<T>) {
    return static_cast<std::uint64_t>(to_float(element));
  } else {
    return static_cast<std::uint64_t>(element);
  }
}

TEST(LargestExact, IsExactAndSoIsEverythingBelow) {
  for (const DataTypeFacts& type : kDataTypes) {
    with_type(type.type, [&]<typename T>(std::type_identity<T>) {
      const std::uint64_t largest = type.largest_exact;
      for (std::uint64_t n = 0; n <= 70000 && n <= largest; ++n) ASSERT_EQ(whole(from_integer<T>(n)), n) << type.name;
      for (std::uint64_t n = largest; n > 0 && largest - n < 70000; --n) {
        ASSERT_EQ(whole(from_integer<T>(n)), n) << type.name;
      }
    });
  }
}

TEST(LargestExact, IsTheLargestOfTheFloatingPointTypes) {
  EXPECT_NE(whole(from_integer<Half>(facts(DataType::kHalf).largest_exact + 1)), 2049U);
  EXPECT_NE(whole(from_integer<Bfloat16>(facts(DataType::kBfloat16).largest_exact + 1)), 257U);
  EXPECT_NE(whole(from_integer<F8e4m3>(facts(DataType::kF8e4m3).largest_exact + 1)), 17U);
  EXPECT_NE(whole(from_integer<F8e5m2>(facts(DataType::kF8e5m2).largest_exact + 1)), 9U);
  EXPECT_NE(whole(from_integer<float>(facts(DataType::kFloat).largest_exact + 1)), (1U << 24) + 1);
  EXPECT_NE(whole(from_integer<double>(facts(DataType::kDouble).largest_exact + 1)), (std::uint64_t{1} << 53) + 1);
}

TEST(Divided, CutsIntegersOff) {
  EXPECT_EQ(divided<std::int32_t>(7, 2), 3);
  EXPECT_EQ(divided<std::uint64_t>(std::uint64_t{1} << 62, 3), (std::uint64_t{1} << 62) / 3);
  EXPECT_EQ(divided<std::int8_t>(127, 100), 1);
  EXPECT_EQ(divided<std::uint8_t>(127, 200), 0);
}

TEST(Divided, ByMoreRanksThanTheTypeHoldsIsZeroForIntegers) {
  EXPECT_EQ(divided<std::int8_t>(127, 128), 0);
  EXPECT_EQ(divided<std::int8_t>(127, 255), 0);   // 255 is -1 as int8
  EXPECT_EQ(divided<std::uint8_t>(127, 257), 0);  // 257 is 1 as uint8
}

TEST(DividedDeathTest, ByTwoHundredAndFiftySixRanksDoesNotCrash) {
  EXPECT_EXIT(
      {
        const volatile int ranks = 256;  // 0 as uint8
        std::_Exit(divided<std::uint8_t>(127, ranks) + divided<std::int8_t>(127, ranks));
      },
      testing::ExitedWithCode(0), "");
}

TEST(Divided, RoundsFloatingPointOnce) {
  EXPECT_EQ(divided(1.0F, 3), 1.0F / 3.0F);
  EXPECT_EQ(divided(10.0, 4), 2.5);
  for (const int ranks : {1, 2, 3, 5, 7, 12, 16, 100, 1000, 2048, 4096, 4099, 10007, 16384}) {
    for (std::uint64_t n = 0; n <= 2048; ++n) {
      const double quotient = static_cast<double>(n) / ranks;
      ASSERT_EQ(to_float(divided(from_integer<Half>(n), ranks)), rounded_to_half(quotient)) << n << "/" << ranks;
      if (n > 256) continue;
      ASSERT_EQ(to_float(divided(from_integer<Bfloat16>(n), ranks)), rounded_to_bfloat16(quotient))
          << n << "/" << ranks;
      if (n > 16) continue;
      ASSERT_EQ(to_float(divided(from_integer<F8e4m3>(n), ranks)), rounded_to_f8e4m3(quotient)) << n << "/" << ranks;
      if (n > 8) continue;
      ASSERT_EQ(to_float(divided(from_integer<F8e5m2>(n), ranks)), rounded_to_f8e5m2(quotient)) << n << "/" << ranks;
    }
  }
}

}  // namespace datatype_test
