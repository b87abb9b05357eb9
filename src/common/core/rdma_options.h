#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/names.h"
#include "common/core/units.h"

namespace fabricbench {

/// The operation of an RDMA program; kNone: not an RDMA program.
enum class Verb { kNone, kWrite, kRead, kSend, kAtomic };
constexpr auto names_of(Verb) { return std::to_array<std::string_view>({"", "write", "read", "send", "atomic"}); }

/// The type of connection between two queue pairs, as perftest's -c names it. Two are of one provider only: SRD of EFA
/// (reliable, in any order) and DC of mlx5 (a queue pair that sends to any target).
enum class Transport { kRc, kUc, kUd, kSrd, kDc };
constexpr auto names_of(Transport) { return std::to_array<std::string_view>({"RC", "UC", "UD", "SRD", "DC"}); }

/// The event by which gpudirect_rdma_lat learns that a message has arrived. One table has only one of them.
enum class SeenBy {
  kCompletion,  ///< cq: the processor polls a completion; the GPU may not see the data yet
  kFlush,       ///< cq+flush: it then also reads the last bytes back through the adapter, which flushes the data
  kReader       ///< gpu: the consumer itself sees the data, a kernel on the GPU or a thread in its place
};
constexpr auto names_of(SeenBy) { return std::to_array<std::string_view>({"cq", "cq+flush", "gpu"}); }

enum class AtomicKind { kFetchAndAdd, kCompareAndSwap };
constexpr auto names_of(AtomicKind) { return std::to_array<std::string_view>({"FETCH_AND_ADD", "CMP_AND_SWAP"}); }

/// The settings of programs over RDMA verbs; names and short options are perftest's.
struct RdmaOptions {
  std::string device;                   ///< -d: such as mlx5_0; empty: the first one with an active port, on each rank
  std::int64_t port = 0;                ///< -i; 0: the first active one
  std::optional<std::int64_t> gid;      ///< -x: index in the port's table; empty: chosen by both ends together
  std::int64_t mtu = 0;                 ///< -m: 256 to 4096 bytes; 0: the largest that both ports have
  std::int64_t queue_pairs = 1;         ///< -q
  std::int64_t depth = 0;               ///< -t: requests in flight per queue pair; 0: see depth_of
  std::int64_t receive_depth = 512;     ///< -r
  std::int64_t post_list = 1;           ///< -l: requests posted with one call
  std::int64_t moderation = 0;          ///< -Q: one request in this many is signaled; 0: see moderation_of
  std::optional<std::int64_t> inlined;  ///< -I: largest message sent inline; empty: see inline_bytes_wanted
  std::int64_t outstanding = 0;  ///< -o: reads and atomics in flight per queue pair; 0: the most both devices support
  bool both_ways = false;        ///< -b
  Transport transport = Transport::kRc;
  bool events = false;                    ///< -e: sleep until the next completion
  std::int64_t service_level = 0;         ///< -S
  std::int64_t traffic_class = 0;         ///< --tclass
  std::optional<std::int64_t> partition;  ///< --pkey-index; empty: a common one is looked for
  std::vector<std::int64_t> flow_labels;  ///< --flow-label, of the queue pairs in turn; empty: the network's choice
  std::int64_t acknowledge_timeout = 14;  ///< -u: 4.096 us x 2^this until a packet is sent again
  double rate_limit = 0;     ///< --rate-limit: bytes per second that a rank sends or reads at most; 0: no limit
  std::int64_t burst = 0;    ///< --burst-size: messages that start at once under it; 0: as many as -l posts
  std::int64_t retries = 7;  ///< --retry-count
  AtomicKind atomic = AtomicKind::kFetchAndAdd;
  bool write_with_immediate = false;
  std::int64_t connections = 100;  ///< per pair, when connecting is measured
  std::int64_t parallel = 1;       ///< --parallel: of these connections, how many are made at the same time
  std::int64_t messages = 4;       ///< in each direction of such a connection
  Seconds stall_timeout = 5;       ///< time without a completion after which the job ends
  bool by_rdma_cm = false;         ///< -R: queue pairs are connected by rdma_cm
  bool background = false;         ///< --background bw: latencies beside a stream of writes
  /// --background-sl, --background-tclass: of that stream; empty: those of the messages.
  std::optional<std::int64_t> background_service_level;
  std::optional<std::int64_t> background_traffic_class;
  bool shared_receives = false;      ///< --use-srq: all queue pairs share one receive queue
  std::string devices;               ///< --devices: rule for the device of each rank; empty: see `device`
  bool strict_pcie_order = false;    ///< --disable_pcie_relaxed: no relaxed ordering of writes to the buffers
  bool near_adapter = true;          ///< --numa auto: threads and host buffers on the NUMA node of the adapter
  std::int64_t numa_node = -1;       ///< --numa N: on this node instead; -1: none was given
  bool data_direct = false;          ///< --data-direct: reach GPU memory over PCI Express in any case
  SeenBy seen_by = SeenBy::kReader;  ///< gpudirect_rdma_lat only
  bool perftest_table = false;       ///< --format perftest
  bool gbits = false;                ///< --report_gbits: Gb/s in that table
  Seconds max_latency = 0;           ///< 0: not required
  double percent_of_rate = 0;        ///< share of the port's rate; 0: not required
};

/// Requests in flight per queue pair: the value of -t, or perftest's 128 for bandwidth and 1 for latency.
[[nodiscard]] constexpr std::int64_t depth_of(const RdmaOptions& options, bool latency) {
  if (latency) return 1;
  return options.depth > 0 ? options.depth : 128;
}

/// One request in this many is signaled: the value of -Q, or perftest's 100 for messages of at most 8 KiB and 1 above.
/// At most half of the depth, so that the queue does not run dry before the next completion. Of several queue pairs, an
/// eighth unless -Q is given: each gets as many messages at once, and one that got more than the others at the end of a
/// window would be waited for.
[[nodiscard]] constexpr std::int64_t moderation_of(const RdmaOptions& options, Bytes size, std::int64_t depth) {
  constexpr Bytes kLargestModerated = 8192;
  const std::int64_t usual = size > kLargestModerated ? 1 : 100;
  const std::int64_t asked = options.moderation > 0 ? options.moderation : usual;
  const std::int64_t part = options.queue_pairs > 1 && options.moderation == 0 ? 8 : 2;
  const std::int64_t most = depth > part ? depth / part : 1;
  return asked < most ? asked : most;
}

/// Limits of connections over rdma_cm: messages of one, and bytes in each direction of those at the same time.
inline constexpr std::int64_t kMostMessages = 1024;
inline constexpr Bytes kMostConnectionBytes = Bytes{1} << 30;

/// The steps of the side that opens a connection over rdma_cm, in order.
enum class ConnectStep { kResolveAddress, kResolveRoute, kConnect, kFirstMessage, kDisconnect };

inline constexpr std::size_t kConnectSteps = 5;

/// As tables and JSON spell them.
constexpr auto names_of(ConnectStep) {
  return std::to_array<std::string_view>(
      {"resolve_address", "resolve_route", "connect", "first_message", "disconnect"});
}

}  // namespace fabricbench
