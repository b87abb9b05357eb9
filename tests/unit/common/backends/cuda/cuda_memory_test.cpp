#include "common/backends/cuda/memory.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/core/error.h"
#include "common/core/pattern_table.h"
#include "fake_cuda.h"

using namespace fabricbench;
using namespace fabricbench::cuda;
using pattern::kPeriod;

namespace cuda_memory_test {

using Bytes = std::vector<std::byte>;

/// Device memory of a test, with bytes around it that nobody may write.
class CudaMemoryTest : public testing::Test {
 protected:
  static constexpr std::size_t kAround = 64;

  ~CudaMemoryTest() override { memory_.release(block_); }

  std::span<std::byte> buffer(std::size_t bytes, std::size_t misalignment = 0) {
    memory_.release(block_);
    block_ = memory_.allocate(bytes + misalignment + 2 * kAround);
    memory_.set({block_, bytes + misalignment + 2 * kAround}, pattern::kGuardByte);
    return {block_ + kAround + misalignment, bytes};
  }

  Bytes host(std::span<const std::byte> from) {
    Bytes bytes(from.size());
    memory_.copy_to_host(from, bytes.data());
    return bytes;
  }

  bool untouched_around(std::span<std::byte> buffer) {
    const Bytes before = host({buffer.data() - kAround, kAround});
    const Bytes behind = host({buffer.data() + buffer.size(), kAround});
    const auto is_guard = [](std::byte byte) { return byte == std::byte{pattern::kGuardByte}; };
    return std::all_of(before.begin(), before.end(), is_guard) && std::all_of(behind.begin(), behind.end(), is_guard);
  }

