#include "common/options/verbs_programs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/core/error.h"
#include "common/options/accessors.h"

namespace fabricbench {
namespace {

using namespace option_parts;
using enum OptionGroup;

constexpr Bytes kUsualDatagram = 1024;    // fits the MTU of a port on Ethernet with the usual 1500 bytes
constexpr Bytes kUsualSrdMessage = 8192;  // fits the largest that EFA sends, of 8928 bytes

constexpr Choices<Transport, 5> kTransportsOfSend = {{{"RC", Transport::kRc},
                                                      {"UC", Transport::kUc},
                                                      {"UD", Transport::kUd},
                                                      {"SRD", Transport::kSrd},
                                                      {"DC", Transport::kDc}}};
constexpr Choices<Transport, 4> kTransportsOfWrite = {
    {{"RC", Transport::kRc}, {"UC", Transport::kUc}, {"SRD", Transport::kSrd}, {"DC", Transport::kDc}}};
constexpr Choices<Transport, 3> kTransportsOfRead = {
    {{"RC", Transport::kRc}, {"SRD", Transport::kSrd}, {"DC", Transport::kDc}}};
constexpr Choices<Transport, 2> kTransportsOfAtomic = {{{"RC", Transport::kRc}, {"DC", Transport::kDc}}};

void check_retries(const Options& options) {
  const RdmaOptions usual;
  const bool chosen =
      options.rdma.acknowledge_timeout != usual.acknowledge_timeout || options.rdma.retries != usual.retries;
  const Transport transport = options.rdma.transport;
  if (!chosen || transport == Transport::kRc || transport == Transport::kDc) return;
  throw UsageError(
      "-u and --retry-count are for what is sent again, which only RC and DC do; leave them out, or use -c RC");
}

void check_datagrams(const Options& options) {
  if (options.rdma.transport == Transport::kUd && options.rdma.flow_labels.size() > 1) {
    throw UsageError("--flow-label: datagrams of all queue pairs take one path; give one label, or use -c RC");
  }
  const Bytes largest = std::max(options.sizes.min_bytes, options.sizes.max_bytes);
  if (options.rdma.transport != Transport::kUd || largest <= kLargestDatagram) return;
  throw UsageError(
      fmt::format("-c UD sends datagrams of {} bytes at most, and sizes go up to {}; give smaller ones with -s or "
                  "--max-bytes, or use -c RC",
                  kLargestDatagram, exact_bytes(largest)));
}

/// What the requests and the queue pairs of EFA leave no choice of.
void check_srd(const Options& options, Verb verb) {
  struct Fixed {
    std::string_view key;
    const char* option;
    const char* why;
  };
  constexpr const char* kResends = "the adapter decides when and how often to send again";
  constexpr Fixed kFixed[] = {{"cq_mod", "-Q", "every request is signaled"},
                              {"use_srq", "--use-srq", "there are no shared receive queues"},
                              {"mtu", "-m", "there is no path MTU to choose"},
                              {"outs", "-o", "the adapter alone decides how many reads are under way"},
                              {"qp_timeout", "-u", kResends},
                              {"retry_count", "--retry-count", kResends},
                              {"sl", "-S", "packets have no service level"},
                              {"tclass", "--tclass", "packets have no traffic class"},
                              {"flow_label", "--flow-label", "the adapter spreads packets over paths by itself"}};
  if (options.rdma.transport != Transport::kSrd) return;
  for (const Fixed& fixed : kFixed) {
    if (!options.has_given({fixed.key})) continue;
    throw UsageError(fmt::format("{} is not for -c SRD: {}; leave it out", fixed.option, fixed.why));
  }
  if (verb != Verb::kWrite || options.rdma.inlined.value_or(0) == 0) return;
  throw UsageError("-I is not for writes with -c SRD: the adapter writes nothing inline; leave it out");
}

/// Every request is signaled, and messages that are sent have the size of a packet at most.
void complete_srd(Options& options, Verb verb) {
  if (options.rdma.transport != Transport::kSrd) return;
  options.rdma.moderation = 1;
  if (verb != Verb::kSend || options.has_given({"size", "all", "minbytes", "maxbytes"})) return;
  options.sizes.max_bytes = std::min(options.sizes.max_bytes, kUsualSrdMessage);
  options.sizes.min_bytes = std::min(options.sizes.min_bytes, options.sizes.max_bytes);
}

/// Limits default sizes to those of datagrams.
void complete_datagram_sizes(Options& options) {
  if (options.rdma.transport != Transport::kUd) return;
  if (options.has_given({"size", "maxbytes"})) return;
  SizeRange& sizes = options.sizes;
  const bool chosen = options.has_given({"all", "minbytes"});
  sizes.max_bytes = std::min(sizes.max_bytes, chosen ? kLargestDatagram : kUsualDatagram);
  if (!chosen) sizes.min_bytes = std::min(sizes.min_bytes, sizes.max_bytes);
}

}  // namespace

OptionSet transport_of(Verb verb) {
  const auto with = [](const char* types, Accessors accessors) -> OptionSet {
    return {shapes_tables(
        option(kRdma, "-c,--connection", "TYPE", fmt::format("connection type: {}", types), std::move(accessors)))};
  };
  constexpr auto kTransport = &RdmaOptions::transport;
  switch (verb) {
    case Verb::kWrite:
      return with("RC, UC, DC (mlx5), SRD (EFA)", choice(kTransport, "connection of writes", kTransportsOfWrite));
    case Verb::kRead:
      return with("RC, DC (mlx5), SRD (EFA)", choice(kTransport, "connection of reads", kTransportsOfRead));
    case Verb::kAtomic:
      return with("RC or DC (mlx5)", choice(kTransport, "connection of atomics", kTransportsOfAtomic));
    default:
      return with("RC, UC, UD, DC (mlx5), SRD (EFA)", choice(kTransport, "connection of sends", kTransportsOfSend));
  }
}

void complete_transport(Options& options, Verb verb) {
  complete_datagram_sizes(options);
  complete_srd(options, verb);
  if (options.rdma.transport == Transport::kDc) options.rdma.shared_receives = true;  // targets have no own ones
}

void check_transport(const Options& options, Verb verb) {
  check_srd(options, verb);
  check_datagrams(options);
  check_retries(options);
}

}  // namespace fabricbench
