// Faults of adapters that only other hosts, or other ports, show.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cluster/preflight/overview.h"
#include "common/host/checks/fake_host.h"

namespace fabricbench::cluster {
namespace {

using host::FakeHost;

/// Four of them, which differ in their names only.
std::vector<FakeHost> four(FakeHost (*make)()) {
  std::vector<FakeHost> hosts;
  for (int number = 1; number <= 4; ++number) {
    FakeHost host = make();
    const std::string name = fmt::format("node{}", number);
    host.set("system/host_name", name);
    host.set("system/address/" + name, fmt::format("10.0.0.{}\n", number));
    hosts.push_back(host);
  }
  return hosts;
}

std::vector<std::string> lines_about(const std::vector<FakeHost>& hosts) {
  Overview overview;
  for (const FakeHost& each : hosts) overview.add(host::examine(each));
  std::vector<std::string> lines;
  for (const PreflightFinding& each : overview.findings()) {
    lines.push_back(fmt::format("{} {} {}", each.hosts, each.what.device, each.what.measured));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(NicComparisonTest, EqualHostsAreQuiet) {
  EXPECT_EQ(lines_about(four(host::roce_host)), Lines());
  EXPECT_EQ(lines_about(four(host::efa_host)), Lines());
}

TEST(NicComparisonTest, AllPortsOfOneHostAtHalfRate) {
  std::vector<FakeHost> hosts = four(host::h100_infiniband_host);
  for (int rail = 0; rail < 8; ++rail) {
    hosts[2].set(fmt::format("/sys/class/infiniband/mlx5_{}/ports/1/rate", rail), "200 Gb/sec (4X HDR)\n");
  }
  const Lines lines = lines_about(hosts);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("node3 mlx5_0")) << lines[0];
  EXPECT_NE(lines[0].find("200 Gb/sec (4X HDR)"), std::string::npos) << lines[0];
}

/// The BlueField of that host has two lanes by design, and is of another board.
TEST(NicComparisonTest, APortWithHalfItsLanesByThePeersOfItsHost) {
  FakeHost host = host::h100_infiniband_host();
  host.set("/sys/class/infiniband/mlx5_3/ports/1/rate", "200 Gb/sec (2X NDR)\n");
  const Lines lines = lines_about({host});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("node01 mlx5_3 port 1")) << lines[0];
}

TEST(NicComparisonTest, AGidIndexAndATrafficClassOfOneHost) {
  std::vector<FakeHost> hosts = four(host::roce_host);
  hosts[1].set("/sys/class/infiniband/mlx5_3/tc/1/traffic_class", "Global tclass=0\n");
  const std::string port = "/sys/class/infiniband/mlx5_3/ports/1/";
  hosts[3].set(port + "gids/5", hosts[3].text(port + "gids/3"));
  hosts[3].set(port + "gid_attrs/types/5", "RoCE v2\n");
  hosts[3].set(port + "gid_attrs/ndevs/5", "rail3\n");
  hosts[3].set(port + "gid_attrs/types/3", "IB/RoCE v1\n");
  Lines lines = lines_about(hosts);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (Lines{"node2 mlx5_3 port 1 traffic class of RoCE ports (MT_0000000838): Global tclass=0",
                          "node4 mlx5_3 port 1 index of the RoCE v2 GID (MT_0000000838): 5"}));
}

/// The bond front0 of one host: its MTU, then the speed of both its members, then no carrier.
TEST(NicComparisonTest, ABondOfOneHost) {
  std::vector<FakeHost> hosts = four(host::roce_host);
  hosts[0].set("/sys/class/net/front0/mtu", "1500\n");
  EXPECT_EQ(lines_about(hosts), Lines{"node1 front0 mtu: 1500"});
  hosts[0].set("/sys/class/net/front0/mtu", "9192\n");
  hosts[0].set("/sys/class/net/front0/speed", "200000\n");
  EXPECT_EQ(lines_about(hosts), Lines{"node1 front0 speed of an interface: 200000 Mb/s"});
  hosts[0].set("/sys/class/net/front0/operstate", "down\n");
  EXPECT_EQ(lines_about(hosts), Lines{"node1 front0 state of an interface: down"});
}

}  // namespace
}  // namespace fabricbench::cluster
