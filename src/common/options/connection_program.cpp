#include <algorithm>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/options/accessors.h"
#include "common/options/option_sets.h"
#include "common/options/verbs_programs.h"

namespace fabricbench {
namespace {

using namespace option_parts;
using enum OptionGroup;

constexpr Choices<Transport, 2> kTransportsOfRdmaCm = {{{"RC", Transport::kRc}, {"UD", Transport::kUd}}};

OptionSet connections() {
  return {
      comparable(option(kMeasuring, "-n,--iters", "N", "connections per pair; default: 100, at least --parallel",
                        integer(&RdmaOptions::connections, "-n (connections)", 1))),
      option(kMeasuring, "--parallel", "N", "connections of a pair that are made at the same time",
             integer(&RdmaOptions::parallel, "--parallel", 1, verbs_sets::kMostQueuePairs)),
      option(kSizes, "-C,--messages", "N", "messages in each direction of a connection",
             integer(&RdmaOptions::messages, "-C (messages)", 1, kMostMessages)),
      option(kSizes, "-s,--size", "SIZE", "message size, in bytes or with K, M, G", one_size()),
      shapes_tables(option(kRdma, "-c,--connection", "TYPE", "connection type: RC, or UD (datagrams, counts losses)",
                           choice(&RdmaOptions::transport, "connection over rdma_cm", kTransportsOfRdmaCm)))};
}

void check_connections(const Options& options) {
  const Bytes size = options.sizes.max_bytes;
  if (options.rdma.transport == Transport::kUd && size > kLargestDatagram) {
    throw UsageError(fmt::format("-c UD sends datagrams of {} bytes at most, and -s is {}; lower it, or use -c RC",
                                 kLargestDatagram, exact_bytes(size)));
  }
  if (options.rdma.parallel > options.rdma.connections) {
    throw UsageError(
        fmt::format("--parallel {} makes more connections at the same time than -n {} asks for; lower it, "
                    "or raise -n",
                    options.rdma.parallel, options.rdma.connections));
  }
  const auto messages = static_cast<Bytes>(options.rdma.messages);
  const auto parallel = static_cast<Bytes>(options.rdma.parallel);
  if (size <= kMostConnectionBytes / messages / parallel) return;
  throw UsageError(fmt::format(
      "-C {} messages of -s {}, on {} connections at the same time, are more than the {} that there is room for; lower "
      "one of them",
      messages, exact_bytes(size), parallel, readable_bytes(kMostConnectionBytes)));
}

/// Without -n, there are as many connections as are made at the same time, but at least the usual number.
void complete_connections(Options& options) {
  constexpr std::int64_t kOfQuick = 10;
  if (!options.has_given({"iters"})) {
    options.rdma.connections = std::max(options.quick ? kOfQuick : options.rdma.connections, options.rdma.parallel);
  }
}

Options defaults() {
  constexpr Bytes kUsualSize = 64;
  Options options;
  options.sizes = {kUsualSize, kUsualSize, Bytes{1} << 20, 2};
  options.datatypes = {DataType::kInt8};
  options.placement = Placement::kOut;
  options.warmup = 1;
  return options;
}

}  // namespace

Program connection_program(const std::string& name, const std::string& summary) {
  using namespace option_sets;
  return {.name = name,
          .summary = summary,
          .examples = {{fmt::format("mpirun -np 2 --map-by node {}", name), "100 connections between two hosts"},
                       {fmt::format("mpirun -np 16 --map-by node {} --pairs halves --parallel 1000", name),
                        "eight pairs, each with 1000 at the same time"},
                       {fmt::format("mpirun -np 2 {} -c UD -C 64 --json run.jsonl", name), "datagrams, with a record"}},
          .options = join({connections(), quick(), verbs_sets::stall_timeout(), verbs_sets::port(), pairs(), timeout(),
                           json(), quiet()}),
          .defaults = defaults(),
          .completions = {complete_connections},
          .checks = {check_connections}};
}

}  // namespace fabricbench
