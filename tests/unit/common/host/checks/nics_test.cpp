// Checks of adapters, their interfaces and counters: one fault, planted in a host that is well.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "common/host/checks/checks.h"
#include "common/host/checks/fake_host.h"

namespace fabricbench::host {
namespace {

const std::string kFourth = "/sys/class/infiniband/mlx5_3/ports/1/";

/// The only finding of a check.
CheckFinding only_finding(const Check& check, const FakeHost& host) {
  const CheckResult result = run_check(check, host);
  EXPECT_EQ(result.findings.size(), 1U) << check.name;
  return result.findings.empty() ? CheckFinding{} : result.findings.front();
}

TEST(RoceGidsTest, APortWithoutARoutableAddress) {
  FakeHost host = roce_host();
  host.set(kFourth + "gids/3", "0000:0000:0000:0000:0000:ffff:a9fe:0307\n");
  const CheckFinding found = only_finding(roce_gids_check(), host);
  EXPECT_EQ(found.level, CheckLevel::kFailure);
  EXPECT_EQ(found.device, "mlx5_3 port 1");
  EXPECT_EQ(found.measured, "no RoCE v2 GID with a routable address");
}

TEST(RoceGidsTest, AChosenIndexOfAnotherKind) {
  FakeHost host = roce_host();
  host.set("env/NCCL_IB_GID_INDEX", "2");
  const CheckResult result = run_check(roce_gids_check(), host);
  ASSERT_EQ(result.findings.size(), 8U);
  EXPECT_EQ(result.findings[0].measured, "GID index 2: IB/RoCE v1, routable address");
  EXPECT_EQ(result.findings[0].next, "NCCL_IB_GID_INDEX=3 fits this port, or unset it");
  host.set("env/NCCL_IB_GID_INDEX", "4");
  EXPECT_EQ(run_check(roce_gids_check(), host).findings[0].measured, "GID index 4: no GID");
  host.set("env/NCCL_IB_GID_INDEX", "3");
  EXPECT_EQ(run_check(roce_gids_check(), host).outcome, CheckOutcome::kOk);
  host.remove("env/NCCL_IB_GID_INDEX");
  host.set("/etc/nccl.conf", "NCCL_IB_GID_INDEX=1\n");
  EXPECT_EQ(run_check(roce_gids_check(), host).findings[0].expected_by, "NCCL_IB_GID_INDEX of /etc/nccl.conf");
}

TEST(RoceGidsTest, ASmallMtu) {
  FakeHost host = roce_host();
  host.set("/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/net/rail3/mtu", "1500\n");
  const CheckFinding found = only_finding(roce_gids_check(), host);
  EXPECT_EQ(found.device, "mlx5_3 port 1 (rail3)");
  EXPECT_EQ(found.measured, "mtu 1500");
}

TEST(IbSubnetTest, NoLidNoManagerAndLimitedMembers) {
  FakeHost host = h100_infiniband_host();
  host.set(kFourth + "lid", "0x0\n");
  EXPECT_EQ(only_finding(ib_subnet_check(), host).measured, "lid is 0");
  host.set(kFourth + "lid", "0x1c\n");
  host.set(kFourth + "sm_lid", "0x0\n");
  EXPECT_EQ(only_finding(ib_subnet_check(), host).measured, "sm_lid is 0");
  host.set(kFourth + "sm_lid", "0x1\n");
  host.set(kFourth + "pkeys/1", "0x7fff\n");  // /etc/nccl.conf has NCCL_IB_PKEY=1
  const CheckFinding found = only_finding(ib_subnet_check(), host);
  EXPECT_EQ(found.measured, "limited member of partition 0x7fff");
  EXPECT_EQ(found.device, "mlx5_3 port 1");
}

TEST(IbSubnetTest, APlaceholderIsNoLid) {
  FakeHost host = h100_infiniband_host();
  host.set(kFourth + "lid", "lid\n");
  EXPECT_EQ(run_check(ib_subnet_check(), host).outcome, CheckOutcome::kNotChecked);
}

/// A counter of eight bits that has come to its end.
TEST(ErrorCountersTest, SaturatedValuesAreAtLeast) {
  FakeHost host = h100_infiniband_host();
  host.set(kFourth + "counters/link_downed", "255\n");
  host.set(kFourth + "counters/symbol_error", "7\n");
  const CheckFinding found = only_finding(error_counters_check(), host);
  EXPECT_EQ(found.level, CheckLevel::kNote);
  EXPECT_EQ(found.device, "mlx5_3 port 1");
  EXPECT_EQ(found.measured, "symbol_error 7, link_downed at least 255 since the last reset, whose age is unknown");
}

TEST(RdmaInterfacesTest, AnInterfaceThatIsDownOnAnActivePort) {
  FakeHost host = h100_infiniband_host();
  host.set("/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/net/ib3/carrier_changes", "98\n");
  const CheckFinding flapping = only_finding(rdma_interfaces_check(), host);
  EXPECT_EQ(flapping.level, CheckLevel::kNote);
  EXPECT_EQ(flapping.measured, "carrier changed 98 times since the interface was made");
  host.set("/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0/net/ib3/operstate", "down\n");
  const CheckFinding down = only_finding(rdma_interfaces_check(), host);
  EXPECT_EQ(down.level, CheckLevel::kWarning);
  EXPECT_EQ(down.device, "ib3 (mlx5_3)");
  EXPECT_EQ(down.measured, "interface down, 98 changes of its carrier");
  host.set(kFourth + "state", "2: INIT\n");  // then the state of the port says it
  EXPECT_EQ(run_check(rdma_interfaces_check(), host).outcome, CheckOutcome::kOk);
}

/// NVSentinel #1663 marked hosts without an issm node for replacement; here there is none, nor a umad node.
TEST(RdmaNodesTest, ANodeThatIsMissingOrCannotBeOpened) {
  FakeHost host = h100_infiniband_host();
  EXPECT_EQ(run_check(rdma_nodes_check(), host).outcome, CheckOutcome::kOk);
  host.set("system/opens/dev/infiniband/uverbs3", "Operation not permitted");
  EXPECT_EQ(only_finding(rdma_nodes_check(), host).measured, "/dev/infiniband/uverbs3: Operation not permitted");
  host.remove("/dev/infiniband/uverbs3");
  const CheckFinding found = only_finding(rdma_nodes_check(), host);
  EXPECT_EQ(found.device, "mlx5_3");
  EXPECT_EQ(found.measured, "/dev/infiniband/uverbs3: missing");
}

/// The bond of roce_host with a part of its text replaced.
FakeHost host_with_bond(const std::string& part, const std::string& by) {
  FakeHost host = roce_host();
  std::string text = host.text("/proc/net/bonding/front0");
  text.replace(text.rfind(part), part.size(), by);
  host.set("/proc/net/bonding/front0", text);
  return host;
}

TEST(BondsTest, MembersAndPartner) {
  const Check check = bonds_check();
  EXPECT_EQ(only_finding(check, host_with_bond("MII Status: up", "MII Status: down")).measured, "enp225s0f0 is down");
  EXPECT_EQ(only_finding(check, host_with_bond("200000 Mbps", "100000 Mbps")).measured,
            "members at 100000 Mbps and 200000 Mbps");
  EXPECT_EQ(only_finding(check, host_with_bond("02:00:00:00:00:01", "00:00:00:00:00:00")).measured, "no LACP partner");
  EXPECT_EQ(only_finding(check, host_with_bond("Aggregator ID: 1", "Aggregator ID: 2")).measured,
            "members in 2 aggregators");
  EXPECT_EQ(run_check(check, host_with_bond("\tPartner Mac Address: 02:00:00:00:00:01\n", "")).outcome,
            CheckOutcome::kNotChecked);
}

/// Two rails in one subnet.
FakeHost host_with_two_rails(int ignore) {
  FakeHost host = roce_host();
  host.set("/proc/net/route",
           "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
           "rail0\t0001000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n"
           "rail1\t0001000A\t00000000\t0001\t0\t0\t101\t00FFFFFF\t0\t0\t0\n");
  for (const char* name : {"all", "rail0", "rail1"}) {
    const std::string folder = fmt::format("/proc/sys/net/ipv4/conf/{}/", name);
    host.set(folder + "arp_ignore", fmt::format("{}\n", ignore));
    host.set(folder + "arp_announce", "2\n");
    host.set(folder + "rp_filter", "2\n");
  }
  return host;
}

TEST(RailRoutesTest, RailsInOneSubnet) {
  EXPECT_EQ(run_check(rail_routes_check(), host_with_two_rails(1)).outcome, CheckOutcome::kOk);
  const CheckResult result = run_check(rail_routes_check(), host_with_two_rails(0));
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0].device, "rail0");
  EXPECT_EQ(result.findings[0].measured, "arp_ignore 0, arp_announce 2, rp_filter 2");
  EXPECT_EQ(result.findings[0].expected_by, "several interfaces in 10.0.1.0/24");
  FakeHost strict = host_with_two_rails(1);
  strict.set("/proc/sys/net/ipv4/conf/rail1/rp_filter", "1\n");  // 2 of all holds
  EXPECT_EQ(run_check(rail_routes_check(), strict).outcome, CheckOutcome::kOk);
}

