#include "manuals/manual.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace fabricbench::manuals;

namespace manuals_test {

const char* const kDescribed =
    "name\tfb_tool\n"
    "about\tReads a file.\n"
    "about\t  fb_tool --a 'x'\n"
    "about\t      an example\n"
    "argument\tFILE\twhat is read\n"
    "option\tOptions\t-b, --min-bytes\tSIZE\tit's the first: [8]\t\n"
    "option\tOptions\t--check\t0|1|all\tcheck\t\n"
    "option\tOptions\t--place\tWHERE\twhere\tin|out\n"
    "option\tOutput\t--json\tFILE\twrite\t\n"
    "option\tOutput\t--quiet\t\t.say less\t\n";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ReadManual, TakesEveryLine) {
  const Manual manual = read_manual(kDescribed);
  EXPECT_EQ(manual.name, "fb_tool");
  ASSERT_EQ(manual.about.size(), 3U);
  ASSERT_EQ(manual.arguments.size(), 1U);
  ASSERT_EQ(manual.options.size(), 5U);
  EXPECT_EQ(manual.options[0].names, (std::vector<std::string>{"-b", "--min-bytes"}));
  EXPECT_EQ(manual.options[0].value, "SIZE");
  EXPECT_EQ(manual.options[2].words, "in|out");
  EXPECT_EQ(manual.options[4].value, "");
  EXPECT_EQ(manual.options[4].group, "Output");
}

TEST(ReadManual, RefusesWhatIsNoDescription) {
  EXPECT_THROW(static_cast<void>(read_manual("")), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_manual("usage: something\n")), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_manual("name\ta\nabout\tb\n")), std::runtime_error) << "no options";
}

TEST(ReadCommands, FindsThemInTheHelp) {
  const std::vector<Command> commands = read_commands(
      "Works.\n\nusage: x COMMAND ...\n\n  compare    compare runs\n  table      print it\n\n'x' helps.\n");
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].name, "compare");
  EXPECT_EQ(commands[0].purpose, "compare runs");
  EXPECT_EQ(commands[1].name, "table");
}

TEST(OptionsInHelp, AreThoseThatLinesBeginWith) {
  const std::vector<DescribedOption> options = options_in_help(
      "usage: x [-h] -o FILE\n\n  -h, --help     show this\n  -o FILE, --output FILE\n         write --here\n  "
      "--force\n");
  ASSERT_EQ(options.size(), 3U);
  EXPECT_EQ(options[1].names, (std::vector<std::string>{"-o", "--output"}));
  EXPECT_EQ(options[1].value, "FILE");
  EXPECT_EQ(options[2].names, (std::vector<std::string>{"--force"}));
  EXPECT_EQ(options[2].value, "");
}

TEST(ManPage, EscapesWhatTroffTakesForItsOwn) {
  const std::string page = man_page(read_manual(kDescribed), "1.2");
  EXPECT_TRUE(has(page, ".TH \"fb_tool\" 1 \"\" \"fabricbench 1.2\""));
  EXPECT_TRUE(has(page, ".SH NAME\nfb_tool \\- Reads a file\n"));
  EXPECT_TRUE(has(page, "\\fB\\-b\\fR, \\fB\\-\\-min\\-bytes\\fR \\fISIZE\\fR\nit\\(aqs the first: [8]\n"));
  EXPECT_TRUE(has(page, "\n\\&.say less\n")) << page;
  EXPECT_TRUE(has(page, ".TP\n\\fBfb_tool \\-\\-a \\(aqx\\(aq\\fR\nan example\n"));
  EXPECT_TRUE(has(page, ".SH EXIT STATUS\n"));
}

TEST(ManPage, HasNoExitStatusTwice) {
  Manual manual = read_manual(kDescribed);
  manual.about.emplace_back("Exit status: 0 success.");
  EXPECT_FALSE(has(man_page(manual, "1.2"), ".SH EXIT STATUS"));
}

TEST(OptionsNamedInHelp, AreThoseOfAnotherCommand) {
  const std::vector<Command> others = {{"other", "", "usage: other\n\n  --rate X  rate\n  --rdma\n  --help\n"}};
  const std::vector<DescribedOption> options = options_named_in_help(
      "usage: x\n\n  --own  not How\n\nHow (see other --help): --rate,\n--rdma, --none\n\n--rdma\n", others);
  ASSERT_EQ(options.size(), 2U);
  EXPECT_EQ(options[0].names, (std::vector<std::string>{"--rate"}));
  EXPECT_EQ(options[0].value, "X");
  EXPECT_EQ(options[1].names, (std::vector<std::string>{"--rdma"}));
  EXPECT_TRUE(options_named_in_help("usage: x\n\n  --rdma  of its own\n", others).empty());
}

