// Many hosts, of which one or a few are otherwise than the rest.

#include "cluster/preflight/overview.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/host/checks/fake_host.h"

namespace fabricbench::cluster {
namespace {

using host::CheckLevel;
using host::FakeHost;

/// H100 hosts node01, node02...
FakeHost node(int number) {
  FakeHost host = host::h100_infiniband_host();
  const std::string name = fmt::format("node{:02}", number);
  host.set("system/host_name", name);
  host.set("system/address/" + name, fmt::format("10.0.0.{}\n", number));
  return host;
}

Overview overview_of(const std::vector<FakeHost>& hosts) {
  Overview overview;
  for (const FakeHost& each : hosts) overview.add(host::examine(each));
  return overview;
}

std::vector<FakeHost> nodes(int count) {
  std::vector<FakeHost> hosts;
  hosts.reserve(static_cast<std::size_t>(count));
  for (int number = 1; number <= count; ++number) hosts.push_back(node(number));
  return hosts;
}

TEST(OverviewTest, EqualHostsHaveNoFinding) {
  const Overview overview = overview_of(nodes(16));
  EXPECT_TRUE(overview.findings().empty()) << overview.findings().front().what.measured;
  EXPECT_TRUE(overview.unseen().empty());
}

TEST(OverviewTest, TheMinorityIsNamedInOneLine) {
  std::vector<FakeHost> hosts = nodes(16);
  hosts[6].set("/sys/class/net/eno1/mtu", "9000\n");
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].hosts, "node07");
  EXPECT_EQ(findings[0].what.device, "eno1");
  EXPECT_EQ(findings[0].what.measured, "mtu: 9000");
  EXPECT_EQ(findings[0].what.expected, "1500, as on 15 hosts");
}

/// A cause of several hosts is one line.
TEST(OverviewTest, HostsWithOneCauseShareALine) {
  std::vector<FakeHost> hosts = nodes(16);
  for (const std::size_t index : {2U, 3U, 9U}) {
    hosts[index].set("/sys/class/infiniband/mlx5_3/ports/1/state", "2: INIT\n");
  }
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].hosts, "node[03-04,10]");
  EXPECT_EQ(findings[0].host_count, 3);
}

TEST(OverviewTest, OfTwoHostsNobodyCanTellWhichIsRight) {
  std::vector<FakeHost> hosts = nodes(2);
  hosts[1].set("system/kernel", "6.8.0");
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].hosts, "node[01-02]");
  EXPECT_EQ(findings[0].what.measured, "kernel: 5.15.0-105-generic on node01; 6.8.0 on node02");
  EXPECT_EQ(findings[0].what.expected, "one value on all hosts; too few agree to tell which is right");
}

TEST(OverviewTest, ATieNamesBothHalves) {
  std::vector<FakeHost> hosts = nodes(4);
  for (const std::size_t index : {2U, 3U}) hosts[index].set("system/kernel", "6.8.0");
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].what.measured, "kernel: 5.15.0-105-generic on node[01-02]; 6.8.0 on node[03-04]");
}

TEST(OverviewTest, AMissingAdapterIsFoundByTheOtherHosts) {
  std::vector<FakeHost> hosts = nodes(5);
  hosts[2].remove("/sys/class/infiniband/mlx5_7");
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].hosts, "node03");
  EXPECT_EQ(findings[0].what.measured, "number of RDMA adapters (MT_0000000838): 7");
  EXPECT_EQ(findings[0].what.expected, "8, as on 4 hosts");
}

/// The only storage adapter of a host is gone: no adapter is left that would say so.
TEST(OverviewTest, TheLastAdapterOfABoardIsMissedToo) {
  std::vector<FakeHost> hosts = nodes(5);
  hosts[2].remove("/sys/class/infiniband/mlx5_8");
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].what.measured, "number of RDMA adapters (MT_0000000884): none");
}

/// One rail of one host, which is the minority of all ports of its board.
TEST(OverviewTest, ASlowPortIsNamedWithItsDevice) {
  std::vector<FakeHost> hosts = nodes(3);
  hosts[1].set("/sys/class/infiniband/mlx5_4/ports/1/rate", "200 Gb/sec (4X HDR)\n");
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].hosts, "node02");
  EXPECT_EQ(findings[0].what.device, "mlx5_4 port 1");
  EXPECT_EQ(findings[0].what.measured, "rate of RDMA ports (MT_0000000838): 200 Gb/sec (4X HDR)");
}

TEST(OverviewTest, NamesThatLeadToOtherDevicesAreNamed) {
  std::vector<FakeHost> hosts = nodes(3);
  hosts[1].link("/sys/class/infiniband/mlx5_0/device", "/sys/devices/pci0000:10/0000:10:01.0/0000:11:00.0");
  hosts[1].link("/sys/class/infiniband/mlx5_1/device", "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0");
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].hosts, "node02");
  EXPECT_EQ(findings[0].what.measured, "name of the RDMA device: mlx5_1");
  EXPECT_EQ(findings[0].what.expected, "mlx5_0, as on 2 hosts");
}

TEST(OverviewTest, HostsOfAnotherClassAreNotCompared) {
  std::vector<FakeHost> hosts = nodes(4);
  hosts[3].set("/sys/class/dmi/id/product_name", "HGX B200\n");
  hosts[3].set("/sys/class/net/eno1/mtu", "9000\n");
  EXPECT_TRUE(overview_of(hosts).findings().empty());
}

/// Unused on all hosts: perhaps the cluster is made so.
TEST(OverviewTest, APortThatIsDownEverywhereIsANote) {
  std::vector<FakeHost> hosts = nodes(3);
  for (FakeHost& each : hosts) {
    each.set("/sys/class/infiniband/mlx5_8/ports/1/state", "1: DOWN\n");
    each.set("/sys/class/infiniband/mlx5_8/ports/1/phys_state", "3: Disabled\n");
  }
  const std::vector<PreflightFinding> findings = overview_of(hosts).findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].what.level, CheckLevel::kNote);
  EXPECT_EQ(findings[0].hosts, "node[01-03]");
}

TEST(OverviewTest, WhatCouldNotBeSeenIsOneLineForAllHosts) {
  std::vector<FakeHost> hosts = nodes(3);
  for (FakeHost& each : hosts) each.deny("/sys/class/infiniband/mlx5_2/ports/1/state");
  const std::vector<PreflightUnseen> unseen = overview_of(hosts).unseen();
  ASSERT_EQ(unseen.size(), 5U);  // of five checks
  EXPECT_EQ(unseen[0].check, "port_state");
  EXPECT_TRUE(unseen[0].is_required);
  EXPECT_EQ(unseen[0].hosts, "node[01-03]");
  EXPECT_EQ(unseen[0].what.reason, "Permission denied");
}

TEST(ConcludePreflightTest, FailuresComeBeforeWhatCouldNotBeChecked) {
  std::vector<FakeHost> hosts = nodes(3);
  hosts[0].deny("/proc/self/limits");
  Overview overview = overview_of(hosts);
  Ending ending = conclude_preflight(overview.findings(), overview.unseen(), 3);
  EXPECT_EQ(ending.exit_status, 7);
  hosts[1].set("/sys/class/infiniband/mlx5_3/ports/1/state", "2: INIT\n");
  overview = overview_of(hosts);
  ending = conclude_preflight(overview.findings(), overview.unseen(), 3);
  EXPECT_EQ(ending.exit_status, 6);
  EXPECT_EQ(ending.reason, "1 failure, the first on node02: state INIT, physical state LinkUp");
}

}  // namespace
}  // namespace fabricbench::cluster
