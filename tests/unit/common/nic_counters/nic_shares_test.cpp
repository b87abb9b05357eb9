#include "common/nic_counters/nic_shares.h"
#include "common/record/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/host/nics.h"
#include "fake_root.h"
using namespace fabricbench;
using fabricbench::test::FakeRoot;
using host::NicKind;

namespace nic_shares_test {

using Names = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr Bytes kMiB = Bytes{1} << 20U;

void write_port(const FakeRoot& root, const std::string& port, const std::string& sent, const std::string& received) {
  const std::string counters = "sys/class/infiniband/" + port + "/counters/";
  root.write(counters + "port_xmit_data", sent + "\n");
  root.write(counters + "port_rcv_data", received + "\n");
}

void write_interface(const FakeRoot& root, const std::string& name, const std::string& sent,
                     const std::string& received) {
  root.write("sys/class/net/" + name + "/statistics/tx_bytes", sent + "\n");
  root.write("sys/class/net/" + name + "/statistics/rx_bytes", received + "\n");
}

/// Each NIC as `name kind tx rx`.
Names described(const std::vector<host::NicCounter>& nics) {
  const Names kinds = {"interface", "rdma", "loopback", "stacked"};
  Names texts;
  for (const auto& [name, kind, tx, rx] : nics) {
    texts.push_back(fmt::format("{} {} {} {}", name, kinds[static_cast<std::size_t>(kind)], tx, rx));
  }
  return texts;
}

host::NicCounter interface(const std::string& name, Bytes tx, Bytes rx) { return {name, NicKind::kInterface, tx, rx}; }

host::NicCounter port(const std::string& name, Bytes tx, Bytes rx) { return {name, NicKind::kRdma, tx, rx}; }

/// Two hosts, since a single one is not judged; the other has nothing to complain about.
Names warnings_of(const HostNics& host) { return nic_warnings({host, {"other", {interface("eth0", kMiB, kMiB)}, {}}}); }

HostNics asking(const std::string& variable, RequestScope scope, const Names& names,
                const std::vector<host::NicCounter>& nics) {
  return {"node-01", nics, {{variable, "VALUE", scope, names}}};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void expect_harmless(const Names& lines) {
  for (const std::string& line : lines) {
    for (const char* word : {"FAILED", "bandwidth", "out-of-place", "in-place", " on ", "\n"}) {
      EXPECT_FALSE(has(line, word)) << line;
    }
    EXPECT_LT(line.size(), 1000U);
  }
}

TEST(NicReader, ReadsPortsInWordsAndInterfacesInBytes) {
  const FakeRoot root;
  write_port(root, "mlx5_0/ports/1", "1000", "2000");
  write_port(root, "mlx5_0/ports/2", "0", "0");
  write_port(root, "mlx5_1/ports/1", "4294967296", "1");
  write_interface(root, "eth0", "18446744073709551615", "7");
  write_interface(root, "lo", "5", "5");
  root.write("sys/class/net/bonding_masters", "\n");
  EXPECT_EQ(described(host::NicReader(root.path()).read()),
            (Names{"eth0 interface 18446744073709551615 7", "lo loopback 5 5", "mlx5_0:1 rdma 4000 8000",
                   "mlx5_0:2 rdma 0 0", "mlx5_1:1 rdma 17179869184 4"}));
}

TEST(NicReader, LeavesOutWhatCannotBeReadAndStillKnowsItsName) {
  const FakeRoot root;
  root.make_directory("sys/class/infiniband/rxe0/ports/1");  // soft-RoCE has no counters
  write_port(root, "mlx4_0/ports/1", "4294967295", "1");     // a 32-bit counter at its end
  write_port(root, "mlx5_0/ports/1", "18446744073709551615", "1");
  write_port(root, "mlx5_1/ports/1", "N/A", "1");
  root.write("sys/class/infiniband/mlx5_2/ports/1/counters/port_xmit_data", "1\n");
  write_interface(root, "eth0", "", "1");
  write_interface(root, "eth1", "-1", "1");
  root.make_directory("sys/class/net/eth2/statistics/tx_bytes");
  const host::NicReader reader(root.path());
  EXPECT_TRUE(reader.read().empty());
  Names names;
  for (const host::Nic& nic : reader.nics()) names.push_back(nic.name);
  EXPECT_EQ(names, (Names{"eth0", "eth1", "eth2", "mlx4_0:1", "mlx5_0:1", "mlx5_1:1", "mlx5_2:1", "rxe0:1"}));
  EXPECT_TRUE(host::NicReader(root.path() / "nowhere").read().empty());
}

TEST(NicReader, ReadsAfreshEachTime) {
  const FakeRoot root;
  write_interface(root, "eth0", "1", "1");
  write_interface(root, "eth1", "1", "1");
  const host::NicReader reader(root.path());
  const auto before = reader.read();
  write_interface(root, "eth0", "11", "101");
  root.remove("sys/class/net/eth1");
  EXPECT_EQ(described(host::nic_traffic(before, reader.read())), Names{"eth0 interface 10 100"});
}

TEST(NicReader, SeesWhichInterfacesLieUponOthers) {
  const FakeRoot root;
  for (const std::string name : {"bond0", "bond0.7", "eth0", "eth1", "ib0", "ib1"})
    write_interface(root, name, "1", "1");
  root.link("sys/class/net/bond0/lower_eth0", "../eth0");
  root.link("sys/class/net/bond0/lower_eth1", "../eth1");
  root.link("sys/class/net/bond0.7/lower_bond0", "../bond0");
  for (const std::string name : {"ib0", "ib1"}) {
    root.write("sys/class/net/" + name + "/type", "32\n");
    root.write("sys/class/net/" + name + "/dev_port", name == "ib0" ? "0\n" : "1\n");
    root.make_directory("sys/class/net/" + name + "/device/infiniband/mlx5_0");
  }
  write_port(root, "mlx5_0/ports/1", "1", "1");  // port 2 does not count, so that ib1 has to
  const host::NicReader reader(root.path());
  EXPECT_EQ(described(reader.read()),
            (Names{"bond0 stacked 1 1", "bond0.7 stacked 1 1", "eth0 interface 1 1", "eth1 interface 1 1",
                   "ib0 stacked 1 1", "ib1 interface 1 1", "mlx5_0:1 rdma 4 4"}));
  EXPECT_EQ(host::bottom_nics("bond0.7", reader.nics()), (Names{"eth0", "eth1"}));
  EXPECT_EQ(host::bottom_nics("ib0", reader.nics()), Names{"mlx5_0:1"});
  EXPECT_EQ(host::bottom_nics("eth1", reader.nics()), Names{"eth1"});
  EXPECT_EQ(host::bottom_nics("eth9", reader.nics()), Names{});
}

/// As in a container that mounts the host's /sys.
TEST(NicReader, ReadsItsOwnNamespaceWhereSysIsOfAnother) {
  const FakeRoot root;
  write_interface(root, "eth0", "1", "1");
  write_interface(root, "eth1", "1", "1");
  write_interface(root, "lo", "1", "1");
  const auto write_own = [&](const std::string& lines) {
    root.write("proc/self/net/dev",
               "Inter-|   Receive                            |  Transmit\n"
               " face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs drop\n" +
                   lines);
  };
  write_own("    lo:  5 0 0 0 0 0 0 0  6 0 0 0 0 0 0 0\n  eth0:18446744073709551615 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n");
  const host::NicReader reader(root.path());
  EXPECT_EQ(described(reader.read()), (Names{"eth0 interface 7 18446744073709551615", "lo loopback 6 5"}));
  write_own("  eth0: 3 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n");
  EXPECT_EQ(described(reader.read()), Names{"eth0 interface 8 3"});
  Names devices;
  for (const host::NetworkDevice& device : host::network_devices(root.path())) devices.push_back(device.name);
  EXPECT_EQ(devices, Names{"eth0"}) << "and not eth1";
}

TEST(NicReader, TrustsASysThatHasTheSameInterfaces) {
  const FakeRoot root;
  write_interface(root, "bond0", "1", "2");
  write_interface(root, "eth0", "3", "4");
  root.link("sys/class/net/bond0/lower_eth0", "../eth0");
  root.write("sys/class/net/bonding_masters", "bond0\n");
  root.write("proc/self/net/dev", " bond0: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n  eth0: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n");
  EXPECT_EQ(described(host::NicReader(root.path()).read()), (Names{"bond0 stacked 1 2", "eth0 interface 3 4"}));
}

TEST(NicReader, ReadsThisMachine) {
  const host::NicReader reader;
  EXPECT_LE(reader.read().size(), reader.nics().size());
  const auto addresses = host::interface_addresses();
  for (const auto& address : addresses) EXPECT_EQ(address.interface.find(':'), std::string::npos);
}

TEST(NicTraffic, DropsWhatWentBackwardsOrIsInOneReadingOnly) {
  const std::vector<host::NicCounter> before = {interface("eth0", 10, 20), interface("eth1", 10, 20),
                                                interface("eth2", 10, 20), interface("gone", 1, 1)};
  const std::vector<host::NicCounter> after = {interface("eth0", 10, 25), interface("eth1", 9, 25),
                                               interface("eth2", 15, 19), interface("new", 1, 1)};
  EXPECT_EQ(described(host::nic_traffic(before, after)), Names{"eth0 interface 0 5"});
}

TEST(NicTotal, AddsVisitsAndForgetsWhatIsNotKnownInEach) {
  host::NicTotal total;
  EXPECT_TRUE(total.nics().empty());
  total.add({interface("eth0", 1, 2), port("mlx5_0:1", 3, 4)});
  total.add({interface("eth0", 10, 20), port("mlx5_0:1", 30, 40)});
  EXPECT_EQ(described(total.nics()), (Names{"eth0 interface 11 22", "mlx5_0:1 rdma 33 44"}));
  total.add({interface("eth0", 100, 200)});
  total.add({interface("eth0", 0, 0), port("mlx5_0:1", 1, 1)});
  EXPECT_EQ(described(total.nics()), Names{"eth0 interface 111 222"});
  total.add({});
  total.add({interface("eth0", 1, 1)});
  EXPECT_TRUE(total.nics().empty());
}

TEST(NicShares, AreOfAllBytesThatLeftTheHost) {
  const HostShares shares = nic_shares({"node-01",
                                        {interface("eth0", 10, 20),
                                         port("mlx5_0:1", 30, 40),
                                         {"lo", NicKind::kLoopback, 1000, 1000},
                                         {"bond0", NicKind::kStacked, 1000, 1000}},
                                        {}});
  EXPECT_EQ(shares.host, "node-01");
  EXPECT_EQ(shares.tx_bytes, 40U);
  EXPECT_EQ(shares.rx_bytes, 60U);
  ASSERT_EQ(shares.nics.size(), 2U);
  EXPECT_EQ(shares.nics[0].name, "mlx5_0:1");
  EXPECT_DOUBLE_EQ(shares.nics[0].share, 0.7);
  EXPECT_EQ(shares.nics[1].name, "eth0");
  EXPECT_DOUBLE_EQ(shares.nics[1].share, 0.3);
  EXPECT_TRUE(shares.rails.empty());
  EXPECT_EQ(shares.imbalance, 0);
  EXPECT_EQ(nic_shares({"idle", {interface("eth0", 0, 0)}, {}}).nics.at(0).share, 0);
}

TEST(NicShares, RailsArePortsOrElseInterfaces) {
  const auto rails = [](const std::vector<host::NicCounter>& nics) { return nic_shares({"", nics, {}}).rails; };
  EXPECT_EQ(rails({interface("eth0", 500, 0), port("mlx5_0:1", 60, 0), port("mlx5_1:1", 50, 0)}),
            (Names{"mlx5_0:1", "mlx5_1:1"}));
  EXPECT_EQ(rails({interface("eth0", 500, 0), interface("eth1", 60, 0), port("mlx5_0:1", 5, 0)}),
            (Names{"eth0", "eth1"}));
  EXPECT_EQ(rails({port("mlx5_0:1", 990, 0), port("mlx5_1:1", 10, 0)}), (Names{"mlx5_0:1", "mlx5_1:1"}));
  EXPECT_EQ(rails({port("mlx5_0:1", 991, 0), port("mlx5_1:1", 9, 0)}), Names{});
  EXPECT_EQ(rails({interface("eth0", 0, 0), interface("eth1", 0, 0)}), Names{});
}

TEST(NicShares, OnlyWiresAskedForAreRails) {
  const std::vector<host::NicCounter> nics = {interface("eth0", 500, 0), interface("eth1", 490, 0),
                                              interface("eth2", 20, 0)};
  EXPECT_EQ(nic_shares({"", nics, {}}).rails.size(), 3U);
  EXPECT_EQ(nic_shares(asking("X", RequestScope::kSockets, {"eth0", "eth1"}, nics)).rails, (Names{"eth0", "eth1"}));
  EXPECT_EQ(nic_shares(asking("X", RequestScope::kSockets, {"eth0"}, nics)).rails, Names{});
  EXPECT_EQ(nic_shares(asking("X", RequestScope::kRdma, {"mlx5_0:1"}, nics)).rails.size(), 3U);
}

TEST(NicWarnings, UnequalRails) {
  const auto rails = [](Bytes a, Bytes b) {
    return HostNics{"node-01", {port("mlx5_0:1", a * 500, a * 500), port("mlx5_1:1", b * 500, b * 500)}, {}};
  };
  EXPECT_NEAR(nic_shares(rails(10245, 9755)).imbalance, 0.049, 1e-12);
  EXPECT_EQ(warnings_of(rails(10245, 9755)), Names{});
  EXPECT_EQ(warnings_of(rails(10250, 9750)), Names{});
  const Names warnings = warnings_of(rails(10255, 9745));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(has(warnings[0],
                  "the 2 rails of node-01 carried unequal loads: mlx5_0:1 9.8 MiB and mlx5_1:1 9.3 MiB, "
                  "5.1 % of their mean apart; 5 % is allowed. Compare link speed"))
      << warnings[0];
  expect_harmless(warnings);
  EXPECT_EQ(warnings_of(rails(100, 50)), Names{}) << "noise";
  EXPECT_EQ(nic_warnings({rails(10255, 9745)}), Names{}) << "a single host";
  const auto worst = nic_warnings({rails(10255, 9745), rails(10300, 9700), rails(10250, 9750)});
  ASSERT_EQ(worst.size(), 1U);
  EXPECT_TRUE(has(worst[0], "6.0 % of their mean apart; 5 % is allowed; the same holds for 1 more host.")) << worst[0];
}

TEST(NicWarnings, WiresAskedForThatCarriedLittle) {
  const auto carried = [](Bytes wanted, Bytes other) {
    return asking("NCCL_IB_HCA", RequestScope::kRdma, {"mlx5_0:1"},
                  {port("mlx5_0:1", wanted * kMiB, 0), interface("eth0", 0, other * kMiB)});
  };
  EXPECT_EQ(warnings_of(carried(90, 10)), Names{});
  EXPECT_EQ(
      warnings_of(carried(89, 11)),
      Names{"NCCL_IB_HCA=VALUE asks for mlx5_0:1, which carried 89.0 % of the 100 MiB sent and received by node-01, "
            "where eth0 carried 11.0 %. Check the name and that its link is up; NCCL_DEBUG=INFO shows what NCCL "
            "chose"});
  const auto both = nic_warnings({carried(50, 50), carried(0, 100), carried(89, 11), carried(100, 0)});
  ASSERT_EQ(both.size(), 1U);
  EXPECT_TRUE(has(both[0], "carried 0.0 % of the 100 MiB")) << both[0];
  EXPECT_TRUE(has(both[0], "; the same holds for 2 more hosts.")) << both[0];
  EXPECT_EQ(nic_warnings({carried(0, 100)}), Names{}) << "a single host";
  EXPECT_EQ(nic_warnings({carried(0, 100), carried(0, 100)}, 200 * kMiB), Names{}) << "noise";
}

TEST(NicWarnings, AnInterfaceThatTheRouteDoesNotTake) {
  const std::vector<host::Nic> nics = {{"eth0", NicKind::kInterface, {}}, {"eth1", NicKind::kInterface, {}}};
  const auto carried = [&nics](Bytes eth0, Bytes eth1) {
    return HostNics{"node-01",
                    {interface("eth0", eth0 * kMiB, 0), interface("eth1", 0, eth1 * kMiB)},
                    requested_interface("10.77.1.9", "eth1", nics)};
  };
  EXPECT_EQ(warnings_of(carried(5, 95)), Names{});
  EXPECT_EQ(
      warnings_of(carried(80, 20)),
      Names{"--interface=10.77.1.9 asks for eth1, which carried 20.0 % of the 100 MiB sent and received by node-01, "
            "where eth0 carried 80.0 %. Check the name and that its link is up; ip route get ADDRESS shows by "
            "which interface the kernel sends to a host"});
}

TEST(NicWarnings, WiresAskedForThatAreNotThere) {
  const HostNics host = asking("UCX_NET_DEVICES", RequestScope::kAny, {}, {interface("eth0", kMiB, kMiB)});
  const Names warnings = warnings_of(host);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(has(warnings[0],
                  "UCX_NET_DEVICES=VALUE allows no device of node-01, where eth0 carried 100.0 % of the 2 MiB "
                  "sent and received. Check"))
      << warnings[0];
  expect_harmless(warnings);
}

TEST(NicWarnings, SocketsAreJudgedByInterfacesAndOnlyWhereTheseCarried) {
  const auto sockets = [](Bytes eth0, Bytes eth1, Bytes mlx5) {
    return asking("NCCL_SOCKET_IFNAME", RequestScope::kSockets, {"eth0"},
                  {interface("eth0", eth0 * kMiB, 0), interface("eth1", eth1 * kMiB, 0),
                   port("mlx5_0:1", mlx5 * kMiB, 0), port("mlx5_1:1", mlx5 * kMiB, 0)});
  };
  EXPECT_EQ(warnings_of(sockets(1, 9, 100)), Names{}) << "RDMA carried the data";
  EXPECT_EQ(warnings_of(sockets(95, 5, 20)), Names{}) << "storage by RDMA besides";
  const Names warnings = warnings_of(sockets(10, 90, 0));
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(has(warnings[0], "eth0, which carried 10.0 % of the 100 MiB")) << warnings[0];
  const HostNics ipoib = asking("NCCL_SOCKET_IFNAME", RequestScope::kSockets, {"mlx5_0:1"},
                                {interface("eth0", kMiB, 0), port("mlx5_0:1", 99 * kMiB, 0)});
  EXPECT_EQ(warnings_of(ipoib), Names{});
}

TEST(NicWarnings, AnUnknownCounterIsALineAndNoWarning) {
  const HostNics host = asking("NCCL_IB_HCA", RequestScope::kRdma, {"rxe0:1"}, {interface("eth0", kMiB, kMiB)});
  EXPECT_EQ(warnings_of(host), Names{});
  const Names lines = nic_lines({host, host, host});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines.back(),
            "Wires: NCCL_IB_HCA asks for rxe0:1; some of these counters are unknown for node-01 and 2 more hosts");
}

TEST(NicLines, OneForEachOfAFewHosts) {
  const Names lines = nic_lines(
      {{"node-01", {interface("eth0", 1536 * kMiB, 1536 * kMiB), interface("eth1", 12 * kMiB, 12 * kMiB)}, {}},
       {"node-02", {port("mlx5_0:1", 3 * kMiB, kMiB), port("mlx5_1:1", 3 * kMiB, kMiB)}, {}},
       {"node-03", {interface("eth0", 0, 0)}, {}},
       {"node-04", {}, {}}});
  EXPECT_EQ(lines,
            (Names{"Wires: node-01: eth0 99.2 % of 1.5 GiB sent, 1.5 GiB received",
                   "Wires: node-02: mlx5_0:1 50.0 %, mlx5_1:1 50.0 % of 6 MiB sent, 2 MiB received; 2 rails, 0.0 % "
                   "apart",
                   "Wires: node-03: nothing was carried", "Wires: node-04: no counter can be read"}));
  EXPECT_EQ(nic_lines({}), Names{});
}

TEST(NicLines, FoldHostsWithTheSamePicture) {
  std::vector<HostNics> hosts;
  for (Bytes i = 0; i < 16384; ++i) {
    hosts.push_back({fmt::format("node-{:05}", i), {interface("eth0", kMiB, kMiB)}, {}});
    for (int rail = 0; rail < 8; ++rail) {
      hosts.back().nics.push_back(port(fmt::format("mlx5_{}:1", rail), (1000 + i % 2) * kMiB, 1000 * kMiB));
    }
  }
  Names lines = nic_lines(hosts);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(has(lines[0], "Wires: node-00000 and 16383 more hosts: mlx5_0:1 12.5 %, mlx5_1:1 12.5 %")) << lines[0];
  EXPECT_TRUE(has(lines[0], " of 7.8 GiB sent, 7.8 GiB received; 8 rails, 0.0 % apart")) << lines[0];
  expect_harmless(lines);
  hosts[7].nics[3].tx_bytes /= 2;  // one slow rail is a picture of its own
  lines = nic_lines(hosts);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(has(lines[1], "Wires: node-00007: ")) << lines[1];
}

TEST(NicLines, StayFewWhateverTheHostsLookLike) {
  std::vector<HostNics> hosts;
  for (int i = 0; i < 16384; ++i) {
    hosts.push_back(asking("NCCL_IB_HCA", RequestScope::kRdma, {}, {}));
    for (int nic = 0; nic < 40; ++nic) {
      hosts.back().nics.push_back(interface(fmt::format("enp{}s{}", i, nic), kMiB, kMiB));
    }
  }
  const Names lines = nic_lines(hosts);
  ASSERT_EQ(lines.size(), 13U);
  EXPECT_EQ(lines.back(), "Wires: and 16372 more hosts");
  EXPECT_TRUE(has(lines[0], " and 24 more of 40 MiB sent")) << lines[0];
  expect_harmless(lines);
  const Names warnings = nic_warnings(hosts);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(has(warnings[0], "; the same holds for 16383 more hosts")) << warnings[0];
  expect_harmless(warnings);
}

TEST(HostNics, ComeBackAsTheyWere) {
  const std::vector<host::NicCounter> nics = {interface("eth0", 18446744073709551615U, 0),
                                              port("mlx5_0:1", 1, 2),
                                              {"lo", NicKind::kLoopback, 3, 4},
                                              {"bond0", NicKind::kStacked, 5, 6}};
  const HostNics host{"node \"1\"",
                      nics,
                      {{"NCCL_IB_HCA", "^=mlx5_0:1", RequestScope::kRdma, {"mlx5_1:1", "mlx5_2:1"}},
                       {"UCX_NET_DEVICES", "none", RequestScope::kAny, {}}}};
  const auto back = record::unpack<HostNics>(record::pack(host));
  EXPECT_EQ(back.host, host.host);
  EXPECT_EQ(described(back.nics), described(host.nics));
  EXPECT_EQ(back.asked, host.asked);
  EXPECT_ANY_THROW((void)record::unpack<HostNics>("{}"));
}

}  // namespace nic_shares_test
