#include "common/core/rdma_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rdma_option_support.h"

using namespace fabricbench;
using namespace fabricbench::test;

namespace rdma_options_test {

using Keys = std::set<std::string>;

Keys operator+(Keys keys, const Keys& others) {
  keys.insert(others.begin(), others.end());
  return keys;
}

const Keys kShared = {"iters",       "warmup_iters", "run_cycles", "epochs",       "seed",  "target_precision",
                      "time_budget", "order",        "timeout",    "stall_action", "check", "quick",
                      "pairs",       "preset",       "strict"};
const Keys kOfAllVerbs = {"concurrent",  "devices",     "duration",  "stall_timeout",
                          "ib_dev",      "ib_port",     "gid_index", "mtu",
                          "sl",          "tclass",      "events",    "cpu_freq",
                          "format",      "rdma_cm",     "memory",    "flow_label",
                          "retry_count", "data_direct", "numa",      "disable_pcie_relaxed",
                          "pkey_index",  "qp_timeout"};
const Keys kOfSizes = {"minbytes", "maxbytes", "stepbytes", "stepfactor", "size", "all"};
const Keys kOfBandwidth = {"qp",     "tx_depth",        "post_list",    "cq_mod",     "bidirectional",
                           "min_bw", "percent_of_rate", "report_gbits", "rate_limit", "burst_size"};
const Keys kOfLatency = {"max_lat", "background", "background_sl", "background_tclass"};
const Keys kOfMessages = {"connection", "rx_depth", "inline_size", "use_srq"};

TEST(RdmaOptions, AreThoseThatMeanSomethingToTheProgram) {
  const Keys always = kShared + kOfAllVerbs;
  EXPECT_EQ(own_options(kWriteBw), always + kOfSizes + kOfBandwidth + kOfMessages + Keys{"write_with_imm"});
  EXPECT_EQ(own_options(kWriteLat), always + kOfSizes + kOfLatency + kOfMessages + Keys{"write_with_imm"});
  EXPECT_EQ(own_options(kSendBw), always + kOfSizes + kOfBandwidth + kOfMessages);
  EXPECT_EQ(own_options(kSendLat), always + kOfSizes + kOfLatency + kOfMessages);
  EXPECT_EQ(own_options(kReadBw), (always + kOfSizes + kOfBandwidth + Keys{"connection", "outs"}));
  EXPECT_EQ(own_options(kReadLat), always + kOfSizes + kOfLatency + Keys{"connection"});
  EXPECT_EQ(own_options(kAtomicBw), (always + kOfBandwidth + Keys{"connection", "outs", "atomic_type"}));
  EXPECT_EQ(own_options(kAtomicLat), (always + kOfLatency + Keys{"connection", "atomic_type"}));
}

TEST(RdmaOptions, OfMessagesThatAreSeenLeaveTheRequestsToTheProgram) {
  const Keys theirs = {"connection",     "rx_depth", "use_srq",       "background",
                       "write_with_imm", "events",   "background_sl", "background_tclass"};
  Keys expected = own_options(kWriteLat);
  for (const std::string& key : theirs) {
    EXPECT_TRUE(expected.contains(key)) << key;
    expected.erase(key);
  }
  EXPECT_EQ(own_options(kSeenLat), expected + Keys{"seen_by"});
}

TEST(RdmaOptions, SayWhoSeesAMessage) {
  EXPECT_EQ(parsed(kSeenLat, "").rdma.seen_by, SeenBy::kReader);
  for (const SeenBy seen_by : {SeenBy::kCompletion, SeenBy::kFlush, SeenBy::kReader}) {
    EXPECT_EQ(parsed(kSeenLat, "--seen-by " + std::string(name(seen_by))).rdma.seen_by, seen_by);
  }
  EXPECT_EQ(refusal(kSeenLat, "--seen-by gpus"),
            "'gpus' is not a way to see a message; choose one of cq, cq+flush, gpu");
  EXPECT_EQ(refusal(kWriteLat, "--seen-by cq"), "unknown option '--seen-by'; --help lists them all");
  EXPECT_NO_THROW((void)parsed(kSeenLat, "--memory cuda"));
}

TEST(RdmaOptions, TakeAFlowLabelForEachQueuePair) {
  EXPECT_TRUE(parsed(kWriteBw, "").rdma.flow_labels.empty());
  EXPECT_EQ(parsed(kWriteBw, "--flow_label 1,0,1048575").rdma.flow_labels, (std::vector<std::int64_t>{1, 0, 1048575}));
  for (const char* wrong : {"1,,2", "1048576", "one", "1,"}) {
    EXPECT_NE(refusal(kWriteBw, "--flow-label " + std::string(wrong)), "") << wrong;
  }
}

TEST(RdmaOptions, LeaveThePartitionToRdmaCm) {
  EXPECT_EQ(parsed(kWriteBw, "--pkey_index 3").rdma.partition, 3);
  EXPECT_EQ(refusal(kWriteBw, "--pkey_index 3 -R").find("--pkey-index chooses a partition"), 0U);
}

TEST(RdmaOptions, LimitARateInGigabits) {
  EXPECT_DOUBLE_EQ(parsed(kWriteBw, "--rate_limit 8").rdma.rate_limit, 1e9);
  EXPECT_EQ(parsed(kWriteBw, "--burst_size 4 --rate-limit 8").rdma.burst, 4);
  EXPECT_EQ(refusal(kWriteBw, "--burst_size 4"),
            "--burst-size is the messages that start together under --rate-limit; add it, or leave it out");
}

TEST(RdmaOptions, ChooseTheNumaNode) {
  const auto numa = [](const std::string& line) { return parsed(kWriteBw, line).rdma; };
  EXPECT_TRUE(numa("").near_adapter);
  EXPECT_EQ(numa("").numa_node, -1);
  EXPECT_FALSE(numa("--numa off").near_adapter);
  EXPECT_EQ(numa("--numa 3").numa_node, 3);
  EXPECT_TRUE(numa("--numa 3 --numa auto").near_adapter);
  EXPECT_EQ(numa("--numa 3 --numa auto").numa_node, -1) << "the last one counts";
  EXPECT_NE(refusal(kWriteBw, "--numa near").find("--numa (auto, off or a node)"), std::string::npos);
  EXPECT_NE(refusal(kWriteBw, "--numa -1").find("--numa"), std::string::npos);
}

TEST(RdmaOptions, AreOfNoOtherProgram) {
  for (const Program& program : {test::kAllReduce, test::kTcpBw, test::kPairwiseBw, test::kGpuCopyBw}) {
    for (const std::string& key : kOfAllVerbs) {
      const bool is_shared = key == "concurrent" || key == "memory";
      EXPECT_TRUE(is_shared || !own_options(program).contains(key)) << key << program.name;
    }
  }
}

TEST(RdmaOptions, BeginWithPerftestsSizes) {
  for (const Program& program : {kWriteBw, kReadBw, kSendBw}) {
    const Options options = parsed(program, "");
    EXPECT_EQ(options.sizes.min_bytes, 65536U);
    EXPECT_EQ(options.sizes.max_bytes, 65536U);
    EXPECT_EQ(options.warmup, 1);
  }
  for (const Program& program : {kWriteLat, kReadLat, kSendLat}) {
    const Options options = parsed(program, "");
    EXPECT_EQ(options.sizes.min_bytes, 2U);
    EXPECT_EQ(options.sizes.max_bytes, 2U);
    EXPECT_EQ(options.warmup, 100);
  }
  for (const Program& program : {kAtomicBw, kAtomicLat}) {
    EXPECT_EQ(parsed(program, "").sizes.min_bytes, 8U);
    EXPECT_EQ(parsed(program, "").sizes.max_bytes, 8U);
  }
  for (const Program& program : kPrograms) {
    const Options options = parsed(program, "");
    EXPECT_EQ(options.datatypes, std::vector{DataType::kInt8});
    EXPECT_EQ(options.placement, Placement::kOut);
    EXPECT_EQ(options.sizes.step_factor, 2U);
    EXPECT_TRUE(options.given.empty());
  }
}

TEST(RdmaOptions, ReadEveryValueThere) {
  const RdmaOptions rdma = parsed(kSendBw,
                                  "-d mlx5_1 -i 2 -x 3 -m 2048 -q 4 -t 256 -r 1024 -l 16 -Q 50 -I 220 -b -c UC -e -S 5 "
                                  "-F --tclass 106 --stall-timeout 0.5 --format perftest --report_gbits --min-bw 12.5 "
                                  "--percent-of-rate 90")
                               .rdma;
  EXPECT_EQ(rdma.device, "mlx5_1");
  EXPECT_EQ(rdma.port, 2);
  EXPECT_EQ(rdma.gid, 3);
  EXPECT_EQ(rdma.mtu, 2048);
  EXPECT_EQ(rdma.queue_pairs, 4);
  EXPECT_EQ(rdma.depth, 256);
  EXPECT_EQ(rdma.receive_depth, 1024);
  EXPECT_EQ(rdma.post_list, 16);
  EXPECT_EQ(rdma.moderation, 50);
  EXPECT_EQ(rdma.inlined, 220);
  EXPECT_TRUE(rdma.both_ways && rdma.events && rdma.perftest_table && rdma.gbits);
  EXPECT_EQ(rdma.transport, Transport::kUc);
  EXPECT_EQ(rdma.service_level, 5);
  EXPECT_EQ(rdma.traffic_class, 106);
  EXPECT_EQ(rdma.stall_timeout, 0.5);
  EXPECT_EQ(rdma.percent_of_rate, 90);
  EXPECT_EQ(parsed(kReadBw, "-o 16").rdma.outstanding, 16);
  for (const Program& program : kPrograms) {
    EXPECT_FALSE(parsed(program, "").rdma.by_rdma_cm);
    for (const std::string line : {"-R", "--rdma_cm", "--rdma-cm"}) EXPECT_TRUE(parsed(program, line).rdma.by_rdma_cm);
  }
  EXPECT_TRUE(parsed(kSendLat, "--use-srq").rdma.shared_receives);
  EXPECT_TRUE(parsed(kReadLat, "--check all").check_all);
  EXPECT_TRUE(parsed(kSendBw, "--data_validation --use-srq").check_all) << "perftest's name for it";
  EXPECT_FALSE(parsed(kSendBw, "--check all --check 3").check_all);
  EXPECT_TRUE(parsed(kWriteBw, "--use-srq --write-with-imm -r 64").rdma.shared_receives);
  EXPECT_EQ(parsed(kAtomicBw, "-A CMP_AND_SWAP").rdma.atomic, AtomicKind::kCompareAndSwap);
  EXPECT_EQ(parsed(kAtomicLat, "-A FETCH_AND_ADD").rdma.atomic, AtomicKind::kFetchAndAdd);
  EXPECT_EQ(parsed(kWriteBw, "-c UC").rdma.transport, Transport::kUc);
  for (const Program& program : {kWriteBw, kWriteLat, kReadBw, kReadLat, kSendBw, kSendLat}) {
    EXPECT_EQ(parsed(program, "-c SRD").rdma.transport, Transport::kSrd);
    EXPECT_EQ(parsed(program, "-c SRD").rdma.moderation, 1) << "every request is signaled";
  }
  for (const Program& program : {kWriteBw, kWriteLat, kReadBw, kReadLat, kSendBw, kSendLat, kAtomicBw, kAtomicLat}) {
    EXPECT_EQ(parsed(program, "-c DC -u 20").rdma.transport, Transport::kDc);
    EXPECT_TRUE(parsed(program, "-c DC").rdma.shared_receives) << "targets have no receives of their own";
  }
  EXPECT_DOUBLE_EQ(parsed(kWriteLat, "--max-lat 2.5").rdma.max_latency, 2.5e-6);
  EXPECT_FALSE(parsed(kSendBw, "--format table").rdma.perftest_table);
}

TEST(RdmaOptions, AreTheSameByLetterByPerftestsNameAndWithDashes) {
  for (const std::string line :
       {"-d rxe0 -i 1 -x 1 -m 1024 -s 8K -q 2 -t 64 -r 32 -l 8 -Q 4 -I 0 -b -c RC -e -S 1 -F -D 2 -n",
        "-drxe0 -i1 -x1 -m1024 -s8K -q2 -t64 -r32 -l8 -Q4 -I0 -b -cRC -e -S1 -F -D2 -n",
        "--ib-dev=rxe0 --ib-port=1 --gid-index=1 --mtu=1024 --size=8192 --qp=2 --tx-depth=64 --rx-depth=32 "
        "--post_list=8 --cq-mod=4 --inline_size=0 --bidirectional --connection=RC --events --sl=1 --CPU-freq "
        "--duration=2 --iters",
        "--ib-dev rxe0 --ib-port 1 --gid-index 1 --mtu 1024 --size 8K --qp 2 --tx-depth 64 --rx-depth 32 --post-list 8 "
        "--cq-mod 4 --inline-size 0 --bidirectional --connection RC --events --sl 1 --cpu-freq --duration 2 --iters"}) {
    SCOPED_TRACE(line);
    EXPECT_EQ(refusal(kSendBw, line + " 5").substr(0, 2), "-n") << "so -n is known, and that it excludes -D";
    const Options options = parsed(kSendBw, line.substr(0, line.rfind(" -")));
    EXPECT_EQ(options.rdma.device, "rxe0");
    EXPECT_EQ(options.rdma.gid, 1);
    EXPECT_EQ(options.rdma.mtu, 1024);
    EXPECT_EQ(options.sizes.min_bytes, 8192U);
    EXPECT_EQ(options.sizes.max_bytes, 8192U);
    EXPECT_EQ(options.rdma.depth, 64);
    EXPECT_EQ(options.rdma.post_list, 8);
    EXPECT_EQ(options.rdma.inlined, 0);
    EXPECT_EQ(options.time_budget, 2);
  }
  EXPECT_TRUE(parsed(kWriteBw, "--write_with_imm").rdma.write_with_immediate);
  EXPECT_TRUE(parsed(kWriteLat, "--write-with-imm -r 8").rdma.write_with_immediate);
  EXPECT_TRUE(parsed(kWriteBw, "--report-gbits --format perftest").rdma.gbits);
  EXPECT_EQ(parsed(kAtomicBw, "--atomic-type=CMP_AND_SWAP").rdma.atomic, AtomicKind::kCompareAndSwap);
}

TEST(RdmaOptions, TakeAllOfPerftestsSizes) {
  const SizeRange sizes = parsed(kWriteBw, "-a").sizes;
  EXPECT_EQ(sizes.min_bytes, 2U);
  EXPECT_EQ(sizes.max_bytes, Bytes{8} << 20);
  EXPECT_EQ(list_sizes(sizes, 1).sizes.size(), 23U);
  EXPECT_EQ(list_sizes(parsed(kReadLat, "--all").sizes, 1).sizes.size(), 23U);
  EXPECT_EQ(list_sizes(parsed(kWriteBw, "--min-bytes 8 --max-bytes 1K --step-factor 4").sizes, 1).sizes,
            (std::vector<Bytes>{8, 32, 128, 512}));
}

TEST(RdmaOptions, KeepSizesThatNobodyAskedForWithinADatagram) {
  EXPECT_EQ(parsed(kSendBw, "-c UD").sizes.max_bytes, 1024U);
  EXPECT_EQ(parsed(kSendBw, "-c UD").sizes.min_bytes, 1024U);
  EXPECT_EQ(parsed(kSendLat, "-c UD").sizes.min_bytes, 2U);
  EXPECT_EQ(parsed(kSendLat, "-c UD").sizes.max_bytes, 2U);
  EXPECT_EQ(list_sizes(parsed(kSendBw, "-a -c UD").sizes, 1).sizes.size(), 12U) << "to 4 KiB";
  EXPECT_EQ(parsed(kSendBw, "-c UD --min-bytes 64").sizes.max_bytes, 4096U);
  EXPECT_EQ(parsed(kSendBw, "-c UD -s 4K").sizes.max_bytes, 4096U);
  EXPECT_EQ(parsed(kSendBw, "-c UC").sizes.max_bytes, 65536U);
}

TEST(RdmaOptions, KeepSizesThatNobodyAskedForWithinWhatSrdSends) {
  EXPECT_EQ(parsed(kSendBw, "-c SRD").sizes.max_bytes, 8192U);
  EXPECT_EQ(parsed(kSendBw, "-c SRD").sizes.min_bytes, 8192U);
  EXPECT_EQ(parsed(kSendLat, "-c SRD").sizes.max_bytes, 2U);
  EXPECT_EQ(parsed(kSendBw, "-c SRD -s 64K").sizes.max_bytes, 65536U);
  EXPECT_EQ(parsed(kWriteBw, "-c SRD").sizes.max_bytes, 65536U);
}

TEST(RdmaOptions, HaveNoLettersButPerftestsAndN) {
  for (const Program& program : kPrograms) {
    Keys letters;
    for (const Option& option : program.options) {
      if (option.names[1] != '-') letters.insert(option.names.substr(1, 1));
    }
    for (const std::string letter : {"n", "d", "i", "x", "m", "S", "D", "e", "F", "R", "u"}) {
      EXPECT_EQ(letters.count(letter), 1U) << program.name << letter;
    }
    for (const std::string letter : {"w", "N", "T", "f", "g", "J", "G", "C", "M"}) {
      EXPECT_EQ(letters.count(letter), 0U) << program.name << letter;
    }
  }
  EXPECT_EQ(refusal(kWriteBw, "-w 5"),
            "-w of perftest: the least bandwidth is in GB/s here: --min-bw, or a share of the port's rate: "
            "--percent-of-rate");
  EXPECT_EQ(parsed(kWriteBw, "--warmup-iters 5 --timeout 7 --check 0 -n 5").warmup, 5);
  EXPECT_EQ(parsed(kWriteBw, "-n 5").iterations, 5);
}

TEST(RdmaOptions, LoadThePortsWhileLatenciesAreMeasured) {
  EXPECT_FALSE(parsed(kWriteLat, "").rdma.background);
  EXPECT_FALSE(parsed(kWriteLat, "--background none").rdma.background);
  for (const Program& program : {kWriteLat, kReadLat, kSendLat, kAtomicLat}) {
    const RdmaOptions usual = parsed(program, "--background bw -S 2").rdma;
    EXPECT_TRUE(usual.background);
    EXPECT_FALSE(usual.background_service_level.has_value());
    EXPECT_EQ(parsed(program, "--background bw --background-sl 0").rdma.background_service_level, 0);
    EXPECT_EQ(parsed(program, "--background bw --background-tclass 104").rdma.background_traffic_class, 104);
  }
}

TEST(RdmaOptionValues, GivenBackToTheParserMakeTheSameOptions) {
  const std::pair<Program, std::string> cases[] = {
      {kSendBw, ""},
      {kSendBw,
       "-d mlx5_1 -i 2 -x 0 -m 256 -q 4 -t 256 -r 1024 -l 16 -Q 50 -I 0 -b -c UD -e -S 5 --tclass 1 "
       "--stall-timeout 0.5 --format perftest --report_gbits --min-bw 12.5 --percent-of-rate 90 -D 3"},
      {kSendBw, "-a"},
      {kWriteBw, "-s 1K --write_with_imm -c UC"},
      {kWriteLat, "--max-lat 1.7"},
      {kReadLat, "--background bw --background-sl 3 --background-tclass 0 -S 1"},
      {kSendBw, "-R --use-srq"},
      {kSendLat, "--memory hugepages"},
      {kReadBw, "--memory cuda:2 --data-direct"},
      {kAtomicBw, "-A CMP_AND_SWAP -o 4"},
      {kAtomicLat, "--max-lat 0.3"}};
  for (const auto& [program, line] : cases) {
    SCOPED_TRACE(program.name + " " + line);
    const auto values = option_values(program, parsed(program, line));
    std::vector<std::string> arguments;
    for (const Option& spec : program.options) {
      for (const auto& [key, value] : values) {
        if (key != spec.key()) continue;
        // -r is refused where nothing is received, and -S beside -R, though they have values.
        if (key == "rx_depth" && program.name.starts_with("rdma_write")) continue;
        if (key == "sl" && line.starts_with("-R")) continue;
        arguments.push_back(spec.long_name() + (spec.value_name.empty() ? "" : "=" + value));
      }
    }
    EXPECT_EQ(option_values(program, parse_command_line(program, arguments).options), values);
  }
}

TEST(RdmaOptionValues, AreInPerftestsWords) {
  const auto values = option_values(kSendBw, parsed(kSendBw, "-c UC -m 512"));
  const auto has = [&](const std::string& key, const std::string& value) {
    return std::find(values.begin(), values.end(), std::pair(key, value)) != values.end();
  };
  EXPECT_TRUE(has("connection", "UC") && has("mtu", "512") && has("tx_depth", "128") && has("rx_depth", "512"));
  EXPECT_TRUE(has("qp", "1") && has("post_list", "1") && has("format", "table") && has("stall_timeout", "5"));
  EXPECT_TRUE(has("memory", "host"));
  for (const auto& [key, value] : values) {
    EXPECT_TRUE(key != "ib_dev" && key != "gid_index" && key != "cq_mod" && key != "size" && key != "duration") << key;
  }
}

TEST(RdmaHelp, HasEachOptionWithItsDefault) {
  for (const Program& program : kPrograms) {
    const std::string text = test::help_in_one_line(program);
    for (const Option& option : program.options) test::expect_in_help(program, option, text);
    EXPECT_NE(text.find("-h, --help"), std::string::npos);
    EXPECT_NE(text.find("RDMA:"), std::string::npos);
    EXPECT_EQ(text.find("GPUs:"), std::string::npos);
    for (const char* other : {" -f", " -T", " -w", "NCCL_TESTS"}) EXPECT_EQ(text.find(other), std::string::npos);
  }
  EXPECT_NE(help(kSendBw).find("requests in flight per queue pair [128]"), std::string::npos);
  EXPECT_NE(test::help_in_one_line(kAtomicBw).find("atomic operation: CMP_AND_SWAP or FETCH_AND_ADD [FETCH_AND_ADD]"),
            std::string::npos);
  EXPECT_EQ(parse_command_line(kSendBw, {"--version"}).text.substr(0, 12), "rdma_send_bw");
}

class RdmaEnvironment : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("NCCL_TESTS_MIN_BW");
    unsetenv("NCCL_TESTS_SPLIT_MASK");
    unsetenv("NCCL_TESTS_DEVICE");
  }
};

