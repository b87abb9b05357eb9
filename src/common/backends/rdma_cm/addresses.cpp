#include "common/backends/rdma_cm/addresses.h"

#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "common/core/error.h"

namespace fabricbench::rdma_cm {
namespace {

bool stands_for_address(const verbs::Gid& gid) {
  return gid.type == verbs::GidType::kInfiniBand || gid.is_ipv4() || !gid.is_link_local();
}

std::string listed(const std::vector<verbs::Gid>& gids) {
  std::string text;
  for (const verbs::Gid& gid : gids) text += (text.empty() ? "" : ", ") + verbs::describe(gid);
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<verbs::Gid> addressable(const verbs::PortFacts& port, const std::optional<std::int64_t>& asked) {
  std::vector<verbs::Gid> usable;
  std::copy_if(port.gids.begin(), port.gids.end(), std::back_inserter(usable), stands_for_address);
  const auto fits = [&](const verbs::Gid& gid) { return !asked || gid.index == *asked; };
  if (std::any_of(usable.begin(), usable.end(), fits)) return usable;
  throw Error(
      ExitStatus::kMissing,
      fmt::format("{}port {} of {} has no GID{} for an IP address, which rdma_cm needs; {} "
                  "It has: {}",
                  asked ? fmt::format("-x {}: ", *asked) : "", port.port, port.device, asked ? " of this index" : "",
                  asked && !usable.empty()
                      ? "name the index of one that does, or leave out -x."
                      : "give its interface one (ip addr add ADDRESS/LENGTH dev NAME; rdma link tells NAME).",
                  listed(port.gids)));
}

SocketAddress::SocketAddress(const verbs::Gid& gid, std::uint16_t port, Transport transport) {
  constexpr std::size_t kIpv4Begin = 12;
  if (gid.type == verbs::GidType::kInfiniBand) {
    sockaddr_ib address{};
    address.sib_family = AF_IB;
    address.sib_pkey = htobe16(verbs::kDefaultPartition);
    std::memcpy(&address.sib_addr, gid.raw.data(), sizeof address.sib_addr);
    address.sib_sid = htobe64((transport == Transport::kUd ? RDMA_IB_IP_PS_UDP : RDMA_IB_IP_PS_TCP) | port);
    address.sib_sid_mask = htobe64(RDMA_IB_IP_PS_MASK | (port == 0 ? 0 : RDMA_IB_IP_PORT_MASK));
    std::memcpy(&storage_, &address, sizeof address);
  } else if (gid.is_ipv4()) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    std::memcpy(&address.sin_addr, gid.raw.data() + kIpv4Begin, sizeof address.sin_addr);
    std::memcpy(&storage_, &address, sizeof address);
  } else {
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(port);
    std::memcpy(&address.sin6_addr, gid.raw.data(), sizeof address.sin6_addr);
    std::memcpy(&storage_, &address, sizeof address);
  }
}

}  // namespace fabricbench::rdma_cm
