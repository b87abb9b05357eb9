// The reader on a device, on a fake of CUDA whose streams run beside the test as a device's would.

#include "common/backends/cuda/reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "common/backends/cuda/memory.h"
#include "common/core/clock.h"
#include "common/core/error.h"
#include "fake_cuda.h"
#include "scripted_clock.h"

using namespace fabricbench;
using namespace fabricbench::cuda;

namespace cuda_reader_test {

constexpr Seconds kLimit = 20;
constexpr std::size_t kBytes = 40;

void wait_until(const std::function<bool()>& done) {
  while (!done()) std::this_thread::yield();
}

/// A flag and data in a device's memory, which the test writes to as a network adapter would.
class DeviceMessages : public testing::Test {
 protected:
  DeviceMessages() {
    fake_cuda_script_time(now);
    memory_.set({block_, 2 * kBytes}, 0);
    task_.flag = reinterpret_cast<std::uint64_t*>(block_);
    task_.payload = reinterpret_cast<const std::uint64_t*>(block_ + kBytes);
    task_.bytes = kBytes;
    task_.sums[0] = 10;
    task_.sums[1] = 11;
    task_.checked_before = 100;
    task_.limit_ns = static_cast<std::uint64_t>(kLimit * 1e9);
  }
  ~DeviceMessages() override {
    (void)reader_.end();
    memory_.release(block_);
    fake_cuda_script_time(nullptr);
  }

  void write(std::uint64_t number, std::uint64_t first_word) {
    std::memcpy(block_ + kBytes, &first_word, sizeof first_word);
    std::atomic_ref(*task_.flag).store(number, std::memory_order_release);
    wait_until([&] { return reader_.seen() == number; });
  }

  test::ScriptedClock clock_;  // stands still, however late the stream's thread gets a processor
  Stream stream_ = Stream::create(0);
  CudaMemory memory_{stream_.view(), kLimit};
  std::byte* block_ = memory_.allocate(2 * kBytes);
  ReaderTask task_;
  CudaReader reader_{0};
};

TEST_F(DeviceMessages, AreSeenAndLookedAt) {
  reader_.begin(task_);
  write(1, 11);
  write(2, 10);
  EXPECT_FALSE(reader_.has_stopped());
  write(3, 10);
  const ReaderFindings found = reader_.end();
  EXPECT_EQ(found.checked, 3U);
  EXPECT_EQ(found.wrong, 1U);
  EXPECT_EQ(found.first_wrong, 3U);
}

TEST_F(DeviceMessages, ThatDoNotComeEndTheReader) {
  std::atomic<int> looks = 0;
  clock_.when_reading([&, host = std::this_thread::get_id()](int) { looks += std::this_thread::get_id() != host; });
  reader_.begin(task_);
  wait_until([&] { return looks > 1; });  // it has begun to wait, and looks at the clock
  EXPECT_FALSE(reader_.has_stopped());
  clock_.advance(kLimit + 1);
  wait_until([&] { return reader_.has_stopped(); });
  EXPECT_TRUE(reader_.end().gave_up);
}

TEST_F(DeviceMessages, AreMadeTwinsThere) {
  alignas(8) std::byte complement[kBytes];
  std::byte* const place = memory_.allocate(kBytes);
  const std::uint64_t word = 0x1234;
  memory_.copy_from_host(std::as_bytes(std::span(&word, 1)), block_);
  const ComplementSums sums = make_complement(memory_, {block_, kBytes}, {place, kBytes});
  memory_.copy_to_host({place, kBytes}, complement);
  std::uint64_t first = 0;
  std::memcpy(&first, complement, sizeof first);
  EXPECT_EQ(first, ~word);
  EXPECT_EQ(sums.original, word);
  EXPECT_EQ(sums.complement, word_sum(complement));
  memory_.release(place);
}

TEST_F(DeviceMessages, OutsideOfTheDevicesMemoryAreAnError) {
  std::uint64_t elsewhere = 0;
  task_.flag = &elsewhere;
  CudaReader reader(0);
  reader.begin(task_);
  EXPECT_THROW(wait_until([&] { return reader.has_stopped(); }), Error);
  EXPECT_THROW((void)reader.end(), Error);
}

TEST(CudaReader, AnswersTheProcessor) {
  const test::ScriptedClock clock;
  CudaReader reader(0);
  EXPECT_EQ(reader.round_trip(100, kLimit), 0) << "the clock stands still";
  EXPECT_EQ(reader.description(), "a kernel of GPU 0");
}

TEST(CudaReader, NeedsADevice) { EXPECT_THROW(CudaReader(7), Error); }

}  // namespace cuda_reader_test