TEST_F(RdmaEnvironment, OfNcclTestsMeansNothing) {
  setenv("NCCL_TESTS_MIN_BW", "40", 1);
  setenv("NCCL_TESTS_SPLIT_MASK", "7", 1);
  setenv("NCCL_TESTS_DEVICE", "1", 1);
  std::string name = "rdma_send_bw";
  char* arguments[] = {name.data()};
  EXPECT_TRUE(arguments_with_environment(kSendBw, 1, arguments).empty());
}

TEST(Names, ArePerftests) {
  EXPECT_EQ(name(Verb::kWrite), "write");
  EXPECT_EQ(name(Verb::kRead), "read");
  EXPECT_EQ(name(Verb::kSend), "send");
  EXPECT_EQ(name(Verb::kAtomic), "atomic");
  EXPECT_EQ(name(Verb::kNone), "");
  EXPECT_EQ(name(Transport::kRc), "RC");
  EXPECT_EQ(name(Transport::kUc), "UC");
  EXPECT_EQ(name(Transport::kUd), "UD");
  EXPECT_EQ(name(Transport::kSrd), "SRD");
  EXPECT_EQ(name(Transport::kDc), "DC");
  EXPECT_EQ(name(AtomicKind::kFetchAndAdd), "FETCH_AND_ADD");
  EXPECT_EQ(name(AtomicKind::kCompareAndSwap), "CMP_AND_SWAP");
}

