// Checks of what launching a job needs: one fault, planted in a host that is well.

#include <gtest/gtest.h>

#include "common/host/checks/checks.h"
#include "common/host/checks/fake_host.h"

namespace fabricbench::host {
namespace {

TEST(HostNameTest, ALoopbackAddressIsAFailureBetweenHosts) {
  FakeHost host = h100_infiniband_host();
  host.set("system/address/node01", "127.0.1.1\n");
  const CheckResult result = run_check(host_name_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].level, CheckLevel::kFailure);
  EXPECT_EQ(result.findings[0].measured, "its own name leads to 127.0.1.1");
  EXPECT_TRUE(result.findings[0].only_between_hosts);
}

TEST(LockedMemoryTest, ALimitIsAFailureWhereThereIsRdma) {
  FakeHost host = h100_infiniband_host();
  host.set("/proc/self/limits", "Max locked memory         8388608              8388608              bytes     \n");
  const CheckResult result = run_check(locked_memory_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].measured, "at most 8192 KiB of memory can be locked");
}

TEST(SharedMemoryTest, LittleSpaceIsAFailure) {
  FakeHost host = host_with_nothing();
  host.set("system/free/dev/shm", "67108864 67108864");
  const CheckResult result = run_check(shared_memory_check(), host);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].measured, "64 MiB are free");
  EXPECT_EQ(result.findings[0].level, CheckLevel::kFailure);
}

}  // namespace
}  // namespace fabricbench::host
