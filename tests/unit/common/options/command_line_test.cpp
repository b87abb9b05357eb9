#include "common/options/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "common/core/version.h"
#include "option_test_support.h"

using namespace fabricbench;
using test::parsed;
using test::refusal;
using test::refusal_of;
using test::words;

namespace command_line_test {

/// What no option can mean, and the word of it that the message must have.
const struct {
  std::string line;
  std::string named;
} kNonsense[] = {{"--no-such-option", "--no-such-option"},
                 {"-Q", "-Q"},
                 {"-Q 3", "-Q"},
                 {"--minbyte 8", "--minbyte"},
                 {"stray", "'stray'"},
                 {"8 16", "'8'"},
                 {"-b 8 -e 1K extra", "'extra'"},
                 {"-b", "--minbytes"},
                 {"-n 5 --maxbytes", "--maxbytes"},
                 {"-b abc", "'abc'"},
                 {"-b -1", "'-1'"},
                 {"--minbytes=-1", "'-1'"},
                 {"-b 8x", "'8x'"},
                 {"-e 8Mfoo", "'8Mfoo'"},
                 {"-f 0", "--step-factor"},
                 {"-f 1.5", "'1.5'"},
                 {"-f -2", "-2"},
                 {"-n 0", "-n"},
                 {"-n abc", "'abc'"},
                 {"-n -5", "-5"},
                 {"-n 99999999999", "99999999999"},
                 {"-w -1", "--warmup-iters"},
                 {"-m 0", "-m"},
                 {"-N -1", "--run-cycles"},
                 {"-d floaty", "'floaty'"},
                 {"-d FLOAT", "'FLOAT'"},
                 {"-o median", "'median'"},
                 {"-r -2", "-2"},
                 {"-r any", "'any'"},
                 {"--timing fast", "'fast'"},
                 {"--order random", "'random'"},
                 {"--buffers hot", "'hot'"},
                 {"--placement inside", "'inside'"},
                 {"--backend verbs", "'verbs'"},
                 {"-a 9", "9"},
                 {"-z 7", "7"},
                 {"-C 2", "2"},
                 {"-S yes", "'yes'"},
                 {"-c -1", "-1"},
                 {"-u -1", "-1"},
                 {"-T -1", "-1"},
                 {"-T soon", "'soon'"},
                 {"-t 0", "-t"},
                 {"-g 0", "-g"},
                 {"-G x", "'x'"},
                 {"-R 3", "3"},
                 {"-V 0", "-V"},
                 {"-D 5", "-D"},
                 {"-I 2", "-I"},
                 {"-K -1", "-K"},
                 {"-p 2", "-p"},
                 {"-M 2", "-M"},
                 {"--memory gpu", "'gpu'"},
                 {"--device -1", "--device"},
                 {"--split XOR", "'XOR'"},
                 {"--split MOD0", "'MOD0'"},
                 {"-d f8", "'f8'"},
                 {"--epochs 0", "--epochs"},
                 {"--target-precision 0", "--target-precision"},
                 {"--time-budget 0", "--time-budget"},
                 {"--seed -1", "--seed"},
                 {"--min-bw nan", "'nan'"}};

TEST(CommandLine, RefusesWhatNoOptionCanMeanAndNamesIt) {
  for (const auto& [line, named] : kNonsense) {
    const std::string message = refusal(line);
    EXPECT_NE(message.find(named), std::string::npos) << line << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(CommandLine, RefusesCombinationsThatMakeNoSense) {
  const struct {
    std::string line;
    std::vector<std::string> named;
  } cases[] = {{"-b 1G -e 1M", {"--min-bytes 1G", "--max-bytes 1M"}},
               {"-e 8", {"--min-bytes 32M", "--max-bytes 8"}},
               {"-b 8 -e 1K -i 0", {"--step-bytes 0"}},
               {"-n 20 --epochs 12", {"-n", "20", "--epochs"}},
               {"-n 20 --order interleaved", {"-n", "--order interleaved"}},
               {"--timing isolated -z 1", {"-z", "--timing isolated"}},
               {"-G 2 -I 1", {"-G", "-I"}},
               {"-G 2 -z 1", {"-G", "-z"}},
               {"-G 2 --timing isolated", {"-G", "--timing isolated"}}};
  for (const auto& [line, named] : cases) {
    const std::string message = refusal(line);
    for (const std::string& word : named) EXPECT_NE(message.find(word), std::string::npos) << line << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(CommandLine, NamesOptionsOfABadCombinationAsTheyAreTyped) {
  EXPECT_NE(refusal("-n 20 --target-precision 1").find("--target-precision"), std::string::npos);
  EXPECT_NE(refusal("--time-budget 3 -n 20").find("--time-budget"), std::string::npos);
}

TEST(CommandLine, AcceptsWhatOnlyLooksLikeABadCombination) {
  EXPECT_NO_THROW((void)parsed("-i 0"));
  EXPECT_NO_THROW((void)parsed("-b 8 -e 1K -i 0 -f 2"));
  EXPECT_NO_THROW((void)parsed("-n 20 --order sequential"));
  EXPECT_NO_THROW((void)parsed("-n 20 --timing isolated"));
  EXPECT_NO_THROW((void)parsed("-b 0 -e 0"));
}

TEST(CommandLine, SaysThatAnOptionIsUnknownAndHowToSeeThemAll) {
  EXPECT_EQ(refusal("--no-such-option"), "unknown option '--no-such-option'; --help lists them all");
  EXPECT_EQ(refusal("stray"), "stray argument 'stray'; --help says what may be given");
}

TEST(CommandLine, NamesAnOptionWhoseValueIsMissing) {
  EXPECT_NE(refusal("--json").find("--json"), std::string::npos);
  EXPECT_NE(refusal_of({"--json="}).find("--json"), std::string::npos);
  EXPECT_NE(refusal_of({"--json", ""}).find("--json"), std::string::npos);
  EXPECT_NE(refusal_of({"-J", ""}).find("-J"), std::string::npos);
}

TEST(CommandLine, TakesNoOptionForTheValueOfAnother) {
  EXPECT_NE(refusal("-b -e 8").find("-b"), std::string::npos) << refusal("-b -e 8");
  EXPECT_NE(refusal("--json --force").find("--json"), std::string::npos) << "a file named --force is nobody's wish";
}

TEST(CommandLine, RefusesAValueForAFlag) {
  for (const std::string line : {"--force=maybe", "--quiet=false", "--samples=0"}) {
    const std::string message = refusal(line);
    EXPECT_NE(message.find(line.substr(2, line.find('=') - 2)), std::string::npos) << line << ": " << message;
  }
}

TEST(CommandLine, TakesFileNamesWithBlanksAndEqualsSigns) {
  const CommandLine line = parse_command_line(test::kAllReduce, {"--json", "a b=c.json", "--csv=x=y.csv"});
  EXPECT_EQ(line.options.output.json_file, "a b=c.json");
  EXPECT_EQ(line.options.output.csv_file, "x=y.csv");
}

TEST(CommandLine, RunsWhereNoTextIsAskedFor) {
  EXPECT_TRUE(parse_command_line(test::kAllReduce, words("-b 8 -e 8")).text.empty());
}

TEST(Version, IsPrintedWithTheProgramsName) {
  EXPECT_EQ(parse_command_line(test::kAllReduce, {"--version"}).text,
            "all_reduce_perf (fabricbench) " + std::string(kVersion) + "\n");
}

class Help : public testing::Test {
 protected:
  const std::string text_ = parse_command_line(test::kAllReduce, {"--help"}).text;
  const std::string in_one_line_ = test::help_in_one_line(test::kAllReduce);

  /// The lines that begin with `start` after blanks.
  [[nodiscard]] std::vector<std::string> lines_with(const std::string& start) const {
    std::vector<std::string> found;
    std::istringstream stream(text_);
    for (std::string line; std::getline(stream, line);) {
      const std::size_t first = line.find_first_not_of(' ');
      if (first != std::string::npos && line.compare(first, start.size(), start) == 0) found.push_back(line);
    }
    return found;
  }
};

TEST_F(Help, IsTheSameByLetterAndName) { EXPECT_EQ(parse_command_line(test::kAllReduce, {"-h"}).text, text_); }

TEST_F(Help, ComesEvenWithOtherOptions) {
  EXPECT_FALSE(parse_command_line(test::kAllReduce, words("-b 8 --help")).text.empty());
}

TEST_F(Help, NamesTheProgramAndItsVersion) {
  EXPECT_NE(text_.find("all_reduce_perf"), std::string::npos);
  EXPECT_NE(text_.find(kVersion), std::string::npos);
  EXPECT_NE(text_.find("mpirun"), std::string::npos);
}

TEST_F(Help, HasEachHeadingOnce) {
  for (const auto group : {OptionGroup::kSizes, OptionGroup::kData, OptionGroup::kMeasuring, OptionGroup::kBuffers,
                           OptionGroup::kBackend, OptionGroup::kGpus, OptionGroup::kOutput}) {
    EXPECT_EQ(lines_with(std::string(name(group)) + ":").size(), 1U) << name(group);
  }
}

TEST_F(Help, HasEachOptionOnceWithItsDefault) {
  for (const Option& option : test::kAllReduce.options) test::expect_in_help(test::kAllReduce, option, in_one_line_);
}

TEST_F(Help, FitsIntoAHundredColumns) {
  std::istringstream stream(text_);
  for (std::string line; std::getline(stream, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(HelpOfPairs, HasTheirOptionsAndDefaultsOnly) {
  const Program& program = test::kSendRecvBw;
  const std::string text = test::help_in_one_line(program);
  for (const char* mine :
       {"--window", "--pairs", "--ngpus", "last message size; lowered to what fits in memory [4M]"}) {
    EXPECT_NE(text.find(mine), std::string::npos) << mine;
  }
  for (const char* other : {"--op", "--root", "--split", "--cudagraph", "--nthreads", "--timing", "--placement"}) {
    EXPECT_EQ(text.find(other), std::string::npos) << other;
  }
  EXPECT_EQ(parse_command_line(test::kSendRecvLat, {"--help"}).text.find("--window"), std::string::npos);
  EXPECT_EQ(parse_command_line(program, {"-g", "2"}).options.nccl.gpus, 2);
  EXPECT_THROW((void)parse_command_line(test::kTcpBw, {"-g", "2"}), UsageError);
}

TEST_F(Help, NamesTheEnvironmentVariables) {
  EXPECT_NE(in_one_line_.find("(also by NCCL_TESTS_MIN_BW)"), std::string::npos);
}

class Environment : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* variable : {"NCCL_TESTS_MIN_BW", "NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK", "NCCL_TESTS_DEVICE",
                                 "NCCL_TESTS_ALLTOALLV_SPREAD"}) {
      unsetenv(variable);
    }
  }

  static Options with_arguments(std::vector<std::string> arguments, const Program& program = test::kAllReduce) {
    arguments.insert(arguments.begin(), program.name);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    const auto all = arguments_with_environment(program, static_cast<int>(pointers.size()), pointers.data());
    return parse_command_line(program, all).options;
  }
};

TEST_F(Environment, SetsOptionsAndTheCommandLineWins) {
  EXPECT_EQ(with_arguments({"-n", "5"}).min_bandwidth_gb_per_s, 0);
  setenv("NCCL_TESTS_MIN_BW", "40.5", 1);
  EXPECT_EQ(with_arguments({"-n", "5"}).min_bandwidth_gb_per_s, 40.5);
  EXPECT_EQ(with_arguments({"-n", "5"}).iterations, 5);
  EXPECT_EQ(with_arguments({"--min-bw", "7"}).min_bandwidth_gb_per_s, 7);
}

TEST_F(Environment, IsRefusedWhereItMakesNoSense) {
  setenv("NCCL_TESTS_MIN_BW", "fast", 1);
  EXPECT_THROW((void)with_arguments({}), UsageError);
}

TEST_F(Environment, OfAnEmptyVariableIsAsIfItWereNotSet) {
  setenv("NCCL_TESTS_MIN_BW", "", 1);
  EXPECT_THROW((void)with_arguments({"5"}), UsageError) << "it took the stray argument for its value";
  EXPECT_EQ(with_arguments({"-n", "5"}).iterations, 5);
}

TEST_F(Environment, SetsTheGroupsByEitherOfNcclTestsVariables) {
  setenv("NCCL_TESTS_SPLIT_MASK", "7", 1);
  EXPECT_EQ(with_arguments({}).split, "AND 7");
  setenv("NCCL_TESTS_SPLIT_MASK", "0x1F", 1);
  EXPECT_EQ(with_arguments({}).split, "AND 31");
  setenv("NCCL_TESTS_SPLIT_MASK", "10", 1);
  EXPECT_EQ(with_arguments({}).split, "AND 16") << "the digits are hexadecimal without a prefix too";
  EXPECT_EQ(with_arguments({"--split", "DIV 2"}).split, "DIV 2");
  unsetenv("NCCL_TESTS_SPLIT_MASK");
  setenv("NCCL_TESTS_SPLIT", "MOD 4", 1);
  EXPECT_EQ(with_arguments({}).split, "MOD 4");
  setenv("NCCL_TESTS_SPLIT", "XOR 4", 1);
  EXPECT_THROW((void)with_arguments({}), UsageError);
}

/// A variable for another program is not there for this one, whatever its value.
TEST_F(Environment, OfOneProgramDoesNotTouchTheOthers) {
  setenv("NCCL_TESTS_ALLTOALLV_SPREAD", "0.5", 1);
  EXPECT_EQ(with_arguments({}, test::kAllToAllV).traffic.spread, 0.5);
  EXPECT_EQ(with_arguments({}).traffic.spread, 1);
  setenv("NCCL_TESTS_ALLTOALLV_SPREAD", "nonsense", 1);
  EXPECT_THROW((void)with_arguments({}, test::kAllToAllV), UsageError);
  EXPECT_NO_THROW((void)with_arguments({}));
}

TEST(Arguments, OfNoProgramAtAllAreNone) {
  EXPECT_TRUE(arguments_with_environment(test::kAllReduce, 0, nullptr).empty());
}

}  // namespace command_line_test
