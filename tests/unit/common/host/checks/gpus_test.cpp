// Checks of GPUs: one fault, planted in a host that is well.

#include <gtest/gtest.h>

#include "common/host/checks/checks.h"
#include "common/host/checks/fake_host.h"

namespace fabricbench::host {
namespace {

/// A GPU of h100_infiniband_host.
const std::string kGpuBridge = "/sys/devices/pci0000:38/0000:38:01.0";
const std::string kGpu = kGpuBridge + "/0000:39:00.0";

TEST(GpuPciTest, ANarrowLinkIsAFailure) {
  FakeHost host = h100_infiniband_host();
  host.set(kGpu + "/current_link_width", "8\n");
  const CheckResult result = run_check(gpu_pci_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].level, CheckLevel::kFailure);
  EXPECT_EQ(result.findings[0].device, "GPU 0000:39:00.0");
  EXPECT_EQ(result.findings[0].measured, "PCIe link x8");
  EXPECT_EQ(result.findings[0].expected, "x16");
}

/// All of its links are at 2.5 GT/s of 32.
TEST(GpuPciTest, TheSpeedOfAnIdleGpuIsNoFault) {
  EXPECT_EQ(run_check(gpu_pci_check(), h100_infiniband_host()).outcome, CheckOutcome::kOk);
}

TEST(GpuPciTest, ANarrowSlotIsNoFault) {
  FakeHost host = h100_infiniband_host();
  host.set(kGpu + "/current_link_width", "8\n");
  host.set(kGpuBridge + "/max_link_width", "8\n");
  EXPECT_EQ(run_check(gpu_pci_check(), host).outcome, CheckOutcome::kOk);
}

TEST(GpuPciTest, AHypervisorThatHidesTheLinkLeavesItUnknown) {
  FakeHost host = h100_infiniband_host();
  host.set(kGpu + "/current_link_width", "0\n");
  EXPECT_EQ(run_check(gpu_pci_check(), host).outcome, CheckOutcome::kNotChecked);
}

TEST(GpuPciTest, CountsGpusByModelForOtherHosts) {
  const CheckResult result = run_check(gpu_pci_check(), h100_infiniband_host());
  ASSERT_EQ(result.facts.size(), 1U);
  EXPECT_EQ(result.facts[0].among, "PCI device 0x2330");
  EXPECT_EQ(result.facts[0].value, "8");
}

TEST(GpuPciTest, AHostWithoutGpusHasNothingToCheck) {
  EXPECT_EQ(run_check(gpu_pci_check(), host_with_nothing()).absent, "no NVIDIA GPU");
}

}  // namespace
}  // namespace fabricbench::host
