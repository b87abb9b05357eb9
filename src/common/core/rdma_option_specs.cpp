#include "common/core/rdma_option_specs.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/option_accessors.h"

namespace fabricbench {
namespace {

using namespace option_parts;

constexpr Choices<Transport, 2> kTransportsOfWrite = {{{"RC", Transport::kRc}, {"UC", Transport::kUc}}};
constexpr Choices<Transport, 2> kTransportsOfRdmaCm = {{{"RC", Transport::kRc}, {"UD", Transport::kUd}}};
constexpr Choices<AtomicKind, 2> kAtomicKinds = {
    {{"CMP_AND_SWAP", AtomicKind::kCompareAndSwap}, {"FETCH_AND_ADD", AtomicKind::kFetchAndAdd}}};
constexpr Choices<bool, 2> kFormats = {{{"table", false}, {"perftest", true}}};
constexpr Choices<MemoryKind, 3> kBufferKinds = {
    {{"host", MemoryKind::kHost}, {"hugepages", MemoryKind::kHugePages}, {"cuda", MemoryKind::kCuda}}};
constexpr Choices<std::int64_t, 5> kMtus = {
    {{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}};

constexpr Sweep kAllSizes{2, Bytes{8} << 20, Bytes{1} << 20, 2};  // perftest's -a
constexpr std::int64_t kMostQueuePairs = 16384;
constexpr std::int64_t kMostRequests = 1 << 20;
constexpr std::int64_t kMostInline = 4096;  // more than any adapter takes

OptionSpec for_verbs(OptionSpec made) { return offered_by(OfferedBy::kVerbs, std::move(made)); }

OptionSpec for_bandwidth(OptionSpec made) {
  return only_where([](const ProgramFacts& program) { return !program.latency; }, for_verbs(std::move(made)));
}

OptionSpec for_latency(OptionSpec made) {
  return only_where([](const ProgramFacts& program) { return program.latency; }, for_verbs(std::move(made)));
}

OptionSpec for_verb(Verb verb, OptionSpec made) {
  return only_where([verb](const ProgramFacts& program) { return program.verb == verb; }, for_verbs(std::move(made)));
}

/// Of messages that one side gives and the other takes.
OptionSpec for_write_and_send(OptionSpec made) {
  return only_where(
      [](const ProgramFacts& program) { return program.verb == Verb::kWrite || program.verb == Verb::kSend; },
      for_verbs(std::move(made)));
}

/// Of operations whose answers come back with data, of which several are under way.
OptionSpec for_many_fetched(OptionSpec made) {
  return only_where(
      [](const ProgramFacts& program) {
        return !program.latency && (program.verb == Verb::kRead || program.verb == Verb::kAtomic);
      },
      for_verbs(std::move(made)));
}

OptionSpec for_sized(OptionSpec made) {
  return only_where([](const ProgramFacts& program) { return program.verb != Verb::kAtomic; },
                    for_verbs(std::move(made)));
}

/// Of programs whose messages count when they have completed: not of the one that asks who has seen them, which chooses
/// the requests itself.
OptionSpec where_completed(OptionSpec made) {
  const auto otherwise = made.only_where;
  made.only_where = [otherwise](const ProgramFacts& program) {
    return program.name != kGpuDirectLatency && (!otherwise || otherwise(program));
  };
  return made;
}

OptionSpec where_seen(OptionSpec made) {
  return only_where([](const ProgramFacts& program) { return program.name == kGpuDirectLatency; },
                    for_verbs(std::move(made)));
}

/// A whole number of which 0 means that nothing was asked for.
Accessors integer_or_unset(std::int64_t RdmaOptions::*member, std::string_view what, std::int64_t most) {
  Accessors accessors = integer(member, what, 1, most);
  accessors.get = [member](const Options& options) {
    return options.rdma.*member == 0 ? std::string() : fmt::format("{}", options.rdma.*member);
  };
  return accessors;
}

Accessors optional_integer(std::optional<std::int64_t> RdmaOptions::*member, std::string_view what, std::int64_t most) {
  return {[=](Options& options, std::string_view text) { options.rdma.*member = parse_integer(text, what, 0, most); },
          [=](const Options& options) {
            const auto& value = options.rdma.*member;
            return value ? fmt::format("{}", *value) : std::string();
          }};
}

/// Of an option that sets what another one shows.
std::string shown_by_another(const Options& /*options*/) { return ""; }

Accessors one_size() {
  return {[](Options& options, std::string_view text) {
            options.sweep.min_bytes = parse_bytes(text);
            options.sweep.max_bytes = options.sweep.min_bytes;
          },
          shown_by_another};
}

Accessors all_sizes() {
  return {[](Options& options, std::string_view) { options.sweep = kAllSizes; }, shown_by_another};
}

Accessors duration() {
  Accessors accessors = number(&Options::time_budget, "-D (duration)", 0.001, 1e6);
  accessors.get = shown_by_another;
  return accessors;
}

Accessors depth() {
  Accessors accessors = integer(&RdmaOptions::depth, "-t (tx depth)", 1, kMostRequests);
  accessors.get = [](const Options& options) { return fmt::format("{}", depth_of(options.rdma, false)); };
  return accessors;
}

/// Without a word it is the host's.
Accessors memory() {
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

Accessors nothing() {
  return {[](Options&, std::string_view) {}, [](const Options&) { return std::string(); }};
}

Accessors most_latency() {
  constexpr double kMicroseconds = 1e6;  // in a second
  return {[](Options& options, std::string_view text) {
            options.rdma.max_latency = parse_number(text, "--max-lat", 0, 1e9) / kMicroseconds;
          },
          [](const Options& options) { return fmt::format("{:.12g}", options.rdma.max_latency * kMicroseconds); }};
}

std::vector<OptionSpec> rdma_size_options() {
  using enum OptionGroup;
  return {
      for_sized(spec(kSizes, "-s,--size", "SIZE", "one message size, in place of the first and the last", one_size())),
      for_sized(
          spec(kSizes, "-a,--all", "", "all powers of two from 2 bytes to 8 MiB, with -c UD to 4 KiB", all_sizes())),
      for_verbs(spec(kMeasuring, "-D,--duration", "SECONDS", "the same as --time-budget", duration())),
      for_verbs(spec(kMeasuring, "--stall-timeout", "SECONDS", "end the job when nothing has completed for so long",
                     number(&RdmaOptions::stall_timeout, "--stall-timeout", 0.001, 1e6))),
  };
}

std::vector<OptionSpec> address_options() {
  using enum OptionGroup;
  return {
      for_verbs(spec(kRdma, "-d,--ib-dev", "NAME", "device, such as mlx5_0; without it, the first with an active port",
                     text(&RdmaOptions::device, "-d (device)", "a device's name"))),
      for_verbs(spec(kRdma, "--devices", "RULE",
                     "device of each rank of a host, so that one run measures several rails: all (one rank for each "
                     "active device), rail (the same, and both ends of a pair have devices of one name), names such as "
                     "mlx5_0,mlx5_1 (taken in turn), or auto (the nearest one)",
                     text(&RdmaOptions::devices, "--devices", "a rule"))),
      for_verbs(spec(kRdma, "-i,--ib-port", "N", "port of the device; without it, the first active one",
                     integer_or_unset(&RdmaOptions::port, "-i (port)", 255))),
      for_verbs(spec(kRdma, "-x,--gid-index", "N",
                     "index in the port's GID table; without it, both ends choose together",
                     optional_integer(&RdmaOptions::gid, "-x (GID index)", 65535))),
      for_verbs(spec(kRdma, "-m,--mtu", "BYTES",
                     "path MTU: 256, 512, 1024, 2048 or 4096; without it, the most that both ports have",
                     choice(&RdmaOptions::mtu, "path MTU", kMtus))),
      for_verbs(spec(kRdma, "-S,--sl", "N", "service level, 0 to 15",
                     integer(&RdmaOptions::service_level, "-S (service level)", 0, 15))),
      for_verbs(spec(kRdma, "--tclass", "N", "traffic class, 0 to 255",
                     integer(&RdmaOptions::traffic_class, "--tclass", 0, 255))),
      where_completed(
          for_verb(Verb::kWrite, spec(kRdma, "-c,--connection", "TYPE", "of queue pairs: RC or UC",
                                      choice(&RdmaOptions::transport, "connection of writes", kTransportsOfWrite)))),
      for_verb(Verb::kSend, spec(kRdma, "-c,--connection", "TYPE", "of queue pairs: RC, UC or UD",
                                 choice(&RdmaOptions::transport, "connection"))),
      for_verbs(spec(kRdma, "-R,--rdma_cm,--rdma-cm", "", "connect queue pairs by rdma_cm, in place of over MPI",
                     flag(&RdmaOptions::by_rdma_cm))),
  };
}

std::vector<OptionSpec> memory_options() {
  using enum OptionGroup;
  return {
      for_verbs(spec(kBuffers, "--memory", "KIND",
                     "where the buffers lie: host, hugepages, or cuda: each rank's GPU; cuda:N: CUDA's Nth device of "
                     "every rank",
                     memory())),
      for_verbs(spec(kBuffers, "--data-direct", "",
                     "reach GPU memory by Data Direct of mlx5 devices, over PCI Express past the processor",
                     flag(&RdmaOptions::data_direct))),
  };
}

std::vector<OptionSpec> queue_options() {
  using enum OptionGroup;
  return {
      for_bandwidth(spec(kRdma, "-q,--qp", "N", "queue pairs, which messages take turns on",
                         integer(&RdmaOptions::queue_pairs, "-q (queue pairs)", 1, kMostQueuePairs))),
      for_bandwidth(spec(kRdma, "-t,--tx-depth", "N", "requests under way on a queue pair", depth())),
      where_completed(
          for_write_and_send(spec(kRdma, "-r,--rx-depth", "N", "receives kept ready on a queue pair",
                                  integer(&RdmaOptions::receive_depth, "-r (rx depth)", 1, kMostRequests)))),
      for_bandwidth(spec(kRdma, "-l,--post_list,--post-list", "N", "requests handed to the device at once",
                         integer(&RdmaOptions::post_list, "-l (post list)", 1, kMostRequests))),
      for_bandwidth(spec(kRdma, "-Q,--cq-mod", "N",
                         "signal one request in N, in half of -t at most; without it, 100, and 1 above 8 KiB",
                         integer_or_unset(&RdmaOptions::moderation, "-Q (requests a signal)", kMostRequests))),
      for_write_and_send(spec(kRdma, "-I,--inline_size,--inline-size", "BYTES", "send messages up to this size inline",
                              optional_integer(&RdmaOptions::inlined, "-I (inline size)", kMostInline))),
      for_many_fetched(spec(kRdma, "-o,--outs", "N",
                            "operations that a queue pair waits for; without it, as many as both devices can",
                            integer_or_unset(&RdmaOptions::outstanding, "-o (outstanding)", 255))),
      for_bandwidth(
          spec(kRdma, "-b,--bidirectional", "", "in both directions at the same time", flag(&RdmaOptions::both_ways))),
      where_completed(for_verbs(spec(kRdma, "-e,--events", "", "sleep until a completion comes, in place of polling",
                                     flag(&RdmaOptions::events)))),
      for_verb(Verb::kAtomic, spec(kRdma, "-A,--atomic_type,--atomic-type", "TYPE", "CMP_AND_SWAP or FETCH_AND_ADD",
                                   choice(&RdmaOptions::atomic, "type of atomic operation", kAtomicKinds))),
      where_completed(for_write_and_send(spec(
          kRdma, "--use-srq", "", "let all queue pairs take their receives from one queue, of which -r is the depth",
          flag(&RdmaOptions::shared_receives)))),
      where_completed(
          for_verb(Verb::kWrite, spec(kRdma, "--write_with_imm,--write-with-imm", "",
                                      "write with immediate data, which completes a receive of the other rank",
                                      flag(&RdmaOptions::write_with_immediate)))),
      where_seen(
          spec(kRdma, "--seen-by", "WHOM",
               "when a message counts: gpu, when a kernel there has seen it, or with --memory host a thread in its "
               "place; cq, when the processor has polled its completion; cq+flush, when it has also read the last "
               "bytes back",
               choice(&RdmaOptions::seen_by, "way to see a message"))),
      for_verbs(spec(kRdma, "-F,--cpu-freq,--CPU-freq", "",
                     "does nothing, and is there for perftest's command lines: times do not come from cycle counts",
                     nothing())),
  };
}

Accessors shown_size() {
  Accessors accessors = one_size();
  accessors.get = [](const Options& options) { return exact_bytes(options.sweep.max_bytes); };
  return accessors;
}

OptionSpec for_connections(OptionSpec made) { return offered_by(OfferedBy::kConnections, std::move(made)); }

std::vector<OptionSpec> connection_options() {
  using enum OptionGroup;
  return {
      for_connections(spec(kMeasuring, "-n,--iters", "N", "connections of each pair, one after the other",
                           integer(&RdmaOptions::connections, "-n (connections)", 1))),
      for_connections(spec(kSizes, "-C,--messages", "N", "messages in each direction of a connection",
                           integer(&RdmaOptions::messages, "-C (messages)", 1, kMostMessages))),
      for_connections(spec(kSizes, "-s,--size", "SIZE", "size of a message, in bytes or with K, M, G", shown_size())),
      for_connections(spec(kRdma, "-c,--connection", "TYPE", "RC, or UD: of datagrams, whose losses are counted",
                           choice(&RdmaOptions::transport, "connection over rdma_cm", kTransportsOfRdmaCm))),
  };
}

std::vector<OptionSpec> rdma_output_options() {
  using enum OptionGroup;
  return {
      for_verbs(spec(kOutput, "--format", "TABLE", "table, or perftest: with perftest's columns",
                     choice(&RdmaOptions::perftest_table, "table", kFormats))),
      for_bandwidth(spec(kOutput, "--report_gbits,--report-gbits", "", "Gb/s in perftest's table, in place of MiB/s",
                         flag(&RdmaOptions::gbits))),
      for_bandwidth(spec(kOutput, "--min-bw", "GB/S", "exit 6 where a bandwidth is below this; 0: none is too low",
                         number(&RdmaOptions::min_bandwidth_gb_per_s, "--min-bw", 0, 1e9))),
      for_latency(spec(kOutput, "--max-lat", "US", "exit 6 where a latency is above this; 0: none is too high",
                       most_latency())),
      for_bandwidth(spec(kOutput, "--percent-of-rate", "PERCENT",
                         "exit 6 where a bandwidth is below this share of the port's rate; 0: none is too low",
                         number(&RdmaOptions::percent_of_rate, "--percent-of-rate", 0, 100))),
  };
}

}  // namespace

std::vector<OptionSpec> rdma_option_specs() {
  std::vector<OptionSpec> all;
  for (auto&& part : {rdma_size_options(), address_options(), memory_options(), queue_options(), connection_options(),
                      rdma_output_options()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace fabricbench
