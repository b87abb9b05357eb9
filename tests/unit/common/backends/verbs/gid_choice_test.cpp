// Which GIDs two ends of a connection use.

#include "common/backends/verbs/gid_choice.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "missing_error.h"

using namespace fabricbench::verbs;
using fabricbench::test::missing_error;

namespace gid_choice_test {

using Gids = std::vector<Gid>;

/// `address` is an IPv6 one; ::ffff:10.0.0.1 is how a GID holds an IPv4 one.
Gid gid(int index, GidType type, const std::string& address) {
  Gid made{index, type, {}};
  EXPECT_EQ(inet_pton(AF_INET6, address.c_str(), made.raw.data()), 1) << address;
  return made;
}

Gid v1(int index, const std::string& address) { return gid(index, GidType::kRoceV1, address); }
Gid v2(int index, const std::string& address) { return gid(index, GidType::kRoceV2, address); }
Gid infiniband(int index, const std::string& address) { return gid(index, GidType::kInfiniBand, address); }

/// `3 1 RoCE v2, IPv4, one subnet`.
std::string text(const GidPair& pair) {
  return std::to_string(pair.first) + " " + std::to_string(pair.second) + " " + pair.description;
}

std::string chosen(const Gids& first, const Gids& second) { return text(choose_gids(first, second)); }

/// What a RoCE port with one IPv4 address has.
Gids usual(const std::string& address) {
  return {v1(0, "fe80::1"), v2(1, "fe80::1"), v1(2, "::ffff:" + address), v2(3, "::ffff:" + address)};
}

TEST(Gid, KnowsItsFamily) {
  EXPECT_TRUE(v2(0, "::ffff:10.0.0.1").is_ipv4());
  EXPECT_FALSE(v2(0, "::fffe:10.0.0.1").is_ipv4());
  EXPECT_FALSE(v2(0, "fd00::1").is_ipv4());
  EXPECT_FALSE(v2(0, "1::ffff:10.0.0.1").is_ipv4());
}

TEST(Gid, KnowsWhetherItReachesFurtherThanItsLink) {
  EXPECT_TRUE(v2(0, "fe80::1").is_link_local());
  EXPECT_TRUE(v2(0, "::ffff:169.254.3.1").is_link_local());
  EXPECT_FALSE(v2(0, "::ffff:169.253.3.1").is_link_local());
  EXPECT_FALSE(v2(0, "::ffff:168.254.3.1").is_link_local());
  EXPECT_FALSE(v2(0, "fe80:0:0:1::1").is_link_local());
  EXPECT_FALSE(v2(0, "fd00::1").is_link_local());
}

TEST(Gid, IsDescribed) {
  EXPECT_EQ(describe(v2(3, "::ffff:10.0.0.1")), "3: RoCE v2 10.0.0.1");
  EXPECT_EQ(describe(v1(12, "fd00::a")), "12: RoCE v1 fd00::a");
  EXPECT_EQ(describe(infiniband(0, "fe80::2c9:300:1:2")), "0: InfiniBand fe80::2c9:300:1:2");
  EXPECT_EQ(describe(gid(1, static_cast<GidType>(9), "fd00::a")), "1: unknown fd00::a");
}

TEST(ChooseGids, TakesRoceV2OfAnIpv4Address) {
  EXPECT_EQ(chosen(usual("10.0.0.1"), usual("10.0.0.2")), "3 3 RoCE v2, IPv4, one subnet");
}

TEST(ChooseGids, LetsTheIndicesOfTheEndsDiffer) {
  EXPECT_EQ(chosen(usual("10.0.0.1"), {v2(1, "::ffff:10.0.0.2")}), "3 1 RoCE v2, IPv4, one subnet");
}

TEST(ChooseGids, PutsRoceV2BeforeV1) {
  EXPECT_EQ(chosen({v1(0, "::ffff:10.0.0.1"), v2(7, "fd00::1")}, {v1(0, "::ffff:10.0.0.2"), v2(7, "fd01::2")}),
            "7 7 RoCE v2, IPv6, different subnets");
  EXPECT_EQ(chosen({v1(4, "::ffff:10.0.0.1")}, usual("10.0.0.2")), "4 2 RoCE v1, IPv4, one subnet");
}

TEST(ChooseGids, PutsIpv4BeforeIpv6) {
  EXPECT_EQ(chosen({v2(0, "fd00::1"), v2(5, "::ffff:10.0.0.1")}, {v2(0, "fd00::2"), v2(5, "::ffff:10.9.0.1")}),
            "5 5 RoCE v2, IPv4, different subnets");
}

TEST(ChooseGids, PutsOneSubnetBeforeTwo) {
  EXPECT_EQ(chosen({v2(0, "::ffff:10.0.0.1"), v2(1, "::ffff:10.0.1.1")}, {v2(2, "::ffff:10.0.1.2")}),
            "1 2 RoCE v2, IPv4, one subnet");
  EXPECT_EQ(chosen({v2(0, "fd00::1"), v2(1, "fd00:0:0:1::1")}, {v2(2, "fd00:0:0:1::2")}),
            "1 2 RoCE v2, IPv6, one subnet");
}

TEST(ChooseGids, TakesTheLowestIndicesInAnyOrderOfTheTable) {
  const Gids ascending = {v2(3, "::ffff:10.0.0.1"), v2(5, "::ffff:10.0.0.2")};
  const Gids descending = {ascending[1], ascending[0]};
  EXPECT_EQ(chosen(ascending, descending), "3 3 RoCE v2, IPv4, one subnet");
  EXPECT_EQ(chosen(descending, ascending), "3 3 RoCE v2, IPv4, one subnet");
}

TEST(ChooseGids, TakesInfiniBandsWhoseGidsAreLinkLocal) {
  EXPECT_EQ(chosen({infiniband(0, "fe80::1")}, {infiniband(0, "fe80::2")}), "0 0 InfiniBand, one subnet");
  EXPECT_EQ(chosen({infiniband(0, "fec0::1")}, {infiniband(0, "fe80::2")}), "0 0 InfiniBand, different subnets");
}

TEST(ChooseGids, SaysWhatIsThereWhereNoTwoAgree) {
  const std::string what_to_do =
      "the two ends' ports have no GIDs of the same type and family beyond link-local ones; give both network "
      "interfaces an IPv4 address (ip addr add), choose other ports with -d and -i, or name an index with -x. ";
  const auto error = [](const Gids& first, const Gids& second) {
    return missing_error([&] { (void)choose_gids(first, second); });
  };
  EXPECT_EQ(
      error({v1(0, "fe80::1"), v2(1, "::ffff:10.0.0.1")}, {}),
      what_to_do + "The first end has: 0: RoCE v1 fe80::1 (link-local), 1: RoCE v2 10.0.0.1. The second end has: none");
  EXPECT_EQ(error({infiniband(0, "fe80::1")}, {v2(0, "fd00::1")}),
            what_to_do + "The first end has: 0: InfiniBand fe80::1. The second end has: 0: RoCE v2 fd00::1");
  EXPECT_NE(error({v1(0, "::ffff:10.0.0.1")}, {v2(0, "::ffff:10.0.0.2")}), "");
  EXPECT_NE(error({v2(0, "::ffff:10.0.0.1")}, {v2(0, "fd00::2")}), "");
  EXPECT_NE(error({v2(0, "fe80::1")}, {v2(0, "fe80::2")}), "");
  EXPECT_NE(error({v2(0, "::ffff:169.254.0.1")}, {v2(0, "::ffff:169.254.0.2")}), "");
  EXPECT_NE(error({}, {}), "");
}

TEST(CheckGids, TakesWhatIsAskedFor) {
  EXPECT_EQ(text(check_gids(usual("10.0.0.1"), usual("10.0.9.2"), 2)), "2 2 RoCE v1, IPv4, different subnets");
  EXPECT_EQ(text(check_gids(usual("10.0.0.1"), usual("10.0.0.2"), 1)), "1 1 RoCE v2, IPv6, one subnet");
}

TEST(CheckGids, SaysWhichEndHasNoneOfThisIndex) {
  const auto error = [](const Gids& first, const Gids& second) {
    return missing_error([&] { (void)check_gids(first, second, 3); });
  };
  EXPECT_EQ(
      error({v2(1, "fd00::1")}, usual("10.0.0.2")),
      "-x 3: the first end's port has no GID of this index; name one that both ends have, or leave -x out. It has: "
      "1: RoCE v2 fd00::1");
  EXPECT_EQ(error(usual("10.0.0.1"), {}),
            "-x 3: the second end's port has no GID of this index; name one that both ends have, or leave -x out. It "
            "has: none");
}

TEST(CheckGids, RefusesTwoThatDoNotUnderstandEachOther) {
  const std::string error =
      missing_error([] { (void)check_gids({v1(2, "::ffff:10.0.0.1")}, {v2(2, "::ffff:10.0.0.2")}, 2); });
  EXPECT_EQ(
      error,
      "-x 2: the two ends' GIDs of this index are of different types; name another, or leave -x out, and "
      "both ends choose together. The first end has: 2: RoCE v1 10.0.0.1. The second end has: 2: RoCE v2 10.0.0.2");
  EXPECT_NE(missing_error([] { (void)check_gids({v2(2, "fd00::1")}, {v2(2, "::ffff:10.0.0.2")}, 2); }), "");
}

}  // namespace gid_choice_test
