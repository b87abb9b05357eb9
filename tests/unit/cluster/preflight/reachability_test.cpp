// Who is to blame for probes without an answer; and real probes on the loopback.

#include "cluster/preflight/reachability.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

namespace fabricbench::cluster {
namespace {

using Addresses = std::vector<std::vector<HostAddress>>;

std::vector<std::string> names_of(int hosts) {
  std::vector<std::string> names;
  for (int host = 1; host <= hosts; ++host) names.push_back(fmt::format("node{:02}", host));
  return names;
}

sockets::Address address(const std::string& text) { return *sockets::parse_address(text); }

TEST(JudgeReachabilityTest, AHostThatNobodyReachesIsOneLine) {
  std::vector<Unreached> unreached;
  for (int from = 0; from < 8; ++from) {
    if (from != 3) unreached.push_back({from, 3, "eth1", ProbeEnd::kNoAnswer});
  }
  const std::vector<PreflightFinding> found = judge_reachability(names_of(8), Addresses(8), unreached);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node04");
  EXPECT_EQ(found[0].what.device, "eth1");
  EXPECT_EQ(found[0].what.measured, "most hosts cannot reach it: there is no answer from it");
}

/// What it sends gets lost, and so do its answers.
TEST(JudgeReachabilityTest, LostAnswersOfThatHostAreTheSameCause) {
  std::vector<Unreached> unreached;
  for (int other = 0; other < 8; ++other) {
    if (other == 3) continue;
    unreached.push_back({other, 3, "eth1", ProbeEnd::kNoAnswer});
    unreached.push_back({3, other, "eth1", ProbeEnd::kNoAnswer});
  }
  const std::vector<PreflightFinding> found = judge_reachability(names_of(8), Addresses(8), unreached);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node04");
}

/// A firewall that refuses what leaves.
TEST(JudgeReachabilityTest, AHostThatReachesNobodyIsOneLine) {
  std::vector<Unreached> unreached;
  for (int to = 0; to < 8; ++to) {
    if (to != 5) unreached.push_back({5, to, "eth0", ProbeEnd::kNoRoute});
  }
  const std::vector<PreflightFinding> found = judge_reachability(names_of(8), Addresses(8), unreached);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node06");
  EXPECT_EQ(found[0].what.measured, "it cannot reach most hosts: there is no way to it");
}

TEST(JudgeReachabilityTest, OneDirectionOfAPairIsNamedAsSuch) {
  const std::vector<PreflightFinding> found =
      judge_reachability(names_of(8), Addresses(8), {{1, 6, "eth0", ProbeEnd::kOnlySmall}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node07");
  EXPECT_EQ(found[0].what.measured, "node02 cannot reach it: one byte comes through, and messages of 64 KiB do not");
}

/// Of two hosts that are cut off, what they do not reach of each other is explained.
TEST(JudgeReachabilityTest, HostsThatAreCutOffShareALine) {
  std::vector<Unreached> unreached;
  for (int from = 0; from < 8; ++from) {
    for (const int to : {2, 3}) {
      if (from != to) unreached.push_back({from, to, "eth0", ProbeEnd::kNoAnswer});
    }
  }
  const std::vector<PreflightFinding> found = judge_reachability(names_of(8), Addresses(8), unreached);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node[03-04]");
}

TEST(JudgeReachabilityTest, OfTwoHostsThePairIsNamed) {
  const std::vector<PreflightFinding> found = judge_reachability(
      names_of(2), Addresses(2), {{0, 1, "eth0", ProbeEnd::kNoAnswer}, {1, 0, "eth0", ProbeEnd::kNoAnswer}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what.measured, "node02 cannot reach it: there is no answer from it");
}

TEST(JudgeReachabilityTest, AnAddressOfTwoHostsIsAFailure) {
  const sockets::Address mask = address("255.255.255.0");
  const Addresses addresses = {{{"eth0", {address("10.0.0.1"), 1}, mask}},
                               {{"eth0", {address("10.0.0.2"), 1}, mask}},
                               {{"eth0", {address("10.0.0.2"), 1}, mask}}};
  const std::vector<PreflightFinding> found = judge_reachability(names_of(3), addresses, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node[02-03]");
  EXPECT_EQ(found[0].what.measured, "2 hosts have the address 10.0.0.2");
}

TEST(JudgeReachabilityTest, AHostWithoutAnInterfaceOfTheOthersIsAFailure) {
  Addresses addresses;
  for (int host = 1; host <= 4; ++host) {
    addresses.push_back({{"eth0", {address(fmt::format("10.0.0.{}", host)), 1}, address("255.255.255.0")}});
  }
  addresses[2].clear();
  const std::vector<PreflightFinding> found = judge_reachability(names_of(4), addresses, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hosts, "node03");
  EXPECT_EQ(found[0].what.measured, "it is not up with an address");
  EXPECT_EQ(found[0].what.expected, "as on 3 hosts");
}

TEST(UntriedProbesTest, AreNotOk) {
  const std::vector<Unreached> unreached = {{1, 6, "eth0", ProbeEnd::kNotTried}};
  EXPECT_TRUE(judge_reachability(names_of(8), Addresses(8), unreached).empty());
  const std::vector<PreflightUnseen> unseen = untried_probes(names_of(8), unreached);
  ASSERT_EQ(unseen.size(), 1U);
  EXPECT_EQ(unseen[0].hosts, "node02");
  EXPECT_TRUE(unseen[0].is_required);
}

/// Two hosts on the loopback: the second one's address is the responder's, or a port that nobody has.
Addresses two_hosts(std::uint16_t port) {
  const sockets::Address mask = address("255.0.0.0");
  return {{{"lo", {address("127.0.0.1"), 0}, mask}}, {{"lo", {address("127.0.0.2"), port}, mask}}};
}

/// The port of a socket that is gone.
std::uint16_t free_port() {
  const sockets::Socket socket = sockets::make_socket(AF_INET, 0);
  const sockets::SocketName name = sockets::socket_name({address("127.0.0.2"), 0});
  EXPECT_EQ(::bind(socket.get(), name.get(), name.size), 0);
  return sockets::own_endpoint(socket.get()).port;
}

TEST(ProbeHostsTest, ARefusedConnectionIsToldApart) {
  const std::vector<Unreached> unreached = probe_hosts(two_hosts(free_port()), 0, {});
  ASSERT_EQ(unreached.size(), 1U);
  EXPECT_EQ(unreached[0].to, 1);
  EXPECT_EQ(unreached[0].end, ProbeEnd::kRefused);
}

TEST(ProbeHostsTest, WithoutTimeNothingIsTried) {
  const std::vector<Unreached> unreached = probe_hosts(two_hosts(1), 0, {.one = 1, .all = -1});
  ASSERT_EQ(unreached.size(), 1U);
  EXPECT_EQ(unreached[0].end, ProbeEnd::kNotTried);
}

}  // namespace
}  // namespace fabricbench::cluster