TEST(RailRoutesTest, RoutesOfEqualMetric) {
  FakeHost host = host_with_nothing();
  host.set("/proc/net/route",
           "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
           "eth0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
           "eth1\t00000000\t0101000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
           "lo\t0B00000A\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0\n");
  const CheckFinding found = only_finding(rail_routes_check(), host);
  EXPECT_EQ(found.level, CheckLevel::kWarning);
  EXPECT_EQ(found.measured, "routes to 0.0.0.0/0 of equal metric by eth0 and eth1");
}

TEST(AdapterDriverTest, AnEfaDeviceIsMissing) {
  FakeHost host = efa_host();
  host.remove("/sys/class/infiniband/rdmap3s0");
  const CheckFinding found = only_finding(adapter_driver_check(), host);
  EXPECT_EQ(found.measured, "3 EFA devices");
  EXPECT_EQ(found.expected_by, "what a p4d.24xlarge has");
}

/// Nearly all corrected bits on one lane, though the link is up at its full speed.
TEST(LinkLanesTest, OneLaneOfACable) {
  FakeHost host = roce_host();
  host.set("command/ethtool -S rail3",
           "NIC statistics:\n     rx_pcs_symbol_err_phy: 400\n     rx_err_lane_0_phy: 30000\n"
           "     rx_err_lane_1_phy: 0\n     rx_err_lane_2_phy: 0\n     rx_err_lane_3_phy: 19970000\n");
  const CheckFinding found = only_finding(link_lanes_check(), host);
  EXPECT_EQ(found.level, CheckLevel::kNote);
  EXPECT_EQ(found.device, "rail3");
  EXPECT_EQ(found.measured, "lane 3 has 19970000 of 20000000 corrected bits (99.9 %); 400 symbols were not corrected");
}

