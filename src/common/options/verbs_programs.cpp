#include "common/options/verbs_programs.h"

#include <charconv>
#include <cstdint>
#include <system_error>
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
constexpr std::int64_t kLatencyWarmup = 100;
constexpr std::int64_t kBandwidthWarmup = 1;                          // an iteration is a whole window
constexpr SizeRange kAllSizes{2, Bytes{8} << 20, Bytes{1} << 20, 2};  // perftest's -a
constexpr std::int64_t kMostRequests = 1 << 20;
constexpr std::int64_t kLargestFlowLabel = (1 << 20) - 1;
constexpr std::int64_t kMostInline = 4096;  // above any adapter's limit

constexpr Choices<AtomicKind, 2> kAtomicKinds = {
    {{"CMP_AND_SWAP", AtomicKind::kCompareAndSwap}, {"FETCH_AND_ADD", AtomicKind::kFetchAndAdd}}};
constexpr Choices<bool, 2> kFormats = {{{"table", false}, {"perftest", true}}};
constexpr Choices<bool, 2> kBackgrounds = {{{"none", false}, {"bw", true}}};
constexpr Choices<MemoryKind, 3> kBufferKinds = {
    {{"host", MemoryKind::kHost}, {"hugepages", MemoryKind::kHugePages}, {"cuda", MemoryKind::kCuda}}};
constexpr Choices<std::int64_t, 5> kMtus = {
    {{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}};

/// For an option whose value another one shows.
Accessors shown_by_another(Accessors accessors) {
  accessors.get = [](const Options&) { return std::string(); };
  return accessors;
}

/// A whole number; 0: not given.
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

/// Numbers between commas in decimal; what is not hexadecimal, such as 0x6a, stays as it is.
std::string in_decimal(std::string_view text) {
  std::string decimal;
  for (std::size_t at = 0; at <= text.size();) {
    const std::string_view number = text.substr(at, text.find(',', at) - at);
    const bool prefixed = number.starts_with("0x") || number.starts_with("0X");
    std::uint32_t value = 0;
    const auto [end, problem] =
        std::from_chars(number.data() + (prefixed ? 2 : 0), number.data() + number.size(), value, 16);
    const bool whole = prefixed && problem == std::errc() && end == number.data() + number.size();
    decimal += (at > 0 ? "," : "") + (whole ? fmt::to_string(value) : std::string(number));
    at += number.size() + 1;
  }
  return decimal;
}

/// The same, also of hexadecimal numbers, which perftest reads.
Accessors or_hexadecimal(Accessors accessors) {
  accessors.set = [set = std::move(accessors.set)](Options& options, std::string_view text) {
    set(options, in_decimal(text));
  };
  return accessors;
}

Accessors depth() {
  Accessors accessors = integer(&RdmaOptions::depth, "-t (tx depth)", 1, kMostRequests);
  accessors.get = [](const Options& options) { return fmt::format("{}", depth_of(options.rdma, false)); };
  return accessors;
}

/// Host memory by default.
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
          },
          words_of(kBufferKinds)};
}

Accessors rate_limit() {
  constexpr double kGigabit = 1e9 / 8;  // in bytes
  return {[](Options& options, std::string_view text) {
            options.rdma.rate_limit = parse_number(text, "--rate-limit", 0.001, 1e6) * kGigabit;
          },
          [](const Options& options) {
            return options.rdma.rate_limit == 0 ? "" : fmt::format("{:.12g}", options.rdma.rate_limit / kGigabit);
          }};
}

Accessors most_latency() {
  constexpr double kMicroseconds = 1e6;  // in a second
  return {[](Options& options, std::string_view text) {
            options.rdma.max_latency = parse_number(text, "--max-lat", 0, 1e9) / kMicroseconds;
          },
          [](const Options& options) { return fmt::format("{:.12g}", options.rdma.max_latency * kMicroseconds); }};
}

/// Where threads and host buffers are.
Accessors numa_node() {
  constexpr std::int64_t kMostNodes = 1023;
  return {[=](Options& options, std::string_view text) {
            RdmaOptions& rdma = options.rdma;
            rdma.near_adapter = text == "auto";
            rdma.numa_node = -1;
            if (text == "auto" || text == "off") return;
            rdma.numa_node = parse_integer(text, "--numa (auto, off or a node)", 0, kMostNodes);
          },
          [](const Options& options) {
            const RdmaOptions& rdma = options.rdma;
            if (rdma.numa_node >= 0) return fmt::format("{}", rdma.numa_node);
            return std::string(rdma.near_adapter ? "auto" : "off");
          }};
}