  void write(std::span<std::byte> at, const Bytes& bytes) {
    ASSERT_EQ(cudaMemcpy(at.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }

  Stream stream_ = Stream::create(0);
  CudaMemory memory_{stream_.view(), 60};
  std::byte* block_ = nullptr;
};

TEST_F(CudaMemoryTest, FillsAsTheHostDoes) {
  constexpr PatternPosition kPlaces[] = {
      {0, 0}, {kPeriod - 1, 5}, {7 * kPeriod + 3, 2459}, {std::uint64_t{1} << 40, 1}};
  for (const DataTypeFacts& type : kDataTypes) {
    const PatternTable table = PatternTable::moved(type.type, 0);
    for (const PatternPosition place : kPlaces) {
      for (const std::size_t elements : {std::size_t{1}, std::size_t{3}, std::size_t{40}, 2 * kPeriod + 77}) {
        for (const std::size_t misalignment : {std::size_t{0}, type.size, std::size_t{1}, 3 * type.size}) {
          const auto there = buffer(elements * type.size, misalignment);
          memory_.fill(there, table, place);
          Bytes expected(there.size());
          table.fill(expected, place);
          ASSERT_EQ(host(there), expected) << type.name << " " << place.position << " " << elements;
          ASSERT_TRUE(untouched_around(there));
          ASSERT_FALSE(memory_.check(there, table, place));
        }
      }
    }
  }
}

TEST_F(CudaMemoryTest, FindsWhatTheHostFinds) {
  for (const DataTypeFacts& type : kDataTypes) {
    const PatternTable table = PatternTable::reduced(type.type, Reduction::kSum, 3);
    for (const std::size_t misalignment : {std::size_t{0}, type.size, std::size_t{1}}) {
      const std::size_t elements = 2 * kPeriod + 9;
      const auto there = buffer(elements * type.size, misalignment);
      memory_.fill(there, table, {77, 3});
      for (const std::size_t wrong : {elements - 1, kPeriod - 77, std::size_t{4000}, std::size_t{0}}) {
        Bytes bytes = host(there);
        bytes[wrong * type.size] ^= std::byte{1};
        write(there, bytes);
        const auto expected = table.check(bytes, {77, 3});
        const auto found = memory_.check(there, table, {77, 3});
        ASSERT_TRUE(found && expected) << type.name << " " << wrong;
        EXPECT_EQ(found->count, expected->count) << type.name;
        EXPECT_EQ(found->first_offset, expected->first_offset) << type.name;
        EXPECT_EQ(found->expected, expected->expected) << type.name;
        EXPECT_EQ(found->got, expected->got) << type.name;
      }
    }
  }
}

TEST_F(CudaMemoryTest, SetsAndChecksThatEverythingIsWrong) {
  const auto there = buffer(1000);
  memory_.set(there, pattern::kPoisonByte);
  EXPECT_EQ(host(there), Bytes(1000, std::byte{pattern::kPoisonByte}));
  const auto found = memory_.check(there, PatternTable::moved(DataType::kInt32, 0), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->count, 250U);
  EXPECT_EQ(found->first_offset, 0U);
}

TEST_F(CudaMemoryTest, TakesEmptyBuffers) {
  const PatternTable table = PatternTable::moved(DataType::kFloat, 0);
  memory_.set({}, 1);
  memory_.fill({}, table, {});
  EXPECT_FALSE(memory_.check({}, table, {}));
  memory_.copy_to_host({}, nullptr);
}

TEST_F(CudaMemoryTest, NeverTakesATableForOneThatLayAtItsAddress) {
  const auto there = buffer(3 * kPeriod * 4);
  std::optional<PatternTable> table;
  for (int round = 0; round < 60; ++round) {  // more than it keeps on the device
    table.reset();                            // the next one may get the memory of this one
    table.emplace(PatternTable::sent(DataType::kInt32, Reduction::kSum, round % 20, 20));
    memory_.fill(there, *table, {});
    Bytes expected(there.size());
    table->fill(expected, {});
    ASSERT_EQ(host(there), expected) << round;
  }
}

TEST_F(CudaMemoryTest, KeepsTablesOfEqualBytesApartBySize) {
  const PatternTable one = PatternTable::moved(DataType::kUint8, 0);
  const PatternTable eight = PatternTable::moved(DataType::kUint64, 0);
  const auto there = buffer(8 * kPeriod);
  for (int round = 0; round < 2; ++round) {
    for (const PatternTable* table : {&one, &eight}) {
      memory_.fill(there, *table, {});
      EXPECT_FALSE(memory_.check(there, *table, {}));
    }
  }
}

TEST_F(CudaMemoryTest, SaysHowMuchItCouldNotAllocate) {
  setenv("FAKE_CUDA_MEMORY", "16777216", 1);
  try {
    (void)memory_.allocate(std::size_t{64} << 20);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kMissing);
    const std::string message = error.what();
    EXPECT_NE(message.find("cannot allocate 64 MiB on CUDA device 0, which has "), std::string::npos) << message;
    EXPECT_NE(message.find("of its 16 MiB free; lower --max-bytes"), std::string::npos) << message;
  }
  unsetenv("FAKE_CUDA_MEMORY");
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(CudaMemoryTest, GivesMemoryBack) {
  const std::size_t before = fake_cuda_allocated();
  std::byte* block = memory_.allocate(1 << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 256, 0U);
  EXPECT_EQ(fake_cuda_allocated(), before + (1 << 20));
  memory_.release(block);
  EXPECT_EQ(fake_cuda_allocated(), before);
}

TEST(CudaMemory, ReportsAFailedKernel) {
  const Stream stream = Stream::create(0);
  CudaMemory memory(stream.view(), 60);
  Bytes on_host(64);
  try {
    memory.fill(on_host, PatternTable::moved(DataType::kFloat, 0), {});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kFailure);
    EXPECT_STREQ(error.what(),
                 "cuda: cudaStreamQuery: an illegal memory access was encountered (cudaErrorIllegalAddress)");
  }
}

TEST(CudaMemory, OfASecondDeviceLiesThere) {
  setenv("FAKE_CUDA_DEVICES", "2", 1);
  make_current(0);
  {
    const Stream stream = Stream::create(1);
    CudaMemory memory(stream.view(), 60);
    std::byte* block = memory.allocate(1000);
    memory.set({block, 1000}, 1);
    int current = -1;
    EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 0) << "the calling thread's device was not restored";
    memory.release(block);
  }
  unsetenv("FAKE_CUDA_DEVICES");
}

}  // namespace cuda_memory_test
