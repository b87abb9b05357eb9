#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/names.h"
#include "common/core/units.h"

namespace fabricbench {

/// What an RDMA program does; kNone: it is none.
enum class Verb { kNone, kWrite, kRead, kSend, kAtomic };
constexpr auto names_of(Verb) { return std::to_array<std::string_view>({"", "write", "read", "send", "atomic"}); }

/// How two queue pairs are connected, as perftest's -c names it.
enum class Transport { kRc, kUc, kUd };
constexpr auto names_of(Transport) { return std::to_array<std::string_view>({"RC", "UC", "UD"}); }

/// How gpudirect_rdma_lat learns that a message has arrived; never two of them in one table.
enum class SeenBy {
  kCompletion,  ///< cq: the processor polls a completion; the GPU need not see the data yet
  kFlush,       ///< cq+flush: and then reads the last bytes back through the adapter, which pushes the data out before
  kReader       ///< gpu: the one that the data is for sees it, a kernel on the GPU or a thread in its place
};
constexpr auto names_of(SeenBy) { return std::to_array<std::string_view>({"cq", "cq+flush", "gpu"}); }

enum class AtomicKind { kFetchAndAdd, kCompareAndSwap };
constexpr auto names_of(AtomicKind) { return std::to_array<std::string_view>({"FETCH_AND_ADD", "CMP_AND_SWAP"}); }

/// The settings of programs over RDMA verbs; names and short options are perftest's.
struct RdmaOptions {
  std::string device;                   ///< -d: such as mlx5_0; empty: each rank takes the first with an active port
  std::int64_t port = 0;                ///< -i; 0: the first active one
  std::optional<std::int64_t> gid;      ///< -x: index in the port's table; nothing: both ends choose together
  std::int64_t mtu = 0;                 ///< -m: 256 to 4096 bytes; 0: the largest that both ports have
  std::int64_t queue_pairs = 1;         ///< -q
  std::int64_t depth = 0;               ///< -t: requests under way on a queue pair; 0: see depth_of
  std::int64_t receive_depth = 512;     ///< -r
  std::int64_t post_list = 1;           ///< -l: requests handed over at once
  std::int64_t moderation = 0;          ///< -Q: one request in so many is signaled; 0: see moderation_of
  std::optional<std::int64_t> inlined;  ///< -I: messages up to so many bytes are sent inline; nothing: see inline_of
  std::int64_t outstanding = 0;  ///< -o: reads and atomics under way on a queue pair; 0: as many as both devices do
  bool both_ways = false;        ///< -b
  Transport transport = Transport::kRc;
  bool events = false;             ///< -e: sleep until a completion comes
  std::int64_t service_level = 0;  ///< -S
  std::int64_t traffic_class = 0;  ///< --tclass
  AtomicKind atomic = AtomicKind::kFetchAndAdd;
  bool write_with_immediate = false;
  std::int64_t connections = 100;     ///< of a pair, one after the other, where connecting is measured
  std::int64_t messages = 4;          ///< in each direction of such a connection
  Seconds stall_timeout = 5;          ///< without a completion the job ends after so long
  bool by_rdma_cm = false;            ///< -R: queue pairs are connected by rdma_cm
  bool shared_receives = false;       ///< --use-srq: all queue pairs take their receives from one queue
  std::string devices;                ///< --devices: which device each rank of a host takes; empty: see `device`
  bool data_direct = false;           ///< --data-direct: GPU memory is reached over PCI Express in any case
  SeenBy seen_by = SeenBy::kReader;   ///< of gpudirect_rdma_lat
  bool perftest_table = false;        ///< --format perftest
  bool gbits = false;                 ///< --report_gbits: of that table
  double min_bandwidth_gb_per_s = 0;  ///< 0: not required
  Seconds max_latency = 0;            ///< 0: not required
  double percent_of_rate = 0;         ///< of the port's rate; 0: not required
};

/// Requests under way on a queue pair: as asked for, or perftest's 128 of bandwidth and 1 of latency.
[[nodiscard]] constexpr std::int64_t depth_of(const RdmaOptions& options, bool latency) {
  if (latency) return 1;
  return options.depth > 0 ? options.depth : 128;
}

/// One request in how many is signaled: as asked for, or perftest's 100 for messages of at most 8 KiB and 1 above; no
/// more than half of the depth, so that the queue does not run dry before the next completion.
[[nodiscard]] constexpr std::int64_t moderation_of(const RdmaOptions& options, Bytes size, std::int64_t depth) {
  constexpr Bytes kLargestModerated = 8192;
  const std::int64_t usual = size > kLargestModerated ? 1 : 100;
  const std::int64_t asked = options.moderation > 0 ? options.moderation : usual;
  const std::int64_t most = depth > 1 ? depth / 2 : 1;
  return asked < most ? asked : most;
}

/// The most messages, and bytes in each direction, of a connection that rdma_cm makes.
inline constexpr std::int64_t kMostMessages = 1024;
inline constexpr Bytes kMostConnectionBytes = Bytes{1} << 30;

}  // namespace fabricbench
