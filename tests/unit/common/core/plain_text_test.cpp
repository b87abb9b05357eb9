#include "common/core/plain_text.h"

#include <gtest/gtest.h>

#include <string>

using namespace fabricbench;

namespace plain_text_test {

const std::string kReplaced = "\xEF\xBF\xBD";

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text :
       {"", "node01", "a b~", "m\u00fcller", "\u6f22\u5b57", "\U0001F600", "\u00a0", "\uFFFD", "\U0010FFFF"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(CutShort, KeepsBothEndsOfALongText) {
  EXPECT_EQ(cut_short("12345678", 8), "12345678");
  EXPECT_EQ(cut_short("1234567890", 4), "12 [6 bytes left out] 90");
  EXPECT_EQ(cut_short("12345", 0), " [5 bytes left out] ");
}

TEST(Printable, HasNoControlCharactersAndKeepsToItsLine) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a" + kReplaced + "[2Jb");
  EXPECT_EQ(printable("x\nSlow: good\r\t"), "x" + kReplaced + "Slow: good" + kReplaced + kReplaced);
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a" + kReplaced + "b");
  EXPECT_EQ(printable("\x7f\u0080\u009f\u009b"), kReplaced + kReplaced + kReplaced + kReplaced) << "C1, as CSI is";
  EXPECT_EQ(printable("\u202e\u2066\u2028\u200b\ufeff"), kReplaced + kReplaced + kReplaced + kReplaced + kReplaced);
}

TEST(Printable, HasNoBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff"), "a" + kReplaced);
  EXPECT_EQ(printable("\xc0\x8a"), kReplaced + kReplaced) << "a line feed, written too long";
  EXPECT_EQ(printable("\xe0\x80\x8a"), kReplaced + kReplaced + kReplaced) << "the same in three bytes";
  EXPECT_EQ(printable("\xf0\x80\x80\x8a"), kReplaced + kReplaced + kReplaced + kReplaced);
  EXPECT_EQ(printable("\xed\xa0\x80"), kReplaced + kReplaced + kReplaced) << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), kReplaced + kReplaced + kReplaced + kReplaced) << "above U+10FFFF";
  EXPECT_EQ(printable("m\xc3"), "m" + kReplaced) << "cut off";
  EXPECT_EQ(printable("\xc3m"), kReplaced + "m");
}

TEST(FaultOfEncoding, TellsWhatIsNoTextInUtf8) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"\xFF\xFE{\0"sv, "\xFE\xFF\0{"sv, "{\0\"\0"sv, "\0{\0\""sv}) {
    EXPECT_EQ(fault_of_encoding(text).substr(0, 9), "is UTF-16");
  }
  EXPECT_EQ(fault_of_encoding("\x1F\x8B\x08\0"sv), "is compressed; unpack it with gunzip");
  EXPECT_EQ(fault_of_encoding("{}\0\0"sv), "is no text: it has bytes of 0");
  for (const std::string_view text : {""sv, "x"sv, "{\"kind\":"sv, "\xEF\xBB\xBF{"sv})
    EXPECT_EQ(fault_of_encoding(text), "");
}

TEST(ShellWord, IsQuotedUnlessItIsSafe) {
  EXPECT_EQ(shell_word("alice@node01.rack-2:8"), "alice@node01.rack-2:8");
  EXPECT_EQ(shell_word("node[01-08]"), "'node[01-08]'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("a; rm -rf $HOME"), "'a; rm -rf $HOME'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("~root"), "'~root'");
  EXPECT_EQ(shell_word("#x"), "'#x'");
}

}  // namespace plain_text_test
