// Checks of RDMA adapters and interfaces: one fault, planted in a host that is well.

#include <gtest/gtest.h>

#include "common/host/checks/checks.h"
#include "common/host/checks/fake_host.h"

namespace fabricbench::host {
namespace {

const std::string kPort = "/sys/class/infiniband/mlx5_3/ports/1/";

TEST(PortStateTest, AnUnconfiguredPortIsAFailure) {
  FakeHost host = h100_infiniband_host();
  host.set(kPort + "state", "2: INIT\n");
  const CheckResult result = run_check(port_state_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].level, CheckLevel::kFailure);
  EXPECT_EQ(result.findings[0].device, "mlx5_3 port 1");
  EXPECT_EQ(result.findings[0].measured, "state INIT, physical state LinkUp");
}

TEST(PortStateTest, APortWithoutACableMayBeSoByDesign) {
  FakeHost host = h100_infiniband_host();
  host.set(kPort + "state", "1: DOWN\n");
  host.set(kPort + "phys_state", "3: Disabled\n");
  const CheckResult result = run_check(port_state_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].level, CheckLevel::kWarning);
  EXPECT_TRUE(result.findings[0].maybe_by_design);
}

TEST(PortStateTest, OnePortThatIsNotSeenLeavesTheOthers) {
  FakeHost host = h100_infiniband_host();
  host.set(kPort + "state", "2: INIT\n");
  host.remove("/sys/class/infiniband/mlx5_5/ports/1/state");
  const CheckResult result = run_check(port_state_check(), host);
  EXPECT_EQ(result.findings.size(), 1U);
  ASSERT_EQ(result.unseen.size(), 1U);
  EXPECT_EQ(result.unseen[0].source, "/sys/class/infiniband/mlx5_5/ports/1/state");
}

/// The places of adapters of h100_infiniband_host.
const std::string kDevice = "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0";

TEST(AdapterPciTest, ANarrowLinkIsAFailure) {
  FakeHost host = h100_infiniband_host();
  host.set(kDevice + "/current_link_width", "8\n");
  const CheckResult result = run_check(adapter_pci_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].device, "mlx5_3 (0000:31:00.0)");
  EXPECT_EQ(result.findings[0].measured, "PCIe link 32 GT/s x8");
  EXPECT_EQ(result.findings[0].expected, "32 GT/s x16");
}

/// A card of PCIe 5 in a slot of PCIe 4.
TEST(AdapterPciTest, ASlotOfAnOlderGenerationIsNoFault) {
  FakeHost host = h100_infiniband_host();
  host.set(kDevice + "/current_link_speed", "16.0 GT/s PCIe\n");
  host.set("/sys/devices/pci0000:30/0000:30:01.0/max_link_speed", "16.0 GT/s PCIe\n");
  EXPECT_EQ(run_check(adapter_pci_check(), host).outcome, CheckOutcome::kOk);
}

TEST(AdapterPciTest, AHypervisorThatHidesTheLinkLeavesItUnknown) {
  FakeHost host = h100_infiniband_host();
  host.set(kDevice + "/current_link_speed", "Unknown\n");
  const CheckResult result = run_check(adapter_pci_check(), host);
  EXPECT_EQ(result.outcome, CheckOutcome::kNotChecked);
  ASSERT_EQ(result.unseen.size(), 1U);
  EXPECT_EQ(result.unseen[0].reason, "'Unknown' is not a speed");
}

TEST(RdmaAdaptersTest, APlaceholderIsNoVersion) {
  FakeHost host = h100_infiniband_host();
  host.set("/sys/class/infiniband/mlx5_3/fw_ver", "fw_ver\n");
  EXPECT_EQ(run_check(rdma_adapters_check(), host).outcome, CheckOutcome::kNotChecked);
}

}  // namespace
}  // namespace fabricbench::host
