#include "common/core/split.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/core/error.h"

using namespace fabricbench;

namespace split_test {

std::vector<std::uint64_t> colours(const std::string& rule, std::uint64_t processes) {
  const Split split = parse_split(rule);
  std::vector<std::uint64_t> all;
  for (std::uint64_t process = 0; process < processes; ++process) all.push_back(split.colour(process));
  return all;
}

using Colours = std::vector<std::uint64_t>;

TEST(Split, DealsProcessesOutByEachOfItsRules) {
  EXPECT_EQ(colours("AND 1", 6), (Colours{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(colours("AND 6", 8), (Colours{0, 0, 2, 2, 4, 4, 6, 6}));
  EXPECT_EQ(colours("OR 1", 6), (Colours{1, 1, 3, 3, 5, 5}));
  EXPECT_EQ(colours("OR 0", 3), (Colours{0, 1, 2}));
  EXPECT_EQ(colours("MOD 3", 7), (Colours{0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(colours("DIV 3", 7), (Colours{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(colours("DIV 1", 3), (Colours{0, 1, 2}));
  EXPECT_EQ(colours("MOD 1", 3), (Colours{0, 0, 0}));
  EXPECT_EQ(colours("AND 0", 3), (Colours{0, 0, 0}));
}

TEST(Split, IsReadInEverySpelling) {
  const struct {
    std::string text;
    std::string meaning;
  } cases[] = {{"AND 7", "AND 7"},       {"and 7", "AND 7"},
               {"And7", "AND 7"},        {"&7", "AND 7"},
               {"& 7", "AND 7"},         {"OR 2", "OR 2"},
               {"or2", "OR 2"},          {"|2", "OR 2"},
               {"MOD 4", "MOD 4"},       {"mod4", "MOD 4"},
               {"%4", "MOD 4"},          {"DIV 8", "DIV 8"},
               {"div8", "DIV 8"},        {"/8", "DIV 8"},
               {"/ 8", "DIV 8"},         {"  MOD   4  ", "MOD 4"},
               {"AND 0x7", "AND 7"},     {"AND0x1F", "AND 31"},
               {"AND 0XfF", "AND 255"},  {"& 0b101", "AND 5"},
               {"MOD 0B10", "MOD 2"},    {"MOD 010", "MOD 10"},
               {"AND 0", "AND 0"},       {"OR 0", "OR 0"},
               {"DIV 1000", "DIV 1000"}, {"AND 0xffffffffffffffff", "AND 18446744073709551615"}};
  for (const auto& [text, meaning] : cases) EXPECT_EQ(parse_split(text).text(), meaning) << text;
}

TEST(Split, OfItsOwnTextIsTheSame) {
  for (const std::string text : {"AND 7", "OR 0", "MOD 12", "DIV 18446744073709551615"}) {
    const Split split = parse_split(text);
    EXPECT_EQ(split.text(), text);
    EXPECT_EQ(parse_split(split.text()).operand, split.operand);
    EXPECT_EQ(parse_split(split.text()).rule, split.rule);
  }
}

std::string refusal(const std::string& text) {
  try {
    (void)parse_split(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused: '" << text << "'";
  return "";
}

TEST(Split, RefusesEverythingElseAndSaysWhatToWrite) {
  for (const std::string text : {"",
                                 " ",
                                 "7",
                                 "AND",
                                 "MOD ",
                                 "XOR 3",
                                 "MODULO 3",
                                 "AND -1",
                                 "AND +1",
                                 "MOD 1.5",
                                 "MOD 2 3",
                                 "MOD 2x",
                                 "AND 0x",
                                 "AND 0b",
                                 "AND 0b12",
                                 "AND 0xg",
                                 "MOD two",
                                 "&&3",
                                 "AND 99999999999999999999",
                                 "AND 0x10000000000000000",
                                 "MOD\t2",
                                 "3 MOD"}) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find("'" + text + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("AND, OR, MOD or DIV"), std::string::npos) << message;
  }
}

TEST(Split, RefusesToDivideByZero) {
  for (const std::string text : {"MOD 0", "DIV 0", "%0", "/ 0x0", "mod 0b0"}) {
    const std::string message = refusal(text);
    EXPECT_NE(message.find("'" + text + "'"), std::string::npos) << message;
    EXPECT_NE(message.find("divides by 0"), std::string::npos) << message;
  }
}

}  // namespace split_test
