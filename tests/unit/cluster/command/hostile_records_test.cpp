// Records that somebody else made, as the readers of runs see them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/command/commands.h"
#include "cluster/command/launch_files.h"
#include "common/core/error.h"
#include "report_test_support.h"

using namespace fabricbench;
using namespace fabricbench::cluster;
using namespace std::string_view_literals;

namespace hostile_records_test {

class HostileRecords : public testing::Test {
 protected:
  /// What compare and table say of a file with this text, without its name and the advice at the end.
  std::vector<std::string> said_of(std::string_view text) {
    const std::string path = folder_.file("run.jsonl");
    std::ofstream(path, std::ios::binary) << text;
    return {message_of(path, [&] { static_cast<void>(launches_in(path)); }),
            message_of(path, [&] { static_cast<void>(print_table({path})); })};
  }

 private:
  template <typename Read>
  static std::string message_of(const std::string& path, const Read& read) {
    testing::internal::CaptureStdout();
    std::string message = "(read)";
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::kNotJudged);
      message = error.what();
    }
    static_cast<void>(testing::internal::GetCapturedStdout());  // what stands above a broken line
    if (message.starts_with(path)) message.erase(0, path.size());
    return message.substr(0, message.find("; give a "));
  }

  fabricbench::test::TemporaryFolder folder_;
};

std::vector<std::string> both(const std::string& message) { return {message, message}; }

std::string context(const std::string& host, const std::string& groups = "") {
  return fmt::format(
      R"({{"kind":"context","schema_version":1,"program":"p","hosts":[{{"name":"{}"}}],"rank_map":[{{"host":"{}"}}],)"
      R"("groups":[{{"ranks":"0","hosts":"{}"}}]}})"
      "\n",
      host, host, groups.empty() ? host : groups);
}

TEST_F(HostileRecords, NameNoHostThatIsNone) {
  for (const auto& [name, fault] : std::vector<std::pair<std::string, std::string>>{
           {"$(reboot)", "'$(reboot)' is no host: it has '$', which cannot be in a host's name"},
           {"-x", "'-x' is no host: it has a host's name that begins with '-', as options do"},
           {"a\\nb", "'a\uFFFDb' is no host: it has '\uFFFD', which cannot be in a host's name"},
           {"\\u001b[31mred", "'\uFFFD[31mred' is no host: it has '\uFFFD', which cannot be in a host's name"},
           {"=1+1", "'=1+1' is no host: it has '=', which cannot be in a host's name"}}) {
    EXPECT_EQ(said_of(context(name)), both(fmt::format(":1: this record is broken ({})", fault)));
  }
  EXPECT_EQ(said_of(context("node01", "node01, $(reboot)")),
            both(":1: this record is broken ('node01, $(reboot)' is no list of hosts)"));
  const std::string reading = R"("kind":"reading","from":0,"to":0,"from_host":"a","to_host":"a;b")";
  EXPECT_EQ(said_of(context("node01") + "{" + reading + "}\n")[0],
            ":2: this record is broken ('a;b' is no host: it has ';', which cannot be in a host's name)");
  const std::string row =
      R"("kind":"row","size_bytes":8,"group":0,"out_of_place":{"wires":[{"host":"-x","wire":"e0"}]})";
  EXPECT_EQ(said_of(context("node01") + "{" + row + "}\n")[0],
            ":2: this record is broken ('-x' is no host: it has a host's name that begins with '-', as options do)");
}

TEST_F(HostileRecords, OfEachKindHaveAMessageOfTheirOwn) {
  const std::string utf16 =
      ": the file is UTF-16, as PowerShell and some editors write; convert it with 'iconv -f UTF-16 -t UTF-8'";
  EXPECT_EQ(said_of("\xFF\xFE{\0\"\0k\0"sv), both(utf16));
  EXPECT_EQ(said_of("\xFE\xFF\0{\0\"\0k"sv), both(utf16));
  EXPECT_EQ(said_of("{\0\"\0k\0"sv), both(utf16));
  EXPECT_EQ(said_of("\x1F\x8B\x08\0"sv), both(": the file is compressed; unpack it with gunzip"));
  EXPECT_EQ(said_of("\0\0\0\0"sv), both(": the file is no text: it has bytes of 0"));
  EXPECT_EQ(said_of(""), both(": the file is empty"));
  for (const std::string_view text : {"\xEF\xBB\xBF"sv, "\n\n"sv, " \r\n"sv}) {
    for (const std::string& said : said_of(text)) EXPECT_TRUE(said.ends_with("the file is empty")) << said;
  }
  const std::string wrong_type = context("node01") + "{\"kind\":\"row\",\"size_bytes\":\"many\"}\n";
  EXPECT_EQ(said_of(wrong_type), both(":2: this record is broken (key 'size_bytes' has a value of the wrong type)"));
  EXPECT_EQ(said_of("\xEF\xBB\xBF" + wrong_type), said_of(wrong_type)) << "a byte order mark changes nothing";
  EXPECT_EQ(said_of("{\"kind\"\n")[1].substr(0, 22), ":1: this is no record ");
}

}  // namespace hostile_records_test
