// Every option of other tools, as the programs read it.

#include "common/options/other_tools.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rdma_option_support.h"

using namespace fabricbench;
using namespace fabricbench::test;

namespace other_tools_test {

const Program kReduce = collective_program("reduce_perf", "Bandwidth of reduce.");

std::vector<Program> programs_of(const OtherTool& tool) {
  std::vector<Program> programs;
  for (const Program& program : {kAllReduce, kReduce, kSendRecvBw, kSendRecvLat, kTcpBw}) {
    if (tool.is_for(program.name)) programs.push_back(program);
  }
  for (const Program& program : kPrograms) {
    if (tool.is_for(program.name)) programs.push_back(program);
  }
  return programs;
}

/// A value that an option of another tool may have.
std::string sample_of(const OtherOption& option) {
  static const std::map<std::string_view, std::string> kSamples = {
      {"SIZE", "32M"},         {"N", "1"},           {"0|1", "0"},     {"0|1|2", "0"},
      {"OP", "min"},           {"RANK", "0"},        {"SECONDS", "2"}, {"FILE", "file"},
      {"NAME", "name"},        {"BYTES", "256"},     {"TEXT", "text"}, {"PORT", "5"},
      {"ADDRESS", "10.0.0.1"}, {"[MIN:]MAX", "2:16"}};
  if (option.names.starts_with("-d,--datatype")) return "half";
  if (option.names.starts_with("-A")) return "CMP_AND_SWAP";
  if (option.names.starts_with("-c,--connection")) return "RC";
  if (option.value_name == "KIND") return "host";
  const auto found = kSamples.find(option.value_name);
  return found == kSamples.end() ? "1" : found->second;
}

/// What must come with an option of another tool in this program.
std::vector<std::string> companions_of(const Program& program, std::string_view name) {
  const bool received = name == "-r" || name == "--rx-depth" || name == "--use-srq" || name.starts_with("--use_cuda");
  std::vector<std::string> more;
  if (name == "--burst_size") more = {"--rate_limit", "8"};
  if (name == "--use_data_direct") more = {"--memory", "cuda"};
  if (program.name.starts_with("rdma_write") && (received || !more.empty())) more.emplace_back("--write_with_imm");
  return more;
}

std::vector<std::string> line_of(const Program& program, const OtherOption& option, std::string_view name) {
  std::vector<std::string> line{std::string(name)};
  if (!option.value_name.empty()) line.push_back(sample_of(option));
  const std::vector<std::string> more = companions_of(program, name);
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

/// The message of the UsageError, or empty.
std::string message_of(const Program& program, const std::vector<std::string>& line) {
  try {
    (void)parse_command_line(program, line);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(OtherTools, AreEachReadByPrograms) {
  for (const OtherTool& tool : other_tools()) EXPECT_FALSE(programs_of(tool).empty()) << tool.name;
}

TEST(OtherTools, NameEveryOptionOnce) {
  for (const OtherTool& tool : other_tools()) {
    std::set<std::string_view> seen;
    for (const OtherOption& option : tool.options) {
      for (const auto name : names_in(option.names)) EXPECT_TRUE(seen.insert(name).second) << tool.name << " " << name;
    }
  }
}

TEST(OtherTools, AreTheSameWhereTheTableSaysSo) {
  for (const OtherTool& tool : other_tools()) {
    for (const OtherOption& option : tool.options) {
      if (option.treatment != Treatment::kSame) continue;
      int readers = 0;
      for (const Program& program : programs_of(tool)) {
        const std::vector<std::string_view> names = names_in(option.names);
        const bool any = std::any_of(names.begin(), names.end(), [&](auto name) { return has_option(program, name); });
        if (!any) continue;
        ++readers;
        for (const std::string_view name : names) {
          const std::vector<std::string> line = line_of(program, option, name);
          EXPECT_EQ(message_of(program, line), "") << tool.name << " " << name << " of " << program.name;
          EXPECT_TRUE(translate_options(program, line).notices.empty()) << name;
        }
      }
      EXPECT_GT(readers, 0) << tool.name << " " << option.names;
    }
  }
}

TEST(OtherTools, SayWhichProgramsLackThem) {
  for (const OtherTool& tool : other_tools()) {
    for (const OtherOption& option : tool.options) {
      if (option.treatment != Treatment::kSame) continue;
      for (const Program& program : programs_of(tool)) {
        for (const std::string_view name : names_in(option.names)) {
          const Unsupported* unsupported = unsupported_in(option, program.name);
          EXPECT_EQ(unsupported == nullptr, has_option(program, name)) << program.name << " " << name;
          if (unsupported == nullptr) continue;
          const std::vector<std::string> line = line_of(program, option, name);
          if (unsupported->treatment == Treatment::kRefused) {
            EXPECT_NE(message_of(program, line).find(unsupported->reason), std::string::npos)
                << program.name << " " << name;
          } else {
            EXPECT_EQ(message_of(program, line), "") << program.name << " " << name;
            EXPECT_EQ(translate_options(program, line).notices.size(), 1U) << program.name << " " << name;
          }
        }
      }
    }
  }
}

TEST(OtherTools, AreLackingForAReason) {
  const struct {
    Program program;
    std::string line;
    std::string_view reason;
  } refused[] = {{kWriteLat, "-q 2", "one message at a time"},
                 {kReadLat, "-t4", "one message at a time"},
                 {kSendLat, "-l 2", "one message at a time"},
                 {kSendLat, "-b", "ends in _bw"},
                 {kSendLat, "--rate_limit=8", "at a time"},
                 {kReadBw, "-r 5", "consume no receives"},
                 {kReadBw, "-I 0", "no data inline"},
                 {kAtomicBw, "-s 8", "have 8 bytes"},
                 {kAtomicBw, "-a", "have 8 bytes"},
                 {kSendBw, "-o 4", "-t limits"},
                 {kWriteLat, "-o", "-t limits"},
                 {kWriteBw, "-A CMP_AND_SWAP", "only atomics"},
                 {kSendBw, "--write_with_imm", "only writes"},
                 {kAtomicBw, "--use-srq", "consume no receives"}};
  for (const auto& [program, line, reason] : refused) {
    const std::string message = refusal(program, line);
    EXPECT_TRUE(message.starts_with(line.substr(0, line.find_first_of(" 4=")) + " of perftest: ")) << message;
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
  for (const char* line : {"-Q 2", "-o 2", "--report_gbits"}) {
    EXPECT_EQ(translate_options(kReadLat, words(line)).notices.size(), 1U) << line;
    EXPECT_TRUE(translate_options(kReadLat, words(line)).arguments.empty()) << line;
  }
  EXPECT_EQ(refusal(kReadLat, "-o"), "-o of perftest needs a value");
}

TEST(OtherTools, AgreeOnLettersAndLongNames) {
  for (const OtherTool& tool : other_tools()) {
    for (const OtherOption& option : tool.options) {
      if (option.treatment != Treatment::kSame || option.names == "-h,--help") continue;
      for (const Program& program : programs_of(tool)) {
        for (const Option& own : program.options) {
          const auto owned = names_in(own.names);
          const auto names = names_in(option.names);
          const auto has = [&](auto name) { return std::find(owned.begin(), owned.end(), name) != owned.end(); };
          if (!std::any_of(names.begin(), names.end(), has)) continue;
          EXPECT_TRUE(std::all_of(names.begin(), names.end(), has)) << program.name << ": " << option.names;
          EXPECT_EQ(own.value_name.empty(), option.value_name.empty()) << program.name << ": " << option.names;
        }
      }
    }
  }
}

TEST(OtherTools, AreReadAsOursOrRefusedWithTheReason) {
  for (const OtherTool& tool : other_tools()) {
    for (const OtherOption& option : tool.options) {
      if (option.treatment == Treatment::kSame) continue;
      for (const auto name : names_in(option.names)) {
        int readers = 0;
        for (const Program& program : programs_of(tool)) {
          if (has_option(program, name)) {  // its own, in another meaning or the same one
            ++readers;
            continue;
          }
          const std::string message = message_of(program, line_of(program, option, name));
          if (option.treatment == Treatment::kRefused) {
            EXPECT_NE(message.find(option.ours), std::string::npos) << tool.name << " " << name << ": " << message;
            ++readers;
          } else if (message.empty()) {
            if (option.ours != "--version") {
              const std::size_t notices = option.usual.empty() ? 1 : 2;
              EXPECT_EQ(translate_options(program, line_of(program, option, name)).notices.size(), notices) << name;
            }
            ++readers;
          } else {
            EXPECT_NE(message.find("does not have"), std::string::npos) << program.name << " " << name << message;
          }
        }
        EXPECT_GT(readers, 0) << tool.name << " " << name;
      }
    }
  }
}

TEST(OtherTools, AreAnsweredWithOptionsThatExist) {
  const std::set<std::string> launcher = {"--host", "--bind-to"};
  for (const OtherTool& tool : other_tools()) {
    std::vector<Program> programs = programs_of(tool);
    programs.push_back(kSeenLat);
    for (const OtherOption& option : tool.options) {
      for (std::size_t at = option.ours.find("--"); at != std::string_view::npos; at = option.ours.find("--", at)) {
        const std::size_t end = std::min(option.ours.find_first_of(" ,:;", at), option.ours.size());
        const std::string name(option.ours.substr(at, end - at));
        at = end;
        const bool known = std::any_of(programs.begin(), programs.end(),
                                       [&](const Program& program) { return has_option(program, name); });
        EXPECT_TRUE(known || launcher.contains(name) || name == "--json") << tool.name << " " << option.names << name;
      }
    }
  }
}

TEST(OtherTools, GiveTheirValuesToOurOptions) {
  const Options sizes = parsed(kSendRecvBw, "-m 4:64 -x 100 -W 8 --iterations=20");
  EXPECT_EQ(sizes.sizes.min_bytes, 4U);
  EXPECT_EQ(sizes.sizes.max_bytes, 64U);
  EXPECT_EQ(sizes.warmup, 100);
  EXPECT_EQ(sizes.iterations, 20);
  EXPECT_EQ(parsed(kSendRecvBw, "-m 64").sizes.max_bytes, 64U);
  EXPECT_EQ(parsed(kSendRecvBw, "--message-size=2:").sizes.min_bytes, 2U);
  EXPECT_EQ(parsed(kTcpBw, "-P 4 -t 10").streams, 4);
  EXPECT_EQ(parsed(kTcpBw, "-P4 -t 10").time_budget, 10);
  const Options rdma = parsed(kWriteBw, "-aFD 10 --use_hugepages --report_gbits -p 18516");
  EXPECT_EQ(rdma.time_budget, 10);
  EXPECT_EQ(rdma.memory, MemoryKind::kHugePages);
  EXPECT_TRUE(rdma.rdma.gbits && rdma.rdma.perftest_table);
  EXPECT_EQ(parsed(kWriteBw, "--use_cuda=3").device, 3);
}

TEST(OtherTools, TakeALetterOfOursBesideTheirOwnLetters) {
  EXPECT_EQ(translate_options(kSendRecvBw, words("-i 1000 -x 100 -m 4194304")).arguments,
            words("--iters 1000 --warmup_iters 100 --maxbytes 4194304"));
  const Options latency = parsed(kSendRecvLat, "-x10 -i20 -m 64");
  EXPECT_EQ(latency.iterations, 20);
  EXPECT_EQ(latency.warmup, 10);
  EXPECT_EQ(latency.sizes.step_factor, kSendRecvLat.defaults.sizes.step_factor);
  EXPECT_EQ(translate_options(kAllReduce, words("-i 20 -k 1")).arguments, words("--iters 20 --root 1"));
  const Translated iperf3 = translate_options(kTcpBw, words("-t 1 -i 1 -P 2"));
  EXPECT_EQ(iperf3.arguments, words("--time-budget 1 --streams 2 --minbytes 128K --maxbytes 128K"));
  EXPECT_EQ(
      iperf3.notices[1],
      "-i of iperf3 is left out: results are per size, with intervals of confidence; --samples keeps every sample");
}

TEST(OtherTools, AreToldOfALetterThatStandsAlone) {
  const Translated osu = translate_options(kSendRecvBw, words("-i 1000 -n 10"));
  EXPECT_EQ(osu.arguments, words("-i 1000 -n 10"));
  EXPECT_EQ(osu.notices, std::vector<std::string>{"-i is --stepbytes here; -i of OSU is --iters VALUE here"});
  EXPECT_EQ(translate_options(kTcpBw, words("-i1")).notices,
            std::vector<std::string>{"-i is --stepbytes here; -i of iperf3 changes nothing here: results are per size, "
                                     "with intervals of confidence; --samples keeps every sample"});
  for (const char* line : {"-b 8 -e 64 -i 8", "--stepbytes 8", "--maxbytes=64 -i 8"}) {
    EXPECT_TRUE(translate_options(kSendRecvBw, words(line)).notices.empty()) << line;
  }
  EXPECT_TRUE(translate_options(kAllReduce, words("-i 1M")).notices.empty()) << "nccl-tests' too";
}

TEST(OtherTools, OfRocmAreRefusedWithTheReason) {
  for (const auto& [line, reason] : std::map<std::string, std::string>{
           {"-b 8 -e 64 -Y 2", "-Y of rccl-tests: buffers are in host memory or in CUDA's usual kind here: --memory"},
           {"-Z json -x out.json", "-Z of rccl-tests: rows go to files with names: --csv FILE, or --json FILE"},
           {"-O 0", "-O of rccl-tests: the placement of buffers has a name here: --placement in, out or both"},
           {"-F 1",
            "-F of rccl-tests: caches of instructions are not emptied here; --buffers cold keeps data out of the "
            "processor's caches"},
           {"--rotating_tensor=1",
            "--rotating_tensor of rccl-tests: --buffers rotate goes through the largest buffer"}}) {
    EXPECT_EQ(refusal(kAllReduce, line), reason);
  }
}

TEST(OtherTools, AreNoticedOnce) {
  const auto notices = translate_options(kWriteBw, words("--use_cuda=3 -N")).notices;
  EXPECT_EQ(notices, (std::vector<std::string>{"--use_cuda of perftest is read as --memory cuda:3",
                                               "-N of perftest is left out: there is no peak to leave out"}));
}

TEST(OtherTools, NameNoServer) {
  EXPECT_EQ(refusal(kWriteBw, "-D 10 node1"),
            "stray argument 'node1'; one command starts both ends, and neither is a server: fabricbench rdma_write_bw "
            "--hosts A,node1, or mpirun --host A,node1");
  EXPECT_NE(refusal(kTcpBw, "node1").find("fabricbench tcp_bw --hosts A,node1"), std::string::npos);
}

TEST(OtherTools, ExplainRefusedValuesOfOtherMeaning) {
  EXPECT_NE(refusal(kAllReduce, "-m 1:1048576").find("; -m of OSU is --minbytes MIN --maxbytes MAX here"),
            std::string::npos);
  EXPECT_NE(refusal(kAllReduce, "-x 100").find("; -x of OSU is --warmup_iters VALUE here"), std::string::npos);
  EXPECT_NE(refusal(kTcpBw, "-c node1").find("; -c of iperf3: mpirun starts both ends"), std::string::npos);
  EXPECT_EQ(refusal(kAllReduce, "-b abc").find("OSU"), std::string::npos) << "-b is nccl-tests'";
}

TEST(OtherTools, AreNamedWhereOnlyOtherProgramsReadThem) {
  EXPECT_EQ(refusal(kAllReduce, "--use_hugepages"),
            "unknown option '--use_hugepages'; perftest has it, for which there are rdma_* here; --help lists those of "
            "all_reduce_perf");
}

TEST(OtherTools, ProgramsOfOurOwnAreNamedThatHaveAnOption) {
  EXPECT_EQ(refusal(kAllReduce, "--streams 4"),
            "unknown option '--streams'; tcp_bw has it, and all_reduce_perf does not; --help lists those of "
            "all_reduce_perf");
  EXPECT_NE(refusal(kAllReduce, "--window=4").find("; send_recv_bw, tcp_bw"), std::string::npos);
  EXPECT_NE(refusal(kTcpBw, "--redop sum").find("unknown option"), std::string::npos);
}

TEST(OtherTools, SayWhatDiffersInWhatIsReplaced) {
  EXPECT_EQ(translate_options(kWriteBw, words("--out_json_file run.json")).notices,
            (std::vector<std::string>{
                "--out_json_file of perftest is read as --json run.json; its format is that of docs/output.md"}));
}

TEST(OtherTools, ABitrateIsNoSize) {
  EXPECT_NE(refusal(kTcpBw, "-b 1G").find("(-b of iperf3 is a bitrate"), std::string::npos);
  EXPECT_EQ(refusal(kTcpBw, "-b 1G -e 1M").find("iperf3"), std::string::npos) << "sizes, in the wrong order";
  EXPECT_EQ(parsed(kTcpBw, "-b 1G -e 1G").sizes.min_bytes, Bytes{1} << 30);
}

TEST(OtherTools, NeedTheirValues) { EXPECT_EQ(refusal(kTcpBw, "-P"), "-P of iperf3 needs a value"); }

TEST(OtherTools, LeaveMisspeltOptionsToTheNearestOnes) {
  EXPECT_EQ(refusal(kAllReduce, "--minbyte 8"),
            "unknown option '--minbyte'; the nearest is --minbytes; --help lists them all");
  EXPECT_EQ(refusal(kWriteBw, "--device 0"),
            "unknown option '--device'; the nearest is --devices; --help lists them all");
  const std::string several = refusal(kAllReduce, "--stepbyte 8");
  EXPECT_NE(several.find("--stepbytes"), std::string::npos) << several;
}

TEST(OtherTools, AreSpeltWithDashesOrUnderscores) {
  const auto read = [](const Program& program, const char* line) {
    return translate_options(program, words(line)).arguments;
  };
  const std::vector<std::string> all = {"--check", "all"};
  EXPECT_EQ(read(kWriteBw, "--data-validation"), all);
  EXPECT_EQ(read(kSendRecvBw, "--window_size=8"), (std::vector<std::string>{"--window", "8"}));
  EXPECT_EQ(parsed(kWriteBw, "--tx_depth=16 --rate-limit 8 --time_budget 2").rdma.depth, 16);
  EXPECT_EQ(parsed(kWriteBw, "--time_budget 2").time_budget, 2);
  EXPECT_NE(refusal(kWriteBw, "--report_histogram").find("--report-histogram of perftest: "), std::string::npos);
}

TEST(OtherTools, AreAmongTheNearestNames) {
  EXPECT_EQ(refusal(kTcpBw, "--lenght 8"),
            "unknown option '--lenght'; the nearest is --length of iperf3 (here --minbytes VALUE --maxbytes VALUE); "
            "--help lists them all");
  EXPECT_NE(refusal(kTcpBw, "--bidr").find("--bidir of iperf3 (tcp_bibw measures both ways"), std::string::npos);
  EXPECT_NE(refusal(kTcpBw, "--paralel 2").find("--parallel of iperf3 (here --streams VALUE)"), std::string::npos);
  EXPECT_NE(refusal(kWriteBw, "--no-peak").find("--noPeak of perftest (left out here: there is no"), std::string::npos);
  EXPECT_EQ(refusal(kAllReduce, "--lenght 8").find("iperf3"), std::string::npos) << "a tool of other programs";
}

TEST(OtherTools, AndTheCommandThatStartsProgramsAreAmongTheNearestNames) {
  EXPECT_EQ(refusal(kAllReduce, "--dry-rn"),
            "unknown option '--dry-rn'; the nearest is --dry-run of fabricbench run; --help lists them all");
  EXPECT_EQ(refusal(kWriteBw, "--hosts a,b"),
            "unknown option '--hosts'; the nearest is --hosts of fabricbench run; --help lists them all");
}

TEST(OtherTools, AreNoValues) {
  EXPECT_EQ(refusal(kTcpBw, "-u -b 1G"),
            "-u,--unalign needs a value, and was given the option '-b'; -u of iperf3: UDP and SCTP are not measured "
            "here; --help says which");
  EXPECT_NE(refusal(kTcpBw, "-N -e 8").find("; -N of iperf3 changes nothing here: "), std::string::npos);
  EXPECT_NE(refusal(kTcpBw, "--json -e 8").find("; --json of iperf3: records go to a file"), std::string::npos);
  EXPECT_NE(refusal(kSendRecvBw, "-c -m 8:8").find("was given the option '-m'; -c of OSU changes nothing"),
            std::string::npos);
  EXPECT_EQ(refusal(kTcpBw, "-P -t 10"),
            "-P of iperf3 needs a value, and was given the option '-t'; --help says which");
  EXPECT_EQ(refusal(kTcpBw, "-P -1"), "-1 is too small; --streams is at least 1");
  EXPECT_EQ(parsed(kTcpBw, "--label - -n 4").label, "-");
}

TEST(OtherTools, AreExplainedWhereAFlagOfTheirsComesLast) {
  EXPECT_NE(refusal(kSendRecvBw, "-m 8:8 -n 10 -c").find("needs a value; -c of OSU changes nothing"),
            std::string::npos);
  EXPECT_NE(refusal(kTcpBw, "-e 8 -N").find("needs a value; -N of iperf3 changes nothing here: "), std::string::npos);
}

TEST(OtherTools, AreNearWhereTheirNamesAreShortened) {
  EXPECT_NE(refusal(kWriteBw, "--dur 1").find("the nearest is --duration; "), std::string::npos)
      << refusal(kWriteBw, "--dur 1");
  EXPECT_NE(refusal(kAllReduce, "--minb 8").find("--minbytes"), std::string::npos);
}

TEST(OtherTools, CountBlocksAsMessages) {
  const Options options = parsed(kTcpBw, "-k 10 -l 8");
  EXPECT_EQ(options.iterations, 10);
  EXPECT_EQ(options.window, 1);
}

TEST(StepBytes, AreASumUnlessAFactorIsGiven) {
  EXPECT_EQ(parsed(kTcpBw, "-b 8 -e 32 -i 8").sizes.step_factor, 1U);
  EXPECT_EQ(parsed(kTcpBw, "-b 8 -e 32 -i 8 -f 4").sizes.step_factor, 4U);
  EXPECT_GT(parsed(kTcpBw, "-b 8 -e 32").sizes.step_factor, 1U);
}

TEST(OtherTools, HavePlacesOfBuffers) {
  EXPECT_EQ(parsed(kSendRecvBw, "-m 8:8 H H").memory, MemoryKind::kHost);
  EXPECT_EQ(translate_options(kSendRecvBw, words("D D")).arguments, (std::vector<std::string>{"--memory", "cuda"}));
  EXPECT_EQ(translate_options(kSendRecvBw, words("D D")).notices,
            (std::vector<std::string>{"D of OSU is read as --memory cuda"}));
  EXPECT_EQ(refusal(kSendRecvBw, "-m 8:8 D H"),
            "D H of OSU: the buffers of both ranks are in one kind of memory here; give one, or --memory");
  EXPECT_NE(refusal(kSendRecvBw, "M M").find("M of OSU: managed memory is not measured here"), std::string::npos);
  EXPECT_EQ(refusal(kSendRecvBw, "-d rocm"), "-d rocm of OSU: GPU memory is CUDA's here: --memory cuda");
  EXPECT_EQ(refusal(kSendRecvBw, "x"), "stray argument 'x'; --help says what may be given");
  EXPECT_EQ(translate_options(kSendRecvBw, words("--mem-limit 1G")).notices.size(), 1U);
}

TEST(OtherTools, MeasureTheirOneSizeForTheirTime) {
  const Options alone = parsed(kTcpBw, "-P 2 -t 1");
  EXPECT_EQ(alone.sizes.min_bytes, 128U << 10);
  EXPECT_EQ(alone.sizes.max_bytes, 128U << 10);
  EXPECT_EQ(translate_options(kTcpBw, words("-t 1")).notices,
            (std::vector<std::string>{"-t of iperf3 is read as --time-budget 1",
                                      "iperf3 measures one size, and none is given: --minbytes 128K --maxbytes 128K is "
                                      "added"}));
  for (const char* line : {"-t 1 -b8 -e 1M", "--minbytes=8 -t 1 --maxbytes=1M", "--time 1 -b 8 --maxbytes 1M"}) {
    const Options ours = parsed(kTcpBw, line);
    EXPECT_EQ(ours.sizes.min_bytes, 8U) << line;
    EXPECT_EQ(ours.sizes.max_bytes, 1U << 20) << line;
  }
  EXPECT_EQ(parsed(kTcpBw, "-t 1 -l 64").sizes.max_bytes, 64U);
  EXPECT_EQ(parsed(kTcpBw, "--time-budget 1").sizes.max_bytes, kTcpBw.defaults.sizes.max_bytes) << "ours";
}

}  // namespace other_tools_test
