#include "common/core/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "option_test_support.h"

using namespace fabricbench;
using test::parsed;

namespace options_test {

using Values = std::vector<std::pair<std::string, std::string>>;

TEST(Options, HaveTheDefaultsOfNcclTestsWhereTheyShareAnOption) {
  const Options options = parsed("");
  EXPECT_EQ(options.sizes.min_bytes, Bytes{32} << 20);
  EXPECT_EQ(options.sizes.max_bytes, Bytes{32} << 20);
  EXPECT_EQ(options.sizes.step_bytes, Bytes{1} << 20);
  EXPECT_EQ(options.datatypes, std::vector{DataType::kFloat});
  EXPECT_EQ(options.reductions, std::vector{Reduction::kSum});
  EXPECT_EQ(options.root, 0);
  EXPECT_EQ(options.aggregated, 1);
  EXPECT_EQ(options.checks, 1);
  EXPECT_FALSE(options.iterations);
  EXPECT_TRUE(options.given.empty());
}

TEST(Options, DoubleSizesUnlessAStepOrNcclTestsIsAskedFor) {
  EXPECT_EQ(parsed("-b 32M -e 1G").sizes.step_factor, 2U);
  EXPECT_EQ(parsed("-b 32M -e 1G -i 1M").sizes.step_factor, 1U);
  EXPECT_EQ(parsed("-b 32M -e 1G --like nccl-tests").sizes.step_factor, 1U);
  EXPECT_EQ(parsed("-b 32M -e 1G --like nccl-tests -f 4").sizes.step_factor, 4U);
}

TEST(Options, TakeTheUsualCommandLineOfNcclTests) {
  const Options options = parsed("-b 32M -e 1G -i 1000 -f 2 -g 1");
  EXPECT_EQ(options.sizes.min_bytes, Bytes{32} << 20);
  EXPECT_EQ(options.sizes.max_bytes, Bytes{1} << 30);
  EXPECT_EQ(options.sizes.step_bytes, 1000U);
  EXPECT_EQ(options.sizes.step_factor, 2U);
  EXPECT_EQ(options.nccl.gpus, 1);
  std::vector<std::string> given;
  for (const GivenOption& option : options.given) given.push_back(option.key);
  EXPECT_EQ(given, (std::vector<std::string>{"minbytes", "maxbytes", "stepbytes", "stepfactor", "ngpus"}));
}

TEST(Options, AreTheSameByLetterByLongNameAndWithDashes) {
  for (const std::string line :
       {"-b 8 -e 1K -f 4 -w 7 -m 2 -N 3 -C 1 -S 1 -u 5", "-b8 -e1K -f4 -w7 -m2 -N3 -C1 -S1 -u5",
        "--minbytes=8 --maxbytes=1K --stepfactor=4 --warmup_iters=7 --agg_iters=2 --run_cycles=3 --report_cputime=1 "
        "--report_timestamps=1 --unalign=5",
        "--min-bytes 8 --max-bytes 1K --step-factor 4 --warmup-iters 7 --agg-iters 2 --run-cycles 3 "
        "--report-cputime 1 --report-timestamps 1 --unalign 5"}) {
    SCOPED_TRACE(line);
    const Options options = parsed(line);
    EXPECT_EQ(options.sizes.min_bytes, 8U);
    EXPECT_EQ(options.sizes.max_bytes, 1024U);
    EXPECT_EQ(options.sizes.step_factor, 4U);
    EXPECT_EQ(options.warmup, 7);
    EXPECT_EQ(options.aggregated, 2);
    EXPECT_EQ(options.cycles, 3);
    EXPECT_TRUE(options.report_cpu_time);
    EXPECT_TRUE(options.output.timestamps);
    EXPECT_EQ(options.unalign, 5);
  }
}

TEST(Options, TakeTheLastOfSeveralAndStillRefuseNothingButTheLast) {
  EXPECT_EQ(parsed("-n 5 -n 10 --iters=20").iterations, 20);
  EXPECT_EQ(parsed("-b 1K -b 8").sizes.min_bytes, 8U);
  EXPECT_EQ(parsed("-d half -d int8").datatypes, std::vector{DataType::kInt8});
}

TEST(Options, ReadEveryValueThere) {
  const Options options = parsed(
      "-d bfloat16 -o max -r 3 --timing isolated --epochs 12 --target-precision 0.5 --time-budget 2.5 "
      "--order sequential --seed 42 -a 2 -T 12.5 --buffers cold --placement in -c 4 --backend mpi -t 1 --json a.json "
      "--csv b.csv -J c.json --force --samples --stats --quiet --progress --min-bw 12.5");
  EXPECT_EQ(options.datatypes, std::vector{DataType::kBfloat16});
  EXPECT_EQ(options.reductions, std::vector{Reduction::kMax});
  EXPECT_EQ(options.root, 3);
  EXPECT_EQ(options.timing, Timing::kIsolated);
  EXPECT_EQ(options.epochs, 12);
  EXPECT_EQ(options.target_precision_percent, 0.5);
  EXPECT_EQ(options.time_budget, 2.5);
  EXPECT_EQ(options.order, Order::kSequential);
  EXPECT_EQ(options.seed, 42U);
  EXPECT_EQ(options.average, RankAggregate::kMin);
  EXPECT_EQ(options.timeout, 12.5);
  EXPECT_EQ(options.buffers, BufferPolicy::kCold);
  EXPECT_EQ(options.placement, Placement::kIn);
  EXPECT_EQ(options.checks, 4);
  EXPECT_EQ(options.backend, "mpi");
  EXPECT_EQ(options.output.json_file, "a.json");
  EXPECT_EQ(options.output.csv_file, "b.csv");
  EXPECT_EQ(options.output.nccl_tests_json_file, "c.json");
  EXPECT_TRUE(options.output.force && options.output.samples && options.output.stats && options.output.quiet &&
              options.output.progress);
  EXPECT_EQ(options.min_bandwidth_gb_per_s, 12.5);
}

TEST(Options, ReadTheNumbersOfAverageAndBlocking) {
  EXPECT_EQ(parsed("-a 0").average, RankAggregate::kRank0);
  EXPECT_EQ(parsed("-a 1").average, RankAggregate::kMean);
  EXPECT_EQ(parsed("-a 3").average, RankAggregate::kMax);
  EXPECT_EQ(parsed("-z 1").blocking, Blocking::kBarrierTimed);
  EXPECT_EQ(parsed("-z 2").blocking, Blocking::kWait);
  EXPECT_EQ(parsed("-z 3").blocking, Blocking::kBarrierUntimed);
}

TEST(Options, TakeAllRootsByWordAndByTheNumberOfNcclTests) {
  EXPECT_EQ(parsed("-r all").root, kAllRoots);
  EXPECT_EQ(parsed("-r -1").root, kAllRoots);
  EXPECT_EQ(parsed("--root=-1").root, kAllRoots);
}

TEST(Options, TakeAllDatatypesAndReductionsInTheOrderOfNcclTests) {
  const Options options = parsed("-d all -o all");
  ASSERT_EQ(options.datatypes.size(), 12U);
  EXPECT_EQ(options.datatypes.front(), DataType::kInt8);
  EXPECT_EQ(options.datatypes[9], DataType::kBfloat16);
  EXPECT_EQ(options.datatypes.back(), DataType::kF8e5m2);
  EXPECT_EQ(options.reductions, (std::vector{Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax,
                                             Reduction::kAvg, Reduction::kMulSum}));
  for (const DataTypeFacts& type : kDataTypes) {
    EXPECT_EQ(parsed("-d " + std::string(type.name)).datatypes, std::vector{type.type});
  }
}

TEST(Options, TakeEveryLongNameThatNcclTestsHas) {
  for (const std::string name : {"nthreads",
                                 "ngpus",
                                 "minbytes",
                                 "maxbytes",
                                 "stepbytes",
                                 "stepfactor",
                                 "iters",
                                 "agg_iters",
                                 "warmup_iters",
                                 "run_cycles",
                                 "parallel_init",
                                 "check",
                                 "op",
                                 "datatype",
                                 "root",
                                 "blocking",
                                 "stream_null",
                                 "timeout",
                                 "cudagraph",
                                 "report_cputime",
                                 "report_timestamps",
                                 "output_file",
                                 "average",
                                 "local_register",
                                 "cta_policy",
                                 "device_implementation",
                                 "device_cta_count",
                                 "memory",
                                 "unalign",
                                 "per_iter_timing",
                                 "per_iter_skip"}) {
    bool known = false;
    for (const Option& spec : test::kAllToAllV.options) {
      known = known || (spec.names + ",").find("--" + name + ",") != std::string::npos;
    }
    EXPECT_TRUE(known) << name;
  }
}

/// The first names of those options for GPUs only that do not have their default value.
std::vector<std::string> asked_of_gpus(const std::string& line) {
  std::vector<std::string> names;
  for (const GivenOption& option : parsed(line).given) {
    if (option.is_for_gpus) names.push_back(option.name);
  }
  return names;
}

TEST(Options, ForGpusOnlyAreKnownAsSuch) {
  EXPECT_EQ(asked_of_gpus("-G 3"), std::vector<std::string>{"-G"});
  EXPECT_EQ(asked_of_gpus("-R 2 -x 1 -p 1 -y 1 -D 4 -V 8 -I 1 -K 5").size(), 8U);
  EXPECT_EQ(asked_of_gpus("-G 0 -R 0 -x -1 -p 0 -y 0 -D 0 -V 16 -I 0 -K 0"), std::vector<std::string>{})
      << "the default value asks for nothing";
  EXPECT_EQ(asked_of_gpus("-g 8 -t 2"), (std::vector<std::string>{"-g", "-t"}));
  EXPECT_EQ(asked_of_gpus("-n 5 -m 2 -z 1 -c 3 -u 1 --split MOD2"), std::vector<std::string>{});
}

TEST(Options, ForGpusHaveTheirValues) {
  const Options options = parsed("-g 8 -t 2 -R 2 -x 1 -p 1 -y 1 -D 4 -V 8 --device 3");
  EXPECT_EQ(options.nccl.gpus, 8);
  EXPECT_EQ(options.nccl.threads, 2);
  EXPECT_EQ(options.nccl.registration, Registration::kSymmetric);
  EXPECT_EQ(options.nccl.cta_policy, 1);
  EXPECT_TRUE(options.nccl.parallel_init && options.nccl.null_stream);
  EXPECT_EQ(options.nccl.device_implementation, 4);
  EXPECT_EQ(options.nccl.device_ctas, 8);
  EXPECT_EQ(options.device, 3);
  EXPECT_FALSE(parsed("").device);
  EXPECT_EQ(parsed("-R 1").nccl.registration, Registration::kLocal);
  EXPECT_EQ(parsed("-G 5").nccl.graph_launches, 5);
  const Options each = parsed("-I 1 -K 5");
  EXPECT_TRUE(each.per_iteration);
  EXPECT_EQ(each.per_iteration_skip, 5);
}

/// nccl-tests' long name of the switch -M is --memory, which says here where the buffers lie; it still means both.
TEST(Options, TellTheMemoryReportFromTheKindOfMemory) {
  EXPECT_TRUE(parsed("--memory 1").nccl.memory_report);
  EXPECT_EQ(parsed("--memory 1").memory, MemoryKind::kAuto);
  EXPECT_TRUE(parsed("-M 1").nccl.memory_report);
  EXPECT_FALSE(parsed("-M 1 -M 0").nccl.memory_report);
  EXPECT_EQ(parsed("-M 1").memory, MemoryKind::kAuto);
  EXPECT_EQ(parsed("--memory cuda").memory, MemoryKind::kCuda);
  EXPECT_EQ(parsed("--memory host").memory, MemoryKind::kHost);
  EXPECT_FALSE(parsed("--memory host").nccl.memory_report);
}

TEST(Options, KeepARuleForGroupsInOneSpelling) {
  EXPECT_EQ(parsed("--split mod2").split, "MOD 2");
  EXPECT_EQ(parsed("--split &0x7").split, "AND 7");
  EXPECT_EQ(parsed("").split, "");
}

TEST(Options, OfAllToAllVBelongToItsProgramAlone) {
  const Options options =
      parse_command_line(test::kAllToAllV,
                         test::words("--spread 0.25 --matrix m.txt --matrix-scale 3 --traffic-summary 1"))
          .options;
  EXPECT_EQ(options.traffic.spread, 0.25);
  EXPECT_EQ(options.traffic.matrix_file, "m.txt");
  EXPECT_EQ(options.traffic.matrix_scale, 3);
  EXPECT_TRUE(options.traffic.summary);
  for (const std::string line : {"--spread 0.25", "--matrix m.txt", "--matrix-scale 3", "--traffic-summary 1"}) {
    EXPECT_NE(test::refusal(line).find(line.substr(0, line.find(' '))), std::string::npos) << line;
  }
  EXPECT_THROW((void)parse_command_line(test::kAllToAllV, {"--spread", "1.5"}), UsageError);
}

std::vector<Program> programs_of_every_kind() {
  std::vector<Program> programs = {test::kAllToAllV,  test::kSendRecvBw, test::kTcpBw,
                                   test::kPairwiseBw, test::kGpuCopyBw,  test::kConnect};
  for (const Verb verb : {Verb::kWrite, Verb::kRead, Verb::kSend, Verb::kAtomic}) {
    for (const bool latency : {false, true})
      programs.push_back(verbs_program("rdma", "", {.verb = verb, .latency = latency}));
  }
  return programs;
}

void expect_unique_names(const Program& program) {
  std::set<std::string> keys;
  std::set<std::string> names;
  for (const Option& option : program.options) {
    EXPECT_TRUE(keys.insert(option.key()).second) << program.name << ": " << option.key();
    EXPECT_EQ(option.key().find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << option.key();
    EXPECT_FALSE(option.help.empty());
    std::istringstream list(option.names);
    for (std::string name; std::getline(list, name, ',');) EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_FALSE(keys.empty());
}

TEST(Programs, HaveUniqueKeysAndNames) {
  for (const Program& program : programs_of_every_kind()) expect_unique_names(program);
}

TEST(Programs, HaveASummaryAndThreeExamples) {
  for (const Program& program :
       {test::kAllToAllV, test::kSendRecvBw, test::kTcpBw, test::kPairwiseBw, test::kGpuCopyBw, test::kConnect}) {
    EXPECT_TRUE(program.summary.ends_with('.')) << program.name;
    EXPECT_EQ(program.examples.size(), 3U) << program.name;
    for (const Example& example : program.examples) {
      EXPECT_NE(example.command.find(program.name), std::string::npos) << example.command;
    }
  }
}

TEST(Option, HasItsLettersWherePerftestHasNone) {
  const OptionSet sizes = option_sets::sizes();
  EXPECT_EQ(sizes.front().names, "-b,--minbytes,--min-bytes");
  EXPECT_EQ(by_long_names(sizes).front().names, "--minbytes,--min-bytes");
  EXPECT_EQ(sizes.front().long_name(), "--minbytes");
  EXPECT_EQ(by_long_names(option_sets::repeats()).front().names, "-n,--iters") << "it means the same there";
  EXPECT_EQ(by_long_names(option_sets::seed()).front().names, "--seed");
}

TEST(Option, HasTheFirstLongNameForItsKey) {
  EXPECT_EQ(option_sets::sizes().front().key(), "minbytes");
  EXPECT_EQ((Option{.names = "--min-bw,--other"}.key()), "min_bw");
  EXPECT_EQ((Option{.names = "-w,--warmup_iters,--warmup-iters"}.key()), "warmup_iters");
}

TEST(Option, TakesEachOfItsWords) {
  int with_words = 0;
  for (const Program& program : programs_of_every_kind()) {
    for (const Option& option : program.options) {
      with_words += option.words.empty() ? 0 : 1;
      for (const std::string& word : option.words) {
        Options options = program.defaults;
        EXPECT_NO_THROW(option.set(options, word)) << program.name << " " << option.names << " " << word;
        if (!option.get(program.defaults).empty()) {
          EXPECT_EQ(option.get(options), word);
        }
      }
    }
  }
  EXPECT_GT(with_words, 50);
}

TEST(OptionValues, GivenBackToTheParserMakeTheSameOptions) {
  for (const std::string line :
       {"", "-b 8 -e 1G -f 2 -n 50 -w 0 -m 3 -N 0 -r all -z 3 -a 1 -C 1 -S 1 -u 7 -c 0 -T 0.25",
        "-d all -o all --timing isolated --epochs 100 --target-precision 0.1 --time-budget 0.333 --order interleaved "
        "--seed 9223372036854775807 --buffers rotate --placement out --backend mpi --json x --csv y -J z --min-bw 1.7",
        "-i 1.5K -b 1000 -e 1001 --label after_repair --force --samples --stats --quiet --progress",
        "--split DIV4 -t 2 -g 3 --device 1 -R 2 -x 0 -p 1 -y 1 -D 1 -V 32 -I 1 -K 2 --memory cuda -G 0 -M 1"}) {
    SCOPED_TRACE(line);
    const Values values = option_values(test::kAllReduce, parsed(line));
    std::vector<std::string> arguments;
    for (const Option& spec : test::kAllReduce.options) {
      for (const auto& [key, value] : values) {
        if (key != spec.key()) continue;
        const std::string name = spec.names.substr(spec.names.find("--"));
        arguments.push_back(name.substr(0, name.find(',')) + (spec.value_name.empty() ? "" : "=" + value));
      }
    }
    ASSERT_EQ(arguments.size(), values.size());
    if (line.find("-n ") != std::string::npos) {  // -n excludes --epochs and its like, which always have a value
      arguments.erase(std::remove_if(arguments.begin(), arguments.end(),
                                     [](const std::string& argument) {
                                       return argument.rfind("--epochs", 0) == 0 || argument.rfind("--t", 0) == 0;
                                     }),
                      arguments.end());
      arguments.push_back("--timeout=0.25");
    }
    EXPECT_EQ(option_values(test::kAllReduce, parse_command_line(test::kAllReduce, arguments).options), values);
  }
}

TEST(OptionValues, HaveTheLabelOfARun) {
  const Values values =
      option_values(test::kAllReduce, parse_command_line(test::kAllReduce, {"--label", "new NIC"}).options);
  EXPECT_NE(std::find(values.begin(), values.end(), std::pair<std::string, std::string>("label", "new NIC")),
            values.end());
}

TEST(OptionValues, AreThoseOfTheProgram) {
  const auto has_spread = [](const Program& program) {
    const Values values = option_values(program, Options());
    return std::any_of(values.begin(), values.end(), [](const auto& value) { return value.first == "spread"; });
  };
  EXPECT_TRUE(has_spread(test::kAllToAllV));
  EXPECT_FALSE(has_spread(test::kAllReduce));
}

TEST(OptionValues, LeaveOutWhatIsNotSet) {
  const Values values = option_values(test::kAllReduce, Options());
  for (const auto& [key, value] : values) {
    EXPECT_FALSE(value.empty()) << key;
    EXPECT_TRUE(key != "iters" && key != "seed" && key != "json" && key != "force") << key;
  }
  EXPECT_EQ(values.front(), (std::pair<std::string, std::string>("minbytes", "32M")));
}

std::string unused_in(const std::string& line) {
  std::string text;
  const Options options = parsed(line);
  for (const GivenOption& given : options.given) {
    const std::string why = given.why_unused ? given.why_unused(options) : "";
    if (!why.empty()) text += given.name + ": " + why + "\n";
  }
  return text;
}

TEST(GivenOptions, HaveNoEffectBesideSomeOthers) {
  const std::string all = "--samples --label monday --force --seed 1 --stall-action stack ";
  EXPECT_EQ(unused_in(all + "--order sequential -T 0"),
            "--seed: sizes are measured in order\n--stall-action: -T 0 sets no limit\n"
            "--label: there is no --json FILE\n--force: no file is written\n--samples: there is no --json FILE\n");
  EXPECT_EQ(unused_in("--seed 1 -n 5"), "--seed: sizes are measured in order\n");
  EXPECT_EQ(unused_in(all + "--json run.jsonl"), "");
  EXPECT_EQ(unused_in("--label monday --force --record base.jsonl"), "");
  EXPECT_EQ(unused_in("--force --csv run.csv"), "");
}

}  // namespace options_test
