#include "cluster/import/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cluster/import/failure.h"

using namespace fabricbench::cluster;

namespace import_text_test {

TEST(RateUnit, TellsBitsFromBytesAndThousandsFrom1024) {
  const std::vector<std::pair<const char*, double>> units = {
      {"B/s", 1},          {"GB/s", 1e9},         {"Gb/s", 1.25e8},      {"MiB/s", 1048576}, {"GiB/s", 1 << 30},
      {"Gbit/s", 1.25e8},  {"Gbits/sec", 1.25e8}, {"Mbits/sec", 125000}, {"kB/s", 1000},     {"KB/s", 1000},
      {"Tbit/s", 1.25e11}, {"bits/sec", 0.125},   {"Gbps", 1.25e8},      {"gbps", 1.25e8},   {"GBps", 1e9},
      {"MBytes/sec", 1e6}, {"Gib/s", 134217728},  {" MB/s ", 1e6}};
  for (const auto& [unit, bytes] : units) EXPECT_EQ(unit_in(unit), bytes) << unit;
}

TEST(RateUnit, IsNoneWhereItCouldBeTwo) {
  for (const char* unit : {"", "gb/s", "mb/s", "GB", "G/s", "/s", "s", "bandwidth", "us", "XB/s", "GB/min", "Gx/s"}) {
    EXPECT_EQ(unit_in(unit), std::nullopt) << unit;
  }
}

TEST(Lines, EndAnyWay) {
  TextLines lines("a\r\n\nb");
  std::vector<std::string> all;
  while (lines.next()) all.emplace_back(lines.line());
  EXPECT_EQ(all, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines.number(), 3);
  EXPECT_EQ(lines.end(), 5U);
  EXPECT_FALSE(TextLines("").next());
}

TEST(Lines, MayHaveLaunchersLabels) {
  EXPECT_EQ(without_label("[1,0]<stdout>:#  Rank"), "#  Rank");
  EXPECT_EQ(without_label("12: text"), "text");
  for (const char* line : {"[  5]   0.00-1.00", "12:text", ": x", "", "[1"}) EXPECT_EQ(without_label(line), line);
}

TEST(Numbers, AreWhole) {
  EXPECT_EQ(number_in("12.5"), 12.5);
  EXPECT_EQ(number_in("1e3"), 1000);
  for (const char* text : {"", "12x", "nan", "inf", "-inf", "1e999", "0x10", "1,5", "+"}) {
    EXPECT_EQ(number_in(text), std::nullopt) << text;
  }
  EXPECT_EQ(integer_in("42"), 42);
  EXPECT_EQ(integer_in("99999999999999999999"), std::nullopt);
  EXPECT_EQ(integer_in("1.5"), std::nullopt);
}

TEST(OneLine, IsPrintableAndShort) {
  EXPECT_EQ(one_line("  a\tb\x1b[31m\n"), "a b [31m");
  EXPECT_EQ(one_line("n\xc3\xa4"), "n??");
  EXPECT_EQ(one_line(std::string(1000, 'x')).size(), 240U);
}

TEST(Failure, IsToldByTheFirstLineThatTellsOne) {
  EXPECT_EQ(why_it_failed("starting\nCouldn't connect to n2:18515\nUnable to open\n"), "Couldn't connect to n2:18515");
  EXPECT_EQ(why_it_failed("a\nb\n\n"), "the log ends without a result, after 'b'");
  EXPECT_EQ(why_it_failed(" \n"), "the log is empty");
  EXPECT_EQ(why_it_failed("# columns  error\n"), "the log ends without a result, after '# columns  error'");
}

TEST(Failure, BehindAResultIsAnEndOfTheProgramOnly) {
  EXPECT_EQ(how_it_broke_off("ethernet_read_data: Couldn't read reports\n"), "");
  EXPECT_EQ(how_it_broke_off("x\nrank 1 exited on signal 9 (Killed)\n"), "rank 1 exited on signal 9 (Killed)");
}

}  // namespace import_text_test
