// The kernels on a real device, against the host's own filling and checking.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "common/backends/cuda/clock.h"
#include "common/backends/cuda/memory.h"
#include "common/backends/cuda/reader.h"
#include "common/backends/cuda/stream.h"
#include "common/core/clock.h"
#include "common/core/session.h"

namespace fabricbench::cuda {
namespace {

constexpr Seconds kLimit = 60;

class Kernels : public testing::Test {
 protected:
  /// What lies on the device, as the host sees it.
  std::vector<std::byte> on_host(std::span<const std::byte> device) {
    std::vector<std::byte> host(device.size());
    memory_.copy_to_host(device, host.data());
    return host;
  }

  Stream stream_ = Stream::create(0);
  CudaMemory memory_{stream_.view(), kLimit};
};

/// A block of device memory that goes with the object.
class Block {
 public:
  Block(CudaMemory& memory, std::size_t bytes) : memory_(memory), block_(memory.allocate(bytes), bytes) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { memory_.release(block_.data()); }

  [[nodiscard]] std::span<std::byte> bytes() const { return block_; }

 private:
  CudaMemory& memory_;
  std::span<std::byte> block_;
};

TEST_F(Kernels, FillWhatTheHostFills) {
  const Block block(memory_, 1 << 20);
  for (const DataTypeFacts& type : kDataTypes) {
    const PatternTable table = PatternTable::moved(type.type, 0);
    for (const std::uint64_t elements : {1, 2, 7, 63, 8190, 8191, 8192, 40000}) {
      for (const std::uint64_t shift : {0, 1, 5000}) {
        const auto part = block.bytes().subspan(3 * type.size, elements * type.size);
        const PatternPosition place{12345 * shift, shift};
        memory_.set(block.bytes(), pattern::kPoisonByte);
        memory_.fill(part, table, place);
        std::vector<std::byte> expected(block.bytes().size(), std::byte{pattern::kPoisonByte});
        table.fill(std::span(expected).subspan(3 * type.size, part.size()), place);
        ASSERT_EQ(on_host(block.bytes()), expected) << type.name << " x " << elements << " shift " << shift;
      }
    }
  }
}

TEST_F(Kernels, FindEveryWrongElement) {
  const Block block(memory_, 1 << 20);
  for (const DataTypeFacts& type : kDataTypes) {
    const PatternTable table = PatternTable::moved(type.type, 0);
    const auto part = block.bytes().subspan(type.size, 30000 * type.size);
    memory_.fill(part, table, {});
    EXPECT_EQ(memory_.check(part, table, {}), std::nullopt) << type.name;
    for (const std::uint64_t wrong : {0, 1, 8191, 29999}) {
      memory_.fill(part, table, {});
      memory_.set(part.subspan(wrong * type.size, type.size), pattern::kPoisonByte);
      const auto found = memory_.check(part, table, {});
      ASSERT_TRUE(found) << type.name << " at " << wrong;
      EXPECT_EQ(found->count, 1u);
      EXPECT_EQ(found->first_offset, wrong);
    }
  }
}

TEST_F(Kernels, CountBeyondFourGibibytesLarge) {
  const std::size_t bytes = (std::size_t{4} << 30) + 4096;
  const Block block(memory_, bytes);
  const PatternTable table = PatternTable::moved(DataType::kInt8, 0);
  memory_.fill(block.bytes(), table, {});
  EXPECT_EQ(memory_.check(block.bytes(), table, {}), std::nullopt);
  memory_.set(block.bytes().last(1), pattern::kPoisonByte);
  const auto found = memory_.check(block.bytes(), table, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first_offset, bytes - 1);
}

TEST_F(Kernels, GateHoldsWorkBackUntilItIsOpened) {
  CudaClock clock({stream_.view()});
  const Block block(memory_, 1 << 20);
  ASSERT_EQ(cudaMemsetAsync(block.bytes().data(), 1, block.bytes().size(), stream_.get()), cudaSuccess);
  wait_for(std::vector{stream_.view()}, kLimit, [] {});
  clock.close_gate();
  clock.mark();
  ASSERT_EQ(cudaMemsetAsync(block.bytes().data(), 2, block.bytes().size(), stream_.get()), cudaSuccess);
  clock.mark();
  for (const Seconds until = now() + 0.05; now() < until;) {
    ASSERT_EQ(cudaStreamQuery(stream_.get()), cudaErrorNotReady);
  }
  clock.open_gate();
  wait_for(std::vector{stream_.view()}, kLimit, [] {});
  const auto intervals = clock.intervals();
  ASSERT_EQ(intervals.size(), 1u);
  EXPECT_LT(intervals.front().back(), 0.05);  // the time behind the gate does not count
}

TEST_F(Kernels, RecordingRunsAsOftenAsItIsLaunched) {
  const Block block(memory_, 1 << 20);
  Recording recording({stream_.view()});
  recording.begin();
  ASSERT_EQ(cudaMemsetAsync(block.bytes().data(), 7, block.bytes().size(), stream_.get()), cudaSuccess);
  recording.end();
  for (int i = 0; i < 3; ++i) {
    memory_.set(block.bytes(), 0);
    recording.launch();
    wait_for(std::vector{stream_.view()}, kLimit, [] {});
    EXPECT_EQ(on_host(block.bytes().last(1)).front(), std::byte{7});
  }
}

/// While it reads, data and numbers are copied into the device's memory by another stream.
TEST_F(Kernels, ReaderSeesMessagesAndLooksAtTheirData) {
  constexpr std::size_t kWords = 5000;  // more than the kernel has threads
  const Block block(memory_, (kWords + 1) * sizeof(std::uint64_t));
  memory_.set(block.bytes(), 0);
  const auto payload = block.bytes().subspan(sizeof(std::uint64_t), kWords * sizeof(std::uint64_t) - 3);
  CudaReader reader(0);
  EXPECT_GT(reader.round_trip(100, kLimit), 0);
  std::vector<std::uint64_t> words(kWords);
  std::iota(words.begin(), words.end(), std::uint64_t{1} << 40);
  const auto data = std::as_bytes(std::span(words)).first(payload.size());
  ReaderTask task;
  task.flag = reinterpret_cast<std::uint64_t*>(block.bytes().data());
  task.payload = reinterpret_cast<const std::uint64_t*>(payload.data());
  task.bytes = payload.size();
  task.sums[0] = task.sums[1] = word_sum(data);
  task.checked_before = 100;
  task.limit_ns = static_cast<std::uint64_t>(kLimit * 1e9);
  reader.begin(task);
  for (std::uint64_t number = 1; number <= 4; ++number) {
    if (number == 2) memory_.copy_from_host(data, payload.data());  // the first message comes without its data
    memory_.copy_from_host(std::as_bytes(std::span(&number, 1)), block.bytes().data());
    for (const Seconds until = now() + kLimit; reader.seen() != number;) ASSERT_LT(now(), until);
  }
  const ReaderFindings found = reader.end();
  EXPECT_EQ(found.checked, 4u);
  EXPECT_EQ(found.wrong, 1u);
  EXPECT_EQ(found.first_wrong, 1u);
  EXPECT_EQ(found.got, 0u);
}

TEST_F(Kernels, ReaderGivesUpByItself) {
  const Block block(memory_, sizeof(std::uint64_t));
  memory_.set(block.bytes(), 0);
  CudaReader reader(0);
  ReaderTask task;
  task.flag = reinterpret_cast<std::uint64_t*>(block.bytes().data());
  task.limit_ns = 10'000'000;
  reader.begin(task);
  for (const Seconds until = now() + kLimit; !reader.has_stopped();) ASSERT_LT(now(), until);
  EXPECT_TRUE(reader.end().gave_up);
}

}  // namespace
}  // namespace fabricbench::cuda