TEST(Depth, IsPerftestsUnlessAskedFor) {
  RdmaOptions options;
  EXPECT_EQ(depth_of(options, false), 128);
  EXPECT_EQ(depth_of(options, true), 1);
  options.depth = 7;
  EXPECT_EQ(depth_of(options, false), 7);
  EXPECT_EQ(depth_of(options, true), 1);
}

TEST(Moderation, IsPerftestsUnlessAskedForAndHalfOfTheDepthAtMost) {
  RdmaOptions options;
  EXPECT_EQ(moderation_of(options, 8192, 1000), 100);
  EXPECT_EQ(moderation_of(options, 8193, 1000), 1);
  EXPECT_EQ(moderation_of(options, 8, 128), 64);
  EXPECT_EQ(moderation_of(options, 8, 1), 1);
  options.moderation = 16;
  EXPECT_EQ(moderation_of(options, 1 << 20, 128), 16);
  EXPECT_EQ(moderation_of(options, 1 << 20, 8), 4);
}

TEST(RdmaOptions, MayBeHexadecimal) {
  const RdmaOptions rdma = parsed(kWriteBw, "--tclass 0x6a -S 0X3 --flow_label 0xfffff,7,0x1 --pkey_index 0x10").rdma;
  EXPECT_EQ(rdma.traffic_class, 106);
  EXPECT_EQ(rdma.service_level, 3);
  EXPECT_EQ(rdma.flow_labels, (std::vector<std::int64_t>{0xfffff, 7, 1}));
  EXPECT_EQ(rdma.partition, 16);
  EXPECT_EQ(parsed(kWriteBw, "-T 0x6a").rdma.traffic_class, 106) << "of perftest";
  EXPECT_EQ(parsed(kWriteLat, "--background bw --background-tclass 0xff").rdma.background_traffic_class, 255);
  EXPECT_EQ(refusal(kWriteBw, "--tclass 0x100"), "256 is too large; --tclass is at most 255");
  for (const char* line : {"--tclass 0x", "--tclass 6a", "--tclass 0x6g", "--tclass -0x6", "--flow-label 1,,0x2"}) {
    EXPECT_NE(refusal(kWriteBw, line).find("is not a whole number"), std::string::npos) << line;
  }
}

}  // namespace rdma_options_test