OptionSet ways_to_size(bool datagrams) {
  return {option(kSizes, "-s,--size", "SIZE", "measure a single message size", shown_by_another(one_size())),
          option(kSizes, "-a,--all", "",
                 fmt::format("measure powers of two, 2 B to 8 MiB{}", datagrams ? "; with -c UD to 4 KiB" : ""),
                 shown_by_another({[](Options& options, std::string_view) { options.sizes = kAllSizes; }, {}}))};
}

OptionSet durations() {
  return {comparable(option(kMeasuring, "-D,--duration", "SECONDS", "same as --time-budget",
                            shown_by_another(number(&Options::time_budget, "-D (duration)", 0.001, 1e6))))};
}

OptionSet addresses() {
  return {option(kRdma, "--devices", "RULE",
                 "device of each rank: auto (nearest), all (one rank per active device), rail (all, with equal names "
                 "at both ends of a pair), or a list used in turn, such as mlx5_0,mlx5_1",
                 text(&RdmaOptions::devices, "--devices", "a rule")),
          option(kRdma, "-m,--mtu", "BYTES", "path MTU, 256 to 4096; default: the largest of both ports",
                 choice(&RdmaOptions::mtu, "path MTU", kMtus)),
          option(kRdma, "-S,--sl", "N", "service level, 0 to 15",
                 or_hexadecimal(integer(&RdmaOptions::service_level, "-S (service level)", 0, 15))),
          option(kRdma, "--tclass", "N", "traffic class, 0 to 255",
                 or_hexadecimal(integer(&RdmaOptions::traffic_class, "--tclass", 0, 255))),
          option(kRdma, "--flow_label,--flow-label", "LABELS",
                 "flow labels of the queue pairs in turn, such as 1,2,3; switches choose paths by them (ECMP)",
                 or_hexadecimal(integers(&RdmaOptions::flow_labels, "--flow-label", 0, kLargestFlowLabel))),
          option(kRdma, "--pkey_index,--pkey-index", "N",
                 "index in the port's partition table; default: that of a partition of both ends",
                 or_hexadecimal(integer_or_none(&RdmaOptions::partition, "--pkey-index", 65535))),
          option(kRdma, "-u,--qp-timeout", "N", "send again after 4.096 us x 2^N without an acknowledgement; 0: never",
                 integer(&RdmaOptions::acknowledge_timeout, "-u (timeout)", 0, 31)),
          option(kRdma, "--retry_count,--retry-count", "N", "send again so many times, 0 to 7",
                 integer(&RdmaOptions::retries, "--retry-count", 0, 7)),
          option(kRdma, "-R,--rdma_cm,--rdma-cm", "", "connect queue pairs by rdma_cm instead of over MPI",
                 flag(&RdmaOptions::by_rdma_cm))};
}

OptionSet buffer_memory() {
  return {option(kBuffers, "--memory", "KIND", "memory of the buffers: host, hugepages, cuda, or cuda:N (GPU N)",
                 memory_of_buffers()),
          option(kBuffers, "--disable_pcie_relaxed,--disable-pcie-relaxed", "",
                 "register the buffers without relaxed PCIe ordering, as always where a byte is polled",
                 flag(&RdmaOptions::strict_pcie_order)),
          option(kBuffers, "--numa", "WHERE",
                 "NUMA node of threads and host buffers: auto (the adapter's), off (as started), or N", numa_node()),
          option(kBuffers, "--data-direct", "", "access GPU memory by Data Direct of mlx5 devices",
                 flag(&RdmaOptions::data_direct))};
}

