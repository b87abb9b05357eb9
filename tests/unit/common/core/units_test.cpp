#include "common/core/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;

namespace units_test {

constexpr Bytes kLargestSize = (Bytes{1} << 63) - 1;

/// The message of the UsageError that `action` throws; empty where it throws none.
template <typename Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.status(), ExitStatus::kUsage);
    return error.what();
  }
  return "";
}

std::string refused_size(const std::string& text) {
  return refusal([&] { (void)parse_bytes(text); });
}

TEST(ParseBytes, ReadsANumberAndAtMostOneLetter) {
  const struct {
    std::string text;
    Bytes size;
  } cases[] = {{"0", 0},
               {"8", 8},
               {"32M", Bytes{32} << 20},
               {"32m", Bytes{32} << 20},
               {"1.5G", Bytes{3} << 29},
               {"0.5k", 512},
               {"1K", 1024},
               {"8T", Bytes{8} << 40},
               {"8t", Bytes{8} << 40},
               {"0G", 0},
               {"8.0", 8},
               {"007", 7},
               {"1e3", 1000},
               {"8B", 8},
               {"1MB", Bytes{1} << 20},
               {"1MiB", Bytes{1} << 20},
               {"1.5kB", 1536},
               {"4294967297", 4294967297},
               {"9007199254740993", 9007199254740993},  // 2^53 + 1: no double holds it
               {"9223372036854775807", kLargestSize},
               {"8388607T", Bytes{8388607} << 40}};
  for (const auto& [text, size] : cases) EXPECT_EQ(parse_bytes(text), size) << text;
}

TEST(ParseBytes, RefusesEverythingElseAndQuotesIt) {
  for (const std::string text :
       {"",     "abc",   "8x",       "8Mfoo", "8 GiB", "32MM",  "1k2",  "nan",   "inf",
        "infM", "-1",    "-1K",      "0x10",  "1.5",   "9e18G", "1e30", "1e999", "9223372036854775808",
        "8iB",  " 8",    "8 ",       "M",     "MiB",   ".",     "8Mb",  "8MBB",  "8Mi",
        "1,5M", "1.2.3", "8388608T", "0.3K"}) {
    const std::string message = refused_size(text);
    EXPECT_EQ(message.rfind("'" + text + "' is not a size", 0), 0U) << text << ": " << message;
    EXPECT_NE(message.find("; write a number with K, M, G or T, such as 8M"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(ParseBytes, SaysWhatIsWrong) {
  const std::string advice = "; write a number with K, M, G or T, such as 8M";
  EXPECT_EQ(refused_size("8x"), "'8x' is not a size" + advice);
  EXPECT_EQ(refused_size("1kib"), "'1kib' is not a size (a small b is for bits)" + advice);
  EXPECT_EQ(refused_size("-1"), "'-1' is not a size (it is negative)" + advice);
  EXPECT_EQ(refused_size("1.5"), "'1.5' is not a size of whole bytes" + advice);
  EXPECT_EQ(refused_size("9e18G"), "'9e18G' is not a size that fits in 63 bits" + advice);
}

TEST(ExactBytes, IsTheShortestFormOfASize) {
  EXPECT_EQ(exact_bytes(0), "0");
  EXPECT_EQ(exact_bytes(12), "12");
  EXPECT_EQ(exact_bytes(1023), "1023");
  EXPECT_EQ(exact_bytes(1024), "1K");
  EXPECT_EQ(exact_bytes(1536), "1536");
  EXPECT_EQ(exact_bytes(Bytes{64} << 20), "64M");
  EXPECT_EQ(exact_bytes(Bytes{3} << 30), "3G");
  EXPECT_EQ(exact_bytes(Bytes{1} << 40), "1T");
  EXPECT_EQ(exact_bytes(Bytes{1} << 50), "1024T");
}

TEST(ExactBytes, IsReadBackExactly) {
  std::vector<Bytes> sizes = {0, 1, 4095, 4097, kLargestSize, kLargestSize - 1023};
  for (unsigned power = 0; power < 63; ++power) {
    for (const Bytes odd : {Bytes{1}, Bytes{3}, Bytes{1023}}) {
      const Bytes size = odd << power;
      if (size >> power == odd && size <= kLargestSize - 1) sizes.insert(sizes.end(), {size - 1, size, size + 1});
    }
  }
  for (const Bytes size : sizes) EXPECT_EQ(parse_bytes(exact_bytes(size)), size) << exact_bytes(size);
}

TEST(ReadableBytes, HasAtMostOneDecimal) {
  EXPECT_EQ(readable_bytes(0), "0 B");
  EXPECT_EQ(readable_bytes(12), "12 B");
  EXPECT_EQ(readable_bytes(1023), "1023 B");
  EXPECT_EQ(readable_bytes(1024), "1 KiB");
  EXPECT_EQ(readable_bytes(Bytes{3} << 19), "1.5 MiB");
  EXPECT_EQ(readable_bytes(Bytes{5} << 30), "5 GiB");
  EXPECT_EQ(readable_bytes(Bytes{2048} << 40), "2048 TiB");
}

TEST(ReadableSeconds, ChoosesTheUnitThatSuits) {
  EXPECT_EQ(readable_seconds(850e-9), "850 ns");
  EXPECT_EQ(readable_seconds(12.3e-6), "12.3 us");
  EXPECT_EQ(readable_seconds(4.56e-3), "4.56 ms");
  EXPECT_EQ(readable_seconds(7.89), "7.89 s");
  EXPECT_EQ(readable_seconds(0), "0 ns");
  EXPECT_EQ(readable_seconds(-2e-3), "-2 ms");
}

TEST(ReadableSeconds, NeverShowsAnExponent) {
  for (const Seconds duration : {999.6e-9, 999.7e-6, 0.9996, 999.9, 1000.0, 3600.0, 86400.0}) {
    EXPECT_EQ(readable_seconds(duration).find("e+"), std::string::npos) << readable_seconds(duration);
  }
}

TEST(ParseInteger, ReadsWholeNumbersWithinTheLimits) {
  EXPECT_EQ(parse_integer("1", "-n", 1, 10), 1);
  EXPECT_EQ(parse_integer("10", "-n", 1, 10), 10);
  EXPECT_EQ(parse_integer("-1", "-r", -1, 10), -1);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(parse_integer("9223372036854775807", "--seed", 0, kMost), kMost);
}

TEST(ParseInteger, RefusesAndNamesTheOptionAndItsLimits) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { (void)parse_integer(text, "-n (iterations)", 1, 10); });
  };
  EXPECT_EQ(refused("0"), "0 is too small; -n (iterations) is at least 1");
  EXPECT_EQ(refused("11"), "11 is too large; -n (iterations) is at most 10");
  EXPECT_EQ(refused("99999999999999999999"), "99999999999999999999 is too large; -n (iterations) is at most 10");
  EXPECT_EQ(refused("-99999999999999999999"), "-99999999999999999999 is too small; -n (iterations) is at least 1");
  for (const std::string text : {"", "abc", "1x", "1.5", "0x1", " 1", "1 ", "1e3", "99999999999999999999x"}) {
    const std::string message = refused(text);
    EXPECT_NE(message.find("'" + text + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("-n (iterations)"), std::string::npos) << message;
  }
}

TEST(ParseNumber, ReadsFiniteNumbersWithinTheLimits) {
  EXPECT_EQ(parse_number("0.5", "-T", 0, 10), 0.5);
  EXPECT_EQ(parse_number("1e1", "-T", 0, 10), 10);
  EXPECT_EQ(parse_number("0", "-T", 0, 10), 0);
}

TEST(ParseNumber, RefusesAndNamesTheOptionAndItsLimits) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { (void)parse_number(text, "-T (timeout)", 0.5, 10); });
  };
  EXPECT_EQ(refused("0.25"), "0.25 is too small; -T (timeout) is at least 0.5");
  EXPECT_EQ(refused("-1"), "-1 is too small; -T (timeout) is at least 0.5");
  EXPECT_EQ(refused("10.5"), "10.5 is too large; -T (timeout) is at most 10");
  for (const std::string text : {"", "abc", "1x", "nan", "inf", "0x1", " 1", "1e999", "--1"}) {
    EXPECT_EQ(refused(text), "'" + text + "' is not a number; -T (timeout) is a number such as 10");
  }
}