/// A module of four lanes of which one is in use is in roce_host, and no fault.
TEST(LinkLanesTest, ALaneThatSendsAndReceivesNothing) {
  FakeHost host = roce_host();
  host.set("command/ethtool -m rail3",
           "        Identifier                                : 0x0d (QSFP+)\n"
           "        Laser tx bias current (Channel 2)         : 6.6 mA\n"
           "        Rcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm\n"
           "        Module temperature high alarm             : On\n");
  const CheckResult result = run_check(link_lanes_check(), host);
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_EQ(result.findings[0].measured, "Module temperature high alarm");
  EXPECT_EQ(result.findings[1].measured, "no light is received on (Channel 2)");
}

/// Omni-Path, two ports of QDR and one lane of EDR, whose physical state is odd: nothing to compare, nothing wrong.
TEST(PortRateTest, ThreeFabricsOfOneHost) {
  FakeHost host;
  const auto add = [&](const std::string& device, const std::string& board, int port, const std::string& rate) {
    const std::string folder = fmt::format("/sys/class/infiniband/{}/", device);
    const std::string of_port = fmt::format("{}ports/{}/", folder, port);
    host.set(folder + "board_id", board + "\n");
    host.set(of_port + "state", "4: ACTIVE\n");
    host.set(of_port + "phys_state", device == "mlx5_0" ? "4: ACTIVE\n" : "5: LinkUp\n");
    host.set(of_port + "rate", rate + "\n");
    host.set(of_port + "link_layer", "InfiniBand\n");
  };
  add("hfi1_0", "100Gb OP101", 1, "100 Gb/sec (4X EDR)");
  add("mlx4_0", "SM_1141000001000", 1, "40 Gb/sec (4X QDR)");
  add("mlx4_0", "SM_1141000001000", 2, "40 Gb/sec (4X QDR)");
  add("mlx5_0", "I40IW Board ID", 1, "25 Gb/sec (1X EDR)");
  EXPECT_TRUE(run_check(port_state_check(), host).findings.empty());
  EXPECT_TRUE(run_check(port_rate_check(), host).findings.empty());
}

}  // namespace
}  // namespace fabricbench::host
