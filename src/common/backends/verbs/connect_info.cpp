#include "common/backends/verbs/connect_info.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::verbs {
namespace {

void check_alike(const ConnectInfo& first, const ConnectInfo& second) {
  if (first.port.ethernet == second.port.ethernet && first.port.other_layer == second.port.other_layer) return;
  const auto kind = [](const PortFacts& port) {
    if (port.other_layer) return "neither Ethernet nor InfiniBand (as EFA)";
    return port.ethernet ? "Ethernet (RoCE)" : "InfiniBand";
  };
  throw Error(ExitStatus::kMissing,
              fmt::format("verbs: {} port {} of host {} is {}, and {} port {} of host {} is {}; choose devices of one "
                          "network with -d",
                          first.port.device, first.port.port, first.host, kind(first.port), second.port.device,
                          second.port.port, second.host, kind(second.port)));
}

int agreed_mtu(const ConnectInfo& first, const ConnectInfo& second, std::int64_t asked) {
  const int most = std::min(first.port.mtu, second.port.mtu);
  if (asked <= most) return asked > 0 ? static_cast<int>(asked) : most;
  const ConnectInfo& smaller = first.port.mtu <= second.port.mtu ? first : second;
  throw UsageError(fmt::format("-m {}: {} port {} of host {} has an MTU of {}; use -m {} or less, or leave it out",
                               asked, smaller.port.device, smaller.port.port, smaller.host, most, most));
}

int agreed_outstanding(const ConnectInfo& first, const ConnectInfo& second, std::int64_t asked) {
  const int most = std::min(first.port.most_outstanding, second.port.most_outstanding);
  if (asked <= most) return asked > 0 ? static_cast<int>(asked) : most;
  throw UsageError(fmt::format("-o {}: {} of host {} and {} of host {} have {} reads and atomics under way at most",
                               asked, first.port.device, first.host, second.port.device, second.host, most));
}

PartitionPair agreed_partition(const ConnectInfo& first, const ConnectInfo& second,
                               const std::optional<std::int64_t>& index) {
  const auto found = choose_partition(first.port.partitions, second.port.partitions, index);
  if (found) return *found;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("verbs: {}{} port {} of host {} and {} port {} of host {} have no partition in common with at "
                  "least one full member{} (partition keys by index: {}; {}); {}",
                  index ? fmt::format("--pkey-index {}: ", *index) : "", first.port.device, first.port.port, first.host,
                  second.port.device, second.port.port, second.host, index ? " at this index" : "",
                  describe(first.port.partitions), describe(second.port.partitions),
                  index ? "give the index of one that they have, or leave it out"
                        : "make them members of one in the subnet manager's configuration (partitions.conf)"));
}

constexpr std::size_t kPrefix = 8;  // bytes of a GID that name the subnet

bool are_in_one_subnet(const Gid& first, const Gid& second) {
  return std::equal(first.raw.begin(), first.raw.begin() + kPrefix, second.raw.begin());
}

const Gid& gid_with(const PortFacts& port, int index) {
  return *std::find_if(port.gids.begin(), port.gids.end(), [index](const Gid& gid) { return gid.index == index; });
}

/// The LID of the router to another subnet is in a path record, which rdma_cm asks for.
void check_subnets(const ConnectInfo& first, const ConnectInfo& second, const GidPair& gids) {
  const Gid& one = gid_with(first.port, gids.first);
  const Gid& other = gid_with(second.port, gids.second);
  if (are_in_one_subnet(one, other)) return;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("verbs: {} port {} of host {} ({}) and {} port {} of host {} ({}) are in different InfiniBand "
                  "subnets; connect them by rdma_cm, which finds the router (-R)",
                  first.port.device, first.port.port, first.host, describe(one), second.port.device, second.port.port,
                  second.host, describe(other)));
}

}  // namespace

Agreement agree(const ConnectInfo& first, const ConnectInfo& second, const Wishes& wishes) {
  check_alike(first, second);
  Agreement agreed;
  agreed.mtu = agreed_mtu(first, second, wishes.mtu);
  agreed.outstanding = agreed_outstanding(first, second, wishes.outstanding);
  agreed.gids = wishes.gid ? check_gids(first.port.gids, second.port.gids, static_cast<int>(*wishes.gid))
                           : choose_gids(first.port.gids, second.port.gids);
  if (!wishes.by_rdma_cm) agreed.partitions = agreed_partition(first, second, wishes.partition);
  if (!first.port.ethernet && !wishes.by_rdma_cm) check_subnets(first, second, agreed.gids);
  agreed.has_global_route = first.port.ethernet || first.port.needs_global_route || second.port.needs_global_route ||
                            wishes.gid || wishes.global_route;
  return agreed;
}

}  // namespace fabricbench::verbs
