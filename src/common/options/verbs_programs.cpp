#include "common/options/verbs_programs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/options/accessors.h"
#include "common/options/option_sets.h"

namespace fabricbench {
namespace {

using namespace option_parts;
using enum OptionGroup;

constexpr Bytes kUsualBandwidthSize = Bytes{64} << 10;  // perftest's
constexpr Bytes kUsualLatencySize = 2;                  // perftest's
constexpr Bytes kAtomicSize = 8;
constexpr Bytes kUsualConnectionSize = 64;
constexpr Bytes kLargestDatagram = 4096;  // the largest MTU there is
constexpr Bytes kUsualDatagram = 1024;    // fits in the MTU of a port whose Ethernet has the usual 1500 bytes
constexpr std::int64_t kLatencyWarmup = 100;
constexpr std::int64_t kBandwidthWarmup = 1;                      // an iteration is a whole window there
constexpr Sweep kAllSizes{2, Bytes{8} << 20, Bytes{1} << 20, 2};  // perftest's -a
constexpr std::int64_t kMostQueuePairs = 16384;
constexpr std::int64_t kMostRequests = 1 << 20;
constexpr std::int64_t kMostInline = 4096;  // more than any adapter takes

constexpr Choices<Transport, 2> kTransportsOfWrite = {{{"RC", Transport::kRc}, {"UC", Transport::kUc}}};
constexpr Choices<Transport, 2> kTransportsOfRdmaCm = {{{"RC", Transport::kRc}, {"UD", Transport::kUd}}};
constexpr Choices<AtomicKind, 2> kAtomicKinds = {
    {{"CMP_AND_SWAP", AtomicKind::kCompareAndSwap}, {"FETCH_AND_ADD", AtomicKind::kFetchAndAdd}}};
constexpr Choices<bool, 2> kFormats = {{{"table", false}, {"perftest", true}}};
constexpr Choices<MemoryKind, 3> kBufferKinds = {
    {{"host", MemoryKind::kHost}, {"hugepages", MemoryKind::kHugePages}, {"cuda", MemoryKind::kCuda}}};
constexpr Choices<std::int64_t, 5> kMtus = {
    {{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}};

/// Of an option that sets what another one shows.
Accessors shown_by_another(Accessors accessors) {
  accessors.get = [](const Options&) { return std::string(); };
  return accessors;
}

/// A whole number of which 0 means that nothing was asked for.
Accessors integer_or_unset(std::int64_t RdmaOptions::*member, std::string_view what, std::int64_t most) {
  Accessors accessors = integer(member, what, 1, most);
  accessors.get = [member](const Options& options) {
    return options.rdma.*member == 0 ? std::string() : fmt::format("{}", options.rdma.*member);
  };
  return accessors;
}

Accessors integer_or_none(std::optional<std::int64_t> RdmaOptions::*member, std::string_view what, std::int64_t most) {
  return {[=](Options& options, std::string_view text) { options.rdma.*member = parse_integer(text, what, 0, most); },
          [=](const Options& options) {
            const auto& value = options.rdma.*member;
            return value ? fmt::format("{}", *value) : std::string();
          }};
}

Accessors depth() {
  Accessors accessors = integer(&RdmaOptions::depth, "-t (tx depth)", 1, kMostRequests);
  accessors.get = [](const Options& options) { return fmt::format("{}", depth_of(options.rdma, false)); };
  return accessors;
}

/// Without a word it is the host's.
Accessors memory_of_buffers() {
  constexpr std::string_view kNumbered = "cuda:";
  return {[=](Options& options, std::string_view text) {
            const bool numbered = text.starts_with(kNumbered);
            options.memory = numbered ? MemoryKind::kCuda : choose(text, "kind of memory", kBufferKinds);
            options.device.reset();
            if (numbered) options.device = parse_integer(text.substr(kNumbered.size()), "the N of cuda:N", 0, 1023);
          },
          [](const Options& options) {
            const auto kind = options.memory == MemoryKind::kAuto ? MemoryKind::kHost : options.memory;
            return fmt::format("{}{}", word_for(kind, kBufferKinds),
                               options.device ? fmt::format(":{}", *options.device) : "");
          }};
}

Accessors most_latency() {
  constexpr double kMicroseconds = 1e6;  // in a second
  return {[](Options& options, std::string_view text) {
            options.rdma.max_latency = parse_number(text, "--max-lat", 0, 1e9) / kMicroseconds;
          },
          [](const Options& options) { return fmt::format("{:.12g}", options.rdma.max_latency * kMicroseconds); }};
}

OptionSet ways_to_size() {
  return {option(kSizes, "-s,--size", "SIZE", "one message size, in place of the first and the last",
                 shown_by_another(one_size())),
          option(kSizes, "-a,--all", "", "all powers of two from 2 bytes to 8 MiB, with -c UD to 4 KiB",
                 shown_by_another({[](Options& options, std::string_view) { options.sweep = kAllSizes; }, {}}))};
}

OptionSet durations() {
  return {option(kMeasuring, "-D,--duration", "SECONDS", "the same as --time-budget",
                 shown_by_another(number(&Options::time_budget, "-D (duration)", 0.001, 1e6)))};
}

OptionSet stall_timeout() {
  return {option(kMeasuring, "--stall-timeout", "SECONDS", "end the job when nothing has completed for so long",
                 number(&RdmaOptions::stall_timeout, "--stall-timeout", 0.001, 1e6))};
}

OptionSet port() {
  return {option(kRdma, "-d,--ib-dev", "NAME", "device, such as mlx5_0; without it, the first with an active port",
                 text(&RdmaOptions::device, "-d (device)", "a device's name")),
          option(kRdma, "-i,--ib-port", "N", "port of the device; without it, the first active one",
                 integer_or_unset(&RdmaOptions::port, "-i (port)", 255)),
          option(kRdma, "-x,--gid-index", "N", "index in the port's GID table; without it, both ends choose together",
                 integer_or_none(&RdmaOptions::gid, "-x (GID index)", 65535))};
}

OptionSet addresses() {
  return {option(kRdma, "--devices", "RULE",
                 "device of each rank of a host, so that one run measures several rails: all (one rank for each active "
                 "device), rail (the same, and both ends of a pair have devices of one name), names such as "
                 "mlx5_0,mlx5_1 (taken in turn), or auto (the nearest one)",
                 text(&RdmaOptions::devices, "--devices", "a rule")),
          option(kRdma, "-m,--mtu", "BYTES",
                 "path MTU: 256, 512, 1024, 2048 or 4096; without it, the most that both ports have",
                 choice(&RdmaOptions::mtu, "path MTU", kMtus)),
          option(kRdma, "-S,--sl", "N", "service level, 0 to 15",
                 integer(&RdmaOptions::service_level, "-S (service level)", 0, 15)),
          option(kRdma, "--tclass", "N", "traffic class, 0 to 255",
                 integer(&RdmaOptions::traffic_class, "--tclass", 0, 255)),
          option(kRdma, "-R,--rdma_cm,--rdma-cm", "", "connect queue pairs by rdma_cm, in place of over MPI",
                 flag(&RdmaOptions::by_rdma_cm))};
}

OptionSet buffer_memory() {
  return {option(kBuffers, "--memory", "KIND",
                 "where the buffers lie: host, hugepages, or cuda: each rank's GPU; cuda:N: CUDA's Nth device of every "
                 "rank",
                 memory_of_buffers()),
          option(kBuffers, "--data-direct", "",
                 "reach GPU memory by Data Direct of mlx5 devices, over PCI Express past the processor",
                 flag(&RdmaOptions::data_direct))};
}

OptionSet queues_of_bandwidth() {
  return {
      option(kRdma, "-q,--qp", "N", "queue pairs, which messages take turns on",
             integer(&RdmaOptions::queue_pairs, "-q (queue pairs)", 1, kMostQueuePairs)),
      option(kRdma, "-t,--tx-depth", "N", "requests under way on a queue pair", depth()),
      option(kRdma, "-l,--post_list,--post-list", "N", "requests handed to the device at once",
             integer(&RdmaOptions::post_list, "-l (post list)", 1, kMostRequests)),
      option(kRdma, "-Q,--cq-mod", "N",
             "signal one request in N, in half of -t at most; without it, 100, and 1 above 8 KiB",
             integer_or_unset(&RdmaOptions::moderation, "-Q (requests a signal)", kMostRequests)),
      option(kRdma, "-b,--bidirectional", "", "in both directions at the same time", flag(&RdmaOptions::both_ways))};
}

/// Of messages that one side gives and the other takes.
OptionSet inline_size() {
  return {option(kRdma, "-I,--inline_size,--inline-size", "BYTES", "send messages up to this size inline",
                 integer_or_none(&RdmaOptions::inlined, "-I (inline size)", kMostInline))};
}

OptionSet receives() {
  return {option(kRdma, "-r,--rx-depth", "N", "receives kept ready on a queue pair",
                 integer(&RdmaOptions::receive_depth, "-r (rx depth)", 1, kMostRequests)),
          option(kRdma, "--use-srq", "",
                 "let all queue pairs take their receives from one queue, of which -r is the "
                 "depth",
                 flag(&RdmaOptions::shared_receives))};
}

OptionSet transport_of(Verb verb) {
  if (verb == Verb::kWrite) {
    return {option(kRdma, "-c,--connection", "TYPE", "of queue pairs: RC or UC",
                   choice(&RdmaOptions::transport, "connection of writes", kTransportsOfWrite))};
  }
  return {option(kRdma, "-c,--connection", "TYPE", "of queue pairs: RC, UC or UD",
                 choice(&RdmaOptions::transport, "connection"))};
}

OptionSet immediate() {
  return {option(kRdma, "--write_with_imm,--write-with-imm", "",
                 "write with immediate data, which completes a receive of the other rank",
                 flag(&RdmaOptions::write_with_immediate))};
}

/// Of operations whose answers come back with data, of which several are under way.
OptionSet outstanding() {
  return {option(kRdma, "-o,--outs", "N",
                 "operations that a queue pair waits for; without it, as many as both devices can",
                 integer_or_unset(&RdmaOptions::outstanding, "-o (outstanding)", 255))};
}

OptionSet atomic_type() {
  return {option(kRdma, "-A,--atomic_type,--atomic-type", "TYPE", "CMP_AND_SWAP or FETCH_AND_ADD",
                 choice(&RdmaOptions::atomic, "type of atomic operation", kAtomicKinds))};
}

OptionSet events() {
  return {option(kRdma, "-e,--events", "", "sleep until a completion comes, in place of polling",
                 flag(&RdmaOptions::events))};
}

OptionSet seen_by() {
  return {option(kRdma, "--seen-by", "WHOM",
                 "when a message counts: gpu, when a kernel there has seen it, or with --memory host a thread in its "
                 "place; cq, when the processor has polled its completion; cq+flush, when it has also read the last "
                 "bytes back",
                 choice(&RdmaOptions::seen_by, "way to see a message"))};
}

OptionSet cpu_frequency() {
  return {option(kRdma, "-F,--cpu-freq,--CPU-freq", "",
                 "does nothing, and is there for perftest's command lines: times do not come from cycle counts",
                 shown_by_another({[](Options&, std::string_view) {}, {}}))};
}

OptionSet tables() {
  return {option(kOutput, "--format", "TABLE", "table, or perftest: with perftest's columns",
                 choice(&RdmaOptions::perftest_table, "table", kFormats))};
}

OptionSet required_bandwidth() {
  return {option(kOutput, "--report_gbits,--report-gbits", "", "Gb/s in perftest's table, in place of MiB/s",
                 flag(&RdmaOptions::gbits)),
          option(kOutput, "--min-bw", "GB/S", "exit 6 where a bandwidth is below this; 0: none is too low",
                 number(&RdmaOptions::min_bandwidth_gb_per_s, "--min-bw", 0, 1e9)),
          option(kOutput, "--percent-of-rate", "PERCENT",
                 "exit 6 where a bandwidth is below this share of the port's rate; 0: none is too low",
                 number(&RdmaOptions::percent_of_rate, "--percent-of-rate", 0, 100))};
}

OptionSet required_latency() {
  return {
      option(kOutput, "--max-lat", "US", "exit 6 where a latency is above this; 0: none is too high", most_latency())};
}

OptionSet connections() {
  return {option(kMeasuring, "-n,--iters", "N", "connections of each pair, one after the other",
                 integer(&RdmaOptions::connections, "-n (connections)", 1)),
          option(kSizes, "-C,--messages", "N", "messages in each direction of a connection",
                 integer(&RdmaOptions::messages, "-C (messages)", 1, kMostMessages)),
          option(kSizes, "-s,--size", "SIZE", "size of a message, in bytes or with K, M, G", one_size()),
          option(kRdma, "-c,--connection", "TYPE", "RC, or UD: of datagrams, whose losses are counted",
                 choice(&RdmaOptions::transport, "connection over rdma_cm", kTransportsOfRdmaCm))};
}

/// Options of the operation itself.
OptionSet requests_of(const VerbsTest& test) {
  OptionSet set;
  if (!test.latency) set = queues_of_bandwidth();
  const bool of_messages = test.verb == Verb::kWrite || test.verb == Verb::kSend;
  if (of_messages) set = join({set, inline_size()});
  if (of_messages && !test.seen_by) set = join({set, transport_of(test.verb), receives()});
  if (test.verb == Verb::kWrite && !test.seen_by) set = join({set, immediate()});
  if (!of_messages && !test.latency) set = join({set, outstanding()});
  if (test.verb == Verb::kAtomic) set = join({set, atomic_type()});
  return join({set, test.seen_by ? seen_by() : events(), cpu_frequency()});
}

void check_ways_to_size(const Options& options) {
  const bool one = options.has_given({"size"});
  const bool all = options.has_given({"all"});
  if (one && all) throw UsageError("-s asks for one size, and -a for all of them; leave out one");
  if (!one && !all) return;
  if (!options.has_given({"minbytes", "maxbytes", "stepbytes", "stepfactor"})) return;
  throw UsageError(
      fmt::format("{} says which sizes to measure, as --min-bytes, --max-bytes, --step-bytes and --step-factor do; "
                  "leave out it or these",
                  one ? "-s" : "-a"));
}

void check_queue_depths(const RdmaOptions& rdma, bool latency) {
  const std::int64_t most = depth_of(rdma, latency);
  if (rdma.post_list > most) {
    throw UsageError(fmt::format("-l {} hands over more requests at once than -t {} has room for; lower -l or raise -t",
                                 rdma.post_list, most));
  }
  if (rdma.moderation > most) {
    throw UsageError(
        fmt::format("-Q {} is above -t {}: a queue would be full before a request is signaled; lower -Q or raise -t",
                    rdma.moderation, most));
  }
}

/// The processor sees nothing of a GPU's memory.
void check_memory(const Options& options, bool by_memory) {
  const RdmaOptions& rdma = options.rdma;
  if (options.memory != MemoryKind::kCuda) {
    if (!rdma.data_direct) return;
    throw UsageError("--data-direct is about a GPU's memory; add --memory cuda, or leave it out");
  }
  if (rdma.inlined.value_or(0) > 0) {
    throw UsageError(
        fmt::format("-I {}: the processor copies what goes inline, and does not see the memory of --memory cuda; leave "
                    "one of them out",
                    *rdma.inlined));
  }
  if (by_memory && !rdma.write_with_immediate) {
    throw UsageError(
        "--memory cuda: a write's arrival shows by its last byte only, and the processor does not see a GPU's memory; "
        "add --write-with-imm, or take rdma_send_lat or gpudirect_rdma_lat");
  }
}

void check_datagrams(const Options& options) {
  const Bytes largest = std::max(options.sweep.min_bytes, options.sweep.max_bytes);
  if (options.rdma.transport != Transport::kUd || largest <= kLargestDatagram) return;
  throw UsageError(
      fmt::format("-c UD sends datagrams of {} bytes at most, and sizes go up to {}; give smaller ones with -s or "
                  "--max-bytes, or take -c RC",
                  kLargestDatagram, exact_bytes(largest)));
}

void check_rdma_cm(const Options& options) {
  if (!options.rdma.by_rdma_cm) return;
  if (options.rdma.transport == Transport::kUc) {
    throw UsageError("-R connects RC and UD queue pairs, and librdmacm makes no others; take -c RC, or leave out -R");
  }
  if (!options.has_given({"sl"})) return;
  throw UsageError(
      "-S sets a service level, and with -R the path that rdma_cm resolves has its own (the subnet manager's, or that "
      "of the traffic class); leave out -S, or set --tclass");
}

/// Of writes.
void check_receives(const Options& options) {
  if (options.rdma.write_with_immediate) return;
  if (options.rdma.shared_receives) {
    throw UsageError("--use-srq is about receives, which a write takes none of; add --write-with-imm, or leave it out");
  }
  if (options.has_given({"rx_depth"})) {
    throw UsageError("-r is about receives, which a write takes none of; add --write-with-imm, or leave out -r");
  }
}

void check_the_rest(const Options& options) {
  if (options.has_given({"duration"}) && options.has_given({"time_budget"})) {
    throw UsageError("-D and --time-budget both say how long a size is measured; leave out one");
  }
  if (options.rdma.gbits && !options.rdma.perftest_table) {
    throw UsageError("--report_gbits is about perftest's table; add --format perftest, or leave it out");
  }
  if (!options.rdma.device.empty() && !options.rdma.devices.empty()) {
    throw UsageError("-d names one device for all ranks, and --devices says which each of them takes; leave out one");
  }
}

/// Keeps sizes that nobody asked for within what datagrams can carry.
void complete_datagram_sizes(Options& options) {
  if (options.rdma.transport != Transport::kUd) return;
  if (options.has_given({"size", "maxbytes"})) return;
  Sweep& sweep = options.sweep;
  const bool chosen = options.has_given({"all", "minbytes"});
  sweep.max_bytes = std::min(sweep.max_bytes, chosen ? kLargestDatagram : kUsualDatagram);
  if (!chosen) sweep.min_bytes = std::min(sweep.min_bytes, sweep.max_bytes);
}

void check_connections(const Options& options) {
  const Bytes size = options.sweep.max_bytes;
  if (options.rdma.transport == Transport::kUd && size > kLargestDatagram) {
    throw UsageError(fmt::format("-c UD sends datagrams of {} bytes at most, and -s is {}; lower it, or take -c RC",
                                 kLargestDatagram, exact_bytes(size)));
  }
  const auto messages = static_cast<Bytes>(options.rdma.messages);
  if (size <= kMostConnectionBytes / messages) return;
  throw UsageError(
      fmt::format("-C {} messages of -s {} are more than the {} that a connection has room for; lower one of them",
                  messages, exact_bytes(size), readable_bytes(kMostConnectionBytes)));
}

Options defaults_of(Bytes size, std::int64_t warmup) {
  Options options;
  options.sweep = {size, size, Bytes{1} << 20, 2};
  options.datatypes = {DataType::kInt8};
  options.placement = Placement::kOut;
  options.warmup = warmup;
  return options;
}

std::vector<std::function<void(const Options&)>> checks_of(const VerbsTest& test) {
  std::vector<std::function<void(const Options&)>> checks = {
      check_ways_to_size,
      [latency = test.latency](const Options& options) { check_queue_depths(options.rdma, latency); },
      [by_memory = test.by_memory](const Options& options) { check_memory(options, by_memory); },
      check_datagrams,
      check_rdma_cm,
      check_the_rest,
      check_sizes,
      check_iterations};
  if (test.verb == Verb::kWrite) checks.emplace_back(check_receives);
  return checks;
}

}  // namespace

Program verbs_program(std::string name, std::string summary, const VerbsTest& test) {
  using namespace option_sets;
  Program program;
  program.examples = {
      {fmt::format("mpirun -np 2 --map-by node {}", name), "between two hosts, as perftest does"},
      {fmt::format("mpirun -np 2 --map-by node {} -d mlx5_0 -D 5", name), "over one device, for five seconds"},
      {fmt::format("mpirun -np 16 --map-by ppr:8:node {} --devices rail --json run.jsonl", name),
       "eight rails at the same time, with a record"}};
  program.name = std::move(name);
  program.summary = std::move(summary);
  const bool atomic = test.verb == Verb::kAtomic;
  const OptionSet measuring =
      join({repeats(), epochs(), precision(), seed(), timeout(), concurrent(), checks(), pairs()});
  const OptionSet output = join({json(), csv(), of_rows(), quiet(), progress()});
  program.options =
      join({atomic ? OptionSet() : join({by_long_names(sizes()), ways_to_size()}), by_long_names(measuring),
            durations(), stall_timeout(), buffer_memory(), port(), addresses(), requests_of(test),
            by_long_names(output), tables(), test.latency ? required_latency() : required_bandwidth()});
  const Bytes usual = test.latency ? kUsualLatencySize : kUsualBandwidthSize;
  program.defaults = defaults_of(atomic ? kAtomicSize : usual, test.latency ? kLatencyWarmup : kBandwidthWarmup);
  program.completions = {complete_datagram_sizes};
  program.checks = checks_of(test);
  return program;
}

Program connection_program(std::string name, std::string summary) {
  using namespace option_sets;
  Program program;
  program.examples = {{fmt::format("mpirun -np 2 --map-by node {}", name), "100 connections between two hosts"},
                      {fmt::format("mpirun -np 16 --map-by node {} --pairs halves -n 1000", name), "eight pairs"},
                      {fmt::format("mpirun -np 2 {} -c UD -C 64 --json run.jsonl", name), "datagrams, with a record"}};
  program.name = std::move(name);
  program.summary = std::move(summary);
  program.options = join({connections(), stall_timeout(), port(), pairs(), timeout(), json(), quiet()});
  program.defaults = defaults_of(kUsualConnectionSize, kBandwidthWarmup);
  program.checks = {check_connections};
  return program;
}

}  // namespace fabricbench
