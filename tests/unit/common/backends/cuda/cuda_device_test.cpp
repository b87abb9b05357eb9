#include "common/backends/cuda/device.h"

#include <gtest/gtest.h>

#include <string>

#include "common/backends/cuda/memory.h"
#include "common/core/error.h"
#include "fake_cuda.h"
#include "scoped_variable.h"

using namespace fabricbench;
using namespace fabricbench::cuda;
using fabricbench::test::ScopedVariable;

namespace cuda_device_test {

TEST(VisibleDevices, AreCounted) {
  EXPECT_EQ(visible_devices().count, 1);
  const ScopedVariable devices("FAKE_CUDA_DEVICES", "4");
  EXPECT_EQ(visible_devices().count, 4);
  const ScopedVariable shown("CUDA_VISIBLE_DEVICES", "3,1");
  EXPECT_EQ(visible_devices().count, 2);
  EXPECT_EQ(visible_devices().why_none, "");
}

TEST(VisibleDevices, AreNoneWithoutADriver) {
  const ScopedVariable none("FAKE_CUDA_NO_DRIVER", "1");
  EXPECT_EQ(visible_devices().count, 0);
  EXPECT_EQ(visible_devices().why_none, "no NVIDIA driver is installed");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "the answer was left behind as an error";
}

TEST(VisibleDevices, AreNoneWhereAllAreHidden) {
  const ScopedVariable shown("CUDA_VISIBLE_DEVICES", "");
  EXPECT_EQ(visible_devices().count, 0);
  EXPECT_NE(visible_devices().why_none.find("CUDA_VISIBLE_DEVICES"), std::string::npos);
}

TEST(OrderOfRdmaWrites, IsAsked) {
  EXPECT_TRUE(keeps_order_of_rdma_writes(0));
  const ScopedVariable without("FAKE_CUDA_NO_RDMA_ORDER", "1");
  EXPECT_FALSE(keeps_order_of_rdma_writes(0));
}

TEST(DeviceFacts, AreReadInTheFormsThatOtherToolsUse) {
  const ScopedVariable devices("FAKE_CUDA_DEVICES", "12");
  const ScopedVariable shown("CUDA_VISIBLE_DEVICES", "2,11");
  const DeviceFacts facts = device_facts(1);
  EXPECT_EQ(facts.device, 1);
  EXPECT_EQ(facts.model, "Fake GPU");
  EXPECT_EQ(facts.pci_address, "0000:1b:00.0");
  EXPECT_EQ(facts.uuid, "GPU-fafafafa-fafa-fafa-fafa-fafafafafa0b");
  EXPECT_EQ(facts.memory, Bytes{4} << 30);
  EXPECT_EQ(facts.compute_capability, "9.0");
  EXPECT_NE(facts.driver.find("CUDA "), std::string::npos) << facts.driver;
  EXPECT_THROW((void)device_facts(2), Error);
}

TEST(FreeMemory, ShrinksByWhatIsAllocated) {
  const Stream stream = Stream::create(0);
  CudaMemory memory(stream.view());
  const Bytes before = free_memory(0);
  std::byte* block = memory.allocate(1 << 20);
  EXPECT_EQ(free_memory(0), before - (1 << 20));
  memory.release(block);
}

TEST(KernelDriverVersion, IsFoundInBothFormsOfTheFile) {
  EXPECT_EQ(kernel_driver_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC "
                                  "2023\nGCC version:  gcc version 12.2.0\n"),
            "535.54.03");
  EXPECT_EQ(kernel_driver_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  "
                                  "(builder@host)  Sun Jul 27 07:10:52 UTC 2025\n"),
            "580.65.06");
  EXPECT_EQ(kernel_driver_version(""), "");
  EXPECT_EQ(kernel_driver_version("GCC version:\ngcc 12.2.0\n"), "");
}

}  // namespace cuda_device_test
