// Which GIDs rdma_cm can be told as addresses, and as which.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <string>
#include <vector>

#include "common/rdma_cm/addresses.h"
#include "missing_error.h"

using namespace fabricbench;
using namespace fabricbench::rdma_cm;
using fabricbench::test::missing_error;
using verbs::Gid;
using verbs::GidType;

namespace {

Gid gid(int index, GidType type, const std::string& address) {
  Gid made{index, type, {}};
  EXPECT_EQ(inet_pton(AF_INET6, address.c_str(), made.raw.data()), 1);
  return made;
}

verbs::PortFacts port_with(const std::vector<Gid>& gids) {
  verbs::PortFacts port;
  port.device = "mlx5_0";
  port.gids = gids;
  return port;
}

std::vector<int> indices(const std::vector<Gid>& gids) {
  std::vector<int> found;
  for (const Gid& one : gids) found.push_back(one.index);
  return found;
}

const std::vector<Gid> kUsual = {gid(0, GidType::kRoceV1, "fe80::1"), gid(1, GidType::kRoceV2, "fe80::1"),
                                 gid(2, GidType::kRoceV1, "::ffff:10.0.0.1"),
                                 gid(3, GidType::kRoceV2, "::ffff:10.0.0.1"), gid(4, GidType::kRoceV2, "2001:db8::1")};

TEST(RdmaCmAddresses, AreThoseThatAHostHasOfItsNetwork) {
  EXPECT_EQ(indices(addressable(port_with(kUsual), std::nullopt)), (std::vector{2, 3, 4}));
  EXPECT_EQ(indices(addressable(port_with(kUsual), 4)), (std::vector{2, 3, 4}));
}

TEST(RdmaCmAddresses, AreMissedWithWhatThereIsAndWhatToDo) {
  const std::string asked = missing_error([] { (void)addressable(port_with(kUsual), 1); });
  EXPECT_EQ(asked.find("-x 1: port 1 of mlx5_0 has no GID of this index that stands for an IP address, which rdma_cm "
                       "connects to; name the index of one that does, or leave out -x. It has: 0: RoCE v1 fe80::1, "),
            0U)
      << asked;
  const std::string none = missing_error([] { (void)addressable(port_with({kUsual[0]}), std::nullopt); });
  EXPECT_EQ(none,
            "port 1 of mlx5_0 has no GID that stands for an IP address, which rdma_cm connects to; give its interface "
            "one (ip addr add ADDRESS/LENGTH dev NAME; rdma link tells NAME). It has: 0: RoCE v1 fe80::1");
}

TEST(RdmaCmAddresses, AreNoneOfInfiniBand) {
  const Gid port_gid = gid(0, GidType::kInfiniBand, "2001:db8::1");
  EXPECT_NE(missing_error([&] { (void)addressable(port_with({port_gid}), std::nullopt); }), "");
}

TEST(RdmaCmAddresses, BecomeThoseOfSockets) {
  SocketAddress four(kUsual[3], 4791);
  const auto* const in = reinterpret_cast<const sockaddr_in*>(four.generic());
  std::array<char, INET6_ADDRSTRLEN> text{};
  EXPECT_EQ(in->sin_family, AF_INET);
  EXPECT_EQ(ntohs(in->sin_port), 4791);
  EXPECT_STREQ(inet_ntop(AF_INET, &in->sin_addr, text.data(), text.size()), "10.0.0.1");
  SocketAddress six(kUsual[4], 18515);
  const auto* const in6 = reinterpret_cast<const sockaddr_in6*>(six.generic());
  EXPECT_EQ(in6->sin6_family, AF_INET6);
  EXPECT_EQ(ntohs(in6->sin6_port), 18515);
  EXPECT_STREQ(inet_ntop(AF_INET6, &in6->sin6_addr, text.data(), text.size()), "2001:db8::1");
}

}  // namespace