TEST(ParseNumber, GivesAnExampleThatIsMoreThanNothingAndAllowed) {
  const auto example = [](double least, double most) {
    return refusal([&] { (void)parse_number("x", "it", least, most); });
  };
  EXPECT_EQ(example(0, 1e9), "'x' is not a number; it is a number such as 10");
  EXPECT_EQ(example(0, 5), "'x' is not a number; it is a number such as 1");
  EXPECT_EQ(example(0.001, 0.9), "'x' is not a number; it is a number such as 0.1");
  EXPECT_EQ(example(20, 30), "'x' is not a number; it is a number such as 20");
}

TEST(ParseInteger, GivesAnExampleThatIsMoreThanNothingAndAllowed) {
  const auto example = [](std::int64_t least, std::int64_t most) {
    return refusal([&] { (void)parse_integer("x", "it", least, most); });
  };
  EXPECT_EQ(example(0, 100), "'x' is not a whole number; it is a number such as 2");
  EXPECT_EQ(example(-1, 1), "'x' is not a whole number; it is a number such as 1");
  EXPECT_EQ(example(16, 32), "'x' is not a whole number; it is a number such as 16");
}

TEST(ReadableDuration, HasTheUnitThatPeopleWaitIn) {
  EXPECT_EQ(readable_duration(0.5), "0.5 s");
  EXPECT_EQ(readable_duration(9.4), "9 s");
  EXPECT_EQ(readable_duration(98.6), "99 s");
  EXPECT_EQ(readable_duration(720), "12 min");
  EXPECT_EQ(readable_duration(9000), "2.5 h");
}

}  // namespace units_test
