
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/options/command_line.h"
#include "common/options/program.h"

#include <CLI/CLI.hpp>

using namespace fabricbench;

namespace description_test {

TEST(CalledName, IsThatOfALinkWithAPrefix) {
  EXPECT_EQ(called_name("/usr/bin/fb_list_hosts", "list_hosts"), "fb_list_hosts");
  EXPECT_EQ(called_name("fb_list_hosts", "list_hosts"), "fb_list_hosts");
  EXPECT_EQ(called_name("build/list_hosts", "list_hosts"), "list_hosts");
}

TEST(CalledName, IsTheProgramsOwnWhereTheFileIsCalledOtherwise) {
  EXPECT_EQ(called_name("/tmp/a.out", "list_hosts"), "list_hosts");
  EXPECT_EQ(called_name("list_hosts/programs", "list_hosts"), "list_hosts");
}

TEST(WithCalledName, ChangesWholeWordsInExamplesOnly) {
  const std::string text =
      "Prints what list_hosts prints.\n  list_hosts -H a --like=list_hosts list_hosts\n  my_list_hosts\n";
  EXPECT_EQ(with_called_name(text, "list_hosts", "fb_list_hosts"),
            "Prints what list_hosts prints.\n  fb_list_hosts -H a --like=list_hosts fb_list_hosts\n  my_list_hosts\n");
  EXPECT_EQ(with_called_name(text, "list_hosts", "list_hosts"), text);
}

TEST(DescribeOptions, HasALineForEachOptionThatHelpLists) {
  CLI::App app("Does something.\n  tool -b 8\n      with eight", "tool");
  std::string text;
  bool flag = false;
  app.add_option("FILE", text, "what is read");
  app.add_option("-b,--min-bytes,--minbytes", text, "the first size")->option_text("SIZE");
  app.add_option("--place", text, "where")->option_text("WHERE")->type_name("in|out");
  app.add_flag("--quiet", flag, "say less");
  app.add_flag("--hidden", flag, "not for users")->group("");
  const std::string described = read_arguments(app, {"--describe-options"}, {}, "fb_tool");
  EXPECT_EQ(described,
            "name\tfb_tool\n"
            "about\tDoes something.\n"
            "about\t  fb_tool -b 8\n"
            "about\t      with eight\n"
            "argument\tFILE\twhat is read\n"
            "option\tOptions\t-b, --min-bytes\tSIZE\tthe first size\t\n"
            "option\tOptions\t--place\tWHERE\twhere\tin|out\n"
            "option\tOptions\t--quiet\t\tsay less\t\n"
            "option\tOptions\t-h, --help\t\tprint this help and exit\t\n"
            "option\tOptions\t--version\t\tprint the version and exit\t\n");
}

TEST(DescribeOptions, OfAProgramHasItsGroups) {
  const Program program = collective_program("all_reduce_perf", "Bandwidth.");
  const std::string text = parse_command_line(program, {"--describe-options"}, "fb_all_reduce_perf").text;
  EXPECT_EQ(text.rfind("name\tfb_all_reduce_perf\nabout\tBandwidth.\n", 0), 0U);
  EXPECT_NE(text.find("option\tMessage sizes\t-b, --minbytes\tSIZE\t"), std::string::npos);
  for (const char* words : {"\tpipelined|isolated\n", "\tall|sum|prod|min|max|avg|mulsum\n", "\tauto|mpi|nccl\n"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
}

TEST(CalledName, IsInHelpAndNotInVersion) {
  const Program program = collective_program("all_reduce_perf", "Bandwidth.");
  const std::string text = parse_command_line(program, {"--help"}, "fb_all_reduce_perf").text;
  EXPECT_NE(text.find("\nUsage: fb_all_reduce_perf [OPTIONS]"), std::string::npos);
  EXPECT_NE(text.find("  mpirun -np 16 fb_all_reduce_perf "), std::string::npos);
  EXPECT_EQ(parse_command_line(program, {"--version"}, "fb_all_reduce_perf").text.rfind("all_reduce_perf ", 0), 0U);
}

}  // namespace description_test
