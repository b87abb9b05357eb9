// Options that the RDMA programs refuse, and how they name them.

#include <gtest/gtest.h>

#include <string>

#include "rdma_option_support.h"

using namespace fabricbench;
using namespace fabricbench::test;

namespace rdma_refusals_test {

TEST(RdmaRefusals, NameOptionsInMessagesAsTheProgramKnowsThem) {
  EXPECT_EQ(refusal(kWriteBw, "--min-bytes"),
            "--minbytes,--min-bytes needs a value; --help says what each option takes");
  EXPECT_EQ(refusal(kWriteBw, "-d -b"), "-d,--ib-dev needs a value, and was given the option '-b'; --help says which");
  EXPECT_EQ(refusal(kWriteBw, "--timeout -1"), "-1 is too small; --timeout is at least 0");
  EXPECT_EQ(refusal(kWriteBw, "--min-bytes 1M"),
            "the first size, --min-bytes 1M, is above the last, --max-bytes 64K; raise --max-bytes or lower "
            "--min-bytes");
}

TEST(RdmaRefusals, AreRefusedWhereTheyMeanNothing) {
  const struct {
    Program program;
    std::string line;
  } cases[] = {{kSendLat, "--min-bw 1"},      {kSendBw, "--max-lat 1"},        {kWriteBw, "--background bw"},
               {kSeenLat, "--background bw"}, {kAtomicLat, "--min-bytes 8"},   {kWriteBw, "--backend mpi"},
               {kWriteBw, "--device 0"},      {kWriteBw, "--ngpus 2"},         {kWriteBw, "--buffers cold"},
               {kWriteBw, "--unalign 1"},     {kWriteBw, "--window 4"},        {kWriteBw, "--streams 2"},
               {kWriteBw, "--interface lo"},  {kWriteBw, "--datatype half"},   {kWriteBw, "--placement in"},
               {kWriteBw, "--split MOD2"},    {kWriteBw, "--schedule circle"}, {kWriteBw, "--bytes 8"}};
  for (const auto& [program, line] : cases) {
    EXPECT_TRUE(refusal(program, line).starts_with("unknown option '" + line.substr(0, line.find(' ')) + "'; "))
        << program.name;
  }
}

TEST(RdmaRefusals, OfALoadSayWhatItNeeds) {
  EXPECT_EQ(refusal(kWriteLat, "--background lat"), "'lat' is not a load; choose one of none, bw");
  EXPECT_EQ(refusal(kWriteLat, "--background bw --background-sl 16"), "16 is too large; --background-sl is at most 15");
  for (const char* line : {"--background-sl 1", "--background none --background-tclass 8"}) {
    EXPECT_EQ(refusal(kWriteLat, line),
              "--background-sl and --background-tclass are for the stream of --background bw; add it, or leave them "
              "out");
  }
  EXPECT_TRUE(refusal(kSendLat, "-R --background bw --background-sl 1")
                  .starts_with("--background-sl sets a service level, and with -R the path"));
  EXPECT_NO_THROW((void)parsed(kSendLat, "-R --background bw --background-tclass 8"));
}

TEST(RdmaRefusals, SayWhereBuffersLie) {
  EXPECT_EQ(parsed(kWriteBw, "").memory, MemoryKind::kAuto);
  EXPECT_EQ(parsed(kWriteBw, "--memory host").memory, MemoryKind::kHost);
  EXPECT_EQ(parsed(kAtomicLat, "--memory hugepages").memory, MemoryKind::kHugePages);
  for (const Program& program : {kWriteBw, kReadLat, kSendLat, kAtomicBw}) {
    const Options any = parsed(program, "--memory cuda --data-direct");
    EXPECT_EQ(any.memory, MemoryKind::kCuda);
    EXPECT_FALSE(any.device);
    EXPECT_TRUE(any.rdma.data_direct);
    EXPECT_EQ(parsed(program, "--memory cuda:3").device, 3);
  }
  EXPECT_NO_THROW((void)parsed(kWriteLat, "--memory cuda --write-with-imm"));
  EXPECT_NO_THROW((void)parsed(kSendBw, "--memory cuda -I 0"));
}

TEST(RdmaRefusals, KnowWhatTheProcessorCannotDoInAGpusMemory) {
  EXPECT_EQ(refusal(kWriteLat, "--memory cuda"),
            "--memory cuda: a write's arrival shows only in its last byte, and the processor cannot access GPU memory; "
            "add --write-with-imm, or use rdma_send_lat or gpudirect_rdma_lat");
  EXPECT_EQ(refusal(kSendBw, "--memory cuda:1 -I 64"),
            "-I 64: the processor copies inline data, and cannot access the memory of --memory cuda; leave out one");
  for (const std::string line : {"--data-direct", "--memory hugepages --data-direct"}) {
    EXPECT_EQ(refusal(kSendBw, line), "--data-direct is for GPU memory; add --memory cuda, or leave it out");
  }
}

TEST(RdmaRefusals, RefuseWhatTheyCannotMean) {
  const struct {
    Program program;
    std::string line;
    std::string message;
  } cases[] = {
      {kSendBw, "--memory gpu", "'gpu' is not a kind of memory; choose one of host, hugepages, cuda"},
      {kSendBw, "--memory cuda:x", "'x' is not a whole number; the N of cuda:N is a number such as 2"},
      {kSendBw, "--memory cuda:-1", "-1 is too small; the N of cuda:N is at least 0"},
      {kSendBw, "--check some", "'some' is not a whole number; --check (a number or all) is a number such as 2"},
      {kAtomicBw, "--check all",
       "--check all: this program does not have that (programs of collectives and of messages between two ranks do); "
       "give a number of operations to check besides the timed ones"},
      {kSendBw, "-m 1500", "'1500' is not a path MTU; choose one of 256, 512, 1024, 2048, 4096"},
      {kSendBw, "-c XRC", "'XRC' is not a connection of sends; choose one of RC, UC, UD, SRD, DC"},
      {kWriteBw, "-c UD", "'UD' is not a connection of writes; choose one of RC, UC, SRD, DC"},
      {kReadLat, "-c UC", "'UC' is not a connection of reads; choose one of RC, SRD, DC"},
      {kAtomicBw, "-c SRD", "'SRD' is not a connection of atomics; choose one of RC, DC"},
      {kAtomicBw, "-A ADD", "'ADD' is not a type of atomic operation; choose one of CMP_AND_SWAP, FETCH_AND_ADD"},
      {kSendBw, "--format csv", "'csv' is not a table; choose one of table, perftest"},
      {kSendBw, "-i 0", "0 is too small; -i (port) is at least 1"},
      {kSendBw, "-x -1", "-1 is too small; -x (GID index) is at least 0"},
      {kSendBw, "-q 0", "0 is too small; -q (queue pairs) is at least 1"},
      {kSendBw, "-q 16385", "16385 is too large; -q (queue pairs) is at most 16384"},
      {kSendBw, "-t 0", "0 is too small; -t (tx depth) is at least 1"},
      {kSendBw, "-r 0", "0 is too small; -r (rx depth) is at least 1"},
      {kSendBw, "-l 0", "0 is too small; -l (post list) is at least 1"},
      {kSendBw, "-Q 0", "0 is too small; -Q (requests a signal) is at least 1"},
      {kSendBw, "-I 4097", "4097 is too large; -I (inline size) is at most 4096"},
      {kReadBw, "-o 0", "0 is too small; -o (outstanding) is at least 1"},
      {kSendBw, "-S 16", "16 is too large; -S (service level) is at most 15"},
      {kSendBw, "--tclass 256", "256 is too large; --tclass is at most 255"},
      {kSendBw, "--stall-timeout 0", "0 is too small; --stall-timeout is at least 0.001"},
      {kSendBw, "-D 0", "0 is too small; -D (duration) is at least 0.001"},
      {kSendBw, "--min-bw -1", "-1 is too small; --min-bw is at least 0"},
      {kSendBw, "--percent-of-rate 101", "101 is too large; --percent-of-rate is at most 100"},
      {kSendLat, "--max-lat slow", "'slow' is not a number; --max-lat is a number such as 10"},
      {kSendBw, "-s 8x", "'8x' is not a size; write a number with K, M, G or T, such as 8M"}};
  for (const auto& [program, line, message] : cases) EXPECT_EQ(refusal(program, line), message);
  EXPECT_THROW((void)parse_command_line(kSendBw, {"-d", ""}), UsageError);
}

TEST(RdmaRefusals, RefuseCombinationsThatMakeNoSense) {
  const std::string which_sizes =
      " sets the sizes, and so do --min-bytes, --max-bytes, --step-bytes and --step-factor; leave out one or the other";
  const struct {
    Program program;
    std::string line;
    std::string message;
  } cases[] = {
      {kSendBw, "-s 8 -a", "-s asks for one size, and -a for all of them; leave out one"},
      {kSendBw, "-s 8 --max-bytes 16", "-s" + which_sizes},
      {kSendBw, "-s 8 --min-bytes 4", "-s" + which_sizes},
      {kSendBw, "-a --step-factor 4", "-a" + which_sizes},
      {kSendBw, "-a --step-bytes 4", "-a" + which_sizes},
      {kSendBw, "--check all --use-srq -q 2",
       "--check all: with --use-srq and several queue pairs the place of a message is not known before it arrives; "
       "leave out --use-srq, or use -q 1"},
      {kSendBw, "-l 129", "-l 129 hands over more requests at once than -t 128 has room for; lower -l or raise -t"},
      {kSendBw, "-t 8 -l 9", "-l 9 hands over more requests at once than -t 8 has room for; lower -l or raise -t"},
      {kSendBw, "-t 8 -Q 9",
       "-Q 9 is above -t 8: a queue would be full before a request is signaled; lower -Q or raise -t"},
      {kSendBw, "-c UD -s 8K",
       "-c UD sends datagrams of 4096 bytes at most, and sizes go up to 8K; give smaller ones with -s or --max-bytes, "
       "or use -c RC"},
      {kSendBw, "-c UD --min-bytes 5000",
       "-c UD sends datagrams of 4096 bytes at most, and sizes go up to 5000; give smaller ones with -s or "
       "--max-bytes, or use -c RC"},
      {kSendBw, "-d mlx5_0 --devices all",
       "-d names one device for all ranks, and --devices names one for each; leave out one"},
      {kSendBw, "-D 1 --time-budget 2", "-D and --time-budget both say how long a size is measured; leave out one"},
      {kSendBw, "-D 1 -n 5", "-n asks for exactly 5 iterations, and --duration for as many as needed; leave out one"},
      {kSendBw, "--report-gbits --format table",
       "--report_gbits is for perftest's table; add --format perftest, or leave it out"},
      {kWriteBw, "--use-srq",
       "--use-srq is for receives, which a plain write does not use; add --write-with-imm, or leave it out"},
      {kSendBw, "-R -c UC",
       "-R connects RC and UD queue pairs, and librdmacm supports no others; use -c RC, or leave out -R"},
      {kAtomicLat, "-R -c DC",
       "-R connects RC and UD queue pairs, and librdmacm supports no others; use -c RC, or leave out -R"},
      {kReadBw, "-R -c SRD",
       "-R connects RC and UD queue pairs, and librdmacm supports no others; use -c RC, or leave out -R"},
      {kSendBw, "-c SRD -Q 4", "-Q is not for -c SRD: every request is signaled; leave it out"},
      {kSendLat, "-c SRD --use-srq", "--use-srq is not for -c SRD: there are no shared receive queues; leave it out"},
      {kWriteBw, "-c SRD -m 1024", "-m is not for -c SRD: there is no path MTU to choose; leave it out"},
      {kReadBw, "-c SRD -o 4",
       "-o is not for -c SRD: the adapter alone decides how many reads are under way; leave it out"},
      {kWriteLat, "-c SRD --flow-label 1",
       "--flow-label is not for -c SRD: the adapter spreads packets over paths by itself; leave it out"},
      {kWriteBw, "-c SRD -u 20",
       "-u is not for -c SRD: the adapter decides when and how often to send again; leave it out"},
      {kWriteBw, "-c UC --retry-count 3",
       "-u and --retry-count are for what is sent again, which only RC and DC do; leave them out, or use -c RC"},
      {kWriteBw, "-c SRD -I 32", "-I is not for writes with -c SRD: the adapter writes nothing inline; leave it out"},
      {kReadLat, "-S 0 -R",
       "-S sets a service level, and with -R the path that rdma_cm resolves has its own (the subnet manager's, or that "
       "of the traffic class); leave out -S, or set --tclass"},
      {kWriteBw, "-r 8",
       "-r is for receives, which a plain write does not use; add --write-with-imm, or leave out -r"}};
  for (const auto& [program, line, message] : cases) EXPECT_EQ(refusal(program, line), message);
}

TEST(RdmaRefusals, AcceptWhatOnlyLooksLikeABadCombination) {
  EXPECT_NO_THROW((void)parsed(kSendBw, "-t 8 -l 8 -Q 8"));
  EXPECT_NO_THROW((void)parsed(kSendBw, "-e -F -b -q 3"));
  EXPECT_NO_THROW((void)parsed(kSendLat, "-e"));
  EXPECT_NO_THROW((void)parsed(kSendLat, "--use-srq -c UC"));
  EXPECT_NO_THROW((void)parsed(kSendBw, "-R -c UD -q 4 --tclass 106 -m 1024 -x 3 -d mlx5_0 -i 2"));
  EXPECT_NO_THROW((void)parsed(kWriteBw, "-r 8 --write-with-imm"));
  EXPECT_NO_THROW((void)parsed(kSendBw, "-D 1 --epochs 5"));
  EXPECT_NO_THROW((void)parsed(kSendBw, "-s 64K -I 4096"));
}

TEST(RdmaRefusals, OfBurstsKeepThemInTheQueues) {
  EXPECT_EQ(
      refusal(kWriteBw, "--rate-limit 8 -t 4 -q 2 --burst-size 9"),
      "--burst-size 9 starts more messages at once than -t 4 and -q 2 have room for; lower it, or raise -t or -q");
  EXPECT_EQ(parsed(kWriteBw, "--rate-limit 8 -t 4 -q 2 --burst-size 8").rdma.burst, 8);
}

}  // namespace rdma_refusals_test
