#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/backends/verbs/device.h"
#include "common/record/field.h"

namespace fabricbench::verbs {

/// The data that the ranks of a pair exchange, so that each can connect its queue pairs to the other's.
struct ConnectInfo {
  std::string host;
  PortFacts port;
  std::vector<std::uint32_t> queue_pairs;       ///< numbers (QPN)
  std::vector<std::uint32_t> sequence_numbers;  ///< the first packet's (PSN), by queue pair
  int rank = -1;                                ///< of the job, for messages; -1: not told
};

/// As messages to the other rank. Facts that concern only the own side are left out.
template <typename Visitor, record::Of<ConnectInfo> Record>
void describe(Visitor& visitor, Record& info) {
  visitor.internal(info.host, info.port, info.queue_pairs, info.sequence_numbers, info.rank);
}
template <typename Visitor, record::Of<PortFacts> Record>
void describe(Visitor& visitor, Record& port) {
  visitor.internal(port.device, port.port, port.ethernet, port.other_layer, port.lid, port.mtu, port.most_outstanding,
                   port.needs_global_route, port.partitions, port.gids);
}
template <typename Visitor, record::Of<Gid> Record>
void describe(Visitor& visitor, Record& gid) {
  visitor.internal(gid.index, gid.type, gid.raw);
}

/// The settings of both ends; the same on both.
struct Agreement {
  int mtu = 0;          ///< bytes
  GidPair gids;         ///< of the pair's first and second rank
  int outstanding = 0;  ///< reads and atomics in flight
  PartitionPair partitions;
  /// Whether packets have a global route header: on RoCE always, on InfiniBand where a port or an option needs it.
  bool has_global_route = false;
};

/// What the user asked for; by default the best that both ends support.
struct Wishes {
  std::int64_t mtu = 0;  ///< bytes; 0: not given
  std::int64_t outstanding = 0;
  std::optional<std::int64_t> gid{};
  std::optional<std::int64_t> partition{};  ///< its index
  bool global_route = false;                ///< for what only a global route header carries, such as a traffic class
  bool by_rdma_cm = false;                  ///< rdma_cm finds a path by itself, also into another subnet
};

/// Agrees on the settings of both ends. Throws Error with both ends' facts: missing, or usage if more was asked for
/// than the ports support. What cannot work is refused here instead of timing out later: no common partition, and
/// different subnets of InfiniBand without rdma_cm.
[[nodiscard]] Agreement agree(const ConnectInfo& first, const ConnectInfo& second, const Wishes& wishes);

}  // namespace fabricbench::verbs
