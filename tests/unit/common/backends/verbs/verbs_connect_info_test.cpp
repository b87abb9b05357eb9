// What two ranks tell each other before their queue pairs are connected, and what they agree on.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "common/backends/verbs/connect_info.h"
#include "common/core/error.h"
#include "common/record/packing.h"

using namespace fabricbench;
using namespace fabricbench::verbs;

namespace verbs_connect_info_test {

Gid ipv4(int index, std::uint8_t last) {
  return {index, GidType::kRoceV2, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}};
}

ConnectInfo connect_info(const std::string& host, std::uint8_t last) {
  ConnectInfo made;
  made.host = host;
  made.port.device = "mlx5_2";
  made.port.port = 2;
  made.port.ethernet = true;
  made.port.mtu = 4096;
  made.port.most_outstanding = 16;
  made.port.gids = {ipv4(3, last)};
  made.queue_pairs = {0x11, 0x12};
  made.sequence_numbers = {7, 8};
  return made;
}

std::string refusal(const ConnectInfo& first, const ConnectInfo& second, std::int64_t mtu, std::int64_t outstanding) {
  try {
    (void)agree(first, second, {.mtu = mtu, .outstanding = outstanding});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ConnectInfo, ArriveAsTheyWere) {
  ConnectInfo sent = connect_info("node-1", 9);
  sent.rank = 17;
  sent.port.needs_global_route = true;
  sent.port.partitions = {0xffff, 0, 0x8012};
  const ConnectInfo came = record::unpack<ConnectInfo>(record::pack(sent));
  EXPECT_EQ(came.host, "node-1");
  EXPECT_EQ(came.rank, 17);
  EXPECT_EQ(came.port.device, "mlx5_2");
  EXPECT_EQ(came.port.port, 2);
  EXPECT_TRUE(came.port.ethernet);
  EXPECT_EQ(came.port.mtu, 4096);
  EXPECT_EQ(came.port.most_outstanding, 16);
  ASSERT_EQ(came.port.gids.size(), 1U);
  EXPECT_EQ(came.port.gids[0].index, 3);
  EXPECT_EQ(came.port.gids[0].raw, sent.port.gids[0].raw);
  EXPECT_TRUE(came.port.needs_global_route);
  EXPECT_EQ(came.port.partitions, sent.port.partitions);
  EXPECT_EQ(came.queue_pairs, sent.queue_pairs);
  EXPECT_EQ(came.sequence_numbers, sent.sequence_numbers);
}

TEST(Agreements, TakeTheBestThatBothHave) {
  ConnectInfo second = connect_info("node-2", 2);
  second.port.mtu = 1024;
  second.port.most_outstanding = 8;
  second.port.gids.front().index = 5;
  const Agreement agreed = agree(connect_info("node-1", 1), second, {});
  EXPECT_EQ(agreed.mtu, 1024);
  EXPECT_EQ(agreed.outstanding, 8);
  EXPECT_EQ(agreed.gids.first, 3);
  EXPECT_EQ(agreed.gids.second, 5);
}

TEST(Agreements, TakeWhatWasAskedForWhereBothCan) {
  const Agreement agreed =
      agree(connect_info("node-1", 1), connect_info("node-2", 2), {.mtu = 512, .outstanding = 1, .gid = 3});
  EXPECT_EQ(agreed.mtu, 512);
  EXPECT_EQ(agreed.outstanding, 1);
}

TEST(Agreements, RefuseMoreThanAPortCanDoAndSayWhich) {
  ConnectInfo second = connect_info("node-2", 2);
  second.port.mtu = 1024;
  const std::string mtu = refusal(connect_info("node-1", 1), second, 4096, 0);
  EXPECT_NE(mtu.find("-m 4096: mlx5_2 port 2 of host node-2 has an MTU of 1024"), std::string::npos) << mtu;
  const std::string reads = refusal(connect_info("node-1", 1), second, 0, 17);
  EXPECT_NE(reads.find("-o 17"), std::string::npos) << reads;
}

TEST(Agreements, RefuseTwoKindsOfNetwork) {
  ConnectInfo second = connect_info("node-2", 2);
  second.port.ethernet = false;
  const std::string why = refusal(connect_info("node-1", 1), second, 0, 0);
  EXPECT_NE(why.find("InfiniBand"), std::string::npos) << why;
  EXPECT_NE(why.find("-d"), std::string::npos) << why;
}

TEST(Agreements, CallAnUnspecifiedLinkLayerNeitherEthernetNorInfiniBand) {
  ConnectInfo first = connect_info("node-1", 1);
  first.port.ethernet = false;
  ConnectInfo second = first;
  second.port.other_layer = true;
  const std::string why = refusal(first, record::unpack<ConnectInfo>(record::pack(second)), 0, 0);
  EXPECT_NE(why.find("is InfiniBand, and mlx5_2 port 2 of host node-1 is neither Ethernet nor InfiniBand (as EFA)"),
            std::string::npos)
      << why;
}

ConnectInfo of_infiniband(const std::string& host, std::uint8_t subnet, PartitionTable partitions = {0xffff}) {
  ConnectInfo made = connect_info(host, 1);
  made.port.ethernet = false;
  made.port.gids = {{0, GidType::kInfiniBand, {0xfe, 0x80, 0, 0, 0, 0, 0, subnet, 1}}};
  made.port.partitions = std::move(partitions);
  return made;
}

std::string refusal_of(const ConnectInfo& first, const ConnectInfo& second, const Wishes& wishes) {
  try {
    (void)agree(first, second, wishes);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    return error.what();
  }
  return "";
}

TEST(Agreements, HaveAGlobalRouteWhereAPortOrAnOptionNeedsIt) {
  const ConnectInfo first = of_infiniband("node-1", 0);
  ConnectInfo second = of_infiniband("node-2", 0);
  EXPECT_FALSE(agree(first, second, {}).has_global_route);
  EXPECT_TRUE(agree(first, second, {.gid = 0}).has_global_route) << "-x means nothing without";
  EXPECT_TRUE(agree(first, second, {.global_route = true}).has_global_route);
  second.port.needs_global_route = true;
  EXPECT_TRUE(agree(first, second, {}).has_global_route);
  EXPECT_TRUE(agree(connect_info("node-1", 1), connect_info("node-2", 2), {}).has_global_route) << "RoCE";
}

TEST(Agreements, RefuseAnotherSubnetWithoutRdmaCm) {
  const ConnectInfo first = of_infiniband("node-1", 0);
  const ConnectInfo second = of_infiniband("node-2", 7);
  const std::string why = refusal_of(first, second, {});
  EXPECT_NE(why.find("host node-2 (0: InfiniBand fe80:0:0:7:100::) are in different InfiniBand subnets"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("-R"), std::string::npos);
  EXPECT_NO_THROW((void)agree(first, second, {.by_rdma_cm = true}));
}

TEST(Agreements, TakeTheDefaultPartitionOrTheFirstCommonOne) {
  const auto of = [](PartitionTable first, PartitionTable second) {
    return agree(of_infiniband("node-1", 0, std::move(first)), of_infiniband("node-2", 0, std::move(second)), {})
        .partitions;
  };
  EXPECT_EQ(of({0x8012, 0xffff}, {0x7fff}).key, 0xffff);
  EXPECT_EQ(of({0x8012, 0xffff}, {0x7fff}).first, 1);
  const PartitionPair common = of({0x7fff, 0x8012}, {0x7fff, 0, 0x0012});
  EXPECT_EQ(common.key, 0x8012) << "limited members of the default one do not hear each other";
  EXPECT_EQ(common.first, 1);
  EXPECT_EQ(common.second, 2);
  EXPECT_EQ(of({}, {0x8012}).first, 0) << "a device that tells no keys";
}

TEST(Agreements, RefuseEndsThatDoNotHearEachOther) {
  const ConnectInfo first = of_infiniband("node-1", 0, {0x7fff, 0x8012});
  const ConnectInfo second = of_infiniband("node-2", 0, {0x7fff, 0x8013});
  const std::string why = refusal_of(first, second, {});
  EXPECT_NE(why.find("have no partition in common with at least one full member (partition keys by index: 0: 0x7fff, "
                     "1: 0x8012; 0: 0x7fff, 1: 0x8013)"),
            std::string::npos)
      << why;
  const std::string asked = refusal_of(first, second, {.partition = 1});
  EXPECT_NE(asked.find("--pkey-index 1: "), std::string::npos) << asked;
  EXPECT_EQ(agree(first, of_infiniband("node-2", 0, {0, 0x0012}), {.partition = 1}).partitions.second, 1);
}

}  // namespace verbs_connect_info_test
