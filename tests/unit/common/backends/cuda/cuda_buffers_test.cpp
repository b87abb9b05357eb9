// A GPU's memory as blocks for buffers, on the fake runtime.

#include "common/backends/cuda/buffers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "fake_cuda.h"
#include "missing_error.h"
#include "scoped_variable.h"

using namespace fabricbench;
using namespace fabricbench::cuda;
using test::missing_error;
using test::ScopedVariable;

namespace cuda_buffers_test {

constexpr std::size_t kPage = std::size_t{64} << 10;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class CudaBuffersTest : public testing::Test {
 protected:
  ScopedVariable devices_{"FAKE_CUDA_DEVICES", "2"};
  CudaBuffers buffers_{1, 2, 60};
};

TEST_F(CudaBuffersTest, SayWhoseTheyAre) {
  EXPECT_EQ(buffers_.description(), "memory of GPU 1 (Fake GPU)");
  EXPECT_EQ(buffers_.devices(), std::vector<int>{1});
  EXPECT_EQ(buffers_.pci_address(), "0000:11:00.0");
  EXPECT_FALSE(buffers_.on_host());
}

TEST_F(CudaBuffersTest, BlocksBeginAtPagesAndEndBeforeWhatFollows) {
  const std::size_t before = fake_cuda_allocated();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kPage - 1, kPage, kPage + 1}) {
    std::byte* const block = buffers_.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % kPage, 0U) << bytes;
    EXPECT_GE(fake_cuda_allocated() - before, bytes);
    buffers_.memory().set({block, bytes}, 7);  // the fake refuses what lies outside
    if (bytes > 0) {
      std::byte last{};
      buffers_.memory().copy_to_host({block + bytes - 1, 1}, &last);
      EXPECT_EQ(last, std::byte{7});
    }
    buffers_.release(block);
    EXPECT_EQ(fake_cuda_allocated(), before);
  }
}

TEST_F(CudaBuffersTest, CopiesOfABlockAreDoneWhenTheyReturn) {
  std::byte* const block = buffers_.allocate(kPage);
  const auto* const marked = static_cast<const std::byte*>(fake_cuda_synchronized_last());
  EXPECT_LE(marked, block);
  EXPECT_LT(block - marked, static_cast<std::ptrdiff_t>(kPage));
  buffers_.release(block);
}

TEST_F(CudaBuffersTest, GiveBackWhatIsLeft) {
  const std::size_t before = fake_cuda_allocated();
  {
    CudaBuffers others(0, 1, 60);
    (void)others.allocate(10);
  }
  EXPECT_EQ(fake_cuda_allocated(), before);
}

TEST_F(CudaBuffersTest, AreNoLargerThanTheirShareOfTheDevice) {
  const auto half = static_cast<double>(std::size_t{4} << 30) / 2;
  EXPECT_LT(static_cast<double>(buffers_.available().value()), half);
  EXPECT_GT(static_cast<double>(buffers_.available().value()), half * 0.8);
  const ScopedVariable memory("FAKE_CUDA_MEMORY", "4000000");
  const std::string error = missing_error([&] { (void)buffers_.allocate(std::size_t{8} << 20); });
  EXPECT_TRUE(has(error, "cannot allocate 8.1 MiB on CUDA device 1, which has")) << error;
}

TEST_F(CudaBuffersTest, AreExportedByWholePages) {
  EXPECT_EQ(buffers_.why_no_dma_buf(), "");
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* const block = buffers_.allocate(3 * kPage);
  for (const bool over_pcie : {false, true}) {
    const DmaBuf made = buffers_.export_dma_buf(block + 100, page, over_pcie);
    const fake_cuda_export last = fake_cuda_exported_last();
    EXPECT_EQ(made.file, last.file);
    EXPECT_NE(fcntl(made.file, F_GETFD), -1);
    EXPECT_EQ(made.offset, 100U);
    EXPECT_EQ(last.begin, block);
    EXPECT_EQ(last.bytes, 2 * page);
    EXPECT_EQ(last.flags, over_pcie ? 1U : 0U);
    close(made.file);
  }
  buffers_.release(block);
}

TEST_F(CudaBuffersTest, SayWhyTheyCannotBeExported) {
  {
    const ScopedVariable without("FAKE_CUDA_NO_DMA_BUF", "1");
    EXPECT_TRUE(has(buffers_.why_no_dma_buf(), "the driver of GPU 1 exports none (its attribute DMA_BUF_SUPPORTED"));
  }
  {
    const ScopedVariable without("FAKE_CUDA_WITHOUT", "cuMemGetHandleForAddressRange");
    EXPECT_TRUE(has(buffers_.why_no_dma_buf(), "has no cuMemGetHandleForAddressRange; update it"));
  }
  std::byte* const block = buffers_.allocate(kPage);
  const ScopedVariable failing("FAKE_CUDA_EXPORT_FAILS", "1");
  EXPECT_EQ(missing_error([&] { (void)buffers_.export_dma_buf(block, kPage, false); }),
            "cuda: cuMemGetHandleForAddressRange: operation not supported (801)");
  buffers_.release(block);
}

TEST_F(CudaBuffersTest, LeaveNothingBehindWhereTheDriverLacksAFunction) {
  const std::size_t before = fake_cuda_allocated();
  const ScopedVariable without("FAKE_CUDA_WITHOUT", "cuPointerSetAttribute");
  EXPECT_EQ(missing_error([&] { (void)buffers_.allocate(kPage); }),
            "cuda: the NVIDIA driver has no cuPointerSetAttribute; update it");
  EXPECT_EQ(fake_cuda_allocated(), before);
}

TEST(CudaBuffersOfADevice, ThatOthersCannotReachAreRefused) {
  const ScopedVariable without("FAKE_CUDA_NO_GPU_DIRECT", "1");
  EXPECT_EQ(missing_error([] { const CudaBuffers buffers(0, 1, 60); }),
            "--memory cuda: other devices cannot use GPU 0's memory (its attribute GPU_DIRECT_RDMA_SUPPORTED is 0); "
            "use a data centre or workstation GPU, or --memory host");
}

}  // namespace cuda_buffers_test
