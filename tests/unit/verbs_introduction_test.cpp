// What two ranks tell each other before their queue pairs are connected, and what they settle on.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/backends/verbs/introduction.h"
#include "common/core/error.h"

using namespace fabricbench;
using namespace fabricbench::verbs;

namespace verbs_introduction_test {

Gid ipv4(int index, std::uint8_t last) {
  return {index, GidType::kRoceV2, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last}};
}

Introduction introduction(const std::string& host, std::uint8_t last) {
  Introduction made;
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

std::string refusal(const Introduction& first, const Introduction& second, std::int64_t mtu, std::int64_t outstanding) {
  try {
    (void)agree(first, second, mtu, outstanding, std::nullopt);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Introductions, ArriveAsTheyWere) {
  const Introduction sent = introduction("node-1", 9);
  const Introduction came = parse_introduction(to_text(sent));
  EXPECT_EQ(came.host, "node-1");
  EXPECT_EQ(came.port.device, "mlx5_2");
  EXPECT_EQ(came.port.port, 2);
  EXPECT_TRUE(came.port.ethernet);
  EXPECT_EQ(came.port.mtu, 4096);
  EXPECT_EQ(came.port.most_outstanding, 16);
  ASSERT_EQ(came.port.gids.size(), 1U);
  EXPECT_EQ(came.port.gids[0].index, 3);
  EXPECT_EQ(came.port.gids[0].raw, sent.port.gids[0].raw);
  EXPECT_EQ(came.queue_pairs, sent.queue_pairs);
  EXPECT_EQ(came.sequence_numbers, sent.sequence_numbers);
}

TEST(Introductions, ThatAreNoneAreRefused) {
  EXPECT_THROW((void)parse_introduction(""), Error);
  EXPECT_THROW((void)parse_introduction("node mlx5_0 1"), Error);
}

TEST(Agreements, TakeTheBestThatBothHave) {
  Introduction second = introduction("node-2", 2);
  second.port.mtu = 1024;
  second.port.most_outstanding = 8;
  second.port.gids.front().index = 5;
  const Agreement agreed = agree(introduction("node-1", 1), second, 0, 0, std::nullopt);
  EXPECT_EQ(agreed.mtu, 1024);
  EXPECT_EQ(agreed.outstanding, 8);
  EXPECT_EQ(agreed.gids.first, 3);
  EXPECT_EQ(agreed.gids.second, 5);
}

TEST(Agreements, TakeWhatWasAskedForWhereBothCan) {
  const Agreement agreed = agree(introduction("node-1", 1), introduction("node-2", 2), 512, 1, 3);
  EXPECT_EQ(agreed.mtu, 512);
  EXPECT_EQ(agreed.outstanding, 1);
}

TEST(Agreements, RefuseMoreThanAPortCanDoAndSayWhich) {
  Introduction second = introduction("node-2", 2);
  second.port.mtu = 1024;
  const std::string mtu = refusal(introduction("node-1", 1), second, 4096, 0);
  EXPECT_NE(mtu.find("-m 4096: mlx5_2 port 2 of host node-2 has an MTU of 1024"), std::string::npos) << mtu;
  const std::string reads = refusal(introduction("node-1", 1), second, 0, 17);
  EXPECT_NE(reads.find("-o 17"), std::string::npos) << reads;
}

TEST(Agreements, RefuseTwoKindsOfNetwork) {
  Introduction second = introduction("node-2", 2);
  second.port.ethernet = false;
  const std::string why = refusal(introduction("node-1", 1), second, 0, 0);
  EXPECT_NE(why.find("InfiniBand"), std::string::npos) << why;
  EXPECT_NE(why.find("-d"), std::string::npos) << why;
}

}  // namespace verbs_introduction_test