OptionSet queues_of_bandwidth() {
  return {
      option(kRdma, "-q,--qp", "N", "number of queue pairs; messages use them in turn",
             integer(&RdmaOptions::queue_pairs, "-q (queue pairs)", 1, verbs_sets::kMostQueuePairs)),
      option(kRdma, "-t,--tx-depth", "N", "requests in flight per queue pair", depth()),
      option(kRdma, "-l,--post_list,--post-list", "N", "requests posted with one call",
             integer(&RdmaOptions::post_list, "-l (post list)", 1, kMostRequests)),
      option(kRdma, "-Q,--cq-mod", "N", "signal one request in N, limited to half of -t; default: 100, above 8 KiB 1",
             integer_or_unset(&RdmaOptions::moderation, "-Q (requests a signal)", kMostRequests)),
      option(kRdma, "--rate_limit,--rate-limit", "GBITS", "start messages at no more than this rate, in Gb/s",
             rate_limit()),
      option(kRdma, "--burst_size,--burst-size", "N", "messages that start together under --rate-limit; default: -l",
             integer_or_unset(&RdmaOptions::burst, "--burst-size", kMostRequests)),
      option(kRdma, "-b,--bidirectional", "", "send in both directions at the same time; for sizes see --min-bytes",
             flag(&RdmaOptions::both_ways))};
}

/// For messages, which one side sends and the other receives.
OptionSet inline_size() {
  return {option(kRdma, "-I,--inline_size,--inline-size", "BYTES", "maximum size of inline messages",
                 integer_or_none(&RdmaOptions::inlined, "-I (inline size)", kMostInline))};
}

OptionSet receives() {
  return {option(kRdma, "-r,--rx-depth", "N", "receives posted per queue pair",
                 integer(&RdmaOptions::receive_depth, "-r (rx depth)", 1, kMostRequests)),
          option(kRdma, "--use-srq", "", "share one receive queue of depth -r between all queue pairs",
                 flag(&RdmaOptions::shared_receives))};
}

OptionSet immediate() {
  return {option(kRdma, "--write_with_imm,--write-with-imm", "", "write with immediate data, which consumes a receive",
                 flag(&RdmaOptions::write_with_immediate))};
}

/// For operations that return data, several of which are in flight.
OptionSet outstanding() {
  return {option(kRdma, "-o,--outs", "N", "operations in flight per queue pair; default: devices' limit",
                 integer_or_unset(&RdmaOptions::outstanding, "-o (outstanding)", 255))};
}

OptionSet atomic_type() {
  return {option(kRdma, "-A,--atomic_type,--atomic-type", "TYPE", "atomic operation: CMP_AND_SWAP or FETCH_AND_ADD",
                 choice(&RdmaOptions::atomic, "type of atomic operation", kAtomicKinds))};
}

OptionSet events() {
  return {option(kRdma, "-e,--events", "", "sleep until a completion arrives instead of polling",
                 flag(&RdmaOptions::events))};
}

OptionSet seen_by() {
  return {option(kRdma, "--seen-by", "WHOM",
                 "when a message counts: gpu (a kernel has seen it; with --memory host a thread), cq (completion "
                 "polled) or cq+flush (last bytes read back too)",
                 choice(&RdmaOptions::seen_by, "way to see a message"))};
}

/// For latencies.
OptionSet background() {
  return {shapes_tables(
              option(kRdma, "--background", "LOAD",
                     "load on the ports meanwhile: bw (a stream of writes from the first rank to the second) or none",
                     choice(&RdmaOptions::background, "load", kBackgrounds))),
          option(kRdma, "--background-sl", "N", "service level of that stream; default: -S",
                 or_hexadecimal(integer_or_none(&RdmaOptions::background_service_level, "--background-sl", 15))),
          option(kRdma, "--background-tclass", "N", "traffic class of that stream; default: --tclass",
                 or_hexadecimal(integer_or_none(&RdmaOptions::background_traffic_class, "--background-tclass", 255)))};
}

OptionSet cpu_frequency() {
  return {comparable(option(kRdma, "-F,--cpu-freq,--CPU-freq", "", "ignored; accepted for perftest's command lines",
                            shown_by_another({[](Options&, std::string_view) {}, {}})))};
}

OptionSet tables() {
  return {option(kOutput, "--format", "TABLE", "format of the table: table or perftest",
                 choice(&RdmaOptions::perftest_table, "table", kFormats))};
}

OptionSet required_bandwidth() {
  return join(
      {option_sets::least_bandwidth(),
       {shapes_tables(option(kOutput, "--report_gbits,--report-gbits", "",
                             "print perftest's table, with Gb/s instead of MiB/s", flag(&RdmaOptions::gbits))),
        option(kOutput, "--percent-of-rate", "PERCENT", "exit 6 if a bandwidth is below this share of the port's rate",
               number(&RdmaOptions::percent_of_rate, "--percent-of-rate", 0, 100))}});
}

