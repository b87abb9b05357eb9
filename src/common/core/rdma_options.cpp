#include "common/core/rdma_options.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/core/rdma_option_specs.h"

namespace fabricbench {
namespace {

constexpr Bytes kUsualBandwidthSize = Bytes{64} << 10;  // perftest's
constexpr Bytes kUsualLatencySize = 2;                  // perftest's
constexpr Bytes kAtomicSize = 8;
constexpr Bytes kUsualConnectionSize = 64;
constexpr Bytes kLargestDatagram = 4096;  // the largest MTU there is
constexpr Bytes kUsualDatagram = 1024;    // fits in the MTU of a port whose Ethernet has the usual 1500 bytes
constexpr std::int64_t kLatencyWarmup = 100;
constexpr std::int64_t kBandwidthWarmup = 1;  // an iteration is a whole window there

/// Whether any of these options was given.
bool any_given(const Options& options, std::initializer_list<std::string_view> keys) {
  return std::find_first_of(options.given.begin(), options.given.end(), keys.begin(), keys.end()) !=
         options.given.end();
}

void check_ways_to_size(const Options& options) {
  const bool one_size = any_given(options, {"size"});
  const bool all_sizes = any_given(options, {"all"});
  if (one_size && all_sizes) throw UsageError("-s asks for one size, and -a for all of them; leave out one");
  if (!one_size && !all_sizes) return;
  if (!any_given(options, {"minbytes", "maxbytes", "stepbytes", "stepfactor"})) return;
  throw UsageError(
      fmt::format("{} says which sizes to measure, as --min-bytes, --max-bytes, --step-bytes and --step-factor do; "
                  "leave out it or these",
                  one_size ? "-s" : "-a"));
}

void check_queue_depths(const RdmaOptions& rdma, bool latency) {
  const std::int64_t depth = depth_of(rdma, latency);
  if (rdma.post_list > depth) {
    throw UsageError(fmt::format("-l {} hands over more requests at once than -t {} has room for; lower -l or raise -t",
                                 rdma.post_list, depth));
  }
  if (rdma.moderation > depth) {
    throw UsageError(
        fmt::format("-Q {} is above -t {}: a queue would be full before a request is signaled; lower -Q or raise -t",
                    rdma.moderation, depth));
  }
}

/// The processor sees nothing of a GPU's memory.
void check_memory(const ProgramFacts& program, const Options& options) {
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
  if (program.name == "rdma_write_lat" && !rdma.write_with_immediate) {
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
  if (!any_given(options, {"sl"})) return;
  throw UsageError(
      "-S sets a service level, and with -R the path that rdma_cm resolves has its own (the subnet manager's, or that "
      "of the traffic class); leave out -S, or set --tclass");
}

void check_shared_receives(const ProgramFacts& program, const RdmaOptions& rdma) {
  if (!rdma.shared_receives || program.verb != Verb::kWrite || rdma.write_with_immediate) return;
  throw UsageError("--use-srq is about receives, which a write takes none of; add --write-with-imm, or leave it out");
}

}  // namespace

Options default_rdma_options(const ProgramFacts& program) {
  Options options;
  Bytes size = program.latency ? kUsualLatencySize : kUsualBandwidthSize;
  if (program.verb == Verb::kAtomic) size = kAtomicSize;
  if (program.connects) size = kUsualConnectionSize;
  options.sweep = {size, size, Bytes{1} << 20, 2};
  options.datatypes = {DataType::kInt8};
  options.placement = Placement::kOut;
  options.warmup = program.latency ? kLatencyWarmup : kBandwidthWarmup;
  return options;
}

void complete_rdma_options(Options& options) {
  if (options.rdma.transport != Transport::kUd) return;
  if (any_given(options, {"size", "maxbytes"})) return;
  Sweep& sweep = options.sweep;
  const bool chosen = any_given(options, {"all", "minbytes"});
  sweep.max_bytes = std::min(sweep.max_bytes, chosen ? kLargestDatagram : kUsualDatagram);
  if (!chosen) sweep.min_bytes = std::min(sweep.min_bytes, sweep.max_bytes);
}

void check_rdma_combinations(const ProgramFacts& program, const Options& options) {
  check_ways_to_size(options);
  check_queue_depths(options.rdma, program.latency);
  check_memory(program, options);
  check_datagrams(options);
  check_rdma_cm(options);
  check_shared_receives(program, options.rdma);
  if (any_given(options, {"duration"}) && any_given(options, {"time_budget"})) {
    throw UsageError("-D and --time-budget both say how long a size is measured; leave out one");
  }
  if (options.rdma.gbits && !options.rdma.perftest_table) {
    throw UsageError("--report_gbits is about perftest's table; add --format perftest, or leave it out");
  }
  if (!options.rdma.device.empty() && !options.rdma.devices.empty()) {
    throw UsageError("-d names one device for all ranks, and --devices says which each of them takes; leave out one");
  }
  if (program.verb == Verb::kWrite && any_given(options, {"rx_depth"}) && !options.rdma.write_with_immediate) {
    throw UsageError("-r is about receives, which a write takes none of; add --write-with-imm, or leave out -r");
  }
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

}  // namespace fabricbench
