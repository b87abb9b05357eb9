// Blocks of a real device's memory as RDMA devices are given them, as far as that goes without one of these.

#include "common/backends/cuda/buffers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/error.h"

namespace fabricbench::cuda {
namespace {

constexpr std::size_t kPage = std::size_t{64} << 10;

/// A device that lends nobody its memory has nothing to test.
class LentMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why_not = why_no_gpu_direct(0); !why_not.empty()) GTEST_SKIP() << why_not;
  }
};

TEST_F(LentMemory, BeginsAtPagesAndHoldsData) {
  CudaBuffers buffers(0, 1, 60);
  std::vector<std::byte*> blocks;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{512}, kPage - 1, kPage, 5 * kPage + 3}) {
    std::byte* const block = buffers.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kPage, 0U) << bytes;
    buffers.memory().set({block, bytes}, 42);
    std::byte last{};
    buffers.memory().copy_to_host({block + bytes - 1, 1}, &last);
    EXPECT_EQ(last, std::byte{42});
    blocks.push_back(block);
  }
  for (std::byte* block : blocks) buffers.release(block);
}

TEST_F(LentMemory, IsExportedOrSaysWhyNot) {
  CudaBuffers buffers(0, 1, 60);
  for (const std::size_t bytes : {std::size_t{8}, kPage, std::size_t{8} << 20}) {
    std::byte* const block = buffers.allocate(bytes);
    if (const std::string why_not = buffers.why_no_dma_buf(); !why_not.empty()) {
      EXPECT_THROW((void)buffers.export_dma_buf(block, bytes, false), Error) << why_not;
    } else {
      const DmaBuf exported = buffers.export_dma_buf(block, bytes, false);
      EXPECT_EQ(exported.offset, 0U);
      EXPECT_NE(fcntl(exported.file, F_GETFD), -1);
      close(exported.file);
    }
    buffers.release(block);
  }
}

}  // namespace
}  // namespace fabricbench::cuda
