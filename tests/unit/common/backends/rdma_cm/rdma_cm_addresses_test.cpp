// Which GIDs rdma_cm can be told as addresses, and as which.

#include <arpa/inet.h>
#include <endian.h>
#include <gtest/gtest.h>
#include <infiniband/ib.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "common/backends/rdma_cm/channel.h"
#include "missing_error.h"

using namespace fabricbench;
using namespace fabricbench::rdma_cm;
using fabricbench::test::missing_error;
using verbs::Gid;
using verbs::GidType;

namespace rdma_cm_addresses_test {

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
  EXPECT_EQ(asked.find("-x 1: port 1 of mlx5_0 has no GID of this index for an IP address, which rdma_cm needs; name "
                       "the index of one that does, or leave out -x. It has: 0: RoCE v1 fe80::1, "),
            0U)
      << asked;
  const std::string none = missing_error([] { (void)addressable(port_with({kUsual[0]}), std::nullopt); });
  EXPECT_EQ(none,
            "port 1 of mlx5_0 has no GID for an IP address, which rdma_cm needs; give its interface "
            "one (ip addr add ADDRESS/LENGTH dev NAME; rdma link tells NAME). It has: 0: RoCE v1 fe80::1");
}

/// Whose GIDs are all of the link-local kind by default.
TEST(RdmaCmAddresses, AreAllOfInfiniBand) {
  const Gid first = gid(0, GidType::kInfiniBand, "fe80::2:c903:0:1");
  const Gid second = gid(1, GidType::kInfiniBand, "fec0::2:c903:0:1");
  EXPECT_EQ(indices(addressable(port_with({first, second}), std::nullopt)), (std::vector{0, 1}));
  EXPECT_EQ(indices(addressable(port_with({first, second}), 1)), (std::vector{0, 1}));
}

TEST(RdmaCmAddresses, BecomeThoseOfSockets) {
  SocketAddress four(kUsual[3], 4791, Transport::kRc);
  const auto* const in = reinterpret_cast<const sockaddr_in*>(four.generic());
  std::array<char, INET6_ADDRSTRLEN> text{};
  EXPECT_EQ(in->sin_family, AF_INET);
  EXPECT_EQ(ntohs(in->sin_port), 4791);
  EXPECT_STREQ(inet_ntop(AF_INET, &in->sin_addr, text.data(), text.size()), "10.0.0.1");
  SocketAddress six(kUsual[4], 18515, Transport::kRc);
  const auto* const in6 = reinterpret_cast<const sockaddr_in6*>(six.generic());
  EXPECT_EQ(in6->sin6_family, AF_INET6);
  EXPECT_EQ(ntohs(in6->sin6_port), 18515);
  EXPECT_STREQ(inet_ntop(AF_INET6, &in6->sin6_addr, text.data(), text.size()), "2001:db8::1");
}

/// The library reads the port of such an address from the end of the service identifier.
TEST(RdmaCmAddresses, OfInfiniBandAreGidsWithAServiceIdentifier) {
  const Gid own = gid(0, GidType::kInfiniBand, "fe80::2:c903:0:1");
  SocketAddress listening(own, 0, Transport::kRc);
  const auto* const any = reinterpret_cast<const sockaddr_ib*>(listening.generic());
  EXPECT_EQ(any->sib_family, AF_IB);
  EXPECT_EQ(be16toh(any->sib_pkey), 0xffff);
  EXPECT_EQ(std::memcmp(&any->sib_addr, own.raw.data(), own.raw.size()), 0);
  EXPECT_EQ(be64toh(any->sib_sid), 0x0000000001060000U);
  EXPECT_EQ(be64toh(any->sib_sid_mask), 0xffffffffffff0000U);
  SocketAddress called(own, 18515, Transport::kUd);
  const auto* const known = reinterpret_cast<const sockaddr_ib*>(called.generic());
  EXPECT_EQ(be64toh(known->sib_sid), 0x0000000001110000U | 18515);
  EXPECT_EQ(be64toh(known->sib_sid_mask), 0xffffffffffffffffU);
}

}  // namespace rdma_cm_addresses_test