OptionSet required_latency() {
  return {option(kOutput, "--max-lat", "US", "exit 6 if a latency is above this; 0: no requirement", most_latency())};
}

/// Options of the operation itself.
OptionSet requests_of(const VerbsTest& test) {
  OptionSet set;
  if (!test.latency) set = queues_of_bandwidth();
  const bool of_messages = test.verb == Verb::kWrite || test.verb == Verb::kSend;
  if (of_messages) set = join({set, inline_size()});
  if (!test.seen_by) set = join({set, transport_of(test.verb)});
  if (of_messages && !test.seen_by) set = join({set, receives()});
  if (test.verb == Verb::kWrite && !test.seen_by) set = join({set, immediate()});
  if (!of_messages && !test.latency) set = join({set, outstanding()});
  if (test.verb == Verb::kAtomic) set = join({set, atomic_type()});
  if (test.latency && !test.seen_by) set = join({set, background()});
  return join({set, test.seen_by ? seen_by() : events(), cpu_frequency()});
}

void check_ways_to_size(const Options& options) {
  const bool one = options.has_given({"size"});
  const bool all = options.has_given({"all"});
  if (one && all) throw UsageError("-s asks for one size, and -a for all of them; leave out one");
  if (!one && !all) return;
  if (!options.has_given({"minbytes", "maxbytes", "stepbytes", "stepfactor"})) return;
  throw UsageError(
      fmt::format("{} sets the sizes, and so do --min-bytes, --max-bytes, --step-bytes and --step-factor; leave out "
                  "one or the other",
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
  if (rdma.burst > most * rdma.queue_pairs) {
    throw UsageError(fmt::format(
        "--burst-size {} starts more messages at once than -t {} and -q {} have room for; lower it, or raise -t or -q",
        rdma.burst, most, rdma.queue_pairs));
  }
}

/// The processor cannot access GPU memory.
void check_memory(const Options& options, bool by_memory) {
  const RdmaOptions& rdma = options.rdma;
  if (options.memory != MemoryKind::kCuda) {
    if (!rdma.data_direct) return;
    throw UsageError("--data-direct is for GPU memory; add --memory cuda, or leave it out");
  }
  if (rdma.inlined.value_or(0) > 0) {
    throw UsageError(fmt::format(
        "-I {}: the processor copies inline data, and cannot access the memory of --memory cuda; leave out one",
        *rdma.inlined));
  }
  if (by_memory && !rdma.write_with_immediate) {
    throw UsageError(
        "--memory cuda: a write's arrival shows only in its last byte, and the processor cannot access GPU memory; add "
        "--write-with-imm, or use rdma_send_lat or gpudirect_rdma_lat");
  }
}

void check_rdma_cm(const Options& options) {
  if (!options.rdma.by_rdma_cm) return;
  if (options.rdma.transport != Transport::kRc && options.rdma.transport != Transport::kUd) {
    throw UsageError("-R connects RC and UD queue pairs, and librdmacm supports no others; use -c RC, or leave out -R");
  }
  if (options.rdma.partition) {
    throw UsageError(
        "--pkey-index chooses a partition, and with -R that is the one of the address that rdma_cm connects to; leave "
        "out --pkey-index, or -R");
  }
  if (!options.rdma.flow_labels.empty()) {
    throw UsageError(
        "--flow-label names labels, and with -R the path has that of rdma_cm; leave out --flow-label, or -R");
  }
  if (!options.has_given({"sl"})) return;
  throw UsageError(
      "-S sets a service level, and with -R the path that rdma_cm resolves has its own (the subnet manager's, or that "
      "of the traffic class); leave out -S, or set --tclass");
}

void check_background(const Options& options) {
  if (!options.rdma.background && options.has_given({"background_sl", "background_tclass"})) {
    throw UsageError(
        "--background-sl and --background-tclass are for the stream of --background bw; add it, or leave them out");
  }
  if (!options.rdma.by_rdma_cm || !options.has_given({"background_sl"})) return;
  throw UsageError(
      "--background-sl sets a service level, and with -R the path that rdma_cm resolves has its own; leave it out, or "
      "set --background-tclass");
}

/// Checks receives of writes.
void check_receives(const Options& options) {
  if (options.rdma.write_with_immediate) return;
  if (options.has_given({"use_srq"})) {
    throw UsageError(
        "--use-srq is for receives, which a plain write does not use; add --write-with-imm, or leave it out");
  }
  if (options.has_given({"rx_depth"})) {
    throw UsageError("-r is for receives, which a plain write does not use; add --write-with-imm, or leave out -r");
  }
}

void check_the_rest(const Options& options) {
  if (options.has_given({"duration"}) && options.has_given({"time_budget"})) {
    throw UsageError("-D and --time-budget both say how long a size is measured; leave out one");
  }
  if (options.rdma.burst > 0 && options.rdma.rate_limit == 0) {
    throw UsageError("--burst-size is the messages that start together under --rate-limit; add it, or leave it out");
  }
  if (options.rdma.gbits && !options.rdma.perftest_table) {
    throw UsageError("--report_gbits is for perftest's table; add --format perftest, or leave it out");
  }
  if (!options.rdma.device.empty() && !options.rdma.devices.empty()) {
    throw UsageError("-d names one device for all ranks, and --devices names one for each; leave out one");
  }
}

/// --report_gbits asks for perftest's table, unless another one was chosen.
void complete_table(Options& options) {
  if (options.rdma.gbits && !options.has_given({"format"})) options.rdma.perftest_table = true;
}

Options defaults_of(Bytes size, std::int64_t warmup) {
  Options options;
  options.sizes = {size, size, Bytes{1} << 20, 2};
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
      [verb = test.verb](const Options& options) { check_transport(options, verb); },
      check_rdma_cm,
      check_background,
      check_places,
      check_the_rest,
      check_sizes,
      check_iterations};
  if (test.verb == Verb::kWrite) checks.emplace_back(check_receives);
  return checks;
}

}  // namespace