TEST(TakesFiles, IsReadFromTheUsage) {
  EXPECT_TRUE(takes_files("usage: x [OPTION]... FILE -- COMMAND...\n"));
  EXPECT_TRUE(takes_files("Compares.\nUsage: x compare [OPTIONS] [files...]\n\n"));
  EXPECT_TRUE(takes_files("usage: x plot [-h] [--title TEXT]\n      RUN.jsonl [RUN.jsonl ...]\n\nDraws.\n"));
  EXPECT_FALSE(takes_files("usage: x check [--record FILE]\n       [--part NAME]\n\n  --record FILE  write\n"));
  EXPECT_FALSE(takes_files("Which file?\n  a  reads a file\n"));
}

std::vector<Manual> with_front() {
  Manual tool = read_manual(kDescribed);
  tool.launched = true;
  Manual front;
  front.name = "fabricbench";
  front.about = {"Starts."};
  front.commands = {{"run", "run one", "usage: x\n\n  --hosts LIST  hosts\n  --help\n"}};
  front.scripts = {{"accept", "a cluster: all", "usage: x accept\n\n  --time TIME  time\n"}};
  return {tool, front};
}

TEST(Completion, ForBashSaysWhatEachOptionTakes) {
  const std::string text = bash_completion(with_front(), "fb_");
  EXPECT_TRUE(has(text,
                  "        tool) words='-b:- --min-bytes:- --check:0|1|all --place:in|out --json:file --quiet:' "
                  "files=yes launched=yes ;;\n"))
      << text;
  EXPECT_TRUE(has(text, "        accept) words='--time:-' files=no launched=no ;;\n"));
  EXPECT_TRUE(has(text, "    commands='run'\n    programs='tool accept'\n    launch_options='--hosts:-'\n"));
  EXPECT_TRUE(has(text, "complete -o filenames -F _fabricbench fb_tool tool fabricbench\n"));
}

TEST(Completion, ForZshQuotesTheHelp) {
  const std::string text = zsh_completion(with_front(), "fb_");
  EXPECT_EQ(text.rfind("#compdef fb_tool tool fabricbench\n", 0), 0U);
  EXPECT_TRUE(has(text, "'--min-bytes=[it'\\''s the first\\: \\[8\\]]:SIZE: '"));
  EXPECT_TRUE(has(text, "'--check=[check]:0|1|all:(0 1 all)'"));
  EXPECT_TRUE(has(text, "'--place=[where]:WHERE:(in out)'"));
  EXPECT_TRUE(has(text, "'--json=[write]:FILE:_files'"));
  EXPECT_TRUE(has(text, "'--quiet[.say less]'"));
  EXPECT_TRUE(has(text, "'accept:a cluster\\: all'"));
  EXPECT_TRUE(has(text, "'--hosts=[]:LIST: '"));
  EXPECT_TRUE(has(text, "'--time[]:TIME: '")) << "scripts do not take --time=20m";
}

TEST(Completion, ForFishHasBothNamesOfAnOption) {
  const std::string text = fish_completion(read_manual(kDescribed));
  EXPECT_TRUE(has(text, "complete -c fb_tool -s b -l min-bytes -x -d 'it'\\''s the first: [8]'\n"));
  EXPECT_TRUE(has(text, "complete -c fb_tool -l check -x -a '0 1 all' -d 'check'\n"));
  EXPECT_TRUE(has(text, "complete -c fb_tool -l place -x -a 'in out' -d 'where'\n"));
  EXPECT_FALSE(has(text, "complete -c fb_tool -f\n")) << "it takes files";
}

TEST(Completion, ForFishHasProgramsBehindRun) {
  const std::string text = fish_completion_of_front(with_front(), "fb_");
  EXPECT_TRUE(has(text, "complete -c fabricbench -n '__fabricbench_is \"\" help run' -a tool -d 'Reads a file.'\n"));
  EXPECT_TRUE(has(text, "complete -c fabricbench -n '__fabricbench_is \"\" help' -a run -d 'run one'\n"));
  EXPECT_TRUE(has(text, "complete -c fabricbench -n '__fabricbench_is accept' -l time -x\n"));
  EXPECT_TRUE(has(text, "complete -c fabricbench -n '__fabricbench_is tool' -l hosts -x\n"));
  EXPECT_TRUE(has(text, "complete -c fabricbench -n '__fabricbench_is tool' -F\n"));
}

}  // namespace manuals_test