OptionSet verbs_sets::stall_timeout() {
  return {
      comparable(option(kMeasuring, "--stall-timeout", "SECONDS", "end the job after this time without a completion",
                        number(&RdmaOptions::stall_timeout, "--stall-timeout", 0.001, 1e6)))};
}

OptionSet verbs_sets::port() {
  return {option(kRdma, "-d,--ib-dev", "NAME", "RDMA device such as mlx5_0; default: first with active port",
                 text(&RdmaOptions::device, "-d (device)", "a device's name")),
          option(kRdma, "-i,--ib-port", "N", "port of the device; default: first active one",
                 integer_or_unset(&RdmaOptions::port, "-i (port)", 255)),
          option(kRdma, "-x,--gid-index", "N", "index in the port's GID table; default: agreed by both ends",
                 integer_or_none(&RdmaOptions::gid, "-x (GID index)", 65535))};
}

Program verbs_program(const std::string& name, const std::string& summary, const VerbsTest& test) {
  using namespace option_sets;
  const bool atomic = test.verb == Verb::kAtomic;
  const Bytes usual = test.latency ? kUsualLatencySize : kUsualBandwidthSize;
  const OptionSet measuring = join({repeats(), epochs("size"), quick(), precision(), seed(), timeout(), concurrent(),
                                    atomic || test.seen_by ? checks() : checks_or_all(), pairs()});
  const OptionSet output = join({json(), csv(), of_rows(), quiet(), progress(), preset()});
  return {
      .name = name,
      .summary = summary,
      .examples = {{fmt::format("mpirun -np 2 --map-by node {}", name), "between two hosts"},
                   {fmt::format("mpirun -np 2 --map-by node {} -d mlx5_0 -D 5", name),
                    "over one device, for five seconds"},
                   {fmt::format("mpirun -np 16 --map-by ppr:8:node {} --devices rail --json run.jsonl", name),
                    "eight rails at the same time, with a record"}},
      .options = join({atomic ? OptionSet() : join({by_long_names(sizes()), ways_to_size(test.verb == Verb::kSend)}),
                       by_long_names(measuring), durations(), verbs_sets::stall_timeout(), buffer_memory(),
                       verbs_sets::port(), addresses(), requests_of(test), by_long_names(output), tables(),
                       test.latency ? required_latency() : required_bandwidth()}),
      .defaults = defaults_of(atomic ? kAtomicSize : usual, test.latency ? kLatencyWarmup : kBandwidthWarmup),
      .completions = {[verb = test.verb](Options& options) { complete_transport(options, verb); }, complete_table},
      .checks = checks_of(test)};
}

}  // namespace fabricbench
